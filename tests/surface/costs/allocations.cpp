// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Nothing allocates in a steady state: the allocations of operations in their third to tenth repetition. Operations
/// into existing tensors allocate nothing, the others only the block of their result.
// ranks: 1 2 4
// sham:
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <utility>

#include <ostraka/gradient.hpp>
#include <ostraka/optimizers.hpp>

#include "support/counted_allocations.hpp"

#ifdef OSTRAKA_COUNTS_ALLOCATIONS

namespace os = ostraka;
namespace t = os::testing;
using t::most_in_steady_state;

using t::block_of_a_result;
using t::for_several_extents;
using t::made;

namespace {

long blocks_made = 0;

struct plus {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a + b; }
};

}  // namespace

TEST_CASE("the counter counts") {
  CHECK(t::allocations_of([] { delete new int(1); }) == 1);
  CHECK(t::allocations_of([] { std::free(std::malloc(8)); }) <= 1);  // a compiler may leave it out
  CHECK(block_of_a_result() >= 1);
}

TEST_CASE("einsum_into") {
  for_several_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const rows = made<I/X, J>(m, e);
    auto const columns = made<I, J/X>(m, e);
    auto const blocks = made<I/X, J/Y>(m, e);
    auto const b = made<J, K>(m, e);
    auto const b_rows = made<J/X, K>(m, e);
    auto const b_blocks = made<J/X, K/Y>(m, e);
    auto const c = made<I, K>(m, e);
    auto const c_rows = made<I/X, K>(m, e);
    auto const c_blocks = made<I/X, K/Y>(m, e);
    auto const transposed = made<K, I/X>(m, e);
    CHECK(most_in_steady_state([&] { os::einsum_into(c_rows, rows, b); }) == 0);                            // no move
    CHECK(most_in_steady_state([&] { os::einsum_into(transposed, rows, b); }) == 0);      // another order
    CHECK(most_in_steady_state([&] { os::einsum_into(c, columns, b_rows); }) == 0);       // all-reduce
    CHECK(most_in_steady_state([&] { os::einsum_into(c_rows, columns, b_rows); }) == 0);  // reduce-scatter
    CHECK(most_in_steady_state([&] { os::einsum_into(c_rows, columns, b_rows, os::beta = 1); }) == 0);
    CHECK(most_in_steady_state([&] { os::einsum_into(c, rows, b); }) == 0);                                 // a gather
    CHECK(most_in_steady_state([&] { os::einsum_into(c, columns, b, os::for_these_sizes); }) ==
          0);  // planned at run time, once
    CHECK(most_in_steady_state([&] { os::einsum_into(c_blocks, blocks, b_blocks); }) == 0);  // two gathers
  });
}

TEST_CASE("reshard_into and map_into") {
  for_several_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const rows = made<I/X, J>(m, e);
    auto const other_rows = made<I/X, J>(m, e);
    auto const columns = made<I, J/X>(m, e);
    auto const whole = made<I, J>(m, e);
    auto const bias = made<J>(m, e);
    CHECK(most_in_steady_state([&] { os::reshard_into(whole, rows); }) == 0);    // all-gather
    CHECK(most_in_steady_state([&] { os::reshard_into(columns, rows); }) == 0);  // all-to-all
    CHECK(most_in_steady_state([&] { os::reshard_into(rows, whole); }) == 0);    // slice
    CHECK(most_in_steady_state([&] { os::map_into(other_rows, plus(), rows, bias); }) == 0);
    CHECK(most_in_steady_state([&] { os::map_into(rows, plus(), rows, bias); }) == 0);
  });
}

TEST_CASE("a time step with halos") {
  for_several_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    os::shard_map<I/X, J/Y>(
        [](auto block) {
          auto const f = [](auto const& u) { return u(-1, 0) + u(1, 1) - 2 * u(0, 0); };
          auto now = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(block);
          auto next = os::zeros_like(now);
          CHECK(most_in_steady_state([&] {
                  os::stencil_into(next, f, os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(now));
                  std::swap(now, next);
                }) == 0);
          CHECK(most_in_steady_state(
                    [&] { os::exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(now, block); }) == 0);
          return block;
        },
        made<I/X, J/Y>(m, e));
  });
}

TEST_CASE("a time step on a program's own arrays, with ghost layers in them") {
  for_several_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
    auto const block = made<I/X, J/Y>(m, e);
    using view = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::DefaultExecutionSpace>;
    view const one("one", block.local().extent(0) + 2, block.local().extent(1) + 1);
    view const other("other", one.extent(0), one.extent(1));
    auto const adopt = [&](view const& v) {
      return os::from_local<double, os::halo<I, 1>/X, os::halo<J, 0, 1>/Y>(mesh, I = e.at('I'), J = e.at('J'), v);
    };
    auto now = adopt(one), next = adopt(other);
    auto const f = [](auto const& u) { return u(-1, 0) + u(1, 1) - 2 * u(0, 0); };
    CHECK(most_in_steady_state([&] {
            os::stencil_into(next, f, os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 0, 1>/Y>(now));
            std::swap(now, next);
          }) == 0);
    CHECK(most_in_steady_state(
              [&] { os::exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 0, 1>/Y>(now, os::periodic); }) == 0);
  });
}

