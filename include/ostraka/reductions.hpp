// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::sum<I/X>(A)`, `os::max<…>`, `os::min<…>`, `os::mean<…>`: the labels that the result lacks are reduced; naming the
/// result authorises the communication that a divided label needs. [I_X, J_Y] → [I_X]

#include <ostraka/einsum.hpp>
#include <ostraka/map.hpp>

namespace ostraka {

namespace detail {

template <class Out, class A, class Operation>
consteval auto check_order_reduction() {
  using verdict = einsum_verdict<Out, policy<planner::admit::any>, A>;
  using partials = concatenation_of<typename sharding_traits<sharding_in<A>>::partials, typename sharding_traits<Out>::partials>;
  if constexpr (!std::is_same_v<verdict, reason::ok>)
    return std::type_identity<verdict>{};
  else if constexpr (partials::size > 0)
    return std::type_identity<reason::partial_in_nonlinear_operation<typename type_at<partials, 0>::type, Operation>>{};
  else if constexpr (!engine::is_ordered<typename A::value_type>)
    return std::type_identity<reason::elements_have_no_order<typename A::value_type, Operation>>{};
  else
    return std::type_identity<reason::ok>{};
}

template <class Out, class Operation, class A>
auto order_reduction(char const* name, engine::reduction how, A const& a) {
  using verdict = typename decltype(check_order_reduction<Out, A, Operation>())::type;
  reason::raise<verdict>();
  if constexpr (std::is_same_v<verdict, reason::ok>)
    return run_einsum<Out, policy<planner::admit::any>>(name, how, a);
  else
    return after_error_of<typename A::value_type, Out, typename A::space>();
}

template <class A, class... Kept>
std::int64_t reduced_elements(A const& a, type_list<Kept...>) {
  std::int64_t n = 1;
  std::size_t i = 0;
  auto const visit = [&]<class I>(std::type_identity<I>) {
    if (!is_one_of<I, Kept...>) n *= a.extents()[i];
    ++i;
  };
  [&]<class... Is>(type_list<Is...>) { (visit(std::type_identity<Is>{}), ...); }(axes_in<A>{});
  return n;
}

template <class T>
struct real_part {
  using type = T;
};

template <class T>
struct real_part<Kokkos::complex<T>> {
  using type = T;
};

template <class T>
using real_of = typename real_part<T>::type;

// x / n, for the mean.
template <class T>
struct divide_by {
  T n;
  KOKKOS_INLINE_FUNCTION T operator()(T const& x) const { return x / n; }
};

}  // namespace detail

/// Sums over the axes that the result lacks; a partial operand is welcome, and a partial result if asked for.
template <auto... Out, Tensor A>
[[nodiscard]] auto sum(A const& a) {
  return detail::checked_einsum<sharding_of<Out...>, policy<planner::admit::any>>(a);
}

/// The largest element over the axes that the result lacks; over none, -infinity (integers: the smallest number). NaN wins.
template <auto... Out, Tensor A>
[[nodiscard]] auto max(A const& a) {
  return detail::order_reduction<sharding_of<Out...>, operation::max>("max", engine::reduction::max, a);
}

/// The smallest element over the axes that the result lacks; over none, infinity (integers: the largest number). NaN wins.
template <auto... Out, Tensor A>
[[nodiscard]] auto min(A const& a) {
  return detail::order_reduction<sharding_of<Out...>, operation::min>("min", engine::reduction::min, a);
}

/// The sum over the axes that the result lacks, divided by the number of elements summed; over none, NaN.
template <auto... Out, Tensor A>
[[nodiscard]] auto mean(A const& a) {
  using value = typename A::value_type;
  auto total = sum<Out...>(a);
  if constexpr (std::is_integral_v<value>) {
    reason::raise<reason::mean_of_integers<value>>();
  } else {
    auto const n = static_cast<double>(detail::reduced_elements(a, typename decltype(total)::axes{}));
    detail::apply_in_place(total, detail::divide_by<value>{value(static_cast<detail::real_of<value>>(n))});
  }
  return total;
}

}  // namespace ostraka
