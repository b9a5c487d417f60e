// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of os::einsum, of os::contract, which is an einsum, and of os::sum and os::mean, which are
/// einsums of one operand. For C = einsum(A, B) the cotangent of A is the einsum of C's cotangent with B, to the
/// sharding of A's cotangent. So if the forward gathered A, the backward is a reduce-scatter, without a call in the
/// program.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/algebra/contract.hpp>
#include <ostraka/algebra/relabel.hpp>
#include <ostraka/gradient/cotangents/as.hpp>
#include <ostraka/gradient/cotangents/deferred.hpp>
#include <ostraka/gradient/tape/recorded_product.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>

namespace ostraka {

namespace detail {

// The axes that os::sum_over names among an einsum's arguments.
template <class G>
struct summed_unshared_by {
  using type = type_list<>;
};
template <class Policy>
  requires is_policy<Policy>
struct summed_unshared_by<Policy> {
  using type = typename Policy::summed_unshared;
};

template <class Axes>
struct policy_to_sum;
template <class... As>
struct policy_to_sum<type_list<As...>> {
  using type = summing_unshared<policy<planner::admit::any>, As...>;
};

/// `Given` are the operands, variables or constants, and perhaps a policy.
template <class... Given>
class einsum_pullback {
 public:
  constexpr explicit einsum_pullback(Given const&... given)
      : others_(remember_if<needed<Given>>(given)...), extents_(extents_in(given)...) {}

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return pull_with<K, Wanted>(g, std::make_index_sequence<others_but<K>.count>{});
  }

 private:
  static constexpr int variables = (0 + ... + (is_variable<Given> ? 1 : 0));

  // With two variables each needs the other; a single variable needs the constants.
  template <class G>
  static constexpr bool needed =
      (is_operand<plain_type<G>> || is_variable<plain_type<G>>)&&(variables > (is_variable<G> ? 1 : 0));

  template <class G>
  static constexpr auto extents_in(G const& given) {
    if constexpr (is_variable<G>)
      return shape_of_operand<G>(given);
    else
      return not_kept(given);
  }

  struct numbers {
    std::size_t count = 0;
    std::size_t at[sizeof...(Given)]{};
  };

  // The numbers of the operands from which the derivative by operand K is computed.
  template <int K>
  static constexpr numbers others_but = [] {
    constexpr bool is_kept[] = {needed<Given>...};
    numbers n;
    for (std::size_t j = 0; j < sizeof...(Given); ++j)
      if (is_kept[j] && static_cast<int>(j) != K) n.at[n.count++] = j;
    return n;
  }();

  template <int K, class Wanted, class G, std::size_t... Is>
  constexpr Wanted pull_with(G const& g, std::index_sequence<Is...>) const {
    return product<K, Wanted>(g, std::get<others_but<K>.at[Is]>(others_).get()...);
  }

  // The axes that only another operand has; the backward sums over them alone, too.
  template <class Wanted>
  using alone = difference_of<concatenation_of<typename summed_unshared_by<Given>::type...>, axes_in<Wanted>>;

  // The product as a `Part`; the operands have all its axes.
  template <class Part, class Alone, class G, class... Others>
  static constexpr auto summed_product(G const& g, Others const&... others) {
    if constexpr (sizeof...(Others) > 0 && Alone::size > 0)
      return einsum_as<Part>(g, others..., typename policy_to_sum<Alone>::type{});
    else if constexpr (sizeof...(Others) > 0)
      return einsum_as<Part>(g, others...);
    else if constexpr (std::is_same_v<axes_in<G>, typename sharding_traits<Part>::axes>)
      return reshard_as<Part>(g);
    else
      return sum_as<Part>(g);
  }

  template <int K, class Wanted, class G, class... Others>
  constexpr Wanted product(G const& g, Others const&... others) const {
    using wanted = sharding_in<Wanted>;
    using lacking = difference_of<axes_in<Wanted>, union_of<axes_in<G>, axes_in<Others>...>>;
    if constexpr (lacking::size == 0)
      return summed_product<wanted, alone<Wanted>>(g, others...);
    else  // for axes that only this operand has, and that were summed
      return broadcast_to<wanted>(summed_product<without_axes<wanted, lacking>, alone<Wanted>>(g, others...),
                                  std::get<static_cast<std::size_t>(K)>(extents_));
  }

