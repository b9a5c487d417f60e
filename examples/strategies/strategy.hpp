// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// What the program does under one strategy, and what comes of it. Each strategy is compiled in a file of its own,
/// which defines it and instantiates `run`; strategies.cpp knows it by name alone.

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../transformer/names.hpp"
#include "../transformer/settings.hpp"

namespace strategies {

using namespace transformer;

static_assert(std::is_same_v<real, double>, "strategies are compared to rounding: TRANSFORMER_REAL=double");

/// X: data, and what is stored divided; Y: heads and widths; Z: stages. One of size 1 turns its part off.
using mesh_type = os::mesh<X_mesh, Y_mesh, Z_mesh>;

struct mesh_sizes {
  int x = 1, y = 1, z = 1;
};

struct problem : settings {
  problem() { layers = 4; }

  std::int64_t steps = 50;
  std::string load, save;  ///< files that a run goes on from, after the steps that it says, and leaves; or none
  std::int64_t microbatches = 1;
};

/// What comes of it on one device; all but the losses on a dry mesh, too, where it is foretold.
struct outcome {
  std::vector<double> losses;
  std::int64_t moved = 0;                                 ///< bytes in a step
  std::int64_t peak = 0;                                  ///< bytes in use at once, at most, in a step
  std::int64_t parameters = 0, gradients = 0, state = 0;  ///< of these, what trees hold
  double idle = -1;                                       ///< the share of a pipeline's slots; none without one
};

/// Trains the model until it has made this many steps. Collective over the mesh.
template <class Strategy>
outcome run(mesh_type const& m, problem const& o);

}  // namespace strategies
