// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Meshes with nodes: the devices of a node, by MPI, by the environment, by the program. Programs on meshes of every
/// shape, with every block of it as a node, give the results of plain loops, the same bits on all devices; the bytes
/// between nodes equal plain arithmetic, and those on dry meshes.
// ranks: 1 2 3 4 6 8
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>

#include "surface/meshes/dry_and_wet.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::partial;

namespace {

OSTRAKA_MESH_AXIS(single, 1);
OSTRAKA_MESH_AXIS(eight, 8);

/// Every array goes over two levels.
struct all_levelled {
  std::int64_t before = os::engine::shortest_levelled;
  all_levelled() { os::engine::shortest_levelled = 1; }
  ~all_levelled() { os::engine::shortest_levelled = before; }
};

struct said_by_environment {
  explicit said_by_environment(char const* devices) { ::setenv("OSTRAKA_DEVICES_PER_NODE", devices, 1); }
  ~said_by_environment() { ::unsetenv("OSTRAKA_DEVICES_PER_NODE"); }
};

class recorded_collectives final : public os::engine::listener {
 public:
  recorded_collectives() { listen(scope::this_thread); }
  void on_event(os::engine::event const& e) override { number += e.kind == os::engine::event_kind::starts ? 1 : 0; }

  int number = 0;
};

// f(mesh, the same on a dry one) for every shape of a mesh of all ranks, and every block of it as a node.
template <class F>
void on_every_block(F const& f) {
  int const n = t::ranks();
  auto const divides = [](int part, int whole) { return whole % part == 0; };
  for (int x = 1; x <= n; ++x)
    for (int y = 1; y <= n / x; ++y) {
      int const z = n / x / y;
      if (x * y * z != n) continue;
      for (int bx = 1; bx <= x; ++bx)
        for (int by = 1; by <= y; ++by)
          for (int bz = 1; bz <= z; ++bz) {
            if (!divides(bx, x) || !divides(by, y) || !divides(bz, z)) continue;
            auto const block = os::within_node(X = bx, Y = by, Z = bz);
            auto const mesh = os::make_mesh(block, X = x, Y = y, Z = z);
            INFO(mesh.handle()->describe(), ", on a node ", bx, " × ", by, " × ", bz);
            f(mesh, os::dry_mesh(os::as_device(mesh.device()), block, X = x, Y = y, Z = z));
          }
    }
}

// Uneven on most meshes.
constexpr os::sizes sizes(I = 24, J = 19, K = 10);

double a_at(std::int64_t i, std::int64_t j) { return static_cast<double>((3 * i + 5 * j) % 11 - 5); }
double b_at(std::int64_t j, std::int64_t k) { return static_cast<double>((7 * j + 2 * k) % 13 - 6); }

double product_at(std::int64_t i, std::int64_t k) {
  double sum = 0;
  for (std::int64_t j = 0; j < 19; ++j) sum += a_at(i, j) * b_at(j, k);
  return sum;
}

template <auto... Dims>
auto make_a(auto const& mesh) {
  return os::generate<double, Dims...>(mesh, sizes, [](auto i, auto j) { return a_at(i, j); });
}
template <auto... Dims>
auto make_b(auto const& mesh) {
  return os::generate<double, Dims...>(mesh, sizes, [](auto j, auto k) { return b_at(j, k); });
}

// Its block on this device holds the product.
void check_product(auto const& c) {
  auto const block = t::host_block(c);
  for (std::int64_t i = 0; i < c.range(0).size(); ++i)
    for (std::int64_t k = 0; k < c.range(1).size(); ++k)
      CHECK(block(i, k) == product_at(c.range(0).begin + i, c.range(1).begin + k));
}

}  // namespace

