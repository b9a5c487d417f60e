// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The actions of a contraction that goes round a ring with the move next to it (plan/spec/ring.hpp). Parts
/// travel in pieces, one message at a time, and while one is under way the product goes on with what is here:
///
///     gather     start(0)  multiply  finish  start(1)  multiply  finish  …      what arrived with message m is part of
///     scatter    multiply  start(0)  multiply  finish  start(1)  …              product m + pieces, and of its message
///
/// Product number p is that of piece p mod `pieces` of the part of step p / pieces. With as many products to a message
/// as there are in all, both end together; without pieces the last part, or the first, would have nothing beside it.
///
/// Two sets of pieces, two parts, are all that is set aside: one is sent and multiplied, into the other one arrives.
/// Both ways round, half of the pieces go to the next device and half to the one before.

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/lowering/lower_product.hpp>
#include <ostraka/plan/spec/ring.hpp>

namespace ostraka::planner {

/// How the parts of a ring are cut: into `lanes` · `pieces` pieces along the outermost dimension that has several
/// indices, so that a piece of a dense part is dense.
struct ring_cut {
  int dimension = 0;
  int lanes = 1;   ///< directions
  int pieces = 1;  ///< of each
  std::int64_t longest = 0;  ///< elements of a piece
};

/// At least so many pieces go round in all: what is computed without a message beside it is one of them.
inline constexpr std::int64_t ring_pieces = 16;

/// Of parts under `parts` that go round among so many devices. @param both_ways may they go both ways?
[[nodiscard]] constexpr ring_cut cut_of_ring(spec const& parts, std::int64_t members, bool both_ways, extents const& e,
                                             machine_constants const& machine) {
  ring_cut c;
  while (c.dimension + 1 < parts.rank && largest_range(parts, c.dimension, e) < 2) ++c.dimension;
  std::int64_t const indices = largest_range(parts, c.dimension, e);
  std::int64_t const elements = largest_block(parts, e);
  c.lanes = both_ways && members > 2 && indices > 1 ? 2 : 1;  // of two devices the next is the one before
  std::int64_t const most = std::min(indices, elements / machine.shortest_ring_piece) / c.lanes;
  c.pieces = static_cast<int>(std::max<std::int64_t>(1, std::min(most, (ring_pieces + members - 1) / members)));
  c.longest = indices == 0 ? 0 : elements / indices * largest_size(indices, c.lanes * c.pieces);
  return c;
}

namespace detail {

// Writes down rings for one device.
template <class Writer>
class ring_lowering {
 public:
  constexpr ring_lowering(viewpoint const& v, Writer& out, machine_constants const& machine)
      : v_(v), e_(v.sizes), out_(out), machine_(machine) {}

