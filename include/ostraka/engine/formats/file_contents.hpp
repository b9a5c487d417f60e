// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The contents of a file of tensors, as its header describes them. The functions that read headers compare
/// them with the size of the file, so that a false header cannot cause an allocation.

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/engine/formats/file_element.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Thrown for a header that no writer of the format makes; the text names the fault.
struct malformed_header : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The position of a part of a dataset along one of the dataset's dimensions.
struct dataset_place {
  std::int64_t begin = 0;
  bool is_fixed = false;  ///< at this index only; the part lacks the dimension
};

struct tensor_in_file {
  std::string name{};  ///< empty in an .npy file
  file_element element = file_element::f32;
  std::vector<std::int64_t> extents{};
  std::int64_t begin = 0;               ///< offset of its first byte in the data
  std::int64_t end = 0;                 ///< one past its last byte
  bool other_order = false;             ///< numbers are stored big-endian
  bool column_major = false;            ///< the first dimension is the fastest
  std::size_t part = 0;                 ///< in a checkpoint of several files, the number of its file
  std::string renamed{};                ///< the name in the file if `name` is that of a tree; else empty
  std::vector<std::int64_t> strides{};  ///< in elements, for a part of a tensor or a transposed one; else empty
  int merged = 1;                       ///< number of the leaf's axes that are merged into the first axis here
  std::vector<dataset_place> places{};  ///< in an HDF5 dataset, one place per dimension; empty for all of it
  std::string unreadable{};             ///< empty, or why it cannot be read: "has elements that are no numbers; …"

  [[nodiscard]] std::string const& name_in_file() const { return renamed.empty() ? name : renamed; }
};

/// Returns the distance in the file, in elements, of neighbours along each dimension.
[[nodiscard]] inline std::vector<std::int64_t> strides_of(tensor_in_file const& t) {
  if (!t.strides.empty()) return t.strides;
  std::size_t const rank = t.extents.size();
  std::vector<std::int64_t> strides(rank);
  std::int64_t next = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    std::size_t const d = t.column_major ? i : rank - 1 - i;
    strides[d] = next;
    next *= t.extents[d];
  }
  return strides;
}

struct file_contents {
  std::vector<tensor_in_file> tensors{};                        ///< sorted by name
  std::vector<std::pair<std::string, std::string>> metadata{};  ///< sorted by key
  std::int64_t data_begin = 0;                                  ///< the position of the data in the file

  [[nodiscard]] std::string const* find_metadata(std::string const& key) const {
    auto const at = std::lower_bound(metadata.begin(), metadata.end(), key,
                                     [](auto const& entry, std::string const& k) { return entry.first < k; });
    return at != metadata.end() && at->first == key ? &at->second : nullptr;
  }
};

inline constexpr std::size_t max_dimensions_in_file = 32;
inline constexpr std::int64_t max_elements_in_file = std::int64_t(1)
                                                     << 48;  ///< times devices or bits, it does not overflow

/// Returns the bytes of a tensor with these extents. @throws malformed_header if no file can hold such a tensor, also
/// if an extent is zero
[[nodiscard]] inline std::int64_t bytes_of(file_element e, std::vector<std::int64_t> const& extents) {
  if (extents.size() > max_dimensions_in_file)
    throw malformed_header(join_text("a tensor has at most ", max_dimensions_in_file, " dimensions"));
  std::int64_t elements = 1;
  bool empty = false;
  for (std::int64_t n : extents) {
    if (n < 0) throw malformed_header("an extent is negative");
    if (n == 0) empty = true;
    if (n > 0 && elements > max_elements_in_file / n)
      throw malformed_header("a tensor of more than 2^48 elements is in no file");
    if (n > 0) elements *= n;
  }
  std::int64_t const bits = empty ? 0 : elements * names_of(e).bits;
  if (bits % 8 != 0) throw malformed_header("elements of less than a byte do not fill their last byte");
  return bits / 8;
}

}  // namespace ostraka::engine
