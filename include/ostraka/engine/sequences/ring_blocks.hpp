// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Blocks of ring attention: the layout of this device's queries, keys, values and scores, by label, and the
/// keys and values that rotate, one message ahead of the products. docs/design/attention.md explains their route.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/block_collectives/permute_blocks.hpp>
#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/rows/online_softmax.hpp>
#include <ostraka/engine/run/contract_in_tiles.hpp>
#include <ostraka/engine/run/report_run.hpp>
#include <ostraka/plan/attention/attention_ring.hpp>
#include <ostraka/plan/attention/attention_tiles.hpp>
#include <ostraka/plan/blocks/labelled_layout.hpp>
#include <ostraka/plan/decisions/viewpoint.hpp>

namespace ostraka::engine {

using planner::labelled;
using planner::labelled_block;

/// The tensors of an attention. All use the same label numbers.
struct ring_attention {
  planner::spec q, k, v, out;
  int queries = 0, keys = 0, width = 0;  ///< labels
  planner::attention_ring ring{};
  double scale = 1;
  planner::tile_extents tile{0, 0};  ///< tile of the single kernel on an accelerator; none: by products
};

/// Number of pairs of chunks of queries and keys that this host thread has multiplied so far.
[[gnu::visibility("default")]] inline thread_local constinit std::int64_t attended_chunks = 0;

namespace detail {

/// Returns the layout of this device's block.
inline labelled layout_here(execution_context const& w, planner::spec const& s) {
  labelled b;
  for (int i = 0; i < s.rank; ++i) b.add(s.label[i], planner::range_of(s, i, w.here, w.sizes).size());
  return b.close_gaps();
}

template <class To>
struct as_element {
  template <class From>
  KOKKOS_INLINE_FUNCTION To operator()(From const& a) const noexcept {
    return static_cast<To>(a);
  }
};

/// to <- from, in another element type or order.
template <class Exec, class To, class From>
void convert(Exec const& exec, labelled_block<To> const& to, labelled_block<From> const& from) {
  loop_nest<2> loops = loops_along(to, from.in_order_of(to));
  loops.merge();
  map_elements(exec, loops, as_element<To>{}, to.data, const_cast<std::remove_const_t<From> const*>(from.data));
}

/// A block in the element type of the computation, which is float for 16-bit elements.
template <class Exec, class T>
class wide_block {
 public:
  using wide = accumulator_of_t<T>;

  wide_block(Exec const& exec, labelled_block<T const> const& given)
      : own_(std::is_same_v<T, wide> ? 0 : given.size()) {
    if constexpr (std::is_same_v<T, wide>) {
      block = given;
    } else {
      labelled lies = given;
      labelled_block<wide> const to{lies.close_gaps(), own_.data()};
      convert(exec, to, given);
      block = readable(to);
    }
  }

  labelled_block<wide const> block{};

 private:
  kernel_scratch<wide, typename Exec::memory_space> own_;
};

/// c <- alpha (sum over labels that c lacks of a b) + beta c
template <class Exec, class T>
void multiply(Exec const& exec, labelled_block<T const> const& a, labelled_block<T const> const& b,
              labelled_block<T> const& c, T alpha, T beta) {
  contraction const problem = planner::contraction_of(a, b, c);
  if (counts_flops()) count_flops(problem, true, int{sizeof(T)});
  plan_ticket ticket;  // pieces have few shapes, so the cache of plans has them
  contract_in_tiles(exec, problem, a.data, b.data, c.data, {alpha, beta}, ticket);
}

/// All blocks of an attention on this device.
struct attended_blocks {
  labelled q, k, v, out;
  labelled weighted;  ///< the result with the values' own axes last: [rows, width]
  labelled scores;    ///< for all queries and one key
  int queries, keys;
  std::int64_t outer = 1, of_queries = 1, inner = 1, width = 1;