  // result <- alpha (the product) + beta result, where `gather` would gather block number `which`, its parts differing
  // along `dimension`.
  constexpr void gather_and_contract(planned_step const& gather, int dimension, block_product const& p, int which,
                                     bool both_ways, scaling how) {
    region const own = p.block[which];
    travel const t = travel_of(gather, gather.from, dimension, both_ways && may_go_both_ways(gather, p));
    bool const packs = !own.gapless();
    int const sets = packs || t.members > 2 ? 2 : 1;
    buffer_taken const passed = out_.take(sets * t.elements_of_set());
    if constexpr (Writer::keeps) {
      auto const lies = [&](std::int64_t turn, int lane, int piece) {
        box const b = piece_of(t, t.origin(turn, lane), lane, piece);
        return turn == 0 && !packs ? own.part(b) : in_set(t, passed, turn % sets, lane, piece, b);
      };
      if (packs)
        t.for_each_piece([&](int lane, int piece) {
          region const r = lies(0, lane, piece);
          if (r.where.size() > 0) out_.copy(r, own.part(r.where), {});
        });
      marks written;
      go_round(
          t, false,
          [&](std::int64_t turn, int piece) {
            pass_on(t, [&](int lane) { return lies(turn, lane, piece); },
                    [&](int lane) { return lies(turn + 1, lane, piece); });
          },
          [&](std::int64_t turn, int piece) {
            for (int lane = 0; lane < t.cut.lanes; ++lane) {
              std::int64_t const from = t.origin(turn, lane);
              scaling now = how;
              if (written.mark(p.labels[2]->find(t.label(dimension)) < 0 ? 0 : from,
                                p.labels[2]->find(t.label(t.cut.dimension)) < 0 ? 0 : t.number_of(lane, piece)))
                now.beta = factor::one;
              multiply(t, p, from, which, lies(turn, lane, piece), now);
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

  // The own part of the product, which `scatter` would scatter: it becomes alpha (the sum over the devices) + beta
  // (itself). @pre p.block[2] is where the own part belongs
  constexpr void contract_and_scatter(planned_step const& scatter, int dimension, block_product const& p,
                                      bool both_ways, scaling how) {
    region const own = p.block[2];
    travel const t = travel_of(scatter, scatter.to, dimension, both_ways);
    bool const arrives_there = own.gapless() && how.beta == factor::zero;
    int const sets = arrives_there && t.members == 2 ? 1 : 2;
    buffer_taken const passed = out_.take(sets * t.elements_of_set());
    std::int64_t const last = t.members - 1;
    if constexpr (Writer::keeps) {
      // Before the own part comes that of the neighbour who is the last to get the sums from here.
      auto const origin = [&](std::int64_t turn, int lane) { return t.origin(turn + 1, lane); };
      auto const lies = [&](std::int64_t turn, int lane, int piece) {
        box const b = piece_of(t, origin(turn, lane), lane, piece);
        return turn == last && arrives_there ? own.part(b) : in_set(t, passed, turn % sets, lane, piece, b);
      };
      go_round(
          t, true,
          [&](std::int64_t turn, int piece) {
            pass_on(t, [&](int lane) { return lies(turn, lane, piece); },
                    [&](int lane) { return lies(turn + 1, lane, piece); });
          },
          [&](std::int64_t turn, int piece) {
            for (int lane = 0; lane < t.cut.lanes; ++lane) {
              region sums = lies(turn, lane, piece);
              if (turn == last && !arrives_there) {
                region const there = own.part(sums.where);
                if (there.where.size() > 0) out_.copy(there, sums, {factor::one, how.beta});
                sums = there;
              }
              multiply(t, p, origin(turn, lane), 2, sums, {how.alpha, turn == 0 ? factor::zero : factor::one});
            }
          });
    } else {
      if (!arrives_there && !(v_.foretells && own.gapless())) out_.copy_elements(own.where.size());
      message m = message_of(t);
      m.moved = last * own.where.size();
      out_.start(m);
      out_.finish();
    }
    out_.give_back(passed);
  }

 private:
  // Who has which part, and who passes it to whom.
  struct travel {
    spec const* parts = nullptr;
    mesh_set axes{};
    int dimension = 0;  // along which the parts differ
    std::int64_t members = 1;
    std::int64_t me = 0;
    ring_cut cut{};

    [[nodiscard]] constexpr int label(int i) const { return parts->label[i]; }
    [[nodiscard]] constexpr std::int64_t elements_of_set() const { return cut.lanes * cut.pieces * cut.longest; }
    [[nodiscard]] constexpr int number_of(int lane, int piece) const { return lane * cut.pieces + piece; }
    // Whose part is here after so many steps. The first lane goes to the next member, the other one back.
    [[nodiscard]] constexpr std::int64_t origin(std::int64_t turn, int lane) const {
      return (me + (lane == 0 ? members - turn % members : turn)) % members;
    }
    template <class Use>
    constexpr void for_each_piece(Use const& use) const {
      for (int lane = 0; lane < cut.lanes; ++lane)
        for (int piece = 0; piece < cut.pieces; ++piece) use(lane, piece);
    }
  };

  // What of the result has been written: by the member whose part it is of, if there it has the label of the ring, and
  // by the piece, if it has the label that is cut.
  struct marks {
    bool at[most_ring_devices][2 * ring_pieces]{};

    constexpr bool mark(std::int64_t member, int piece) {
      bool const before = at[member][piece];
      at[member][piece] = true;
      return before;
    }
  };

  constexpr travel travel_of(planned_step const& move, spec const& parts, int dimension, bool both_ways) const {
    std::int64_t const members = e_.ways(move.axes);
    return {&parts, move.axes, dimension, members, v_.number_in(move.axes),
            cut_of_ring(parts, members, both_ways, e_, machine_)};
  }

  // Where the result is repeated along the ring, all devices add up what makes an element in the same order. Both ways
  // they would not, if it is the label of the pieces that is summed.
  constexpr bool may_go_both_ways(planned_step const& gather, block_product const& p) const {
    if ((gather.axes - p.labels[2]->uses()).empty()) return true;
    int const cut = cut_of_ring(gather.from, e_.ways(gather.axes), true, e_, machine_).dimension;
    return p.labels[2]->find(gather.from.label[cut]) >= 0;
  }

  constexpr box piece_of(travel const& t, std::int64_t member, int lane, int piece) const {
    box b = box_of(*t.parts, v_.member(t.axes, member), e_);
    range& cut = b.at[t.cut.dimension];
    range const part = block(cut.size(), t.number_of(lane, piece), t.cut.lanes * t.cut.pieces);
    cut = {cut.begin + part.begin, cut.begin + part.end};
    return b;
  }

  static constexpr region in_set(travel const& t, buffer_taken const& passed, std::int64_t set, int lane, int piece,
                                 box const& b) {
    return dense_region(b, {passed.number, set * t.elements_of_set() + t.number_of(lane, piece) * t.cut.longest});
  }

  // Messages and products, in step. Sums are multiplied before they are sent.
  template <class Start, class Multiply>
  constexpr void go_round(travel const& t, bool sums, Start const& start, Multiply const& multiply) {
    std::int64_t const pieces = t.cut.pieces;
    std::int64_t const all = t.members * pieces;
    std::int64_t const messages = all - pieces;
    std::int64_t done = 0;
    auto const multiply_until = [&](std::int64_t end) {
      for (; done < end; ++done) multiply(done / pieces, static_cast<int>(done % pieces));
    };
    for (std::int64_t m = 0; m < messages; ++m) {
      if (sums) multiply_until(m + 1);
      start(m / pieces, static_cast<int>(m % pieces));
      multiply_until(std::min((m + 1) * all / messages + (sums ? 1 : 0), m + pieces));
      out_.finish();
    }
    multiply_until(all);
  }

  // One message to each neighbour and from each. Of two devices both are one.
  template <class Sent, class Received>
  constexpr void pass_on(travel const& t, Sent const& sent, Received const& received) {
    std::int64_t const neighbour[2] = {(t.me + 1) % t.members, (t.me + t.members - 1) % t.members};
    message m = message_of(t);
    region nothing;
    nothing.where.rank = 1;
    message_part parts[2]{{neighbour[0], nothing, nothing}, {neighbour[1], nothing, nothing}};
    for (int lane = 0; lane < t.cut.lanes; ++lane) {
      parts[lane].sent = sent(lane);
      region const arrives = received(lane);
      parts[t.members == 2 ? lane : 1 - lane].received = arrives;
      m.moved += arrives.where.size();
    }
    for (message_part const& p : parts)
      if (p.sent.where.size() + p.received.where.size() > 0) out_.part(p);
    out_.start(m);
  }

  // Of the indices of a part, and of the piece of it that `here` is.
  constexpr void multiply(travel const& t, block_product const& p, std::int64_t member, int which, region const& here,
                          scaling how) {
    box const part = box_of(*t.parts, v_.member(t.axes, member), e_);
    block_product q = p.part(t.label(t.dimension), part.at[t.dimension], which, here);
    int const cut = t.cut.dimension;
    out_.multiply(q.part(t.label(cut), here.where.at[cut], which, here).loops(e_.labels), how);
  }

  constexpr message message_of(travel const& t) const {
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
