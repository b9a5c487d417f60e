// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/ghost-cells.md as the page prints them, run on 4 ranks: a code with ghost layers by hand, and
/// the same code ported, whose arrays are compared.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;

namespace ghost_cells {

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);

// the axis of sums
OSTRAKA_AXIS(K, 3);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

// by hand: what a rank has
using matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

constexpr int n = 13, m = 10;
constexpr double r = 0.2;

double start(std::int64_t i, std::int64_t j) { return 0.5 * static_cast<double>(i * i) - static_cast<double>(j); }

// The place of this rank in the grid of 2 x 2, and its arrays, initialised by hand.
struct rank_by_hand {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0, up, down, left, right;
  int first_row, rows, first_column, columns;

  rank_by_hand() {
    MPI_Comm_rank(comm, &rank);
    int const x = rank / 2, y = rank % 2;
    up = x > 0 ? rank - 2 : MPI_PROC_NULL, down = x < 1 ? rank + 2 : MPI_PROC_NULL;
    left = y > 0 ? rank - 1 : MPI_PROC_NULL, right = y < 1 ? rank + 1 : MPI_PROC_NULL;
    first_row = x * n / 2, rows = (x + 1) * n / 2 - first_row;
    first_column = y * m / 2, columns = (y + 1) * m / 2 - first_column;
  }
  template <class View>
  void set(View const& v) const {
    for (int i = 0; i < rows + 2; ++i)
      for (int j = 0; j < columns + 2; ++j) v(i, j) = 1;  // the boundary
    for (int i = 1; i <= rows; ++i)
      for (int j = 1; j <= columns; ++j) v(i, j) = start(first_row + i - 1, first_column + j - 1);
  }
};

struct by_hand : rank_by_hand {
  // arrays by hand
  matrix u{"u", std::size_t(rows + 2), std::size_t(columns + 2)};    // a ghost layer around what the rank owns
  matrix next{"next", std::size_t(rows + 2), std::size_t(columns + 2)};
  MPI_Datatype column;

  by_hand() {
    set(u);
    set(next);
    MPI_Type_vector(rows, 1, columns + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
  }
  ~by_hand() { MPI_Type_free(&column); }

  // exchange by hand
  void exchange() {
    MPI_Request q[8];
    MPI_Irecv(&u(0, 1), columns, MPI_DOUBLE, up, 0, comm, &q[0]);
    MPI_Irecv(&u(rows + 1, 1), columns, MPI_DOUBLE, down, 0, comm, &q[1]);
    MPI_Irecv(&u(1, 0), 1, column, left, 0, comm, &q[2]);
    MPI_Irecv(&u(1, columns + 1), 1, column, right, 0, comm, &q[3]);
    MPI_Isend(&u(1, 1), columns, MPI_DOUBLE, up, 0, comm, &q[4]);
    MPI_Isend(&u(rows, 1), columns, MPI_DOUBLE, down, 0, comm, &q[5]);
    MPI_Isend(&u(1, 1), 1, column, left, 0, comm, &q[6]);
    MPI_Isend(&u(1, columns), 1, column, right, 0, comm, &q[7]);
    MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
  }

  // step by hand
  void step() {
    exchange();
    for (int i = 1; i <= rows; ++i)
      for (int j = 1; j <= columns; ++j)
        next(i, j) = u(i, j) + r * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j));
    std::swap(u, next);
  }
};

// the class that keeps its arrays
class solver {
 public:
  template <class Mesh>
  solver(Mesh const& mesh, matrix const& u, matrix const& next)
      : u_(os::from_local<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>(mesh, I = n, J = m, u)),
        next_(os::from_local<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>(mesh, I = n, J = m, next)) {}

  void step() {
    auto heat = [](auto const& u) {
      return u(0, 0) + r * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0));
    };
    os::stencil_into(next_, heat, os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(u_, os::faces));
    std::swap(u_, next_);
  }

  auto const& field() const { return u_; }

 private:
  os::ghosted_array<double, os::halo<I, 1>/X, os::halo<J, 1>/Y> u_, next_;
};

template <class One, class Other>
bool same(One const& one, Other const& other) {
  for (std::size_t i = 0; i < one.extent(0); ++i)
    for (std::size_t j = 0; j < one.extent(1); ++j)
      if (one(i, j) != other(i, j)) return false;
  return one.extent(0) == other.extent(0) && one.extent(1) == other.extent(1);
}

