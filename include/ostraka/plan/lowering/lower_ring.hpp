// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The actions of a contraction that runs as a ring with the move next to it (plan/spec/ring.hpp). Parts
/// travel in pieces, one message at a time. While a message is in flight, the product continues with the pieces that
/// have arrived:
///
///     gather     start(0)  multiply  finish  start(1)  multiply  finish  …      message m brings part of product
///     scatter    multiply  start(0)  multiply  finish  start(1)  …              m + pieces, and of its message
///
/// Product number p is that of piece p mod `pieces` of the part of step p / pieces. A share of all products runs during
/// each message, so that both end together. Without pieces, the product of the last part, or the first, would not
/// overlap any message.
///
/// Only the pieces that circulate need buffers. A gather needs two parts, one of which is sent and multiplied while the
/// other one arrives. A scatter needs one part and a piece; sums for the device itself are added to the result as they
/// arrive. If parts circulate both ways, half of the pieces go to the next device and half to the previous one.

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/lowering/lower_product.hpp>
#include <ostraka/plan/spec/ring.hpp>

namespace ostraka::planner {

/// How the parts of a ring are cut: into `lanes` · `pieces` pieces along a dimension.
struct ring_cut {
  int dimension = 0;
  int lanes = 1;   ///< directions
  int pieces = 1;  ///< in each direction
};

/// The least total number of pieces that circulate. One of them is computed without a message in flight.
inline constexpr std::int64_t ring_pieces = 16;

/// The number of pieces of each part, in each direction, if the part is long enough. A gather multiplies a part while
/// the next one arrives. A scatter needs two pieces, so that one is multiplied while the other is sent.
[[nodiscard]] constexpr std::int64_t pieces_of_gather(std::int64_t members) {
  return (ring_pieces + members - 1) / members;
}
[[nodiscard]] constexpr std::int64_t pieces_of_scatter(std::int64_t members) {
  return std::max<std::int64_t>(2, pieces_of_gather(members));
}

namespace detail {

// Cuts into `pieces` pieces in each direction, or into fewer if pieces would be too short.
[[nodiscard, gnu::cold]] constexpr ring_cut cut_along(int dimension, spec const& parts, std::int64_t members,
                                                      bool both_ways, std::int64_t pieces, extents const& e,
                                                      machine_constants const& machine) {
  ring_cut c;
  c.dimension = dimension;
  std::int64_t const indices = largest_range(parts, dimension, e);
  std::int64_t const elements = largest_block(parts, e);
  c.lanes = both_ways && members > 2 && indices > 1 ? 2 : 1;  // with two devices, the next and the previous one are the
                                                              // same
  std::int64_t const most =
      std::min(indices / machine.shortest_ring_indices, elements / machine.shortest_ring_piece) / c.lanes;
  c.pieces = static_cast<int>(std::max<std::int64_t>(1, std::min(most, pieces)));
  return c;
}

}  // namespace detail

/// The cut of parts under `parts` that are gathered among `members` devices: along the outermost dimension that has
/// several indices, so that a piece of a dense part is dense.
/// @param both_ways true if parts may circulate both ways
[[nodiscard, gnu::cold]] constexpr ring_cut cut_of_gather(spec const& parts, std::int64_t members, bool both_ways,
                                                          extents const& e, machine_constants const& machine) {
  int dimension = 0;
  while (dimension + 1 < parts.rank && largest_range(parts, dimension, e) < 2) ++dimension;
  return detail::cut_along(dimension, parts, members, both_ways, pieces_of_gather(members), e, machine);
}

/// The cut of sums that are scattered: along the innermost dimension with enough pieces, otherwise along the one with
/// the most. A product of some columns packs these and reads rows in place. A product of some rows would pack all
/// columns again.
[[nodiscard, gnu::cold]] constexpr ring_cut cut_of_scatter(spec const& parts, std::int64_t members, bool both_ways,
                                                           extents const& e, machine_constants const& machine) {
  std::int64_t const enough = pieces_of_scatter(members);
  ring_cut most;
  for (int d = parts.rank - 1; d >= 0; --d) {
    ring_cut const c = detail::cut_along(d, parts, members, both_ways, enough, e, machine);
    if (c.pieces == enough) return c;
    if (d == parts.rank - 1 || c.lanes * c.pieces > most.lanes * most.pieces) most = c;
  }
  return most;
}

namespace detail {

// Records rings for one device.
template <class Writer>
class ring_lowering {
 public:
  constexpr ring_lowering(viewpoint const& v, Writer& out, machine_constants const& machine)
      : v_(v), e_(v.sizes), out_(out), machine_(machine) {}

