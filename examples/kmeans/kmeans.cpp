// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Clusters of handwritten digits (k-means, Lloyd 1982): images divided over X, their pixels over Y. An iteration is
///
///     xc[N_X, C]    = x[N_X, P_Y] · c[C, P_Y]          all_reduce<Y>
///     nearest[N_X]  = argmin over C of |c|² − 2 xc     nothing: C is whole
///     sums[C, P_Y]  = x summed by nearest              all_reduce<X>; counts[C] alike
///     c             = sums / counts
///
/// On every mesh the clusters are those of plain loops.
// ranks: 1 4 6

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <ostraka/operations.hpp>

#include "../digits/csv.hpp"
#include "support/byte_counter.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(N);      // images
OSTRAKA_AXIS(P, 64);  // pixels
OSTRAKA_AXIS(C, 10);  // clusters
OSTRAKA_AXIS(G, 10);  // digits: the labels of the images
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using integer = std::int64_t;
using points = os::tensor<double, N/X, P/Y>;
using centres = os::tensor<double, C, P/Y>;
using table = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::DefaultExecutionSpace>;

/// An element of a matrix that every process has, restricted to every `stride`-th row.
struct element_of {
  table all;
  integer stride;
  KOKKOS_FUNCTION double operator()(integer row, integer column) const {
    return all(static_cast<std::size_t>(row * stride), static_cast<std::size_t>(column));
  }
};

/// The squared distance to a centre without the square of the point, which is the same for all centres.
struct distance {
  KOKKOS_FUNCTION double operator()(double xc, double cc) const { return cc - 2 * xc; }
};

/// The mean of a cluster's points; an empty cluster keeps its centre.
struct mean_of {
  KOKKOS_FUNCTION double operator()(double sum, double count, double old) const {
    return count > 0 ? sum / count : old;
  }
};

struct differ {
  KOKKOS_FUNCTION integer operator()(integer one, integer other) const { return one != other ? 1 : 0; }
};

/// The result of both ways of computing: the cluster of each image, and the sum of all squared distances after each
/// iteration.
struct clustering {
  std::vector<integer> nearest;
  std::vector<double> inertia;
};

/// The images of the file as rows, in memory where kernels run.
table as_table(std::vector<digits::image> const& images, bool of_digits) {
  table const device("images", images.size(), of_digits ? 10 : 64);
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const host("images", device.extent(0),
                                                                            device.extent(1));
  for (std::size_t n = 0; n < images.size(); ++n)
    for (std::size_t p = 0; p < host.extent(1); ++p)
      host(n, p) = of_digits ? (images[n].digit == static_cast<int>(p) ? 1 : 0) : images[n].pixel[p];
  Kokkos::deep_copy(device, host);
  return device;
}

/// Lloyd's iterations until no image changes its cluster, by plain loops.
clustering by_loops(std::vector<digits::image> const& images) {
  std::size_t const stride = images.size() / 10;
  std::array<std::array<double, 64>, 10> c{};
  for (std::size_t k = 0; k < 10; ++k)
    for (std::size_t p = 0; p < 64; ++p) c[k][p] = images[k * stride].pixel[p];
  clustering found{std::vector<integer>(images.size(), -1), {}};
  for (bool changed = true; changed;) {
    changed = false;
    double inertia = 0;
    std::array<std::array<double, 64>, 10> sums{};
    std::array<double, 10> counts{};
    for (std::size_t n = 0; n < images.size(); ++n) {
      double least = HUGE_VAL;
      std::size_t nearest = 0;
      for (std::size_t k = 0; k < 10; ++k) {
        double square = 0;
        for (std::size_t p = 0; p < 64; ++p) square += (images[n].pixel[p] - c[k][p]) * (images[n].pixel[p] - c[k][p]);
        if (square < least) {
          least = square;
          nearest = k;
        }
      }
      changed = changed || found.nearest[n] != static_cast<integer>(nearest);
      found.nearest[n] = static_cast<integer>(nearest);
      inertia += least;
      counts[nearest] += 1;
      for (std::size_t p = 0; p < 64; ++p) sums[nearest][p] += images[n].pixel[p];
    }
    found.inertia.push_back(inertia);
    for (std::size_t k = 0; k < 10; ++k)
      for (std::size_t p = 0; p < 64; ++p)
        if (counts[k] > 0) c[k][p] = sums[k][p] / counts[k];
  }
  return found;
}

/// The clustering on a mesh, the bytes of one iteration, and the images of each cluster by digit. The last two are
/// valid on device 0 only.
struct on_mesh {
  clustering found;
  integer bytes = 0;
  std::vector<double> digits_of;  ///< C × G
};

