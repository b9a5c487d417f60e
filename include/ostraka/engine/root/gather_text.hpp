// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Gathers a text from every device of a mesh, in the order of devices.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/collectives/counts.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>

namespace ostraka::engine {

/// Returns, on every device, the texts of all devices, one after the other. Collective over the mesh.
[[gnu::cold]] inline std::string gather_text(device_mesh const& mesh, std::string const& own) {
  exclusive_use const use = mesh.use("print_blocks");
  communicator const& all = mesh.world();
  auto const devices = static_cast<std::size_t>(all.size());
  constexpr std::size_t word = sizeof(std::int64_t);
  auto const bytes = static_cast<std::int64_t>(own.size());
  std::vector<std::int64_t> lengths(devices), words;
  gather_counts(all, &bytes, lengths.data());
  std::int64_t total = 0;
  for (std::int64_t n : lengths) {
    words.push_back((n + static_cast<std::int64_t>(word) - 1) / static_cast<std::int64_t>(word));
    total += words.back();
  }
  std::vector<std::int64_t> mine(own.size() / word + 1), theirs(static_cast<std::size_t>(total) + 1);
  std::memcpy(mine.data(), own.data(), own.size());
  all_gather(all, mine.data(), theirs.data(), counts_view(words));
  std::string text;
  char const* next = reinterpret_cast<char const*>(theirs.data());
  for (std::size_t d = 0; d < devices; ++d) {
    text.append(next, static_cast<std::size_t>(lengths[d]));
    next += static_cast<std::size_t>(words[d]) * word;
  }
  return text;
}

}  // namespace ostraka::engine
