// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// safetensors files and indexes by plain code, which shares nothing with the library's writer.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace ostraka::testing {

struct plain_tensor {
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

template <class T>
std::string bytes_of_values(std::vector<T> const& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// A file of these tensors, with their data in this order.
inline std::string plain_safetensors(std::vector<plain_tensor> const& tensors) {
  std::string json = "{", data;
  for (plain_tensor const& t : tensors) {
    if (json.size() > 1) json += ',';
    json += '"' + t.name + "\":{\"dtype\":\"" + t.dtype + "\",\"shape\":[";
    for (std::size_t d = 0; d < t.shape.size(); ++d) json += (d > 0 ? "," : "") + std::to_string(t.shape[d]);
    json += "],\"data_offsets\":[" + std::to_string(data.size()) + ',';
    data += t.bytes;
    json += std::to_string(data.size()) + "]}";
  }
  json += '}';
  std::string file;
  for (int byte = 0; byte < 8; ++byte) file += static_cast<char>(json.size() >> 8 * byte & 0xFF);
  return file + json + data;
}

/// The tensor of this name in a file as the library writes it, without spaces; one without a dtype if there is none.
inline plain_tensor find_plain(std::string const& file, std::string const& name) {
  std::size_t length = 0;
  for (std::size_t byte = 8; byte-- > 0;) length = length << 8 | static_cast<unsigned char>(file.at(byte));
  std::string const json = file.substr(8, length), key = '"' + name + "\":{\"dtype\":\"";
  plain_tensor t{name, {}, {}, {}};
  std::size_t at = json.find(key);
  if (at == std::string::npos) return t;
  at += key.size();
  t.dtype = json.substr(at, json.find('"', at) - at);
  auto const numbers = [&](std::string const& before) {
    std::vector<std::int64_t> found;
    for (at = json.find(before, at) + before.size(); json[at] != ']'; at += json[at] == ',')
      for (found.push_back(0); json[at] >= '0' && json[at] <= '9'; ++at)
        found.back() = 10 * found.back() + (json[at] - '0');
    return found;
  };
  t.shape = numbers("\"shape\":[");
  auto const offsets = numbers("\"data_offsets\":[");
  t.bytes =
      file.substr(8 + length + static_cast<std::size_t>(offsets[0]), static_cast<std::size_t>(offsets[1] - offsets[0]));
  return t;
}

/// How many tensors a file has.
inline int count_plain(std::string const& file) {
  int count = 0;
  for (std::size_t at = 0; (at = file.find("{\"dtype\":", at)) != std::string::npos; ++at) ++count;
  return count;
}

/// An index as transformers writes it: names, and the part of each.
inline std::string plain_index(std::vector<std::pair<std::string, std::string>> const& places) {
  std::string json = "{\n  \"metadata\": {\n    \"total_size\": 123\n  },\n  \"weight_map\": {";
  for (std::size_t i = 0; i < places.size(); ++i)
    json += (i > 0 ? ",\n    \"" : "\n    \"") + places[i].first + "\": \"" + places[i].second + '"';
  return json + "\n  }\n}\n";
}

}  // namespace ostraka::testing
