// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A checkpoint in several files: by its index and by its folder, on every mesh; each device reads only its blocks.
/// Indexes from anywhere: parts elsewhere, the same tensor twice, missing tensors, truncated parts; mutations of good
/// ones.
// ranks: 1 2 4
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "files/failing.hpp"
#include "files/plain_safetensors.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using t::mesh_of;
using t::said_alike;
using t::says;

namespace {

constexpr std::int64_t rows = 5, columns = 3;

// Any numbers, different for each tensor.
std::vector<float> numbers(int salt, std::int64_t count) {
  std::vector<float> n;
  for (std::int64_t i = 0; i < count; ++i) n.push_back(static_cast<float>(100 * salt + i));
  return n;
}

t::plain_tensor matrix(std::string const& name, int salt) {
  return {name, "F32", {rows, columns}, t::bytes_of_values(numbers(salt, rows * columns))};
}

t::plain_tensor row(std::string const& name, int salt) {
  return {name, "F32", {columns}, t::bytes_of_values(numbers(salt, columns))};
}

template <class L>
struct layer {
  os::leaf<L, float, I / X, J / Y> w;
  os::leaf<L, float, J> b;
};

template <class L>
struct model {
  os::leaf<L, float, J / X> table;
  std::vector<layer<L>> layers;
};

template <class L>
struct stacked_model {
  os::leaf<L, float, J> table;
  layer<os::stacked<L, K / Z>> layers;
};

constexpr char const* first_part = "model-00001-of-00003.safetensors";
constexpr char const* second_part = "model-00002-of-00003.safetensors";
constexpr char const* third_part = "model-00003-of-00003.safetensors";

// Three parts: a layer is in two of them, and the last one has a tensor alone.
using parts = std::vector<std::pair<std::string, std::vector<t::plain_tensor>>>;

parts three_parts() {
  return {{first_part, {matrix("layers.1.w", 3), row("table", 1)}},
          {second_part, {row("layers.0.b", 4), matrix("layers.0.w", 2)}},
          {third_part, {row("layers.1.b", 5)}}};
}

std::string index_of(parts const& all) {
  std::vector<std::pair<std::string, std::string>> places;
  for (auto const& [file, tensors] : all)
    for (auto const& tensor : tensors) places.emplace_back(tensor.name, file);
  return t::plain_index(places);
}

// Writes the parts and their index, which is the scratch file. @returns the bytes that device 0 reads beside its blocks
std::int64_t write(t::scratch_file const& index, parts const& all) {
  std::string const text = index_of(all);
  auto headers = static_cast<std::int64_t>(text.size());
  index.write(text);
  for (auto const& [file, tensors] : all) {
    std::string const bytes = t::plain_safetensors(tensors);
    index.write_beside(file, bytes);
    headers += static_cast<std::int64_t>(bytes.size());
    for (auto const& tensor : tensors) headers -= static_cast<std::int64_t>(tensor.bytes.size());
  }
  return headers;
}

// The number of elements of a leaf on this device that differ from these.
template <class A>
std::int64_t wrong(t::test_mesh const& m, A const& a, std::vector<std::vector<float>> const& stacked) {
  t::global_tensor<float> whole{t::letters_in<A>(), {{'I', rows}, {'J', columns}, {'K', 2}}, {}};
  for (auto const& one : stacked) whole.values.insert(whole.values.end(), one.begin(), one.end());
  return t::disagreements(m, a, whole);
}

void check(t::test_mesh const& m, model<os::values> const& p) {
  REQUIRE(p.layers.size() == 2);
  CHECK(wrong(m, p.table, {numbers(1, columns)}) == 0);
  CHECK(wrong(m, p.layers[0].w, {numbers(2, rows * columns)}) == 0);
  CHECK(wrong(m, p.layers[1].w, {numbers(3, rows * columns)}) == 0);
  CHECK(wrong(m, p.layers[0].b, {numbers(4, columns)}) == 0);
  CHECK(wrong(m, p.layers[1].b, {numbers(5, columns)}) == 0);
}

std::int64_t bytes_in(auto const& tree) {
  return os::tree_reduce(
      [](std::int64_t n, auto const& a) { return n + std::int64_t(a.local().span() * sizeof(*a.local().data())); },
      std::int64_t{0}, tree);
}

template <class F>
auto read_by_blocks(t::test_mesh const& m, std::int64_t headers, F&& load) {
  auto const before = os::engine::traffic_of_files.read;
  auto tree = load();
  CHECK(os::engine::traffic_of_files.read - before == bytes_in(tree) + (m.handle()->device() == 0 ? headers : 0));
  return tree;
}

}  // namespace

