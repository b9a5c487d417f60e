// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Whole tensors onto meshes and back, worked out here from ranks alone: device d of p holds [⌊d·n/p⌋, ⌊(d+1)·n/p⌋), ranks count the
/// mesh's axes with the first one major. Meshes are data, so that one binary walks many; every one has the axes X, Y and Z.

#include <ostraka/ostraka.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/byte_counter.hpp"
#include "support/global_tensor.hpp"
#include "support/mpi_main.hpp"

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);

namespace ostraka::testing {

/// Axes of a mesh in its order, and their sizes: {"YXZ", {2, 3, 1}}.
struct mesh_shape {
  std::string axes;
  std::vector<int> sizes;
};

/// For the number of ranks at hand; also with an order in which X is not major.
inline std::vector<mesh_shape> mesh_shapes() {
  switch (ranks()) {
    case 1: return {{"XYZ", {1, 1, 1}}};
    case 2: return {{"XYZ", {2, 1, 1}}, {"XYZ", {1, 2, 1}}};
    case 3: return {{"XYZ", {3, 1, 1}}, {"XYZ", {1, 3, 1}}};
    case 4: return {{"XYZ", {2, 2, 1}}, {"XYZ", {4, 1, 1}}, {"YXZ", {2, 2, 1}}, {"XYZ", {1, 2, 2}}};
    case 6: return {{"XYZ", {2, 3, 1}}, {"XYZ", {3, 2, 1}}, {"ZYX", {1, 2, 3}}};
    case 8: return {{"XYZ", {2, 4, 1}}, {"XYZ", {2, 2, 2}}, {"YZX", {2, 1, 4}}};
    default: return {{"XYZ", {ranks(), 1, 1}}};
  }
}

struct index_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// A mesh of the library beside what its shape says about every rank.
class mesh_at_hand {
 public:
  explicit mesh_at_hand(mesh_shape shape) : shape_(std::move(shape)) {
    std::vector<std::string> names;
    for (char a : shape_.axes) names.emplace_back(1, a);
    devices_ = std::make_shared<engine::device_mesh const>(engine::communicator::world(), names, shape_.sizes);
  }

  /// On other processes than all of them: what follows then counts its devices, not the ranks of the job.
  mesh_at_hand(mesh_shape shape, std::shared_ptr<engine::device_mesh const> devices) : shape_(std::move(shape)), devices_(std::move(devices)) {}

  [[nodiscard]] std::shared_ptr<engine::device_mesh const> const& handle() const { return devices_; }

  [[nodiscard]] int size(std::string_view name) const { return shape_.sizes[shape_.axes.find(name)]; }

  [[nodiscard]] int coordinate(std::string_view name, int rank) const {
    std::size_t const wanted = shape_.axes.find(name);
    for (std::size_t a = shape_.sizes.size() - 1; a > wanted; --a) rank /= shape_.sizes[a];
    return rank % shape_.sizes[wanted];
  }

  [[nodiscard]] auto sizes() const { return os_sizes(size("X"), size("Y"), size("Z")); }

  [[nodiscard]] std::string text() const {
    std::string t;
    for (std::size_t a = 0; a < shape_.sizes.size(); ++a) t += std::string(1, shape_.axes[a]) + '=' + std::to_string(shape_.sizes[a]) + ' ';
    return t;
  }

 private:
  static ostraka::sizes<X_mesh, Y_mesh, Z_mesh> os_sizes(int x, int y, int z) { return {X = x, Y = y, Z = z}; }

