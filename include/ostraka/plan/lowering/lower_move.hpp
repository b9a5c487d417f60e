// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The actions of a move, from the block under `from` to the block under `to`. The block distribution alone
/// decides which device sends which elements to which, so uneven, empty and repeated blocks need no cases of their own.
/// The elements that arrive may be added to the old contents.
///
///     all_gather      [copy own]  start  finish  [copy]      received in place if the parts are in order there
///     all_reduce      [copy]      start  finish  [copy]      in place
///     reduce_scatter  [copy]      start  finish  [copy]      sent in place if the parts are in order there
///     exchanges       [copies]    start  copy the kept part  finish  [copies], once a round
///     zero_pad, mask  fill  copy

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/decisions/decide.hpp>
#include <ostraka/plan/decisions/viewpoint.hpp>
#include <ostraka/plan/lowering/actions.hpp>
#include <ostraka/plan/lowering/block_is_message.hpp>
#include <ostraka/plan/lowering/lowering_functions.hpp>
#include <ostraka/plan/lowering/tally.hpp>

namespace ostraka::planner::detail {

// Records moves for one device.
template <class Writer>
class move_lowering {
 public:
  constexpr move_lowering(viewpoint const& v, Writer& out, machine_constants const& machine,
                          lowering_functions<Writer> const& functions)
      : v_(v), e_(v.sizes), out_(out), machine_(machine), functions_(functions) {}

  // to <- alpha (from, moved) + beta to.
  // @pre the group has more than one member
  [[gnu::cold]] constexpr void move(planned_step const& s, step_decision const& decided, buffer_block const& from,
                                    buffer_block const& to, scaling how) {
    switch (s.kind) {
      case step::mask:
        return mask(s, from, to, how);
      case step::zero_pad:
        return zero_pad(s, from, to, how);
      case step::all_gather:
      case step::all_reduce:
      case step::reduce_scatter:
      case step::all_to_all:
      case step::block_exchange:
        return call_named(*this, of_kind(functions_, s.kind), s, decided, from, to, how);
      default:
        return;
    }
  }

  // Adds the functions of these kinds to the table.
  template <unsigned Kinds>
  static constexpr void name_functions(lowering_functions<Writer>& f) {
    if constexpr ((Kinds & kinds::gathers) != 0) f.gather = &move_lowering::all_gather;
    if constexpr ((Kinds & kinds::reduces_all) != 0) f.all_reduce = &move_lowering::all_reduce;
    if constexpr ((Kinds & kinds::scatters) != 0) f.scatter = &move_lowering::reduce_scatter;
    if constexpr ((Kinds & kinds::exchanges) != 0) f.exchange = &move_lowering::exchange;
  }

  // Calls `use` with a message for `block`: the block itself if it has no gaps, otherwise a copy of it.
  template <class Use>
  [[gnu::cold]] constexpr void with_message(buffer_block const& block, scaling how, bool reads, Use const& use) {
    if (block.gapless()) return use(block);
    buffer_taken const b = out_.take(block.where.size());
    buffer_block const contiguous = dense_block(place{b.number, 0}, block.where);
    if (reads) out_.copy(contiguous, block, {});
    use(contiguous);
    out_.copy(block, contiguous, how);
    out_.give_back(b);
  }

