// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Puts whole tensors onto meshes and back. Meshes are data, so that one binary walks many; every one has the axes X, Y
/// and Z. Templates of the element type alone are compiled once, in shared/.

#include <ostraka/ostraka.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/byte_counter.hpp"
#include "support/global_tensor.hpp"
#include "support/mpi_main.hpp"
#include "support/placement.hpp"

namespace ostraka::testing {

/// Runs f on every mesh for this job's ranks.
template <class F>
void on_every_mesh(F&& f) {
  for (mesh_shape const& shape : mesh_shapes()) f(test_mesh(shape));
}

/// Even, uneven, smaller than the mesh, and an empty J (which is what einsums contract).
std::vector<extents_by_letter> usual_extents();

std::string text_of(extents_by_letter const& e);

/// The extents as named sizes, which the functions of a plan take.
ostraka::sizes<B_axis, I_axis, J_axis, K_axis, L_axis> named(extents_by_letter const& e);

/// Combines two parts of an element of a partial tensor.
template <class T>
T combined(reduction kind, T const& x, T const& y) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (kind == reduction::max) return x > y ? x : y;
    if (kind == reduction::min) return x < y ? x : y;
  }
  if constexpr (std::is_integral_v<T>) {
    if (kind == reduction::bit_and) return x & y;
    if (kind == reduction::bit_or) return x | y;
  }
  return kind == reduction::prod ? static_cast<T>(x * y) : static_cast<T>(x + y);
}

namespace detail {

// The share of value v at position `at` that part `number` of `of` parts holds. For kinds other than sums, one part
// holds the value itself, another part at each position.
template <class T>
T part_of(reduction kind, T const& v, std::size_t at, int number, int of) {
  auto const seed = [&](int n) { return static_cast<std::int64_t>(at) * 3 + n * 7; };
  if (kind == reduction::sum) {
    auto const share = [&](int n) { return whole_number<T>(seed(n) % 5 - 2); };
    if (number > 0) return share(number);
    T rest = v;
    for (int other = 1; other < of; ++other) rest = static_cast<T>(rest - share(other));
    return rest;
  }
  bool const holds_it = static_cast<int>(at % static_cast<std::size_t>(of)) == number;
  if (kind == reduction::prod) {  // the other parts hold signs, and the part with the value corrects for them
    auto const sign = [&](int n) { return T(static_cast<float>(seed(n) % 2 == 0 ? 1 : -1)); };
    if (!holds_it) return sign(number);
    T rest = v;
    for (int other = 0; other < of; ++other) rest = static_cast<T>(rest * (other == number ? T(1) : sign(other)));
    return rest;
  }
  if (holds_it) return v;
  if constexpr (std::is_arithmetic_v<T>) {
    if (kind == reduction::max) return static_cast<T>(v - static_cast<T>(seed(number) % 4));
    if (kind == reduction::min) return static_cast<T>(v + static_cast<T>(seed(number) % 4));
  }
  if constexpr (std::is_integral_v<T>) {
    if (kind == reduction::bit_and) return v | static_cast<T>(seed(number) % 8);
    if (kind == reduction::bit_or) return v & static_cast<T>(seed(number) % 8);
  }
  return v;
}

}  // namespace detail

/// The elements of a rank's block. The parts of a partial tensor differ, and combine to its values.
template <class T>
std::vector<T> elements_on(placement const& p, test_mesh const& m, global_tensor<T> const& g, int rank) {
  summand const part = summand_on(p, m, rank);
  std::vector<T> elements;
  for (std::size_t at : positions_on(p, m, g.labels, g.extents, rank))
    elements.push_back(detail::part_of(p.kind, g.values[at], at, part.number, part.of));
  return elements;
}

/// The elements of this rank's block with those of the other ranks' parts of it. Collective.
template <class T>
std::vector<T> combined_elements(placement const& p, test_mesh const& m, std::vector<T> got) {
  if (p.partial_over.empty()) return got;
  std::vector<char> bytes(got.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), static_cast<void const*>(got.data()), bytes.size());
  auto const all = bytes_of_ranks(bytes);
  bool first = true;
  for (int other = 0; other < ranks(); ++other)
    if (same_group(p, m, rank(), other)) {
      std::vector<char> const& theirs = all[static_cast<std::size_t>(other)];
      for (std::size_t i = 0; i < got.size() && (i + 1) * sizeof(T) <= theirs.size(); ++i) {
        T part;
        std::memcpy(static_cast<void*>(&part), theirs.data() + i * sizeof(T), sizeof(T));
        got[i] = first ? part : combined(p.kind, got[i], part);
      }
      first = false;
    }
  return got;
}

