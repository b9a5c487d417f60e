// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. In the body of os::shard_map, `os::gather_to<I/X>(a, root)` concatenates the blocks of the devices along X
/// on one of them; `os::scatter_from<I/X>(a, root)` divides the block of one device among them. float[I] {V_X} →
/// float[I] {V_X}

#include <cstdint>
#include <tuple>

#include <ostraka/engine/block_collectives/root_of_group.hpp>
#include <ostraka/engine/collectives/counts.hpp>
#include <ostraka/local_view/collectives/group.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

// The extents along I of all members' blocks, in the order of the group. Communicates only if they are each device's
// own.
template <class I, class A>
void find_extents_of_members(engine::short_array<std::int64_t>& all, named_group const& g, A const& a) {
  std::int64_t const own = a.extents()[static_cast<std::size_t>(position_in<I, axes_in<A>>)];
  for (int d = 0; d < g.size; ++d) all.push_back(own);
  if (!origin_in<I>(a).is_alike()) engine::gather_counts(g.w.group(g.axes), &own, all.data());
}

// The bytes of the extents that all devices send each other to know each other's blocks.
template <class I, class... Ms, class A>
std::int64_t bytes_of_extents(A const& a, block_on_devices<A> const& blocks) {
  std::int64_t const n = blocks.template devices_along<Ms...>();
  std::int64_t const all = a.mesh_handle()->devices();
  return origin_in<I>(a).is_alike() ? 0 : all * (n - 1) * static_cast<std::int64_t>(sizeof(std::int64_t));
}

// Checks that the program counts devices as the engine does, because blocks are concatenated in the engine's order.
inline void require_order_of_mesh(named_group const& g) {
  for (int d = 0; d < g.size; ++d)
    if (g.member(d) != d)
      throw_error(
          g.w.operation,
          ": blocks of unequal extents are concatenated in the order of the mesh's axes, but the call names the "
          "axes in another order; name them in the order of os::make_mesh");
}

// Blocks of any extents along I, on the devices along `Ms`: the extents that a gather or scatter exchanges first, and
// the checks that fail on all devices alike.
template <class I, class A, class... Ms>
struct blocks_along {
  static constexpr planner::spec block = spec_of<A, axes_in<A>, union_of<type_list<Ms...>, mesh_axes_in<A>>>;
  static constexpr int along = position_in<I, axes_in<A>>;
  static constexpr auto axis = static_cast<std::size_t>(along);

  blocks_along(char const* operation, A const& a, int root = 0)
      : g(group_of<A, Ms...>(operation, a)), origins(a.origins()) {
    require_root(g, root);
    require_order_of_mesh(g);
    require_equal_extents(g, A::rank, a.extents().data(), origins.data(), along);
    g.w.sizes.label[axis] = -1;  // each device's own
    find_extents_of_members<I>(lengths, g, a);
  }

  [[nodiscard]] std::int64_t total() const {
    std::int64_t sum = 0;
    for (int d = 0; d < g.size; ++d) sum += lengths.data()[d];
    return sum;
  }

  /// This device's block of the result: like `a`, with another extent along I, which has this origin.
  auto make(A const& a, std::int64_t extent, extent_origin const& origin) {
    auto extents = a.extents();
    extents[axis] = extent;
    origins[axis] = origin;
    return make_block_like<basic_tensor<typename A::value_type, sharding_in<A>, typename A::space>>(a, extents, origins,
                                                                                                    along);
  }

  named_group g;
  extent_origins<A::rank> origins;
  engine::short_array<std::int64_t> lengths;  // in the order of the group
};

}  // namespace detail

namespace operation {

/// The type of os::gather_to<I/X>. This template serves arguments that are not a divided axis.
template <class Dim>
struct gather_to : detail::collective<gather_to<Dim>> {
  template <class...>
  using verdict = reason::not_a_divided_axis<Dim>;
};

template <class I, class... Ms>
struct gather_to<over<I, Ms...>> : detail::collective<gather_to<over<I, Ms...>>> {
  static constexpr char const* name = "gather_to";
  template <class A, class...>
  using verdict = detail::first_fault<detail::varies_verdict<A, Ms...>, detail::not_divided_verdict<A, I>>;

  template <class A>
  [[nodiscard]] detail::moves_of_call moved(A const& a, int root) const {
    detail::block_on_devices<A> const blocks(a);
    detail::moves_of_call all = blocks.moves([&](auto const& c, auto const& extents) {
      return blocks.template number<Ms...>(c) == root ? 0 : blocks.elements(extents);
    });
    all.total += detail::bytes_of_extents<I, Ms...>(a, blocks);
    return all;
  }

