// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Tensors out of a file, or out of the parts of a checkpoint: device 0 reads the headers for all, they are
/// compared with what is asked for, and every device reads its blocks. However the file came about: it does not matter
/// how its tensors were divided.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// What is asked of a file.
struct tensor_to_load {
  std::string name{};
  file_element element = file_element::f32;
  std::vector<std::string_view> axes{};
  std::vector<std::int64_t> extents{};  ///< −1 where the file says it
  bool converted = false;               ///< other floating-point numbers become these
};

/// One of the files of a checkpoint.
struct file_part {
  std::string path{};
  std::int64_t data_begin = 0;  ///< where the data begins in it
  std::int64_t bytes = 0;       ///< that it had when its header was read
};

/// The files that a path stands for: one, or the parts that an index names.
struct file_set {
  std::vector<file_part> parts{};
  file_contents contents{};  ///< of all parts; a tensor says which one has it
  bool is_hdf5 = false;      ///< one file, whose parts are not listed
};

/// Returns the contents of a file, or of a checkpoint in several files, whose index or folder the path is. One device
/// reads the headers for all of a mesh; a process that is none of them, or plays one of a dry mesh, reads them
/// for itself. Collective over the mesh.
/// @throws ostraka::error, on all devices alike, if there is no such file or it is malformed
template <class = void>
[[nodiscard]] file_set load_contents(device_mesh const& mesh, char const* operation, std::string const& path,
                                     file_format format);

/// The names of a file's tensors in a tree, by rules or a function of the program.
struct tensor_names {
  std::function<std::vector<leaf_in_file>(std::string const& name)> in_tree{};  ///< none, and names are the file's
  std::function<std::string(std::string const& name)> in_file{};                ///< none of a function of the program
};

/// Gives each tensor the name that it has in the tree; one that has none is left out, one that is several leaves is
/// there for each of them. @throws ostraka::error if two of them have the same, or a tensor cannot be cut so
template <class = void>
void rename_tensors(file_contents& c, char const* operation, std::string const& path, tensor_names const& names);

/// The tensors whose names begin so.
template <class = void>
[[nodiscard]] std::span<tensor_in_file const> tensors_beginning_with(file_contents const& c, std::string_view begin);

inline constexpr auto no_index = static_cast<std::size_t>(-1);

/// `12.w` → 12, as vectors number their elements: not `12a`, `012`. A number that is too large is below no_index, too.
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

/// The tensor that is asked for, null if there is none of this name. Its first axis becomes the leaf's, where rules say
/// that these are one in the file. @throws ostraka::error if it has other elements,
/// extents or axes
template <class = void>
[[nodiscard]] tensor_in_file const* find_tensor(file_contents& c, char const* operation, std::string const& path,
                                                tensor_to_load const& wanted);

/// @throws ostraka::error that lists the tensors that are missing, and with `only` those that nothing has asked for.
/// `asked`: the tensors that were found, null where there was none
template <class = void>
void require_complete(file_contents const& c, char const* operation, std::string const& path,
                      std::vector<tensor_in_file const*> asked, std::vector<std::string> const& missing, bool only);

/// Reads the blocks. Collective over the mesh. @throws ostraka::error, on all devices alike; what has been read by then
/// is not said
template <class = void>
void load_blocks(device_mesh const& mesh, char const* operation, std::string const& path, file_set const& files,
                 std::vector<placed_block> blocks);

}  // namespace ostraka::engine

#ifndef OSTRAKA_COMPILED
#  include <ostraka/engine/files/reading_headers.hpp>
#  include <ostraka/engine/files/reading_tensors.hpp>
#endif