template <class Mesh>
on_mesh cluster(Mesh const& mesh, table const& pixels, table const& said) {
  auto const n = static_cast<integer>(pixels.extent(0));
  auto const x = os::generate<points>(mesh, N = n, element_of{pixels, 1});
  auto c = os::generate<centres>(mesh, element_of{pixels, n / 10});
  auto const ones = os::ones<double, N/X>(mesh, N = n);
  double const squares = os::value(os::einsum<>(x, x));
  auto nearest = os::full<integer, N/X>(mesh, N = n, -1);

  on_mesh result;
  integer changed = 1;
  while (changed > 0) {
    auto const moved = ostraka::testing::traffic_of([&] {
      auto const from_centres = os::map(distance{}, os::einsum<N/X, C>(x, c), os::einsum<C>(c, c));  // [N_X, C]
      auto const next = os::argmin<N/X>(from_centres);
      result.found.inertia.push_back(squares + os::value(os::sum<>(os::min<N/X>(from_centres))));
      changed = os::value(os::sum<>(os::map(differ{}, next, nearest)));
      auto const sums = os::segment_sum<N, C, C, P/Y>(x, next);
      auto const counts = os::segment_sum<N, C, C>(ones, next);
      c = os::map(mean_of{}, sums, counts, c);
      nearest = next;
    });
    result.bytes = moved.bytes / mesh.devices();
  }

  auto const of_digits = os::generate<double, N/X, G>(mesh, N = n, element_of{said, 1});
  auto const counted = os::gather_to_root(os::segment_sum<N, C, C, G>(of_digits, nearest));
  auto const all = os::gather_to_root(nearest);
  if (all) {
    result.found.nearest.assign(all->data(), all->data() + all->size());
    result.digits_of.assign(counted->data(), counted->data() + counted->size());
  }
  return result;
}

/// True if the clustering is that of the loops and the inertia falls.
bool agrees(clustering const& found, clustering const& expected) {
  bool same = found.nearest == expected.nearest && found.inertia.size() == expected.inertia.size();
  for (std::size_t step = 0; same && step < found.inertia.size(); ++step)
    same = std::abs(found.inertia[step] - expected.inertia[step]) <= 1e-12 * expected.inertia[step] &&
           (step == 0 || found.inertia[step] <= found.inertia[step - 1] * (1 + 1e-15));
  return same;
}

void print_table(on_mesh const& result) {
  std::puts(
      "\nImages of each cluster by the digit that they are:\n\n"
      "  cluster    0    1    2    3    4    5    6    7    8    9");
  double right = 0, all = 0;
  for (std::size_t k = 0; k < 10; ++k) {
    std::printf("  %7d ", static_cast<int>(k));
    double most = 0;
    for (std::size_t g = 0; g < 10; ++g) {
      double const count = result.digits_of[10 * k + g];
      std::printf(count > 0 ? " %4.0f" : "    .", count);
      most = std::fmax(most, count);
      all += count;
    }
    right += most;
    std::puts("");
  }
  std::printf("\n%.1f %% of the images are of the digit that is the most frequent in their cluster.\n",
              100 * right / all);
}

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  std::vector<digits::image> images;
  try {
    images = digits::read_images(EXAMPLE_FOLDER "/../digits/digits.csv");  // on every process: all fail or none does
  } catch (digits::refusal const& r) {
    std::fprintf(stderr, "kmeans: %s\n", r.what());
    return 1;
  }
  table const pixels = as_table(images, false), said = as_table(images, true);
  clustering const expected = by_loops(images);

  int const all = env.devices(), x = all % 2 == 0 ? all / 2 : all;
  bool good = true;
  on_mesh last;
  for (std::array<int, 2> const shape : {std::array{all, 1}, std::array{1, all}, std::array{x, all / x}}) {
    auto const mesh = os::make_mesh(X = shape[0], Y = shape[1]);
    last = cluster(mesh, pixels, said);
    if (mesh.device() != 0) continue;
    bool const same = agrees(last.found, expected);
    std::printf("%d × %d devices: %d iterations, %lld B per device in each, inertia %.0f → %.0f: %s\n", shape[0],
                shape[1], static_cast<int>(last.found.inertia.size()), static_cast<long long>(last.bytes),
                last.found.inertia.front(), last.found.inertia.back(),
                same ? "the clusters of plain loops" : "OTHER clusters than plain loops");
    good = good && same;
  }
  if (!last.digits_of.empty()) {
    print_table(last);
    std::puts(good ? "PASS" : "FAIL");
  }
  return good ? 0 : 1;
}
