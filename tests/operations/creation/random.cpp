// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Random numbers: the same on every mesh bit for bit, with the right distribution. Seeds are fixed, so that a
/// statistic either always passes its bound or never.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using meshes = os::mesh<X_mesh, Y_mesh, Z_mesh>;

/// The elements of a tensor that is whole on every device.
template <class TensorType>
std::vector<typename TensorType::value_type> all_of(TensorType const& a) {
  return t::read_elements<typename TensorType::value_type>(a.local().data(), a.local().size());
}

/// True if the numbers of this sharding are those of the whole tensor, bit for bit, on every device.
template <class Whole, class Divided>
bool same(t::test_mesh const& m, Whole const& whole, Divided const& divided, std::string const& labels,
          t::extents_by_letter const& e) {
  return t::disagreements(m, divided, t::global_tensor<typename Whole::value_type>{labels, e, all_of(whole)}) == 0;
}

struct moments {
  double mean = 0, variance = 0, third = 0, fourth = 0;
};

template <class T>
moments moments_of(std::vector<T> const& x) {
  moments m;
  auto const n = static_cast<double>(x.size());
  for (T const& v : x) m.mean += static_cast<double>(v) / n;
  for (T const& v : x) {
    double const d = static_cast<double>(v) - m.mean;
    m.variance += d * d / n;
    m.third += d * d * d / n;
    m.fourth += d * d * d * d / n;
  }
  return m;
}

/// Kolmogorov and Smirnov: the largest distance between the distribution of x and the expected one, times √n. It is
/// above 1.95 in one of a thousand samples.
template <class T, class F>
double distance(std::vector<T> x, F const& below) {
  std::sort(x.begin(), x.end());
  auto const n = static_cast<double>(x.size());
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const p = below(static_cast<double>(x[i]));
    largest =
        std::max({largest, std::abs(p - static_cast<double>(i) / n), std::abs(p - static_cast<double>(i + 1) / n)});
  }
  return largest * std::sqrt(n);
}

double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

meshes mesh_of(t::test_mesh const& m) { return meshes(m.handle()); }

constexpr std::int64_t many = 40000;

}  // namespace

TEST_CASE("random numbers are the same on every mesh") {
  t::on_every_mesh([](t::test_mesh const& m) {
    meshes const mesh = mesh_of(m);
    for (t::extents_by_letter const& e :
         {t::extents_by_letter{{'I', 12}, {'J', 8}}, t::extents_by_letter{{'I', 7}, {'J', 5}},
          t::extents_by_letter{{'I', 2}, {'J', 1}}, t::extents_by_letter{{'I', 0}, {'J', 3}}}) {
      std::int64_t const i = e.at('I'), j = e.at('J');
      INFO(m.text(), t::text_of(e));
      os::seed const s(5);
      CHECK(same(m, os::uniform<float, I, J>(mesh, I = i, J = j, s, os::between(-1, 1)),
                 os::uniform<float, I/X, J/Y>(mesh, I = i, J = j, s, os::between(-1, 1)), "IJ", e));
      CHECK(same(m, os::normal<double, I, J>(mesh, I = i, J = j, s),
                 os::normal<double, I, J/Y/X>(mesh, s, I = i, J = j), "IJ", e));
      CHECK(same(m, os::truncated_normal<os::bfloat16, I, J>(mesh, I = i, J = j, s),
                 os::truncated_normal<os::bfloat16, I/X/Y, J>(mesh, I = i, J = j, s), "IJ", e));
      CHECK(same(m, os::bernoulli<std::int32_t, I, J>(mesh, I = i, J = j, s),
                 os::bernoulli<std::int32_t, I/Y, J/X>(mesh, I = i, J = j, s), "IJ", e));
      CHECK(same(m, os::he_normal<float, I, J>(mesh, I = i, J = j, s, os::fan_in(I)),
                 os::he_normal<float, I/Y, J/X>(mesh, I = i, J = j, s, os::fan_in(I)), "IJ", e));
      auto const x = os::normal<float, I, J>(mesh, I = i, J = j, s);
      CHECK(same(m, os::dropout(x, 0.5, s), os::dropout(os::reshard<I/X, J/Y>(x), 0.5, s), "IJ", e));
      CHECK(same(m, os::random_permutation<I>(mesh, I = i, s), os::random_permutation<I/X/Y>(mesh, I = i, s), "I",
                 e));
    }
    CHECK(same(m, os::random_permutation<I>(mesh, I = 1001, os::seed(2)),
               os::random_permutation<I/Y/X>(mesh, I = 1001, os::seed(2)), "I", {{'I', 1001}}));
    CHECK(t::traffic_of([&] { static_cast<void>(os::normal<float, I/X>(mesh, I = 9)); }).calls == 0);
  });
}

