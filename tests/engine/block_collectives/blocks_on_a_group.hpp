// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Blocks of the devices of a group, for tests of their messages: element (i, j) of device d's block is a formula,
/// blocks are dense, transposed or with gaps, and the memory behind them must not change.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/copy_block.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/engine/moves/transport.hpp>

namespace ostraka::testing {

using exec_space = Kokkos::DefaultHostExecutionSpace;

/// A mesh {X, Y} over all ranks, and the group along some of its axes.
struct test_group {
  engine::device_mesh mesh;
  engine::execution_context w;
  planner::mesh_set axes;

  test_group(engine::device_mesh m, std::uint32_t bits) : mesh(m) {
    static constexpr std::string_view names[] = {"X", "Y"};
    w = engine::make_context(mesh, names, 2, "test");
    w.use = {};
    for (int a = 0; a < 2; ++a)
      if ((bits >> a & 1u) != 0) axes.insert(a);
  }
  [[nodiscard]] engine::communicator const& members() const { return w.group(axes); }
};

/// Calls f with the groups of all meshes {X, Y} over the ranks.
template <class F>
void on_every_group(F const& f) {
  engine::communicator const world = engine::communicator::world();
  for (int x = 1; x <= world.size(); ++x)
    if (world.size() % x == 0) {
      engine::device_mesh const mesh(world, {"X", "Y"}, {x, world.size() / x});
      for (std::uint32_t bits = 0; bits < 4; ++bits) f(test_group(mesh, bits));
    }
}

/// The layout of a block in its memory.
enum class lies { dense, transposed, with_gaps };

/// A block of rows × columns.
template <class T>
struct test_block {
  std::int64_t rows, columns;
  lies how;
  std::vector<T> memory;
  engine::strided_block<T*> block;

  test_block(std::int64_t r, std::int64_t c, lies lie, T fill = T(-77)) : rows(r), columns(c), how(lie) {
    planner::box where;
    where.rank = 2;
    where.at[0] = {0, rows};
    where.at[1] = {0, columns};
    std::int64_t const gap = lie == lies::with_gaps ? 2 : 0;
    memory.assign(static_cast<std::size_t>(rows * (columns + gap) + 1), fill);
    block = engine::dense_block(memory.data(), where);
    if (lie == lies::transposed) block.stride[0] = 1, block.stride[1] = rows;
    if (lie == lies::with_gaps) block.stride[0] = columns + gap;
  }
  test_block(test_block&& other) noexcept = default;  // its memory moves with it

  [[nodiscard]] T& at(std::int64_t i, std::int64_t j) {
    return memory[static_cast<std::size_t>(i * block.stride[0] + j * block.stride[1])];
  }

  template <class F>
  void fill(F const& value) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) at(i, j) = value(i, j);
  }

  /// Elements that differ from the formula, and elements behind the block that were written.
  template <class F>
  [[nodiscard]] std::int64_t wrong(F const& value, T behind = T(-77)) {
    std::int64_t n = 0;
    std::vector<T> expected(memory.size(), behind);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        expected[static_cast<std::size_t>(i * block.stride[0] + j * block.stride[1])] = value(i, j);
    for (std::size_t k = 0; k < memory.size(); ++k) n += memory[k] == expected[k] ? 0 : 1;
    return n;
  }
};

/// Element (i, j) of device d's block: a small whole number.
template <class T>
T element_of(int d, std::int64_t i, std::int64_t j) {
  return T(static_cast<float>((13 * d + 5 * i + 3 * j) % 97) - 40.f);
}

/// For the length of a scope, treats the host's memory as a GPU's, and small strided messages as long ones.
class as_if {
 public:
  explicit as_if(engine::emulated_gpu gpu, bool all_are_long = false)
      : gpu_(engine::emulated), message_(engine::shortest_block_message), row_(engine::shortest_block_row) {
    engine::emulated = gpu;
    if (all_are_long) engine::shortest_block_message = engine::shortest_block_row = 1;
  }
  ~as_if() {
    engine::emulated = gpu_;
    engine::shortest_block_message = message_;
    engine::shortest_block_row = row_;
  }
  as_if(as_if const&) = delete;
  as_if& operator=(as_if const&) = delete;

 private:
  engine::emulated_gpu gpu_;
  std::int64_t message_, row_;
};

/// Calls f in all of these settings.
template <class F>
void as_if_everything(F const& f) {
  for (engine::emulated_gpu gpu :
       {engine::emulated_gpu::none, engine::emulated_gpu::direct, engine::emulated_gpu::staged}) {
    as_if const now(gpu);
    f();
  }
  as_if const all_are_long(engine::emulated_gpu::none, true);
  f();
}

}  // namespace ostraka::testing
