// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::pbroadcast<X>(a, root)`: in the body of os::shard_map, the block of one device along X on all of them.
/// float[I] {V_X} → float[I]

#include <cstdint>
#include <string>
#include <tuple>

#include <ostraka/engine/block_collectives/root_of_group.hpp>
#include <ostraka/local_view/collectives/group.hpp>

namespace ostraka {

namespace detail {

constexpr std::int64_t messages_of_broadcast(std::int64_t n) { return n - 1; }

}  // namespace detail

namespace operation {

/// The type of os::pbroadcast<X>.
template <class... Ms>
struct pbroadcast : detail::collective<pbroadcast<Ms...>> {
  static constexpr char const* name = "pbroadcast";
  template <class A, class...>
  using verdict = detail::varies_verdict<A, Ms...>;
  template <class A, class...>
  using moves = detail::moves_of_messages<A, type_list<Ms...>, &detail::messages_of_broadcast>;

  template <class When, class A>
  auto run(When const&, A const& a, int root) const {
    using result_type = basic_tensor<typename A::value_type, detail::invariant_over<sharding_in<A>, type_list<Ms...>>,
                                     typename A::space>;
    using mesh = union_of<type_list<Ms...>, mesh_axes_in<A>>;
    static constexpr planner::spec block = spec_of<A, axes_in<A>, mesh>;
    detail::named_group g = detail::group_of<A, Ms...>(name, a);
    g.w.is_begun = When::is_begun;
    detail::require_root(g, root);
    detail::extent_origins<A::rank> origins = a.origins();
    detail::require_equal_extents(g, A::rank, a.extents().data(), origins.data());
    auto const from = detail::readable_block(a);
    auto const result = detail::make_block_like<result_type>(a, a.extents(), origins);
    return detail::launch_on<When>(g, result, a, [&] {
      return engine::begin_broadcast(detail::execution_space_of<A>(), g.w, block, g.axes, g.member(root), from,
                                     detail::writable_block(result));
    });
  }
};

}  // namespace operation

/// The block of device `root` along `Ms`, on all of them, so that it no longer varies. Devices are numbered with the
/// first mesh axis major. Collective over `Ms`, with the same root.
/// @throws ostraka::error, on all devices alike, if there is no such device, or blocks have different extents
template <auto... Ms>
inline constexpr operation::pbroadcast<detail::type_of<Ms>...> pbroadcast{};

/// Starts os::pbroadcast: it reads its operand until `wait` (pending.hpp).
template <auto... Ms>
inline constexpr detail::started<operation::pbroadcast<detail::type_of<Ms>...>> start_pbroadcast{};

}  // namespace ostraka
