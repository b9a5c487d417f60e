// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of os::rms_norm and os::layer_norm with respect to operand, gain and bias. The forward
/// keeps the mean μ and r = 1 / √(…) of each row, and the backward is one pass for operand and gain. With h = gain · g:
///
///     rms_norm      r (h − x r² Σ x h / n)                                      if divided: one number a row
///     layer_norm    r (h − Σ h / n − (x − μ) r² Σ (x − μ) h / n)                two, in one message
///     gain          Σ over rows of g (x − μ) r      bias   Σ over rows of g     what a sum over rows moves

#include <cmath>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/rules/operations/derivative_of_softmax.hpp>
#include <ostraka/operations/normalisation/layer_norm.hpp>

namespace ostraka {

namespace detail {

template <class Operation>
inline constexpr bool is_layer_norm = false;
template <class Along>
inline constexpr bool is_layer_norm<ostraka::operation::layer_norm<Along>> = true;

template <class Operation>
struct axis_argument_of;
template <template <class> class Norm, class Along>
struct axis_argument_of<Norm<Along>> {
  using type = Along;
};

/// True if operand and gain are variables of tensors whose rows are contiguous. For variables of variables and abstract
/// tensors, the pullback computes one cotangent at a time.
template <class Along, class G, class Rows, class A, class... Vectors>
inline constexpr bool norm_is_pulled_at_once = false;
template <class Along, class G, class Rows, class A, class Gain, class... Bias>
  requires(Tensor<G> && Tensor<Rows> && is_variable<A> && is_variable<Gain> && Tensor<plain_type<A>> &&
           Tensor<plain_type<Gain>> && (Tensor<plain_type<Bias>> && ...))
inline constexpr bool norm_is_pulled_at_once<Along, G, Rows, A, Gain, Bias...> = rows_are_runs<Along, plain_type<A>>;

/// `Vectors` are the gain, and the bias if there is one.
template <class Operation, class Rows, class A, class... Vectors>
struct norm_of_rows_pullback {
  using Along = typename axis_argument_of<Operation>::type;

  kept<true, A> a;
  remembered<Rows> mean, factor;
  std::tuple<kept<true, Vectors>...> vectors;

  /// The cotangents of operand and gain in one pass, if both are variables.
  template <class G>
    requires(norm_is_pulled_at_once<Along, G, Rows, A, Vectors...>)
  auto pull_all(G const& g) const {
    auto const made = vjp::with_gain(a.get(), g, mean.get(), factor.get(), std::get<0>(vectors).get());
    return std::tuple_cat(std::tuple(made.first), pull_vectors<G>(g, made.second, std::type_identity<Vectors>{}...));
  }

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (K == 0) {
      return summed_to<Wanted>(pull_operand(g));
    } else if constexpr (K == 1) {
      auto const sums = operate(ostraka::operation::gain_vjp<Along>{}, a.get(), g, mean.get(), factor.get());
      return gain_as<Wanted>(sums);
    } else {
      return summed_to<Wanted>(g);
    }
  }

 private:
  using vjp = std::conditional_t<is_layer_norm<Operation>, ostraka::operation::layer_norm_vjp<Along>,
                                 ostraka::operation::rms_norm_vjp<Along>>;

  template <class Wanted, class Sums>
  static constexpr Wanted gain_as(Sums const& sums) {
    return as_elements<typename Wanted::value_type>(reshard_as<sharding_in<Wanted>>(sums));
  }

  template <class G, class Sums, class Gain, class... Bias>
  static auto pull_vectors(G const& g, Sums const& sums, std::type_identity<Gain>, std::type_identity<Bias>...) {
    auto const of_bias = [&] {
      if constexpr ((is_variable<Bias> || ...))
        return std::tuple(summed_to<cotangent_along<typename Bias::cotangent_type, varying_in<G>>>(g)...);
      else
        return std::tuple(not_kept(static_cast<Bias const*>(nullptr))...);
    };
    auto const of_gain = gain_as<cotangent_along<typename Gain::cotangent_type, varying_in<G>>>(sums);
    return std::tuple_cat(std::tuple(of_gain), of_bias());
  }

