// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Tensors into a file: device 0 makes the file and its header, every device writes its blocks, and the file
/// gets its name when all of it is on the disk.

#include <string>
#include <vector>

#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/engine/files/file_format.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>

namespace ostraka::engine {

struct tensor_to_save {
  std::string name{};
  std::string axes{};  ///< and what divides them, as programs write it: in/X, hidden
  file_block block{};
};

/// `in/X, hidden`, from axis `first` on
template <class = void>
[[nodiscard, gnu::cold]] std::string describe_axes(execution_context const& w, planner::spec const& s, int first = 0);

/// Writes the file, whose tensors have names if it is a safetensors file. Collective over the mesh. @throws
/// ostraka::error, on all devices alike, and then a file that was there is as it was
template <class = void>
void save_tensors(device_mesh const& mesh, std::string const& path, file_format format,
                  std::vector<tensor_to_save> const& tensors);

}  // namespace ostraka::engine

#ifndef OSTRAKA_COMPILED
#  include <ostraka/engine/files/writing_tensors.hpp>
#endif
