// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The program of examples/hugging_face in doubles, beside what transformers computes in doubles (references.py): on
/// every mesh and under both rule sets the logits, the loss, its gradient by every parameter, the losses of steps of
/// AdamW, and a continuation token by token; and a saved checkpoint is the one that was loaded.
// labels: ci
// timeout: 300

#define HUGGING_FACE_REAL double
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../../examples/hugging_face/program.hpp"
#include "files/scratch_file.hpp"
#include "support/byte_counter.hpp"

OSTRAKA_AXIS(steps);

namespace {

using namespace hugging_face;
namespace fs = std::filesystem;

template <class L>
struct reference {
  os::leaf<L, std::int32_t, B, S> tokens, labels;
  os::leaf<L, double, B, S, V> logits;
  os::leaf<L, double> loss;
  os::leaf<L, double, steps> losses;
  os::leaf<L, std::int32_t, T> continued;
};

/// Committed references, or a folder of references.py.
std::string references() {
  char const* const given = std::getenv("HUGGING_FACE_REFERENCES");
  return given != nullptr ? given : REFERENCES;
}

std::vector<std::string> families() {
  std::vector<std::string> all;
  for (auto const& entry : fs::directory_iterator(references()))
    if (entry.is_directory()) all.push_back(entry.path().string());
  std::sort(all.begin(), all.end());
  return all;
}

template <class T, class A>
std::vector<T> numbers(A const& a) {
  return {a.local().data(), a.local().data() + a.local().size()};
}

sequences rows(std::vector<std::int32_t> const& flat, std::size_t count) {
  sequences all;
  for (std::size_t i = 0; i < count; ++i)
    all.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(i * flat.size() / count),
                     flat.begin() + static_cast<std::ptrdiff_t>((i + 1) * flat.size() / count));
  return all;
}

template <class A, class Other>
double difference(A const& a, Other const& b) {
  double const size = os::value(os::max<>(os::abs(b)));
  return os::value(os::max<>(os::abs(a - b))) / std::max(1.0, size);
}

template <class Rules>
void check(std::string const& folder, mesh_type const& m, std::string const& scratch) {
  constexpr typename Rules::use U{};
  settings const c = read_settings(folder);
  auto const wanted = os::load<reference>(folder + "/expected.safetensors", m);
  auto const p = load_model<Rules>(folder, m, c);
  std::size_t const count = static_cast<std::size_t>(wanted.tokens.extent(B));
  sequences const given = rows(numbers<std::int32_t>(wanted.tokens), count);
  auto const tokens = tokens_of<U>(m, given),
             labels = tokens_of<U>(m, rows(numbers<std::int32_t>(wanted.labels), count));

  CHECK(difference(os::reshard<B, S, V>(logits<Rules>(c, p, tokens)), wanted.logits) < 1e-12);
  auto const [loss, gradient] = os::value_and_grad(loss_of<Rules>{c})(p, tokens, labels);
  CHECK(std::abs(os::value(loss) - os::value(wanted.loss)) < 1e-12);
  int leaves = 0;
  os::for_each_leaf(
      [&](std::string const& path, auto const& a, auto const& b) {
        CAPTURE(path);
        CHECK(difference(a, b) < 1e-12);
        ++leaves;
      },
      gradient,
      os::load<model<os::names, Rules>>(folder + "/gradients.safetensors", m, names_of(c), G = c.key_heads,
                                        R = c.heads_of_each, D = c.head_width));
  CHECK(leaves > 15);

  auto const further = numbers<std::int32_t>(wanted.continued);
  if (c.is_causal) {
    std::vector<std::int32_t> const prompt(given[0].begin(), given[0].begin() + 3);
    CHECK(continued<Rules>(m, c, p, prompt, std::ssize(further), {}) == further);
  }
  save_model<Rules>(scratch, folder, m, c, p);
  auto const again = load_model<Rules>(scratch, m, read_settings(scratch));
  os::for_each_leaf([&](std::string const&, auto const& a, auto const& b) { CHECK(difference(a, b) == 0); }, again, p);

  os::adamw const optimizer{.learning_rate = 1e-2, .weight_decay = 0};
  auto const state = optimizer.init(p);
  for (double const step_loss : numbers<double>(wanted.losses)) {
    auto const r = os::value_and_grad(loss_of<Rules>{c})(p, tokens, labels);
    CHECK(std::abs(os::value(r.value) - step_loss) < 1e-11);
    optimizer.update(p, r.gradient, state);
  }
}

}  // namespace

