// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The header of a safetensors file: its length in 8 bytes, least significant first, then JSON of that length,
/// then the bytes of all tensors without gaps.
///
///     {"__metadata__":{"mesh":"X=2"},"w1":{"dtype":"F32","shape":[784,128],"data_offsets":[0,401408]}}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/engine/formats/header_text.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Bytes at the beginning of a file that contain the header's length.
inline constexpr std::int64_t safetensors_prefix = 8;

/// The format's own limit for its JSON.
inline constexpr std::int64_t max_safetensors_header = 100'000'000;

/// Returns the header's bytes, its length included, from the first bytes of a file. @throws malformed_header
[[nodiscard]] inline std::int64_t safetensors_header_bytes(std::string_view first, std::int64_t file_bytes) {
  if (first.size() < 8) throw malformed_header("the file is shorter than 8 bytes");
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(first[i]);
  if (length > static_cast<std::uint64_t>(max_safetensors_header))
    throw malformed_header(
        join_text("its header claims ", length, " bytes, and the format allows ", max_safetensors_header));
  auto const bytes = static_cast<std::int64_t>(length) + safetensors_prefix;
  if (bytes > file_bytes)
    throw malformed_header(join_text("its header claims ", length, " bytes, but the file ends before"));
  return bytes;
}

namespace detail {

// Reads an array of at most `most` whole numbers.
inline std::vector<std::int64_t> read_numbers(header_text& text, std::size_t most) {
  std::vector<std::int64_t> numbers;
  text.expect('[');
  if (text.take(']')) return numbers;
  do {
    if (numbers.size() == most) text.fail(join_text("expected at most ", most, " numbers"));
    numbers.push_back(text.number());
  } while (text.take(','));
  text.expect(']');
  return numbers;
}

inline tensor_in_file read_tensor(header_text& text, std::string name) {
  tensor_in_file t;
  t.name = std::move(name);
  bool dtype = false, shape = false, offsets = false;
  auto const once = [&](bool& had) {
    if (had) text.fail("a key of a tensor appears twice");
    had = true;
    text.expect(':');
  };
  text.expect('{');
  do {
    std::string const key = text.string();
    if (key == "dtype") {
      once(dtype);
      std::string const said = text.string();
      if (!find_element(said, &file_element_names::dtype, t.element))
        text.fail(join_text("no dtype is called ", json_string(said)));
    } else if (key == "shape") {
      once(shape);
      t.extents = read_numbers(text, max_dimensions_in_file);
    } else if (key == "data_offsets") {
      once(offsets);
      auto const numbers = read_numbers(text, 2);
      if (numbers.size() != 2) text.fail("data_offsets are two numbers");
      t.begin = numbers[0];
      t.end = numbers[1];
    } else {
      text.fail("a tensor has dtype, shape and data_offsets, and nothing else");
    }
  } while (text.take(','));
  text.expect('}');
  if (!dtype || !shape || !offsets) text.fail("a tensor lacks one of dtype, shape and data_offsets");
  return t;
}

inline std::vector<std::pair<std::string, std::string>> read_metadata(header_text& text) {
  std::vector<std::pair<std::string, std::string>> metadata;
  text.expect('{');
  if (text.take('}')) return metadata;
  do {
    std::string key = text.string();
    text.expect(':');
    metadata.emplace_back(std::move(key), text.string());
  } while (text.take(','));
  text.expect('}');
  return metadata;
}

// Sorts by `name`, which must be unique.
template <class List, class Name>
void sort_by_name(List& list, Name const& name) {
  std::sort(list.begin(), list.end(), [&](auto const& a, auto const& b) { return name(a) < name(b); });
  auto const same =
      std::adjacent_find(list.begin(), list.end(), [&](auto const& a, auto const& b) { return name(a) == name(b); });
  if (same != list.end())
    throw malformed_header(join_text("the key ", json_string(name(*same)), " appears twice in the header"));
}

// Checks that the tensors cover the data one after the other.
inline void require_no_holes(std::vector<tensor_in_file> const& tensors, std::int64_t data_bytes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  spans.reserve(tensors.size());
  for (tensor_in_file const& t : tensors) {
    if (t.begin > t.end || t.end > data_bytes)
      throw malformed_header(join_text("the data of ", json_string(t.name), " is not within the file"));
    if (t.end - t.begin != bytes_of(t.element, t.extents))
      throw malformed_header(join_text("the shape of ", json_string(t.name), " is of another length than its data"));
    spans.emplace_back(t.begin, t.end);
  }
  std::sort(spans.begin(), spans.end());
  std::int64_t next = 0;
  for (auto const& [begin, end] : spans) {
    if (begin != next) throw malformed_header("data of two tensors overlap, or bytes between them belong to none");
    next = end;
  }
  if (next != data_bytes) throw malformed_header("bytes at the end of the file belong to no tensor");
}

}  // namespace detail

