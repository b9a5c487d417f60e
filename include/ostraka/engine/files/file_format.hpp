// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The file formats, and the names of files and axes in them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The formats whose headers this library reads. The file's ending decides.
enum class file_format { npy, safetensors };

[[nodiscard]] constexpr std::string_view ending_of(file_format f) {
  return f == file_format::npy ? ".npy" : ".safetensors";
}

/// @throws ostraka::error unless the path has the ending of this format
inline void require_ending(char const* operation, std::string const& path, file_format f) {
  std::string_view const ending = ending_of(f);
  if (path.size() <= ending.size() || path.compare(path.size() - ending.size(), ending.size(), ending) != 0)
    throw_error(operation, ": a tensor is stored in an .npy file and a tree in a .safetensors file, but the path is ",
                path, "; give a path that ends in ", ending);
}

/// The metadata key of a tensor's axes in a safetensors file.
[[nodiscard]] inline std::string key_of_axes(std::string const& name) { return join_text(name, ".axes"); }

/// Returns the axis names in such a text: in/X, hidden → in, hidden
[[nodiscard]] inline std::vector<std::string> names_of_axes(std::string const& axes) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; !axes.empty() && begin <= axes.size();) {  // the last name may be empty
    std::size_t const end = std::min(axes.find(", ", begin), axes.size());
    std::string const one = axes.substr(begin, end - begin);
    names.push_back(one.substr(0, one.find('/')));
    begin = end + 2;
  }
  return names;
}

class device_mesh;
struct file_set;
struct placed_block;
struct save_request;

/// The functions that read and write HDF5 files. engine/hdf5/, which needs the library, defines them.
struct hdf5_functions {
  file_set (*load_contents)(device_mesh const& mesh, char const* operation, std::string const& path);
  void (*load_blocks)(device_mesh const& mesh, char const* operation, std::string const& path,
                      std::vector<placed_block> const& blocks);
  void (*save)(device_mesh const& mesh, save_request const& request);
};

/// Set in programs that include <ostraka/hdf5.hpp>.
[[gnu::visibility("default")]] inline hdf5_functions const* hdf5_of_program = nullptr;

/// True if the path names an HDF5 file.
[[nodiscard]] inline bool ends_as_hdf5(std::string_view path) {
  return path.ends_with(".h5") || path.ends_with(".hdf5");
}

/// @throws ostraka::error if the program has no HDF5
[[nodiscard, gnu::cold]] inline hdf5_functions const& require_hdf5(char const* operation, std::string const& path) {
  if (hdf5_of_program == nullptr)
    throw_error(operation, ": ", path,
                " is an HDF5 file, and this program has no HDF5; include <ostraka/hdf5.hpp> and link ostraka::hdf5");
  return *hdf5_of_program;
}

namespace detail {

// (3, any, 4)
inline std::string describe_extents(std::vector<std::int64_t> const& extents) {
  std::string text = "(";
  for (std::size_t d = 0; d < extents.size(); ++d)
    append_text(text, d > 0 ? ", " : "", extents[d] < 0 ? std::string("any") : std::to_string(extents[d]));
  return join_text(text, ')');
}

}  // namespace detail

}  // namespace ostraka::engine
