// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// How often the host waits for a device: never in an operation that moves nothing, whose results are ready in the
/// order of the instance; at most once for each message that it sends or receives; once where the host reads a number.
/// Where the program changes the instance, it waits for what was computed on the one before.

#include <doctest/doctest.h>

#include <ostraka/dlpack.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/local_view.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/optimizers.hpp>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "support/byte_counter.hpp"
#include "support/foreign_array.hpp"
#include "support/mpi_main.hpp"
#include "support/no_call_check.hpp"
#include "support/sham/device.hpp"

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(S);
OSTRAKA_AXIS(E);
OSTRAKA_AXIS(P, 2);
OSTRAKA_MESH_AXIS(X);

namespace {

using os::partial;

bool const takes_device_memory = [] {
  char const* const said = std::getenv("OSTRAKA_GPU_AWARE_MPI");
  return said != nullptr && *said == '1';
}();

// The fences of a second call: the first one takes memory.
template <class F>
long fences_of(F const& f) {
  f();
  sham::work const before = sham::work_done();
  f();
  return (sham::work_done() - before).fences;
}

// Checks that f waits for at most this number of messages, and for each of them if there is another device.
template <class F>
void waits_for(char const* name, int messages, F const& f) {
  INFO(std::string(name));
  long const fences = fences_of(f);
  if (t::ranks() == 1)
    CHECK(fences == 0);
  else
    CHECK(fences <= messages);
}

template <class F>
void never_waits(char const* name, F const& f) {
  INFO(std::string(name));
  sham::work const before = sham::work_done();
  CHECK(fences_of(f) == 0);
  CHECK((sham::work_done() - before).launches > 0);
}

struct twice {
  template <class T>
  KOKKOS_FUNCTION T operator()(T const& x) const {
    return x + x;
  }
};

}  // namespace

TEST_CASE("operations that move nothing") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::random<float, I / X, J>(mesh, I = 24, J = 64, os::seed(1));
  auto const b = os::random<float, J, K>(mesh, J = 64, K = 16, os::seed(2));
  auto const labels = os::cast<std::int64_t>(os::zeros<float, I / X>(mesh, I = 24));
  never_waits("zeros", [&] { static_cast<void>(os::zeros<float, I / X, J>(mesh, I = 24, J = 64)); });
  never_waits("normal", [&] { static_cast<void>(os::normal<float, I / X, J>(mesh, I = 24, J = 64, os::seed(3))); });
  never_waits("dropout", [&] { static_cast<void>(os::dropout(a, 0.5, os::seed(4))); });
  never_waits("copy", [&] { static_cast<void>(os::copy(a)); });
  never_waits("map", [&] { static_cast<void>(os::map(twice{}, a)); });
  never_waits("map_into", [&] { os::map_into(a, twice{}, a); });
  never_waits("add", [&] { static_cast<void>(os::add(a, a)); });
  never_waits("cast", [&] { static_cast<void>(os::cast<double>(a)); });
  never_waits("relu", [&] { static_cast<void>(os::relu(a)); });
  never_waits("einsum", [&] { static_cast<void>(os::einsum<I / X, K>(a, b)); });
  never_waits("transpose", [&] { static_cast<void>(os::transpose<J, I>(a)); });
  never_waits("slice", [&] { static_cast<void>(os::slice<J / X>(b)); });
  never_waits("sum", [&] { static_cast<void>(os::sum<I / X>(a)); });
  never_waits("max", [&] { static_cast<void>(os::max<I / X>(a)); });
  never_waits("argmax", [&] { static_cast<void>(os::argmax<I / X>(a)); });
  never_waits("variance", [&] { static_cast<void>(os::variance<I / X>(a)); });
  never_waits("softmax", [&] { static_cast<void>(os::softmax<J>(a)); });
  never_waits("rms_norm", [&] { static_cast<void>(os::rms_norm<J>(a)); });
  never_waits("layer_norm", [&] { static_cast<void>(os::layer_norm<J>(a)); });
  never_waits("cumsum", [&] { static_cast<void>(os::cumsum<J>(a)); });
  never_waits("sort", [&] { static_cast<void>(os::sort<J>(a)); });
  never_waits("take", [&] { static_cast<void>(os::take<J, I / X, K>(b, labels, os::in_range)); });
  never_waits("scatter_add", [&] {
    static_cast<void>(os::scatter_add<I, I, K>(b, os::iota<std::int64_t, J>(mesh, J = 64), I = 64, os::in_range));
  });
  never_waits("sample", [&] { static_cast<void>(os::sample<J>(a, os::seed(5), os::top_k(3))); });
  never_waits("a gradient", [&] {
    static_cast<void>(os::value_and_grad([](auto const& x) { return os::sum<>(os::multiply(x, x)); })(b));
  });
}

