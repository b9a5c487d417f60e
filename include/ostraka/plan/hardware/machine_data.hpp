// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A machine as data: the rates at which one device computes and reads, its memory, and the links to others
/// along each mesh axis. Predictions of time read it. Plans are chosen without it, so they are the same on every
/// machine.
///
///     constexpr planner::machine pods = machines::tpu_v5p.with("P", machines::tpu_v5p_network);
///     pods.along("P").bytes_per_second, pods.flops_per_second.of(2)

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include <ostraka/plan/hardware/link.hpp>
#include <ostraka/plan/hardware/rates_by_size.hpp>

namespace ostraka::planner {

/// A short text that a constant holds. Longer text is cut.
template <std::size_t N>
struct short_text {
  char text[N]{};

  constexpr short_text() = default;
  template <class Text>
    requires std::is_convertible_v<Text const&, std::string_view>
  constexpr short_text(Text const& given) {
    std::string_view const s = given;
    for (std::size_t i = 0; i < s.size() && i + 1 < N; ++i) text[i] = s[i];
  }
  [[nodiscard]] constexpr std::string_view view() const { return std::string_view(text); }
  friend constexpr bool operator==(short_text const&, short_text const&) = default;
};

/// Multiplications and additions per second in products of elements of a type; 0 if the machine does not multiply such
/// elements.
struct compute_rates {
  double float64 = 0;
  double float32 = 0;
  double float16 = 0;  ///< of 16 bits: float16 and bfloat16
  double int8 = 0;     ///< of 8 bits, including floating point

  /// The rate for elements of `element_bytes` bytes.
  [[nodiscard]] constexpr double of(std::int64_t element_bytes) const {
    return element_bytes >= 8 ? float64 : element_bytes >= 4 ? float32 : element_bytes >= 2 ? float16 : int8;
  }
  friend constexpr bool operator==(compute_rates const&, compute_rates const&) = default;
};

/// The links along the mesh axis of this name. Only the first 31 characters distinguish names.
struct axis_links {
  short_text<32> mesh_axis;
  link links{};

  friend constexpr bool operator==(axis_links const&, axis_links const&) = default;
};

/// A machine as data: what a device computes, reads and holds, and the links between devices.
struct machine {
  static constexpr int max_named = 16;

  short_text<64> name;
  compute_rates flops_per_second{};  ///< of products of large matrices
  /// The shares of these rates that products reach, by their intensity: flops per element of operands and result, which
  /// is 2n/3 for n × n matrices. Between two sizes, time is linear in flops and elements, as if each element had a cost
  /// in addition to its flops. A product below the first size is not a matrix product and runs at the full rate,
  /// because memory bounds it.
  rates_by_size shares{};
  double memory_bytes_per_second = 0;
  double memory_bytes = 0;
  /// For work that touches at most `cache_bytes`; 0 if the cache is not distinguished.
  double cache_bytes_per_second = 0;
  double cache_bytes = 0;
  /// Rates by the number of bytes that an operation touches; replaces `memory_bytes_per_second` if it has entries.
  rates_by_size memory_of_size{};
  /// The part of the shorter of computing and reading that is not hidden: from 0, a roofline, to 1, one after the
  /// other.
  double memory_waits = 0;
  /// Bytes that a device reduces per second in an all-reduce, including all work except messages: 1/γ of Thakur,
  /// Rabenseifner, Gropp (2005). 0: two reads and a write of its memory.
  double reduction_bytes_per_second = 0;
  rates_by_size reductions_of_size{};
  /// The fixed time of an operation in addition to computing and moving: a kernel's launch, a call's overhead.
  double operation_seconds = 0;
  link links{};          ///< along mesh axes that are not named here
  link between_nodes{};  ///< for mesh axes that span nodes; 0 bytes per second: as along the mesh axis
  int named = 0;
  axis_links of_axis[max_named]{};

  /// The same machine with other links along the mesh axis of this name. A seventeenth name replaces the last one.
  [[nodiscard]] constexpr machine with(std::string_view mesh_axis, link const& l) const {
    machine m = *this;
    int i = m.find(mesh_axis);
    if (i == max_named) --i;
    if (i == m.named) ++m.named;
    m.of_axis[i] = {mesh_axis, l};
    return m;
  }

  /// The links along a mesh axis.
  [[nodiscard]] constexpr link const& along(std::string_view mesh_axis) const {
    int const i = find(mesh_axis);
    return i < named ? of_axis[i].links : links;
  }

  friend constexpr bool operator==(machine const&, machine const&) = default;

 private:
  [[nodiscard]] constexpr int find(std::string_view mesh_axis) const {
    short_text<32> const name_of_axis = mesh_axis;  // cut as the stored names are
    int i = 0;
    while (i < named && !(of_axis[i].mesh_axis == name_of_axis)) ++i;
    return i;
  }
};

/// Seconds in which a device reads and writes `bytes` bytes, each once. The rate is the one for all bytes that the
/// operation touches, if these are more, because data that has left the cache comes from memory when it is touched
/// again.
[[nodiscard]] constexpr double memory_seconds(machine const& m, double bytes, double touched = 0) {
  double const all = touched > bytes ? touched : bytes;
  bool const cached = m.cache_bytes_per_second > 0 && all <= m.cache_bytes;
  double const rate = cached ? m.cache_bytes_per_second : m.memory_bytes_per_second;
  if (!(bytes > 0) || (rate == 0 && m.memory_of_size.count == 0)) return 0;
  return cached ? bytes / rate : seconds_at(rate, m.memory_of_size, all) * (bytes / all);
}

/// Seconds in which a device computes `flops` on elements of `element_bytes` bytes and reads and writes `bytes` bytes
/// of its memory: the longer of the two times (the roofline of Williams, Waterman, Patterson, 2009), and the part of
/// the shorter one that the machine does not hide. If bytes are given, flops and bytes together determine the share of
/// the rate that a product reaches. Infinite if the machine does not multiply such elements. `touched`: as for
/// memory_seconds.
[[nodiscard]] constexpr double local_seconds(machine const& m, double flops, std::int64_t element_bytes, double bytes,
                                             double touched = 0) {
  double const intensity = bytes > 0 ? flops * static_cast<double>(element_bytes) / bytes : 0;
  double const share = intensity > 0 ? intensity / seconds_at(1, m.shares, intensity) : 1;
  double const rate = m.flops_per_second.of(element_bytes) * share;
  double const computing = flops > 0 ? (rate > 0 ? flops / rate : std::numeric_limits<double>::infinity()) : 0;
  double const reading = memory_seconds(m, bytes, touched);
  return computing > reading ? computing + m.memory_waits * reading : reading + m.memory_waits * computing;
}

}  // namespace ostraka::planner
