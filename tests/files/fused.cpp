// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Leaves that are a part of a tensor in a file, or are transposed in it: GPT-2's c_attn and c_fc, qkv_proj of more
/// heads of queries than of keys, gate_up_proj; divided by heads, on every mesh, by plain loops. Each device reads only
/// what it keeps. If a tensor cannot be cut in this way, all ranks say so.
// ranks: 1 2 4
// gpu: 2
// labels: essential

#include <doctest/doctest.h>

#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <cstdint>
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

// J heads, B of keys, of width K; I the model's width, L the inner one.
constexpr std::int64_t width = 5, heads = 4, key_heads = 2, head = 3, inner = 6;
t::extents_by_letter const extents = {{'I', width}, {'J', heads}, {'B', key_heads}, {'K', head}, {'L', inner}};

template <class Leaves>
struct gpt2_layer {
  os::leaf<Leaves, float, J / Y, K, I / X> query, key;
  os::leaf<Leaves, float, J, K / Y, I> value;
  os::leaf<Leaves, float, J / X, K> query_bias, key_bias, value_bias;
  os::leaf<Leaves, float, L / X, I> up;
  os::leaf<Leaves, float, J / X, K, I / Y> out;
};

template <class Leaves>
struct gpt2 {
  std::vector<gpt2_layer<Leaves>> h;
};

template <class Leaves>
struct phi {
  os::leaf<Leaves, float, J / Y, K, I / X> query;
  os::leaf<Leaves, float, B / X, K, I> key, value;
  os::leaf<Leaves, float, L / X, I> gate;
  os::leaf<Leaves, float, L, I / Y> up;
};

os::stored_as const of_gpt2 = {{"h.{}.query", "h.{}.attn.c_attn.weight", os::transposed.chunk(0, 3).merge(2)},
                               {"h.{}.key", "h.{}.attn.c_attn.weight", os::transposed.chunk(1, 3).merge(2)},
                               {"h.{}.value", "h.{}.attn.c_attn.weight", os::transposed.chunk(2, 3).merge(2)},
                               {"h.{}.query_bias", "h.{}.attn.c_attn.bias", os::chunk(0, 3).merge(2)},
                               {"h.{}.key_bias", "h.{}.attn.c_attn.bias", os::chunk(1, 3).merge(2)},
                               {"h.{}.value_bias", "h.{}.attn.c_attn.bias", os::chunk(2, 3).merge(2)},
                               {"h.{}.up", "h.{}.mlp.c_fc.weight", os::transposed},
                               {"h.{}.out", "h.{}.attn.c_proj.weight", os::in_tensor{.merged = 2}}};

os::stored_as const of_phi = {{"query", "qkv_proj.weight", os::chunk(0, 8, 4).merge(2)},
                              {"key", "qkv_proj.weight", os::chunk(4, 8, 2).merge(2)},
                              {"value", "qkv_proj.weight", os::chunk(6, 8, 2).merge(2)},
                              {"gate", "gate_up_proj.weight", os::chunk(0, 2)},
                              {"up", "gate_up_proj.weight", os::chunk(1, 2)}};

float number(int salt, std::int64_t at) { return static_cast<float>(1000 * salt + at); }

t::plain_tensor tensor(std::string const& name, int salt, std::vector<std::int64_t> const& shape) {
  std::int64_t count = 1;
  for (std::int64_t const n : shape) count *= n;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(number(salt, i));
  return {name, "F32", shape, t::bytes_of_values(values)};
}

std::vector<t::plain_tensor> gpt2_tensors() {
  std::vector<t::plain_tensor> all;
  for (int l = 0; l < 2; ++l) {
    std::string const h = "h." + std::to_string(l);
    all.push_back(tensor(h + ".attn.c_attn.weight", 10 * l + 1, {width, 3 * heads * head}));
    all.push_back(tensor(h + ".attn.c_attn.bias", 10 * l + 2, {3 * heads * head}));
    all.push_back(tensor(h + ".mlp.c_fc.weight", 10 * l + 3, {width, inner}));
    all.push_back(tensor(h + ".attn.c_proj.weight", 10 * l + 4, {heads * head, width}));
  }
  return all;
}

std::vector<t::plain_tensor> phi_tensors() {
  return {tensor("qkv_proj.weight", 1, {(heads + 2 * key_heads) * head, width}),
          tensor("gate_up_proj.weight", 2, {2 * inner, width})};
}

// The leaf whose element at these indices is at(…); axes by their letters.
template <class A, class At>
std::int64_t wrong(t::test_mesh const& m, A const& a, At const& at) {
  t::global_tensor<float> whole{t::letters_in<A>(), extents, {}};
  t::for_each_index(whole.labels, extents,
                    [&](t::extents_by_letter const& index) { whole.values.push_back(at(index)); });
  return t::disagreements(m, a, whole);
}

