// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The axes that the programs of this folder share, and the comparison of an answer with that of one device.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include <ostraka/operations.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(B);      // sequences
OSTRAKA_AXIS(S);      // positions, of queries
OSTRAKA_AXIS(K);      // positions, of keys
OSTRAKA_AXIS(M);      // the model's width
OSTRAKA_AXIS(G);      // heads of keys and values
OSTRAKA_AXIS(R);      // heads of queries for each of them
OSTRAKA_AXIS(D, 16);  // a head's width
OSTRAKA_AXIS(F, 8);   // its frequencies
OSTRAKA_AXIS(P, 2);   // pairs
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using mesh_type = os::mesh<X_mesh, Y_mesh>;

/// Maps [0, 1) to numbers around 0, scaled so that sums over `width` products have the size of their factors.
struct centred {
  float width;
  KOKKOS_FUNCTION float operator()(float v) const { return (2 * v - 1) * std::sqrt(3 / width); }
};

/// Random numbers of a tensor type, the same on every mesh.
template <class T, class... Sizes>
T random_tensor(mesh_type const& mesh, std::uint64_t seed, double width, Sizes const&... sizes) {
  return os::map(centred{static_cast<float>(width)}, os::random<T>(mesh, sizes..., os::seed(seed)));
}

/// Collects the checks of the program.
class verdict {
 public:
  /// True if a tensor equals that of one device, to rounding. Device 0 prints and compares. Collective.
  template <class A, class One>
  void expect_same(char const* what, A const& found, One const& expected) {
    auto const all = os::gather_to_root(found);
    auto const one = os::gather_to_root(expected);
    if (found.mesh_handle()->device() != 0) return;
    double largest = all->size() == one->size() ? 0 : HUGE_VAL, size = 0;
    for (std::size_t i = 0; i < all->size() && i < one->size(); ++i) {
      largest = std::fmax(largest, std::abs(static_cast<double>(all->data()[i]) - static_cast<double>(one->data()[i])));
      size = std::fmax(size, std::abs(static_cast<double>(one->data()[i])));
    }
    bool const same = largest <= 1e-5 * size;
    std::printf("  %-44s differs from one device by %.0e of its largest: %s\n", what, largest / size,
                same ? "PASS" : "FAIL");
    good_ = good_ && same;
  }

  void expect(char const* what, bool holds) {
    std::printf("  %-44s %s\n", what, holds ? "PASS" : "FAIL");
    good_ = good_ && holds;
  }

  /// The exit status of main.
  [[nodiscard]] int exit_code() const { return good_ ? 0 : 1; }

 private:
  bool good_ = true;
};

/// The bytes that a program moves, in the order of its steps.
class report {
 public:
  template <class Plan, class... Operands>
  void add(char const* what, Plan const& plan, Operands const&... operands) {
    if (plan.communications() == 0) return;
    text_ += std::string("    ") + what + ": " + os::describe(plan, operands...);
    bytes_ += plan.bytes(operands...);
  }

  void add(char const* what, std::int64_t bytes) {
    if (bytes == 0) return;
    text_ += std::string("    ") + what + ": " + os::planner::describe_bytes(bytes) + '\n';
    bytes_ += bytes;
  }

  void print(char const* what) const {
    std::printf("%s: moves %s per device\n%s", what, os::planner::describe_bytes(bytes_).c_str(), text_.c_str());
  }

 private:
  std::string text_;
  std::int64_t bytes_ = 0;
};

/// The parts of the program, each in a file of its own. `one` is the mesh of this device alone.
void heads_and_positions(mesh_type const& mesh, mesh_type const& one, verdict& v);
void latent(mesh_type const& mesh, mesh_type const& one, verdict& v);
void decoding(mesh_type const& mesh, mesh_type const& one, verdict& v);
