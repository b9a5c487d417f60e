// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Reductions over the axes that the result lacks, beyond sum and max: `os::norm<I/X>(A)`, `os::variance`,
/// `os::standard_deviation`, `os::count`, `os::any`, `os::all`. The operand is read once and summed in double. One
/// number a row moves; for a variance, four, in one all-reduce.
///
///     over J    [I_X, J]      → [I_X]    nothing moved
///               [I_X, J_Y]    → [I_X]    all-reduce over Y of [I_X]

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/accumulators/moments.hpp>
#include <ostraka/engine/kernels/accumulators/sums.hpp>
#include <ostraka/operations/reductions/reduced_rows.hpp>

namespace ostraka {

/// The number that is subtracted from the number of elements in a variance's divisor: os::ddof(1) for a sample's
/// variance.
struct ddof {
  constexpr explicit ddof(int n) : less(n) {}
  int less;
};

namespace detail {

/// The type of real results: double for integers, else the real type of T.
template <class T>
using real_result_of = std::conditional_t<std::is_integral_v<T>, double, real_of<T>>;

/// The element type of truth values: bool if there is such an element type.
using truth = std::conditional_t<is_element<bool>, bool, std::int32_t>;

template <class R>
struct square_root {
  KOKKOS_INLINE_FUNCTION R operator()(double squares) const { return R(std::sqrt(squares)); }
};

struct is_any {
  KOKKOS_INLINE_FUNCTION truth operator()(std::int64_t nonzero) const { return nonzero > 0 ? truth(1) : truth(0); }
};

struct is_all {
  std::int64_t elements;  ///< of a row on this device
  KOKKOS_INLINE_FUNCTION truth operator()(std::int64_t nonzero) const {
    return nonzero == elements ? truth(1) : truth(0);
  }
};

template <class R, bool Root>
struct deviations_of_state {
  double less;
  template <class Sum>
  KOKKOS_INLINE_FUNCTION R operator()(engine::moments<Sum> const& s) const {
    double const freedom = s.count > less ? s.count - less : 0;
    double const v = s.squares / freedom;
    return R(Root ? std::sqrt(v) : v);
  }
};

/// The number of this device's elements of a row.
template <class Out, class A, class... Gone>
std::int64_t local_elements_of_row(A const& a, type_list<Gone...>) {
  return (std::int64_t{1} * ... *
          static_cast<std::int64_t>(a.local().extent(static_cast<std::size_t>(position_in<Gone, axes_in<A>>))));
}

}  // namespace detail

namespace operation {

/// √Σ|a|², summed in double.
template <class Out>
struct norm {
  static constexpr char const* name = "norm";
  template <class A>
  using verdict = detail::rows_verdict<norm, Out, policy<planner::admit::any>, reduction::sum, double, A>;

  template <class A>
  using moves = detail::moves_of_parts<Out, reduction::sum, double, A>;
  template <class How, class A>
  auto run(How const&, A const& a) const {
    using element = typename A::value_type;
    using squares = engine::sum_of<engine::square_of, element>;
    using result = detail::real_result_of<element>;
    return ostraka::map(detail::square_root<result>{},
                        detail::reduce_as_parts<Out, squares, reduction::sum, double>(name, a));
  }
};

/// Σ|a − mean|² / (n − ddof), or its root.
template <bool Root, class Out>
struct mean_deviation {
  static constexpr char const* name = Root ? "standard_deviation" : "variance";
  int less = 0;

  template <class A>
  using result = detail::real_result_of<typename A::value_type>;
  template <class A>
  using accumulator = engine::moments_of<typename A::value_type>;
  template <class A>
  using verdict = detail::rows_verdict<mean_deviation, Out, policy<planner::admit::any>, reduction::sum, result<A>, A>;

  template <class A>
  using moves = detail::moves_of_states<Out, typename accumulator<A>::state, result<A>, A>;
  template <class How, class A>
  auto run(How const&, A const& a) const {
    detail::deviations_of_state<result<A>, Root> const finish{static_cast<double>(less)};
    return detail::reduce_as_states<Out, accumulator<A>, result<A>>(name, a, finish);
  }
};

template <class Out>
using variance = mean_deviation<false, Out>;
template <class Out>
using standard_deviation = mean_deviation<true, Out>;

template <class Out>
struct count {
  static constexpr char const* name = "count";
  template <class A>
  using verdict = detail::rows_verdict<count, Out, policy<planner::admit::any>, reduction::sum, std::int64_t, A>;

