// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. An axis has one extent in all files of a program. If two files declare axes of one name with different
/// extents, the linker sees one type and keeps one instance of each template of it. One of the files would then compute
/// with the other's extent. So each file compares the extents when it is loaded, before main or by dlopen.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ostraka::detail {

/// The extent of an axis as declared: a number, a hint, or neither (then both members are dynamic_extent).
struct declared_extent {
  std::int64_t extent;
  std::int64_t planned_extent;
};

/// The first declaration of an axis that was loaded.
struct known_extent {
  bool is_known = false;
  declared_extent first{};
};

/// One object for all files that share instances of templates of this axis.
template <class Named>
inline constinit known_extent extent_of_program{};

struct extent_in_words {
  char text[40];
  explicit extent_in_words(declared_extent const& said) {
    auto const n = static_cast<long long>(said.planned_extent);
    if (said.extent >= 0)
      std::snprintf(text, sizeof text, "%lld", n);
    else if (said.planned_extent >= 0)
      std::snprintf(text, sizeof text, "os::about(%lld)", n);
    else
      std::snprintf(text, sizeof text, "known only at run time");
  }
};

/// Returns true. Ends the program with one sentence if another file declared another extent.
[[gnu::cold, gnu::noinline]] inline bool require_one_extent(known_extent& known, declared_extent said, char const* kind,
                                                            std::string_view name) {
  if (!known.is_known) known = {true, said};
  if (known.first.extent == said.extent && known.first.planned_extent == said.planned_extent) return true;
  std::fprintf(stderr,
               "ostraka: %s %.*s: an axis has one extent in all files of a program, but its extent is %s in one file "
               "and %s in another; give one of the two another name, or declare them in different namespaces\n",
               kind, static_cast<int>(name.size()), name.data(), extent_in_words(known.first).text,
               extent_in_words(said).text);
  std::_Exit(EXIT_FAILURE);  // nothing can be thrown here: main has not begun
}

/// Static, so that each file has its own variable and compares its own declaration.
template <class Named>
static bool const has_one_extent = require_one_extent(
    extent_of_program<Named>, {Named::extent, Named::planned_extent}, Named::kind_of_axis, Named::name);

/// The one object of an axis. A declaration names a reference to it. So the object is the same in all files; because it
/// is static, lambdas in a function need not capture it.
template <class Named>
inline constexpr Named object_of{};

/// The same object. The argument, has_one_extent<Named>, makes the declaring file compare extents.
template <class Named>
consteval Named const& declare(bool const&) {
  return object_of<Named>;
}

}  // namespace ostraka::detail
