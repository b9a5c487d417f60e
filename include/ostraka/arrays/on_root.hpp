// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A value that only device 0 has: the result of os::gather_to_root.

#include <string>
#include <utility>

#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

template <class View>
class on_root;

namespace detail {

inline constexpr int no_device = -1;       // of an absent mesh
inline constexpr int nothing_gathered = -2;

[[noreturn, gnu::cold]] inline void refuse_off_root(int device) {
  if (device == nothing_gathered)
    throw_error("gather_to_root: nothing has been gathered into this handle; assign what os::gather_to_root returns");
  throw_error(
      "gather_to_root: the elements are on device 0 alone, and this is ",
      device == no_device ? std::string("none of the mesh's devices") : join_text("device ", device),
      "; read them only where the result is true, as in if (whole) use(*whole), or have them on every device by "
      "os::reshard<I, J>(A)");
}

// The view on device 0, an empty view elsewhere: for functions that take the root's view on every device.
struct view_of_root {
  template <class View>
  static View const& in(on_root<View> const& whole) {
    return whole.whole_;
  }
};

}  // namespace detail

/// A view that only device 0 has. Like a std::optional it is true there and false elsewhere. Reading it elsewhere is an
/// error:
///
///     auto const whole = os::gather_to_root(A);
///     if (whole) print(*whole);
template <class View>
class on_root {
 public:
  using view_type = View;  ///< the type of the view

  /// Empty, until a view is assigned.
  on_root() = default;

  /// The view of device number `device`; empty if that is not 0.
  on_root(int device, View whole) : device_(device), whole_(std::move(whole)) {}

  /// True on device 0, which has the view.
  [[nodiscard]] explicit operator bool() const { return device_ == 0; }

  /// The view. For a temporary, returns another handle of the view, so that `auto const& v = *os::gather_to_root(A);`
  /// stays valid.
  /// @throws ostraka::error on devices other than 0
  [[nodiscard]] View const& operator*() const& {
    require_root();
    return whole_;
  }
  [[nodiscard]] View operator*() const&& {
    require_root();
    return whole_;
  }

  /// A member of the view. @throws ostraka::error on devices other than 0
  [[nodiscard]] View const* operator->() const {
    require_root();
    return &whole_;
  }

 private:
  void require_root() const {
    if (device_ != 0) detail::refuse_off_root(device_);
  }

  friend struct detail::view_of_root;

  int device_ = detail::nothing_gathered;
  View whole_;
};

}  // namespace ostraka
