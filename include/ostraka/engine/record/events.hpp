// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Events of a device, sent to listeners, on meshes of devices and on dry ones alike: operations and the steps
/// of their plans begin and end, kernels touch memory and compute, collectives start and are waited for. Events have no
/// time: on a mesh of devices a listener reads a clock (trace), on a dry mesh it uses a model of a machine.
///
///     begins    ostraka einsum C[I_X, K] = A[I, J_X] · B[J_X, K], moves 3,145,728 B
///       begins      ostraka contract, 134,217,728 flop
///         computes      134,217,728 flop, 9,437,184 B of memory
///       ends
///       begins      ostraka reduce_scatter<X>, moves 3,145,728 B
///         starts        reduce_scatter over X, number 7
///         finishes      number 7: 3,145,728 B in 3 messages
///       ends
///     ends
///
/// Without listeners, an event costs a load and a branch (docs/design/traces.md).

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

enum class event_kind : std::uint8_t {
  begins,    ///< a region: an operation, a step of its plan, or a part of the program that it named
  ends,      ///< the region that began last and has not ended
  computes,  ///< the device multiplies, adds or copies: `flops`, `memory`, `element_bytes`
  starts,    ///< a collective begins, the `number`-th of this host thread: `how`, `mesh`, `over`, `members`
  waits,     ///< the device begins to wait for it: the same fields
  finishes,  ///< the device has waited for it: the same, and `bytes`, `messages`, known only now
};

enum class region_kind : std::uint8_t {
  operation,  ///< an operation, or a part of the operation around it
  step,       ///< a step of the plan of the operation around it
  program,    ///< a part of the program that it named
};

/// The kind of a collective. An all-reduce that MPI does not do is a reduce_scatter and an all_gather.
enum class collective : std::uint8_t {
  all_gather,
  reduce_scatter,
  all_reduce,
  exchange,  ///< each device has a part for all or some others: all-to-all, a step of a ring
  permute,   ///< one part to one other device: shifts, pipelines
  halo,      ///< margins to neighbours
  broadcast,
  gather,
  scatter,
};

/// The devices of a group that take part in a collective: all; or, in a collective on two levels
/// (docs/design/hierarchical-meshes.md), the devices on this device's node, or those with its place on all nodes.
enum class mesh_level : std::uint8_t { all, within_node, between_nodes };

[[nodiscard]] constexpr char const* name_of(collective how) {
  constexpr char const* names[] = {"all_gather", "reduce_scatter", "all_reduce", "exchange", "permute",
                                   "halo",       "broadcast",      "gather",     "scatter"};
  return names[static_cast<int>(how)];
}

/// The axes of a mesh, and this device's position.
struct mesh_axes {
  dynamic_array<std::string> names;
  dynamic_array<int> sizes;
  dynamic_array<int> coordinates;  ///< of this device
  int device = 0;
  bool dry = false;
  dynamic_array<int> within_node{};  ///< consecutive devices along each axis that share a node
};

/// A tensor that an operation with a plan reads, or its result.
struct block_use {
  void const* block = nullptr;
  std::string_view tensor{};   ///< `A[I, J_X]`
  std::string_view move{};     ///< the first step that moves an operand, the last of the result: `all_gather<X>`
  std::string_view exactly{};  ///< the same without label names: for one block, equal texts mean equal moves
  std::int64_t bytes = 0;      ///< bytes that the move takes per device
};

/// An event. Its texts and pointers are valid during the call that reports it.
struct event {
  event_kind kind = event_kind::ends;
  region_kind region = region_kind::operation;  ///< of begins
  std::string_view name{};    ///< of begins: the name for Kokkos' tools, `ostraka einsum C[I_X, K] = …, moves 12 B`
  std::string_view plan{};    ///< of an operation with a plan: `all_gather<X>, contract`
  block_use const* uses = nullptr;  ///< of an operation with a plan: its operands, then its result
  int operands = 0;
  bool resumed = false;       ///< of begins: a region of an operation in flight, left before, goes on
  std::int64_t bytes = 0;     ///< of begins: by plans; of finishes: sent by this device
  std::int64_t messages = 0;  ///< of finishes
  std::int64_t packed = 0;    ///< of finishes: bytes in rows, which the transport packed or put in their place, or the
                              ///< schedule, because their messages are long
  std::int64_t bytes_between_nodes = 0;  ///< of finishes: the part of `bytes` that goes to devices of other nodes
  std::int64_t flops = 0;     ///< of computes; of begins: by plans, of a step
  std::int64_t memory = 0;    ///< of computes: bytes that are read and written; of begins, of an operation with a plan:
                              ///< of the largest blocks of its operands and its result
  int element_bytes = 0;      ///< of computes
  collective how = collective::all_gather;
  mesh_axes const* mesh = nullptr;  ///< null if the group belongs to no mesh
  std::uint32_t over = 0;           ///< bits of the axes of the mesh
  mesh_level level = mesh_level::all;
  bool dry = false;  ///< of a collective: nothing is sent
  int members = 1;
  std::uint64_t number = 0;  ///< of a collective
};

