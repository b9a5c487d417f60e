// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Parameter trees: their fields and names, the mapped leaves and their order, the accepted types.
// ranks: 1 2 4 6
// sham:

#include <doctest/doctest.h>

#include <ostraka/tree.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

constexpr os::rules<I/X, J/Y> S;

template <class L>
struct dense {
  os::leaf<L, double, S(I, J)> w;
  os::leaf<L, double, S(J)> b;

  bool operator==(dense const&) const = default;
};

template <class L>
struct model {
  dense<L> first;
  int heads = 4;
  std::array<dense<L>, 2> middle;
  std::vector<dense<L>> layers;
  os::leaf<L, float> scale;
  std::vector<os::leaf<L, float, K>> tables;
  std::vector<int> choices{1, 2};
};

// A struct that cannot be assigned, and a vector of it, which claims that it can be.
template <class L>
struct fixed {
  int const heads = 4;
  os::leaf<L, double, I> w;
};
template <class L>
struct fixed_layers {
  std::vector<fixed<L>> layers;
  os::leaf<L, double> scale;
};

template <class L, int N>
struct stack {
  std::array<dense<L>, N> layers;
};

// Layers of the same struct, stacked; within them others are stacked, too.
template <class L>
struct stacked_layers {
  dense<L> first;
  dense<os::stacked<L, K/Z>> layers;
};
template <class L>
struct twice_stacked {
  stacked_layers<os::stacked<L, B>> repeats;
};

// With a base and a constructor: it lists its fields.
template <class L>
struct based {
  os::leaf<L, double, I> inherited{};
};

template <class L>
struct listed : based<L> {
  constexpr listed() {}
  os::leaf<L, double, J> own{};

  static constexpr auto fields() {
    return std::tuple{os::field("inherited", &listed::inherited), os::field("mine", &listed::own)};
  }
};

template <class L>
struct widest {
  os::leaf<L, float, I> f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15;
};

template <class L>
struct nothing {
  int number = 3;
};

// The parameters of ESM2 with 15 billion, layers stacked along an axis.
OSTRAKA_AXIS(layer, 48);
OSTRAKA_AXIS(width, 5120);
OSTRAKA_AXIS(hidden, 20480);
OSTRAKA_AXIS(head, 40);
OSTRAKA_AXIS(channel, 128);
OSTRAKA_AXIS(letter, 33);

template <class L>
struct norm {
  os::leaf<L, float, layer, width/Y> gain, bias;
};

template <class L>
struct projection {
  os::leaf<L, float, layer, width/X, head/Y, channel> kernel;
  os::leaf<L, float, layer, head/Y, channel> bias;
};

template <class L>
struct encoder {
  os::leaf<L, float, letter, width/Y> embedding;
  norm<L> before_attention;
  std::array<projection<L>, 3> query_key_value;
  os::leaf<L, float, layer, head/Y, channel, width/X> out;
  os::leaf<L, float, layer, width> out_bias;
  norm<L> before_ffn;
  os::leaf<L, float, layer, width/X, hidden/Y> up;
  os::leaf<L, float, layer, hidden/Y> up_bias;
  os::leaf<L, float, layer, hidden/Y, width/X> down;
  os::leaf<L, float, layer, width> down_bias;
};

std::vector<std::string> paths_of(auto const& tree) {
  std::vector<std::string> found;
  os::for_each_leaf([&](std::string const& path, auto const&) { found.push_back(path); }, tree);
  return found;
}

