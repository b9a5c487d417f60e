// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of softmax, norms and cross entropy as operations of their own: one pass over a row and its
/// cotangents, where compositions take several. Rules call them; programs do not. If the axis is divided, they move one
/// or two sums a row, in one message; the derivative of the cross entropy moves nothing.
///
///     softmax_vjp<V/Y>       s, g                   all-reduce over Y, one number a row
///     log_softmax_vjp<V/Y>   y, g                   the same
///     cross_entropy_vjp<V/Y> x, log Σ exp, g, labels                nothing moved
///     rms_norm_vjp<D/Y>      x, g, 1/√…, gain?      one number a row
///     layer_norm_vjp<D/Y>    x, g, mean, 1/√…, gain?                two numbers a row
///     gain_vjp<D/Y>          x [B_X, S, D_Y], …     → [D_Y] {U_X}   nothing moved

#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/divided_rows/pull_cross_entropy.hpp>
#include <ostraka/operations/normalisation/cross_entropy.hpp>
#include <ostraka/operations/normalisation/normalise.hpp>
#include <ostraka/tensors/relabelled.hpp>

namespace ostraka {

namespace detail {

/// The rows of x with their cotangents, and mean and factor of each row.
template <class Dim, class Mesh, class A, class G, class T>
auto rows_with_cotangents(engine::execution_context const& w, A const& x, G const& g, T const* mean, T const* factor) {
  auto const rows = rows_in<Dim, Mesh>(w, x).rows;
  return engine::rows_and_cotangents<typename A::value_type>{rows, elements_of(x), elements_of(g), mean, factor};
}

/// The cotangents of x by the formula. `mean`, `factor`: numbers of rows, or null pointers. `InPlace`: the result
/// overwrites g.
template <class Dim, bool InPlace = false, class Formula, class A, class G, class T, class... Gain>
auto pulled_rows(char const* name, Formula const& formula, A const& x, G const& g, T const* mean, T const* factor,
                 Gain const&... gain) {
  using result_type = basic_tensor<typename A::value_type, varying_as<sharding_in<A>, A, Gain...>, typename A::space>;
  using value = typename A::value_type;
  runtime_operand const operands[] = {runtime_operand_of(x), runtime_operand_of(g), runtime_operand_of(gain)...};
  check_origins(name, x, g, gain...);
  result_type result;
  if constexpr (InPlace) result = g;
  pull_rows_of(axis_call_of<Dim, A, G, Gain...>, name, formula, x.mesh_handle(), operands, InPlace, result,
               rows_to_pull<value>{elements_of(x), elements_of(g), mean, factor}, elements_of(gain)...);
  if constexpr (!InPlace) give_origins(name, result, x, g, gain...);
  return result;
}

template <class Dim, class A>
using other_splits = difference_of<typename sharding_traits<sharding_in<A>>::splits,
                                   splits_of<typename axis_argument<Dim>::axis, sharding_in<A>>>;

/// The sharding of each device's part of a gain's cotangent: partial over the mesh axes that divide the rows.
template <class Dim, class A>
using sharding_of_gain = canonical_sharding<Dim, decltype(summands_over(other_splits<Dim, A>{}))>;

/// True if the rows of A's blocks are contiguous in memory.
template <class Dim, class A>
inline constexpr bool rows_are_runs = dimension_of<Dim, A> == static_cast<int>(A::rank) - 1;

/// The cotangents of x by the formula, and those of the gain as in operation::gain_vjp: a std::pair.
template <class Dim, class Formula, class A, class G, class T, class Gain>
auto pulled_rows_and_gain(char const* name, Formula const& formula, A const& x, G const& g, T const* mean,
                          T const* factor, Gain const& gain) {
  using value = typename A::value_type;
  basic_tensor<value, varying_as<sharding_in<A>, A, Gain>, typename A::space> result;
  basic_tensor<T, varying_as<sharding_of_gain<Dim, A>, A>, typename A::space> gains;
  runtime_operand const operands[] = {runtime_operand_of(x), runtime_operand_of(g), runtime_operand_of(gain)};
  check_origins(name, x, g, gain);
  pull_rows_and_gain_of(axis_call_of<Dim, A, G, Gain>, name, formula, x.mesh_handle(), operands, result, gains,
                        rows_to_pull<value>{elements_of(x), elements_of(g), mean, factor}, elements_of(gain));
  give_origins(name, result, x, g, gain);
  give_origins(name, gains, x, g, gain);
  return std::pair(result, gains);
}

/// The base of these operations.
struct vjp_of_rows {
  template <class...>
  using verdict = reason::ok;
};

template <class A>
using wide_of = accumulator_of_t<typename A::value_type>;

}  // namespace detail

namespace operation {

template <class Along>
struct softmax_vjp : detail::vjp_of_rows {
  static constexpr char const* name = "softmax_vjp";
  template <class A, class... Others>
  using moves = detail::moves_of_statistics<Along, 1, A>;
  double factor = 1;  ///< of softmax's argument

  template <class How, class A, class G>
  auto run(How const&, A const& s, G const& g) const {
    using T = detail::wide_of<A>;
    T const* const none = nullptr;
    return detail::pulled_rows<Along>(name, engine::softmax_cotangents<T>{static_cast<T>(factor)}, s, g, none, none);
  }

