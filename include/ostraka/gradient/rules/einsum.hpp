// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of os::einsum, and of os::sum and os::mean, which are einsums of one operand. Of
/// C = einsum(A, B) the cotangent of A is the einsum of C's with B, with the sharding that A's has as the result that is
/// asked for: where the forward gathered A, the backward is a reduce-scatter without anyone writing it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/record.hpp>
#include <ostraka/operations/broadcast.hpp>
#include <ostraka/types/changed_sharding.hpp>

namespace ostraka {

namespace detail {

/// `Given`: the operands, variables or constants, and perhaps a policy.
template <class... Given>
class einsum_pullback {
 public:
  explicit einsum_pullback(Given const&... given)
      : others_(kept_of<Given>(plain(given))...), extents_(extents_in(given)...) {}

  template <int K, class Wanted, class G>
  Wanted pull(G const& g) const {
    return std::apply([&](auto const&... others) { return product<K, Wanted>(g, others...); },
                      but<K>(std::index_sequence_for<Given...>{}));
  }

 private:
  static constexpr int variables = (0 + ... + (is_variable<Given> ? 1 : 0));

  // Of two variables each needs the other; one alone needs the constants.
  template <class G>
  using kept_of = kept<is_operand<plain_type<G>> && (variables > (is_variable<G> ? 1 : 0)), plain_type<G>>;

  template <class G>
  static auto extents_in(G const& given) {
    if constexpr (is_variable<G>)
      return given.extents();
    else
      return std::array<std::int64_t, 0>{};
  }

  template <int K, std::size_t... Js>
  auto but(std::index_sequence<Js...>) const {
    return std::tuple_cat(other<K, static_cast<int>(Js)>(std::get<Js>(others_))...);
  }

  template <int K, int J, class T>
  static auto other(T const& t) {
    if constexpr (J == K || std::is_same_v<T, not_kept>)
      return std::tuple<>();
    else
      return std::tuple<T>(t);
  }

  // As `Part`, all of whose axes are there.
  template <class Part, class G, class... Others>
  static Part summed_product(G const& g, Others const&... others) {
    if constexpr (sizeof...(Others) == 0)
      return summed_to<Part>(g);
    else
      return checked_einsum<at_once, sharding_in<Part>>("einsum", g, others...);
  }

  template <int K, class Wanted, class G, class... Others>
  Wanted product(G const& g, Others const&... others) const {
    using lacking = difference_of<axes_in<Wanted>, union_of<axes_in<G>, axes_in<Others>...>>;
    if constexpr (lacking::size == 0) {
      return summed_product<Wanted>(g, others...);
    } else {  // axes of this operand alone, which were summed
      using part = basic_tensor<typename Wanted::value_type, without_axes<sharding_in<Wanted>, lacking>,
                                typename Wanted::space>;
      ostraka::operation::broadcast<sharding_in<Wanted>> const repeat{
          {}, std::get<static_cast<std::size_t>(K)>(extents_), {}};
      return operate(repeat, summed_product<part>(g, others...));
    }
  }

  std::tuple<kept_of<Given>...> others_;
  std::tuple<decltype(extents_in(std::declval<Given const&>()))...> extents_;
};

}  // namespace detail

/// os::einsum of variables and constants.
template <auto... Out, class... Given>
  requires any_variable<Given...>
[[nodiscard]] auto einsum(Given const&... given) {
  return detail::record(einsum<Out...>(detail::plain(given)...), detail::einsum_pullback<Given...>(given...), given...);
}

/// os::sum of a variable.
template <auto... Out, Variable A, class... Policy>
[[nodiscard]] auto sum(A const& a, Policy const&... how) {
  return detail::record(sum<Out...>(a.value(), how...), detail::einsum_pullback<A>(a), a);
}

/// os::mean of a variable.
template <auto... Out, Variable A, class... Policy>
[[nodiscard]] auto mean(A const& a, Policy const&... how) {
  auto const total = sum<Out...>(a, how...);
  using real = detail::real_of<accumulator_of_t<typename A::value_type>>;
  return scale(total, real(1) / static_cast<real>(detail::reduced_elements(a, axes_in<decltype(total)>{})));
}

}  // namespace ostraka
