// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Sums of one operand's labels alone: every einsum of up to three operands on four labels, with every result and every
/// os::sum_over, against membership counted one by one.

#include <doctest/doctest.h>

#include <cstdint>

#include <ostraka/plan/rules/unshared_sum.hpp>

using namespace ostraka::planner;

namespace {

constexpr int labels = 4;

bool has(label_set s, int l) { return (s >> l & 1) != 0; }

struct counted {
  int operands = 0;  // those that have the label
  bool kept = false, asked = false;
};

counted count(label_set const* operands, int n, label_set result, label_set asked, int l) {
  counted c{0, has(result, l), has(asked, l)};
  for (int k = 0; k < n; ++k) c.operands += has(operands[k], l) ? 1 : 0;
  return c;
}

void check(label_set const* operands, int n, label_set result, label_set asked, std::int64_t const* extents) {
  bool refused = false;
  int wrong = -1;
  for (int l = 0; l < labels; ++l) {
    counted const c = count(operands, n, result, asked, l);
    refused = refused || (n > 1 && c.operands == 1 && !c.kept && !c.asked);
    if (wrong < 0 && c.asked && (c.kept || c.operands > 1)) wrong = l;
  }
  unshared_sum const found = find_unshared_sum(operands, n, result, asked, extents);
  REQUIRE((found.label >= 0) == refused);
  REQUIRE(find_wrong_sum_over(operands, n, result, asked) == wrong);
  if (!refused) return;
  counted const c = count(operands, n, result, asked, found.label);
  REQUIRE((c.operands == 1 && !c.kept && !c.asked && has(operands[found.operand], found.label)));
  for (int k = found.operand + 1; k < n; ++k)
    for (int l = 0; l < labels; ++l)
      if (has(operands[k], l)) {
        counted const behind = count(operands, n, result, asked, l);
        REQUIRE((behind.operands > 1 || behind.kept || behind.asked));
      }
  // A label to join is summed, is another operand's, is not this one's, and has the extent; a lone one comes first.
  bool any = false, any_alone = false;
  for (int l = 0; l < labels; ++l) {
    counted const other = count(operands, n, result, asked, l);
    bool const fits = other.operands > 0 && !other.kept && !other.asked && !has(operands[found.operand], l) &&
                      (extents[l] == extents[found.label] || extents[l] < 0 || extents[found.label] < 0);
    any = any || fits;
    any_alone = any_alone || (fits && other.operands == 1);
    if (l == found.join) REQUIRE(fits);
  }
  REQUIRE((found.join >= 0) == any);
  if (any_alone) REQUIRE(count(operands, n, result, asked, found.join).operands == 1);
}

}  // namespace

TEST_CASE("every einsum of up to three operands on four labels") {
  constexpr label_set all = 1U << labels;
  std::int64_t const extents[][labels] = {{-1, -1, -1, -1}, {2, 3, 2, 3}, {4, -1, 5, 4}};
  for (auto const& e : extents)
    for (int n = 1; n <= 3; ++n)
      for (label_set a = 0; a < all; ++a)
        for (label_set b = 0; b < (n > 1 ? all : 1); ++b)
          for (label_set c = 0; c < (n > 2 ? all : 1); ++c)
            for (label_set result = 0; result < all; ++result) {
              label_set const operands[] = {a, b, c};
              if ((result & ~(a | b | c)) != 0) continue;
              for (label_set asked = 0; asked < all; ++asked) check(operands, n, result, asked, e);
            }
}

TEST_CASE("a forgotten rename") {
  // h[B, M] · w[N, H] → [B, H]: the second operand's N would join M; with other extents it joins nothing.
  label_set const operands[] = {0b0011, 0b1100};
  std::int64_t const dynamic[] = {-1, -1, -1, -1};
  std::int64_t const others[] = {8, 4, 5, 8};
  unshared_sum const found = find_unshared_sum(operands, 2, 0b1001, 0, dynamic);
  CHECK((found.label == 2 && found.operand == 1 && found.join == 1));
  unshared_sum const apart = find_unshared_sum(operands, 2, 0b1001, 0, others);
  CHECK((apart.label == 2 && apart.operand == 1 && apart.join == -1));
}
