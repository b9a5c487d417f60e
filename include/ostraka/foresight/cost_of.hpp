// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The cost of a part of a program for a device, counted while it runs: bytes and messages that the device
/// sends, by mesh axes, and its peak memory. Works on a mesh of devices and on a dry mesh.
///
///     os::cost const c = os::cost_of(mesh, [&] { step(); });
///     c.bytes, c.bytes_over(X), c.messages, c.peak_memory

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/memory_counter.hpp>
#include <ostraka/foresight/priced_run.hpp>

namespace ostraka {

using engine::memory_counter;

/// The cost of a part of a program for this device.
template <MeshAxis... Ms>
struct cost {
  /// Bytes sent by this device. Their sum over all devices is the number that plans count: a gather counts on the
  /// devices that receive, an all-reduce of n elements counts as a reduce-scatter and an all-gather, and in collectives
  /// with a root the root counts all bytes.
  std::int64_t bytes = 0;
  std::int64_t messages = 0;     ///< messages to one other device, and collectives of MPI
  std::int64_t bytes_between_nodes = 0;  ///< the part of `bytes` for devices of other nodes
  std::int64_t flops = 0;        ///< multiplications and additions of einsums and sums, as plans count them
  std::int64_t peak_memory = 0;  ///< the most bytes in use at once, beyond those at the beginning
  std::int64_t memory_kept = 0;  ///< bytes in use at the end, beyond those at the beginning

  /// The part of `bytes` in collectives over exactly this set of mesh axes.
  template <MeshAxis... Along>
  [[nodiscard]] std::int64_t bytes_over(Along...) const {
    return over[detail::bits_on_mesh(type_list<Ms...>{}, Along{}...)].bytes;
  }

  /// The part of bytes_over that goes to devices of other nodes, over slow links; the rest goes over fast links.
  template <MeshAxis... Along>
  [[nodiscard]] std::int64_t bytes_between_nodes_over(Along...) const {
    return over[detail::bits_on_mesh(type_list<Ms...>{}, Along{}...)].bytes_between_nodes;
  }

  std::array<engine::traffic, std::size_t{1} << sizeof...(Ms)> over{};  ///< traffic by sets of mesh axes, as bits
};

namespace detail {

// Counts the flops of this host thread during its lifetime, and adds them to an enclosing count, too.
class flops_scope {
 public:
  explicit flops_scope(std::int64_t& flops) : before_(engine::counted_flops) { engine::counted_flops = &flops; }
  ~flops_scope() {
    if (before_ != nullptr) *before_ += *engine::counted_flops;
    engine::counted_flops = before_;
  }
  flops_scope(flops_scope const&) = delete;
  flops_scope& operator=(flops_scope const&) = delete;

 private:
  std::int64_t* before_;
};

}  // namespace detail

/// The cost of f() for this device on a mesh. Not collective by itself. Memory is that of Kokkos' default space, on any
/// mesh; MPI's own allocations are not counted. On a dry mesh nothing is computed during the call, on any mesh: no
/// kernel runs, and allocated memory is not touched. A number that f reads there is 0 if its block is small, else
/// unspecified.
template <MeshAxis... Ms, class F>
[[nodiscard]] cost<Ms...> cost_of(mesh<Ms...> const& m, F&& f) {
  cost<Ms...> c;
  auto const add = [&](std::int64_t sign) {
    for (std::size_t set = 1; set < c.over.size(); ++set) {
      engine::traffic const t = m.handle()->sent_over(static_cast<std::uint32_t>(set));
      c.over[set].add(sign * t.bytes, sign * t.messages, sign * t.bytes_between_nodes);
      c.bytes += sign * t.bytes;
      c.messages += sign * t.messages;
      c.bytes_between_nodes += sign * t.bytes_between_nodes;
    }
  };
  add(-1);
  memory_counter const counter;
  {
    detail::flops_scope const counted(c.flops);
    detail::run_priced(m, f);
  }
  c.peak_memory = counter.peak();
  memory_counter::release_workspace();
  c.memory_kept = counter.in_use();
  add(1);
  return c;
}

}  // namespace ostraka
