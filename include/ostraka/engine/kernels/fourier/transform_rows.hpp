// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Fourier transforms of the rows of a dense block, by a library (fourier_library.hpp), or by our own code.
/// Rows in the memory of a device without a library for them are copied to the host and back.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/kernels/fourier/cufft.hpp>
#include <ostraka/engine/kernels/fourier/fftw.hpp>
#include <ostraka/engine/kernels/fourier/fourier_library.hpp>
#include <ostraka/engine/kernels/fourier/fourier_rows.hpp>
#include <ostraka/engine/kernels/fourier/own_fourier.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/machine/instance.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

namespace detail {

template <class Space, class R>
using numbers_of_rows = Kokkos::View<R*, Kokkos::LayoutRight, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Exec, class R>
void transform_by_way_of_host(Exec const& exec, fourier_rows const& rows, R const* x, R* y) {
  using host = Kokkos::HostSpace;
  using there = typename Exec::memory_space;
  auto const read = static_cast<std::size_t>(rows.numbers_read());
  auto const written = static_cast<std::size_t>(rows.numbers_written());
  kernel_scratch<R, host> const from(static_cast<std::int64_t>(read)), to(static_cast<std::int64_t>(written));
  Kokkos::deep_copy(exec, numbers_of_rows<host, R>(from.data(), read), numbers_of_rows<there, R const>(x, read));
  exec.fence();
  run_own_fourier(instance<Kokkos::DefaultHostExecutionSpace>(), rows, from.data(), to.data());
  Kokkos::deep_copy(exec, numbers_of_rows<there, R>(y, written), numbers_of_rows<host, R const>(to.data(), written));
  exec.fence();
}

}  // namespace detail

/// y <- the transforms of the rows of x; complex numbers are pairs. Rows without elements count as zeros.
/// @pre x and y share no memory, or are the same and the rows stay complex numbers of one length (fft and ifft)
template <class Exec, class R>
void transform_rows(Exec const& exec, fourier_rows const& rows, R const* x, R* y) {
  std::int64_t const written = rows.count() * rows.length_written();
  if (written == 0 || !computes()) return;
  if (rows.n == 0) {
    Kokkos::deep_copy(
        exec, detail::numbers_of_rows<typename Exec::memory_space, R>(y, static_cast<std::size_t>(2 * written)), R(0));
    return fence(exec);
  }
  using library = fourier_library_of<Exec>;
  if constexpr (library::template transforms<R>)
    if (library::run(exec, rows, x, y)) return;
  if constexpr (!runs_on_host<Exec>)
    detail::transform_by_way_of_host(exec, rows, x, y);
  else if constexpr (!library::template transforms<R>)
    detail::run_own_fourier(exec, rows, x, y);
}

}  // namespace ostraka::engine
