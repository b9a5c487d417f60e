// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Blocks of uneven extents: everything that passes them on knows the origin of their extents, and all devices alike
/// refuse blocks that do not fit before anything is sent. No device uses its own extents to decide whether to
/// communicate.
// ranks: 1 2 3 4 6
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include <ostraka/engine/spmd/check_mode.hpp>

#include "support/on_meshes.hpp"
#include "support/program_array.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::varying;

OSTRAKA_AXIS(D, 12);

namespace {

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

// X = p, and X = p/2 beside Y = 2.
template <class F>
void on_meshes(F const& f) {
  std::vector<t::mesh_shape> shapes{{"XYZ", {t::ranks(), 1, 1}}};
  if (t::ranks() % 2 == 0) shapes.push_back({"XYZ", {t::ranks() / 2, 2, 1}});
  for (t::mesh_shape const& shape : shapes) {
    t::test_mesh const m(shape);
    INFO(m.text());
    f(m, os::mesh<X_mesh, Y_mesh, Z_mesh>(m.handle()));
  }
}

// One more than the devices divide evenly, if there are several devices.
t::extents_by_letter uneven() {
  int const p = t::ranks();
  return {{'I', 4 * p + 1}, {'J', 2 * p}, {'K', 2 * p + 1}};
}

template <class A>
t::global_tensor<double> numbers(t::extents_by_letter const& e, std::uint64_t seed) {
  return t::whole_numbers<double>(t::letters_in<A>(), e, seed);
}

enum class asks { nobody, others };

// True if it is refused: on all ranks alike, without any message, unless each device has extents of its own.
template <class F>
bool refused(F const& f, asks whom = asks::nobody) {
  t::traffic const before = t::traffic_so_far();
  bool caught = false;
  try {
    static_cast<void>(f());
  } catch (os::error const&) {
    caught = true;
  }
  t::traffic const after = t::traffic_so_far();
  for (std::int64_t other : t::numbers_of_ranks(caught ? 1 : 0)) CHECK(other == (caught ? 1 : 0));
  // In check mode devices also send each other what they repeat.
  if (caught && whom == asks::nobody && os::engine::calls_to_compare() != os::engine::compared_calls::all) {
    CHECK(after.bytes == before.bytes);
    CHECK(after.calls == before.calls);
  }
  return caught;
}

bool several(t::test_mesh const& m, char const* axis = "X") { return m.size(axis) > 1; }

struct doubled {
  KOKKOS_FUNCTION double operator()(double x) const { return 2 * x; }
};

}  // namespace

TEST_CASE("uneven blocks are not combined element by element") {
  on_meshes([](t::test_mesh const& m, auto const&) {
    auto const e = uneven();
    auto const A = t::placed<tensor<I/X, J>>(m, numbers<tensor<I/X, J>>(e, 1));
    CHECK(refused([&] { return os::shard_map<I, J>([](auto a) { return os::psum<X>(a); }, A); }) == several(m));
    CHECK(refused([&] { return os::shard_map<I, J>([](auto a) { return os::pmax<X>(a); }, A); }) == several(m));
    CHECK(refused([&] { return os::shard_map<I, J>([](auto a) { return os::pmean<X>(a); }, A); }) == several(m));
    CHECK(refused([&] { return os::shard_map<I, J/X>([](auto a) { return os::psum_scatter<J/X>(a); }, A); }) ==
          several(m));
    CHECK(refused([&] { return os::shard_map<I, J>([](auto a) { return os::all_gather<J/X>(a); }, A); }) ==
          several(m));
    CHECK(refused([&] { return os::shard_map<K, I, J>([](auto a) { return os::all_gather<K/X>(a); }, A); }) ==
          several(m));
    CHECK(!refused([&] { return os::shard_map<J>([](auto a) { return os::psum<X>(os::sum<J>(a)); }, A); }));
  });
}

TEST_CASE("uneven blocks leave as they came, or not at all") {
  on_meshes([](t::test_mesh const& m, auto const&) {
    auto const e = uneven();
    auto const A = t::placed<tensor<I/X, J>>(m, numbers<tensor<I/X, J>>(e, 1));
    auto const C = t::placed<tensor<I/X/Y, J>>(m, numbers<tensor<I/X/Y, J>>(e, 1));
    auto const itself = [](auto a) { return a; };
    CHECK(!refused([&] { return os::shard_map<I/X, J>(itself, A); }));
    CHECK(refused([&] { return os::shard_map<I, J/X>(itself, A); }) == several(m));
    CHECK(refused([&] { return os::shard_map<I, J, os::partial(X)>(itself, A); }) == several(m));
    CHECK(refused([&] { return os::shard_map<I/Y, J, os::partial(X)>([](auto a) { return os::pvary<Y>(a); }, A); }) ==
          several(m));
    // The order of mesh axes counts; a mesh axis of one device has no order.
    bool const both = several(m) && several(m, "Y");
    CHECK(refused([&] { return os::shard_map<I/Y/X, J>(itself, C); }) == both);
    CHECK(refused([&] { return os::shard_map<I/X/Z/Y, J>([](auto a) { return os::pvary<Z>(a); }, C); }) == false);
    // Divided further inside, its blocks do not nest.
    CHECK(refused([&] {
            return os::shard_map<os::manual(X), I/X/Y, J>([](auto a) { return os::reshard<I/Y, J>(a); }, A);
          }) == both);
    CHECK(refused([&] { return os::shard_map<os::manual(X), I/X/Y, J>(itself, C); }) == both);
    // Divided and gathered over Y inside, they are as long as before, which differs along X.
    auto const gathered = os::shard_map<os::manual(X), I/X, J>(
        [&](auto a) {
          return os::shard_map<os::manual(Y), I, J>([](auto b) { return os::all_gather<I/Y>(b); },
                                                    os::reshard<I/Y, J>(a));
        },
        A);
    CHECK(t::disagreements(m, gathered, numbers<tensor<I/X, J>>(e, 1)) == 0);
    CHECK(gathered.extent(I) == e.at('I'));
  });
}

