// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Writes programs (program.hpp) line by line:
///
///     program_builder p("feed-forward");
///     p.axis("B", 512).axis("M", 4096).axis("N", 4096).axis("H", 16384);
///     p.input("x[B, M]").parameter("up[N, H]").parameter("down[H, N]");
///     p.einsum("a[B, H]", {"x", "up[M, H]"});
///     p.operation("g[B, H]", {"a"}, {.flops = 10});
///     p.einsum("y[B, M]", {"g", "down[H, M]"});
///
/// An operand without brackets has the axes of its tensor.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/plan/program/program.hpp>
#include <ostraka/plan/program/program_sums.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::planner {

/// The properties of an operation other than its operands (program_statement explains them).
struct operation_options {
  double flops = 1;
  double pulled = 2;
  std::initializer_list<std::string_view> whole{};
  std::initializer_list<std::string_view> rows{};
  int row_numbers = 1;
  bool keeps = true;
};

/// Options of an einsum: axes that are summed although only one of several operands has them (os::sum_over).
struct einsum_options {
  std::initializer_list<std::string_view> sum_over{};
};

/// The properties of an axis other than its name and extent.
struct axis_options {
  std::string_view rule_set{};
  bool whole = false;
};

/// Makes a program line by line.
/// @throws ostraka::error for a name that is unknown or already taken, and for a statement whose operands do not match
class program_builder {
 public:
  explicit program_builder(std::string name, int element_bytes = 4) : element_bytes_(element_bytes) {
    made_.name = std::move(name);
    if (element_bytes < 1) refuse("an element has at least 1 byte; give 2, 4 or 8");
  }

  program_builder& axis(std::string_view name, std::int64_t extent, axis_options options = {}) {
    if (made_.find_axis(name) >= 0) refuse(join_text("axis ", name, " is there already"));
    if (extent < 1) refuse(join_text("axis ", name, " has no indices"));
    made_.axes.push_back({std::string(name), extent, std::string(options.rule_set), options.whole});
    return *this;
  }

  program_builder& input(std::string_view text) { return tensor(text, tensor_role::input); }
  program_builder& carried(std::string_view text) { return tensor(text, tensor_role::carried); }
  program_builder& parameter(std::string_view text) { return tensor(text, tensor_role::parameter); }

  program_builder& einsum(std::string_view result, std::initializer_list<std::string_view> operands,
                          einsum_options const& options = {}) {
    return add(einsum_statement(options), result, operands);
  }
  /// An einsum whose sums stay partial over the mesh axes that divide them, so that a later move reduces them.
  program_builder& partial_einsum(std::string_view result, std::initializer_list<std::string_view> operands,
                                  einsum_options const& options = {}) {
    program_statement s = einsum_statement(options);
    s.partial = true;
    return add(std::move(s), result, operands);
  }
  program_builder& operation(std::string_view result, std::initializer_list<std::string_view> operands,
                             operation_options const& options = {}) {
    program_statement s;
    s.kind = statement_kind::operation;
    s.flops = options.flops;
    s.pulled = options.pulled;
    for (std::string_view a : options.whole) s.whole.push_back(axis_named(a));
    for (std::string_view a : options.rows) s.rows.push_back(axis_named(a));
    s.row_numbers = options.row_numbers;
    s.keeps = options.keeps;
    if (!(options.flops >= 0) || std::isinf(options.flops) || options.row_numbers < 0)
      refuse(join_text("flops and row_numbers of ", result, " are numbers from 0; say how many it takes"));
    if (!(options.pulled >= 0) || std::isinf(options.pulled))
      refuse(join_text("pulled of ", result, " is a number from 0; say how many flops its derivative takes for each"));
    return add(std::move(s), result, operands);
  }
  program_builder& move(std::string_view result, std::string_view operand) {
    program_statement s;
    s.kind = statement_kind::move;
    return add(std::move(s), result, {operand});
  }
  /// A move whose result's cotangents are added before they are reduced.
  program_builder& deferred(std::string_view result, std::string_view operand) {
    program_statement s;
    s.kind = statement_kind::move;
    s.deferred = true;
    return add(std::move(s), result, {operand});
  }

  /// All later tensors and statements exist, and run, `times` times: once in each layer.
  program_builder& repeat(std::int64_t times) {
    if (times < 1) refuse("there is at least one layer; give the number of layers");
    if (times > std::numeric_limits<int>::max()) refuse("there are fewer than 2^31 layers; give the number of layers");
    repeat_ = static_cast<int>(times);
    return *this;
  }

  /// Makes a tensor of a statement a result of the program.
  program_builder& result(std::string_view name) {
    program_tensor& t = made_.tensors[static_cast<std::size_t>(tensor_named(name))];
    if (t.role != tensor_role::intermediate)
      refuse(join_text("no statement makes ", t.name, "; name a tensor that one does"));
    t.role = tensor_role::result;
    return *this;
  }

  [[nodiscard]] program const& get() const { return made_; }
  operator program const&() const { return made_; }

 private:
  struct called {
    std::string name;
    std::vector<int> axes;
    bool brackets = false;
  };

  [[noreturn]] void refuse(std::string const& why) const { throw_error("program ", made_.name, ": ", why); }

