// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The arrays that MPI gets for memory that the host cannot access: that memory, if MPI takes it and only
/// carries it; otherwise copies on the host, made before a collective and copied back after it. On a host space nothing
/// is copied. @pre of all functions: the execution space has been fenced, so that the data to send have been written.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <ostraka/engine/groups/device_arrays.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/machine/gpu_aware_mpi.hpp>
#include <ostraka/engine/machine/instance.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/short_array.hpp>

namespace ostraka::engine {

/// Returns a view's elements where the host can read them: the view itself, or a copy. Waits for the kernels on the
/// instance that write them. While a program is only priced, nothing is copied from a GPU: a short copy is then zeros,
/// like a short block on the host.
template <class View>
auto on_host(View const& view) {
  auto const exec = instance<typename View::execution_space>();
  if constexpr (host_accessible<View>) {
    fence(exec);
    return view;
  } else {
    using host_view = decltype(Kokkos::create_mirror(Kokkos::HostSpace(), view));
    host_view const copy(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string()), view.layout());
    if (!computes()) {
      clear_if_short<Kokkos::HostSpace>(copy.data(), copy.size() * sizeof(typename View::value_type));
      return copy;
    }
    Kokkos::deep_copy(exec, copy, view);
    fence(exec);
    return copy;
  }
}

/// Returns the element of a view without dimensions, read like on_host.
template <class View>
typename View::non_const_value_type read_on_host(View const& view) {
  using value = typename View::non_const_value_type;
  if constexpr (host_accessible<View>) {
    fence(instance<typename View::execution_space>());
    return view();
  } else {
    value read{};
    if (!computes()) return read;
    auto const exec = instance<typename View::execution_space>();
    Kokkos::deep_copy(exec, Kokkos::View<value, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&read),
                      view);
    fence(exec);
    return read;
  }
}

/// For tests: treats the host's memory as a GPU's, with an MPI that takes it (direct) or does not (staged).
enum class emulated_gpu { none, direct, staged };
[[gnu::visibility("default")]] inline emulated_gpu emulated = emulated_gpu::none;

/// True if the host must not access the memory of `Exec`.
template <class Exec>
bool is_gpu_memory() {
  return !host_accessible<Exec> || emulated != emulated_gpu::none;
}

/// The host's part in a collective: MPI carries arrays, or the host also computes with them, as our reductions do.
enum class host_work { carries, computes };

/// True if a collective on memory of `Exec` gets copies on the host.
template <class Exec>
bool is_staged(host_work work) {
  if (!is_gpu_memory<Exec>()) return false;
  if (work == host_work::computes || emulated == emulated_gpu::staged) return true;
  return emulated == emulated_gpu::none && !mpi_is_gpu_aware();
}

namespace detail {

template <class To, class From, class T>
void stage(T* to, T const* from, std::int64_t count) {
  auto const n = static_cast<std::size_t>(count);
  if (n == 0 || !computes()) return;
  if constexpr (std::is_same_v<To, From>) {  // memory of an emulated GPU
    std::memcpy(static_cast<void*>(to), static_cast<void const*>(from), n * sizeof(T));
  } else {
    using target = Kokkos::View<T*, To, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    using source = Kokkos::View<T const*, From, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    Kokkos::deep_copy(target(to, n), source(from, n));
  }
}

}  // namespace detail

/// The arrays that MPI gets for a collective: in place, or copies on the host, which exist until the next collective
/// begins.
template <class Exec, class T>
class arrays_for_mpi {
 public:
  void begin(bool staged) {
    staged_ = staged;
    if (copies_.empty()) return;
    received_.clear();
    copies_.give_back();
  }

  [[gnu::cold]] T const* sent(T const* array, std::int64_t count) {
    if (!staged_ || count == 0) return array;
    T* const copy = buffer_for(count);
    detail::stage<Kokkos::HostSpace, space>(copy, array, count);
    return copy;
  }

  /// Returns an array that is written; with `reads`, its contents are also read.
  [[gnu::cold]] T* received(T* array, std::int64_t count, bool reads = false) {
    if (!staged_ || count == 0) return array;
    T* const copy = buffer_for(count);
    if (reads) detail::stage<Kokkos::HostSpace, space>(copy, static_cast<T const*>(array), count);
    received_.push_back({array, copy, count});
    return copy;
  }

  /// Returns an array whose contents before and after do not matter.
  [[gnu::cold]] T* reserve_buffer(T* array, std::int64_t count) { return staged_ ? buffer_for(count) : array; }

  /// Copies the received data back to the arrays.
  void copy_back() const {
    if (!staged_) return;
    for (pair const& p : received_)
      detail::stage<space, Kokkos::HostSpace>(p.array, static_cast<T const*>(p.copy), p.count);
  }

 private:
  using space = typename Exec::memory_space;

  struct pair {
    T* array;
    T* copy;
    std::int64_t count;
  };

  T* buffer_for(std::int64_t count) { return copies_.template add<T>(count); }

  bool staged_ = false;
  host_copies<Kokkos::HostSpace> copies_;
  short_array<pair, 4> received_;
};

/// Calls `collective(data)` with the array that MPI gets.
template <class Exec, class T, class Collective>
void with_array_for_mpi(Exec const&, host_work work, T* data, std::int64_t count, Collective const& collective) {
  arrays_for_mpi<Exec, T> arrays;
  arrays.begin(is_staged<Exec>(work));
  collective(arrays.received(data, count, true));
  arrays.copy_back();
}

}  // namespace ostraka::engine
