// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The program under one strategy, and its outcome. Each strategy is compiled in a file of its own, which defines it
/// and instantiates `run`; strategies.cpp knows it only by name.

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../transformer/names.hpp"
#include "../transformer/settings.hpp"

namespace strategies {

using namespace transformer;

static_assert(std::is_same_v<real, double>, "strategies are compared to rounding: TRANSFORMER_REAL=double");

/// X: data, and tensors that are stored divided; Y: heads and widths; Z: stages. A size of 1 turns its part off.
using mesh_type = os::mesh<X_mesh, Y_mesh, Z_mesh>;

struct mesh_sizes {
  int x = 1, y = 1, z = 1;
};

struct problem : settings {
  problem() { layers = 4; }

  std::int64_t steps = 50;
  std::string load, save;  ///< files: a run continues after the steps in `load`, and writes `save`; empty if none
  std::int64_t microbatches = 1;
};

/// The outcome on one device. A dry mesh predicts all of it but the losses.
struct outcome {
  std::vector<double> losses;
  std::int64_t moved = 0;                                 ///< bytes in a step
  std::int64_t peak = 0;                                  ///< bytes in use at once, at most, in a step
  std::int64_t parameters = 0, gradients = 0, state = 0;  ///< of these, what trees hold
  double idle = -1;                                       ///< a pipeline's share of idle slots; -1 without one
};

/// Trains the model until it has made this many steps. Collective over the mesh.
template <class Strategy>
outcome run(mesh_type const& m, problem const& o);

}  // namespace strategies
