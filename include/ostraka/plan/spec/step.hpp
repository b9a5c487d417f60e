// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Plans consist of steps. Each step takes one tensor from one sharding to another over a set of mesh axes.
///
///     step            along a mesh axis             per device, n devices, |T| as split by the other mesh axes
///     slice           R → S(l)                      0
///     mask            R → P  (device 0 keeps it)    0
///     zero_pad        S(l) → P                      0           (not of a sum: the neutral element is padded)
///     all_gather      S(l) → R                      (n−1)/n · |T|
///     all_reduce      P → R                         2(n−1)/n · |T|
///     reduce_scatter  P → S(l)                      (n−1)/n · |T|   and slices along mesh axes minor to these
///     all_to_all      S(l) → S(l')                  (n−1)/n² · |T|
///     block_exchange  any blocks → any blocks       what a device needs and lacks
///     contract        the local product             0
///     ring_contraction  the same, with the move next to it part by part (ring.hpp)

#include <cstdint>

#include <ostraka/plan/spec/state.hpp>

namespace ostraka {

/// The kinds of steps that a plan consists of: os::step::all_gather and others.
enum class step : std::uint8_t {
  slice,            ///< each device keeps its part; nothing moves
  mask,             ///< one device keeps its values, the others with the same values get zeros: a partial sum; nothing
                    ///< moves
  zero_pad,         ///< a block becomes a partial sum, with zeros around it; nothing moves
  all_gather,       ///< each device receives the blocks of the others
  all_reduce,       ///< partial values become the whole, on each device
  reduce_scatter,   ///< partial values become blocks of the whole
  all_to_all,       ///< blocks of one axis become blocks of another
  block_exchange,   ///< blocks become other blocks: each device sends what others need
  contract,         ///< a local product or reduction
  ring_contraction  ///< local products while blocks travel around a ring
};

/// True if the step is a local product, or a local reduction.
[[nodiscard]] constexpr bool contracts(step s) { return s == step::contract || s == step::ring_contraction; }

/// True if the step moves bytes between devices.
[[nodiscard]] constexpr bool communicates(step s) {
  return s != step::slice && s != step::mask && s != step::zero_pad && !contracts(s);
}

namespace planner {

/// The step that takes a tensor from one state to another along a mesh axis (the table above, read by its second
/// column). If the tensor stays split on its label, blocks change places.
/// @pre not both partial, not both replicated
[[nodiscard]] constexpr step becomes(axis_state from, axis_state to) {
  if (from.is_partial()) return to.is_split() ? step::reduce_scatter : step::all_reduce;
  if (to.is_partial()) return from.is_split() ? step::zero_pad : step::mask;
  if (!from.is_split()) return step::slice;
  if (!to.is_split()) return step::all_gather;
  return from.label() != to.label() ? step::all_to_all : step::block_exchange;
}

/// The result, as the tensor on which a step acts. Other tensors are numbered: first the operands, then the
/// intermediates.
inline constexpr int the_result = -1;
/// Takes the place of the second factor if a contraction has a single factor.
inline constexpr int no_tensor = -2;

/// One step of a plan. A contraction makes the tensor `operand` from `left` and `right`, in the shardings that earlier
/// steps gave them. `from` is the left one's sharding.
struct planned_step {
  step kind = step::slice;   ///< what the step does
  int operand = the_result;  ///< the tensor that it moves or makes
  mesh_set axes{};           ///< the mesh axes whose devices take part together
  spec from{};               ///< the sharding before
  spec to{};                 ///< the sharding after
  int left = no_tensor;      ///< the first factor of a contraction
  int right = no_tensor;     ///< the second factor, unless the contraction takes a single tensor
};

/// A list of bounded length that a constant expression can hold.
template <class T, int Capacity>
struct bounded_list {
  int count = 0;
  T item[Capacity]{};

  constexpr void push_back(T const& t) { item[count++] = t; }
  [[nodiscard]] constexpr int size() const { return count; }
  [[nodiscard]] constexpr bool empty() const { return count == 0; }
  [[nodiscard]] constexpr T const& operator[](int i) const { return item[i]; }
  [[nodiscard]] constexpr T& operator[](int i) { return item[i]; }
  [[nodiscard]] constexpr T const* begin() const { return item; }
  [[nodiscard]] constexpr T const* end() const { return item + count; }
  [[nodiscard]] constexpr T const* data() const { return item; }
};

/// A view of a list that is stored elsewhere.
template <class T>
struct list_view {
  T const* item = nullptr;
  int count = 0;

  constexpr list_view() = default;
  constexpr list_view(T const* items, int n) : item(items), count(n) {}
  template <int N>
  constexpr list_view(T const (&items)[N]) : item(items), count(N) {}
  template <class Container>
    requires requires(Container const& c) { static_cast<T const*>(c.data()), c.size(); }
  constexpr list_view(Container const& c) : item(c.data()), count(static_cast<int>(c.size())) {}

  [[nodiscard]] constexpr int size() const { return count; }
  [[nodiscard]] constexpr bool empty() const { return count == 0; }
  [[nodiscard]] constexpr T const& operator[](int i) const { return item[i]; }
  [[nodiscard]] constexpr T const* begin() const { return item; }
  [[nodiscard]] constexpr T const* end() const { return item + count; }
};

/// A view of the steps of a plan.
using plan_steps = list_view<planned_step>;

/// The last step before `at` that makes or moves the tensor; -1 if there is none.
[[nodiscard]] constexpr int last_before(plan_steps const& steps, int at, int tensor) {
  int i = at - 1;
  while (i >= 0 && steps[i].operand != tensor) --i;
  return i;
}

/// The next step after `at` that moves or contracts the tensor; the number of steps if there is none.
[[nodiscard]] constexpr int next_after(plan_steps const& steps, int at, int tensor) {
  int i = at + 1;
  while (i < steps.size() && steps[i].operand != tensor &&
         (!contracts(steps[i].kind) || (steps[i].left != tensor && steps[i].right != tensor)))
    ++i;
  return i;
}

/// The most steps of a reshard of one tensor: slice, reduce-scatter, all-reduce, slice, exchange, zero-pad, mask.
inline constexpr int max_reshard_steps = 8;

using reshard_steps = bounded_list<planned_step, max_reshard_steps>;

}  // namespace planner
}  // namespace ostraka
