// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::imbalance_of<E/X>(experts, E = 64)`: how unevenly tokens fall on experts, and the cost: the rows of
/// the device with the most, relative to a balanced device, and the rows that leave their device.
///
///     slowest device    dropless         rows of the device that has most / mean
///                       with a capacity  slots of the device that has most experts / mean of the rows kept

#include <cstdint>
#include <string>
#include <type_traits>

#include <ostraka/arrays/value.hpp>
#include <ostraka/experts/capacity.hpp>
#include <ostraka/experts/route.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

/// The result of os::imbalance_of, the same on all devices.
struct expert_imbalance {
  dynamic_array<std::int64_t> load;   ///< choices that fall on each expert, dropped ones included
  int devices = 1;                    ///< the number of devices among which the experts are divided
  std::int64_t off_device = 0;        ///< choices whose expert is on another device than their token
  std::int64_t dropped = 0;           ///< choices without a slot
  std::int64_t slots = 0;             ///< slots of all experts together; 0 without a capacity
  std::int64_t off_device_slots = 0;  ///< slots whose expert is on another device than their tokens

  /// The number of choices that name an expert.
  [[nodiscard]] std::int64_t choices() const { return of_experts(0, experts()); }
  /// The number of experts.
  [[nodiscard]] std::int64_t experts() const { return static_cast<std::int64_t>(load.size()); }

  /// The load of the most popular expert, relative to the mean: 1 if all have the same load, `experts()` if one has
  /// all.
  [[nodiscard]] double most_over_mean() const {
    std::int64_t most = 0;
    for (std::int64_t n : load) most = n > most ? n : most;
    return over(most, choices(), experts());
  }

  /// The rows that the slowest device multiplies, relative to a balanced device: the factor by which products take
  /// longer. With a capacity, a device multiplies all slots of its experts, even empty ones.
  [[nodiscard]] double slowest_over_balanced() const {
    std::int64_t most = 0;
    for (int d = 0; d < devices; ++d) {
      planner::range const own = planner::block(experts(), d, devices);
      std::int64_t const rows = slots > 0 ? slots / experts() * own.size() : of_experts(own.begin, own.end);
      most = rows > most ? rows : most;
    }
    return over(most, choices() - dropped, devices);
  }

  /// Bytes that all devices together send to experts and back in a forward, for rows of `row_bytes` bytes. With a
  /// capacity, all slots on other devices count, even empty ones. A backward moves the same.
  [[nodiscard]] std::int64_t bytes(std::int64_t row_bytes) const {
    return 2 * row_bytes * (slots > 0 ? off_device_slots : off_device);
  }

  /// The numbers as a line to print.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::int64_t of_experts(std::int64_t begin, std::int64_t end) const {
    std::int64_t sum = 0;
    for (std::int64_t e = begin; e < end; ++e) sum += load[static_cast<std::size_t>(e)];
    return sum;
  }
  static double over(std::int64_t most, std::int64_t all, std::int64_t parts) {
    return all == 0 ? 1 : static_cast<double>(most) * static_cast<double>(parts) / static_cast<double>(all);
  }
};

namespace operation {

struct imbalance_of {
  static constexpr char const* name = "imbalance_of";
};

}  // namespace operation