  attended_blocks(execution_context const& w, ring_attention const& p)
      : q(layout_here(w, p.q)),
        k(layout_here(w, p.k)),
        v(layout_here(w, p.v)),
        out(layout_here(w, p.out)),
        queries(p.queries),
        keys(p.keys) {
    bool behind = false;
    for (int d = 0; d < q.rank; ++d) {
      int const l = q.label[d];
      if (l == p.width) continue;
      std::int64_t const n = q.extent[d];
      scores.add(l, n);
      weighted.add(l, n);
      (l == queries ? of_queries : behind ? inner : outer) *= n;
      behind = behind || l == queries;
    }
    scores.add(keys, 1);
    scores.close_gaps();
    for (int d = 0; d < v.rank; ++d) {
      if (scores.has(v.label[d])) continue;
      weighted.add(v.label[d], v.extent[d]);
      width *= v.extent[d];
    }
    weighted.close_gaps();
  }

  [[nodiscard]] std::int64_t rows() const { return outer * of_queries * inner; }
  [[nodiscard]] score_rows rows_of(planner::ring_product const& m) const {
    return {outer,
            m.queries.size(),
            inner,
            m.keys.size(),
            m.queries.begin,
            of_queries,
            m.first_query - m.first_key + 1,
            m.is_masked};
  }
  [[nodiscard]] labelled scores_of(planner::ring_product const& m) const {
    return scores.with(queries, m.queries.size()).with(keys, m.keys.size());
  }
};

/// Keys and values that rotate around the ring. In step s a device has the keys and values that have made s hops; it
/// reads its own in place. A message is one piece: its keys, followed by its values.
template <class Exec, class T>
class rotating_keys {
 public:
  using space = typename Exec::memory_space;

  rotating_keys(Exec const& exec, execution_context const& w, ring_attention const& p, attended_blocks const& b,
                T const* k, T const* v)
      : exec_(exec), w_(w), p_(p), b_(b), ring_(p.ring), own_k_{b.k, k}, own_v_{b.v, v} {
    planner::mesh_order const over = p.k.over[p.k.find(p.keys)];
    axes_ = over.axes();
    planner::viewpoint from{};
    from.sizes = w.sizes;
    from.here = w.here;
    for (int m = 0; m < w.sizes.mesh_axes; ++m) from.order[m] = w.axis[m];
    here_ = planner::block_number(over, w.here, w.sizes);
    for (std::int64_t i = 0; i < ring_.devices; ++i) member_.push_back(0);
    for (int d = 0; d < static_cast<int>(ring_.devices); ++d)
      member_.data()[planner::block_number(over, from.member(axes_, d), w.sizes)] = d;
    key_elements_ = b.k.with(b.keys, 1).size();
    value_elements_ = b.v.with(b.keys, 1).size();
    for (int piece = 0; piece < ring_.pieces(); ++piece) {
      std::int64_t most = 0;
      for (std::int64_t home = 0; home < ring_.devices; ++home) {
        first_[piece].push_back(ring_.first_hop(home, piece));
        last_[piece].push_back(ring_.last_hop(home, piece));
        most = largest(most, ring_.piece(home, piece).size());
      }
      most_[piece] = most * (key_elements_ + value_elements_);
      if (ring_.devices == 1) continue;
      for (buffer& one : buffers_[piece]) one = buffer(most_[piece]);
      if (last(here_, piece) > 0) pack(piece);
    }
  }

  [[nodiscard]] planner::attention_ring const& ring() const { return ring_; }
  [[nodiscard]] std::int64_t here() const { return here_; }
  [[nodiscard]] std::int64_t home(int piece, std::int64_t step) const { return ring_.home_of(here_, piece, step); }
  [[nodiscard]] std::int64_t first(std::int64_t home, int piece) const {
    return first_[piece].data()[static_cast<std::size_t>(home)];
  }
  [[nodiscard]] std::int64_t last(std::int64_t home, int piece) const {
    return last_[piece].data()[static_cast<std::size_t>(home)];
  }
  /// Returns the number of elements of a piece, keys and values together. most_elements: the maximum over all devices.
  [[nodiscard]] std::int64_t elements(std::int64_t home, int piece) const {
    return ring_.piece(home, piece).size() * (key_elements_ + value_elements_);
  }
  [[nodiscard]] std::int64_t most_elements(int piece) const { return most_[piece]; }

