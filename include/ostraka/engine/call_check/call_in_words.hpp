// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Describes an operation in words before it communicates, and checks that all devices that take part call it:
/// einsum C[I, K] = A[I, J_X] · B[J_X, K] by all_reduce<X>, float, I = 8, J = 4, K = 2

#include <string>

#include <ostraka/engine/call_check/call_key.hpp>
#include <ostraka/engine/call_check/element_name.hpp>
#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

// Templates so that ostraka::compiled can hold them.

/// Returns `, I = 8, J = 4, K = 2`.
template <class = void>
[[gnu::cold]] std::string describe_sizes(execution_context const& w, planner::naming const& names) {
  std::string text;
  for (int l = 0; l < w.sizes.labels; ++l)
    if (w.sizes.label[l] >= 0) append_text(text, ", ", names.labels[l], " = ", w.sizes.label[l]);
  return text;
}

/// The steps of any plan.
struct steps_ahead {
  planner::planned_step const* first = nullptr;
  int count = 0;
  bool may_change = false;  ///< a plan for the current sizes runs instead, and may communicate along other mesh axes

  steps_ahead() = default;
  template <int Capacity>
  explicit steps_ahead(planner::bounded_list<planner::planned_step, Capacity> const& steps)
      : first(steps.begin()), count(steps.size()) {}
  explicit steps_ahead(planner::list_view<planner::planned_step> const& steps)
      : first(steps.begin()), count(steps.size()) {}

  [[nodiscard]] planner::planned_step const* begin() const { return first; }
  [[nodiscard]] planner::planned_step const* end() const { return first + count; }

  /// Returns the mesh axes whose devices communicate; all that the operation names if the plan may change.
  [[nodiscard]] planner::mesh_set moving() const {
    if (may_change) return planner::mesh_set::first(planner::max_mesh_axes);
    planner::mesh_set axes;
    for (planner::planned_step const& s : *this)
      if (communicates(s.kind)) axes = axes | s.axes;
    return axes;
  }
};

namespace detail {

template <class = void>
[[gnu::cold]] std::string describe_call(execution_context const& w, planner::spec const* operands, int count,
                                        planner::spec const& result, steps_ahead steps, char const* elements) {
  std::string text(w.operation);
  if (w.names.labels == nullptr) return text;
  append_text(text, ' ', planner::describe_equation(operands, count, result, w.names));
  char const* by = " by ";
  for (planner::planned_step const& s : steps)
    if (communicates(s.kind) && (steps.count > 1 || planner::name_of(s.kind) != w.operation)) {
      append_text(text, by, planner::name_of(s.kind), '<',
                  planner::detail::mesh_names(planner::detail::in_order(s.axes), w.names), '>');
      by = ", ";
    }
  return join_text(text, ", ", elements, describe_sizes(w, w.names));
}

inline call_key key_of_call(execution_context const& w, planner::spec const* operands, int count,
                            planner::spec const& result, steps_ahead steps, char const* elements) {
  call_key key;
  key.add(w).add(static_cast<void const*>(elements)).add(result);
  for (int k = 0; k < count; ++k) key.add(operands[k]);
  for (planner::planned_step const& s : steps)
    key.add(static_cast<std::uint64_t>(s.kind) << 32 | s.axes.bits);
  return key;
}

template <class = void>
void require_same_call(execution_context const& w, planner::spec const* operands, int count,
                       planner::spec const& result, steps_ahead steps, char const* elements) {
  require_agreement(
      w.group(steps.moving()), [&] { return key_of_call(w, operands, count, result, steps, elements); },
      [&] { return describe_call(w, operands, count, result, steps, elements); });
}

}  // namespace detail

/// True in check mode, where ranks on this mesh compare every call.
inline bool compares_calls(execution_context const& w) { return w.mesh->world().compares_calls(); }

/// True if ranks on this mesh compare every call, or first runs.
inline bool compares_some_calls(execution_context const& w) {
  return w.mesh->world().compared() != compared_calls::none;
}