  [[nodiscard]] program_statement einsum_statement(einsum_options const& options) const {
    program_statement s;
    for (std::string_view a : options.sum_over) s.summed_unshared.push_back(axis_named(a));
    return s;
  }

  [[nodiscard]] int axis_named(std::string_view name) const {
    int const a = made_.find_axis(name);
    if (a < 0) refuse(join_text("no axis is called ", name));
    return a;
  }
  [[nodiscard]] int tensor_named(std::string_view name) const {
    int const t = made_.find_tensor(name);
    if (t < 0) refuse(join_text("no tensor is called ", name));
    return t;
  }

  // Reads the name and the axes of "up[N, H]".
  [[nodiscard]] called read(std::string_view text) const {
    called c;
    auto const trimmed = [](std::string_view s) {
      while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
      while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
      return s;
    };
    std::size_t const open = text.find('[');
    c.name = std::string(trimmed(text.substr(0, open)));
    if (open == std::string_view::npos) return c;
    c.brackets = true;
    std::string_view rest = text.substr(open + 1);
    std::size_t const close = rest.find(']');
    if (close == std::string_view::npos) refuse(join_text(text, " lacks its bracket ]"));
    if (!trimmed(rest.substr(close + 1)).empty()) refuse(join_text(text, " goes on after its bracket ]"));
    rest = rest.substr(0, close);
    while (!trimmed(rest).empty()) {
      std::size_t const comma = rest.find(',');
      int const a = axis_named(trimmed(rest.substr(0, comma)));
      if (has(c.axes, a)) refuse(join_text("axis ", name_of(a), " appears twice in ", text, "; rename one of them"));
      c.axes.push_back(a);
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
    if (c.axes.size() > static_cast<std::size_t>(max_rank)) refuse(join_text(text, " has too many axes"));
    return c;
  }

  program_builder& tensor(std::string_view text, tensor_role role) {
    called const c = read(text);
    if (c.name.empty()) refuse(join_text("a tensor in ", text, " has no name; write one before its axes"));
    if (made_.find_tensor(c.name) >= 0) refuse(join_text("tensor ", c.name, " is there already"));
    made_.tensors.push_back({c.name, c.axes, role, element_bytes_, repeat_, {}});
    return *this;
  }

  program_builder& add(program_statement s, std::string_view result,
                       std::initializer_list<std::string_view> operands) {
    s.repeat = repeat_;
    for (std::string_view text : operands) {
      called const c = read(text);
      int const t = tensor_named(c.name);
      std::vector<int> const& own = made_.tensors[static_cast<std::size_t>(t)].axes;
      if (c.brackets && c.axes.size() != own.size()) refuse(join_text(text, " has another number of axes"));
      for (std::size_t d = 0; c.brackets && d < own.size(); ++d)
        if (extent_of(c.axes[d]) != extent_of(own[d]))
          refuse(join_text(name_of(own[d]), " of ", c.name, " is called ", name_of(c.axes[d]),
                           ", which has another extent"));
      s.operands.push_back({t, c.brackets ? c.axes : own});
    }
    tensor(result, tensor_role::intermediate);
    s.result = static_cast<int>(made_.tensors.size()) - 1;
    check(s, std::string(result));
    made_.statements.push_back(std::move(s));
    return *this;
  }

  static bool has(std::vector<int> const& all, int one) { return std::find(all.begin(), all.end(), one) != all.end(); }

  void check(program_statement const& s, std::string const& made) const {
    std::vector<int> const& result = made_.tensors[static_cast<std::size_t>(s.result)].axes;
    std::vector<int> labels;
    for (program_operand const& o : s.operands)
      for (int a : o.axes)
        if (!has(labels, a)) labels.push_back(a);
    if (s.operands.empty()) refuse(join_text(made, " is made of nothing; name its operands"));
    if (s.operands.size() > static_cast<std::size_t>(max_operands))
      refuse(join_text(made, " has more than ", max_operands, " operands; make it in two statements"));
    int const most = s.kind == statement_kind::einsum ? max_labels : max_rank;
    if (labels.size() > static_cast<std::size_t>(most))
      refuse(join_text("operands of ", made, " have more than ", most, " axes; merge some of them"));
    for (int a : result)
      if (!has(labels, a)) refuse(join_text("no operand of ", made, " has its axis ", name_of(a)));
    for (std::vector<int> const* named : {&s.whole, &s.rows})
      for (int a : *named)
        if (!has(labels, a))
          refuse(join_text("no operand of ", made, " has axis ", name_of(a), ", which is to be whole, or rows"));
    if (sums_fault const sums = fault_of_sums(made_, s, result); !sums.none())
      refuse(join_text(made, ": ", sums.message, "; ", sums.remedy));
    if (s.kind == statement_kind::move && s.operands[0].axes != result)
      refuse(join_text(
          made, " is moved, and has other axes than what it is moved from, or in another order; call them alike"));
  }

  [[nodiscard]] std::string const& name_of(int axis) const { return made_.axes[static_cast<std::size_t>(axis)].name; }

  [[nodiscard]] std::int64_t extent_of(int axis) const { return made_.axes[static_cast<std::size_t>(axis)].extent; }

  program made_;
  int element_bytes_;
  int repeat_ = 1;
};

}  // namespace ostraka::planner
