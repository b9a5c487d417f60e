// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Wrong boxes, wrong arrays and wrong blocks: one sentence on all devices before an element moves, and the program can
/// go on. Each of these mistakes takes two devices, so without MPI there is no test.
// labels: essential
// ranks: 2 3 4 6 8
// sham: 2 4

#include <doctest/doctest.h>

#if OSTRAKA_ENABLE_MPI

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <ostraka/foreign_blocks.hpp>

#include "support/on_meshes.hpp"
#include "support/program_array.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using view = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
view of(std::int64_t rows, std::int64_t columns) {
  return view("array", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

// A tensor of two rows for each device.
void from(std::int64_t begin, view const& v) {
  auto const mesh = os::make_mesh(X = t::ranks());
  static_cast<void>(os::copy_from_blocks<double, I/X, J>(mesh, I = 2 * t::ranks(), J = 3, os::at(I = begin), v));
}

}  // namespace

TEST_CASE("a gap") {
  CHECK_THROWS_WITH_AS(
      from(2 * t::rank(), of(t::rank() == 0 ? 1 : 2, 3)),
      "copy_from_blocks: the boxes of all devices hold every element of the tensor, but none holds I = "
      "[1, 2), J = [0, 3), between those of devices 0 and 1; give the global index at which each array "
      "begins, and every array that a device holds",
      os::error);
  std::string const beside = t::ranks() > 2 ? "between those of devices 0 and 2" : "beside that of device 0";
  CHECK_THROWS_WITH_AS(
      from(2 * t::rank(), of(2, t::rank() == 1 ? 2 : 3)),
      ("copy_from_blocks: the boxes of all devices hold every element of the tensor, but none holds I = "
       "[2, 4), J = [2, 3), " +
       beside + "; give the global index at which each array begins, and every array that a device holds")
          .c_str(),
      os::error);
  CHECK_THROWS_WITH_AS(
      from(0, of(0, 0)),
      (std::string("copy_from_blocks: the boxes of all devices hold every element of the tensor, but "
                   "none holds I = [0, ") +
       std::to_string(2 * t::ranks()) +
       "), J = [0, 3); give the global index at which each array begins, and every array that a device "
       "holds")
          .c_str(),
      os::error);
}

TEST_CASE("an overlap, as where ghost layers are in the array") {
  CHECK_THROWS_WITH_AS(
      from(2 * t::rank(), of(t::rank() == 0 ? 3 : 2, 3)),
      "copy_from_blocks: each element of the tensor is in one box, but devices 0 and 1 both hold I = [2, "
      "3), J = [0, 3); give views of what the device owns, without its ghost layers, and an empty view on "
      "devices that hold a copy",
      os::error);
  auto const mesh = os::make_mesh(X = t::ranks());
  std::vector<decltype(os::placed(os::at(I = 0), of(1, 1)))> two;
  if (t::rank() == 1) two = {os::placed(os::at(I = 0), of(2, 3)), os::placed(os::at(I = 1), of(1, 3))};
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::copy_from_blocks<double, I/X, J>(mesh, I = 2, J = 3, two)),
      "copy_from_blocks: each element of the tensor is in one box, but two boxes of device 1 both hold I = "
      "[1, 2), J = [0, 3); give views of what the device owns, without its ghost layers, and an empty view "
      "on devices that hold a copy",
      os::error);
}

TEST_CASE("beyond the tensor") {
  int const p = t::ranks();
  for (bool before : {false, true}) {
    std::int64_t const begin = before ? 2 * t::rank() - 1 : 2 * t::rank() + 1;
    std::string const whose = before ? "device 0 holds I = [-1, 1), J = [0, 3)"
                                     : "device " + std::to_string(p - 1) + " holds I = [" + std::to_string(2 * p - 1) +
                                           ", " + std::to_string(2 * p + 1) + "), J = [0, 3)";
    CHECK_THROWS_WITH_AS(
        from(begin, of(2, 3)),
        ("copy_from_blocks: boxes lie within the tensor, but " + whose + ", and the tensor is I = [0, " +
         std::to_string(2 * p) +
         "), J = [0, 3); give the global index at which each array begins, and views of what the device "
         "owns, without its ghost layers")
            .c_str(),
        os::error);
  }
}