TEST_CASE("attention and rotations of whole sequences") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const q = os::random<float, I / X, J>(mesh, I = 64, J = 8, os::seed(1));
  auto const k = os::random<float, K, J>(mesh, K = 64, J = 8, os::seed(2));
  never_waits("attention", [&] { static_cast<void>(os::attention<I / X, K, J>(q, k, k)); });
  never_waits("causal attention", [&] { static_cast<void>(os::attention<I / X, K, J>(q, k, k, os::causal)); });
  auto const x = os::random<float, S / X, E, P>(mesh, S = 16, E = 4, os::seed(3));
  never_waits("rope", [&] { static_cast<void>(os::rope<S / X, E, P>(x)); });
}

TEST_CASE("an optimiser reads its step, and no more") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const p = os::random<float, I / X, J>(mesh, I = 24, J = 64, os::seed(1));
  auto const g = os::random<float, I / X, J>(mesh, I = 24, J = 64, os::seed(2));
  os::sgd const optimizer{.learning_rate = 1e-3};
  auto const state = optimizer.init(p);
  CHECK(fences_of([&] { optimizer.update(p, g, state); }) <= 1);
}

TEST_CASE("a number that the host reads") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::ones<double>(mesh);
  CHECK(fences_of([&] { CHECK(os::value(os::scale(2, a)) == 2); }) == 1);
  // The host reads if labels are among the classes: Kokkos counts its reduction twice.
  auto const logits = os::random<float, I / X, J>(mesh, I = 24, J = 64, os::seed(1));
  auto const labels = os::cast<std::int64_t>(os::zeros<float, I / X>(mesh, I = 24));
  CHECK(fences_of([&] { static_cast<void>(os::cross_entropy<J>(logits, labels)); }) <= 2);
}

TEST_CASE("blocks that are shared with another library") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::random<double, I / X, J>(mesh, I = 4 * t::ranks(), J = 64, os::seed(1));
  // The host waits for the kernels that write the block, and at the end for those of the other library.
  auto exported = os::to_dlpack(a);
  CHECK(fences_of([&] { exported = os::to_dlpack(a); }) == 2);
  never_waits("a map of an exported block", [&] { static_cast<void>(os::map(twice{}, a)); });
  t::foreign_array<double> array;
  array.elements.assign(4 * 64, 1);
  auto* const managed = array.pass<os::dlpack::managed_tensor>({{4, 64}, {}}, t::float64);
  sham::work const before = sham::work_done();
  {
    auto const adopted = os::from_dlpack<double, I / X, J>(mesh, I = 4 * t::ranks(), J = 64, managed);
    os::map_into(adopted, twice{}, adopted);
    CHECK((sham::work_done() - before).fences == 0);
    CHECK(array.released == 0);
  }
  CHECK(array.released == 1);
  CHECK((sham::work_done() - before).fences == 1);  // the other library may use its block in an order of its own
}

