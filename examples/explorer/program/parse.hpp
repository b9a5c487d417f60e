// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A program from its text, in the notation that plans are printed in:
///
///     mesh X=2, Y=4
///     sizes B=128, S=512, M=1024, H=4096
///     h[B_X, S, M_Y] up[M_X, H_Y] -> a[B_X, S, H_Y]      # an einsum; a · or * may stand between
///     gelu(a) -> g[B_X, S, H_Y]                          # element by element; softmax and norms along the last axis
///     y[B_X, S, M_Y] = g · down[H_Y, M_X]                # the result may stand first
///     y[B_X, S, M_Y] up[K, H] -> z[B_X, S, H] sum_over(M, K)    # axes of one operand alone: os::sum_over
///
/// I_XY is I over X, then Y; words are batch_data, or batch_{data,model}; I/X/Y does as well. {U_X} behind a tensor:
/// its devices along X hold summands. A tensor that occurred before needs no brackets. Write one statement in each
/// line, or separate statements by `;`.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/plan/program/program_sums.hpp>
#include <ostraka/plan/spec/step.hpp>
#include <ostraka/types/support/join_text.hpp>

#include "tensor_reader.hpp"

namespace explorer {

namespace detail {

class program_parser : tensor_reader {
 public:
  using tensor_reader::tensor_reader;

  [[gnu::cold]] parsed<parsed_program> read() {
    while (!error() && next_line()) {
      if (!line()) break;
    }
    if (!error() && out_.statements.empty())
      fail({text_.size(), 0}, "there is no statement to plan",
           "write one, as A[I_X, J] B[J, K] -> C[I_X, K], and give sizes: --sizes I=…");
    assign_roles();
    return {std::move(out_), error()};
  }

 private:
  // Goes to the next statement or line that is not empty.
  bool next_line() {
    for (;;) {
      skip_blanks();
      if (at_end()) return false;
      if (now() != '\n' && now() != ';') return true;
      ++at_;
    }
  }

  bool line() {
    std::size_t const begin = at_;
    text_span const first = word();
    bool const assigns = (text_of(first) == "mesh" || text_of(first) == "sizes") && !sees("[") && !sees("=");
    at_ = begin;
    if (assigns ? !declaration() : !statement(begin)) return false;
    return at_end_of_statement() ||
           expect(assigns ? "a comma and another size, or the end of the line" : "the end of the line");
  }

  // mesh X=2, Y=4    sizes B=128, S=512
  bool declaration() {
    bool const of_mesh = text_of(word()) == "mesh";
    std::vector<named_size> all;
    std::vector<text_span> where;
    if (!assignments(all, &where)) return false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      program const& p = out_.program;
      int const known = of_mesh ? p.find_mesh_axis(all[i].name) : p.find_axis(all[i].name);
      if (known >= 0) {
        auto const k = static_cast<std::size_t>(known);
        std::int64_t const n = of_mesh ? out_.mesh_sizes[k] : p.axes[k].extent;
        if (n != all[i].size) return fail(where[i], join_text(all[i].name, " is ", n, " already"), "give it one size");
        continue;
      }
      if (of_mesh && !may_add_mesh_axis(all[i], where[i])) return false;
      of_mesh ? add_mesh_axis(all[i]) : add_axis(all[i]);
    }
    return true;
  }

  // tensors -> result, or result = tensors; an operation's tensors in brackets behind its name
  bool statement(std::size_t begin) {
    program_statement made;
    text_span where_result{};
    text_span const first = word();
    bool const operation = first.length > 0 && sees("(");
    at_ = begin;
    if (operation) {
      if (!arguments(made) || !arrow() || !result(made, where_result)) return false;
    } else {
      text_tensor one;
      if (!tensor(one)) return false;
      if (accepts("=")) {
        std::size_t const behind = at_;
        text_span const called = word();
        bool const calls = called.length > 0 && sees("(");
        at_ = behind;
        where_result = one.where;
        if (calls ? !arguments(made) : !factors(made)) return false;
        if (!add_result(made, one)) return false;
      } else {
        if (!add_operand(made, one)) return false;
        while (!sees("->") && !sees("→")) {
          if (!accepts("·") && !accepts("*")) accepts(",");
          if (!sees("[") && (skip_blanks(), at_end() || !begins_name(now())))
            return expect("another tensor, or -> and the result",
                          "an einsum reads A[I_X, J] B[J, K] -> C[I_X, K], or C[I_X, K] = A[I_X, J] · B[J, K]");
          text_tensor next;
          if (!tensor(next) || !add_operand(made, next)) return false;
        }
        if (!arrow() || !result(made, where_result)) return false;
      }
    }
    if (!sum_over(made) || !check(made, where_result)) return false;
    out_.statements.push_back({begin, at_ - begin});
    out_.program.statements.push_back(std::move(made));
    return true;
  }

  bool arrow() {
    return accepts("->") || accepts("→") ||
           expect("-> and the result", "an einsum reads A[I_X, J] B[J, K] -> C[I_X, K]");
  }