TEST_CASE("every family on every mesh gives what transformers gives") {
  auto const devices = static_cast<int>(os::testing::numbers_of_ranks(0).size());
  REQUIRE(families().size() >= 6);
  for (std::string const& folder : families())
    for (int x = 1; x <= devices; ++x) {
      if (devices % x != 0) continue;
      CAPTURE(folder);
      CAPTURE(x);
      auto const m = os::make_mesh(X = x, Y = devices / x);
      os::testing::scratch_file const scratch("none");
      char const* const kept = std::getenv("HUGGING_FACE_SAVED");  // by hugging_face_oracle.py
      fs::path const saved = kept != nullptr ? fs::path(kept) : scratch.folder();
      std::string const family = fs::path(folder).filename().string();
      check<data_and_tensor>(folder, m, (saved / (family + ".data_tensor")).string());
      check<fsdp_and_tensor>(folder, m, (saved / (family + ".fsdp_tensor")).string());
    }
}

TEST_CASE("a config.json is read, or refused in a sentence") {
  std::ifstream in(references() + "/llama/config.json", std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  settings const c = settings_of(json(text));
  CHECK(c.key_heads == 2);
  CHECK(c.heads_of_each == 2);
  REQUIRE(c.layers.size() == 2);
  CHECK(c.layers[0].rope.scaling.type == os::rope_type::llama3);
  CHECK(c.layers[0].rope.base == 100);
  std::size_t const end = text.find_last_of('}');
  for (std::size_t length = 0; length <= end; ++length) CHECK_THROWS_AS(json(text.substr(0, length)), refusal);
  int read = 0;
  for (std::size_t at = 0; at <= end; ++at)
    for (char const other : {'"', '{', ']', ',', '\\', '9', 'x'}) {
      std::string changed = text;
      changed[at] = other;
      try {
        static_cast<void>(settings_of(json(changed)));
        ++read;
      } catch (refusal const&) {
      }
    }
  CHECK(read > 0);
  CHECK_THROWS_AS(json(std::string(100, '[')), refusal);
  CHECK_THROWS_AS(json("{\"a\": nan}"), refusal);
  CHECK(json("{\"a\": {\"b\": [1, null, -2.5e1]}}").number("a.b.2", 0) == -25);
  CHECK_FALSE(json("{\"a\": null}").has("a"));
}

TEST_CASE("older files have other names for the same tensors, and tensors that are left out") {
  settings c;
  c.family = "gpt2";
  CHECK(names_of(c).in_tree("lm_head.weight") == "head.0");
  c.is_tied = true;
  os::stored_as const gpt2 = names_of(c);
  CHECK(gpt2.in_tree("h.3.mlp.c_fc.weight") == "layers.3.up.weight");
  CHECK(gpt2.in_tree("transformer.h.3.mlp.c_fc.weight") == "layers.3.up.weight");
  CHECK(gpt2.in_file("layers.3.up.weight") == "transformer.h.3.mlp.c_fc.weight");
  for (char const* name : {"h.0.attn.bias", "transformer.h.0.attn.masked_bias", "lm_head.weight"})
    CHECK(gpt2.in_tree(name).empty());
  c.family = "esm";
  c.is_tied = false;
  CHECK(names_of(c).in_tree("lm_head.decoder.weight") == "head.0");
  CHECK(names_of(c).in_tree("esm.encoder.layer.2.attention.LayerNorm.gamma") == "layers.2.attention_norm.weight");
  CHECK(names_of(c).in_file("layers.2.attention_norm.weight") == "esm.encoder.layer.2.attention.LayerNorm.weight");
  CHECK(names_of(c).in_tree("esm.encoder.layer.2.attention.self.rotary_embeddings.inv_freq").empty());
  c.is_tied = true;
  CHECK(names_of(c).in_tree("lm_head.decoder.weight").empty());
}