TEST_CASE("operations that make their result") {
  long const block = block_of_a_result();
  for_several_extents([&](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const rows = made<I/X, J>(m, e);
    auto const columns = made<I, J/X>(m, e);
    auto const b_rows = made<J/X, K>(m, e);
    auto const bias = made<J>(m, e);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::einsum<I, K>(columns, b_rows)); }) <= block);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::reshard<I, J/X>(rows)); }) <= block);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::map(plus(), rows, bias)); }) <= block);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::scale(2.0, rows)); }) <= block);
    CHECK(most_in_steady_state([&] { auto const copy = rows; static_cast<void>(copy.local()); }) == 0);
  });
}

TEST_CASE("bodies of os::shard_map") {
  long const block = block_of_a_result();
  for_several_extents([&](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const rows = made<I/X, J>(m, e);
    auto const columns = made<I, J/X>(m, e);
    auto const b_rows = made<J/X, K>(m, e);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::shard_map<I/X, J>([](auto a) { return a; }, rows)); }) == 0);
    CHECK(most_in_steady_state([&] {
            static_cast<void>(os::shard_map<I/X, J>(
                [](auto a) {
                  os::map_into(a, plus(), a, a);
                  return a;
                },
                rows));
          }) == 0);
    CHECK(most_in_steady_state([&] {
            static_cast<void>(os::shard_map<I, K>(
                [](auto a, auto b) { return os::psum<X>(os::einsum<I, K>(a, b)); }, columns, b_rows));
          }) <= 2 * block);
    CHECK(most_in_steady_state([&] {
            static_cast<void>(os::shard_map<I, J>([](auto a) { return os::all_gather<I/X>(a); }, rows));
          }) <= block);
  });
}

TEST_CASE("what is begun, and waited for or dropped") {
  long const block = block_of_a_result();
  for_several_extents([&](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const rows = made<I/X, J>(m, e);
    auto const whole = made<I, J>(m, e);
    auto const b_rows = made<J/X, K>(m, e);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::start_reshard<I, J>(rows).wait()); }) <= block);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::start_reshard<I, J>(rows)); }) <= block);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::start_einsum<I/X, K>(rows, b_rows).wait()); }) <= block);
    CHECK(most_in_steady_state([&] {
            static_cast<void>(os::shard_map<os::dims<I, J>{}, os::dims<I, J>{}>(
                [](auto p, auto w) {
                  static_cast<void>(os::start_shift<X>(p, 1));
                  auto gathered = os::start_all_gather<I/X>(p);
                  auto sum = os::start_psum<X>(os::pvary<X>(w));
                  return std::tuple(std::move(gathered).wait(), std::move(sum).wait());
                },
                rows, whole));
          }) <= 3 * block);
  });
}

// Its results are blocks; the tape holds everything else in memory that it has kept.
TEST_CASE("gradients allocate blocks and nothing else") {
  namespace tools = Kokkos::Tools::Experimental;
  long const block = block_of_a_result();
  for_several_extents([&](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const x = made<I/X, J>(m, e);
    auto const w = made<J, K>(m, e);
    auto const gradient = os::value_and_grad([](auto const& weight, auto const& input) {
      auto const h = os::einsum<I/X, K>(input, weight);
      return os::sum<>(os::multiply(h, h));
    });
    auto const step = [&] { static_cast<void>(gradient(w, x)); };
    for (int i = 0; i < 3; ++i) step();
    blocks_made = 0;
    tools::set_allocate_data_callback([](auto, char const*, void const*, std::uint64_t) { ++blocks_made; });
    step();
    tools::set_allocate_data_callback(nullptr);  // names of kernels are strings if a tool listens
    CHECK(blocks_made > 0);
    CHECK(most_in_steady_state(step) <= blocks_made * block);
  });
}

TEST_CASE("steps of optimisers") {
  for_several_extents([&](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const p = made<I, J>(m, e);
    auto const g = made<I, J>(m, e);
    auto const partial = made<I, J, os::partial(X)>(m, e);
    os::adamw const optimizer{.learning_rate = os::warm_up{.then = os::cosine_decay{}}, .decays = os::decays_matrices};
    auto const state = optimizer.init(p);
    auto const divided = optimizer.init(p, os::split_over<X>);
    CHECK(most_in_steady_state([&] { optimizer.update(p, g, state); }) == 0);
    CHECK(most_in_steady_state([&] { optimizer.update(p, partial, state); }) == 0);    // all-reduce
    CHECK(most_in_steady_state([&] { optimizer.update(p, g, divided); }) == 0);        // gather
    CHECK(most_in_steady_state([&] { optimizer.update(p, partial, divided); }) == 0);  // reduce-scatter, and gather
    auto const rows = made<I/X, J>(m, e);
    CHECK(most_in_steady_state([&] { os::clip_by_global_norm(rows, 0.5); }) == 0);
    CHECK(most_in_steady_state([&] { os::accumulate(partial, partial); }) == 0);
  });
}

#else

TEST_CASE("allocations are counted with the GNU C library alone") {
  MESSAGE("SKIPPED: another C library, or a sanitizer that owns malloc");
}

#endif