std::string message_of(auto&& f) {
  try {
    f();
  } catch (os::error const& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("fields are counted and named") {
  static_assert(os::detail::fields_of<dense<os::names>> == 2);
  static_assert(os::detail::fields_of<model<os::names>> == 7);
  static_assert(os::detail::fields_of<widest<os::names>> == 16);
  static_assert(os::detail::fields_of<nothing<os::names>> == 1);
  static_assert(os::detail::fields_of<listed<os::names>> == 2);
  static_assert(os::detail::field_name<dense<os::names>, 0> == "w");
  static_assert(os::detail::field_name<widest<os::names>, 15> == "f15");
  static_assert(os::detail::field_name<listed<os::names>, 1> == "mine");
  static_assert(os::Tree<model<os::values>> && os::Tree<std::vector<dense<os::names>>>);
  static_assert(!os::Tree<int> && !os::Tree<os::tensor<float, I>> && !os::Tree<std::vector<int>>);

  model<os::names> m;
  m.layers.resize(2);
  m.tables.resize(1);
  CHECK(paths_of(m) == std::vector<std::string>{"first.w", "first.b", "middle[0].w", "middle[0].b", "middle[1].w",
                                                "middle[1].b", "layers[0].w", "layers[0].b", "layers[1].w",
                                                "layers[1].b", "scale", "tables[0]"});
  CHECK(paths_of(std::vector<dense<os::names>>(2)) == std::vector<std::string>{"[0].w", "[0].b", "[1].w", "[1].b"});
  CHECK(paths_of(listed<os::names>{}) == std::vector<std::string>{"inherited", "mine"});
  CHECK(paths_of(nothing<os::names>{}).empty());
  CHECK(os::count_leaves(m) == 12);
}

TEST_CASE("trees are mapped and reduced while compiling") {
  constexpr auto ranks = os::tree_map([](auto leaf) { return decltype(leaf)::rank; }, stack<os::names, 3>{});
  static_assert(std::is_same_v<decltype(ranks), stack<os::each<int>, 3> const>);
  static_assert(ranks.layers[2].w == 2 && ranks.layers[2].b == 1);
  static_assert(os::tree_reduce([](int n, int rank) { return n + rank; }, 0, ranks) == 9);
  static_assert(os::tree_reduce([](int n, int rank) { return 10 * n + rank; }, 0, ranks) == 212121);  // the order
  constexpr auto sums = os::tree_map([](int a, int b) { return a + b; }, ranks, ranks);
  static_assert(sums.layers[0].w == 4);
  constexpr auto halves = os::tree_map([](int a) { return a / 2.0; }, listed<os::each<int>>{});
  static_assert(std::is_same_v<decltype(halves), listed<os::each<double>> const>);
  // Leaves that are neither of one type nor tensors keep the results of f, leaf by leaf.
  constexpr auto mixed = os::tree_map(
      [](auto leaf) {
        if constexpr (decltype(leaf)::rank == 1)
          return 1.5;
        else
          return 'c';
      },
      dense<os::names>{});
  static_assert(mixed.w == 'c' && mixed.b == 1.5);
}

TEST_CASE("layers that cannot be assigned are made and carried, too") {
  fixed_layers<os::each<double>> a;
  a.scale = 7;
  for (int heads : {1, 2, 3}) a.layers.push_back({heads, 10.0 * heads});
  fixed_layers<os::each<double>> const b = os::tree_map([](double x, double y) { return x + 2 * y; }, a, a);
  CHECK(b.scale == 21);
  REQUIRE(b.layers.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(b.layers[i].heads == static_cast<int>(i) + 1);
    CHECK(b.layers[i].w == 30.0 * static_cast<double>(i + 1));
  }
}

TEST_CASE("leaves that are stacked have more axes") {
  using layers = stacked_layers<os::names>;
  static_assert(std::is_same_v<decltype(layers::first.w), os::leaf<os::names, double, I/X, J/Y>>);
  static_assert(std::is_same_v<decltype(layers::layers.w), os::leaf<os::names, double, K/Z, I/X, J/Y>>);
  static_assert(std::is_same_v<decltype(twice_stacked<os::values>::repeats.layers.b), os::tensor<double, B, K/Z, J/Y>>);
  static_assert(os::Tree<dense<os::stacked<os::values, K/Z>>>);
  CHECK(paths_of(twice_stacked<os::names>{}) ==
        std::vector<std::string>{"repeats.first.w", "repeats.first.b", "repeats.layers.w", "repeats.layers.b"});
  constexpr auto ranks = os::tree_map([](auto leaf) { return decltype(leaf)::rank; }, twice_stacked<os::names>{});
  static_assert(std::is_same_v<decltype(ranks), twice_stacked<os::each<int>> const>);
  static_assert(ranks.repeats.first.w == 3 && ranks.repeats.layers.w == 4 && ranks.repeats.layers.b == 3);
  t::on_every_mesh([](t::test_mesh const& grid) {
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(grid.handle());
    auto const made = os::make_tree<stacked_layers>(mesh, I = 5, J = 7, K = 3, os::seed(1));
    CHECK(made.layers.w.extents() == std::array<std::int64_t, 3>{3, 5, 7});
    auto const twice = os::tree_map([](auto const& a) { return os::copy(a); }, made);
    static_assert(std::is_same_v<decltype(twice), stacked_layers<os::values> const>);
    auto const halves = os::tree_cast<float>(made);
    static_assert(std::is_same_v<decltype(halves), stacked_layers<os::values_of<float>> const>);
  });
}

TEST_CASE("trees of tensors: makers, maps, casts") {
  t::on_every_mesh([](t::test_mesh const& grid) {
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(grid.handle());
    auto const sizes = os::sizes(I = 5, J = 7, K = 3);
    model<os::names> shape;
    shape.heads = 6;
    shape.layers.resize(2);
    shape.tables.resize(1);
    auto const p = os::make_tree_like(shape, mesh, sizes, os::seed(3));
    static_assert(std::is_same_v<decltype(p), model<os::values> const>);
    CHECK(p.heads == 6);
    CHECK(p.layers.size() == 2);
    CHECK(p.choices == std::vector<int>{1, 2});

    // Each leaf equals os::random with its own seed.
    auto const alone =
        os::random<double, I/X, J/Y>(mesh, I = 5, J = 7, os::seed(os::detail::seed_of_path(3, "layers[1].w")));
    auto const same = [](auto const& a, auto const& b) {
      return os::value(os::max<>(os::maximum(os::subtract(a, b), os::subtract(b, a))));
    };
    CHECK(same(p.layers[1].w, alone) == 0);
    CHECK(same(p.layers[0].w, alone) > 0);
    CHECK(same(p.first.w, p.middle[1].w) > 0);

    auto const zero = os::make_tree<dense>(mesh, I = 5, J = 7);
    static_assert(std::is_same_v<decltype(zero), dense<os::values> const>);
    CHECK(os::value(os::sum<>(zero.w)) == 0);

    auto const chosen = os::make_tree<dense>(mesh, sizes, os::seed(4), [](auto const& leaf) {
      using tensor = typename std::remove_cvref_t<decltype(leaf)>::type;
      if (leaf.path() == "b") return os::full<tensor>(leaf.mesh(), leaf.sizes(), 2.5);
      return os::random<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed());
    });
    CHECK(os::value(os::sum<>(chosen.b)) == 2.5 * 7);

    // Next = p − g, in place and not.
    auto const next = os::tree_map([](auto const& a, auto const& b) { return os::subtract(a, b); }, p, p);
    static_assert(std::is_same_v<decltype(next), model<os::values> const>);
    CHECK(next.heads == 6);
    CHECK(os::value(os::sum<>(next.middle[0].w)) == 0);
    auto written = os::make_tree<dense>(mesh, sizes);
    os::for_each_leaf([](std::string const&, auto& leaf, auto const& from) { leaf = from; }, written, chosen);
    CHECK(os::value(os::sum<>(written.b)) == 2.5 * 7);

    // Numbers in the leaves, and a sum over all of them.
    auto const norms = os::tree_map([](auto const& a) { return static_cast<double>(os::value(os::sum<>(a))); }, chosen);
    static_assert(std::is_same_v<decltype(norms), dense<os::each<double>> const>);
    CHECK(norms.b == 2.5 * 7);
    CHECK(os::tree_reduce([](double x, double y) { return x + y; }, 0.0, norms) == norms.w + norms.b);

    auto const narrow = os::tree_cast<float>(p);
    static_assert(std::is_same_v<decltype(narrow), model<os::values_of<float>> const>);
    CHECK(std::abs(os::value(os::sum<>(narrow.first.w)) - os::value(os::sum<>(p.first.w))) < 1e-4);
    auto const back = os::tree_map<os::values>(
        [](auto const& a, auto const& like) {
          return os::cast<typename std::remove_cvref_t<decltype(like)>::value_type>(a);
        },
        narrow, p);
    static_assert(std::is_same_v<decltype(back), model<os::values> const>);
  });
}

TEST_CASE("what is wrong names the leaf") {
  auto const mesh = os::make_mesh(X = t::ranks(), Y = 1);
  model<os::names> two, three;
  two.layers.resize(2);
  three.layers.resize(3);
  int calls = 0;
  CHECK(message_of([&] { (void)os::tree_map([&](auto a, auto) { return ++calls, a; }, two, three); }) ==
        "tree_map: trees that go together have vectors of the same length, but layers has 2 elements in the first tree "
        "and another number in another");
  CHECK(calls == 0);
  CHECK(message_of([&] { (void)os::make_tree<dense>(mesh, I = 5, J = -2); }) ==
        "zeros: an extent is not negative, but J = -2 was given; give 0 for an empty axis (the leaf w)");
  model<os::values> const empty{};
  CHECK(message_of([&] {
          (void)os::tree_map([](auto const& a) { return os::scale(2, a); }, empty);
        }).ends_with(" (the leaf first.w)"));
}

TEST_CASE("what a tree takes is listed without memory") {
  CHECK(os::describe<dense>(os::sizes(I = 5, J = 70000, X = 2, Y = 3)) ==
        "w  double[I_X, J_Y]  5 × 70,000  560,016 B\n"
        "b  double[J_Y]       70,000      186,672 B\n"
        "2 leaves, 420,000 elements, 746,688 B a device\n");
  // 3 of 5 rows, 23,334 of 70,000 columns: the last device.
  static_assert(os::bytes_a_device<dense>(os::sizes(I = 5, J = 70000, X = 2, Y = 3)) == 3 * 23334 * 8 + 23334 * 8);

  constexpr std::int64_t e = 5120, f = 20480, layers = 48, x = 2, y = 4;
  constexpr std::int64_t a_layer = 3 * (e * e + e) + e * e + e + 4 * e + e * f + f + f * e + e;
  std::string const text = os::describe<encoder>(os::sizes(X = x, Y = y));
  CHECK(text.find(os::planner::describe_number(33 * e + layers * a_layer) + " elements") != std::string::npos);
  CHECK(33 * e + layers * a_layer == 15'102'858'240);  // 15 billion, 60 GB
  constexpr std::int64_t mine = 33 * (e / y) + layers * (3 * (e / x * (e / y) + e / y) + e / y * (e / x) + e +
                                                         4 * (e / y) + e / x * (f / y) * 2 + f / y + e);
  static_assert(os::bytes_a_device<encoder>(os::sizes(X = x, Y = y)) == 4 * mine);
  CHECK(text.ends_with("17 leaves, 15,102,858,240 elements, " + os::planner::describe_bytes(4 * mine) + " a device\n"));
  CHECK(text.find("query_key_value[1].kernel") != std::string::npos);

  // Vectors have the lengths of a tree of names; a tree of tensors knows its own extents.
  std::vector<dense<os::names>> const layers_of_names(3);
  CHECK(os::bytes_a_device(layers_of_names, os::sizes(I = 4, J = 6, X = 1, Y = 1)) == 3 * (24 + 6) * 8);
  auto const mesh = os::make_mesh(X = t::ranks(), Y = 1);
  auto const made = os::make_tree_like(layers_of_names, mesh, I = 5, J = 6);
  CHECK(os::describe(made) == os::describe(layers_of_names, mesh, I = 5, J = 6));
}