  // Adds the functions of these kinds to the table.
  template <unsigned Kinds>
  static constexpr void name_functions(lowering_functions<Writer>& f) {
    if constexpr ((Kinds & kinds::rings) != 0 && (Kinds & kinds::gathers) != 0)
      f.ring_of_gather = &ring_lowering::gather_and_contract;
    if constexpr ((Kinds & kinds::rings) != 0 && (Kinds & kinds::scatters) != 0)
      f.ring_of_scatter = &ring_lowering::contract_and_scatter;
  }

 private:
  // result <- alpha (the product) + beta result, with block number `which` as `gather` would gather it. Its parts
  // differ along `dimension`.
  [[gnu::cold]] constexpr void gather_and_contract(planned_step const& gather, int dimension, block_product const& p,
                                                   int which, bool both_ways, scaling how) {
    buffer_block const own = p.block[which];
    ring_route const t = route_of(
        gather, gather.from, dimension,
        cut_of_gather(gather.from, e_.ways(gather.axes), both_ways && may_go_both_ways(gather, p), e_, machine_));
    bool const packs = !own.gapless();
    int const sets = packs || t.members > 2 ? 2 : 1;
    buffer_taken const passed = out_.take(sets * t.elements_of_set());
    if constexpr (Writer::keeps) {
      auto const part_at = [&](std::int64_t hops, int lane, range pieces) {
        return piece(t, t.origin(hops, lane), lane, pieces, hops == 0 && !packs ? &own : nullptr, passed, hops % sets);
      };
      for (int lane = 0; packs && lane < t.cut.lanes; ++lane)
        if (buffer_block const r = part_at(0, lane, {0, t.cut.pieces}); r.where.size() > 0)
          out_.copy(r, own.part(r.where), {});
      written_parts written{t.cut};
      run_gather(
          t,
          [&](std::int64_t hops, range piece) {
            forward_part(
                t, [&](int lane) { return part_at(hops, lane, piece); },
                [&](int lane) { return part_at(hops + 1, lane, piece); });
          },
          [&](std::int64_t hops, range pieces) {
            for (int lane = 0; lane < t.cut.lanes; ++lane) {
              std::int64_t const from = t.origin(hops, lane);
              bool const before = written.mark(p.labels[2]->find(t.label(dimension)) < 0 ? 0 : from, lane,
                                               p.labels[2]->find(t.label(t.cut.dimension)) >= 0, pieces);
              multiply(t, p, from, which, part_at(hops, lane, pieces), {how.alpha, before ? factor::one : how.beta});
            }
          });
    } else {
      if (packs) out_.copy_elements(own.where.size());
      message m = message_of(t);
      m.moved = box_of(gather.to, v_.here, e_).size() - own.where.size();
      out_.start(m);
      out_.finish();
    }
    out_.give_back(passed);
  }

  // The own part of the product as `scatter` would scatter it: it becomes alpha (the sum over the devices) + beta
  // (itself).
  // @pre p.block[2] is where the own part belongs
  [[gnu::cold]] constexpr void contract_and_scatter(planned_step const& scatter, int dimension, block_product const& p,
                                                    int, bool both_ways, scaling how) {
    buffer_block const own = p.block[2];
    ring_route const t = route_of(scatter, scatter.to, dimension,
                                  cut_of_scatter(scatter.to, e_.ways(scatter.axes), both_ways, e_, machine_));
    std::int64_t const pieces = t.cut.pieces, slots = pieces + 1;
    std::int64_t const indices = largest_range(scatter.to, t.cut.dimension, e_);
    std::int64_t const of_slot = largest_block(scatter.to, e_) / std::max<std::int64_t>(indices, 1) *
                                 largest_size(indices, t.cut.lanes * pieces);
    buffer_taken const passed = out_.take(t.cut.lanes * slots * of_slot);
    if constexpr (Writer::keeps) {
      // The own part comes last; before it comes the part of the neighbour that is the last to get sums from this
      // device.
      auto const origin = [&](std::int64_t number, int lane) { return t.origin(number / pieces + 1, lane); };
      auto const piece_of = [&](std::int64_t number, int lane) {
        std::int64_t const k = number % pieces;
        return pieces_of(t, box_of(*t.parts, v_.member(t.axes, origin(number, lane)), e_), lane, range{k, k + 1});
      };
      auto const slot = [&](std::int64_t number, int lane) {
        return dense_block(place{passed.number, (lane * slots + number % slots) * of_slot}, piece_of(number, lane));
      };
      run_scatter(
          t,
          [&](std::int64_t number) {
            forward_part(
                t, [&](int lane) { return slot(number, lane); }, [&](int lane) { return slot(number + pieces, lane); });
          },
          [&](std::int64_t number, bool ours) {
            for (int lane = 0; lane < t.cut.lanes; ++lane)
              multiply(t, p, origin(number, lane), 2, ours ? own.part(piece_of(number, lane)) : slot(number, lane),
                       {how.alpha, ours              ? how.beta
                                   : number < pieces ? factor::zero
                                                     : factor::one});
          },
          [&](std::int64_t number) {
            for (int lane = 0; lane < t.cut.lanes; ++lane)
              if (buffer_block const to = own.part(piece_of(number, lane)); to.where.size() > 0)
                out_.copy(to, slot(number, lane), {factor::one, factor::one});
          });
    } else {
      out_.copy_elements(own.where.size());
      message m = message_of(t);
      m.moved = (t.members - 1) * own.where.size();
      out_.start(m);
      out_.finish();
    }
    out_.give_back(passed);
  }