  bool factors(program_statement& made) {
    do {
      text_tensor next;
      if (!tensor(next) || !add_operand(made, next)) return false;
      if (!accepts("·") && !accepts("*")) accepts(",");
    } while (!at_end_of_statement() && !sees_sum_over());
    return true;
  }

  [[nodiscard]] bool sees_sum_over() {
    std::size_t const begin = (skip_blanks(), at_);
    bool const there = text_of(word()) == "sum_over" && sees("(");
    at_ = begin;
    return there;
  }

  // sum_over(N, M), behind an einsum
  bool sum_over(program_statement& made) {
    std::size_t const begin = at_;
    accepts(",");
    if (made.kind != statement_kind::einsum || !sees_sum_over()) {
      at_ = begin;
      return true;
    }
    word();
    accepts("(");
    do {
      text_span const name = word();
      if (name.length == 0) return expect("an axis", "sum_over(N) sums over N, which one operand alone has");
      int const axis = find_axis(text_of(name));
      if (axis < 0)
        return fail(name, join_text("axis ", text_of(name), " has no size"), "name an axis of one of the operands");
      made.summed_unshared.push_back(axis);
    } while (accepts(","));
    return accepts(")") || expect("a comma and another axis, or )");
  }

  // gelu(a, b)
  bool arguments(program_statement& made) {
    made.kind = statement_kind::operation;
    text_span const name = word();
    made_by_ = std::string(text_of(name));
    accepts("(");
    do {
      text_tensor next;
      if (!tensor(next) || !add_operand(made, next)) return false;
    } while (accepts(","));
    return accepts(")") || expect("a comma and another tensor, or )");
  }

  // Sets how many numbers of each row are reduced if rows are divided; rows lie along the last axis.
  void find_rows(program_statement& made, program_tensor const& result) const {
    bool const two = made_by_ == "softmax" || made_by_ == "log_softmax" || made_by_ == "layer_norm";
    if ((!two && made_by_ != "rms_norm") || result.axes.empty()) return;
    made.rows = {result.axes.back()};
    made.row_numbers = two ? 2 : 1;
  }

  // Finds the tensor's number: a tensor above, which must be the same, or a new one.
  bool add_operand(program_statement& made, text_tensor& t) {
    program& p = out_.program;
    if (t.name.empty()) t.name = free_letter();
    int number = p.find_tensor(t.name);
    if (number >= 0 && !t.bare && !renamed(p.tensors[static_cast<std::size_t>(number)], t))
      return fail(t.where, join_text(t.name, " stands above with other axes or another sharding"),
                  join_text("reshard it in a line of its own, `", t.name, " -> ", t.name,
                            "2[…]`, or give this tensor a name of its own"));
    if (number < 0) number = add_tensor(t, tensor_role::input);
    made.operands.push_back({number, t.bare ? tensor_at(number).axes : t.axes});
    return true;
  }

  bool result(program_statement& made, text_span& where) {
    text_tensor t;
    skip_blanks();
    std::size_t const begin = at_;
    text_span const w = word();
    bool const bare = w.length > 0 && !sees("[");
    at_ = begin;
    if (bare && out_.program.find_tensor(text_of(w)) < 0)
      return fail(w, "the result has no axes", join_text("name its sharding: ", text_of(w), "[I_X, K]"));
    if (!tensor(t)) return false;
    where = t.where;
    return add_result(made, t);
  }

  bool add_result(program_statement& made, text_tensor& t) {
    if (t.name.empty()) t.name = free_letter();
    if (out_.program.find_tensor(t.name) >= 0)
      return fail({t.where.begin, t.bare ? t.where.length : t.name.size()}, join_text(t.name, " stands above already"),
                  "give the result a name of its own");
    made.result = add_tensor(t, tensor_role::intermediate);
    return true;
  }

  int add_tensor(text_tensor const& t, tensor_role role) {
    program_tensor made;
    made.name = t.name;
    made.axes = t.axes;
    made.role = role;
    made.sharding = t.sharding;
    out_.program.tensors.push_back(std::move(made));
    return static_cast<int>(out_.program.tensors.size()) - 1;
  }

  // True if the tensor occurred before as it is, or with other names of axes, as after os::rename: k[T, C] for k[S, C].
  [[nodiscard]] bool renamed(program_tensor const& a, text_tensor const& b) const {
    if (a.axes.size() != b.axes.size() || a.sharding->partial != b.sharding.partial) return false;
    for (std::size_t i = 0; i < a.axes.size(); ++i) {
      auto const extent = [&](int axis) { return out_.program.axes[static_cast<std::size_t>(axis)].extent; };
      bool const there = std::find(a.axes.begin(), a.axes.end(), b.axes[i]) != a.axes.end();
      if (there && a.axes[i] != b.axes[i]) return false;  // a transpose, or a name that is taken
      if (extent(a.axes[i]) != extent(b.axes[i]) || !(a.sharding->over[i] == b.sharding.over[i])) return false;
    }
    return true;
  }

  // A, B, …, then A2, B2, …
  [[nodiscard]] std::string free_letter() const {
    for (int round = 1;; ++round)
      for (char c = 'A'; c <= 'Z'; ++c) {
        std::string const name = join_text(c, round > 1 ? std::to_string(round) : "");
        if (out_.program.find_tensor(name) < 0) return name;
      }
  }

