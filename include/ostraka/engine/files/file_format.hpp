// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The formats of files, and what names have to do with them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The formats, by how files end.
enum class file_format { npy, safetensors };

[[nodiscard]] constexpr std::string_view ending_of(file_format f) {
  return f == file_format::npy ? ".npy" : ".safetensors";
}

/// @throws ostraka::error unless the path ends as files of this format do
inline void require_ending(char const* operation, std::string const& path, file_format f) {
  std::string_view const ending = ending_of(f);
  if (path.size() <= ending.size() || path.compare(path.size() - ending.size(), ending.size(), ending) != 0)
    throw_error(operation,
                ": a tensor stands in an .npy file, a tree of parameters in a .safetensors file, but the path is ",
                path, "; let it end in ", ending);
}

/// The key under which a safetensors file says so.
[[nodiscard]] inline std::string key_of_axes(std::string const& name) { return join_text(name, ".axes"); }

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
