// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The size of a tree before it is made: `os::describe<mlp>(os::sizes(in = 784, hidden = 128, X = 4))`.
///
///     w1  double[in_X, hidden]  784 × 128  200,704 B
///     b1  double[hidden]        128          1,024 B
///     2 leaves, 100,480 elements, 201,728 B a device

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/seeing/describe.hpp>
#include <ostraka/tree/walk.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

namespace detail {

struct leaf_row {
  std::string path, type, extents;
  std::int64_t elements = 0;  ///< elements of the whole tensor
  std::int64_t bytes = 0;     ///< bytes of the device with the largest block, which is the last device for every leaf
};

template <class Leaf>
constexpr std::int64_t bytes_of_leaf(planner::extents const& e) {
  constexpr planner::spec s = spec_of<typename Leaf::sharding_type, typename Leaf::axes, typename Leaf::mesh_axes>;
  return planner::largest_block(s, e) * static_cast<std::int64_t>(sizeof(typename Leaf::value_type));
}

// The row of a leaf, from its type, extents and sizes of meshes.
template <class Leaf>
leaf_row row_of_leaf(std::string path, planner::extents const& e) {
  constexpr planner::spec s = spec_of<typename Leaf::sharding_type, typename Leaf::axes, typename Leaf::mesh_axes>;
  leaf_row row{std::move(path),
               engine::element_name<typename Leaf::value_type> +
                   planner::describe(s, naming_of<typename Leaf::axes, typename Leaf::mesh_axes>),
               {},
               e.whole(s),
               bytes_of_leaf<Leaf>(e)};
  for (int i = 0; i < s.rank; ++i) append_text(row.extents, i > 0 ? " × " : "", planner::describe_number(e.label[i]));
  return row;
}

template <class... Given>
struct rows_by_name {
  std::vector<leaf_row>& rows;
  sizes<Given...> const& given;

  template <class Leaf>
  void operator()(path const& at, Leaf const&) const {
    rows.push_back(
        row_of_leaf<Leaf>(at.text(), extents_from(typename Leaf::axes{}, typename Leaf::mesh_axes{}, given)));
  }
};

struct rows_of_tensors {
  std::vector<leaf_row>& rows;

  template <class A>
  void operator()(path const& at, A const& a) const {
    common_mesh("describe", a);
    rows.push_back(row_of_leaf<A>(at.text(), context_of<axes_in<A>, mesh_axes_in<A>>("describe", a).sizes));
  }
};

// A template so that programs that do not call it compile nothing.
template <class = void>
[[gnu::cold]] std::string describe_rows(std::vector<leaf_row> const& rows) {
  using planner::detail::padded;
  std::size_t path = 0, type = 0, extents = 0, bytes = 0;
  std::int64_t elements = 0, sum = 0;
  for (leaf_row const& r : rows) {
    path = std::max(path, planner::detail::width_of(r.path));
    type = std::max(type, planner::detail::width_of(r.type));
    extents = std::max(extents, planner::detail::width_of(r.extents));
    bytes = std::max(bytes, planner::describe_bytes(r.bytes).size());
    elements += r.elements;
    sum += r.bytes;
  }
  std::string text;
  for (leaf_row const& r : rows) {
    std::string const number = planner::describe_bytes(r.bytes);
    append_text(text, padded(r.path, path), "  ", padded(r.type, type), "  ", padded(r.extents, extents), "  ",
                std::string(bytes - number.size(), ' '), number, '\n');
  }
  return join_text(text, rows.size(), rows.size() == 1 ? " leaf, " : " leaves, ", planner::describe_number(elements),
                   " elements, ", planner::describe_bytes(sum), " a device\n");
}

template <class T, class... Given>
std::vector<leaf_row> rows_of_tree([[maybe_unused]] T const& shape, Given const&... given) {
  std::vector<leaf_row> rows;
  if constexpr (reason::ok_or_raise<trees_verdict<T>>()) {
    if constexpr (std::is_same_v<leaves_in<T>, names>) {
      auto const sizes = collect_sizes(given...);
      auto const add = [&]<class... Named>(ostraka::sizes<Named...> const& s) {
        rows_by_name<Named...> row{rows, s};
        visit<T>(row, path{}, shape);
      };
      add(sizes);
    } else {
      rows_of_tensors row{rows};
      visit<shape_of<T>>(row, path{}, shape);
    }
  }
  return rows;
}

template <class T, class Sizes>
constexpr std::int64_t bytes_of_names([[maybe_unused]] T const& shape, Sizes const& sizes) {
  std::int64_t sum = 0;
  if constexpr (reason::ok_or_raise<trees_verdict<T>>()) {
    auto add = [&]<class Leaf>(path const&, Leaf const&) {
      sum += bytes_of_leaf<Leaf>(extents_from(typename Leaf::axes{}, typename Leaf::mesh_axes{}, sizes));
    };
    visit<T>(add, path{}, shape);
  }
  return sum;
}

}  // namespace detail

/// The leaves of a tree without memory, a line each: path, element type, sharding, extents, and the bytes of the device
/// with the largest blocks, which is the last device for all extents; then their sum. Takes extents and sizes of mesh
/// axes by name, in os::sizes, or a mesh.
template <Tree T, class... Given>
[[nodiscard]] std::string describe(Given const&... given) {
  return detail::describe_rows(detail::rows_of_tree(detail::shape_of<T>{}, given...));
}

template <template <class, class...> class T, class... Given>
[[nodiscard]] std::string describe(Given const&... given) {
  return describe<T<names>>(given...);
}

/// The same for a given tree. A tree of names, whose vectors have lengths, needs extents and sizes of mesh axes; a tree
/// of tensors does not.
template <Tree T, class... Given>
[[nodiscard]] std::string describe(T const& tree, Given const&... given) {
  return detail::describe_rows(detail::rows_of_tree(tree, given...));
}

/// The sum of these bytes: the memory that such a tree takes on the device with the largest blocks. A constant
/// expression if the sizes are constant.
template <Tree T, class... Given>
[[nodiscard]] constexpr std::int64_t bytes_a_device(Given const&... given) {
  return detail::bytes_of_names(detail::shape_of<T>{}, collect_sizes(given...));
}

template <template <class, class...> class T, class... Given>
[[nodiscard]] constexpr std::int64_t bytes_a_device(Given const&... given) {
  return bytes_a_device<T<names>>(given...);
}

/// The same for a given tree of names, whose vectors have lengths.
template <class T, class... Given>
  requires std::is_same_v<detail::leaves_in<T>, names>
[[nodiscard]] constexpr std::int64_t bytes_a_device(T const& shape, Given const&... given) {
  return detail::bytes_of_names(shape, collect_sizes(given...));
}

}  // namespace ostraka
