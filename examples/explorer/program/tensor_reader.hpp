// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The tensors of a program's text: h[B_X, S, M_Y] {U_Z}, where I_XY is I over X, then Y; words are
/// batch_data, or batch_{data,model}; I/X/Y is the same. The names of mesh axes, whose sizes precede their use, decide
/// which underscore separates an axis from its mesh axes.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/plan/program/program.hpp>
#include <ostraka/types/reasons.hpp>
#include <ostraka/types/support/join_text.hpp>

#include "reader.hpp"

namespace explorer {

namespace planner = ostraka::planner;
using namespace ostraka::planner;  // programs, and shardings as values
using ostraka::max_rank;

/// The contents of a text: the program, the sizes of its mesh axes, and the places of its statements.
struct parsed_program {
  planner::program program{};
  std::vector<std::int64_t> mesh_sizes{};  ///< in the order of program.mesh_axes
  std::vector<text_span> statements{};
};

/// No mesh in a text has more devices; with largest_size_in_text, a device's first index then fits 64 bits.
inline constexpr std::int64_t most_devices_in_text = std::int64_t{1} << 20;

namespace detail {

class tensor_reader : protected text_reader {
 public:
  tensor_reader(std::string_view text, std::vector<named_size> const& mesh, std::vector<named_size> const& sizes)
      : text_reader(text) {
    for (named_size const& s : sizes)
      if (has_size(s)) add_axis(s);
    for (named_size const& s : mesh)
      if (!has_size(s) || !may_add_mesh_axis(s, {}) || !(add_mesh_axis(s), true)) break;
  }

 protected:
  struct text_tensor {
    text_span where{};
    std::string name{};
    bool bare = false;  // no brackets
    std::vector<int> axes{};
    program_sharding sharding{};
  };

  // Sizes in a text are numbers from 1; those given beside the text may be invalid.
  bool has_size(named_size const& s) {
    bool const good = s.size >= 1 && s.size <= largest_size_in_text;
    return good || fail({}, join_text("the size of ", s.name, " is not from 1 to ", largest_size_in_text),
                        "give the number of indices or devices");
  }

  void add_axis(named_size const& s) {
    if (out_.program.find_axis(s.name) < 0) out_.program.axes.push_back({s.name, s.size});
  }

  void add_mesh_axis(named_size const& s) {
    if (out_.program.find_mesh_axis(s.name) >= 0) return;
    out_.program.mesh_axes.push_back(s.name);
    out_.mesh_sizes.push_back(s.size);
    devices_ *= s.size;
  }

  bool may_add_mesh_axis(named_size const& s, text_span where) {
    if (devices_ > most_devices_in_text / s.size)
      return fail(where, join_text("the mesh has more than ", most_devices_in_text, " devices"),
                  "give it smaller sizes");
    if (out_.program.mesh_axes.size() == static_cast<std::size_t>(max_mesh_axes))
      return fail(where, join_text("the mesh has more than ", max_mesh_axes, " axes"), "leave out those of size one");
    return true;
  }

  bool tensor(text_tensor& t) {
    skip_blanks();
    t.where = word();
    t.name = std::string(text_of(t.where));
    if (!accepts("[")) {
      if (t.where.length == 0)
        return expect("a tensor", "a tensor is a name and its axes in brackets: A[I_X, J], where X divides I");
      t.bare = true;
      if (out_.program.find_tensor(t.name) < 0)
        return fail(t.where, join_text(t.name, " has no axes, and does not stand above"),
                    join_text("write them in brackets: ", t.name, "[I_X, J], where X divides I"));
      return true;
    }
    if (t.where.length == 0) t.where = {at_ - 1, 1};
    if (!accepts("]")) {
      do {
        if (!axis(t)) return false;
      } while (accepts(","));
      if (!accepts("]")) return expect("a comma and another axis, or ]");
    }
    if (sees("{") && !partial(t)) return false;
    t.where.length = at_ - t.where.begin;
    return true;
  }

