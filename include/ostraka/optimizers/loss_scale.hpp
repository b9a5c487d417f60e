// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Dynamic loss scaling (Micikevicius and others, Mixed precision training, 2018), for gradients in float16,
/// which vanish below 6e-8; bfloat16 and float need none. The loss is multiplied before the derivative is taken, and
/// the gradients are divided afterwards. A step whose gradients are not finite is skipped:
///
///     auto [loss, g] = os::value_and_grad([&](auto const& p, auto const& x) { return scaling(f(p, x)); })(params, x);
///     if (scaling.unscale(g)) optimizer.update(params, g, state);

#include <cstdint>
#include <type_traits>

#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/optimizers/clip.hpp>

namespace ostraka {

namespace detail {

template <class A>
consteval auto check_unscale() {
  if constexpr (std::is_same_v<std::remove_const_t<typename A::value_type>, float16>)
    return found<reason::unscaled_in_float16<A>>{};
  else
    return found<reason::ok>{};
}

/// Divides a leaf by the factor of a loss, in place.
struct unscale_leaf {
  scale_leaf scale;
  template <class A>
  void operator()(path const& at, A const& a) const {
    if constexpr (reason::ok_or_raise<typename decltype(check_unscale<A>())::type>()) scale(at, a);
  }
};

}  // namespace detail

/// The factor that scales a loss. It shrinks when gradients overflow, and grows after many steps without overflow.
struct loss_scale {
  double factor = 65536;         ///< the loss is multiplied by it
  double growth = 2;             ///< the factor is multiplied by it when it grows
  double backoff = 0.5;          ///< the factor is multiplied by it after an overflow
  std::int64_t interval = 2000;  ///< steps without overflow until the factor grows
  std::int64_t since = 0;        ///< steps since the factor changed

  /// The loss times the factor. A loss of 16 bits would overflow: convert it first with os::cast<float>(loss).
  template <class Loss>
  [[nodiscard]] auto operator()(Loss const& loss) const {
    using number = detail::real_of<accumulator_of_t<typename Loss::value_type>>;
    return scale(loss, static_cast<number>(factor));
  }

  /// Divides gradients by the factor, in place, and returns true if they are finite; then adjusts the factor. Moves one
  /// all-reduce of one number. Refuses gradients in float16, because small values that the scale preserved would vanish
  /// again. If the parameters are floats that the loss casts, their gradients are floats; convert other gradients by
  /// os::tree_cast<float>(gradients).
  template <class G>
  [[nodiscard]] bool unscale(G const& gradients) {
    bool const finite = all_finite(gradients);
    if (finite) detail::change_leaves(detail::unscale_leaf{{"unscale", 1 / factor}}, gradients);
    if (!finite) {
      factor *= backoff;
      since = 0;
    } else if (++since >= interval) {
      factor *= growth;
      since = 0;
    }
    return finite;
  }
};

}  // namespace ostraka
