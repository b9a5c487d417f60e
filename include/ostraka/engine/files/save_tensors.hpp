// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Tensors into a file, or into the parts of a checkpoint: device 0 makes the files and their headers, every
/// device writes its blocks, at once or behind the program's back, and the files get their names when all of them are
/// on the disk.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/engine/files/file_format.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>

namespace ostraka::engine {

/// `in/X, hidden`, from axis `first` on
template <class = void>
[[nodiscard, gnu::cold]] std::string describe_axes(execution_context const& w, planner::spec const& s, int first = 0);

/// What is saved where. Tensors have names unless the file is an .npy file.
struct save_request {
  std::string path{};
  file_format format = file_format::safetensors;
  std::vector<tensor_to_save> tensors{};
  std::int64_t part_bytes = 0;  ///< of tensors, at most, in a part beside an index, which the path is; 0: one file
};

/// Writes the file or the parts. Collective over the mesh. @throws ostraka::error, on all devices alike, and then what
/// was there is as it was
template <class = void>
void save_tensors(device_mesh const& mesh, save_request const& request);

/// A save that is under way. Dropped before it is finished, it leaves what was there as it was.
class begun_save {
 public:
  virtual ~begun_save() = default;

  /// Finishes the save if all devices have written their blocks. Collective over the mesh. @returns whether it is
  /// finished @throws as save_tensors; it is finished then, too
  virtual bool test() = 0;

  /// Waits for all devices, and finishes the save. Collective and throws, as above.
  virtual void wait() = 0;
};

/// Begins a save: this device's blocks are copied to the host, and a thread, which sends nothing, writes the copy.
/// Collective over the mesh. @throws ostraka::error, on all devices alike, if the files cannot be made
template <class = void>
[[nodiscard]] std::unique_ptr<begun_save> begin_save(device_mesh const& mesh, save_request const& request);

}  // namespace ostraka::engine

#ifndef OSTRAKA_COMPILED
#  include <ostraka/engine/files/writing_tensors.hpp>
#endif
