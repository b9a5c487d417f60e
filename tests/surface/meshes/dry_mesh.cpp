// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Programs on dry meshes against the same programs on as many ranks: each device sends as many bytes, in as many
/// messages, over the same mesh axes, and has as much memory in use at once, to the byte. The figures of os::cost_of
/// for a mesh of ranks equal those counted below MPI, and plain arithmetic. Dry meshes of many devices on one rank: all
/// devices together send the bytes that plans predict.
// ranks: 1 2 4 8
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/files.hpp>
#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>

#include "surface/meshes/dry_and_wet.hpp"
#include "support/allocated_by.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::partial;

namespace {

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

// Uneven on most meshes.
constexpr os::sizes sizes(B = 5, I = 24, J = 19, K = 17, L = 16);

template <auto... Dims>
auto make(auto const& mesh) {
  return os::random<tensor<Dims...>>(mesh, sizes);
}

}  // namespace

TEST_CASE("products, moves and reductions") {
  t::costs_the_same("products", [](auto const& m) {
    auto const a = make<I/X, J>(m);
    auto const b = make<J, K/Y>(m);
    static_cast<void>(os::einsum<I/X, K/Y>(a, b));
    static_cast<void>(os::einsum<I, K>(a, b));
    static_cast<void>(os::einsum<I/X, K>(make<I, J/X>(m), make<J/X, K>(m)));
    static_cast<void>(os::einsum<I, K>(make<I, J/X>(m), make<J/X, K>(m)));
    static_cast<void>(os::einsum<I/X, K/Y>(make<I/X, J/Y>(m), make<J/X, K/Y>(m)));
    static_cast<void>(os::einsum<I/X, L>(a, b, make<K/Y, L>(m)));
    static_cast<void>(os::einsum<I/X, K/Y>(make<I/X, J/Y>(m), make<J/X, K/Y>(m), os::overlapped));
  });
  t::costs_the_same("moves", [](auto const& m) {
    static_cast<void>(os::reshard<I/X, J>(make<I, J/X>(m)));
    static_cast<void>(os::reshard<I, J/X/Y>(make<I/X/Y, J>(m)));
    static_cast<void>(os::reshard<I/X/Y, J>(make<I/Y/X, J>(m)));
    static_cast<void>(os::reshard<I, J>(make<I/X, J/Y>(m)));
    static_cast<void>(os::reshard<I, B/Y, K/X>(make<I/Y, B, K>(m)));
    auto const summands = os::einsum<I, K, partial(X)>(make<I, J/X>(m), make<J/X, K>(m));
    static_cast<void>(os::all_reduce<X>(summands));
    static_cast<void>(os::reduce_scatter<I/X>(summands));
    std::vector<double> const whole(m.device() == 0 ? 24 * 19 : 0, 1.0);  // the others have nothing
    static_cast<void>(os::scatter_from_root<double, I/X, J>(m, I = 24, J = 19, whole));
    static_cast<void>(os::scatter_from_root<double, I, J/Y>(m, I = 24, J = 19, os::gather_to_root(make<I/X, J>(m))));
    auto gathered = os::start_reshard<I, J>(make<I/X, J>(m));
    auto product = os::start_einsum<I/X, K>(make<I, J/X>(m), make<J/X, K>(m));
  });
  t::costs_the_same("reductions", [](auto const& m) {
    auto const a = make<I/X, J/Y, K>(m);
    static_cast<void>(os::sum<I>(a));
    static_cast<void>(os::max<K, I/X>(a));
    static_cast<void>(os::prod<J>(a));
    static_cast<void>(os::value(os::mean<>(a)));
    static_cast<void>(os::gather_to_root(a));
  });
}

TEST_CASE("operations") {
  t::costs_the_same("operations", [](auto const& m) {
    auto const a = make<I/X, J/Y, K/Z>(m);
    static_cast<void>(os::softmax<J/Y>(a));
    static_cast<void>(os::argmax<J/Y>(a));
    static_cast<void>(os::cumsum<I/X>(a));
    static_cast<void>(os::roll<I/X>(a, 3));
    static_cast<void>(os::sort<L>(make<I/X, L>(m)));
    static_cast<void>(os::layer_norm<J/Y>(make<I/X, J/Y>(m), make<J/Y>(m), make<J/Y>(m)));
    auto const index = os::zeros<std::int32_t, B/X, K>(m, sizes);
    static_cast<void>(os::take<I, B/X, K, L>(make<I/Y, L>(m), index));
    static_cast<void>(os::cross_entropy<J/Y>(make<B/X, J/Y>(m), os::zeros<std::int32_t, B/X>(m, sizes)));
  });
}