TEST_CASE("by the index and by the folder, each device its blocks") {
  t::scratch_file const index("model.safetensors.index.json");
  std::int64_t const headers = write(index, three_parts());
  t::on_every_mesh([&](t::test_mesh const& m) {
    CAPTURE(m.text());
    check(m, read_by_blocks(m, headers, [&] { return os::load<model>(index.path(), mesh_of(m)); }));
    check(m, os::load<model>(index.folder().string(), mesh_of(m), I = rows));
    check(m, os::load<model>(index.folder().string() + '/', mesh_of(m)));
    auto const s = read_by_blocks(m, headers, [&] { return os::load<stacked_model>(index.path(), mesh_of(m)); });
    CHECK(wrong(m, s.table, {numbers(1, columns)}) == 0);
    CHECK(wrong(m, s.layers.w, {numbers(2, rows * columns), numbers(3, rows * columns)}) == 0);
    CHECK(wrong(m, s.layers.b, {numbers(4, columns), numbers(5, columns)}) == 0);

    auto there = os::tree_map([](auto const& a) { return os::zeros_like(a); }, s);
    os::load_into(there, index.folder().string());
    CHECK(wrong(m, there.layers.w, {numbers(2, rows * columns), numbers(3, rows * columns)}) == 0);
  });
}

TEST_CASE("a folder with one file, links as caches have them, parts that hold more than the index names") {
  t::scratch_file const index("model.safetensors.index.json");
  write(index, three_parts());
  t::test_mesh const m(t::mesh_shapes().front());
  if (t::rank() == 0) {
    std::filesystem::create_directory(index.folder() / "blobs");
    std::filesystem::create_directory(index.folder() / "snapshot");
    for (std::string const name : {first_part, second_part, third_part}) {
      std::filesystem::rename(index.folder() / name, index.folder() / "blobs" / name.substr(6, 5));
      std::filesystem::create_symlink("../blobs/" + name.substr(6, 5), index.folder() / "snapshot" / name);
    }
    std::filesystem::rename(index.path(), index.folder() / "blobs" / "index");
    std::filesystem::create_symlink("../blobs/index", index.folder() / "snapshot" / "model.safetensors.index.json");
  }
  t::numbers_of_ranks(0);
  check(m, os::load<model>((index.folder() / "snapshot").string(), mesh_of(m)));

  t::scratch_file const one("model.safetensors");
  std::vector<t::plain_tensor> all;
  for (auto const& [file, tensors] : three_parts()) all.insert(all.end(), tensors.begin(), tensors.end());
  one.write(t::plain_safetensors(all));
  check(m, os::load<model>(one.folder().string(), mesh_of(m)));

  parts more = three_parts();
  write(index, more);
  more[2].second.push_back(row("nobody", 9));
  index.write_beside(third_part, t::plain_safetensors(more[2].second));
  check(m, os::load<model>(index.path(), mesh_of(m), os::ignore_others));
  says(said_alike([&] { static_cast<void>(os::load<model>(index.path(), mesh_of(m))); }),
       " also has nobody, for which the tree has no leaf; give");
}

TEST_CASE("what is missing and what has no leaf is listed once") {
  t::scratch_file const index("model.safetensors.index.json");
  t::on_every_mesh([&](t::test_mesh const& m) {
    parts other = three_parts();
    other[0].second[1].name = "wte";
    other[1].second[0].name = "layers.0.bias";
    other[2].second[0].name = "layers.1.bias";
    write(index, other);
    CHECK(said_alike([&] { static_cast<void>(os::load<model>(index.path(), mesh_of(m))); }) ==
          "load: " + index.path() +
              " has no tensors called table, layers.0.b and layers.1.b, and also has layers.0.bias, layers.1.bias and "
              "wte, for which the tree has no leaves; give the tree that was saved, with the names that it has in the "
              "file");
    CHECK(said_alike([&] { static_cast<void>(os::load<model>(index.path(), mesh_of(m), os::ignore_others)); }) ==
          "load: " + index.path() +
              " has no tensors called table, layers.0.b and layers.1.b; give the tree that was saved, or a file of "
              "this one");
    parts many = three_parts();
    for (int i = 10; i < 40; ++i) many[2].second.push_back(row("more." + std::to_string(i), i));
    write(index, many);
    std::string const said = said_alike([&] { static_cast<void>(os::load<model>(index.path(), mesh_of(m))); });
    says(said, " also has more.10, more.11, ");
    says(said, ", more.24 and 15 more, for which the tree has no leaves; give");
  });
}

