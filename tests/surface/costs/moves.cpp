// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The `moves` of operations equal the figures of a dry mesh that schedules the same operation: all its devices
/// together send that, to the byte. For each family, on meshes of one to six devices, even blocks, uneven ones and
/// empty ones.
// ranks: 1

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <tuple>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/operations/normalisation/row_derivatives.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace operation = os::operation;

using os::partial;

namespace {

OSTRAKA_AXIS(P, 2);   // pairs
OSTRAKA_AXIS(S, 12);  // a sequence that divides into stripes for one, two and three devices

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;
template <auto... Dims>
using to = os::sharding_of<Dims...>;
template <auto Dim>
using told = os::detail::type_of<Dim>;

/// f(mesh, extents of I and J) makes a call, of type `call`, on meshes and extents of all kinds.
template <class F>
void on_dry_meshes(F const& make_call) {
  for (std::int64_t const x : {1, 2, 3})
    for (std::int64_t const y : {1, 2})
      for (std::int64_t const i : {0, 1, 5, 6}) {
        std::int64_t sent = 0, foretold = 0;
        for (std::int64_t d = 0; d < x * y; ++d) {
          auto const mesh = os::dry_mesh(os::as_device(d), X = x, Y = y);
          auto const call = make_call(mesh, os::sizes(I = i, J = 4, K = 3, L = 6, B = 2));
          sent += os::cost_of(mesh, [&] { call.does(); }).bytes;
          foretold = call.bytes();
        }
        CAPTURE(x);
        CAPTURE(y);
        CAPTURE(i);
        CHECK(foretold == (sent + x * y - 1) / (x * y));
      }
}

/// An operation on operands of these types. `ByTypes`: not by a number that it holds.
template <bool ByTypes, class Operation, class... Given>
struct call {
  Operation operation;
  std::tuple<Given...> given;
  void does() const {
    std::apply([&](auto const&... g) { static_cast<void>(os::detail::operate(operation, g...)); }, given);
  }
  [[nodiscard]] std::int64_t bytes() const {
    static_assert(os::detail::has_moves<Operation, Given...>() == ByTypes, "it tells its price by types");
    return std::apply([&](auto const&... g) { return os::bytes_of(operation, g...); }, given);
  }
};

template <bool ByTypes = true, class Operation, class... Operands, class... More>
void moves_what_it_says(Operation const& operation, os::type_list<Operands...>, More const&... more) {
  on_dry_meshes([&](auto const& mesh, auto const& sizes) {
    return call<ByTypes, Operation, Operands..., More...>{operation, {os::zeros<Operands>(mesh, sizes)..., more...}};
  });
}

}  // namespace

TEST_CASE("what is done element by element moves nothing") {
  using a = tensor<I/X, J>;
  using b = tensor<J, I/X>;
  moves_what_it_says(operation::add{}, os::type_list<a, b>{});
  moves_what_it_says(operation::multiply{}, os::type_list<a>{}, 2.0);
  moves_what_it_says(operation::less{}, os::type_list<a, b>{});
  moves_what_it_says(operation::where{}, os::type_list<os::tensor<bool, I/X>, a>{}, 1.0);
  moves_what_it_says(operation::cast<float>{}, os::type_list<a>{});
  moves_what_it_says(operation::map_by<os::detail::plus>{{}, {}}, os::type_list<a, b>{});
  moves_what_it_says(os::exp, os::type_list<a>{});
  moves_what_it_says(os::isnan, os::type_list<a>{});
  moves_what_it_says(os::real, os::type_list<a>{});
  moves_what_it_says(os::pow, os::type_list<a, b>{});
  moves_what_it_says(os::pow, os::type_list<a>{}, 2.0);
  moves_what_it_says(os::clamp, os::type_list<a>{}, 0.0, 1.0);
}

TEST_CASE("einsum") {
  moves_what_it_says(operation::einsum<to<I/X, K/Y>>{}, os::type_list<tensor<I/X, J>, tensor<J, K/Y>>{});
  moves_what_it_says(operation::einsum<to<I, K>>{}, os::type_list<tensor<I, J/X>, tensor<J/X, K>>{});
  moves_what_it_says(operation::einsum<to<J, K/Y>>{}, os::type_list<tensor<I/X, J>, tensor<I/X, K/Y>>{});
  moves_what_it_says(operation::einsum<to<J, K>>{}, os::type_list<tensor<I/X, J>, tensor<I/Y, K>>{});
  moves_what_it_says(operation::einsum<to<I/X, K>>{}, os::type_list<tensor<I/X, J/Y>, tensor<J, K>>{}, os::gather_left);
  moves_what_it_says(operation::einsum<to<J, K, partial(X)>>{}, os::type_list<tensor<I/X, J>, tensor<I/X, K>>{});
}

