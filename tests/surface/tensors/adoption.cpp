// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// An application's arrays, used in place or copied on request: blocks of every layout through os::from_local,
/// os::copy_from_local and os::copy_to_local. Plain loops make expected values from i and j.
// labels: essential
// ranks: 1 2 3 4

#include <doctest/doctest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__has_include)
#  if __has_include(<version>)
#    include <version>
#  endif
#endif
#if defined(__cpp_lib_mdspan)
#  include <mdspan>
#endif

#include "support/allocated_by.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using host = Kokkos::HostSpace;
template <class T, class Layout>
using view_of = Kokkos::View<T, Layout, host>;

// An mdspan as the standard has it, as far as we ask: layout_stride and default_accessor.
template <class T>
struct small_mdspan {
  using element_type = T;
  using reference = T&;
  using data_handle_type = T*;
  using rank_type = std::size_t;
  static constexpr std::size_t rank() { return 2; }
  data_handle_type const& data_handle() const { return first; }
  int extent(std::size_t d) const { return extents[d]; }
  int stride(std::size_t d) const { return strides[d]; }
  bool is_strided() const { return true; }

  T* first;
  int extents[2], strides[2];
};

double value_at(std::int64_t i, std::int64_t j) { return static_cast<double>(100 * i + j + 1); }

std::int64_t rows_here(std::int64_t n) { return (t::rank() + 1) * n / t::ranks() - t::rank() * n / t::ranks(); }

template <class View>
void set(View const& v, std::int64_t first_row) {
  for (std::size_t i = 0; i < v.extent(0); ++i)
    for (std::size_t j = 0; j < v.extent(1); ++j)
      v(i, j) = value_at(static_cast<std::int64_t>(i) + first_row, static_cast<std::int64_t>(j));
}

constexpr std::int64_t columns = 4;
std::int64_t uneven() { return 3 * t::ranks() + 1; }
std::int64_t first_row() { return t::rank() * uneven() / t::ranks(); }

}  // namespace

TEST_CASE("dense in the order of the axes: every layout is adopted where it is, nothing is allocated") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const n = uneven();
  auto const here = static_cast<std::size_t>(rows_here(n));
  view_of<double**, Kokkos::LayoutRight> const right("right", here, columns);
  view_of<double* [4], Kokkos::LayoutRight> const static_columns("static", here);
  view_of<double**, Kokkos::LayoutStride> const strided(
      right.data(), Kokkos::LayoutStride(here, columns, static_cast<std::size_t>(columns), 1));
  Kokkos::View<double**, Kokkos::LayoutRight, host, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const unmanaged(
      right.data(), here, columns);
  view_of<double const**, Kokkos::LayoutRight> const constant = right;
  view_of<double***, Kokkos::LayoutRight> const larger("larger", 2, here, columns);
  auto const slab = Kokkos::subview(larger, 1, Kokkos::ALL, Kokkos::ALL);
  small_mdspan<double> const span{right.data(), {static_cast<int>(here), 4}, {4, 1}};
  set(right, first_row());
  set(static_columns, first_row());
  set(slab, first_row());
  auto const check = [&](auto&& block, double const* where) {
    std::uint64_t const bytes = t::allocated_by([&] {
      auto const a = os::from_local<double, I/X, J>(mesh, I = n, J = columns, block);
      CHECK(a.local().data() == where);
      CHECK(t::wrong_elements(a, value_at) == 0);
    });
    CHECK(bytes == 0);
  };
  check(right, right.data());
  check(static_columns, static_columns.data());
  check(strided, right.data());
  check(unmanaged, right.data());
  check(constant, right.data());
  check(slab, slab.data());
  check(span, right.data());
  check(os::strided(right.data(), I = columns, J = 1), right.data());
  check(os::strided(static_cast<double const*>(right.data()), J = 1, I = columns), right.data());
  check(os::in_order<I, J>(right), right.data());
  check(std::span(right.data(), right.size()), right.data());
}

