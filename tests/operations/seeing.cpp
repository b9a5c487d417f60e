// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::visualize and os::print against pictures drawn by hand.
// ranks: 1 2 4 6
// sham:

#include <doctest/doctest.h>

#include <ostraka/seeing/print.hpp>
#include <ostraka/seeing/visualize.hpp>

#include <cstdint>
#include <string>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// A picture begins on a line of its own.
std::string drawn(char const* text) { return text + 1; }

std::size_t count_of(std::string const& text, std::string const& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("the three pictures of the shard_map tutorial") {
  CHECK(os::visualize<I/X, J>(I = 8, J = 4, X = 4, Y = 2) == drawn(R"(
[I_X, J] of 8 × 4 on X=4 · Y=2
           J [0, 4)
         ┌──────────┐
I [0, 2) │   0,1    │
         ├──────────┤
  [2, 4) │   2,3    │
         ├──────────┤
  [4, 6) │   4,5    │
         ├──────────┤
  [6, 8) │   6,7    │
         └──────────┘
)"));
  CHECK(os::visualize<I/X, J/Y>(os::sizes(X = 4, Y = 2), I = 8, J = 16) == drawn(R"(
[I_X, J_Y] of 8 × 16 on X=4 · Y=2
           J [0, 8)   [8, 16)
         ┌──────────┬─────────┐
I [0, 2) │    0     │    1    │
         ├──────────┼─────────┤
  [2, 4) │    2     │    3    │
         ├──────────┼─────────┤
  [4, 6) │    4     │    5    │
         ├──────────┼─────────┤
  [6, 8) │    6     │    7    │
         └──────────┴─────────┘
)"));
  CHECK(os::visualize<I/Y, J>(I = 16, J = 4, X = 4, Y = 2) == drawn(R"(
[I_Y, J] of 16 × 4 on X=4 · Y=2
            J [0, 4)
          ┌──────────┐
I [0, 8)  │ 0,2,4,6  │
          ├──────────┤
  [8, 16) │ 1,3,5,7  │
          └──────────┘
)"));
}

TEST_CASE("rows, uneven and empty blocks, slices") {
  CHECK(os::visualize<I/Y/X>(I = 3, X = 2, Y = 2) == drawn(R"(
[I_YX] of 3 on X=2 · Y=2
  I [0, 0)   [0, 1)   [1, 2)   [2, 3)
┌──────────┬────────┬────────┬────────┐
│    0     │   2    │   1    │   3    │
└──────────┴────────┴────────┴────────┘
)"));
  CHECK(os::visualize<>(X = 4, Y = 2) == drawn(R"(
[] on X=4 · Y=2
┌─────┐
│ 0–7 │
└─────┘
)"));
  CHECK(os::visualize<B, I/X, J, K/Y>(B = 2, I = 5, J = 6, K = 7, X = 2, Y = 2) == drawn(R"(
[B, I_X, J, K_Y] of 2 × 5 × 6 × 7 on X=2 · Y=2
B [0, 2), J [0, 6)
           K [0, 3)   [3, 7)
         ┌──────────┬────────┐
I [0, 2) │    0     │   1    │
         ├──────────┼────────┤
  [2, 5) │    2     │   3    │
         └──────────┴────────┘
)"));
  CHECK(os::visualize<I/X, J/Y, K/Z>(I = 2, J = 2, K = 7, X = 1, Y = 2, Z = 2) == drawn(R"(
[I_X, J_Y, K_Z] of 2 × 2 × 7 on X=1 · Y=2 · Z=2
K [0, 3)
           J [0, 1)   [1, 2)
         ┌──────────┬────────┐
I [0, 2) │    0     │   2    │
         └──────────┴────────┘
K [3, 7)
           J [0, 1)   [1, 2)
         ┌──────────┬────────┐
I [0, 2) │    1     │   3    │
         └──────────┴────────┘
)"));
}

TEST_CASE("parts, and blocks of their own") {
  CHECK(os::visualize<J/Y, os::partial(X)>(J = 6, X = 3, Y = 2, Z = 2) == drawn(R"(
[J_Y] {U_X} of 6 on X=3 · Y=2 · Z=2
     J [0, 3)            [3, 6)
┌─────────────────┬───────────────────┐
│ 0,1 + 4,5 + 8,9 │ 2,3 + 6,7 + 10,11 │
└─────────────────┴───────────────────┘
)"));
  CHECK(os::visualize<I, os::partial_max(X)>(I = 5, X = 3) == drawn(R"(
[I] {max_X} of 5 on X=3
    I [0, 5)
┌──────────────┐
│ max(0, 1, 2) │
└──────────────┘
)"));
  CHECK(os::visualize<I, os::varying(X)>(I = 5, X = 2, Z = 2) == drawn(R"(
[I] {V_X} of 5 on X=2 · Z=2
  I [0, 5)
┌───────────┐
│ 0,1 | 2,3 │
└───────────┘
)"));
}

TEST_CASE("a tensor's picture is that of its type and sizes") {
  auto const mesh = os::make_mesh(X = t::ranks(), Y = 1);
  auto const a = os::zeros<float, I/X, J>(mesh, I = 7, J = 2);
  t::traffic const moved = t::traffic_of([&] {
    CHECK(os::visualize(a) == "float" + os::visualize<I/X, J>(mesh, I = 7, J = 2));
    CHECK(os::visualize_svg(a).find("float[I_X, J] of 7 × 2") != std::string::npos);
  });
  CHECK(moved.calls == 0);
}

TEST_CASE("SVG: a rectangle a block, as large as its share") {
  std::string const svg = os::visualize_svg<I/X, J/Y>(I = 4, J = 3, X = 2, Y = 3);
  CHECK(count_of(svg, "<rect ") == 6);
  CHECK(count_of(svg, "<svg ") == 1);
  CHECK(count_of(svg, "</svg>") == 1);
  CHECK(svg.find("<rect x=\"110\" y=\"46\" width=\"80\" height=\"34\"") != std::string::npos);
  CHECK(svg.find(">[I_X, J_Y] of 4 × 3 on X=2 · Y=3</text>") != std::string::npos);
  CHECK(count_of(os::visualize_svg<I/X>(I = 0, X = 2), "<rect ") == 2);
}

TEST_CASE("small tensors are printed whole") {
  auto const mesh = os::make_mesh(X = t::ranks(), Y = 1);
  bool const root = mesh.device() == 0;
  auto const text_of = [&](char const* text) { return root ? drawn(text) : std::string(); };
  auto const a = os::generate<double, I/X, J>(mesh, I = 2, J = 3, [](std::int64_t i, std::int64_t j) {
    return i == 1 && j == 0 ? -4.0 : i == 1 && j == 1 ? 5.5 : static_cast<double>(3 * i + j + 1);
  });
  CHECK(os::gathered_as_text(a) == text_of(R"(
double[I_X, J] of 2 × 3
[[  1   2   3]
 [ -4 5.5   6]]
)"));
  CHECK(os::gathered_as_text(os::named("weights", a)) == text_of(R"(
double weights[I_X, J] of 2 × 3
[[  1   2   3]
 [ -4 5.5   6]]
)"));
  CHECK(count_of(os::blocks_as_text(os::named("weights", a)), "  double weights[I_X, J] of ") ==
        static_cast<std::size_t>(t::ranks()));
  auto const b = os::generate<std::int32_t, I, J/X, K>(
      mesh, I = 2, J = 2, K = 2,
      [](std::int64_t i, std::int64_t j, std::int64_t k) { return static_cast<std::int32_t>(4 * i + 2 * j + k); });
  CHECK(os::gathered_as_text(b) == text_of(R"(
int32[I, J_X, K] of 2 × 2 × 2
[[[0 1]
  [2 3]]

 [[4 5]
  [6 7]]]
)"));
  auto const c = os::generate<std::int64_t, I/X>(mesh, I = 2000, [](std::int64_t i) { return i; });
  CHECK(os::gathered_as_text(c) == text_of(R"(
int64[I_X] of 2,000
[   0    1    2 … 1997 1998 1999]
)"));
  CHECK(os::gathered_as_text(os::zeros<float, I/X, J>(mesh, I = 0, J = 2)) == text_of(R"(
float[I_X, J] of 0 × 2
[]
)"));
  CHECK(os::gathered_as_text(os::sum<>(a)) == text_of(R"(
double[]
13.5
)"));
}