TEST_CASE("nodes are found, and may be said") {
  int const n = t::ranks();
  auto const found = os::make_mesh(X = n, Y = 1, Z = 1);
  CHECK(found.devices_per_node() == n);  // all on this machine
  CHECK(found.within_node(X) == n);
  auto const dry = os::dry_mesh(X = 16, Y = 4);
  CHECK(dry.devices_per_node() == 64);
  auto const two = os::dry_mesh(os::devices_per_node(8), X = 16, Y = 4);
  CHECK(two.devices_per_node() == 8);
  CHECK(two.within_node(X) == 2);
  CHECK(two.within_node(Y) == 4);
  auto const block = os::dry_mesh(os::as_device(37), os::within_node(Y = 2, X = 4), X = 16, Y = 4);
  CHECK(block.within_node(X) == 4);
  CHECK(block.within_node(Y) == 2);
  CHECK(block.device() == 37);
  auto const of_static_size = os::dry_mesh(os::within_node(eight = 2), eight, X = 3);
  CHECK(of_static_size.within_node(eight) == 2);
  CHECK(of_static_size.within_node(X) == 1);
  CHECK(os::make_mesh(os::this_device, X = 1).devices_per_node() == 1);
  if (n % 2 == 0) {
    said_by_environment const said("2");
    CHECK(os::make_mesh(X = 1, Y = n, Z = 1).within_node(Y) == 2);
    CHECK(os::dry_mesh(X = n).devices_per_node() == 2);
  }
  if (n % 4 == 0) {
    said_by_environment const said("3");
    CHECK(os::make_mesh(X = n).devices_per_node() == 1);  // they hold no block
  }
}

#if OSTRAKA_ENABLE_MPI
TEST_CASE("machines, in rows of ranks, dealt out in turns, and of different sizes") {
  int const n = t::ranks(), me = t::rank();
  struct on_machine {
    explicit on_machine(int number) { os::engine::emulated_machine = number; }
    ~on_machine() { os::engine::emulated_machine = -1; }
  };
  if (n % 2 == 0) {
    {
      on_machine const in_rows(me / 2);
      CHECK(os::make_mesh(X = n).devices_per_node() == 2);
      // Three devices in a row make no block.
      CHECK(os::make_mesh(X = 2, Y = n / 2).within_node(Y) == (n % 4 == 0 ? 2 : 1));
      CHECK(os::make_mesh(os::devices_per_node(1), X = n).devices_per_node() == 1);
    }
    on_machine const in_turns(me % 2);
    CHECK(os::make_mesh(X = n).devices_per_node() == 1);
    CHECK(os::make_mesh(X = n).device() == me);
    auto const said = os::make_mesh(os::devices_per_node(n / 2), X = n);  // ranks 0, 2, … then 1, 3, …
    CHECK(said.device() == me % 2 * (n / 2) + me / 2);
    CHECK(said.within_node(X) == n / 2);
    auto const a = os::generate<double, I / X>(said, I = 7, [](auto i) { return static_cast<double>(i); });
    all_levelled const lowered;
    auto const all = t::host_block(os::reshard<I>(a));
    for (std::int64_t i = 0; i < 7; ++i) CHECK(all(i) == static_cast<double>(i));
  }
  if (n == 4) {
    on_machine const uneven(me == 0 ? 0 : 1);
    CHECK(os::make_mesh(X = n).devices_per_node() == 1);
    std::string text;
    try {
      static_cast<void>(os::make_mesh(os::devices_per_node(2), X = n));
    } catch (os::error const& e) {
      text = e.what();
    }
    CHECK(text ==
          "make_mesh: a node's devices run on one machine, but a machine has 3 ranks, and nodes have 2 devices; start "
          "a multiple of that on every machine, or give nodes that divide their ranks");
  }
}
#endif

TEST_CASE("nodes that cannot be") {
  auto const text_of = [](auto const& f) -> std::string {
    try {
      f();
    } catch (os::error const& e) {
      return e.what();
    }
    return "";
  };
  CHECK(text_of([] { return os::dry_mesh(os::devices_per_node(3), X = 2, Y = 4); }) ==
        "dry_mesh: every node holds a block of the mesh, as large as those of the others, but nodes of 3 devices do "
        "not divide X=2 · Y=4 so; give a "
        "number of devices, or sizes within a node, that divide the sizes of the mesh axes");
  CHECK(text_of([] { return os::dry_mesh(os::within_node(X = 3), X = 4, Y = 3); }).find("nodes of 3 × 1 devices") !=
        std::string::npos);
  for (int no_block : {0, -1, 1 << 30})
    CHECK(text_of([&] { return os::dry_mesh(os::within_node(Y = no_block, X = no_block), X = 4, Y = 3); }) != "");
  CHECK(text_of([] { return os::dry_mesh(os::devices_per_node(0), X = 2); }) ==
        "devices_per_node: a node has at least one device, but 0 was given; give how many ranks share a node");
  int const n = t::ranks();
  CHECK(text_of([&] { return os::make_mesh(os::devices_per_node(5), X = n); }).find("nodes of 5 devices") !=
        std::string::npos);
  if (n > 1)
    CHECK(text_of([&] {
            return os::make_mesh(os::devices_per_node(t::rank() == 0 ? 1 : n), X = n);
          }).find("other axes, sizes or nodes") != std::string::npos);
}