TEST_CASE("contractions, copies and other names move nothing") {
  using a = tensor<I/X, J>;
  moves_what_it_says(operation::contract<os::type_list<J_axis>>{}, os::type_list<a, tensor<J, K/Y>>{});
  moves_what_it_says(operation::copy{}, os::type_list<a>{});
  moves_what_it_says(operation::zeros_like{}, os::type_list<a>{});
  moves_what_it_says(operation::named{}, os::type_list<a>{}, std::string("A"));
  moves_what_it_says(operation::rename<J_axis, K_axis>{}, os::type_list<a>{});
  moves_what_it_says(operation::relabel<I_axis, K_axis>{}, os::type_list<a>{});
}

TEST_CASE("reductions") {
  using a = os::type_list<tensor<I/X, J/Y>>;
  using os::reduction;
  moves_what_it_says(operation::reduce<reduction::sum, to<I/X>>{}, a{});
  moves_what_it_says(operation::reduce<reduction::sum, to<I>>{}, a{}, os::cheapest);
  moves_what_it_says(operation::reduce<reduction::sum, to<J, partial(X)>>{}, a{});
  moves_what_it_says(operation::reduce<reduction::sum, to<J/X>>{}, os::type_list<tensor<I/X, J>>{});
  moves_what_it_says(operation::reduce<reduction::max, to<>>{}, a{});
  moves_what_it_says(operation::reduce<reduction::min, to<J/Y>>{}, a{});
  moves_what_it_says(operation::reduce<reduction::prod, to<J>>{}, a{});
  moves_what_it_says(operation::mean<to<I/X>>{}, a{});
  moves_what_it_says(operation::mean<to<>>{}, a{});
  moves_what_it_says(operation::mean_where<to<I/X>>{}, os::type_list<tensor<I/X, J/Y>, os::tensor<bool, J/Y>>{});
  moves_what_it_says(operation::mean_where<to<>>{}, os::type_list<tensor<I/X, J/Y>, os::tensor<int, I/X>>{});
  moves_what_it_says(operation::mean_where<to<J>>{}, os::type_list<tensor<I/X, J/Y>, os::tensor<bool, I, J/Y>>{});
}

TEST_CASE("moves") {
  moves_what_it_says(os::all_gather<X>, os::type_list<tensor<I/X, J/Y>>{});
  moves_what_it_says(os::all_reduce<X>, os::type_list<tensor<I, J/Y, partial(X)>>{});
  moves_what_it_says(os::all_reduce<X, Y>, os::type_list<tensor<I, J, partial(X, Y)>>{});
  moves_what_it_says(os::reduce_scatter<I/X>, os::type_list<tensor<I, J, partial(X)>>{});
  moves_what_it_says(os::all_to_all<J/X>, os::type_list<tensor<I/X, J>>{});
  moves_what_it_says(os::slice<I/X>, os::type_list<tensor<I, J/Y>>{});
  moves_what_it_says(operation::reshard<to<I, J/X>>{}, os::type_list<tensor<I/X, J>>{});
  moves_what_it_says(operation::reshard<to<I/Y, J/X>>{}, os::type_list<tensor<I/X, J/Y>>{});
  moves_what_it_says(operation::reshard<to<I, J>>{}, os::type_list<tensor<I/X, J, partial(Y)>>{}, os::cheapest);
}

TEST_CASE("what makes rows one") {
  moves_what_it_says(operation::softmax<told<J>>{}, os::type_list<tensor<I/X, J>>{});
  moves_what_it_says(operation::softmax<told<I/X>>{}, os::type_list<tensor<I/X, J/Y>>{});
  moves_what_it_says(operation::log_softmax<told<I/X>>{}, os::type_list<tensor<I/X, J>>{});
  moves_what_it_says(operation::log_sum_exp<told<I/X>>{}, os::type_list<tensor<I/X, J>>{});
}