  [[nodiscard]] program_tensor const& tensor_at(int number) const {
    return out_.program.tensors[static_cast<std::size_t>(number)];
  }

  bool check(program_statement& made, text_span where) {
    program_tensor const& r = tensor_at(made.result);
    std::vector<int> labels = r.axes;
    for (program_operand const& o : made.operands)
      for (int a : o.axes)
        if (std::find(labels.begin(), labels.end(), a) == labels.end()) labels.push_back(a);
    if (made.operands.size() > static_cast<std::size_t>(max_operands))
      return fail(where, join_text("an einsum has at most ", max_operands, " operands"), "make it in two lines");
    if (labels.size() > static_cast<std::size_t>(max_labels))
      return fail(where, join_text("an einsum has at most ", max_labels, " axes"), "make it in two lines");
    for (int a : r.axes) {
      bool found = false;
      for (program_operand const& o : made.operands)
        found = found || std::find(o.axes.begin(), o.axes.end(), a) != o.axes.end();
      std::string const n = out_.program.axes[static_cast<std::size_t>(a)].name;
      if (!found)
        return fail(where, join_text("axis ", n, " of the result is in no operand"),
                    "leave it out; os::map repeats a tensor along an axis that it lacks");
    }
    if (sums_fault const sums = fault_of_sums(out_.program, made, r.axes); !sums.none())
      return fail(where, sums.message, sums.remedy);
    double combinations = 1;
    for (int l : labels) combinations *= static_cast<double>(out_.program.axes[static_cast<std::size_t>(l)].extent);
    if (combinations > largest_work)
      return fail(where, "with these sizes the operation has more than 4·10^18 multiplications",
                  "give the sizes of a real program");
    double elements = 1;
    auto const measure = [&](std::vector<int> const& axes) {
      double n = static_cast<double>(devices_);
      for (int l : axes) n *= static_cast<double>(out_.program.axes[static_cast<std::size_t>(l)].extent);
      elements = std::max(elements, n);
    };
    measure(r.axes);
    for (program_operand const& o : made.operands) measure(o.axes);
    if (elements > largest_tensor)
      return fail(where, "with these sizes a tensor, held by all devices, has more than 10^16 elements",
                  "give the sizes of a real program");
    if (made.kind != statement_kind::operation) return true;
    find_rows(made, r);
    return check_operation(made, where);
  }

  // Checks that the operands of an element-by-element operation are divided alike, since no line says what would move.
  bool check_operation(program_statement& made, text_span where) {
    program_tensor const& r = tensor_at(made.result);
    for (program_operand const& o : made.operands) {
      program_tensor const& t = tensor_at(o.tensor);
      for (std::size_t i = 0; i < o.axes.size(); ++i) {
        auto const at = std::find(r.axes.begin(), r.axes.end(), o.axes[i]);
        std::string const n = out_.program.axes[static_cast<std::size_t>(o.axes[i])].name;
        if (at == r.axes.end())
          return fail(where,
                      join_text(made_by_, " works element by element, and the result lacks axis ", n, " of ", t.name),
                      "keep the axis; a sum is an einsum of one operand");
        if (!(t.sharding->over[i] == r.sharding->over[static_cast<std::size_t>(at - r.axes.begin())]))
          return fail(
              where,
              join_text(made_by_, " works element by element, and axis ", n, " is divided otherwise in ", t.name),
              join_text("give both one sharding, or reshard in a line of its own: `", t.name, " -> ", t.name, "2[…]`"));
      }
      if (!t.sharding->partial.empty())
        return fail(where, join_text(made_by_, " is not linear, and ", t.name, " is partial"),
                    join_text("reduce it before: `", t.name, " -> ", t.name, "2[…]`"));
    }
    return true;
  }

  // Results that no statement takes are results of the program; tensors that no statement makes are its inputs.
  void assign_roles() {
    std::vector<bool> taken(out_.program.tensors.size());
    for (program_statement const& s : out_.program.statements)
      for (program_operand const& o : s.operands) taken[static_cast<std::size_t>(o.tensor)] = true;
    for (program_statement const& s : out_.program.statements)
      if (auto const r = static_cast<std::size_t>(s.result); !taken[r])
        out_.program.tensors[r].role = tensor_role::result;
  }

  static constexpr double largest_work = 4e18;    // multiplications of one device that does all work twice, in 64 bits
  static constexpr double largest_tensor = 1e16;  // bytes that some moves of it take together, likewise

  std::string made_by_{};  // the current operation
};

}  // namespace detail

/// The program in a text, or its first error with its place. `mesh` and `sizes` are known before the text, which may
/// add some. Every tensor of the program has a sharding.
[[nodiscard, gnu::cold]] inline parsed<parsed_program> parse_program(std::string_view text,
                                                                     std::vector<named_size> const& mesh = {},
                                                                     std::vector<named_size> const& sizes = {}) {
  return detail::program_parser(text, mesh, sizes).read();
}

}  // namespace explorer
