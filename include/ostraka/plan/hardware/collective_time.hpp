// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Seconds of a collective over n devices along one mesh axis, or over several together. V is the bytes of the
/// whole array as other mesh axes split it: a gather's result, the operand of a reduce-scatter or an all-reduce, the
/// data of all devices of an all-to-all together. For a permute it is one message. w is a link's rate one way, W = 2 w
/// both ways, and t a hop. α and 1/β are the hop and the rate of a switched link.
///
///     along one axis   ring (W both ways)                    line                             switched
///     all_gather       max((n−1)/n · V/W, ⌊n/2⌋ t)           max((n−1)/n · V/w, (n−1) t)      (n−1) α + (n−1)/n · Vβ
///     reduce_scatter   the same                              the same                         the same
///     all_reduce       twice that                            twice that                       2⌈log₂n⌉α + 2(n−1)/n·Vβ
///     all_to_all       max(V/4W, ⌊n/2⌋ t), n even            max(⌊n/2⌋⌈n/2⌉/n² · V/w,         (n−1) α + (n−1)/n² · Vβ
///                      V (n²−1)/4n²W, n odd                      (n−1) t)
///     permute          max(V/w, t): to the next device       the same                         α + Vβ
///     shift            the same                              max(V/w, (n−1) t)                the same
///     to_root          max((n−1)/n · V/W, ⌊n/2⌋ t)           as all_gather                    as all_gather
///
/// A ring that is too short to wrap is a line (link::wraps_from). A shift is a permute in which the last device sends
/// to the first. On a line, that message goes back over all links, against the direction of the others.
///
/// So an all-to-all takes n/(4(n−1)) of a gather on a ring of even n, and (n+1)/(4n) on one of odd n. If both
/// directions share a link, collectives take twice as long by bandwidth, except a permute along a ring or line and a
/// shift along a ring. A gather on a line then takes V/w.
///
/// Several axes are a torus if all are rings or lines of the same rate. A gather over a torus takes (N−1)/N · V/Σ,
/// where Σ adds W for each ring and w for each line, or the hops of all axes. An all-to-all takes the slowest axis'
/// share (each byte goes along each axis in turn). Other axes are levels. A gather passes the slowest level first,
/// which then carries only V divided by the number of devices of the faster levels. The levels overlap, so the slowest
/// one counts. Axes with equal switched links share one switch, and are one level of all their devices. β of a switched
/// link is that of messages of a size (rates_by_size.hpp): V/n in gathers and reduce-scatters, V/n² in all-to-alls,
/// V/2, V/4, … in all-reduces, which halve.
///
/// Sources: rings, tori and levels: "How to Scale Your Model" (Austin et al., 2025), chapters on sharding and on GPUs;
/// α, β and γ: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH" (2005).

#include <cstdint>

#include <ostraka/plan/hardware/link.hpp>
#include <ostraka/plan/hardware/machine_data.hpp>
#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner {

enum class collective : std::uint8_t { all_gather, reduce_scatter, all_reduce, all_to_all, permute, shift, to_root };

/// One mesh axis of a collective: its links, and the number of devices that they connect.
struct level {
  link links{};
  std::int64_t ways = 1;
};

