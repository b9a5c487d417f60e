// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Ours moves exactly as many bytes as plain MPI code that does the same job by hand (bench/patterns/by_hand), both
/// counted below them, and gets the same numbers. Even blocks, as the hand-written code needs them.
// ranks: 2 4 8
// sham: 2 4

#include <doctest/doctest.h>

#if OSTRAKA_ENABLE_MPI

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../bench/patterns/by_hand/feed_forward.hpp"
#include "../bench/patterns/by_hand/products.hpp"
#include "../bench/patterns/by_hand/reshards.hpp"
#include "support/axes.hpp"
#include "support/byte_counter.hpp"
#include "support/mpi_main.hpp"
#include "support/on_meshes.hpp"

#include <ostraka/ostraka.hpp>

namespace os = ostraka;
namespace t = os::testing;
using os::tensor;

OSTRAKA_AXIS(N, 8);  // of the feed-forward layer: known while compiling, so that the plans are the cheapest
OSTRAKA_AXIS(S, 4);
OSTRAKA_AXIS(D, 16);
OSTRAKA_AXIS(F, 64);

namespace {

constexpr by_hand::extents e{16, 24, 32};

/// `ours()` gives the result, the ways of `by_hand_of(their result)` write theirs. No way moves less than ours, and one
/// exactly as much.
template <class Ours, class ByHand>
void compare(Ours const& ours, ByHand const& by_hand_of) {
  auto result = ours();
  auto const moved = t::traffic_of([&] { result = ours(); });
  auto const block = t::host_block(result);
  by_hand::buffer theirs(block.size());
  auto least = std::numeric_limits<std::int64_t>::max();
  for (by_hand::way const& way : by_hand_of(theirs.data())) {
    INFO(way.name);
    std::fill(theirs.begin(), theirs.end(), std::nan(""));
    least = std::min(least, t::traffic_of(way.run).bytes);
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < theirs.size(); ++i) wrong += !(std::abs(block.data()[i] - theirs[i]) < 1e-12);
    CHECK(wrong == 0);
  }
  CHECK(moved.bytes == least);
}

template <class A, class Right, class Mesh, class Given, class Multiply, class ByHand>
void compare_products(Mesh const& mesh, Given const& given, Multiply const& multiply, ByHand const& by_hand_of) {
  auto const a = os::random<A>(mesh, given, os::seed(1));
  auto const b = os::random<Right>(mesh, given, os::seed(2));
  compare([&] { return multiply(a, b); }, [&, of_a = t::host_block(a), of_b = t::host_block(b)](
                                              double* c) { return by_hand_of(of_a.data(), of_b.data(), c); });
}

struct two_ways {
  int x, y;
};

two_ways near_square() { return {2, t::ranks() / 2}; }

}  // namespace

TEST_CASE("the textbook's products") {
  auto const mesh = os::make_mesh(X = t::ranks());
  by_hand::group const g(MPI_COMM_WORLD);
  auto const given = os::sizes(I = e.i, J = e.j, K = e.k);
  auto const to_rows = [](auto const& a, auto const& b) { return os::einsum<I/X, K>(a, b); };
  auto const to_columns = [](auto const& a, auto const& b) { return os::einsum<I, K/X>(a, b); };
  auto const to_whole = [](auto const& a, auto const& b) { return os::einsum<I, K>(a, b); };
  auto const gathered = [](auto const& a, auto const& b) { return os::einsum<I, K>(a, b, os::gather_left); };
  auto const reduced = [](auto const& a, auto const& b) { return os::einsum<I, K>(a, b, os::reduce_result); };
  using whole_right = tensor<double, J, K>;
  using summed_left = tensor<double, I, J/X>;
  using summed_right = tensor<double, J/X, K>;

  compare_products<tensor<double, I/X, J>, whole_right>(mesh, given, to_rows,
                                                        [&](auto... at) { return by_hand::rows_apart(g, e, at...); });
  compare_products<summed_left, whole_right>(mesh, given, gathered,
                                             [&](auto... at) { return by_hand::gather_left(g, e, at...); });
  compare_products<summed_left, whole_right>(mesh, given, reduced, [&](double const* a, double const* b, double* c) {
    return by_hand::reduce_all(g, e, a, b, true, c);
  });
  compare_products<summed_left, summed_right>(mesh, given, to_rows,
                                              [&](auto... at) { return by_hand::scatter_rows(g, e, at...); });
  compare_products<summed_left, summed_right>(mesh, given, to_columns,
                                              [&](auto... at) { return by_hand::scatter_columns(g, e, at...); });
  compare_products<summed_left, summed_right>(mesh, given, to_whole, [&](double const* a, double const* b, double* c) {
    return by_hand::reduce_all(g, e, a, b, false, c);
  });
  compare_products<tensor<double, I/X, J>, tensor<double, J, K/X>>(
      mesh, given, to_rows, [&](auto... at) { return by_hand::gather_right(g, e, at...); });
}

