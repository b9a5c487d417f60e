// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// C[I_X, K_Y] = A[I_X, J_Y] · B[J_X, K_Y] on a grid X × Y against ScaLAPACK's pdgemm on the same grid of the same
/// ranks, with ScaLAPACK's own block-cyclic layout at block sizes that suit it, and with one block per rank, which is
/// our layout. "ScaLAPACK" is the fastest of these in the median of the same run. Both results are preallocated (ours
/// by os::einsum_into). The seconds are the slowest rank's.
///
///     mpirun -n 2 bench/scalapack [rounds=9] [only=TEXT] [ways=1] [json=FILE]

#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <ostraka/ostraka.hpp>

#include "report.hpp"
#include "seconds_of_all.hpp"

extern "C" {
void Cblacs_pinfo(int* rank, int* ranks);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, char const* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(int const* extent, int const* block, int const* at, int const* first, int const* count);
void descinit_(int* descriptor, int const* rows, int const* columns, int const* row_block, int const* column_block,
               int const* first_row, int const* first_column, int const* context, int const* leading, int* info);
void pdgemm_(char const* transpose_a, char const* transpose_b, int const* m, int const* n, int const* k,
             double const* alpha, double const* a, int const* ia, int const* ja, int const* a_descriptor,
             double const* b, int const* ib, int const* jb, int const* b_descriptor, double const* beta, double* c,
             int const* ic, int const* jc, int const* c_descriptor);
}

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

namespace {

// The elements, from their global indices.
struct element_of {
  double phase;
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j) const {
    double const v = phase + 0.6180339887498949 * static_cast<double>(i) + 0.7548776662466927 * static_cast<double>(j);
    return v - static_cast<double>(static_cast<std::int64_t>(v)) - 0.5;
  }
};

// A process grid of ScaLAPACK.
struct grid {
  int context = 0;
  int rows, columns;
  int row = 0, column = 0;

  grid(int x, int y) : rows(x), columns(y) {
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "R", x, y);  // row-major, as the mesh numbers its devices
    int n = 0, m = 0;
    Cblacs_gridinfo(context, &n, &m, &row, &column);
  }
  ~grid() { Cblacs_gridexit(context); }
  grid(grid const&) = delete;
  grid& operator=(grid const&) = delete;
};

// This rank's part of a block-cyclic matrix, column-major.
class cyclic_matrix {
 public:
  cyclic_matrix(grid const& g, int rows, int columns, int row_block, int column_block)
      : grid_(g), row_block_(row_block), column_block_(column_block) {
    int const first = 0;
    rows_ = numroc_(&rows, &row_block, &g.row, &first, &g.rows);
    columns_ = numroc_(&columns, &column_block, &g.column, &first, &g.columns);
    int const leading = rows_ > 0 ? rows_ : 1;
    int info = 0;
    descinit_(descriptor_, &rows, &columns, &row_block, &column_block, &first, &first, &g.context, &leading, &info);
    data_.resize(static_cast<std::size_t>(leading) * static_cast<std::size_t>(columns_) + 1);
  }

  /// f(element, global row, global column)
  template <class F>
  void for_each(F const& f) {
    for (int j = 0; j < columns_; ++j)
      for (int i = 0; i < rows_; ++i)
        f(data_[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows_) + static_cast<std::size_t>(i)],
          global(i, row_block_, grid_.row, grid_.rows), global(j, column_block_, grid_.column, grid_.columns));
  }
  [[nodiscard]] double* data() { return data_.data(); }
  [[nodiscard]] int const* descriptor() const { return descriptor_; }

 private:
  static int global(int here, int block, int at, int count) {
    return (here / block * count + at) * block + here % block;
  }

  grid const& grid_;
  int row_block_, column_block_;
  int rows_ = 0, columns_ = 0;
  int descriptor_[9];
  std::vector<double> data_;
};

// A weighted sum of all elements, the same for every layout of the same matrix.
double sum_over_ranks(double here) {
  MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return here;
}

struct cyclic_product {
  grid const& g;
  int m, n, k;
  cyclic_matrix a, b, c;

  cyclic_product(grid const& on, int rows, int columns, int inner, int i_block, int k_block, int ja_block, int jb_block)
      : g(on),
        m(rows),
        n(columns),
        k(inner),
        a(on, m, k, i_block, ja_block),
        b(on, k, n, jb_block, k_block),
        c(on, m, n, i_block, k_block) {
    a.for_each([](double& v, int i, int j) { v = element_of{0.1}(i, j); });
    b.for_each([](double& v, int i, int j) { v = element_of{0.2}(i, j); });
  }

