// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The header of an .npy file, NumPy's format for one array: a magic string, a version, the header's length,
/// and a dictionary in Python's notation. Reads versions 1.0 to 3.0; writes 1.0, which every reader knows.
///
///     \x93NUMPY 1.0 {'descr': '<f4', 'fortran_order': False, 'shape': (784, 128), }

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/engine/formats/header_text.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Bytes at the beginning of a file that contain the header's length.
inline constexpr std::int64_t npy_prefix = 12;

/// Limit of a header. The header of an array of numbers has a few hundred bytes.
inline constexpr std::int64_t max_npy_header = 65'535;

namespace detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

// The position and the length of the dictionary.
struct npy_span {
  std::int64_t begin;
  std::int64_t length;
};

inline npy_span find_npy_dictionary(std::string_view first) {
  if (first.size() < 10 || first.substr(0, npy_magic.size()) != npy_magic)
    throw malformed_header("it does not begin as an .npy file");
  int const major = static_cast<unsigned char>(first[6]), minor = static_cast<unsigned char>(first[7]);
  if (major < 1 || major > 3 || minor != 0)
    throw malformed_header(join_text("versions 1.0, 2.0 and 3.0 are known, and it is of ", major, '.', minor));
  int const bytes = major == 1 ? 2 : 4;
  if (first.size() < static_cast<std::size_t>(8 + bytes)) throw malformed_header("the file ends before its header");
  std::int64_t length = 0;
  for (int i = bytes; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(first[static_cast<std::size_t>(8 + i)]);
  return {8 + bytes, length};
}

// '<f4', '|b1', '>c16'
inline void read_descr(header_text& text, tensor_in_file& t) {
  text.skip_space();
  if (!text.is_next('\'') && !text.is_next('"')) text.fail("arrays of records are not read, only of numbers");
  std::string_view const said = text.plain_string(text.is_next('"') ? '"' : '\'');
  bool const known = !said.empty() && find_element(said.substr(1), &file_element_names::descr, t.element);
  bool const ordered = known && (said[0] == '<' || said[0] == '>');
  bool const unordered = known && said[0] == '|' && (bytes_of(t.element) == 1 || t.element == file_element::bf16);
  if (!ordered && !unordered)
    text.fail(join_text("the elements are ", json_string(said), ", which are none of a tensor"));
  t.other_order = said[0] == '>' && names_of(t.element).number_bytes > 1;
  if (t.other_order && t.element == file_element::bf16) text.fail("V2 has no order of bytes");
}

inline bool read_bool(header_text& text) {
  if (text.take_word("True")) return true;
  if (!text.take_word("False")) text.fail("expected True or False");
  return false;
}

// (), (3,), (3, 4), and (3L, 4L) of Python 2
inline void read_shape(header_text& text, tensor_in_file& t) {
  text.expect('(');
  bool comma = true;
  while (!text.take(')')) {
    if (!comma) text.fail("expected ',' or ')'");
    if (t.extents.size() == max_dimensions_in_file) text.fail("an array has too many dimensions");
    t.extents.push_back(text.number());
    if (text.is_next('L')) text.expect('L');
    comma = text.take(',');
    if (!comma && t.extents.size() == 1) text.fail("one number in parentheses is no tuple");
  }
}

}  // namespace detail

/// Returns the header's bytes from the first bytes of a file. @throws malformed_header
[[nodiscard]] inline std::int64_t npy_header_bytes(std::string_view first, std::int64_t file_bytes) {
  auto const [begin, length] = detail::find_npy_dictionary(first);
  if (length > max_npy_header)
    throw malformed_header(
        join_text("its header claims ", length, " bytes, and an array of numbers needs ", max_npy_header, " at most"));
  if (begin + length > file_bytes)
    throw malformed_header(join_text("its header claims ", length, " bytes, but the file ends before"));
  return begin + length;
}

/// Parses a header. @throws malformed_header unless it describes a file of this length
[[nodiscard]] inline file_contents parse_npy(std::string_view header, std::int64_t file_bytes) {
  file_contents c;
  c.data_begin = static_cast<std::int64_t>(header.size());
  tensor_in_file t;
  header_text text(header.substr(static_cast<std::size_t>(detail::find_npy_dictionary(header).begin)));
  bool descr = false, order = false, shape = false;
  auto const once = [&](bool& had) {
    if (had) text.fail("a key appears twice");
    had = true;
    text.expect(':');
  };
  text.expect('{');
  bool comma = true;
  while (!text.take('}')) {
    if (!comma) text.fail("expected ',' or '}'");
    std::string_view const key = text.plain_string(text.is_next('"') ? '"' : '\'');
    if (key == "descr") {
      once(descr);
      detail::read_descr(text, t);
    } else if (key == "fortran_order") {
      once(order);
      t.column_major = detail::read_bool(text);
    } else if (key == "shape") {
      once(shape);
      detail::read_shape(text, t);
    } else {
      text.fail("a header has descr, fortran_order and shape, and nothing else");
    }
    comma = text.take(',');
    text.skip_space();
  }
  text.skip_space();
  if (!text.at_end()) text.fail("something follows the header");
  if (!descr || !order || !shape) text.fail("the header lacks one of descr, fortran_order and shape");
  t.end = bytes_of(t.element, t.extents);
  if (std::int64_t const there = file_bytes - c.data_begin; t.end != there)
    throw malformed_header(join_text("its shape is of ", t.end, " bytes, and ", there, " follow the header"));
  c.tensors.push_back(std::move(t));
  return c;
}

/// Returns the header of one tensor with these elements and extents.
[[nodiscard]] inline std::string make_npy_header(file_contents& c) {
  tensor_in_file& t = c.tensors.front();
  std::string text = join_text("{'descr': '", bytes_of(t.element) == 1 ? '|' : '<');
  text.append(names_of(t.element).descr).append("', 'fortran_order': False, 'shape': (");
  for (std::size_t d = 0; d < t.extents.size(); ++d)
    text.append(std::to_string(t.extents[d]))
        .append(d + 1 < t.extents.size() ? ", "
                : t.extents.size() == 1  ? ","
                                         : "");
  text += "), }";
  std::size_t const whole = (10 + text.size() + 1 + 63) / 64 * 64;
  text.resize(whole - 11, ' ');
  text += '\n';
  t.begin = 0;
  t.end = bytes_of(t.element, t.extents);
  c.data_begin = static_cast<std::int64_t>(whole);
  std::string header(detail::npy_magic);
  for (std::size_t byte : {std::size_t(1), std::size_t(0), text.size() & 0xFF, text.size() >> 8})
    header += static_cast<char>(byte);
  return header + text;
}

}  // namespace ostraka::engine
