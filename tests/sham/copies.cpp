// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Operations copy no more between a device and its host than they send and receive, and nothing if MPI takes the
/// device's memory: all collectives, halos, rings, pipelines, moves between meshes, states of rows, and derivatives of
/// some. No operation passes a whole block through the host.

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/local_view.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "support/byte_counter.hpp"
#include "support/mpi_main.hpp"
#include "support/sham/device.hpp"
#include "support/sham/no_call_check.hpp"

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

namespace {

using os::partial;

struct moved {
  std::int64_t sent = 0;  // by all ranks, as is what was copied
  std::int64_t to_host = 0, to_device = 0;
};

template <class F>
moved moved_by(F const& f) {
  sham::work const before = sham::work_done();
  moved m;
  m.sent = t::traffic_of(f).bytes;
  sham::work const done = sham::work_done() - before;
  for (std::int64_t const n : t::numbers_of_ranks(done.to_host)) m.to_host += n;
  for (std::int64_t const n : t::numbers_of_ranks(done.to_device)) m.to_device += n;
  return m;
}

template <class F>
void check(std::string const& name, F const& f) {
  char const* const aware = std::getenv("OSTRAKA_GPU_AWARE_MPI");
  bool const copies = aware == nullptr || *aware != '1';
  moved const m = moved_by(f);
  INFO(name);
  if (t::ranks() > 1) CHECK(m.sent > 0);
  CHECK(m.to_host <= (copies ? m.sent : 0));
  CHECK(m.to_device <= (copies ? m.sent : 0));
}

}  // namespace

// On one rank nothing is sent, so nothing is copied. The arrays are too long for an all-reduce of MPI's (64 KiB).
TEST_CASE("collectives") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::random<float, I / X, J>(mesh, I = 64, J = 640, os::seed(1));
  auto const columns = os::random<float, I, J / X>(mesh, I = 64, J = 640, os::seed(2));
  os::tensor<float, I, J, partial(X)> const sums =
      os::einsum<I, J, partial(X)>(os::random<float, I, K / X>(mesh, I = 64, K = 8, os::seed(3)),
                                   os::random<float, K / X, J>(mesh, K = 8, J = 640, os::seed(4)));
  check("all_gather", [&] { static_cast<void>(os::all_gather<X>(a)); });
  check("all_gather of columns", [&] { static_cast<void>(os::all_gather<X>(columns)); });
  check("all_reduce", [&] { static_cast<void>(os::all_reduce<X>(sums)); });
  check("reduce_scatter", [&] { static_cast<void>(os::reshard<I / X, J>(sums)); });
  check("reduce_scatter of columns", [&] { static_cast<void>(os::reshard<I, J / X>(sums)); });
  check("all_to_all", [&] { static_cast<void>(os::reshard<I, J / X>(a)); });
  check("sum", [&] { static_cast<void>(os::sum<J>(a)); });
  check("max", [&] { static_cast<void>(os::max<J>(a)); });
  check("einsum", [&] {
    static_cast<void>(os::einsum<I, K>(columns, os::random<float, J / X, K>(mesh, J = 640, K = 300, os::seed(5))));
  });
  check("begun and waited for", [&] {
    auto gathered = os::start_reshard<I, J>(a);
    auto reduced = os::start_reshard<I, J / X>(sums);
    static_cast<void>(std::move(gathered).wait());
    static_cast<void>(std::move(reduced).wait());
  });
}

TEST_CASE("moves") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::random<float, I / X, J>(mesh, I = 64, J = 32, os::seed(1));
  auto const uneven = os::random<float, I / X, J>(mesh, I = 61, J = 32, os::seed(2));
  check("all_gather of uneven blocks", [&] { static_cast<void>(os::all_gather<X>(uneven)); });
  check("all_to_all of uneven blocks", [&] { static_cast<void>(os::reshard<I, J / X>(uneven)); });
  check("reshard_into", [&] { os::reshard_into(os::zeros<float, I, J>(mesh, I = 64, J = 32), a); });
  auto const others = os::make_mesh(Y = t::ranks());
  check("reshard to another mesh", [&] { static_cast<void>(os::reshard<I, J / Y>(a, others)); });
  check("roll", [&] { static_cast<void>(os::roll<I / X>(a, 3)); });
  check("flip", [&] { static_cast<void>(os::flip<I / X>(a)); });
  check("concatenate", [&] { static_cast<void>(os::concatenate<I / X>(uneven, a)); });
  check("stripe", [&] { static_cast<void>(os::stripe<I / X>(a)); });
  check("take",
        [&] { static_cast<void>(os::take<I, K, J>(a, os::iota<std::int64_t, K>(mesh, K = 16), os::in_range)); });
  check("scatter_add", [&] {
    static_cast<void>(os::scatter_add<K, K, J>(a, os::iota<std::int64_t, I / X>(mesh, I = 64), K = 64, os::in_range));
  });
}