  // The exchange `m` of the parts that `each(use)` lists, from their sources to their destinations. `kept` stays on
  // this device.
  template <class Each>
  [[gnu::cold]] constexpr void exchange_parts(message const& m, Each const& each, message_part const& kept,
                                              scaling how) {
    auto const is_packed = [&](buffer_block const& r) { return !r.gapless() && !v_.via.takes(r); };
    auto const is_unpacked = [&](buffer_block const& r) { return is_packed(r) || !how.overwrites(); };
    std::int64_t packed = 0;
    std::int64_t unpacked = 0;
    message starts = m;
    std::size_t first = 0;
    if constexpr (Writer::keeps) first = out_.parts.size();
    each([&](message_part const& p) {
      std::int64_t const sent = p.sent.where.size();
      std::int64_t const received = p.received.where.size();
      bool const packs = is_packed(p.sent);
      bool const unpacks = is_unpacked(p.received);
      if (packs) packed += sent;
      if (unpacks) unpacked += received;
      if (!packs && !p.sent.gapless()) starts.strided += sent;
      if (!unpacks && !p.received.gapless()) starts.strided += received;
      if (packs && sent > v_.via.longest_message) starts.long_rows += sent;
      if (unpacks && !p.received.gapless() && received > v_.via.longest_message) starts.long_rows += received;
      if constexpr (Writer::keeps) out_.part(p, packs);
    });
    buffer_taken const out = out_.take(packed);
    buffer_taken const in = out_.take(unpacked);
    auto const price = [&]([[maybe_unused]] std::int64_t elements, [[maybe_unused]] auto const& part_of) {
      if constexpr (Writer::keeps)
        if (out_.priced_only && elements > 0) each([&](message_part const& p) { part_of(p); });
    };
    price(packed, [&](message_part const& p) {
      if (is_packed(p.sent)) copy_if_any(p.sent, p.sent, {});
    });
    if constexpr (Writer::keeps) {
      place next{out.number, 0};
      for (std::size_t k = first; k < out_.parts.size(); ++k)
        if (buffer_block& sent = out_.parts[k].sent; is_packed(sent)) {
          buffer_block const packs = dense_block(next, sent.where);
          copy_if_any(packs, sent, {});
          next.at += sent.where.size();
          sent = packs;
        }
    } else {
      out_.copy_elements(packed + unpacked);
    }
    out_.start(starts);
    copy_if_any(kept.received, kept.sent, how);  // while the message is under way
    out_.finish();
    price(unpacked, [&](message_part const& p) {
      if (is_unpacked(p.received)) copy_if_any(p.received, p.received, how);
    });
    if constexpr (Writer::keeps) {
      place next{in.number, 0};
      for (std::size_t k = first; k < out_.parts.size(); ++k)
        if (buffer_block& received = out_.parts[k].received; is_unpacked(received)) {
          buffer_block const arrives = dense_block(next, received.where);
          copy_if_any(received, arrives, how);
          next.at += received.where.size();
          received = arrives;
        }
    }
    out_.give_back(in);
    out_.give_back(out);
  }

  // Takes memory for a reduction in flight: a piece from each other device arrives while the earlier pieces are added.
  [[gnu::cold]] constexpr buffer_taken take_for_reduction(std::int64_t part, std::int64_t devices) {
    return out_.take(2 * (devices - 1) * std::min(part, machine_.piece_of_reduction(devices - 1)));
  }

 private:
  [[gnu::cold]] constexpr void mask(planned_step const& s, buffer_block const& from, buffer_block const& to,
                                    scaling how) {
    if (!v_.predicts && !v_.first_along(s.axes)) return out_.fill(to, how.beta, s.to.kind);
    if (from.data != to.data) out_.copy(to, from, how);
  }

  [[gnu::cold]] constexpr void zero_pad(planned_step const& s, buffer_block const& from, buffer_block const& to,
                                        scaling how) {
    out_.fill(to, how.beta, s.to.kind);
    out_.copy(to.part(from.where), from, how.beta == factor::zero ? how : scaling{how.alpha, factor::one});
  }

