// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A short attention is one kernel, which copies nothing and for which the host does not wait, whatever its options; a
/// long one is products. The flops that are counted are those of the price. A team may have any number of threads.

#include <doctest/doctest.h>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "support/mpi_main.hpp"
#include "support/no_call_check.hpp"
#include "support/sham/device.hpp"

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(H);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

namespace {

// The work of a second call, whose result lives on: a 16-bit tensor that ends is a launch of Kokkos 3.4's.
template <class F>
sham::work work_of(F const& f) {
  auto const first = f();
  sham::work const before = sham::work_done();
  auto const second = f();
  return sham::work_done() - before;
}

template <class F>
void is_one_kernel(char const* name, F const& f) {
  INFO(std::string(name));
  sham::work const done = work_of(f);
  CHECK(done.launches == 1);
  CHECK(done.fences == 0);
  CHECK(done.copies == 0);
}

template <class T>
struct operands {
  explicit operands(std::int64_t queries = 40, std::int64_t keys = 72)
      : q(os::random<T, B, H, I / X, D>(mesh, B = 2, H = 3, I = queries, D = 16, os::seed(1))),
        k(os::random<T, B, H, K, D>(mesh, B = 2, H = 3, K = keys, D = 16, os::seed(2))),
        v(os::random<T, B, H, K, D>(mesh, B = 2, H = 3, K = keys, D = 16, os::seed(3))) {}
  os::mesh<X_mesh> mesh = os::make_mesh(X = t::ranks());
  os::tensor<T, B, H, I / X, D> q;
  os::tensor<T, B, H, K, D> k, v;
};

template <class T>
void all_options() {
  operands<T> const o;
  auto const attend = [&](auto const&... options) { return os::attention<I, K, D>(o.q, o.k, o.v, options...); };
  is_one_kernel("attention", [&] { return attend(); });
  is_one_kernel("causal", [&] { return attend(os::causal, os::from_position(32)); });
  is_one_kernel("window", [&] { return attend(os::causal, os::window(9).and_first(2)); });
  is_one_kernel("soft cap", [&] { return attend(os::soft_cap(2)); });
  auto const query_ids = os::zeros<std::int64_t, B, I / X>(o.mesh, B = 2, I = 40);
  auto const key_ids = os::zeros<std::int64_t, B, K>(o.mesh, B = 2, K = 72);
  is_one_kernel("segments", [&] { return attend(os::segments(query_ids, key_ids)); });
  if constexpr (!std::is_same_v<T, os::bfloat16>) {  // whose bias and logits are made wide by kernels of their own
    auto const bias = os::random<T, H, I / X, K>(o.mesh, H = 3, I = 40, K = 72, os::seed(4));
    auto const of_heads = os::random<T, H>(o.mesh, H = 3, os::seed(5));
    is_one_kernel("bias", [&] { return attend(os::bias(bias)); });
    is_one_kernel("alibi and sinks", [&] { return attend(os::causal, os::alibi(of_heads), os::sinks(of_heads)); });
  }
  operands<T> const few(t::ranks());  // one query of each device, as in a step of decoding
  is_one_kernel("one query",
                [&] { return os::attention<I, K, D>(few.q, few.k, few.v, os::causal, os::from_position(60)); });
}

}  // namespace

TEST_CASE("a short attention is one kernel") {
  all_options<float>();
  all_options<double>();
  all_options<os::bfloat16>();
}

TEST_CASE("an attention to more than sixteen blocks of keys is products of a library") {
  operands<float> const most_keys(t::ranks(), 512), more_keys(t::ranks(), 513);
  CHECK(work_of([&] { return os::attention<I, K, D>(most_keys.q, most_keys.k, most_keys.v); }).launches == 1);
  CHECK(work_of([&] { return os::attention<I, K, D>(more_keys.q, more_keys.k, more_keys.v); }).launches > 1);
}

// Of 128 queries and keys, the tiles of 32 queries leave 5/8 of the pairs under a causal mask, and the halves of a ring
// 3/4.
TEST_CASE("an attention of more than 2^30 flops, too") {
  auto const mesh = os::dry_mesh(X = 1);
  os::operation::tiled_attention<I_axis, K_axis, D_axis> causal;
  causal.is_causal = true;
  auto const flops_of = [&](std::int64_t batches) {
    auto const q = os::zeros<float, B, H, I / X, D>(mesh, B = batches, H = 1, I = 128, D = 16);
    auto const k = os::zeros<float, B, H, K, D>(mesh, B = batches, H = 1, K = 128, D = 16);
    return causal.flops_of_call(0, q, k, k);
  };
  constexpr std::int64_t of_pairs = 2 * 32 * 128 * 128;
  static_assert(1638 * (of_pairs / 8 * 5) <= 1 << 30 && 1639 * (of_pairs / 8 * 5) > 1 << 30);
  CHECK(flops_of(1638) == 1638 * (of_pairs / 8 * 5));
  CHECK(flops_of(1639) == 1639 * (of_pairs / 4 * 3));
}

