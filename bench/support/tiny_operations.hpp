// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Operations on blocks so small that the overhead dominates, each in a function of its own that a profiler can name.
/// With extents of 8, blocks have 16 to 64 elements; the mesh is that of null_mpi.hpp, X = 2, Y = 2.

#include <optional>
#include <utility>

#include <ostraka/ostraka.hpp>

namespace tiny {

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

inline auto make_mesh() { return os::make_mesh(X = 2, Y = 2); }

/// A block of A[I_X, J_Y] in a body, with its neighbours' rows and columns.
using padded_block = decltype(os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(
    std::declval<os::tensor<double, I, J, os::varying(X, Y)> const&>()));

/// The operands of the operations.
struct tensors {
  int extent;
  decltype(make_mesh()) mesh = make_mesh();

  explicit tensors(int n) : extent(n) {
    static_cast<void>(os::shard_map<I/X, J/Y>(
        [&](auto block) {
          now = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(block);
          next = os::zeros_like(now);
          return block;
        },
        a_blocks));
  }

  os::tensor<double, I/X, J> a_rows = made<os::tensor<double, I/X, J>>();
  os::tensor<double, I, J/X> a_columns = made<os::tensor<double, I, J/X>>();
  os::tensor<double, I/X, J/Y> a_blocks = made<os::tensor<double, I/X, J/Y>>();
  os::tensor<double, J, K> b = made<os::tensor<double, J, K>>();
  os::tensor<double, J/X, K> b_rows = made<os::tensor<double, J/X, K>>();
  os::tensor<double, J/X, K/Y> b_blocks = made<os::tensor<double, J/X, K/Y>>();
  os::tensor<double, I, K> c = made<os::tensor<double, I, K>>();
  os::tensor<double, I/X, K> c_rows = made<os::tensor<double, I/X, K>>();
  os::tensor<double, I/X, K/Y> c_blocks = made<os::tensor<double, I/X, K/Y>>();
  os::tensor<double, J> bias = made<os::tensor<double, J>>();
  padded_block now, next;

  template <class T>
  T made() const {
    return os::zeros<T>(mesh, os::sizes(I = extent, J = extent, K = extent));
  }
};

/// The operands, made after MPI and Kokkos have started.
inline std::optional<tensors> all;

struct plus {
  KOKKOS_INLINE_FUNCTION double operator()(double a, double b) const { return a + b; }
};

struct heat {
  template <class Neighbours>
  KOKKOS_INLINE_FUNCTION double operator()(Neighbours const& u) const {
    return u(0, 0) + 0.2 * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0));
  }
};

}  // namespace tiny

// Not inlined, so that a profile shows them.
#define TINY_OPERATION extern "C" __attribute__((noinline)) inline void

TINY_OPERATION tiny_einsum_into() { ostraka::einsum_into(tiny::all->c_rows, tiny::all->a_rows, tiny::all->b); }
TINY_OPERATION tiny_einsum_into_all_reduce() {
  ostraka::einsum_into(tiny::all->c, tiny::all->a_columns, tiny::all->b_rows);
}
TINY_OPERATION tiny_einsum_into_reduce_scatter() {
  ostraka::einsum_into(tiny::all->c_rows, tiny::all->a_columns, tiny::all->b_rows);
}
TINY_OPERATION tiny_einsum_into_two_gathers() {
  ostraka::einsum_into(tiny::all->c_blocks, tiny::all->a_blocks, tiny::all->b_blocks);
}
TINY_OPERATION tiny_einsum() {
  static_cast<void>(ostraka::einsum<tiny::I/tiny::X, tiny::K>(tiny::all->a_rows, tiny::all->b));
}
TINY_OPERATION tiny_reshard_gather() { static_cast<void>(ostraka::reshard<tiny::I, tiny::J>(tiny::all->a_rows)); }
TINY_OPERATION tiny_reshard_all_to_all() {
  static_cast<void>(ostraka::reshard<tiny::I, tiny::J/tiny::X>(tiny::all->a_rows));
}
TINY_OPERATION tiny_reshard_into() { ostraka::reshard_into(tiny::all->a_columns, tiny::all->a_rows); }
TINY_OPERATION tiny_map() { static_cast<void>(ostraka::map(tiny::plus{}, tiny::all->a_rows, tiny::all->bias)); }
TINY_OPERATION tiny_map_into() {
  ostraka::map_into(tiny::all->a_rows, tiny::plus{}, tiny::all->a_rows, tiny::all->bias);
}
TINY_OPERATION tiny_halo_step() {
  using namespace tiny;
  tensors& t = *tiny::all;  // CUDA's headers have an ::all, too
  os::stencil_into(t.next, heat{}, os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(t.now, os::faces));
  std::swap(t.now, t.next);
}

namespace tiny {

struct operation {
  char const* what;
  void (*run)();
};

inline constexpr operation operations[] = {
    {"einsum_into C[I_X, K] <- A[I_X, J] B[J, K]", tiny_einsum_into},
    {"einsum_into C[I, K] <- A[I, J_X] B[J_X, K]", tiny_einsum_into_all_reduce},
    {"einsum_into C[I_X, K] <- A[I, J_X] B[J_X, K]", tiny_einsum_into_reduce_scatter},
    {"einsum_into C[I_X, K_Y] <- A[I_X, J_Y] B[J_X, K_Y]", tiny_einsum_into_two_gathers},
    {"einsum C[I_X, K] = A[I_X, J] B[J, K]", tiny_einsum},
    {"reshard A[I_X, J] -> [I, J]", tiny_reshard_gather},
    {"reshard A[I_X, J] -> [I, J_X]", tiny_reshard_all_to_all},
    {"reshard_into B[I, J_X] <- A[I_X, J]", tiny_reshard_into},
    {"map C[I_X, J] = A[I_X, J] + b[J]", tiny_map},
    {"map_into A[I_X, J] <- A[I_X, J] + b[J]", tiny_map_into},
    {"stencil_into of the halos I(1), J(1), over X and Y", tiny_halo_step},
};

}  // namespace tiny
