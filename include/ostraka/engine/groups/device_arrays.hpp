// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The memory of the arrays of a collective, and the work that the collective does there: copies on the host,
/// or kernels on an instance of a GPU's execution space. A carrier that does not take a GPU's memory gets copies on the
/// host, only of the data sent and received.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/machine/gpu_aware_mpi.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/memory/short_array.hpp>

namespace ostraka::engine {

/// True if the host can read and write the memory of an execution space or a view.
template <class There>
inline constexpr bool host_accessible =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename There::memory_space>::accessible;

/// True if MPI gets copies on the host of arrays in the memory of `Exec`.
template <class Exec>
bool copies_for_carrier() {
  if constexpr (host_accessible<Exec>)
    return false;
  else
    return !mpi_is_gpu_aware();
}

namespace detail {

/// Host memory that a GPU copies from and to asynchronously.
template <class Exec>
struct memory_for_copies {
  using type = Kokkos::HostSpace;
};
#if defined(KOKKOS_ENABLE_CUDA)
template <>
struct memory_for_copies<Kokkos::Cuda> {
  using type = Kokkos::CudaHostPinnedSpace;
};
#elif defined(KOKKOS_ENABLE_HIP) && KOKKOS_VERSION >= 40000
template <>
struct memory_for_copies<Kokkos::HIP> {
  using type = Kokkos::HIPHostPinnedSpace;
};
#elif defined(KOKKOS_ENABLE_HIP)
template <>
struct memory_for_copies<Kokkos::Experimental::HIP> {
  using type = Kokkos::Experimental::HIPHostPinnedSpace;
};
#endif

/// to[i] = from[i], perhaps in a wider or narrower type.
template <class From, class To>
struct convert_run {
  From const* from;
  To* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { to[i] = To(from[i]); }
};

/// Copies a part of a collective that stays here, perhaps into wider or narrower elements.
template <class From, class To>
void copy_part(From const* from, std::int64_t count, To* to) {
  if (!computes()) return;
  if constexpr (std::is_same_v<From, To>)
    std::copy_n(from, count, to);
  else
    for (std::int64_t i = 0; i < count; ++i) to[i] = To(from[i]);
}

}  // namespace detail

/// Arrays in the host's memory.
struct host_arrays {
  using memory_space = Kokkos::HostSpace;

  host_arrays() = default;
  template <class Exec>
  explicit host_arrays(Exec const&) {}
  template <class Exec>
  void begin(Exec const&) const {}

  template <class From, class To>
  static void copy(From const* from, std::int64_t count, To* to) {
    detail::copy_part(from, count, to);
  }
};

/// The copies on the host that one operation uses, which it returns together. A short list needs no allocation.
template <class Space>
class host_copies {
 public:
  host_copies() = default;
  host_copies(host_copies const&) = delete;
  host_copies& operator=(host_copies const&) = delete;
  ~host_copies() { give_back(); }

  /// Returns memory for `count` uninitialised Ts.
  template <class T>
  T* add(std::int64_t count) {
    memory_piece& added = pieces_.push_back({});
    added = workspace<Space>::take(static_cast<std::size_t>(count) * sizeof(T), scratch_for::kernel);
    return reinterpret_cast<T*>(added.memory);
  }
  /// Takes over the copies of another list.
  void add(host_copies& others) {
    for (memory_piece const& piece : others.pieces_) pieces_.push_back(piece);
    others.pieces_.clear();
  }
  void give_back() {
    for (memory_piece const& piece : pieces_)
      if (piece.bytes > 0) workspace<Space>::give_back(piece, scratch_for::kernel);
    pieces_.clear();
  }
  [[nodiscard]] bool empty() const { return pieces_.empty(); }

 private:
  short_array<memory_piece, 8> pieces_;
};

/// Arrays in a GPU's memory, and their copies on the host, for one operation at a time on an instance. Copies and
/// kernels run in the order of the calls, and the host waits for them only in fence(). So a copy on the host may be
/// returned, and taken again, while a GPU still uses it; before the host or the carrier writes to it, they fence.
template <class Exec>
class device_arrays {
 public:
  using memory_space = typename Exec::memory_space;
  using copies = host_copies<typename detail::memory_for_copies<Exec>::type>;

  device_arrays() = default;
  explicit device_arrays(Exec const& exec) { begin(exec); }
  device_arrays(device_arrays const&) = delete;
  device_arrays& operator=(device_arrays const&) = delete;
  ~device_arrays() { forget(); }

  /// The instance must stay at its address until the operation has ended.
  void begin(Exec const& exec) {
    forget();
    exec_ = &exec;
  }
  [[nodiscard]] Exec const& exec() const { return *exec_; }

  template <class From, class To>
  void copy(From const* from, std::int64_t count, To* to) const {
    for_each_item("ostraka copy part", exec(), count, count, detail::convert_run<From, To>{from, to});
  }

  void to_host(void const* from, char* to, std::int64_t bytes) const {
    if (!computes()) return;
    Kokkos::deep_copy(exec(), on_host<char>(to, static_cast<std::size_t>(bytes)),
                      there<char const>(static_cast<char const*>(from), static_cast<std::size_t>(bytes)));
  }
  void from_host(char const* from, void* to, std::int64_t bytes) const {
    if (!computes()) return;
    Kokkos::deep_copy(exec(), there<char>(static_cast<char*>(to), static_cast<std::size_t>(bytes)),
                      on_host<char const>(from, static_cast<std::size_t>(bytes)));
  }

  /// Keeps copies on the host until kernels and copies that use them have ended.
  void keep(copies& used) { used_.add(used); }

  /// Waits for all kernels and copies.
  void fence() {
    engine::fence(exec());
    used_.give_back();
  }

  /// Ends the operation without waiting. The next owner of the copies on the host uses them in the instance's order.
  void end() {
    used_.give_back();
    fence_on_host(exec());
  }

 private:
  // An operation that threw has not ended, and its instance may have ended.
  void forget() {
    if (used_.empty()) return;
    Kokkos::fence();
    used_.give_back();
  }

  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  template <class C>
  using on_host = Kokkos::View<C*, typename detail::memory_for_copies<Exec>::type, unmanaged>;
  template <class C>
  using there = Kokkos::View<C*, memory_space, unmanaged>;

  Exec const* exec_ = nullptr;
  copies used_;
};

/// The arrays of a collective in the memory of `Exec`.
template <class Exec>
using arrays_of = std::conditional_t<runs_on_host<Exec>, host_arrays, device_arrays<Exec>>;

/// Waits for the kernels that write the data to send. Messages from a GPU's memory do this themselves.
template <class Exec>
void fence_before_messages([[maybe_unused]] Exec const& exec) {
  if constexpr (runs_on_host<Exec>) fence(exec);
}

/// Ends an operation on these arrays.
template <class Exec>
void fence_on_host(Exec const& exec, host_arrays const&) {
  fence_on_host(exec);
}
template <class Exec>
void fence_on_host(Exec const&, device_arrays<Exec>& arrays) {
  arrays.end();
}

}  // namespace ostraka::engine
