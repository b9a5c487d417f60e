// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Operations copy no more between a device and its host than they send and receive, and nothing if MPI takes the
/// device's memory: all collectives, halos, rings, pipelines, moves between meshes, states of rows, attention to
/// divided pages, arrays of another distribution, and derivatives of some. Mixtures of experts copy their choices and
/// the lists of rows that follow from them besides. No operation passes a whole block through the host.

#include <doctest/doctest.h>

#include <ostraka/experts.hpp>
#include <ostraka/foreign_blocks.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/local_view.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "support/byte_counter.hpp"
#include "support/mpi_main.hpp"
#include "support/no_call_check.hpp"
#include "support/sham/device.hpp"

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

// `read`, `written`: bytes that the host reads or writes besides, on all ranks together.
template <class F>
void check(std::string const& name, F const& f, std::int64_t read = 0, std::int64_t written = 0) {
  char const* const aware = std::getenv("OSTRAKA_GPU_AWARE_MPI");
  bool const copies = aware == nullptr || *aware != '1';
  moved const m = moved_by(f);
  INFO(name, " sent ", m.sent);
  if (t::ranks() > 1) CHECK(m.sent > 0);
  CHECK(m.to_host <= (copies ? m.sent : 0) + read);
  CHECK(m.to_device <= (copies ? m.sent : 0) + written);
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

// The table and the positions are promised to be in range, so the host does not read them.
TEST_CASE("pages that the mesh divides") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const pool = os::random<float, K / X, L, J>(mesh, K = 16, L = 8, J = 640, os::seed(1));
  auto const q = os::random<float, M, I, J>(mesh, M = 2, I = 3, J = 640, os::seed(2));
  auto const table = os::cast<std::int32_t>(os::zeros<std::int64_t, M, N>(mesh, M = 2, N = 4));
  auto const at = os::zeros<std::int64_t, M>(mesh, M = 2);
  check("attention", [&] {
    static_cast<void>(os::attention<I, L, J>(q, pool, pool, os::pages<K / X>(table), os::causal, os::from_positions(at),
                                             os::in_range));
  });
  sham::work const before = sham::work_done();
  os::write_at<L>(pool, os::from_positions(at), os::rename<I, L>(q), os::pages<K / X>(table), os::in_range);
  sham::work const done = sham::work_done() - before;
  CHECK(done.to_host == 0);  // nothing moves
  CHECK(done.to_device == 0);
}

namespace {

struct apply_expert {
  template <class Rows, class Dot, class Up, class Down>
  auto operator()(Rows const& rows, Dot const& dot, Up const& up, Down const& down) const {
    return dot(dot(rows, up), down);
  }
};

}  // namespace

// A row has 640 numbers. Choices, places in lists of rows, and numbers of rows of experts are one of 8 bytes each. The
// host reads the choices, and for each product how many rows an expert has; it writes five lists of rows, and the
// experts' numbers of rows.
TEST_CASE("a mixture of experts") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const x = os::random<float, I / X, J>(mesh, I = 32, J = 640, os::seed(1));
  auto const r = os::route<L, M>(os::random<float, I / X, L>(mesh, I = 32, L = 8, os::seed(2)), M = 2);
  auto const up = os::random<float, L / X, J, N>(mesh, L = 8, J = 640, N = 4, os::seed(3));
  auto const down = os::random<float, L / X, N, J>(mesh, L = 8, N = 4, J = 640, os::seed(4));
  constexpr std::int64_t choices = 32 * 2 * 8, experts = 8 * 8, lists = 5 * choices + experts;
  check(
      "dropless", [&] { static_cast<void>(os::dropless<K, L / X>(apply_expert{}, x, r.experts, r.weights, up, down)); },
      choices + 2 * experts, lists);
  check(
      "its derivative",
      [&] {
        static_cast<void>(os::value_and_grad([&](auto const& y) {
          auto const z = os::dropless<K, L / X>(apply_expert{}, y, r.experts, r.weights, up, down);
          return os::sum<>(os::multiply(z, z));
        })(x));
      },
      choices + 4 * experts, lists);
}

// Arrays in the device's memory, of which each device holds the rows that another one has in the tensor.
TEST_CASE("arrays of another distribution") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const own = 64 / t::ranks(), first = (t::ranks() - 1 - t::rank()) * own;
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::Sham> const rows("rows", static_cast<std::size_t>(own), 640);
  Kokkos::View<float**, Kokkos::LayoutLeft, Kokkos::Sham> const columns("columns", static_cast<std::size_t>(own), 640);
  check("copy_from_blocks", [&] {
    static_cast<void>(os::copy_from_blocks<float, I / X, J>(mesh, I = 64, J = 640, os::at(I = first), rows));
  });
  check("copy_from_blocks of columns", [&] {
    static_cast<void>(os::copy_from_blocks<float, I / X, J>(mesh, I = 64, J = 640, os::at(I = first), columns));
  });
  auto const a = os::random<float, I / X, J>(mesh, I = 64, J = 640, os::seed(1));
  check("copy_to_blocks", [&] { os::copy_to_blocks(a, os::at(I = first), rows); });
  check("copy_to_blocks of columns", [&] { os::copy_to_blocks(a, os::at(I = first), columns); });
  auto plan = os::plan_blocks<float, I / X, J>(mesh, I = 64, J = 640, os::at(I = first), rows);
  check("plan_blocks", [&] {
    plan.copy_from_into(a, rows);
    plan.copy_to(a, rows);
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
