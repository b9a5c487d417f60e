// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::copy_from_blocks, os::copy_to_blocks and plans of them, between tensors of every sharding and boxes of other
/// distributions, in arrays of every layout. Expected values and bytes are plain loops over the elements.
// ranks: 1 2 3 4 6
// sham:

#include <doctest/doctest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/foreign_blocks.hpp>

#include "support/on_meshes.hpp"
#include "support/program_array.hpp"
#include "surface/arrays/foreign_boxes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using host = Kokkos::HostSpace;
using where_tensors_are = Kokkos::DefaultExecutionSpace::memory_space;
using left = Kokkos::View<double**, Kokkos::LayoutLeft, host>;
using right = Kokkos::View<double**, Kokkos::LayoutRight, host>;

template <class T = double>
T value_at(std::int64_t i, std::int64_t j) {
  return t::whole_number<T>(i * 7 + j % 5 + 1);
}
double exactly(std::int64_t i, std::int64_t j) { return static_cast<double>(100 * i + j + 1); }

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

template <class View>
void set(View const& v, t::matrix_box const& b) {
  auto const here = Kokkos::create_mirror_view(v);
  for (std::int64_t i = b.i0; i < b.i1; ++i)
    for (std::int64_t j = b.j0; j < b.j1; ++j) here(size(i - b.i0), size(j - b.j0)) = exactly(i, j);
  Kokkos::deep_copy(v, here);
}
template <class View>
int wrong_in(View const& v, t::matrix_box const& b) {
  auto const here = os::engine::on_host(v);
  int found = 0;
  for (std::int64_t i = b.i0; i < b.i1; ++i)
    for (std::int64_t j = b.j0; j < b.j1; ++j) found += here(size(i - b.i0), size(j - b.j0)) != exactly(i, j);
  return found;
}

// The elements that all ranks send, found by checking each: from boxes to the blocks of all, and from blocks to boxes.
template <class Tensor, class Boxes>
std::pair<std::int64_t, std::int64_t> elements_sent(t::test_mesh const& m, t::extents_by_letter const& e,
                                                    Boxes const& boxes) {
  std::pair<std::int64_t, std::int64_t> sent{0, 0};
  for (int d = 0; d < t::ranks(); ++d) {
    auto const block = t::block_on<Tensor>(m, e, d);
    t::boxes_of_rank const held = boxes(d);
    for (std::int64_t i = 0; i < e.at('I'); ++i)
      for (std::int64_t j = 0; j < e.at('J'); ++j) {
        bool const in_block = i >= block[0].begin && i < block[0].end && j >= block[1].begin && j < block[1].end;
        bool const in_boxes = t::has(held, i, j);
        sent.first += in_block && !in_boxes;
        sent.second += in_boxes && !in_block;
      }
  }
  return sent;
}

// A plan's copies agree about two numbers, by an all-reduce.
std::int64_t agreement() { return 2 * (t::ranks() - 1) * 2 * static_cast<std::int64_t>(sizeof(std::int64_t)); }

template <class Space, auto... Dims, class Mesh, class Boxes>
void check_in(Mesh const& mesh, t::test_mesh const& m, std::int64_t n, std::int64_t k, Boxes const& boxes) {
  using tensor = os::tensor<double, Dims...>;
  using array = Kokkos::View<double**, Kokkos::LayoutLeft, Space>;
  t::boxes_of_rank const mine = boxes(t::rank());
  INFO(m.text(), " ", n, " × ", k);
  std::vector<os::placed_array<os::block_position<I_axis, J_axis>, os::sizes<>, array>> in, out;
  for (t::matrix_box const& b : mine) {
    in.push_back(os::placed(os::at(I = b.i0, J = b.j0), array("in", size(b.rows()), size(b.columns()))));
    out.push_back(os::placed(os::at(I = b.i0, J = b.j0), array("out", size(b.rows()), size(b.columns()))));
    set(in.back().array, b);
  }
  auto const right_again = [&](char const* what) {
    INFO(what);
    for (std::size_t q = 0; q < mine.size(); ++q) {
      CHECK(wrong_in(out[q].array, mine[q]) == 0);
      Kokkos::deep_copy(out[q].array, 0);
    }
  };
  auto const a = os::copy_from_blocks<double, Dims...>(mesh, I = n, J = k, in);
  static_assert(std::is_same_v<std::remove_const_t<decltype(a)>, tensor>);
  CHECK(t::wrong_elements(a, exactly) == 0);
  os::copy_to_blocks(a, out);
  right_again("once");

  auto plan = os::plan_blocks<double, Dims...>(mesh, I = n, J = k, in);
  auto const sent = elements_sent<tensor>(m, {{'I', n}, {'J', k}}, boxes);
  auto const total = [](std::int64_t bytes) {
    std::int64_t sum = 0;
    for (std::int64_t b : t::numbers_of_ranks(bytes)) sum += b;
    return sum;
  };
  CHECK(total(plan.bytes_sent_from()) == 8 * sent.first);
  CHECK(total(plan.bytes_sent_to()) == 8 * sent.second);
  auto const b = os::full<double, Dims...>(mesh, I = n, J = k, -1.0);
  for (int round = 0; round < 2; ++round) {
    CHECK(t::traffic_of([&] { plan.copy_from_into(b, in); }).bytes == 8 * sent.first + agreement());
    CHECK(t::wrong_elements(b, exactly) == 0);
    CHECK(t::traffic_of([&] { plan.copy_to(b, out); }).bytes == 8 * sent.second + agreement());
    right_again("by plan");
  }
  Kokkos::deep_copy(b.local(), 0);
  CHECK(t::traffic_of([&] { plan.copy_from_into(b, in, os::unchecked); }).bytes == 8 * sent.first);
  CHECK(t::wrong_elements(b, exactly) == 0);
  CHECK(t::traffic_of([&] { plan.copy_to(b, out, os::unchecked); }).bytes == 8 * sent.second);
  right_again("unchecked");
  CHECK(t::wrong_elements(plan.copy_from(in), exactly) == 0);
}