  template <class G>
  constexpr auto pull_operand(G const& g) const {
    auto const back = [&](auto const&... gain) {
      if constexpr (is_layer_norm<Operation>)
        return operate(vjp{}, a.get(), g, mean.get(), factor.get(), gain...);
      else
        return operate(vjp{}, a.get(), g, factor.get(), gain...);
    };
    if constexpr (sizeof...(Vectors) == 0)
      return back();
    else
      return back(std::get<0>(vectors).get());
  }
};

template <class Along, class A>
double elements_of_row(A const& a) {
  return static_cast<double>(
      a.extents()[static_cast<std::size_t>(position_in<typename axis_argument<Along>::axis, axes_in<A>>)]);
}

/// 1 / √(s / n + ε).
template <class T>
struct inverse_root {
  T n, epsilon;
  KOKKOS_INLINE_FUNCTION T operator()(T const& s) const {
    using std::sqrt;
    return T(1) / sqrt(s / n + epsilon);
  }
  KOKKOS_INLINE_FUNCTION T derivative(T const& s) const {
    T const r = (*this)(s);
    return T(-0.5) * r * r * r / n;
  }
};

/// Mean and factor of the rows of a variable, by operations that have derivatives.
template <class Operation, class A>
constexpr auto rows_of_norm(Operation const& operation, A const& a) {
  using Along = typename axis_argument_of<Operation>::type;
  using T = accumulator_of_t<typename A::value_type>;
  using rows = rows_of<Along, A>;
  auto const x = as_wide(a);
  T const n = static_cast<T>(elements_of_row<Along>(a));
  inverse_root<T> const of_sum{n, static_cast<T>(operation.epsilon)};
  auto const mean = ostraka::scale(sum_as<rows>(x), is_layer_norm<Operation> ? T(1) / n : T(0));
  auto const apart = ostraka::subtract(x, mean);
  auto const factor = ostraka::map(of_sum, sum_as<rows>(ostraka::multiply(apart, apart)));
  return std::pair(mean, factor);
}

struct norm_vjp_by_parts {
  template <class Along, class A, class G, class Rows, class... Gain>
  constexpr auto operator()(ostraka::operation::rms_norm_vjp<Along> const&, A const& a, G const& g, Rows const& r,
                  Gain const&... gain) const {
    auto const x = as_wide(a), h = gained(as_wide(g), gain...);
    auto const c = sum_as<rows_of<Along, A>>(ostraka::multiply(x, h));
    auto const share = ostraka::scale(ostraka::multiply(c, ostraka::multiply(r, ostraka::multiply(r, r))),
                                      1 / elements_of_row<Along>(a));
    return as_elements<typename A::value_type>(ostraka::subtract(ostraka::multiply(h, r), ostraka::multiply(x, share)));
  }

  template <class Along, class A, class G, class Mean, class Rows, class... Gain>
  constexpr auto operator()(ostraka::operation::layer_norm_vjp<Along> const&, A const& a, G const& g, Mean const& mean,
                  Rows const& r, Gain const&... gain) const {
    auto const x = ostraka::subtract(as_wide(a), mean), h = gained(as_wide(g), gain...);
    using rows = rows_of<Along, A>;
    double const n = elements_of_row<Along>(a);
    auto const c = ostraka::scale(ostraka::multiply(sum_as<rows>(h), r), 1 / n);
    auto const d = ostraka::scale(
        ostraka::multiply(sum_as<rows>(ostraka::multiply(x, h)), ostraka::multiply(r, ostraka::multiply(r, r))), 1 / n);
    return as_elements<typename A::value_type>(
        ostraka::subtract(ostraka::subtract(ostraka::multiply(h, r), c), ostraka::multiply(x, d)));
  }

  template <class Along, class A, class G, class Mean, class Rows>
  constexpr auto operator()(ostraka::operation::gain_vjp<Along> const&, A const& a, G const& g, Mean const& mean,
                  Rows const& r) const {
    auto const x = ostraka::multiply(ostraka::subtract(as_wide(a), mean), r);
    return sum_as<typename ostraka::operation::gain_vjp<Along>::template result<A>>(ostraka::multiply(as_wide(g), x));
  }

 private:
  template <class H>
  static H gained(H const& h) {
    return h;
  }
  template <class H, class Gain>
  static constexpr auto gained(H const& h, Gain const& gain) {
    return ostraka::multiply(h, as_wide(gain));
  }
};

/// The formulas of a norm for functions that record it for all shardings.
struct rms_norm_rule {
  static constexpr bool has_mean = false;
  template <class T>
  static engine::rms_norm_formula<T> formula(double epsilon) {
    return {static_cast<T>(epsilon)};
  }
  template <class T>
  static engine::rms_norm_cotangents<T> cotangents() {
    return {};
  }
};
struct layer_norm_rule {
  static constexpr bool has_mean = true;
  template <class T>
  static engine::layer_norm_formula<T> formula(double epsilon) {
    return {static_cast<T>(epsilon)};
  }
  template <class T>
  static engine::layer_norm_cotangents<T> cotangents() {
    return {};
  }
};

/// A norm of variables of the only derivative as constants.
template <class Operation, class A, class... Vectors>
struct norm_of_variables {
  using Along = typename axis_argument_of<Operation>::type;
  using tensor_type = plain_type<A>;
  using value = typename tensor_type::value_type;
  using space = typename tensor_type::space;
  using rule = std::conditional_t<is_layer_norm<Operation>, layer_norm_rule, rms_norm_rule>;
  using vjp = std::conditional_t<is_layer_norm<Operation>, ostraka::operation::layer_norm_vjp<Along>,
                                 ostraka::operation::rms_norm_vjp<Along>>;

