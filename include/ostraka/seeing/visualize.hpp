// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The devices that hold each block, as text or as SVG: `os::visualize(A)`, or from types and sizes alone
/// `os::visualize<I/X, J>(os::sizes(I = 8, J = 4, X = 4, Y = 2))`. Nothing is communicated.
///
///     [I_X, J] of 8 × 4 on X=4 · Y=2
///                J [0, 4)
///              ┌──────────┐
///     I [0, 2) │   0,1    │
///              ├──────────┤
///       [2, 4) │   2,3    │
///     …

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/calls/operate.hpp>
#include <ostraka/seeing/describe.hpp>
#include <ostraka/seeing/picture.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

namespace detail {

[[gnu::cold]] inline std::string repeated(std::string_view s, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += s;
  return text;
}

[[gnu::cold]] inline std::string centred(std::string const& s, std::size_t width) {
  std::size_t const space = width - planner::detail::width_of(s);
  return join_text(std::string(space / 2, ' '), s, std::string(space - space / 2, ' '));
}

// The texts of a table, and the widths of its columns.
struct drawn_table {
  std::vector<std::string> rows, columns;  ///< ranges of indices, the first with the axis' name; none without an axis
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> widths;
  std::size_t margin = 0;
};

[[gnu::cold]] inline std::vector<std::string> labels_of_axis(picture const& p, int axis) {
  if (axis < 0) return {std::string()};
  drawn_axis const& a = p.axes[static_cast<std::size_t>(axis)];
  std::vector<std::string> labels;
  std::string const name = join_text(a.name, ' ');
  labels.reserve(static_cast<std::size_t>(a.blocks));
  for (std::int64_t b = 0; b < a.blocks; ++b)
    labels.push_back((b == 0 ? name : std::string(planner::detail::width_of(name), ' ')) + range_as_text(a.range(b)));
  return labels;
}

template <class Cell>
drawn_table lay_out(picture const& p, table_axes t, Cell const& cell) {
  drawn_table d{labels_of_axis(p, t.rows), labels_of_axis(p, t.columns), {}, {}, 0};
  for (std::size_t c = 1; c < d.columns.size(); ++c)  // the name is in the first column only
    d.columns[c] = d.columns[c].substr(d.columns[c].find('['));
  for (std::string const& c : d.columns) d.widths.push_back(planner::detail::width_of(c));
  for (std::size_t r = 0; r < d.rows.size(); ++r) {
    d.cells.emplace_back();
    for (std::size_t c = 0; c < d.columns.size(); ++c) {
      d.cells[r].push_back(holders_as_text(p, cell(static_cast<std::int64_t>(r), static_cast<std::int64_t>(c))));
      d.widths[c] = std::max(d.widths[c], planner::detail::width_of(d.cells[r][c]));
    }
    d.margin = std::max(d.margin, planner::detail::width_of(d.rows[r]));
  }
  return d;
}

[[gnu::cold]] inline std::string rule(drawn_table const& d, char const* left, char const* between, char const* right) {
  std::string line = join_text(std::string(d.margin, ' '), d.margin > 0 ? " " : "", left);
  for (std::size_t c = 0; c < d.widths.size(); ++c)
    append_text(line, c > 0 ? between : "", repeated("─", d.widths[c] + 2));
  return join_text(line, right, '\n');
}

template <class = void>
[[gnu::cold]] std::string table_as_text(drawn_table const& d) {
  std::string text;
  if (!d.columns.front().empty()) {
    std::string line(d.margin + (d.margin > 0 ? 1 : 0), ' ');
    for (std::size_t c = 0; c < d.columns.size(); ++c) append_text(line, ' ', centred(d.columns[c], d.widths[c] + 2));
    append_text(text, line.substr(0, line.find_last_not_of(' ') + 1), '\n');
  }
  text += rule(d, "┌", "┬", "┐");
  for (std::size_t r = 0; r < d.rows.size(); ++r) {
    if (r > 0) text += rule(d, "├", "┼", "┤");
    append_text(text, planner::detail::padded(d.rows[r], d.margin), d.margin > 0 ? " " : "");
    for (std::size_t c = 0; c < d.columns.size(); ++c)
      append_text(text, "│ ", centred(d.cells[r][c], d.widths[c]), ' ');
    text += "│\n";
  }
  return text + rule(d, "└", "┴", "┘");
}

template <class = void>
[[gnu::cold]] std::string picture_as_text(picture p) {
  find_holders(p);
  table_axes const t = axes_of_table(p);
  std::string text = join_text(p.title, '\n');
  for_each_slice(p, t, [&](std::string const& heading, auto const& cell) {
    if (!heading.empty()) append_text(text, heading, '\n');
    text += table_as_text(lay_out(p, t, cell));
  });
  return text;
}

// A colour for each device. Consecutive devices have different colours.
[[gnu::cold]] inline std::string colour_of(std::int64_t device) {
  return join_text("hsl(", device * 137 % 360, ",55%,80%)");
}

[[gnu::cold]] inline std::string svg_text(std::int64_t x, std::int64_t y, std::string const& text, char const* anchor) {
  std::string escaped;
  for (char c : text) escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return join_text("<text x=\"", x, "\" y=\"", y, "\" text-anchor=\"", anchor, "\">", escaped, "</text>\n");
}

// The position of the start of a block on `length` units for an axis of n; an axis of extent 0 has equal blocks.
[[gnu::cold]] inline std::int64_t place(drawn_axis const& a, std::int64_t block, std::int64_t length) {
  if (a.extent == 0) return block * length / a.blocks;
  return block == a.blocks ? length : a.range(block).begin * length / a.extent;
}

template <class = void>
[[gnu::cold]] std::string picture_as_svg(picture p) {
  find_holders(p);
  table_axes const t = axes_of_table(p);
  drawn_axis const none{"", 1};
  drawn_axis const& rows = t.rows < 0 ? none : p.axes[static_cast<std::size_t>(t.rows)];
  drawn_axis const& columns = t.columns < 0 ? none : p.axes[static_cast<std::size_t>(t.columns)];
  std::int64_t const margin = 110, line = 20, width = 60 * std::max<std::int64_t>(columns.blocks, 4);
  std::int64_t const height = 34 * std::max<std::int64_t>(rows.blocks, t.rows < 0 ? 1 : 2);
  std::string body = svg_text(10, line, p.title, "start");
  std::int64_t top = line;
  for_each_slice(p, t, [&](std::string const& heading, auto const& cell) {
    if (!heading.empty()) body += svg_text(10, top += line, heading, "start");
    top += line + 6;
    for (std::int64_t c = 0; t.columns >= 0 && c < columns.blocks; ++c)
      body +=
          svg_text(margin + (place(columns, c, width) + place(columns, c + 1, width)) / 2, top - 4,
                   join_text(c == 0 ? join_text(columns.name, ' ') : "", range_as_text(columns.range(c))), "middle");
    for (std::int64_t r = 0; r < rows.blocks; ++r) {
      std::int64_t const y = top + place(rows, r, height), next = top + place(rows, r + 1, height);
      if (t.rows >= 0)
        body += svg_text(margin - 8, (y + next) / 2 + 5,
                         join_text(r == 0 ? join_text(rows.name, ' ') : "", range_as_text(rows.range(r))), "end");
      for (std::int64_t c = 0; c < columns.blocks; ++c) {
        std::int64_t const x = margin + place(columns, c, width), end = margin + place(columns, c + 1, width);
        std::int64_t const block = cell(r, c);
        append_text(body, "<rect x=\"", x, "\" y=\"", y, "\" width=\"", end - x, "\" height=\"", next - y, "\" fill=\"",
                    colour_of(p.devices_of(block, 0).front()), "\" stroke=\"#444\"/>\n");
        if (end > x && next > y)
          body += svg_text((x + end) / 2, (y + next) / 2 + 5, holders_as_text(p, block), "middle");
      }
    }
    top += height;
  });
  return join_text("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", margin + width + 20, "\" height=\"", top + 20,
                   "\" font-family=\"sans-serif\" font-size=\"13\">\n", body, "</svg>\n");
}

[[gnu::cold]] inline int position_of_name(std::vector<std::string> const& names, std::string_view name) {
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

// The picture of a sharding whose mesh axes are among `mesh_names`.
template <class Sharding>
picture picture_of(std::string title, std::vector<std::string> mesh_names, std::vector<std::int64_t> mesh_sizes,
                   std::int64_t const* extents) {
  using axes = typename sharding_traits<Sharding>::axes;
  using mesh_axes = typename sharding_traits<Sharding>::mesh_axes;
  using varying = typename sharding_traits<Sharding>::varying;
  constexpr planner::spec s = spec_of<Sharding, axes, mesh_axes>;
  picture p{std::move(title), std::move(mesh_names), std::move(mesh_sizes), {}, {}, {}, s.kind, {}};
  auto const in_mesh = [&](int m) {
    return position_of_name(p.mesh_names, names_of<mesh_axes>[static_cast<std::size_t>(m)]);
  };
  for (int i = 0; i < s.rank; ++i) {
    p.axes.push_back({std::string(names_of<axes>[static_cast<std::size_t>(i)]), extents[i]});
    for (int k = 0; k < s.over[i].size(); ++k) p.axes.back().over.push_back(in_mesh(s.over[i][k]));
  }
  for (int m = 0; m < mesh_axes::size; ++m)
    if (s.partial.contains(m)) p.partial.push_back(in_mesh(m));
  for (int m = 0; m < varying::size; ++m)
    p.varying.push_back(position_of_name(p.mesh_names, names_of<varying>[static_cast<std::size_t>(m)]));
  return p;
}

template <class = void>
[[gnu::cold]] std::string title_of_picture(std::string text, std::int64_t const* extents, int rank,
                                           std::vector<std::string> const& names,
                                           std::vector<std::int64_t> const& sizes) {
  for (int i = 0; i < rank; ++i) append_text(text, i == 0 ? " of " : " × ", planner::describe_number(extents[i]));
  for (std::size_t m = 0; m < names.size(); ++m) append_text(text, m == 0 ? " on " : " · ", names[m], '=', sizes[m]);
  return text;
}

template <class Sharding>
std::string sharding_as_text() {
  using traits = sharding_traits<Sharding>;
  std::string text = planner::describe(spec_of<Sharding, typename traits::axes, typename traits::mesh_axes>,
                                       naming_of<typename traits::axes, typename traits::mesh_axes>);
  if constexpr (traits::varying::size > 0)
    append_text(text, " {V_",
                planner::detail::mesh_names(planner::detail::in_order(planner::mesh_set::first(traits::varying::size)),
                                            naming_of<typename traits::axes, typename traits::varying>),
                '}');
  return text;
}

template <class A>
picture picture_of_tensor(char const* operation, A const& a) {
  engine::device_mesh const& mesh = *common_mesh(operation, a);
  std::vector<std::string> names;
  std::vector<std::int64_t> sizes;
  for (int m = 0; m < mesh.axes(); ++m) {
    names.emplace_back(mesh.name(m));
    sizes.push_back(mesh.size(m));
  }
  std::string title =
      title_of_picture(engine::element_name<typename A::value_type> + sharding_as_text<typename A::sharding_type>(),
                       a.extents().data(), A::rank, names, sizes);
  return picture_of<typename A::sharding_type>(std::move(title), std::move(names), std::move(sizes),
                                               a.extents().data());
}

template <class M, class Sizes>
void add_mesh_axis(std::vector<std::string>& names, std::vector<std::int64_t>& sizes, Sizes const& given) {
  if constexpr (MeshAxis<M>) {
    names.emplace_back(M::name);
    sizes.push_back(given.template of<M>());
  }
}

// The given mesh axes come first, in their order, then the other mesh axes with static sizes.
template <class... Named, class... As, class... Ms>
picture picture_of_sizes(auto sharding, sizes<Named...> const& given, type_list<As...>, type_list<Ms...>) {
  using given_names = type_list<Named...>;
  std::vector<std::string> names;
  std::vector<std::int64_t> mesh_sizes;
  (add_mesh_axis<Named>(names, mesh_sizes, given), ...);
  [[maybe_unused]] auto const add_static = [&]<class M>(M) {
    if constexpr (position_in<M, given_names> < 0) {
      names.emplace_back(M::name);
      mesh_sizes.push_back(required_extent<M>(given));
    }
  };
  (add_static(Ms{}), ...);
  std::int64_t const extents[sizeof...(As) + 1]{required_extent<As>(given)...};
  std::string title = title_of_picture(sharding_as_text<decltype(sharding)>(), extents, static_cast<int>(sizeof...(As)),
                                       names, mesh_sizes);
  return picture_of<decltype(sharding)>(std::move(title), std::move(names), std::move(mesh_sizes), extents);
}

// The picture of a sharding. It is empty if the sharding is wrong: its error has been raised already.
template <auto... Dims, class... Given>
picture picture_of_dims(Given const&... given) {
  using sharding = sharding_of<Dims...>;
  using traits = sharding_traits<sharding>;
  if constexpr (reason::ok_or_raise<typename traits::verdict>())
    return picture_of_sizes(sharding{}, collect_sizes(given...), typename traits::axes{},
                            concatenation_of<typename traits::mesh_axes, typename traits::varying>{});
  else
    return {};
}

}  // namespace detail

/// The devices that hold each block: one axis as a row, two as a table, more as slices of named axes, with the divided
/// ones as rows and columns. `0,1`: both hold it; `0 + 1`: summands of it ({U_X}); `0 | 1`: each holds its own block,
/// in a body ({V_X}). Nothing is communicated.
template <TensorOrVariable A>
[[nodiscard, gnu::cold]] std::string visualize(A const& a) {
  return detail::picture_as_text(detail::picture_of_tensor("visualize", detail::underlying_tensor(a)));
}

/// The same for a sharding, with extents and sizes of mesh axes by name. Devices are numbered over the mesh axes in the
/// given order, the first one major.
template <auto... Dims, class... Given>
  requires(!(TensorOrVariable<Given> || ...))
[[nodiscard, gnu::cold]] std::string visualize(Given const&... given) {
  return detail::picture_as_text(detail::picture_of_dims<Dims...>(given...));
}

/// The picture as SVG text, to write to a file: blocks in proportion to their extents, one colour a device.
template <TensorOrVariable A>
[[nodiscard, gnu::cold]] std::string visualize_svg(A const& a) {
  return detail::picture_as_svg(detail::picture_of_tensor("visualize_svg", detail::underlying_tensor(a)));
}

template <auto... Dims, class... Given>
  requires(!(TensorOrVariable<Given> || ...))
[[nodiscard, gnu::cold]] std::string visualize_svg(Given const&... given) {
  return detail::picture_as_svg(detail::picture_of_dims<Dims...>(given...));
}

}  // namespace ostraka
