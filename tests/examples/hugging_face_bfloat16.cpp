// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The program of examples/hugging_face with parameters, activations and caches of bfloat16, at once and token by
/// token, beside doubles with the same parameters. transformers in bfloat16 rounds the result of each operation, as we
/// do, so our errors are as large as its errors. Single errors differ: of each family the medians of positions are
/// compared, since a position whose activations cancel has ten times the error of the others. The median over all
/// families is 0.95, and the largest ratio 1.75.
// labels: ci
// timeout: 300

#define HUGGING_FACE_REAL os::bfloat16
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "../../examples/hugging_face/checkpoint.hpp"
#include "../../examples/hugging_face/generate.hpp"
#include "../../examples/hugging_face/rules.hpp"
#include "support/byte_counter.hpp"

namespace {

using namespace hugging_face;
namespace fs = std::filesystem;

using rule_set = fsdp_and_tensor;
using parameters = model<os::values, rule_set>;

template <class L>
struct reference {
  os::leaf<L, std::int32_t, B, S> tokens;
  os::leaf<L, double, B, S, V> logits, in_bfloat16;  // in doubles; by transformers in bfloat16
};

/// Committed references, or a folder of references.py.
std::string references() {
  char const* const given = std::getenv("HUGGING_FACE_REFERENCES");
  return given != nullptr ? given : REFERENCES;
}

/// A tensor's elements in the order of its axes, on all devices.
template <class A>
std::vector<double> numbers(A const& a) {
  auto const whole = os::copy(os::cast<double>(os::reshard<B, S, V>(a)));
  return {whole.local().data(), whole.local().data() + whole.local().size()};
}

/// The median over positions of the root of the mean square of the differences of a position's logits. There may be
/// fewer positions than in `exact`.
double error_of(std::vector<double> const& a, std::vector<double> const& exact, std::size_t vocabulary) {
  std::vector<double> errors;
  for (std::size_t begin = 0; begin < a.size(); begin += vocabulary) {
    double sum = 0;
    for (std::size_t i = begin; i < begin + vocabulary; ++i) sum += (a[i] - exact[i]) * (a[i] - exact[i]);
    errors.push_back(std::sqrt(sum / static_cast<double>(vocabulary)));
  }
  std::nth_element(errors.begin(), errors.begin() + std::ssize(errors) / 2, errors.end());
  return errors[errors.size() / 2];
}

/// The mean of −log of the probability that these logits give to the labels.
double loss_by_loops(std::vector<double> const& logits, std::vector<std::vector<std::int32_t>> const& labels,
                     std::size_t vocabulary) {
  double sum = 0;
  int count = 0;
  double const* of_position = logits.data();
  for (auto const& row : labels)
    for (std::int32_t const label : row) {
      double all = 0;
      for (std::size_t v = 0; v < vocabulary; ++v) all += std::exp(of_position[v]);
      if (label != no_label) sum += std::log(all) - of_position[label], ++count;
      of_position += vocabulary;
    }
  return sum / count;
}

/// Appends our errors, relative to those of transformers.
void check(std::string const& folder, mesh_type const& m, std::vector<double>& ratios) {
  constexpr rule_set::use U{};
  settings const c = read_settings(folder);
  auto const wanted = os::load<reference>(folder + "/bfloat16.safetensors", m);
  auto const p = load_model<rule_set>(folder, m, c);
  std::vector<std::int32_t> const flat(wanted.tokens.local().data(),
                                       wanted.tokens.local().data() + wanted.tokens.local().size());
  std::vector<std::vector<std::int32_t>> rows;
  for (std::ptrdiff_t begin = 0; begin < std::ssize(flat); begin += 7)
    rows.emplace_back(flat.begin() + begin, flat.begin() + begin + 7);
  auto const exact = numbers(wanted.logits);
  std::size_t const vocabulary = exact.size() / flat.size();
  double const of_transformers = error_of(numbers(wanted.in_bfloat16), exact, vocabulary);
  REQUIRE(of_transformers > 0);

  auto const tokens = tokens_of<U>(m, rows);
  auto const computed = numbers(logits<rule_set>(c, p, tokens));
  double const ours = error_of(computed, exact, vocabulary);
  CHECK(ours < 2 * of_transformers);
  ratios.push_back(ours / of_transformers);
  if (!c.is_causal) return;
  for (auto& row : rows) row.erase(row.begin()), row.push_back(no_label);
  double const loss = static_cast<double>(os::value(loss_of<rule_set>{c}(p, tokens, tokens_of<U>(m, rows))));
  CHECK(std::abs(loss - loss_by_loops(computed, rows, vocabulary)) < 1e-5);

  continuation<rule_set> text(m, c, p, 7);
  std::vector<double> continued = numbers(text.next({flat[0], flat[1], flat[2]}));
  for (std::size_t t = 3; t < 7; ++t) {
    auto const further = numbers(text.next({flat[t]}));
    REQUIRE(further.size() == vocabulary);
    continued.insert(continued.end(), further.begin(), further.end());
  }
  double const ours_continued = error_of(continued, exact, vocabulary);
  CHECK(ours_continued < 2 * of_transformers);
  ratios.push_back(ours_continued / of_transformers);
}

}  // namespace

TEST_CASE("every family in bfloat16 is as near to doubles as transformers in bfloat16") {
  auto const devices = static_cast<int>(os::testing::numbers_of_ranks(0).size());
  std::vector<std::string> families;
  for (auto const& entry : fs::directory_iterator(references()))
    if (entry.is_directory()) families.push_back(entry.path().string());
  std::sort(families.begin(), families.end());
  REQUIRE(families.size() >= 6);
  std::vector<double> ratios;
  for (std::string const& folder : families) {
    CAPTURE(folder);
    for (int x = 1; x <= devices; ++x)
      if (devices % x == 0) check(folder, os::make_mesh(X = x, Y = devices / x), ratios);
  }
  std::nth_element(ratios.begin(), ratios.begin() + std::ssize(ratios) / 2, ratios.end());
  CHECK(ratios[ratios.size() / 2] < 1.1);
}

TEST_CASE("a file of bfloat16 is read without a conversion") {
  auto const devices = static_cast<int>(os::testing::numbers_of_ranks(0).size());
  auto const m = os::make_mesh(X = 1, Y = devices);
  std::string const folder = references() + "/llama";
  settings const c = read_settings(folder);
  auto const stored = os::load<model<os::names, rule_set>>(folder, m, names_of(c), G = c.key_heads, R = c.heads_of_each,
                                                           D = c.head_width);
  static_assert(std::is_same_v<decltype(stored.table)::value_type, os::bfloat16>);
  auto const converted = load_model<rule_set>(folder, m, c);
  os::for_each_leaf([](std::string const&, auto const& a,
                       auto const& b) { CHECK(os::value(os::max<>(os::abs(a - b))) == os::bfloat16(0)); },
                    stored, converted);
}
