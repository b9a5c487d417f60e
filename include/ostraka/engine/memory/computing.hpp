// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Whether this host thread's operations compute. While a program is priced on a dry mesh they do not: kernels
/// are not started, what would be copied is not, and memory is allocated and not touched, so that a system gives no
/// pages for it. What decides about kernels, products and copies asks here; nobody else does.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ostraka::engine {

namespace detail {

[[gnu::visibility("default")]] inline thread_local constinit bool only_priced = false;

}  // namespace detail

/// Do kernels run?
inline bool computes() { return !detail::only_priced; }

/// As long as it lives, operations of this host thread compute nothing, if `begin` says so.
class only_priced_scope {
 public:
  explicit only_priced_scope(bool begin) : before_(detail::only_priced) { detail::only_priced = before_ || begin; }
  ~only_priced_scope() { detail::only_priced = before_; }
  only_priced_scope(only_priced_scope const&) = delete;
  only_priced_scope& operator=(only_priced_scope const&) = delete;

 private:
  bool before_;
};

/// Where multiplications and additions of this host thread's products and sums are counted, if they are.
[[gnu::visibility("default")]] inline thread_local constinit std::int64_t* counted_flops = nullptr;

/// Memory that nothing is computed in begins with zeros where it is short, so that a loss and its like are 0, and
/// decisions by numbers the same in every run.
template <class Space>
void clear_if_short([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
  constexpr std::size_t short_bytes = 4096;
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible)
    if (bytes > 0 && bytes <= short_bytes) std::memset(memory, 0, bytes);
}

}  // namespace ostraka::engine
