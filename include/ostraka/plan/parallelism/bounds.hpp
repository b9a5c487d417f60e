// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The bounds of a parallelism on a machine: whether its links carry the messages in the time in which the
/// devices do the computation between them. A device that does C operations a second and sends W bytes a second needs
/// C/W operations for each byte. The machine's links along the mesh axis of a parallelism have its name
/// (machine::with("tensor", …)).

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/hardware/collective_time.hpp>
#include <ostraka/plan/parallelism/question_checks.hpp>
#include <ostraka/plan/parallelism/stages.hpp>

namespace ostraka::planner {

/// C/W of a machine along links, where W is the rate at which a device receives a gather over many devices: the
/// literature's arithmetic intensity of the hardware.
[[nodiscard]] constexpr double hardware_intensity(machine const& m, link const& l, std::int64_t element_bytes = 2) {
  link wires = l;
  wires.hop_seconds = wires.handshake_seconds = 0;
  if (l.of_size.count > 0) wires.bytes_per_second = l.of_size.last().rate;  // of long messages
  wires.of_size = rates_by_size();
  constexpr std::int64_t many = std::int64_t{1} << 60;  // so that (n − 1)/n is 1
  double const rate = 1 / seconds(wires, collective::all_gather, many, 1.0);
  return m.flops_per_second.of(element_bytes) / rate;
}

/// The seconds in which a device computes, and the seconds that its messages over some mesh axes take. Messages of one
/// parallelism delay each other but, with perfect overlap, not the computation.
struct pass_time {
  double computing = 0;
  double sending = 0;

  /// True if computing takes longer than sending.
  [[nodiscard]] constexpr bool keeps_up() const { return sending <= computing; }
  /// The time if messages are hidden behind computing.
  [[nodiscard]] constexpr double seconds() const { return std::max(computing, sending); }
};

/// The time of a pass, with the messages that cross mesh axes of `along` (parallelisms as bits).
[[nodiscard]] constexpr pass_time time_of_pass(layer_traffic const& t, transformer_shape const& shape, machine const& m,
                                               unsigned along) {
  pass_time time{local_seconds(m, t.flops(), shape.element_bytes, 0), 0};
  for (layer_message const& message : t.messages()) {
    if ((message.along & along) == 0) continue;
    level levels[parallelisms]{};
    int count = 0;
    for (int p = 0; p < parallelisms; ++p) {
      auto const kind = static_cast<parallelism>(p);
      if ((message.along >> p & 1) != 0) levels[count++] = {m.along(name_of(kind)), t.ways().of(kind)};
    }
    collective const what = collective_of(message.kind);
    time.sending += seconds(levels, count, what, whole_bytes(what, message.ways, message.bytes));
  }
  return time;
}

/// How far one parallelism reaches on a machine.
struct parallelism_reach {
  parallelism kind = parallelism::data;
  std::int64_t ways = 1;           ///< the most ways at which links keep up, among even divisions; 1: none
  std::int64_t next_ways = 0;      ///< the fewest ways at which they do not; 0: none
  std::int64_t ways_of_sizes = 1;  ///< the most ways into which the model and the batch can be divided
  double intensity = 0;            ///< operations per byte, at `ways`; at the fewest ways, if links never keep up
  double needed = 0;               ///< operations per byte that the machine needs, at the same number of ways
  double bubble = 0;               ///< for a pipeline with one sequence per microbatch: the idle part of its time

