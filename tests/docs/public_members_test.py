#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""public_members.py reads members of every kind; the page of the reference misses none, and has none too many:
public_members_test.py DOCS"""

import pathlib
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import make_reference_page
import public_members
import public_names

HEADER = '''#pragma once

namespace ostraka {

/// A class.
template <class T, class Rows>
class [[nodiscard]] thing : public base<T, type_list<T>>, protected hidden_base, public detail::other_base {
  void before() const {}

 public:
  using value_type = T;  ///< what it holds
  using base<T>::base;
  using unsaid = int;
  static constexpr int rank = sizeof(T) << 1;  ///< how many

  /// Empty.
  thing() = default;
  thing(thing const&) = default;
  /// Takes both.
  explicit thing(T a, Rows b = {1, 2}) : base<T>(a), a_{a}, rows_(std::move(b)) {}
  ~thing() { end(); }

  /// The extent.
  template <Axis A>
    requires(is_one_of<A, T>)
  [[nodiscard]] auto extent(A) const -> decltype(T() + 1) {
    return own<A>();
  }
  [[nodiscard]] int size() const { return rank; }

  /// Begins it.
  template <MeshAxis... Along, Tensor A>
  static std::vector<int> begin(A const& a, Along...) {
    return {1, 2};
  }
  /// The result
  /// of it.
  T wait() && { return std::move(a_); }
  T wait() & {
    reason::raise<reason::later<T>>();
    return a_;
  }
  /// An element.
  T const& operator*() const { return a_; }
  T operator*() const&& { return a_; }
  /// Is it true?
  explicit operator bool() const { return true; }
  friend bool operator==(thing, thing) = default;
  std::array<int, std::size_t{1} << 2> over{};  ///< of two
                                                ///< lines

  /// Within.
  struct inner {
    int not_of_thing = 0;
  };

 private:
  T a_;
  int hidden() const { return 1; }
};

/// An enumeration.
enum class colour : unsigned char {
  red,  ///< as blood
  /// as grass
  green = 4,
  blue
};

/// All of it is public.
struct plain : thing<int, int> {
  int first = 1;
  double weight[3]{};  ///< of three
};

}  // namespace ostraka
'''

EXPECTED = {
    "thing": [
        ("value_type", "what it holds"), ("unsaid", ""), ("int rank", "how many"), ("thing()", "Empty."),
        ("thing(T a, Rows b = {1, 2})", "Takes both."),
        ("extent(Axis)", "The extent."), ("int size()", ""),
        ("std::vector<int> begin(Tensor const& a, MeshAxis...)", "Begins it."),
        ("T wait() &&", "The result\nof it."), ("T const& operator*()", "An element."),
        ("T operator*() &&", "An element."), ("operator bool()", "Is it true?"),
        ("std::array<int, std::size_t{1} << 2> over", "of two\nlines"), ("inner", "Within."),
    ],
    "colour": [("red", "as blood"), ("green", "as grass"), ("blue", "")],
    "plain": [("int first", ""), ("double weight[3]", "of three")],
}
BASES = {"thing": ["base", "other_base"], "colour": [], "plain": ["thing"]}


def differences():
    declarations = [d for d in public_names.read_header(public_names.INCLUDE / "header.hpp") if d.kind == "type"]
    for declaration in declarations:
        found = [(m.shown, m.comment) for m in public_members.members_of(declaration)]
        for wrong in [f for f in found if f not in EXPECTED[declaration.name]]:
            yield f"{declaration.name} has {wrong}, which is not expected"
        for absent in [e for e in EXPECTED[declaration.name] if e not in found]:
            yield f"{declaration.name} has no {absent}"
        if public_members.bases_of(declaration) != BASES[declaration.name]:
            yield f"{declaration.name} has the bases {public_members.bases_of(declaration)}"
    if len(declarations) != len(EXPECTED):
        yield f"{[d.name for d in declarations]}"


def page_of(header):
    (public_names.INCLUDE / "header.hpp").write_text(header)
    return make_reference_page.page()


def differences_of_page():
    make_reference_page.CHAPTERS = [("Things", "", [("os::plain", ["plain", "thing"])])]
    make_reference_page.BASES_ELSEWHERE = {"base": [], "other_base": []}
    text, missing = page_of(HEADER)
    if [m.partition(",")[0] for m in missing] != ["plain::first", "plain::unsaid", "plain::size"]:
        yield f"without a comment: {missing}"
    if "| `T wait() &&` | The result of it. |" not in text:
        yield f"the page: {text}"
    if page_of(HEADER.replace("  T wait() && {", "  /// More.\n  void more();\n  T wait() && {"))[0] == text:
        yield "a new member does not change the page"
    if page_of(HEADER.replace("wait", "result"))[0] == text:
        yield "a member with another name does not change the page"
    for header in (HEADER.replace("class [[nodiscard]] thing :", "class [[nodiscard]] other :"),
                   HEADER.replace("struct plain :", "struct plain : another,")):
        try:
            page_of(header)
            yield "a class that is gone, or has a base that no chapter names, is not refused"
        except SystemExit:
            pass


with tempfile.TemporaryDirectory() as folder:
    public_names.INCLUDE = make_reference_page.INCLUDE = pathlib.Path(folder)
    (public_names.INCLUDE / "header.hpp").write_text(HEADER)
    wrong = [*differences(), *differences_of_page()]
    print("\n".join(wrong) or f"{sum(map(len, EXPECTED.values()))} members as expected")
    sys.exit(1 if wrong else 0)