TEST_CASE("norms, losses of rows, and their derivatives") {
  using a = tensor<I/X, J/Y>;
  using rows = tensor<I/X>;
  using classes = os::tensor<int, I/X>;
  moves_what_it_says(operation::rms_norm<told<J/Y>>{}, os::type_list<a>{});
  moves_what_it_says(operation::rms_norm<told<I/X>>{}, os::type_list<a, tensor<I/X>>{});
  moves_what_it_says(operation::layer_norm<told<J>>{}, os::type_list<tensor<I/X, J>, tensor<J>, tensor<J>>{});
  moves_what_it_says(operation::layer_norm<told<I/X/Y>>{}, os::type_list<tensor<I/X/Y, J>>{});
  moves_what_it_says(operation::cross_entropy<told<J/Y>>{}, os::type_list<a, classes>{});
  moves_what_it_says(operation::cross_entropy<told<J/Y>>{true, 0, 0.1, 1e-4}, os::type_list<a, classes>{});
  moves_what_it_says(operation::cross_entropy<told<J>>{true, 0}, os::type_list<tensor<I, J>, os::tensor<int, I>>{});
  moves_what_it_says(operation::softmax_vjp<told<J/Y>>{}, os::type_list<a, a>{});
  moves_what_it_says(operation::log_softmax_vjp<told<I/X>>{}, os::type_list<a, a>{});
  moves_what_it_says(operation::rms_norm_vjp<told<J/Y>>{}, os::type_list<a, a, rows, tensor<J/Y>>{});
  moves_what_it_says(operation::layer_norm_vjp<told<J/Y>>{}, os::type_list<a, a, rows, rows>{});
  moves_what_it_says(operation::gain_vjp<told<J/Y>>{}, os::type_list<a, a, rows, rows>{});
  moves_what_it_says(operation::cross_entropy_vjp<told<J/Y>>{}, os::type_list<a, rows, rows, classes>{});
}

TEST_CASE("attention") {
  using q = tensor<L/Y, I, J>;
  using part = tensor<L/Y, K/X, J>;
  using whole = tensor<L/Y, K, J>;
  using scattered = to<L/Y, I/X, J>;
  using mask = os::tensor<bool, I, K/X>;
  moves_what_it_says(operation::attention<told<I>, told<K>, told<J>>{},
                     os::type_list<tensor<L/Y, I/X, J>, whole, whole>{});
  moves_what_it_says(operation::attention<told<I>, told<K/X>, told<J>>{}, os::type_list<q, part, part>{});
  moves_what_it_says(operation::attention<told<I>, told<K/X>, told<J>>{{}, true, 3}, os::type_list<q, part, part>{});
  moves_what_it_says(operation::attention<told<I>, told<K/X>, told<J>>{}, os::type_list<q, part, part, mask>{});
  moves_what_it_says(operation::attention<told<I>, told<K/X>, told<J>, scattered>{}, os::type_list<q, part, part>{});
  moves_what_it_says(operation::attention<told<I>, told<K/X>, told<J>, scattered>{},
                     os::type_list<q, part, part, mask>{});
  moves_what_it_says(operation::attention<told<I>, told<K>, told<J/Y>>{},
                     os::type_list<tensor<I/X, J/Y>, tensor<K, J/Y>, tensor<K, J>>{});
  moves_what_it_says(operation::latent_attention<told<I>, told<K/X>, told<J>>{},
                     os::type_list<q, part, part, tensor<L/Y, I, B>, tensor<K/X, B>>{});
}

TEST_CASE("keys and values that go round, and their cotangents") {
  using q = tensor<L/Y, I/X, J>;
  using k = tensor<L/Y, K/X, J>;
  using rows = tensor<L/Y, I/X>;
  using os::detail::ring_way;
  moves_what_it_says(operation::ring_attention<told<I>, told<K/X>, told<J>, ring_way<false, false, false>>{},
                     os::type_list<q, k, k>{});
  moves_what_it_says(operation::ring_attention<told<I>, told<K/X>, told<J>, ring_way<true, false, true>>{},
                     os::type_list<q, k, k>{});
  moves_what_it_says(operation::ring_attention_vjp<told<I>, told<K/X>, told<J>, ring_way<false, false, false>>{},
                     os::type_list<q, k, k, q, rows, q>{});
  moves_what_it_says(operation::ring_attention_vjp<told<I>, told<K/X>, told<J>, ring_way<true, false, true>>{},
                     os::type_list<q, k, k, q, rows, q>{});
}

TEST_CASE("rotations and stripes") {
  moves_what_it_says(operation::rope<told<I>, told<J>, told<P>>{}, os::type_list<tensor<I/X, J/Y, P>>{});
  moves_what_it_says(operation::stripe<told<S/X>>{}, os::type_list<tensor<J/Y, S/X, I>>{});
  moves_what_it_says(operation::stripe<told<S/X>>{true}, os::type_list<tensor<S/X>>{});
  moves_what_it_says(operation::stripe<told<S/X>>{}, os::type_list<tensor<S, J/Y>>{});
}