TEST_CASE("bodies of shard_map") {
  t::costs_the_same("collectives", [](auto const& m) {
    static_cast<void>(os::shard_map<I/X, L/Y>(
        [](auto const& a) {
          static_cast<void>(os::psum<X>(a));
          static_cast<void>(os::pmax<X, Y>(a));
          static_cast<void>(os::pargmax<Y>(a));
          static_cast<void>(os::all_gather<I/X>(a));
          static_cast<void>(os::all_gather<L/Y>(a));
          static_cast<void>(os::pbroadcast<X>(a, 0));
          static_cast<void>(os::inclusive_scan<X>(a));
          static_cast<void>(os::gather_to<I/X>(a, 0));
          auto next = os::start_shift<Y>(a, +1);
          static_cast<void>(os::ppermute<X>(a, {{0, 0}}));
          return os::shift<X>(a, 1);
        },
        make<I/X, L/Y>(m)));
  });
  t::costs_the_same("halos", [](auto const& m) {
    static_cast<void>(os::shard_map<I/X, L/Y>(
        [](auto const& a) {
          auto const f = [](auto const& u) { return u(-1, 0) + u(1, 0) + u(0, 1) - 3 * u(0, 0); };
          return os::stencil(f, os::start_exchange_halo<os::halo<I, 1>/X, os::halo<L, 1>/Y>(a, os::periodic));
        },
        make<I/X, L/Y>(m)));
  });
}

TEST_CASE("rows in numbers that devices choose, as many there as back") {
  t::costs_the_same("ragged", [](auto const& m) {
    std::vector<std::int64_t> from, rows, to;
    for (int e = 0; e < m.size(X); ++e) {
      from.push_back(e);
      rows.push_back(1);
      to.push_back(m.coordinate(X));
    }
    std::int64_t const n = m.size(X);
    static_cast<void>(os::shard_map<I / X, L / Y>(
        [&](auto const& a) { return os::ragged_all_to_all<I / X>(a, os::copy(a), from, rows, to); },
        os::random<double, I / X, L / Y>(m, I = n * n, L = 16)));
  });
}

TEST_CASE("between meshes, of which the smaller one is the first devices of the larger one") {
  std::int64_t sent = 0;
  for (int d = 0; d < 4; ++d) {
    auto const all = os::dry_mesh(os::as_device(d), X = 4);
    auto const few = d < 2 ? os::dry_mesh(os::as_device(d), Y = 2) : os::make_mesh(os::not_here, Y = 2);
    auto const a = os::random<double, I / X, J>(all, I = 8, J = 3);
    sent += os::cost_of(all, [&] { static_cast<void>(os::reshard<I / Y, J>(a, few)); }).bytes;
  }
  CHECK(sent == 8 * 6 * 3);  // all rows but the two that device 0 has and keeps
}

// Plain arithmetic.
TEST_CASE("what is counted") {
  t::on_meshes_of_ranks([](t::mesh_of_tests const& mesh) {
    std::int64_t const n = mesh.size(X), block = 8 * 16;
    INFO(mesh.handle()->describe());
    auto const a = os::ones<double, I/X, J>(mesh, I = 4 * n, J = 4);
    auto const c = os::cost_of(mesh, [&] {
      auto const b = os::copy(a);                        // a block
      { auto const freed = os::copy(a); }                // two
      auto const all = os::all_gather<X>(b);             // one and n
    });
    CHECK(c.peak_memory == std::max(2 * block, block + n * block));
    CHECK(c.memory_kept == 0);
    CHECK(c.bytes == (n - 1) * block);
    CHECK(c.bytes_over(X) == c.bytes);
    CHECK(c.bytes_over(Y) + c.bytes_over(X, Y) == 0);
    os::memory_counter const counter;
    auto const kept = os::zeros_like(a);
    CHECK(counter.in_use() == block);
    {
      os::memory_counter const inner;
      auto const view = os::copy(kept).local();  // outlives its tensor
      CHECK(inner.in_use() == block);
    }
    CHECK(counter.in_use() == block);
    CHECK(counter.peak() == 2 * block);
  });
}

namespace {

std::int64_t allocated = 0;  // by a tool of the program's own

}  // namespace

