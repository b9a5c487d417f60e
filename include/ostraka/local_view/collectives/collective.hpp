// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Collectives on blocks, in the body of os::shard_map. A block is lifted: float[I, J] {V_X} becomes the
/// tensor of which it is a block, with a summand {U_X} or a part I_X; the verb of the global view moves that tensor;
/// and the result becomes a block again. So a collective is defined by its effect on the mesh axes along which its
/// operand varies:
///
///     collective            the block [I, J] {V_X} as     moved by          the result
///     psum<X>               [I, J] {U_X}                  all_reduce        [I, J]
///     all_gather<I/X>       [I_X, J]                      all_gather        [I, J]
///     all_gather<N/X>       [N_X, I, J]                   all_gather        [N, I, J]
///     psum_scatter<I/X>     [I, J] {U_X}                  reduce_scatter    [I, J] {V_X}
///     all_to_all<I/X, J/X>  [I_X, J]                      all_to_all        [I, J] {V_X}

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/local_view/extents_at_doors.hpp>
#include <ostraka/local_view/moves_of_blocks.hpp>
#include <ostraka/moves/one_move.hpp>
#include <ostraka/moves/pending.hpp>
#include <ostraka/plan/typed/inside.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

/// Option of a collective, after the block: the named axis is not concatenated or divided. It has one index for each
/// device, and is dropped (os::psum_scatter<N/X>) or added. JAX's tiled=False.
struct untiled_axis {};
inline constexpr untiled_axis untiled{};

