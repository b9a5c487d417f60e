// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The tape of reverse mode: a node for each operation on variables, in the order in which they ran. A node
/// knows where the cotangent of its result is summed up, and how to hand it to those of its operands: one virtual call,
/// behind which all types and plans are known while compiling. Nodes lie in memory that the host thread keeps, so that
/// a loop over the same program allocates once.

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <ostraka/arithmetic.hpp>
#include <ostraka/engine/memory/dynamic_array.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/map_into.hpp>

namespace ostraka::detail {

/// One operation of the tape.
class tape_node {
 public:
  tape_node() = default;
  tape_node(tape_node const&) = delete;
  tape_node& operator=(tape_node const&) = delete;
  virtual ~tape_node() {}

  /// Hands the cotangent of the result to the operands.
  virtual void pull() = 0;

 private:
  friend class tape;
  tape_node* before_ = nullptr;
};

/// The pieces of memory that tapes of one host thread are written to, kept from tape to tape.
class tape_memory {
 public:
  static constexpr std::size_t piece = std::size_t{1} << 16;

  static tape_memory& mine() {
    static thread_local constinit tape_memory* memory = nullptr;
    return engine::per_thread(memory);
  }

  tape_memory() = default;
  tape_memory(tape_memory const&) = delete;
  tape_memory& operator=(tape_memory const&) = delete;
  ~tape_memory() {
    for (; !free_.empty(); free_.pop_back()) ::operator delete(free_.back());
  }

  [[nodiscard]] std::byte* take() {
    if (free_.empty()) return static_cast<std::byte*>(::operator new(piece));
    std::byte* const p = free_.back();
    free_.pop_back();
    return p;
  }
  void give_back(std::byte* p) { free_.push_back(p); }

 private:
  engine::dynamic_array<std::byte*> free_;
};

/// What ran, last first. It is unwound once.
class tape {
 public:
  tape() = default;
  tape(tape const&) = delete;
  tape& operator=(tape const&) = delete;
  ~tape() {
    while (last_ != nullptr) drop();
    for (; !pieces_.empty(); pieces_.pop_back()) tape_memory::mine().give_back(pieces_.back());
  }

  /// A new last node.
  template <class Node, class... Arguments>
  Node* push(Arguments&&... arguments) {
    static_assert(sizeof(Node) <= tape_memory::piece && alignof(Node) <= alignof(std::max_align_t));
    std::size_t at = (used_ + alignof(Node) - 1) / alignof(Node) * alignof(Node);
    if (pieces_.empty() || at + sizeof(Node) > tape_memory::piece) {
      pieces_.push_back(tape_memory::mine().take());
      at = 0;
    }
    Node* const node = ::new (static_cast<void*>(pieces_.back() + at)) Node(std::forward<Arguments>(arguments)...);
    used_ = at + sizeof(Node);
    node->before_ = last_;
    last_ = node;
    return node;
  }

  /// The last node so far.
  [[nodiscard]] tape_node const* last() const { return last_; }

  /// Pulls the nodes behind `first`, the last one first; each is freed when it has handed on what it has, and with it
  /// the operands that it kept.
  void unwind_to(tape_node const* first) {
    for (; last_ != first; drop()) last_->pull();
  }

 private:
  void drop() {
    tape_node* const node = last_;
    last_ = node->before_;
    node->~tape_node();
  }

  tape_node* last_ = nullptr;
  engine::dynamic_array<std::byte*> pieces_;
  std::size_t used_ = 0;
};

/// Where the cotangents of one variable are summed up. `Cotangent`: the tensor type that they have.
template <class Cotangent>
class cotangent_slot : public tape_node {
 public:
  using cotangent_type = Cotangent;

  /// The first one is kept as it is: it may be another variable's, too, and is not written to.
  void add(Cotangent const& g) {
    if (count_ == 0) {
      sum_ = g;
    } else if (count_ == 1 || sharding_traits<sharding_in<Cotangent>>::partials::size > 0) {
      sum_ = ostraka::add(sum_, g);
    } else {
      map_into(sum_, plus{}, sum_, g);
    }
    ++count_;
  }

  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  [[nodiscard]] Cotangent const& sum() const { return sum_; }

  void pull() override {}  // of a leaf: it stays here

 private:
  Cotangent sum_;
  int count_ = 0;
};

}  // namespace ostraka::detail
