// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. This device's block of a tensor that is saved or loaded: its indices, its memory, and which device writes
/// it if several hold the same block. Memory that the host cannot access is copied to the host and back.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/engine/formats/name_rules.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/machine/instance.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/engine/root/root_blocks.hpp>
#include <ostraka/plan/blocks/box.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

static_assert(std::endian::native == std::endian::little,
              "files have the least significant byte first, as memory is to");

/// The file element type of the elements T of a tensor.
template <class T>
inline constexpr file_element file_element_of = file_element::u8;
template <>
inline constexpr file_element file_element_of<double> = file_element::f64;
template <>
inline constexpr file_element file_element_of<float> = file_element::f32;
template <>
inline constexpr file_element file_element_of<float16> = file_element::f16;
template <>
inline constexpr file_element file_element_of<bfloat16> = file_element::bf16;
template <>
inline constexpr file_element file_element_of<std::int64_t> = file_element::i64;
template <>
inline constexpr file_element file_element_of<std::int32_t> = file_element::i32;
template <>
inline constexpr file_element file_element_of<std::int16_t> = file_element::i16;
template <>
inline constexpr file_element file_element_of<std::int8_t> = file_element::i8;
template <>
inline constexpr file_element file_element_of<bool> = file_element::boolean;
template <>
inline constexpr file_element file_element_of<Kokkos::complex<float>> = file_element::c64;
template <>
inline constexpr file_element file_element_of<Kokkos::complex<double>> = file_element::c128;

struct file_block {
  box block;                                     ///< of global indices
  std::array<std::int64_t, max_rank> extents{};  ///< of the whole tensor
  file_element element = file_element::f32;
  char* memory = nullptr;                                                     ///< dense, row-major
  void (*to_host)(char* to, char const* from, std::int64_t bytes) = nullptr;  ///< null if the host can access it
  void (*to_device)(char* to, char const* from, std::int64_t bytes) = nullptr;
  int replica = 0;  ///< this device's number among those that hold the same block
  int replicas = 1;
  bool here = true;  ///< true if this device has elements of it (a block without dimensions has one)

  [[nodiscard]] std::int64_t bytes() const { return here ? block.size() * bytes_of(element) : 0; }
};

/// A block, and its tensor in a file.
struct placed_block {
  tensor_in_file const* tensor = nullptr;
  file_block block{};
};

/// A block to save.
struct tensor_to_save {
  std::string name{};  ///< in the file
  std::string axes{};  ///< with the mesh axes that divide them, as programs write them: in/X, hidden
  file_block block{};
  std::string leaf{};  ///< its name in the tree, for errors
  in_tensor how{};     ///< its layout in the tensor of the file, which may hold several leaves
};

/// Returns the part of a block at these indices of its first `axes` dimensions, as a tensor of the other dimensions.
/// For stacked layers, which a file stores one by one.
template <class = void>
[[nodiscard]] file_block part_of(file_block b, int axes, std::int64_t const* index) {
  std::int64_t number = 0;
  for (int d = 0; d < axes; ++d) {
    planner::range const& r = b.block.at[d];
    if (index[d] < r.begin || index[d] >= r.end) b.here = false;
    number = number * r.size() + (index[d] - r.begin);
  }
  box rest;
  rest.rank = b.block.rank - axes;
  std::copy(b.block.at + axes, b.block.at + b.block.rank, rest.at);
  std::copy(b.extents.begin() + axes, b.extents.end(), b.extents.begin());
  b.block = rest;
  b.memory = b.here ? b.memory + number * b.bytes() : nullptr;
  return b;
}

/// Returns the block at `memory` of a tensor `s`. Waits for the kernels of the instance first.
template <class Exec, class T>
file_block file_block_of(execution_context const& w, planner::spec const& s, T* memory) {
  using value = std::remove_const_t<T>;
  fence(instance<Exec>());
  file_block b;
  b.block = box_of(s, w.here, w.sizes);
  for (int d = 0; d < s.rank; ++d) b.extents[static_cast<std::size_t>(d)] = w.sizes.label[s.label[d]];
  b.element = file_element_of<value>;
  b.memory = reinterpret_cast<char*>(const_cast<value*>(memory));
  if (is_gpu_memory<Exec>()) {
    using there = typename Exec::memory_space;
    b.to_host = [](char* to, char const* from, std::int64_t n) {
      detail::stage<Kokkos::HostSpace, there>(to, from, n);
    };
    b.to_device = [](char* to, char const* from, std::int64_t n) {
      detail::stage<there, Kokkos::HostSpace>(to, from, n);
    };
  }
  std::uint32_t const repeats = replicating_axes(w);
  for (int a = 0; a < w.mesh->axes(); ++a)
    if (repeats >> a & 1u) {
      b.replica = b.replica * w.mesh->size(a) + w.mesh->coordinate(a);
      b.replicas *= w.mesh->size(a);
    }
  return b;
}

}  // namespace ostraka::engine
