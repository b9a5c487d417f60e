// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::preduce<X>(f, a, b, …)`: in the body of os::shard_map, combines the blocks of the devices along X
/// pairwise with the program's associative function, on one block or on several together, such as the maximum and sum
/// of an online softmax. float[I] {V_X} → float[I]

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/local_view/collectives/ppermute.hpp>

namespace ostraka {

namespace detail {

/// The tree by which devices combine, in order, for any number of devices n. Among the first 2 (n − 2^k) devices, the
/// odd ones send their block to the previous device. The remaining 2^k devices then combine in k rounds of recursive
/// halving.
class combining_tree {
 public:
  combining_tree(int members, int me) : me_(me) {
    while (2 * places_ <= members) places_ *= 2;
    pairs_ = members - places_;
  }

  /// The device's place among the remaining ones; −1 if it has none.
  [[nodiscard]] int place() const {
    if (me_ >= 2 * pairs_) return me_ - pairs_;
    return me_ % 2 == 0 ? me_ / 2 : -1;
  }
  [[nodiscard]] int member(int place) const { return place < pairs_ ? 2 * place : place + pairs_; }
  [[nodiscard]] int places() const { return places_; }
  [[nodiscard]] bool is_paired() const { return me_ < 2 * pairs_; }
  [[nodiscard]] bool has_pairs() const { return pairs_ > 0; }

  /// The hops of messages: to the even devices of the pairs, back to the odd ones, and between places.
  template <class Hops>
  void to_even(Hops& hops) const {
    for (int k = 0; k < pairs_; ++k) hops.push_back({2 * k + 1, 2 * k});
  }
  template <class Hops>
  void to_odd(Hops& hops) const {
    for (int k = 0; k < pairs_; ++k) hops.push_back({2 * k, 2 * k + 1});
  }
  template <class Hops>
  void across(Hops& hops, int distance) const {
    for (int p = 0; p < places_; ++p) hops.push_back({member(p), member(p ^ distance)});
  }

 private:
  int me_;
  int places_ = 1;
  int pairs_ = 0;
};

// The block without {V} along `Ms`. @pre it is the same on all devices
template <class... Ms, class B>
auto invariant(B const& b) {
  basic_tensor<typename B::element_type, invariant_over<sharding_in<B>, type_list<Ms...>>, typename B::space> same(
      b.mesh_handle(), b.extents(), b.local());
  if constexpr (varying_in<decltype(same)>::size > 0) same.set_origins(b.origins());
  return same;
}

}  // namespace detail

namespace operation {

/// A block without {V} along `Ms`, as os::preduce passes it to a function. Only the type changes. Unlike the derivative
/// of os::pvary, this one sums nothing: operand and result are the same block.
template <class... Ms>
struct unvaried : detail::internal_step<unvaried<Ms...>> {
  static constexpr char const* name = "unvaried";

  template <class A>
  auto run(detail::at_once, A const& a) const {
    return detail::invariant<Ms...>(a);
  }
};

/// The inverse of `unvaried`.
template <class... Ms>
struct varied : detail::internal_step<varied<Ms...>> {
  static constexpr char const* name = "varied";