/// Copies elements into a block of the library's memory, and out of one.
template <class T>
void write_elements(std::vector<T> const& elements, T* block) {
  using space = Kokkos::DefaultExecutionSpace::device_type;
  Kokkos::View<T*, space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const to(block, elements.size());
  Kokkos::deep_copy(to, Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                            elements.data(), elements.size()));
}
template <class T>
std::vector<T> read_elements(T const* block, std::size_t count) {
  using space = Kokkos::DefaultExecutionSpace::device_type;
  std::vector<T> elements(count);
  Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const to(elements.data(), count);
  Kokkos::deep_copy(to, Kokkos::View<T const*, space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(block, count));
  return elements;
}

/// A tensor's block where the host can read it: the block itself, or a copy.
template <class Tensor>
auto host_block(Tensor const& t) {
  return engine::on_host(t.local());
}

/// Calls f with a block where the host can change it, too: the block itself, or a copy that is brought back.
template <class Tensor, class F>
void change_block(Tensor const& t, F&& f) {
  auto const here = host_block(t);
  f(here);
  Kokkos::deep_copy(t.local(), here);
}

/// The whole tensor as a sharded one: each rank writes its own block.
template <class Tensor>
Tensor placed(test_mesh const& m, global_tensor<typename Tensor::value_type> const& g) {
  placement const p = placement_of<Tensor>();
  std::array<std::int64_t, Tensor::rank> extents{};
  for (std::size_t d = 0; d < extents.size(); ++d) extents[d] = g.extents.at(p.letters[d]);
  Tensor const t = ostraka::detail::allocate<Tensor>(m.handle(), extents);
  auto const elements = elements_on(p, m, g, rank());
  if (elements.size() == t.local().size())
    write_elements(elements, t.local().data());  // otherwise the comparison will find the wrong size
  return t;
}

namespace detail {

template <class View>
bool has_extents(View const& local, std::vector<index_range> const& block) {
  for (std::size_t d = 0; d < block.size(); ++d)
    if (static_cast<std::int64_t>(local.extent(d)) != block[d].end - block[d].begin) return false;
  return true;
}

}  // namespace detail

/// The number of elements on this rank for which `agree(got, wanted)` is false, or −1 if the block has other extents.
/// Parts are combined first. Collective.
template <class Tensor, class Agree>
std::int64_t disagreements(test_mesh const& m, Tensor const& t,
                           global_tensor<typename Tensor::value_type> const& wanted, Agree&& agree) {
  placement const p = placement_of<Tensor>();
  auto const got =
      combined_elements(p, m, read_elements<typename Tensor::value_type>(t.local().data(), t.local().size()));
  if (!detail::has_extents(t.local(), block_on(p, m, wanted.extents, rank()))) return -1;
  std::int64_t wrong = 0;
  std::size_t i = 0;
  for (std::size_t at : positions_on(p, m, wanted.labels, wanted.extents, rank()))
    wrong += agree(got[i++], wanted.values[at]) ? 0 : 1;
  return wrong;
}

/// Number of elements that are not equal.
template <class T>
std::int64_t differences(placement const& p, test_mesh const& m, std::vector<T> const& got,
                         global_tensor<T> const& wanted) {
  std::int64_t wrong = 0;
  std::size_t i = 0;
  for (std::size_t at : positions_on(p, m, wanted.labels, wanted.extents, rank()))
    wrong += got[i++] == wanted.values[at] ? 0 : 1;
  return wrong;
}

/// The same with equality.
template <class Tensor>
std::int64_t disagreements(test_mesh const& m, Tensor const& t,
                           global_tensor<typename Tensor::value_type> const& wanted) {
  placement const p = placement_of<Tensor>();
  auto const got =
      combined_elements(p, m, read_elements<typename Tensor::value_type>(t.local().data(), t.local().size()));
  return detail::has_extents(t.local(), block_on(p, m, wanted.extents, rank())) ? differences(p, m, got, wanted) : -1;
}

/// The number of elements of this rank's block of a matrix that differ from at(i, j) of their global indices.
template <class Matrix, class At>
int wrong_elements(Matrix const& a, At const& at) {
  int found = 0;
  auto const block = host_block(a);
  for (std::size_t i = 0; i < block.extent(0); ++i)
    for (std::size_t j = 0; j < block.extent(1); ++j)
      if (block(i, j) !=
          at(static_cast<std::int64_t>(i) + a.range(0).begin, static_cast<std::int64_t>(j) + a.range(1).begin))
        ++found;
  return found;
}

}  // namespace ostraka::testing
