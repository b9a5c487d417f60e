// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::gradient_plan<Parameters, Data…>(loss)`: the moves of os::value_and_grad(loss) for tensors and trees
/// of these types, forward and backward, as a constant expression. Nothing runs and nothing is allocated.
///
///     constexpr auto plan = os::gradient_plan<os::tensor<float, I/X, J>, os::tensor<float, B/X, I>>(
///         [](auto const& w, auto const& x) { return os::sum<>(os::einsum<B/X, J>(x, os::reshard<I, J>(w))); });
///     static_assert(plan.backward.count(os::step::reduce_scatter) == 1);
///     plan.total_bytes(B = 32, I = 784, J = 128, X = 8);

#include <ostraka/gradient/abstract/abstract_variable.hpp>
#include <ostraka/gradient/abstract/predicted_regions.hpp>
#include <ostraka/gradient/rules/moves/derivative_of_moves.hpp>
#include <ostraka/gradient/tape/variables_in_trees.hpp>
#include <ostraka/gradient/value_and_grad.hpp>

namespace ostraka {

/// Operations in the order in which they run.
template <std::size_t N, std::size_t MeshAxes = 0>
struct predicted_operations {
  /// The operations, and one more at the end, which is none.
  std::array<predicted_operation, N + 1> items{};       // one more, because there may be none
  std::array<detail::named_size, MeshAxes + 1> mesh{};  ///< mesh axes whose sizes are known from types

  /// How many operations there are.
  [[nodiscard]] constexpr std::size_t size() const { return N; }
  /// The first operation.
  [[nodiscard]] constexpr predicted_operation const* begin() const { return items.data(); }
  /// Behind the last operation.
  [[nodiscard]] constexpr predicted_operation const* end() const { return items.data() + N; }
  /// Operation number i.
  [[nodiscard]] constexpr predicted_operation const& operator[](std::size_t i) const { return items[i]; }

  /// The number of steps of this kind: `plan.backward.count(os::step::reduce_scatter)`.
  [[nodiscard]] constexpr int count(step kind) const {
    int n = 0;
    for (predicted_operation const& op : *this) n += op.is_priced() ? op.count(kind) : 0;
    return n;
  }

  /// The number of operations whose communication is not known at compile time. Bytes and counts leave them out.
  [[nodiscard]] constexpr int unpriced() const {
    int n = 0;
    for (predicted_operation const& op : *this) n += op.is_priced() ? 0 : 1;
    return n;
  }

  /// Bytes that all devices move together, for these extents and sizes of mesh axes; exact.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t total_bytes(Given const&... given) const {
    return sum_of(&predicted_operation::total_bytes, collect_sizes(given...));
  }

  /// Bytes that a device moves, rounded up in each operation.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t bytes(Given const&... given) const {
    return sum_of(&predicted_operation::bytes, collect_sizes(given...));
  }

  /// Multiplications and additions of products and sums on the device with the largest blocks.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t flops(Given const&... given) const {
    return sum_of(&predicted_operation::flops, collect_sizes(given...));
  }

 private:
  template <class Question, class Sizes>
  constexpr std::int64_t sum_of(Question question, Sizes const& given) const {
    detail::known_sizes const known(given, mesh);
    std::int64_t n = 0;
    for (predicted_operation const& op : *this)
      if (op.is_priced()) n += (op.*question)(known.table());
    return n;
  }
};

/// The moves of value_and_grad: the program's own operations, and those of its derivative.
template <std::size_t Forward, std::size_t Backward, detail::memory_numbers Memory = {}>
struct predicted_gradient {
  /// The program's own operations.
  predicted_operations<Forward, Memory.mesh_axes> forward;
  /// The operations of its derivative.
  predicted_operations<Backward, Memory.mesh_axes> backward;
  detail::predicted_memory<Memory> memory{};  ///< blocks that are allocated and freed, and what is set aside

