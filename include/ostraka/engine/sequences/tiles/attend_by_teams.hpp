// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Attention to whole keys as a single kernel of an accelerator (Dao et al., FlashAttention, 2022). A team of
/// threads handles some queries of a head. It iterates over the blocks of keys, and skips blocks that the mask hides
/// from all its queries (keys_of_team.hpp). Queries, scores and weighted values stay in its scratch memory, in the type
/// of the computation, and the softmax continues from block to block, as online_softmax.hpp describes:
///
///     K <- keys | S = score(Q K) | V <- values, m <- max S | P = exp(S − m) | O = exp(m before − m) O + P V |
///
/// with a barrier at each bar. Values replace the keys in memory. The kernel is correct for any number of threads.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/rows/row_statistics.hpp>
#include <ostraka/engine/sequences/ring_blocks.hpp>
#include <ostraka/engine/sequences/score_pairs.hpp>
#include <ostraka/engine/sequences/tiles/keys_of_team.hpp>
#include <ostraka/plan/attention/attention_kernel.hpp>

namespace ostraka::engine::detail {

/// The tensors in which a head has a place.
enum operand_of_team : int {
  team_q,
  team_k,
  team_v,
  team_out,
  team_rows,
  team_bias,
  team_slopes,
  team_query_ids,
  team_key_ids,
  team_sinks,
  operands_of_team
};

/// The rule of scores (score_pairs.hpp), for one pair at a time.
template <class T>
struct team_scores {
  T soft_cap = 0;
  T const* bias = nullptr;
  T const* slopes = nullptr;
  std::int64_t const* query_ids = nullptr;
  std::int64_t const* key_ids = nullptr;
  std::int64_t bias_of_query = 0, bias_of_key = 0, id_of_query = 0, id_of_key = 0;  ///< strides

  /// Takes the strides along the queries, dimension `queries` of the scores, and along the keys, dimension `keys`.
  team_scores(score_rule<T> const& rule, int queries, int keys)
      : soft_cap(rule.soft_cap),
        bias(rule.bias.data),
        slopes(rule.slopes.data),
        query_ids(rule.query_segments.data),
        key_ids(rule.key_segments.data),
        bias_of_query(rule.bias.stride[queries]),
        bias_of_key(rule.bias.stride[keys]),
        id_of_query(rule.query_segments.stride[queries]),
        id_of_key(rule.key_segments.stride[keys]) {}

  /// True if the rule may hide pairs by other criteria than positions.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool hides() const { return query_ids != nullptr || bias != nullptr; }

  /// Returns the score of a product. `query`: its index in the block; `position`: its position; `at`: the begins of the
  /// head in each tensor.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T operator()(T product, std::int64_t query, std::int64_t position,
                                                    std::int64_t key, bool is_seen, std::int64_t const* at) const {
    if (!is_seen) return minus_infinity<T>;
    if (query_ids != nullptr &&
        query_ids[at[team_query_ids] + query * id_of_query] != key_ids[at[team_key_ids] + key * id_of_key])
      return minus_infinity<T>;
    T s = product;
    if (soft_cap > T(0)) s = soft_cap * engine::tanh(s / soft_cap);
    if (bias != nullptr) s += bias[at[team_bias] + query * bias_of_query + key * bias_of_key];
    if (slopes != nullptr)
      s -= slopes[at[team_slopes]] * static_cast<T>(key < position ? position - key : key - position);
    return s;
  }
};

/// The offsets of a head's first elements, and the strides of its elements.
struct team_layout {
  struct steps {
    std::int64_t row = 0, column = 0;
  };
  loop_nest<operands_of_team> heads;
  loop_nest<2> columns;  ///< the values' own axes: {values, result}
  std::int64_t queries = 0, first_position = 0;
  int width = 0, values = 1, tile_queries = 0, tile_keys = 0;
  int query_dimension = 0, key_dimension = 0;  ///< of the scores
  steps q{}, k{};
  std::int64_t v = 0, out = 0, rows = 0;

