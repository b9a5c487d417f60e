// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::inclusive_scan<X>(a)`, `os::exclusive_scan<X>(a)`: in the body of os::shard_map, the sum of the blocks
/// of the devices up to this one, or before it. Also os::barrier<X>. float[I] {V_X} → float[I] {V_X}

#include <cstdint>

#include <ostraka/engine/block_collectives/scan_block.hpp>
#include <ostraka/local_view/collectives/group.hpp>

namespace ostraka {

namespace detail {

template <engine::scan_kind Kind>
constexpr std::int64_t messages_of_scan(std::int64_t n) {
  return engine::messages_of_scan(n, Kind);
}

}  // namespace detail

namespace operation {

/// The type of os::inclusive_scan<X> and os::exclusive_scan<X>.
template <engine::scan_kind Kind, reduction How, class M>
struct scan : detail::collective<scan<Kind, How, M>> {
  static constexpr char const* name = Kind == engine::scan_kind::inclusive ? "inclusive_scan" : "exclusive_scan";
  template <class A>
  using verdict =
      detail::first_fault<detail::varies_verdict<A, M>, detail::reducible_verdict<typename A::value_type, How, scan>,
                          detail::parts_kept_verdict<scan, How, A>>;
  template <class A>  // 16-bit numbers travel in the type of their sums
  using moves = detail::moves_of_messages<A, type_list<M>, &detail::messages_of_scan<Kind>,
                                          static_cast<int>(sizeof(accumulator_of_t<typename A::value_type>))>;

  template <class A>
  auto run(detail::at_once, A const& a) const {
    using result_type = basic_tensor<typename A::value_type, sharding_in<A>, typename A::space>;
    using mesh = union_of<type_list<M>, mesh_axes_in<A>>;
    static constexpr planner::spec block = spec_of<A, axes_in<A>, mesh>;
    detail::named_group g = detail::group_of<A, M>(name, a);
    detail::extent_origins<A::rank> origins = a.origins();
    detail::require_equal_extents(g, A::rank, a.extents().data(), origins.data());
    auto const from = detail::readable_block(a);
    auto const result = detail::make_block_like<result_type>(a, a.extents(), origins);
    if (!g.w.mesh->absent())
      engine::scan_block(detail::execution_space_of<A>(), g.w, block, g.axes, from, detail::writable_block(result),
                         How, Kind);
    return result;
  }
};

}  // namespace operation

/// The blocks of the devices from 0 to this one along X, combined: summed, or by the reduction that follows X.
/// Collective over X.
/// @throws ostraka::error, on all devices alike, if blocks have different extents
template <auto X, reduction How = reduction::sum>
inline constexpr operation::scan<engine::scan_kind::inclusive, How, detail::type_of<X>> inclusive_scan{};

/// The same as os::inclusive_scan for the devices before this one. On device 0 it is the neutral element, for a sum
/// zeros.
template <auto X, reduction How = reduction::sum>
inline constexpr operation::scan<engine::scan_kind::exclusive, How, detail::type_of<X>> exclusive_scan{};

/// Waits until all devices along `Ms` have arrived, on the mesh of a tensor or block. Blocks need no barrier: use it
/// for timings, files and the program's own messages.
template <auto... Ms, Tensor A>
void barrier(A const& a) {
  detail::named_group const g = detail::group_of<A, detail::type_of<Ms>...>("barrier", a);
  if (!g.w.mesh->absent()) engine::barrier(g.w, g.axes);
}

}  // namespace ostraka
