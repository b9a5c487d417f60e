// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of the operations that send blocks from device to device in the body of os::shard_map, of
/// scans, and of parts: each reverses the exchange.
///
///     forward                       backward
///     shift<X> by k                 shift<X> by −k
///     ppermute<X> {from, to}        ppermute<X> {to, from}; zero for a block that was not sent
///     scatter_from<I/X>             gather_to<I/X>, and zeros for blocks that were not read
///     inclusive_scan, exclusive     the same scan from the last device to the first
///     part<J>(a, i, n)              among zeros

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/gradient/rules/local_view/rows_among_zeros.hpp>
#include <ostraka/local_view/part.hpp>

namespace ostraka {

namespace operation {

/// A part of a variable; a copy, unless it is dense.
template <class J, class Number>
struct copied_part {
  static constexpr char const* name = "part";
  Number i;
  std::int64_t n;

  template <class A>
  using verdict = typename decltype(detail::check_part<A, J>())::type;
  template <class>
  using moves = detail::nothing_moved;

  template <class A>
  auto run(detail::at_once, A const& a) const {
    auto const cut = ostraka::part<J{}>(a, i, n);
    if constexpr (Tensor<std::remove_cvref_t<decltype(cut)>>)
      return cut;
    else
      return detail::einsum_as<sharding_in<decltype(cut)>>(cut);
  }
};

}  // namespace operation

namespace detail {

/// A cotangent that was moved, in the type of the operand's cotangents.
template <class Wanted, class X>
auto settled_cotangent(X const& moved) {
  return summed_to<cotangent_along<Wanted, varying_in<X>>>(moved);
}

template <class By, class... Ms>
struct shift_pullback {
  By by;
  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    return settled_cotangent<Wanted>(ostraka::operation::shift<Ms...>{}(g, -by));
  }
};

// The shape of a block before a move that leaves out blocks. `is_sent` is false if this device's block is left out.
template <int Rank>
struct shape_before {
  std::array<std::int64_t, static_cast<std::size_t>(Rank)> extents;
  extent_origins<Rank> origins;
  bool is_sent;

  template <class X>
  auto of(X const& moved) const {
    bool const is_it = is_sent || moved.extents() == extents;
    return ostraka::operation::zeros_unless_sent<Rank>{{}, extents, origins, is_it}(moved);
  }
};

template <class A>
shape_before<A::rank> shape_before_move(A const& a, bool is_sent) {
  return {a.extents(), origins_of_operand(a), is_sent};
}

template <int Rank, class... Ms>
struct permute_pullback {
  shape_before<Rank> before;
  ostraka::operation::ppermute<Ms...> back;
  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    return settled_cotangent<Wanted>(before.of(back(g)));
  }
};

template <class... Ms, class A>
auto make_permute_pullback(A const& a, hop const* hops, std::size_t count) {
  permute_pullback<A::rank, Ms...> pullback{shape_before_move(a, false), {}};
  int const here = group_of<std::remove_cvref_t<decltype(tensor_of(a))>, Ms...>("ppermute", tensor_of(a)).number;
  for (std::size_t k = 0; k < count; ++k) {
    pullback.back.hops.push_back({hops[k].to, hops[k].from});
    pullback.before.is_sent = pullback.before.is_sent || hops[k].from == here;
  }
  return pullback;
}

// The pullback of a move to or from one device. `Back` is the opposite move.
template <class Back, int Rank>
struct root_pullback {
  shape_before<Rank> before;
  int root;
  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    return settled_cotangent<Wanted>(before.of(Back{}(g, root)));
  }
};

template <class Back>
struct scan_pullback {
  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    return settled_cotangent<Wanted>(Back{}(g));
  }
};

template <class J>
struct part_pullback {
  ostraka::operation::rows_among_zeros<J> back;
  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    return settled_cotangent<Wanted>(back(g));
  }
};

}  // namespace detail

template <class... Ms>
struct derivative_of<operation::shift<Ms...>> {
  template <class Result, class A, class By>
  static auto pullback(operation::shift<Ms...> const&, Result const&, A const&, By by) {
    return detail::shift_pullback<By, Ms...>{by};
  }
};

template <class... Ms>
struct derivative_of<operation::ppermute<Ms...>> {
  template <class Result, class A>
  static auto pullback(operation::ppermute<Ms...> const& operation, Result const&, A const& a) {
    return detail::make_permute_pullback<Ms...>(a, operation.hops.data(), operation.hops.size());
  }
};

