// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/files.md as the page prints them, run on 4 ranks in a folder of their own.

#include <doctest/doctest.h>

#include <ostraka/files.hpp>
#include <ostraka/meshes/make_mesh.hpp>
#include <ostraka/optimizers.hpp>
#include <ostraka/tree.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "files/plain_safetensors.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace files {

OSTRAKA_AXIS(in);
OSTRAKA_AXIS(hidden);
OSTRAKA_AXIS(heads);
OSTRAKA_AXIS(per_head);
OSTRAKA_AXIS(depth);
OSTRAKA_AXIS(repeat);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

// clang-format off
template <class L>
struct mlp {
  os::leaf<L, float, in/X, hidden> w1;
  os::leaf<L, float, hidden> b1;
};

template <class L>
struct mlp_by_columns {  // the same names, divided otherwise
  os::leaf<L, float, in, hidden/Y> w1;
  os::leaf<L, float, hidden/Y> b1;
};

template <class L> struct in_vector  { std::vector<mlp<L>> layers; };                    // w1 [in_X, hidden]
template <class L> struct on_stages  { mlp<os::stacked<L, depth/Y>> layers; };           // w1 [depth_Y, in_X, hidden]
template <class L> struct in_repeats { mlp<os::stacked<L, repeat, depth/Y>> layers; };
// w1 [repeat, depth_Y, in_X, hidden]
template <class L>
struct transformer {
  os::leaf<L, float, hidden> embedding;
  std::vector<mlp<L>> layers;
};
template <class L>
struct attention_block {
  os::leaf<L, float, heads/X, per_head, in> query, key, value, out;
  os::leaf<L, float, hidden/Y, in> up;
};
// clang-format on

// Sums over all devices.
template <class Tree>
float sum_of(Tree const& tree) {
  return os::tree_reduce([](float s, auto const& a) { return s + os::value(os::sum(a)); }, 0.0f, tree);
}

// A folder with a tree in two parts: w1[7, 5] of ones, b1[5] of twos.
void write_hub() {
  if (t::rank() == 0) std::filesystem::create_directory("hub");
  t::write_plain("hub/1.safetensors",
                 t::plain_safetensors({{"w1", "F32", {7, 5}, t::bytes_of_values(std::vector<float>(35, 1))}}));
  t::write_plain("hub/2.safetensors",
                 t::plain_safetensors({{"b1", "F32", {5}, t::bytes_of_values(std::vector<float>(5, 2))}}));
  t::write_plain("hub/model.safetensors.index.json",
                 t::plain_index({{"w1", "1.safetensors"}, {"b1", "2.safetensors"}}));
}

// A transformer of two layers of BF16 under the names of another program: ones in its embedding, twos in w1, threes in
// b1.
void write_other() {
  auto const halves = [](std::size_t count, std::uint16_t pattern) {
    return t::bytes_of_values(std::vector<std::uint16_t>(count, pattern));
  };
  std::vector<t::plain_tensor> all = {{"model.embed_tokens.weight", "BF16", {5}, halves(5, 0x3F80)}};
  for (std::string const layer : {"model.layers.0.", "model.layers.1."}) {
    all.push_back({layer + "mlp.up_proj.weight", "BF16", {7, 5}, halves(35, 0x4000)});
    all.push_back({layer + "mlp.b1", "BF16", {5}, halves(5, 0x4040)});
    all.push_back({layer + "rotary_emb.inv_freq", "BF16", {1}, halves(1, 0)});
  }
  t::write_plain("other.safetensors", t::plain_safetensors(all));
}

// A layer of 4 wide, with two heads of 3: ones for queries, twos for keys, threes for values.
void write_gpt2() {
  std::vector<float> columns;
  for (int row = 0; row < 4; ++row)
    for (int third = 1; third <= 3; ++third) columns.insert(columns.end(), 6, static_cast<float>(third));
  auto const zeros = [](std::size_t n) { return t::bytes_of_values(std::vector<float>(n)); };
  t::write_plain("gpt2.safetensors",
                 t::plain_safetensors({{"attn.c_attn.weight", "F32", {4, 18}, t::bytes_of_values(columns)},
                                       {"attn.c_proj.weight", "F32", {6, 4}, zeros(24)},
                                       {"mlp.c_fc.weight", "F32", {4, 5}, zeros(20)}}));
}