  std::tuple<kept<needed<Given>, Given>...> others_;
  std::tuple<decltype(extents_in(std::declval<Given const&>()))...> extents_;
};

// The einsum that computes a cotangent of type `Wanted` from the result's, `G`, and the other operand. `Alone`: the
// summed axes that the other operand lacks.
template <class Wanted, class Alone, class G, class Other>
struct find_einsum_of_cotangent {
  using type = einsum_call<sharding_in<Wanted>, G, Other, typename policy_to_sum<Alone>::type>;
};
template <class Wanted, class G, class Other>
struct find_einsum_of_cotangent<Wanted, type_list<>, G, Other> {
  using type = einsum_call<sharding_in<Wanted>, G, Other>;
};
template <class Wanted, class G, class Other, class... Policy>
using einsum_of_cotangent = typename find_einsum_of_cotangent<
    Wanted, difference_of<concatenation_of<typename summed_unshared_by<Policy>::type...>, axes_in<Wanted>>, G,
    Other>::type;

// True if an einsum runs as a planned call that returns a `Result`.
template <class Call, class Result>
consteval bool is_planned_einsum() {
  if constexpr (std::is_same_v<typename Call::verdict, reason::ok>)
    return Call::run::is_planned && std::is_same_v<typename Call::run::result_type, Result>;
  else
    return false;
}

// True if the cotangent of an operand is just such an einsum, or if the operand is a constant.
template <class X, class G, class Other, class... Policy>
consteval bool has_planned_cotangent() {
  if constexpr (!is_variable<X>) {
    return true;
  } else {
    using wanted = typename X::cotangent_type;
    using lacking = difference_of<axes_in<wanted>, union_of<axes_in<G>, axes_in<Other>>>;
    if constexpr (is_tensor<wanted> && is_tensor<G> && lacking::size == 0 && !any_varies<wanted, G, Other>)
      return is_planned_einsum<einsum_of_cotangent<wanted, G, Other, Policy...>, wanted>();
    else
      return false;
  }
}

/// An einsum of two tensors of the global view, at least one of them a variable of the only derivative, as constants.
template <class Sharding, class A, class B, class... Policy>
struct product_of_variables {
  using call = einsum_call<Sharding, plain_type<A>, plain_type<B>, Policy...>;
  using result = typename call::run::result_type;
  using cotangent = cotangent_of_result<derivative_of<operation::einsum<Sharding>>, result, A, B, Policy...>;
  using value = typename result::value_type;
  using space = typename result::space;

  template <class X, class Other>
  static consteval planned_operation<value, space> of_cotangent() {
    if constexpr (is_variable<X>)
      return einsum_of_cotangent<typename X::cotangent_type, cotangent, plain_type<Other>,
                                 Policy...>::run::as_constant();
    else
      return {};
  }

  static constexpr product_and_derivative<value, space> constants{operation::einsum<Sharding>::name,
                                                                  &type_mark<result>,
                                                                  call::run::as_constant(),
                                                                  {of_cotangent<A, B>(), of_cotangent<B, A>()}};
};

template <class Sharding, class A, class B, class... Policy>
consteval bool check_shared_product() {
  using a = plain_type<A>;
  using b = plain_type<B>;
  using call = einsum_call<Sharding, a, b, Policy...>;
  if constexpr (!std::is_same_v<typename call::verdict, reason::ok> || any_varies<a, b>) {
    return false;
  } else if constexpr (call::run::is_planned && is_differentiable<typename a::value_type> &&
                       std::is_same_v<typename a::space, typename b::space>) {
    using cotangent = typename product_of_variables<Sharding, A, B, Policy...>::cotangent;
    return has_planned_cotangent<A, cotangent, b, Policy...>() && has_planned_cotangent<B, cotangent, a, Policy...>();
  } else {
    return false;
  }
}

/// True if the einsum and its derivative are planned calls of two tensors: one function records all of these
/// (recorded_product.hpp).
template <class Sharding, class... Given>
inline constexpr bool is_shared_product = false;
template <class Sharding, class A, class B, class... Policy>
  requires(depth_of_all<A, B> == 1 && is_tensor<plain_type<A>> && is_tensor<plain_type<B>> &&
           (is_policy<Policy> && ...))
inline constexpr bool is_shared_product<Sharding, A, B, Policy...> = check_shared_product<Sharding, A, B, Policy...>();

template <class A, class Number>
struct mean_pullback {
  einsum_pullback<A> of_sum;
  Number factor;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return ostraka::scale(of_sum.template pull<K, Wanted>(g), factor);
  }
};

}  // namespace detail