TEST_CASE("array by array: the exchange first") {
  by_hand hand;
  rank_by_hand const here;
  auto const [rows, columns] = std::pair(here.rows, here.columns);
  matrix const u("u", std::size_t(rows + 2), std::size_t(columns + 2));
  here.set(u);

  // adopted
  auto mesh = os::make_mesh(X = 2, Y = 2);
  auto field = os::from_local<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>(mesh, I = n, J = m, u);

  // exchanged
  os::exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(field, os::faces);

  hand.exchange();
  CHECK(same(u, hand.u));
  CHECK(field.local().data() == u.data());
  CHECK(field.global_offset(I) == here.first_row);
  CHECK(field.extent(J) == columns);

  // the loops stay
  matrix const next("next", std::size_t(rows + 2), std::size_t(columns + 2));
  here.set(next);
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= columns; ++j)
      next(i, j) = u(i, j) + r * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j));
  hand.step();
  CHECK(same(next, hand.u));
}

TEST_CASE("the step, in a class") {
  by_hand hand;
  rank_by_hand const here;
  matrix const u("u", std::size_t(here.rows + 2), std::size_t(here.columns + 2));
  matrix const next("next", std::size_t(here.rows + 2), std::size_t(here.columns + 2));
  here.set(u);
  here.set(next);
  auto mesh = os::make_mesh(X = 2, Y = 2);
  solver code(mesh, u, next);
  for (int s = 0; s < 5; ++s) {
    hand.step();
    code.step();
  }
  auto const found = code.field().local();
  int different = 0;
  for (int i = 1; i <= here.rows; ++i)
    for (int j = 1; j <= here.columns; ++j)
      different += found(std::size_t(i), std::size_t(j)) != hand.u(i, j);
  CHECK(different == 0);

  // between arrays and tensors
  auto const& field = code.field();
  auto A = os::shard_map<I/X, J/Y>([](auto array) { return os::own(array); }, field);    // double[I_X, J_Y], a copy
  double mean = os::value(os::sum<>(A)) / (n * m);

  double sum = 0;
  for (int i = 1; i <= here.rows; ++i)
    for (int j = 1; j <= here.columns; ++j) sum += hand.u(i, j);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, here.comm);
  CHECK(mean == doctest::Approx(sum / (n * m)));

  // and back
  auto B = os::map([](double v) { return 2 * v; }, A);
  os::shard_map<I/X, J/Y>([](auto block, auto array) {
    os::exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(array, block);    // what it owns, and its ghost layers
    return block;
  }, B, field);
  CHECK(found(1, 1) == 2 * hand.u(1, 1));
  hand.exchange();
  CHECK(found(0, 1) == (here.up == MPI_PROC_NULL ? 1 : 2 * hand.u(0, 1)));
}

TEST_CASE("solvers: updates and sums") {
  rank_by_hand const here;
  auto const [rows, columns] = std::pair(here.rows, here.columns);
  auto mesh = os::make_mesh(X = 2, Y = 2);
  std::vector<matrix> memory;
  for (char const* name : {"x", "r", "p", "q"})
    memory.emplace_back(std::string(name), std::size_t(rows + 2), std::size_t(columns + 2));
  auto const adopt = [&](matrix const& of) {
    return os::from_local<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>(mesh, I = n, J = m, of);
  };
  for (matrix const& one : memory) here.set(one);
  auto x_ = adopt(memory[0]), r_ = adopt(memory[1]), p_ = adopt(memory[2]), q_ = adopt(memory[3]);
  double const alpha = 0.5, beta = 2;

  // an update
  os::for_each_point([=](double& p, double r) { p = r + beta * p; }, p_, r_);

  // an operator and its sum
  auto pq = os::value(os::psum<X, Y>(os::sum_over_points([](double& q, auto const& p) {
    q = 4 * p(0, 0) - p(-1, 0) - p(1, 0) - p(0, -1) - p(0, 1);
    return q * p(0, 0);
  }, q_, os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(p_, os::faces))));

  // several and their sum
  auto rr = os::value(os::psum<X, Y>(os::sum_over_points([=](double& x, double& r, double p, double q) {
    x += alpha * p;
    r -= alpha * q;
    return r * r;
  }, x_, r_, p_, q_)));

  double sum_pq = 0, sum_rr = 0;
  auto const at = [&](std::int64_t i, std::int64_t j) {
    return i < 0 || j < 0 || i >= n || j >= m ? 1.0 : (1 + beta) * start(i, j);
  };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      double const product = 4 * at(i, j) - at(i - 1, j) - at(i + 1, j) - at(i, j - 1) - at(i, j + 1);
      sum_pq += product * at(i, j);
      sum_rr += (start(i, j) - alpha * product) * (start(i, j) - alpha * product);
    }
  CHECK(pq == doctest::Approx(sum_pq));
  CHECK(rr == doctest::Approx(sum_rr));

  // several sums
  auto sums = os::psum<X, Y>(os::sum_over_points<K>([](double x, double r) {
    return std::array{x, x * r, r * r};    // on a GPU, a Kokkos::Array
  }, x_, r_));
  double xr = sums.local()(1);    // the same on all ranks

  double expected = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      double const product = 4 * at(i, j) - at(i - 1, j) - at(i + 1, j) - at(i, j - 1) - at(i, j + 1);
      expected += (start(i, j) + alpha * at(i, j)) * (start(i, j) - alpha * product);
    }
  CHECK(xr == doctest::Approx(expected));
  CHECK(sums.local()(2) == doctest::Approx(sum_rr));
  CHECK(memory[0](1, 1) == doctest::Approx(start(here.first_row, here.first_column) * (1 + alpha * (1 + beta))));
}

