// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Finds, in a program's events, communication that it could avoid or overlap by calling its operations
/// differently. It looks for three faults, only in the program's own calls, and not in backward passes, which the
/// program did not write.
///
///     moved twice    B is gathered by one product, and unchanged again by the next
///     half would do  C is gathered, or all-reduced, and its reader slices it along the same mesh axes
///     begun late     B is gathered only for its product, and was ready while others were computed
///
/// A block is identified by its address, from its creation until it is freed or written.

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/record/machine_clock.hpp>
#include <ostraka/engine/trace/text_buffer.hpp>
#include <ostraka/plan/hardware/machine_data.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

class program_adviser final : public listener {
 public:
  explicit program_adviser(planner::machine const& m) : clock_(m) {
    around_ = of_this_thread_;
    of_this_thread_ = this;
    listen_to_memory(1);
    listen(scope::this_thread);
  }
  ~program_adviser() {
    leave();
    listen_to_memory(-1);
    of_this_thread_ = around_;
  }

  void on_event(event const& e) override {
    clock_.on_event(e);
    switch (e.kind) {
      case event_kind::begins:
        regions_.push_back(e.region != region_kind::program);
        if (!regions_.back()) return;
        ++depth_;
        if (backward_ == 0 && e.name.substr(0, 20) == "ostraka backward of ") backward_ = depth_;
        if (e.region == region_kind::operation && !e.resumed && backward_ == 0) begin(e);
        return;
      case event_kind::finishes:
        if (late_ >= 0 && clock_.waiting() > waiting_) hide(clock_.waiting() - waiting_);
        return;
      case event_kind::ends: {
        if (regions_.empty()) return;  // the region began before the adviser listened
        bool const counts = regions_.back();
        regions_.pop_back();
        if (!counts) return;
        if (backward_ == depth_) backward_ = 0;
        --depth_;
        if (depth_ == 0) late_ = -1;
        for (known_block& b : blocks_)
          if (depth_ == 0 && b.ready < 0) b.ready = clock_.computing();
        return;
      }
      default:
        return;
    }
  }

  /// Returns one sentence for each fault: first redundant moves, in the order of their occurrence, then late begins
  /// that cost at least this share of the time.
  [[nodiscard, gnu::cold]] dynamic_array<std::string> advice(double least_part = 0.02) const {
    dynamic_array<std::string> texts;
    for (fault const& f : faults_)
      if (f.what != kind::late) texts.push_back(text_of(f));
    for (fault const& f : faults_)
      if (f.what == kind::late && f.seconds >= least_part * clock_.now()) texts.push_back(text_of(f));
    return texts;
  }

 private:
  enum class kind : std::uint8_t { twice, half, late };
  struct fault {
    kind what;
    std::string operation, other, tensor, move;
    std::int64_t times = 0, bytes = 0;
    double seconds = 0, ready_before = 0;
  };
  // A block that an operation made or read. Records the reads of a result whose last step was a gather or an
  // all-reduce.
  struct known_block {
    void const* at;
    void const* last;  ///< the end that Kokkos reports: its own header is before the elements
    double ready;      ///< computing time so far when it was ready; < 0: not ready yet
    std::string made_by{}, move{}, tensor{};
    std::int64_t bytes = 0;
    std::string sliced_by{};
    bool read_whole = false;
  };
  struct moved {
    void const* at;
    std::string exactly, operation;
  };

  [[gnu::cold, gnu::noinline]] void begin(event const& e) {
    if (e.uses == nullptr) {  // an operation without a list of blocks may read any block, unless it only writes
      if (depth_ == 1 && e.name.find(" reads ") == std::string_view::npos &&
          e.name.find(" writes ") != std::string_view::npos)
        return;
      for (known_block& b : blocks_) b.read_whole = true;
      return;
    }
    std::string const operation(equation_of(e.name));
    late_ = -1;
    for (int k = 0; k < e.operands; ++k) {
      block_use const& u = e.uses[k];
      bool const slices = u.move.substr(0, 6) == "slice<";
      if (known_block* const b = find(u.block)) slices ? add_slice(*b, u, operation) : void(b->read_whole = true);
      if (slices || u.move.empty() || u.bytes == 0) continue;
      bool const spared = is_moved_twice(u, operation);
      if (!spared && late_ < 0 && operation.substr(0, 6) != "start_") prepare_late(u, operation);
    }
    block_use const& result = e.uses[e.operands];
    forget(result.block, result.block);
    known_block made{result.block, result.block, -1, operation, std::string(result.move), std::string(result.tensor),
                     result.bytes};
    made.read_whole = result.move.substr(0, 10) != "all_gather" && result.move.substr(0, 10) != "all_reduce";
    blocks_.push_back(static_cast<known_block&&>(made));
    if (moves_.size() > most_moves)
      for (std::size_t extra = moves_.size() - most_moves; extra > 0; --extra) moves_.erase(moves_.begin());
  }

