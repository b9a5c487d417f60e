// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A file that is open for loading: the requests to it, which all devices make alike, and the blocks that are
/// read from it.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/files/load_tensors.hpp>
#include <ostraka/files/load_options.hpp>
#include <ostraka/files/stacked_layers.hpp>
#include <ostraka/files/tensors_in_files.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

// An open file with the requests to it, until all requested tensors are read.
class loading {
 public:
  loading(char const* operation, std::string const& path, engine::file_format format,
          std::shared_ptr<engine::device_mesh const> mesh, load_options const& options)
      : operation_(operation),
        path_(path),
        options_(options),
        mesh_(std::move(mesh)),
        files_(engine::load_contents(*mesh_, operation, path, format)) {}

  [[nodiscard]] engine::file_contents const& contents() const { return files_->contents; }
  [[nodiscard]] engine::file_contents& contents() { return files_->contents; }
  [[nodiscard]] std::shared_ptr<engine::device_mesh const> const& mesh() const { return mesh_; }

  [[noreturn]] void fail(std::string const& what) const { throw_error(operation_, ": ", path_, ' ', what); }

  // Compares the descriptions of a request across ranks, because ranks may build it from numbers of their own.
  // Collective over the mesh.
  // @throws ostraka::error, on all devices alike, if they are not the same
  template <class Describe>
  [[gnu::cold]] void require_same_request(Describe const& words) const {
    if (mesh_->absent() || mesh_->is_dry()) return;
    engine::exclusive_use const use = mesh_->use(operation_);
    engine::require_agreement(mesh_->world(), [&] { return join_text(operation_, ' ', words()); });
  }

  // Calls f, which makes the requests. If it throws on one device, all devices throw. Collective over the mesh.
  // @throws ostraka::error, on all devices alike, also if they make different requests
  template <class F>
  void request(F const& f) {
    std::string const failure = engine::failure_of([&] {
      if (options_.names.in_tree) engine::rename_tensors(files_->contents, operation_, path_, options_.names);
      f();
    });
    engine::agree_on_requests(*mesh_, operation_, failure, asked_);
  }

  // Call all requests first, in any order; then give the places to read into, in the same order. Returns null if the
  // file lacks the tensor; require_complete reports all missing tensors together.
  engine::tensor_in_file const* ask(engine::tensor_to_load wanted) {
    wanted.converted = options_.casts_to(wanted.element);
    asked_.push_back(engine::find_tensor(files_->contents, operation_, path_, wanted));
    if (asked_.back() == nullptr)
      missing_.push_back(options_.names.in_file ? options_.names.in_file(wanted.name) : wanted.name);
    return asked_.back();
  }
  // Throws if the file lacks requested tensors. Call it after all requests.
  void require_complete() const {
    engine::require_complete(*files_, operation_, path_, asked_, missing_, options_.only);
  }
  [[gnu::cold]] void into(tensor_for_file const& a, layer_of_stack const& layer = {}) {
    blocks_.push_back({asked_[blocks_.size()], block_of_layer(operation_, layer, a)});
  }

  void read() const { engine::load_blocks(*mesh_, operation_, path_, *files_, blocks_); }

 private:
  char const* operation_;
  std::string path_;
  load_options options_;
  std::shared_ptr<engine::device_mesh const> mesh_;
  std::shared_ptr<engine::file_set> files_;
  std::vector<engine::tensor_in_file const*> asked_;
  std::vector<std::string> missing_;
  std::vector<engine::placed_block> blocks_;
};

}  // namespace ostraka::detail
