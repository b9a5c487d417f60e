// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::ragged_dot<R, E>(x, w, sizes)`: the first sizes[0] rows of x times the first matrix, the next sizes[1]
/// times the second, … (jax.lax.ragged_dot), and its transpose. Rows and groups are whole on every device. Other axes
/// may be divided, and nothing moves: if they are summed, the result is partial.
///
///     ragged_dot<R, E>         x[R, M]      w[E, M, F_Y]    sizes[E]    → [R, F_Y]
///                              x[R, F_Y]    w[E, F_Y, M]    sizes[E]    → [R, M] {U_Y}
///     ragged_contract<R, E>    x[R, M]      g[R, F_Y]       sizes[E]    → [E, M, F_Y]

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/blocks/contract_block_groups.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/experts/choices.hpp>

namespace ostraka {

namespace detail {

// The mesh axes that divide these axes of a tensor.
template <class A, class... Is>
consteval auto splits_of_each(type_list<Is...>) {
  return union_of<type_list<>, splits_of<Is, sharding_in<A>>...>{};
}
template <class Sharding, class... Ms>
consteval auto with_summands_over(type_list<Ms...>) {
  if constexpr (sizeof...(Ms) == 0)
    return std::type_identity<Sharding>{};
  else
    return std::type_identity<canonical_sharding<Sharding, partial_sum<Ms...>>>{};
}

/// The axes over which the product of A and B sums, and those that remain. `SumsRows`: R is summed within each group.
template <class R, class E, bool SumsRows, class A, class B>
struct ragged_types {
  using common = common_of<axes_in<A>, axes_in<B>>;
  using summed = std::conditional_t<SumsRows, difference_of<common, type_list<R>>, common>;
  using of_a = without_axes<lasting_sharding<A>, common>;
  using of_b = without_axes<lasting_sharding<B>, typename unite_lists<common, type_list<E>>::type>;
  using left = std::conditional_t<SumsRows, canonical_sharding<E, of_a, of_b>, canonical_sharding<of_a, of_b>>;
  using result = typename decltype(with_summands_over<left>(splits_of_each<A>(summed{})))::type;
};

template <class Operation, class R, class E, bool SumsRows, class A, class B, class Sizes>
consteval auto check_groups_of_rows() {
  constexpr bool a_fits = position_in<R, axes_in<A>> >= 0 && position_in<E, axes_in<A>> < 0;
  constexpr bool b_fits =
      (position_in<R, axes_in<B>> >= 0) == SumsRows && (position_in<E, axes_in<B>> >= 0) == !SumsRows;
  if constexpr (!a_fits)
    return found<reason::groups_have_the_axis<R, sharding_in<A>, Operation>>{};
  else if constexpr (!b_fits)
    return found<reason::groups_have_the_axis<std::conditional_t<SumsRows, R, E>, sharding_in<B>, Operation>>{};
  else if constexpr (!std::is_same_v<axes_in<Sizes>, type_list<E>>)
    return found<reason::groups_have_the_axis<E, sharding_in<Sizes>, Operation>>{};
  else
    return found<reason::ok>{};
}

template <class Operation, class I, class A>
consteval auto check_is_whole() {
  if constexpr (splits_of<I, sharding_in<A>>::size > 0)
    return found<reason::axis_must_be_whole<I, sharding_in<A>, Operation>>{};
  else
    return found<reason::ok>{};
}
template <class Operation, class I, class A>
using is_whole_verdict = typename decltype(check_is_whole<Operation, I, A>())::type;

template <class Operation, class A, class B, class... Is>
consteval auto check_sums_sharded_alike(type_list<Is...>) {
  return found<first_fault<std::conditional_t<
      std::is_same_v<splits_of<Is, sharding_in<A>>, splits_of<Is, sharding_in<B>>>, reason::ok,
      reason::summed_in_groups_split_differently<Is, sharding_in<A>, sharding_in<B>, Operation>>...>>{};
}

template <class Operation, class R, class E, bool SumsRows, class A, class B, class Sizes>
consteval auto check_ragged() {
  using own = first_fault<
      typename sharding_traits<sharding_in<A>>::verdict, typename sharding_traits<sharding_in<B>>::verdict,
      blocks_verdict<sharding<>, A, B, Sizes>, whole_values_verdict<Operation, A>, whole_values_verdict<Operation, B>,
      index_verdict<Operation, Sizes>, elements_verdict<A, B>,
      typename decltype(check_groups_of_rows<Operation, R, E, SumsRows, A, B, Sizes>())::type>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else {
    using types = ragged_types<R, E, SumsRows, A, B>;
    using second = std::conditional_t<SumsRows, R, E>;
    return found<
        first_fault<is_whole_verdict<Operation, R, A>, is_whole_verdict<Operation, second, B>,
                    is_whole_verdict<Operation, E, Sizes>,
                    typename decltype(check_sums_sharded_alike<Operation, A, B>(typename types::summed{}))::type,
                    typename sharding_traits<typename types::result>::verdict>>{};
  }
}

}  // namespace detail

namespace operation {

/// `SumsRows`: multiplies rows by rows, to a matrix for each group; else rows by matrices, to rows.
template <class R, class E, bool SumsRows>
struct ragged_product : detail::moves_nothing {
  static constexpr char const* name = SumsRows ? "ragged_contract" : "ragged_dot";

