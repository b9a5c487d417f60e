// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The program under one rule set with one kind of attention. Each pair is compiled in a file of its own.

#include <cstdint>

#include <ostraka/foresight/machine.hpp>

#include "../transformer/names.hpp"
#include "../transformer/rules.hpp"
#include "options.hpp"

namespace transformer {

struct grouped;
struct latent;

}  // namespace transformer

namespace train {

using mesh_type = os::mesh<X_mesh, Y_mesh>;

/// Trains, and continues a text. @returns whether all went well, on all devices alike
template <class Rules, class Attention>
bool run(mesh_type const& m, options const& o);

/// The cost of a step on one device, with parameters of type float.
struct step_price {
  std::int64_t parameters = 0;  ///< numbers, of all devices together
  std::int64_t kept = 0;        ///< bytes of parameters and the optimiser's state
  std::int64_t sent = 0;        ///< bytes in a step
  std::int64_t peak = 0;        ///< bytes in use at once, at most
  std::int64_t flops = 0;
  double seconds = 0, computing = 0, waiting = 0;  ///< on the machine
  double pricing = 0;                              ///< seconds that pricing took here
};

/// The cost of a step after the first, on a mesh without devices.
template <class Rules, class Attention>
step_price price(mesh_type const& dry, options const& o, os::machine const& on);

}  // namespace train