  /// True if links limit the number of ways; otherwise the sizes do.
  [[nodiscard]] constexpr bool is_bound_by_links() const { return ways < ways_of_sizes; }
};

namespace detail {

constexpr std::int64_t divided_by(parallelism p, transformer_shape const& m, token_batch const& b) {
  switch (p) {
    case parallelism::tensor: return m.heads_of_keys();
    case parallelism::context: return b.length;
    case parallelism::expert: return m.experts;
    case parallelism::pipeline: return m.layers;
    default: return b.sequences;
  }
}

// The smallest divisor of `whole` above `above`; 0 if there is none.
constexpr std::int64_t next_divisor(std::int64_t whole, std::int64_t above) {
  std::int64_t least = above < whole ? whole : 0;
  for (std::int64_t n = 1; n * n <= whole; ++n) {
    if (whole % n != 0) continue;
    if (n > above) return std::min(n, least);
    if (whole / n > above) least = std::min(least, whole / n);
  }
  return least;
}

struct pass_of {
  pass_time time{};
  double intensity = 0;
};

// The pass that waits the longest for its links, forward or backward.
constexpr pass_of worst_pass(parallelism p, transformer_shape const& shape, token_batch const& b, machine const& m,
                             std::int64_t n) {
  parallel_ways const ways = parallel_ways{}.with(p, n);
  if (p == parallelism::pipeline) {
    pipeline_schedule const s{.stages = static_cast<int>(n), .microbatches = static_cast<int>(b.sequences)};
    intensity const all = stage_traffic(shape, b, s);
    std::int64_t const activation = b.length * shape.width * shape.element_bytes;
    double const sending = seconds(m.along(name_of(p)), collective::permute, n, static_cast<double>(activation));
    double const slots = static_cast<double>(s.busy_slots());
    return {{local_seconds(m, all.flops / slots, shape.element_bytes, 0), sending}, all.exact()};
  }
  sublayer_traffic const t =
      p == parallelism::context ? attention_traffic(shape, b, ways) : feed_forward_traffic(shape, b, ways);
  pass_of worst;
  for (layer_traffic const* pass : {&t.forward, &t.backward}) {
    pass_time const time = time_of_pass(*pass, shape, m, 1U << static_cast<int>(p));
    if (time.sending * worst.time.computing >= worst.time.sending * time.computing)
      worst = {time, pass->over(p).exact()};
  }
  return worst;
}

}  // namespace detail

/// The reach of one parallelism alone, on the whole batch. Attention bounds context parallelism, which gathers weights
/// as fully sharded does; the feed-forward sublayer bounds all others.
/// @throws ostraka::error for impossible sizes or an impossible machine
[[nodiscard]] constexpr parallelism_reach reach_of(parallelism p, transformer_shape const& shape,
                                                   token_batch const& b, machine const& m) {
  check_parallelism("reach_of", shape, b, m, p);
  parallelism_reach r{.kind = p};
  std::int64_t const whole = detail::divided_by(p, shape, b);
  bool first = true;
  for (std::int64_t n = detail::next_divisor(whole, 1); n > 0; n = detail::next_divisor(whole, n)) {
    r.ways_of_sizes = n;
    detail::pass_of const pass = detail::worst_pass(p, shape, b, m, n);
    bool const keeps_up = pass.time.keeps_up();
    if (keeps_up) r.ways = n;
    r.next_ways = keeps_up ? 0 : r.next_ways > 0 ? r.next_ways : n;
    if (keeps_up || first) {
      r.intensity = pass.intensity;
      r.needed = pass.time.computing > 0 ? pass.intensity * pass.time.sending / pass.time.computing : 0;
    }
    first = false;
  }
  if (p == parallelism::pipeline && r.ways > 1)
    r.bubble = pipeline_schedule{.stages = static_cast<int>(r.ways), .microbatches = static_cast<int>(b.sequences)}
                   .bubble();
  return r;
}

/// Tensor and fully sharded parallelism together on the same devices.
struct mixed_ways {
  parallel_ways ways{};
  pass_time forward{};  ///< of the feed-forward sublayer: with the messages of both, one after the other
};

/// The mixture at which the messages of a feed-forward sublayer take the least time: more tensor parallelism for few
/// tokens, less for many ("How to Scale Your Model": X = √(B/F · M_X/M_Y · N) for fully sharded). Tokens may be divided
/// within sequences. If the number of devices divides neither dimension, the mixture is one device.
/// @throws ostraka::error for impossible sizes or an impossible machine
[[nodiscard]] constexpr mixed_ways best_mixture(transformer_shape const& shape, std::int64_t tokens, machine const& m,
                                                std::int64_t devices) {
  for (parallelism p : {parallelism::tensor, parallelism::fully_sharded})
    check_parallelism("best_mixture", shape, {1, shape.experts}, m, p);
  check_counts("best_mixture", shape, tokens, std::min(devices, shape.inner), devices);
  mixed_ways best;
  bool none = true;
  unsigned const both =
      1U << static_cast<int>(parallelism::tensor) | 1U << static_cast<int>(parallelism::fully_sharded);
  for (std::int64_t tensor = 1; tensor > 0 && tensor <= shape.inner; tensor = detail::next_divisor(devices, tensor)) {
    if (devices / tensor * shape.experts > tokens * shape.active) continue;
    parallel_ways const ways{.fully_sharded = devices / tensor, .tensor = tensor};
    auto const t = feed_forward_traffic(shape, {ways.fully_sharded, tokens / ways.fully_sharded}, ways).forward;
    pass_time const time = time_of_pass(t, shape, m, both);
    if (none || time.sending < best.forward.sending) best = {ways, time};
    none = false;
  }
  return best;
}

}  // namespace ostraka::planner
