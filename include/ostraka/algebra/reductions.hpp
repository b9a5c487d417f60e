// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::sum<I/X>(A)`, `max`, `min`, `prod`, `bit_and`, `bit_or` and `mean`: the labels that the result lacks
/// are reduced. Naming the result authorises the communication that a divided label needs; os::partial_max(X) and the
/// other partial results defer it.
///
///     max over J    [I_X, J_Y]         → [I_X]            all_reduce<Y>
///                   [I_X, J_Y]         → [I_X] {max_Y}    nothing moved
///                   [I_X] {max_Y}      → [I_X]            all_reduce<Y>
///                   [I_X, J_Y] {U_Z}   – reduced first: a maximum of sums is not the sum of the maxima

#include <ostraka/algebra/einsum.hpp>
#include <ostraka/elements/map.hpp>

namespace ostraka {

namespace detail {

template <class Out, class Policy, reduction How, class A>
consteval auto check_reduction() {
  if constexpr (!Operand<A> || !is_policy<Policy>)
    return found<order_verdict<A, Policy>>{};
  else
    return found<first_fault<typename decltype(check_einsum<Out, Policy, How, A>())::type,
                             reducible_verdict<typename A::value_type, How, operation_of<How>>>>{};
}

template <class Out, class Policy, reduction How, class A>
using reduction_verdict = typename decltype(check_reduction<Out, Policy, How, A>())::type;

// All reductions: raises the reason, or runs the einsum of one operand. The result is multiplied by `factor`.
template <class Out, reduction How, class A, class Policy = policy<planner::admit::any>>
auto reduce(char const* name, A const& a, Policy const& policy = {}, double factor = 1) {
  using out = varying_as_one<Out, A>;
  if constexpr (reason::ok_or_raise<reduction_verdict<out, Policy, How, A>>())
    return einsum_of<out, Policy, How, type_list<A>>::run(
        name, {real_of<accumulator_of_t<typename A::value_type>>(factor)}, a, policy);
  else if constexpr (Operand<A>)
    return after_error_of<typename A::value_type, out, typename A::space>();
  else
    return after_error_of<float, out>();
}

// The policy behind a tensor, or that of none.
constexpr policy<planner::admit::any> only_policy() { return {}; }
template <class Policy>
constexpr Policy only_policy(Policy const& how) {
  return how;
}

template <class A, class... Kept>
constexpr std::int64_t reduced_elements(A const& a, type_list<Kept...>) {
  std::int64_t n = 1;
  std::size_t i = 0;
  auto const visit = [&]<class I>(std::type_identity<I>) {
    if (!is_one_of<I, Kept...>) n *= a.extents()[i];
    ++i;
  };
  [&]<class... Is>(type_list<Is...>) { (visit(std::type_identity<Is>{}), ...); }(axes_in<A>{});
  return n;
}

// x / n, for the mean.
template <class T>
struct divide_by {
  accumulator_of_t<T> n;
  KOKKOS_INLINE_FUNCTION T operator()(T const& x) const { return T(x / n); }
};

}  // namespace detail

/// Sums over the axes that the result lacks; integers in their type, modulo its range (os::cast them first). Partial
/// sums are welcome, and come out if asked for: `os::sum<I, os::partial(X)>(A)`. All reductions take a policy behind
/// the tensor, as os::einsum does. (A pack, so that an unqualified call in a program that has a sum of its own takes
/// that one.)
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] auto sum(A const& a, Policy... how) {
  return detail::reduce<sharding_of<Out...>, reduction::sum>("sum", a, how...);
}

/// The largest element over the axes that the result lacks; over none, -infinity (integers: the smallest number). NaN
/// wins. Operand and result may be partial by os::partial_max.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] auto max(A const& a, Policy... how) {
  return detail::reduce<sharding_of<Out...>, reduction::max>("max", a, how...);
}

/// The smallest element over the axes that the result lacks; over none, infinity (integers: the largest number). NaN
/// wins. Operand and result may be partial by os::partial_min.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] auto min(A const& a, Policy... how) {
  return detail::reduce<sharding_of<Out...>, reduction::min>("min", a, how...);
}

/// The product over the axes that the result lacks; over none, 1. Operand and result may be partial by
/// os::partial_prod.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] auto prod(A const& a, Policy... how) {
  return detail::reduce<sharding_of<Out...>, reduction::prod>("prod", a, how...);
}

/// The bits that all elements have over the axes that the result lacks; over none, all bits. Of bools: are all true?
/// Integers and bools only. Operand and result may be partial by os::partial_and.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] auto bit_and(A const& a, Policy... how) {
  return detail::reduce<sharding_of<Out...>, reduction::bit_and>("bit_and", a, how...);
}

/// The bits that any element has over the axes that the result lacks; over none, no bits. Of bools: is any true?
/// Integers and bools only. Operand and result may be partial by os::partial_or.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] auto bit_or(A const& a, Policy... how) {
  return detail::reduce<sharding_of<Out...>, reduction::bit_or>("bit_or", a, how...);
}

/// The sum over the axes that the result lacks, divided by the number of elements summed; over none, NaN. A sum of
/// numbers of 16 bits is divided before it is rounded.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] auto mean(A const& a, Policy... how) {
  using result = decltype(ostraka::sum<Out...>(a, how...));
  using value = typename result::value_type;
  using wide = accumulator_of_t<value>;
  if constexpr (std::is_integral_v<value>) reason::raise<reason::mean_of_integers<value>>();
  if constexpr (!Operand<A> || std::is_integral_v<value>) {
    return ostraka::sum<Out...>(a, how...);
  } else {
    auto const n = static_cast<double>(detail::reduced_elements(a, typename result::axes{}));
    if constexpr (is_narrow<value>)
      if (n > 0)
        return detail::reduce<sharding_of<Out...>, reduction::sum>("mean", a, detail::only_policy(how...), 1 / n);
    result total = detail::reduce<sharding_of<Out...>, reduction::sum>("mean", a, how...);
    detail::apply_in_place("mean", total, detail::divide_by<value>{wide(static_cast<detail::real_of<wide>>(n))});
    return total;
  }
}

}  // namespace ostraka
