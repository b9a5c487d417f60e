// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The public functions of Fourier transforms by their kind. As they do, each takes an axis as a value, I/X, or several
/// as a type, os::dims<I/X, J>. `n` is the extent of the axis that irfft makes, by name.

#include <cstdint>

#include <ostraka/fft.hpp>
#include <ostraka/tensors/tensor.hpp>

namespace ostraka::testing {

template <fourier_kind Kind, auto Along, auto... To, class A, class Extent>
auto transformed(A const& a, Extent const& n) {
  if constexpr (Kind == fourier_kind::fft)
    return fft<Along, To...>(a);
  else if constexpr (Kind == fourier_kind::ifft)
    return ifft<Along, To...>(a);
  else if constexpr (Kind == fourier_kind::rfft)
    return rfft<Along, To...>(a);
  else
    return irfft<Along, To...>(a, n);
}

template <fourier_kind Kind, class Along, auto... To, class A, class Extent>
auto transformed(A const& a, Extent const& n) {
  if constexpr (Kind == fourier_kind::fft)
    return fft<Along, To...>(a);
  else if constexpr (Kind == fourier_kind::ifft)
    return ifft<Along, To...>(a);
  else if constexpr (Kind == fourier_kind::rfft)
    return rfft<Along, To...>(a);
  else
    return irfft<Along, To...>(a, n);
}

template <fourier_kind Kind, class C, class Along, class A>
void write_transformed(C const& c, A const& a) {
  if constexpr (Kind == fourier_kind::fft)
    fft_into<Along>(c, a);
  else if constexpr (Kind == fourier_kind::ifft)
    ifft_into<Along>(c, a);
  else if constexpr (Kind == fourier_kind::rfft)
    rfft_into<Along>(c, a);
  else
    irfft_into<Along>(c, a);
}

/// The bytes that a device moves in a transform, as the library predicts them.
template <fourier_kind Kind, class Along, class Named, class A, class Extent>
std::int64_t predicted_bytes(operation::fourier<Kind, Along, Named> const& transform, A const& a, Extent const& n) {
  if constexpr (has_real_result(Kind))
    return bytes_of(transform, a, n);
  else
    return bytes_of(transform, a);
}

template <class T, class Sharding>
using tensor_of = basic_tensor<T, Sharding, typename tensor<T>::space>;

}  // namespace ostraka::testing
