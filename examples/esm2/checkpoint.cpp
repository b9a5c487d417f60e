// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The checkpoint of the model with 15 billion parameters, opened without its 60 GB: files with the headers that
/// save_pretrained writes for it, and holes instead of the numbers. A dry mesh reads headers alone, so it takes
/// milliseconds to find out how much each device would read and hold.

#include "checkpoint.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/foresight.hpp>

#include "plan.hpp"

namespace {

namespace fs = std::filesystem;

struct stored {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// The tensors of EsmForMaskedLM with the extents of its published configuration.
std::vector<stored> tensors_of_15_billion() {
  constexpr std::int64_t width = 5120, inner = 20480, tokens = 33, maps = 48 * 40;
  std::vector<stored> all = {{"esm.embeddings.word_embeddings.weight", {tokens, width}}};
  auto const linear = [&](std::string const& name, std::int64_t out, std::int64_t in) {
    all.push_back({name + ".weight", {out, in}});
    all.push_back({name + ".bias", {out}});
  };
  auto const norm = [&](std::string const& name) {
    all.push_back({name + ".weight", {width}});
    all.push_back({name + ".bias", {width}});
  };
  for (int i = 0; i < esm2::layers_of_15_billion; ++i) {
    std::string const layer = "esm.encoder.layer." + std::to_string(i);
    for (char const* part :
         {".attention.self.query", ".attention.self.key", ".attention.self.value", ".attention.output.dense"})
      linear(layer + part, width, width);
    norm(layer + ".attention.LayerNorm");
    linear(layer + ".intermediate.dense", inner, width);
    linear(layer + ".output.dense", width, inner);
    norm(layer + ".LayerNorm");
  }
  norm("esm.encoder.emb_layer_norm_after");
  linear("esm.contact_head.regression", 1, maps);
  all.push_back({"lm_head.bias", {tokens}});
  linear("lm_head.dense", width, width);
  norm("lm_head.layer_norm");
  return all;
}

std::int64_t bytes_of(stored const& t) {
  std::int64_t bytes = 4;
  for (std::int64_t const n : t.shape) bytes *= n;
  return bytes;
}

/// Writes a safetensors file of these tensors, with a hole instead of their numbers.
void write_part(fs::path const& path, std::vector<stored> const& tensors) {
  std::string json = "{\"__metadata__\":{\"format\":\"pt\"}";
  std::int64_t at = 0;
  for (stored const& t : tensors) {
    json += ",\"" + t.name + "\":{\"dtype\":\"F32\",\"shape\":[";
    for (std::size_t d = 0; d < t.shape.size(); ++d) json += (d > 0 ? "," : "") + std::to_string(t.shape[d]);
    json += "],\"data_offsets\":[" + std::to_string(at) + ',' + std::to_string(at + bytes_of(t)) + "]}";
    at += bytes_of(t);
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string start;
  for (int byte = 0; byte < 8; ++byte) start += static_cast<char>(json.size() >> 8 * byte & 0xFF);
  std::ofstream(path, std::ios::binary) << start << json;
  fs::resize_file(path, start.size() + json.size() + static_cast<std::uintmax_t>(at));
}

/// Parts of 5 GB at most and their index. @returns their bytes
std::int64_t write_checkpoint(fs::path const& folder) {
  constexpr std::int64_t most = 5'000'000'000;
  std::vector<std::vector<stored>> parts(1);
  std::int64_t in_part = 0, total = 0;
  for (stored const& t : tensors_of_15_billion()) {
    if (in_part + bytes_of(t) > most) {
      parts.emplace_back();
      in_part = 0;
    }
    parts.back().push_back(t);
    in_part += bytes_of(t);
    total += bytes_of(t);
  }
  std::string index = "{\"metadata\":{\"total_size\":" + std::to_string(total) + "},\"weight_map\":{";
  char const* before = "";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    char name[64];
    std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", i + 1, parts.size());
    write_part(folder / name, parts[i]);
    for (stored const& t : parts[i]) {
      index += before + ('"' + t.name + "\":\"" + name + '"');
      before = ",";
    }
  }
  std::ofstream(folder / "model.safetensors.index.json") << index << "}}";
  return total;
}

/// The bytes of parameters that a device of the mesh keeps, and the milliseconds until they are known.
template <class Mesh>
std::pair<std::int64_t, double> opened(fs::path const& folder, Mesh const& mesh) {
  auto const begin = std::chrono::steady_clock::now();
  std::int64_t bytes = 0;
  static_cast<void>(os::cost_of(mesh, [&] {  // so that memory is not touched
    auto const p = esm2::load(folder.string(), mesh, 40);
    os::for_each_leaf(
        [&](std::string const&, auto const& w) { bytes += static_cast<std::int64_t>(4 * w.local().size()); }, p);
  }));
  return {bytes, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count()};
}

}  // namespace

bool print_checkpoint() {
  fs::path const folder = fs::temp_directory_path() / ("esm2-15b-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  bool good = false;
  try {
    std::int64_t const total = write_checkpoint(folder);
    std::printf("\nIts checkpoint, %.2f GB in parts of 5 GB, by their headers alone. A device reads and keeps:\n\n",
                static_cast<double>(total) / 1e9);
    for (auto const& [x, y] : {std::pair(2, 4), std::pair(64, 8), std::pair(8192, 8)}) {
      auto const [bytes, milliseconds] = opened(folder, os::dry_mesh(X = x, Y = y));
      std::printf("%9d x %2d %11.3f GB, known in %.1f ms\n", x, y, static_cast<double>(bytes) / 1e9, milliseconds);
      if (x == 2) good = bytes == esm2::parameter_bytes_of_15_billion();
    }
  } catch (std::exception const& e) {
    std::printf("The checkpoint was not opened: %s\n", e.what());
  }
  std::error_code fault;
  fs::remove_all(folder, fault);
  std::printf("A device's bytes are those of the plan: %s\n", good ? "PASS" : "FAIL");
  return good;
}
