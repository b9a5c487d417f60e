// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Files whose tensors have other names than the leaves of a tree: by a table and by a function, layers in vectors and
/// stacked, lists of unlike layers with one range of numbers, saved under the file's names; each device reads its
/// blocks; names that collide.
// ranks: 1 2 4
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <cstdint>
#include <string>
#include <string_view>
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

template <class L>
struct attention {
  os::leaf<L, float, I / X, J / Y> query;
  os::leaf<L, float, J> norm;
};

template <class L>
struct experts {
  os::leaf<L, float, J / Y> router;
  std::vector<os::leaf<L, float, I, J / X>> up;
};

template <class L>
struct dense_layer {
  attention<L> mixing;
  os::leaf<L, float, I / X, J> up;
};

template <class L>
struct sparse_layer {
  attention<L> mixing;
  experts<L> mixture;
};

template <class L>
struct model {
  os::leaf<L, float, J / X> table;
  std::vector<dense_layer<L>> dense;
  std::vector<sparse_layer<L>> sparse;
};

template <class L>
struct stacked_model {
  os::leaf<L, float, J> table;
  dense_layer<os::stacked<L, K / Z>> dense;
  std::vector<sparse_layer<L>> sparse;
};

os::stored_as names() {
  return {{"table", "model.embed_tokens.weight"},
          {"dense.{}.mixing.query", "model.layers.{:2}.self_attn.q_proj.weight"},
          {"sparse.{}.mixing.query", "model.layers.{2:}.self_attn.q_proj.weight"},
          {"dense.{}.mixing.norm", "model.layers.{:2}.input_layernorm.weight"},
          {"sparse.{}.mixing.norm", "model.layers.{2:}.input_layernorm.weight"},
          {"dense.{}.up", "model.layers.{}.mlp.up_proj.weight"},
          {"sparse.{}.mixture.router", "model.layers.{2:}.mlp.gate.weight"},
          {"sparse.{}.mixture.up.{}", "model.layers.{2:}.mlp.experts.{}.up_proj.weight"},
          {"", "model.layers.{}.self_attn.rotary_emb.inv_freq"}};
}

constexpr std::int64_t rows = 5, columns = 3;

// Any numbers, different for each name in the file.
std::vector<float> numbers(std::string const& name, std::int64_t count) {
  std::uint32_t h = 7;
  for (char const c : name) h = h * 31 + static_cast<unsigned char>(c);
  std::vector<float> n;
  for (std::int64_t i = 0; i < count; ++i)
    n.push_back(static_cast<float>((h % 1000) * 64 + static_cast<std::uint32_t>(i)));
  return n;
}

t::plain_tensor matrix(std::string const& name) {
  return {name, "F32", {rows, columns}, t::bytes_of_values(numbers(name, rows * columns))};
}
t::plain_tensor row(std::string const& name) {
  return {name, "F32", {columns}, t::bytes_of_values(numbers(name, columns))};
}

// Two dense layers, then two of three and of one expert.
std::vector<t::plain_tensor> tensors() {
  std::vector<t::plain_tensor> all = {row("model.embed_tokens.weight")};
  for (int l = 0; l < 4; ++l) {
    std::string const layer = "model.layers." + std::to_string(l);
    all.push_back(matrix(layer + ".self_attn.q_proj.weight"));
    all.push_back(row(layer + ".input_layernorm.weight"));
    all.push_back(row(layer + ".self_attn.rotary_emb.inv_freq"));
    if (l < 2) {
      all.push_back(matrix(layer + ".mlp.up_proj.weight"));
      continue;
    }
    all.push_back(row(layer + ".mlp.gate.weight"));
    for (int e = 0; e < (l == 2 ? 3 : 1); ++e)
      all.push_back(matrix(layer + ".mlp.experts." + std::to_string(e) + ".up_proj.weight"));
  }
  return all;
}

