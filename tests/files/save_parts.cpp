// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A checkpoint that is saved in parts, read back by plain code on every mesh: which tensor is where, the index to the
/// byte, what is replaced and removed. A job that dies at any moment leaves the old checkpoint or the new one. All
/// ranks throw the same error for a checkpoint that cannot be saved.
// ranks: 1 2 4
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "files/dying.hpp"
#include "files/failing.hpp"
#include "files/plain_safetensors.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;
namespace fs = std::filesystem;

using t::mesh_of;
using t::said_alike;
using t::says;

namespace {

template <class L>
struct layer {
  os::leaf<L, float, I / X, J / Y> w;
  os::leaf<L, std::int32_t, J> b;
};

template <class L>
struct model {
  os::leaf<L, float, J / X> table;
  std::vector<layer<L>> layers;
};

constexpr std::int64_t rows = 5, columns = 3;

template <class T>
std::string numbers(int salt, std::int64_t count) {
  std::vector<T> n;
  for (std::int64_t i = 0; i < count; ++i) n.push_back(static_cast<T>(100 * salt + i));
  return t::bytes_of_values(n);
}

// The tensors of the tree in a file: 12, 60, 12, 60 and 12 bytes.
std::vector<t::plain_tensor> tensors(int salt) {
  std::vector<t::plain_tensor> all = {{"table", "F32", {columns}, numbers<float>(salt + 1, columns)}};
  for (int l = 0; l < 2; ++l) {
    std::string const name = "layers." + std::to_string(l);
    all.push_back({name + ".w", "F32", {rows, columns}, numbers<float>(salt + 2 + 2 * l, rows * columns)});
    all.push_back({name + ".b", "I32", {columns}, numbers<std::int32_t>(salt + 3 + 2 * l, columns)});
  }
  return all;
}

// The tree, from a file by plain code.
model<os::values> tree_of(t::test_mesh const& m, int salt) {
  t::scratch_file const file("plain.safetensors");
  file.write(t::plain_safetensors(tensors(salt)));
  return os::load<model>(file.path(), mesh_of(m));
}

std::string bytes_of(fs::path const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> names_in(fs::path const& folder) {
  std::vector<std::string> names;
  for (auto const& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// The tensors stand in these parts, and nothing else does.
void check_parts(fs::path const& folder, int salt, std::vector<std::string> const& parts,
                 std::vector<int> const& part_of_tensor) {
  std::vector<t::plain_tensor> const all = tensors(salt);
  std::vector<int> count(parts.size(), 0);
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto const part = static_cast<std::size_t>(part_of_tensor[k]);
    ++count[part];
    t::plain_tensor const found = t::find_plain(bytes_of(folder / parts[part]), all[k].name);
    CAPTURE(all[k].name);
    CHECK(found.dtype == all[k].dtype);
    CHECK(found.shape == all[k].shape);
    CHECK(found.bytes == all[k].bytes);
  }
  for (std::size_t k = 0; k < parts.size(); ++k) {
    CHECK(t::count_plain(bytes_of(folder / parts[k])) == count[k]);
    CHECK(bytes_of(folder / parts[k]).find("\"format\":\"pt\"") != std::string::npos);
  }
}

std::string part(int k, int of, std::string const& stem = "model") {
  return stem + "-0000" + std::to_string(k) + "-of-0000" + std::to_string(of) + ".safetensors";
}

std::string const index_name = "model.safetensors.index.json";

}  // namespace

TEST_CASE("which tensor is where, by a limit of bytes; the index to the byte") {
  struct limit {
    std::int64_t bytes;
    int parts;
    std::vector<int> part_of_tensor;
  };
  limit const limits[] = {{1, 5, {0, 1, 2, 3, 4}},
                          {59, 5, {0, 1, 2, 3, 4}},
                          {60, 5, {0, 1, 2, 3, 4}},
                          {72, 3, {0, 0, 1, 1, 2}},
                          {84, 2, {0, 0, 0, 1, 1}},
                          {156, 1, {0, 0, 0, 0, 0}},
                          {std::int64_t(1) << 50, 1, {0, 0, 0, 0, 0}}};
  t::on_every_mesh([&](t::test_mesh const& m) {
    CAPTURE(m.text());
    auto const p = tree_of(m, 10);
    for (limit const& one : limits) {
      CAPTURE(one.bytes);
      t::scratch_file const index(index_name);
      os::save(one.bytes % 2 == 0 ? index.path() : index.folder().string(), p, os::in_parts_of(one.bytes));
      t::numbers_of_ranks(0);
      std::vector<std::string> parts;
      for (int k = 1; k <= one.parts; ++k) parts.push_back(part(k, one.parts));
      std::vector<std::string> names = parts;
      names.push_back(index_name);
      CHECK(names_in(index.folder()) == names);
      check_parts(index.folder(), 10, parts, one.part_of_tensor);
      if (one.bytes == 72)
        CHECK(index.bytes() ==
              "{\n  \"metadata\": {\n    \"total_size\": 156\n  },\n  \"weight_map\": {\n"
              "    \"layers.0.b\": \"model-00002-of-00003.safetensors\",\n"
              "    \"layers.0.w\": \"model-00001-of-00003.safetensors\",\n"
              "    \"layers.1.b\": \"model-00003-of-00003.safetensors\",\n"
              "    \"layers.1.w\": \"model-00002-of-00003.safetensors\",\n"
              "    \"table\": \"model-00001-of-00003.safetensors\"\n  }\n}\n");
      auto const again = os::load<model>(index.folder().string(), mesh_of(m));
      os::stored_as const names_there = {{"layers.{}.*", "h.{}.*"}};
      os::save((index.folder() / "other.safetensors.index.json").string(), again, names_there,
               os::in_parts_of(one.bytes));
      t::numbers_of_ranks(0);
      CHECK(t::find_plain(bytes_of(index.folder() / part(one.parts, one.parts, "other")), "h.1.b").bytes ==
            tensors(10)[4].bytes);
      CHECK(names_in(index.folder()).size() == 2 * names.size());
      t::numbers_of_ranks(0);
    }
  });
}

TEST_CASE("an old checkpoint is replaced, and its parts are removed, but not those of others") {
  t::test_mesh const m(t::mesh_shapes().front());
  t::scratch_file const index(index_name);
  auto const save = [&](int salt, std::int64_t bytes) {
    os::save(index.folder().string(), tree_of(m, salt), os::in_parts_of(bytes));
    t::numbers_of_ranks(0);
  };
  using names = std::vector<std::string>;
  save(10, 84);
  save(20, 84);
  check_parts(index.folder(), 20, {part(1, 2, "model-2"), part(2, 2, "model-2")}, {0, 0, 0, 1, 1});
  CHECK(names_in(index.folder()) == names{part(1, 2, "model-2"), part(2, 2, "model-2"), index_name});
  save(30, 84);
  check_parts(index.folder(), 30, {part(1, 2), part(2, 2)}, {0, 0, 0, 1, 1});
  CHECK(names_in(index.folder()) == names{part(1, 2), part(2, 2), index_name});

  // Two indexes, one of which keeps a part; a part that no index names stays.
  index.write_beside("first.safetensors.index.json", t::plain_index({{"table", part(1, 2)}}));
  index.write_beside(part(7, 9), "mine");
  save(40, 72);
  check_parts(index.folder(), 40, {part(1, 3), part(2, 3), part(3, 3)}, {0, 0, 1, 1, 2});
  CHECK(names_in(index.folder()) ==
        names{"first.safetensors.index.json", part(1, 2), part(1, 3), part(2, 3), part(3, 3), part(7, 9), index_name});
  index.write_beside("first.safetensors.index.json", "{");  // it may name any
  save(50, 1000);
  check_parts(index.folder(), 50, {part(1, 1)}, {0, 0, 0, 0, 0});
  CHECK(names_in(index.folder()).size() == 8);

  // A name that is taken by something else.
  t::scratch_file const taken(index_name);
  if (t::rank() == 0) fs::create_directory(taken.folder() / part(1, 1));
  t::numbers_of_ranks(0);
  os::save(taken.folder().string(), tree_of(m, 10), os::in_parts_of(1000));
  t::numbers_of_ranks(0);
  CHECK(names_in(taken.folder()) == names{part(1, 1), part(1, 1, "model-2"), index_name});

  // A folder with a checkpoint in one file: the parts take its place.
  t::scratch_file const one("model.safetensors");
  os::save(one.path(), tree_of(m, 10));
  t::numbers_of_ranks(0);
  os::save(one.folder().string(), tree_of(m, 20), os::in_parts_of(1000));
  t::numbers_of_ranks(0);
  CHECK(names_in(one.folder()) == names{part(1, 1), index_name});
  os::save(one.path(), tree_of(m, 10));
  t::numbers_of_ranks(0);
  os::save((one.folder() / index_name).string(), tree_of(m, 30), os::in_parts_of(1000));
  t::numbers_of_ranks(0);
  CHECK(names_in(one.folder()) == names{part(1, 1, "model-2"), "model.safetensors", index_name});
}

TEST_CASE("a job that dies at any moment leaves the old checkpoint or the new one") {
  if (t::ranks() > 1) return;  // (a job of several ranks would end with the one)
  t::test_mesh const m(t::mesh_shapes().front());
  auto const before = tree_of(m, 10), after = tree_of(m, 20);
  for (std::int64_t const bytes : {72, 1000}) {
    int old_ones = 0, new_ones = 0;
    bool ended = false;
    for (int n = 0; !ended; ++n) {
      t::scratch_file const index(index_name);
      if (n % 2 == 0)
        os::save(index.folder().string(), before, os::in_parts_of(84));
      else
        os::save((index.folder() / "model.safetensors").string(), before);
      ended = t::dies_at(n / 2, [&] { os::save(index.folder().string(), after, os::in_parts_of(bytes)); });
      auto const found = os::load<model>(index.folder().string(), mesh_of(m));
      float const first = os::value(os::sum(found.table));
      CHECK((first == 3 * 1100 + 3 || first == 3 * 2100 + 3));
      int const salt = first == 3 * 1100 + 3 ? 10 : 20;
      ++(salt == 10 ? old_ones : new_ones);
      for (int l = 0; l < 2; ++l) {
        CHECK(os::value(os::sum(found.layers[static_cast<std::size_t>(l)].w)) == 15 * 100 * (salt + 2 + 2 * l) + 105);
        CHECK(os::value(os::sum(found.layers[static_cast<std::size_t>(l)].b)) == 3 * 100 * (salt + 3 + 2 * l) + 3);
      }
      if (ended) ended = n % 2 == 1;
      CHECK(n < 500);
      if (n == 500) break;
    }
    CHECK(old_ones > 10);
    CHECK(new_ones > 1);
  }
}

TEST_CASE("what cannot be saved so keeps what was there") {
  t::on_every_mesh([&](t::test_mesh const& m) {
    t::scratch_file const index(index_name);
    auto const p = tree_of(m, 10), q = tree_of(m, 20);
    std::string const folder = index.folder().string();
    CHECK(said_alike([&] { os::save(folder, p, os::in_parts_of(0)); }) ==
          "save: parts have at least one byte, but os::in_parts_of(0) asks for less; give the bytes that a part has at "
          "most");
    CHECK(said_alike([&] { os::save(folder + "/none", p, os::in_parts_of(80)); }) ==
          "save: parts are stored in the folder of their index, but the path is " + folder +
              "/none; give a path that ends in .safetensors.index.json, or make the folder");
    says(said_alike([&] { os::save(folder + "/model.safetensors", p, os::in_parts_of(80)); }),
         "parts are stored in the folder");
    says(said_alike([&] { os::save(folder + "/.safetensors.index.json", p, os::in_parts_of(80)); }),
         "parts are stored");
    says(said_alike([&] { os::save(folder + "/none/a.safetensors.index.json", p, os::in_parts_of(80)); }),
         "No such file or directory");
    says(said_alike([&] { os::save(folder + "/a\\b.safetensors.index.json", p, os::in_parts_of(80)); }),
         " could not be loaded again: it names the part ");
    says(said_alike([&] { os::save(folder, os::together("a", p, "a", q), os::in_parts_of(80)); }),
         "two leaves are called a.");
    if (t::rank() == 0) fs::create_directory(index.path());
    t::numbers_of_ranks(0);
    says(said_alike([&] { os::save(folder, p, os::in_parts_of(80)); }), "exists and is not a regular file");
    CHECK(index.files_beside() == 1);
    t::numbers_of_ranks(0);
    if (t::rank() == 0) fs::remove(index.path());
    t::numbers_of_ranks(0);

    os::save(folder, q, os::in_parts_of(72));
    t::numbers_of_ranks(0);
    rlim_t least = 1000, most = 0;
    for (int k = 1; k <= 3; ++k) {
      auto const bytes = static_cast<rlim_t>(fs::file_size(index.folder() / part(k, 3)));
      least = std::min(least, bytes);
      most = std::max(most, bytes);
    }
    REQUIRE(least < most);
    t::numbers_of_ranks(0);
    os::save(folder, p, os::in_parts_of(84));
    t::numbers_of_ranks(0);
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit usual{};
    ::getrlimit(RLIMIT_FSIZE, &usual);
    for (rlim_t const room : {least - 1, most - 1}) {  // for none of the parts, and for some
      rlimit limit = usual;
      if (t::rank() == 0) limit.rlim_cur = room;
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::string const said = said_alike([&] { os::save(folder, q, os::in_parts_of(72)); });
      ::setrlimit(RLIMIT_FSIZE, &usual);
      says(said, "File too large");
      t::numbers_of_ranks(0);
      CHECK(index.files_beside() == 3);
      check_parts(index.folder(), 10, {part(1, 2), part(2, 2)}, {0, 0, 0, 1, 1});
      t::numbers_of_ranks(0);
    }
  });
}
