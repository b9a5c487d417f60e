// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The sham device: a GPU's rules, enforced on the host. The host cannot touch the device's memory, work waits in a
/// queue until the host waits for it, and freed memory is never used again. The device reports each broken rule with a
/// backtrace, and the program goes on, so that one run shows many faults; it ends with status 99 at Kokkos::finalize.
/// Kokkos_Sham.hpp makes it an execution space of Kokkos.

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace sham {

/// While an object lives, this host thread is in the device's driver, whose allocations belong neither to the library
/// nor to Kokkos.
class driver {
 public:
  driver() { ++depth_; }
  ~driver() { --depth_; }
  driver(driver const&) = delete;
  driver& operator=(driver const&) = delete;
  static bool is_active() { return depth_ > 0; }

 private:
  static inline thread_local constinit int depth_ = 0;
};

/// Puts work into the queue. SHAM_EAGER=1 runs it at once, which distinguishes a missing fence from a wrong kernel.
void launch(char const* what, std::function<void()> work);

/// Runs the work in the queue, in order. Later reports name `why` as the device's last action.
void fence(char const* why);

/// Copy between the host and the device, or within the device: at once, behind all launched work, or in the queue.
void copy(void* to, void const* from, std::size_t bytes);
void copy_later(void* to, void const* from, std::size_t bytes);

/// The device's work so far: kernels that were launched, calls of the host that wait, copies between host and device
/// with their bytes, either way, and allocations. On a GPU Kokkos waits in an allocation, for its header to be copied,
/// and in the free that ends it; `fences` leaves both out.
struct work {
  long launches = 0;
  long fences = 0;
  long copies = 0;
  long to_host = 0;
  long to_device = 0;
  long allocations = 0;
  friend work operator-(work const& a, work const& b) {
    return {a.launches - b.launches, a.fences - b.fences, a.copies - b.copies, a.to_host - b.to_host,
            a.to_device - b.to_device, a.allocations - b.allocations};
  }
};
[[nodiscard]] work work_done();

/// A fence of the program.
void fence_by_host(char const* why);

/// Reports memory that is not the device's; the report names `who`, the caller.
void require_device_memory(void const* memory, char const* who);

/// Returns device memory, filled with bytes 0xA5. The page before it is the host's, and ends with Kokkos' header.
void* allocate(char const* label, std::size_t bytes);

/// Waits for all launched work, and frees the memory. Any later access to the memory ends the program.
void free(void* memory);

/// Allocations beyond so many bytes in use, rounded to pages, throw std::bad_alloc.
void limit_memory(std::size_t bytes);

/// Returns the bytes in use by allocations with this label.
[[nodiscard]] std::size_t bytes_in_use(char const* label);

/// begin() listens for faults, from Kokkos::initialize on; end() exits with status 99 if anything was reported.
void begin();
void end();

/// Returns the reports since the last call, and removes them, so that the program does not fail because of them.
[[nodiscard]] std::vector<std::string> take_reports();

/// Reports the first word of a functor that is an address of the stack, the heap or a variable of the program.
void look_for_host_addresses(void const* functor, std::size_t bytes, char const* name);

template <class Functor>
void look_into(Functor const& f, char const* name) {
  if constexpr (std::is_trivially_copyable_v<Functor>) {
    alignas(Functor) unsigned char bytes[sizeof(Functor)];
    __builtin_memcpy(bytes, &f, sizeof(Functor));
    __builtin_clear_padding(reinterpret_cast<Functor*>(bytes));  // old addresses may lie between members
    look_for_host_addresses(bytes, sizeof(Functor), name);
  } else {
    look_for_host_addresses(&f, sizeof(Functor), name);
  }
}

/// Runs thread(rank) for all threads of team after team. Each thread is a context of its own, which runs to its next
/// barrier, the last thread first. @pre in a kernel
void run_teams(int teams, int threads, std::size_t scratch_bytes, std::function<void(int rank)> const& thread);

/// The team that a thread is in.
struct team {
  int number = 0;
  int threads = 0;
  std::vector<char> scratch{};
};
team& this_team();
void team_barrier();

}  // namespace sham
