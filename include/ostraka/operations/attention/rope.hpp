// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::rope<S, F, P>(x)`: rotary position embedding (Su et al., RoFormer, 2021). Position s along S rotates
/// the pair along P of frequency f along F by the angle s · base^(−f/F). Nothing moves: a device knows the global
/// indices of its block, so S, F and all other axes may be divided.
///
///     rope<S, F, P>    [B_X, S_Y, H, F, P]   pairs are neighbours
///                      [B_X, S_Y, H, P, F]   pairs are a half of the head's width apart: the order of axes says which
///
/// Scores of rotated queries and keys depend only on the difference of their positions if both have the same
/// frequencies: F belongs to one head, and is the same for queries and keys.

#include <cstdint>
#include <type_traits>

#include <ostraka/calls/along.hpp>
#include <ostraka/creation/generate.hpp>
#include <ostraka/elements/cast.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/engine/sequences/rotate.hpp>
#include <ostraka/operations/attention/striped.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

/// The position of the first element, behind the operands: in a program that decodes, the number of tokens so far.
struct from_position {
  std::int64_t value;
};

/// The base of os::rope's angles; 10,000 by default.
struct rope_base {
  double value;
};

namespace detail {

template <class Told, class A>
consteval auto check_pairs() {
  using P = typename told_axis<Told>::axis;
  if constexpr (P::extent != dynamic_extent && P::extent != 2)
    return found<reason::pairs_are_of_two<P, P::extent>>{};
  else if constexpr (splits_of<P, sharding_in<A>>::size > 0)
    return found<reason::pair_is_divided<P, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok` if positions meet the operand as in os::map, and leave it divided as it is.
template <class Operation, class F, class P, class A, class Positions>
consteval auto check_positions() {
  using T = typename Positions::value_type;
  using axes = axes_in<Positions>;
  using lies_otherwise = found<reason::positions_lie_otherwise<sharding_in<Positions>, sharding_in<A>>>;
  using met = meeting_verdict<Operation, Operation, reason::ok, A, Positions>;
  if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>)
    return found<reason::index_is_no_integer<T, Operation>>{};
  else if constexpr (difference_of<axes, axes_in<A>>::size > 0 || position_in<F, axes> >= 0 ||
                     position_in<P, axes> >= 0)
    return lies_otherwise{};
  else if constexpr (!std::is_same_v<met, reason::ok>)
    return found<met>{};
  else if constexpr (map_types<Operation, A, Positions>::finding.result !=
                     spec_of<A, typename map_types<Operation, A, Positions>::labels,
                             typename map_types<Operation, A, Positions>::mesh>)
    return lies_otherwise{};
  else
    return found<reason::ok>{};
}

template <class S, class F, class P, class Operation, class A, class... Positions>
consteval auto check_rope() {
  using own = first_fault<typename sharding_traits<sharding_in<A>>::verdict, blocks_verdict<sharding<>, A>,
                          told_or_bare_verdict<Operation, S, A>, told_or_bare_verdict<Operation, F, A>,
                          told_or_bare_verdict<Operation, P, A>, fractions_verdict<Operation, A>,
                          kinds_verdict<reduction::sum, A>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else
    return found<
        first_fault<typename decltype(check_pairs<P, A>())::type,
                    typename decltype(check_positions<Operation, typename told_axis<F>::axis,
                                                      typename told_axis<P>::axis, A, Positions>())::type...>>{};
}

}  // namespace detail

namespace operation {

template <class S, class F, class P>
struct rope : detail::moves_nothing {
  static constexpr char const* name = "rope";

  std::int64_t from = 0;  ///< the position of index 0; added to positions that are given
  double base = 10000;
  bool is_back = false;  ///< rotates back, by the negative angles: the transpose
  std::int64_t stripes = 0;  ///< number of devices over which S is striped

  template <class A, class... Positions>
  using verdict = typename decltype(detail::check_rope<S, F, P, rope, A, Positions...>())::type;

  template <class How, class A>
  auto run(How const& how, A const& a) const {
    if (stripes > 1) return run(how, a, positions_in(a));
    engine::aligned<std::int64_t const> const* const none = nullptr;
    return rotated(
        a, [=](auto const&, auto const& turn) { turn(none); }, a);
  }

  /// Rotates by the positions in an integer tensor.
  template <class How, class A, class Positions>
  auto run(How const& how, A const& a, Positions const& positions) const {
    if constexpr (!std::is_same_v<typename Positions::value_type, std::int64_t>) {
      return run(how, a, ostraka::cast<std::int64_t>(positions));
    } else {
      using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<Positions>>;
      auto const align = [&](engine::execution_context const& w, auto const& turn) {
        auto const at = engine::align(w, spec_of<Positions, axes_in<A>, mesh>, spec_of<A, axes_in<A>, mesh>,
                                      detail::elements_of(positions));
        turn(&at);
      };
      return rotated(a, align, a, positions);
    }
  }

 private:
  // The positions of a striped sequence, divided as the sequence is.
  template <class A>
  auto positions_in(A const& a) const {
    using axis = typename detail::told_axis<S>::axis;
    using entry = typename detail::entries_of<sharding_in<A>, type_list<axis>>::type;
    using positions = basic_tensor<std::int64_t, varying_as<entry, A>, typename A::space>;
    using mesh = mesh_axes_in<A>;
    engine::execution_context const w = detail::context_of<axes_in<A>, mesh>(name, a);
    planner::stripes const order{a.extents()[static_cast<std::size_t>(detail::dimension_of<S, A>)], stripes};
    detail::require_stripes(name, axis::name, order);
    auto const at = detail::allocate_for<positions, axes_in<A>, mesh>(w, a);
    if (order.extent > 0) detail::generate_elements(name, at, detail::striped_position(order));
    return at;
  }

  // `find` calls its argument with the positions.
  template <class A, class Find, class... Operands>
  auto rotated(A const& a, Find const& find, Operands const&... operands) const {
    using labels = axes_in<A>;
    using mesh = union_of<mesh_axes_in<Operands>...>;
    using result_type =
        basic_tensor<typename A::value_type, varying_as<sharding_in<A>, Operands...>, typename A::space>;
    engine::rotation const how{detail::dimension_of<S, A>, detail::dimension_of<F, A>, detail::dimension_of<P, A>, from,
                               base, is_back};
    engine::execution_context const w = detail::context_of<labels, mesh>(name, operands...);
    require_pairs(w.sizes.label[how.pairs]);
    auto const result = detail::allocate_for<result_type, labels, mesh>(w, operands...);
    find(w, [&](engine::aligned<std::int64_t const> const* positions) {
      engine::rotate_blocks(detail::execution_space_of<result_type>(), w, spec_of<A, labels, mesh>, how, positions,
                            detail::elements_of(a), result.local().data());
    });
    return result;
  }

  static void require_pairs(std::int64_t extent) {
    if (extent != 2)
      throw_error("rope: a pair is of two, but ", detail::told_axis<P>::axis::name, " has the extent ", extent,
                  "; os::split the width into frequencies and pairs");
  }
};

}  // namespace operation

namespace detail {

template <class S, class F, class P, class... Ms>
constexpr void set_option(operation::rope<S, F, P>&, striped_over<Ms...> const&) {}  // by set_stripes
template <class Operation>
constexpr void set_option(Operation& operation, from_position const& at) {
  operation.from = at.value;
}
template <class Operation>
  requires requires(Operation& o) { o.base; }
constexpr void set_option(Operation& operation, rope_base const& base) { operation.base = base.value; }
template <class Operation, TensorOrVariable Positions>
constexpr void set_option(Operation&, Positions const&) {}

template <class Operation, class Option>
concept option_of = requires(Operation& operation, Option const& option) {
  set_option(operation, option);
};

/// `reason::ok` if all options are options of the operation, else `Not<Option>` for the first that is not.
template <class Operation, template <class> class Not, class... Options>
consteval auto check_options() {
  using each = first_fault<std::conditional_t<option_of<Operation, Options>, reason::ok, Not<Options>>...>;
  if constexpr (!std::is_same_v<each, reason::ok>)
    return found<each>{};
  else if constexpr ((0 + ... + int{TensorOrVariable<Options>}) > 1)
    return found<reason::one_tensor_stands_behind<Operation>>{};
  else
    return found<reason::ok>{};
}

/// f(the tensor among the options), or f() if there is none.
template <class F>
constexpr auto with_tensor_among(F const& f) {
  return f();
}
template <class F, class First, class... Options>
constexpr auto with_tensor_among(F const& f, First const& first, Options const&... options) {
  if constexpr (TensorOrVariable<First>)
    return f(first);
  else
    return with_tensor_among(f, options...);
}

}  // namespace detail

/// Rotary position embedding: rotates the pair along P (of extent 2) of frequency f along F at position s along S by s
/// · 10,000^(−f/F). Behind the tensor may stand the integer tensor of positions, along any axes of it, instead of
/// global indices along S, or `os::striped<X>`; `os::from_position(t)`, which is added to them; `os::rope_base(b)`.
/// Elements of 16 bits are computed in float. Summands stay summands.
/// @throws ostraka::error, on all devices alike, if P has another extent than 2
template <auto S, auto F, auto P, TensorOrVariable A, class... Options>
[[nodiscard]] constexpr auto rope(A const& a, Options const&... options) {
  using operation_type = operation::rope<detail::type_of<S>, detail::type_of<F>, detail::type_of<P>>;
  using verdict =
      typename decltype(detail::check_options<operation_type, reason::not_an_option_of_rope, Options...>())::type;
  if constexpr (reason::ok_or_raise<verdict>()) {
    operation_type operation;
    (detail::set_option(operation, options), ...);
    (detail::set_stripes(operation, a, options), ...);
    return detail::with_tensor_among([&](auto const&... at) { return detail::operate(operation, a, at...); },
                                     options...);
  } else {
    return a;
  }
}

}  // namespace ostraka