TEST_CASE("extents that are negative, and ends that no number holds") {
  auto const mesh = os::make_mesh(X = t::ranks());
  t::program_array<double> const memory(10);
  auto const said = [&](std::int64_t begin, std::int64_t rows, std::int64_t columns) {
    bool const first = t::rank() == 0;
    return t::said_alike([&] {
      static_cast<void>(os::copy_from_blocks<double, I / X, J>(
          mesh, I = 2, J = 3, os::at(I = first ? begin : 2), os::sizes(I = first ? rows : 0, J = first ? columns : 3),
          os::strided(static_cast<double const*>(memory.data()), I = 3, J = 1)));
    });
  };
  std::string const rule = "copy_from_blocks: boxes lie within the tensor, but device 0 holds I = [";
  CHECK(said(0, 2, 3) == "nothing");
  CHECK(said(0, -2, -3).find(rule + "0, -2), J = [0, -3), and the tensor is I = [0, 2), J = [0, 3)") == 0);
  CHECK(said(0, -2, 3).find(rule + "0, -2), J = [0, 3)") == 0);
  CHECK(said(std::numeric_limits<std::int64_t>::max() - 1, 2, 3).find(rule) == 0);
}

TEST_CASE("a leading dimension that is too small for what is written; what is only read may repeat elements") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const last = t::ranks() - 1, rows = 4;
  auto const a = os::full<double, I / X, J>(mesh, I = rows * t::ranks(), J = 3, 5.0);
  t::program_array<double> const memory(40, 1.0);
  auto const written = [&](std::int64_t i, std::int64_t j) {
    bool const culprit = t::rank() == last;
    auto const array = os::strided(memory.data(), I = culprit ? i : 1, J = culprit ? j : rows);
    std::string const boxes =
        t::said_alike([&] { os::copy_to_blocks(a, os::at(I = rows * t::rank()), os::sizes(I = rows, J = 3), array); });
    CHECK(t::said_alike([&] { os::copy_to_blocks(a, os::block_cyclic(I = rows), array); }) == boxes);
    return boxes != "nothing";
  };
  for (std::int64_t i = 1; i <= 5; ++i)
    for (std::int64_t j = 1; j <= 9; ++j) {
      bool shares = false;
      for (std::int64_t p = 0; p < rows * 3; ++p)
        for (std::int64_t q = 0; q < p; ++q) shares = shares || p / 3 * i + p % 3 * j == q / 3 * i + q % 3 * j;
      INFO(i, ", ", j);
      CHECK(written(i, j) == shares);
    }
  auto const b = os::copy_from_blocks<double, I / X, J>(
      mesh, I = rows * t::ranks(), J = 3, os::at(I = rows * t::rank()), os::sizes(I = rows, J = 3),
      os::strided(static_cast<double const*>(memory.data()), I = 1, J = 2));
  CHECK(b.extent(J) == 3);
}

TEST_CASE("boxes on one device, block-cyclic arrays on the others") {
  auto const mesh = os::make_mesh(X = t::ranks());
  if (mesh.handle()->world().compared() == os::engine::compared_calls::none) return;
  auto const a = os::full<double, I / X, J>(mesh, I = 2 * t::ranks(), J = 3, 5.0);
  view const v = of(2, 3);
  std::string const said = t::said_alike([&] {
    if (t::rank() == 0)
      os::copy_to_blocks(a, os::at(I = 0), v);
    else
      os::copy_to_blocks(a, os::block_cyclic(I = 2), v);
  });
  CHECK(said.find("copy_to_blocks: all ranks call the same operations") == 0);
  CHECK(said.find(", with os::at; ") != std::string::npos);
  CHECK(said.find(", with os::block_cyclic; ") != std::string::npos);
}

