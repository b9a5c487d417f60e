// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::shift<X>(a, +1)`, `os::ppermute<X>(a, {{0, 1}, {1, 2}})`: in the body of os::shard_map, each device
/// along X sends its block to at most one other, and receives one or gets zeros. float[I, J] {V_X} → float[I, J] {V_X}

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>

#include <ostraka/engine/block_collectives/permute_blocks.hpp>
#include <ostraka/local_view/collectives/collective.hpp>
#include <ostraka/local_view/collectives/group.hpp>
#include <ostraka/types/shardings/varying_int.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/values/permutation.hpp>

namespace ostraka {

namespace detail {

[[noreturn, gnu::cold]] inline void throw_wrong_hop(engine::execution_context const& w, hop const& h, int devices) {
  bool const exists = h.from >= 0 && h.from < devices && h.to >= 0 && h.to < devices;
  throw_error(w.operation, ": a device sends to at most one device and receives from at most one, but ", h.from, " → ",
              h.to,
              exists ? " repeats the source or the target of an earlier hop" : " names a device that does not exist",
              "; list each source and each target once, from 0 to ", devices - 1);
}

// Finds the extents of the block that arrives, as far as they are known: from `shift` devices before, or, with hops,
// from anywhere. True if all of them are known without communication. All devices find the same, because the distance
// that a block has come is kept only if it is the same for all.
inline bool find_permuted_extents(named_group const& g, engine::permutation_view const& hops, bool differs, int rank,
                                  std::int64_t* extents, extent_origin* origins) {
  bool known = true;
  std::uint32_t const running = g.w.bits_of(g.axes);
  for (int i = 0; i < rank; ++i) {
    extent_origin& o = origins[i];
    bool changes = o.whole == extent_origin::of_its_own;
    for (int k = 0; k < o.over.size(); ++k) changes = changes || (running >> o.over[k] & 1u) != 0;
    if (!changes) continue;
    if (o.whole >= 0 && o.over.size() == 1 && g.axes.count() == 1 && hops.hops == nullptr) {
      o.shifted = ((o.shifted + hops.shift) % g.size + g.size) % g.size;
      extents[i] = planner::block(o.whole, (g.number - o.shifted + g.size) % g.size, g.size).size() + o.halo;
      if (differs) o = {extent_origin::of_its_own};
    } else {
      o = {extent_origin::of_its_own};
      known = false;
    }
  }
  return known;
}

// Sends each device's extents where its block will go. On a dry mesh blocks are taken to have this device's extents. A
// template, so that only programs that shift compile this for integers.
template <class = void>
[[gnu::cold]] void send_extents(named_group const& g, planner::spec const& block, engine::permutation_view const& hops,
                                int rank, std::int64_t* extents) {
  std::int64_t const own = rank;
  std::int64_t received[max_rank];
  auto const host = engine::instance<Kokkos::DefaultHostExecutionSpace>();
  engine::begin_permute(host, g.w, block, g.axes, hops, dense_block<std::int64_t const>(extents, &own, 1),
                        dense_block(received, &own, 1))
      .wait();
  if (!g.w.mesh->is_dry() && hops.of(g.w.group(g.axes).rank(), g.size).from >= 0)
    for (int i = 0; i < rank; ++i) extents[i] = received[i];
}

// Converts hops to the engine's numbers. Along one mesh axis the engine counts devices as programs do; along several,
// as the mesh does.
inline engine::permutation_view as_members(named_group const& g, engine::permutation_view const& named,
                                           engine::short_array<hop>& hops) {
  if (g.axes.count() <= 1) return named;
  for (int k = 0; k < (named.hops == nullptr ? g.size : named.count); ++k) {
    hop const h = named.hops == nullptr ? hop{k, named.of(k, g.size).to} : named.hops[k];
    hops.push_back({g.member(h.from), g.member(h.to)});
  }
  return {hops.data(), static_cast<int>(hops.size())};
}

// The block that arrives by these hops, with devices numbered in the order of the mesh axes `Ms`. `differs` says that
// hops differ along other mesh axes.
template <class When, class... Ms, class A>
auto permute(char const* operation, A const& a, engine::permutation_view const& named, bool differs = false) {
  using value = typename A::value_type;
  using result_type = basic_tensor<value, sharding_in<A>, typename A::space>;
  using mesh = union_of<type_list<Ms...>, mesh_axes_in<A>>;
  static constexpr planner::spec block = spec_of<A, axes_in<A>, mesh>;
  named_group g = group_of<A, Ms...>(operation, a);
  g.w.is_begun = When::is_begun;
  if (int const wrong = named.wrong_hop(g.size); wrong >= 0) throw_wrong_hop(g.w, named.hops[wrong], g.size);
  engine::short_array<hop> members;
  engine::permutation_view const hops = as_members(g, named, members);

  typename A::extents_type extents = a.extents();
  extent_origins<A::rank> origins = a.origins();
  bool const known = find_permuted_extents(g, named, differs, A::rank, extents.data(), origins.data());
  if (!known && !g.w.mesh->absent()) send_extents(g, block, hops, A::rank, extents.data());

  std::int64_t here[max_rank]{}, there[max_rank]{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(A::rank); ++i) {
    here[i] = static_cast<std::int64_t>(a.local().extent(i));
    there[i] = origins[i].is_alike() ? here[i] : extents[i];
  }
  auto const result = make_block<result_type>(a.mesh_handle(), extents, there, origins);
  return launch_on<When>(g, result, a, [&] {
    return engine::begin_permute(execution_space_of<A>(), g.w, block, g.axes, hops,
                                 dense_block<value const>(a.local().data(), here, A::rank),
                                 dense_block(result.local().data(), there, A::rank));
  });
}

// The moves of a permutation, and of the extents that devices send before it.
template <class... Ms, class A>
moves_of_call moves_of_hops(char const* operation, A const& a, engine::permutation_view const& hops,
                            bool differs = false) {
  block_on_devices<A> const blocks(a);
  int const n = blocks.template devices_along<Ms...>();
  auto const is_sent = [&](auto const& c) {
    int const number = blocks.template number<Ms...>(c), to = hops.of(number, n).to;
    return to >= 0 && to != number;
  };
  moves_of_call all =
      blocks.moves([&](auto const& c, auto const& extents) { return is_sent(c) ? blocks.elements(extents) : 0; });
  typename A::extents_type extents = a.extents();
  extent_origins<A::rank> origins = a.origins();
  if (!find_permuted_extents(group_of<A, Ms...>(operation, a), hops, differs, A::rank, extents.data(), origins.data()))
    blocks.for_each([&](auto const& c, auto const&) {
      all.total += is_sent(c) ? A::rank * static_cast<std::int64_t>(sizeof(std::int64_t)) : 0;
    });
  return all;
}

// Checks a constant permutation: it names each device at most once as source and once as target, and, if the mesh axes
// have static sizes, only devices that exist.
template <auto Permutation, class... Ms>
consteval auto check_permutation() {
  constexpr int devices =
      ((Ms::extent != dynamic_extent) && ...) ? static_cast<int>((std::int64_t{1} * ... * Ms::extent)) : -1;
  constexpr int wrong = engine::permutation_view{Permutation.hops, Permutation.count}.wrong_hop(devices);
  if constexpr (wrong >= 0)
    return found<reason::permutation_repeats<Permutation.hops[wrong].from, Permutation.hops[wrong].to>>{};
  else
    return found<reason::ok>{};
}
template <auto Permutation, class... Ms>
using permutation_verdict = typename decltype(check_permutation<Permutation, Ms...>())::type;

// Checks that a number of places that differs between devices is the same for those that shift together.
template <class Differing, class... Ms>
consteval auto check_shift() {
  using wrong = common_of<type_list<Ms...>, Differing>;
  if constexpr (wrong::size > 0)
    return found<reason::shift_varies_along_its_axis<typename type_at<wrong, 0>::type>>{};
  else
    return found<reason::ok>{};
}
template <class Differing, class... Ms>
using shift_verdict = typename decltype(check_shift<Differing, Ms...>())::type;

}  // namespace detail

namespace operation {

/// The type of os::shift<X>.
template <class... Ms>
struct shift : detail::collective<shift<Ms...>> {
  static constexpr char const* name = "shift";
  template <class A, class By>
  using verdict = detail::first_fault<detail::varies_verdict<A, Ms...>,
                                      detail::shift_verdict<typename detail::number_varies<By>::type, Ms...>>;

