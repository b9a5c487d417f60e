// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Sharded products C[I, K] = A[I, J] · B[J, K] by hand, each in all of the plain ways. Extents are global, and
/// multiples of the group's size. Pointers refer to the local blocks, row-major. A way owns its buffers.

#include <memory>

#include "plain.hpp"

namespace by_hand {

struct extents {
  int i, j, k;
};

/// [I_X, J] · [J, K] -> [I_X, K]: nothing moves.
inline ways rows_apart(group const& g, extents e, element const* a, element const* b, element* c) {
  int const rows = e.i / g.size;
  return {{"gemm", [=] { gemm(rows, e.k, e.j, a, e.j, b, e.k, 0, c, e.k); }}};
}

/// [B_X, I, J] · [B_X, J, K] -> [B_X, I, K]: nothing moves.
inline ways batch_apart(group const& g, int batch, extents e, element const* a, element const* b, element* c) {
  int const here = batch / g.size;
  return {{"gemm after gemm", [=] {
             for (int t = 0; t < here; ++t)
               gemm(e.i, e.k, e.j, a + area(t * e.i, e.j), e.j, b + area(t * e.j, e.k), e.k, 0, c + area(t * e.i, e.k),
                    e.k);
           }}};
}

/// The blocks of all ranks, `count` elements each: gathered by the library, or by pairs with a rank's own block left in
/// place.
class gathered {
 public:
  gathered(group const& g, element const* mine, int count)
      : g_(g), mine_(mine), count_(count), blocks_(area(g.size, count)),
        pairs_(g, count, [=](int) { return mine; }, [this](int d) { return blocks_.data() + area(d, count_); }) {}
  gathered(gathered const&) = delete;
  gathered& operator=(gathered const&) = delete;

  void by_library() {
    MPI_Allgather(mine_, count_, message_type(), blocks_.data(), count_, message_type(), g_.comm);
    own_ = nullptr;
  }
  void by_pairs() {
    pairs_.run();
    own_ = mine_;
  }
  [[nodiscard]] element const* block(int d) const {
    return own_ && d == g_.rank ? own_ : blocks_.data() + area(d, count_);
  }