TEST_CASE("os::uniform from 0 up to 1 is what os::random is") {
  meshes const mesh = mesh_of(t::test_mesh({"XYZ", {t::ranks(), 1, 1}}));
  CHECK(all_of(os::uniform<double, I>(mesh, I = 99, os::seed(3))) ==
        all_of(os::random<double, I>(mesh, I = 99, os::seed(3))));
}

TEST_CASE("uniform, normal and truncated normal numbers are distributed so") {
  meshes const mesh = mesh_of(t::test_mesh({"XYZ", {t::ranks(), 1, 1}}));
  for (std::uint64_t const k : {1, 2, 3}) {
    os::seed const s(k);
    auto const u = all_of(os::uniform<float, I>(mesh, I = many, s, os::between(-2, 6)));
    CHECK(distance(u, [](double x) { return (x + 2) / 8; }) < 1.95);
    CHECK(*std::min_element(u.begin(), u.end()) >= -2);
    CHECK(*std::max_element(u.begin(), u.end()) < 6);
    auto const n = all_of(os::normal<float, I>(mesh, I = many, s, os::around(3, 0.5)));
    CHECK(distance(n, [](double x) { return normal_below((x - 3) / 0.5); }) < 1.95);
    auto const wide = all_of(os::normal<double, I>(mesh, I = many, s));
    CHECK(distance(wide, normal_below) < 1.95);
    moments const of = moments_of(wide);
    double const error = 4 / std::sqrt(double(many));  // four deviations of the mean
    CHECK(std::abs(of.mean) < error);
    CHECK(std::abs(of.variance - 1) < error * std::sqrt(2.0));
    CHECK(std::abs(of.third) < error * std::sqrt(15.0));
    CHECK(std::abs(of.fourth - 3) < error * std::sqrt(96.0));
    for (auto const& [low, high] :
         {std::pair{-2.0, 2.0}, std::pair{0.5, 3.0}, std::pair{-7.0, -6.0}, std::pair{6.0, 9.0}}) {
      auto const z = all_of(os::truncated_normal<double, I>(mesh, I = many, s, os::between(low, high)));
      bool const right = low > 0;  // if the complement is exact
      double const of_low = normal_below(right ? -low : low), of_high = normal_below(right ? -high : high);
      CHECK(distance(z, [&](double x) { return (normal_below(right ? -x : x) - of_low) / (of_high - of_low); }) < 1.95);
      CHECK(*std::min_element(z.begin(), z.end()) >= low);
      CHECK(*std::max_element(z.begin(), z.end()) <= high);
    }
    auto const c = all_of(os::normal<Kokkos::complex<float>, I>(mesh, I = many, s, os::around(0, 2)));
    double sum = 0;
    for (auto const& v : c) sum += double(v.real()) * double(v.real()) + double(v.imag()) * double(v.imag());
    CHECK(std::abs(sum / many - 4) < 4 * error);
  }
}

