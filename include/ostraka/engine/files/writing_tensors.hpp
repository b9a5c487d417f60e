// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Writes tensors to files (save_tensors.hpp). Programs that link ostraka::compiled do not include this.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/disk/replacing_file.hpp>
#include <ostraka/engine/disk/replacing_parts.hpp>
#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/files/file_layout.hpp>
#include <ostraka/engine/files/foreign_block.hpp>
#include <ostraka/engine/files/save_tensors.hpp>
#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/engine/formats/safetensors.hpp>
#include <ostraka/engine/formats/safetensors_index.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>
#include <ostraka/version.hpp>

namespace ostraka::engine {

namespace detail {

// Throws if the new file could not be loaded, before it replaces an older file.
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

inline std::string describe_save(std::string const& path, file_layout const& layout, std::size_t tensors) {
  std::size_t const files = layout.files.size();
  return join_text("save ", path, ", ", tensors, tensors == 1 ? " tensor, " : " tensors, ",
                   files == 1 ? std::string() : join_text(files, " parts, "), planner::describe_bytes(layout.bytes()));
}

inline file_layout lay_out(device_mesh const& mesh, save_request const& r) {
  if (r.part_bytes == 0) require_ending("save", r.path, r.format);
  return engine::lay_out(r.path, r.format, r.tensors, r.part_bytes,
                         {{"ostraka", join_text(OSTRAKA_VERSION_MAJOR, '.', OSTRAKA_VERSION_MINOR)},
                          {"mesh", mesh.describe()},
                          {"format", "pt"}});  // transformers refuses a file without it
}

// The files of a save, which replace older ones. Its functions are collective over the mesh.
class files_to_save {
 public:
  // Creates the files, and reserves space for their headers and blocks. @throws ostraka::error, on all devices alike
  files_to_save(device_mesh const& mesh, save_request const& r, file_layout layout)
      : mesh_(mesh), path_(r.path), layout_(std::move(layout)) {
    std::string list;
    run_or_fail_together(all(), [&] {
      if (mesh_.device() != 0) return;
      std::vector<std::int64_t> bytes;
      for (file_layout::file const& f : layout_.files) {
        require_readable(path_, r.format, f.header, f.bytes());
        bytes.push_back(f.bytes());
      }
      if (r.part_bytes == 0)
        list = file_.emplace("save", path_, bytes.front()).name();
      else
        make_parts(bytes);
      for (std::size_t k = 0; parts_ && k < bytes.size(); ++k)
        append_text(list, k > 0 ? std::string_view("\0", 1) : std::string_view(), parts_->name(k));
    });
    auto length = static_cast<std::int64_t>(list.size());
    broadcast(all(), &length, 1);
    list.resize(static_cast<std::size_t>(length));
    broadcast(all(), reinterpret_cast<std::int8_t*>(list.data()), length);
    for (std::size_t begin = 0; begin <= list.size();) {
      std::size_t const end = std::min(list.find('\0', begin), list.size());
      names_.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  [[nodiscard]] communicator const& all() const { return mesh_.world(); }
  [[nodiscard]] device_mesh const& mesh() const { return mesh_; }
  [[nodiscard]] file_layout const& layout() const { return layout_; }

  // The temporary name of file k.
  [[nodiscard]] std::string const& name(std::size_t k) const { return names_[k]; }

  // Adds the header of file k, if this device writes it.
  void add_header(std::vector<piece_in_memory>& pieces, std::size_t k) {
    std::string& h = layout_.files[k].header;
    if (mesh_.device() == 0)
      pieces.push_back({{0, strided().add(static_cast<std::int64_t>(h.size()), 1), h.data()}, nullptr});
  }

  // Returns the blocks that this device writes, in the order of the files. If several devices hold the same block, one
  // of them writes it; the work is spread over these devices.
  [[nodiscard]] std::vector<placed_block> blocks(std::vector<tensor_to_save> const& tensors) const {
    std::vector<placed_block> blocks;
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      file_block b = tensors[k].block;
      b.here = b.here && static_cast<int>(k % static_cast<std::size_t>(b.replicas)) == b.replica;
      blocks.push_back({&layout_.leaves[k], b});
    }
    std::sort(blocks.begin(), blocks.end(), [](placed_block const& a, placed_block const& b) {
      return std::tie(a.tensor->part, a.tensor->begin, a.tensor->end) <
             std::tie(b.tensor->part, b.tensor->begin, b.tensor->end);
    });
    return blocks;
  }

  // Renames the files to their paths after all devices have written. @throws ostraka::error, on all devices alike
  void replace() {
    run_or_fail_together(all(), [&] {
      if (file_) file_->replace();
      if (parts_) parts_->replace([&](std::vector<std::string> const& names) { return index_of(names); });
    });
  }

 private:
  // Creates the parts. Before anything is written, checks that the index could be loaded again.
  void make_parts(std::vector<std::int64_t> const& bytes) {
    parts_ = std::make_unique<replacing_parts>("save", path_, bytes);
    try {
      static_cast<void>(parse_safetensors_index(index_of(parts_->plain_names())));
    } catch (malformed_header const& e) {
      throw_error("save: ", path_, " could not be loaded again: ", e.what(), "; save it under another name");
    }
  }

  [[nodiscard]] std::string index_of(std::vector<std::string> const& names) const {
    std::vector<std::pair<std::string, std::string>> places;
    for (std::size_t k = 0; k < names.size(); ++k)
      for (tensor_in_file const& t : layout_.files[k].contents.tensors) places.emplace_back(t.name, names[k]);
    return make_safetensors_index(layout_.data_bytes(), std::move(places));
  }

  device_mesh mesh_;
  std::string path_;
  file_layout layout_;
  std::optional<replacing_file> file_;  // on device 0, as the next one
  std::unique_ptr<replacing_parts> parts_;
  std::vector<std::string> names_;
};

// The pieces of the blocks of file k, one after the other. `turned` holds a copy of the blocks that the file stores in
// another order.
inline std::vector<piece_in_memory> pieces_to_save(files_to_save const& files, std::size_t k,
                                                   std::span<placed_block const> blocks,
                                                   std::vector<foreign_block>& turned) {
  std::vector<piece_in_memory> pieces;
  for (placed_block const& b : blocks) {
    if (!b.block.here) continue;
    std::int64_t const at = files.layout().files[k].contents.data_begin + b.tensor->begin;
    if (!foreign_block::is_one(b, file_use::writes)) {
      add_pieces(pieces, b.block, file_use::writes, at, strides_of(*b.tensor));
    } else {
      turned.emplace_back(b.block, *b.tensor).fill();
      turned.back().add_to(pieces, at);
    }
  }
  return pieces;
}

// Writes the blocks of each part.
inline void write_blocks(files_to_save& files, std::vector<placed_block> const& blocks) {
  std::vector<std::int64_t> most;
  bool foreign = false;
  for (placed_block const& b : blocks) {
    most.push_back(b.block.bytes());
    foreign = foreign || foreign_block::is_one(b, file_use::writes);
  }
  if (foreign) files.all().find_largest(most.data(), static_cast<int>(most.size()));
  std::span<placed_block const> rest(blocks);
  for (std::size_t k = 0; k < files.layout().files.size(); ++k)
    for (bool first = true; first || (!rest.empty() && rest.front().tensor->part == k); first = false) {
      std::size_t const count = count_together(rest, std::span(most).last(rest.size()), file_use::writes);
      std::vector<foreign_block> turned;
      std::vector<piece_in_memory> pieces;
      if (first) files.add_header(pieces, k);
      run_or_fail_together(files.all(), [&] {
        std::vector<piece_in_memory> const more = pieces_to_save(files, k, rest.first(count), turned);
        pieces.insert(pieces.end(), more.begin(), more.end());
      });
      move_pieces(files.all(), "save", files.name(k), file_use::writes, pieces);
      rest = rest.subspan(count);
    }
}

// Calls f() in a profiling region, once the devices agree on the save. Collective.
template <class F>
void in_agreed_save(device_mesh const& mesh, save_request const& r, file_layout const& layout, F const& f) {
  require_devices(mesh, "save");
  exclusive_use const use = mesh.use("save");
  communicator const& all = mesh.world();
  auto const describe = [&] { return describe_save(r.path, layout, r.tensors.size()); };
  // Only check mode compares the paths, too: device 0's path counts.
  require_agreement(all,
                    [&] { return all.compares_calls() ? describe() : describe_save("", layout, r.tensors.size()); });
  profiled const region_of_run([&] { push_region(describe()); });
  f();
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
void save_tensors(device_mesh const& mesh, save_request const& request) {
  if (request.format != file_format::npy && request.part_bytes == 0 && ends_as_hdf5(request.path))
    return require_hdf5("save", request.path).save(mesh, request);
  file_layout layout = detail::lay_out(mesh, request);
  if (mesh.absent()) return;
  detail::in_agreed_save(mesh, request, layout, [&] {
    detail::files_to_save files(mesh, request, std::move(layout));
    detail::write_blocks(files, files.blocks(request.tensors));
    files.replace();
  });
}

}  // namespace ostraka::engine

#ifndef OSTRAKA_COMPILED  // as in save_tensors.hpp, after the class that it uses
#  include <ostraka/engine/files/writing_later.hpp>
#endif
