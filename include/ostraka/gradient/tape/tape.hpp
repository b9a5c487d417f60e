// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The tape of reverse mode: a node for each operation on variables, in the order in which they ran. A node
/// holds the sum of its result's cotangents, and passes cotangents to its operands in one call through a pointer to a
/// function that knows all types and plans at compile time. Nodes are in memory that the host thread keeps, so that a
/// loop over the same program allocates once.

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/engine/blocks/dense.hpp>
#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/gradient/tape/differentiated.hpp>
#include <ostraka/gradient/tape/result_store.hpp>
#include <ostraka/gradient/tape/without_names.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

/// One operation of the tape. It has a pointer to its function, because a class with virtual functions would add its
/// name, its tables and three destructors to the program for every operation.
class tape_node {
 public:
  /// The node's function, `run_node` of its class: passes the cotangent of the result to the operands if `pulls`, else
  /// destroys the node.
  using function = void (*)(tape_node&, bool pulls);

  explicit tape_node(function run) : run_(run) {}
  tape_node(tape_node const&) = delete;
  tape_node& operator=(tape_node const&) = delete;

 protected:
  ~tape_node() = default;

 private:
  friend class tape;
  function run_;
  char const* name_ = nullptr;
  tape_node* before_ = nullptr;
};

/// The function of nodes of a class, which has a `pull_back`. A `pull_back` that calls a function of the program does
/// so in a function that is not inlined, so that the program's own loops are not compiled for size.
template <class Node>
[[gnu::cold]] void run_node(tape_node& node, bool pulls) {
  auto& own = static_cast<Node&>(node);
  if (pulls)
    own.pull_back();
  else
    own.~Node();
}

/// The pieces of memory for the tapes of one host thread, kept from tape to tape.
class tape_memory {
 public:
  struct piece {
    piece* before = nullptr;  ///< the previous piece of the same tape, or the next free one
    alignas(std::max_align_t) std::byte bytes[(std::size_t{1} << 16) - alignof(std::max_align_t)];
  };

  [[gnu::visibility("default")]] static tape_memory& mine() {
    static thread_local constinit tape_memory* memory = nullptr;
    return engine::per_thread(memory);
  }

  tape_memory() = default;
  tape_memory(tape_memory const&) = delete;
  tape_memory& operator=(tape_memory const&) = delete;
  ~tape_memory() {
    while (free_ != nullptr) delete std::exchange(free_, free_->before);
  }

  [[nodiscard]] piece* take() { return free_ == nullptr ? new piece : std::exchange(free_, free_->before); }
  void give_back(piece* p) {
    p->before = free_;
    free_ = p;
  }

 private:
  piece* free_ = nullptr;
};

/// The operations that ran, last first. A tape is unwound once.
class tape {
 public:
  tape() : outer_(std::exchange(of_this_thread().innermost, this)), serial_(++of_this_thread().begun) {}
  tape(tape const&) = delete;
  tape& operator=(tape const&) = delete;
  ~tape() {
    while (last_ != nullptr) end_last(false);
    while (pieces_ != nullptr) tape_memory::mine().give_back(std::exchange(pieces_, pieces_->before));
    of_this_thread().innermost = outer_;
  }

  /// Distinguishes the tape from an earlier one at the same address.
  [[nodiscard]] std::uint64_t serial() const { return serial_; }

  /// True if this thread has such a tape. Does not read `t` if there is none.
  [[nodiscard]] static bool is_live(tape const* t, std::uint64_t serial) {
    tape const* live = of_this_thread().innermost;
    while (live != nullptr && live != t) live = live->outer_;
    return live != nullptr && live->serial_ == serial;
  }

  /// Appends a node.
  template <class Node, class... Arguments>
  [[gnu::cold]] Node* push(Arguments&&... arguments) {
    static_assert(sizeof(Node) <= sizeof(tape_memory::piece::bytes) && alignof(Node) <= alignof(std::max_align_t));
    Node* const node = ::new (place(sizeof(Node), alignof(Node))) Node(std::forward<Arguments>(arguments)...);
    node->before_ = last_;
    node->name_ = std::exchange(name_, nullptr);
    last_ = node;
    return node;
  }

  /// Sets the name of the next node's operation, for errors and profiles of its backward.
  void name_next(char const* name) { name_ = name; }

  /// The two runs of a region that saves results by name. The first run records only numbers, no nodes.
  void run_first(result_store& s) { saved_ = &s, is_first_run_ = true; }
  void run_again(result_store& s) { saved_ = &s; }
  [[nodiscard]] bool is_first_run() const { return is_first_run_; }
  [[nodiscard]] result_store* saved() const { return saved_; }
  [[nodiscard]] int number_of_last() const { return number_; }

  /// The saved result of the next operation of a region, without its names, or nullptr. `type` is the mark of its type.
  template <class Value>
  [[gnu::cold]] Value const* next_saved(void const* type) {
    ++number_;
    return is_first_run_ ? nullptr : saved_->find<Value>(number_, type);
  }

  /// True if gathers are repeated when they are needed, instead of kept.
  [[nodiscard]] bool gathers_again() const { return gathers_again_; }
  void set_gathers_again(bool again) { gathers_again_ = again; }

  /// The last node so far.
  [[nodiscard]] tape_node const* last() const { return last_; }

  /// Runs the nodes after `first` backwards, the last one first. Each node is freed, with the operands that it kept,
  /// when it has passed on its cotangent.
  void unwind_to(tape_node const* first) {
    while (last_ != first) end_last(true);
  }