TEST_CASE("the inverse of the normal distribution is exact to rounding") {
  for (double p = 1e-300; p < 1; p = p < 0.01 ? p * 7 : p + 0.0013) {
    double const z = os::engine::inverse_normal(p);
    CHECK(std::abs(normal_below(z) / p - 1) < 1e-12 * (1 + z * z));
    if (p > 1e-9)
      CHECK(std::abs(os::engine::inverse_normal(1 - p) + os::engine::inverse_normal(1 - (1 - p))) <
            1e-15 * (1 + 1 / p));
  }
}

TEST_CASE("integers, truth values and dropout have their probabilities") {
  meshes const mesh = mesh_of(t::test_mesh({"XYZ", {t::ranks(), 1, 1}}));
  std::vector<double> counts(7);
  for (std::int32_t const v : all_of(os::uniform<std::int32_t, I>(mesh, I = many, os::seed(4), os::between(-3, 4))))
    ++counts[static_cast<std::size_t>(v + 3)];
  double chi = 0;
  for (double const c : counts) chi += (c - many / 7.0) * (c - many / 7.0) / (many / 7.0);
  CHECK(chi < 22.5);  // six degrees of freedom: one in a thousand
  auto const far = all_of(os::uniform<std::int64_t, I>(
      mesh, I = 50, os::seed(4),
      os::between(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max())));
  CHECK(*std::min_element(far.begin(), far.end()) < -(std::int64_t(1) << 61));
  CHECK(*std::max_element(far.begin(), far.end()) > (std::int64_t(1) << 61));

  double truths = 0;
  for (std::int32_t const v : all_of(os::bernoulli<std::int32_t, I>(mesh, I = many, os::probability(0.3)))) truths += v;
  CHECK(std::abs(truths / many - 0.3) < 4 * std::sqrt(0.21 / many));

  auto const x = os::ones<float, I>(mesh, I = many);
  double kept = 0;
  for (float const v : all_of(os::dropout(x, 0.2, os::seed(1)))) {
    CHECK((v == 0 || v == 1.25f));
    kept += v != 0 ? 1 : 0;
  }
  CHECK(std::abs(kept / many - 0.8) < 4 * std::sqrt(0.16 / many));
  CHECK(all_of(os::dropout(x, 0, os::seed(1))) == all_of(x));
  CHECK(all_of(os::dropout(x, 1, os::seed(1))) == std::vector<float>(many, 0.0f));
  CHECK_THROWS_AS(static_cast<void>(os::dropout(x, 1.5, os::seed(1))), os::error);
  CHECK_THROWS_AS(static_cast<void>(os::uniform<float, I>(mesh, I = 2, os::between(1, 1))), os::error);
  CHECK_THROWS_AS(static_cast<void>(os::normal<float, I>(mesh, I = 2, os::around(1, -1))), os::error);
  CHECK_THROWS_AS(static_cast<void>(os::bernoulli<float, I>(mesh, I = 2, os::probability(-0.1))), os::error);
}

TEST_CASE("dropout of blocks in bodies differs from device to device") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const x = os::ones<float, I/X, J>(mesh_of(m), I = 24 * m.size("X"), J = 1);
    auto const y = os::shard_map<I/X, J>([](auto const& a) { return os::dropout(a, 0.5, os::seed(1)); }, x);
    std::vector<float> const own = all_of(y);
    std::vector<char> bytes(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) bytes[i] = own[i] == 0 ? 0 : 1;
    auto const all = t::bytes_of_ranks(bytes);
    for (int r = 0; r < t::ranks(); ++r)
      CHECK((all[static_cast<std::size_t>(r)] == bytes) == (m.coordinate("X", r) == m.coordinate("X", t::rank())));
  });
}