// Tiles of 32 queries and 32 keys; a causal tile ends at its last query.
TEST_CASE("the flops that are counted are those of the price, and of the tiles") {
  operands<float> const o(70, 90);
  for (bool const causal : {false, true}) {
    std::int64_t most = 0, own = 0;
    for (int d = 0; d < t::ranks(); ++d) {
      std::int64_t const begin = 70 * d / t::ranks(), end = 70 * (d + 1) / t::ranks();
      std::int64_t pairs = 0;
      for (std::int64_t i = begin; i < end; i += 32) {
        std::int64_t const to = i + 32 < end ? i + 32 : end, seen = causal && to + 5 < 90 ? to + 5 : 90;
        pairs += (to - i) * seen;
      }
      if (d == t::rank()) own = 2 * 6 * pairs * 32;
      if (most < 2 * 6 * pairs * 32) most = 2 * 6 * pairs * 32;
    }
    CAPTURE(causal);
    auto const attend = [&] {
      static_cast<void>(causal ? os::attention<I, K, D>(o.q, o.k, o.v, os::causal, os::from_position(5))
                               : os::attention<I, K, D>(o.q, o.k, o.v));
    };
    CHECK(os::cost_of(o.mesh, attend).flops == own);
    os::operation::tiled_attention<I_axis, K_axis, D_axis> operation;
    operation.is_causal = causal, operation.from = 5;
    CHECK(operation.flops_of_call(0, o.q, o.k, o.v) == most);
  }
}

namespace {

struct number {
  KOKKOS_FUNCTION float operator()(std::int64_t i) const { return static_cast<float>(i * 7 % 11) * 0.125f - 0.5f; }
};

}  // namespace

// The kernel itself, for one head of 37 queries and 41 keys, causal, against plain loops.
TEST_CASE("teams of any number of threads") {
  namespace engine = os::engine;
  using teams = engine::detail::attention_teams<Kokkos::Sham, float>;
  constexpr int queries = 37, keys = 41, width = 5, values = 7;
  Kokkos::View<float*, Kokkos::Sham> const q("q", queries * width), k("k", keys * width), v("v", keys * values),
      out("out", queries * values), log_sums("log_sums", queries);
  auto const fill = [](auto const& view, std::int64_t salt) {
    auto const mirror = Kokkos::create_mirror_view(Kokkos::HostSpace(), view);
    for (std::size_t i = 0; i < view.size(); ++i) mirror(i) = number{}(static_cast<std::int64_t>(i) * salt + salt);
    Kokkos::deep_copy(view, mirror);
    return mirror;
  };
  auto const host_q = fill(q, 3), host_k = fill(k, 5), host_v = fill(v, 2);
  os::planner::seen_positions const seen{true};
  engine::detail::team_layout lies;
  lies.queries = queries, lies.width = width, lies.values = values, lies.tile_queries = 16, lies.tile_keys = 8;
  lies.q = {width, 1}, lies.k = {width, 1}, lies.v = values, lies.out = values, lies.rows = 1;
  lies.columns.add(values, 1, 1);
  for (int const threads : {1, 2, 3, 7, 32, 128}) {
    CAPTURE(threads);
    Kokkos::deep_copy(out, -1.0f);
    teams const kernel{lies,
                       engine::detail::keys_of_team(seen, keys, 8),
                       engine::detail::team_scores<float>(engine::score_rule<float>{}, 0, 1),
                       0.5f,
                       nullptr,
                       q.data(),
                       k.data(),
                       v.data(),
                       out.data(),
                       log_sums.data()};
    kernel.run(Kokkos::Sham(), threads);
    auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
    auto const got_sums = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), log_sums);
    int wrong = 0;
    for (int i = 0; i < queries; ++i) {
      double sum = 0, weighted[values]{};
      for (int j = 0; j <= i && j < keys; ++j) {
        double score = 0;
        for (int l = 0; l < width; ++l) score += 0.5 * host_q(i * width + l) * host_k(j * width + l);
        sum += std::exp(score);
        for (int c = 0; c < values; ++c) weighted[c] += std::exp(score) * host_v(j * values + c);
      }
      for (int c = 0; c < values; ++c) wrong += std::abs(got(i * values + c) - weighted[c] / sum) <= 1e-6 ? 0 : 1;
      wrong += std::abs(got_sums(i) - std::log(sum)) <= 1e-6 ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("nothing was reported") { CHECK(sham::take_reports().empty()); }
