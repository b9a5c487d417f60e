// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::map_into(C, f, A, B, …)`: f of the corresponding elements, into an existing tensor; C[I_X, J] <-
/// f(A[I_X, J], B[J]). C is matched with the operands as they are with each other, so it may be one of them:
/// os::map_into(A, f, A) works in place.

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/shared_memory.hpp>
#include <ostraka/elements/map.hpp>

namespace ostraka {

namespace detail {

// The first label that C lacks, or divides less than the operands together do, and the operand that shows it; -1 for
// none.
struct map_into_finding {
  int label = -1;
  bool missing = false;
  int operand = -1;
};

template <class Types, class C, class... Operands>
consteval map_into_finding find_map_into() {
  constexpr planner::spec met = Types::finding.result;
  constexpr planner::spec c = spec_of<C, typename Types::labels, typename Types::mesh>;
  constexpr planner::spec in[] = {spec_of<Operands, typename Types::labels, typename Types::mesh>...};
  for (int i = 0; i < met.rank; ++i) {
    int const own = c.find(met.label[i]);
    if (own >= 0 && c.over[own] == met.over[i]) continue;
    for (int k = 0; k < static_cast<int>(sizeof...(Operands)); ++k) {
      int const at = in[k].find(met.label[i]);
      if (at >= 0 && in[k].over[at] == met.over[i]) return {met.label[i], own < 0, k};
    }
  }
  return {};
}

// Evaluated only for operands that match.
template <class C, class... Operands>
consteval auto check_fit() {
  using types = map_types<void, C, Operands...>;
  constexpr map_into_finding f = find_map_into<types, C, Operands...>();
  if constexpr (f.label < 0) {
    return found<reason::ok>{};
  } else {
    using I = typename types::template label<f.label>;
    if constexpr (f.missing)
      return found<reason::axis_missing<I, sharding_in<C>>>{};
    else
      return found<reason::axis_split_differently<
          I, typename divisor_of<I, sharding_in<C>>::type,
          typename divisor_of<I, sharding_in<typename type_at<type_list<Operands...>, f.operand>::type>>::type>>{};
  }
}

template <class R, class C, class... Operands>
consteval auto check_map_into() {
  using own = first_fault<writable_verdict<C>, blocks_verdict<sharding<>, Operands..., C>,
                          target_verdict<C, Operands...>, values_verdict<C, operation::map>,
                          values_verdict<Operands, operation::map>..., element_type_verdict<typename C::value_type, R>>;
  using met = meeting_verdict<operation::map, void, own, C, Operands...>;
  if constexpr (!std::is_same_v<met, reason::ok>)
    return found<met>{};
  else
    return check_fit<C, Operands...>();
}

// `R`: the element type that the function returns.
template <class R, class C, class... Operands>
using map_into_verdict = typename decltype(check_map_into<R, C, Operands...>())::type;

// True if C may be written while this operand is read. If it is the same block under the same sharding, each element is
// read before it is written.
template <class C, class A>
bool same_iteration_order(C const& c, A const& a) {
  constexpr bool same_type =
      std::is_same_v<sharding_in<C>, sharding_in<A>> && std::is_same_v<typename C::value_type, typename A::value_type>;
  if (same_type && static_cast<void const*>(c.local().data()) == static_cast<void const*>(a.local().data()))
    return true;
  return !memory_of(c).overlaps(memory_of(a));
}

inline void require_same_iteration_order(bool alike) {
  if (!alike)
    throw_error(
        "map_into: the result may be one of the operands under the same axes and sharding, but it shares memory with "
        "one under others; use os::map, or another tensor for the result");
}

template <class C, class F, class... Operands>
void run_map_into(C const& c, F const& f, Operands const&... operands) {
  using types = map_types<void, C, Operands...>;
  using labels = typename types::labels;
  using mesh = typename types::mesh;
  static constexpr planner::spec out = types::finding.result;
  engine::execution_context const w = context_of<labels, mesh>("map_into", c, operands...);
  require_same_iteration_order((same_iteration_order(c, operands) && ...));
  engine::map_blocks(execution_space_of<C>(), w, out, f, c.local().data(),
                     engine::align(w, spec_of<Operands, labels, mesh>, out, elements_of(operands))...);
}

template <bool IsCalled, class F, class C, class... Operands>
struct map_into_call {
  using verdict = called_verdict<F, typename Operands::value_type const&...>;
};
template <class F, class C, class... Operands>
struct map_into_call<true, F, C, Operands...> {
  using result = std::remove_cvref_t<std::invoke_result_t<F const&, typename Operands::value_type const&...>>;
  using verdict = first_fault<callable_there_verdict<F, typename C::space>,
                              map_into_verdict<typename element<result>::type, C, Operands...>>;
};

template <class F, class C, class... Operands>
struct written_to<operation::map_by<F>, C, Operands...>
    : map_into_call<std::is_invocable_v<F const&, typename Operands::value_type const&...>, F, C, Operands...> {
  static void run(operation::map_by<F> const& map, C const& c, Operands const&... operands) {
    run_map_into(c, map.f, operands...);
  }
};

}  // namespace detail

/// C <- f of the corresponding elements, as in os::map, in the order of C's axes and divided as C is. C has all labels
/// and the element type that f returns. C may be one of the operands. Partial tensors are refused: os::einsum_into adds
/// them up.
/// @throws ostraka::error, on all devices alike, if extents disagree or C shares memory with an operand of another
/// sharding
template <TensorOrVariable C, class F, TensorOrVariable... Operands>
  requires(sizeof...(Operands) > 0 && !TensorOrVariable<F>)
void map_into(C const& c, F const& f, Operands const&... operands) {
  detail::operate_how(detail::into<C>{c}, operation::map_by<F>{{}, f}, operands...);
}

/// Does not compile: the error says that the name of an overloaded function does not say which one is meant.
template <Tensor C, Tensor... Operands>
void map_into(C const&, detail::overloaded_function<typename C::value_type, typename Operands::value_type...> const&,
              Operands const&...) {
  reason::raise<reason::function_is_overloaded<typename Operands::value_type...>>();
}

/// Does not compile: the error says where the function belongs.
template <class... Arguments>
  requires(TensorOrVariable<Arguments> || ...)
void map_into(Arguments const&...) {
  reason::raise<reason::function_comes_first<Arguments...>>();
}

}  // namespace ostraka