 private:
  group g_;
  element const* mine_;
  element const* own_ = nullptr;
  int count_;
  buffer blocks_;
  swap_of_parts pairs_;
};

/// A gather by the library or by pairs, then a product of the blocks where they arrived, or of the whole made from
/// them.
inline ways gather_and(std::shared_ptr<gathered> const& blocks, std::function<void()> const& multiply_blocks,
                       std::function<void()> const& unpack_and_multiply) {
  return {{"all-gather, blocks", [=] { blocks->by_library(), multiply_blocks(); }},
          {"all-gather, unpack", [=] { blocks->by_library(), unpack_and_multiply(); }},
          {"pairs, blocks", [=] { blocks->by_pairs(), multiply_blocks(); }},
          {"pairs, unpack", [=] { blocks->by_pairs(), unpack_and_multiply(); }}};
}

/// [I, J_X] · [J, K] -> [I, K]: A is gathered.
inline ways gather_left(group const& g, extents e, element const* a, element const* b, element* c) {
  int const part = e.j / g.size;
  auto const blocks = std::make_shared<gathered>(g, a, e.i * part);
  auto const whole = std::make_shared<buffer>(area(e.i, e.j));
  auto const multiply_blocks = [=] {
    for (int d = 0; d < g.size; ++d)
      gemm(e.i, e.k, part, blocks->block(d), part, b + area(d * part, e.k), e.k, d > 0 ? 1 : 0, c, e.k);
  };
  auto const unpack_and_multiply = [=] {
    for (int d = 0; d < g.size; ++d) copy(e.i, part, blocks->block(d), part, whole->data() + d * part, e.j);
    gemm(e.i, e.k, e.j, whole->data(), e.j, b, e.k, 0, c, e.k);
  };
  return gather_and(blocks, multiply_blocks, unpack_and_multiply);
}

/// [I_X, J] · [J, K_X] -> [I_X, K]: B is gathered; each of its blocks gives some columns of C.
inline ways gather_right(group const& g, extents e, element const* a, element const* b, element* c) {
  int const rows = e.i / g.size;
  int const part = e.k / g.size;
  auto const blocks = std::make_shared<gathered>(g, b, e.j * part);
  auto const whole = std::make_shared<buffer>(area(e.j, e.k));
  auto const multiply_blocks = [=] {
    for (int d = 0; d < g.size; ++d) gemm(rows, part, e.j, a, e.j, blocks->block(d), part, 0, c + d * part, e.k);
  };
  auto const unpack_and_multiply = [=] {
    for (int d = 0; d < g.size; ++d) copy(e.j, part, blocks->block(d), part, whole->data() + d * part, e.k);
    gemm(rows, e.k, e.j, a, e.j, whole->data(), e.k, 0, c, e.k);
  };
  return gather_and(blocks, multiply_blocks, unpack_and_multiply);
}

/// Sums of `g.size` parts over the group; each rank keeps one part. `multiply(d, to, beta)` writes part d of this
/// rank's summand, `count` elements, to `to`, or adds it there; `multiply_all(to)` writes all parts, one after another.
inline ways multiply_and_scatter(group const& g, int count, std::function<void(int, element*, int)> const& multiply,
                                 std::function<void(element*)> const& multiply_all, element* c) {
  struct room {
    buffer summand, arriving;
  };
  auto const r = std::make_shared<room>(room{buffer(area(count, g.size)), buffer(area(count, g.size))});
  auto const summand = [=](int d) { return r->summand.data() + area(d, count); };
  auto const arriving = [=](int d) { return r->arriving.data() + area(d, count); };
  int const first =
      g.rank == 0 && g.size > 1 ? 1 : 0;  // of the others: what it sends may arrive where the sum is to be
  auto const pairs = std::make_shared<swap_of_parts>(g, count, summand, arriving);
  auto const onto =
      std::make_shared<swap_of_parts>(g, count, summand, [=](int d) { return d == first ? c : arriving(d); });
  auto const pieces = std::make_shared<sum_in_pieces>(g, summand(0), c, count);
  auto const multiply_here = [=] { multiply_all(summand(0)); };
  auto const keep_own = [=] { std::memcpy(c, summand(g.rank), sizeof(element) * static_cast<std::size_t>(count)); };
  auto const add_others_than = [=](int kept) {
    for (int d = 0; d < g.size; ++d)
      if (d != g.rank && d != kept) add(c, arriving(d), count);
  };
  return {{"reduce-scatter",
           [=] { multiply_here(), MPI_Reduce_scatter_block(summand(0), c, count, message_type(), MPI_SUM, g.comm); }},
          {"all-reduce, own part",
           [=] {
             multiply_here(), MPI_Allreduce(MPI_IN_PLACE, summand(0), count * g.size, message_type(), MPI_SUM, g.comm);
             keep_own();
           }},
          {"pairs, added", [=] { multiply_here(), pairs->run(), keep_own(), add_others_than(g.rank); }},
          {"pairs in pieces", [=] { multiply_here(), pieces->run(); }},
          {"pairs, own product last", [=] {
             for (int d = 0; d < g.size; ++d)
               if (d != g.rank) multiply(d, summand(d), 0);
             onto->run();
             add_others_than(first);
             multiply(g.rank, c, g.size > 1 ? 1 : 0);
           }}};
}

/// [I, J_X] · [J_X, K] -> [I_X, K]: sums are scattered over rows.
inline ways scatter_rows(group const& g, extents e, element const* a, element const* b, element* c) {
  int const part = e.j / g.size;
  int const rows = e.i / g.size;
  auto const multiply = [=](int d, element* to, int beta) {
    gemm(rows, e.k, part, a + area(d * rows, part), part, b, e.k, beta, to, e.k);
  };
  auto const multiply_all = [=](element* to) { gemm(e.i, e.k, part, a, part, b, e.k, 0, to, e.k); };
  return multiply_and_scatter(g, rows * e.k, multiply, multiply_all, c);
}

/// [I, J_X] · [J_X, K] -> [I, K_X]: sums are scattered over columns.
inline ways scatter_columns(group const& g, extents e, element const* a, element const* b, element* c) {
  int const part = e.j / g.size;
  int const columns = e.k / g.size;
  auto const multiply = [=](int d, element* to, int beta) {
    gemm(e.i, columns, part, a, part, b + d * columns, e.k, beta, to, columns);
  };
  auto const multiply_all = [=](element* to) {
    for (int d = 0; d < g.size; ++d) multiply(d, to + area(d, e.i * columns), 0);
  };
  return multiply_and_scatter(g, e.i * columns, multiply, multiply_all, c);
}

/// [I, J_X] · [J_X, K] -> [I, K]: all ranks get the sum. With `whole_right`, B is whole on every rank, [J, K], and
/// slicing it costs nothing.
inline ways reduce_all(group const& g, extents e, element const* a, element const* b, bool whole_right, element* c) {
  int const part = e.j / g.size;
  int const count = e.i / g.size * e.k;
  element const* const rows = whole_right ? b + area(g.rank * part, e.k) : b;
  auto const sum = std::make_shared<buffer>(static_cast<std::size_t>(count));
  auto const pieces = std::make_shared<sum_in_pieces>(g, c, sum->data(), count);
  auto const back = std::make_shared<swap_of_parts>(
      g, count, [&](int) { return sum->data(); }, [=](int d) { return c + area(d, count); });
  auto const multiply = [=] { gemm(e.i, e.k, part, a, part, rows, e.k, 0, c, e.k); };
  return {{"all-reduce",
           [=] { multiply(), MPI_Allreduce(MPI_IN_PLACE, c, count * g.size, message_type(), MPI_SUM, g.comm); }},
          {"pairs in pieces, all-gather",
           [=] {
             multiply(), pieces->run();
             MPI_Allgather(sum->data(), count, message_type(), c, count, message_type(), g.comm);
           }},
          {"pairs in pieces, pairs", [=] {
             multiply(), pieces->run(), back->run();
             std::memcpy(c + area(g.rank, count), sum->data(), sizeof(element) * static_cast<std::size_t>(count));
           }}};
}

}  // namespace by_hand