  [[gnu::cold]] constexpr void all_gather(planned_step const& s, step_decision const& decided, buffer_block const& from,
                                          buffer_block const& to, scaling how) {
    device_loops const loops = loops_of_received(s, e_);
    std::int64_t const total = to.where.size();
    bool const is_message = block_is_message(v_, to, s.to, s.from, s.axes, loops, decided.stays_message);
    bool const in_place = how.overwrites() && is_message;
    buffer_taken const b = out_.take(in_place ? 0 : total);
    message m = message_of(s, from.where.size(), !loops.empty());
    m.received = in_place ? to.data : place{b.number, 0};
    m.sent = from.data;
    m.moved = total - m.own;
    if (!from.gapless()) {
      m.sent = {m.received.buffer, m.received.at + elements_before(s.from, m)};
      out_.copy(dense_block(m.sent, from.where), from, {});
    }
    count_parts(s.from, m);
    out_.start(m);
    out_.finish();
    if (!in_place && !(v_.predicts && is_message)) copy_parts(s.from, s.axes, loops, to, m.received, how, false);
    out_.give_back(b);
  }

  [[gnu::cold]] constexpr void all_reduce(planned_step const& s, step_decision const&, buffer_block const& from,
                                          buffer_block const& to, scaling how) {
    if (from.data != to.data) out_.copy(to, from, how);
    with_message(to, {}, true, [&](buffer_block const& contiguous) {
      message m = message_of(s, contiguous.where.size(), true);
      m.sent = m.received = contiguous.data;
      range const part = block(m.own, v_.number_in(s.axes), m.members);
      m.moved = (m.members - 1) * part.size() + m.own - part.size();
      std::int64_t const share = v_.via.reduces(m.how) ? 0 : (m.own + m.members - 1) / m.members;
      buffer_taken const reduced = out_.take(share);  // the part that this device reduces for all
      buffer_taken const pieces = take_for_reduction(share, m.members);
      m.share = {reduced.number, 0};
      m.pieces = {pieces.number, 0};
      out_.start(m);
      out_.finish();
      out_.give_back(pieces);
      out_.give_back(reduced);
    });
  }

  [[gnu::cold]] constexpr void reduce_scatter(planned_step const& s, step_decision const& decided,
                                              buffer_block const& from, buffer_block const& to, scaling how) {
    device_loops const loops = loops_of_sent(s, e_);
    bool const in_place = block_is_message(v_, from, s.from, s.to, s.axes, loops, decided.sends_message);
    message m = message_of(s, to.where.size(), !loops.empty());
    m.moved = (m.members - 1) * m.own;
    buffer_taken const b = out_.take(in_place ? 0 : elements_of_parts(s, from, m));
    m.sent = in_place ? from.data : place{b.number, 0};
    if (!in_place) copy_parts(s.to, s.axes, loops, from, m.sent, {}, true);
    bool const gapless = to.gapless();
    m.into = gapless ? how : scaling{};
    with_message(to, how, false, [&](buffer_block const& contiguous) {
      m.received = contiguous.data;
      buffer_taken const pieces = take_for_reduction(m.own, m.members);
      m.pieces = {pieces.number, 0};
      count_parts(s.to, m);
      out_.start(m);
      out_.finish();
      out_.give_back(pieces);
    });
    out_.give_back(b);
  }

  // Each device sends each other one the intersection of their blocks, a long one in rounds, so that packed data stays
  // in a cache and needs little memory. If the source is repeated along a mesh axis, the receiver gets the data from
  // the device with its own coordinate there, and nothing from the others.
  [[gnu::cold]] constexpr void exchange(planned_step const& s, step_decision const& decided, buffer_block const& from,
                                        buffer_block const& to, scaling how) {
    if (v_.predicts) return predicted_exchange(s, decided, from, to, how);
    mesh_set const repeated = s.axes - s.from.uses();
    std::int64_t const me = v_.number_in(s.axes);
    std::int64_t const rounds = rounds_of_exchange(s);
    message_part const kept = shared_with(me, s, from, to);
    for (std::int64_t round = 0; round < rounds; ++round) {
      message m = message_of(s, to.where.size(), false);
      m.sent = from.data;
      m.received = to.data;
      auto const each = [&](auto const& use) {
        for (std::int64_t d = 0; d < m.members; ++d) {
          if (d == me || !same_along(repeated, v_.member(s.axes, d))) continue;
          message_part const p = piece_of(shared_with(d, s, from, to), round, rounds);
          if (p.sent.where.size() + p.received.where.size() > 0) use(p);
        }
      };
      if (round == 0) m.moved = to.where.size() - kept.received.where.size();  // in all rounds
      exchange_parts(m, each, piece_of(kept, round, rounds), how);
    }
  }

