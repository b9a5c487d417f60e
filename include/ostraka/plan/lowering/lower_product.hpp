// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The actions of a contraction of two tensors that is fused with the move next to it
/// (plan/decisions/fused.hpp). With A = (A_before, A_own, A_after) along J_X:
///
///     all_gather A[I, J_X]      start  C <- A_own B_own  finish  C += A_before B_before  C += A_after B_after
///     reduce_scatter C[I_X, K]  C_before, C_after  start  finish into C_own  C_own += A_own B
///
/// A result that is repeated along the gather's mesh axis must have the same bits on all devices. For such a result,
/// all devices multiply the parts one by one, in the same way, and add sums in the order of the devices.

#include <cstdint>

#include <ostraka/plan/lowering/lower_move.hpp>

namespace ostraka::planner::detail {

// A product of two blocks into a third; each of the three has labels of its own.
struct block_product {
  spec const* labels[3]{&no_labels, &no_labels, &no_labels};  // left, right, result
  buffer_block block[3]{};

  [[nodiscard, gnu::cold]] constexpr product loops(int all_labels) const {
    contracted const tensors[3] = {{labels[0], &block[0]}, {labels[1], &block[1]}, {labels[2], &block[2]}};
    product p{loops_of_contraction(all_labels, tensors)};
    for (int k = 0; k < 3; ++k) p.begin[k] = block[k].data;
    return p;
  }

  // The product at these indices of a label. Block number `which` becomes `given`, which has these indices alone.
  // @pre the others are not in message layout
  [[nodiscard, gnu::cold]] constexpr block_product part(int label, range indices, int which,
                                                        buffer_block const& given) const {
    block_product p = *this;
    p.block[which] = given;
    for (int k = 0; k < 3; ++k) {
      int const at = k == which ? -1 : labels[k]->find(label);
      if (at < 0) continue;
      box inner = block[k].where;
      inner.at[at] = indices;
      p.block[k] = block[k].part(inner);
    }
    return p;
  }
};

// Records fused contractions for one device. Block number `which` is the one whose parts travel.
template <class Writer>
class product_lowering {
 public:
  constexpr product_lowering(viewpoint const& v, Writer& out, move_lowering<Writer>& moves)
      : v_(v), e_(v.sizes), out_(out), moves_(moves) {}

  constexpr void multiply(block_product const& p, scaling how) {
    if constexpr (Writer::keeps) out_.multiply(p.loops(e_.labels), how);
  }

  // Adds the functions of these kinds to the table.
  template <unsigned Kinds>
  static constexpr void name_functions(lowering_functions<Writer>& f) {
    if constexpr ((Kinds & kinds::gathers) != 0) f.contract_gathered = &product_lowering::gather_and_contract;
    if constexpr ((Kinds & kinds::scatters) != 0) f.contract_scattered = &product_lowering::contract_and_scatter;
  }

 private:
  // result <- alpha (the product) + beta result, with one factor as `gather` would gather it.
  [[gnu::cold]] constexpr void gather_and_contract(planned_step const& gather, block_product const& given, int which,
                                                   scaling how) {
    block_product p = given;
    buffer_block const own = p.block[which];
    parts_of_block const parts(box_of(gather.to, v_.here, e_), own.where, loops_of_received(gather, e_)[0]);
    std::int64_t const part = own.where.size();
    buffer_taken const arriving = out_.take(parts.whole.size() - part);
    buffer_taken const packed = out_.take(own.gapless() ? 0 : part);
    if (!own.gapless()) {
      p.block[which] = dense_block(place{packed.number, 0}, own.where);
      out_.copy(p.block[which], own, {});
    }
    message m = message_of(gather, parts, p.block[which].data, {arriving.number, 0});
    m.moved = parts.whole.size() - part;
    bool const repeated = !p.labels[2]->uses().contains(parts.loop.mesh_axis);
    int const label = gather.to.label[parts.loop.dimension];
    bool const summed = p.labels[2]->find(label) < 0;
    bool const own_first = !(summed && repeated);  // otherwise a device waits for all parts before it begins
    auto const multiply_part = [&](buffer_block const& b, range indices) {
      multiply(p.part(label, indices, which, b), how);
      if (summed) how.beta = factor::one;
    };
    out_.start(m);
    if (own_first) multiply_part(p.block[which], parts.own());
    out_.finish();
    if constexpr (Writer::keeps)
      parts.for_each(m.received, repeated, *this, multiply_part, [&] {
        if (!own_first) multiply_part(p.block[which], parts.own());
      });
    out_.give_back(packed);
    out_.give_back(arriving);
  }