TEST_CASE(
    "column-major: as J, I it is adopted where it is, in products too; as I, J it is refused and copied when asked") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const n = uneven();
  auto const here = static_cast<std::size_t>(rows_here(n));
  view_of<double**, Kokkos::LayoutLeft> const left("left", here, columns);
  set(left, first_row());
  auto const swapped = [](std::int64_t j, std::int64_t i) { return value_at(i, j); };
  auto const check = [&](auto const& block) {
    os::tensor<double, J, I/X> a;
    CHECK(t::allocated_by([&] { a = os::from_local<double, J, I/X>(mesh, I = n, J = columns, block); }) == 0);
    CHECK(a.local().data() == left.data());
    CHECK(t::wrong_elements(a, swapped) == 0);
  };
  check(os::in_order<I, J>(left));
  check(os::strided(left.data(), I = 1, J = static_cast<std::int64_t>(here)));
  check(
      os::in_order<I, J>(small_mdspan<double>{left.data(), {static_cast<int>(here), 4}, {1, static_cast<int>(here)}}));

  auto const a = os::from_local<double, J, I/X>(mesh, I = n, J = columns, os::in_order<I, J>(left));
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < columns; ++j) sum += value_at(i, j) * value_at(i, j);
  CHECK(os::value(os::einsum<>(a, a)) == sum);

  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::from_local<double, I/X, J>(mesh, I = n, J = columns, left)),
      "from_local: a block lies row-major without gaps, but the view of device 0 is a part of a larger one, padded, "
      "or in another order; copy it with os::copy_from_local, or adopt what lies in another order as a tensor of the "
      "axes in that order, with os::in_order<…>(view)",
      os::error);
  auto const copied = os::copy_from_local<double, I/X, J>(mesh, I = n, J = columns, left);
  CHECK(copied.local().data() != left.data());
  CHECK(t::wrong_elements(copied, value_at) == 0);
}

TEST_CASE("copies come from every layout, rank and kind of array, and go back to it") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const n = uneven();
  auto const here = static_cast<std::size_t>(rows_here(n));
  auto const there_and_back = [&](auto const& block, auto&& empty, auto const& at) {
    auto const a = os::copy_from_local<double, I/X, J>(mesh, I = n, J = columns, block);
    CHECK(t::wrong_elements(a, value_at) == 0);
    os::copy_to_local(a, empty);
    int found = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(here); ++i)
      for (std::int64_t j = 0; j < columns; ++j) found += at(i, j) != value_at(i + first_row(), j);
    CHECK(found == 0);
  };
  auto const of_view = [](auto const& v) {
    return [=](std::int64_t i, std::int64_t j) { return v(static_cast<std::size_t>(i), static_cast<std::size_t>(j)); };
  };
  view_of<double**, Kokkos::LayoutLeft> const left("left", here, columns), other_left("other", here, columns);
  set(left, first_row());
  there_and_back(left, other_left, of_view(other_left));

  view_of<double****, Kokkos::LayoutLeft> const larger("larger", here + 2, 2, 3, 3 * columns);
  auto const part = Kokkos::subview(larger, std::pair<std::size_t, std::size_t>(1, here + 1), 1, 2,
                                    std::pair<std::size_t, std::size_t>(2, 2 + columns));
  auto const other_part = Kokkos::subview(larger, std::pair<std::size_t, std::size_t>(2, here + 2), 0, 1,
                                          std::pair<std::size_t, std::size_t>(5, 5 + columns));
  set(part, first_row());
  there_and_back(part, other_part, of_view(other_part));
  there_and_back(view_of<double const**, Kokkos::LayoutStride>(part), other_left, of_view(other_left));

  // Every second row, backwards, each row backwards.
  std::vector<double> elements(2 * here * columns + 1);
  auto const last = static_cast<std::int64_t>(elements.size()) - 1;
  auto const backwards = [&](std::int64_t i, std::int64_t j) -> double& {
    return elements[static_cast<std::size_t>(last - 2 * columns * i - j)];
  };
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(here); ++i)
    for (std::int64_t j = 0; j < columns; ++j) backwards(i, j) = value_at(i + first_row(), j);
  auto const reversed = os::strided(elements.data() + last, J = -1, I = -2 * columns);
  there_and_back(reversed, other_left, of_view(other_left));
  Kokkos::deep_copy(other_left, 0);
  there_and_back(left, reversed, backwards);

  // A row that stands for all rows is read, and is not written.
  double const one_row[] = {1, 2, 3, 4};
  auto const repeated =
      os::copy_from_local<double, I/X, J>(mesh, I = n, J = columns, os::strided(one_row, I = 0, J = 1));
  CHECK(t::wrong_elements(repeated, [](std::int64_t, std::int64_t j) { return double(j + 1); }) == 0);
  double row[100];
  for (int step : {0, 3, -3})
    CHECK_THROWS_WITH_AS(
        os::copy_to_local(repeated, os::strided(row + 50, I = step, J = 1)),
        ("copy_to_local: each element of what is written has a place of its own, but the view of device " +
         std::to_string(0) +
         " has elements that share one; give it no stride of 0, and none that is too short for its extents")
            .c_str(),
        os::error);

  std::vector<double> list(here * columns);
  small_mdspan<double> const span{list.data(), {static_cast<int>(here), 4}, {4, 1}};
  there_and_back(left, list,
                 [&](std::int64_t i, std::int64_t j) { return list[static_cast<std::size_t>(i * columns + j)]; });
  there_and_back(span, other_left, of_view(other_left));
  there_and_back(std::span<double const>(list), other_left, of_view(other_left));
  there_and_back(os::in_order<J, I>(small_mdspan<double>{list.data(), {4, static_cast<int>(here)}, {1, 4}}), other_left,
                 of_view(other_left));

  // Scalars, rows, three axes in another order, complex numbers of std, empty blocks.
  Kokkos::View<float, host> const scalar("scalar");
  scalar() = 3;
  CHECK(os::copy_from_local<float>(mesh, scalar).local()() == 3);
  CHECK(os::from_local<float>(mesh, scalar).local().data() == scalar.data());
  std::vector<std::complex<float>> parts{{1, 2}}, back(1);
  auto const complex = os::copy_from_local<std::complex<float>, I/X>(mesh, I = t::ranks(), parts);
  os::copy_to_local(complex, back);
  CHECK(back == parts);
  view_of<double***, Kokkos::LayoutRight> const three("three", 2, 3, here);
  for (std::size_t k = 0; k < here; ++k)
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t j = 0; j < 3; ++j) three(b, j, k) = double(100 * b + 10 * j + k);
  auto const turned = os::copy_from_local<double, I/X, B, J>(mesh, I = n, B = 2, J = 3, os::in_order<B, J, I>(three));
  int different = 0;
  for (std::size_t k = 0; k < here; ++k)
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t j = 0; j < 3; ++j) different += turned.local()(k, b, j) != three(b, j, k);
  CHECK(different == 0);
  view_of<double**, Kokkos::LayoutLeft> const none("none", t::rank() == t::ranks() - 1 ? 1 : 0, 3);
  CHECK(os::copy_from_local<double, I/X, J>(mesh, I = 1, J = 3, none).local().extent(0) == none.extent(0));
}

