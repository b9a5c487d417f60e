// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::print(A)`: gathers a small tensor to device 0 and prints it there. (os::print_blocks prints it device
/// by device.)
///
///     double T[I_X, J] of 2 × 3
///     [[  1   2   3]
///      [ -4 5.5   6]]
///
/// T is the tensor's label (os::named, or that of the Kokkos::View), if it has one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <ostraka/arrays/gather_to_root.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/seeing/describe.hpp>
#include <ostraka/seeing/print_blocks.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

namespace detail {

inline constexpr std::int64_t most_printed = 1000;  ///< elements; of a longer tensor, only the ends of long axes are
                                                    ///< printed
inline constexpr std::int64_t printed_ends = 3;     ///< indices at either end of an axis that is cut

// An array to be printed: the indices of each axis that are printed, and its elements as text.
struct printed_array {
  std::vector<std::int64_t> extents, strides;
  std::vector<std::string> const* elements = nullptr;  ///< the printed elements, in order
  std::size_t width = 0;                               ///< width of the widest element
  std::size_t next = 0;
  bool cut = false;

  [[nodiscard]] bool is_cut(std::size_t axis) const { return cut && extents[axis] > 2 * printed_ends; }
};

// Calls f(position) for each printed element, row-major.
template <class F>
void for_each_printed(printed_array const& a, std::size_t axis, std::int64_t position, F const& f) {
  if (axis == a.extents.size()) return f(position);
  for (std::int64_t i = 0; i < a.extents[axis]; ++i) {
    if (a.is_cut(axis) && i == printed_ends) i = a.extents[axis] - printed_ends;
    for_each_printed(a, axis + 1, position + i * a.strides[axis], f);
  }
}

[[gnu::cold]] inline void add_brackets(std::string& text, printed_array& a, std::size_t axis) {
  if (axis == a.extents.size()) {
    std::string const& element = (*a.elements)[a.next++];
    append_text(text, std::string(a.width - element.size(), ' '), element);
    return;
  }
  bool const innermost = axis + 1 == a.extents.size();
  std::string const between =
      innermost ? " " : join_text(std::string(a.extents.size() - axis - 1, '\n'), std::string(axis + 1, ' '));
  text += '[';
  for (std::int64_t i = 0; i < a.extents[axis]; ++i) {
    if (i > 0) text += between;
    if (a.is_cut(axis) && i == printed_ends) {
      append_text(text, "…", between);
      i = a.extents[axis] - printed_ends;
    }
    add_brackets(text, a, axis + 1);
  }
  text += ']';
}

// The elements of a row-major array in brackets, in columns of the width of the widest.
template <class T>
[[gnu::cold]] std::string array_as_text(T const* data, std::int64_t const* extents, int rank) {
  printed_array a{{extents, extents + rank}, std::vector<std::int64_t>(static_cast<std::size_t>(rank), 1)};
  std::int64_t count = 1;
  for (std::size_t i = a.extents.size(); i-- > 0; count *= a.extents[i]) a.strides[i] = count;
  a.cut = count > most_printed;
  std::vector<std::string> elements;
  if (count > 0) for_each_printed(a, 0, 0, [&](std::int64_t at) { elements.push_back(element_as_text(data[at])); });
  for (std::string const& e : elements) a.width = std::max(a.width, e.size());
  a.elements = &elements;
  std::string text;
  add_brackets(text, a, 0);
  return text;
}

}  // namespace detail

/// The whole tensor in brackets under its type, label and extents, on device 0; an empty text elsewhere. If there are
/// more than 1000 elements, it shows three at either end of the longer axes. Collective over the mesh: the tensor is
/// gathered to device 0.
template <TensorOrVariable A>
[[nodiscard, gnu::cold]] std::string gathered_as_text(A const& given) {
  auto const& a = detail::underlying_tensor(given);
  auto const whole = gather_to_root(a);
  if (!whole) return {};
  std::string text = detail::named_type(a);
  for (std::size_t i = 0; i < static_cast<std::size_t>(A::rank); ++i)
    append_text(text, i == 0 ? " of " : " × ", planner::describe_number(a.extents()[i]));
  return join_text(text, '\n', detail::array_as_text((*whole).data(), a.extents().data(), A::rank), '\n');
}

/// Prints the whole tensor on device 0. Meant for small tensors. Collective over the mesh: the tensor is gathered
/// there.
template <TensorOrVariable A>
[[gnu::cold]] void print(A const& a, std::FILE* file = stdout) {
  std::string const text = gathered_as_text(a);
  if (text.empty()) return;
  std::fputs(text.c_str(), file);
  std::fflush(file);
}

}  // namespace ostraka