TEST_CASE("indexes from anywhere") {
  t::scratch_file const index("model.safetensors.index.json");
  auto const said = [&](t::test_mesh const& m) {
    return said_alike([&] { static_cast<void>(os::load<model>(index.path(), mesh_of(m))); });
  };
  t::on_every_mesh([&](t::test_mesh const& m) {
    write(index, three_parts());
    for (std::string const part :
         {"../model-00001-of-00003.safetensors", "/etc/model.safetensors", "..", ".", "", "below/part.safetensors",
          ".safetensors", "part.bin", "a\\\\b.safetensors", "a\\u0000.safetensors"}) {
      index.write(t::plain_index({{"table", first_part}, {"w", part}}));
      says(said(m), index.path() + " is no well-formed .safetensors.index.json file: it names the part \"" +
                        (part == "a\\u0000.safetensors" ? "a\\u0000" : part));
    }
    index.write(t::plain_index({{"table", "part.safetensors"}}));
    says(said(m), "/part.safetensors cannot be opened (No such file or directory)");

    parts two = three_parts();
    two[2].second.push_back(matrix("layers.0.w", 7));
    write(index, two);
    says(said(m), "the key \"layers.0.w\" appears twice");  // in the index
    index.write(index_of(three_parts()));
    says(said(m),
         "two of its parts, model-00002-of-00003.safetensors and model-00003-of-00003.safetensors, have a "
         "tensor called \"layers.0.w\"; write it again");

    write(index, three_parts());
    index.write(t::plain_index({{"table", first_part}, {"layers.0.w", third_part}}));
    says(said(m), "it names the tensor \"layers.0.w\" in the part model-00003-of-00003.safetensors, which has none of");
    index.write(t::plain_index({{"table", first_part}, {"no such", first_part}}));
    says(said(m), "it names the tensor \"no such\" in the part model-00001-of-00003.safetensors, which has none of");

    write(index, three_parts());
    std::string const second = t::plain_safetensors(three_parts()[1].second);
    for (std::size_t n = 0; n < second.size(); n += 37) {
      index.write_beside(second_part, second.substr(0, n));
      says(said(m), std::string(second_part) + " is no well-formed .safetensors file");
    }
    index.write_beside(second_part, second + '\0');
    says(said(m), "belong to no tensor");

    for (std::string const& text :
         {std::string(), std::string("{"), std::string("[]"), std::string("{}"), std::string("{\"weight_map\":[]}"),
          std::string("{\"weight_map\":{\"a\":1}}"), std::string("{\"weight_map\":{},\"weight_map\":{}}"),
          std::string("{\"metadata\":") + std::string(1000, '[') + '}', std::string("{\"weight_map\":{}} more")}) {
      index.write(text);
      says(said(m), index.path() + " is no well-formed .safetensors.index.json file");
    }
    index.write("{\"weight_map\":{}}");
    says(said(m), " has no tensor called table; give");
    write(index, three_parts());
    check(m, os::load<model>(index.path(), mesh_of(m)));
  });
}

TEST_CASE("files with a byte changed: a sentence on all ranks, or the same tensors, or others of the same kind") {
  t::scratch_file const index("model.safetensors.index.json");
  t::test_mesh const m(t::mesh_shapes().front());
  int refused = 0, loaded = 0;
  auto const change = [&](std::string const& name, std::string const& bytes, std::size_t end) {
    std::size_t number = 0;
    for (std::size_t at = 0; at < end; at += 5) {
      std::string changed = bytes;
      changed[at] = "\"{}:,./\\0z\xff"[number++ % 11];
      index.write_beside(name, changed);
      std::string const said = said_alike([&] { static_cast<void>(os::load<model>(index.path(), mesh_of(m))); });
      CHECK((said == "nothing" || said.starts_with("load: ")));
      ++(said == "nothing" ? loaded : refused);
    }
    index.write_beside(name, bytes);
  };
  write(index, three_parts());
  std::string const text = index_of(three_parts());
  change("model.safetensors.index.json", text, text.size());
  std::string const part = t::plain_safetensors(three_parts()[1].second);
  change(second_part, part, part.size());
  CHECK(refused > 50);
  CHECK(loaded > 5);
  check(m, os::load<model>(index.path(), mesh_of(m)));
}

TEST_CASE("paths that are none, and pipes, which are not waited for") {
  t::scratch_file const index("model.safetensors.index.json");
  t::test_mesh const m(t::mesh_shapes().front());
  auto const said = [&](std::string const& path) {
    return said_alike([&] { static_cast<void>(os::load<model>(path, mesh_of(m))); });
  };
  CHECK(said(index.folder().string()) ==
        "load: the folder " + index.folder().string() +
            " has neither a model.safetensors nor a model.safetensors.index.json; give the path of the file");
  says(said(index.path()), "No such file or directory");
  says(said(index.path() + ".txt"), "give a path that ends in .safetensors");
  write(index, three_parts());
  if (t::rank() == 0) {
    std::filesystem::remove(index.folder() / first_part);
    CHECK(::mkfifo((index.folder() / first_part).c_str(), 0600) == 0);
  }
  t::numbers_of_ranks(0);
  says(said(index.path()), std::string(first_part) + " is not a regular file");
}