using index_of = t::extents_by_letter const&;

void check(t::test_mesh const& m, gpt2<os::values> const& p) {
  REQUIRE(p.h.size() == 2);
  for (int l = 0; l < 2; ++l) {
    auto const& layer = p.h[static_cast<std::size_t>(l)];
    auto const attention = [&](int third) {
      return [l, third](index_of at) {
        return number(10 * l + 1,
                      at.at('I') * 3 * heads * head + third * heads * head + at.at('J') * head + at.at('K'));
      };
    };
    auto const bias = [&](int third) {
      return
          [l, third](index_of at) { return number(10 * l + 2, third * heads * head + at.at('J') * head + at.at('K')); };
    };
    CHECK(wrong(m, layer.query, attention(0)) == 0);
    CHECK(wrong(m, layer.key, attention(1)) == 0);
    CHECK(wrong(m, layer.value, attention(2)) == 0);
    CHECK(wrong(m, layer.query_bias, bias(0)) == 0);
    CHECK(wrong(m, layer.key_bias, bias(1)) == 0);
    CHECK(wrong(m, layer.value_bias, bias(2)) == 0);
    CHECK(wrong(m, layer.up, [&](index_of at) { return number(10 * l + 3, at.at('I') * inner + at.at('L')); }) == 0);
    CHECK(wrong(m, layer.out, [&](index_of at) {
            return number(10 * l + 4, (at.at('J') * head + at.at('K')) * width + at.at('I'));
          }) == 0);
  }
}

void check(t::test_mesh const& m, phi<os::values> const& p) {
  auto const keys = [](std::int64_t first) {
    return [first](index_of at) { return number(1, ((first + at.at('B')) * head + at.at('K')) * width + at.at('I')); };
  };
  CHECK(wrong(m, p.query,
              [](index_of at) { return number(1, (at.at('J') * head + at.at('K')) * width + at.at('I')); }) == 0);
  CHECK(wrong(m, p.key, keys(heads)) == 0);
  CHECK(wrong(m, p.value, keys(heads + key_heads)) == 0);
  CHECK(wrong(m, p.gate, [](index_of at) { return number(2, at.at('L') * width + at.at('I')); }) == 0);
  CHECK(wrong(m, p.up, [](index_of at) { return number(2, (inner + at.at('L')) * width + at.at('I')); }) == 0);
}

std::int64_t bytes_in(auto const& tree) {
  return os::tree_reduce(
      [](std::int64_t n, auto const& a) { return n + std::int64_t(a.local().span() * sizeof(*a.local().data())); },
      std::int64_t{0}, tree);
}

template <class F>
auto read_by_blocks(t::test_mesh const& m, std::string const& file, F&& load) {
  std::int64_t header = 8;
  for (int byte = 0; byte < 8; ++byte)
    header += std::int64_t(static_cast<unsigned char>(file[static_cast<std::size_t>(byte)])) << 8 * byte;
  auto const before = os::engine::traffic_of_files.read;
  auto tree = load();
  CHECK(os::engine::traffic_of_files.read - before == bytes_in(tree) + (m.handle()->device() == 0 ? header : 0));
  return tree;
}

}  // namespace

TEST_CASE("on every mesh, in rounds of any size, each device what it keeps") {
  t::scratch_file const file("gpt2.safetensors"), other("phi.safetensors");
  file.write(t::plain_safetensors(gpt2_tensors()));
  other.write(t::plain_safetensors(phi_tensors()));
  auto const usual = os::engine::file_round_bytes;
  for (std::int64_t const round : {usual, std::int64_t{40}}) {
    os::engine::file_round_bytes = round;
    t::on_every_mesh([&](t::test_mesh const& m) {
      CAPTURE(m.text());
      auto const p =
          read_by_blocks(m, file.bytes(), [&] { return os::load<gpt2>(file.path(), mesh_of(m), of_gpt2, J = heads); });
      check(m, p);
      if (round != usual) return;
      check(m, os::load<gpt2>(file.path(), mesh_of(m), of_gpt2, K = head, I = width));
      auto const there = os::tree_map([](auto const& a) { return os::zeros_like(a); }, p);
      os::load_into(there, file.path(), of_gpt2);
      check(m, there);
      check(m, read_by_blocks(m, other.bytes(),
                              [&] { return os::load<phi>(other.path(), mesh_of(m), of_phi, K = head); }));
    });
  }
  os::engine::file_round_bytes = usual;
}

