// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The adviser speaks once of an operation whose nominal plan is poor for the actual sizes, on device 0 alone, and is
/// silent otherwise. C[I, K] = A[I, J_X] · B[J, K] multiplies rows of A; for a long J the small result should be
/// reduced.
// sham:

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// The text that f writes to stderr.
template <class F>
std::string captured(F&& f) {
  std::fflush(stderr);
  int const before = dup(STDERR_FILENO);
  std::FILE* const file = std::tmpfile();
  dup2(fileno(file), STDERR_FILENO);
  f();
  std::fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  std::string text(static_cast<std::size_t>(std::ftell(file)), ' ');
  std::rewind(file);
  std::size_t const read = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  text.resize(read);
  return text;
}

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

// On or off for a while.
struct adviser {
  explicit adviser(bool on) { os::detail::adviser = on ? &os::detail::advise<> : nullptr; }
  ~adviser() { os::detail::adviser = nullptr; }
  adviser(adviser const&) = delete;
  adviser& operator=(adviser const&) = delete;
};

t::test_mesh all_on_x() { return t::test_mesh({"XYZ", {t::ranks(), 1, 1}}); }

template <class T, auto... Policy>
std::string product(std::int64_t i, std::int64_t j, std::int64_t k) {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::zeros<T, I, J/X>(mesh, I = i, J = j);
  auto const b = os::zeros<T, J, K>(mesh, J = j, K = k);
  return captured([&] { static_cast<void>(os::einsum<I, K>(a, b, Policy...)); });
}

}  // namespace

TEST_CASE("once, on device 0, with what to do") {
  adviser const on(true);
  std::string const said = product<double>(2, 131072, 3);
  INFO(said);
  CHECK(said.empty() == !(t::ranks() > 1 && t::rank() == 0));
  if (!said.empty()) {
    CHECK(contains(said,
                   "ostraka: einsum: for I=2, J=131072, K=3 on X=" + std::to_string(t::ranks()) + " the plan moves "));
    CHECK(contains(said, "C[I, K] = A[I, J_X] · B[J, K]\n"));
    CHECK(contains(said, "all_reduce<X>"));
    CHECK(contains(
        said,
        "Remedy: os::for_these_sizes after the operands, the policy os::reduce_result, or hints, OSTRAKA_AXIS(I, "
        "os::about(2)), OSTRAKA_AXIS(J, os::about(131072)), OSTRAKA_AXIS(K, os::about(3))"));
  }
  CHECK(product<double>(2, 131072, 3).empty());
  CHECK(product<double>(2, 131200, 3).empty());  // the same operation at other sizes
  CHECK(product<float>(2, 131072, 3).empty() == !(t::ranks() > 1 && t::rank() == 0));  // another operation
}

TEST_CASE("a good plan is silent, and nothing is said against a policy") {
  adviser const on(true);
  CHECK(product<std::int32_t>(8, 8, 8).empty());
  CHECK(product<std::int32_t, os::gather_left>(2, 131072, 3).empty());
  CHECK(product<std::int32_t, os::reduce_result>(2, 131072, 3).empty());
  CHECK(product<std::int32_t, os::for_these_sizes>(2, 131072, 3).empty());
  std::string const said = product<float, os::at_most<(1 << 30)>>(2, 131072, 3);  // but with it
  CHECK(said.empty() == !(t::ranks() > 1 && t::rank() == 0));
  if (!said.empty())
    CHECK(contains(said, "Remedy: os::for_these_sizes(the policy that is there) after the operands, or hints, "));
  CHECK(product<Kokkos::complex<double>>(2, 4096, 3).empty());  // another plan would cost a part, of next to nothing
}