  template <class A, class B, class Sizes>
  using verdict = typename decltype(detail::check_ragged<ragged_product, R, E, SumsRows, A, B, Sizes>())::type;

  template <class How, class A, class B, class Sizes>
  auto run(How const&, A const& a, B const& b, Sizes const& sizes) const {
    using types = detail::ragged_types<R, E, SumsRows, A, B>;
    using sharding_type = varying_as<typename types::result, A, B, Sizes>;
    using result_type = basic_tensor<typename A::value_type, sharding_type, typename A::space>;
    using labels = union_of<axes_in<A>, axes_in<B>, type_list<E>>;
    using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<B>>;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, a, b, sizes);
    auto const result = detail::allocate_for<result_type, labels, mesh>(w, a, b, sizes);
    if (w.mesh->absent()) return result;
    detail::profiled_block<result_type> const region_of_run(name, result, "writes");
    static constexpr planner::spec of_a = spec_of<A, labels, mesh>, of_b = spec_of<B, labels, mesh>,
                                   of_c = spec_of<result_type, labels, mesh>;
    auto const extents_a = detail::local_extents_of(a), extents_b = detail::local_extents_of(b),
               extents_c = detail::local_extents_of(result);
    auto const host_sizes = engine::on_host(sizes.local());
    dynamic_array<std::int64_t> counts;
    for (std::size_t g = 0; g < host_sizes.extent(0); ++g)
      counts.push_back(static_cast<std::int64_t>(host_sizes.data()[g]));
    using element = typename A::value_type;
    using read_block = engine::labelled_block<element const>;
    engine::contract_groups_of_blocks(
        detail::execution_space_of<A>(), position_in<R, labels>, position_in<E, labels>, counts.data(),
        static_cast<std::int64_t>(counts.size()),
        read_block{planner::row_major(of_a, extents_a.data()), detail::elements_of(a)},
        read_block{planner::row_major(of_b, extents_b.data()), detail::elements_of(b)},
        engine::labelled_block<element>{planner::row_major(of_c, extents_c.data()), result.local().data()});
    return result;
  }
};

template <class R, class E>
using ragged_dot = ragged_product<R, E, false>;
template <class R, class E>
using ragged_contract = ragged_product<R, E, true>;

}  // namespace operation

/// Rows times the matrix of their group, `os::ragged_dot<R, E>(x, w, sizes)`: rows [0, sizes[0]) of x[R, M] times w[0,
/// M, F], the next sizes[1] times w[1, M, F], and so on. Axes that x and w share are summed, except E. The result has
/// the other axes of x, then those of w. If mesh axes divide the summed axes, alike in both, the result is partial over
/// them. Rows after the last group become zeros. R and E are whole; in the body of os::shard_map they are each device's
/// own. Nothing moves.
template <auto R, auto E, TensorOrVariable A, TensorOrVariable B, Tensor Sizes>
[[nodiscard]] constexpr auto ragged_dot(A const& x, B const& w, Sizes const& sizes) {
  return detail::operate(operation::ragged_dot<detail::type_of<R>, detail::type_of<E>>{}, x, w, sizes);
}

/// The transpose: out[e, M, F] = Σ x[r, M] y[r, F] over the rows r of group e. Other axes that x and y share are
/// summed.
template <auto R, auto E, TensorOrVariable A, TensorOrVariable B, Tensor Sizes>
[[nodiscard]] constexpr auto ragged_contract(A const& x, B const& y, Sizes const& sizes) {
  return detail::operate(operation::ragged_contract<detail::type_of<R>, detail::type_of<E>>{}, x, y, sizes);
}

}  // namespace ostraka