TEST_CASE("saved again it is the same tensors, of several leaves and transposed, in rounds of any size") {
  t::scratch_file const file("gpt2.safetensors"), other("phi.safetensors"), saved("saved.safetensors");
  file.write(t::plain_safetensors(gpt2_tensors()));
  other.write(t::plain_safetensors(phi_tensors()));
  auto const check_saved = [&](std::vector<t::plain_tensor> const& all) {
    t::numbers_of_ranks(0);
    std::string const bytes = saved.bytes();
    CHECK(t::count_plain(bytes) == static_cast<int>(all.size()));
    for (t::plain_tensor const& one : all) {
      CAPTURE(one.name);
      t::plain_tensor const found = t::find_plain(bytes, one.name);
      CHECK(found.shape == one.shape);
      CHECK(found.bytes == one.bytes);
    }
    t::numbers_of_ranks(0);
  };
  auto const usual = os::engine::file_round_bytes;
  for (std::int64_t const round : {usual, std::int64_t{40}}) {
    os::engine::file_round_bytes = round;
    t::on_every_mesh([&](t::test_mesh const& m) {
      CAPTURE(m.text());
      auto const p = os::load<gpt2>(file.path(), mesh_of(m), of_gpt2, J = heads);
      auto const q = os::load<phi>(other.path(), mesh_of(m), of_phi, K = head);
      auto const before = os::engine::traffic_of_files.written;
      os::save(saved.path(), p, of_gpt2);
      std::int64_t written = 0;
      for (std::int64_t const n : t::numbers_of_ranks(os::engine::traffic_of_files.written - before)) written += n;
      check_saved(gpt2_tensors());
      CHECK(written == static_cast<std::int64_t>(saved.bytes().size()));  // each element by one device
      t::numbers_of_ranks(0);
      os::start_save(saved.path(), q, of_phi).wait();
      check_saved(phi_tensors());
      auto saving = os::start_save(saved.path(), p, of_gpt2);
      saving.wait();
      check_saved(gpt2_tensors());
    });
  }
  os::engine::file_round_bytes = usual;
}

namespace {

template <class Leaves>
struct small {
  os::leaf<Leaves, float, J / Y, K, I / X> a;
  os::leaf<Leaves, float, J / X, K / Y, I> b;
  os::leaf<Leaves, float, L / X, I / Y> c;
  os::leaf<Leaves, float, K / Y, I> d;
};

os::stored_as const of_small = {{"a", "ab", os::transposed.chunk(1, 2).merge(2)},
                                {"b", "ab", os::transposed.chunk(0, 2).merge(2)},
                                {"c", "c", os::transposed},
                                {"d", "d", os::chunk(0, 1)}};

}  // namespace

TEST_CASE("all small extents are saved as they were") {
  t::scratch_file const file("small.safetensors"), saved("saved.safetensors");
  for (std::int64_t i = 0; i <= 3; ++i)
    for (std::int64_t j = 0; j <= 3; ++j)
      for (std::int64_t k = 0; k <= 3; ++k) {
        std::vector<t::plain_tensor> const all = {tensor("ab", 1, {i, 2 * j * k}), tensor("c", 2, {i, 3 - j}),
                                                  tensor("d", 3, {k, i})};
        file.write(t::plain_safetensors(all));
        t::on_every_mesh([&](t::test_mesh const& m) {
          CAPTURE(m.text());
          os::save(saved.path(), os::load<small>(file.path(), mesh_of(m), of_small, I = i, J = j, K = k, L = 3 - j),
                   of_small);
          t::numbers_of_ranks(0);
          for (t::plain_tensor const& one : all) {
            CAPTURE(one.name);
            t::plain_tensor const found = t::find_plain(saved.bytes(), one.name);
            CHECK(found.shape == one.shape);
            CHECK(found.bytes == one.bytes);
          }
          t::numbers_of_ranks(0);
        });
      }
}

