// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Tells whether the operations of this host thread compute, and whether a GPU does. They do not while a
/// program is priced on a dry mesh: no kernel starts, nothing is copied, and memory is allocated but never touched, so
/// that the system provides no pages for it. Only the code that starts kernels, products and copies checks this.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ostraka::engine {

/// True if kernels run on a GPU by default. The host then has to wait for what it has started.
inline constexpr bool has_gpu = !std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>;

namespace detail {

[[gnu::visibility("default")]] inline thread_local constinit bool only_priced = false;

}  // namespace detail

/// True if kernels run.
inline bool computes() { return !detail::only_priced; }

/// While the object exists, operations of this host thread compute nothing, if `begin` is true.
class only_priced_scope {
 public:
  explicit only_priced_scope(bool begin) : before_(detail::only_priced) { detail::only_priced = before_ || begin; }
  ~only_priced_scope() { detail::only_priced = before_; }
  only_priced_scope(only_priced_scope const&) = delete;
  only_priced_scope& operator=(only_priced_scope const&) = delete;

 private:
  bool before_;
};

/// Counts the multiplications and additions in this host thread's products and sums; null if they are not counted.
[[gnu::visibility("default")]] inline thread_local constinit std::int64_t* counted_flops = nullptr;

/// Fills a short block with zeros, if the program is only priced. Values such as a loss are then 0, and decisions that
/// depend on numbers are the same in every run.
template <class Space>
void clear_if_short([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
  constexpr std::size_t short_bytes = 4096;
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible)
    if (bytes > 0 && bytes <= short_bytes) std::memset(memory, 0, bytes);
}

}  // namespace ostraka::engine
