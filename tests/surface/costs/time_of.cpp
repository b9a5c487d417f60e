// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Predicted seconds of programs on machines with round numbers, against plain arithmetic; the same on a mesh of ranks
/// and on a dry one.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include <ostraka/foresight/time_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/ostraka.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

// 10⁶ flops a second, 10⁶ bytes a second both ways round a ring; memory counts nothing.
os::machine simple() {
  os::machine m;
  m.flops_per_second = {1e6, 1e6, 1e6, 1e6};
  m.links = {1e6, 0, os::link_shape::ring, true};
  return m;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b) + 1e-15; }

template <auto... Dims>
auto make(auto const& mesh, int n) {
  return os::full<double, Dims...>(mesh, os::sizes(I = n, J = n, K = n), 1.0);
}

}  // namespace

TEST_CASE("a product takes its flops, a gather its bytes") {
  auto const mesh = os::dry_mesh(X = 4, Y = 2);
  auto const a = make<I, J / X>(mesh, 16);
  auto const b = make<J, K>(mesh, 16);
  os::predicted_time const p =
      os::time_of(mesh, simple(), [&] { static_cast<void>(os::einsum<I, K>(a, b, os::gather_left)); });
  double const gather = 0.75 * 16 * 16 * 8 / 2e6;
  CHECK(near(p.computing, 2 * 16 * 16 * 16 / 1e6));
  CHECK(near(p.waiting, gather));
  CHECK(near(p.seconds, p.computing + p.waiting));
  CHECK(near(p.seconds_over(X), gather));
  CHECK(near(p.seconds_of(os::collective_kind::all_gather), gather));
  CHECK(p.seconds_of(os::collective_kind::all_reduce) == 0);
  CHECK(p.seconds_over(Y) == 0);
  CHECK(p.seconds_over(X, Y) == 0);

  // The slow network along X only.
  auto const slow = simple().with(X.name, {1e3, 1, os::link_shape::switched, true});
  CHECK(near(os::time_of(mesh, slow, [&] { static_cast<void>(os::reshard<I, J>(a)); }).waiting,
             3 + 0.75 * 16 * 16 * 8 / 1e3));
}

TEST_CASE("a reshard that is begun is beside a product") {
  auto const mesh = os::dry_mesh(X = 4);
  auto const a = make<I / X, J>(mesh, 16);
  for (int n : {4, 64}) {
    auto const b = make<I, J>(mesh, n);
    auto const c = make<J, K>(mesh, n);
    os::predicted_time const p = os::time_of(mesh, simple(), [&] {
      auto pending = os::start_reshard<I, J>(a);
      static_cast<void>(os::einsum<I, K>(b, c));
      static_cast<void>(std::move(pending).wait());
    });
    double const gather = 0.75 * 16 * 16 * 8 / 2e6;
    double const product = 2.0 * n * n * n / 1e6;
    CHECK(near(p.seconds, gather > product ? gather : product));
    CHECK(near(p.communicating, gather));
  }
}

TEST_CASE("a ring one way uses one direction of its links, both ways both; the product hides what is as long") {
  auto const mesh = os::dry_mesh(X = 4);
  auto const a = os::full<double, I / X, J>(mesh, os::sizes(I = 2048, J = 1024), 1.0);
  auto const b = os::full<double, J, K / X>(mesh, os::sizes(J = 1024, K = 1024), 1.0);
  os::machine m = simple();
  double const received = 0.75 * 2048 * 1024 * 8;
  double const flops = 2.0 * 2048 * 1024 * 256;
  for (double rate : {1e8, 1e12}) {
    m.flops_per_second = {rate, rate, rate, rate};
    auto const predicted = [&](auto policy) {
      return os::time_of(mesh, m, [&] { static_cast<void>(os::einsum<I, K / X>(a, b, policy)); });
    };
    os::predicted_time const one_way = predicted(os::overlapped);
    os::predicted_time const both_ways = predicted(os::overlapped_both_ways);
    CHECK(near(one_way.computing, flops / rate));
    CHECK(near(one_way.communicating, received / 1e6));
    CHECK(near(both_ways.communicating, received / 2e6));
    // One of 16 pieces is not hidden.
    double const longest = std::max(flops / rate, received / 2e6);
    CHECK(both_ways.seconds >= longest);
    CHECK(both_ways.seconds <= longest + received / 2e6 / 15 + flops / rate / 15);
  }
}

TEST_CASE("a mesh of ranks and a dry one predict the same") {
  int const p = t::ranks();
  auto const wet = os::make_mesh(X = p);
  auto const dry = os::dry_mesh(os::as_device(wet.device()), X = p);
  auto const program = [](auto const& mesh) {
    auto const a = make<I / X, J>(mesh, 24);
    auto const b = make<J / X, K>(mesh, 24);
    auto const c = os::einsum<I, K / X>(a, b);
    static_cast<void>(os::sum<>(os::map([](double v) { return 2 * v; }, c)));
    static_cast<void>(os::reshard<I / X, K>(c));
  };
  os::machine const m = os::machines::h100;
  os::predicted_time const here = os::time_of(wet, m, [&] { program(wet); });
  os::predicted_time const there = os::time_of(dry, m, [&] { program(dry); });
  CHECK(here.seconds == there.seconds);
  CHECK(here.computing == there.computing);
  CHECK(here.communicating == there.communicating);
  CHECK(here.seconds_over(X) == there.seconds_over(X));
  CHECK(here.seconds > 0);
  CHECK((here.communicating > 0) == (p > 1));
}