namespace detail {

// The move of the lifted block `Lifted`, over `Ms`. `Divided` is the axis that they divide afterwards, void for none.
template <step Kind, class Lifted, class Divided, class... Ms>
struct lifted_move : one_move<Kind, Lifted, Divided, Ms...> {
  using base = one_move<Kind, Lifted, Divided, Ms...>;
  using axes_moved = type_list<Ms...>;
  /// The sharding of the result in the body, with all axes.
  using inside =
      varying_as<inside_of<sharding_from<base::to, typename base::labels, typename base::mesh>, axes_moved>, Lifted>;
};

[[noreturn, gnu::cold]] inline void throw_untiled(std::string_view operation, std::string_view axis,
                                                  std::int64_t extent, std::int64_t devices) {
  throw_error(operation, ": os::untiled needs one index for each of the ", devices, " devices, but ", axis, " = ",
              extent, "; leave out os::untiled, or give the axis the extent ", devices);
}

/// A lifted move in numbers, so that the functions below are compiled once for all shardings.
struct lift {
  std::string_view const* labels;  ///< their names
  std::string_view const* mesh_axes;
  int mesh_axis_count;
  planner::spec from, to;         ///< of the tensor of which the block is a block; label i is dimension i
  planner::mesh_set moved;
  int of_block[max_rank + 1]{};   ///< by label: the dimension of the block, −1 if the block lacks it
  int of_result[max_rank + 1]{};  ///< by dimension of the result: its label
  int dropped = -1;               ///< the label that has one index for each device, and is dropped
};

template <class Move, class A, class Dropped, class... Ls, class... Rs>
consteval lift make_lift(type_list<Ls...>, type_list<Rs...>) {
  return {names_of<typename Move::labels>.data(),
          names_of<typename Move::mesh>.data(),
          Move::mesh::size,
          Move::from,
          Move::to,
          Move::moved,
          {position_in<Ls, axes_in<A>>...},
          {position_in<Rs, typename Move::labels>...},
          position_in<Dropped, typename Move::labels>};
}
template <class Move, class A, class R, class Dropped>
inline constexpr lift lift_of = make_lift<Move, A, Dropped>(typename Move::labels{}, axes_in<R>{});

/// The context of the move of a lifted block: extents of the tensor of which it is a block, and of the resulting block.
struct lifted_context {
  engine::execution_context w;
  std::int64_t own[max_rank + 1]{};
  extent_origin origins[max_rank + 1]{};
};

// `extents` and `origins` are the block's. Each device adds one index of a label that the block lacks.
inline void lift_extents(char const* operation, lift const& l, engine::device_mesh const& mesh,
                         std::int64_t const* extents, extent_origin const* origins, lifted_context& lifted) {
  engine::execution_context& w = lifted.w;
  w = engine::make_context(mesh, l.mesh_axes, l.mesh_axis_count, operation);
  w.names.labels = l.labels;
  w.sizes.labels = l.from.rank;
  std::int64_t own[max_rank + 1]{};
  for (int i = 0; i < l.from.rank; ++i) {
    int const d = l.of_block[i];
    own[i] = d < 0 ? 1 : extents[d];
    lifted.origins[i] = d < 0 ? extent_origin{} : origins[d];
  }
  leave_extents_of_block(w, l.from, l.moved, own, lifted.origins, w.sizes.label);
  enter_extents_of_block(w, l.to, l.moved, w.sizes.label, lifted.own, lifted.origins);
  if (l.dropped >= 0 && w.sizes.label[l.dropped] != w.sizes.ways(l.moved))
    throw_untiled(operation, l.labels[l.dropped], w.sizes.label[l.dropped], w.sizes.ways(l.moved));
}

// The result, uninitialised.
template <class T, int Rank, class Space>
unnamed_block<T, Rank, Space> allocate_lifted(std::shared_ptr<engine::device_mesh const> const& mesh, lift const& l,
                                              lifted_context const& lifted) {
  using view = typename unnamed_block<T, Rank, Space>::view_type;
  constexpr auto rank = static_cast<std::size_t>(Rank);
  std::array<std::int64_t, rank> extents{};
  extent_origins<Rank> origins{};
  std::int64_t local[max_rank + 1]{};
  for (std::size_t i = 0; i < rank; ++i) {
    int const label = l.of_result[i];
    extents[i] = lifted.own[label];
    origins[i] = lifted.origins[label];
    local[i] = planner::range_of(l.to, label, lifted.w.here, lifted.w.sizes).size();
  }
  unnamed_block<T, Rank, Space> result(mesh, extents, make_view<view>(local, std::make_index_sequence<rank>{}));
  result.set_origins(origins);
  return result;
}

// The functions that the run of a lifted move needs.
template <class Move, class A>
engine::run_functions<execution_space_type<A>, typename A::value_type> const& functions_of_moves() {
  static constexpr planner::spec from = Move::from, to = Move::to;
  constexpr unsigned kinds = planner::kinds_of(planner::plan_view(from, to, Move::steps));
  return engine::functions_of_kinds<kinds, execution_space_type<A>, typename A::value_type>();
}

// Moves a block as the tensor to which it is lifted, now or later as `When` says. `Dropped` is the untiled axis that
// the result drops, or void.
template <class Move, class Dropped, class When, class A>
auto run_lifted(char const* operation, A const& a) {
  using value = typename A::value_type;
  using result_type =
      basic_tensor<value, without_axis<typename Move::inside, Dropped>, typename A::space>;
  static constexpr lift const& l = lift_of<Move, A, result_type, Dropped>;
  lifted_context lifted;
  lift_extents(operation, l, *common_mesh(operation, a), a.extents().data(), a.origins().data(), lifted);
  result_type const result(allocate_lifted<value, result_type::rank, typename A::space>(a.mesh_handle(), l, lifted));
  static thread_local constinit engine::schedule_memory* memory = nullptr;
  value const* const block = elements_of(a);
  return When::run(result, std::tuple(a.local()), execution_space_of<A>(), lifted.w,
                   planner::plan_view(l.from, l.to, Move::steps), &block, result.local().data(),
                   engine::update<value>(), engine::per_thread(memory), functions_of_moves<Move, A>());
}

// ---- verdicts -------------------------------------------------------------------------------------------------------

template <class A, class... Ms>
using axes_not_varying = difference_of<type_list<Ms...>, varying_in<A>>;

// The mesh axes among `Ms` that divide a tensor, or over which it is partial. Such a tensor is not a block.
template <class A, class... Ms>
using axes_of_a_tensor = common_of<axes_not_varying<A, Ms...>, mesh_axes_in<A>>;

template <class A, class... Ms>
using outside_reason =
    reason::collective_outside_of_a_body<typename type_at<axes_of_a_tensor<A, Ms...>, 0>::type, sharding_in<A>>;

// A block that is also partial over other mesh axes is only combined by the reduction that combines its parts: a
// maximum of sums is not the sum of the maxima.
template <class Culprit, reduction How, class A>
consteval auto check_parts_kept() {
  using parts = typename sharding_traits<sharding_in<A>>::partial_entries;
  if constexpr (parts::size == 0) {
    return found<reason::ok>{};
  } else {
    using part = typename type_at<parts, 0>::type;
    if constexpr (part::kind == How)
      return found<reason::ok>{};
    else
      return found<
          reason::partial_in_nonlinear_operation<typename type_at<typename part::mesh_axes, 0>::type, Culprit>>{};
  }
}
template <class Culprit, reduction How, class A>
using parts_kept_verdict = typename decltype(check_parts_kept<Culprit, How, A>())::type;

template <class Culprit, reduction How, class A, class... Ms>
consteval auto check_block_reduction() {
  if constexpr (axes_of_a_tensor<A, Ms...>::size > 0)
    return found<outside_reason<A, Ms...>>{};
  else if constexpr (axes_not_varying<A, Ms...>::size > 0)
    return found<
        reason::reduction_of_invariant_block<typename type_at<axes_not_varying<A, Ms...>, 0>::type, sharding_in<A>>>{};
  else
    return found<first_fault<reducible_verdict<typename A::value_type, How, Culprit>,
                             parts_kept_verdict<Culprit, How, A>>>{};
}

template <class A, class... Ms>
consteval auto check_varies() {
  if constexpr (axes_of_a_tensor<A, Ms...>::size > 0)
    return found<outside_reason<A, Ms...>>{};
  else if constexpr (axes_not_varying<A, Ms...>::size > 0)
    return found<
        reason::collective_over_unknown_axis<typename type_at<axes_not_varying<A, Ms...>, 0>::type, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok` if the block varies along all of these mesh axes.
template <class A, class... Ms>
using varies_verdict = typename decltype(check_varies<A, Ms...>())::type;

template <class A, class I>
consteval auto check_has_axis() {
  if constexpr (position_in<I, axes_in<A>> < 0)
    return found<reason::axis_missing<I, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}
template <class A, class I>
using has_axis_verdict = typename decltype(check_has_axis<A, I>())::type;

// `reason::ok` if the axis is whole on this device, except for the mesh axes along which the block varies.
template <class A, class I>
consteval auto check_not_divided() {
  if constexpr (position_in<I, axes_in<A>> < 0)
    return found<reason::axis_missing<I, sharding_in<A>>>{};
  else if constexpr (!std::is_same_v<typename divisor_of<I, sharding_in<A>>::type, I>)
    return found<reason::split_axis_is_divided<I, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}
template <class A, class I>
using not_divided_verdict = typename decltype(check_not_divided<A, I>())::type;

template <class A, class I>
consteval auto check_new_axis() {
  if constexpr (position_in<I, axes_in<A>> >= 0)
    return found<reason::untiled_axis_already_exists<I, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}
template <class A, class I>
using new_axis_verdict = typename decltype(check_new_axis<A, I>())::type;

// `reason::ok` if a static extent has as many indices as there are devices. Other mesh axes may have divided the axis.
template <class I, class... Ms>
consteval auto check_untiled_extent() {
  if constexpr (I::extent == dynamic_extent || ((Ms::extent == dynamic_extent) || ...))
    return found<reason::ok>{};
  else if constexpr (constexpr std::int64_t devices = (std::int64_t{1} * ... * Ms::extent); I::extent % devices != 0)
    return found<reason::untiled_extent_is_not_the_axis_size<I, I::extent, devices>>{};
  else
    return found<reason::ok>{};
}
template <class I, class... Ms>
using untiled_extent_verdict = typename decltype(check_untiled_extent<I, Ms...>())::type;

// ---- lifts ----------------------------------------------------------------------------------------------------------

// [I, J] {V_X} as [I, J] {U_X}.
template <class A, reduction How, class... Ms>
struct lifted_as_part {
  using rest = invariant_over<sharding_in<A>, type_list<Ms...>>;
  using type = canonical_sharding<rest, typename partial_of<How, type_list<Ms...>>::type>;
};

// [I, J] {V_X} as [I_X, J].
template <class A, class I, class... Ms>
struct lifted_as_division {
  using type = typename lift_axis<invariant_over<sharding_in<A>, type_list<Ms...>>, I, Ms...>::type;
};

// [J] {V_X} as [N_X, J]: each device has one index of N.
template <class A, class N, class... Ms>
struct lifted_as_stack {
  using type = canonical_sharding<over<N, Ms...>, invariant_over<sharding_in<A>, type_list<Ms...>>>;
};

// ---- the base of collectives ----------------------------------------------------------------------------------------

template <class A>
using block_after_error = after_error_of<typename A::value_type, sharding_in<A>, typename A::space>;

// The result after an error, for a collective whose result is the same on all devices.
template <class A>
using whole_after_error =
    after_error_of<typename A::value_type, invariant_over<sharding_in<A>, varying_in<A>>, typename A::space>;

// The base of a collective on blocks. The collective adds its `verdict`, `moves` and `run`.
template <class Operation>
struct collective : callable<Operation> {
  using is_collective = void;
  template <class Given>
  using without_operand = reason::collective_of_a_non_tensor<Given>;
  template <class A, class...>
  using refused = block_after_error<A>;
};

// The callable that starts the collective.
template <class Operation>
struct started : verb_base {
  template <class First, class... Rest>
  [[nodiscard]] auto operator()(First const& first, Rest const&... rest) const {
    return operate_how(later{}, Operation(), first, rest...);
  }
};

}  // namespace detail

}  // namespace ostraka