TEST_CASE("sizes that it has found good are not looked at again") {
  adviser const on(true);
  os::detail::advice_record record{};
  t::test_mesh const m = all_on_x();
  auto const a = t::placed<os::tensor<double, I>>(m, t::whole_numbers<double>("I", {{'I', 3}}, 47));
  std::string_view const names[] = {"I", "X"};
  os::engine::execution_context const w = os::engine::make_context(*a.mesh_handle(), names + 1, 1, "sum");
  bool const first = t::rank() == 0;
  CHECK((os::detail::sizes_to_advise_on(w, record) != 0) == first);
  record.last = os::detail::hash_of(w.sizes);
  CHECK(os::detail::sizes_to_advise_on(w, record) == 0);
  record.last = 0;
  record.done = true;
  CHECK(os::detail::sizes_to_advise_on(w, record) == 0);
}

TEST_CASE("three operands") {
  adviser const on(true);
  t::test_mesh const m = all_on_x();
  t::extents_by_letter const e{
      {'I', 512}, {'J', 4}, {'K', 3}, {'L', 64}};  // a large result is all-reduced, where A is small
  auto const a = t::placed<os::tensor<double, I, J/X>>(m, t::whole_numbers<double>("IJ", e, 44));
  auto const b = t::placed<os::tensor<double, J, K>>(m, t::whole_numbers<double>("JK", e, 45));
  auto const c = t::placed<os::tensor<double, K, L>>(m, t::whole_numbers<double>("KL", e, 46));
  std::string const said = captured([&] { static_cast<void>(os::einsum<I, L>(a, b, c)); });
  INFO(said);
  CHECK(said.empty() == !(t::ranks() > 1 && t::rank() == 0));
  if (!said.empty()) {
    CHECK(contains(said, "D[I, L] = A[I, J_X] · B[J, K] · C[K, L]\n"));
    CHECK(contains(said, "Remedy: os::for_these_sizes after the operands, or hints, "));
  }
}

TEST_CASE("off means off") {
  adviser const off(false);
  CHECK(product<std::int64_t>(2, 131072, 3).empty());
}

TEST_CASE("reshards and reductions") {
  adviser const on(true);
  t::test_mesh const m({"XYZ", {1, t::ranks(), 1}});
  t::extents_by_letter const e{{'I', 3}, {'J', 100000}};
  auto const a = t::placed<os::tensor<double, I, J/X, os::partial(Y)>>(m, t::whole_numbers<double>("IJ", e, 43));
  CHECK(captured([&] { static_cast<void>(os::reshard<I, J/Y>(a)); }).empty());
  CHECK(captured([&] { static_cast<void>(os::sum<I>(a)); }).empty());
  // Nominally, summands are scattered over Y before they are gathered over X; here X is one device, and there is
  // nothing to gather.
  std::string const said = captured([&] { static_cast<void>(os::reshard<I, J, os::partial(Y)>(a)); });
  CHECK(said.empty() == !(t::ranks() > 1 && t::rank() == 0));
  if (!said.empty()) {
    CHECK(contains(said, "ostraka: reshard: for I=3, J=100000 on X=1 · Y=" + std::to_string(t::ranks())));
    CHECK(contains(said, "B[I, J] {U_Y} = A[I, J_X] {U_Y}\n  all_gather<X> "));
    CHECK(contains(said, "OSTRAKA_MESH_AXIS(X, os::about(1))"));
  }
}

TEST_CASE("what the environment says") {
  CHECK(os::detail::advice_enabled("1"));
  CHECK(!os::detail::advice_enabled("0"));
  CHECK(os::detail::advice_enabled(""));
  CHECK(os::detail::advice_enabled(nullptr));
  // os::environment reads it, also if MPI and Kokkos run already.
  int count = 0;
  char** none = nullptr;
  for (char const* value : {"1", ""}) {
    setenv("OSTRAKA_ADVISE", value, 1);
    { os::environment const env(count, none); }
    CHECK((os::detail::adviser != nullptr));
  }
  setenv("OSTRAKA_ADVISE", "0", 1);
  { os::environment const env(count, none); }
  CHECK((os::detail::adviser == nullptr));
}
