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

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/gradient/abstract/abstract_variable.hpp>
#include <ostraka/gradient/abstract/predicted_regions.hpp>
#include <ostraka/gradient/rules/moves/derivative_of_moves.hpp>
#include <ostraka/gradient/tape/variables_in_trees.hpp>
#include <ostraka/gradient/value_and_grad.hpp>

namespace ostraka {

namespace detail {

/// Runs a program without elements for sizes by name, and answers a question about its costs.
using priced_program = predicted_step (*)(size_table const& sizes, cost_question const& asked);

/// The answer to a question for these extents and sizes of mesh axes. A refused program costs nothing.
template <class... Given>
constexpr predicted_step ask_program(priced_program program, bool is_refused, cost_question const& asked,
                                     Given const&... given) {
  auto const table_of = []<class... Named>(ostraka::sizes<Named...> const& sizes) {
    return std::array<named_size, sizeof...(Named) + 1>{
        named_size{Named::name, sizes.template of<Named>(), MeshAxis<Named>}..., named_size{}};
  };
  auto const table = table_of(collect_sizes(given...));
  return is_refused ? predicted_step{} : program({table.data(), table.size() - 1}, asked);
}

}  // namespace detail

/// Operations in the order in which they run.
template <std::size_t N>
struct predicted_operations {
  /// The operations, and an unused one at the end.
  std::array<predicted_operation, N + 1> items{};  // one more, because there may be none
  detail::priced_program program = nullptr;        ///< prices the program of these operations
  bool is_backward = false;                        ///< true for the operations of its derivative
  bool is_refused = true;                          ///< true if the program does not compile

  /// The number of operations.
  [[nodiscard]] constexpr std::size_t size() const { return N; }
  /// The first operation.
  [[nodiscard]] constexpr predicted_operation const* begin() const { return items.data(); }
  /// Past the last operation.
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
    return costs({.total_bytes = true}, given...).total_bytes;
  }

  /// Bytes that a device moves, rounded up in each operation.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t bytes(Given const&... given) const {
    return costs({.bytes = true}, given...).bytes;
  }

  /// Multiplications and additions of products and sums on the device with the largest blocks.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t flops(Given const&... given) const {
    return costs({.flops = true}, given...).flops;
  }

 private:
  template <class... Given>
  constexpr detail::predicted_costs costs(detail::cost_question asked, Given const&... given) const {
    asked.of_backward = is_backward;
    detail::predicted_step const step = detail::ask_program(program, is_refused, asked, given...);
    return is_backward ? step.backward : step.forward;
  }
};

/// The moves of value_and_grad: the program's own operations, and those of its derivative.
template <std::size_t Forward, std::size_t Backward>
struct predicted_gradient {
  /// The program's own operations.
  predicted_operations<Forward> forward;
  /// The operations of its derivative.
  predicted_operations<Backward> backward;

  /// The number of steps of this kind, forward and backward together.
  [[nodiscard]] constexpr int count(step kind) const { return forward.count(kind) + backward.count(kind); }
  /// The number of operations, forward and backward, whose communication is not known at compile time.
  [[nodiscard]] constexpr int unpriced() const { return forward.unpriced() + backward.unpriced(); }
  /// Bytes that all devices move together, forward and backward; exact.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t total_bytes(Given const&... given) const {
    detail::predicted_step const step = ask({.total_bytes = true}, given...);
    return step.forward.total_bytes + step.backward.total_bytes;
  }
  /// Bytes that a device moves, forward and backward.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t bytes(Given const&... given) const {
    detail::predicted_step const step = ask({.bytes = true}, given...);
    return step.forward.bytes + step.backward.bytes;
  }
  /// Multiplications and additions, forward and backward.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t flops(Given const&... given) const {
    detail::predicted_step const step = ask({.flops = true}, given...);
    return step.forward.flops + step.backward.flops;
  }

  /// The most bytes in use at once, beyond parameters and data, on the device with the largest blocks: results, the
  /// tape, cotangents, and the workspace of plans; without the workspace of kernels.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t peak_memory(Given const&... given) const {
    return memory_at_end(given...).most;
  }
  /// Bytes of the loss and of the gradients.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t memory_kept(Given const&... given) const {
    return memory_at_end(given...).now;
  }
  /// The most memory that an operation's plan sets aside, in bytes.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t workspace(Given const&... given) const {
    return memory_at_end(given...).workspace;
  }

  /// Peak memory, results and workspace in one call.
  template <class... Given>
  [[nodiscard]] constexpr detail::memory_in_use memory_at_end(Given const&... given) const {
    return ask({.memory = true}, given...).at_end;
  }
  /// Bytes in use when the forward ends: the tape, and the loss.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t memory_of_tape(Given const&... given) const {
    return ask({.memory = true, .of_backward = false}, given...).tape;
  }
  /// Bytes of parameters and data.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t memory_of_operands(Given const&... given) const {
    return ask({.memory = true, .of_backward = false}, given...).operands;
  }

  /// For the library: the answer to a question about costs.
  template <class... Given>
  [[nodiscard]] constexpr detail::predicted_step ask(detail::cost_question const& asked, Given const&... given) const {
    return detail::ask_program(forward.program, forward.is_refused, asked, given...);
  }
};

