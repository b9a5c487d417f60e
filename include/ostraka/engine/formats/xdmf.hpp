// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. XDMF: a text file that describes fields on a regular grid to ParaView and VisIt. The numbers are in
/// separate files, here after the headers of .npy files.

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/engine/formats/file_element.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// A field with one number for each point of the grid.
struct xdmf_field {
  std::string name{};
  std::string file{};  ///< path relative to that of the text
  file_element element = file_element::f32;
  std::int64_t begin = 0;  ///< offset of its first number, in bytes
};

/// The points of a grid with up to three axes; the last one is x, and the fastest.
struct xdmf_points {
  std::vector<std::int64_t> extents{};
  std::vector<double> origin{};   ///< of the first point; empty: 0
  std::vector<double> spacing{};  ///< between neighbours; empty: 1
};

namespace detail {

// The XDMF name of a number type; empty if XDMF lacks it.
inline std::string_view xdmf_number(file_element e) {
  switch (e) {
    case file_element::f64:
    case file_element::f32:
      return "Float";
    case file_element::i64:
    case file_element::i32:
      return "Int";
    case file_element::i16:
      return "Short";
    case file_element::i8:
    case file_element::boolean:
      return "Char";
    default:
      return {};
  }
}

inline std::string escaped_xml(std::string_view text) {
  std::string s;
  for (char const c : text) {
    std::string_view const special = c == '&'   ? "&amp;"
                                     : c == '<' ? "&lt;"
                                     : c == '>' ? "&gt;"
                                     : c == '"' ? "&quot;"
                                                : "";
    special.empty() ? s.push_back(c) : static_cast<void>(s.append(special));
  }
  return s;
}

inline std::string shortest_text(double x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

}  // namespace detail

/// True if a field may have such elements.
[[nodiscard]] inline bool is_in_xdmf(file_element e) { return !detail::xdmf_number(e).empty(); }

/// Returns the text for fields on one grid.
[[nodiscard]] inline std::string make_xdmf(xdmf_points const& points, std::vector<xdmf_field> const& fields) {
  std::size_t const missing = points.extents.size() < 2 ? 2 - points.extents.size() : 0;  // XDMF has no grids of a line
  std::string extents, origin, spacing;
  for (std::size_t d = 0; d < missing + points.extents.size(); ++d) {
    std::size_t const k = d - missing;
    bool const is_there = d >= missing;
    std::string_view const blank = d > 0 ? " " : "";
    append_text(extents, blank, is_there ? points.extents[k] : 1);
    append_text(origin, blank, detail::shortest_text(is_there && !points.origin.empty() ? points.origin[k] : 0));
    append_text(spacing, blank, detail::shortest_text(is_there && !points.spacing.empty() ? points.spacing[k] : 1));
  }
  bool const solid = points.extents.size() == 3;
  std::string text = join_text(
      "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n <Domain>\n  <Grid Name=\"fields\" GridType=\"Uniform\">\n"
      "   <Topology TopologyType=\"",
      solid ? "3DCoRectMesh" : "2DCoRectMesh", "\" Dimensions=\"", extents, "\"/>\n   <Geometry GeometryType=\"",
      solid ? "ORIGIN_DXDYDZ" : "ORIGIN_DXDY", "\">\n");
  for (std::string const* numbers : {&origin, &spacing})
    append_text(text, "    <DataItem Dimensions=\"", solid ? 3 : 2,
                "\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">", *numbers, "</DataItem>\n");
  append_text(text, "   </Geometry>\n");
  for (xdmf_field const& f : fields)
    append_text(text, "   <Attribute Name=\"", detail::escaped_xml(f.name),
                "\" AttributeType=\"Scalar\" Center=\"Node\">\n    <DataItem Dimensions=\"", extents,
                "\" NumberType=\"", detail::xdmf_number(f.element), "\" Precision=\"", bytes_of(f.element),
                "\" Format=\"Binary\" Endian=\"Little\" Seek=\"", f.begin, "\">", detail::escaped_xml(f.file),
                "</DataItem>\n   </Attribute>\n");
  return join_text(text, "  </Grid>\n </Domain>\n</Xdmf>\n");
}

}  // namespace ostraka::engine