TEST_CASE("copies tell all devices of a wrong block, or one alone where nothing is sent") {
  auto const mesh = os::make_mesh(X = t::ranks());
  int const n = t::ranks();
  bool const culprit = t::rank() == n - 1;
  view_of<double**, Kokkos::LayoutLeft> const mine("mine", 1, culprit ? 5 : 4);
  std::string const who =
      "each view has the extents of its device's block, but that of device " + std::to_string(n - 1) + " has not";
  auto const starts = [&](char const* operation, auto&& f) {
    std::string text;
    try {
      f();
    } catch (os::error const& e) {
      text = e.what();
    }
    CHECK(text.substr(0, text.find(';')) == std::string(operation) + ": " + who);
  };
  auto const a = os::ones<double, I/X, J>(mesh, I = n, J = 4);
  starts("copy_from_local",
         [&] { static_cast<void>(os::copy_from_local<double, I/X, J>(mesh, I = n, J = 4, mine)); });
  starts("copy_to_local", [&] { os::copy_to_local(a, mine); });
  auto const calls = t::traffic_of([&] {
                       if (culprit)
                         starts("copy_to_local", [&] { os::copy_to_local(a, mine, os::unchecked); });
                       else
                         os::copy_to_local(a, mine, os::unchecked);
                     }).calls;
  CHECK(calls == 0);
  if (!culprit) CHECK(mine(0, 3) == 1);
}

#if defined(__cpp_lib_mdspan)
TEST_CASE("std::mdspan") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::vector<double> list{1, 2, 3};
  std::mdspan<double, std::extents<int, std::dynamic_extent, 3>> const one(list.data(), 1);
  CHECK(os::from_local<double, I/X, J>(mesh, I = t::ranks(), J = 3, one).local().data() == list.data());
  std::mdspan<double, std::dextents<int, 2>, std::layout_left> const left(list.data(), 3, 1);
  CHECK(os::from_local<double, I/X, J>(mesh, I = t::ranks(), J = 3, os::in_order<J, I>(left)).local()(0, 2) == 3);
}
#endif