  /// Steps of this kind, forward and backward together.
  [[nodiscard]] constexpr int count(step kind) const { return forward.count(kind) + backward.count(kind); }
  /// Operations of both whose communication is not known while compiling.
  [[nodiscard]] constexpr int unpriced() const { return forward.unpriced() + backward.unpriced(); }
  /// Bytes that all devices move together, forward and backward; exact.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t total_bytes(Given const&... given) const {
    return forward.total_bytes(given...) + backward.total_bytes(given...);
  }
  /// Bytes that a device moves, forward and backward.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t bytes(Given const&... given) const {
    return forward.bytes(given...) + backward.bytes(given...);
  }
  /// Multiplications and additions, forward and backward.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t flops(Given const&... given) const {
    return forward.flops(given...) + backward.flops(given...);
  }

  /// The most bytes in use at once, beyond parameters and data, on the device with the largest blocks: results, the
  /// tape, cotangents, and what plans set aside; not what kernels set aside for themselves.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t peak_memory(Given const&... given) const {
    return memory_at_end(given...).most;
  }
  /// Bytes of the loss and of the gradients.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t memory_kept(Given const&... given) const {
    return memory_at_end(given...).now;
  }
  /// The most that an operation's plan sets aside.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t workspace(Given const&... given) const {
    return memory_at_end(given...).workspace;
  }

  /// All three at once.
  template <class... Given>
  [[nodiscard]] constexpr detail::memory_in_use memory_at_end(Given const&... given) const {
    return memory.after(Memory.events, detail::known_sizes(collect_sizes(given...), memory.mesh).table());
  }
  /// Bytes in use when the forward ends: the tape, and the loss.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t memory_of_tape(Given const&... given) const {
    return memory.after(Memory.of_forward, detail::known_sizes(collect_sizes(given...), memory.mesh).table()).now;
  }
  /// Bytes of parameters and data.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t memory_of_operands(Given const&... given) const {
    return memory.of_operands(detail::known_sizes(collect_sizes(given...), memory.mesh).table());
  }
};

