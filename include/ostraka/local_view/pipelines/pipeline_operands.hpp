// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The parameters of os::pipeline are tensors, trees of them (tree/in_pipelines.hpp), and tuples of both. For
/// each of these, this file provides what os::pipeline needs: its leaves' types, the result of a function on the
/// leaves, and the part that belongs to one layer.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/local_view/collectives/group.hpp>
#include <ostraka/local_view/shard_map.hpp>

namespace ostraka::detail {

/// A tensor, or a stand-in for one, is its own only leaf.
template <class W>
struct pipeline_operand {
  static constexpr bool is_one = TensorOrVariable<W>;
  using leaves = type_list<W>;

  /// f of each leaf, in an object of the same shape.
  template <class F>
  static auto map(F const& f, W const& w) {
    return f(w);
  }
  /// Calls f with each leaf and those at the same places of others.
  template <class F, class... Others>
  static void visit(F const& f, W const& w, Others const&... others) {
    f(w, others...);
  }
};

template <class F, class W>
auto map_operand(F const& f, W const& w) {
  return pipeline_operand<W>::map(f, w);
}
template <class F, class W, class... Others>
void visit_operand(F const& f, W const& w, Others const&... others) {
  pipeline_operand<W>::visit(f, w, others...);
}

/// Several operands.
template <class... Ws>
struct pipeline_operand<std::tuple<Ws...>> {
  static constexpr bool is_one = (pipeline_operand<Ws>::is_one && ...);
  using leaves = concatenation_of<typename pipeline_operand<Ws>::leaves...>;

  template <class F>
  static auto map(F const& f, std::tuple<Ws...> const& ws) {
    return std::apply([&](Ws const&... each) { return std::tuple(map_operand(f, each)...); }, ws);
  }
  template <class F, class... Others>
  static void visit(F const& f, std::tuple<Ws...> const& ws, Others const&... others) {
    [&]<std::size_t... Is>(std::index_sequence<Is...>) {
      (visit_each<Is>(f, ws, others...), ...);
    }(std::index_sequence_for<Ws...>{});
  }

 private:
  template <std::size_t I, class F, class... All>
  static void visit_each(F const& f, All const&... all) {
    visit_operand(f, std::get<I>(all)...);
  }
};

template <class... Ws>
using leaves_of_operands = concatenation_of<typename pipeline_operand<Ws>::leaves...>;

template <class Leaves>
struct interpreter_of_leaves;
template <class... Leaves>
struct interpreter_of_leaves<type_list<Leaves...>> : common_interpreter<runs, Leaves...> {};

/// detail::operate for operations on such operands: the interpreters of their leaves decide how it runs.
template <class Operation, class... Given>
auto operate_on_leaves(Operation const& operation, Given const&... given) {
  return interpreter_of_leaves<leaves_of_operands<Given...>>::type::operate(at_once{}, operation, given...);
}

/// The base of the leaf policy of a tree that was made from one with the policy `Inner`. If `Inner` has variables, so
/// has the new tree; its policy of plain tensors is made from that of `Inner` in the same way.
template <class Inner, template <class> class Leaves>
struct derivatives_as {};
template <class Inner, template <class> class Leaves>
  requires requires { Inner::derivatives; }
struct derivatives_as<Inner, Leaves> {
  using inner = Leaves<typename Inner::inner>;
  static constexpr int derivatives = Inner::derivatives;
};

/// Indices [begin, begin + size) of axis I of a block, in place; the block has to outlive them. `size` is the same on
/// all devices. If I is divided, each device takes that part of its own indices. @pre axes before I have extent 1
template <class I, class B>
B part_of_leading_axis(B const& b, std::int64_t begin, std::int64_t size) {
  constexpr auto place = static_cast<std::size_t>(position_in<I, axes_in<B>>);
  auto extents = b.extents();
  std::int64_t const whole = extents[place];
  auto const own = static_cast<std::int64_t>(b.local().extent(place));
  extents[place] = size;
  std::array<std::size_t, static_cast<std::size_t>(B::rank)> local{};
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < local.size(); ++i) local[i] = b.local().extent(i);
  local[place] = static_cast<std::size_t>(whole == 0 ? 0 : own * size / whole);
  for (std::size_t i = place + 1; i < local.size(); ++i) stride *= static_cast<std::int64_t>(local[i]);
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    B part(b.mesh_handle(), extents,
           typename B::view_type(b.local().data() + (whole == 0 ? 0 : own * begin / whole) * stride, local[Is]...));
    if constexpr (varying_in<B>::size > 0) {
      auto origins = b.origins();
      origins[place] = {};
      part.set_origins(origins);
    }
    return part;
  }(std::make_index_sequence<static_cast<std::size_t>(B::rank)>{});
}

/// The parameters of one repeat, or of one layer. Parameters that are not stacked belong to every layer.
template <class Axes>
struct part_of_repeat {
  int repeat;
  template <class W>
  W operator()(W const& w) const {
    if constexpr (position_in<typename Axes::repeats, axes_in<W>> >= 0)
      return part_of_leading_axis<typename Axes::repeats>(w, repeat, 1);
    else
      return w;
  }
};
template <class Axes>
struct part_of_layer {
  int repeat;
  std::int64_t layer;
  template <class W>
  W operator()(W const& w) const {
    if constexpr (position_in<typename Axes::layers, axes_in<W>> >= 0)
      return part_of_leading_axis<typename Axes::layers>(part_of_repeat<Axes>{repeat}(w), layer, 1);
    else
      return part_of_repeat<Axes>{repeat}(w);
  }
};

/// The extent of an axis that stages share among the leaves, with its origin.
template <class Axis>
struct extent_of_leaves {
  own_extent* extent;
  template <class W>
  void operator()(W const& w) const {
    if constexpr (position_in<Axis, axes_in<W>> >= 0)
      *extent = {w.extents()[static_cast<std::size_t>(position_in<Axis, axes_in<W>>)], origin_in<Axis>(w)};
  }
};

template <class Axis, class... Ws>
own_extent extent_among(Ws const&... ws) {
  own_extent extent{0, {}};
  (visit_operand(extent_of_leaves<Axis>{&extent}, ws), ...);
  return extent;
}

}  // namespace ostraka::detail