TEST_CASE("reductions of rows") {
  using a = os::type_list<tensor<I/X, J/Y>>;
  moves_what_it_says(operation::argmax<to<I/X>>{}, a{});
  moves_what_it_says(operation::argmin<to<I>>{}, a{});
  moves_what_it_says(operation::norm<to<I/X>>{}, a{});
  moves_what_it_says(operation::norm<to<J>>{}, a{});
  moves_what_it_says(operation::norm<to<I/X/Y>>{}, a{});
  moves_what_it_says(operation::norm<to<>>{}, a{});
  moves_what_it_says(operation::variance<to<I/X>>{1}, a{});
  moves_what_it_says(operation::standard_deviation<to<J/Y>>{}, a{});
  moves_what_it_says(operation::variance<to<>>{}, os::type_list<tensor<I/X, J>>{});
  moves_what_it_says(operation::count<to<J/Y>>{}, a{});
  moves_what_it_says(operation::truth_of_elements<os::reduction::max, to<I>>{}, a{});
  moves_what_it_says(operation::truth_of_elements<os::reduction::min, to<>>{}, a{});
}

TEST_CASE("running sums") {
  moves_what_it_says(operation::cumsum<told<J>>{}, os::type_list<tensor<I/X, J>>{});
  moves_what_it_says(operation::cumsum<told<I/X>>{}, os::type_list<tensor<I/X, J/Y>>{});
  moves_what_it_says(operation::cumsum<told<I/X>>{os::exclusive | os::reversed}, os::type_list<tensor<I/X, J>>{});
  moves_what_it_says(operation::cumulate<told<I/X/Y>, os::reduction::max>{}, os::type_list<tensor<I/X/Y, J>>{});
}

TEST_CASE("sorting an axis that is whole moves nothing") {
  using a = os::type_list<tensor<I/X, J>>;
  moves_what_it_says(operation::sort<told<J>>{}, a{});
  moves_what_it_says(operation::argsort<told<J>>{}, a{});
  moves_what_it_says(operation::sort_by_key<told<J>>{}, a{});
  moves_what_it_says(operation::top_k<told<J>, K_axis>{}, a{}, K = 2);
}

TEST_CASE("other shapes in the same place move nothing") {
  using a = os::type_list<tensor<I / X, J>>;
  using b = os::type_list<tensor<L / X, K>>;
  moves_what_it_says(operation::broadcast<to<K, I / X, J>>{{}, {3, 0, 0}, {}}, a{});
  moves_what_it_says(operation::transpose<J_axis, I_axis>{}, a{});
  moves_what_it_says(operation::split<L_axis, I_axis, J_axis>{{}, 6, 1}, b{});
  moves_what_it_says(operation::merge<L_axis, K_axis, I_axis>{}, b{});
  moves_what_it_says(operation::stack<to<K>>{{}, 2}, a{});
  moves_what_it_says(operation::stack_next<K_axis>{{}, 1}, os::type_list<tensor<K, I / X, J>, tensor<I / X, J>>{});
  moves_what_it_says(operation::dropout{{}, 0.5, os::seed(1)}, a{});
  moves_what_it_says(operation::triangle<true, I_axis, J_axis>{}, a{});
  moves_what_it_says(operation::write_at<told<J>>{{}, 1}, os::type_list<tensor<I / X, J>, tensor<I / X>>{});
}

TEST_CASE("indices of an axis in another order") {
  using a = os::type_list<tensor<I / X, J / Y>>;
  moves_what_it_says(operation::flip<told<J>>{}, os::type_list<tensor<I / X, J>>{});
  moves_what_it_says(operation::flip<told<I / X>>{}, a{});
  moves_what_it_says(operation::flip<told<I / X / Y>>{}, os::type_list<tensor<I / X / Y, J>>{});
  moves_what_it_says(operation::roll<told<J>>{{}, 1}, os::type_list<tensor<I / X, J>>{});
  moves_what_it_says<false>(operation::roll<told<I / X>>{{}, 2}, a{});
  moves_what_it_says<false>(operation::window<told<J / Y>>{{}, 1, 4, 2}, a{});
  moves_what_it_says<false>(operation::spread<told<I / X>>{{}, 0, 1, 7}, a{});
  moves_what_it_says<false>(operation::pad<told<I / X>>{{}, 1, 2, {}}, a{});
  moves_what_it_says<false>(operation::concatenate<told<I / X>>{}, os::type_list<tensor<I / X, J>, tensor<I / X, J>>{});
}

namespace {

template <auto... Dims>
using numbers = os::tensor<std::int64_t, Dims...>;
using os::detail::promised_range;

}  // namespace