TEST_CASE("what becomes of a block has its extents") {
  on_meshes([](t::test_mesh const& m, auto const& mesh) {
    auto const e = uneven();
    auto const a = numbers<tensor<I/X, J>>(e, 1), c = numbers<tensor<J>>(e, 2);
    auto const A = t::placed<tensor<I/X, J>>(m, a);
    auto const bias = t::placed<tensor<J>>(m, c);
    auto const leaves = [&](auto const& body) {
      auto const C = os::shard_map<I/X, J>(body, A);
      return t::disagreements(m, C, a);
    };
    CHECK(leaves([](auto x) { return os::copy(x); }) == 0);
    CHECK(leaves([](auto x) { return os::rename<K, I>(os::rename<I, K>(x)); }) == 0);
    CHECK(leaves([](auto x) { return os::einsum<I, J>(os::einsum<J, I>(x)); }) == 0);
    CHECK(leaves([](auto x) { return os::scale(0.5, os::map(doubled(), x)); }) == 0);
    CHECK(leaves([](auto x) { return os::add(x, os::zeros_like(x)); }) == 0);
    CHECK(leaves([](auto x) { return os::cast<double>(os::cast<float>(x)); }) == 0);
    CHECK(leaves([&](auto x) { return os::add(x, os::zeros<double, I, varying(X)>(mesh, I = x.extent(I))); }) == 0);
    CHECK(leaves([&](auto x) { return os::add(x, os::zeros<double, J, I, varying(X)>(mesh, x)); }) == 0);
    CHECK(leaves([&](auto x) {
            t::program_array<double> const nothing(x.local().size());
            auto const z =
                os::from_local<double, I, J, varying(X)>(mesh, I = x.extent(I), J = x.extent(J), os::unchecked,
                                                         os::strided(nothing.data(), I = x.extent(J), J = 1));
            return os::add(x, z);
          }) == 0);
    CHECK(leaves([&](auto x) {
            auto out = os::zeros_like(x);
            os::map_into(out, doubled(), x);
            os::map_into(
                out, [](double v) { return v / 2; }, out);
            return out;
          }) == 0);
    CHECK(leaves([&](auto x) {
            auto out = os::zeros_like(x);
            os::einsum_into(out, x);
            return out;
          }) == 0);
    CHECK(leaves([&](auto x) {
            auto out = os::zeros_like(x);
            os::reshard_into(out, x);
            return out;
          }) == 0);
    CHECK(leaves([&](auto x) {
            tensor<I, J, varying(X, Y)> const wider = x;
            return os::psum<Y>(os::scale(1.0 / m.size("Y"), wider));
          }) == 0);
    CHECK(leaves([&](auto x) { return os::subtract(os::add(x, bias), bias); }) == 0);
    // An axis that is summed away takes its extent with it; one that is put back has it again.
    auto const total = os::shard_map<J>([](auto x) { return os::psum<X>(os::sum<J>(x)); }, A);
    CHECK(t::disagreements(m, total, t::product_by_loops("J", a, t::global_tensor<double>{"", e, {1}})) == 0);
    auto const tall = os::shard_map<I, J>([](auto x) { return os::all_gather<I/X>(x); }, A);
    CHECK(t::disagreements(m, tall, a) == 0);
    auto const exchanged = os::shard_map<I, J/X>([](auto x) { return os::all_to_all<I/X, J/X>(x); }, A);
    CHECK(t::disagreements(m, exchanged, a) == 0);
  });
}

