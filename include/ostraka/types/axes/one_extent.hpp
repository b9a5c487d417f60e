// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. An axis has one extent in all files of a program. Two files that declare axes of one name with different
/// extents declare one type for the linker, which keeps one instance of each template of it: one of the files would
/// compute with the other's extent. Each file compares when it is loaded, before main or by dlopen.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ostraka::detail {

/// The extent of an axis as declared: a number, a hint, or neither (both members are dynamic_extent then).
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

/// True. Ends the program with one sentence if another file declared another extent.
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

/// Each file has its own, because it is static; so that each file compares what it declares itself.
template <class Named>
static bool const has_one_extent = require_one_extent(
    extent_of_program<Named>, {Named::extent, Named::planned_extent}, Named::kind_of_axis, Named::name);

/// The one object of an axis. A declaration names a reference to it, so that it is the same in all files, and static,
/// so that lambdas of a function need not capture it.
template <class Named>
inline constexpr Named object_of{};

/// The same; its argument, has_one_extent<Named>, makes the file of the declaration compare.
template <class Named>
consteval Named const& declare(bool const&) {
  return object_of<Named>;
}

}  // namespace ostraka::detail
