// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. HDF5 files of tensors: saving, appending and loading. One device makes datasets and reads a file's
/// contents; all devices move their blocks together.

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/disk/posix_file.hpp>
#include <ostraka/engine/disk/replacing_file.hpp>
#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/files/file_format.hpp>
#include <ostraka/engine/files/foreign_block.hpp>
#include <ostraka/engine/files/load_tensors.hpp>
#include <ostraka/engine/files/save_tensors.hpp>
#include <ostraka/engine/hdf5/dataset_blocks.hpp>
#include <ostraka/engine/hdf5/hdf5_contents.hpp>
#include <ostraka/engine/hdf5/hdf5_library.hpp>
#include <ostraka/engine/hdf5/make_datasets.hpp>
#include <ostraka/engine/hdf5/plan_datasets.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

// The blocks that this device writes. If several devices hold the same block, one of them writes it.
inline std::vector<dataset_block> blocks_to_write(save_request const& request,
                                                  std::vector<dataset_place> const& before) {
  std::vector<dataset_block> blocks;
  for (std::size_t k = 0; k < request.tensors.size(); ++k) {
    tensor_to_save const& t = request.tensors[k];
    dataset_block b{t.name, t.block, before};
    b.block.here = b.block.here && static_cast<int>(k % static_cast<std::size_t>(t.block.replicas)) == t.block.replica;
    if (!before.empty()) b.places.resize(1 + static_cast<std::size_t>(t.block.block.rank));
    blocks.push_back(std::move(b));
  }
  return blocks;
}

inline std::string describe_datasets(char const* operation, std::string const& path, save_request const& request) {
  std::int64_t bytes = 0;
  for (tensor_to_save const& t : request.tensors)
    bytes += bytes_of(t.block.element, {t.block.extents.begin(), t.block.extents.begin() + t.block.block.rank});
  std::size_t const count = request.tensors.size();
  return join_text(operation, path.empty() ? "" : " ", path, ", ", count, count == 1 ? " dataset, " : " datasets, ",
                   planner::describe_bytes(bytes));
}

// Creates a file with datasets beside the file that it will replace. Reserves disk space for uncompressed data.
inline replacing_file make_file(char const* operation, std::string const& path, std::vector<new_dataset> const& all) {
  replacing_file file(operation, path, 0);
  make_datasets(operation, file.name(), all);
  posix_file const made(operation, file.name(), O_RDWR);
  made.reserve(made.size());
  return file;
}

// Calls f() once the devices agree to save these tensors. Collective.
template <class F>
void in_agreed_hdf5(device_mesh const& mesh, char const* operation, save_request const& request, F const& f) {
  require_devices(mesh, operation);
  exclusive_use const use = mesh.use(operation);
  communicator const& all = mesh.world();
  require_agreement(
      all, [&] { return describe_datasets(operation, all.compares_calls() ? request.path : std::string(), request); });
  profiled const region_of_run([&] { push_region(describe_datasets(operation, request.path, request)); });
  f(all);
}

}  // namespace detail

/// Saves tensors as datasets of a new file, which replaces an older one when all of it is on the disk. Collective over
/// the mesh. @throws ostraka::error, on all devices alike; an older file is then unchanged
inline void save_datasets(device_mesh const& mesh, save_request const& request, dataset_layout const& layout) {
  std::vector<new_dataset> const datasets = plan_datasets("save", request, layout);
  if (mesh.absent()) return;
  detail::in_agreed_hdf5(mesh, "save", request, [&](communicator const& all) {
    std::optional<replacing_file> made;
    std::string name;
    run_or_fail_together(all, [&] {
      if (all.rank() != 0) return;
      made.emplace(detail::make_file("save", request.path, datasets));
      name = made->name();
    });
    broadcast_text(all, name);
    hdf5_file file(all, "save", name, hdf5_access::writes);
    move_dataset_blocks(file, file_use::writes, detail::blocks_to_write(request, {}));
    file.close();
    run_or_fail_together(all, [&] {
      if (made) made->replace();
    });
  });
}

/// Appends tensors to datasets with one more dimension, the first. Creates the file if it does not exist. Collective
/// over the mesh. @throws ostraka::error, on all devices alike; if the disk fails, the appended elements have
/// unspecified values
inline void append_datasets(device_mesh const& mesh, save_request const& request, dataset_layout const& layout,
                            std::string const& grows) {
  std::vector<new_dataset> const datasets = plan_datasets("append", request, layout, grows);
  if (mesh.absent()) return;
  detail::in_agreed_hdf5(mesh, "append", request, [&](communicator const& all) {
    std::int64_t index = 0;
    run_or_fail_together(all, [&] {
      if (all.rank() != 0) return;
      struct stat is;
      if (::stat(request.path.c_str(), &is) != 0 && errno == ENOENT)
        detail::make_file("append", request.path, datasets).replace();
      index = extend_datasets("append", request.path, datasets);
    });
    broadcast(all, &index, 1);
    hdf5_file file(all, "append", request.path, hdf5_access::writes);
    move_dataset_blocks(file, file_use::writes, detail::blocks_to_write(request, {{index, true}}));
    file.close();
  });
}

/// Returns the contents of a file. Collective over the mesh. @throws ostraka::error, on all devices alike
[[nodiscard]] inline file_set load_hdf5_contents(device_mesh const& mesh, char const* operation,
                                                 std::string const& path) {
  exclusive_use const use = mesh.use(operation);
  communicator const alone;
  communicator const& all = mesh.absent() || mesh.is_dry() ? alone : mesh.world();
  require_agreement(all,
                    [&] { return all.compares_calls() ? join_text(operation, ' ', path) : std::string(operation); });
  detail::packed_text packed;
  run_or_fail_together(all, [&] {
    if (all.rank() == 0) detail::pack(packed, read_hdf5_contents(operation, path));
  });
  broadcast_text(all, packed.bytes);
  file_set files;
  files.is_hdf5 = true;
  run_or_fail_together(all, [&] { files.contents = detail::unpack(packed); });
  return files;
}

/// Reads blocks of datasets. Collective over the mesh, of which the caller has exclusive use. @throws ostraka::error,
/// on all devices alike
inline void load_dataset_blocks(device_mesh const& mesh, char const* operation, std::string const& path,
                                std::vector<placed_block> const& blocks) {
  profiled const region_of_run([&] { push_region(join_text(operation, ' ', path)); });
  hdf5_file file(mesh.world(), operation, path, hdf5_access::reads);
  for (placed_block const& b : blocks) {
    dataset_block one{b.tensor->name_in_file(), b.block, b.tensor->places};
    std::optional<detail::foreign_block> foreign;
    run_or_fail_together(mesh.world(), [&] {
      if (!detail::foreign_block::is_one(b, file_use::reads)) return;
      foreign.emplace(b.block, *b.tensor);
      one.block = foreign->as_in_file();
    });
    move_dataset_blocks(file, file_use::reads, {one});
    run_or_fail_together(mesh.world(), [&] {
      if (foreign) foreign->settle();
    });
  }
}

/// The functions that the rest of the library calls.
inline constexpr hdf5_functions functions_of_hdf5{
    &load_hdf5_contents, &load_dataset_blocks,
    [](device_mesh const& mesh, save_request const& request) { save_datasets(mesh, request, {}); }};

}  // namespace ostraka::engine
