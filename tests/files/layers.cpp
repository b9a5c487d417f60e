// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Layers in files: a vector of them, w[L_Z, …] and w[Q, L_Z, …] are the same file, byte by byte, and each is read from
/// it on every mesh; the state of an optimiser, too. The bytes that a device reads are counted.
// ranks: 1 2 4 8
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/files.hpp>
#include <ostraka/optimizers.hpp>
#include <ostraka/tree.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(E);

namespace {

using mesh_of_test = os::mesh<X_mesh, Y_mesh, Z_mesh>;

mesh_of_test mesh_of(t::test_mesh const& m) { return mesh_of_test(m.handle()); }

template <class Leaves>
struct norms {
  os::leaf<Leaves, float, J> gain;
  os::leaf<Leaves, double> scale;
};

template <class Leaves>
struct layer {
  os::leaf<Leaves, double, I/X, J/Y> w;
  norms<Leaves> norm;
};

template <class Leaves>
struct in_vector {
  os::leaf<Leaves, float, K/X> table;
  std::vector<layer<Leaves>> layers;
  os::leaf<Leaves, double, J> last;
};

template <class Leaves>
struct on_stages {
  os::leaf<Leaves, float, K> table;
  layer<os::stacked<Leaves, L/Z>> layers;
  os::leaf<Leaves, double, J/Y> last;
};

template <class Leaves>
struct in_repeats {
  layer<os::stacked<Leaves, Q, L/Z>> layers;
  os::leaf<Leaves, float, K/Z> table;
  os::leaf<Leaves, double, J> last;
};

template <class Leaves>
struct mixture {
  os::leaf<Leaves, float, I> router;
  std::vector<os::leaf<Leaves, float, J>> shared;
  layer<os::stacked<Leaves, E/Z>> experts;
};

template <class Leaves>
struct experts_in_vectors {
  os::leaf<Leaves, float, I/X> router;
  std::vector<os::leaf<Leaves, float, J>> shared;
  std::vector<layer<Leaves>> experts;
};

template <class Leaves>
struct mixtures {
  mixture<os::stacked<Leaves, L>> layers;
};
template <class Leaves>
struct mixtures_in_vectors {
  std::vector<experts_in_vectors<Leaves>> layers;
};

t::extents_by_letter const one_layer = {{'I', 5}, {'J', 3}, {'K', 7}};

// A number for a leaf from its name in a file without the numbers of its layers, and from these.
std::uint64_t salt_of(std::string const& path, std::int64_t layer) {
  std::uint64_t h = 1469598103934665603u;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '[')
      i = path.find(']', i);
    else
      h = (h ^ static_cast<unsigned char>(path[i])) * 1099511628211u;
  }
  return h % 1000 + static_cast<std::uint64_t>(layer) * 1000;
}

// layers[3].w[2] → 3 · 100 + 2, after the known number of the layer
std::int64_t numbers_in(std::string const& path, std::int64_t n) {
  for (std::size_t i = path.find('['); i != std::string::npos; i = path.find('[', i + 1))
    n = n * 100 + std::stoll(path.substr(i + 1));
  return n;
}

// The whole tensor of a leaf: layers one behind another, numbered by their indices.
template <class A>
t::global_tensor<typename A::value_type> whole(std::string const& path, t::extents_by_letter const& extents) {
  std::string const letters = t::letters_in<A>();
  std::string stack;
  for (char const l : letters)
    if (l == 'Q' || l == 'L' || l == 'E') stack += l;
  t::global_tensor<typename A::value_type> all{letters, extents, {}};
  t::for_each_index(stack, extents, [&](t::extents_by_letter const& at) {
    std::int64_t number = 0;
    for (char const l : stack) number = number * (l == 'E' ? 100 : extents.at(l)) + at.at(l);
    number = numbers_in(path, number);
    auto const one =
        t::whole_numbers<typename A::value_type>(letters.substr(stack.size()), extents, salt_of(path, number));
    all.values.insert(all.values.end(), one.values.begin(), one.values.end());
  });
  return all;
}

t::extents_by_letter with(t::extents_by_letter const& stack) {
  t::extents_by_letter all = one_layer;
  all.insert(stack.begin(), stack.end());
  return all;
}

template <class Tree>
void fill(t::test_mesh const& m, Tree& tree, t::extents_by_letter const& stack = {}) {
  os::for_each_leaf(
      [&]<class A>(std::string const& path, A& a) {
        if constexpr (!std::is_same_v<typename A::value_type, std::int64_t>)
          a = t::placed<A>(m, whole<A>(path, with(stack)));
      },
      tree);
}

template <class Tree>
std::int64_t wrong_elements(t::test_mesh const& m, Tree const& tree, t::extents_by_letter const& stack = {}) {
  std::int64_t wrong = 0;
  os::for_each_leaf(
      [&]<class A>(std::string const& path, A const& a) {
        if constexpr (!std::is_same_v<typename A::value_type, std::int64_t>)
          wrong += t::disagreements(m, a, whole<A>(path, with(stack))) != 0;
      },
      tree);
  return wrong;
}