  void run() {
    double const one = 1, zero = 0;
    int const first = 1;
    pdgemm_("N", "N", &m, &n, &k, &one, a.data(), &first, &first, a.descriptor(), b.data(), &first, &first,
            b.descriptor(), &zero, c.data(), &first, &first, c.descriptor());
  }

  double weighed() {
    double sum = 0;
    c.for_each([&](double v, int i, int j) { sum += v * element_of{0.3}(i, j); });
    return sum_over_ranks(sum);
  }
};

void compare(bench::report& out, bench::arguments const& given, bool root, std::string const& size, int m, int n, int k,
             int x, int y) {
  std::string const name = size + " " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n) + " on " +
                           std::to_string(x) + "x" + std::to_string(y);
  if (!given.wants(name)) return;
  auto const mesh = os::make_mesh(X = x, Y = y);
  auto const a = os::generate<double, I/X, J/Y>(mesh, I = m, J = k, element_of{0.1});
  auto const b = os::generate<double, J/X, K/Y>(mesh, J = k, K = n, element_of{0.2});
  auto const weights = os::generate<double, I/X, K/Y>(mesh, I = m, K = n, element_of{0.3});
  auto const c = os::einsum<I/X, K/Y>(a, b);
  std::vector<bench::contestant> all = {{"einsum_into", [&] { os::einsum_into(c, a, b); }}};
  double ours = 0;
  for (std::size_t i = 0; i < c.local().size(); ++i) ours += c.local().data()[i] * weights.local().data()[i];
  ours = sum_over_ranks(ours);

  grid const g(x, y);
  std::vector<std::unique_ptr<cyclic_product>> theirs;
  std::string remark;
  auto const enter = [&](std::string const& way, int i_block, int k_block, int ja_block, int jb_block) {
    theirs.push_back(std::make_unique<cyclic_product>(g, m, n, k, i_block, k_block, ja_block, jb_block));
    cyclic_product* const p = theirs.back().get();
    p->run();
    if (!(std::abs(p->weighed() - ours) <= 1e-9 * (1 + std::abs(ours)))) remark = "DIFFERENT RESULTS";
    all.push_back({way, [p] { p->run(); }});
  };
  for (int block : {32, 64, 128, 256}) enter("pdgemm blocks of " + std::to_string(block), block, block, block, block);
  // pdgemm wants J in the same blocks in A and in B: one block per rank where one side is not divided, else the finer
  // blocks.
  int const inner = k / (x > y ? x : y);
  enter("pdgemm one block a rank", m / x, n / y, inner, inner);

  bench::comparison const timed = bench::compare(name, all, given.number("rounds", 9), bench::seconds_of_all);
  std::size_t best = 1;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (timed.seconds[i].median < timed.seconds[best].median) best = i;
  if (root && given.number("ways", 0))
    for (std::size_t i = 0; i < all.size(); ++i)
      std::printf("    %-36s %10s\n", all[i].name.c_str(), bench::show_seconds(timed.seconds[i].median).c_str());
  bench::comparison shown;
  shown.what = name;
  shown.names = {timed.names[0], timed.names[best]};
  shown.seconds = {timed.seconds[0], timed.seconds[best]};
  shown.ratio = {{1, 1, 1}, timed.ratio[best]};
  shown.numbers["GFlop/s"] = 2e-9 * m * n * k / timed.seconds[0].median;
  shown.remark = remark;
  out.add(shown);
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  bench::arguments const given(argc, argv);
  int rank = 0, p = 1;
  Cblacs_pinfo(&rank, &p);
  {
    bench::report report("scalapack", given, rank == 0);
    report.condition("ranks", std::to_string(p));
    report.condition("element", "double");
    char const* const core = std::getenv("OPENBLAS_CORETYPE");
    report.condition("OpenBLAS core type", core ? core : "as detected");
    int const x = p >= 4 ? p / 2 : 1;
    compare(report, given, rank == 0, "square", 1024, 1024, 1024, x, p / x);
    compare(report, given, rank == 0, "square", 2048, 2048, 2048, x, p / x);
    compare(report, given, rank == 0, "tall", 16384, 256, 256, p, 1);
    compare(report, given, rank == 0, "tall inner", 512, 512, 8192, x, p / x);
    compare(report, given, rank == 0, "small", 128, 128, 128, x, p / x);
  }
}
