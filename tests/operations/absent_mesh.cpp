// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The vocabulary on processes that are not devices of the mesh: the same program runs there, on tensors without
/// elements, and sends nothing. There, too, results without axes have room for one element, and no value for it.
// ranks: 1 3
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// A mesh X=n on the first n ranks, absent on the others.
auto mesh_on_first(int n) {
#if OSTRAKA_ENABLE_MPI
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, t::rank() < n ? 0 : MPI_UNDEFINED, t::rank(), &part);
  auto const mesh = os::make_mesh(part, X = n);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  return mesh;
#else
  return os::make_mesh(X = n);
#endif
}

template <class A>
void check(bool here, A const& a) {
  if (!here && A::rank > 0) CHECK(a.local().size() == 0);
  CHECK(a.extents().size() == static_cast<std::size_t>(A::rank));
}

}  // namespace

TEST_CASE("every family, of tensors with two axes, one and none") {
  auto const mesh = mesh_on_first(t::ranks() == 1 ? 1 : 2);
  bool const here = !mesh.absent();
  auto const a = os::full<double, I / X, J>(mesh, I = 5, J = 3, 1.0);
  auto const b = os::full<double, I, J>(mesh, I = 5, J = 3, 1.0);
  auto const v = os::full<double, I / X>(mesh, I = 5, 1.0);
  auto const u = os::full<double, J>(mesh, J = 3, 1.0);
  auto const z = os::full<double>(mesh, 1.0);
  auto const one = os::full<std::int64_t>(mesh, 1);
  auto const index = os::full<std::int32_t, L / X>(mesh, L = 4, 2);
  auto const rows = os::full<double, L / X, J>(mesh, L = 4, J = 3, 1.0);

  check(here, os::argmax<>(a));
  check(here, os::argmin<J>(a));
  check(here, os::variance<>(v));
  check(here, os::norm<>(u));
  check(here, os::count<>(a));
  check(here, os::all<J>(a));
  check(here, os::cumsum<I / X>(v));
  check(here, os::sort<J>(u));
  check(here, os::argsort<J>(a));
  check(here, os::top_k<J, K>(u, K = 2).values);
  check(here, os::sample<I / X>(v, os::seed(1), os::top_k(2), os::top_p(0.5)));
  check(here, os::softmax<I / X>(v));
  check(here, os::log_sum_exp<J>(u));
  check(here, os::cross_entropy<I / X>(v, one));
  check(here, os::cross_entropy<I / X>(v, one, os::label_smoothing(0.1), os::z_loss(0.1)));
  check(here, os::mean_where<J>(a, os::not_equal(a, 0.0)));
  check(here, os::rms_norm<J>(u));
  check(here, os::layer_norm<I / X>(a));
  check(here, os::roll<I / X>(v, 1));
  check(here, os::window<I / X>(a, 1, 4));
  check(here, os::concatenate<I / X>(a, a));
  check(here, os::transpose<J, I>(a));
  check(here, os::broadcast<K>(z, K = 4));
  check(here, os::merge<I, J, K>(b));
  check(here, os::take<I, L, J>(a, index));
  check(here, os::take<J>(u, one));
  check(here, os::scatter_add<I, I / X, J>(rows, index, I = 5));
  check(here, os::scatter_add<J, J>(z, one, J = 3));
  check(here, os::one_hot<float, K>(one, K = 4));
  check(here, os::dropout(z, 0.5, os::seed(1)));
  check(here, os::normal<double>(mesh));
  check(here, os::relu(v));
  os::write_at<I / X>(a, 2, u);
  if (here)
    CHECK_THROWS_AS(static_cast<void>(os::take<I, L, J>(a, os::full<std::int32_t, L / X>(mesh, L = 4, 7))), os::error);
  auto const r = os::value_and_grad([](auto const& p) { return os::sum<>(os::softmax<I / X>(p) * p); })(a);
  check(here, r.gradient);
}
