// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A tensor as a Vec, a Vec as a tensor, and a stencil as a function from Vec to Vec. No elements are copied. PETSc
/// numbers the elements of a Vec rank by rank, and within a rank as they lie in the block.

#include <petscvec.h>

#include <cstddef>
#include <exception>
#include <span>
#include <stdexcept>
#include <utility>

#include <ostraka/ostraka.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

namespace grid {
int constexpr i = 15, j = 12, k = 10;  // points
}

using mesh_type = decltype(os::make_mesh(X = 1, Y = 1));
using values = os::tensor<double, I/X, J/Y, K>;
using ghosted_values = os::ghosted_array<double, os::halo<I, 1>/X, os::halo<J, 1>/Y, os::halo<K, 1>>;

/// Throws if a call of PETSc has failed. PETSc has then printed the reason.
inline void require(PetscErrorCode code) {
  if (code != 0) throw std::runtime_error("a call of PETSc has failed");
}

/// Calls f for PETSc, whose functions are C and report errors by codes.
template <class F>
PetscErrorCode reported(F const& f) {
  try {
    f();
    return 0;
  } catch (std::exception const& e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", e.what());
  }
}

/// A Vec on the elements of a tensor's block. @pre the tensor outlives it
inline Vec vec_of(values const& a) {
  Vec v = nullptr;
  auto const block = a.local();
  require(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, static_cast<PetscInt>(block.size()), PETSC_DETERMINE,
                                block.data(), &v));
  return v;
}

/// A tensor on the elements of a Vec; it is read only if they are constant. Each device checks its own number of
/// elements, and nothing is sent. @pre VecGetArray… has given the elements, and they outlive the tensor
template <class T>
auto tensor_of(mesh_type const& mesh, Vec v, T* elements) {
  PetscInt size = 0;
  require(VecGetLocalSize(v, &size));
  return os::from_local<double, I/X, J/Y, K>(mesh, I = grid::i, J = grid::j, K = grid::k, os::unchecked,
                                             std::span(elements, static_cast<std::size_t>(size)));
}

/// to = f at each point, given the neighbours of the point in `from` and the elements of `more`.
template <class F, class... More>
void apply(F const& f, mesh_type const& mesh, Vec from, Vec to, More const&... more) {
  double const* read = nullptr;
  double* written = nullptr;
  require(VecGetArrayRead(from, &read));
  require(VecGetArrayWrite(to, &written));
  os::shard_map<I/X, J/Y, K>([&](auto u, auto result, auto... other) {
    auto padded = os::start_exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y, os::halo<K, 1>>(u, os::faces);
    os::stencil_into(result, f, std::move(padded), other...);
    return result;
  }, tensor_of(mesh, from, read), tensor_of(mesh, to, written), more...);
  require(VecRestoreArrayWrite(to, &written));
  require(VecRestoreArrayRead(from, &read));
}

/// Copies a tensor to an array with ghost layers, and fills these.
inline void copy_in(ghosted_values const& to, values const& from) {
  os::shard_map<I/X, J/Y, K>([](auto block, auto array) {
    os::exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y, os::halo<K, 1>>(array, block, os::faces);
    return block;
  }, from, to);
}
/// A tensor with what this device owns of an array with ghost layers: a copy.
inline values copy_out(ghosted_values const& from) {
  return os::shard_map<I/X, J/Y, K>([](auto array) { return os::own(array); }, from);
}