  team_layout() = default;
  template <class T>
  team_layout(attended_blocks const& b, ring_attention const& p, score_rule<T> const& rule)
      : queries(b.of_queries),
        first_position(p.ring.first_position),
        width(static_cast<int>(b.q.extent_of(p.width))),
        tile_queries(static_cast<int>(p.tile.queries)),
        tile_keys(static_cast<int>(p.tile.keys)),
        query_dimension(b.scores.find(b.queries)),
        key_dimension(b.scores.rank - 1),
        q{b.q.stride_of(b.queries), b.q.stride_of(p.width)},
        k{b.k.stride_of(b.keys), b.k.stride_of(p.width)},
        v(b.v.stride_of(b.keys)),
        out(b.out.stride_of(b.queries)) {
    labelled lies = b.scores.without(b.keys);
    lies.close_gaps();
    rows = lies.stride_of(b.queries);
    for (int d = 0; d < key_dimension; ++d) {
      int const l = b.scores.label[d];
      if (l != b.queries)
        heads.add(b.scores.extent[d], b.q.stride_of(l), b.k.stride_of(l), b.v.stride_of(l), b.out.stride_of(l),
                  lies.stride_of(l), rule.bias.stride[d], rule.slopes.stride[d], rule.query_segments.stride[d],
                  rule.key_segments.stride[d], rule.sinks.stride[d]);
    }
    for (int d = 0; d < b.v.rank; ++d)
      if (int const l = b.v.label[d]; !b.scores.has(l)) columns.add(b.v.extent[d], b.v.stride[d], b.out.stride_of(l));
    columns.merge();
    values = static_cast<int>(columns.size());
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t tiles() const {
    return (queries + tile_queries - 1) / tile_queries;
  }
  /// Returns the offset of a column of a value (O = 0) or of a result (O = 1).
  template <int O>
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t column(int c) const {
    if (columns.rank == 1) return c * columns.stride[O][0];
    std::int64_t offset[2];
    columns.locate(c, offset);
    return offset[O];
  }
};

template <class Exec, class T>
struct attention_teams {
  using wide = accumulator_of_t<T>;
  static constexpr int most_threads = 128;
  using policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<most_threads, 1>>;
  using member = typename policy::member_type;

  team_layout lies;
  keys_of_team seen;
  team_scores<wide> score;
  wide scale;
  wide const* sinks;
  T const* q;
  T const* k;
  T const* v;
  T* out;
  wide* log_sums;