  template <class A, class By>
  [[nodiscard]] detail::moves_of_call moved(A const& a, By by) const {
    return detail::moves_of_hops<Ms...>(name, a,
                                        engine::permutation_view::by(static_cast<int>(detail::plain_number(by))),
                                        detail::number_varies<By>::type::size > 0);
  }

  template <class When, class A, class By>
  auto run(When const&, A const& a, By by) const {
    using differing = typename detail::number_varies<By>::type;
    using wider = typename detail::with_varying<sharding_in<A>, difference_of<differing, varying_in<A>>>::type;
    return detail::permute<When, Ms...>(
        name, basic_tensor<typename A::element_type, wider, typename A::space>(a),
        engine::permutation_view::by(static_cast<int>(detail::plain_number(by))), differing::size > 0);
  }
};

/// A permutation of the blocks along `Ms`, with the hops that os::ppermute<X>(a, hops) takes.
template <class... Ms>
struct ppermute : detail::collective<ppermute<Ms...>> {
  static constexpr char const* name = "ppermute";
  dynamic_array<hop> hops;

  template <class A>
  using verdict = detail::varies_verdict<A, Ms...>;

  template <class A>
  [[nodiscard]] detail::moves_of_call moved(A const& a) const {
    return detail::moves_of_hops<Ms...>(name, a, view());
  }

