// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::describe, letter by letter: tensors on this mesh, and plans. The bytes in the plans were worked out by hand.
// sham:

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <string>

#include "support/on_meshes.hpp"

OSTRAKA_AXIS(batch, 64);
OSTRAKA_AXIS(hidden, 512);
OSTRAKA_MESH_AXIS(data, 4);
OSTRAKA_MESH_AXIS(model, 2);

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::sharding_of;

TEST_CASE("tensors") {
  auto const mesh = os::make_mesh(X = t::ranks(), Y = 1);
  std::string const n = std::to_string(t::ranks());
  std::string const me = std::to_string(t::rank());
  std::string const where = " on X=" + n + " · Y=1; device " + me + " holds ";
  int const part = 24 / t::ranks();
  std::string const range =
      "[" + std::to_string(t::rank() * part) + ", " + std::to_string((t::rank() + 1) * part) + ")";
  CHECK(os::describe(os::zeros<float, I/X, J>(mesh, I = 24, J = 3)) ==
        "float[I_X, J] of 24 × 3" + where + range + " × [0, 3), " + std::to_string(part * 3 * 4) + " B");
  CHECK(os::describe(os::zeros<std::complex<double>, I/Y/X>(mesh, I = 24)) ==
        "complex<double>[I_YX] of 24" + where + range + ", " + std::to_string(part * 16) + " B");
  CHECK(os::describe(os::zeros<std::int64_t, J, os::partial(Y, X)>(mesh, J = 500)) ==
        "int64[J] {U_XY} of 500" + where + "[0, 500), 4,000 B");
  CHECK(os::describe(os::zeros<std::int32_t>(mesh)) == "int32[] on X=" + n + " · Y=1; device " + me + " holds 4 B");
  CHECK(os::describe(os::zeros<double, I, J>(mesh, I = 0, J = 1250000)) ==
        "double[I, J] of 0 × 1250000" + where + "[0, 0) × [0, 1250000), 0 B");
  CHECK(os::describe(os::zeros<std::complex<float>, I>(mesh, I = 250000)) ==
        "complex<float>[I] of 250000" + where + "[0, 250000), 2,000,000 B");
}

TEST_CASE("a plan asked with the tensors themselves") {
  auto const mesh = os::make_mesh(X = t::ranks(), Y = 1);
  auto const a = os::zeros<float, I/X, J>(mesh, I = 24, J = 5);
  auto const b = os::zeros<float, J, K/X>(mesh, a, K = 7);
  constexpr auto plan = os::plan_of<dims<I/X, K>, decltype(a), decltype(b)>;
  auto const written_out = os::sizes(I = 24, J = 5, K = 7, X = t::ranks());
  CHECK(os::describe(plan, a, b) == os::describe(plan, written_out));
  CHECK(plan.bytes(a, b) == plan.bytes(written_out));
  CHECK(plan.total_bytes(a, b, mesh) == plan.total_bytes(written_out));
  auto const other = os::zeros<float, J, K/X>(mesh, J = 6, K = 7);
  CHECK_THROWS_AS(static_cast<void>(plan.bytes(a, other)), os::error);
}

TEST_CASE("an empty handle") {
  CHECK(os::describe(os::tensor<float, batch/data/model, hidden>()) ==
        "float[batch_{data,model}, hidden], an empty handle");
}

TEST_CASE("the plan of a reshard names its source, then its result") {
  using matrix = os::tensor<float, I/X, J>;
  CHECK(os::describe(os::reshard_plan_of<dims<I, J>, matrix>, I = 8, J = 6, X = 2) ==
        "B[I, J] = A[I_X, J]\n"
        "  all_gather<X>        A[I_X, J] → B[I, J]                          96 B\n"
        "  moves 96 B per device\n");
  CHECK(os::describe(os::reshard_plan_of<dims<I/X, J>, os::tensor<float, I, J, os::partial(X, Y)>>, I = 8, J = 6, X = 2,
                     Y = 2) ==
        "B[I_X, J] = A[I, J] {U_XY}\n"
        "  reduce_scatter<X>    A[I, J] {U_XY} → B[I_X, J] {U_Y}             96 B\n"
        "  all_reduce<Y>        B[I_X, J] {U_Y} → B[I_X, J]                  96 B\n"
        "  moves 192 B per device\n");
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const source = os::named("T", os::zeros<float, I/X, J>(mesh, I = 8, J = 6));
  CHECK(os::describe(os::reshard_plan<I, J>(source), source).find(">        T[I_X, J] → B[I, J]") != std::string::npos);
}

TEST_CASE("plans") {
  CHECK(os::describe(os::plan_of<dims<I/X, K/Y>, sharding_of<I/X, J/Y>, sharding_of<J/X, K/Y>>, I = 8, J = 6, K = 4,
                     X = 2, Y = 2) ==
        "C[I_X, K_Y] = A[I_X, J_Y] · B[J_X, K_Y]\n"
        "  all_gather<Y>        A[I_X, J_Y] → A[I_X, J]                      48 B\n"
        "  all_gather<X>        B[J_X, K_Y] → B[J, K_Y]                      24 B\n"
        "  contract             A[I_X, J] · B[J, K_Y] → C[I_X, K_Y]\n"
        "  moves 72 B per device\n");
  CHECK(os::describe(os::plan_of<dims<I, K>, sharding_of<I, J/X>, sharding_of<J/X, K>>, I = 3, J = 5, K = 7, X = 3) ==
        "C[I, K] = A[I, J_X] · B[J_X, K]\n"
        "  contract             A[I, J_X] · B[J_X, K] → C[I, K] {U_X}\n"
        "  all_reduce<X>        C[I, K] {U_X} → C[I, K]                      112 B\n"
        "  moves 112 B per device\n");
  CHECK(os::describe(os::plan_of<dims<I/X, K>, sharding_of<I/X, J>, sharding_of<J, K>>, I = 3, J = 5, K = 7, X = 3) ==
        "C[I_X, K] = A[I_X, J] · B[J, K]\n"
        "  contract             A[I_X, J] · B[J, K] → C[I_X, K]\n"
        "  moves 0 B per device\n");
  CHECK(os::describe(os::plan_of<dims<I, os::partial(X)>, sharding_of<I/X, J, os::partial(Y)>>, I = 4, J = 4, X = 2,
                     Y = 2) ==
        "B[I] {U_X} = A[I_X, J] {U_Y}\n"
        "  contract             A[I_X, J] {U_Y} → B[I_X] {U_Y}\n"
        "  all_reduce<Y>        B[I_X] {U_Y} → B[I_X]                        8 B\n"
        "  zero_pad<X>          B[I_X] → B[I] {U_X}\n"
        "  moves 8 B per device\n");
}

