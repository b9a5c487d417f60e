// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Elements, products, moves and rows: the `moves` of operations equal the figures of a dry mesh (predicted.hpp).
// ranks: 1
// sham:

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

#include <ostraka/gradient.hpp>
#include <ostraka/local_view.hpp>

#include "support/on_meshes.hpp"
#include "surface/costs/predicted.hpp"

namespace os = ostraka;
namespace operation = os::operation;

using os::partial;
using os::testing::doubles;
using os::testing::least_extents;
using os::testing::moves_what_it_says;
using os::testing::named_dim;
using os::testing::to;

namespace {

OSTRAKA_AXIS(P, 2);   // pairs
OSTRAKA_AXIS(S, 12);  // a sequence that divides into stripes for one, two and three devices

}  // namespace

TEST_CASE("what is done element by element moves nothing") {
  using a = doubles<I/X, J>;
  using b = doubles<J, I/X>;
  using choice = os::tensor<bool, I/X>;
  auto const of_two = [](auto const&... operations) {
    (moves_what_it_says(operations, os::type_list<a, b>{}), ...);
    (moves_what_it_says(operations, os::type_list<a>{}, 2.0), ...);
  };
  of_two(operation::add{}, operation::subtract{}, operation::multiply{}, operation::divide{}, operation::maximum{},
         operation::minimum{}, operation::equal{}, operation::not_equal{}, operation::less{}, operation::less_equal{},
         operation::greater{}, operation::greater_equal{}, os::pow);
  auto const of_one = [](auto const&... operations) { (moves_what_it_says(operations, os::type_list<a>{}), ...); };
  of_one(operation::negate{}, operation::cast<float>{}, os::conj, os::real, os::imag, os::relu, os::sigmoid, os::silu,
         os::gelu, os::gelu_tanh, os::abs, os::square, os::sqrt, os::rsqrt, os::floor, os::ceil, os::round, os::isnan,
         os::isfinite, os::exp, os::expm1, os::log, os::log1p, os::erf, os::sin, os::cos, os::tanh);
  moves_what_it_says(operation::scale{}, os::type_list<a>{}, 2.0);
  moves_what_it_says(operation::logical_and{}, os::type_list<choice, choice>{});
  moves_what_it_says(operation::logical_or{}, os::type_list<choice, choice>{});
  moves_what_it_says(operation::logical_not{}, os::type_list<choice>{});
  moves_what_it_says(operation::where{}, os::type_list<choice, a>{}, 1.0);
  moves_what_it_says(operation::map_by<os::detail::plus>{{}, {}}, os::type_list<a, b>{});
  moves_what_it_says(os::clamp, os::type_list<a>{}, 0.0, 1.0);
}

TEST_CASE("einsum") {
  moves_what_it_says(operation::einsum<to<I/X, K/Y>>{}, os::type_list<doubles<I/X, J>, doubles<J, K/Y>>{});
  moves_what_it_says(operation::einsum<to<I, K>>{}, os::type_list<doubles<I, J/X>, doubles<J/X, K>>{});
  moves_what_it_says(operation::einsum<to<J, K/Y>>{}, os::type_list<doubles<I/X, J>, doubles<I/X, K/Y>>{});
  moves_what_it_says(operation::einsum<to<J, K>>{}, os::type_list<doubles<I/X, J>, doubles<I/Y, K>>{});
  moves_what_it_says(operation::einsum<to<I/X, K>>{}, os::type_list<doubles<I/X, J/Y>, doubles<J, K>>{},
                     os::gather_left);
  moves_what_it_says(operation::einsum<to<J, K, partial(X)>>{}, os::type_list<doubles<I/X, J>, doubles<I/X, K>>{});
}

TEST_CASE("contractions, copies and other names move nothing") {
  using a = doubles<I/X, J>;
  moves_what_it_says(operation::contract<os::type_list<J_axis>>{}, os::type_list<a, doubles<J, K/Y>>{});
  moves_what_it_says(operation::copy{}, os::type_list<a>{});
  moves_what_it_says(operation::zeros_like{}, os::type_list<a>{});
  moves_what_it_says(operation::named{}, os::type_list<a>{}, std::string("A"));
  moves_what_it_says(operation::rename<J_axis, K_axis>{}, os::type_list<a>{});
  moves_what_it_says(operation::relabel<I_axis, K_axis>{}, os::type_list<a>{});
}