template <auto Permutation, class... Ms>
struct derivative_of<operation::ppermute_by<Permutation, Ms...>> {
  template <class Result, class A>
  static auto pullback(operation::ppermute_by<Permutation, Ms...> const&, Result const&, A const& a) {
    return detail::make_permute_pullback<Ms...>(a, Permutation.hops, static_cast<std::size_t>(Permutation.count));
  }
};

template <int Rank>
struct derivative_of<operation::zeros_unless_sent<Rank>> {
  struct back {
    operation::zeros_unless_sent<Rank> operation;
    template <int, class Wanted, class G>
    auto pull(G const& g) const {
      return detail::settled_cotangent<Wanted>(operation(g));
    }
  };
  template <class Result, class A>
  static auto pullback(operation::zeros_unless_sent<Rank> const& operation, Result const&, A const& a) {
    return back{{{}, a.extents(), detail::origins_of_operand(a), operation.is_sent}};
  }
};

template <class I, class... Ms>
struct derivative_of<operation::scatter_from<over<I, Ms...>>> {
  template <class Result, class A>
  static auto pullback(operation::scatter_from<over<I, Ms...>> const&, Result const&, A const& a, int root) {
    auto const& t = detail::tensor_of(a);
    int const here = detail::group_of<std::remove_cvref_t<decltype(t)>, Ms...>("scatter_from", t).number;
    return detail::root_pullback<operation::gather_to<over<I, Ms...>>, A::rank>{
        detail::shape_before_move(a, here == root), root};
  }
};

template <engine::scan_kind Kind, class M>
struct derivative_of<operation::scan<Kind, reduction::sum, M>> {
  template <class Result, class A>
  static auto pullback(operation::scan<Kind, reduction::sum, M> const&, Result const&, A const&) {
    return detail::scan_pullback<operation::scan_from_behind<Kind, reduction::sum, M>>{};
  }
};

template <engine::scan_kind Kind, class M>
struct derivative_of<operation::scan_from_behind<Kind, reduction::sum, M>> {
  template <class Result, class A>
  static auto pullback(operation::scan_from_behind<Kind, reduction::sum, M> const&, Result const&, A const&) {
    return detail::scan_pullback<operation::scan<Kind, reduction::sum, M>>{};
  }
};

template <class J, class Number>
struct derivative_of<operation::copied_part<J, Number>> {
  template <class Result, class A>
  static auto pullback(operation::copied_part<J, Number> const& cut, Result const&, A const& a) {
    constexpr auto along = static_cast<std::size_t>(position_in<J, axes_in<A>>);
    std::int64_t const extent = a.extents()[along];
    std::int64_t const number = detail::plain_number(cut.i);
    std::int64_t const begin = number < 0 ? 0 : planner::block(extent, number, cut.n).begin;
    return detail::part_pullback<J>{{{}, begin, extent, detail::origins_of_operand(a)[along]}};
  }
};

template <class J, class Number>
struct derivative_of<operation::part<J, Number>> {
  template <class A>
  static auto composed(operation::part<J, Number> const& cut, A const& a) {
    return detail::operate(operation::copied_part<J, Number>{cut.i, cut.n}, a);
  }
};

// ---- started and waited for -----------------------------------------------------------------------------------------

/// A started collective on a variable; `wait` records it.
template <class Operation, class Begun, class A, class... More>
class [[nodiscard]] pending_variable {
 public:
  pending_variable(Operation const& operation, Begun begun, A const& a, More const&... more)
      : operation_(operation), begun_(std::move(begun)), a_(a), more_(more...) {}

  /// As os::pending::wait.
  auto wait() && {
    auto result = std::move(begun_).wait();
    return std::apply(
        [&](More const&... more) {
          return detail::record_result(operation_, detail::tape_of(a_), nullptr, [&] { return std::move(result); }, a_,
                                       more...);
        },
        more_);
  }
  auto wait() & {
    reason::raise<reason::pending_value_not_moved<pending_variable>>();
    return std::move(*this).wait();
  }
  bool test() { return begun_.test(); }

  /// The same collective on the value, for functions that compute something in the meantime.
  [[nodiscard]] Begun& begun() { return begun_; }

 private:
  Operation operation_;
  Begun begun_;
  A a_;
  std::tuple<More...> more_;
};

template <class Operation, class Begun, class A, class... More>
inline constexpr bool is_pending<pending_variable<Operation, Begun, A, More...>> = true;

/// Starts an operation on a variable. The wait for the result records its derivative.
template <class Operation, Variable A, class... More>
auto start_on_variable(Operation const& operation, A const& a, More const&... more) {
  auto begun = detail::operate_how(detail::later{}, operation, a.value(), more...);
  return pending_variable<Operation, decltype(begun), A, More...>(operation, std::move(begun), a, more...);
}

}  // namespace ostraka