TEST_CASE("permutations are bijections, and all are as likely") {
  meshes const mesh = mesh_of(t::test_mesh({"XYZ", {t::ranks(), 1, 1}}));
  for (std::int64_t const n : {1, 2, 5, 511, 512, 513, 1023, 1025, 4096, 20000}) {
    auto p = all_of(os::random_permutation<I>(mesh, I = n, os::seed(7)));
    double displaced = 0;
    for (std::size_t i = 0; i < p.size(); ++i) displaced += std::abs(double(p[i]) - double(i)) / double(n);
    if (n > 500) CHECK(std::abs(displaced / double(n) - 1.0 / 3) < 4 * std::sqrt(1.0 / 18 / double(n)));
    std::sort(p.begin(), p.end());
    bool all = true;
    for (std::size_t i = 0; i < p.size(); ++i) all = all && p[i] == static_cast<std::int64_t>(i);
    CHECK(all);
  }
  std::vector<double> counts(27);
  double fixed = 0;
  for (std::uint64_t k = 0; k < 6000; ++k) {
    auto const p = all_of(os::random_permutation<I>(mesh, I = 3, os::fold_in(os::seed(1), k)));
    ++counts[static_cast<std::size_t>(p[0] * 9 + p[1] * 3 + p[2])];
  }
  double chi = 0;
  for (double const c : counts) chi += c > 0 ? (c - 1000) * (c - 1000) / 1000 : 0;
  CHECK(chi < 20.5);  // five degrees of freedom: one in a thousand
  for (std::uint64_t k = 0; k < 300; ++k) {
    auto const p = all_of(os::random_permutation<I>(mesh, I = 600, os::seed(k)));
    for (std::size_t i = 0; i < p.size(); ++i) fixed += p[i] == static_cast<std::int64_t>(i) ? 1 : 0;
  }
  CHECK(std::abs(fixed / 300 - 1) < 4 / std::sqrt(300.0));  // one fixed point on average
}

TEST_CASE("weights spread as their fans say") {
  meshes const mesh = mesh_of(t::test_mesh({"XYZ", {t::ranks(), 1, 1}}));
  auto const variance = [](auto const& w) { return moments_of(all_of(w)).variance; };
  double const error = 4 * std::sqrt(2.0 / (200.0 * 300));
  auto const near = [&](double got, double wanted) { return std::abs(got / wanted - 1) < error; };
  os::seed const s(3);
  CHECK(near(variance(os::lecun_normal<float, I, J>(mesh, I = 200, J = 300, s, os::fan_in(I))), 1.0 / 200));
  CHECK(near(variance(os::lecun_uniform<float, I, J>(mesh, I = 200, J = 300, s, os::fan_in(J))), 1.0 / 300));
  CHECK(near(variance(os::he_normal<double, I, J>(mesh, I = 200, J = 300, s, os::fan_in(I))), 2.0 / 200));
  CHECK(near(variance(os::he_uniform<float, K, I, J>(mesh, K = 1, I = 200, J = 300, s, os::fan_in(K, I))), 2.0 / 200));
  CHECK(near(variance(os::glorot_normal<float, I, J>(mesh, I = 200, J = 300, s, os::fan_in(I), os::fan_out(J))),
             2.0 / 500));
  CHECK(near(variance(os::glorot_uniform<float, I, J>(mesh, I = 200, J = 300, s, os::fan_in(I), os::fan_out(J))),
             2.0 / 500));
}

TEST_CASE("seeds that are folded are independent") {
  meshes const mesh = mesh_of(t::test_mesh({"XYZ", {t::ranks(), 1, 1}}));
  auto const a = all_of(os::normal<double, I>(mesh, I = many, os::fold_in(os::seed(1), 0)));
  auto const b = all_of(os::normal<double, I>(mesh, I = many, os::fold_in(os::seed(1), 1)));
  auto const c = all_of(os::uniform<double, I>(mesh, I = many, os::fold_in(os::seed(1), 1), os::between(-1, 1)));
  double ab = 0, bc = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += a[i] * b[i];
    bc += b[i] * c[i] * std::sqrt(3.0);
  }
  CHECK(std::abs(ab) < 4 * std::sqrt(double(many)));
  CHECK(std::abs(bc) < 4 * std::sqrt(double(many)));
}