/// A listener. From `listen` until `leave` it gets the events of one host thread, or of all host threads, which may
/// then report at the same time.
class listener {
 public:
  listener(listener const&) = delete;
  listener& operator=(listener const&) = delete;
  virtual void on_event(event const& e) = 0;
  /// Handles the same event `times` times, one after the other. A listener that sums may override it.
  virtual void on_events(event const& e, std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) on_event(e);
  }
  /// Handles `times` collectives, one after the other, that differ only in their numbers. Each starts, is waited for,
  /// and finishes.
  virtual void on_events(event starts, event waits, event finishes, std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i, ++starts.number, ++waits.number, ++finishes.number) {
      on_event(starts);
      on_event(waits);
      on_event(finishes);
    }
  }

 protected:
  listener() = default;
  ~listener() { leave(); }

  enum class scope : std::uint8_t { none, this_thread, all_threads };

  /// Begins to listen. A listener of all threads begins and ends while no other thread is in an operation. @pre it does
  /// not listen yet
  void listen(scope of);
  void leave();

 private:
  friend void report(event const& e);
  friend void report(event const& e, std::int64_t times);
  friend void report(event const& starts, event const& waits, event const& finishes, std::int64_t times);
  listener*& first() { return scope_ == scope::this_thread ? of_this_thread_ : of_all_threads_; }

  scope scope_ = scope::none;
  listener* next_ = nullptr;
  [[gnu::visibility("default")]] inline static thread_local constinit listener* of_this_thread_ = nullptr;
  [[gnu::visibility("default")]] inline static constinit listener* of_all_threads_ = nullptr;
};

namespace detail {

[[gnu::visibility("default")]] inline constinit std::atomic<int> listeners{0};
[[gnu::visibility("default")]] inline thread_local constinit std::uint64_t last_collective = 0;

}  // namespace detail

/// True if any thread has a listener.
inline bool has_listeners() { return detail::listeners.load(std::memory_order_relaxed) != 0; }

/// Reports the event to the listeners of this thread. Does nothing if there are none.
[[gnu::cold, gnu::noinline]] inline void report(event const& e) {
  for (listener* l = listener::of_this_thread_; l != nullptr; l = l->next_) l->on_event(e);
  for (listener* l = listener::of_all_threads_; l != nullptr; l = l->next_) l->on_event(e);
}

/// Reports the same event `times` times.
[[gnu::cold, gnu::noinline]] inline void report(event const& e, std::int64_t times) {
  for (listener* l = listener::of_this_thread_; l != nullptr; l = l->next_) l->on_events(e, times);
  for (listener* l = listener::of_all_threads_; l != nullptr; l = l->next_) l->on_events(e, times);
}

/// Reports `times` equal collectives, one after the other.
[[gnu::cold, gnu::noinline]] inline void report(event const& starts, event const& waits, event const& finishes,
                                                std::int64_t times) {
  for (listener* l = listener::of_this_thread_; l != nullptr; l = l->next_)
    l->on_events(starts, waits, finishes, times);
  for (listener* l = listener::of_all_threads_; l != nullptr; l = l->next_)
    l->on_events(starts, waits, finishes, times);
}

inline void listener::listen(scope of) {
  scope_ = of;
  next_ = first();
  first() = this;
  detail::listeners.fetch_add(1, std::memory_order_relaxed);
}

inline void listener::leave() {
  if (scope_ == scope::none) return;
  for (listener** at = &first(); *at != nullptr; at = &(*at)->next_)
    if (*at == this) {
      *at = next_;
      break;
    }
  scope_ = scope::none;
  detail::listeners.fetch_sub(1, std::memory_order_relaxed);
}

/// Reports the work of one or several kernels: a product, a fold, a copy, a map. `times` times, one after the other.
[[gnu::cold, gnu::noinline]] inline void report_computed(std::int64_t flops, std::int64_t memory, int element_bytes,
                                                         std::int64_t times = 1) {
  event e;
  e.kind = event_kind::computes;
  e.flops = flops;
  e.memory = memory;
  e.element_bytes = element_bytes;
  report(e, times);
}

}  // namespace ostraka::engine
