#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""public_names.py reads declarations of every kind, and sees which of them lack a comment: public_names_test.py DOCS"""

import pathlib
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import public_names

HEADER = '''#pragma once
/// @file
/// What the header is about.
#include <vector>
#define OSTRAKA_DETAIL_INNER 1
/// A macro.
#define OSTRAKA_OUTER(NAME) NAME

namespace ostraka {

/// A concept.
template <class T>
concept Thing = requires(T const& t) { t.size(); } && requires { typename T::type; };

template <class T> class later;  // declared

/// A class, with "quotes; and { braces".
template <class T>
class later {
  void inside() const { char c = '}'; }
};
template <class T>
class later<T*> {};
later(int) -> later<int>;
template <class T>
void later<T>::inside() const {}

namespace detail {
struct hidden {};
void hidden_too();
}  // namespace detail

/// A function
/// of two lines.
template <class A, class B>
  requires Thing<A> && (sizeof(B) < 4) && (!std::same_as<A, B>)
[[nodiscard]] constexpr auto function(A const& a, B b = {1, 2}) -> decltype(a + b) {
  return a << b;
}

template <class T>
  requires requires(T t) { t + t; }
void bare(T) {}

// No comment of the kind that counts.
inline constexpr std::int64_t number = 1 << 3;
using list = std::vector<int>;
using planner::of_the_planner;
enum class colour : unsigned char { red, green };

/// Two objects.
inline constexpr int first = 1;
inline constexpr int second{2};
constexpr int third[] = {1, 2};  ///< an array

/// Compares.
template <class A>
constexpr auto operator<=>(A const& a, A const& b) { return 0; }
bool operator==(list const&, list const&);
constexpr bool of_arrow = sizeof(int) > 3;
template <>
inline constexpr bool is_thing<int> = true;
static_assert(number == 8);
namespace other = planner::other;

}  // namespace ostraka

namespace ostraka::planner {
/// From elsewhere.
struct of_the_planner {};
}  // namespace ostraka::planner
'''

EXPECTED = {  # name: is there a comment?
    "OSTRAKA_OUTER": True, "Thing": True, "later": True, "function": True, "bare": False, "number": False,
    "list": False, "of_the_planner": True,
    "colour": False, "first": True, "second": True, "third": True, "operator<=>": True, "operator==": True,
    "of_arrow": True, "other": False,
}

with tempfile.TemporaryDirectory() as folder:
    public_names.INCLUDE = pathlib.Path(folder)
    (public_names.INCLUDE / "header.hpp").write_text(HEADER)
    names = public_names.public_names()
    found = {name: any(d.comment for d in declarations) for name, declarations in names.items()}
    wrong = [f"{name}: {found.get(name)} instead of {EXPECTED.get(name)}" for name in {**found, **EXPECTED}
             if found.get(name) != EXPECTED.get(name)]
    function = names.get("function", [None])[0]
    if (not function or function.comment != "A function\nof two lines."
            or "decltype(a + b)" not in function.signature or "return" in function.signature):
        wrong.append(f"function: {function}")
    if public_names.file_comment(HEADER) != "What the header is about.":
        wrong.append("the comment of the file")
    print("\n".join(wrong) or f"{len(EXPECTED)} names as expected")
    sys.exit(1 if wrong else 0)
