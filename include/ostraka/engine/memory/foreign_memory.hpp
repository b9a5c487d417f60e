// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Views of memory that another library owns. The views of one block share its owner, as they share memory of
/// Kokkos: when the last of them is gone, the owner is released, once. Kokkos counts the views in a record that each of
/// them refers to, and calls a function of the record at the end; no public function of Kokkos gives a view a record,
/// so this file and kept_blocks.hpp, and no others, reach into it.

#include <Kokkos_Core.hpp>

#include <cstring>
#include <type_traits>
#include <utility>

namespace ostraka::engine {

/// The owner of memory: what releases it, once.
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

/// The owner in a record of Kokkos, which destroys it after the last view.
struct kept_owner {
  memory_owner owner;

  // Kernels may be in flight that still use the memory; Kokkos waits for them before it frees memory of its own.
  void destroy_shared_allocation() {
    if constexpr (!std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>) Kokkos::fence();
    owner = memory_owner();
  }
};

/// Gives a view a record. @pre the view was made of a pointer
template <class View, class Record>
void set_record(View& view, Record* record) {
  const_cast<Kokkos::Impl::SharedAllocationTracker&>(view.impl_track())
      .assign_allocated_record_to_uninitialized(record);
}

}  // namespace detail

/// Lets a view, and all copies that are made of it, keep the owner of its memory. `label`: what the view is called.
/// @pre the view was made of a pointer, and Kokkos runs
template <class View>
void keep_owner(View& view, memory_owner owner, char const* label) {
  using memory = typename View::memory_space;
  using record = Kokkos::Impl::SharedAllocationRecord<memory, detail::kept_owner>;
  record* const kept = record::allocate(memory(), label, 0);
  kept->m_destroy.owner = std::move(owner);
  detail::set_record(view, kept);
}

/// Exchanges two views. Kokkos 3 counts a view that is moved as it counts a copy, six times in an exchange by moves. A
/// view lies in no list and points to no part of itself, so its bytes may change places.
template <class View>
void exchange_views(View& one, View& other) noexcept {
  unsigned char bytes[sizeof(View)];
  std::memcpy(bytes, static_cast<void const*>(&one), sizeof(View));
  std::memcpy(static_cast<void*>(&one), static_cast<void const*>(&other), sizeof(View));
  std::memcpy(static_cast<void*>(&other), bytes, sizeof(View));
}

/// Returns the number of views that share a block, as `use_count` does, but 0 if another library owns the memory: that
/// library may use it at any time.
template <class View>
int holders_of(View const& view) {
  int const holders = view.use_count();
  if (holders == 0 || view.size() == 0) return holders;
  auto const* const record = view.impl_track().template get_record<typename View::memory_space>();
  return record != nullptr && record->size() == 0 ? 0 : holders;
}

}  // namespace ostraka::engine