TEST_CASE("extents of a block make no tensor that is the same on all devices") {
  on_meshes([](t::test_mesh const& m, auto const& mesh) {
    auto const e = uneven();
    auto const A = t::placed<tensor<I/X, J>>(m, numbers<tensor<I/X, J>>(e, 1));
    auto const makes = [&](auto const& f) {
      return refused([&] {
        return os::shard_map<I/X, J>(
            [&](auto a) {
              f(a);
              return a;
            },
            A);
      });
    };
    CHECK(makes([&](auto a) { return os::zeros<double, I>(mesh, I = a.extent(I)); }) == several(m));
    CHECK(makes([&](auto a) { return os::zeros<double, I, J>(mesh, a); }) == several(m));
    CHECK(makes([&](auto a) { return os::zeros<double, I, varying(Y)>(mesh, I = a.extent(I)); }) == several(m));
    CHECK(makes([&](auto a) { return os::zeros<double, I>(mesh, I = a.extent(I) + 2); }) == several(m));
    CHECK(makes([&](auto a) { return os::zeros<double, J>(mesh, J = 3 * a.extent(J)); }) == false);
    CHECK(makes([&](auto a) { return os::zeros<double, I, varying(X)>(mesh, I = a.extent(I) * 2 - 1); }) == false);
    // Together with a tensor that is whole on every device.
    auto const whole = os::zeros<double, I>(mesh, I = e.at('I') / m.size("X"));
    CHECK(makes([&](auto a) { return os::add(a, whole); }) == several(m));
    CHECK(makes([&](auto a) { return os::einsum<J>(a, whole); }) == several(m));
  });
}

TEST_CASE("extents of each device's own are asked for when a block leaves") {
  on_meshes([](t::test_mesh const& m, auto const& mesh) {
    auto const e = uneven();
    auto const A = t::placed<tensor<I/X, J>>(m, numbers<tensor<I/X, J>>(e, 1));
    auto const leaving = [&](auto const& extent) {
      return [&](auto a) { return os::full<double, I, varying(X)>(mesh, I = extent(a), 1.0); };
    };
    // As many as before, which the types do not know: they are the blocks of the distribution.
    auto const same = [](auto const& a) { return a.extent(I) + 1 - 1; };
    auto const C = os::shard_map<I/X>(leaving(same), A);
    CHECK(C.extent(I) == e.at('I'));
    CHECK(refused([&] { return os::shard_map<I, os::partial(X)>(leaving(same), A); }, asks::others) == several(m));
    CHECK(refused([&] { return os::shard_map<I>([&](auto a) { return os::psum<X>(leaving(same)(a)); }, A); },
                  asks::others) == several(m));
    // Twice as many of an extent that is one more than even: the last device has two more than the distribution gives.
    auto const twice = [](auto const& a) { return 2 * a.extent(I); };
    CHECK(refused([&] { return os::shard_map<I/X>(leaving(twice), A); }, asks::others) == several(m));
    // The same on all devices after all.
    auto const none = [](auto const& a) { return a.extent(I) - a.extent(I) + 3; };
    CHECK(os::shard_map<I/X>(leaving(none), A).extent(I) == 3 * m.size("X"));
    CHECK(os::shard_map<I>([&](auto a) { return os::psum<X>(leaving(none)(a)); }, A).extent(I) == 3);
  });
}

TEST_CASE("a tensor has its static extents, whatever those of its blocks were") {
  on_meshes([](t::test_mesh const&, auto const& mesh) {
    auto const A = os::zeros<double, D/X>(mesh);
    auto const made = [&](std::int64_t n) {
      return refused(
          [&] { return os::shard_map<D/X>([&](auto) { return os::zeros<double, D, varying(X)>(mesh, D = n); }, A); });
    };
    CHECK(made(12 / mesh.size(X)) == false);
    CHECK(made(5));
    // Combined blocks are shorter than the whole.
    CHECK(refused([&] { return os::shard_map<D>([](auto a) { return os::psum<X>(a); }, A); }, asks::others) ==
          (mesh.size(X) > 1));
  });
}

TEST_CASE("what a body captures") {
  on_meshes([](t::test_mesh const& m, auto const&) {
    auto const e = uneven();
    auto const a = numbers<tensor<I/X, J>>(e, 1), b = numbers<tensor<J, K>>(e, 2);
    auto const A = t::placed<tensor<I/X, J>>(m, a);
    auto const right = t::placed<tensor<J, K>>(m, b);
    double const factor = 3;
    auto const C = os::shard_map<I/X, K>([&](auto x) { return os::scale(factor, os::einsum<I, K>(x, right)); }, A);
    auto wanted = t::product_by_loops("IK", a, b);
    for (double& v : wanted.values) v *= factor;
    CHECK(t::disagreements(m, C, wanted) == 0);
    // A divided tensor without a block beside it is the same tensor as outside.
    auto const R = t::placed<tensor<J/X, K>>(m, b);
    auto const product = os::shard_map<I/X, K>([&](auto x) { return os::einsum<I, K>(x, os::reshard<J, K>(R)); }, A);
    CHECK(t::disagreements(m, product, t::product_by_loops("IK", a, b)) == 0);
  });
}

TEST_CASE("host memory, and a block that is read only") {
  on_meshes([](t::test_mesh const&, auto const& mesh) {
    auto const e = uneven();
    auto const A = os::generate<double, I/X>(
        mesh, I = e.at('I'), KOKKOS_LAMBDA(std::int64_t i) { return double(i); });
    os::tensor<double const, I/X> const constant = A;
    auto const total = os::shard_map<os::dims<>{}>(
        [](auto a) {
          static_assert(std::is_const_v<typename decltype(a)::element_type>);
          return os::psum<X>(os::sum<>(a));
        },
        constant);
    CHECK(os::value(std::get<0>(total)) == double(e.at('I') * (e.at('I') - 1) / 2));
  });
}
