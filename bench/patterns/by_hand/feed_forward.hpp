// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The feed-forward layer on a mesh X × Y by hand. M stands for batch and sequence; X splits the batch. Extents are
/// global and divide evenly; `x` is the group of ranks that differ only along X, `y` likewise.

#include "products.hpp"

namespace by_hand {

struct layer {
  int m, d, f;
};

/// h[M_X, D_Y] · W_in[D_X, F_Y] -> [M_X, F_Y]: both are gathered. The gathered W is already in the order of D.
inline ways feed_in(group const& x, group const& y, layer l, element const* h, element const* w, element* out) {
  int const rows = l.m / x.size;
  int const part = l.d / y.size;
  int const columns = l.f / y.size;
  auto const left = std::make_shared<gathered>(y, h, rows * part);
  auto const right = std::make_shared<buffer>(area(l.d, columns));
  auto const whole = std::make_shared<buffer>(area(rows, l.d));
  int const count = l.d / x.size * columns;
  auto const weights = [=] { return x.size == 1 ? w : right->data(); };
  auto const pairs = std::make_shared<swap_of_parts>(
      x, count, [=](int) { return w; }, [=](int d) { return right->data() + area(d, count); });
  auto const by_library = [=] {
    if (y.size > 1) left->by_library();
    if (x.size > 1) MPI_Allgather(w, count, message_type(), right->data(), count, message_type(), x.comm);
  };
  auto const by_pairs = [=] {
    if (y.size > 1) left->by_pairs();
    if (x.size > 1)
      pairs->run(),
          std::memcpy(right->data() + area(x.rank, count), w, sizeof(element) * static_cast<std::size_t>(count));
  };
  auto const block = [=](int d) { return y.size == 1 ? h : left->block(d); };
  auto const multiply_blocks = [=] {
    for (int d = 0; d < y.size; ++d)
      gemm(rows, columns, part, block(d), part, weights() + area(d * part, columns), columns, d > 0 ? 1 : 0, out,
           columns);
  };
  auto const unpack_and_multiply = [=] {
    for (int d = 0; d < y.size; ++d) copy(rows, part, block(d), part, whole->data() + d * part, l.d);
    gemm(rows, columns, l.d, whole->data(), l.d, weights(), columns, 0, out, columns);
  };
  ways all = {{"all-gathers, blocks", [=] { by_library(), multiply_blocks(); }},
              {"pairs, blocks", [=] { by_pairs(), multiply_blocks(); }}};
  if (y.size == 1) return all;  // one block
  all.push_back({"all-gathers, unpack", [=] { by_library(), unpack_and_multiply(); }});
  all.push_back({"pairs, unpack", [=] { by_pairs(), unpack_and_multiply(); }});
  return all;
}

/// a[M_X, F_Y] · W_out[F_Y, D_X] -> [M_X, D_Y]: W is gathered, the sums are scattered over Y. The blocks of W are
/// multiplied where they arrive.
inline ways feed_out(group const& x, group const& y, layer l, element const* a, element const* w, element* out) {
  int const rows = l.m / x.size;
  int const inner = l.f / y.size;
  int const arriving = l.d / x.size;  // columns of a block of W
  int const leaving = l.d / y.size;   // columns of a part of the result
  int const width = std::min(arriving, leaving);
  auto const right = std::make_shared<gathered>(x, w, inner * arriving);
  auto const multiply = [=](int part, element* to, int beta) {
    for (int at = 0; at < leaving; at += width) {
      int const column = part * leaving + at;
      element const* const block = x.size == 1 ? w : right->block(column / arriving);
      gemm(rows, width, inner, a, inner, block + column % arriving, arriving, beta, to + at, leaving);
    }
  };
  auto const multiply_all = [=](element* to) {
    for (int part = 0; part < y.size; ++part) multiply(part, to + area(part, rows * leaving), 0);
  };
  ways products = multiply_and_scatter(y, rows * leaving, multiply, multiply_all, out);
  if (y.size == 1) products = {{"blocks", [=] { multiply(0, out, 0); }}};
  if (x.size == 1) return products;
  ways all;
  for (way const& p : products) {
    all.push_back({"all-gather; " + p.name, [=] { right->by_library(), p.run(); }});
    all.push_back({"pairs; " + p.name, [=] { right->by_pairs(), p.run(); }});
  }
  return all;
}

}  // namespace by_hand
