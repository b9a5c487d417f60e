// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The links between the devices along one mesh axis: their bytes per second, the time of a hop, and their
/// shape. These are numbers of a machine, never of a program.
///
///     ring      o – o – o – o        each device has two neighbours; the ends are joined: a torus' axis that wraps
///               └───────────┘        (`wraps_from`: a short one does not, and is a line)
///     line      o – o – o – o        the same without the wrap
///     switched  each device has one link to a switch that joins all: a message takes hop_seconds + bytes /
///               bytes_per_second, between any two devices (α and β of MPI's cost models)

#include <cstdint>

#include <ostraka/plan/hardware/rates_by_size.hpp>

namespace ostraka::planner {

/// How devices along a mesh axis are joined: in a ring, in a line, or through a switch.
enum class link_shape : std::uint8_t { ring, line, switched };

/// The links of one mesh axis: their shape, rate and latency.
struct link {
  /// The rate of one link, one way: to one neighbour, or into the switch.
  double bytes_per_second = 0;
  /// The time in which a short message travels one hop, or through the switch, including software.
  double hop_seconds = 0;
  link_shape shape = link_shape::switched;
  /// True if a link carries this rate both ways at once; otherwise both directions share it.
  bool both_ways = true;
  /// Through a switch: the additional time of a message of more than `handshake_bytes`, whose sender first asks the
  /// receiver (the rendezvous of MPI libraries; Ino, Fujimoto, Hagihara, "LogGPS", 2001). 0: there is none.
  double handshake_seconds = 0;
  double handshake_bytes = 0;
  /// True if bytes move while the device computes. False if its processors copy them, as in shared memory.
  bool overlaps = true;
  /// Through a switch: rates of messages of some sizes, one way like `bytes_per_second`, which holds for shorter ones.
  rates_by_size of_size{};
  /// The same for messages of rows that the transport reads or writes in place (MPI's strided types); for longer
  /// messages, the cost of packing is added. These rates include everything else: no hop and no handshake is added.
  /// Without entries, such messages are priced like any other.
  rates_by_size of_rows{};
  /// The length of the shortest axis that wraps; a ring of fewer devices is a line. 0: every axis wraps.
  std::int64_t wraps_from = 0;

  friend constexpr bool operator==(link const&, link const&) = default;
};

/// α: the time until a message of `bytes` bytes begins to arrive through a switch.
[[nodiscard]] constexpr double message_seconds(link const& l, double bytes) {
  return l.hop_seconds + (bytes > l.handshake_bytes ? l.handshake_seconds : 0);
}

/// The factor by which a byte of a message of this size takes longer than `bytes_per_second` says.
[[nodiscard]] constexpr double slowdown(link const& l, double bytes) {
  if (l.of_size.count == 0 || !(bytes > 0)) return 1;
  return seconds_at(l.bytes_per_second, l.of_size, bytes) * l.bytes_per_second / bytes;
}

/// The link for messages of rows.
[[nodiscard]] constexpr link for_rows(link l) {
  if (l.of_rows.count == 0) return l;
  l.bytes_per_second = l.of_rows.at[0].rate;
  l.of_size = l.of_rows;
  l.hop_seconds = l.handshake_seconds = 0;
  return l;
}

/// The link for an axis of `ways` devices: a ring that is too short to wrap is a line.
[[nodiscard]] constexpr link along_axis(link l, std::int64_t ways) {
  if (l.shape == link_shape::ring && ways < l.wraps_from) l.shape = link_shape::line;
  return l;
}

/// "ring", "line", "switched".
[[nodiscard]] constexpr char const* name_of(link_shape s) {
  return s == link_shape::ring ? "ring" : s == link_shape::line ? "line" : "switched";
}

}  // namespace ostraka::planner