 private:
  [[gnu::noinline]] void* place(std::size_t size, std::size_t alignment) {
    std::size_t at = (used_ + alignment - 1) / alignment * alignment;
    if (pieces_ == nullptr || at + size > sizeof(pieces_->bytes)) {
      tape_memory::piece* const next = tape_memory::mine().take();
      next->before = pieces_;
      pieces_ = next;
      at = 0;
    }
    used_ = at + size;
    return pieces_->bytes + at;
  }

  struct tapes {
    tape* innermost;
    std::uint64_t begun;
  };
  [[gnu::visibility("default")]] static tapes& of_this_thread() {
    static thread_local constinit tapes all{};
    return all;
  }

  // Destroys a node at the end of a scope, so that the nodes' own functions need not catch errors.
  struct ended_node {
    tape_node& node;
    ~ended_node() { node.run_(node, false); }
  };

  [[gnu::noinline]] void end_last(bool pulls) {
    ended_node const ends{*last_};
    last_ = ends.node.before_;
    if (!pulls) return;
    if (ends.node.name_ != nullptr)
      pull_named(ends.node);
    else
      ends.node.run_(ends.node, true);
  }

  [[gnu::noinline]] static void pull_named(tape_node& node) {
    char const* const name = node.name_;
    engine::profiled const region_of_run([&] { engine::push_region(join_text("backward of ", name)); });
    try {
      node.run_(node, true);
    } catch (error const& e) {
      throw_error("the backward of ", name, ": ", e.what());
    }
  }

  tape* outer_;
  std::uint64_t serial_;
  tape_node* last_ = nullptr;
  char const* name_ = nullptr;
  tape_memory::piece* pieces_ = nullptr;
  std::size_t used_ = 0;
  result_store* saved_ = nullptr;
  int number_ = 0;
  bool is_first_run_ = false;
  bool gathers_again_ = false;
};

/// A variable's reference to its tape, with the tape's serial, which distinguishes it from a later tape at the same
/// address.
struct tape_handle {
  tape* at = nullptr;
  std::uint64_t serial = 0;

  tape_handle() = default;
  tape_handle(tape* t) : at(t), serial(t == nullptr ? 0 : t->serial()) {}

  /// True if the tape still exists, or there is none.
  [[nodiscard]] bool is_live() const { return at == nullptr || tape::is_live(at, serial); }
};

template <class Cotangent>
constexpr Cotangent sum_of_cotangents(Cotangent const& a, Cotangent const& b);  // of as.hpp

[[noreturn, gnu::cold]] inline void throw_other_cotangent() {
  throw_error(
      "value_and_grad: the cotangents of one variable have its extents and live on its mesh, but two of them differ; "
      "see what an os::custom_vjp gives");
}

/// sum <- sum + g, for blocks of one layout: in place, unless others also hold the sum's block. One function for all
/// shardings: `Unnamed` is a tensor without its names.
template <class Unnamed>
void add_block(Unnamed& sum, Unnamed const& g) {
  using view = typename Unnamed::view_type;
  if (sum.extents() != g.extents() || sum.mesh_handle() != g.mesh_handle()) throw_other_cotangent();
  engine::profiled const region_of_run([] { engine::push_region("add cotangents"); });
  Unnamed target = sum;
  auto const holders = engine::holders_of(sum.local());  // including `target`; 0 if the library does not own the memory
  if (holders > 2 || holders == 0) {
    target = Unnamed(uninitialised_unnamed<typename view::value_type>(sum));
    if constexpr (requires { target.set_origins(sum.origins()); }) target.set_origins(sum.origins());
  }
  engine::combine_blocks(execution_space_of<Unnamed>(), target.local().data(), plus{}, sum.local().data(),
                         g.local().data(), static_cast<std::int64_t>(g.local().size()));
  sum = std::move(target);
}

/// Keeps the first cotangent without a copy; other variables may share it.
template <class Unnamed>
[[gnu::noinline]] void add_cotangent(Unnamed& sum, bool is_first, Unnamed const& g) {
  if (is_first)
    sum = g;
  else
    add_block(sum, g);
}

/// The sum of the cotangents of one variable: a tensor without its names, or a variable of an outer derivative.
template <class Sum>
class slot_of_sum : public tape_node {
 public:
  slot_of_sum() : slot_of_sum(run_node<slot_of_sum>) {}

  void add(Sum const& g) {
    if constexpr (is_variable<Sum>)
      sum_ = is_empty_ ? g : sum_of_cotangents(sum_, g);
    else
      add_cotangent(sum_, is_empty_, g);
    is_empty_ = false;
  }

  [[nodiscard]] bool is_empty() const { return is_empty_; }

  /// The sum, without names; callers add these: `Cotangent(slot->sum())`.
  [[nodiscard]] Sum const& sum() const { return sum_; }

 protected:
  explicit slot_of_sum(function run) : tape_node(run) {}

  /// Moves the sum out of the slot, once, for a node that passes it on. The slot releases it, so that a pullback may
  /// overwrite a cotangent that has no other handle. (A moved-from View of Kokkos still holds its block.)
  [[gnu::noinline]] void move_sum_to(Sum& cotangent) {
    cotangent = std::move(sum_);
    sum_ = Sum();
  }

 private:
  friend void run_node<slot_of_sum>(tape_node&, bool);
  void pull_back() {}  // a leaf has no operands

  Sum sum_;
  bool is_empty_ = true;
};

/// The slot of cotangents of this type: one class for all shardings of a rank.
template <class Cotangent>
using cotangent_slot = slot_of_sum<without_names<Cotangent>>;

}  // namespace ostraka::detail
