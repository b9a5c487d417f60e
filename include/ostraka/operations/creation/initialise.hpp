// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Initial weights: random numbers with a variance that keeps the scale of a layer's output, a sum over the
/// axes of os::fan_in.
///
///     auto w = os::lecun_normal<float, D/X, F/Y>(mesh, D = 512, F = 2048, os::seed(1), os::fan_in(D));
///
///     lecun     variance 1 / in              LeCun, Bottou, Orr, Müller, "Efficient BackProp" (1998)
///     glorot    variance 2 / (in + out)      Glorot and Bengio (2010); os::fan_out gives `out`
///     he        variance 2 / in              He, Zhang, Ren, Sun (2015)
///
/// "in" is the product of the extents of the axes in os::fan_in. The `…_normal` functions truncate at two standard
/// deviations, as in JAX.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/operations/creation/random_numbers.hpp>

namespace ostraka {

/// The axes over which a weight's products are summed.
template <Axis... As>
struct fan_in {
  explicit constexpr fan_in(As...) {}
};
template <Axis... As>
fan_in(As...) -> fan_in<As...>;

/// The axes of the results of a weight's products.
template <Axis... As>
struct fan_out {
  explicit constexpr fan_out(As...) {}
};
template <Axis... As>
fan_out(As...) -> fan_out<As...>;

namespace operation {
template <bool Normal>
struct lecun;
template <bool Normal>
struct glorot;
template <bool Normal>
struct he;
}  // namespace operation

namespace detail {

template <class... As>
inline constexpr bool is_option<fan_in<As...>> = true;
template <class... As>
inline constexpr bool is_option<fan_out<As...>> = true;
template <class... As, class... Bs>
inline constexpr bool same_option<fan_in<As...>, fan_in<Bs...>> = true;
template <class... As, class... Bs>
inline constexpr bool same_option<fan_out<As...>, fan_out<Bs...>> = true;

template <class Given>
struct fan_of {
  using in = void;
  using out = void;
};
template <class... As>
struct fan_of<fan_in<As...>> {
  using in = type_list<As...>;
  using out = void;
};
template <class... As>
struct fan_of<fan_out<As...>> {
  using in = void;
  using out = type_list<As...>;
};

template <class... Found>
struct first_non_void {
  using type = void;
};
template <class First, class... Rest>
struct first_non_void<First, Rest...>
    : std::conditional_t<std::is_void_v<First>, first_non_void<Rest...>, std::type_identity<First>> {};

template <class TensorType, class... As>
consteval auto check_fan_axes(type_list<As...>) {
  using strange = difference_of<type_list<As...>, axes_in<TensorType>>;
  if constexpr (strange::size > 0)
    return found<reason::axis_missing<typename type_at<strange, 0>::type, sharding_in<TensorType>>>{};
  else
    return found<reason::ok>{};
}

template <class TensorType, class Operation, class In, class Out, bool NeedsOut>
consteval auto check_fans() {
  if constexpr (std::is_void_v<In> || (NeedsOut && std::is_void_v<Out>)) {
    return found<reason::fan_not_given<Operation>>{};
  } else {
    using axes = decltype(check_fan_axes<TensorType>(In{}));
    if constexpr (NeedsOut)
      return found<first_fault<typename axes::type, typename decltype(check_fan_axes<TensorType>(Out{}))::type>>{};
    else
      return axes{};
  }
}

template <class TensorType, class... As>
double product_of_extents([[maybe_unused]] TensorType const& t, std::type_identity<type_list<As...>>) {
  return (1.0 * ... * static_cast<double>(t.extents()[static_cast<std::size_t>(position_in<As, axes_in<TensorType>>)]));
}
template <class TensorType>
double product_of_extents(TensorType const&, std::type_identity<void>) {
  return 1;
}

/// The deviation of a standard normal number that is truncated at two deviations.
inline constexpr double cut_at_two = 0.87962566103423978;

// Weights of variance scale / fan. The fan is `in`, or the mean of `in` and `out` if `NeedsOut`.
template <class TensorType, class Operation, bool Normal, bool NeedsOut, class Mesh, class... Given>
auto make_weights(char const* name, double scale, Mesh const& m, Given const&... given) {
  using element = typename TensorType::value_type;
  using in = typename first_non_void<typename fan_of<Given>::in...>::type;
  using out = typename first_non_void<typename fan_of<Given>::out...>::type;
  using read = std::conditional_t<NeedsOut, type_list<seed, fan_in<>, fan_out<>>, type_list<seed, fan_in<>>>;
  using verdict = first_fault<random_verdict<random_kind::real, TensorType, Operation>,
                              typename options_given<Operation, read, Given...>::verdict,
                              typename decltype(check_fans<TensorType, Operation, in, out, NeedsOut>())::type>;
  auto const make = [scale](auto const& t, std::uint64_t key) {
    double fan = product_of_extents(t, std::type_identity<in>{});
    if constexpr (NeedsOut) fan = (fan + product_of_extents(t, std::type_identity<out>{})) / 2;
    double const deviation = fan > 0 ? std::sqrt(scale / fan) : 0;
    if constexpr (Normal) {
      return engine::truncated_number<element>::of(key, 0, deviation / cut_at_two, -2, 2);
    } else {
      double const bound = std::sqrt(3.0) * deviation;
      return engine::uniform_number<element>{key, -bound, bound};
    }
  };
  return random_tensor<TensorType, verdict>(name, make, m, given...);
}

}  // namespace detail

/// Variance 1 / in, truncated at two deviations: `os::lecun_normal<float, D/X, F/Y>(mesh, D = 512, F = 2048,
/// os::seed(1), os::fan_in(D))`.
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto lecun_normal(Mesh const& m, Given const&... given) {
  return detail::make_weights<typename detail::named_tensor<T, Dims...>::type, operation::lecun<true>, true, false>(
      "lecun_normal", 1, m, given...);
}

/// Variance 1 / in.
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto lecun_uniform(Mesh const& m, Given const&... given) {
  return detail::make_weights<typename detail::named_tensor<T, Dims...>::type, operation::lecun<false>, false, false>(
      "lecun_uniform", 1, m, given...);
}

/// Variance 2 / (in + out), truncated at two deviations: `os::glorot_normal<float, D, F>(mesh, …, os::fan_in(D),
/// os::fan_out(F))`.
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto glorot_normal(Mesh const& m, Given const&... given) {
  return detail::make_weights<typename detail::named_tensor<T, Dims...>::type, operation::glorot<true>, true, true>(
      "glorot_normal", 1, m, given...);
}

/// Variance 2 / (in + out).
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto glorot_uniform(Mesh const& m, Given const&... given) {
  return detail::make_weights<typename detail::named_tensor<T, Dims...>::type, operation::glorot<false>, false, true>(
      "glorot_uniform", 1, m, given...);
}

/// Variance 2 / in, for layers before a relu, truncated at two deviations.
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto he_normal(Mesh const& m, Given const&... given) {
  return detail::make_weights<typename detail::named_tensor<T, Dims...>::type, operation::he<true>, true, false>(
      "he_normal", 2, m, given...);
}

/// Variance 2 / in.
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto he_uniform(Mesh const& m, Given const&... given) {
  return detail::make_weights<typename detail::named_tensor<T, Dims...>::type, operation::he<false>, false, false>(
      "he_uniform", 2, m, given...);
}

}  // namespace ostraka