  template <class A>
  auto run(detail::at_once, A const& a) const {
    return basic_tensor<typename A::element_type,
                        typename detail::with_varying<sharding_in<A>, type_list<Ms...>>::type, typename A::space>(a);
  }
};

}  // namespace operation

namespace detail {

// A single block is passed by itself, several as a tuple.
template <class F, class... Bs>
auto call_on_blocks(F const& f, std::tuple<Bs...> const& left, std::tuple<Bs...> const& right) {
  if constexpr (sizeof...(Bs) == 1)
    return std::tuple(f(std::get<0>(left), std::get<0>(right)));
  else
    return f(left, right);
}

template <class... Results>
consteval auto check_captures(type_list<std::tuple<Results...>>) {
  if constexpr (any_stand_in<Results...>)
    return found<reason::preduce_captures_variable<type_list<Results...>>>{};
  else
    return found<reason::ok>{};
}
template <class Other>
consteval auto check_captures(type_list<Other>) {
  return found<reason::ok>{};
}

// Calls f on blocks that do not vary along `Ms`, because all devices call it on the same ones; its result does not vary
// either. Refuses an f that captures a value that varies.
template <class... Ms, class F, class... Blocks>
std::tuple<Blocks...> combine_two(F const& f, std::tuple<Blocks...> const& left, std::tuple<Blocks...> const& right) {
  using same = std::tuple<decltype(ostraka::operation::unvaried<Ms...>{}(std::declval<Blocks const&>()))...>;
  auto const both = [](Blocks const&... b) { return same(ostraka::operation::unvaried<Ms...>{}(b)...); };
  same const l = std::apply(both, left), r = std::apply(both, right);
  using result = decltype(call_on_blocks(f, l, r));
  if constexpr (any_stand_in<Blocks...>) {
    return std::apply([](auto const&... b) { return std::tuple<Blocks...>(ostraka::operation::varied<Ms...>{}(b)...); },
                      same(call_on_blocks(f, l, r)));
  } else if constexpr (!reason::ok_or_raise<typename decltype(check_captures(type_list<result>{}))::type>()) {
    return left;
  } else {
    return same(call_on_blocks(f, l, r));
  }
}

// The blocks that arrive by the hops that `fill(hops)` lists.
template <class... Ms, class Fill, class... Blocks>
std::tuple<Blocks...> send_all(std::tuple<Blocks...> const& blocks, Fill const& fill) {
  ostraka::operation::ppermute<Ms...> permute;
  fill(permute.hops);
  return std::apply(
      [&](Blocks const&... b) {
        if constexpr (any_stand_in<Blocks...>) {
          return std::tuple<Blocks...>{permute(b)...};
        } else {
          std::tuple pending{operate_how(later{}, permute, b)...};
          return std::apply([](auto&... p) { return std::tuple<Blocks...>{std::move(p).wait()...}; }, pending);
        }
      },
      blocks);
}

/// The number of blocks that are sent among n devices.
constexpr std::int64_t messages_of_preduce(std::int64_t n) {
  std::int64_t places = 1;
  while (2 * places <= n) places *= 2;
  std::int64_t sent = 2 * (n - places);
  for (std::int64_t distance = 1; distance < places; distance *= 2) sent += places;
  return sent;
}

/// How a device uses a block that it received.
enum class received_as { unused, before, behind };

struct keeps_nothing {
  template <class Blocks>
  Blocks const& sent(Blocks const& mine) const {
    return mine;
  }
  template <class Blocks>
  void operator()(Blocks const&, received_as) const {}
};

/// Runs the rounds, after which the devices that have a place hold the result. `keep(blocks, as)` receives all blocks
/// that arrive, and `keep.sent(mine)` returns the blocks that are sent for `mine`.
template <class... Ms, class F, class Keep, class... Blocks>
void combine_in_rounds(combining_tree const& tree, F const& f, Keep const& keep, std::tuple<Blocks...>& mine) {
  if (tree.has_pairs()) {
    auto const from_odd = send_all<Ms...>(keep.sent(mine), [&](auto& hops) { tree.to_even(hops); });
    bool const is_even = tree.is_paired() && tree.place() >= 0;
    keep(from_odd, is_even ? received_as::behind : received_as::unused);
    if (is_even) mine = combine_two<Ms...>(f, mine, from_odd);
  }
  for (int distance = 1; distance < tree.places(); distance *= 2) {
    auto const theirs = send_all<Ms...>(keep.sent(mine), [&](auto& hops) { tree.across(hops, distance); });
    bool const is_before = (tree.place() & distance) != 0;
    keep(theirs, tree.place() < 0 ? received_as::unused : is_before ? received_as::before : received_as::behind);
    if (tree.place() < 0) continue;
    mine = is_before ? combine_two<Ms...>(f, theirs, mine) : combine_two<Ms...>(f, mine, theirs);
  }
}

template <class... Ms, class F, class Keep, class... Blocks>
auto reduce_and_keep(F const& f, Keep const& keep, Blocks const&... blocks) {
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
    combine_in_rounds<Ms...>(tree, f, keep, mine);
    if (tree.has_pairs()) {
      auto const from_even = send_all<Ms...>(mine, [&](auto& hops) { tree.to_odd(hops); });
      if (tree.place() < 0) mine = from_even;
    }
  }
  if constexpr (sizeof...(Blocks) == 1)
    return invariant<Ms...>(std::get<0>(mine));
  else
    return std::apply([](auto const&... b) { return std::tuple{invariant<Ms...>(b)...}; }, mine);
}

template <class... Ms, class F, class... Blocks>
auto reduce_over(F const& f, Blocks const&... blocks) {
  return reduce_and_keep<Ms...>(f, keeps_nothing(), blocks...);
}

// The first argument that is not an operand; the last one if all are operands.
template <class First, class... Rest>
struct first_no_block : first_no_block<Rest...> {};
template <class First, class... Rest>
  requires(!TensorOrVariable<First> || sizeof...(Rest) == 0)
struct first_no_block<First, Rest...> {
  using type = First;
};

template <class MeshAxes, class... Given>
struct check_preduce;
template <class... Ms, class... Given>
struct check_preduce<type_list<Ms...>, Given...> {
  static consteval auto check() {
    if constexpr (!(TensorOrVariable<Given> && ...))
      return found<reason::collective_of_a_non_tensor<typename first_no_block<Given...>::type>>{};
    else
      return found<first_fault<varies_verdict<Given, Ms...>...>>{};
  }
  using verdict = typename decltype(check())::type;
};

template <class First, class... Rest>
consteval auto find_refused_preduce() {
  if constexpr (Tensor<First>)
    return std::type_identity<block_after_error<First>>{};
  else
    return std::type_identity<scalar_after_error<First>>{};
}

}  // namespace detail