  [[gnu::cold, gnu::noinline]] bool is_moved_twice(block_use const& u, std::string const& operation) {
    for (moved const& m : moves_) {
      if (m.at != u.block || m.exactly != u.exactly) continue;
      add({kind::twice, operation, m.operation, std::string(u.tensor), std::string(u.move), 1, u.bytes});
      return true;
    }
    moves_.push_back({u.block, std::string(u.exactly), operation});
    return false;
  }

  [[gnu::cold, gnu::noinline]] void add_slice(known_block& b, block_use const& u, std::string const& operation) {
    std::string_view const axes = axes_of(u.move), of_move = axes_of(b.move);
    if (b.read_whole || axes.empty() || axes != of_move) {
      b.read_whole = true;
      return;
    }
    b.sliced_by = operation;
  }

  [[gnu::cold, gnu::noinline]] void prepare_late(block_use const& u, std::string const& operation) {
    known_block const* const b = find(u.block);
    double const ready = b != nullptr ? b->ready : 0;
    if (ready < 0 || clock_.computing() <= ready) return;
    waiting_ = clock_.waiting();
    ready_before_ = clock_.computing() - ready;
    late_tensor_ = std::string(u.tensor);
    late_move_ = std::string(u.move);
    late_operation_ = operation;
    late_ = depth_;
  }
  // Records a late begin: the program has waited this long for the first collective of the operation that moves the
  // operand.
  [[gnu::cold, gnu::noinline]] void hide(double waited) {
    late_ = -1;
    fault f{kind::late, late_operation_, "", late_tensor_, late_move_, 1, 0};
    f.seconds = waited < ready_before_ ? waited : ready_before_;
    f.ready_before = ready_before_;
    add(f);
  }

  [[gnu::cold, gnu::noinline]] void add(fault const& f) {
    for (fault& known : faults_)
      if (known.what == f.what && known.operation == f.operation && known.other == f.other &&
          known.tensor == f.tensor) {
        known.times += f.times;
        known.bytes += f.bytes;
        known.seconds += f.seconds;
        return;
      }
    faults_.push_back(f);
  }

  // Forgets the blocks in this memory. All reads of a result are known now.
  [[gnu::cold, gnu::noinline]] void forget(void const* begin, void const* last) {
    for (std::size_t i = 0; i < blocks_.size();) {
      known_block const& b = blocks_[i];
      if (b.last < begin || b.at > last) {
        ++i;
        continue;
      }
      if (!b.read_whole && !b.sliced_by.empty())
        add({kind::half, b.made_by, b.sliced_by, b.tensor, b.move, 1, b.bytes});
      blocks_.erase(&b);
    }
    for (std::size_t i = 0; i < moves_.size();)
      moves_[i].at<begin || moves_[i].at> last ? void(++i) : moves_.erase(&moves_[i]);
  }

  [[nodiscard]] known_block* find(void const* at) {
    for (known_block& b : blocks_)
      if (b.at <= at && at <= b.last) return &b;
    return nullptr;
  }

  // Returns `einsum C[I, K] = A[I, J] · B[J, K]` from a region's name.
  static std::string_view equation_of(std::string_view name) {
    if (name.substr(0, 8) == "ostraka ") name.remove_prefix(8);
    return name.substr(0, name.rfind(", moves "));
  }
  static std::string_view axes_of(std::string_view move) {
    std::size_t const open = move.find('<');
    return open == std::string_view::npos ? std::string_view() : move.substr(open);
  }

