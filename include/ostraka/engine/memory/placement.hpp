// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Where in one block the pieces of scratch memory belong that a run takes and gives back. Runs of a plan on equal blocks take the same
/// pieces in the same order, so the first one tells how long each is there, and those after it need no more than is there at once. All pieces of
/// a run are of elements of one type.
///
///     taken and given back    +a +b -a +c -b -c
///     in the block            [a][b ]  then  [c ][b ]        pieces that exist at the same time lie apart

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <ostraka/engine/memory/dynamic_array.hpp>

namespace ostraka::engine {

/// The pieces of a run. Taking one and giving one back are its events, which are counted.
class placement {
 public:
  [[nodiscard]] bool cached() const { return cached_; }

  /// Is this the first run of its kind, which is worth what it takes to hold no more than is in use? Who finds out
  /// again and again does without.
  [[nodiscard]] bool is_first() const { return !cached_ && first_; }
  void stays_first(bool first) { first_ = first; }

  [[nodiscard]] bool takes_nothing() const { return cached_ && pieces_.empty(); }

  /// Bytes of the block.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  void begin() {
    event_ = 0;
    astray_ = false;
  }

  /// The first run is about to take a piece. What is written down about it from now on needs no memory: pieces are
  /// given back where nothing may throw.
  void expect_one() {
    if (events_.capacity() >= 2 * (pieces_.size() + 1)) return;
    pieces_.reserve(2 * (pieces_.size() + 1));
    events_.reserve(4 * (pieces_.size() + 1));
  }

  /// The first run has taken a piece, here.
  void took(std::size_t bytes, char const* here) {
    pieces_.push_back({bytes, event_++, still_there, reinterpret_cast<std::uintptr_t>(here)});
    events_.push_back(static_cast<int>(pieces_.size()) - 1);
  }

  /// The first run has given it back.
  void gave_back(char const* here) {
    for (std::size_t i = pieces_.size(); i-- > 0;) {
      if (pieces_[i].returned != still_there || pieces_[i].offset != reinterpret_cast<std::uintptr_t>(here)) continue;
      pieces_[i].returned = event_++;
      return events_.push_back(static_cast<int>(i));
    }
  }

  /// Where the piece begins that a cached run takes next; nowhere if the run goes another way than the first.
  std::size_t take(std::size_t bytes) {
    int const e = event_++;
    astray_ = astray_ || !expects(e) || at(e).taken != e || at(e).bytes != bytes;
    return astray_ ? nowhere : at(e).offset;
  }

  /// A cached run gives back the piece that begins there.
  void give_back(std::size_t offset) {
    int const e = event_++;
    astray_ = astray_ || !expects(e) || at(e).returned != e || at(e).offset != offset;
  }

  /// All pieces have been given back. A run that has not come to its end says nothing about others.
  void end(bool completed) noexcept {
    bool const as_cached = !astray_ && event_ == static_cast<int>(events_.size());
    if (!completed || !as_cached) return forget();
    if (cached_) return;
    try {
      find_places();
      cached_ = true;
    } catch (std::exception const&) {  // there is no memory for it
      forget();
    }
  }

  [[gnu::noinline]] void forget() {
    pieces_.clear();
    events_.clear();
    bytes_ = 0;
    cached_ = false;
  }

  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

 private:
  static constexpr int still_there = -1;

  struct piece_in_time {
    std::size_t bytes = 0;
    int taken = 0;
    int returned = still_there;
    std::size_t offset = nowhere;  // while they are found out: where it lies

    [[nodiscard]] std::size_t end() const { return offset + bytes; }
    [[nodiscard]] bool is_there_with(piece_in_time const& other) const {
      return taken < other.returned && other.taken < returned;
    }
    [[nodiscard]] bool overlaps(piece_in_time const& other) const {
      return is_there_with(other) && offset < other.end() && other.offset < end();
    }
  };

  [[nodiscard]] bool expects(int event) const { return event < static_cast<int>(events_.size()); }

  // The piece that an event takes or gives back.
  [[nodiscard]] piece_in_time const& at(int event) const {
    return pieces_[static_cast<std::size_t>(events_[static_cast<std::size_t>(event)])];
  }

  // What comes first among the pieces is placed first, each as far to the front as it goes: the longest, those that are
  // there longest, or as they are taken. None of these orders is best for all runs. Each begins a line of the cache
  // unless that takes more bytes.
  [[gnu::noinline]] void find_places() {
    using measure = std::size_t (*)(piece_in_time const&);
    measure const orders[] = {[](piece_in_time const& p) { return p.bytes; },
                              [](piece_in_time const& p) { return static_cast<std::size_t>(p.returned - p.taken); },
                              [](piece_in_time const& p) { return nowhere - static_cast<std::size_t>(p.taken); }};
    std::size_t const least = most_at_once();
    dynamic_array<piece_in_time> best;
    for (std::size_t const unit : {std::size_t(64), std::size_t(1)})
      for (measure const m : orders) {
        if (!best.empty() && length_of(best) == least) break;
        dynamic_array<piece_in_time> placed = placed_by(m, unit);
        if (best.empty() || length_of(placed) < length_of(best)) best = std::move(placed);
      }
    pieces_ = std::move(best);
    bytes_ = length_of(pieces_);
  }

  [[nodiscard]] dynamic_array<piece_in_time> placed_by(std::size_t (*measure)(piece_in_time const&),
                                                       std::size_t unit) const {
    dynamic_array<piece_in_time> placed = pieces_;
    for (piece_in_time& p : placed) p.offset = nowhere;
    for (std::size_t count = 0; count < placed.size(); ++count) {
      piece_in_time* next = nullptr;
      for (piece_in_time& p : placed)
        if (p.offset == nowhere && (next == nullptr || measure(p) > measure(*next))) next = &p;
      assign_offset(*next, placed, unit);
    }
    return placed;
  }

  // At the first place that is free for as long as the piece is there.
  static void assign_offset(piece_in_time& piece, dynamic_array<piece_in_time> const& placed, std::size_t unit) {
    piece.offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (piece_in_time const& other : placed)
        if (&other != &piece && other.offset != nowhere && piece.overlaps(other)) {
          piece.offset = (other.end() + unit - 1) / unit * unit;
          moved = true;
        }
    }
  }

  static std::size_t length_of(dynamic_array<piece_in_time> const& placed) {
    std::size_t length = 0;
    for (piece_in_time const& p : placed) length = std::max(length, p.end());
    return length;
  }

  [[nodiscard]] std::size_t most_at_once() const {
    std::size_t now = 0, most = 0;
    for (int e = 0; expects(e); ++e) {
      piece_in_time const& p = at(e);
      now = p.taken == e ? now + p.bytes : now - p.bytes;
      most = std::max(most, now);
    }
    return most;
  }

  dynamic_array<piece_in_time> pieces_;
  dynamic_array<int> events_;  // each the number of a piece
  std::size_t bytes_ = 0;
  int event_ = 0;
  bool cached_ = false;
  bool first_ = true;
  bool astray_ = false;
};

}  // namespace ostraka::engine