TEST_CASE("workspace, and a tool that listens beside the counter") {
  using namespace Kokkos::Tools::Experimental;
  set_allocate_data_callback([](auto space, char const*, void const*, std::uint64_t n) {
    allocated += t::is_of_tensors(space) ? std::int64_t(n) : 0;
  });
  set_deallocate_data_callback([](auto space, char const*, void const*, std::uint64_t n) {
    allocated -= t::is_of_tensors(space) ? std::int64_t(n) : 0;
  });
  t::on_meshes_of_ranks([](t::mesh_of_tests const& mesh) {
    INFO(mesh.handle()->describe());
    auto const a = os::random<double, I, J / X>(mesh, I = 48, J = 24);
    auto const b = os::random<double, J / X, K>(mesh, J = 24, K = 72);
    constexpr auto plan = os::plan<I / X, K>(a, b);
    os::memory_counter::release_workspace();
    std::int64_t const before = allocated;
    os::memory_counter const counter;
    auto const c = os::einsum<I / X, K>(a, b);
    CHECK(counter.in_use() == allocated - before);
    std::int64_t const predicted = 8 * 48 / mesh.size(X) * 72 + plan.workspace(a, b, mesh);
    if (os::engine::is_gpu_memory<Kokkos::DefaultExecutionSpace>()) {  // kernels add parts in memory of their own
      auto const& pool = os::engine::workspace<Kokkos::DefaultExecutionSpace::memory_space>::instance();
      CHECK(counter.peak() <= predicted + static_cast<std::int64_t>(pool.most_used_by_kernels()));
    } else {
      CHECK(counter.peak() == predicted);
    }
    os::memory_counter::release_workspace();
    CHECK(counter.in_use() == static_cast<std::int64_t>(8 * c.local().size()));
    CHECK(counter.in_use() == allocated - before);
  });
  std::int64_t const before = allocated;
  auto const still = os::ones<double, I>(os::make_mesh(os::this_device, X = 1), I = 64);
  CHECK(allocated - before == 512);
  set_allocate_data_callback(nullptr);
  set_deallocate_data_callback(nullptr);
}

TEST_CASE("on one process, what plans predict") {
  constexpr std::int64_t x = 4, y = 2;
  std::int64_t sent = 0;
  std::int64_t flops = 0;
  for (int d = 0; d < x * y; ++d) {
    auto const mesh = os::dry_mesh(os::as_device(d), X = x, Y = y);
    CHECK(os::is_dry(mesh));
    CHECK(mesh.device() == d);
    CHECK(mesh.coordinate(X) == d / y);
    auto const a = make<I/X, J/Y>(mesh);
    auto const b = make<J/X, K/Y>(mesh);
    auto const c = os::cost_of(mesh, [&] { static_cast<void>(os::einsum<I/X, K/Y>(a, b)); });
    sent += c.bytes;
    flops = std::max(flops, c.flops);
  }
  auto const plan = os::plan<I/X, K/Y>(tensor<I/X, J/Y>(), tensor<J/X, K/Y>());
  CHECK(sent == plan.total_bytes(sizes, X = x, Y = y));
  CHECK(flops == plan.flops(sizes, X = x, Y = y));
}

TEST_CASE("nothing is computed while a program is priced, and memory is not touched") {
  auto const mesh = os::dry_mesh(X = 4, Y = 2);
  auto const sum = [&] { return os::value(os::sum<>(os::ones<double, I / X, J>(mesh, I = 8, J = 3))); };
  CHECK(sum() == 6);  // this device's part: the others give nothing
  double priced = 1;
  os::cost const c = os::cost_of(mesh, [&] {
    priced = sum();
    os::cost const inner = os::cost_of(mesh, [&] { priced += sum(); });
    CHECK(inner.bytes > 0);
  });
  CHECK(priced == 0);
  CHECK(sum() == 6);
  CHECK(c.bytes_over(X) == c.bytes);
  // Eight products of a quarter of a gigabyte, none of which is computed.
  constexpr std::int64_t n = 8192;
  os::cost const large = os::cost_of(mesh, [] {
    auto const m = os::dry_mesh(X = 4, Y = 2);
    auto const w = os::random<float, I / X, J / Y>(m, I = n, J = n);
    std::vector<decltype(os::einsum<I, J>(w, w))> held;
    for (int k = 0; k < 8; ++k) held.push_back(os::einsum<I, J>(w, w));
  });
  CHECK(large.peak_memory > 8 * n * n * 4);
  CHECK(large.peak_memory < 10 * n * n * 4);
  CHECK(large.memory_kept == 0);
}

TEST_CASE("a mesh of a million devices, and what has no meaning without devices") {
  auto const mesh = os::dry_mesh(os::as_device(65537), X = 1024, Y = 1024);
  CHECK(mesh.devices() == 1024 * 1024);
  auto const a = os::ones<float, I/X, J/Y>(mesh, I = 4096, J = 4096);
  auto const c = os::cost_of(mesh, [&] { static_cast<void>(os::all_gather<Y>(a)); });
  CHECK(c.bytes == 4 * 4 * (4096 - 4));
  CHECK_THROWS_WITH_AS(static_cast<void>(mesh.communicator(X)),
                       doctest::Contains("mesh.communicator: a dry mesh has no devices"), os::error);
  CHECK_THROWS_WITH_AS(os::save("never.npy", a), doctest::Contains("save: a dry mesh has no devices"), os::error);
  CHECK_THROWS_WITH_AS(static_cast<void>(os::dry_mesh(os::as_device(8), X = 4, Y = 2)),
                       doctest::Contains("0 to 7, but as device 8"), os::error);
  CHECK_THROWS_AS(static_cast<void>(os::dry_mesh(X = 0)), os::error);
  CHECK_THROWS_AS(static_cast<void>(os::dry_mesh(X = 65536, Y = 65536)), os::error);
}
