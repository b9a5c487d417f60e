// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Our own products of matrices on accelerators. C[b, m, n] is cut into tiles, one for each team of threads.
/// The team loads the parts of A and B that its tile needs into its scratch memory, a piece of k at a time, and each
/// thread keeps its outputs in registers until the sum over k is complete.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#include <ostraka/engine/memory/computing.hpp>

namespace ostraka::engine::detail {

/// Teams of side · side threads. Thread (i, j) computes the outputs (i + side r, j + side s) for r, s < each, so that
/// neighbouring threads have neighbouring columns, in the panels and in C.
template <class Exec, class T, int side = 16, int each = 4>
struct contract_teams {
  static constexpr int threads = side * side;
  static constexpr int tile = side * each;
  static constexpr int outputs = each * each;  // of a thread
  static constexpr int depth = 16;
  static constexpr int pitch = tile + 1;  // odd, so that a panel may be written along k without bank conflicts

  using policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, 1>>;
  using team_member = typename policy::member_type;

  product_operands<T> in;
  loop_nest<3> batch;  // {a, b, c}
  loop_nest<2> m;      // {a, c}
  loop_nest<2> n;      // {b, c}
  bool a_along_k;      // neighbours in memory are along k, not along m
  bool b_along_k;

  static std::int64_t tiles(loop_nest<2> const& loops) { return (loops.size() + tile - 1) / tile; }
  std::int64_t teams() const { return in.parts * batch.size() * tiles(m) * tiles(n); }

  void run(Exec const& exec) const {
    if (!computes()) return;
    policy p(exec, static_cast<int>(teams()), threads);
    p.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(sizeof(team_memory) + alignof(team_memory))));
    Kokkos::parallel_for(kernel_name("ostraka contract teams"), p, *this);
  }

  KOKKOS_FUNCTION void operator()(team_member const& team) const {
    auto& memory =
        *static_cast<team_memory*>(team.team_scratch(0).get_shmem_aligned(sizeof(team_memory), alignof(team_memory)));
    std::int64_t item = team.league_rank();
    std::int64_t const columns = (n.size() + tile - 1) / tile, rows = (m.size() + tile - 1) / tile;
    std::int64_t const n_begin = item % columns * tile, m_begin = item / columns % rows * tile;
    item /= columns * rows;
    std::int64_t base[3];
    batch.locate(item % batch.size(), base);
    std::int64_t const part = item / batch.size();
    int const thread = team.team_rank();
    for (int i = thread; i < tile; i += threads) {
      memory.m.set(i, m, m_begin + i, m.size());
      memory.n.set(i, n, n_begin + i, n.size());
    }

    T sums[each][each];
    for (int r = 0; r < each; ++r)
      for (int s = 0; s < each; ++s) sums[r][s] = T(0);
    std::int64_t const end = in.k_begin(part + 1);
    for (std::int64_t begin = in.k_begin(part); begin < end; begin += depth) {
      for (int l = thread; l < depth; l += threads) memory.k.set(l, in.k, begin + l, end);
      team.team_barrier();
      load(memory.a, in.a + base[0], memory.m.at[0], memory.k.at[0], a_along_k, thread);
      load(memory.b, in.b + base[1], memory.n.at[0], memory.k.at[1], b_along_k, thread);
      team.team_barrier();
      add_products(sums, memory, thread / side, thread % side);
    }
    team.team_barrier();  // a part of k may be empty
    T* const c = in.c + base[2] + part * in.part_step;
    for (int r = 0; r < each; ++r)
      for (int s = 0; s < each; ++s) {
        std::int64_t const row = memory.m.at[1][thread / side + side * r],
                           column = memory.n.at[1][thread % side + side * s];
        if (row >= 0 && column >= 0) in.how.write(c + row + column, 1, &sums[r][s], 1);
      }
  }

 private:
  /// Offsets of `count` iterations of a loop in its two operands; −1 beyond the end.
  template <int count>
  struct offsets {
    std::int64_t at[2][count];

    KOKKOS_FUNCTION void set(int i, loop_nest<2> const& loops, std::int64_t index, std::int64_t end) {
      std::int64_t offset[2] = {-1, -1};
      if (index < end) loops.locate(index, offset);
      at[0][i] = offset[0];
      at[1][i] = offset[1];
    }
  };

  struct team_memory {
    offsets<tile> m, n;
    offsets<depth> k;
    alignas(T) unsigned char a[sizeof(T) * depth * pitch],
        b[sizeof(T) * depth * pitch];  // T[depth][pitch], not constructed
  };

  KOKKOS_FUNCTION static void load(unsigned char* panel, T const* from, std::int64_t const* at,
                                   std::int64_t const* k_at, bool along_k, int thread) {
    T* const to = reinterpret_cast<T*>(panel);
    for (int e = thread; e < tile * depth; e += threads) {
      int const i = along_k ? e / depth : e % tile, l = along_k ? e % depth : e / tile;
      to[l * pitch + i] = at[i] < 0 || k_at[l] < 0 ? T(0) : from[at[i] + k_at[l]];
    }
  }

  KOKKOS_FUNCTION static void add_products(T (&sums)[each][each], team_memory const& memory, int i, int j) {
    T const* const a = reinterpret_cast<T const*>(memory.a) + i;
    T const* const b = reinterpret_cast<T const*>(memory.b) + j;
    for (int l = 0; l < depth; ++l) {
      T x[each], y[each];
      for (int r = 0; r < each; ++r) x[r] = a[l * pitch + side * r];
      for (int s = 0; s < each; ++s) y[s] = b[l * pitch + side * s];
      for (int r = 0; r < each; ++r)
        for (int s = 0; s < each; ++s) sums[r][s] += x[r] * y[s];
    }
  }
};

}  // namespace ostraka::engine::detail
