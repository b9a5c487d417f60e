// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Saves tensors to a file, or to the parts of a checkpoint. Device 0 creates the files and their headers, and
/// every device writes its blocks, at once or in a thread. The files are renamed to their paths when all blocks are on
/// the disk.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/engine/files/file_format.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>

namespace ostraka::engine {

/// Returns the axes with their mesh axes, from axis `first` on: `in/X, hidden`.
template <class = void>
[[nodiscard, gnu::cold]] std::string describe_axes(execution_context const& w, planner::spec const& s, int first = 0);

/// The tensors of a save, and how to store them. Tensors have names unless the file is an .npy file.
struct save_request {
  std::string path{};
  file_format format = file_format::safetensors;
  std::vector<tensor_to_save> tensors{};
  std::int64_t part_bytes = 0;  ///< most bytes of tensors in a part, with the path naming the index; 0: one file
};

/// Writes the file or the parts. Collective over the mesh. @throws ostraka::error, on all devices alike; older files
/// are then unchanged
template <class = void>
void save_tensors(device_mesh const& mesh, save_request const& request);

/// A save in progress. If it is destroyed before it is finished, older files stay unchanged.
class begun_save {
 public:
  virtual ~begun_save() = default;

  /// Finishes the save if all devices have written their blocks. Collective over the mesh. @returns true if the save is
  /// finished @throws as save_tensors; the save is then finished as well
  virtual bool test() = 0;

  /// Waits for all devices, and finishes the save. Collective and throws, as `test`.
  virtual void wait() = 0;
};

/// Starts a save: copies this device's blocks to the host, and starts a thread that writes the copy and sends no
/// messages. Collective over the mesh. @throws ostraka::error, on all devices alike, if the files cannot be made
template <class = void>
[[nodiscard]] std::unique_ptr<begun_save> begin_save(device_mesh const& mesh, save_request const& request);

}  // namespace ostraka::engine

#ifndef OSTRAKA_COMPILED
#  include <ostraka/engine/files/writing_tensors.hpp>
#endif