namespace detail {

// A parameter, or data. The program does not hold its block.
template <class T>
constexpr abstract<T> abstract_of(forecast& written) {
  auto const extents = [&]<class... Axes>(type_list<Axes...>) {
    return typename abstract<T>::extents_type{written.template extent_of<Axes>()...};
  }(axes_in<T>{});
  abstract<T> const x(&written, extents, {});
  written.add_operand(x);
  return x;
}

template <class T>
constexpr variable<abstract<T>> abstract_variable(forecast& written, abstract_tape& t) {
  return {abstract_of<T>(written), t.push<abstract_slot<abstract<cotangent_of<T>>>>(), &t};
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

// The gradient that value_and_grad returns: a copy if other handles share its block.
template <class X>
constexpr predicted_block kept_gradient(X const& x) {
  auto const& sum = x.slot()->sum();
  if (!x.slot()->is_empty() && sum.block().is_alone()) return sum.block();
  return abstract<typename concrete<typename X::cotangent_type>::type>(x.value().written(), x.extents()).block();
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

// Runs the program forward, and then its tape backward unless the question is about the forward alone.
template <class P, class... Data, class F, class MakeShape>
constexpr void predict_gradient(forecast& written, F const& loss, MakeShape const& make_shape) {
  std::vector<predicted_block> kept;
  abstract_tape t;
  auto const p = abstract_parameters<P>(written, t, make_shape);
  abstract_node const* const leaves = t.last();
  auto const result = loss(p, abstract_of<Data>(written)...);
  written.begin_backward();
  if (!written.asked().of_backward) return;
  using type = std::remove_cvref_t<decltype(result)>;
  if constexpr (is_abstract_variable<type>) {
    typename type::cotangent_type const one(&written, result.extents());
    result.slot()->add(one);
    t.unwind_to(leaves);
  }
  keep_gradients(kept, p);
  written.end();
}

template <class MakeShape, class P>
using abstract_parameters_of = decltype(abstract_parameters<P>(
    std::declval<forecast&>(), std::declval<abstract_tape&>(), std::declval<MakeShape const&>()));

template <class F, class MakeShape, class P, class... Data>
using gradient_plan_verdict =
    loss_verdict<decltype(std::declval<F const&>()(std::declval<abstract_parameters_of<MakeShape, P> const&>(),
                                                   std::declval<abstract<Data> const&>()...)),
                 abstract_parameters_of<MakeShape, P>>;

// The numbers of operations in the forward and in all, and of mesh axes whose sizes are known from types.
struct predicted_numbers {
  std::size_t forward = 0, all = 0, mesh_axes = 0;
};

template <predicted_numbers N>
struct predicted_list {
  predicted_gradient<N.forward, N.all - N.forward> plan{};
  std::array<named_size, N.mesh_axes + 1> mesh{};

  constexpr explicit predicted_list(forecast const& written) {
    for (std::size_t i = 0; i < N.forward; ++i) plan.forward.items[i] = written.operations()[i];
    for (std::size_t i = N.forward; i < N.all; ++i) plan.backward.items[i - N.forward] = written.operations()[i];
    for (std::size_t i = 0; i < N.mesh_axes; ++i) mesh[i] = written.mesh()[i];
  }
};

template <class F, class MakeShape, class P, class... Data>
struct gradient_forecast {
  static constexpr predicted_numbers n = [] {
    forecast written;
    predict_gradient<P, Data...>(written, F{}, MakeShape{});
    return predicted_numbers{written.forward_operations(), written.operations().size(), written.mesh().size()};
  }();
  static constexpr auto listed = [] {
    forecast written;
    predict_gradient<P, Data...>(written, F{}, MakeShape{});
    return predicted_list<n>(written);
  }();

  // Runs the program for these sizes, and for the sizes of mesh axes that its types know.
  static constexpr predicted_step price(size_table const& given, cost_question const& asked) {
    std::vector<named_size> all(given.first, given.first + given.count);
    for (std::size_t i = 0; i < n.mesh_axes; ++i)
      if (given.given(listed.mesh[i].name) == size_table::missing) all.push_back(listed.mesh[i]);
    forecast written({all.data(), all.size()}, asked);
    predict_gradient<P, Data...>(written, F{}, MakeShape{});
    return written.step();
  }

  static constexpr auto plan = [] {
    auto made = listed.plan;
    made.forward.program = made.backward.program = &price;
    made.forward.is_refused = made.backward.is_refused = false;
    made.backward.is_backward = true;
    return made;
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