  // B    B_X    B_XY    batch_{data,model}    B/X/Y
  bool axis(text_tensor& t) {
    text_span const w = word();
    if (w.length == 0) return expect("an axis", "axes are names, as B; B_X is divided over mesh axis X");
    std::string_view const all = text_of(w);
    text_span name = w;
    mesh_order over;
    if (find_axis(all) < 0 && all.size() > 1 && all.back() == '_' && sees("{")) {
      name.length -= 1;
      if (!mesh_in_braces(over, t)) return false;
    } else if (find_axis(all) < 0 && !split_off(w, name, over, t)) {
      return false;
    }
    int const number = find_axis(text_of(name));
    if (number < 0) {
      std::string const n(text_of(name));
      return fail(name, join_text("axis ", n, " has no size"),
                  join_text("give it one: --sizes ", n, "=…, or a line `sizes ", n, "=…`"));
    }
    while (accepts("/")) {
      text_span const m = word();
      if (m.length == 0) return expect("a mesh axis", "B/X is B divided over mesh axis X");
      if (!add_mesh(over, m, t)) return false;
    }
    for (int a : t.axes)
      if (a == number)
        return fail(name, join_text("axis ", text_of(name), " appears twice in one tensor"),
                    "give one of the two a name of its own; a diagonal is taken by os::diagonal before");
    if (t.axes.size() == static_cast<std::size_t>(max_rank))
      return fail(name, join_text("a tensor has at most ", max_rank, " axes"), "merge some of them");
    t.axes.push_back(number);
    t.sharding.over.push_back(over);
    return true;
  }

  [[nodiscard]] int find_axis(std::string_view name) const { return out_.program.find_axis(name); }
  [[nodiscard]] int find_mesh_axis(std::string_view name) const { return out_.program.find_mesh_axis(name); }

  // True if all mesh axes of a suffix exist. The suffix is one name, or letters in a row.
  [[nodiscard]] bool is_mesh(std::string_view suffix) const {
    if (find_mesh_axis(suffix) >= 0) return true;
    for (char c : suffix)
      if (find_mesh_axis({&c, 1}) < 0) return false;
    return !suffix.empty();
  }

  // Splits a word into an axis and the mesh axes that divide it: at the underscore before mesh axes, if an axis stands
  // before it.
  bool split_off(text_span w, text_span& name, mesh_order& over, text_tensor const& t) {
    std::string_view const all = text_of(w);
    std::size_t best = std::string_view::npos;
    for (std::size_t i = all.find('_', 1); i != std::string_view::npos; i = all.find('_', i + 1))
      if (is_mesh(all.substr(i + 1)) && (best == std::string_view::npos || find_axis(all.substr(0, i)) >= 0)) best = i;
    if (best == std::string_view::npos) {
      std::size_t const last = all.rfind('_');
      if (last == std::string_view::npos || find_axis(all.substr(0, last)) < 0) return true;  // an axis without a size
      name.length = last;
      text_span const suffix{w.begin + last + 1, all.size() - last - 1};
      if (suffix.length == 0) return fail({w.begin + last, 1}, "expected a mesh axis behind _", remedy_of_mesh());
      return unknown_mesh(suffix);
    }
    name.length = best;
    text_span const suffix{w.begin + best + 1, all.size() - best - 1};
    if (find_mesh_axis(text_of(suffix)) >= 0) return add_mesh(over, suffix, t);
    for (std::size_t i = 0; i < suffix.length; ++i)
      if (!add_mesh(over, {suffix.begin + i, 1}, t)) return false;
    return true;
  }

  [[gnu::cold]] std::string remedy_of_mesh() const {
    return out_.program.mesh_axes.empty() ? "give a mesh: --mesh X=2, or a line `mesh X=2`"
                                          : join_text("the mesh has ", list_of(out_.program.mesh_axes));
  }