  // The own part of the product as `scatter` would scatter it: it becomes alpha (the sum over the devices) + beta
  // (itself).
  // @pre p.block[2] is where the own part belongs
  [[gnu::cold]] constexpr void contract_and_scatter(planned_step const& scatter, block_product const& p, int,
                                                    scaling how) {
    buffer_block const own = p.block[2];
    parts_of_block const parts(box_of(scatter.from, v_.here, e_), own.where, loops_of_sent(scatter, e_)[0]);
    std::int64_t const part = own.where.size();
    buffer_taken const sent = out_.take(parts.whole.size() - part);
    int const label = scatter.from.label[parts.loop.dimension];
    message m = message_of(scatter, parts, {sent.number, 0}, own.data);
    m.moved = (m.members - 1) * part;
    if constexpr (Writer::keeps)
      parts.for_each(
          m.sent, false, *this,
          [&](buffer_block const& b, range indices) {
            multiply(p.part(label, indices, 2, b), {how.alpha, factor::zero});
          },
          [] {});
    scaling const arriving{factor::one, how.beta};
    m.into = own.gapless() ? arriving : scaling{};
    moves_.with_message(own, arriving, false, [&](buffer_block const& contiguous) {
      m.received = contiguous.data;
      bool const directly = m.members == 2 && m.into.overwrites();  // the sum of one part is that part
      buffer_taken const pieces = directly ? out_.take(0) : moves_.take_for_reduction(part, m.members);
      m.pieces = {pieces.number, 0};
      out_.start(m);
      out_.finish();
      out_.give_back(pieces);
    });
    multiply(p.part(label, parts.own(), 2, own), {how.alpha, factor::one});
    out_.give_back(sent);
  }

  // A block's equal parts along one mesh axis: the own one, and the others, which are consecutive in a message.
  struct parts_of_block {
    box whole;
    box mine;
    device_loop loop;

    constexpr parts_of_block(box const& w, box const& m, device_loop const& l) : whole(w), mine(m), loop(l) {}

    [[nodiscard]] constexpr range own() const { return mine.at[loop.dimension]; }

    // Calls `use(block, indices)` for the parts before the own one, then `between()`, then `use` for the parts after
    // it: for all in one call, or one by one.
    template <class Use, class Between>
    constexpr void for_each(place message, bool one_by_one, product_lowering const& l, Use const& use,
                            Between const& between) const {
      range const all = whole.at[loop.dimension];
      walk(message, {all.begin, own().begin}, one_by_one, l, use);
      between();
      walk(message, {own().end, all.end}, one_by_one, l, use);
    }

    template <class Use>
    [[gnu::cold]] constexpr void walk(place& message, range const& parts, bool one_by_one, product_lowering const& l,
                                      Use const& use) const {
      std::int64_t const step = one_by_one ? loop.unit : parts.size();
      device_loops loops;
      loops.push_back(loop);
      for (std::int64_t begin = parts.begin; begin < parts.end; begin += step) {
        box b = whole;
        b.at[loop.dimension] = {begin, begin + step};
        use(buffer_block{as_message(b, loops, l.v_.order, l.e_), message}, b.at[loop.dimension]);
        message.at += b.size();
      }
    }
  };

  [[gnu::cold]] constexpr message message_of(planned_step const& s, parts_of_block const& parts, place sent,
                                             place received) const {
    message m;
    m.kind = s.kind;
    m.axes = s.axes;
    m.how = s.from.kind;
    m.sent = sent;
    m.received = received;
    m.own = parts.mine.size();
    m.members = e_.ways(s.axes);
    m.even = true;
    m.own_left_out = true;
    return m;
  }

  viewpoint const& v_;
  extents const& e_;
  Writer& out_;
  move_lowering<Writer>& moves_;
};

}  // namespace ostraka::planner::detail
