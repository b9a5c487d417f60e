// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The formats of files, and what names have to do with them.

#include <string>
#include <string_view>

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

}  // namespace ostraka::engine
