// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The targets of fuzzers and mutations for bytes that may be a file: they read the header as a program would, and
/// check accepted files against the format's promises. The bytes behind the header are only counted.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/engine/formats/npy.hpp>
#include <ostraka/engine/formats/safetensors.hpp>
#include <ostraka/engine/formats/safetensors_index.hpp>

namespace ostraka::testing {

inline void require(bool holds) {
  if (!holds) std::abort();
}

// Tensors are within the data, have the lengths of their shapes, and do not overlap.
inline void require_sound(engine::file_contents const& c, std::int64_t file_bytes) {
  std::int64_t bytes = 0;
  require(c.data_begin >= 0 && c.data_begin <= file_bytes);
  for (engine::tensor_in_file const& t : c.tensors) {
    std::int64_t bits = engine::names_of(t.element).bits;
    for (std::int64_t n : t.extents) {
      require(n >= 0);
      require(!__builtin_mul_overflow(bits, n, &bits) ||
              std::find(t.extents.begin(), t.extents.end(), 0) != t.extents.end());
    }
    if (std::find(t.extents.begin(), t.extents.end(), 0) != t.extents.end()) bits = 0;
    require(t.begin >= 0 && t.begin <= t.end && t.end <= file_bytes - c.data_begin);
    require((t.end - t.begin) * 8 == bits);
    bytes += t.end - t.begin;
    for (engine::tensor_in_file const& other : c.tensors)
      require(&t == &other || (t.name != other.name && (t.end <= other.begin || other.end <= t.begin)));
  }
  require(bytes == file_bytes - c.data_begin);
}

/// True if the file is accepted.
inline bool try_safetensors(std::string_view file) {
  auto const size = static_cast<std::int64_t>(file.size());
  try {
    auto const header = static_cast<std::size_t>(engine::safetensors_header_bytes(file.substr(0, 8), size));
    engine::file_contents c = engine::parse_safetensors(file.substr(0, header).substr(8), size);
    require_sound(c, size);
    for (engine::tensor_in_file const& t : c.tensors)
      if (engine::names_of(t.element).bits < 8) return true;       // the library does not write these
    std::string const again = engine::make_safetensors_header(c);  // accepted contents can be written
    require_sound(
        engine::parse_safetensors(std::string_view(again).substr(8),
                                  size - static_cast<std::int64_t>(header) + static_cast<std::int64_t>(again.size())),
        size - static_cast<std::int64_t>(header) + static_cast<std::int64_t>(again.size()));
    return true;
  } catch (engine::malformed_header const&) {
    return false;
  }
}

inline bool try_npy(std::string_view file) {
  auto const size = static_cast<std::int64_t>(file.size());
  try {
    auto const header = static_cast<std::size_t>(engine::npy_header_bytes(file.substr(0, 12), size));
    engine::file_contents c = engine::parse_npy(file.substr(0, header), size);
    require_sound(c, size);
    require(c.tensors.size() == 1);
    std::string const again = engine::make_npy_header(c);
    std::int64_t const bytes = size - static_cast<std::int64_t>(header) + static_cast<std::int64_t>(again.size());
    require(engine::parse_npy(again, bytes).tensors.front().extents == c.tensors.front().extents);
    return true;
  } catch (engine::malformed_header const&) {
    return false;
  }
}

/// True if the index is accepted. Its parts are then in its folder, and its tensors in its parts, whose headers are
/// compared with it.
inline bool try_index(std::string_view text) {
  try {
    engine::safetensors_index const index = engine::parse_safetensors_index(text);
    std::vector<engine::file_contents> parts(index.parts.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      std::string const& name = index.parts[k];
      require(name.ends_with(".safetensors") && name.size() > 12 && name.find('/') == std::string::npos);
      require(name.find('\0') == std::string::npos && (k == 0 || index.parts[k - 1] < name));
    }
    for (std::size_t i = 0; i < index.tensors.size(); ++i) {
      require(index.tensors[i].second < parts.size() &&
              (i == 0 || index.tensors[i - 1].first < index.tensors[i].first));
      parts[index.tensors[i].second].tensors.push_back({.name = index.tensors[i].first});
    }
    require(engine::join_parts(index, parts).tensors.size() == index.tensors.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {  // every part has one that the index names
      auto without = parts;
      without[k].tensors.pop_back();
      try {
        static_cast<void>(engine::join_parts(index, without));
        require(false);
      } catch (engine::malformed_header const&) {
      }
    }
    return true;
  } catch (engine::malformed_header const&) {
    return false;
  }
}

}  // namespace ostraka::testing
