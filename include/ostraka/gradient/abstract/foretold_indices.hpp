// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What os::take and os::scatter_add of abstract tensors move (foretell.hpp): indices, rows or their sums
/// under another sharding, and the 8 bytes by which the devices agree that indices are in range.

#include <cstdint>

#include <ostraka/gradient/abstract/foretell.hpp>
#include <ostraka/operations/indices/segment_sum.hpp>
#include <ostraka/operations/indices/take_at.hpp>

namespace ostraka::detail {

/// A look at indices, which are divided over these mesh axes.
template <class Range, class MeshAxes>
struct priced_look {
  static constexpr std::int64_t total_bytes(size_table const&) { return 0; }
};
template <class First, class... More>
struct priced_look<checked_range, type_list<First, More...>> {
  static constexpr std::int64_t total_bytes(size_table const& sizes) {
    std::int64_t const group = (sizes.template of<First>() * ... * sizes.template of<More>());
    return 16 * (group - 1) * sizes.template side_by_side<First, More...>();
  }
};

/// A look and reshards, each from a tensor type to a sharding.
template <class Look, class... Reshards>
struct priced_moves {
  static constexpr int count(step kind) { return (0 + ... + moves_of_plan<Reshards>::count(kind)); }
  static constexpr std::int64_t total_bytes(size_table const& sizes) {
    return (Look::total_bytes(sizes) + ... + moves_of_plan<Reshards>::total_bytes(sizes));
  }
  static constexpr std::int64_t bytes(size_table const& sizes) {
    std::int64_t const devices = sizes.template side_by_side<>();
    return (total_bytes(sizes) + devices - 1) / devices;
  }
  static constexpr std::int64_t flops(size_table const&) { return 0; }
};

template <class V, class Out, class Range, class Table, class Index>
struct foretold_moves<ostraka::operation::take<V, Out, Range>, Table, Index> {
  using out = typename named_take<V, Out, Table, Index>::type;
  using types = take_types<V, Table, Index, out>;
  using local = basic_tensor<typename Table::value_type, typename types::local_sharding, typename Table::space>;
  using type = priced_moves<priced_look<Range, differing_axes<Index>>,
                            reshard_source<typename types::index_sharding, Index>, reshard_source<out, local>>;
};

template <class V, class Out, class Range, class Rows, class Index>
struct foretold_moves<ostraka::operation::scatter_add<V, Out, Range>, Rows, Index> {
  using types = scatter_types<V, Out, Rows, Index>;
  using local = basic_tensor<typename Rows::value_type, typename types::local_sharding, typename Rows::space>;
  using type = priced_moves<priced_look<Range, differing_axes<Index>>,
                            reshard_source<typename types::rows_sharding, Rows>,
                            reshard_source<typename types::index_sharding, Index>, reshard_source<Out, local>>;
};
template <class V, class Out, class Range, class Rows, class Index>
struct foretold_moves<ostraka::operation::segment_sum<V, Out, Range>, Rows, Index>
    : foretold_moves<ostraka::operation::scatter_add<V, Out, Range>, Rows, Index> {};

template <class V, class Out, class A>
struct foretold_moves<ostraka::operation::take_at<V, Out>, A>
    : foretold_moves<typename ostraka::operation::take_at<V, Out>::by_tensor, A, one_index<A>> {};
template <class V, class Out, class A>
struct foretold_moves<ostraka::operation::put_at<V, Out>, A>
    : foretold_moves<typename ostraka::operation::put_at<V, Out>::by_tensor, A, one_index<A>> {};

}  // namespace ostraka::detail
