# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make.py > numpy_transforms.hpp

Transforms by NumPy in double precision: of two columns of n numbers, which are a function of a seed and of the
element's place, along the first axis. irfft makes n numbers of n // 2 + 1.
"""

import numpy as np

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 12]
COLUMNS = 2


def numbers(seed, count):
    """splitmix64 of seed · 2³² + place: from −1 up to 1."""
    with np.errstate(over="ignore"):
        z = (np.uint64(seed << 32) + np.arange(1, count + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1


def real(seed, n):
    return numbers(seed, n * COLUMNS).reshape(n, COLUMNS)


def complex_(seed, n):
    return real(seed, n) + 1j * real(seed + 1, n)


def listed(values):
    parts = values.ravel() if np.isrealobj(values) else values.ravel().view(np.float64)
    return "{" + ", ".join(repr(float(v)) for v in parts) + "}"


print("""// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// NumPy's results: made by numpy/make.py. Complex numbers are pairs.

#include <cstdint>
#include <vector>

namespace ostraka::testing {

struct numpy_transforms {
  std::int64_t n;
  std::vector<double> fft, ifft, rfft, irfft;
};

// clang-format off
inline std::vector<numpy_transforms> const by_numpy{""")
for n in LENGTHS:
    results = [np.fft.fft(complex_(1, n), axis=0), np.fft.ifft(complex_(1, n), axis=0), np.fft.rfft(real(3, n), axis=0),
               np.fft.irfft(complex_(4, n // 2 + 1), n=n, axis=0)]
    print(f"  {{{n},\n   " + ",\n   ".join(listed(r) for r in results) + "},")
print("""};
// clang-format on

}  // namespace ostraka::testing""")
