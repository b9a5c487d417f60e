// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The index of a checkpoint in several files, its parts. It names the part of each tensor. The parts are in
/// the folder of the index. An index may come from anywhere, so the name of a part must be a plain file name. The
/// tensors' positions come from the parts' own headers, with which the index is compared.
///
///     {"metadata":{"total_size":401920},"weight_map":{"w1":"model-00001-of-00002.safetensors", …}}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/engine/formats/header_text.hpp>
#include <ostraka/engine/formats/safetensors.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

inline constexpr std::string_view safetensors_ending = ".safetensors";
inline constexpr std::string_view index_ending = ".safetensors.index.json";

/// The limit of a header.
inline constexpr std::int64_t max_index_bytes = max_safetensors_header;

struct safetensors_index {
  std::vector<std::string> parts{};                            ///< names of files in the index's folder, sorted
  std::vector<std::pair<std::string, std::size_t>> tensors{};  ///< sorted by name, each with the number of its part
};

namespace detail {

inline void require_plain_name(std::string const& name) {
  bool plain = name.size() > safetensors_ending.size() && name.ends_with(safetensors_ending);
  for (char const c : name) plain = plain && c != '/' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
  if (!plain)
    throw malformed_header(join_text("it names the part ", json_string(name),
                                     ", and a part is a .safetensors file in the folder of its index"));
}

}  // namespace detail

/// Reads an index. @throws malformed_header unless it is an index with parts in its folder
[[nodiscard]] inline safetensors_index parse_safetensors_index(std::string_view json) {
  std::vector<std::pair<std::string, std::string>> places;
  header_text text(json, "index");
  bool weight_map = false;
  text.expect('{');
  if (!text.take('}')) {
    do {
      std::string const key = text.string();
      text.expect(':');
      if (key != "weight_map") {
        text.skip_value();
        continue;
      }
      if (weight_map) text.fail("weight_map appears twice");
      weight_map = true;
      text.expect('{');
      if (text.take('}')) continue;
      do {
        std::string name = text.string();
        text.expect(':');
        places.emplace_back(std::move(name), text.string());
      } while (text.take(','));
      text.expect('}');
    } while (text.take(','));
    text.expect('}');
  }
  text.skip_space();
  if (!text.at_end()) text.fail("something follows the index");
  if (!weight_map) text.fail("an index has a weight_map, which says the part of each tensor");
  detail::sort_by_name(places, [](auto const& place) -> std::string const& { return place.first; });

  safetensors_index index;
  for (auto const& place : places) index.parts.push_back(place.second);
  std::sort(index.parts.begin(), index.parts.end());
  index.parts.erase(std::unique(index.parts.begin(), index.parts.end()), index.parts.end());
  for (std::string const& part : index.parts) detail::require_plain_name(part);
  for (auto& [name, part] : places) {
    auto const at = std::lower_bound(index.parts.begin(), index.parts.end(), part);
    index.tensors.emplace_back(std::move(name), static_cast<std::size_t>(at - index.parts.begin()));
  }
  return index;
}

/// Returns the index of tensors with these bytes and parts, in the form that transformers writes.
[[nodiscard]] inline std::string make_safetensors_index(std::int64_t total_bytes,
                                                        std::vector<std::pair<std::string, std::string>> places) {
  std::sort(places.begin(), places.end());
  std::string json =
      join_text("{\n  \"metadata\": {\n    \"total_size\": ", total_bytes, "\n  },\n  \"weight_map\": {");
  char const* before = "\n    ";
  for (auto const& [name, part] : places) {
    append_text(json, before, json_string(name), ": ", json_string(part));
    before = ",\n    ";
  }
  return json + "\n  }\n}\n";
}

/// Joins the headers of the parts, including tensors that the index does not name. @throws malformed_header if two
/// parts have the same tensor, or a part lacks a tensor that the index names in it
[[nodiscard]] inline file_contents join_parts(safetensors_index const& index, std::vector<file_contents> parts) {
  file_contents all;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    for (tensor_in_file& t : parts[k].tensors) t.part = k;
    std::move(parts[k].tensors.begin(), parts[k].tensors.end(), std::back_inserter(all.tensors));
    std::move(parts[k].metadata.begin(), parts[k].metadata.end(), std::back_inserter(all.metadata));
  }
  std::sort(all.tensors.begin(), all.tensors.end(), [](tensor_in_file const& a, tensor_in_file const& b) {
    return a.name != b.name ? a.name < b.name : a.part < b.part;
  });
  auto const two = std::adjacent_find(all.tensors.begin(), all.tensors.end(),
                                      [](auto const& a, auto const& b) { return a.name == b.name; });
  if (two != all.tensors.end())
    throw malformed_header(join_text("two of its parts, ", index.parts[two->part], " and ",
                                     index.parts[std::next(two)->part], ", have a tensor called ",
                                     json_string(two->name)));
  auto at = all.tensors.begin();  // both are sorted by name
  for (auto const& [name, part] : index.tensors) {
    while (at != all.tensors.end() && at->name < name) ++at;
    if (at == all.tensors.end() || at->name != name || at->part != part)
      throw malformed_header(join_text("it names the tensor ", json_string(name), " in the part ", index.parts[part],
                                       ", which has none of this name"));
  }
  std::sort(all.metadata.begin(), all.metadata.end());
  all.metadata.erase(std::unique(all.metadata.begin(), all.metadata.end(),
                                 [](auto const& a, auto const& b) { return a.first == b.first; }),
                     all.metadata.end());
  return all;
}

}  // namespace ostraka::engine