namespace detail {

template <class T>
constexpr variable<abstract<T>> abstract_variable(forecast& written, abstract_tape& t) {
  written.add_operand<T>();
  return {abstract<T>(&written, {}), t.push<abstract_slot<abstract<cotangent_of<T>>>>(), &t};
}

struct make_abstract_leaf {
  forecast* written;
  abstract_tape* t;
  template <class T, class Sharding>
  constexpr auto operator()(path const&, leaf_name<T, Sharding> const&) const {
    return abstract_variable<values::leaf<T, Sharding>>(*written, *t);
  }
};

template <class P, class MakeShape>
constexpr auto abstract_parameters(forecast& written, abstract_tape& t, MakeShape const& make_shape) {
  if constexpr (Tensor<P>) {
    return abstract_variable<P>(written, t);
  } else {
    make_abstract_leaf make{&written, &t};
    return make_node<shape_of<P>, tree_with<P, abstract_variables>>(make, path{}, make_shape());
  }
}

template <class T>
constexpr auto abstract_of(forecast& written) {
  written.add_operand<T>();
  return abstract<T>(&written, {});
}

// The gradient that value_and_grad returns. It is a copy if something else holds it, too.
template <class X>
constexpr predicted_block kept_gradient(X const& x) {
  auto const& sum = x.slot()->sum();
  if (!x.slot()->is_empty() && sum.block().is_alone()) return sum.block();
  return abstract<typename concrete<typename X::cotangent_type>::type>(x.value().written()).block();
}

template <class P>
constexpr void keep_gradients(std::vector<predicted_block>& kept, P const& p) {
  if constexpr (is_abstract_variable<P>) {
    kept.push_back(kept_gradient(p));
  } else {
    auto each = [&](path const&, auto const& leaf) { kept.push_back(kept_gradient(leaf)); };
    visit<shape_of<P>>(each, path{}, p);
  }
}

template <class P>
struct default_shape {
  constexpr auto operator()() const {
    if constexpr (Tensor<P>)
      return 0;
    else
      return tree_with<P, names>{};
  }
};

// The position at which the second pass begins, among operations and memory events, and the number of all events.
struct predicted_passes {
  std::size_t operations = 0, events = 0, all_events = 0;
};

// Runs the program forward, and its tape back.
template <class P, class... Data, class F, class MakeShape>
constexpr predicted_passes predict_gradient(forecast& written, F const& loss, MakeShape const& make_shape) {
  std::vector<predicted_block> kept;
  abstract_tape t;
  auto const p = abstract_parameters<P>(written, t, make_shape);
  abstract_node const* const leaves = t.last();
  auto const result = loss(p, abstract_of<Data>(written)...);
  predicted_passes passes{written.operations().size(), written.events().size(), 0};
  using type = std::remove_cvref_t<decltype(result)>;
  if constexpr (is_abstract_variable<type>) {
    typename type::cotangent_type const one(&written);
    result.slot()->add(one);
    t.unwind_to(leaves);
  }
  keep_gradients(kept, p);
  passes.all_events = written.events().size();
  return passes;
}

template <class MakeShape, class P>
using abstract_parameters_of = decltype(abstract_parameters<P>(
    std::declval<forecast&>(), std::declval<abstract_tape&>(), std::declval<MakeShape const&>()));

template <class F, class MakeShape, class P, class... Data>
using gradient_plan_verdict =
    loss_verdict<decltype(std::declval<F const&>()(std::declval<abstract_parameters_of<MakeShape, P> const&>(),
                                                   std::declval<abstract<Data> const&>()...)),
                 abstract_parameters_of<MakeShape, P>>;

template <class F, class MakeShape, class P, class... Data>
struct gradient_forecast {
  struct numbers {
    std::size_t forward, all;
    memory_numbers memory;
  };
  static constexpr numbers n = [] {
    forecast written;
    predicted_passes const p = predict_gradient<P, Data...>(written, F{}, MakeShape{});
    return numbers{p.operations, written.operations().size(),
                   memory_numbers{p.all_events, p.events, static_cast<std::size_t>(written.blocks()),
                                  written.operands().size(), written.mesh().size()}};
  }();
  static constexpr auto plan = [] {
    forecast written;
    predict_gradient<P, Data...>(written, F{}, MakeShape{});
    predicted_gradient<n.forward, n.all - n.forward, n.memory> result;
    for (std::size_t i = 0; i < n.forward; ++i) result.forward.items[i] = written.operations()[i];
    for (std::size_t i = n.forward; i < n.all; ++i) result.backward.items[i - n.forward] = written.operations()[i];
    result.memory = predicted_memory<n.memory>(written);
    result.forward.mesh = result.backward.mesh = result.memory.mesh;
    return result;
  }();
};

}  // namespace detail

/// The moves of os::value_and_grad(loss)(parameters, data…) for arguments of these types. `loss` captures nothing. If
/// the parameters are a tree with vectors, `shape` makes it with names in its leaves and with vectors of their lengths.
template <class Parameters, class... Data, class F, class MakeShape = detail::default_shape<Parameters>>
[[nodiscard]] constexpr auto gradient_plan(F, MakeShape = {}) {
  if constexpr (!std::is_empty_v<F> || !std::is_empty_v<MakeShape>) {
    reason::raise<reason::gradient_plan_of_captures<std::conditional_t<std::is_empty_v<F>, MakeShape, F>>>();
    return predicted_gradient<0, 0>{};
  } else if constexpr (reason::ok_or_raise<detail::gradient_plan_verdict<F, MakeShape, Parameters, Data...>>()) {
    return detail::gradient_forecast<F, MakeShape, Parameters, Data...>::plan;
  } else {
    return predicted_gradient<0, 0>{};
  }
}

}  // namespace ostraka