namespace operation {

/// os::preduce<X> by the function F.
template <class F, class... Ms>
struct preduce_by {
  static constexpr char const* name = "preduce";
  F f;

  template <class Given>
  using without_operand = reason::collective_of_a_non_tensor<Given>;
  template <class... Given>
  using verdict = typename detail::check_preduce<type_list<Ms...>, Given...>::verdict;
  template <class... Given>
  using refused = typename decltype(detail::find_refused_preduce<Given...>())::type;
  template <class First, class... Rest>
  using moves = detail::moves_of_messages<First, type_list<Ms...>, &detail::messages_of_preduce,
                                          (detail::element_bytes_in<First> + ... + detail::element_bytes_in<Rest>)>;

  template <class... Given>
  auto run(detail::at_once, Given const&... given) const {
    return detail::reduce_over<Ms...>(f, given...);
  }
};

/// The type of os::preduce<X>.
template <class... Ms>
struct preduce : detail::verb_base {
  template <class F, class... Given>
  [[nodiscard]] auto operator()(F const& f, Given const&... given) const {
    if constexpr (sizeof...(Given) == 0 || TensorOrVariable<F>) {
      reason::raise<reason::collective_of_a_non_tensor<typename detail::first_no_block<Given..., F>::type>>();
      return detail::scalar_after_error<Given...>();
    } else {
      return detail::operate(preduce_by<std::decay_t<F>, Ms...>{f}, given...);
    }
  }
};

}  // namespace operation

/// f(f(f(b0, b1), b2), …) for the blocks of the devices along `Ms` in their order, with an associative f, in ⌈log₂ n⌉
/// rounds. All devices call f on the same blocks in the same order, so its arguments and its result do not vary along
/// `Ms`. For one block, f takes two blocks and returns one; for several, it takes two std::tuples of blocks and returns
/// one. f must not call a collective over `Ms`. The result does not vary along `Ms`. It has a derivative if f also
/// accepts variables, as a generic function of operations does.
template <auto... Ms>
inline constexpr operation::preduce<detail::type_of<Ms>...> preduce{};

}  // namespace ostraka