// Two devices exchange one message each; more of them exchange in one step, which one fence precedes.
TEST_CASE("operations that move") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::random<float, I / X, J>(mesh, I = 64, J = 640, os::seed(1));
  auto const columns = os::random<float, I, J / X>(mesh, I = 64, J = 640, os::seed(2));
  os::tensor<float, I, J, partial(X)> const sums =
      os::einsum<I, J, partial(X)>(os::random<float, I, K / X>(mesh, I = 64, K = 8, os::seed(3)),
                                   os::random<float, K / X, J>(mesh, K = 8, J = 640, os::seed(4)));
  waits_for("all_gather", 1, [&] { static_cast<void>(os::all_gather<X>(a)); });
  waits_for("all_gather of columns", 1, [&] { static_cast<void>(os::all_gather<X>(columns)); });
  waits_for("reduce_scatter", 1, [&] { static_cast<void>(os::reshard<I / X, J>(sums)); });
  waits_for("reduce_scatter of columns", 1, [&] { static_cast<void>(os::reshard<I, J / X>(sums)); });
  waits_for("all_reduce: a reduce-scatter and an all-gather", 2, [&] { static_cast<void>(os::all_reduce<X>(sums)); });
  waits_for("all_to_all", 1, [&] { static_cast<void>(os::reshard<I, J / X>(a)); });
  waits_for("sum: a short all-reduce", 1, [&] { static_cast<void>(os::sum<J>(a)); });
  waits_for("softmax: an exchange and an all-gather of states", 2,
            [&] { static_cast<void>(os::softmax<J / X>(columns)); });
  waits_for("layer_norm: the same", 2, [&] { static_cast<void>(os::layer_norm<J / X>(columns)); });
  waits_for("argmax: the same", 2, [&] { static_cast<void>(os::argmax<I>(columns)); });
  waits_for("begun and waited for", 1, [&] { static_cast<void>(os::start_reshard<I, J>(a).wait()); });
  waits_for("shift", 1, [&] {
    static_cast<void>(os::shard_map<os::dims<I / X, J>{}>([](auto x) { return os::shift<X>(x, 1); }, a));
  });
  waits_for("halo", 1, [&] {
    static_cast<void>(os::shard_map<os::dims<I / X, J>{}>(
        [](auto x) { return os::own(os::exchange_halo<os::halo<I, 1> / X>(x)); }, a));
  });
  auto const q = os::random<float, I / X, J>(mesh, I = 64, J = 8, os::seed(1));
  auto const k = os::random<float, K / X, J>(mesh, K = 64, J = 8, os::seed(2));
  waits_for("ring attention: a message a step", t::ranks() - 1,
            [&] { static_cast<void>(os::attention<I / X, K / X, J>(q, k, k, os::ring)); });
}

TEST_CASE("another instance") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::random<float, I / X, J>(mesh, I = 64, J = 640, os::seed(1));
  static_cast<void>(os::value(os::ones<float>(mesh)));  // nothing is under way
  Kokkos::Sham const other;
  CHECK(fences_of([&] {
          static_cast<void>(os::add(a, a));
          os::with_instance const scope(other);  // waits for the sum
          static_cast<void>(os::add(a, a));
        }  // waits for this one
                  ) == 2);
  CHECK(fences_of([&] { os::with_instance const scope(other); }) == 0);
  CHECK(fences_of([&] {
          os::with_instance const outer(other);
          os::with_instance const scope(other);
          static_cast<void>(os::add(a, a));
        }) == 1);
  // An operation that begins in a scope, and is waited for after it, waits for its own instance.
  long const messages = t::ranks() == 1 ? 0 : 1;
  CHECK(fences_of([&] {
          static_cast<void>(os::add(a, a));
          auto begun = [&] {
            os::with_instance const scope(other);  // waits for the sum
            return os::start_reshard<I, J>(a);
          }();
          static_cast<void>(std::move(begun).wait());
        }) == messages + 2);
}

TEST_CASE("nothing was reported") { CHECK(sham::take_reports().empty()); }