/// Parses a header without its first 8 bytes. @throws malformed_header unless it describes a file of this length
[[nodiscard]] inline file_contents parse_safetensors(std::string_view json, std::int64_t file_bytes) {
  file_contents c;
  c.data_begin = static_cast<std::int64_t>(json.size()) + safetensors_prefix;
  header_text text(json);
  if (!text.is_next('{')) text.fail("a header begins with '{'");
  text.expect('{');
  bool metadata = false;
  if (!text.take('}')) {
    do {
      std::string name = text.string();
      text.expect(':');
      if (name != "__metadata__") {
        c.tensors.push_back(detail::read_tensor(text, std::move(name)));
      } else {
        if (metadata) text.fail("__metadata__ appears twice");
        metadata = true;
        c.metadata = detail::read_metadata(text);
      }
    } while (text.take(','));
    text.expect('}');
  }
  text.skip_space();
  if (!text.at_end()) text.fail("something follows the header");
  detail::sort_by_name(c.tensors, [](tensor_in_file const& t) -> std::string const& { return t.name; });
  detail::sort_by_name(c.metadata, [](auto const& entry) -> std::string const& { return entry.first; });
  detail::require_no_holes(c.tensors, file_bytes - c.data_begin);
  return c;
}

/// Returns the header of tensors with names, elements and extents, its length included. Sets the positions of their
/// data: tensors with large elements come first, so that all are aligned.
[[nodiscard]] inline std::string make_safetensors_header(file_contents& c) {
  std::vector<tensor_in_file*> order;
  for (tensor_in_file& t : c.tensors) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](tensor_in_file const* a, tensor_in_file const* b) {
    int const left = bytes_of(a->element), right = bytes_of(b->element);
    return left != right ? left > right : a < b;
  });
  std::string json = "{";
  if (!c.metadata.empty()) {
    json += "\"__metadata__\":{";
    for (auto const& [key, value] : c.metadata) append_text(json, json_string(key), ':', json_string(value), ',');
    json.back() = '}';
    json += ',';
  }
  std::int64_t next = 0;
  for (tensor_in_file* t : order) {
    t->begin = next;
    t->end = next += bytes_of(t->element, t->extents);
    append_text(json, json_string(t->name), ":{\"dtype\":", json_string(names_of(t->element).dtype), ",\"shape\":[");
    for (std::size_t d = 0; d < t->extents.size(); ++d) append_text(json, d > 0 ? "," : "", t->extents[d]);
    append_text(json, "],\"data_offsets\":[", t->begin, ',', t->end, "]},");
  }
  if (json.size() > 1) json.pop_back();
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string header;
  for (int byte = 0; byte < 8; ++byte) header += static_cast<char>(json.size() >> 8 * byte & 0xFF);
  c.data_begin = safetensors_prefix + static_cast<std::int64_t>(json.size());
  return header + json;
}

}  // namespace ostraka::engine
