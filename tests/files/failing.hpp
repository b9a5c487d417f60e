// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Trees and checks that the tests of failed saves and loads share.

#include <cstdint>
#include <string>

#include <ostraka/tree.hpp>

#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace ostraka::testing {

using mesh_of_test = mesh<X_mesh, Y_mesh, Z_mesh>;

template <class L>
struct model {
  leaf<L, float, I/X, J/Y> w;
  leaf<L, std::int32_t, J> b;
};

template <class L>
struct smaller {
  leaf<L, float, I, J> w;
};

inline mesh_of_test mesh_of(test_mesh const& m) { return mesh_of_test(m.handle()); }

inline bool says(std::string const& said, std::string const& words) {
  INFO(said);
  bool const found = said.find(words) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace ostraka::testing