TEST_CASE("a batch") {
  auto const mesh = os::make_mesh(X = t::ranks());
  by_hand::group const g(MPI_COMM_WORLD);
  compare_products<tensor<double, B/X, I, J>, tensor<double, B/X, J, K>>(
      mesh, os::sizes(B = 16, I = e.i, J = e.j, K = e.k),
      [](auto const& a, auto const& b) { return os::einsum<B/X, I, K>(a, b); },
      [&](auto... at) { return by_hand::batch_apart(g, 16, e, at...); });
}

TEST_CASE("the feed-forward layer") {
  for (auto const [x, y] :
       {near_square(), two_ways{t::ranks() / 2, 2}, two_ways{1, t::ranks()}, two_ways{t::ranks(), 1}}) {
    INFO("on ", x, " x ", y);
    auto const mesh = os::make_mesh(X = x, Y = y);
    MPI_Comm along[2];
    MPI_Comm_split(MPI_COMM_WORLD, t::rank() % y, t::rank(), &along[0]);
    MPI_Comm_split(MPI_COMM_WORLD, t::rank() / y, t::rank(), &along[1]);
    by_hand::group const gx(along[0]);
    by_hand::group const gy(along[1]);
    by_hand::layer const l{int(N.extent * S.extent), int(D.extent), int(F.extent)};
    compare_products<tensor<double, N/X, S, D/Y>, tensor<double, D/X, F/Y>>(
        mesh, os::sizes(), [](auto const& h, auto const& w) { return os::einsum<N/X, S, F/Y>(h, w); },
        [&](auto... at) { return by_hand::feed_in(gx, gy, l, at...); });
    compare_products<tensor<double, N/X, S, F/Y>, tensor<double, F/Y, D/X>>(
        mesh, os::sizes(), [](auto const& a, auto const& w) { return os::einsum<N/X, S, D/Y>(a, w); },
        [&](auto... at) { return by_hand::feed_out(gx, gy, l, at...); });
    for (MPI_Comm& comm : along) MPI_Comm_free(&comm);
  }
}

TEST_CASE("reshards") {
  auto const [x, y] = near_square();
  auto const mesh = os::make_mesh(X = x, Y = y);
  auto const line = os::make_mesh(X = t::ranks());
  by_hand::group const all(MPI_COMM_WORLD);
  auto const a = os::random<tensor<double, I/X/Y, J>>(mesh, os::sizes(I = e.i, J = e.j), os::seed(1));
  auto const rows = os::random<tensor<double, I/X, J>>(line, os::sizes(I = e.i, J = e.j), os::seed(1));
  auto const of_rows = t::host_block(rows), of_a = t::host_block(a);
  compare([&] { return os::reshard<I, J/X>(rows); },
          [&](double* c) { return by_hand::all_to_all(all, e.i, e.j, of_rows.data(), c); });
  compare([&] { return os::reshard<I/Y, J>(a); },
          [&](double* c) { return by_hand::drop_major(all, x, y, e.i, e.j, of_a.data(), c); });
  compare([&] { return os::reshard<I/Y/X, J>(a); },
          [&](double* c) { return by_hand::swap_order(all, x, y, e.i, e.j, of_a.data(), c); });
}

#endif
