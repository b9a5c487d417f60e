// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::chunked(I = 64, J = 64).deflated(4)`: how os::save and os::append store the datasets of an HDF5 file.

#include <cstdint>
#include <string>
#include <utility>

#include <ostraka/engine/hdf5/plan_datasets.hpp>
#include <ostraka/types/axes/axis.hpp>

namespace ostraka {

/// The result of os::chunked.
class chunks {
 public:
  explicit chunks(engine::dataset_layout layout) : layout_(std::move(layout)) {}

  /// Compresses each chunk by deflate, at level 1 to 9, with its bytes shuffled. Every HDF5 library reads such
  /// datasets.
  [[nodiscard]] chunks deflated(int level) const {
    chunks c = *this;
    c.layout_.compression = level;
    return c;
  }

  /// For the library: the layout.
  [[nodiscard]] engine::dataset_layout const& layout() const { return layout_; }

 private:
  engine::dataset_layout layout_;
};

/// An option of os::save and os::append: stores the datasets of an HDF5 file in chunks with these extents. Along other
/// axes a chunk has the extent of the tensor, or less, so that it has at most a megabyte. Chunks are fast for readers
/// that request whole chunks, and for devices that each write whole chunks.
template <class... Is>
[[nodiscard]] chunks chunked(named_extent<Is>... extents) {
  engine::dataset_layout layout;
  layout.is_chunked = true;
  (layout.chunks.emplace_back(std::string(Is::name), extents.value), ...);
  return chunks(std::move(layout));
}

}  // namespace ostraka