  void run(Exec const& exec, int threads = most_threads) const {
    std::int64_t const teams = lies.heads.size() * lies.tiles();
    if (teams == 0 || !computes()) return;
    planner::attention_kernel const of_head{lies.width, lies.values, int{sizeof(wide)}};
    std::int64_t const elements = of_head.elements({lies.tile_queries, lies.tile_keys});
    policy p(exec, static_cast<int>(teams), threads);
    p.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(elements * int{sizeof(wide)}) + int{alignof(wide)}));
    Kokkos::parallel_for(detail::kernel_name("ostraka attention"), p, *this);
  }

  KOKKOS_FUNCTION void operator()(member const& team) const {
    std::int64_t const number = lies.heads.size();
    std::int64_t at[operands_of_team];
    lies.heads.locate(team.league_rank() % number, at);
    // The last queries come first: under a causal mask they see the most keys.
    std::int64_t const first = (lies.tiles() - 1 - team.league_rank() / number) * lies.tile_queries;
    std::int64_t const rest = lies.queries - first;
    place const here{team.team_rank(), team.team_size(),
                     static_cast<int>(rest < lies.tile_queries ? rest : lies.tile_queries), first};
    memory const m(*this, team);
    load(here, q + at[team_q] + first * lies.q.row, lies.q, here.rows, m.queries);
    for (int r = here.me; r < here.rows; r += here.threads) {
      m.largest[r] = sinks != nullptr ? sinks[at[team_sinks]] : minus_infinity<wide>;
      m.sum[r] = m.largest[r] == minus_infinity<wide> ? wide(0) : wide(1);
    }
    for (int e = here.me; e < here.rows * lies.values; e += here.threads)
      m.results[e / lies.values * pitch(lies.values) + e % lies.values] = wide(0);
    team.team_barrier();

    std::int64_t const position = lies.first_position + first;
    run_of_keys parts[2];
    seen.find(position, position + here.rows, parts);
    for (int part = 0; part < 2; ++part)
      for (std::int64_t begin = parts[part].begin; begin < parts[part].end; begin += lies.tile_keys) {
        std::int64_t const end = begin + lies.tile_keys;
        add_keys(team, here, m, at, {begin, end < parts[part].end ? end : parts[part].end});
      }
    write(here, m, at);
  }

 private:
  /// A thread, and the queries of its team: the index of the first in the block, and their number.
  struct place {
    int me, threads, rows;
    std::int64_t first;
  };

  /// Returns the elements between rows of a tile, as in planner::attention_kernel.
  KOKKOS_INLINE_FUNCTION static int pitch(int columns) { return columns | 1; }

  /// The tiles in scratch memory, as numbers that are not constructed.
  struct memory {
    wide* queries;
    wide* keys;  ///< later the values
    wide* scores;
    wide* results;
    wide* largest;
    wide* sum;
    wide* change;  ///< exp(largest before − largest)

    KOKKOS_INLINE_FUNCTION memory(attention_teams const& in, member const& team) {
      team_layout const& layout = in.lies;
      int const n = layout.tile_queries, of_queries = n * pitch(layout.width), of_scores = n * pitch(layout.tile_keys),
                of_results = n * pitch(layout.values),
                of_keys = layout.tile_keys * pitch(layout.width < layout.values ? layout.values : layout.width);
      auto* const all = static_cast<wide*>(team.team_scratch(0).get_shmem_aligned(
          sizeof(wide) * (of_queries + of_scores + of_results + of_keys + 3 * n), alignof(wide)));
      queries = all;
      scores = queries + of_queries;
      results = scores + of_scores;
      keys = results + of_results;
      largest = keys + of_keys;
      sum = largest + n;
      change = sum + n;
    }
  };

  /// to[r, c] <- from[r row + c column] for the width of a head. Queries are scaled. Neighbouring threads read
  /// neighbouring elements.
  KOKKOS_INLINE_FUNCTION void load(place const& here, T const* from, team_layout::steps const& step, int rows, wide* to,
                                   bool scaled = true) const {
    int const columns = lies.width;
    bool const along_rows = step.row < step.column;
    for (int e = here.me; e < rows * columns; e += here.threads) {
      int const r = along_rows ? e % rows : e / columns, c = along_rows ? e / rows : e % columns;
      wide const x = static_cast<wide>(from[r * step.row + c * step.column]);
      to[r * pitch(columns) + c] = scaled ? scale * x : x;
    }
  }
  KOKKOS_INLINE_FUNCTION void load_values(place const& here, T const* from, int rows, wide* to) const {
    int const columns = lies.values;
    for (int e = here.me; e < rows * columns; e += here.threads)
      to[e / columns * pitch(columns) + e % columns] =
          static_cast<wide>(from[e / columns * lies.v + lies.template column<0>(e % columns)]);
  }

  /// Adds the weighted values of a block of keys to the rows of the team.
  KOKKOS_INLINE_FUNCTION void add_keys(member const& team, place const& here, memory const& m, std::int64_t const* at,
                                       run_of_keys const& block) const {
    int const keys = static_cast<int>(block.end - block.begin), step = pitch(lies.tile_keys);
    std::int64_t const position = lies.first_position + here.first;
    bool const is_masked = !seen.all_see(position, position + here.rows, block);
    load(here, k + at[team_k] + block.begin * lies.k.row, lies.k, keys, m.keys, false);
    team.team_barrier();
    multiply_keys(here, m, keys, block.begin, is_masked, at);
    team.team_barrier();
    load_values(here, v + at[team_v] + block.begin * lies.v, keys, m.keys);
    for (int r = here.me; r < here.rows; r += here.threads) raise(m, r, keys);
    team.team_barrier();
    for (int e = here.me; e < here.rows * keys; e += here.threads) {
      wide& s = m.scores[e / keys * step + e % keys];
      s = engine::exp(s - shift_of(m.largest[e / keys]));
    }
    team.team_barrier();
    for (int r = here.threads - 1 - here.me; r < here.rows; r += here.threads) {
      wide more = 0;
      for (int j = 0; j < keys; ++j) more += m.scores[r * step + j];
      m.sum[r] = m.change[r] * m.sum[r] + more;
    }
    multiply_values(here, m, keys, is_masked || score.hides());
    team.team_barrier();
  }

  /// Updates the largest score of a row, and the factor of its earlier sums.
  KOKKOS_INLINE_FUNCTION void raise(memory const& m, int row, int keys) const {
    wide const* const s = m.scores + row * pitch(lies.tile_keys);
    wide highest = minus_infinity<wide>;
    for (int j = 0; j < keys; ++j) highest = highest < s[j] ? s[j] : highest;
    wide const before = m.largest[row];
    bool const raises = before < highest;
    m.change[row] = raises ? engine::exp(before - shift_of(highest)) : wide(1);
    if (raises) m.largest[row] = highest;
  }

  /// S <- the scores of the team's queries and some keys. A thread computes two queries and two keys at a time.
  KOKKOS_INLINE_FUNCTION void multiply_keys(place const& here, memory const& m, int keys, std::int64_t first_key,
                                            bool is_masked, std::int64_t const* at) const {
    int const step = pitch(lies.width), half_rows = (here.rows + 1) / 2, half_keys = (keys + 1) / 2;
    for (int item = here.me; item < half_rows * half_keys; item += here.threads) {
      int const i = item / half_keys, j = item % half_keys;
      int const rows[2] = {i, i + half_rows < here.rows ? i + half_rows : i},
                columns[2] = {j, j + half_keys < keys ? j + half_keys : j};
      wide const* const a = m.queries + rows[0] * step;
      wide const* const b = m.queries + rows[1] * step;
      wide const* const c = m.keys + columns[0] * step;
      wide const* const d = m.keys + columns[1] * step;
      wide sums[2][2] = {{0, 0}, {0, 0}};
      for (int l = 0; l < lies.width; ++l) {
        sums[0][0] += a[l] * c[l];
        sums[0][1] += a[l] * d[l];
        sums[1][0] += b[l] * c[l];
        sums[1][1] += b[l] * d[l];
      }
      for (int x = 0; x < 2; ++x)
        for (int y = 0; y < 2; ++y) {
          std::int64_t const query = here.first + rows[x], position = lies.first_position + query,
                             key = first_key + columns[y];
          m.scores[rows[x] * pitch(lies.tile_keys) + columns[y]] =
              score(sums[x][y], query, position, key, !is_masked || seen.sees(position, key), at);
        }
    }
  }

  /// O <- change · O + P V. A thread computes two queries and four columns at a time. With `hides`, a weight of 0
  /// contributes nothing, even times NaN.
  KOKKOS_INLINE_FUNCTION void multiply_values(place const& here, memory const& m, int keys, bool hides) const {
    int const step = pitch(lies.values), half = (here.rows + 1) / 2, quarter = (lies.values + 3) / 4;
    for (int item = here.me; item < half * quarter; item += here.threads) {
      int const i = item / quarter, c = item % quarter, other = i + half < here.rows ? i + half : i;
      wide const* const a = m.scores + i * pitch(lies.tile_keys);
      wide const* const b = m.scores + other * pitch(lies.tile_keys);
      int columns[4];
      wide sums[2][4];
      for (int y = 0; y < 4; ++y) {
        columns[y] = c + y * quarter < lies.values ? c + y * quarter : c;
        sums[0][y] = m.change[i] * m.results[i * step + columns[y]];
        sums[1][y] = m.change[other] * m.results[other * step + columns[y]];
      }
      for (int j = 0; j < keys; ++j)
        for (int y = 0; y < 4; ++y) {
          wide const value = m.keys[j * step + columns[y]];
          if (!hides || a[j] != wide(0)) sums[0][y] += a[j] * value;
          if (!hides || b[j] != wide(0)) sums[1][y] += b[j] * value;
        }
      for (int y = 0; y < 4; ++y) {
        m.results[i * step + columns[y]] = sums[0][y];
        m.results[other * step + columns[y]] = sums[1][y];
      }
    }
  }

  /// Writes the results, and m + log Σ exp(S − m) for each row; zeros and +∞ for a row that sees no key.
  KOKKOS_INLINE_FUNCTION void write(place const& here, memory const& m, std::int64_t const* at) const {
    T* const to = out + at[team_out] + here.first * lies.out;
    for (int e = here.me; e < here.rows * lies.values; e += here.threads) {
      int const r = e / lies.values, c = e % lies.values;
      wide const sum = m.sum[r], part = sum == wide(0) ? wide(0) : wide(1) / sum;
      to[r * lies.out + lies.template column<1>(c)] = static_cast<T>(part * m.results[r * pitch(lies.values) + c]);
    }
    for (int r = here.me; r < here.rows; r += here.threads)
      log_sums[at[team_rows] + (here.first + r) * lies.rows] =
          m.sum[r] == wide(0) ? -minus_infinity<wide> : shift_of(m.largest[r]) + engine::log(m.sum[r]);
  }
};

}  // namespace ostraka::engine::detail