  // The parts of the members, and their route.
  struct ring_route {
    spec const* parts = nullptr;
    mesh_set axes{};
    int dimension = 0;  // along which the parts differ
    std::int64_t members = 1;
    std::int64_t me = 0;
    ring_cut cut{};
    std::int64_t longest = 0;  // elements of a lane of a part

    [[nodiscard]] constexpr int label(int i) const { return parts->label[i]; }
    [[nodiscard]] constexpr std::int64_t elements_of_set() const { return cut.lanes * longest; }
    // The member whose part this device holds after `hops` steps. The first lane goes to the next member, the other one
    // to the previous member.
    [[nodiscard]] constexpr std::int64_t origin(std::int64_t hops, int lane) const {
      return (me + (lane == 0 ? members - hops % members : hops)) % members;
    }
  };

  // Marks the parts of the result that have been written: by member, if the result has the label of the ring, and by
  // piece, if it has the label that is cut.
  struct written_parts {
    ring_cut cut;
    bool at[most_ring_devices][2 * ring_pieces]{};

    constexpr bool mark(std::int64_t member, int lane, bool by_pieces, range pieces) {
      range const seen =
          by_pieces ? range{lane * cut.pieces + pieces.begin, lane * cut.pieces + pieces.end} : range{0, 1};
      bool const before = at[member][seen.begin];
      for (std::int64_t k = seen.begin; k < seen.end; ++k) at[member][k] = true;
      return before;
    }
  };

  [[gnu::cold]] constexpr ring_route route_of(planned_step const& move, spec const& parts, int dimension,
                                              ring_cut cut) const {
    ring_route t{&parts, move.axes, dimension, e_.ways(move.axes), v_.number_in(move.axes), cut};
    std::int64_t const indices = largest_range(parts, t.cut.dimension, e_);
    t.longest = largest_block(parts, e_) / std::max<std::int64_t>(indices, 1) * largest_size(indices, t.cut.lanes);
    return t;
  }

  // If the result is repeated along the ring, all devices must add the terms of an element in the same order. Both ways
  // are ruled out if the label of the pieces is summed.
  constexpr bool may_go_both_ways(planned_step const& gather, block_product const& p) const {
    if ((gather.axes - p.labels[2]->uses()).empty()) return true;
    int const cut = cut_of_gather(gather.from, e_.ways(gather.axes), true, e_, machine_).dimension;
    return p.labels[2]->find(gather.from.label[cut]) >= 0;
  }

  // Consecutive pieces in a lane of a part.
  [[gnu::cold]] static constexpr box pieces_of(ring_route const& t, box part, int lane, range pieces) {
    range& cut = part.at[t.cut.dimension];
    std::int64_t const all = t.cut.lanes * t.cut.pieces;
    std::int64_t const before = lane * t.cut.pieces;
    cut = {cut.begin + block(cut.size(), before + pieces.begin, all).begin,
           cut.begin + block(cut.size(), before + pieces.end - 1, all).end};
    return part;
  }

