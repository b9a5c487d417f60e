// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Rules of names: in both directions, slices as plain loops count them, the first rule that fits, texts that are no
/// rules, names of any length.
// ranks: 1

#include <doctest/doctest.h>

#include <ostraka/engine/formats/name_rules.hpp>

#include <cstdint>
#include <string>

namespace e = ostraka::engine;

namespace {

std::string number(std::int64_t n) { return std::to_string(n); }

// The first leaf of a tensor.
std::string in_tree(e::name_rules const& rules, std::string const& tensor) {
  return rules.in_tree(tensor).front().name;
}

std::string said(std::string const& leaf, std::string const& file) {
  try {
    e::name_rules rules;
    rules.add(leaf, file);
    return "";
  } catch (ostraka::error const& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("numbers and rests, both ways") {
  e::name_rules rules;
  rules.add("embedding", "model.embed_tokens.weight");
  rules.add("layers.{}.q", "model.layers.{}.self_attn.q_proj.weight");
  rules.add("layers.{}.experts.{}.*", "model.layers.{}.mlp.experts.{}.*");
  rules.add("layers.{}.*", "model.layers.{}.*");
  rules.add("", "model.rotary_emb.*");
  for (auto const& [leaf, file] : {std::pair{"embedding", "model.embed_tokens.weight"},
                                   {"layers.0.q", "model.layers.0.self_attn.q_proj.weight"},
                                   {"layers.12.q", "model.layers.12.self_attn.q_proj.weight"},
                                   {"layers.3.experts.41.w", "model.layers.3.mlp.experts.41.w"},
                                   {"layers.3.norm.gain", "model.layers.3.norm.gain"},
                                   {"layers.3.", "model.layers.3."},
                                   {"lm_head", "lm_head"},
                                   {"layers.03.w", "layers.03.w"},
                                   {"layers.x.w", "layers.x.w"},
                                   {"layers.w", "layers.w"},
                                   {"layers", "layers"},
                                   {"embeddings", "embeddings"}}) {
    CHECK(rules.in_file(leaf) == file);
    CHECK(in_tree(rules, file) == leaf);
  }
  CHECK(in_tree(rules, "model.rotary_emb.inv_freq") == "");
  CHECK(in_tree(rules, "model.layers.99999999999999999999999.w") == "model.layers.99999999999999999999999.w");
  CHECK(rules.in_file("layers.99999999999999999999999.w") == "layers.99999999999999999999999.w");
}

TEST_CASE("slices are Python's") {
  for (std::int64_t begin = 0; begin < 4; ++begin)
    for (std::int64_t end = -1; end < 9; ++end)  // −1: none is written
      for (std::int64_t step = 0; step < 4; ++step) {
        std::string const slice = (begin == 0 ? "" : number(begin)) + ':' + (end < 0 ? "" : number(end)) +
                                  (step == 0 ? "" : ':' + number(step));
        CAPTURE(slice);
        e::name_rules rules;
        rules.add("a.{}.*", "all.{" + slice + "}.*");
        std::int64_t index = 0;
        for (std::int64_t n = 0; n < 20; ++n) {
          bool const is_in = n >= begin && (end < 0 || n < end) && (n - begin) % (step == 0 ? 1 : step) == 0;
          std::string const leaf = "a." + number(index) + ".w", file = "all." + number(n) + ".w";
          CHECK(in_tree(rules, file) == (is_in ? leaf : file));
          if (is_in) CHECK(rules.in_file(leaf) == file);
          index += is_in;
        }
        if (end >= 0) CHECK(rules.in_file("a." + number(index) + ".w") == "a." + number(index) + ".w");
      }
}

TEST_CASE("lists that share a range of numbers") {
  e::name_rules rules;
  rules.add("dense.{}.*", "layers.{:3}.*");
  rules.add("sparse.{}.*", "layers.{3:}.*");
  for (std::int64_t n = 0; n < 8; ++n) {
    std::string const leaf = n < 3 ? "dense." + number(n) + ".w" : "sparse." + number(n - 3) + ".w";
    CHECK(in_tree(rules, "layers." + number(n) + ".w") == leaf);
    CHECK(rules.in_file(leaf) == "layers." + number(n) + ".w");
  }
  CHECK(rules.in_file("dense.3.w") == "dense.3.w");
}

TEST_CASE("texts that are no rules") {
  for (auto const& [leaf, file] : {std::pair{"a*b", "a*b"},
                                   {"*.w", "*.w"},
                                   {"a.{.w", "a.{}.w"},
                                   {"a.}.w", "a.{}.w"},
                                   {"a.{}.w", "a.{3}.w"},
                                   {"a.{}.w", "a.{x}.w"},
                                   {"a.{}.w", "a.{-1:}.w"},
                                   {"a.{}.w", "a.{1:2:3:4}.w"},
                                   {"a.{}.w", "a.{::0}.w"},
                                   {"a.{}.w", "a.{01:}.w"},
                                   {"a.{1:}.w", "a.{}.w"}})
    CHECK(said(leaf, file).find(" of a rule ") != std::string::npos);
  for (auto const& [leaf, file] :
       {std::pair{"a.{}", "a"}, {"a", "a.{}"}, {"a.*", "a"}, {"a", "a.*"}, {"a.{}.{}", "a.{}"}})
    CHECK(said(leaf, file) == std::string("stored_as: both sides of a rule have the same number of {} and *, but ") +
                                  leaf + " and " + file + " do not; write {\"layers.{}.*\", \"model.layers.{}.*\"}");
  CHECK(said("", "a.{}.*").empty());
  CHECK(said("{}", "{}").empty());
  CHECK(said("*", "model.*").empty());
}

TEST_CASE("a name of many bytes is walked once") {
  e::name_rules rules;
  rules.add("{}{}{}{}.*", "{}{}{}{}.x.*");
  std::string const digits(20'000'000, '1');
  CHECK(in_tree(rules, digits) == digits);
  CHECK(rules.in_file(digits + ".x") == digits + ".x");
}
