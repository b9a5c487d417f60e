// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::preduce<X>(f, a, b, …)`: in the body of os::shard_map, the blocks of the devices along X combined two
/// by two by an associative function of the program on one block or on several together, such as the maximum and sum of
/// an online softmax. float[I] {V_X} → float[I]

#include <tuple>
#include <utility>

#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/local_view/ppermute.hpp>

namespace ostraka {

namespace detail {

/// Who combines with whom, in order, whatever the number of devices n: of the first 2 (n − 2^k) devices the odd ones
/// hand their block to the one before, 2^k are left, and these halve the distance k times.
class combining_tree {
 public:
  combining_tree(int members, int me) : me_(me) {
    while (2 * places_ <= members) places_ *= 2;
    pairs_ = members - places_;
  }

  /// Its place among those that are left, −1 for none.
  [[nodiscard]] int place() const {
    if (me_ >= 2 * pairs_) return me_ - pairs_;
    return me_ % 2 == 0 ? me_ / 2 : -1;
  }
  [[nodiscard]] int member(int place) const { return place < pairs_ ? 2 * place : place + pairs_; }
  [[nodiscard]] int places() const { return places_; }
  [[nodiscard]] bool is_paired() const { return me_ < 2 * pairs_; }

  /// Who sends to whom: to the even ones of the pairs, back to the odd ones, and between places.
  void to_even(engine::short_array<hop>& hops) const {
    for (int k = 0; k < pairs_; ++k) hops.push_back({2 * k + 1, 2 * k});
  }
  void to_odd(engine::short_array<hop>& hops) const {
    for (int k = 0; k < pairs_; ++k) hops.push_back({2 * k, 2 * k + 1});
  }
  void across(engine::short_array<hop>& hops, int distance) const {
    for (int p = 0; p < places_; ++p) hops.push_back({member(p), member(p ^ distance)});
  }