  // The number of rounds of an exchange, the same on all devices. Parts that are contiguous on both sides are not
  // packed, and travel in one round.
  [[gnu::cold]] constexpr std::int64_t rounds_of_exchange(planned_step const& s) const {
    if (in_runs(s.from, s.to, e_) && in_runs(s.to, s.from, e_)) return 1;
    std::int64_t longest = 1;
    for (int i = 0; i < s.from.rank; ++i) longest *= std::min(largest_range(s.from, i, e_), largest_range(s.to, i, e_));
    return v_.via.rounds_of(longest, e_.ways(s.axes) - 1);
  }

  // The pieces of the parts that travel in a round, the same on both sides.
  [[nodiscard, gnu::cold]] static constexpr message_part piece_of(message_part const& p, std::int64_t round,
                                                                  std::int64_t rounds) {
    if (rounds == 1) return p;
    return {p.member, p.sent.part(piece_of(p.sent.where, round, rounds)),
            p.received.part(piece_of(p.received.where, round, rounds))};
  }

  // The box's piece along its first dimension with enough indices, or else along its longest one.
  [[nodiscard, gnu::cold]] static constexpr box piece_of(box const& whole, std::int64_t round, std::int64_t rounds) {
    int along = 0;
    for (int i = 1; i < whole.rank && whole.at[along].size() < rounds; ++i)
      if (whole.at[i].size() > whole.at[along].size()) along = i;
    box piece = whole;
    range const part = block(whole.at[along].size(), round, rounds);
    piece.at[along] = {whole.at[along].begin + part.begin, whole.at[along].begin + part.end};
    return piece;
  }

  // The blocks that go to member `d` and come from it.
  [[gnu::cold]] constexpr message_part shared_with(std::int64_t d, planned_step const& s, buffer_block const& from,
                                                   buffer_block const& to) const {
    coordinates const c = v_.member(s.axes, d);
    return {d, part_for(from, d, intersect(from.where, box_of(s.to, c, e_))),
            part_for(to, d, intersect(box_of(s.from, c, e_), to.where))};
  }

  // The exchange with the most elements that any device has: the last device may keep elements that others send.
  [[gnu::cold]] constexpr void predicted_exchange(planned_step const& s, step_decision const& decided,
                                                  buffer_block const& from, buffer_block const& to, scaling how) {
    std::int64_t const sent = from.where.size();
    std::int64_t const received = to.where.size();
    std::int64_t const ways = e_.ways(s.axes);
    bool const sent_equal = !loops_of_sent(s, e_).empty();
    bool const received_equal = !loops_of_received(s, e_).empty();
    std::int64_t packed = 0;
    std::int64_t unpacked = 0;
    if (!decided.sends_message && !(from.gapless() && in_runs(s.from, s.to, e_)))
      packed = sent_equal ? sent - sent / ways : e_.ways((s.axes & s.from.uses()) - s.to.uses()) * sent;
    bool const in_place = to.gapless() && in_runs(s.to, s.from, e_);
    if (!decided.stays_message && !(how.overwrites() && in_place))
      unpacked = received_equal ? received - received / ways : received;
    buffer_taken const out = out_.take(packed);
    buffer_taken const in = out_.take(unpacked);
    if constexpr (!Writer::keeps)
      out_.copy_elements(packed + (in_place ? 0 : unpacked) +
                         std::min(sent_equal ? sent / ways : sent, received_equal ? received / ways : received));
    out_.start(message_of(s, received, false));
    out_.finish();
    out_.give_back(in);
    out_.give_back(out);
  }