namespace detail {

[[gnu::cold]] inline std::string two_digits(double x) {
  auto const hundredths = static_cast<std::int64_t>(x * 100 + 0.5);
  std::string const rest = std::to_string(hundredths % 100);
  return join_text(hundredths / 100, '.', rest.size() < 2 ? "0" : "", rest);
}

// The sum over all devices of the numbers that `leave(numbers, own)` makes from this device's choices; `own` are its
// experts. If all devices of the experts have the same tokens, none leave.
template <class Dim, class Experts, class Leave>
std::int64_t count_leaving(Experts const& experts, std::int64_t count, Leave const& leave) {
  using marks = basic_tensor<std::int64_t, sharding_in<Experts>, typename Experts::space>;
  named_group const g = owners_of("imbalance_of", experts, typename axis_argument<Dim>::mesh{});
  if constexpr (difference_of<typename axis_argument<Dim>::mesh, mesh_axes_in<Experts>>::size > 0) return 0;
  auto const leaves = make_of_axes<marks>(experts.mesh_handle(), extents_of_axes_in(experts));
  if (!g.w.mesh->absent()) {
    dynamic_array<std::int64_t> numbers = engine::numbers_on_host(experts.local());
    leave(numbers, planner::block(count, g.number, g.size));
    engine::write_numbers<typename marks::view_type::memory_space>(numbers, leaves.local().data());
  }
  return value(ostraka::sum<>(leaves));
}

}  // namespace detail

/// `experts: 8, most popular 2.50 of the mean; slowest of 4 devices 1.75 of balanced; 96 of 128 rows travel`
[[gnu::cold]] inline std::string expert_imbalance::text() const {
  std::string t =
      join_text("experts: ", experts(), ", most popular ", detail::two_digits(most_over_mean()),
                " of the mean; slowest of ", devices, " devices ", detail::two_digits(slowest_over_balanced()),
                " of balanced; ", off_device, " of ", choices(), " rows travel");
  if (slots > 0) append_text(t, "; ", dropped, " dropped, ", slots, " slots");
  return t;
}

/// How unevenly the choices in `experts` […, K] fall on the experts, which are divided as `Dim` says. Collective; moves
/// one number for each expert.
template <auto Dim, Tensor Experts, class... Given>
[[nodiscard]] expert_imbalance imbalance_of(Experts const& experts, Given const&... given) {
  using argument = detail::axis_argument<detail::type_of<Dim>>;
  expert_imbalance r;
  if constexpr (reason::ok_or_raise<detail::is_an_axis_verdict<operation::imbalance_of, detail::type_of<Dim>>>()) {
    using E = typename argument::axis;
    auto const sizes = collect_sizes(given...);
    std::int64_t const count = detail::checked_extent<false, E>(sizes, "imbalance_of");
    r.devices = detail::owners_of("imbalance_of", experts, typename argument::mesh{}).size;
    r.load = engine::numbers_on_host(expert_load<E{}>(experts, E{} = count).local());
    r.off_device = detail::count_leaving<detail::type_of<Dim>>(experts, count, [&](auto& numbers, planner::range own) {
      for (std::int64_t& e : numbers) e = e >= 0 && e < count && (e < own.begin || e >= own.end) ? 1 : 0;
    });
  }
  return r;
}

/// The same with a capacity: also the dropped choices, and the slots.
template <auto Dim, Tensor Experts, class E, class C, class Numbers>
[[nodiscard]] expert_imbalance imbalance_of(Experts const& experts, expert_slots<E, C, Experts, Numbers> const& slots) {
  expert_imbalance r = imbalance_of<Dim>(experts, E{} = slots.own().whole[0]);
  std::int64_t groups = 1;
  for (std::size_t i = 0; i + 2 < experts.extents().size(); ++i) groups *= experts.extents()[i];
  r.slots = groups * slots.own().whole[0] * slots.own().whole[1];
  // The number of a group is at its first choice.
  auto const of_group =
      static_cast<std::size_t>(experts.extents()[Experts::rank - 2] * experts.extents()[Experts::rank - 1]);
  r.off_device_slots =
      detail::count_leaving<detail::type_of<Dim>>(experts, r.experts(), [&](auto& numbers, planner::range own) {
        for (std::size_t i = 0; i < numbers.size(); ++i)
          numbers[i] = i % of_group == 0 ? (r.experts() - own.size()) * slots.own().whole[1] : 0;
      });
  auto const kept = cast<std::int64_t>(slots.numbers >= std::int64_t(0));
  r.dropped = r.choices() - value(ostraka::sum<>(kept));
  return r;
}

}  // namespace ostraka