  mesh_shape shape_;
  std::shared_ptr<engine::device_mesh const> devices_;
};

/// Runs f on every mesh for the ranks at hand.
template <class F>
void on_every_mesh(F&& f) {
  for (mesh_shape const& shape : mesh_shapes()) f(mesh_at_hand(shape));
}

/// Even, uneven, smaller than the mesh, and an empty J (which is what einsums contract).
inline std::vector<extents_by_letter> usual_extents() {
  return {{{'B', 4}, {'I', 8}, {'J', 12}, {'K', 4}, {'L', 2}},
          {{'B', 3}, {'I', 7}, {'J', 5}, {'K', 9}, {'L', 2}},
          {{'B', 2}, {'I', 1}, {'J', 3}, {'K', 2}, {'L', 1}},
          {{'B', 2}, {'I', 3}, {'J', 0}, {'K', 5}, {'L', 3}}};
}

inline std::string text_of(extents_by_letter const& e) {
  std::string t;
  for (auto const& [letter, n] : e) t += std::string(1, letter) + '=' + std::to_string(n) + ' ';
  return t;
}

/// The extents for the questions of a plan.
inline ostraka::sizes<B_axis, I_axis, J_axis, K_axis, L_axis> named(extents_by_letter const& e) {
  return {B = e.at('B'), I = e.at('I'), J = e.at('J'), K = e.at('K'), L = e.at('L')};
}

namespace detail {

template <class... As>
std::string letters_of(type_list<As...>) {
  return (std::string() + ... + std::string(As::name));
}

template <class A, class... Ms>
index_range range_over([[maybe_unused]] mesh_at_hand const& m, std::int64_t n, [[maybe_unused]] int rank) {
  std::int64_t d = 0;
  std::int64_t p = 1;
  ((d = d * m.size(Ms::name) + m.coordinate(Ms::name, rank), p *= m.size(Ms::name)), ...);
  return {d * n / p, (d + 1) * n / p};
}

template <class A>
void enter(type_list<A>, mesh_at_hand const& m, extents_by_letter const& e, int rank, std::vector<index_range>& block) {
  block.push_back(range_over<A>(m, e.at(A::name[0]), rank));
}
template <class A, class... Ms>
void enter(type_list<over<A, Ms...>>, mesh_at_hand const& m, extents_by_letter const& e, int rank, std::vector<index_range>& block) {
  block.push_back(range_over<A, Ms...>(m, e.at(A::name[0]), rank));
}
template <Partial P>
void enter(type_list<P>, mesh_at_hand const&, extents_by_letter const&, int, std::vector<index_range>&) {}

template <class... Entries>
std::vector<index_range> block_of(sharding<Entries...>, [[maybe_unused]] mesh_at_hand const& m, [[maybe_unused]] extents_by_letter const& e, [[maybe_unused]] int rank) {
  std::vector<index_range> block;
  (enter(type_list<Entries>{}, m, e, rank, block), ...);
  return block;
}

// Which summand of how many a rank holds, and what tells its group from others.
struct summand {
  int number = 0;
  int of = 1;
};

template <class... Ms>
summand summand_of(type_list<Ms...>, [[maybe_unused]] mesh_at_hand const& m, [[maybe_unused]] int rank) {
  summand s;
  ((s.number = s.number * m.size(Ms::name) + m.coordinate(Ms::name, rank), s.of *= m.size(Ms::name)), ...);
  return s;
}

template <class... Ms>
bool same_group(type_list<Ms...>, mesh_at_hand const& m, int rank, int other) {
  for (std::string_view axis : {"X", "Y", "Z"})
    if (((axis != Ms::name) && ...) && m.coordinate(axis, rank) != m.coordinate(axis, other)) return false;
  return true;
}

}  // namespace detail

/// The letters of a tensor's axes.
template <class Tensor>
std::string letters_in() {
  return detail::letters_of(axes_in<Tensor>{});
}

/// The indices that a rank holds, dimension by dimension.
template <class Tensor>
std::vector<index_range> block_on(mesh_at_hand const& m, extents_by_letter const& e, int rank) {
  return detail::block_of(sharding_in<Tensor>{}, m, e, rank);
}

/// Calls f(i, index) for element number i of a rank's block at this global index.
template <class Tensor, class F>
void for_each_element(mesh_at_hand const& m, extents_by_letter const& e, int rank, F&& f) {
  std::string const labels = letters_in<Tensor>();
  std::vector<index_range> const block = block_on<Tensor>(m, e, rank);
  extents_by_letter local;
  for (std::size_t d = 0; d < labels.size(); ++d) local[labels[d]] = block[d].end - block[d].begin;
  std::size_t i = 0;
  for_each_index(labels, local, [&](extents_by_letter const& at) {
    extents_by_letter index = at;
    for (std::size_t d = 0; d < labels.size(); ++d) index[labels[d]] += block[d].begin;
    f(i++, const_cast<extents_by_letter const&>(index));
  });
}

/// Two parts of a partial tensor made one.
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

// What part `number` of so many holds of a value at position `at`; for other kinds than sums another part holds the value itself at every position.
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
  if (kind == reduction::prod) {  // signs, the right one in the part that holds it
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

template <class Sharding>
constexpr reduction kind_in() {
  return spec_of<Sharding, axes_in<Sharding>, mesh_axes_in<Sharding>>.kind;
}

}  // namespace detail

/// A tensor that holds the whole one: each rank writes its own block. Parts of a partial tensor are unlike each other and combine to it.
template <class Tensor>
Tensor placed(mesh_at_hand const& m, global_tensor<typename Tensor::value_type> const& g) {
  std::array<std::int64_t, Tensor::rank> extents{};
  for (std::size_t d = 0; d < extents.size(); ++d) extents[d] = g.extents.at(letters_in<Tensor>()[d]);
  Tensor const t = ostraka::detail::allocate<Tensor>(m.handle(), extents);
  auto const local = Kokkos::create_mirror_view(t.local());
  detail::summand const part = detail::summand_of(typename sharding_traits<sharding_in<Tensor>>::partials{}, m, rank());
  for_each_element<Tensor>(m, g.extents, rank(), [&](std::size_t i, extents_by_letter const& index) {
    std::size_t const at = g.position(index);
    local.data()[i] = detail::part_of(detail::kind_in<Tensor>(), g.values[at], at, part.number, part.of);
  });
  Kokkos::deep_copy(t.local(), local);
  return t;
}

/// Number of elements on this rank that `agree(got, wanted)` refuses, or −1 if the block has other extents. Parts are combined first.
/// Collective.
template <class Tensor, class Agree>
std::int64_t disagreements(mesh_at_hand const& m, Tensor const& t, global_tensor<typename Tensor::value_type> const& wanted, Agree&& agree) {
  using value = typename Tensor::value_type;
  using partials = typename sharding_traits<sharding_in<Tensor>>::partials;
  auto const local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), t.local());
  std::vector<value> got(local.size());
  if (!got.empty()) std::memcpy(static_cast<void*>(got.data()), local.data(), got.size() * sizeof(value));
  std::vector<index_range> const block = block_on<Tensor>(m, wanted.extents, rank());
  bool right_shape = true;
  for (std::size_t d = 0; d < block.size(); ++d) right_shape = right_shape && static_cast<std::int64_t>(local.extent(d)) == block[d].end - block[d].begin;
  if constexpr (partials::size > 0) {
    std::vector<char> bytes(got.size() * sizeof(value));
    if (!bytes.empty()) std::memcpy(bytes.data(), local.data(), bytes.size());
    auto const all = bytes_of_ranks(bytes);
    bool first = true;
    for (int other = 0; other < ranks(); ++other)
      if (detail::same_group(partials{}, m, rank(), other)) {
        for (std::size_t i = 0; i < got.size() && (i + 1) * sizeof(value) <= all[static_cast<std::size_t>(other)].size(); ++i) {
          value part;
          std::memcpy(static_cast<void*>(&part), all[static_cast<std::size_t>(other)].data() + i * sizeof(value), sizeof(value));
          got[i] = first ? part : combined(detail::kind_in<Tensor>(), got[i], part);
        }
        first = false;
      }
  }
  if (!right_shape) return -1;
  std::int64_t wrong = 0;
  for_each_element<Tensor>(m, wanted.extents, rank(), [&](std::size_t i, extents_by_letter const& index) { wrong += agree(got[i], wanted.values[wanted.position(index)]) ? 0 : 1; });
  return wrong;
}

/// The same with equality.
template <class Tensor>
std::int64_t disagreements(mesh_at_hand const& m, Tensor const& t, global_tensor<typename Tensor::value_type> const& wanted) {
  return disagreements(m, t, wanted, [](auto const& got, auto const& want) { return got == want; });
}

}  // namespace ostraka::testing