 private:
  int me_;
  int places_ = 1;
  int pairs_ = 0;
};

// The block without {V} along `Ms`: all devices have the same.
template <class... Ms, class B>
auto invariant(B const& b) {
  basic_tensor<typename B::element_type, invariant_over<sharding_in<B>, type_list<Ms...>>, typename B::space> same(
      b.mesh_handle(), b.extents(), b.local());
  if constexpr (varying_in<decltype(same)>::size > 0) same.set_origins(b.origins());
  return same;
}

// One block stands for itself, several for a tuple of them. f gets and gives blocks that do not vary along `Ms`,
// because all devices call it on the same: what it captures and varies is refused.
template <class... Ms, class F, class... Blocks>
std::tuple<Blocks...> combine_two(F const& f, std::tuple<Blocks...> const& left, std::tuple<Blocks...> const& right) {
  using same = std::tuple<decltype(invariant<Ms...>(std::declval<Blocks const&>()))...>;
  auto const both = [](Blocks const&... b) { return same(invariant<Ms...>(b)...); };
  same const l = std::apply(both, left), r = std::apply(both, right);
  if constexpr (sizeof...(Blocks) == 1)
    return same(std::tuple_element_t<0, same>(f(std::get<0>(l), std::get<0>(r))));
  else
    return same(f(l, r));
}

// What the hops bring; `fill(hops)` lists them.
template <class... Ms, class Fill, class... Blocks>
std::tuple<Blocks...> send_all(std::tuple<Blocks...> const& blocks, Fill const& fill) {
  engine::short_array<hop> hops;
  fill(hops);
  return std::apply(
      [&](Blocks const&... b) {
        std::tuple pending{ostraka::verb::ppermute<Ms...>::template call<later>(b, hops.data(), hops.size())...};
        return std::apply([](auto&... p) { return std::tuple<Blocks...>{std::move(p).wait()...}; }, pending);
      },
      blocks);
}

template <class... Ms, class F, class... Blocks>
auto reduce_over(F const& f, Blocks const&... blocks) {
  named_group g =
      group_of<std::tuple_element_t<0, std::tuple<Blocks...>>, Ms...>("preduce", std::get<0>(std::tie(blocks...)));
  auto const require = [&](auto const& b) {
    named_group own = group_of<std::remove_cvref_t<decltype(b)>, Ms...>("preduce", b);
    auto origins = b.origins();
    require_equal_extents(own, std::remove_cvref_t<decltype(b)>::rank, b.extents().data(), origins.data());
  };
  (require(blocks), ...);
  combining_tree const tree(g.size, g.number);
  std::tuple<Blocks...> mine(blocks...);
  if (!g.w.mesh->absent() && g.size > 1) {
    if (tree.places() < g.size) {
      auto const from_odd = send_all<Ms...>(mine, [&](auto& hops) { tree.to_even(hops); });
      if (tree.is_paired() && tree.place() >= 0) mine = combine_two<Ms...>(f, mine, from_odd);
    }
    for (int distance = 1; distance < tree.places(); distance *= 2) {
      auto const theirs = send_all<Ms...>(mine, [&](auto& hops) { tree.across(hops, distance); });
      if (tree.place() < 0) continue;
      mine = (tree.place() & distance) == 0 ? combine_two<Ms...>(f, mine, theirs) : combine_two<Ms...>(f, theirs, mine);
    }
    if (tree.places() < g.size) {
      auto const from_even = send_all<Ms...>(mine, [&](auto& hops) { tree.to_odd(hops); });
      if (tree.place() < 0) mine = from_even;
    }
  }
  if constexpr (sizeof...(Blocks) == 1)
    return invariant<Ms...>(std::get<0>(mine));
  else
    return std::apply([](auto const&... b) { return std::tuple{invariant<Ms...>(b)...}; }, mine);
}

template <class First, class... Rest>
struct first_no_tensor : first_no_tensor<Rest...> {};
template <class First, class... Rest>
  requires(!Tensor<First> || sizeof...(Rest) == 0)
struct first_no_tensor<First, Rest...> {
  using type = First;
};

}  // namespace detail

namespace verb {

/// The type of os::preduce<X>.
template <class... Ms>
struct preduce : detail::verb_base {
  /// Says what is no block behind the function.
  template <class F, class... Given>
    requires((!(Tensor<Given> && ...) || sizeof...(Given) == 0 || Tensor<F>) && !any_variable<Given...>)
  auto operator()(F const&, Given const&...) const {
    reason::raise<reason::collective_of_no_tensor<typename detail::first_no_tensor<Given..., F>::type>>();
    return detail::scalar_after_error<Given...>();
  }

  /// Says that it has no derivative.
  template <class F, class... Given>
    requires any_variable<Given...>
  auto operator()(F const&, Given const&...) const {
    reason::raise<reason::preduce_has_no_derivative<F>>();
    return detail::scalar_after_error<Given...>();
  }

  template <class F, Tensor First, Tensor... Rest>
    requires(!Tensor<F>)
  [[nodiscard]] auto operator()(F const& f, First const& first, Rest const&... rest) const {
    using verdict = detail::first_fault<detail::varies_verdict<First, Ms...>, detail::varies_verdict<Rest, Ms...>...>;
    if constexpr (detail::may_move<verdict, First>())
      return detail::reduce_over<Ms...>(f, first, rest...);
    else
      return detail::block_after_error<First>{first};
  }
};

}  // namespace verb

/// f(f(f(b0, b1), b2), …) of the blocks of the devices along `Ms` in their order, for an associative f, in ⌈log₂ n⌉
/// rounds; all devices call f on the same blocks in the same order, so that it is given blocks that do not vary along
/// `Ms`, and returns such. Of one block f takes two and returns one; of several it takes two std::tuples of them and
/// returns one. f calls no collective over `Ms`. The result does
/// not vary along `Ms`.
/// @throws ostraka::error, on all devices alike, if blocks have different extents
template <auto... Ms>
inline constexpr verb::preduce<detail::type_of<Ms>...> preduce{};

}  // namespace ostraka