template <class Sharding>
struct derivative_of<operation::einsum<Sharding>> {
  template <class Result, class... Given>
  static constexpr auto pullback(operation::einsum<Sharding>, Result const&, Given const&... given) {
    return detail::einsum_pullback<Given...>(given...);
  }

  /// Records products in one function for all shardings, which does not know names.
  template <class A, class B, class... Policy>
    requires(detail::is_shared_product<Sharding, A, B, Policy...>)
  static auto record(operation::einsum<Sharding> const&, A const& a, B const& b, Policy const&...) {
    using product = detail::product_of_variables<Sharding, A, B, Policy...>;
    variable<typename product::result, typename product::cotangent> y;
    detail::without_names<typename product::result>& value = y.writable_value();
    detail::record_product(product::constants, detail::as_shared_operand(a), detail::as_shared_operand(b), value,
                           y.writable_place());
    return y;
  }
};

namespace detail {

// If the cotangents of an operand stay partial, those of its sums do too: a reduction stays deferred after a sum.
template <class Result, class A>
struct cotangent_of_sum {
  using type = cotangent_of<Result>;
};
template <class Result, class T, class U, class Sharding, class Space>
  requires(sharding_traits<Sharding>::partials::size > 0)
struct cotangent_of_sum<Result, variable<T, basic_tensor<U, Sharding, Space>>> {
  using type = basic_tensor<U, deferred<sharding_in<Result>, typename sharding_traits<Sharding>::partials>, Space>;
};

}  // namespace detail

template <class Out>
struct derivative_of<operation::reduce<reduction::sum, Out>> {
  template <class Result, class A>
  using operand_cotangent = typename detail::cotangent_of_sum<Result, A>::type;
  template <class Result, class A, class... Policy>
  static constexpr auto pullback(operation::reduce<reduction::sum, Out>, Result const&, A const& a, Policy const&...) {
    return detail::einsum_pullback<A>(a);
  }
};

template <class Out>
struct derivative_of<operation::mean<Out>> {
  template <class Result, class A, class... Policy>
  static constexpr auto pullback(operation::mean<Out>, Result const&, A const& a, Policy const&...) {
    using number = detail::real_of<accumulator_of_t<typename A::value_type>>;
    number const n = static_cast<number>(detail::reduced_elements(a, axes_in<Result>{}));
    return detail::mean_pullback<A, number>{detail::einsum_pullback<A>(a), number(1) / n};
  }
};

/// A contraction is an einsum that moves nothing. Its backward computes each cotangent in its operand's sharding.
template <class Summed>
struct derivative_of<operation::contract<Summed>> {
  template <class A, class B, class... Behind>
  static constexpr auto composed(operation::contract<Summed> const&, A const& a, B const& b, Behind const&...) {
    using contract = operation::contract<Summed>;
    if constexpr (reason::ok_or_raise<typename contract::template verdict<A, B, Behind...>>())
      return detail::einsum_as<typename contract::template result<A, B>>(a, b, no_communication);
    else
      return typename contract::template refused<detail::plain_type<A>, detail::plain_type<B>>();
  }
};

/// A diagonal has no derivative.
template <class... Labels>
struct derivative_of<operation::relabel<Labels...>> {
  template <class A>
  static constexpr auto composed(operation::relabel<Labels...> const&, A const&) {
    reason::raise<reason::diagonal_has_no_derivative<A>>();
    return typename operation::relabel<Labels...>::template refused<detail::plain_type<A>>();
  }
};

}  // namespace ostraka