  [[gnu::cold]] constexpr message message_of(planned_step const& s, std::int64_t own, bool even) const {
    message m;
    m.kind = s.kind;
    m.axes = s.axes;
    m.how = s.from.kind;
    m.own = own;
    m.members = e_.ways(s.axes);
    m.even = even;
    return m;
  }

  // The elements in the parts under `parts` of the members before this device.
  [[gnu::cold]] constexpr std::int64_t elements_before(spec const& parts, message const& m) const {
    if (v_.predicts) return 0;
    std::int64_t const me = v_.number_in(m.axes);
    if (m.even) return me * m.own;
    std::int64_t n = 0;
    for (std::int64_t d = 0; d < me; ++d) n += block_size(parts, v_.member(m.axes, d), e_);
    return n;
  }

  [[gnu::cold]] constexpr std::int64_t elements_of_parts(planned_step const& s, buffer_block const& from,
                                                         message const& m) const {
    if (m.even || s.to.splits() == (s.from.splits() | s.axes)) return from.where.size();  // parts make up the block
    if (v_.predicts) return std::min(from.where.size(), m.members * m.own);
    std::int64_t n = 0;
    for (std::int64_t d = 0; d < m.members; ++d) n += block_size(s.to, v_.member(s.axes, d), e_);
    return n;
  }

  [[gnu::cold]] constexpr void count_parts(spec const& parts, message const& m) {
    if constexpr (Writer::keeps)
      if (!m.even)
        for (std::int64_t d = 0; d < m.members; ++d) out_.count(block_size(parts, v_.member(m.axes, d), e_));
  }

  // Copies between a block and the message of its parts, which begins at `message`: in one copy if the parts are equal,
  // otherwise one by one.
  [[gnu::cold]] constexpr void copy_parts(spec const& parts, mesh_set axes, device_loops const& loops,
                                          buffer_block const& block_there, place message, scaling how, bool packs) {
    auto const between = [&](buffer_block const& there, buffer_block const& in_message) {
      packs ? copy_if_any(in_message, there, how) : copy_if_any(there, in_message, how);
    };
    if (!loops.empty()) return between(block_there, {as_message(block_there.where, loops, v_.order, e_), message});
    if constexpr (!Writer::keeps)
      if (v_.predicts) return out_.copy_elements(predicted_elements(parts, axes, block_there));
    for (std::int64_t d = 0; d < e_.ways(axes); ++d) {
      box const b = box_of(parts, v_.member(axes, d), e_);
      buffer_block const in_message = dense_block(message, b);
      between(block_there.part(b), in_message);
      message.at += b.size();
    }
  }

  constexpr std::int64_t predicted_elements(spec const& parts, mesh_set axes, buffer_block const& b) const {
    return std::min(b.where.size(), e_.ways(axes) * largest_block(parts, e_));
  }

  [[gnu::cold]] constexpr void copy_if_any(buffer_block const& to, buffer_block const& from, scaling how) {
    if (to.where.size() > 0) out_.copy(to, from, how);
  }

  // The part of a block for member `d`: by its indices, or by its place in a message of equal parts.
  [[gnu::cold]] static constexpr buffer_block part_for(buffer_block const& block, std::int64_t d, box const& inner) {
    if (block.across.empty()) return block.part(inner);
    return dense_block(block.data + d * inner.size(), inner);
  }

  // True if this device has the same coordinates along these mesh axes.
  [[gnu::cold]] constexpr bool same_along(mesh_set axes, coordinates const& c) const {
    for (int k = 0; k < e_.mesh_axes; ++k)
      if (axes.contains(k) && c.at[k] != v_.here.at[k]) return false;
    return true;
  }

  viewpoint const& v_;
  extents const& e_;
  Writer& out_;
  machine_constants const& machine_;
  lowering_functions<Writer> const& functions_;
};

}  // namespace ostraka::planner::detail
