// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Loads tensors from a file, or from the parts of a checkpoint. Device 0 reads the headers for all devices;
/// all compare their requests with them, and each reads its blocks. The sharding at the time of saving does not matter.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/engine/files/file_format.hpp>
#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/engine/formats/name_rules.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>

namespace ostraka::engine {

/// A request for a tensor of a file.
struct tensor_to_load {
  std::string name{};
  file_element element = file_element::f32;
  std::vector<std::string_view> axes{};
  std::vector<std::int64_t> extents{};  ///< −1: the file's extent
  bool converted = false;               ///< true if other floating-point types are converted to this one
};

/// One of the files of a checkpoint.
struct file_part {
  std::string path{};
  std::int64_t data_begin = 0;  ///< position of the data in it
  std::int64_t bytes = 0;       ///< its size when its header was read
};

/// The files of a path: one, or the parts that an index names.
struct file_set {
  std::vector<file_part> parts{};
  file_contents contents{};  ///< of all parts; each tensor has the number of its part
  bool is_hdf5 = false;      ///< one file, whose parts are not listed
};

/// Returns the contents of a file, or of a checkpoint in several files, given the path of its index or folder. One
/// device reads the headers for all devices of a mesh. A process outside the mesh, or of a dry mesh, reads them for
/// itself. Collective over the mesh.
/// @throws ostraka::error, on all devices alike, if there is no such file or it is malformed
template <class = void>
[[nodiscard]] std::shared_ptr<file_set> load_contents(device_mesh const& mesh, char const* operation,
                                                      std::string const& path, file_format format);

/// The names of a file's tensors in a tree, given by rules or by a function of the program.
struct tensor_names {
  std::function<std::vector<leaf_in_file>(std::string const& name)> in_tree{};  ///< empty: the names are the file's
  std::function<std::string(std::string const& name)> in_file{};                ///< empty for a function of the program
};

/// Replaces the name of each tensor by its name in the tree. Drops a tensor that has none, and lists a tensor of
/// several leaves once for each leaf. @throws ostraka::error if two tensors get the same name, or a tensor cannot be
/// cut that way
template <class = void>
void rename_tensors(file_contents& c, char const* operation, std::string const& path, tensor_names const& names);

/// The tensors whose names begin with this text.
template <class = void>
[[nodiscard]] std::span<tensor_in_file const> tensors_beginning_with(file_contents const& c, std::string_view begin);

inline constexpr auto no_index = static_cast<std::size_t>(-1);

/// Returns the index at the beginning of a name: 12 for `12.w`, no_index for `12a` and `012`. Caps a number that is too
/// large below no_index.
[[nodiscard]] inline std::size_t leading_index(std::string_view name) {
  std::size_t const digits = std::min(name.find('.'), name.size());
  if (digits == 0 || (digits > 1 && name[0] == '0')) return no_index;
  std::size_t number = 0;
  for (char const c : name.substr(0, digits)) {
    if (c < '0' || c > '9') return no_index;
    number = std::min<std::size_t>(number * 10 + static_cast<std::size_t>(c - '0'), 1'000'000'000'000);
  }
  return number;
}

/// Returns the requested tensor, or null if the file has no tensor of this name. If rules merge the leaf's first axes
/// into one axis of the file, splits that axis. @throws ostraka::error if the tensor has other elements, extents or
/// axes
template <class = void>
[[nodiscard]] tensor_in_file const* find_tensor(file_contents& c, char const* operation, std::string const& path,
                                                tensor_to_load const& wanted);

/// @throws ostraka::error that lists the missing tensors, and with `only` also those that were not requested; and if a
/// requested tensor is a part of a dataset of an HDF5 file. `asked`: the tensors found, null for a missing one
template <class = void>
void require_complete(file_set const& files, char const* operation, std::string const& path,
                      std::vector<tensor_in_file const*> asked, std::vector<std::string> const& missing, bool only);

/// Checks that all devices make the same requests. Call it when a rank has made its requests; `failure` is the text of
/// the error, if one occurred. Collective over the mesh. @throws ostraka::error, on all devices alike, if the requests
/// of a device failed, or those of two devices differ
template <class = void>
void agree_on_requests(device_mesh const& mesh, char const* operation, std::string const& failure,
                       std::vector<tensor_in_file const*> const& asked);

/// Reads the blocks; for a dry mesh, whose tensors have no values, counts their bytes. Collective over the mesh.
/// @throws ostraka::error, on all devices alike; the blocks then have unspecified values
template <class = void>
void load_blocks(device_mesh const& mesh, char const* operation, std::string const& path, file_set const& files,
                 std::vector<placed_block> blocks);

}  // namespace ostraka::engine

#ifndef OSTRAKA_COMPILED
#  include <ostraka/engine/files/reading_headers.hpp>
#  include <ostraka/engine/files/reading_tensors.hpp>
#endif
