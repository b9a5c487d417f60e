// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Two meshes, one of which has all processes of the other, and the device numbers of the processes on both.
/// If both meshes have the same processes, each process computes the numbers alone. If one is larger, the processes
/// outside the smaller mesh do not know its members, so all processes of the larger mesh exchange the numbers, once for
/// two meshes. For {X: 4} on ranks 0 1 2 3 and {Y: 2} on ranks 3 1: 0 → –, 1 → 1, 2 → –, 3 → 0.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/memory/shared_value.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

inline error unrelated_meshes(char const* operation, device_mesh const& large, device_mesh const& small) {
  return error(
      join_text(operation, ": of two meshes one has all processes of the other, but ", large.describe(), " and ",
                small.describe(),
                " overlap or lie apart; split the communicator of one from the other's, or go by way of a mesh of all "
                "processes"));
}

// Returns the device number on `small` of each process of `large`, −1 for none. Every process sends its own. @throws
// ostraka::error, on all of them alike
inline dynamic_array<int> agree(char const* operation, device_mesh const& large, device_mesh const& small) {
  constexpr std::int64_t outside = -1;
  constexpr std::int64_t reaches_beyond = -2;
  std::int64_t mine[2] = {outside, small.fingerprint()};
  if (!small.absent()) {
    dynamic_array<int> const numbers = small.world().numbers_in(large.world());
    mine[0] = !numbers.contains(-1) ? small.device() : reaches_beyond;
  }
  std::size_t const processes = static_cast<std::size_t>(large.devices());
  std::vector<std::int64_t> answers(2 * processes);
  all_gather(large.world(), mine, answers.data(), std::vector<std::int64_t>(processes, 2));
  for (std::size_t p = 0; p < processes; ++p) {
    if (answers[2 * p] == reaches_beyond) throw unrelated_meshes(operation, large, small);
    if (answers[2 * p + 1] != answers[1])
      throw_error(
          operation, ": all processes name the same meshes, but process ", p,
          " gives the smaller one other axes or sizes than process 0; give make_mesh the same sizes everywhere, also "
          "where the mesh is absent");
  }
  dynamic_array<int> device;
  dynamic_array<int> claims(static_cast<std::size_t>(small.devices()));  // all processes agree on its size now
  bool has_devices = false;
  for (std::size_t p = 0; p < processes; ++p) {
    std::int64_t const d = answers[2 * p];
    if (d >= 0) ++claims[static_cast<std::size_t>(d)];
    has_devices = has_devices || d >= 0;
    device.push_back(static_cast<int>(d));
  }
  if (!has_devices) throw unrelated_meshes(operation, large, small);
  for (std::size_t d = 0; d < claims.size(); ++d)
    if (claims[d] != 1)
      throw_error(operation, ": every device of a mesh is one process, but ", claims[d],
                  " processes say that they are device ", d, " of the smaller one, ", small.describe(),
                  "; where they made meshes of their own, mean one of them and make it os::not_here on the others");
  return device;
}

inline dynamic_array<int> inverted(dynamic_array<int> const& device, int devices) {
  dynamic_array<int> process(static_cast<std::size_t>(devices));
  for (std::size_t p = 0; p < device.size(); ++p)
    if (device[p] >= 0) process[static_cast<std::size_t>(device[p])] = static_cast<int>(p);
  return process;
}

inline mesh_pair make_pair_of(char const* operation, device_mesh const& first, device_mesh const& second) {
  mesh_pair pair;
  pair.first_is_all = first.devices() >= second.devices();
  device_mesh const& large = pair.first_is_all ? first : second;
  device_mesh const& small = pair.first_is_all ? second : first;
  pair.here = !large.absent();
  if (!pair.here) {
    if (!small.absent()) throw unrelated_meshes(operation, large, small);
    return pair;
  }
  dynamic_array<int> all(static_cast<std::size_t>(large.devices()));
  for (std::size_t p = 0; p < all.size(); ++p) all[p] = static_cast<int>(p);
  dynamic_array<int> part;
  if (large.is_dry() || small.is_dry()) {  // the smaller one has the first devices of the larger one
    if (!large.is_dry() || small.absent() != (large.device() >= small.devices()) ||
        (!small.absent() && (!small.is_dry() || small.device() != large.device())))
      throw unrelated_meshes(operation, large, small);
    for (int p = 0; p < large.devices(); ++p) part.push_back(p < small.devices() ? p : -1);
  } else if (large.devices() == small.devices()) {
    if (!small.absent()) part = large.world().numbers_in(small.world());
    if (small.absent() || part.contains(-1)) throw unrelated_meshes(operation, large, small);
  } else {
    part = agree(operation, large, small);
  }
  pair.process[pair.first_is_all ? 0 : 1] = all;
  pair.process[pair.first_is_all ? 1 : 0] = inverted(part, small.devices());
  pair.device[pair.first_is_all ? 0 : 1] = std::move(all);
  pair.device[pair.first_is_all ? 1 : 0] = std::move(part);
  return pair;
}

}  // namespace detail

/// Returns the device numbers on two meshes. They are cached, for all host threads, while both meshes exist, since
/// finding them is collective over the larger mesh if one is larger. @pre this host thread uses both. @throws
/// ostraka::error, on all processes of both alike, if neither has all processes of the other
inline shared_value<mesh_pair const> pair_of(char const* operation, std::shared_ptr<device_mesh const> const& first,
                                             std::shared_ptr<device_mesh const> const& second) {
  dynamic_array<device_mesh::cached_pair>& cached = first->cached_pairs();
  for (std::size_t i = cached.size(); i-- > 0;)
    if (cached[i].other.expired()) cached.erase(&cached[i]);
  for (device_mesh::cached_pair const& k : cached)
    if (k.other.lock() == second) return k.pair;
  cached.push_back({second, shared_value<mesh_pair const>::make(detail::make_pair_of(operation, *first, *second))});
  return cached.back().pair;
}

}  // namespace ostraka::engine