  [[gnu::cold]] bool unknown_mesh(text_span where) {
    // The first of the letters that is no mesh axis.
    text_span culprit = where;
    for (std::size_t i = 0; i < where.length && find_mesh_axis(text_of({where.begin, 1})) >= 0; ++i)
      if (find_mesh_axis(text_of({where.begin + i, 1})) < 0) {
        culprit = {where.begin + i, 1};
        break;
      }
    std::string const n(text_of(culprit));
    if (out_.program.mesh_axes.empty())
      return fail(culprit, join_text("mesh axis ", n, " has no size, for there is no mesh"),
                  join_text("give one: --mesh ", n, "=2, or a line `mesh ", n, "=2`"));
    return fail(culprit, join_text("mesh axis ", n, " is not in the mesh, which has ", list_of(out_.program.mesh_axes)),
                join_text("divide over one of these, or add it: --mesh ", n, "=…"));
  }

  bool add_mesh(mesh_order& over, text_span where, text_tensor const& t) {
    int const m = find_mesh_axis(text_of(where));
    if (m < 0) return unknown_mesh(where);
    std::string const n(text_of(where));
    if (over.find(m) >= 0)
      return fail(where, join_text("mesh axis ", n, " divides the same axis twice"), "name it once");
    for (std::size_t i = 0; i < t.axes.size(); ++i)
      if (t.sharding.over[i].find(m) >= 0)
        return fail(where,
                    join_text("mesh axis ", n, " divides axis ",
                              out_.program.axes[static_cast<std::size_t>(t.axes[i])].name, " of this tensor already"),
                    join_text("a mesh axis divides one axis of a tensor: ", other_mesh_axis(m, t)));
    over.push_back(m);
    return true;
  }

  [[gnu::cold]] std::string other_mesh_axis(int taken, text_tensor const& t) const {
    mesh_set used = mesh_set::of(taken);
    for (mesh_order const& o : t.sharding.over) used = used | o.axes();
    for (std::size_t m = 0; m < out_.program.mesh_axes.size(); ++m)
      if (!used.contains(static_cast<int>(m)))
        return join_text("divide the other over ", out_.program.mesh_axes[m], ", or leave it whole");
    return "leave the other whole";
  }

  // {data,model}
  bool mesh_in_braces(mesh_order& over, text_tensor const& t) {
    accepts("{");
    do {
      text_span const m = word();
      if (m.length == 0) return expect("a mesh axis", remedy_of_mesh());
      if (!add_mesh(over, m, t)) return false;
    } while (accepts(","));
    return accepts("}") || expect("a comma and another mesh axis, or }");
  }

  // {U_X}    {U_{data,model}}
  bool partial(text_tensor& t) {
    accepts("{");
    text_span const w = word();
    std::string_view const all = text_of(w);
    if (all.size() < 2 || all.substr(0, 2) != "U_") {
      at_ = w.begin;
      return expect("U_ and mesh axes", "{U_X} says that devices along X hold summands");
    }
    mesh_order over;
    if (all.size() == 2) {
      if (!sees("{")) return expect("a mesh axis", remedy_of_mesh());
      if (!mesh_in_braces(over, t)) return false;
    } else {
      text_span const suffix{w.begin + 2, w.length - 2};
      if (!is_mesh(text_of(suffix))) return unknown_mesh(suffix);
      if (find_mesh_axis(text_of(suffix)) >= 0) {
        if (!add_mesh(over, suffix, t)) return false;
      } else {
        for (std::size_t i = 0; i < suffix.length; ++i)
          if (!add_mesh(over, {suffix.begin + i, 1}, t)) return false;
      }
    }
    t.sharding.partial = over.axes();
    return accepts("}") || expect("}");
  }

  parsed_program out_{};
  std::int64_t devices_ = 1;
};

}  // namespace detail
}  // namespace explorer
