// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Views of memory that another library owns. The views of one block share its owner, as views of Kokkos'
/// memory share an allocation: when the last view is destroyed, the owner is released, once. Kokkos counts views in a
/// record that each of them refers to, and calls a function of the record at the end. No public function of Kokkos sets
/// the record of a view, so this file and kept_blocks.hpp, and no others, use Kokkos' internals.

#include <Kokkos_Core.hpp>

#include <cstring>
#include <utility>

#include <ostraka/engine/memory/computing.hpp>

namespace ostraka::engine {

/// The owner of memory, which releases it once.
class memory_owner {
 public:
  using release_function = void (*)(void*);

  memory_owner() = default;
  memory_owner(void* owner, release_function release) : owner_(owner), release_(release) {}
  memory_owner(memory_owner&& other) noexcept
      : owner_(other.owner_), release_(std::exchange(other.release_, nullptr)) {}
  memory_owner& operator=(memory_owner other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~memory_owner() {
    if (release_ != nullptr) release_(owner_);
  }

 private:
  void* owner_ = nullptr;
  release_function release_ = nullptr;
};

namespace detail {

/// A record of Kokkos with an owner, which Kokkos destroys after the last view.
struct kept_owner {
  memory_owner owner;

  // Kernels in flight may still use the memory. Kokkos waits for them, too, before it frees its own memory.
  void destroy_shared_allocation() {
    if constexpr (has_gpu) Kokkos::fence();
    owner = memory_owner();
  }
};

/// Sets the record of a view. @pre the view was made from a pointer
template <class View, class Record>
void set_record(View& view, Record* record) {
  const_cast<Kokkos::Impl::SharedAllocationTracker&>(view.impl_track())
      .assign_allocated_record_to_uninitialized(record);
}

}  // namespace detail

/// Makes a view, and all its copies, keep the owner of its memory alive. `label`: the label of the view. @pre the view
/// was made from a pointer, and Kokkos runs
template <class View>
void keep_owner(View& view, memory_owner owner, char const* label) {
  using memory = typename View::memory_space;
  using record = Kokkos::Impl::SharedAllocationRecord<memory, detail::kept_owner>;
  record* const kept = record::allocate(memory(), label, 0);
  kept->m_destroy.owner = std::move(owner);
  detail::set_record(view, kept);
}

/// Swaps two views. Kokkos 3 counts a moved view like a copy, which makes six counts in a swap by moves. No list points
/// to a view, and no view points into itself, so the bytes of two views may be swapped.
template <class View>
void exchange_views(View& one, View& other) noexcept {
  unsigned char bytes[sizeof(View)];
  std::memcpy(bytes, static_cast<void const*>(&one), sizeof(View));
  std::memcpy(static_cast<void*>(&one), static_cast<void const*>(&other), sizeof(View));
  std::memcpy(static_cast<void*>(&other), bytes, sizeof(View));
}

/// Returns the number of views that share a block, like `use_count`, but 0 if another library owns the memory and may
/// use it at any time.
template <class View>
int holders_of(View const& view) {
  int const holders = view.use_count();
  if (holders == 0 || view.size() == 0) return holders;
  auto const* const record = view.impl_track().template get_record<typename View::memory_space>();
  return record != nullptr && record->size() == 0 ? 0 : holders;
}

}  // namespace ostraka::engine