template <auto... Dims, class Mesh, class Boxes>
void check(Mesh const& mesh, t::test_mesh const& m, std::int64_t n, std::int64_t k, Boxes const& boxes) {
  check_in<host, Dims...>(mesh, m, n, k, boxes);
}

template <class F>
void on_meshes(F const& f) {
  for (t::mesh_shape const& s : t::mesh_shapes())
    if (s.axes == "XYZ") f(os::make_mesh(X = s.sizes[0], Y = s.sizes[1], Z = s.sizes[2]), t::test_mesh(s));
}

template <class Mesh, class Boxes>
void check_shardings(Mesh const& mesh, t::test_mesh const& m, std::int64_t n, std::int64_t k, Boxes const& boxes) {
  check<I/X, J>(mesh, m, n, k, boxes);
  check<I/X, J/Y>(mesh, m, n, k, boxes);
  check<I/Y, J/Z>(mesh, m, n, k, boxes);
  check<I, J/X/Y>(mesh, m, n, k, boxes);
  check<I, J>(mesh, m, n, k, boxes);
}

}  // namespace

TEST_CASE("rows of every division, of all small extents") {
  on_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (std::int64_t n : {0, 1, 2, 3, 13})
      for (std::int64_t k : {n == 2 ? 0 : 3, 1})
        for (t::division how : {t::division::first_have_more, t::division::rounded_up, t::division::all_on_the_last,
                                t::division::reversed})
          check_shardings(mesh, m, n, k, [=](int r) { return t::rows_of(how, n, k, r, t::ranks()); });
  });
}

TEST_CASE("columns, and fields of a board: any number of boxes on each device") {
  on_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (std::int64_t n : {0, 1, 2, 7})
      for (std::int64_t k : {n == 1 ? 0 : 9, 2, 3}) {
        check<I/Y, J/X>(mesh, m, n, k,
                        [=](int r) { return t::columns_of(t::division::first_have_more, n, k, r, t::ranks()); });
        check_shardings(mesh, m, n, k, [=](int r) { return t::fields_of(n, k, r, t::ranks()); });
      }
  });
}