// Each merges states that are not numbers to add: a largest element and a sum, mean and deviations, a value and its
// place.
TEST_CASE("rows that the mesh divides") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::random<float, I, J / X>(mesh, I = 64, J = 66, os::seed(1));
  auto const labels = os::cast<std::int64_t>(os::zeros<float, I>(mesh, I = 64));
  check("softmax", [&] { static_cast<void>(os::softmax<J / X>(a)); });
  check("log_sum_exp", [&] { static_cast<void>(os::log_sum_exp<J / X>(a)); });
  check("rms_norm", [&] { static_cast<void>(os::rms_norm<J / X>(a)); });
  check("layer_norm", [&] { static_cast<void>(os::layer_norm<J / X>(a)); });
  check("cross_entropy", [&] { static_cast<void>(os::cross_entropy<J / X>(a, labels)); });
  check("argmax", [&] { static_cast<void>(os::argmax<I>(a)); });
  check("variance", [&] { static_cast<void>(os::variance<I>(a)); });
  check("norm", [&] { static_cast<void>(os::norm<I>(a)); });
  check("cumsum", [&] { static_cast<void>(os::cumsum<J / X>(a)); });
  check("top_k", [&] { static_cast<void>(os::top_k<J / X, L>(a, L = 3)); });
  check("sample", [&] { static_cast<void>(os::sample<J / X>(a, os::seed(2), os::top_k(5), os::top_p(0.9))); });
  check("the derivative of layer_norm", [&] {
    static_cast<void>(os::value_and_grad([](auto const& x) {
      auto const y = os::layer_norm<J / X>(x);
      return os::sum<>(os::multiply(y, y));
    })(a));
  });
}

TEST_CASE("bodies") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::random<double, I / X, J>(mesh, I = 64, J = 30, os::seed(1));
  auto const uneven = os::random<double, I / X, J>(mesh, I = 61, J = 30, os::seed(2));
  auto const in_body = [&](char const* name, auto const& of_block) {
    check(name, [&] { static_cast<void>(os::shard_map<os::dims<I / X, J>{}>(of_block, a)); });
  };
  in_body("psum", [](auto const& b) { return os::pvary<X>(os::psum<X>(b)); });
  in_body("psum_scatter",
          [](auto const& b) { return os::all_gather<J / X>(os::psum_scatter<J / X>(os::window<J>(b, 0, 28))); });
  in_body("all_to_all", [](auto const& b) { return os::all_to_all<J / X, I / X>(os::all_to_all<I / X, J / X>(b)); });
  if (t::ranks() > 1)
    in_body("ppermute", [](auto const& b) { return os::ppermute<X>(b, {{0, t::ranks() - 1}, {t::ranks() - 1, 0}}); });
  in_body("pbroadcast", [](auto const& b) { return os::pvary<X>(os::pbroadcast<X>(b, 0)); });
  in_body("gather_to and scatter_from",
          [](auto const& b) { return os::scatter_from<I / X>(os::gather_to<I / X>(b, 0), 0); });
  in_body("inclusive_scan", [](auto const& b) { return os::inclusive_scan<X>(b); });
  in_body("preduce", [](auto const& b) {
    return os::pvary<X>(os::preduce<X>([](auto const& x, auto const& y) { return os::add(x, y); }, b));
  });
  check("all_gather of uneven blocks", [&] {
    static_cast<void>(os::shard_map<os::dims<J>{}>(
        [](auto const& b) { return os::sum<J>(os::all_gather_invariant<I / X>(b)); }, uneven));
  });
  check("the derivative of a halo", [&] {
    static_cast<void>(os::value_and_grad([](auto const& x) {
      auto const y =
          os::shard_map<I / X, J>([](auto const& b) { return os::own(os::exchange_halo<os::halo<I, 1> / X>(b)); }, x);
      return os::sum<>(os::multiply(y, y));
    })(a));
  });
  check("shift",
        [&] { static_cast<void>(os::shard_map<os::dims<I / X, J>{}>([](auto b) { return os::shift<X>(b, 1); }, a)); });
  check("halo", [&] {
    static_cast<void>(os::shard_map<os::dims<I / X, J>{}>(
        [](auto b) { return os::own(os::exchange_halo<os::halo<I, 1> / X>(b)); }, a));
  });
}

TEST_CASE("ring attention") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const q = os::random<float, I / X, J>(mesh, I = 64, J = 8, os::seed(1));
  auto const k = os::random<float, K / X, J>(mesh, K = 64, J = 8, os::seed(2));
  check("ring", [&] { static_cast<void>(os::attention<I / X, K / X, J>(q, k, k, os::ring)); });
  check("both ways, causal",
        [&] { static_cast<void>(os::attention<I / X, K / X, J>(q, k, k, os::ring_both_ways, os::causal)); });
  check("its derivative", [&] {
    static_cast<void>(os::value_and_grad([](auto const& x, auto const& y) {
      auto const z = os::attention<I / X, K / X, J>(x, y, y, os::ring);
      return os::sum<>(os::multiply(z, z));
    })(q, k));
  });
}

TEST_CASE("a pipeline") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const x = os::random<float, I, J>(mesh, I = 8, J = 64, os::seed(1));
  auto const w = os::random<float, L / X, M, J>(mesh, L = t::ranks(), M = 1, J = 64, os::seed(2));
  check("gpipe", [&] {
    static_cast<void>(os::pipeline<os::gpipe, L / X, I>(
        os::microbatches = 4, [](auto const& h, auto const& v) { return os::add(h, os::sum<J>(v)); }, x, w));
  });
}

TEST_CASE("nothing was reported") { CHECK(sham::take_reports().empty()); }