std::int64_t bytes_in(auto const& tree) {
  return os::tree_reduce(
      [](std::int64_t n, auto const& a) { return n + std::int64_t(a.local().span() * sizeof(*a.local().data())); },
      std::int64_t{0}, tree);
}

// The result of `load`; for it this device reads its blocks, device 0 also the header.
template <class F>
auto read_by_blocks(t::test_mesh const& m, std::int64_t header, F&& load) {
  auto const before = os::engine::traffic_of_files.read;
  auto tree = load();
  CHECK(os::engine::traffic_of_files.read - before == bytes_in(tree) + (m.handle()->device() == 0 ? header : 0));
  return tree;
}

std::int64_t header_of(std::string const& file) {
  std::int64_t n = 0;
  for (int byte = 0; byte < 8; ++byte)
    n |= std::int64_t(static_cast<unsigned char>(file[static_cast<std::size_t>(byte)])) << 8 * byte;
  return n + 8;
}

// The part of a file behind its header.
std::string data_of(std::string const& file) { return file.substr(static_cast<std::size_t>(header_of(file))); }

in_vector<os::values> layers_in_vector(t::test_mesh const& m, int layers) {
  in_vector<os::values> v;
  v.layers.resize(static_cast<std::size_t>(layers));
  fill(m, v);
  return v;
}

}  // namespace

TEST_CASE("a vector of layers, [L_Z, …] and [Q, L_Z, …] are one file") {
  t::scratch_file const file("model.safetensors"), other("again.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    CAPTURE(m.text());
    for (auto const& [repeats, layers] : {std::pair{3, 3}, {1, 5}, {7, 1}, {2, 1}}) {
      int const all = repeats * layers;
      auto const v = layers_in_vector(m, all);
      os::save(file.path(), v);
      std::string const written = file.bytes();
      std::int64_t const header = header_of(written);

      auto const s = read_by_blocks(m, header, [&] { return os::load<on_stages>(file.path(), mesh_of(m)); });
      CHECK(s.layers.w.extents()[0] == all);
      CHECK(wrong_elements(m, s, {{'L', all}}) == 0);

      auto const r =
          read_by_blocks(m, header, [&] { return os::load<in_repeats>(file.path(), mesh_of(m), Q = repeats); });
      CHECK(wrong_elements(m, r, {{'Q', repeats}, {'L', layers}}) == 0);

      os::save(other.path(), s);
      CHECK(data_of(other.bytes()).size() == data_of(written).size());
      auto const from_stages = os::load<in_vector>(other.path(), mesh_of(m));
      CHECK(from_stages.layers.size() == static_cast<std::size_t>(all));
      CHECK(wrong_elements(m, from_stages) == 0);

      auto q = os::tree_map([](auto const& a) { return os::zeros_like(a); }, r);
      os::load_into(q, other.path());
      CHECK(wrong_elements(m, q, {{'Q', repeats}, {'L', layers}}) == 0);
      os::save(other.path(), q);
      auto w = os::tree_map([](auto const& a) { return os::zeros_like(a); }, v);
      os::load_into(w, other.path());
      CHECK(wrong_elements(m, w) == 0);
      os::save(other.path(), w);
      CHECK(other.bytes() == written);

      std::vector<layer<os::values>> const alone = v.layers;
      os::save(file.path(), alone);
      os::save(other.path(), s.layers);
      CHECK(file.bytes() == other.bytes());
      CHECK(os::load<layer<os::stacked<os::names, L/Z>>>(file.path(), mesh_of(m)).w.extents()[0] == all);
    }
  });
}

TEST_CASE("from every mesh to every other") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto s = os::make_tree<on_stages>(mesh_of(m), I = 5, J = 3, K = 7, L = 6);
    fill(m, s, {{'L', 6}});
    os::save(file.path(), s);
    std::int64_t const header = header_of(file.bytes());
    t::on_every_mesh([&](t::test_mesh const& to) {
      CAPTURE(m.text() + " to " + to.text());
      auto const r =
          read_by_blocks(to, header, [&] { return os::load<in_repeats>(file.path(), mesh_of(to), L = 2, J = 3); });
      CHECK(wrong_elements(to, r, {{'Q', 3}, {'L', 2}}) == 0);
    });
  });
}

