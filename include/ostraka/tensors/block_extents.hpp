// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Extents of blocks in the body of os::shard_map: an axis that is divided unevenly may have another extent on
/// each device. All devices know the origin of an extent, but not the extents of others. Only the origin, never a
/// device's own extent, decides whether an operation is refused, or exchanges extents first.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/plan/spec/spec.hpp>
#include <ostraka/plan/typed/varying_results.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::detail {

/// The origin of the extent of a block's axis: how it came about, which all devices know.
struct extent_origin {
  static constexpr std::int64_t alike = -1;       ///< `whole`: the same on all devices
  static constexpr std::int64_t of_its_own = -2;  ///< `whole`: each device's own

  std::int64_t whole = alike;  ///< or the length of the axis, which `over` divides unevenly
  planner::mesh_order over{};  ///< mesh axes in the running mesh's numbering, major first
  int shifted = 0;             ///< the block belongs to the device this many places before, along the one mesh axis
  std::int64_t halo = 0;       ///< number of added neighbours' indices, for an extent that is not alike
  bool is_undivided = false;   ///< for a padded axis: no other device has indices of it

  [[nodiscard]] constexpr bool is_alike() const { return whole == alike; }

  /// The origin after `more` indices of neighbours are added.
  [[nodiscard]] extent_origin padded_by(std::int64_t more) const {
    extent_origin padded = *this;
    padded.halo += is_alike() ? 0 : more;
    return padded;
  }
  /// The number by which devices compare calls on blocks with `own` indices on this device: the extent if it is the
  /// same on all devices, or the extent of the unevenly divided axis. −1, which is not compared, if each device has its
  /// own extent.
  [[nodiscard]] constexpr std::int64_t compared(std::int64_t own) const {
    return is_alike() ? own : whole >= 0 ? whole : -1;
  }
  friend bool operator==(extent_origin const& a, extent_origin const& b) {
    return a.whole == b.whole && a.over == b.over && a.shifted == b.shifted && a.halo == b.halo;
  }
};

}  // namespace ostraka::detail

namespace ostraka {

/// The extent of a block's axis on this device. It converts to a number, and `I = block.extent(I)` makes blocks with
/// the same extents on all devices. A number computed from it, `block.extent(I) + 2`, records whether all devices get
/// the same number.
class own_extent {
 public:
  own_extent(std::int64_t value, detail::extent_origin const& origin) : value_(value), origin_(origin) {}
  /// The number.
  operator std::int64_t() const { return value_; }
  /// For the library: the origin of the extent.
  [[nodiscard]] detail::extent_origin const& origin() const { return origin_; }

 private:
  std::int64_t value_;
  detail::extent_origin origin_;
};

namespace detail {

template <class A, class B>
concept OwnExtents = (std::same_as<A, own_extent> && (std::same_as<B, own_extent> || std::integral<B>)) ||
                     (std::integral<A> && std::same_as<B, own_extent>);

template <std::integral N>
bool same_on_all(N) {
  return true;
}
inline bool same_on_all(own_extent const& e) { return e.origin().is_alike(); }

template <class A, class B>
own_extent computed_extent(A const& a, B const& b, std::int64_t value) {
  return {value, same_on_all(a) && same_on_all(b) ? extent_origin{} : extent_origin{extent_origin::of_its_own, {}}};
}

}  // namespace detail

template <class A, class B>
  requires detail::OwnExtents<A, B>
[[nodiscard]] own_extent operator+(A const& a, B const& b) {
  return detail::computed_extent(a, b, static_cast<std::int64_t>(a) + static_cast<std::int64_t>(b));
}
template <class A, class B>
  requires detail::OwnExtents<A, B>
[[nodiscard]] own_extent operator-(A const& a, B const& b) {
  return detail::computed_extent(a, b, static_cast<std::int64_t>(a) - static_cast<std::int64_t>(b));
}
template <class A, class B>
  requires detail::OwnExtents<A, B>
[[nodiscard]] own_extent operator*(A const& a, B const& b) {
  return detail::computed_extent(a, b, static_cast<std::int64_t>(a) * static_cast<std::int64_t>(b));
}
template <class A, class B>
  requires detail::OwnExtents<A, B>
[[nodiscard]] own_extent operator/(A const& a, B const& b) {
  return detail::computed_extent(a, b, static_cast<std::int64_t>(a) / static_cast<std::int64_t>(b));
}

}  // namespace ostraka

namespace ostraka::detail {

/// The origins of the extents of a block's axes. Tensors that are not blocks do not store them.
template <int Rank>
using extent_origins = std::array<extent_origin, static_cast<std::size_t>(Rank)>;

/// The origin of the extent of `A` in a tensor or block that has this axis.
template <class A, class TensorType>
constexpr extent_origin origin_in(TensorType const& t) {
  if constexpr (varying_in<TensorType>::size > 0)
    return t.origins()[static_cast<std::size_t>(position_in<A, axes_in<TensorType>>)];
  else
    return {};
}

[[gnu::cold]] inline void throw_origins_differ(std::string_view operation, std::string_view axis) {
  throw_error(
      operation, ": blocks agree on the extent of an axis on every device, but ", axis,
      " was divided unevenly in one operand and not so in another; hand both to os::shard_map divided alike, or "
      "give extents that the mesh axes divide evenly");
}

/// The common origin of an axis in two operands. Throws, on all devices alike, if their origins differ. If one extent
/// is each device's own, the other origin is the result, because the extents themselves are compared.
inline extent_origin joined_origin(std::string_view operation, std::string_view axis, extent_origin const& a,
                                   extent_origin const& b) {
  if (a == b || b.whole == extent_origin::of_its_own) return a;
  if (a.whole == extent_origin::of_its_own) return b;
  throw_origins_differ(operation, axis);
  return a;
}

/// The origin of the axis `A` in the result of an operation on `operands`. At least one of them must have it.
template <class A, class First, class... Rest>
extent_origin origin_among(std::string_view operation, First const& first, Rest const&... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    return origin_in<A>(first);
  } else if constexpr (position_in<A, axes_in<First>> < 0) {
    return origin_among<A>(operation, rest...);
  } else if constexpr (is_one_of<type_list<A>, std::conditional_t<(position_in<A, axes_in<Rest>> >= 0), type_list<A>,
                                                                  type_list<>>...>) {
    return joined_origin(operation, A::name, origin_in<A>(first), origin_among<A>(operation, rest...));
  } else {
    return origin_in<A>(first);
  }
}

template <class... As, class... Operands>
extent_origins<static_cast<int>(sizeof...(As))> origins_of([[maybe_unused]] std::string_view operation,
                                                           type_list<As...>, Operands const&... operands) {
  return {origin_among<As>(operation, operands...)...};
}

}  // namespace ostraka::detail
