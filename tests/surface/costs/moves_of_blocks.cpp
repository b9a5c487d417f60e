// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Bodies: the `moves` of collectives, or what they say of a call that a number or the place of a device decides, equal
/// the figures of a dry mesh (predicted.hpp).
// ranks: 1
// sham:

#include <cstdint>
#include <vector>

#include <ostraka/gradient.hpp>
#include <ostraka/local_view.hpp>

#include "support/on_meshes.hpp"
#include "surface/costs/predicted.hpp"

namespace os = ostraka;
namespace operation = os::operation;

using os::testing::block_itself;
using os::testing::collective_moves_what_it_says;
using os::testing::doubles;
using os::testing::moves_what_it_says;
using os::testing::named_dim;
using os::testing::sums_of_rows;

namespace {

/// The collective says by types what moves, of sums of rows unless `Make` makes another operand of blocks [I/X, J].
template <class Make = sums_of_rows, class Collective, class... More>
void by_types(Collective const& collective, More const&... more) {
  collective_moves_what_it_says<true, Make, I/X, J>({}, collective, more...);
}

/// A number decides what moves, of blocks of rows, and of rows and columns.
template <class Collective, class... More>
void by_numbers(Collective const& collective, More const&... more) {
  collective_moves_what_it_says<false, block_itself, I/X, J>({}, collective, more...);
  collective_moves_what_it_says<false, block_itself, I/X, J/Y>({}, collective, more...);
}

struct sum_of_two {
  template <class Block>
  Block operator()(Block const& a, Block const& b) const {
    return os::add(a, b);
  }
};

/// Blocks of six rows, which all meshes divide.
struct six_rows {
  template <class Block>
  auto operator()(Block const& block) const {
    return os::zeros<os::tensor<double, L, J, os::varying(X)>>(block.mesh(), L = 6, J = block.extent(J));
  }
};

/// The same block on all devices.
struct sums_of_all {
  template <class Block>
  auto operator()(Block const& block) const {
    return os::psum<X>(os::einsum<J>(block));
  }
};

/// A block with halos.
template <class... Dim>
struct padded_by {
  template <class Block>
  auto operator()(Block const& block) const {
    return os::detail::operate(operation::exchange_halo<Dim...>{}, block);
  }
};

/// os::exchange_halo_into, of the block itself.
template <class... Dim>
struct renewed : operation::renew_halo<Dim...> {
  template <class...>
  using verdict = os::reason::ok;
  template <class How, class A, class... Options>
  A run(How const&, A const& a, Options const&... options) const {
    os::detail::operate_how(os::detail::into<A>{a}, operation::renew_halo<Dim...>{}, a, options...);
    return a;
  }
};

struct itself {
  template <class U>
  KOKKOS_INLINE_FUNCTION double operator()(U const& u) const {
    return u(0);
  }
};

}  // namespace

TEST_CASE("reductions of blocks") {
  by_types(os::psum<X>);
  by_types(os::pmax<X>);
  by_types(os::pmean<X>);
  by_types(os::psum_scatter<J/X>);
  by_types(os::pargmax<X>);
  by_types(operation::preduce_by<sum_of_two, X_mesh>{});
  by_types(operation::product_of_others<X_mesh>{});
  by_types(operation::scan_from_behind<os::engine::scan_kind::inclusive, os::reduction::sum, X_mesh>{});
}

TEST_CASE("blocks that are gathered, exchanged and sent") {
  by_types<block_itself>(os::all_gather<I/X>);
  by_types(os::all_gather<K/X>);
  by_types<block_itself>(os::all_gather_invariant<I/X>);
  by_types<block_itself>(os::all_to_all<I/X, J/X>);
  by_types<six_rows>(os::all_to_all<L/X, L/X>);
  by_types(os::pbroadcast<X>, 0);
  by_types(os::inclusive_scan<X>);
  by_types(os::exclusive_scan<X>);
}

TEST_CASE("blocks that stay") {
  by_types<sums_of_all>(operation::pvary<X_mesh>{});
  by_types<sums_of_all>(operation::varied<X_mesh>{});
  by_types<sums_of_all>(operation::keep_on<X_mesh>{{}, 0});
  by_types(operation::unvaried<X_mesh>{});
  by_types<block_itself>(operation::part<J_axis, int>{1, 3});
  using rows = named_dim<os::halo<I, 1>/X>;
  collective_moves_what_it_says<true, padded_by<rows>, I/X, J>({1, 0}, operation::own_part{});
  collective_moves_what_it_says<true, padded_by<rows>, I/X, J>({1, 0},
                                                               operation::stencil<itself, os::detail::no_every>{});
  collective_moves_what_it_says<true, padded_by<rows>, I/X, J>(
      {1, 0}, operation::patches<os::type_list<K_axis>, os::detail::no_every>{});
}