template <class A>
std::int64_t wrong(t::test_mesh const& m, A const& a, std::vector<std::string> const& stack) {
  t::global_tensor<float> whole{t::letters_in<A>(), {{'I', rows}, {'J', columns}, {'K', 2}}, {}};
  bool const is_matrix = whole.labels.find('I') != std::string::npos;
  for (std::string const& name : stack) {
    auto const one = numbers(name, is_matrix ? rows * columns : columns);
    whole.values.insert(whole.values.end(), one.begin(), one.end());
  }
  return t::disagreements(m, a, whole);
}

template <class Sparse>
void check_sparse(t::test_mesh const& m, Sparse const& sparse) {
  REQUIRE(sparse.size() == 2);
  for (std::size_t l = 0; l < 2; ++l) {
    std::string const layer = "model.layers." + std::to_string(2 + l);
    CHECK(wrong(m, sparse[l].mixing.query, {layer + ".self_attn.q_proj.weight"}) == 0);
    CHECK(wrong(m, sparse[l].mixing.norm, {layer + ".input_layernorm.weight"}) == 0);
    CHECK(wrong(m, sparse[l].mixture.router, {layer + ".mlp.gate.weight"}) == 0);
    REQUIRE(sparse[l].mixture.up.size() == (l == 0 ? 3u : 1u));
    for (std::size_t e = 0; e < sparse[l].mixture.up.size(); ++e)
      CHECK(wrong(m, sparse[l].mixture.up[e], {layer + ".mlp.experts." + std::to_string(e) + ".up_proj.weight"}) == 0);
  }
}

void check(t::test_mesh const& m, model<os::values> const& p) {
  CHECK(wrong(m, p.table, {"model.embed_tokens.weight"}) == 0);
  REQUIRE(p.dense.size() == 2);
  for (std::size_t l = 0; l < 2; ++l) {
    std::string const layer = "model.layers." + std::to_string(l);
    CHECK(wrong(m, p.dense[l].mixing.query, {layer + ".self_attn.q_proj.weight"}) == 0);
    CHECK(wrong(m, p.dense[l].mixing.norm, {layer + ".input_layernorm.weight"}) == 0);
    CHECK(wrong(m, p.dense[l].up, {layer + ".mlp.up_proj.weight"}) == 0);
  }
  check_sparse(m, p.sparse);
}

std::int64_t bytes_in(auto const& tree) {
  return os::tree_reduce(
      [](std::int64_t n, auto const& a) { return n + std::int64_t(a.local().span() * sizeof(*a.local().data())); },
      std::int64_t{0}, tree);
}

std::int64_t header_of(std::string const& file) {
  std::int64_t n = 0;
  for (int byte = 0; byte < 8; ++byte)
    n |= std::int64_t(static_cast<unsigned char>(file[static_cast<std::size_t>(byte)])) << 8 * byte;
  return n + 8;
}

// The same names by a function, as in a program that knows the numbers of layers.
std::string in_tree(std::string_view name) {
  if (name == "model.embed_tokens.weight") return "table";
  if (!name.starts_with("model.layers.")) return std::string(name);
  int const l = name[13] - '0';
  std::string const layer = l < 2 ? "dense." + std::to_string(l) : "sparse." + std::to_string(l - 2);
  std::string_view const rest = name.substr(15);
  if (rest == "self_attn.q_proj.weight") return layer + ".mixing.query";
  if (rest == "input_layernorm.weight") return layer + ".mixing.norm";
  if (rest == "mlp.up_proj.weight") return layer + ".up";
  if (rest == "mlp.gate.weight") return layer + ".mixture.router";
  if (rest.starts_with("mlp.experts.")) return layer + ".mixture.up." + std::string(1, rest[12]);
  return {};
}

}  // namespace