TEST_CASE("strides of 0, blocks of no index, of two sizes, and arrays of other extents") {
  int const p = t::ranks(), me = t::rank();
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::full<double, I/X, J>(mesh, I = 2 * p, J = 3, 5.0);
  t::program_array<double> const memory(10);
  bool const odd = me == 1;
  CHECK_THROWS_WITH_AS(
      os::copy_to_blocks(a, os::at(I = 2 * me), os::sizes(I = 2, J = 3),
                         os::strided(memory.data(), I = 1, J = odd ? 0 : 2)),
      "copy_to_blocks: each element of what is written has a place of its own, but a device gives an array in which "
      "elements share one; give it no stride of 0, and none that is too short for its extents, such as a leading "
      "dimension of less than its rows",
      os::error);
  CHECK_THROWS_WITH_AS(os::copy_to_blocks(a, os::block_cyclic(I = odd ? 2 : 1), of(2, 3)),
                       "copy_to_blocks: all devices deal blocks of the same size, but along I it is 1 on one and 2 on "
                       "another; give os::block_cyclic the same numbers",
                       os::error);
  CHECK_THROWS_WITH_AS(os::copy_to_blocks(a, os::block_cyclic(I = 0), of(2, 3)),
                       "copy_to_blocks: a block that is dealt has one index at least, but along I it has 0; give "
                       "os::block_cyclic a positive number",
                       os::error);
  CHECK_THROWS_WITH_AS(
      os::copy_to_blocks(a, os::block_cyclic(I = 1), of(2, odd ? 4 : 3)),
      "copy_to_blocks: each array has the extents of what its device holds, but array 0 of device 1 has 4 "
      "along dimension 1 and the device holds 3; give a view of these elements alone, or os::strided "
      "memory, which has no extents",
      os::error);
  auto plan = os::plan_blocks<double, I/X, J>(mesh, I = 2 * p, J = 3, os::at(I = 2 * me), of(2, 3));
  CHECK_THROWS_WITH_AS(
      plan.copy_to(a, of(odd ? 1 : 2, 3)),
      "blocks_plan::copy_to: each array has the extents of what its device holds, but array 0 of device 1 "
      "has 1 along dimension 0 and the device holds 2; give a view of these elements alone, or os::strided "
      "memory, which has no extents",
      os::error);
  std::vector const other{os::placed(os::at(I = odd ? 0 : 2 * me), of(2, 3))};
  CHECK_THROWS_WITH_AS(
      plan.copy_to(a, other),
      "blocks_plan::copy_to: each array begins where that of the plan does, but array 0 of device 1 begins "
      "at 0 along dimension 0, and that of the plan at 2; make a plan of these by os::plan_blocks",
      os::error);
  std::vector<decltype(os::placed(os::at(I = 0), of(1, 1)))> none;
  CHECK_THROWS_WITH_AS(
      static_cast<void>(plan.copy_from(none)),
      "blocks_plan::copy_from: each device gives the arrays that the plan was made for, but device 0 gives "
      "0 and the plan has 1; make a plan of these by os::plan_blocks",
      os::error);
  auto const more = os::full<double, I/X, J>(mesh, I = 2 * p + 1, J = 3, 5.0);
  CHECK_THROWS_WITH_AS(plan.copy_to(more, of(2, 3)),
                       "blocks_plan::copy_to: a plan is for tensors of the same extents, but this tensor has "
                       "others; make a plan for it with os::plan_blocks",
                       os::error);
  view const out = of(2, 3);
  plan.copy_to(a, out);  // no rank is left behind
  CHECK(out(1, 2) == 5);
}

TEST_CASE("processes that are none of the mesh's devices hold nothing") {
#if OSTRAKA_ENABLE_MPI
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, t::rank() < 1 ? 0 : MPI_UNDEFINED, t::rank(), &part);
  auto const mesh = os::make_mesh(part, X = 1);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
#else
  auto const mesh = os::make_mesh(X = 1);
#endif
  bool const here = t::rank() < 1;
  view const v = of(here ? 2 : 0, here ? 3 : 0);
  auto const a = os::copy_from_blocks<double, I/X, J>(mesh, I = 2, J = 3, os::at(), v);
  os::copy_to_blocks(a, os::at(), v);
  os::copy_to_blocks(a, os::block_cyclic(I = 1), v);
  if (!here)
    CHECK_THROWS_WITH_AS(
        os::copy_to_blocks(a, os::at(), of(2, 3)),
        "copy_to_blocks: this process is none of the mesh's devices and holds nothing of the tensor, but it "
        "gives an array of 6 elements; give an empty view where mesh.absent()",
        os::error);
}

#endif
