// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The model of examples/train in doubles: under every rule set, the losses of a few steps are those of one device,
/// decoding gives the results of the whole model, and on one device the gradient is that of differences. Its steps cost
/// each device what they cost the same device of a dry mesh.
// labels: ci

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>

#include "examples/train.hpp"
#include "files/scratch_file.hpp"
#include "support/no_call_check.hpp"

namespace {

options small(char const* attention) {
  char const* const words[] = {"train", "--width", "16",   "--heads",     "4",      "--layers",
                               "2",     "--batch", "8",    "--length",    "12",     "--sample",
                               "12",    "--rate",  "0.01", "--attention", attention};
  return parse_options(static_cast<int>(std::size(words)), words);
}

mesh_type alone() { return os::make_mesh(os::this_device, X = 1, Y = 1); }

std::vector<mesh_type> meshes() {
  auto const devices = static_cast<int>(os::testing::numbers_of_ranks(0).size());
  std::vector<mesh_type> all;
  for (int x = 1; x <= devices; ++x)
    if (devices % x == 0) all.push_back(os::make_mesh(X = x, Y = devices / x));
  return all;
}

template <class Leaf>
auto dot(Leaf const& a, Leaf const& b) {
  return os::value(os::sum<>(a * b));
}

// Along a random direction in each parameter.
template <class Vr>
void check_by_differences(options const& o) {
  auto const m = alone();
  auto const text = read_text(o.text, o.length);
  constexpr typename Vr::rules::use U{};
  auto const b = batch_of<U>(m, text, o, 0);
  auto p = make_model<Vr>(m, o);
  auto const r = os::value_and_grad(loss_of<Vr>{})(p, b.tokens, b.next);
  CHECK(std::abs(os::value(r.value) - os::value(loss_of<Vr>{}(p, b.tokens, b.next))) < 1e-14);
  std::uint64_t seed = 0;
  double const step = 1e-4;
  os::for_each_leaf(
      [&](std::string const& path, auto& w, auto const& g) {
        INFO(path);
        using tensor = std::remove_cvref_t<decltype(w)>;
        auto const direction = os::normal<tensor>(m, w.sizes(), os::seed(++seed));
        auto const kept = w;
        auto const loss_at = [&](double distance) {
          w = kept + os::scale(direction, distance);
          double const loss = os::value(loss_of<Vr>{}(p, b.tokens, b.next));
          w = kept;
          return loss;
        };
        // The error is of the fourth order in the step.
        double const wanted =
            (8 * (loss_at(step) - loss_at(-step)) - (loss_at(2 * step) - loss_at(-2 * step))) / (12 * step);
        CHECK(std::abs(dot(direction, g) - wanted) <= 1e-8 * (std::abs(wanted) + std::sqrt(dot(g, g))));
      },
      p, r.gradient);
}

template <class Vr>
struct outcome {
  std::vector<double> losses;
  std::string text;
};

template <class Vr>
outcome<Vr> train_a_little(mesh_type const& m, options const& o) {
  auto const text = read_text(o.text, o.length);
  trainer<Vr> t(m, text, o);
  outcome<Vr> r;
  for (int i = 0; i < 4; ++i) r.losses.push_back(t.step());
  CHECK(check_decoding<Vr>(m, t.parameters(), text, o));
  r.text =
      sample<Vr>(m, t.parameters(), o.prompt, o.sample, 0, 1) + sample<Vr>(m, t.parameters(), o.prompt, o.sample, 1, 1);
  return r;
}

template <class Vr, class One>
void check_same(mesh_type const& m, options const& o, One const& one) {
  INFO(Vr::rules::name, " on ", m.size(X), " x ", m.size(Y));
  auto const all = train_a_little<Vr>(m, o);
  for (std::size_t i = 0; i < one.losses.size(); ++i) CHECK(std::abs(all.losses[i] - one.losses[i]) < 1e-12);
  CHECK(all.text == one.text);
}

}  // namespace

TEST_CASE("the gradient is that of differences") {
  check_by_differences<variant<data_parallel, grouped>>(small("gqa"));
  check_by_differences<variant<fsdp_and_tensor, latent>>(small("mla"));
}

TEST_CASE("every rule set gives what one device gives") {
  options const grouped_query = small("gqa");
  auto const of_one = train_a_little<variant<data_parallel, grouped>>(alone(), grouped_query);
  CHECK(of_one.losses.back() < of_one.losses.front());
  for (mesh_type const& m : meshes()) {
    check_same<variant<data_parallel, grouped>>(m, grouped_query, of_one);
    check_same<variant<fsdp_and_tensor, grouped>>(m, grouped_query, of_one);
    check_same<variant<two_dimensional, grouped>>(m, grouped_query, of_one);
  }
  options const o = small("mla");
  auto const one = train_a_little<variant<fsdp_and_tensor, latent>>(alone(), o);
  for (mesh_type const& m : meshes()) check_same<variant<fsdp_and_tensor, latent>>(m, o, one);
}

