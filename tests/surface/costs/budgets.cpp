// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::at_most with sizes that are known only at run time: an operation whose plan keeps within the budget runs as
/// without one, and one whose plan does not throws on all ranks before anything is sent. C[I, K] = Σ_J A[I, J_X] ·
/// B[J_X, K]
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;
using os::dims;

namespace {

// Runs f, and returns this rank's error; nothing may have been sent then.
template <class F>
std::string refusal(F&& f) {
  std::string said;
  t::traffic const moved = t::traffic_of([&] {
    try {
      f();
    } catch (os::error const& e) {
      said = e.what();
    }
  });
  std::int64_t refused = 0;
  for (std::int64_t n : t::numbers_of_ranks(said.empty() ? 0 : 1)) refused += n;
  CHECK((refused == 0 || refused == t::ranks()));
  if (refused > 0) CHECK(moved.calls == 0);
  return said;
}

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

int kept = 0;
int broken = 0;

// The operation under a budget that meshes and extents keep and break.
template <std::int64_t Budget>
void check(t::test_mesh const& m, t::extents_by_letter const& e) {
  auto const whole_a = t::whole_numbers<float>("IJ", e, 31);
  auto const whole_b = t::whole_numbers<float>("JK", e, 32);
  auto const a = t::placed<os::tensor<float, I, J/X>>(m, whole_a);
  auto const b = t::placed<os::tensor<float, J/X, K>>(m, whole_b);
  auto const look = [&](std::int64_t bytes, std::string const& said) {
    INFO(m.text(), t::text_of(e), "moves ", bytes, ", may move ", Budget, ": ", said);
    ++(bytes <= Budget ? kept : broken);
    CHECK(said.empty() == (bytes <= Budget));
    if (!said.empty()) {
      CHECK(contains(said, "os::at_most<" + std::to_string(Budget) + ">"));
      CHECK(contains(said, " the plan moves " + os::planner::describe_bytes(bytes) + ";"));
    }
    return said.empty();
  };

  os::tensor<float, I, K> c;
  std::string said = refusal([&] { c = os::einsum<I, K>(a, b, os::at_most<Budget>); });
  if (look(os::plan<I, K>(a, b).bytes(a, b), said))
    CHECK(t::disagreements(m, c, t::product_by_loops("IK", whole_a, whole_b)) == 0);
  if (!said.empty()) CHECK(contains(said, "einsum: "));

  c = t::placed<os::tensor<float, I, K>>(m, t::whole_numbers<float>("IK", e, 36));
  said = refusal([&] { os::einsum_into(c, a, b, os::at_most<Budget>); });
  if (look(os::plan<I, K>(a, b).bytes(a, b), said))
    CHECK(t::disagreements(m, c, t::product_by_loops("IK", whole_a, whole_b)) == 0);
  else
    CHECK(t::disagreements(m, c, t::whole_numbers<float>("IK", e, 36)) == 0);  // as it was

  os::tensor<float, I, J> r;
  said = refusal([&] { r = os::reshard<I, J>(a, os::at_most<Budget>); });
  if (look(os::plan<I, J>(a).bytes(a), said)) CHECK(t::disagreements(m, r, whole_a) == 0);
  if (!said.empty()) CHECK(contains(said, "reshard: "));

  os::tensor<float, I> s;
  said = refusal([&] { s = os::max<I>(a, os::at_most<Budget>); });
  look(os::plan<I>(a).bytes(a), said);
  if (!said.empty()) CHECK(contains(said, "max: "));
  said = refusal([&] { s = os::sum<I>(a, os::at_most<Budget>); });
  if (look(os::plan<I>(a).bytes(a), said)) CHECK(t::disagreements(m, s, t::sum_by_loops("I", whole_a)) == 0);
}

}  // namespace

TEST_CASE("kept or refused") {
  kept = broken = 0;
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<0>(m, e);
      check<64>(m, e);
      check<144>(m, e);
    }
  });
  CHECK(kept > 0);
  if (t::ranks() > 1) CHECK(broken > 0);
}

TEST_CASE("to the byte, and again for each size") {
  if (t::ranks() != 2) return;
  t::test_mesh const m({"XYZ", {2, 1, 1}});
  auto const moves = [&](std::int64_t n) {  // 2(p-1)/p · n floats
    t::extents_by_letter const e{{'I', n}, {'J', 2}};
    auto const a = t::placed<os::tensor<float, I, J/X>>(m, t::whole_numbers<float>("IJ", e, 33));
    return refusal([&] { static_cast<void>(os::sum<I>(a, os::at_most<40>)); });
  };
  CHECK(moves(10).empty());
  CHECK(!moves(11).empty());
  CHECK(moves(10).empty());
  CHECK(!moves(11).empty());
  CHECK(contains(
      moves(11),
      "sum: os::at_most<40> is what each device may move, but for I=11, J=2 on X=2 the plan moves 44 B; raise the "
      "budget"));
}

TEST_CASE("the remedy is a better plan where there is one") {
  if (t::ranks() != 4) return;
  t::test_mesh const m({"XYZ", {4, 1, 1}});
  t::extents_by_letter const e{{'I', 2}, {'J', 512}, {'K', 2}};
  auto const a = t::placed<os::tensor<float, I, J/X>>(m, t::whole_numbers<float>("IJ", e, 34));
  auto const b = t::placed<os::tensor<float, J, K>>(m, t::whole_numbers<float>("JK", e, 35));
  std::string const said = refusal([&] { static_cast<void>(os::einsum<I, K>(a, b, os::at_most<100>)); });
  CHECK(contains(
      said,
      "einsum: os::at_most<100> is what each device may move, but for I=2, J=512, K=2 on X=4 the plan moves 780 B; a "
      "plan for these sizes would move 24 B: "
      "take os::at_most<100>(os::reduce_result), or give static extents, OSTRAKA_AXIS(I, 2), OSTRAKA_AXIS(J, 512), "
      "OSTRAKA_AXIS(K, 2)"));
  CHECK(contains(refusal([&] { static_cast<void>(os::einsum<I, K>(a, b, os::at_most<100>(os::idle(Y)))); }),
                 "take os::at_most<100>(os::for_these_sizes(the policy that is there)), or give static extents, "));
  os::tensor<float, I, K> c;
  CHECK(refusal([&] { c = os::einsum<I, K>(a, b, os::at_most<100>(os::reduce_result)); }).empty());
  CHECK(t::disagreements(m, c,
                         t::product_by_loops("IK", t::whole_numbers<float>("IJ", e, 34),
                                             t::whole_numbers<float>("JK", e, 35))) == 0);
}