  template <class When, class A>
  auto run(When const&, A const& a) const {
    return detail::permute<When, Ms...>(name, a, view());
  }

 private:
  [[nodiscard]] engine::permutation_view view() const {
    static constexpr hop none[1]{};  // a view without a list is a shift
    return {hops.empty() ? none : hops.data(), static_cast<int>(hops.size())};
  }
};

/// The type of os::ppermute<X, os::permutation({{0, 1}})>.
template <auto Permutation, class... Ms>
struct ppermute_by : detail::collective<ppermute_by<Permutation, Ms...>> {
  static constexpr char const* name = "ppermute";
  template <class A>
  using verdict =
      detail::first_fault<detail::permutation_verdict<Permutation, Ms...>, detail::varies_verdict<A, Ms...>>;

  template <class A>
  [[nodiscard]] detail::moves_of_call moved(A const& a) const {
    return detail::moves_of_hops<Ms...>(name, a, {Permutation.hops, Permutation.count});
  }

  template <class When, class A>
  auto run(When const&, A const& a) const {
    return detail::permute<When, Ms...>(name, a, {Permutation.hops, Permutation.count});
  }
};

}  // namespace operation

namespace detail {

// The type of os::ppermute<X> and os::start_ppermute<X>, which take the hops after the block.
template <class How, class... Ms>
struct ppermute_verb : verb_base {
  template <TensorOrVariable A>
  [[nodiscard]] auto operator()(A const& a, std::initializer_list<hop> hops) const {
    return operate_how(How{}, ostraka::operation::ppermute<Ms...>{{}, hops}, a);
  }
  /// Takes hops in a std::vector, a std::span, …
  template <TensorOrVariable A, class Hops>
  [[nodiscard]] auto operator()(A const& a, Hops const& hops) const {
    return operate_how(How{}, ostraka::operation::ppermute<Ms...>{{}, hops}, a);
  }
};

// Mesh axes, and perhaps a permutation after them.
template <class MeshAxes, auto... Named>
struct permute_named;
template <class... Ms>
struct permute_named<type_list<Ms...>> {
  using type = ppermute_verb<at_once, Ms...>;
  using start = ppermute_verb<later, Ms...>;
};
template <class... Ms, auto Next, auto... More>
struct permute_named<type_list<Ms...>, Next, More...> : permute_named<type_list<Ms..., type_of<Next>>, More...> {};
template <class... Ms, auto Permutation>
  requires(is_permutation<type_of<Permutation>>)
struct permute_named<type_list<Ms...>, Permutation> {
  using type = ostraka::operation::ppermute_by<Permutation, Ms...>;
  using start = started<type>;
};

}  // namespace detail

/// The block of the device `by` places before this one along `Ms`, cyclically: each device's block goes to the device
/// `by` places further on. The first of several mesh axes is major. `by` may differ along other mesh axes, as
/// os::axis_index<Y>(a) does; the result then varies along these. Moves a block to each device. Collective over `Ms`.
template <auto... Ms>
inline constexpr operation::shift<detail::type_of<Ms>...> shift{};

/// The block of the device that sends to this one, or zeros if none does: os::ppermute<X>(a, {{0, 1}, {1, 2}}), or,
/// with a constant permutation that is checked at compile time, os::ppermute<X, os::permutation({{0, 1}, {1, 2}})>(a).
/// Devices are numbered along the mesh axes, the first one major. Collective over them, with the same hops.
/// @throws ostraka::error, on all devices alike, if hops name a device twice, or a device that does not exist
template <auto... Named>
inline constexpr typename detail::permute_named<type_list<>, Named...>::type ppermute{};

/// Starts the shift or permutation: it reads its operand until `wait` (pending.hpp).
template <auto... Ms>
inline constexpr detail::started<operation::shift<detail::type_of<Ms>...>> start_shift{};
template <auto... Named>
inline constexpr typename detail::permute_named<type_list<>, Named...>::start start_ppermute{};

}  // namespace ostraka
