// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Starts the engine's own kernels: in parallel if there is enough work, on the calling thread if starting
/// threads would take longer. If several host threads start kernels on the host, one at a time uses Kokkos' threads,
/// and the others wait; work on the calling thread takes no lock.

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>

#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/per_thread.hpp>

namespace ostraka::engine {

/// True if Exec runs on the host's cores (and its memory is the host's).
template <class Exec>
inline constexpr bool runs_on_host = std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

/// Below this many elements a host kernel runs on the calling thread: waking a team costs microseconds.
inline constexpr std::int64_t serial_elements = 8192;

/// True if Kokkos returns only when the kernels of Exec have ended.
template <class Exec>
inline constexpr bool runs_synchronously = false;
#ifdef KOKKOS_ENABLE_SERIAL
template <>
inline constexpr bool runs_synchronously<Kokkos::Serial> = true;
#endif
#ifdef KOKKOS_ENABLE_OPENMP
template <>
inline constexpr bool runs_synchronously<Kokkos::OpenMP> = true;
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
inline constexpr bool runs_synchronously<Kokkos::Threads> = true;
#endif

/// Waits for the kernels that this host thread has started. On the host Kokkos' own fence may wait for other threads'
/// kernels as well.
template <class Exec>
void fence(Exec const& exec) {
  if constexpr (!runs_synchronously<Exec>) exec.fence();
}

/// Ends the work of an operation, or of a part of it. On the host it waits for the kernels. On a GPU the results are
/// ready in the order of the instance, and the host waits where it reads them, or sends them.
template <class Exec>
void fence_on_host(Exec const& exec) {
  if constexpr (runs_on_host<Exec>)
    fence(exec);
  else
    instance_of_thread<Exec>().unfenced = true;
}

namespace detail {

/// Held by the host thread that uses Kokkos' threads on the host, one at a time.
[[gnu::visibility("default")]] inline std::atomic_flag threads_of_kokkos{};

/// True if Kokkos' threads work for the calling host thread. Before version 4 Kokkos' OpenMP works only for the thread
/// that began it.
template <class Exec>
bool has_threads([[maybe_unused]] Exec const& exec) {
#if KOKKOS_VERSION < 40000
  if (Exec::in_parallel()) return false;
#endif
  return exec.concurrency() > 1 || Kokkos::Tools::profileLibraryLoaded();
}

/// The functor that Kokkos gets on the host: one type for all functors, because instantiating Kokkos for each would
/// cost much compile time. Items on the host are large, so a call through a pointer costs little.
struct host_items {
  void (*call)(void const* functor, std::int64_t begin, std::int64_t end);
  void const* functor;

  void operator()(std::int64_t i) const { call(functor, i, i + 1); }
};

template <class Functor>
[[gnu::noinline]] void call_items(void const* functor, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) (*static_cast<Functor const*>(functor))(i);
}

// Returns a kernel's name as the std::string that Kokkos takes; empty without a profiler, since only profilers read it.
inline std::string kernel_name(char const* name) {
  return Kokkos::Tools::profileLibraryLoaded() ? std::string(name) : std::string();
}

template <class Exec, class Functor>
void start_items(char const* name, Exec const& exec, std::int64_t items, Functor const& functor) {
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(kernel_name(name), policy(exec, 0, items), functor);
}

/// Runs items on the host, and waits for them.
template <class Exec>
[[gnu::noinline]] void run_host_items(char const* name, Exec const& exec, std::int64_t items, std::int64_t elements,
                                      host_items const& all) {
  if (items == 1 || elements <= serial_elements || !has_threads(exec)) {
    fence(exec);
    return all.call(all.functor, 0, items);
  }
  short_lock const alone(threads_of_kokkos);
  start_items(name, exec, items, all);
  fence(exec);  // the functor belongs to the caller
}

}  // namespace detail

/// Calls functor(i) for all i in [0, items), in any order, perhaps at the same time; `elements` is the total work. On
/// the host, it returns when all calls have ended. If operations are only priced, it calls nothing.
template <class Exec, class Functor>
void for_each_item(char const* name, Exec const& exec, std::int64_t items, std::int64_t elements,
                   Functor const& functor) {
  if (items <= 0 || !computes()) return;
  if constexpr (runs_on_host<Exec>)
    detail::run_host_items(name, exec, items, elements, {&detail::call_items<Functor>, &functor});
  else
    detail::start_items(name, exec, items, functor);
}

/// Calls functor(begin, end, i) for the i-th of `shares` shares of consecutive tasks, like for_each_item.
template <class Exec, class Functor>
void for_each_share(char const* name, Exec const& exec, std::int64_t tasks, std::int64_t shares, std::int64_t elements,
                    Functor const& functor) {
  static_assert(runs_on_host<Exec>, "the functor stays with the caller");
  for_each_item(name, exec, shares, elements,
                [=, &functor](std::int64_t i) { functor(i * tasks / shares, (i + 1) * tasks / shares, i); });
}

}  // namespace ostraka::engine