TEST_CASE("as the arrays lie") {
  by_hand hand;
  rank_by_hand const here;
  auto const [rows, columns] = std::pair(here.rows, here.columns);
  auto mesh = os::make_mesh(X = 2, Y = 2);

  // column-major
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", std::size_t(rows + 2),
                                                                     std::size_t(columns + 2));
  here.set(left);
  auto f = os::from_local<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>(mesh, I = n, J = m, left);

  // a component
  Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace> fields("fields", std::size_t(rows + 2),
                                                                         std::size_t(columns + 2), 3);
  here.set(Kokkos::subview(fields, Kokkos::ALL, Kokkos::ALL, 1));
  auto density = Kokkos::subview(fields, Kokkos::ALL, Kokkos::ALL, 1);
  auto g = os::from_local<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>(mesh, I = n, J = m, density);

  // a pointer
  std::vector<double> memory(std::size_t((rows + 2) * (columns + 8)));    // rows that begin on a cache line
  auto h = os::from_local<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>(
      mesh, I = n, J = m, os::strided(memory.data(), I = columns + 8, J = 1));
  here.set(h.local());

  // all at once
  auto a = os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(f, os::faces);
  auto b = os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(g, os::faces);
  auto c = os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(h, os::faces);
  std::move(a).wait();
  std::move(b).wait();
  std::move(c).wait();

  hand.exchange();
  CHECK(same(left, hand.u));
  CHECK(same(density, hand.u));
  CHECK(same(h.local(), hand.u));
}

TEST_CASE("blocks of a rule of its own") {
  rank_by_hand here;
  int const x = here.rank / 2, y = here.rank % 2;

  // the remainder by hand
  int rows = n / 2 + (x < n % 2 ? 1 : 0);  // the remainder on the first ranks
  int first_row = x * (n / 2) + std::min(x, n % 2);

  int const columns = 3 + 4 * y, first_column = 3 * y;  // unequal, as a balance of loads would have it
  here.rows = rows, here.first_row = first_row, here.columns = columns, here.first_column = first_column;
  matrix const u("u", std::size_t(rows + 2), std::size_t(columns + 2));
  here.set(u);
  auto mesh = os::make_mesh(X = 2, Y = 2);

  // the remainder
  auto field = os::from_local<double, os::halo<I, 1> / X, os::halo<J, 1> / Y>(
      mesh, I = n, J = m, os::at(I = first_row, J = first_column), u);

  os::exchange_halo_into<os::halo<I, 1> / X, os::halo<J, 1> / Y>(field, os::faces);
  int different = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      for (auto const& [di, dj] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
        int const gi = first_row + i + di, gj = first_column + j + dj;
        bool const beyond = gi < 0 || gi >= n || gj < 0 || gj >= m;
        different += u(i + 1 + di, j + 1 + dj) != (beyond ? 1 : start(gi, gj));
      }
  CHECK(different == 0);
}