TEST_CASE("leaves that do not make a tensor") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    file.write("the old file");
    auto const p = os::make_tree<phi>(mesh_of(m), I = width, J = heads, B = key_heads, K = head, L = inner);
    auto const said = [&](os::stored_as const& rules) { return said_alike([&] { os::save(file.path(), p, rules); }); };
    auto const query = os::chunk(0, 8, 4).merge(2), key = os::chunk(4, 8, 2).merge(2),
               value = os::chunk(6, 8, 2).merge(2);
    std::string const head_of_error = "save: leaves that are chunks of one tensor have each of its rows once, and ";
    std::string const end_of_error = "; give os::stored_as a rule for each chunk, and each chunk to one leaf";
    CHECK(said({{"query", "qkv", query}, {"key", "qkv", key}}) ==
          head_of_error + "rows 18 to 23 of qkv in " + file.path() + " are in none" + end_of_error);
    CHECK(said({{"value", "qkv", value}, {"key", "qkv", key}}) ==
          head_of_error + "rows 0 to 11 of qkv in " + file.path() + " are in none" + end_of_error);
    CHECK(said({{"query", "qkv", query}, {"key", "qkv", key}, {"value", "qkv", key}}) ==
          head_of_error + "rows 12 to 17 of qkv in " + file.path() + " are in key and value" + end_of_error);
    says(said({{"query", "qkv", query}, {"key", "qkv", os::chunk(3, 8, 2).merge(2)}, {"value", "qkv", value}}),
         "and rows 9 to 11 of qkv in " + file.path() + " are in query and key; give");
    CHECK(said({{"gate", "both", os::chunk(0, 2)}, {"up", "both", os::chunk(1, 3)}}) ==
          "save: leaves that are chunks of one tensor say the same of it, and of both in " + file.path() +
              " the leaf gate says (12, 5) of F32, the leaf up (18, 5) of F32; give both the number of chunks that the "
              "tensor has");
    says(said({{"gate", "both", os::chunk(0, 2)}, {"up", "both", os::transposed.chunk(1, 2)}}),
         "the leaf up (5, 12) of F32, transposed; give");
    says(said({{"gate", "both", os::chunk(0, 2)}, {"up", "both"}}), "two leaves are called both in ");
    CHECK(said({{"gate", "gate", os::chunk(0, 4, 4)}}) ==
          "save: by os::stored_as the leaf gate is 4 chunks of gate in " + file.path() +
              ", along its first axis, and it has the extents (6, 5); give a rule whose chunks divide the leaf");
    says(said({{"gate", "gate", os::in_tensor{}.merge(3)}}), ", along its first 3 axes, and it has the extents (6, 5)");
    CHECK(file.bytes() == "the old file");
    CHECK(file.files_beside() == 1);
    t::numbers_of_ranks(0);
  });
}

TEST_CASE("what cannot be cut so, or is not all there") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const said = [&](std::vector<t::plain_tensor> const& all, auto const&... options) {
      file.write(t::plain_safetensors(all));
      return said_alike([&] { static_cast<void>(os::load<phi>(file.path(), mesh_of(m), options...)); });
    };
    auto all = phi_tensors();
    CHECK(said(all, of_phi) ==
          "load: qkv_proj.weight in " + file.path() +
              " has 12 rows for the leaf, whose first 2 axes have the extents (any, any); give the extents of all of "
              "these but one, whose product divides that number (the leaf query)");
    says(said(all, of_phi, K = 5), "whose first 2 axes have the extents (any, 5); give");
    says(said(all, of_phi, K = 3, J = 3), "whose first 2 axes have the extents (3, 3); give");
    says(said(all, of_phi, K = 0), "whose first 2 axes have the extents (any, 0); give");
    all[1] = tensor("gate_up_proj.weight", 2, {2 * inner + 1, width});
    CHECK(said(all, of_phi, K = 3) == "load: gate_up_proj.weight in " + file.path() +
                                          " has 2 axes, of extents (13, 5), and 2 chunks of it are leaves; let their "
                                          "number divide the extent");
    all[1] = tensor("gate_up_proj.weight", 2, {});
    says(said(all, of_phi, K = 3), " has no axes, and 2 chunks of it are leaves");
    all[1] = tensor("gate_up_proj.weight", 2, {2 * inner});
    says(said(all, of_phi, K = 3), " has 1 axis, of extent 6, and one of the axes (L, I) is asked for");

    os::stored_as const some = {{"query", "qkv_proj.weight", os::chunk(0, 8, 4).merge(2)},
                                {"key", "qkv_proj.weight", os::chunk(4, 8, 2).merge(2)},
                                {"gate", "gate_up_proj.weight", os::chunk(0, 2)},
                                {"more", "gate_up_proj.weight", os::chunk(1, 2)}};
    CHECK(said(phi_tensors(), some, K = 3) ==
          "load: " + file.path() +
              " has no tensors called value and up, and also has gate_up_proj.weight, for which the tree has no leaf; "
              "give the tree that was saved, with the names that it has in the file");
  });
  for (os::in_tensor const how : {os::chunk(3, 3), os::chunk(-1, 3), os::chunk(0, 0), os::chunk(2, 3, 2),
                                  os::chunk(0, 3, 0), os::transposed.merge(0)})
    says(said_alike([&] { os::stored_as{{"a", "b", how}}; }), "stored_as: the leaf a is chunks ");
}