TEST_CASE("shifts and permutations") {
  for (int const by : {0, 1, -1, 2, 3, 6}) by_numbers(os::shift<X>, by);
  collective_moves_what_it_says<false, block_itself, I/X, J/Y>({}, os::shift<X, Y>, 1);
  collective_moves_what_it_says<false, block_itself, I/X, J/Y>({}, os::shift<Y, X>, 5);
  collective_moves_what_it_says<false, sums_of_rows, I/X, J>({}, os::shift<X>, 1);
  by_numbers(operation::ppermute<X_mesh>{});
  by_numbers(operation::ppermute<X_mesh>{{}, {{0, 0}}});
  by_numbers(operation::ppermute_by<os::permutation({{0, 0}}), X_mesh>{});
}

TEST_CASE("permutations of two and three devices") {
  auto const on = [](std::int64_t x, auto const& permute) {
    for (std::int64_t const i : {0, 1, 2, 3, 5}) {
      CAPTURE(x);
      CAPTURE(i);
      os::testing::costs_of_devices costs;
      for (std::int64_t d = 0; d < 2 * x; ++d) {
        auto const mesh = os::dry_mesh(os::as_device(d), X = x, Y = 2);
        using a = os::tensor<double, I/X, J/Y>;
        costs.count(mesh, os::testing::call_in_a_body<false, block_itself, I/X, J/Y, a,
                                                      std::remove_cvref_t<decltype(permute)>>{
                              permute, os::zeros<a>(mesh, I = i, J = 3), {}});
      }
      CHECK(costs.is_predicted_alike);
      CHECK(costs.predicted == (costs.sent + 2 * x - 1) / (2 * x));
    }
  };
  on(2, operation::ppermute<X_mesh>{{}, {{0, 1}}});
  on(2, operation::ppermute<X_mesh>{{}, {{1, 0}, {0, 1}}});
  on(3, operation::ppermute<X_mesh>{{}, {{2, 0}, {1, 1}}});
  on(3, operation::ppermute_by<os::permutation({{0, 2}, {1, 0}}), X_mesh>{});
  on(2, operation::ppermute<Y_mesh, X_mesh>{{}, {{1, 2}, {3, 0}}});
}

TEST_CASE("blocks of one device, and on one device") {
  by_numbers(os::gather_to<I/X>, 0);
  by_numbers(os::scatter_from<I/X>, 0);
  collective_moves_what_it_says<false, sums_of_rows, I/X, J>({}, os::gather_to<J/X>, 0);
  collective_moves_what_it_says<false, sums_of_rows, I/X, J>({}, os::scatter_from<J/X>, 0);
}

TEST_CASE("halos") {
  using rows = operation::exchange_halo<named_dim<os::halo<I, 1>/X>>;
  using both = operation::exchange_halo<named_dim<os::halo<I, 2, 1>/X>, named_dim<os::halo<J, 1>/Y>>;
  collective_moves_what_it_says<false, block_itself, I/X, J>({1, 0}, rows{});
  collective_moves_what_it_says<false, block_itself, I/X, J>({1, 0}, rows{}, os::periodic);
  collective_moves_what_it_says<false, block_itself, I/X, J>({1, 0}, rows{}, os::boundary = 2.5);
  collective_moves_what_it_says<false, block_itself, I/X, J/Y>({1, 0}, rows{}, os::periodic);
  collective_moves_what_it_says<false, block_itself, I/X, J/Y>({2, 1}, both{});
  collective_moves_what_it_says<false, block_itself, I/X, J/Y>({2, 1}, both{}, os::periodic(I));
  collective_moves_what_it_says<false, block_itself, I/X, J/Y>({2, 1}, both{}, os::periodic, os::faces);
  collective_moves_what_it_says<false, block_itself, I/X, J/Y>({2, 1}, both{}, os::faces);
}

TEST_CASE("halos of padded blocks, and halos that go back") {
  using i = named_dim<os::halo<I, 2, 1>/X>;
  using j = named_dim<os::halo<J, 1>/Y>;
  using none = os::type_list<>;
  using ring = os::type_list<std::remove_const_t<decltype(os::periodic)>>;
  using back = operation::return_halo<os::type_list<i, j>, none>;
  using back_round = operation::return_halo<os::type_list<i, j>, ring>;
  collective_moves_what_it_says<false, padded_by<i, j>, I/X, J/Y>({2, 1}, back{});
  collective_moves_what_it_says<false, padded_by<i, j>, I/X, J/Y>({2, 1}, back_round{});
  collective_moves_what_it_says<false, padded_by<i, j>, I/X, J/Y>({2, 1}, renewed<i, j>{});
  collective_moves_what_it_says<false, padded_by<i, j>, I/X, J/Y>({2, 1}, renewed<j>{}, os::periodic);
}

namespace {

struct add_one {
  void operator()(double& x) const { x += 1; }
};
struct square {
  double operator()(double x) const { return x * x; }
};

}  // namespace

TEST_CASE("functions at points of blocks move nothing") {
  using a = os::type_list<doubles<I/X, J>>;
  moves_what_it_says(operation::for_each_point<add_one>{{add_one{}}}, a{});
  moves_what_it_says(operation::sum_over_points<square>{{square{}}}, a{});
}