  /// Passes on the current pieces that another device still needs, and receives the next pieces.
  void begin(std::int64_t step) {
    for (int piece = 0; piece < ring_.pieces(); ++piece) {
      std::int64_t const leaving = home(piece, step), coming = home(piece, step + 1);
      T* const from = buffers_[piece][step % 2].data();
      T* const to = buffers_[piece][(step + 1) % 2].data();
      in_flight_[piece] =
          permute<T>([&](std::int64_t home) { return last(home, piece) > step; },
                     [&](std::int64_t home) { return ring_.visited(home, piece, step); },
                     [&](std::int64_t home) { return ring_.visited(home, piece, step + 1); }, from,
                     elements(leaving, piece), to, last(coming, piece) > step ? elements(coming, piece) : 0);
    }
  }
  /// Waits for the next pieces.
  void end() {
    for (run_in_flight& one : in_flight_) one.wait();
  }

  /// Returns the keys and values of a current piece, with the layout of a device's own block.
  [[nodiscard]] labelled_block<T const> keys(int piece, std::int64_t step) const { return at(piece, step, own_k_, 0); }
  [[nodiscard]] labelled_block<T const> values(int piece, std::int64_t step) const {
    return at(piece, step, own_v_, key_elements_);
  }

  /// Returns the cotangents of keys and values of a piece in a message.
  template <class U>
  [[nodiscard]] std::pair<labelled_block<U>, labelled_block<U>> as_blocks(U* message, std::int64_t home,
                                                                          int piece) const {
    std::int64_t const n = ring_.piece(home, piece).size();
    return {{b_.k.with(b_.keys, n), message}, {b_.v.with(b_.keys, n), message + n * key_elements_}};
  }

  /// Sends each piece for which `goes` is true, in one message. `home` is the device that owns the piece.
  template <class U, class Goes, class From, class To>
  [[nodiscard]] run_in_flight permute(Goes const& goes, From const& from, To const& to, U const* sent,
                                      std::int64_t elements_sent, U* received, std::int64_t elements_received) {
    hops_.clear();
    for (std::int64_t home = 0; home < ring_.devices; ++home)
      if (goes(home)) hops_.push_back({member(from(home)), member(to(home))});
    if (hops_.empty()) return {};
    return begin_permute(exec_, w_, p_.k, axes_, {hops_.data(), static_cast<int>(hops_.size())},
                         run_of<U const>(sent, elements_sent), run_of<U>(received, elements_received));
  }

 private:
  using buffer = kernel_scratch<T, space>;

  static std::int64_t largest(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
  [[nodiscard]] int member(std::int64_t device) const { return member_.data()[static_cast<std::size_t>(device)]; }

  template <class U>
  static strided_block<U*> run_of(U* data, std::int64_t elements) {
    box one;
    one.rank = 1;
    one.at[0] = {0, elements};
    return dense_block(data, one);
  }

  void pack(int piece) {
    planner::range const part = ring_.piece(here_, piece);
    auto const [k, v] = as_blocks(buffers_[piece][0].data(), here_, piece);
    convert(exec_, k, own_k_.part(b_.keys, part));
    convert(exec_, v, own_v_.part(b_.keys, part));
  }

  [[nodiscard]] labelled_block<T const> at(int piece, std::int64_t step, labelled_block<T const> const& own,
                                           std::int64_t elements_before) const {
    std::int64_t const whose = home(piece, step);
    planner::range const part = ring_.piece(whose, piece);
    if (step == 0) return own.part(b_.keys, part);
    return {own.with(b_.keys, part.size()), buffers_[piece][step % 2].data() + part.size() * elements_before};
  }

  Exec const& exec_;
  execution_context const& w_;
  ring_attention const& p_;
  attended_blocks const& b_;
  planner::attention_ring const& ring_;
  labelled_block<T const> own_k_, own_v_;
  planner::mesh_set axes_{};
  std::int64_t here_ = 0, key_elements_ = 0, value_elements_ = 0, most_[2]{};
  short_array<int> member_;                       // by number of a block, the member of the engine's group that has it
  short_array<std::int64_t> first_[2], last_[2];  // hops, by piece and home
  short_array<hop> hops_;
  buffer buffers_[2][2];
  run_in_flight in_flight_[2];  // last, so that they end before their buffers
};

}  // namespace detail

}  // namespace ostraka::engine