TEST_CASE("rows by number") {
  moves_what_it_says(operation::take<J_axis>{}, os::type_list<tensor<J, K / Y>, numbers<I / X>>{});
  moves_what_it_says(operation::take<J_axis, to<I / X, K>>{}, os::type_list<tensor<J / X, K>, numbers<I / X>>{});
  moves_what_it_says(operation::take<J_axis, to<I, K>>{}, os::type_list<tensor<J / Y, K / X>, numbers<I / X>>{});
  moves_what_it_says(operation::take<J_axis, to<I, K / Y>, promised_range>{},
                     os::type_list<tensor<J, K / Y>, numbers<I / Y>>{});
  moves_what_it_says(operation::scatter_add<J_axis, to<J / X, K>>{{4}}, os::type_list<tensor<I, K>, numbers<I>>{});
  moves_what_it_says(operation::scatter_add<J_axis, to<J / X, K>>{{5}},
                     os::type_list<tensor<I / X, K>, numbers<I / X>>{});
  moves_what_it_says(operation::scatter_add<J_axis, to<J, K>, promised_range>{{3}},
                     os::type_list<tensor<I / X, K / Y>, numbers<I / Y>>{});
  moves_what_it_says(operation::segment_sum<J_axis, to<J>>{{2}}, os::type_list<tensor<I / X>, numbers<I / X>>{});
  moves_what_it_says(operation::take_at<K_axis>{1}, os::type_list<tensor<I / X, K>>{});
  moves_what_it_says(operation::take_at<K_axis, to<I / Y>>{1}, os::type_list<tensor<I, K / X>>{});
  moves_what_it_says(operation::put_at<K_axis, to<I, K / X>>{1, 3}, os::type_list<tensor<I / Y>>{});
  moves_what_it_says(operation::one_hot<double, told<K / Y>>{3}, os::type_list<numbers<I / X>>{});
  moves_what_it_says(operation::one_hot<double, told<K>, promised_range>{3}, os::type_list<numbers<I / X>>{});
}

namespace {

struct sums_of_rows {
  template <class Block>
  auto operator()(Block const& block) const {
    return os::einsum<J>(block);
  }
};
struct block_itself {
  template <class Block>
  Block operator()(Block const& block) const {
    return block;
  }
};

/// A collective of devices' blocks in a body, and of the operands that go with it.
template <class Make, class Tensor, class Collective, class... More>
struct call_in_a_body {
  Collective collective;
  Tensor a;
  std::tuple<More...> more;

  template <class F>
  void in_a_body(F const& f) const {
    static_cast<void>(os::shard_map<I/X, J>(
        [&](auto const& block) {
          std::apply([&](auto const&... m) { f(Make{}(block), m...); }, more);
          return block;
        },
        a));
  }
  void does() const {
    in_a_body([this](auto const&... given) { static_cast<void>(os::detail::operate(collective, given...)); });
  }
  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t told = 0;
    in_a_body([&]<class... Given>(Given const&... given) {
      static_assert(os::detail::has_moves<Collective, Given...>(), "it tells its price by types");
      told = os::bytes_of(collective, given...);
    });
    return told;
  }
};

template <class Make = sums_of_rows, class Collective, class... More>
void collective_moves_what_it_says(Collective const& collective, More const&... more) {
  on_dry_meshes([&](auto const& mesh, auto const& sizes) {
    using a = tensor<I/X, J>;
    return call_in_a_body<Make, a, Collective, More...>{collective, os::zeros<a>(mesh, sizes), {more...}};
  });
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

}  // namespace

TEST_CASE("reductions of blocks") {
  collective_moves_what_it_says(os::psum<X>);
  collective_moves_what_it_says(os::pmax<X>);
  collective_moves_what_it_says(os::pmean<X>);
  collective_moves_what_it_says(os::psum_scatter<J/X>);
  collective_moves_what_it_says(os::pargmax<X>);
  collective_moves_what_it_says(operation::preduce_by<sum_of_two, told<X>>{});
}

TEST_CASE("blocks that are gathered, exchanged and sent") {
  collective_moves_what_it_says<block_itself>(os::all_gather<I/X>);
  collective_moves_what_it_says(os::all_gather<K/X>);
  collective_moves_what_it_says<block_itself>(os::all_gather_invariant<I/X>);
  collective_moves_what_it_says<block_itself>(os::all_to_all<I/X, J/X>);
  collective_moves_what_it_says<six_rows>(os::all_to_all<L/X, L/X>);
  collective_moves_what_it_says(os::pbroadcast<X>, 0);
  collective_moves_what_it_says(os::inclusive_scan<X>);
  collective_moves_what_it_says(os::exclusive_scan<X>);
}