namespace detail {

// Bytes that a device receives per second if all devices send and receive.
constexpr double rate_of(link const& l) {
  double const one_way = l.both_ways ? l.bytes_per_second : l.bytes_per_second / 2;
  return l.shape == link_shape::ring ? 2 * one_way : one_way;
}

// The number of hops to the farthest device.
constexpr double hops(link const& l, std::int64_t n) {
  return static_cast<double>(l.shape == link_shape::ring ? n / 2 : n - 1);
}

constexpr double hops_of_logarithm(std::int64_t n) {
  int k = 0;
  while ((std::int64_t{1} << k) < n) ++k;
  return k;
}

// The load of an all-to-all on a link, as a multiple of the bytes that each device has for all n devices along the
// axis, for `rate_of` as the rate: the mean distance on a ring, the load of the middle link on a line, the part that
// leaves a device through a switch.
constexpr double load_of_all_to_all(link const& l, std::int64_t ways) {
  double const n = static_cast<double>(ways);
  if (l.shape == link_shape::switched) return (n - 1) / n;
  double const low = static_cast<double>(ways / 2);
  return low * (n - low) / n;
}

constexpr double larger(double a, double b) { return a > b ? a : b; }

constexpr bool share_a_switch(link const& a, link const& b) { return a.shape == link_shape::switched && a == b; }

constexpr bool is_one_torus(level const* levels, int count) {
  for (int i = 0; i < count; ++i)
    if (levels[i].links.shape == link_shape::switched ||
        levels[i].links.bytes_per_second != levels[0].links.bytes_per_second ||
        levels[i].links.both_ways != levels[0].links.both_ways)
      return false;
  return true;
}

// The mean slowdown over all bytes of the messages of V/2, V/4, …, which a halving collective sends among n devices.
constexpr double slowdown_by_halving(link const& l, std::int64_t n, double bytes) {
  double slow = 0;
  double plain = 0;
  for (std::int64_t k = 1; k < n; k *= 2) {
    bytes /= 2;
    slow += slowdown(l, bytes) * bytes;
    plain += bytes;
  }
  return plain > 0 ? slow / plain : 1;
}

// A gather of V bytes along one axis; `by_halving` if it is part of an all-reduce.
constexpr double gather_seconds(link const& l, std::int64_t n, double bytes, bool by_halving) {
  bool const shared_line = l.shape == link_shape::line && !l.both_ways;  // every part passes each link in both
                                                                         // directions
  double const wire = shared_line ? bytes / l.bytes_per_second
                                  : static_cast<double>(n - 1) / static_cast<double>(n) * bytes / rate_of(l);
  if (l.shape == link_shape::switched) {
    double const part = bytes / static_cast<double>(n);
    double const messages = by_halving ? hops_of_logarithm(n) : static_cast<double>(n - 1);
    return messages * message_seconds(l, part) +
           wire * (by_halving ? slowdown_by_halving(l, n, bytes) : slowdown(l, part));
  }
  return larger(wire, hops(l, n) * l.hop_seconds);
}

constexpr double gather_seconds(level const* levels, int count, double bytes, bool by_halving) {
  if (count > 1 && is_one_torus(levels, count)) {
    double rate = 0;
    double latency = 0;
    double all = 1;
    for (int i = 0; i < count; ++i) {
      rate += rate_of(levels[i].links);
      latency += hops(levels[i].links, levels[i].ways) * levels[i].links.hop_seconds;
      all *= static_cast<double>(levels[i].ways);
    }
    return larger((all - 1) / all * bytes / rate, latency);
  }
  double slowest = 0;
  for (int i = 0; i < count; ++i) {
    double part = bytes;  // the part that remains after division by the faster levels, and by later ones of equal speed
    for (int k = 0; k < count; ++k) {
      double const mine = rate_of(levels[i].links);
      double const other = rate_of(levels[k].links);
      if (other > mine || (other == mine && k > i)) part /= static_cast<double>(levels[k].ways);
    }
    std::int64_t const n = levels[i].ways;
    slowest = larger(slowest, gather_seconds(levels[i].links, n, part, by_halving));
  }
  return slowest;
}

constexpr double all_to_all_seconds(level const* levels, int count, double bytes) {
  double all = 1;
  for (int i = 0; i < count; ++i) all *= static_cast<double>(levels[i].ways);
  double slowest = 0;
  double latency = 0;
  double messages = 0;
  for (int i = 0; i < count; ++i) {
    link const& l = levels[i].links;
    double const wire = bytes / all * load_of_all_to_all(l, levels[i].ways) / rate_of(l);
    double const message = bytes / all / static_cast<double>(levels[i].ways);
    bool const switched = l.shape == link_shape::switched;
    slowest = larger(slowest, switched ? wire * slowdown(l, message) : wire);
    if (switched)
      messages += static_cast<double>(levels[i].ways - 1) * message_seconds(l, message);
    else
      latency += hops(l, levels[i].ways) * l.hop_seconds;
  }
  return messages + larger(slowest, latency);
}

constexpr double permute_seconds(level const* levels, int count, double bytes, bool round) {
  double slowest = 0;
  for (int i = 0; i < count; ++i) {
    link const& l = levels[i].links;
    double const wire = bytes / (l.shape == link_shape::switched ? rate_of(l) : l.bytes_per_second);
    bool const back = round && l.shape == link_shape::line;  // the message from the last device to the first
    double const neighbour =
        larger(back ? hops(l, levels[i].ways) * l.hop_seconds : l.hop_seconds, back && !l.both_ways ? 2 * wire : wire);
    slowest = larger(
        slowest, l.shape == link_shape::switched ? message_seconds(l, bytes) + wire * slowdown(l, bytes) : neighbour);
  }
  return slowest;
}

}  // namespace detail