TEST_CASE("what a machine does not say is said before the program runs") {
  auto const mesh = os::dry_mesh(X = 4, Y = 2);
  auto const flat = os::dry_mesh(X = 4, Y = 1);
  bool ran = false;
  auto const complains = [&](auto const& on, os::machine const& m, char const* of) {
    ran = false;
    CHECK_THROWS_WITH_AS(static_cast<void>(os::time_of(on, m, [&] { ran = true; })), doctest::Contains(of), os::error);
    CHECK(!ran);
  };
  auto const goes = [&](auto const& on, os::machine const& m) {
    ran = false;
    CHECK_NOTHROW(static_cast<void>(os::time_of(on, m, [&] { ran = true; })));
    CHECK(ran);
  };
  os::machine none = simple();
  none.links = {};
  complains(mesh, none, "time_of: the machine without a name has no links along mesh axis X; give it `links`");
  complains(flat, none, "along mesh axis X");
  auto const along_x = none.with(X.name, simple().links);
  complains(mesh, along_x, "has no links along mesh axis Y");
  goes(flat, along_x);  // nothing goes along an axis of one device
  goes(mesh, along_x.with(Y.name, simple().links));
  goes(os::dry_mesh(X = 1, Y = 1), none);

  // Y lies within nodes, X spans two: the moves between nodes, and those within, if there are any.
  auto const nodes = os::dry_mesh(os::devices_per_node(4), X = 4, Y = 2);
  os::machine network = none;
  network.between_nodes = simple().links;
  complains(nodes, network, "along mesh axis X");
  goes(os::dry_mesh(os::devices_per_node(1), X = 4, Y = 2), network);
  goes(nodes, simple());

  double const bad[] = {-1, std::numeric_limits<double>::quiet_NaN()};
  for (double const n : bad) {
    os::machine m = simple();
    m.flops_per_second.float32 = n;
    complains(mesh, m, "has a number that is negative, or none");
    m = simple();
    m.links.hop_seconds = n;
    complains(mesh, m, "has a number that is negative, or none");
    m = simple().with("elsewhere", {n, 0, os::link_shape::ring, true});
    complains(mesh, m, "has a number that is negative, or none");
    m = simple();
    m.links.of_size.add({1000, n});
    complains(mesh, m, "has a number that is negative, or none");
    m = simple();
    m.memory_of_size.add({n, 1000});
    complains(mesh, m, "has a number that is negative, or none");
  }
  os::machine unordered = simple();
  unordered.reductions_of_size.add({1000, 1});
  unordered.reductions_of_size.add({1000, 2});
  complains(mesh, unordered, "has a number that is negative, or none");
  for (std::pair<double, double> const& second : {std::pair{20.0, 0.5}, {30.0, 0.0}, {30.0, -0.5}}) {
    os::machine shaped = simple();
    shaped.shares.add({20, 0.3});
    shaped.shares.add({second.first, second.second});
    complains(mesh, shaped, "has a number that is negative, or none");
  }
  os::machine waiting = simple();
  waiting.memory_waits = 1.5;
  complains(mesh, waiting, "has a number that is negative, or none");
}

// Messages of rows: MPI's strided types, of 4 to 256 KiB in rows of 256 B, and longer messages, which are packed. On a
// GPU kernels pack them, and the longer ones alone go at that rate.
TEST_CASE("messages of rows go at their own rate") {
  int const p = t::ranks();
  auto const wet = os::make_mesh(X = p);
  auto const dry = os::dry_mesh(X = p);
  os::machine plain = simple();
  plain.links.shape = os::link_shape::switched;
  os::machine rows_apart = plain;
  rows_apart.links.of_rows.add({1, 3e6});
  auto const seconds = [&](auto const& mesh, os::machine const& m, std::int64_t rows, bool back) {
    auto const given = os::sizes(I = rows * p, J = 32 * p);
    auto const a = os::zeros<double, I / X, J>(mesh, given);
    auto const b = os::zeros<double, I, J / X>(mesh, given);
    return os::time_of(mesh, m, [&] { back ? os::reshard_into(a, b) : os::reshard_into(b, a); }).seconds;
  };
  constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, tensor<I, J>::space::memory_space>::accessible;
  for (bool const back : {false, true})
    for (std::int64_t const rows : {15, 16, 1024, 1025}) {
      double const bytes = rows >= (on_host ? 16 : 1025) ? double(rows) * 32 * 8 * (p - 1) : 0;
      for (auto const& m : {plain, rows_apart}) CHECK(seconds(wet, m, rows, back) == seconds(dry, m, rows, back));
      double const dense = bytes > 0 ? (p - 1) * plain.links.hop_seconds + bytes / plain.links.bytes_per_second : 0;
      CHECK(near(seconds(dry, rows_apart, rows, back), seconds(dry, plain, rows, back) - dense + bytes / 3e6));
    }
}

TEST_CASE("machines in files") {
  std::string const path =
      "time_of." + std::to_string(t::ranks()) + "." + std::to_string(os::make_mesh(X = t::ranks()).device());
  os::machine const m = os::machines::h100.with(X.name, os::machines::h100_network);
  os::save_machine(m, path);
  CHECK(os::load_machine(path) == m);
  os::save_machine(os::machine{}, path);
  CHECK_THROWS_WITH_AS(static_cast<void>(os::load_machine(path)), doctest::Contains("describes no machine"), os::error);
  std::remove(path.c_str());
  CHECK_THROWS_WITH_AS(static_cast<void>(os::load_machine(path)), doctest::Contains("there is no file"), os::error);
  CHECK_THROWS_AS(os::save_machine(m, "no/such/folder/file"), os::error);
}