/// Throws unless the devices that communicate in the plan's steps run the same steps on tensors of the same sizes.
/// Checks each time in check mode, otherwise the first time, unless OSTRAKA_CHECK_SPMD is 0. @throws ostraka::error, on
/// all of these devices alike
template <class T>
void require_same_call(execution_context const& w, planner::plan_view const& plan) {
  if (compares_some_calls(w))
    detail::require_same_call(w, plan.operands.begin(), plan.operands.size(), *plan.result, steps_ahead(plan.steps),
                              element_name<T>);
}

/// The same for an operation of the whole mesh on one tensor.
template <class T>
void require_same_call(execution_context const& w, planner::spec const& tensor) {
  require_agreement(
      w.mesh->world(), [&] { return detail::key_of_call(w, &tensor, 1, tensor, {}, element_name<T>); },
      [&] { return detail::describe_call(w, &tensor, 1, tensor, {}, element_name<T>); });
}

/// The same for an operation along some mesh axes on blocks that have extents of their own. `further()` describes
/// everything else that must be the same: "by +1" in `shift [I, J] over X, by +1, float, J = 4`. `add_further(key)`
/// adds it to the key. The first run of an operation in flight is not compared.
template <class T, class Further, class AddFurther>
void require_same_call(execution_context const& w, planner::spec const& block, planner::mesh_set axes,
                       Further const& further, AddFurther const& add_further) {
  if (w.is_begun && !compares_calls(w)) return;
  auto const key = [&] {
    call_key k;
    k.add(w).add(static_cast<void const*>(element_name<T>)).add(block).add(axes.bits);
    add_further(k);
    return k;
  };
  require_agreement(w.group(axes), key, [&] {
    std::string text(w.operation);
    if (w.names.labels != nullptr)
      append_text(text, ' ', planner::describe(block, w.names), " over ",
                  planner::detail::mesh_names(planner::detail::in_order(axes), w.names));
    std::string const more = further();
    return join_text(text, more.empty() ? "" : join_text(", ", more), ", ", element_name<T>,
                     w.names.labels != nullptr ? describe_sizes(w, w.names) : std::string());
  });
}

/// The same if the text of `further()` is short: the key is computed from it.
template <class T, class Further>
void require_same_call(execution_context const& w, planner::spec const& block, planner::mesh_set axes,
                       Further const& further) {
  require_same_call<T>(w, block, axes, further, [&](call_key& key) { key.add(std::string_view(further())); });
}

/// In check mode, throws unless all devices along these axes, in the numbering of the running mesh, create the same
/// random tensor with the same seed.
template <class = void>
[[gnu::cold]] void require_same_seed(execution_context const& w, planner::spec const& tensor, char const* elements,
                                     std::uint64_t seed, std::uint32_t axes_bits) {
  if (compares_calls(w))
    require_agreement(w.mesh->group(axes_bits), [&] {
      return join_text(detail::describe_call(w, &tensor, 1, tensor, {}, elements), ", seed ", seed);
    });
}

/// Throws unless all devices of the operation's mesh axes plan it for the same sizes: plans for other sizes may
/// communicate along other mesh axes, where the difference would go unnoticed.
[[gnu::cold]] inline void require_same_sizes(execution_context const& w) {
  if (compares_some_calls(w))
    require_agreement(
        w.group(planner::mesh_set::first(planner::max_mesh_axes)), [&] { return call_key().add(w).add(1u); },
        [&] { return join_text(w.operation, " planned for the actual sizes", describe_sizes(w, w.names)); });
}

/// Throws the error on this device. If the devices of the steps compare their calls, and not all of them fail, it
/// throws an error on all of them that names the devices that fail.
template <class = void>
[[noreturn, gnu::cold]] void fail_together(execution_context const& w, steps_ahead steps, std::string const& what) {
  if (compares_some_calls(w))
    require_agreement(w.group(steps.moving()),
                      [&] { return join_text(w.operation, " with operands that do not fit (", what, ')'); });
  throw error(what);
}

}  // namespace ostraka::engine