TEST_CASE("every kind of array: layouts, parts of larger ones, strided memory, dimensions in another order") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 3 * t::ranks() + 2, k = 4;
  t::matrix_box const b = t::rows_of(t::division::first_have_more, n, k, t::rank(), t::ranks())[0];
  std::size_t const rows = size(b.rows()), columns = size(k);
  auto const there_and_back = [&](auto const& from, auto&& to, auto const& seen) {
    auto const a = os::copy_from_blocks<double, I/X, J>(mesh, I = n, J = k, os::at(I = b.i0), from);
    CHECK(t::wrong_elements(a, exactly) == 0);
    os::copy_to_blocks(a, os::at(I = b.i0, J = 0), to);
    CHECK(wrong_in(seen, b) == 0);
  };
  left const in("in", rows, columns), out("out", rows, columns);
  set(in, b);
  there_and_back(in, out, out);
  right const r("r", rows, columns);
  there_and_back(in, r, r);
  there_and_back(r, out, out);
  right const larger("larger", rows + 3, 2 * columns + 1);
  auto const part =
      Kokkos::subview(larger, std::pair(std::size_t{2}, rows + 2), std::pair(std::size_t{1}, columns + 1));
  set(part, b);
  right const also("also", rows + 3, 2 * columns + 1);
  auto const part_of_also =
      Kokkos::subview(also, std::pair(std::size_t{2}, rows + 2), std::pair(std::size_t{1}, columns + 1));
  there_and_back(part, part_of_also, part_of_also);
  double outside = 0;
  for (std::size_t q = 0; q < also.size(); ++q) outside += also.data()[q];
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) outside -= part_of_also(i, j);
  CHECK(outside == 0);  // nothing else was written

  Kokkos::View<double const**, Kokkos::LayoutLeft, host> const constant = in;
  there_and_back(constant, r, r);
  std::int64_t const ld = b.rows() + 2;
  t::program_array<double> const memory(size(ld * k + 1));
  os::copy_to_blocks(os::copy_from_blocks<double, I/X, J>(mesh, I = n, J = k, os::at(I = b.i0), in), os::at(I = b.i0),
                     os::sizes(J = k, I = b.rows()), os::strided(memory.data(), J = ld, I = 1));
  memory.fetch();
  CHECK(wrong_in(Kokkos::View<double const**, Kokkos::LayoutLeft, host>(memory.begin(), size(ld), columns), b) == 0);
  auto const again =
      os::copy_from_blocks<double, I/X, J>(mesh, I = n, J = k, os::at(I = b.i0), os::sizes(I = b.rows(), J = k),
                                             os::strided(static_cast<double const*>(memory.data()), I = 1, J = ld));
  CHECK(t::wrong_elements(again, exactly) == 0);

  right const swapped("swapped", columns, rows);  // J, I
  os::copy_to_blocks(again, os::at(I = b.i0), os::in_order<J, I>(swapped));
  for (std::int64_t i = b.i0; i < b.i1; ++i)
    for (std::int64_t j = 0; j < k; ++j) CHECK(swapped(size(j), size(i - b.i0)) == exactly(i, j));
}

TEST_CASE("lists of one axis, no axes at all") {
  auto const mesh = os::make_mesh(X = t::ranks());
  for (std::int64_t n : {0, 1, 2, 3, 11}) {
    t::matrix_box const b = t::rows_of(t::division::rounded_up, n, 1, t::rank(), t::ranks())[0];
    std::vector<std::complex<float>> in, out(size(b.rows()));
    for (std::int64_t i = b.i0; i < b.i1; ++i) in.emplace_back(static_cast<float>(i), -1.0f);
    auto const a = os::copy_from_blocks<std::complex<float>, I/X>(mesh, I = n, os::at(I = b.i0), in);
    auto const block = t::host_block(a);
    for (std::size_t i = 0; i < block.extent(0); ++i)
      CHECK(block(i) ==
            Kokkos::complex<float>(static_cast<float>(static_cast<std::int64_t>(i) + a.range(0).begin), -1));
    os::copy_to_blocks(a, os::at(I = b.i0), out);
    CHECK(out == in);
    auto plan = os::plan_blocks<std::complex<float>, I/X>(mesh, I = n, os::at(I = b.i0), in);
    out.assign(out.size(), {});
    plan.copy_to(a, out);
    CHECK(out == in);
  }
  using scalar = Kokkos::View<double, host>;
  std::vector<decltype(os::placed(os::at(), scalar()))> boxes;
  scalar const one("one");
  one() = 42;
  if (t::rank() == t::ranks() - 1) boxes.push_back(os::placed(os::at(), one));
  auto const a = os::copy_from_blocks<double>(mesh, boxes);
  CHECK(os::value(a) == 42);
}

namespace {

template <class T>
void check_elements() {
  auto const mesh = os::make_mesh(X = t::ranks());
  using element = typename os::tensor<T, I/X, J>::value_type;
  std::int64_t const n = 2 * t::ranks() + 1, k = 3;
  t::matrix_box const b = t::rows_of(t::division::reversed, n, k, t::rank(), t::ranks())[0];
  Kokkos::View<element**, Kokkos::LayoutLeft, host> const in("in", size(b.rows()), size(k)),
      out("out", size(b.rows()), size(k));
  for (std::int64_t i = b.i0; i < b.i1; ++i)
    for (std::int64_t j = 0; j < k; ++j) in(size(i - b.i0), size(j)) = value_at<element>(i, j);
  auto const a = os::copy_from_blocks<T, I, J/X>(mesh, I = n, J = k, os::at(I = b.i0), in);
  CHECK(t::wrong_elements(a, value_at<element>) == 0);
  os::copy_to_blocks(a, os::at(I = b.i0), out);
  for (std::size_t i = 0; i < in.extent(0); ++i)
    for (std::size_t j = 0; j < size(k); ++j) CHECK(out(i, j) == in(i, j));
}

}  // namespace

TEST_CASE("float") { check_elements<float>(); }
TEST_CASE("complex") { check_elements<Kokkos::complex<double>>(); }
TEST_CASE("std::complex") { check_elements<std::complex<float>>(); }
TEST_CASE("int8") { check_elements<std::int8_t>(); }
TEST_CASE("int64") { check_elements<std::int64_t>(); }
TEST_CASE("bfloat16") { check_elements<os::bfloat16>(); }