TEST_CASE("reductions") {
  using a = os::type_list<doubles<I/X, J/Y>>;
  using os::reduction;
  moves_what_it_says(operation::reduce<reduction::sum, to<I/X>>{}, a{});
  moves_what_it_says(operation::reduce<reduction::sum, to<I>>{}, a{}, os::cheapest);
  moves_what_it_says(operation::reduce<reduction::sum, to<J, partial(X)>>{}, a{});
  moves_what_it_says(operation::reduce<reduction::sum, to<J/X>>{}, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says(operation::reduce<reduction::max, to<>>{}, a{});
  moves_what_it_says(operation::reduce<reduction::min, to<J/Y>>{}, a{});
  moves_what_it_says(operation::reduce<reduction::prod, to<J>>{}, a{});
  moves_what_it_says(operation::mean<to<I/X>>{}, a{});
  moves_what_it_says(operation::mean<to<>>{}, a{});
  moves_what_it_says(operation::mean_where<to<I/X>>{}, os::type_list<doubles<I/X, J/Y>, os::tensor<bool, J/Y>>{});
  moves_what_it_says(operation::mean_where<to<>>{}, os::type_list<doubles<I/X, J/Y>, os::tensor<int, I/X>>{});
  moves_what_it_says(operation::mean_where<to<J>>{}, os::type_list<doubles<I/X, J/Y>, os::tensor<bool, I, J/Y>>{});
}

TEST_CASE("moves") {
  moves_what_it_says(os::all_gather<X>, os::type_list<doubles<I/X, J/Y>>{});
  moves_what_it_says(os::all_reduce<X>, os::type_list<doubles<I, J/Y, partial(X)>>{});
  moves_what_it_says(os::all_reduce<X, Y>, os::type_list<doubles<I, J, partial(X, Y)>>{});
  moves_what_it_says(os::reduce_scatter<I/X>, os::type_list<doubles<I, J, partial(X)>>{});
  moves_what_it_says(os::all_to_all<J/X>, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says(os::slice<I/X>, os::type_list<doubles<I, J/Y>>{});
  moves_what_it_says(operation::reshard<to<I, J/X>>{}, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says(operation::reshard<to<I/Y, J/X>>{}, os::type_list<doubles<I/X, J/Y>>{});
  moves_what_it_says(operation::reshard<to<I, J>>{}, os::type_list<doubles<I/X, J, partial(Y)>>{}, os::cheapest);
  moves_what_it_says(operation::reshard<to<J, I/X>>{}, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says(operation::reshard<to<J/X, I>>{}, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says(operation::reshard<to<J, I/X>>{}, os::type_list<doubles<I, J/Y, partial(X)>>{});
  moves_what_it_says(operation::reshard<to<J, I>>{}, os::type_list<doubles<I/X, J, partial(Y)>>{}, os::cheapest);
}

TEST_CASE("weights of a pipeline's stages") {
  moves_what_it_says(operation::gather_over<X_mesh>{}, os::type_list<doubles<I/X, J/Y>>{});
}

TEST_CASE("what makes rows one") {
  moves_what_it_says(operation::softmax<named_dim<J>>{}, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says(operation::softmax<named_dim<I/X>>{}, os::type_list<doubles<I/X, J/Y>>{});
  moves_what_it_says(operation::log_softmax<named_dim<I/X>>{}, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says(operation::log_sum_exp<named_dim<I/X>>{}, os::type_list<doubles<I/X, J>>{});
}

TEST_CASE("norms, losses of rows, and their derivatives") {
  using a = doubles<I/X, J/Y>;
  using rows = doubles<I/X>;
  using classes = os::tensor<int, I/X>;
  moves_what_it_says(operation::rms_norm<named_dim<J/Y>>{}, os::type_list<a>{});
  moves_what_it_says(operation::rms_norm<named_dim<I/X>>{}, os::type_list<a, doubles<I/X>>{});
  moves_what_it_says(operation::layer_norm<named_dim<J>>{}, os::type_list<doubles<I/X, J>, doubles<J>, doubles<J>>{});
  moves_what_it_says(operation::layer_norm<named_dim<I/X/Y>>{}, os::type_list<doubles<I/X/Y, J>>{});
  moves_what_it_says(operation::cross_entropy<named_dim<J/Y>>{}, os::type_list<a, classes>{});
  moves_what_it_says(operation::cross_entropy<named_dim<J/Y>>{true, 0, 0.1, 1e-4}, os::type_list<a, classes>{});
  moves_what_it_says(operation::cross_entropy<named_dim<J>>{true, 0},
                     os::type_list<doubles<I, J>, os::tensor<int, I>>{});
  moves_what_it_says(operation::softmax_vjp<named_dim<J/Y>>{}, os::type_list<a, a>{});
  moves_what_it_says(operation::log_softmax_vjp<named_dim<I/X>>{}, os::type_list<a, a>{});
  moves_what_it_says(operation::rms_norm_vjp<named_dim<J/Y>>{}, os::type_list<a, a, rows, doubles<J/Y>>{});
  moves_what_it_says(operation::layer_norm_vjp<named_dim<J/Y>>{}, os::type_list<a, a, rows, rows>{});
  moves_what_it_says(operation::gain_vjp<named_dim<J/Y>>{}, os::type_list<a, a, rows, rows>{});
  moves_what_it_says(operation::cross_entropy_vjp<named_dim<J/Y>>{}, os::type_list<a, rows, rows, classes>{});
}

TEST_CASE("attention") {
  using q = doubles<L/Y, I, J>;
  using part = doubles<L/Y, K/X, J>;
  using whole = doubles<L/Y, K, J>;
  using scattered = to<L/Y, I/X, J>;
  using mask = os::tensor<bool, I, K/X>;
  moves_what_it_says(operation::attention<named_dim<I>, named_dim<K>, named_dim<J>>{},
                     os::type_list<doubles<L/Y, I/X, J>, whole, whole>{});
  moves_what_it_says(operation::tiled_attention<named_dim<I>, named_dim<K>, named_dim<J>>{},
                     os::type_list<doubles<L/Y, I/X, J>, whole, whole>{});
  moves_what_it_says(operation::attention<named_dim<I>, named_dim<K/X>, named_dim<J>>{},
                     os::type_list<q, part, part>{});
  moves_what_it_says(operation::attention<named_dim<I>, named_dim<K/X>, named_dim<J>>{{}, true, 3},
                     os::type_list<q, part, part>{});
  moves_what_it_says(operation::attention<named_dim<I>, named_dim<K/X>, named_dim<J>>{},
                     os::type_list<q, part, part, mask>{});
  moves_what_it_says(operation::attention<named_dim<I>, named_dim<K/X>, named_dim<J>, scattered>{},
                     os::type_list<q, part, part>{});
  moves_what_it_says(operation::attention<named_dim<I>, named_dim<K/X>, named_dim<J>, scattered>{},
                     os::type_list<q, part, part, mask>{});
  moves_what_it_says(operation::attention<named_dim<I>, named_dim<K>, named_dim<J/Y>>{},
                     os::type_list<doubles<I/X, J/Y>, doubles<K, J/Y>, doubles<K, J>>{});
  moves_what_it_says(operation::latent_attention<named_dim<I>, named_dim<K/X>, named_dim<J>>{},
                     os::type_list<q, part, part, doubles<L/Y, I, B>, doubles<K/X, B>>{});
}

TEST_CASE("rows with positions of their own, and pages") {
  using os::detail::checked_range;
  using positions = os::tensor<std::int64_t, B>;
  using table = os::tensor<std::int32_t, B, S>;
  using pool = doubles<P/X, K, L/Y, J>;
  using rows = doubles<B, L/Y, J>;
  moves_what_it_says(
      operation::paged_attention<named_dim<I>, named_dim<K>, named_dim<J>, named_dim<P/X>, checked_range>{},
      os::type_list<doubles<B, I, L/Y, J>, pool, pool, table, positions>{});
  moves_what_it_says(
      operation::paged_attention<named_dim<I>, named_dim<K>, named_dim<J>, named_dim<P>, checked_range>{},
      os::type_list<doubles<B/X, I, L/Y, J>, doubles<P, K, L/Y, J>, doubles<P, K, L/Y, J>,
                    os::tensor<std::int32_t, B/X, S>, os::tensor<std::int64_t, B/X>>{});
  moves_what_it_says(operation::write_at_positions<named_dim<K>, named_dim<P/X>, checked_range>{},
                     os::type_list<pool, rows, positions, table>{});
  moves_what_it_says(least_extents{}, operation::write_at_positions<named_dim<K/X>, void, checked_range>{},
                     os::type_list<doubles<B, K/X, L/Y, J>, rows, positions>{});
}

TEST_CASE("attention with options that change scores") {
  using q = doubles<L/Y, I, J>;
  using part = doubles<L/Y, K/X, J>;
  using divided = doubles<L/Y, I/X, J>;
  using os::detail::ring_way;
  using os::detail::score_operand;
  using os::detail::score_traits;
  using attention = operation::attention<named_dim<I>, named_dim<K/X>, named_dim<J>>;
  using way = ring_way<false, false, false>;
  using ring = operation::scored_ring<named_dim<I>, named_dim<K/X>, named_dim<J>, way, score_traits{}>;
  moves_what_it_says(operation::scored<attention, score_traits{.has_cap = true}>{}, os::type_list<q, part, part>{});
  moves_what_it_says(operation::scored<attention, score_traits{}, score_operand::sinks>{},
                     os::type_list<q, part, part, doubles<L/Y>>{});
  moves_what_it_says<false>(ring{}, os::type_list<divided, part, part>{});
  moves_what_it_says<false>(
      operation::scored_ring_vjp<ring, named_dim<I>, named_dim<K/X>, named_dim<J>, way, false, false>{},
      os::type_list<divided, part, part, divided, doubles<L/Y, I/X>, divided>{});
}

namespace {

// A window of attention to values of another width than the keys'.
template <class Attention>
Attention windowed(bool causal, std::int64_t keys, std::int64_t first) {
  Attention attention;
  attention.is_causal = causal;
  attention.window = keys;
  attention.first = first;
  return attention;
}

template <bool Causal>
void a_ring_with_a_window(std::int64_t keys, std::int64_t first) {
  using way = os::detail::ring_way<Causal, false, false>;
  using os::detail::score_traits;
  using ring = operation::scored_ring<named_dim<I>, named_dim<K/X>, named_dim<J>, way, score_traits{}>;
  using vjp = operation::scored_ring_vjp<ring, named_dim<I>, named_dim<K/X>, named_dim<J>, way, false, false>;
  using q = doubles<L/Y, I/X, J>;
  using k = doubles<L/Y, K/X, J>;
  using v = doubles<L/Y, K/X, B>;
  using result = doubles<L/Y, I/X, B>;
  ring const attention = windowed<ring>(Causal, keys, first);
  moves_what_it_says<false>(attention, os::type_list<q, k, v>{});
  moves_what_it_says<false>(vjp{attention, 1}, os::type_list<q, k, v, result, doubles<L/Y, I/X>, result>{});
}

}  // namespace

TEST_CASE("a window sends and multiplies less, which the types do not tell") {
  using attention = operation::attention<named_dim<I>, named_dim<K>, named_dim<J>>;
  using tiles = operation::scored<attention, os::detail::score_traits{}>;
  for (std::int64_t const keys : {0, 1, 2, 4}) {
    CAPTURE(keys);
    for (bool const causal : {false, true})
      moves_what_it_says<false>(windowed<tiles>(causal, keys, 0),
                                os::type_list<doubles<L/Y, I/X, J>, doubles<L/Y, K, J>, doubles<L/Y, K, B>>{});
    a_ring_with_a_window<false>(keys, 0);
    a_ring_with_a_window<true>(keys, 1);
  }
}

TEST_CASE("the two products of an attention's derivative") {
  using q = doubles<L/Y, I, J>;
  using part = doubles<L/Y, K/X, J>;
  using weights = doubles<L/Y, I, K/X>;
  using attention = operation::attention<named_dim<I>, named_dim<K/X>, named_dim<J>>;
  using cheapest = std::remove_const_t<decltype(os::cheapest)>;
  moves_what_it_says(operation::attention_weights<attention, 1>{}, os::type_list<q, part>{});
  moves_what_it_says(operation::attention_product<to<L/Y, I, J>, cheapest>{}, os::type_list<weights, part>{});
  moves_what_it_says(operation::attention_product<to<L/Y, K/X, J>, cheapest>{}, os::type_list<weights, q>{});
}

TEST_CASE("keys and values that circulate, and their cotangents") {
  using q = doubles<L/Y, I/X, J>;
  using k = doubles<L/Y, K/X, J>;
  using rows = doubles<L/Y, I/X>;
  using os::detail::ring_way;
  moves_what_it_says(
      operation::ring_attention<named_dim<I>, named_dim<K/X>, named_dim<J>, ring_way<false, false, false>>{},
      os::type_list<q, k, k>{});
  moves_what_it_says(
      operation::ring_attention<named_dim<I>, named_dim<K/X>, named_dim<J>, ring_way<true, false, true>>{},
      os::type_list<q, k, k>{});
  moves_what_it_says(
      operation::ring_attention_vjp<named_dim<I>, named_dim<K/X>, named_dim<J>, ring_way<false, false, false>>{},
      os::type_list<q, k, k, q, rows, q>{});
  moves_what_it_says(
      operation::ring_attention_vjp<named_dim<I>, named_dim<K/X>, named_dim<J>, ring_way<true, false, true>>{},
      os::type_list<q, k, k, q, rows, q>{});
}

TEST_CASE("rotations and stripes") {
  moves_what_it_says(operation::rope<named_dim<I>, named_dim<J>, named_dim<P>>{},
                     os::type_list<doubles<I/X, J/Y, P>>{});
  moves_what_it_says(operation::stripe<named_dim<S/X>>{}, os::type_list<doubles<J/Y, S/X, I>>{});
  moves_what_it_says(operation::stripe<named_dim<S/X>>{true}, os::type_list<doubles<S/X>>{});
  moves_what_it_says(operation::stripe<named_dim<S/X>>{}, os::type_list<doubles<S, J/Y>>{});
}

TEST_CASE("reductions of rows") {
  using a = os::type_list<doubles<I/X, J/Y>>;
  moves_what_it_says(least_extents{0, 1}, operation::argmax<to<I/X>>{}, a{});
  moves_what_it_says(least_extents{0, 1}, operation::argmin<to<I>>{}, a{});
  moves_what_it_says(operation::norm<to<I/X>>{}, a{});
  moves_what_it_says(operation::norm<to<J>>{}, a{});
  moves_what_it_says(operation::norm<to<I/X/Y>>{}, a{});
  moves_what_it_says(operation::norm<to<>>{}, a{});
  moves_what_it_says(operation::variance<to<I/X>>{1}, a{});
  moves_what_it_says(operation::standard_deviation<to<J/Y>>{}, a{});
  moves_what_it_says(operation::variance<to<>>{}, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says(operation::count<to<J/Y>>{}, a{});
  moves_what_it_says(operation::truth_of_elements<os::reduction::max, to<I>>{}, a{});
  moves_what_it_says(operation::truth_of_elements<os::reduction::min, to<>>{}, a{});
}

TEST_CASE("running sums") {
  moves_what_it_says(operation::cumsum<named_dim<J>>{}, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says(operation::cumsum<named_dim<I/X>>{}, os::type_list<doubles<I/X, J/Y>>{});
  moves_what_it_says(operation::cumsum<named_dim<I/X>>{os::exclusive | os::reversed}, os::type_list<doubles<I/X, J>>{});
  moves_what_it_says(operation::cumulate<named_dim<I/X/Y>, os::reduction::max>{}, os::type_list<doubles<I/X/Y, J>>{});
}

TEST_CASE("sorting an axis that is whole moves nothing") {
  using a = os::type_list<doubles<I/X, J>>;
  moves_what_it_says(operation::sort<named_dim<J>>{}, a{});
  moves_what_it_says(operation::argsort<named_dim<J>>{}, a{});
  moves_what_it_says(operation::sort_by_key<named_dim<J>>{}, a{});
  moves_what_it_says(least_extents{0, 2}, operation::top_k<named_dim<J>, K_axis>{}, a{}, K = 2);
}

TEST_CASE("tokens that are drawn of a whole axis move nothing, and of a divided one what the options search") {
  using a = os::type_list<doubles<I/X, J>>;
  using divided = os::type_list<doubles<I/X, J/Y>>;
  moves_what_it_says(least_extents{0, 1}, operation::sample<named_dim<J>>{os::seed(1), {}}, a{});
  std::initializer_list<os::engine::sampling> const ways{{}, {0}, {1, 2}, {1, 0, 0.5}, {1, 2, 0.5, 0.1}, {1, 6}};
  for (os::engine::sampling const& how : ways)
    moves_what_it_says<false>(least_extents{0, 1}, operation::sample<named_dim<J/Y>>{os::seed(1), how}, divided{});
  moves_what_it_says<false>(least_extents{1, 0}, operation::sample<named_dim<I/X/Y>>{os::seed(1), {1, 2, 0.5}},
                            os::type_list<doubles<I/X/Y>>{});
}