TEST_CASE("by a table and by a function, each device its blocks") {
  t::scratch_file const file("model.safetensors"), other("again.safetensors");
  file.write(t::plain_safetensors(tensors()));
  std::int64_t const header = header_of(file.bytes());
  os::stored_as const stored = names();
  t::on_every_mesh([&](t::test_mesh const& m) {
    CAPTURE(m.text());
    auto const before = os::engine::traffic_of_files.read;
    auto const p = os::load<model>(file.path(), mesh_of(m), stored);
    CHECK(os::engine::traffic_of_files.read - before == bytes_in(p) + (m.handle()->device() == 0 ? header : 0));
    check(m, p);
    check(m, os::load<model>(file.path(), mesh_of(m), in_tree, J = columns));
    check(m, os::load<model>(file.path(), mesh_of(m), [](std::string_view name) { return in_tree(name); }));

    auto const s = os::load<stacked_model>(file.path(), mesh_of(m), names());
    CHECK(wrong(m, s.dense.up, {"model.layers.0.mlp.up_proj.weight", "model.layers.1.mlp.up_proj.weight"}) == 0);
    CHECK(wrong(m, s.dense.mixing.query,
                {"model.layers.0.self_attn.q_proj.weight", "model.layers.1.self_attn.q_proj.weight"}) == 0);
    check_sparse(m, s.sparse);

    auto const there = os::tree_map([](auto const& a) { return os::zeros_like(a); }, p);
    os::load_into(there, file.path(), in_tree);
    check(m, there);

    os::save(other.path(), s, stored);
    std::string const written = other.bytes();
    for (t::plain_tensor const& tensor : tensors())
      CHECK((written.find('"' + tensor.name + "\":{\"dtype\":\"F32\"") != std::string::npos) ==
            (tensor.name.find("inv_freq") == std::string::npos));
    CHECK(written.find("\"dense.") == std::string::npos);
    CHECK(written.find("\"sparse.") == std::string::npos);
    check(m, os::load<model>(other.path(), mesh_of(m), stored));
    os::save(other.path(), os::together("a", p.dense[0], "b", p), os::stored_as{{"a.*", "x.*"}, {"b.*", "*"}});
  });
}

TEST_CASE("errors call tensors as the file does") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const said = [&](std::vector<t::plain_tensor> const& all, auto const&... options) {
      file.write(t::plain_safetensors(all));
      return said_alike([&] { static_cast<void>(os::load<model>(file.path(), mesh_of(m), options...)); });
    };
    auto all = tensors();
    for (t::plain_tensor& tensor : all)
      if (tensor.name == "model.layers.3.mlp.gate.weight" || tensor.name == "model.embed_tokens.weight")
        tensor.name += "_scale";
    CHECK(said(all, names()) ==
          "load: " + file.path() +
              " has no tensors called model.embed_tokens.weight and model.layers.3.mlp.gate.weight, and also has "
              "model.embed_tokens.weight_scale and model.layers.3.mlp.gate.weight_scale, for which the tree has no "
              "leaves; give the tree that was saved, with the names that it has in the file");
    says(said(all, in_tree), " has no tensors called table and sparse.1.mixture.router, and also has model.embed");

    all = tensors();
    all.push_back(row("table"));
    CHECK(said(all, names()) == "load: " + file.path() +
                                    " has two tensors for table, model.embed_tokens.weight and table; give each the "
                                    "name of a leaf of its own");
    says(said(tensors(), [](std::string_view) { return std::string("table"); }), " has two tensors for table, model.");
    says(said(tensors(), [](std::string_view) { return std::string(); }), " has no tensor called table; give");

    all = tensors();
    all[1].shape = {columns, rows};
    says(said(all, names(), J = columns), "load: model.layers.0.self_attn.q_proj.weight in " + file.path() +
                                              " has the extents (3, 5), and (any, 3) are");
  });
}

TEST_CASE("two leaves of one name are not saved") {
  t::scratch_file const file("model.safetensors");
  t::test_mesh const m(t::mesh_shapes().front());
  auto const p = os::make_tree<dense_layer>(mesh_of(m), I = rows, J = columns);
  says(said_alike([&] {
         os::save(file.path(), p, os::stored_as{{"mixing.query", "up"}});
       }),
       "two leaves are called up");
}