TEST_CASE("a node holds a block, and its ranks are in a row") {
  on_every_block([](auto const& mesh, auto const&) {
    int const node = t::rank() / mesh.devices_per_node();
    int slow = 0, fast = 0;
    auto const add = [&](auto m) {
      int const within = mesh.within_node(m);
      slow = slow * (mesh.size(m) / within) + mesh.coordinate(m) / within;
      fast = fast * within + mesh.coordinate(m) % within;
    };
    add(X), add(Y), add(Z);
    CHECK(node == slow);
    CHECK(t::rank() % mesh.devices_per_node() == fast);
  });
}

TEST_CASE("products and moves, on one level and on two") {
  auto const program = [](auto const& m, auto const& check) {
    check(os::einsum<I/X, K>(make_a<I, J/X>(m), make_b<J/X, K>(m)));
    check(os::einsum<I, K>(make_a<I, J/X>(m), make_b<J/X, K>(m)));
    check(os::einsum<I, K/Z>(make_a<I, J/X/Y>(m), make_b<J/X/Y, K>(m)));
    check(os::einsum<I/X, K/Y>(make_a<I/X, J>(m), make_b<J/Y, K/X>(m)));
    check(os::reshard<I, K>(os::einsum<I/X/Y/Z, K>(make_a<I/X/Y/Z, J>(m), make_b<J, K>(m))));
    check(os::reshard<I/Y, K>(os::einsum<I/Z/Y, K/X>(make_a<I/Z/Y, J>(m), make_b<J, K/X>(m))));
    auto const summands = os::einsum<I, K, partial(X, Z)>(make_a<I, J/X/Z>(m), make_b<J/X/Z, K>(m));
    check(os::all_reduce<X, Z>(summands));
    check(os::reduce_scatter<I/X>(os::all_reduce<Z>(summands)));
    auto in_flight = os::start_einsum<I/Y, K>(make_a<I, J/Y>(m), make_b<J/Y, K>(m));
    auto another = os::start_einsum<I, K>(make_a<I, J/X>(m), make_b<J/X, K>(m));
    check(std::move(in_flight).wait());
    check(std::move(another).wait());
  };
  on_every_block([&](auto const& mesh, auto const& dry) {
    program(mesh, [](auto const& c) { check_product(c); });
    auto const price = [&](auto const& m) {
      return os::cost_of(m, [&] { program(m, [](auto const&) {}); });
    };
    auto const one = price(mesh);
    all_levelled const lowered;
    program(mesh, [](auto const& c) { check_product(c); });
    auto const two = price(mesh);
    t::check_same(price(dry), two);
    std::int64_t bytes[2] = {0, 0}, between[2] = {0, 0};
    for (int k : {0, 1}) {
      for (std::int64_t b : t::numbers_of_ranks((k == 0 ? one : two).bytes)) bytes[k] += b;
      for (std::int64_t b : t::numbers_of_ranks((k == 0 ? one : two).bytes_between_nodes)) between[k] += b;
    }
    CHECK(bytes[0] == bytes[1]);
    CHECK(between[1] <= between[0]);
    CHECK((between[0] > 0) == (mesh.devices() > mesh.devices_per_node()));
  });
}