void run() {
  t::scratch_file const folder("x");
  auto const usual = std::filesystem::current_path();
  std::filesystem::current_path(folder.folder());
  auto const mesh = os::make_mesh(X = 2, Y = 2);
  auto const params = os::make_tree<mlp>(mesh, in = 7, hidden = 5, os::seed(1));
  float const sum = sum_of(params);
  {
    os::save("model.safetensors", params);
    auto again = os::load<mlp>("model.safetensors", mesh);                       // the file says the extents
    auto checked = os::load<mlp>("model.safetensors", mesh, in = 7, hidden = 5); // or is held to them
    auto columns = os::load<mlp_by_columns>("model.safetensors", mesh);          // divided otherwise
    os::load_into(params, "model.safetensors");                                  // into memory that is there
    CHECK(sum_of(again) == doctest::Approx(sum));
    CHECK(sum_of(checked) == doctest::Approx(sum));
    CHECK(sum_of(columns) == doctest::Approx(sum));
    CHECK(sum_of(params) == doctest::Approx(sum));
  }
  {
    write_hub();
    auto by_index = os::load<mlp>("hub/model.safetensors.index.json", mesh);   // the parts beside it
    auto by_folder = os::load<mlp>("hub", mesh);   // model.safetensors in it, else that index
    CHECK(sum_of(by_index) == 45);
    CHECK(sum_of(by_folder) == 45);
  }
  {
    if (t::rank() == 0) std::filesystem::create_directory("tuned");
    t::numbers_of_ranks(0);
    auto const average = os::tree_map([](auto const& a) { return os::copy(a); }, params);
    os::save("tuned", params, os::in_parts_of(5'000'000'000));   // model-00001-of-00003.safetensors, …, and their index
    os::save("tuned/ema.safetensors.index.json", average, os::in_parts_of(100));   // ema-00001-of-00002.safetensors, …
    CHECK(sum_of(os::load<mlp>("tuned", mesh)) == doctest::Approx(sum));
    CHECK(std::filesystem::exists("tuned/ema-00002-of-00002.safetensors"));
  }
  {
    os::save("bfloat16.safetensors", os::tree_cast<os::bfloat16>(params));
    auto widened = os::load<mlp>("bfloat16.safetensors", mesh, os::cast_to<float>);   // BF16 in the file
    auto doubles = os::load<mlp<os::values_of<double>>>("bfloat16.safetensors", mesh, os::cast_to<double>);
    CHECK(sum_of(widened) == doctest::Approx(sum).epsilon(0.01));
    CHECK(os::value(os::sum(doubles.w1)) == doctest::Approx(os::value(os::sum(widened.w1))));
  }
  {
    write_other();
    os::stored_as const names = {{"embedding", "model.embed_tokens.weight"},
                                 {"layers.{}.w1", "model.layers.{}.mlp.up_proj.weight"},   // {}: a number
                                 {"layers.{}.*", "model.layers.{}.mlp.*"},                 // *: any rest, at the end
                                 {"", "model.layers.{}.rotary_emb.inv_freq"}};             // not asked for
    auto network = os::load<transformer>("other.safetensors", mesh, names, os::cast_to<float>);
    os::save("tuned.safetensors", network, names);                                         // by the file's names again
    CHECK(network.layers.size() == 2);
    CHECK(sum_of(network) == 2 * (2 * 35 + 3 * 5) + 5);
    CHECK(sum_of(os::load<transformer>("tuned.safetensors", mesh, names)) == 2 * (2 * 35 + 3 * 5) + 5);
  }
  {
    write_gpt2();
    os::stored_as const gpt2 = {
        {"query", "attn.c_attn.weight", os::transposed.chunk(0, 3).merge(2)},   // [H, D, M] of [M, 3·H·D]
        {"key", "attn.c_attn.weight", os::transposed.chunk(1, 3).merge(2)},
        {"value", "attn.c_attn.weight", os::transposed.chunk(2, 3).merge(2)},
        {"up", "mlp.c_fc.weight", os::transposed},                              // [F, M] of [M, F]
        {"out", "attn.c_proj.weight", os::in_tensor{.merged = 2}}};             // [H, D, M] of [H·D, M]
    auto block = os::load<attention_block>("gpt2.safetensors", mesh, gpt2, heads = 2);
    CHECK(os::value(os::sum(block.query)) == 24 * 1);
    CHECK(os::value(os::sum(block.key)) == 24 * 2);
    CHECK(os::value(os::sum(block.value)) == 24 * 3);
    CHECK(block.up.extent(hidden) == 5);
    CHECK(block.out.extent(per_head) == 3);
    os::save("gpt2_tuned.safetensors", block, gpt2);   // attn.c_attn.weight of query, key and value
    CHECK(os::value(os::sum(os::load<attention_block>("gpt2_tuned.safetensors", mesh, gpt2, heads = 2).key)) == 24 * 2);
  }
  {
    os::stored_as const unlike = {{"dense.{}.*", "model.layers.{:3}.*"},     // layers 0, 1 and 2
                                  {"sparse.{}.*", "model.layers.{3:}.*"},    // sparse.0 is layer 3
                                  {"scans.{}.*", "encoder.{1::2}.*"}};       // 1, 3, 5, …
    CHECK(unlike.in_tree("model.layers.2.w") == "dense.2.w");
    CHECK(unlike.in_tree("model.layers.3.w") == "sparse.0.w");
    CHECK(unlike.in_file("scans.2.w") == "encoder.5.w");
  }
  {
    os::save("upper.safetensors", params, os::stored_as{{"w1", "W1"}, {"b1", "B1"}});
    auto same = os::load<mlp>("upper.safetensors", mesh, [](std::string_view name) {
      return name == "W1" ? std::string("w1") : name == "B1" ? std::string("b1") : std::string(name);
    });
    CHECK(sum_of(same) == doctest::Approx(sum));
  }
  {
    auto const& A = params.w1;
    os::save("a.npy", A);                                       // numpy.load("a.npy")
    auto B = os::load<float, in, hidden/X>("a.npy", mesh);      // numpy.save("a.npy", …)
    CHECK(os::value(os::sum(B)) == doctest::Approx(os::value(os::sum(A))));
  }
  {
    in_vector<os::values> network;
    for (int i = 0; i < 6; ++i)
      network.layers.push_back(os::tree_map([](auto const& a) { return os::copy(a); }, params));
    os::save("layers.safetensors", network);                                        // six layers in a vector
    auto stages = os::load<on_stages>("layers.safetensors", mesh);                  // depth = 6
    auto repeats = os::load<in_repeats>("layers.safetensors", mesh, repeat = 2);    // depth = 3
    CHECK(stages.layers.w1.extent(depth) == 6);
    CHECK(repeats.layers.b1.extent(depth) == 3);
    CHECK(sum_of(repeats) == doctest::Approx(6 * sum));
  }
  {
    os::adamw const optimizer{.learning_rate = 1e-3};
    auto const state = optimizer.init(params);
    auto const run = os::together("model", params, "optimizer", state);
    os::save("run.safetensors", run);        // model.w1, optimizer.m.w1, optimizer.steps, …
    os::load_into(run, "run.safetensors");   // goes on where it was saved, the number of steps included

    os::load_into(os::together("model", params), "run.safetensors", os::ignore_others);
    CHECK(sum_of(params) == doctest::Approx(sum));
    CHECK(os::value(state.steps) == 0);
  }
  {
    auto weights = os::make_tree<mlp>(mesh, in = 7, hidden = 5, os::seed(1));
    os::pending_save saving;
    for (int step = 1; step <= 6; ++step) {
      weights = os::tree_map([](auto const& a) { return 2.0f * a; }, weights);   // a step of training
      if (step % 3 == 0)
        saving = os::start_save("run.safetensors", os::together("model", weights));   // waits for the one before
      saving.test();                                                                  // the file gets its name here
    }
    saving.wait();
    auto const again = os::tree_map([](auto const& a) { return os::zeros_like(a); }, weights);
    os::load_into(os::together("model", again), "run.safetensors");
    CHECK(sum_of(again) == doctest::Approx(64 * sum));
  }
  t::numbers_of_ranks(0);
  std::filesystem::current_path(usual);
}

}  // namespace files

TEST_CASE("docs/files.md") { files::run(); }
