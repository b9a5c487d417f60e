// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The cases in which there is advice, and its text. C[I_X, K] = A[I_X, J] · B[J, K_X] gathers one operand; the sizes
/// decide which.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/plan/search/advice.hpp>

namespace os = ostraka;
using namespace os::planner;

namespace {

constexpr std::string_view labels[] = {"I", "J", "K"};
constexpr std::string_view mesh_axes[] = {"X"};
constexpr naming names{labels, mesh_axes, 4};

extents sizes(std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t x) {
  extents e;
  for (std::int64_t n : {i, j, k}) e.label[e.labels++] = n;
  e.mesh[e.mesh_axes++] = x;
  return e;
}

// Labels I, J, K are 0, 1, 2; X is 0. `divided`: the label of the result that X divides, I by 0, K by 2.
einsum_problem product(int divided) {
  mesh_order x;
  x.push_back(0);
  einsum_problem p;
  spec a, b, c;
  a.push_back(0, x);
  a.push_back(1);
  b.push_back(1);
  b.push_back(2, x);
  c.push_back(0, divided == 0 ? x : mesh_order{});
  c.push_back(2, divided == 2 ? x : mesh_order{});
  p.operands.push_back(a);
  p.operands.push_back(b);
  p.result = c;
  p.sizes = sizes(4096, 4096, 4096, 4);
  return p;
}

std::string said(einsum_problem const& p, extents const& e) {
  return advice("einsum", plan_einsum(p), p.rule, e, names);
}

bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("sizes in a line") { CHECK(describe(sizes(8, 4096, 16, 2), names) == "I=8, J=4096, K=16 on X=2"); }

TEST_CASE("the plan that was decided on these sizes") {
  CHECK(said(product(0), product(0).sizes).empty());
  CHECK(said(product(2), product(2).sizes).empty());
}

TEST_CASE("a far better plan, and how to get it") {
  // The nominal plan gathers B, 4096 × 64 of it, though the result is tiny: gathering A and moving the result costs a
  // small part.
  std::string const text = said(product(0), sizes(8, 4096, 64, 4));
  INFO(text);
  CHECK(contains(
      text,
      "ostraka: einsum: for I=8, J=4096, K=64 on X=4 the plan moves 786,432 B per device;"));  // 3/4 of 4096 · 64 · 4 B
  CHECK(contains(text, "C[I_X, K] = A[I_X, J] · B[J, K_X]\n"));
  CHECK(contains(text, "OSTRAKA_AXIS(I, os::about(8))"));
  CHECK(contains(text, "OSTRAKA_AXIS(K, os::about(64))"));
  CHECK(contains(text, "Remedy: os::for_these_sizes after the operands"));
  CHECK(!contains(text, "OSTRAKA_AXIS(J"));  // decided on its real extent
  CHECK(!contains(text, "OSTRAKA_MESH_AXIS"));
}

TEST_CASE("from twice as cheap on") {
  // Gathering B costs 1024 · 3 · J · 64, an all-to-all of both to J 1024 · 3/4 · J · (I + 64) and a little for the
  // result; the work is 64 · I · J.
  std::int64_t const j = std::int64_t{1} << 20;
  CHECK(said(product(0), sizes(62, j, 64, 4)).empty());
  CHECK(!said(product(0), sizes(61, j, 64, 4)).empty());
  CHECK(contains(said(product(0), sizes(61, j, 64, 4)), "Better for these sizes, at some 1/2 of the price"));
}

TEST_CASE("work counts") {
  // Gathering A moves less than the plan, but all devices would multiply all of it.
  einsum_problem p = product(-1);
  p.operands[0] = {};
  p.operands[0].push_back(0);
  p.operands[0].push_back(1);
  p.operands[1] = {};
  p.operands[1].push_back(1, mesh_order{1});
  p.operands[1].push_back(2);
  einsum_plan gathers = plan_einsum(p);
  p.rule = admit::gather_right;
  gathers.steps = plan_einsum(p).steps;
  std::string const text = advice("einsum", gathers, admit::any, sizes(4096, 4096, 8192, 4), names);
  INFO(text);
  CHECK(contains(text, "the plan moves 100,663,296 B per device;"));
  CHECK(contains(text, " of the price, with 68,719,476,736 operations per device instead of 274,877,906,944:\n"));
}

TEST_CASE("what costs next to nothing is not worth a word") {
  CHECK(said(product(0), sizes(1, 4096, 4, 4)).empty());
}

TEST_CASE("nothing against a policy") {
  einsum_problem p = product(0);
  p.rule = admit::gather_right;
  CHECK(said(p, sizes(8, 4096, 64, 4)).empty());
}

TEST_CASE("a policy where one does it") {
  // C[I, K] = A[I, J_X] · B[J, K] multiplies rows of A, nominally; for a long J the small result is better reduced.
  mesh_order x;
  x.push_back(0);
  einsum_problem p = product(-1);
  p.operands[0] = {};
  p.operands[0].push_back(0);
  p.operands[0].push_back(1, x);
  p.operands[1] = {};
  p.operands[1].push_back(1);
  p.operands[1].push_back(2);
  std::string const text = said(p, sizes(8, 65536, 8, 4));
  INFO(text);
  CHECK(contains(text, "all_reduce<X>"));
  CHECK(contains(
      text,
      "Remedy: os::for_these_sizes after the operands, the policy os::reduce_result, or hints, OSTRAKA_AXIS(I, "
      "os::about(8)), OSTRAKA_AXIS(J, os::about(65536)), OSTRAKA_AXIS(K, os::about(8)).\n"));
}

TEST_CASE("a policy that is there stays") {
  einsum_problem p = product(0);
  std::string const text = advice("einsum", plan_einsum(p), p.rule, sizes(8, 4096, 64, 4), names, true);
  CHECK(contains(text, "Remedy: os::for_these_sizes(the policy that is there) after the operands, or hints, "));
}

TEST_CASE("nothing to move, nothing to say") {
  CHECK(said(product(0), sizes(8, 0, 64, 4)).empty());
  CHECK(said(product(0), sizes(8, 4096, 64, 1)).empty());
}