/// Seconds of a collective over several mesh axes together. Axes of one device do not count.
/// @pre at most 16 axes
[[nodiscard]] constexpr double seconds(level const* levels, int count, collective what, double bytes) {
  level divided[machine::max_named]{};
  int n = 0;
  for (int i = 0; i < count; ++i) {
    if (levels[i].ways < 2) continue;
    int same = 0;
    while (same < n && !detail::share_a_switch(divided[same].links, levels[i].links)) ++same;
    if (same < n)
      divided[same].ways *= levels[i].ways;
    else
      divided[n++] = {along_axis(levels[i].links, levels[i].ways), levels[i].ways};
  }
  if (n == 0) return 0;
  switch (what) {
    case collective::all_reduce:
      return 2 * detail::gather_seconds(divided, n, bytes, true);
    case collective::all_to_all:
      return detail::all_to_all_seconds(divided, n, bytes);
    case collective::permute:
    case collective::shift:
      return detail::permute_seconds(divided, n, bytes, what == collective::shift);
    default:
      return detail::gather_seconds(divided, n, bytes, false);
  }
}

/// Seconds of a collective along one mesh axis.
[[nodiscard]] constexpr double seconds(link const& l, collective what, std::int64_t ways, double bytes) {
  level const one{l, ways};
  return seconds(&one, 1, what, bytes);
}

/// The collective of a step of a plan; a block exchange counts as an all-to-all.
/// @pre communicates(s)
[[nodiscard]] constexpr collective collective_of(step s) {
  return s == step::all_gather       ? collective::all_gather
         : s == step::reduce_scatter ? collective::reduce_scatter
         : s == step::all_reduce     ? collective::all_reduce
                                     : collective::all_to_all;
}

/// V of a collective in which a device sends, or receives, `moved_per_device` bytes, as plans count them: the inverse
/// of the table at the head of plan/spec/step.hpp.
[[nodiscard]] constexpr double whole_bytes(collective what, std::int64_t ways, double moved_per_device) {
  double const n = static_cast<double>(ways);
  if (ways < 2 || what == collective::permute || what == collective::shift) return moved_per_device;
  if (what == collective::all_to_all) return moved_per_device * n * n / (n - 1);
  return moved_per_device * n / (n - 1) / (what == collective::all_reduce ? 2 : 1);
}

/// Seconds in which a device adds the data that arrives in a reduction of V bytes over `ways` devices, (n−1)/n · Vγ:
/// for each part that is not its own it reads two and writes one. For an all-reduce, uses the machine's number if there
/// is one. `touched`: as for memory_seconds.
[[nodiscard]] constexpr double reduction_seconds(machine const& m, collective what, std::int64_t ways, double bytes,
                                                 double touched = 0) {
  bool const reduces = what == collective::reduce_scatter || what == collective::all_reduce;
  double const n = static_cast<double>(ways);
  if (!reduces || ways < 2) return 0;
  if (what == collective::all_reduce && (m.reduction_bytes_per_second > 0 || m.reductions_of_size.count > 0))
    return seconds_at(m.reduction_bytes_per_second, m.reductions_of_size, (n - 1) / n * bytes);
  return memory_seconds(m, 3 * (n - 1) / n * bytes, touched);
}

}  // namespace ostraka::planner
