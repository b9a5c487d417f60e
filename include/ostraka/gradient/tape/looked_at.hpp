// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Variables are looked at as their values are: os::print, os::value, os::visualize, what gives their texts,
/// and os::save. The headers of these are included by who calls them.

#include <ostraka/gradient/tape/variable.hpp>

namespace ostraka {

template <Variable A, class... File>
void print(A const& a, File... file) {
  print(a.value(), file...);
}
template <Variable A, class... File>
void print_blocks(A const& a, File... file) {
  print_blocks(a.value(), file...);
}
template <Variable A>
[[nodiscard]] auto gathered_as_text(A const& a) {
  return gathered_as_text(a.value());
}
template <Variable A>
[[nodiscard]] auto blocks_as_text(A const& a) {
  return blocks_as_text(a.value());
}
template <Variable A>
[[nodiscard]] auto value(A const& a) {
  return value(a.value());
}
template <Variable A>
[[nodiscard]] auto visualize(A const& a) {
  return visualize(a.value());
}
template <Variable A>
[[nodiscard]] auto visualize_svg(A const& a) {
  return visualize_svg(a.value());
}
template <Variable A, class Path>
void save(Path const& path, A const& a) {
  save(path, a.value());
}

}  // namespace ostraka
