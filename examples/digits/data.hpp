// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Reads a file on device 0 into tensors that are divided over a mesh: images[N_X, P], classes[N_X, K].

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "csv.hpp"
#include "names.hpp"

namespace digits {

/// Some of the images as matrices with one row per image, on the device that read them; other devices know only the
/// count.
struct examples {
  std::int64_t count = 0;
  std::vector<double> images;   ///< count × P: pixels from 0 to 1, then a 1
  std::vector<double> classes;  ///< count × K: 1 for the image's digit, else 0

  void push_back(image const& i) {
    ++count;
    for (int pixel : i.pixel) images.push_back(pixel / 16.0);
    images.push_back(1);
    for (int k = 0; k < K_axis::extent; ++k) classes.push_back(k == i.digit ? 1 : 0);
  }
};

struct dataset {
  examples training;
  examples held_out;  ///< each fifth image
};

/// Device 0 brings a number, the others hold zeros: summands of one tensor, so that an all-reduce tells all devices.
inline std::int64_t tell_all(mesh const& m, std::int64_t from_device_0) {
  using summands = os::host_tensor<std::int64_t, os::partial(X, Y)>;
  summands::view_type const own("told");
  own() = m.device() == 0 ? from_device_0 : 0;
  return os::all_reduce<X, Y>(os::from_local<summands>(m, own)).local()();
}

/// Device 0 brings a matrix, the others hold zeros; reduce-scatter hands out the blocks. [N, P] {U_XY} → [N_X, P]
template <auto Column>
os::tensor<double, N/X, Column> return_entry(mesh const& m, std::int64_t rows,
                                             std::vector<double> const& from_device_0) {
  using summands = os::tensor<double, N, Column, os::partial(X, Y)>;
  typename summands::view_type const own("handed out", static_cast<std::size_t>(rows),
                                         static_cast<std::size_t>(Column.extent));
  if (m.device() == 0)
    Kokkos::deep_copy(own, Kokkos::View<double const**, Kokkos::LayoutRight, Kokkos::HostSpace>(
                               from_device_0.data(), own.extent(0), own.extent(1)));
  return os::reshard<N/X, Column>(os::from_local<summands>(m, N = rows, own));
}

/// Reads on device 0. @throws refusal on all devices alike
inline dataset read_dataset(mesh const& m, std::string const& file) {
  dataset data;
  std::optional<refusal> fault;
  if (m.device() == 0) {
    try {
      std::size_t n = 0;
      for (image const& i : read_images(file)) (n++ % 5 == 4 ? data.held_out : data.training).push_back(i);
    } catch (refusal const& r) {
      fault = r;
    }
  }
  data.training.count = tell_all(m, data.training.count);
  data.held_out.count = tell_all(m, data.held_out.count);
  if (data.training.count == 0) throw fault.value_or(refusal("device 0 could not read the file"));
  return data;
}

}  // namespace digits