  template <class When, class A>
  auto run(When const&, A const& a, int root) const {
    detail::blocks_along<I, A, Ms...> all(name, a, root);
    auto& g = all.g;
    g.w.is_begun = When::is_begun;
    auto const own = detail::readable_block(a);
    auto const result = all.make(a, g.number == root ? all.total() : 0, {detail::extent_origin::of_its_own});
    return detail::launch_on<When>(g, result, a, [&] {
      return engine::begin_gather_to(detail::execution_space_of<A>(), g.w, all.block, g.axes, root, all.along,
                                     engine::counts_view(all.lengths), own, detail::writable_block(result));
    });
  }
};

/// The type of os::scatter_from<I/X>. This template serves arguments that are not a divided axis.
template <class Dim>
struct scatter_from : detail::collective<scatter_from<Dim>> {
  template <class...>
  using verdict = reason::not_a_divided_axis<Dim>;
};

template <class I, class... Ms>
struct scatter_from<over<I, Ms...>> : detail::collective<scatter_from<over<I, Ms...>>> {
  static constexpr char const* name = "scatter_from";
  template <class A, class...>
  using verdict = detail::first_fault<detail::varies_verdict<A, Ms...>, detail::not_divided_verdict<A, I>>;

  /// The root's block moves, except for the root's own part.
  template <class A>
  [[nodiscard]] detail::moves_of_call moved(A const& a, int root) const {
    detail::block_on_devices<A> const blocks(a);
    constexpr int along = position_in<I, axes_in<A>>;
    int const n = blocks.template devices_along<Ms...>();
    detail::moves_of_call all = blocks.moves([&](auto const& c, auto const& extents) -> std::int64_t {
      if (blocks.template number<Ms...>(c) != root) return 0;
      std::int64_t const whole = extents[static_cast<std::size_t>(along)];
      return (whole - planner::block(whole, root, n).size()) * blocks.elements(extents, along);
    });
    all.total += detail::bytes_of_extents<I, Ms...>(a, blocks);
    return all;
  }

  template <class When, class A>
  auto run(When const&, A const& a, int root) const {
    detail::blocks_along<I, A, Ms...> all(name, a, root);
    auto& g = all.g;
    g.w.is_begun = When::is_begun;
    std::int64_t const whole = all.lengths.data()[root];
    engine::short_array<std::int64_t> lengths;
    for (int d = 0; d < g.size; ++d) lengths.push_back(planner::block(whole, d, g.size).size());
    auto const given = detail::readable_block(a);
    planner::mesh_order running{};
    for (int m = 0; m < static_cast<int>(sizeof...(Ms)); ++m)
      if (g.w.sizes.mesh[m] > 1) running.push_back(g.w.axis[m]);
    detail::extent_origin origin = all.origins[all.axis];
    if (!origin.is_alike())  // elsewhere the root may have had another extent
      origin = {detail::extent_origin::of_its_own};
    else if (whole % g.size != 0)
      origin = {whole, running};
    auto const result = all.make(a, g.w.mesh->absent() ? 0 : lengths.data()[g.number], origin);
    return detail::launch_on<When>(g, result, a, [&] {
      return engine::begin_scatter_from(detail::execution_space_of<A>(), g.w, all.block, g.axes, root, all.along,
                                        engine::counts_view(lengths), given, detail::writable_block(result));
    });
  }
};

}  // namespace operation

/// The blocks of all devices along the mesh axes of `Dim`, concatenated along its axis, on device `root`; on the other
/// devices that axis is empty. Collective, with the same root.
/// @throws ostraka::error, on all devices alike, if there is no such device, or other extents differ
template <auto Dim>
inline constexpr operation::gather_to<detail::type_of<Dim>> gather_to{};

/// Part d along the axis of `Dim` of the block of device `root`, on device d. The blocks of the other devices are not
/// read. Collective, with the same root.
/// @throws ostraka::error, on all devices alike, if there is no such device, or other extents differ
template <auto Dim>
inline constexpr operation::scatter_from<detail::type_of<Dim>> scatter_from{};

/// Starts the gather or scatter: it reads its operand until `wait` (pending.hpp).
template <auto Dim>
inline constexpr detail::started<operation::gather_to<detail::type_of<Dim>>> start_gather_to{};
template <auto Dim>
inline constexpr detail::started<operation::scatter_from<detail::type_of<Dim>>> start_scatter_from{};

}  // namespace ostraka
