// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Checks that devices that repeat a block hold the same bits: for A[I_X, J] on X=2 · Y=3, the devices along
/// Y. Along each mesh axis that neither divides the tensor nor holds partial sums of it, the first device of each line
/// sends its block to the others of the line, a piece at a time.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/collectives/scatter.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/root/root_blocks.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

/// Where a device's block differs from that of the first of its line.
struct replica_difference {
  std::int64_t element = -1;  ///< row-major in the whole tensor; −1 for none
  std::int64_t axis = 0;      ///< of the mesh
};

// Returns the number, in the whole tensor, of element number `at` of this device's block.
inline std::int64_t number_in_whole(box const& block, box const& whole, std::int64_t at) {
  std::int64_t number = 0;
  std::int64_t elements = block.size();
  for (int d = 0; d < block.rank; ++d) {
    elements /= block.at[d].size();
    number = number * whole.at[d].size() + block.at[d].begin + at / elements;
    at %= elements;
  }
  return number;
}

inline replica_difference find_difference(execution_context const& w, planner::spec const& s, char const* data,
                                          std::int64_t element_bytes) {
  constexpr std::int64_t piece_words = 8192;
  box const block = box_of(s, w.here, w.sizes);
  std::int64_t const bytes = block.size() * element_bytes;
  scratch<std::int64_t, Kokkos::HostSpace> const piece(piece_words);
  replica_difference first;
  for (int axis = 0; axis < w.mesh->axes(); ++axis) {
    if ((replicating_axes(w) >> axis & 1u) == 0 || w.mesh->size(axis) == 1) continue;
    communicator const& line = w.mesh->group(std::uint32_t{1} << axis);
    bool differs = false;
    for (std::int64_t at = 0; at < bytes; at += 8 * piece_words) {
      std::int64_t const n = std::min(bytes - at, 8 * piece_words);
      if (line.rank() == 0) std::memcpy(piece.data(), data + at, static_cast<std::size_t>(n));
      broadcast(line, piece.data(), (n + 7) / 8);
      if (differs) continue;
      char const* const shown = reinterpret_cast<char const*>(piece.data());
      std::int64_t const same = std::mismatch(shown, shown + n, data + at).first - shown;
      differs = same < n;
      if (!differs) continue;
      std::int64_t const element = number_in_whole(block, whole_box(w, s), (at + same) / element_bytes);
      if (first.element < 0 || element < first.element) first = {element, axis};
    }
  }
  return first;
}

inline std::string name_of_device(device_mesh const& mesh, int device) {
#if OSTRAKA_ENABLE_MPI
  return join_text("rank ", number_in_world(mesh.world().native(), device), " (device ", device, ')');
#else
  static_cast<void>(mesh);
  return join_text("device ", device);
#endif
}

[[noreturn, gnu::cold]] inline void throw_difference(execution_context const& w, planner::spec const& s, int device,
                                                     replica_difference const& where) {
  box const whole = whole_box(w, s);
  std::string index[planner::max_labels];
  std::int64_t rest = where.element;
  for (int d = s.rank - 1; d >= 0; rest /= whole.at[d].size(), --d)
    index[d] = join_text(w.names.labels[s.label[d]], " = ", rest % whole.at[d].size());
  std::string at;
  for (int d = 0; d < s.rank; ++d) append_text(at, d == 0 ? " at " : ", ", index[d]);
  int behind = 1;  // devices between neighbours along the axis
  int const axis = static_cast<int>(where.axis);
  for (int a = axis + 1; a < w.mesh->axes(); ++a) behind *= w.mesh->size(a);
  int const first = device - device / behind % w.mesh->size(axis) * behind;
  throw_error(w.operation, ": devices along a mesh axis that does not divide a tensor hold the same, but A",
              planner::describe(s, w.names), " differs along ", w.mesh->name(axis), ", first",
              at.empty() ? "" : join_text(at, ','), " between ", name_of_device(*w.mesh, first), " and ",
              name_of_device(*w.mesh, device),
              "; set elements that are repeated alike on all ranks, or make the tensor os::partial");
}

}  // namespace detail

/// @throws ostraka::error, the same on all devices, unless all devices that repeat a block of tensor `s` hold the same
/// bits. `data`: this device's block, on the host. Collective over the mesh.
inline void check_replicas(execution_context const& w, planner::spec const& s, void const* data, int element_bytes) {
  detail::replica_difference const mine = detail::find_difference(w, s, static_cast<char const*>(data), element_bytes);
  std::int64_t const sent[2] = {mine.element, mine.axis};
  auto const devices = static_cast<std::size_t>(w.mesh->devices());
  dynamic_array<std::int64_t> all(2 * devices);
  dynamic_array<std::int64_t> const counts(devices, 2);
  all_gather(w.mesh->world(), sent, all.data(), counts_view(counts.data(), counts.size()));
  if (w.mesh->is_dry()) return;  // the others hold nothing
  std::size_t first = devices;
  for (std::size_t d = 0; d < devices; ++d)
    if (all[2 * d] >= 0 && (first == devices || all[2 * d] < all[2 * first])) first = d;
  if (first < devices) detail::throw_difference(w, s, static_cast<int>(first), {all[2 * first], all[2 * first + 1]});
}

}  // namespace ostraka::engine