TEST_CASE("a sum of rounded numbers is the same on all devices, and in every run") {
  all_levelled const lowered;
  on_every_block([](auto const& mesh, auto const&) {
    auto const a = os::random<float, I, J/X/Y/Z>(mesh, sizes, os::seed(7));
    std::vector<char> once;
    for (int run = 0; run < 2; ++run) {
      auto const sums = t::host_block(os::sum<I>(a));
      std::vector<char> bits(sums.size() * sizeof(float));
      std::memcpy(bits.data(), sums.data(), bits.size());
      if (run == 0) once = bits;
      CHECK(bits == once);
      for (auto const& theirs : t::bytes_of_ranks(bits)) CHECK(theirs == bits);
    }
  });
}

TEST_CASE("bytes between nodes, by hand") {
  constexpr std::int64_t n = 64;
  for (int d = 0; d < 32; ++d) {
    auto const price = [&](auto const& f) {
      auto const m = os::dry_mesh(os::as_device(d), os::devices_per_node(8), X = 4, Y = 8);
      auto const half = os::dry_mesh(os::as_device(d), os::devices_per_node(8), X = 2, Y = 16);
      return f(m, half);
    };
    price([&](auto const& m, auto const& half) {
      // Over one level there is nothing to choose.
      auto const gather = [&](auto const& mesh, auto x) {
        return os::cost_of(mesh, [&] {
          static_cast<void>(os::reshard<I, J>(os::zeros<double, I / x, J>(mesh, I = n, J = n)));
        });
      };
      std::int64_t const whole = 8 * n * n;
      CHECK(gather(m, X).bytes_between_nodes == whole / 4 * 3);
      CHECK(gather(m, Y).bytes_between_nodes == 0);
      // Y of 16 is 2 nodes of 8: each device gets the part of one other from there, 1/16, instead of 8.
      std::int64_t const before = os::engine::shortest_levelled;
      os::engine::shortest_levelled = whole + 1;
      CHECK(gather(half, Y).bytes_between_nodes == whole / 2);
      os::engine::shortest_levelled = whole;
      CHECK(gather(half, Y).bytes_between_nodes == whole / 16);
      CHECK(gather(half, Y).bytes_between_nodes_over(Y) == whole / 16);
      CHECK(gather(half, Y).bytes == whole / 16 * 15);
      os::engine::shortest_levelled = before;
    });
  }
}

TEST_CASE("mesh axes of one device carry no collective, whether types know that or not") {
  long const before = t::communicators_alive();
  int const n = t::ranks();
  auto const mesh = os::make_mesh(X = n, Y = 1, Z = 1, single);
  auto const dry = os::dry_mesh(X = 4096, Y = 1, Z = 1, single);
  long const made = t::communicators_alive() - before;
  auto const program = [](auto const& m, auto y, auto const& check) {
    auto const a = os::generate<double, I / y, J / Z>(m, sizes, [](auto i, auto j) { return a_at(i, j); });
    auto const b = make_b<J / y, K>(m);
    check(os::einsum<I, K>(os::reshard<I, J / y>(a), b));
    check(os::einsum<I, K>(os::all_gather<y, Z>(a), b, os::gather_right));
    check(os::all_reduce<y>(os::einsum<I, K, partial(y)>(os::reshard<I, J / y>(a), b)));
    check(os::reduce_scatter<K / y>(os::einsum<I, K, partial(y)>(make_a<I, J / y>(m), b)));
    auto const c = os::zeros<double, I / X / y, J / Z>(m, sizes);
    static_cast<void>(os::reshard<I / X, J>(c));
    static_cast<void>(os::shard_map<J>([](auto const& u) { return os::psum<decltype(y){}>(os::sum<J>(u)); },
                                       os::reshard<I / y, J>(a)));
  };
  auto const costs_nothing = [&](auto const& m, auto y, auto const& check) {
    recorded_collectives recorded;
    auto const cost = os::cost_of(m, [&] { program(m, y, check); });
    CHECK(cost.bytes == 0);
    CHECK(cost.messages == 0);
    CHECK(recorded.number == 0);
  };
  auto const computes = [](auto const& c) { check_product(c); };
  costs_nothing(mesh, Y, computes);
  costs_nothing(mesh, single, computes);
  costs_nothing(dry, Y, [](auto const&) {});
  costs_nothing(dry, single, [](auto const&) {});
  CHECK(t::communicators_alive() - before == made);
}
