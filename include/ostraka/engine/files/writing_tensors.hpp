// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. How tensors are written (save_tensors.hpp). A program that links ostraka::compiled need not read this.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/files/fail_alike.hpp>
#include <ostraka/engine/files/foreign_block.hpp>
#include <ostraka/engine/files/posix_file.hpp>
#include <ostraka/engine/files/save_tensors.hpp>
#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/engine/formats/npy.hpp>
#include <ostraka/engine/formats/safetensors.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>
#include <ostraka/version.hpp>

namespace ostraka::engine {

namespace detail {

// Programs make names of any text, and of trees that meet.
inline void require_names(std::string const& path, std::vector<tensor_to_save> const& tensors) {
  std::vector<std::string_view> names;
  for (tensor_to_save const& t : tensors) names.push_back(t.name);
  std::sort(names.begin(), names.end());
  if (auto const same = std::adjacent_find(names.begin(), names.end()); same != names.end())
    throw_error("save: two leaves are called ", *same, " in ", path,
                ", where each has a name of its own; give the trees other names in os::together");
  if (std::binary_search(names.begin(), names.end(), "__metadata__"))
    throw_error("save: a leaf is called __metadata__ in ", path,
                ", under which such files keep what is no tensor; call it otherwise");
}

// Throws if the new file could not be loaded, before it replaces one that can.
inline void require_readable(std::string const& path, file_format format, std::string_view header,
                             std::int64_t file_bytes) {
  if (format != file_format::safetensors) return;
  try {
    static_cast<void>(safetensors_header_bytes(header, file_bytes));
    static_cast<void>(parse_safetensors(header.substr(static_cast<std::size_t>(safetensors_prefix)), file_bytes));
  } catch (malformed_header const& e) {
    throw_error("save: ", path, " could not be loaded again: ", e.what(), "; save less in one file, under other names");
  }
}

inline file_contents contents_of(device_mesh const& mesh, std::vector<tensor_to_save> const& tensors) {
  file_contents c;
  c.metadata.emplace_back("ostraka", join_text(OSTRAKA_VERSION_MAJOR, '.', OSTRAKA_VERSION_MINOR));
  c.metadata.emplace_back("mesh", mesh.describe());
  for (tensor_to_save const& t : tensors) {
    tensor_in_file entry;
    entry.name = t.name;
    entry.element = t.block.element;
    entry.extents.assign(t.block.extents.begin(), t.block.extents.begin() + t.block.block.rank);
    c.tensors.push_back(std::move(entry));
    c.metadata.emplace_back(key_of_axes(t.name), t.axes);
  }
  return c;
}

// This device's pieces, in the order of the file. Of devices that hold the same block one writes it, and of several
// blocks not always the same one.
inline std::vector<piece_in_memory> pieces_to_save(device_mesh const& mesh, std::string& header, file_contents const& c,
                                                   std::vector<tensor_to_save> const& tensors) {
  std::vector<std::size_t> order(tensors.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return c.tensors[a].begin < c.tensors[b].begin; });
  std::vector<piece_in_memory> pieces;
  if (mesh.device() == 0)
    pieces.push_back({{0, strided().add(static_cast<std::int64_t>(header.size()), 1), header.data()}, nullptr});
  for (std::size_t k : order) {
    file_block const& b = tensors[k].block;
    if (static_cast<int>(k % static_cast<std::size_t>(b.replicas)) == b.replica)
      add_pieces(pieces, b, file_use::writes, c.data_begin + c.tensors[k].begin, strides_of(c.tensors[k]));
  }
  return pieces;
}

inline std::string describe_save(std::string const& path, std::size_t tensors, std::int64_t bytes) {
  return join_text("save ", path, ", ", tensors, tensors == 1 ? " tensor, " : " tensors, ",
                   planner::describe_bytes(bytes));
}

}  // namespace detail

template <class>
std::string describe_axes(execution_context const& w, planner::spec const& s, int first) {
  std::string text;
  for (int i = first; i < s.rank; ++i) {
    text.append(i > first ? ", " : "").append(w.names.labels[s.label[i]]);
    for (int k = 0; k < s.over[i].size(); ++k) text.append("/").append(w.names.mesh_axes[s.over[i][k]]);
  }
  return text;
}

template <class>
void save_tensors(device_mesh const& mesh, std::string const& path, file_format format,
                  std::vector<tensor_to_save> const& tensors) {
  require_ending("save", path, format);
  if (format == file_format::safetensors) detail::require_names(path, tensors);
  if (mesh.absent()) return;
  require_devices(mesh, "save");
  exclusive_use const use = mesh.use("save");
  communicator const& all = mesh.world();
  file_contents contents = detail::contents_of(mesh, tensors);
  std::string header = format == file_format::npy ? make_npy_header(contents) : make_safetensors_header(contents);
  std::int64_t end = 0;
  for (tensor_in_file const& t : contents.tensors) end = std::max(end, t.end);
  auto const describe = [&] { return detail::describe_save(path, tensors.size(), contents.data_begin + end); };
  // In check mode alone the path is compared, too: device 0's is the one that counts.
  require_agreement(all, [&] {
    return all.compares_calls() ? describe() : detail::describe_save("", tensors.size(), contents.data_begin + end);
  });
  profiled const region_of_run([&] { push_region(describe()); });
  std::unique_ptr<replacing_file> file;
  std::string name;
  alike_on_all(all, [&] {
    if (mesh.device() != 0) return;
    detail::require_readable(path, format, header, contents.data_begin + end);
    file = std::make_unique<replacing_file>("save", path, contents.data_begin + end);
    name = file->name();
  });
  auto length = static_cast<std::int64_t>(name.size());
  broadcast(all, &length, 1);
  name.resize(static_cast<std::size_t>(length));
  broadcast(all, reinterpret_cast<std::int8_t*>(name.data()), length);
  move_pieces(all, "save", name, file_use::writes, detail::pieces_to_save(mesh, header, contents, tensors));
  alike_on_all(all, [&] {
    if (file) file->replace();
  });
}

}  // namespace ostraka::engine