TEST_CASE("tensors that the program has named") {
  auto const mesh = os::make_mesh(X = t::ranks(), Y = 1);
  auto const temperature = os::named("T", os::zeros<float, I/X, J>(mesh, I = 24, J = 2));
  std::string const n = std::to_string(t::ranks());
  CHECK(temperature.label() == "T");
  CHECK(os::describe(temperature).rfind("float T[I_X, J] of 24 × 2 on X=" + n + " · Y=1; device ", 0) == 0);
  auto const handle = temperature;
  CHECK(handle.label() == "T");
  CHECK(handle.local().data() == temperature.local().data());
  CHECK(os::named("U", handle).label() == "U");
  os::tensor<float const, I/X, J> const read_only = temperature;
  CHECK(read_only.label() == "T");
  CHECK(handle.label() == "T");  // a handle's
  CHECK(os::rename<I, K>(temperature).label() == "T");
  CHECK(os::copy(temperature).label().empty());
  CHECK(os::scale(2, temperature).label().empty());
  CHECK(os::tensor<float, I>().label().empty());

  // A view that is adopted brings its label along.
  using tensor = os::tensor<float, J, K>;
  tensor::view_type const view("V", 2, 5);
  auto const velocity = os::from_local<tensor>(mesh, J = 2, K = 5, view);
  CHECK(velocity.label() == "V");

  auto const sizes = os::sizes(I = 24, J = 2, K = 5, X = 3, Y = 1);
  constexpr auto plan = os::plan_of<dims<I, K>, decltype(temperature), decltype(velocity)>;
  std::string const as_letters = os::describe(plan, sizes);
  CHECK(os::describe(plan, temperature, velocity, os::sizes(X = t::ranks()))
            .rfind("C[I, K] = T[I_X, J] · V[J, K]\n  contract             T[I_X, J] · V[J, K] → ", 0) == 0);
  auto const flux = os::named("flux", os::einsum<I, K>(temperature, velocity));
  CHECK(os::describe(plan, temperature, velocity, flux).rfind("flux[I, K] = T[I_X, J] · V[J, K]\n", 0) == 0);
  CHECK(os::describe(plan, sizes) == as_letters);

  // Letters that are labels are not given twice; an object in another operand's place gives no name.
  CHECK(os::describe(plan, os::named("B", temperature), os::zeros_like(velocity))
            .rfind("D[I, K] = B[I_X, J] · C[J, K]\n", 0) == 0);
  CHECK(os::describe(plan, velocity, temperature).rfind("C[I, K] = A[I_X, J] · B[J, K]\n", 0) == 0);

  auto const more = os::named("keys", os::zeros<float, K, L>(mesh, K = 5, L = 2));
  constexpr auto three = os::plan_of<dims<I/X, L>, decltype(temperature), decltype(velocity), decltype(more)>;
  std::string const text = os::describe(three, temperature, velocity, more);
  CHECK(text.rfind("D[I_X, L] = T[I_X, J] · V[J, K] · keys[K, L]\n", 0) == 0);
  CHECK((text.find("T·V[I_X, K]") != std::string::npos || text.find("V·keys[J, L]") != std::string::npos));
}

TEST_CASE("a plan without extents says what it was decided on; with static ones they are those") {
  CHECK(os::describe(os::plan_of<dims<I/X, K>, sharding_of<I, J/X>, sharding_of<J/X, K>>) ==
        "C[I_X, K] = A[I, J_X] · B[J_X, K]\n"
        "  contract             A[I, J_X] · B[J_X, K] → C[I, K] {U_X}\n"
        "  reduce_scatter<X>    C[I, K] {U_X} → C[I_X, K]                    50,331,648 B\n"
        "  moves 50,331,648 B per device\n");
  CHECK(os::describe(os::plan_of<dims<batch>, sharding_of<batch/data/model, hidden>>) ==
        "B[batch] = A[batch_{data,model}, hidden]\n"
        "  contract             A[batch_{data,model}, hidden] → B[batch_{data,model}]\n"
        "  all_gather<{data,model}> B[batch_{data,model}] → B[batch]             224 B\n"
        "  moves 224 B per device\n");
}

TEST_CASE("the plan of tensors is that of their types") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::zeros<double, I, J/X>(mesh, I = 3, J = 5);
  auto const b = os::zeros<double, J/X, K>(mesh, J = 5, K = 7);
  CHECK(os::describe(os::plan<I, K>(a, b), os::sizes(I = 3, J = 5, K = 7), os::sizes(X = 3)) ==
        "C[I, K] = A[I, J_X] · B[J_X, K]\n"
        "  contract             A[I, J_X] · B[J_X, K] → C[I, K] {U_X}\n"
        "  all_reduce<X>        C[I, K] {U_X} → C[I, K]                      224 B\n"
        "  moves 224 B per device\n");
}
