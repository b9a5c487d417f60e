// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::scatter_from_root: A[I, J] on device 0 → A[I_X, J_Y]; it sends exactly the elements that the other devices hold.
// sham:

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

// The mesh of the library with the shape of the test's.
auto named_mesh(t::mesh_shape const& s) { return os::make_mesh(X = s.sizes[0], Y = s.sizes[1], Z = s.sizes[2]); }

template <class F>
void on_meshes(F&& f) {
  for (t::mesh_shape const& s : t::mesh_shapes())
    if (s.axes == "XYZ") f(named_mesh(s), t::test_mesh(s));
}

// The numbers that each device gets about the array beforehand: its extents or, for a list, its length.
template <class Tensor>
std::int64_t list_bytes(bool list) {
  return (list ? 1 : Tensor::rank) * static_cast<std::int64_t>(sizeof(std::int64_t)) * (t::ranks() - 1);
}

template <class T, auto... Dims, class Mesh>
void check(Mesh const& mesh, t::test_mesh const& m, t::extents_by_letter const& e, dims<Dims...>) {
  using tensor = os::tensor<T, Dims...>;
  using value = typename tensor::value_type;
  std::string const labels = t::letters_in<tensor>();
  auto const g = t::whole_numbers<value>(labels, e, 29);
  std::vector<value> const whole = t::rank() == 0 ? g.values : std::vector<value>();
  tensor a;
  t::traffic const moved = t::traffic_of([&] { a = os::scatter_from_root<tensor>(mesh, t::named(e), whole); });
  INFO(m.text(), t::text_of(e), os::describe(a));
  CHECK(t::disagreements(m, a, g) == 0);
  std::int64_t elements = 0;  // of all devices but the one that has them
  for (int d = 1; d < t::ranks(); ++d) {
    std::int64_t block = 1;
    for (t::index_range const& r : t::block_on<tensor>(m, e, d)) block *= r.end - r.begin;
    elements += block;
  }
  CHECK(moved.bytes == elements * static_cast<std::int64_t>(sizeof(value)) + list_bytes<tensor>(true));
}

template <class T>
void check_all() {
  on_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<T>(mesh, m, e, dims<I, J>{});
      check<T>(mesh, m, e, dims<I/X, J>{});
      check<T>(mesh, m, e, dims<I/Y, K/X>{});
      check<T>(mesh, m, e, dims<B/Z, I/X, J, K/Y>{});
      check<T>(mesh, m, e, dims<>{});
    }
  });
}

}  // namespace

TEST_CASE("float") { check_all<float>(); }
TEST_CASE("complex<double>") { check_all<Kokkos::complex<double>>(); }
TEST_CASE("int32") { check_all<std::int32_t>(); }
TEST_CASE("bfloat16") {
  on_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) check<os::bfloat16>(mesh, m, e, dims<I/Y/X, J>{});
  });
}

TEST_CASE("views of any layout, part of larger ones, const; lists of standard complex numbers") {
  on_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      using tensor = os::tensor<double, I/X, J/Y>;
      auto const g = t::whole_numbers<double>("IJ", e, 31);
      bool const root = t::rank() == 0;
      auto const rows = static_cast<std::size_t>(root ? e.at('I') : 0);
      auto const columns = static_cast<std::size_t>(root ? e.at('J') : 0);
      Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const left("left", rows, columns);
      Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const larger("larger", rows + 2, 2 * columns + 3);
      auto const part = Kokkos::subview(larger, std::pair<std::size_t, std::size_t>(1, rows + 1),
                                        std::pair<std::size_t, std::size_t>(2, columns + 2));
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) left(i, j) = part(i, j) = g.values[i * columns + j];
      Kokkos::View<double const**, Kokkos::LayoutLeft, Kokkos::HostSpace> const read_only = left;
      tensor a;
      t::traffic const moved =
          t::traffic_of([&] { a = os::scatter_from_root<double, I/X, J/Y>(mesh, I = e.at('I'), J = e.at('J'), left); });
      CHECK(t::disagreements(m, a, g) == 0);
      t::traffic const listed = t::traffic_of(
          [&] { a = os::scatter_from_root<tensor>(mesh, t::named(e), root ? g.values : std::vector<double>()); });
      CHECK(moved.bytes - list_bytes<tensor>(false) == listed.bytes - list_bytes<tensor>(true));
      CHECK(t::disagreements(m, os::scatter_from_root<tensor>(mesh, t::named(e), part), g) == 0);
      CHECK(t::disagreements(m, os::scatter_from_root<tensor>(mesh, t::named(e), read_only), g) == 0);
    }
    std::vector<std::complex<float>> const numbers = {{1, 2}, {3, 4}, {5, 6}};
    auto const z = os::scatter_from_root<std::complex<float>, I/X>(mesh, I = 3, numbers);
    CHECK(t::disagreements(m, z, {"I", {{'I', 3}}, {{1, 2}, {3, 4}, {5, 6}}}) == 0);
  });
}

TEST_CASE("the inverse of gather_to_root") {
  on_meshes([](auto const& mesh, t::test_mesh const&) {
    auto const a = os::random<float, I/X, J/Y>(mesh, I = 7, J = 5);
    auto const b = os::scatter_from_root<float, I/Y, J/X>(mesh, I = 7, J = 5, os::gather_to_root(a));
    auto const difference = os::subtract(os::reshard<I/X, J/Y>(b), a);
    CHECK(os::value(os::max<>(os::multiply(difference, difference))) == 0);
  });
}

TEST_CASE("another size on device 0 is an error on all of them") {
  auto const mesh = os::make_mesh(X = t::ranks());
  bool const root = t::rank() == 0;
  std::vector<float> const list(root ? 7 : 12);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::scatter_from_root<float, I/X, J>(mesh, I = 3, J = 4, list)),
      "scatter_from_root: the array on device 0 has the extents of the tensor, but it is of 7 elements and the tensor "
      "of 3 × 4; give the whole array there (on the other devices it is not read)",
      os::error);
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> const view("view", root ? 4 : 3, root ? 3 : 4);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::scatter_from_root<float, I/X, J>(mesh, I = 3, J = 4, view)),
      "scatter_from_root: the array on device 0 has the extents of the tensor, but it is of 4 × 3 and the tensor of 3 "
      "× 4; give the whole array there (on the other devices it is not read)",
      os::error);
  CHECK(os::value(os::sum<>(os::scatter_from_root<float, I/X>(mesh, I = 7, list))) == 0);  // no rank is left behind
}