  template <class Wanted>
  static consteval auto of_operand() {
    return find_conversion<tensor_type, typename Wanted::cotangent_type>{};
  }
  template <class Wanted>
  static consteval auto of_gain() {
    return find_conversion<basic_tensor<value, sharding_of_gain<Along, tensor_type>, space>,
                           typename Wanted::cotangent_type>{};
  }
  template <class Gain, class... Bias>
  static constexpr conversion<value, space> to_vectors[] = {decltype(of_gain<Gain>())::as_constant(),
                                                            decltype(of_operand<Bias>())::as_constant()...};

  static consteval bool is_planned() {
    if constexpr (!decltype(of_operand<A>())::is_planned())
      return false;
    else
      return vectors_are_planned<Vectors...>();
  }
  template <class... None>
    requires(sizeof...(None) == 0)
  static consteval bool vectors_are_planned() { return true; }
  template <class Gain, class... Bias>
  static consteval bool vectors_are_planned() {
    return decltype(of_gain<Gain>())::is_planned() && (decltype(of_operand<Bias>())::is_planned() && ...);
  }

  static consteval rows_and_derivative<value, space> make_constants() {
    rows_and_derivative<value, space> all{Operation::name, vjp::name, &type_mark<tensor_type>,
                                          axis_call_of<Along, tensor_type, plain_type<Vectors>...>,
                                          decltype(of_operand<A>())::as_constant()};
    if constexpr (sizeof...(Vectors) > 0) all.to_vectors = to_vectors<Vectors...>;
    return all;
  }
  static constexpr rows_and_derivative<value, space> constants = make_constants();
};

template <class Operation, class A, class... Vectors>
consteval bool check_shared_norm() {
  if constexpr (!may_share_rows<A, Vectors...> || !(is_variable<A> && ... && is_variable<Vectors>))
    return false;
  else if constexpr (!check_shared_rows<Operation, plain_type<A>, plain_type<Vectors>...>())
    return false;
  else if constexpr (sizeof...(Vectors) > 0 &&
                     !rows_are_runs<typename axis_argument_of<Operation>::type, plain_type<A>>)
    return false;
  else
    return norm_of_variables<Operation, A, Vectors...>::is_planned();
}

template <class Operation>
struct norm_of_rows_derivative {
  /// Records norms in one function for all shardings, which does not know names.
  template <class A, class... Vectors>
    requires(check_shared_norm<Operation, A, Vectors...>())
  static auto record(Operation const& operation, A const& a, Vectors const&... vectors) {
    using shared = norm_of_variables<Operation, A, Vectors...>;
    variable<typename shared::tensor_type> y;
    without_names<typename shared::tensor_type>& value = y.writable_value();
    record_norm<typename shared::rule>(shared::constants, operation.epsilon, value, y.writable_place(),
                                       as_shared_operand(a), as_shared_operand(vectors)...);
    return y;
  }

  /// The result with its residuals, for variables of an outer derivative.
  template <class A, class... Vectors>
  static constexpr auto with_residuals(Operation const& operation, A const& a, Vectors const&... vectors) {
    auto const result = operate(operation, a, vectors...);
    auto const [mean, factor] = rows_of_norm(operation, a);
    return several{result, mean, factor};
  }

  template <class Result, class Rows, class A, class... Vectors>
  static constexpr auto pullback(Operation const&, several<Result, Rows, Rows> const& made, A const& a,
                                 Vectors const&... vectors) {
    return norm_of_rows_pullback<Operation, Rows, A, Vectors...>{
        remember(a), remembered<Rows>(made.second), remembered<Rows>(made.third), {remember(vectors)...}};
  }
};

}  // namespace detail

template <class Along>
struct derivative_of<operation::rms_norm<Along>> : detail::norm_of_rows_derivative<operation::rms_norm<Along>> {};
template <class Along>
struct derivative_of<operation::layer_norm<Along>> : detail::norm_of_rows_derivative<operation::layer_norm<Along>> {};

template <class Along>
struct derivative_of<operation::rms_norm_vjp<Along>>
    : detail::composed_derivative<operation::rms_norm_vjp<Along>, detail::norm_vjp_by_parts> {};
template <class Along>
struct derivative_of<operation::layer_norm_vjp<Along>>
    : detail::composed_derivative<operation::layer_norm_vjp<Along>, detail::norm_vjp_by_parts> {};
template <class Along>
struct derivative_of<operation::gain_vjp<Along>>
    : detail::composed_derivative<operation::gain_vjp<Along>, detail::norm_vjp_by_parts> {};

}  // namespace ostraka
