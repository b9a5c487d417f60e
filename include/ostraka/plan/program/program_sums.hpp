// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The axes that an einsum of a program would sum on their own (plan/rules/unshared_sum.hpp), in the program's
/// numbers and in words. A program refuses the same statements as os::einsum, both if calls build it and if it is read
/// from text.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/plan/program/program.hpp>
#include <ostraka/plan/rules/unshared_sum.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::planner {

/// A fault in the sums of a statement, and its remedy; empty texts mean none.
struct sums_fault {
  std::string message{};
  std::string remedy{};

  [[nodiscard]] bool none() const { return message.empty(); }
};

/// The fault in the sums of a statement. `result` has the axes of its result.
/// @pre the statement has at most max_operands operands and max_labels axes
[[nodiscard, gnu::cold]] inline sums_fault fault_of_sums(program const& p, program_statement const& s,
                                                         std::vector<int> const& result) {
  if (s.kind != statement_kind::einsum) return {};
  std::vector<int> labels;
  std::vector<std::int64_t> extents;
  auto const set_of = [&](std::vector<int> const& axes) {
    label_set all = 0;
    for (int a : axes) {
      auto const at = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), a) - labels.begin());
      if (at == labels.size()) {
        labels.push_back(a);
        extents.push_back(p.axes[static_cast<std::size_t>(a)].extent);
      }
      all |= label_set{1} << at;
    }
    return all;
  };
  label_set operands[max_operands]{};
  int const count = static_cast<int>(s.operands.size());
  for (int k = 0; k < count; ++k) operands[k] = set_of(s.operands[static_cast<std::size_t>(k)].axes);
  label_set const kept = set_of(result);
  label_set asked = 0;
  for (int a : s.summed_unshared)  // axes that no operand has are left out
    if (std::find(labels.begin(), labels.end(), a) != labels.end()) asked |= set_of({a});
  auto const name = [&](int label) {
    return p.axes[static_cast<std::size_t>(labels[static_cast<std::size_t>(label)])].name;
  };
  if (int const wrong = find_wrong_sum_over(operands, count, kept, asked); wrong >= 0)
    return {join_text("sum_over names axis ", name(wrong), ", which is kept, or which several operands have"),
            "name there what one operand alone has, and the result lacks"};
  unshared_sum const found = find_unshared_sum(operands, count, kept, asked, extents.data());
  if (found.label < 0) return {};
  program_operand const& with = s.operands[static_cast<std::size_t>(found.operand)];
  std::string renamed = p.tensors[static_cast<std::size_t>(with.tensor)].name + '[';
  for (std::size_t i = 0; i < with.axes.size(); ++i) {
    bool const joins = with.axes[i] == labels[static_cast<std::size_t>(found.label)] && found.join >= 0;
    append_text(renamed, i == 0 ? "" : ", ",
                joins ? name(found.join) : p.axes[static_cast<std::size_t>(with.axes[i])].name);
  }
  return {join_text("axis ", name(found.label), " would be summed on its own: ",
                    p.tensors[static_cast<std::size_t>(with.tensor)].name, " alone has it, and the result lacks it"),
          join_text(found.join < 0 ? std::string() : join_text("rename it to what it is to meet, ", renamed, "]; or "),
                    "sum it in a statement before, or ask for it: sum_over(", name(found.label), ')')};
}

}  // namespace ostraka::planner
