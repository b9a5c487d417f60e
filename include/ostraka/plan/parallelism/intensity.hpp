// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The work and the messages of a device, from plans, by the mesh axes that messages cross. Their ratio is the
/// arithmetic intensity of the parallelism along that mesh axis: operations per byte. A machine that can do more
/// operations while it sends a byte waits for its links.

#include <cstdint>

#include <ostraka/plan/parallelism/transformer.hpp>
#include <ostraka/plan/reshard/plan_reshard.hpp>
#include <ostraka/plan/search/plan_einsum.hpp>

namespace ostraka::planner {

/// The work of a device, and the bytes that it sends during the work along one mesh axis.
struct intensity {
  double flops = 0;
  double bytes = 0;               ///< on the wire: when n devices gather, each already has a part
  double bytes_in_the_limit = 0;  ///< the same times n/(n − 1), as the literature counts

  /// Operations per byte; 0 if nothing is sent.
  [[nodiscard]] constexpr double exact() const { return bytes > 0 ? flops / bytes : 0; }
  [[nodiscard]] constexpr double in_the_limit() const {
    return bytes_in_the_limit > 0 ? flops / bytes_in_the_limit : 0;
  }
};

/// A collective in which a device takes part.
struct layer_message {
  std::uint8_t along = 0;  ///< parallelisms as bits: several mesh axes together
  step kind = step::all_gather;
  std::int64_t ways = 1;  ///< devices along all of them
  double bytes = 0;       ///< bytes that the device sends
};

/// The work and messages of a device in a part of a step: the mean over all devices.
class layer_traffic {
 public:
  /// `ways`: the number of devices along each parallelism's mesh axis. `axis_of`: the number of a parallelism's mesh
  /// axis in plans; −1 if it has one device.
  constexpr layer_traffic(parallel_ways const& ways, int const (&axis_of)[parallelisms]) : ways_(ways) {
    for (int p = 0; p < parallelisms; ++p) axis_of_[p] = axis_of[p];
  }

  template <class Steps>
  constexpr void add_moves(Steps const& steps, extents const& e, int element_bytes) {
    for (planned_step const& s : steps) {
      if (!communicates(s.kind)) continue;
      double const moved = static_cast<double>(elements_moved(s, e)) * element_bytes / static_cast<double>(e.devices());
      unsigned along = 0;
      for (int p = 0; p < parallelisms; ++p)
        if (axis_of_[p] >= 0 && s.axes.contains(axis_of_[p])) along |= 1U << p;
      if (moved > 0) messages_.push_back({static_cast<std::uint8_t>(along), s.kind, e.ways(s.axes), moved});
    }
  }

  /// `share`: the fraction of the plan's products that is computed.
  constexpr void add(einsum_plan const& plan, extents const& e, int element_bytes, double share = 1) {
    add_moves(plan.steps, e, element_bytes);
    tensor_states tensors(plan);
    for (planned_step const& s : plan.steps) {
      if (contracts(s.kind)) flops_ += 2 * share * mean_products(tensors.of(s.left), tensors.of(s.right), e);
      tensors.after(s);
    }
  }

  [[nodiscard]] constexpr double flops() const { return flops_; }
  [[nodiscard]] constexpr auto const& messages() const { return messages_; }
  [[nodiscard]] constexpr parallel_ways const& ways() const { return ways_; }

  /// The messages that cross the mesh axis of this parallelism, alone or together with others.
  [[nodiscard]] constexpr intensity over(parallelism p) const {
    intensity i{flops_, 0, 0};
    for (layer_message const& m : messages_)
      if ((m.along >> static_cast<int>(p) & 1) != 0) {
        i.bytes += m.bytes;
        i.bytes_in_the_limit += m.bytes * static_cast<double>(m.ways) / static_cast<double>(m.ways - 1);
      }
    return i;
  }

 private:
  // Exact even for uneven blocks, because the blocks of a label add up to its extent.
  static constexpr double mean_products(spec const& left, spec const& right, extents const& e) {
    double n = 1;
    for (spec const* s : {&left, &right})
      for (int i = 0; i < s->rank; ++i)
        if (s == &left || left.find(s->label[i]) < 0)
          n *= static_cast<double>(e.label[s->label[i]]) / static_cast<double>(e.ways(s->over[i]));
    return n;
  }

  parallel_ways ways_;
  int axis_of_[parallelisms]{};
  double flops_ = 0;
  bounded_list<layer_message, 64> messages_{};
};

}  // namespace ostraka::planner
