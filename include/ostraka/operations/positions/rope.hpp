// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::rope<S, F, P>(x)`: rotary position embedding (Su et al., RoFormer, 2021). Position s along S rotates
/// the pair along P of frequency f along F by the angle s · base^(−f/F), or s · θ_f from a tensor of frequencies.
/// Nothing moves: a device knows the global indices of its block, so S, F and all other axes may be divided.
///
///     rope<S, F, P>    [B_X, S_Y, H, F, P]   pairs are neighbours
///                      [B_X, S_Y, H, P, F]   pairs are half of the head's width apart: the order of axes says which
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
#include <ostraka/operations/positions/rope_scaling.hpp>
#include <ostraka/operations/positions/striped.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

/// An option: the position of the first element. A decoding program passes the number of tokens so far.
struct from_position {
  std::int64_t value;
};

/// An option of os::rope: the base of the angles; 10,000 by default.
struct rope_base {
  double value;
};

namespace detail {

template <class Dim, class A>
consteval auto check_pairs() {
  using P = typename axis_argument<Dim>::axis;
  if constexpr (P::extent != dynamic_extent && P::extent != 2)
    return found<reason::pair_extent_is_not_two<P, P::extent>>{};
  else if constexpr (splits_of<P, sharding_in<A>>::size > 0)
    return found<reason::pair_is_divided<P, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok` if positions match the operand as in os::map, and do not change its sharding.
template <class Operation, class F, class P, class A, class Positions>
consteval auto check_positions() {
  using T = typename Positions::value_type;
  using axes = axes_in<Positions>;
  using mismatch = found<reason::positions_sharding_mismatch<sharding_in<Positions>, sharding_in<A>>>;
  using met = meeting_verdict<Operation, Operation, reason::ok, A, Positions>;
  if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>)
    return found<reason::index_is_not_an_integer<T, Operation>>{};
  else if constexpr (difference_of<axes, axes_in<A>>::size > 0 || position_in<F, axes> >= 0 ||
                     position_in<P, axes> >= 0)
    return mismatch{};
  else if constexpr (!std::is_same_v<met, reason::ok>)
    return found<met>{};
  else if constexpr (map_types<Operation, A, Positions>::finding.result !=
                     spec_of<A, typename map_types<Operation, A, Positions>::labels,
                             typename map_types<Operation, A, Positions>::mesh>)
    return mismatch{};
  else
    return found<reason::ok>{};
}

// Frequencies must have the axis F alone, and match the operand as positions do.
template <class Operation, class F, class A, class Frequencies>
consteval auto check_frequencies() {
  using mismatch = found<reason::frequencies_sharding_mismatch<sharding_in<Frequencies>, sharding_in<A>>>;
  using met = meeting_verdict<Operation, Operation, reason::ok, A, Frequencies>;
  if constexpr (!std::is_same_v<axes_in<Frequencies>, type_list<F>>)
    return mismatch{};
  else if constexpr (!std::is_same_v<met, reason::ok>)
    return found<met>{};
  else if constexpr (map_types<Operation, A, Frequencies>::finding.result !=
                     spec_of<A, typename map_types<Operation, A, Frequencies>::labels,
                             typename map_types<Operation, A, Frequencies>::mesh>)
    return mismatch{};
  else
    return found<reason::ok>{};
}

/// True for a tensor of floating-point numbers, which holds frequencies. A tensor of other elements holds positions.
template <class T>
inline constexpr bool are_frequencies =
    std::is_floating_point_v<typename T::value_type> || is_narrow<typename T::value_type>;

template <class Operation, class F, class P, class A, class Given>
consteval auto check_given_of_rope() {
  if constexpr (are_frequencies<Given>)
    return check_frequencies<Operation, F, A, Given>();
  else
    return check_positions<Operation, F, P, A, Given>();
}

template <class S, class F, class P, class Operation, class A, class... Given>
consteval auto check_rope() {
  using own = first_fault<typename sharding_traits<sharding_in<A>>::verdict, blocks_verdict<sharding<>, A>,
                          bare_axis_verdict<Operation, S, A>, bare_axis_verdict<Operation, F, A>,
                          bare_axis_verdict<Operation, P, A>, fractions_verdict<Operation, A>,
                          kinds_verdict<reduction::sum, A>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else
    return found<
        first_fault<typename decltype(check_pairs<P, A>())::type,
                    typename decltype(check_given_of_rope<Operation, typename axis_argument<F>::axis,
                                                          typename axis_argument<P>::axis, A, Given>())::type...>>{};
}

}  // namespace detail

namespace operation {

template <class S, class F, class P>
struct rope : detail::moves_nothing {
  static constexpr char const* name = "rope";

  std::int64_t from = 0;  ///< the position of index 0; added to given positions
  double base = 10000;
  bool is_back = false;      ///< rotates by the negative angles: the transpose
  std::int64_t stripes = 0;  ///< number of devices over which S is striped
  rope_scaling scaling{};

  template <class A, class... Given>
  using verdict = typename decltype(detail::check_rope<S, F, P, rope, A, Given...>())::type;

  /// `Given`: positions, frequencies, or both.
  template <class How, class A, class... Given>
  auto run(How const& how, A const& a, Given const&... given) const {
    if constexpr ((!std::is_same_v<typename Given::value_type, value_for<Given>> || ...)) {
      return run(how, a, converted(given)...);
    } else {
      if constexpr ((detail::are_frequencies<Given> && ...))
        if (stripes > 1) return rotated(a, given..., positions_in(a));
      return rotated(a, given...);
    }
  }

 private:
  // The positions of a striped sequence, with the sequence's sharding.
  template <class A>
  auto positions_in(A const& a) const {
    using axis = typename detail::axis_argument<S>::axis;
    using entry = typename detail::entries_of<sharding_in<A>, type_list<axis>>::type;
    using positions = basic_tensor<std::int64_t, varying_as<entry, A>, typename A::space>;
    using mesh = mesh_axes_in<A>;
    engine::execution_context const w = detail::context_of<axes_in<A>, mesh>(name, a);
    planner::stripes const order{a.extents()[static_cast<std::size_t>(detail::dimension_of<S, A>)], stripes};
    detail::require_stripes(name, axis::name, order);
    auto const at = detail::allocate_for<positions, axes_in<A>, mesh>(w, a);
    if (order.extent > 0) detail::generate_elements(name, at, engine::position_at(order));
    return at;
  }

  template <class T>
  using value_for = std::conditional_t<detail::are_frequencies<T>, double, std::int64_t>;
  template <class T>
  static auto converted(T const& given) {
    if constexpr (std::is_same_v<typename T::value_type, value_for<T>>)
      return given;
    else
      return ostraka::cast<value_for<T>>(given);
  }

  template <class A, class... Given>
  auto rotated(A const& a, Given const&... given) const {
    using labels = axes_in<A>;
    using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<Given>...>;
    using result_type =
        basic_tensor<typename A::value_type, varying_as<sharding_in<A>, A, Given...>, typename A::space>;
    static constexpr planner::spec s = spec_of<A, labels, mesh>;
    engine::rotation how{
        detail::dimension_of<S, A>, detail::dimension_of<F, A>, detail::dimension_of<P, A>, from, base, is_back};
    engine::execution_context const w = detail::context_of<labels, mesh>(name, a, given...);
    require_pairs(w.sizes.label[how.pairs]);
    auto const scaled = detail::frequencies_of(scaling, base, w.sizes.label[how.frequencies]);
    how.base = scaled.base;
    how.scaling = scaled.scaling;
    how.magnitude = scaled.magnitude;
    auto const result = detail::allocate_for<result_type, labels, mesh>(w, a, given...);
    engine::aligned<std::int64_t const> positions{};
    engine::aligned<std::int64_t const> const* at = nullptr;
    [[maybe_unused]] auto const meet = [&]<class T>(T const& t) {
      auto const met = engine::align(w, spec_of<T, labels, mesh>, s, detail::elements_of(t));
      if constexpr (detail::are_frequencies<T>)
        how.given = met.data, how.given_step = met.stride[how.frequencies];
      else
        positions = met, at = &positions;
    };
    (meet(given), ...);
    engine::rotate_blocks(detail::execution_space_of<result_type>(), w, s, how, at, detail::elements_of(a),
                          result.local().data());
    return result;
  }

  static void require_pairs(std::int64_t extent) {
    if (extent != 2)
      throw_error("rope: the axis of a pair has the extent 2, but ", detail::axis_argument<P>::axis::name,
                  " has the extent ", extent, "; os::split the width into frequencies and pairs");
  }
};

}  // namespace operation

namespace detail {

template <class S, class F, class P, class... Ms>
constexpr void set_option(operation::rope<S, F, P>&, striped_over<Ms...> const&) {}  // set_stripes sets it
template <class Operation>
constexpr void set_option(Operation& operation, from_position const& at) {
  operation.from = at.value;
}
template <class Operation>
  requires requires(Operation& o) { o.base; }
constexpr void set_option(Operation& operation, rope_base const& base) { operation.base = base.value; }
template <class Operation>
  requires requires(Operation& o) { o.base; }
constexpr void set_option(Operation& operation, rope_scaling const& scaling) { operation.scaling = scaling; }
template <class Operation, TensorOrVariable Positions>
constexpr void set_option(Operation&, Positions const&) {}

template <class Operation, class Option>
concept option_of = requires(Operation& operation, Option const& option) {
  set_option(operation, option);
};

/// `reason::ok` if all options are options of the operation, else `Not<Option>` for the first other one.
template <class Operation, template <class> class Not, class... Options>
consteval auto check_options() {
  using each = first_fault<std::conditional_t<option_of<Operation, Options>, reason::ok, Not<Options>>...>;
  if constexpr (!std::is_same_v<each, reason::ok>)
    return found<each>{};
  else if constexpr ((0 + ... + int{TensorOrVariable<Options>}) > 1)
    return found<reason::extra_tensor_after_operands<Operation>>{};
  else
    return found<reason::ok>{};
}

template <class Option>
consteval bool is_frequencies_option() {
  if constexpr (TensorOrVariable<Option>)
    return are_frequencies<Option>;
  else
    return false;
}

/// The verdict on the options of os::rope, including tensors of positions and frequencies.
template <class Operation, class... Options>
consteval auto check_rope_options() {
  using each = first_fault<
      std::conditional_t<option_of<Operation, Options>, reason::ok, reason::not_an_option_of_rope<Options>>...>;
  constexpr int frequencies = (0 + ... + int{is_frequencies_option<Options>()});
  constexpr int formulas = (0 + ... + int{std::is_same_v<Options, rope_base> || std::is_same_v<Options, rope_scaling>});
  if constexpr (!std::is_same_v<each, reason::ok>)
    return found<each>{};
  else if constexpr (frequencies > 1 || (0 + ... + int{TensorOrVariable<Options>}) - frequencies > 1)
    return found<reason::extra_tensor_after_operands<Operation>>{};
  else if constexpr (frequencies > 0 && formulas > 0)
    return found<reason::frequencies_are_given_twice<Operation>>{};
  else
    return found<reason::ok>{};
}

/// Calls f(the tensors among the options).
template <class F>
constexpr auto with_tensors_among(F const& f) {
  return f();
}
template <class F, class First, class... Options>
constexpr auto with_tensors_among(F const& f, First const& first, Options const&... options) {
  if constexpr (TensorOrVariable<First>)
    return with_tensors_among([&](auto const&... more) { return f(first, more...); }, options...);
  else
    return with_tensors_among(f, options...);
}

}  // namespace detail

/// Rotary position embedding: rotates the pair along P (of extent 2) of frequency f along F at position s along S by
/// the angle s · 10,000^(−f/F). Options follow the tensor. An integer tensor of positions, along any of its axes, or
/// `os::striped<X>` replaces the global indices along S; `os::from_position(t)` is added to them. `os::rope_base(b)`
/// sets the base, and `os::rope_scaling{…}` is for models with a longer context. Instead of these two, pass a
/// floating-point tensor of frequencies θ along F: the angle is s · θ_f. 16-bit elements are computed in float. A
/// partial sum stays one. Nothing moves.
/// @throws ostraka::error, on all devices alike, if the extent of P is not 2, or a scaling has no frequencies
template <auto S, auto F, auto P, TensorOrVariable A, class... Options>
[[nodiscard]] constexpr auto rope(A const& a, Options const&... options) {
  using operation_type = operation::rope<detail::type_of<S>, detail::type_of<F>, detail::type_of<P>>;
  using verdict = typename decltype(detail::check_rope_options<operation_type, Options...>())::type;
  if constexpr (reason::ok_or_raise<verdict>()) {
    operation_type operation;
    (detail::set_option(operation, options), ...);
    (detail::set_stripes(operation, a, options), ...);
    return detail::with_tensors_among([&](auto const&... at) { return detail::operate(operation, a, at...); },
                                      options...);
  } else {
    return a;
  }
}

}  // namespace ostraka