  [[nodiscard, gnu::cold, gnu::noinline]] static std::string text_of(fault const& f) {
    text_buffer to;
    std::string const bytes = join_text(planner::describe_bytes(f.bytes), " per device");
    std::string const times = f.times == 1 ? std::string() : join_text(planner::describe_number(f.times), " times, ");
    switch (f.what) {
      case kind::twice:
        to.text =
            join_text(f.operation, ": ", times, "moves ", f.tensor, " by ", f.move, ", as it was moved before by `",
                      f.other, "`, ", bytes, "; move it once, os::reshard, and give both what comes of it");
        break;
      case kind::half:
        to.text = join_text(
            f.operation, ": ", times, "ends with ", f.move, " of ", f.tensor, ", ", bytes, ", and all that reads it, `",
            f.other,
            "`, slices it along the same mesh axes; name the divided sharding as "
            "the result",
            f.move.substr(0, 10) == "all_reduce" ? ": a reduce_scatter is half of it" : ": no gather is needed");
        break;
      case kind::late:
        to.text = join_text(f.operation, ": ", times, "waits for ", f.move, " of ", f.tensor);
        to.put(", %.3g s that would go on beside what is computed before it: it was ready %.3g s earlier", f.seconds,
               f.ready_before);
        to.text += "; begin it there, os::start_reshard, and wait for it here, or give the product os::overlapped";
        break;
    }
    return to.text;
  }

  using allocated = Kokkos_Profiling_allocateDataFunction;
  using freed = Kokkos_Profiling_deallocateDataFunction;
  using space_handle = Kokkos_Profiling_SpaceHandle;

  // Listens to Kokkos' memory events beside the tool that listened before. Keeps a tool that has begun to listen since.
  [[gnu::cold, gnu::noinline]] static void listen_to_memory(int more) {
    namespace tools = Kokkos::Tools::Experimental;
    short_lock const alone(lock_);
    auto const now = tools::get_callbacks();
    if (more > 0 && now.deallocate_data != &on_free) {
      earlier_frees_ = now.deallocate_data;
      tools::set_deallocate_data_callback(&on_free);
    }
    if (more > 0 && now.allocate_data != &on_allocation) {
      earlier_allocations_ = now.allocate_data;
      tools::set_allocate_data_callback(&on_allocation);
    }
    advisers_ += more;
    if (advisers_ > 0) return;
    if (now.deallocate_data == &on_free) tools::set_deallocate_data_callback(earlier_frees_);
    if (now.allocate_data == &on_allocation) tools::set_allocate_data_callback(earlier_allocations_);
  }
  [[gnu::visibility("default")]] static void on_free(space_handle const space, char const* label, void const* at,
                                                     std::uint64_t bytes) {
    for (program_adviser* a = of_this_thread_; a != nullptr; a = a->around_)
      a->forget(at, static_cast<char const*>(at) + bytes);
    if (earlier_frees_ != nullptr) earlier_frees_(space, label, at, bytes);
  }
  // The block is the result of an operation, and is ready when the operation ends.
  [[gnu::visibility("default")]] static void on_allocation(space_handle const space, char const* label, void const* at,
                                                           std::uint64_t bytes) {
    for (program_adviser* a = of_this_thread_; a != nullptr; a = a->around_) {
      a->blocks_.push_back({at, static_cast<char const*>(at) + bytes, -1});
      a->blocks_.back().read_whole = true;
    }
    if (earlier_allocations_ != nullptr) earlier_allocations_(space, label, at, bytes);
  }

  static constexpr std::size_t most_moves = 16;  // moves that count as "in a row"

  machine_clock clock_;
  dynamic_array<bool> regions_;  // regions that have begun and not ended; true: a region of the library, which counts
  int depth_ = 0;                // number of regions that count
  int backward_ = 0;  // the depth of the outermost backward pass, 0: none
  int late_ = -1;     // depth of an operation that could begin its move earlier, and has not waited for it yet
  double waiting_ = 0, ready_before_ = 0;
  std::string late_tensor_, late_move_, late_operation_;
  dynamic_array<known_block> blocks_;
  dynamic_array<moved> moves_;
  dynamic_array<fault> faults_;
  program_adviser* around_ = nullptr;
  [[gnu::visibility("default")]] inline static thread_local constinit program_adviser* of_this_thread_ = nullptr;
  [[gnu::visibility("default")]] inline static freed earlier_frees_ = nullptr;
  [[gnu::visibility("default")]] inline static allocated earlier_allocations_ = nullptr;
  [[gnu::visibility("default")]] inline static int advisers_ = 0;
  [[gnu::visibility("default")]] inline static std::atomic_flag lock_{};
};

}  // namespace ostraka::engine
