// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::advice_of reports each fault in programs that have it, and nothing for the same programs without it: on ranks
/// and on dry meshes.
// ranks: 1 4
// sham:

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include <ostraka/foresight/advice_of.hpp>
#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/seeing/trace.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using texts = std::vector<std::string>;

// On a dry mesh of four devices, and on as many ranks.
template <class Program>
texts advice_on(Program const& program) {
  auto const dry = os::dry_mesh(X = 4);
  texts const predicted = os::advice_of(dry, os::machines::h100, [&] { program(dry); });
  if (t::ranks() == 4) {
    auto const wet = os::make_mesh(X = 4);
    CHECK(os::advice_of(wet, os::machines::h100, [&] { program(wet); }) == predicted);
  }
  return predicted;
}

bool says(texts const& all, std::string const& begin) {
  for (std::string const& one : all)
    if (one.compare(0, begin.size(), begin) == 0) return true;
  return false;
}

constexpr os::sizes sizes(I = 16, J = 12, K = 8, L = 20);

}  // namespace

TEST_CASE("one tensor, moved twice") {
  texts const twice = advice_on([](auto const& m) {
    auto const x = os::random<float, I/X, J>(m, sizes);
    auto const k = os::random<float, J, K>(m, sizes);
    auto const l = os::random<float, J, L>(m, sizes);
    auto const a = os::einsum<I, K>(x, k, os::gather_left);
    auto const b = os::softmax<K>(a);
    auto const c = os::einsum<I, L>(x, l, os::gather_left);
  });
  REQUIRE(twice.size() == 1);
  CHECK(
      twice[0] ==
      "einsum C[I, L] = A[I_X, J] · B[J, L]: moves A[I_X, J] by all_gather<X>, as it was moved before by `einsum C[I, "
      "K] = A[I_X, J] · B[J, K]`, 576 B per device; move it once, os::reshard, and give both what comes of it");
  CHECK(advice_on([](auto const& m) {
          auto const x = os::random<float, I/X, J>(m, sizes);
          auto const whole = os::reshard<I, J>(x);
          auto const a = os::einsum<I, K>(whole, os::random<float, J, K>(m, sizes));
          auto const c = os::einsum<I, L>(whole, os::random<float, J, L>(m, sizes));
        }).empty());
  CHECK(advice_on([](auto const& m) {  // it is another one
          for (int i = 0; i < 3; ++i) {
            auto const x = os::random<float, I/X, J>(m, sizes);
            auto const a = os::reshard<I, J>(x);
          }
        })
            .empty());
  CHECK(advice_on([](auto const& m) {  // it is written in between
          auto const y = os::random<float, I/X, J>(m, sizes);
          auto x = os::random<float, I, J/X>(m, sizes);
          auto const a = os::reshard<I, J>(x);
          os::reshard_into(x, y);
          auto const b = os::reshard<I, J>(x);
        })
            .empty());
}

TEST_CASE("a move whose half would do") {
  texts const reduced = advice_on([](auto const& m) {
    auto const a = os::random<float, I, J/X>(m, sizes);
    auto const b = os::random<float, J/X, K>(m, sizes);
    auto const c = os::einsum<I, K>(a, b);
    auto const d = os::reshard<I/X, K>(c);
  });
  REQUIRE(reduced.size() == 1);
  CHECK(reduced[0] ==
        "einsum C[I, K] = A[I, J_X] · B[J_X, K]: ends with all_reduce<X> of C[I, K], 768 B per device, and all that "
        "reads it, "
        "`reshard B[I_X, K] = A[I, K]`, slices it along the same mesh axes; name the divided sharding as the result: a "
        "reduce_scatter is half of it");
  texts const gathered = advice_on([](auto const& m) {
    auto const a = os::random<float, I/X, J>(m, sizes);
    auto const b = os::reshard<I, J>(a);
    auto const c = os::reshard<I, J/X>(b);
  });
  CHECK(gathered.size() == 1);
  CHECK(says(gathered, "reshard B[I, J] = A[I_X, J]: ends with all_gather<X> of B[I, J]"));
  CHECK(advice_on([](auto const& m) {
          auto const a = os::random<float, I, J/X>(m, sizes);
          auto const c = os::einsum<I/X, K>(a, os::random<float, J/X, K>(m, sizes));
        }).empty());
  CHECK(advice_on([](auto const& m) {  // something else reads all of it
          auto const a = os::random<float, I, J/X>(m, sizes);
          auto const c = os::einsum<I, K>(a, os::random<float, J/X, K>(m, sizes));
          auto const d = os::reshard<I/X, K>(c);
          auto const e = os::map([](float v) { return v + 1; }, c);
        })
            .empty());
}

TEST_CASE("communication that could begin earlier") {
  constexpr os::sizes large(I = 4096, J = 4096, K = 4096, L = 4096);
  auto const program = [&](auto const& m, bool early) {
    os::trace_region const step("step");  // it is no operation
    auto const a = os::random<float, I/X, J>(m, large);
    auto const b = os::random<float, J, K>(m, large);
    auto const w = os::random<float, K/X, L>(m, large);
    if (early) {
      auto whole = os::start_reshard<K, L>(w);
      auto const c = os::einsum<I/X, K>(a, b);
      auto const d = os::einsum<I/X, L>(c, std::move(whole).wait());
    } else {
      auto const c = os::einsum<I/X, K>(a, b);
      auto const whole = os::reshard<K, L>(w);  // the product alone would hide some of it
      auto const d = os::einsum<I/X, L>(c, whole);
    }
  };
  auto const dry = os::dry_mesh(X = 4);
  texts const late = os::advice_of(dry, os::machines::h100, [&] { program(dry, false); });
  REQUIRE(late.size() == 1);
  CHECK(says(late, "reshard B[K, L] = A[K_X, L]: waits for all_gather<X> of A[K_X, L], "));
  CHECK(os::advice_of(dry, os::machines::h100, [&] { program(dry, true); }).empty());
  CHECK(os::advice_of(dry, os::machines::h100, [&] {  // it is ready when it is moved
          auto const c = os::softmax<K>(
              os::einsum<I/X, K>(os::random<float, I/X, J>(dry, large), os::random<float, J, K>(dry, large)));
          auto const whole = os::reshard<I, K>(c);
        }).empty());
}

TEST_CASE("nobody wrote a backward") {
  CHECK(advice_on([](auto const& m) {
          auto const x = os::random<float, I/X, J>(m, sizes);
          auto const w = os::random<float, J/X, K>(m, sizes);
          auto const loss = [](auto const& p, auto const& rows) {
            return os::sum<>(os::square(os::einsum<I/X, K>(rows, p, os::gather_right)));
          };
          static_cast<void>(os::value_and_grad(loss)(w, x));
        }).empty());
}

TEST_CASE("who begins to count memory meanwhile goes on when the adviser has gone") {
  auto const m = os::make_mesh(os::this_device, X = 1);
  std::optional<os::memory_counter> counter;
  for (int i = 0; i < 2; ++i) {
    static_cast<void>(os::advice_of(m, os::machines::h100, [&] { counter.emplace(); }));
    auto const a = os::zeros<float, I, J>(m, I = 1024, J = 64);
    CHECK(counter->in_use() >= 1024 * 64 * 4);
    CHECK(counter->in_use() < 2 * 1024 * 64 * 4);
    counter.reset();
  }
}