  // Pieces of a member's part: in the block `there`, or in a set of the buffer `passed`, where each lane has its own
  // memory.
  [[gnu::cold]] constexpr buffer_block piece(ring_route const& t, std::int64_t member, int lane, range pieces,
                                             buffer_block const* there, buffer_taken const& passed,
                                             std::int64_t set) const {
    box const part = box_of(*t.parts, v_.member(t.axes, member), e_);
    box const b = pieces_of(t, part, lane, pieces);
    if (there != nullptr) return there->part(b);
    place const begin{passed.number, set * t.elements_of_set() + lane * t.longest};
    return dense_block(begin, pieces_of(t, part, lane, {0, t.cut.pieces})).part(b);
  }

  // Interleaves the messages and products of a gather. Pieces of a part that are multiplied during one message are one
  // product.
  template <class Start, class Multiply>
  [[gnu::cold]] constexpr void run_gather(ring_route const& t, Start const& start, Multiply const& multiply) {
    std::int64_t const pieces = t.cut.pieces;
    std::int64_t const all = t.members * pieces;
    std::int64_t const messages = all - pieces;
    std::int64_t done = 0;
    auto const multiply_until = [&](std::int64_t end) {
      while (done < end) {
        std::int64_t const hops = done / pieces;
        std::int64_t const stop = std::min(end, (hops + 1) * pieces);
        multiply(hops, range{done - hops * pieces, stop - hops * pieces});
        done = stop;
      }
    };
    for (std::int64_t m = 0; m < messages; ++m) {
      start(m / pieces, range{m % pieces, m % pieces + 1});
      multiply_until(std::min((m + 1) * all / messages, m + pieces));
      out_.finish();
    }
    multiply_until(all);
  }

  // The messages and products of a scatter: sums are multiplied before they are sent. The products of the own part come
  // last and are not sent; arriving sums are added to each.
  template <class Start, class Multiply, class Add>
  [[gnu::cold]] constexpr void run_scatter(ring_route const& t, Start const& start, Multiply const& multiply,
                                           Add const& add) {
    std::int64_t const pieces = t.cut.pieces;
    std::int64_t const all = t.members * pieces;
    std::int64_t const messages = all - pieces;
    std::int64_t done = 0, added = messages;
    auto const multiply_until = [&](std::int64_t end, std::int64_t arrived) {
      for (; done < end; ++done) multiply(done, done >= messages);
      for (; added < std::min(done, arrived); ++added) add(added);
    };
    for (std::int64_t m = 0; m < messages; ++m) {
      std::int64_t const arrived = m + pieces;
      multiply_until(std::max(done, m + 1), arrived);
      start(m);
      std::int64_t const beside = (m + 1) * all / messages + 1;
      multiply_until(arrived < messages ? std::min(beside, arrived) : std::min(beside, all), arrived);
      out_.finish();
    }
    multiply_until(all, all);
  }

  // One message to each neighbour and one from each. With two devices both are one message.
  template <class Sent, class Received>
  [[gnu::cold]] constexpr void forward_part(ring_route const& t, Sent const& sent, Received const& received) {
    std::int64_t const neighbour[2] = {(t.me + 1) % t.members, (t.me + t.members - 1) % t.members};
    message m = message_of(t);
    buffer_block nothing;
    nothing.where.rank = 1;
    message_part parts[2]{{neighbour[0], nothing, nothing}, {neighbour[1], nothing, nothing}};
    for (int lane = 0; lane < t.cut.lanes; ++lane) {
      parts[lane].sent = sent(lane);
      buffer_block const arrives = received(lane);
      parts[t.members == 2 ? lane : 1 - lane].received = arrives;
      m.moved += arrives.where.size();
    }
    for (message_part const& p : parts)
      if (p.sent.where.size() + p.received.where.size() > 0) out_.part(p);
    out_.start(m);
  }

  // Multiplies at the indices of a part, and of its piece `here`.
  [[gnu::cold]] constexpr void multiply(ring_route const& t, block_product const& p, std::int64_t member, int which,
                                        buffer_block const& here, scaling how) {
    box const part = box_of(*t.parts, v_.member(t.axes, member), e_);
    block_product q = p.part(t.label(t.dimension), part.at[t.dimension], which, here);
    int const cut = t.cut.dimension;
    out_.multiply(q.part(t.label(cut), here.where.at[cut], which, here).loops(e_.labels), how);
  }

  constexpr message message_of(ring_route const& t) const {
    message m;
    m.kind = step::ring_contraction;
    m.axes = t.axes;
    m.own = t.elements_of_set();
    m.members = t.members;
    return m;
  }

  viewpoint const& v_;
  extents const& e_;
  Writer& out_;
  machine_constants const& machine_;
};

}  // namespace detail
}  // namespace ostraka::planner