namespace {

// `values`: those of a token in a cache in each layer; `copies`: devices that hold the same.
template <class Vr>
void check_token(mesh_type const& m, options const& o, std::int64_t values, std::int64_t copies) {
  INFO(Vr::rules::name, " on ", m.size(X), " x ", m.size(Y));
  auto const p = make_model<Vr>(m, o);
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  os::for_each_leaf(
      [&](std::string const&, auto const& w) {
        std::int64_t elements = 1;
        for (std::int64_t e : w.extents()) elements *= e;
        if (w.extents().size() > 1) smallest = std::min(smallest, elements);
      },
      p.layers);
  std::vector<std::int64_t> bytes;
  for (std::int64_t written : {5, 40}) {
    continuation<Vr> c(m, p, written + 3);
    std::int64_t const held = os::testing::sum_over_ranks({c.cache_bytes(), 0}).bytes;
    CHECK(held == copies * values * o.layers * (written + 3) * static_cast<std::int64_t>(sizeof(real)));
    c.next(tokens_of(m, std::string(static_cast<std::size_t>(written), 'a')));
    for (int i = 0; i < 3; ++i) {
      auto const one = tokens_of(m, "b");
      bytes.push_back(os::testing::traffic_of([&] { c.next(one); }).bytes);
    }
  }
  for (std::int64_t b : bytes) CHECK(b == bytes.front());
  // Gathering any one weight of a layer would move more bytes than a token does.
  std::int64_t const others = m.size(X) * m.size(Y) - 1;
  CHECK(bytes.front() <= others * smallest * static_cast<std::int64_t>(sizeof(real)));
}

}  // namespace

TEST_CASE("a decoded byte moves neither weights nor caches, and latents and rotary keys are all that one keeps") {
  auto const wide = [](char const* attention) {
    options o = small(attention);
    o.width = 256;
    o.layers = 1;
    set_widths(o, o.attention == "gqa");
    return o;
  };
  options const q = wide("gqa"), l = wide("mla");
  for (mesh_type const& m : meshes()) {
    std::int64_t const of_heads = 2 * q.groups * (q.width / q.heads);
    check_token<variant<data_parallel, grouped>>(m, q, of_heads, 1);
    check_token<variant<fsdp_and_tensor, grouped>>(m, q, of_heads, 1);
    check_token<variant<fsdp_and_tensor, latent>>(m, l, l.latents + l.rotary, m.size(Y));
  }
}

TEST_CASE("a run goes on where it was saved, under other rules") {
  options const o = small("gqa");
  auto const text = read_text(o.text, o.length);
  for (mesh_type const& m : meshes()) {
    ostraka::testing::scratch_file const file("run.safetensors");
    trainer<variant<data_parallel, grouped>> first(m, text, o);
    for (int i = 0; i < 3; ++i) first.step();
    first.save(file.path());
    trainer<variant<two_dimensional, grouped>> second(m, text, o);
    second.load(file.path());
    CHECK(second.steps() == 3);
    for (int i = 0; i < 3; ++i) CHECK(std::abs(first.step() - second.step()) < 1e-12);
  }
}

namespace {

// The second step: the first one may also fill caches.
template <class Vr>
void costs_as_dry(mesh_type const& wet, options const& o) {
  INFO(Vr::rules::name, " on ", wet.size(X), " x ", wet.size(Y));
  auto const text = read_text(o.text, o.length);
  auto const step_on = [&](mesh_type const& m) {
    trainer<Vr> t(m, text, o);
    t.step();
    return os::cost_of(m, [&] { t.step(); });
  };
  mesh_type const dry = os::dry_mesh(os::as_device(wet.device()), X = wet.size(X), Y = wet.size(Y));
  auto const a = step_on(dry);
  auto const b = step_on(wet);
  CHECK(a.bytes == b.bytes);
  CHECK(a.messages == b.messages);
  CHECK(a.flops == b.flops);
  CHECK(a.peak_memory == b.peak_memory);
  CHECK(a.memory_kept == b.memory_kept);
  for (std::size_t set = 0; set < a.over.size(); ++set) CHECK(a.over[set].bytes == b.over[set].bytes);
}

}  // namespace

TEST_CASE("a step costs what it costs on a dry mesh, to the byte") {
  for (mesh_type const& m : meshes()) {
    costs_as_dry<variant<data_parallel, grouped>>(m, small("gqa"));
    costs_as_dry<variant<fsdp_and_tensor, grouped>>(m, small("gqa"));
    costs_as_dry<variant<two_dimensional, grouped>>(m, small("gqa"));
    costs_as_dry<variant<fsdp_and_tensor, latent>>(m, small("mla"));
  }
}
