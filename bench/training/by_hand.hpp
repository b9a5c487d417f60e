// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// One step of a transformer block, forward and backward, written by hand with MPI and CBLAS: all memory is allocated
/// once, products are GEMMs on the parameters' layouts, and the rest is loops that the compiler vectorises.
///
///     n = rms_norm(x) g1;  q, k, v = n Wq, n Wk, n Wv;  o = softmax(rope(q) rope(k)ᵀ / √w, causal) v;  a = x + o Wo
///     m = rms_norm(a) g2;  y = a + (silu(m W1) ⊙ m W3) W2;  loss = Σ y ⊙ t
///
/// Fully sharded: the batch and the major axis of every parameter are divided; parameters are gathered before the
/// forward pass and kept, gradients are reduce-scattered. Tensor parallel: heads and the hidden layer are divided, two
/// all-reduces forward and two backward.

#include <mpi.h>

#include <array>
#include <vector>

#include "block.hpp"

namespace by_hand {

using values = bench::block<float>;

/// The extents of the whole problem. `width`, that of a head, is even.
struct extents {
  int batch, tokens, model, heads, width, hidden;
};

enum class layout { fully_sharded, tensor_parallel };

/// How the blocks of all ranks are combined: by the MPI library's collectives, or by pairs of messages and loops.
enum class way { collectives, messages };

/// g1 [D], Wq, Wk, Wv [D, H, w], Wo [H, w, D], g2 [D], W1, W3 [D, F], W2 [F, D], row-major, this rank's part of each.
enum parameter { g1, wq, wk, wv, wo, g2, w1, w3, w2, parameters };

class transformer_block {
 public:
  transformer_block(extents const& e, layout l, MPI_Comm all);

  /// Computes the loss, and gradients of x [B, S, D] and of the parameters; t weighs the result.
  float step(float const* x, float const* t, std::array<float const*, parameters> const& p, float* dx,
             std::array<float*, parameters> const& dp);

  void use(way w) { way_ = w; }
  [[nodiscard]] int elements_of(parameter k) const { return own_[k]; }
  [[nodiscard]] int elements_of_x() const { return rows_ * e_.model; }

 private:
  void gather(std::array<float const*, parameters> const& p);
  void add_up(float* data, int count);
  void reduce_scatter(float* all, float* own, int count);
  void attend(int b, int h);
  void attend_backward(int b, int h);

  extents e_;
  layout layout_;
  way way_ = way::messages;
  MPI_Comm all_;
  int ranks_ = 1, rank_ = 0;
  int batch_, heads_, hidden_, rows_, inner_;  // those of this rank; inner_: heads times their width
  std::array<int, parameters> own_{}, whole_{};
  std::array<values, parameters> gathered_, gradient_;
  std::array<float const*, parameters> p_{};
  values angles_, n_, q_, k_, v_, scores_, o_, a_, m_, u_, w_, s_, y_, r1_, r2_;
  values dy_, ds_, du_, dw_, dm_, da_, do_, dq_, dk_, dv_, dn_, dscores_, incoming_;
};

}  // namespace by_hand
