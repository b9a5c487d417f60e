// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Writes tensors while the program continues (save_tensors.hpp). Each device copies its part to the host, and
/// a thread writes the copy with pwrite. The thread sends no messages and uses no mesh, so it does not need
/// MPI_THREAD_MULTIPLE, and the program's operations continue meanwhile. The devices communicate only when the program
/// calls `test` or `wait`. Programs that link ostraka::compiled do not include this.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <ostraka/engine/call_check/call_key.hpp>
#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/disk/posix_file.hpp>
#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/files/file_format.hpp>
#include <ostraka/engine/files/file_layout.hpp>
#include <ostraka/engine/files/foreign_block.hpp>
#include <ostraka/engine/files/save_tensors.hpp>
#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/engine/files/writing_tensors.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::engine {

namespace detail {

// This device's part of one file, in host memory.
struct copied_pieces {
  std::string name{};
  std::vector<piece_in_memory> pieces{};
  std::unique_ptr<char[]> memory{};

  // Copies the pieces from the tensors' memory.
  void take(std::vector<piece_in_memory> const& from) {
    std::int64_t bytes = 0;
    for (piece_in_memory const& p : from) bytes += p.bytes();
    memory = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(bytes));
    char* next = memory.get();
    for (piece_in_memory const& p : from) {
      carry(p, next, p.memory);
      pieces.push_back({{p.at, p.lies, next}, nullptr});
      next += p.bytes();
    }
    traffic_of_files.written += bytes;
  }

  void write() const {
    posix_file const file("save", name, O_RDWR);
    for (piece_in_memory const& p : pieces) move_alone(file, file_use::writes, file_round(&p, 1));
    file.flush();
  }
};

// A thread that its destructor joins.
struct joined_thread {
  std::thread thread{};

  ~joined_thread() { join(); }
  void join() {
    if (thread.joinable()) thread.join();
  }
};

// A save whose pieces a thread writes.
class save_by_thread final : public begun_save {
 public:
  save_by_thread(device_mesh const& mesh, save_request const& r, file_layout layout)
      : files_(std::in_place, mesh, r, std::move(layout)) {
    run_or_fail_together(files_->all(), [&] {
      std::vector<placed_block> const blocks = files_->blocks(r.tensors);
      auto next = blocks.begin();
      for (std::size_t k = 0; k < files_->layout().files.size(); ++k) {
        auto const end = std::find_if(next, blocks.end(), [&](placed_block const& b) { return b.tensor->part != k; });
        std::vector<piece_in_memory> pieces;
        files_->add_header(pieces, k);
        work_.emplace_back().name = files_->name(k);
        copy(k, {next, end}, pieces);
        next = end;
      }
      writer_.thread = std::thread([this] { write(); });
    });
  }
  save_by_thread(save_by_thread const&) = delete;
  save_by_thread& operator=(save_by_thread const&) = delete;

  bool test() override {
    if (!files_) return true;
    device_mesh const mesh = files_->mesh();  // kept while it is in use
    exclusive_use const use = enter(mesh, "pending_save.test");
    std::int64_t writing = has_written_.load(std::memory_order_acquire) ? 0 : 1;
    mesh.world().find_largest(&writing, 1);
    if (writing == 0) finish();
    return writing == 0;
  }

  void wait() override {
    if (!files_) return;
    device_mesh const mesh = files_->mesh();
    exclusive_use const use = enter(mesh, "pending_save.wait");
    finish();
  }

 private:
  // Called before the devices of the mesh agree.
  static exclusive_use enter(device_mesh const& mesh, std::string_view call) {
    exclusive_use use = mesh.use("save");
    require_agreement(
        mesh.world(), [&] { return std::uint64_t(call_key().add(call)); }, [&] { return std::string(call); });
    return use;
  }

  // Blocks that the file stores in another order are transposed first.
  void copy(std::size_t k, std::vector<placed_block> const& blocks, std::vector<piece_in_memory> pieces) {
    std::vector<foreign_block> turned;
    std::vector<piece_in_memory> const more = pieces_to_save(*files_, k, blocks, turned);
    pieces.insert(pieces.end(), more.begin(), more.end());
    work_.back().take(pieces);
  }

  void write() {
    try {
      for (copied_pieces& one : work_) {
        one.write();
        one.memory.reset();
      }
    } catch (std::exception const& e) {
      failure_ = e.what();
      if (failure_.empty()) failure_ = "save: an error without a text";
    }
    has_written_.store(true, std::memory_order_release);
  }

  // Releases the files and the memory, also if it throws; removes files that have not replaced older ones.
  void finish() {
    writer_.join();
    files_to_save files = std::move(*files_);
    files_.reset();
    throw_alike(files.all(), failure_);
    files.replace();
  }

  std::optional<files_to_save> files_;  // empty after the save
  std::vector<copied_pieces> work_;
  std::string failure_;
  std::atomic<bool> has_written_{false};
  joined_thread writer_;  // last, so that the thread ends before its data
};

}  // namespace detail

template <class>
std::unique_ptr<begun_save> begin_save(device_mesh const& mesh, save_request const& request) {
  if (request.format != file_format::npy && ends_as_hdf5(request.path))
    throw_error("save: os::start_save writes no HDF5 file, but the path is ", request.path, "; call os::save");
  file_layout layout = detail::lay_out(mesh, request);
  std::unique_ptr<begun_save> begun;
  if (mesh.absent()) return begun;
  detail::in_agreed_save(mesh, request, layout,
                         [&] { begun = std::make_unique<detail::save_by_thread>(mesh, request, std::move(layout)); });
  return begun;
}

}  // namespace ostraka::engine
