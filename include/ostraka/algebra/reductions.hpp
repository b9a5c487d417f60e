// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::sum<I/X>(A)`, `max`, `min`, `prod`, `bit_and`, `bit_or` and `mean` reduce over the labels that the
/// result lacks. Naming the result authorises the communication that a divided label needs; os::partial_max(X) and the
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

/// Runs a reduction, which is an einsum of one operand, and multiplies the result by `factor`.
template <class Out, reduction How, class A, class Policy = policy<planner::admit::any>>
auto run_reduction(char const* name, A const& a, Policy const& policy = {}, double factor = 1) {
  return einsum_of<varying_as_one<Out, A>, Policy, How, type_list<A>>::run(
      name, {real_of<accumulator_of_t<typename A::value_type>>(factor)}, a, policy);
}

/// The plan of a reduction, for questions about its price.
template <class Out, reduction How, class A, class Policy>
struct reduction_source {
  using types = einsum_types<varying_as_one<Out, A>, typename Policy::unlimited, How, A>;
  static constexpr named_plan<typename types::labels, typename types::mesh, element_bytes_in<A>> plan{types::plan};
};

/// The members that all reductions to the sharding `Out` share.
template <class Out, reduction How>
struct reduction_operation {
  template <class A, class Policy = policy<planner::admit::any>>
  using verdict = reduction_verdict<varying_as_one<Out, A>, Policy, How, A>;
  template <class A, class Policy = policy<planner::admit::any>>
  using moves = moves_of_plan<reduction_source<Out, How, A, Policy>>;
  template <class A, class...>
  using refused = typename einsum_refused<Out, A>::type;
  template <class Given>
  using without_operand = order_verdict<Given, policy<planner::admit::any>>;
};

template <class Out, class A, class Policy>
consteval auto check_mean() {
  if constexpr (Operand<A>)
    if constexpr (std::is_integral_v<typename A::value_type>)
      return found<reason::mean_of_integers<typename A::value_type>>{};
    else
      return found<reduction_verdict<varying_as_one<Out, A>, Policy, reduction::sum, A>>{};
  else
    return found<order_verdict<A, Policy>>{};
}

// The policy after a tensor, or the default policy if there is none.
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

constexpr char const* reduction_name(reduction how) {
  switch (how) {
    case reduction::sum: return "sum";
    case reduction::max: return "max";
    case reduction::min: return "min";
    case reduction::prod: return "prod";
    case reduction::bit_and: return "bit_and";
    case reduction::bit_or: return "bit_or";
  }
  return "";
}

}  // namespace detail

namespace operation {

/// The operation of os::sum, max, min, prod, bit_and and bit_or to this sharding.
template <reduction How, class Out>
struct reduce : detail::reduction_operation<Out, How> {
  static constexpr char const* name = detail::reduction_name(How);

  template <class Mode, class A, class Policy = policy<planner::admit::any>>
  auto run(Mode const&, A const& a, Policy const& policy = {}) const {
    return detail::run_reduction<Out, How>(name, a, policy);
  }
};

/// The operation of os::mean to this sharding.
template <class Out>
struct mean : detail::reduction_operation<Out, reduction::sum> {
  static constexpr char const* name = "mean";
  template <class A, class Policy = policy<planner::admit::any>>
  using verdict = typename decltype(detail::check_mean<Out, A, Policy>())::type;

  template <class Mode, class A, class Policy = policy<planner::admit::any>>
  auto run(Mode const&, A const& a, Policy const& policy = {}) const {
    using T = typename A::value_type;
    using wide = accumulator_of_t<T>;
    auto const n = static_cast<double>(detail::reduced_elements(a, axes_in<Out>{}));
    if constexpr (is_narrow<T>)
      if (n > 0) return detail::run_reduction<Out, reduction::sum>(name, a, policy, 1 / n);
    auto const total = detail::run_reduction<Out, reduction::sum>(name, a, policy);
    detail::apply_in_place(name, total, detail::divide_by<T>{wide(static_cast<detail::real_of<wide>>(n))});
    return total;
  }
};

}  // namespace operation

/// Sums over the axes that the result lacks. Integers are summed in their type, modulo its range (os::cast them first).
/// The operand may be a partial sum, and so may the result: `os::sum<I, os::partial(X)>(A)`. All reductions take a
/// policy after the tensor, as os::einsum does. (The policy is a pack, so that an unqualified call in a program with
/// its own `sum` calls that one.)
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] constexpr auto sum(A const& a, Policy... how) {
  return detail::operate(operation::reduce<reduction::sum, sharding_of<Out...>>{}, a, detail::only_policy(how...));
}

/// The largest element over the axes that the result lacks; of no elements, -infinity (integers: the smallest number).
/// NaN wins. Operand and result may be partial by os::partial_max.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] constexpr auto max(A const& a, Policy... how) {
  return detail::operate(operation::reduce<reduction::max, sharding_of<Out...>>{}, a, detail::only_policy(how...));
}

/// The smallest element over the axes that the result lacks; of no elements, infinity (integers: the largest number).
/// NaN wins. Operand and result may be partial by os::partial_min.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] constexpr auto min(A const& a, Policy... how) {
  return detail::operate(operation::reduce<reduction::min, sharding_of<Out...>>{}, a, detail::only_policy(how...));
}

/// The product over the axes that the result lacks; of no elements, 1. Operand and result may be partial by
/// os::partial_prod.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] constexpr auto prod(A const& a, Policy... how) {
  return detail::operate(operation::reduce<reduction::prod, sharding_of<Out...>>{}, a, detail::only_policy(how...));
}

/// The bitwise AND over the axes that the result lacks; of no elements, all bits are set. For bools, true if all are
/// true. Integers and bools only. Operand and result may be partial by os::partial_and.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] constexpr auto bit_and(A const& a, Policy... how) {
  return detail::operate(operation::reduce<reduction::bit_and, sharding_of<Out...>>{}, a, detail::only_policy(how...));
}

/// The bitwise OR over the axes that the result lacks; of no elements, no bits are set. For bools, true if any is true.
/// Integers and bools only. Operand and result may be partial by os::partial_or.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] constexpr auto bit_or(A const& a, Policy... how) {
  return detail::operate(operation::reduce<reduction::bit_or, sharding_of<Out...>>{}, a, detail::only_policy(how...));
}

/// The sum over the axes that the result lacks, divided by the number of elements summed; of no elements, NaN. A sum of
/// 16-bit numbers is divided before it is rounded.
template <auto... Out, OperandOrPolicy A, OperandOrPolicy... Policy>
  requires(sizeof...(Policy) < 2)
[[nodiscard]] constexpr auto mean(A const& a, Policy... how) {
  return detail::operate(operation::mean<sharding_of<Out...>>{}, a, detail::only_policy(how...));
}

}  // namespace ostraka