  /// The same, written over g. @pre nothing else holds its block
  template <class A>
  A over_cotangent(A const& s, A const& g) const {
    using T = detail::wide_of<A>;
    T const* const none = nullptr;
    return detail::pulled_rows<Along, true>(name, engine::softmax_cotangents<T>{static_cast<T>(factor)}, s, g, none,
                                            none);
  }
};

template <class Along>
struct log_softmax_vjp : detail::vjp_of_rows {
  static constexpr char const* name = "log_softmax_vjp";
  template <class A, class... Others>
  using moves = detail::moves_of_statistics<Along, 1, A>;

  template <class How, class A, class G>
  auto run(How const&, A const& y, G const& g) const {
    using T = detail::wide_of<A>;
    T const* const none = nullptr;
    return detail::pulled_rows<Along>(name, engine::log_softmax_cotangents<T>{}, y, g, none, none);
  }
};

template <class Along>
struct rms_norm_vjp : detail::vjp_of_rows {
  static constexpr char const* name = "rms_norm_vjp";
  template <class A, class... Others>
  using moves = detail::moves_of_statistics<Along, 1, A>;

  template <class How, class A, class G, class Rows, class... Gain>
  auto run(How const&, A const& x, G const& g, Rows const& factor, Gain const&... gain) const {
    using T = detail::wide_of<A>;
    T const* const no_mean = nullptr;
    return detail::pulled_rows<Along>(name, engine::rms_norm_cotangents<T>{}, x, g, no_mean,
                                      detail::elements_of(factor), gain...);
  }

  /// With gain_vjp, on the host in the same pass. @pre detail::rows_are_runs
  template <class A, class G, class Rows, class Gain>
  static auto with_gain(A const& x, G const& g, Rows const&, Rows const& factor, Gain const& gain) {
    using T = detail::wide_of<A>;
    T const* const no_mean = nullptr;
    return detail::pulled_rows_and_gain<Along>(name, engine::rms_norm_cotangents<T>{}, x, g, no_mean,
                                               detail::elements_of(factor), gain);
  }
};

template <class Along>
struct layer_norm_vjp : detail::vjp_of_rows {
  static constexpr char const* name = "layer_norm_vjp";
  template <class A, class... Others>
  using moves = detail::moves_of_statistics<Along, 2, A>;

  template <class How, class A, class G, class Rows, class... Gain>
  auto run(How const&, A const& x, G const& g, Rows const& mean, Rows const& factor, Gain const&... gain) const {
    return detail::pulled_rows<Along>(name, engine::layer_norm_cotangents<detail::wide_of<A>>{}, x, g,
                                      detail::elements_of(mean), detail::elements_of(factor), gain...);
  }

  /// With gain_vjp, on the host in the same pass. @pre detail::rows_are_runs
  template <class A, class G, class Rows, class Gain>
  static auto with_gain(A const& x, G const& g, Rows const& mean, Rows const& factor, Gain const& gain) {
    return detail::pulled_rows_and_gain<Along>(name, engine::layer_norm_cotangents<detail::wide_of<A>>{}, x, g,
                                               detail::elements_of(mean), detail::elements_of(factor), gain);
  }
};

/// Σ over rows of g (x − mean) factor, each device's part of it.
template <class Along>
struct gain_vjp : detail::vjp_of_rows, detail::moves_nothing {
  static constexpr char const* name = "gain_vjp";

  template <class A>
  using result = detail::sharding_of_gain<Along, A>;

  template <class How, class A, class G, class Rows>
  auto run(How const&, A const& x, G const& g, Rows const& mean, Rows const& factor) const {
    using T = detail::wide_of<A>;
    using labels = axes_in<A>;
    using mesh = mesh_axes_in<A>;
    using result_type = basic_tensor<T, varying_as<result<A>, A>, typename A::space>;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, x, g);
    auto const sums = detail::allocate_for<result_type, labels, mesh>(w, x, g);
    detail::profiled_block<A> const region_of_run(name, x, "reads", 2);
    engine::sum_gain(
        "ostraka cotangents of a gain", detail::execution_space_of<A>(),
        detail::rows_with_cotangents<Along, mesh>(w, x, g, detail::elements_of(mean), detail::elements_of(factor)),
        sums.local().data());
    return sums;
  }
};

template <class Along>
struct cross_entropy_vjp : detail::vjp_of_rows, detail::moves_nothing {
  static constexpr char const* name = "cross_entropy_vjp";
  cross_entropy<Along> forward{};

  template <class How, class A, class Rows, class G, class Labels>
  auto run(How const&, A const& x, Rows const& log_sum, G const& g, Labels const& labels) const {
    using axes = axes_in<A>;
    using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<Labels>>;
    using result_type = basic_tensor<typename A::value_type, varying_as<sharding_in<A>, A, Labels>, typename A::space>;
    engine::execution_context const w = detail::context_of<axes, mesh>(name, x, g, labels);
    auto const result = detail::allocate_for<result_type, axes, mesh>(w, x, g, labels);
    engine::pull_cross_entropy(detail::execution_space_of<A>(), w, spec_of<A, axes, mesh>,
                               detail::dimension_of<Along, A>, detail::rows_in<Along, mesh>(w, x),
                               detail::labels_in<Along, mesh>(w, x, labels, forward), detail::elements_of(log_sum),
                               detail::elements_of(g), result.local().data());
    return result;
  }
};

}  // namespace operation

}  // namespace ostraka