TEST_CASE("values on faces") {
  rank_by_hand const here;
  auto const [rows, columns, first_row, first_column] =
      std::tuple(here.rows, here.columns, here.first_row, here.first_column);
  auto mesh = os::make_mesh(X = 2, Y = 2);

  // faces
  matrix faces("faces", std::size_t(rows + 3), std::size_t(columns + 2));  // rows + 1 faces, and a ghost layer
  auto flux = os::from_local<double, os::halo<I, 1, 2> / X, os::halo<J, 1> / Y>(
      mesh, I = n + 1, J = m, os::at(I = first_row, J = first_column),
      os::strided(faces.data(), I = columns + 2, J = 1));

  Kokkos::deep_copy(faces, -1);
  bool const is_last = here.down == MPI_PROC_NULL;
  for (int i = 0; i < rows + (is_last ? 1 : 0); ++i)
    for (int j = 0; j < columns; ++j) faces(i + 1, j + 1) = start(first_row + i, first_column + j);
  os::exchange_halo_into<os::halo<I, 1, 2> / X, os::halo<J, 1> / Y>(flux);
  int different = 0;
  for (int i = -1; i <= rows + 1; ++i)
    for (int j = -1; j <= columns; ++j) {
      int const gi = first_row + i, gj = first_column + j;
      bool const beyond = gi < 0 || gi > n || gj < 0 || gj >= m;
      different += faces(i + 1, j + 1) != (beyond ? -1 : start(gi, gj));
    }
  CHECK(different == 0);
}

TEST_CASE("some of the layers, some of the fields") {
  rank_by_hand const here;
  auto const [rows, columns] = std::pair(here.rows, here.columns);
  auto mesh = os::make_mesh(X = 2, Y = 2);

  // fewer layers
  matrix wide("wide", std::size_t(rows + 4), std::size_t(columns + 4));                   // two ghost layers
  auto inner = Kokkos::subview(wide, std::pair(1, rows + 3), std::pair(1, columns + 3));  // without the outer one
  auto both = os::from_local<double, os::halo<I, 2> / X, os::halo<J, 2> / Y>(mesh, I = n, J = m, wide);
  auto one = os::from_local<double, os::halo<I, 1> / X, os::halo<J, 1> / Y>(mesh, I = n, J = m, inner);

  here.set(inner);
  os::exchange_halo_into<os::halo<I, 1> / X, os::halo<J, 1> / Y>(one);
  auto const at = [&](int i, int j) {
    int const gi = here.first_row + i, gj = here.first_column + j;
    return gi < 0 || gi >= n || gj < 0 || gj >= m ? 1.0 : start(gi, gj);
  };
  CHECK(inner(0, 1) == at(-1, 0));
  CHECK(inner(rows + 1, columns + 1) == at(rows, columns));
  CHECK(wide(0, 2) == 0);
  os::exchange_halo_into<os::halo<I, 2> / X, os::halo<J, 2> / Y>(both);
  CHECK(wide(0, 2) == (here.up == MPI_PROC_NULL ? 0 : at(-2, 0)));
  CHECK(wide(rows + 3, 2) == (here.down == MPI_PROC_NULL ? 0 : at(rows + 1, 0)));

  // fields by number
  using grid = os::ghosted_array<double, os::halo<I, 1> / X, os::halo<J, 1> / Y>;
  std::vector<grid> fields;
  std::vector<bool> asked{true, false, true};

  std::vector<matrix> memory;
  for (char const* name : {"density", "energy", "u"}) {
    memory.emplace_back(std::string(name), std::size_t(rows + 2), std::size_t(columns + 2));
    here.set(memory.back());
    fields.push_back(os::from_local<double, os::halo<I, 1> / X, os::halo<J, 1> / Y>(mesh, I = n, J = m, memory.back()));
  }

  // those that are asked for
  std::vector<os::pending_halo<grid>> coming;
  for (std::size_t k = 0; k < fields.size(); ++k)
    if (asked[k]) coming.push_back(os::start_exchange_halo_into<os::halo<I, 1> / X, os::halo<J, 1> / Y>(fields[k]));
  for (auto& c : coming) std::move(c).wait();

  for (std::size_t k = 0; k < fields.size(); ++k) {
    CHECK(memory[k](0, 1) == (asked[k] ? at(-1, 0) : 1));
    CHECK(memory[k](rows + 1, 1) == (asked[k] ? at(rows, 0) : 1));
  }
}

TEST_CASE("wider at one end, and rings") {
  rank_by_hand const here;
  auto mesh = os::make_mesh(X = 2, Y = 2);
  auto const rows = here.rows, columns = here.columns;

  // an upwind scheme
  matrix v("v", std::size_t(rows + 3), std::size_t(columns));    // two rows before what the rank owns, and one after
  auto up = os::from_local<double, os::halo<I, 2, 1>/X, J/Y>(mesh, I = n, J = m, v);

  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) v(i + 2, j) = start(here.first_row + i, here.first_column + j);

  // a ring
  os::exchange_halo_into<os::halo<I, 2, 1>/X>(up, os::periodic);

  CHECK(v(0, 0) == start((here.first_row - 2 + n) % n, here.first_column));
  CHECK(v(rows + 2, 0) == start((here.first_row + rows) % n, here.first_column));
}

}  // namespace ghost_cells