TEST_CASE("parameters with the state of their optimiser") {
  t::scratch_file const file("run.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    CAPTURE(m.text());
    os::adam const adam;
    auto v = layers_in_vector(m, 6);
    auto of_v = adam.init(v);
    fill(m, of_v);
    os::save(file.path(), os::together("model", v, "optimizer", of_v));

    auto s = os::make_tree<on_stages>(mesh_of(m), I = 5, J = 3, K = 7, L = 6);
    auto of_s = adam.init(s, os::split_over<X>);
    os::load_into(os::together("model", s, "optimizer", of_s), file.path());
    CHECK(wrong_elements(m, s, {{'L', 6}}) == 0);
    CHECK(wrong_elements(m, of_s, {{'L', 6}}) == 0);
    os::save(file.path(), os::together("model", s, "optimizer", of_s));

    auto r = os::make_tree<in_repeats>(mesh_of(m), I = 5, J = 3, K = 7, L = 2, Q = 3);
    auto of_r = adam.init(r);
    os::load_into(os::together("optimizer", of_r, "model", r), file.path());
    CHECK(wrong_elements(m, r, {{'Q', 3}, {'L', 2}}) == 0);
    CHECK(wrong_elements(m, of_r, {{'Q', 3}, {'L', 2}}) == 0);
    os::save(file.path(), os::together("model", r, "optimizer", of_r));

    auto w = os::tree_map([](auto const& a) { return os::zeros_like(a); }, v);
    auto of_w = adam.init(w);
    os::load_into(os::together("model", w, "optimizer", of_w), file.path());
    CHECK(wrong_elements(m, w) == 0);
    CHECK(wrong_elements(m, of_w) == 0);
  });
}

TEST_CASE("stacks within stacks, and vectors within them") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    CAPTURE(m.text());
    mixtures_in_vectors<os::values> v;
    v.layers.resize(3);
    for (auto& l : v.layers) {
      l.experts.resize(5);
      l.shared.resize(1);
    }
    fill(m, v);
    os::save(file.path(), v);
    auto const s = os::load<mixtures>(file.path(), mesh_of(m));
    CHECK(s.layers.experts.w.extents()[0] == 3);
    CHECK(s.layers.experts.w.extents()[1] == 5);
    CHECK(s.layers.shared.size() == 1);
    CHECK(wrong_elements(m, s, {{'L', 3}, {'E', 5}}) == 0);
    os::save(file.path(), s);
    auto const again = os::load<mixtures_in_vectors>(file.path(), mesh_of(m));
    CHECK(again.layers.size() == 3);
    CHECK(wrong_elements(m, again) == 0);
  });
}

TEST_CASE("what is wrong is said on all ranks, with the name of the tensor") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const mesh = mesh_of(m);
    auto v = layers_in_vector(m, 5);
    os::save(file.path(), v);
    auto const begins = [&](std::string const& got, std::string const& end) {
      INFO(got);
      bool const found = got.find(file.path() + end) != std::string::npos;
      CHECK(found);
    };
    auto const six = os::make_tree<on_stages>(mesh, I = 5, J = 3, K = 7, L = 6);
    begins(t::said_alike([&] { os::load_into(six, file.path()); }),
           " has no tensors called layers.5.w, layers.5.norm.gain and layers.5.norm.scale; give");
    auto const four = os::make_tree<in_repeats>(mesh, I = 5, J = 3, K = 7, L = 2, Q = 2);
    begins(t::said_alike([&] { os::load_into(four, file.path()); }),
           " also has layers.4.norm.gain, layers.4.norm.scale and layers.4.w, for which the tree has no leaves;");
    auto const wide = os::make_tree<on_stages>(mesh, I = 5, J = 4, K = 7, L = 5);
    CHECK(t::said_alike([&] { os::load_into(wide, file.path()); }).find("layers.0.w in ") != std::string::npos);
    begins(t::said_alike([&] { static_cast<void>(os::load<in_repeats>(file.path(), mesh)); }),
           " has 5 layers of layers, which are to be stacked along 2 axes; give the extents of all of these but one, "
           "whose product divides that number");
    begins(t::said_alike([&] { static_cast<void>(os::load<in_repeats>(file.path(), mesh, Q = 2)); }),
           " has 5 layers of layers, which");
    begins(t::said_alike([&] { static_cast<void>(os::load<on_stages>(file.path(), mesh, L = 4)); }),
           " has 5 layers of layers, which");

    std::string text = file.bytes();
    for (std::size_t i; (i = text.find("layers.3.")) != std::string::npos;) text.replace(i, 9, "layers_3.");
    file.write(text);
    begins(t::said_alike([&] { static_cast<void>(os::load<on_stages>(file.path(), mesh)); }),
           " has no tensors called layers.3.w, layers.3.norm.gain and layers.3.norm.scale, and also has "
           "layers_3.norm.gain, layers_3.norm.scale and layers_3.w, for which the tree has no leaves; give");

    v.layers[2].w =
        t::placed<os::tensor<double, I/X, J/Y>>(m, t::whole_numbers<double>("IJ", {{'I', 4}, {'J', 3}}, 1));
    os::save(file.path(), v);
    CHECK(t::said_alike([&] { static_cast<void>(os::load<on_stages>(file.path(), mesh)); })
              .starts_with("load: layers.2.w in " + file.path() +
                           " has the extents (4, 3), and (5, 3) are asked for; give the extents of the file"));

    in_vector<os::values> const none = layers_in_vector(m, 0);
    os::save(file.path(), none);
    begins(t::said_alike([&] { static_cast<void>(os::load<on_stages>(file.path(), mesh)); }),
           " has no layers of layers.w, which would say its extents; give them");
    CHECK(os::load<on_stages>(file.path(), mesh, I = 5, J = 3).layers.w.extents()[0] == 0);
  });
}