TEST_CASE("distributions that agree: a local copy, and none where the array is the tensor's own memory") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks() + 1, k = 3;
  auto const a =
      os::generate<double, I/X, J>(mesh, I = n, J = k, [](std::int64_t i, std::int64_t j) { return exactly(i, j); });
  std::int64_t const begin = a.range(0).begin;
  auto plan = os::plan_blocks<double, I/X, J>(mesh, I = n, J = k, os::at(I = begin), a.local());
  CHECK(plan.bytes_sent_from() == 0);
  CHECK(plan.bytes_sent_to() == 0);
  right const copy("copy", a.local().extent(0), size(k));
  CHECK(t::traffic_of([&] { plan.copy_to(a, copy); }).bytes == agreement());
  for (std::size_t i = 0; i < copy.extent(0); ++i)
    for (std::size_t j = 0; j < size(k); ++j)
      CHECK(copy(i, j) == exactly(static_cast<std::int64_t>(i) + begin, static_cast<std::int64_t>(j)));
  plan.copy_from_into(a, a.local());
  plan.copy_to(a, a.local());
  CHECK(t::wrong_elements(a, exactly) == 0);
}

TEST_CASE("three axes, and a mesh axis that nothing is divided along") {
  auto const mesh =
      os::make_mesh(X = t::ranks() % 2 == 0 ? t::ranks() / 2 : t::ranks(), Y = t::ranks() % 2 == 0 ? 2 : 1);
  std::int64_t const n = 5, k = 3, l = 4;
  t::matrix_box const b = t::rows_of(t::division::first_have_more, n, k, t::rank(), t::ranks())[0];
  Kokkos::View<float***, Kokkos::LayoutLeft, host> const in("in", size(b.rows()), size(k), size(l));
  Kokkos::View<float***, Kokkos::LayoutRight, host> const out("out", size(b.rows()), size(k), size(l));
  auto const at = [](std::int64_t i, std::int64_t j, std::int64_t q) {
    return static_cast<float>(100 * i + 10 * j + q);
  };
  for (std::int64_t i = b.i0; i < b.i1; ++i)
    for (std::int64_t j = 0; j < k; ++j)
      for (std::int64_t q = 0; q < l; ++q) in(size(i - b.i0), size(j), size(q)) = at(i, j, q);
  auto const a = os::copy_from_blocks<float, I, J, K/X>(mesh, I = n, J = k, K = l, os::at(I = b.i0), in);
  int found = 0;
  auto const block = t::host_block(a);
  for (std::size_t i = 0; i < block.extent(0); ++i)
    for (std::size_t j = 0; j < block.extent(1); ++j)
      for (std::size_t q = 0; q < block.extent(2); ++q)
        found += block(i, j, q) != at(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j),
                                      static_cast<std::int64_t>(q) + a.range(2).begin);
  CHECK(found == 0);
  os::copy_to_blocks(a, os::at(I = b.i0), out);
  for (std::size_t i = 0; i < in.extent(0); ++i)
    for (std::size_t j = 0; j < size(k); ++j)
      for (std::size_t q = 0; q < size(l); ++q) CHECK(out(i, j, q) == in(i, j, q));
}

namespace {

// Arrays on the host, and where tensors are stored.
template <auto... Dims, class Mesh, class Boxes>
void check_both(Mesh const& mesh, t::test_mesh const& m, std::int64_t n, std::int64_t k, Boxes const& boxes) {
  check<Dims...>(mesh, m, n, k, boxes);
  check_in<where_tensors_are, Dims...>(mesh, m, n, k, boxes);
}

}  // namespace

// A GPU's memory needs no pretence; what an MPI that takes it gets from there, tests/sham/copies.cpp tells.
TEST_CASE("memory that the host keeps away from, by an MPI that takes it and by one that does not") {
  namespace e = os::engine;
  std::vector<e::emulated_gpu> pretended{e::emulated_gpu::none};
  if (e::host_accessible<Kokkos::DefaultExecutionSpace>) pretended = {e::emulated_gpu::direct, e::emulated_gpu::staged};
  for (e::emulated_gpu what : pretended) {
    e::emulated = what;
    on_meshes([](auto const& mesh, t::test_mesh const& m) {
      check_both<I/X, J/Y>(mesh, m, 7, 5, [](int r) { return t::fields_of(7, 5, r, t::ranks()); });
      check_both<I/Y, J>(mesh, m, 13, 3,
                           [](int r) { return t::rows_of(t::division::first_have_more, 13, 3, r, t::ranks()); });
    });
    e::emulated = e::emulated_gpu::none;
  }
}
