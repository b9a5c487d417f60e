// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Products of small matrices and vectors on one device against CBLAS: y = A x and y = x A into an existing vector and
/// as a new one, and steps of the power method, y = A x / |A x|, by dgemv, dnrm2 and dscal.
///
///     bench/small_products [rounds=101] [json=FILE] [only=TEXT]

#include <cblas.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <ostraka/ostraka.hpp>

#include "report.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

namespace {

void compare(bench::report& table, bench::arguments const& given, int n) {
  int const rounds = given.number("rounds", 101);
  auto const mesh = os::make_mesh(os::this_device, X = 1);
  auto const A = os::random<double, I, J>(mesh, I = n, J = n);
  auto const x = os::random<double, J>(mesh, J = n);
  auto const y = os::zeros<double, I>(mesh, I = n);
  std::vector<double> hand(static_cast<std::size_t>(n));
  auto const gemv = [&](CBLAS_TRANSPOSE t, double const* from, double* to) {
    cblas_dgemv(CblasRowMajor, t, n, n, 1, A.local().data(), n, from, 1, 0, to, 1);
  };
  auto const add = [&](std::string const& what, auto const& ours, auto const& theirs) {
    std::string const name = what + ", n = " + std::to_string(n);
    if (given.wants(name))
      table.add(bench::compare(name, {{"ours", ours}, {"by hand", theirs}}, rounds, bench::seconds_here, 0.0003));
  };
  add(
      "y <- A x", [&] { os::einsum_into(y, A, x); }, [&] { gemv(CblasNoTrans, x.local().data(), hand.data()); });
  add(
      "y = A x", [&] { auto const made = os::einsum<I>(A, x); },
      [&] { gemv(CblasNoTrans, x.local().data(), hand.data()); });
  auto const z = os::zeros<double, J>(mesh, J = n);
  auto const w = os::rename<J, I>(x);
  add(
      "y <- x A", [&] { os::einsum_into(z, A, w); }, [&] { gemv(CblasTrans, x.local().data(), hand.data()); });

  // The power method, in place and with a new vector in each step.
  auto const at = os::ones<double, J>(mesh, J = n);
  auto const next = os::ones<double, I>(mesh, I = n);
  std::vector<double> vector(static_cast<std::size_t>(n), 1.0);
  auto const power = [&] {
    gemv(CblasNoTrans, vector.data(), hand.data());
    double const norm = cblas_dnrm2(n, hand.data(), 1);
    cblas_dscal(n, 1 / norm, hand.data(), 1);
    std::swap(vector, hand);
  };
  auto iterate = os::ones<double, J>(mesh, J = n);
  add(
      "power method",
      [&] {
        auto const product = os::einsum<I>(A, iterate);
        double const norm = std::sqrt(os::value(os::einsum<>(product, product)));
        iterate = os::rename<I, J>(os::scale(1 / norm, product));
      },
      power);
  auto const next_along_columns = os::rename<I, J>(next);
  add(
      "power method in place",
      [&] {
        os::einsum_into(next, A, at);
        double const by = 1 / std::sqrt(os::value(os::einsum<>(next, next)));
        os::map_into(
            at, [=](double a) { return by * a; }, next_along_columns);
      },
      power);
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments const given(argc, argv);
  os::environment const env(argc, argv);
  bench::report table("small_products", given);
  for (int n : {50, 100, 150, 200, 300, 400, 500}) compare(table, given, n);
}
