// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Results written straight into an application's array, of any layout: `os::einsum_into<I/X, K>(view, A, B)`,
/// `os::map_into<I/X, J>(view, f, A)`, `os::reshard_into<I, J/X>(view, A)`. The call names the result as os::einsum
/// does, since an array has no sharding. The extents come from the operands. No temporary block is made: the step that
/// computes or receives the result writes with the array's strides.

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include <ostraka/algebra/einsum_into.hpp>
#include <ostraka/arrays/copy_local.hpp>
#include <ostraka/elements/map_into.hpp>
#include <ostraka/moves/reshard_into.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

namespace detail {

template <class C, class Array>
consteval auto check_array_in_place() {
  using memory = typename given_array<Array>::memory;
  if constexpr (!is_one_of<memory, memory_of_tensor, typename C::view_type::memory_space>)
    return found<reason::not_an_array_of_the_tensor<std::remove_cv_t<Array>, C>>{};
  else
    return found<written_array_verdict<C, Array>>{};
}

// `reason::ok`, or the reason why the step that computes C cannot write its block into this array.
template <class C, class Array>
using array_in_place_verdict = typename decltype(check_array_in_place<C, Array>())::type;

template <class C, class... Operands>
consteval auto check_extents_known() {
  using unknown = difference_of<axes_in<C>, union_of<axes_in<Operands>...>>;
  if constexpr (unknown::size > 0)
    return found<reason::missing_extent<typename type_at<unknown, 0>::type>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok` if the operands know the extents of all axes of C.
template <class C, class... Operands>
using extents_known_verdict = typename decltype(check_extents_known<C, Operands...>())::type;

// An array with the block of a tensor, in the form that the engine takes.
template <class T>
struct array_block {
  engine::strided_block<T*> lies;
  memory_range memory;
  bool dense = false;
};

template <class T>
memory_range memory_between(T const* first, engine::strided const& b, planner::box const& where) {
  if (b.rank < 0) return {reinterpret_cast<char const*>(first), reinterpret_cast<char const*>(first + where.size())};
  std::int64_t lowest = 0, highest = where.size() == 0 ? -1 : 0;
  for (int d = 0; d < b.rank && where.size() > 0; ++d)
    (b.stride[d] < 0 ? lowest : highest) += (b.extent[d] - 1) * b.stride[d];
  return {reinterpret_cast<char const*>(first + lowest), reinterpret_cast<char const*>(first + highest + 1)};
}

// Each device sees only its own array. If an array does not fit, its device throws; in check mode, all devices throw.
inline void require_array(engine::execution_context const& w, engine::steps_ahead steps, engine::strided const& b,
                          planner::box const& where, std::int64_t misaligned) {
  std::int64_t wanted[max_rank + 1]{};
  for (int d = 0; d < where.rank; ++d) wanted[d] = where.at[d].size();
  std::string const fault = engine::fault_of_block(b, wanted, where.rank, misaligned);
  if (!fault.empty()) engine::fail_together(w, steps, join_text(w.operation, ": ", fault));
}

// `s`: the tensor whose block the array holds.
template <class C, class Array>
auto array_of_block(engine::execution_context const& w, engine::steps_ahead steps, planner::spec const& s,
                    Array& array) {
  using value = typename C::value_type;
  planner::box const where = engine::box_of(s, w.here, w.sizes);
  std::int64_t wanted[max_rank + 1]{};
  for (int d = 0; d < where.rank; ++d) wanted[d] = where.at[d].size();
  engine::strided const given = describe_block(axes_in<C>{}, array, wanted);
  require_array(w, steps, given, where, missing_alignment(array));
  value* const first = data_of(array);
  array_block<value> block{engine::dense_block(first, where), memory_between(first, given, where), true};
  if (given.rank >= 0 && where.size() > 0)
    for (int d = 0; d < where.rank; ++d)
      if (wanted[d] > 1 && given.stride[d] != block.lies.stride[d]) {
        block.lies.stride[d] = given.stride[d];
        block.dense = false;
      }
  return block;
}

/// A destination that is an array of the application and holds this device's block of a tensor of this sharding.
template <class Array, class Sharding>
struct block_in_array {
  Array& array;
};
template <class Array, class Sharding>
struct interpreter_of<block_in_array<Array, Sharding>> {
  using type = runs;
};

template <class Policy, class Operands>
struct einsum_into_array_of;

// array <- alpha (the einsum) + beta array
template <class Policy, class First, class... Rest>
struct einsum_into_array_of<Policy, type_list<First, Rest...>> {
  template <class C, class Array, class... Behind>
  static void run(std::type_identity<C>, Array& array, First const& first, Rest const&... rest,
                  Behind const&... behind) {
    using value = typename C::value_type;
    using types = einsum_types<sharding_in<C>, typename Policy::unlimited, reduction::sum, First, Rest...>;
    using labels = typename types::labels;
    using mesh = typename types::mesh;
    using sources = sources_of<First, Rest...>;
    engine::update<value> how;
    Policy policy{};
    (take_setting(how, policy, behind), ...);
    engine::steps_ahead const steps = steps_ahead_of<Policy, types>(planner::plan_view(stored_plan_of<types>).steps);
    engine::execution_context const w = context_of<labels, mesh>("einsum_into", steps, first, rest...);
    auto const to = array_of_block<C>(w, steps, spec_of<C, labels, mesh>, array);
    memory_range const read[] = {memory_of(first), memory_of(rest)...};
    refuse_shared_memory(w, steps, "os::einsum", to.memory, read, static_cast<int>(sizeof...(Rest)) + 1);
    auto const plan = plan_to_run<Policy, types, static_cast<int>(sizeof(value))>(w, policy);
    typename sources::type const blocks[] = {sources::of(first), sources::of(rest)...};
    static thread_local constinit engine::schedule_memory* memory = nullptr;
    auto const& functions = functions_of_call<Policy, types, value, typename C::space>();
    if (to.dense)
      engine::run(execution_space_of<C>(), w, plan, blocks, to.lies.data, how, engine::per_thread(memory), functions);
    else
      engine::run(execution_space_of<C>(), w, plan, blocks, to.lies, how, engine::per_thread(memory), functions);
  }
};

template <class C, class Array, class F, class First, class... Rest>
void map_into_array(Array& array, F const& f, First const& first, Rest const&... rest) {
  using types = map_types<void, C, First, Rest...>;
  using labels = typename types::labels;
  using mesh = typename types::mesh;
  static constexpr planner::spec out = types::finding.result;
  engine::execution_context const w = context_of<labels, mesh>("map_into", first, rest...);
  auto const to = array_of_block<C>(w, {}, out, array);
  auto const alike = [&](auto const& a) {
    using A = std::remove_cvref_t<decltype(a)>;
    if (!to.memory.overlaps(memory_of(a))) return true;
    return to.dense && std::is_same_v<sharding_in<C>, sharding_in<A>> &&
           std::is_same_v<typename C::value_type, typename A::value_type> &&
           static_cast<void const*>(to.lies.data) == static_cast<void const*>(a.local().data());
  };
  require_same_iteration_order(alike(first) && (alike(rest) && ...));
  engine::map_blocks(execution_space_of<C>(), w, out, f, to.lies,
                     engine::align(w, spec_of<First, labels, mesh>, out, elements_of(first)),
                     engine::align(w, spec_of<Rest, labels, mesh>, out, elements_of(rest))...);
}

template <class C, class Array, class A, class Policy>
void reshard_into_array(Array& array, A const& a, Policy const& policy) {
  using types = reshard_types<A, sharding_in<C>>;
  using value = typename A::value_type;
  engine::steps_ahead const ahead = steps_ahead_of<Policy, types>(types::steps);
  engine::execution_context const w =
      context_of<typename types::labels, typename types::mesh>("reshard_into", ahead, a);
  auto const to = array_of_block<C>(w, ahead, types::to, array);
  memory_range const read = memory_of(a);
  refuse_shared_memory(w, ahead, "os::reshard", to.memory, &read, 1);
  auto const plan = moves_to_run<types, static_cast<int>(sizeof(value))>(w, policy);
  value const* const block = elements_of(a);
  engine::update<value> const how;
  static thread_local constinit engine::schedule_memory* memory = nullptr;
  auto const& functions = functions_of_call<Policy, types, value, typename A::space>();
  if (to.dense)
    engine::run(execution_space_of<A>(), w, plan, &block, to.lies.data, how, engine::per_thread(memory), functions);
  else
    engine::run(execution_space_of<A>(), w, plan, &block, to.lies, how, engine::per_thread(memory), functions);
}

// The tensor whose block is an array of elements of A.
template <class Sharding, class A>
using tensor_in_array = basic_tensor<typename A::value_type, Sharding, typename A::space>;

template <class Sharding, class Array, class First, class... Rest>
struct written_to<operation::einsum<Sharding>, block_in_array<Array, Sharding>, First, Rest...> {
  using verdict = reason::not_an_operand<First>;
};
template <class Sharding, class Array, Operand First, class... Rest>
struct written_to<operation::einsum<Sharding>, block_in_array<Array, Sharding>, First, Rest...> {
  using split = operands_first<type_list<>, First, Rest...>;
  using operands = typename split::operands;
  using result = tensor_in_array<varying_as_list<Sharding, operands>, First>;
  using verdict = first_fault<einsum_into_verdict<result, operands, typename split::behind>,
                              array_in_place_verdict<result, Array>>;
  static void run(operation::einsum<Sharding> const&, block_in_array<Array, Sharding> const& to, First const& first,
                  Rest const&... rest) {
    einsum_into_array_of<typename settings<typename split::behind>::policy, operands>::run(
        std::type_identity<result>{}, to.array, first, rest...);
  }
};

template <class Sharding, class Array, class A, class Policy>
struct written_to<operation::reshard<Sharding>, block_in_array<Array, Sharding>, A, Policy> {
  using result = tensor_in_array<varying_as_one<Sharding, A>, A>;
  using verdict = first_fault<reshard_into_verdict<result, A, Policy>, array_in_place_verdict<result, Array>>;
  static void run(operation::reshard<Sharding> const&, block_in_array<Array, Sharding> const& to, A const& a,
                  Policy const& policy) {
    reshard_into_array<result>(to.array, a, policy);
  }
};

template <bool IsCalled, class F, class Destination, class... Operands>
struct map_into_array_call {
  using verdict = called_verdict<F, typename Operands::value_type const&...>;
};
template <class F, class Array, class Sharding, class First, class... Rest>
struct map_into_array_call<true, F, block_in_array<Array, Sharding>, First, Rest...> {
  using value = typename element<std::remove_cvref_t<
      std::invoke_result_t<F const&, typename First::value_type const&, typename Rest::value_type const&...>>>::type;
  using result =
      basic_tensor<value, varying_as_list<Sharding, type_list<First, Rest...>>, typename First::space>;
  using verdict =
      first_fault<callable_there_verdict<F, typename First::space>, extents_known_verdict<result, First, Rest...>,
                  map_into_verdict<value, result, First, Rest...>, array_in_place_verdict<result, Array>>;
};

template <class F, class Array, class Sharding, class... Operands>
struct written_to<operation::map_by<F>, block_in_array<Array, Sharding>, Operands...>
    : map_into_array_call<std::is_invocable_v<F const&, typename Operands::value_type const&...>, F,
                          block_in_array<Array, Sharding>, Operands...> {
  static void run(operation::map_by<F> const& map, block_in_array<Array, Sharding> const& to,
                  Operands const&... operands) {
    map_into_array<typename written_to::result>(to.array, map.f, operands...);
  }
};

}  // namespace detail

/// array <- alpha · (the einsum of the operands, divided as named) + beta · array. Like os::einsum_into, but writes
/// this device's block to an array of the application: any that os::from_local takes, of any layout, in the memory of
/// the tensors.
/// @throws ostraka::error as os::einsum_into does; and if the array does not have the extents of this device's block:
/// on this device, in check mode on all of them
template <auto... Out, detail::GivenArray Array, class A, class... OperandsThenFactors>
void einsum_into(Array&& array, A const& a, OperandsThenFactors const&... more) {
  using block = detail::block_in_array<std::remove_reference_t<Array>, sharding_of<Out...>>;
  detail::operate_how(detail::into<block>{block{array}}, operation::einsum<sharding_of<Out...>>{}, a, more...);
}

/// array <- f of the corresponding elements, divided as named: os::map_into for this device's block in an array of the
/// application. The array may be the memory of an operand of the same sharding.
/// @throws ostraka::error as os::map_into does, and if the array does not have the extents of this device's block
template <auto... Out, detail::GivenArray Array, class F, TensorOrVariable... Operands>
  requires(sizeof...(Operands) > 0 && !TensorOrVariable<F>)
void map_into(Array&& array, F const& f, Operands const&... operands) {
  using block = detail::block_in_array<std::remove_reference_t<Array>, sharding_of<Out...>>;
  detail::operate_how(detail::into<block>{block{array}}, operation::map_by<F>{{}, f}, operands...);
}

/// array <- A, divided as named, which authorises the communication: os::reshard_into for this device's block in an
/// array of the application.
/// @throws ostraka::error as os::reshard_into does, and if the array does not have the extents of this device's block
template <auto... To, detail::GivenArray Array, TensorOrVariable A, class Policy = policy<planner::admit::any>>
  requires is_policy<Policy>
void reshard_into(Array&& array, A const& a, Policy const& policy = {}) {
  using block = detail::block_in_array<std::remove_reference_t<Array>, sharding_of<To...>>;
  detail::operate_how(detail::into<block>{block{array}}, operation::reshard<sharding_of<To...>>{}, a, policy);
}

}  // namespace ostraka
