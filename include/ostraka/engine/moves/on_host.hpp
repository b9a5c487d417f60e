// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. MPI sees host memory: what lies elsewhere is staged there and back around a collective. On a host space
/// nothing is copied.
/// @pre of all: the execution space has been fenced, so that what is sent has been written.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/parallel.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// Can the host read and write the memory of an execution space or a view?
template <class There>
inline constexpr bool seen_by_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename There::memory_space>::accessible;

/// A view's elements where the host reads them: the view itself, or a copy. What kernels have written is there.
template <class View>
auto on_host(View const& view) {
  if constexpr (seen_by_host<View>) {
    fence(typename View::execution_space());
    return view;
  } else {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  }
}

namespace detail {

template <class To, class From, class T>
void stage(T* to, T const* from, std::int64_t count) {
  using target = Kokkos::View<T*, To, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using source = Kokkos::View<T const*, From, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  auto const n = static_cast<std::size_t>(count);
  Kokkos::deep_copy(target(to, n), source(from, n));
}

}  // namespace detail

/// Calls `collective(out, in)` with both on the host, then puts what it wrote where `in` is. `adds`: it reads what `in`
/// holds.
template <class Exec, class T, class Collective>
void on_host_in_out(Exec const&, T const* out, std::int64_t sent, T* in, std::int64_t received,
                    Collective const& collective, [[maybe_unused]] bool adds = false) {
  if constexpr (seen_by_host<Exec>) {
    collective(out, in);
  } else {
    using space = typename Exec::memory_space;
    scratch<T, Kokkos::HostSpace> const host_out(sent);
    scratch<T, Kokkos::HostSpace> const host_in(received);
    if (sent > 0) detail::stage<Kokkos::HostSpace, space>(host_out.data(), out, sent);
    if (adds && received > 0)
      detail::stage<Kokkos::HostSpace, space>(host_in.data(), static_cast<T const*>(in), received);
    collective(static_cast<T const*>(host_out.data()), host_in.data());
    if (received > 0) detail::stage<space, Kokkos::HostSpace>(in, static_cast<T const*>(host_in.data()), received);
  }
}

/// Calls `collective(data)` with the data on the host, then puts it back.
template <class Exec, class T, class Collective>
void on_host_in_place(Exec const&, T* data, std::int64_t count, Collective const& collective) {
  if constexpr (seen_by_host<Exec>) {
    collective(data);
  } else {
    using space = typename Exec::memory_space;
    scratch<T, Kokkos::HostSpace> const host(count);
    if (count > 0) detail::stage<Kokkos::HostSpace, space>(host.data(), static_cast<T const*>(data), count);
    collective(host.data());
    if (count > 0) detail::stage<space, Kokkos::HostSpace>(data, static_cast<T const*>(host.data()), count);
  }
}

}  // namespace ostraka::engine