#if defined(KOKKOS_ENABLE_IMPL_MDSPAN)
TEST_CASE("the mdspan of Kokkos") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::vector<double> list{1, 2, 3};
  Kokkos::mdspan<double, Kokkos::dextents<int, 2>> const one(list.data(), 1, 3);
  CHECK(os::from_local<double, I/X, J>(mesh, I = t::ranks(), J = 3, one).local().data() == list.data());
  Kokkos::mdspan<double, Kokkos::dextents<int, 2>, Kokkos::layout_left> const left(list.data(), 3, 1);
  CHECK(os::from_local<double, I/X, J>(mesh, I = t::ranks(), J = 3, os::in_order<J, I>(left)).local()(0, 2) == 3);
}
#endif

TEST_CASE("an array of device 0 is scattered from every layout, unevenly") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const n = static_cast<std::size_t>(uneven());
  view_of<double**, Kokkos::LayoutLeft> const left("left", t::rank() == 0 ? n : 0, columns);
  view_of<double***, Kokkos::LayoutRight> const larger("larger", t::rank() == 0 ? n : 0, 3, 2 * columns);
  auto const part = Kokkos::subview(larger, Kokkos::ALL, 1, std::pair<std::size_t, std::size_t>(3, 3 + columns));
  set(left, 0);
  set(part, 0);
  auto const from = [&](auto const& whole) {
    return os::scatter_from_root<double, I/X, J>(mesh, I = n, J = columns, whole);
  };
  CHECK(t::wrong_elements(from(left), value_at) == 0);
  CHECK(t::wrong_elements(from(part), value_at) == 0);
  CHECK(t::wrong_elements(from(view_of<double const**, Kokkos::LayoutStride>(part)), value_at) == 0);
  auto const rows = static_cast<std::int64_t>(n);
  CHECK(t::wrong_elements(from(os::strided(left.data(), I = 1, J = rows)), value_at) == 0);
  CHECK(t::wrong_elements(from(small_mdspan<double const>{
                  left.data(), {static_cast<int>(left.extent(0)), 4}, {1, static_cast<int>(rows)}}),
              value_at) == 0);
  auto const turned = os::scatter_from_root<double, J, I/X>(mesh, I = n, J = columns, os::in_order<I, J>(left));
  CHECK(t::wrong_elements(turned, [](std::int64_t j, std::int64_t i) { return value_at(i, j); }) == 0);
}

TEST_CASE("operations run on an instance that the application gives, those that are begun until they are waited for") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = uneven();
  auto const a = os::ones<double, I/X, J>(mesh, I = n, J = 4);
  auto begun = [&] {
    os::with_instance const scope{Kokkos::DefaultExecutionSpace()};
    CHECK(os::value(os::sum<>(os::map([](double x) { return 3 * x; }, a))) == 12.0 * double(n));
    return os::start_reshard<I, J/X>(a);
  }();
  CHECK(os::value(os::sum<>(std::move(begun).wait())) == 4.0 * double(n));
}

#if OSTRAKA_ENABLE_MPI
TEST_CASE("a communicator of the application's, of some processes or merged, may go when the mesh is made") {
  if (t::ranks() < 2) return;
  bool const low = t::rank() < t::ranks() / 2;
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, t::rank(), &part);
  MPI_Comm between;
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, low ? t::ranks() / 2 : 0, 5, &between);
  MPI_Comm merged;
  MPI_Intercomm_merge(between, low ? 0 : 1, &merged);
  auto const mesh = os::make_mesh(merged, X = t::ranks());
  MPI_Comm_free(&merged);
  MPI_Comm_free(&between);
  int const here = low ? t::ranks() / 2 : t::ranks() - t::ranks() / 2;
  auto const half = os::make_mesh(part, X = here);
  MPI_Comm_free(&part);
  CHECK(os::value(os::sum<>(os::ones<double, I/X>(mesh, I = 7))) == 7);
  CHECK(os::value(os::sum<>(os::full<double, I/X>(half, I = 7, low ? 1 : 2))) == (low ? 7 : 14));
}
#endif