  template <class A>
  using moves = detail::moves_of_parts<Out, reduction::sum, std::int64_t, A>;
  template <class How, class A>
  auto run(How const&, A const& a) const {
    using nonzero = engine::sum_of<engine::one_if_nonzero, typename A::value_type>;
    return detail::reduce_as_parts<Out, nonzero, reduction::sum, std::int64_t>(name, a);
  }
};

/// True if any element is not zero (How = max), or if all are not (How = min).
template <reduction How, class Out>
struct truth_of_elements {
  static constexpr char const* name = How == reduction::max ? "any" : "all";
  template <class A>
  using verdict = detail::rows_verdict<truth_of_elements, Out, policy<planner::admit::any>, How, detail::truth, A>;

  template <class A>
  using moves = detail::moves_of_parts<Out, How, detail::truth, A>;
  template <class When, class A>
  auto run(When const&, A const& a) const {
    using nonzero = engine::sum_of<engine::one_if_nonzero, typename A::value_type>;
    using gone = typename detail::row_types<Out, A>::gone;
    if constexpr (How == reduction::max)
      return detail::reduce_as_parts<Out, nonzero, How, detail::truth>(name, a, detail::is_any{});
    else
      return detail::reduce_as_parts<Out, nonzero, How, detail::truth>(
          name, a, detail::is_all{detail::local_elements_of_row<Out>(a, gone{})});
  }
};

}  // namespace operation

// `Nothing` stays empty: it lets an unqualified call in a program with such a function of its own take that function.

/// The 2-norm √Σ|a|² over the axes that the result lacks; of no elements, 0. The result is real, also for complex
/// elements, and double for integers. Squares are summed in double, so that squares of floats neither overflow nor
/// underflow. `os::norm<I/X>(A)`
template <auto... Out, TensorOrVariable A, class... Nothing>
  requires(sizeof...(Nothing) == 0)
[[nodiscard]] constexpr auto norm(A const& a, Nothing...) {
  return detail::operate(operation::norm<sharding_of<Out...>>{}, a);
}

/// Σ|a − mean|² / n over the axes that the result lacks, or / (n − 1) with os::ddof(1); of no elements, NaN. Accurate
/// even if the mean is large compared with the deviations, and for uneven blocks. The result is real, also for complex
/// elements, and double for integers.
template <auto... Out, TensorOrVariable A, std::same_as<ddof>... Freedom>
  requires(sizeof...(Freedom) < 2)
[[nodiscard]] constexpr auto variance(A const& a, Freedom... freedom) {
  return detail::operate(operation::variance<sharding_of<Out...>>{(0 + ... + freedom.less)}, a);
}

/// The square root of the variance.
template <auto... Out, TensorOrVariable A, std::same_as<ddof>... Freedom>
  requires(sizeof...(Freedom) < 2)
[[nodiscard]] constexpr auto standard_deviation(A const& a, Freedom... freedom) {
  return detail::operate(operation::standard_deviation<sharding_of<Out...>>{(0 + ... + freedom.less)}, a);
}

/// The number of elements that are not zero (or are true), over the axes that the result lacks: std::int64_t. A NaN is
/// not zero.
template <auto... Out, TensorOrVariable A, class... Nothing>
  requires(sizeof...(Nothing) == 0)
[[nodiscard]] constexpr auto count(A const& a, Nothing...) {
  return detail::operate(operation::count<sharding_of<Out...>>{}, a);
}

/// True if any element is not zero (or is true), over the axes that the result lacks; of no elements, false.
template <auto... Out, TensorOrVariable A, class... Nothing>
  requires(sizeof...(Nothing) == 0)
[[nodiscard]] constexpr auto any(A const& a, Nothing...) {
  return detail::operate(operation::truth_of_elements<reduction::max, sharding_of<Out...>>{}, a);
}

/// True if all elements are not zero (or are true), over the axes that the result lacks; of no elements, true.
template <auto... Out, TensorOrVariable A, class... Nothing>
  requires(sizeof...(Nothing) == 0)
[[nodiscard]] constexpr auto all(A const& a, Nothing...) {
  return detail::operate(operation::truth_of_elements<reduction::min, sharding_of<Out...>>{}, a);
}

}  // namespace ostraka
