// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Trees of parameters into safetensors files and out of them: the contents of the file byte by byte, on every mesh,
/// from one mesh and sharding to others, with lengths of vectors, beside others; the bytes that a device reads.
// ranks: 1 2 4 6
// gpu: 2
// labels: essential

#include <doctest/doctest.h>

#include <ostraka/elements/cast.hpp>
#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

#if OSTRAKA_ENABLE_MPI
namespace {
std::int64_t bytes_read_by_mpi = 0;
}

// Between the program and MPI.
extern "C" int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void* data, int count, MPI_Datatype type,
                                    MPI_Status* status) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  bytes_read_by_mpi += std::int64_t(count) * bytes;
  return PMPI_File_read_at_all(file, at, data, count, type, status);
}
#endif

namespace os = ostraka;
namespace t = os::testing;

namespace {

using mesh_of_test = os::mesh<X_mesh, Y_mesh, Z_mesh>;

mesh_of_test mesh_of(t::test_mesh const& m) { return mesh_of_test(m.handle()); }

template <class L>
struct layer {
  os::leaf<L, float, I/X, J/Y> w;
  os::leaf<L, os::bfloat16, J> b;
};

template <class L>
struct model {
  os::leaf<L, bool, K/X> mask;
  std::vector<layer<L>> layers;
  int heads = 4;
  std::array<os::leaf<L, std::int64_t>, 2> steps;
  os::leaf<L, std::complex<float>, K> wave;
};

// The same names, divided otherwise.
template <class L>
struct other_layer {
  os::leaf<L, float, I, J/X/Y> w;
  os::leaf<L, os::bfloat16, J/Z> b;
};

template <class L>
struct other_model {
  os::leaf<L, std::complex<float>, K/Y> wave;
  os::leaf<L, bool, K> mask;
  std::vector<os::leaf<L, std::int64_t>> steps;
  std::vector<other_layer<L>> layers;
};

template <class L>
struct by_another_hand {
  os::leaf<L, float, I/X, J/Y> w;
  os::leaf<L, bool, J/X> flag;
};

t::extents_by_letter const extents = {{'I', 5}, {'J', 3}, {'K', 7}};

template <class A>
inline constexpr bool has_bools = std::is_same_v<typename A::value_type, bool>;

// Bools are compared as bytes: a std::vector<bool> has no array of them.
template <class A>
using compared = std::conditional_t<has_bools<A>, std::int8_t, typename A::value_type>;

template <class A>
auto whole(std::uint64_t salt) {
  auto g = t::whole_numbers<compared<A>>(t::letters_in<A>(), extents, salt);
  if constexpr (has_bools<A>)
    for (auto& v : g.values) v = v != 0;
  return g;
}

template <class A>
A placed(t::test_mesh const& m, std::uint64_t salt) {
  if constexpr (has_bools<A>)
    return os::cast<bool>(
        t::placed<os::basic_tensor<std::int8_t, os::sharding_in<A>, typename A::space>>(m, whole<A>(salt)));
  else
    return t::placed<A>(m, whole<A>(salt));
}

template <class A>
std::int64_t differing(t::test_mesh const& m, A const& a, t::global_tensor<compared<A>> const& g) {
  if constexpr (has_bools<A>)
    return t::disagreements(m, os::cast<std::int8_t>(a), g);
  else
    return t::disagreements(m, a, g);
}

template <class Tree>
void fill(t::test_mesh const& m, Tree& tree, std::size_t layers) {
  tree.layers.resize(layers);
  std::uint64_t salt = 0;
  os::for_each_leaf([&]<class A>(std::string const&, A& a) { a = placed<A>(m, ++salt); }, tree);
}

// The number that fills a leaf.
std::uint64_t salt_of(std::string const& path) {
  if (path == "mask") return 1;
  if (path.starts_with("layers")) return 2 + 2 * static_cast<std::uint64_t>(path[7] - '0') + (path.back() == 'b');
  return path == "steps[0]" ? 6 : path == "steps[1]" ? 7 : 8;
}

template <class Tree>
std::int64_t wrong_elements(t::test_mesh const& m, Tree const& tree) {
  std::int64_t wrong = 0;
  os::for_each_leaf(
      [&]<class A>(std::string const& path, A const& a) { wrong += differing(m, a, whole<A>(salt_of(path))) != 0; },
      tree);
  return wrong;
}

template <class T>
std::string bytes_of(std::vector<T> const& values) {
  std::string bytes;
  for (T const& v : values) {
    char one[sizeof(T)];
    std::memcpy(one, static_cast<void const*>(&v), sizeof(T));
    bytes.append(one, sizeof(T));
  }
  return bytes;
}

std::string with_length(std::string json) {
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string s;
  for (int byte = 0; byte < 8; ++byte) s += static_cast<char>(json.size() >> 8 * byte & 0xFF);
  return s + json;
}

template <class A>
std::string data_of(std::uint64_t salt) {
  return bytes_of(whole<A>(salt).values);
}

// The file of a model of two layers.
std::string expected_file(std::string const& mesh) {
  std::string const json =
      R"({"__metadata__":{"ostraka":"0.1","mesh":")" + mesh +
      R"(","format":"pt","mask.axes":"K/X","layers.0.w.axes":"I/X, J/Y","layers.0.b.axes":"J",)"
      R"("layers.1.w.axes":"I/X, J/Y","layers.1.b.axes":"J","steps.0.axes":"","steps.1.axes":"","wave.axes":"K"},)"
      R"("steps.0":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("steps.1":{"dtype":"I64","shape":[],"data_offsets":[8,16]},)"
      R"("wave":{"dtype":"C64","shape":[7],"data_offsets":[16,72]},)"
      R"("layers.0.w":{"dtype":"F32","shape":[5,3],"data_offsets":[72,132]},)"
      R"("layers.1.w":{"dtype":"F32","shape":[5,3],"data_offsets":[132,192]},)"
      R"("layers.0.b":{"dtype":"BF16","shape":[3],"data_offsets":[192,198]},)"
      R"("layers.1.b":{"dtype":"BF16","shape":[3],"data_offsets":[198,204]},)"
      R"("mask":{"dtype":"BOOL","shape":[7],"data_offsets":[204,211]}})";
  using matrix = os::tensor<float, I, J>;
  using bias = os::tensor<os::bfloat16, J>;
  using scalar = os::tensor<std::int64_t>;
  return with_length(json) + data_of<scalar>(6) + data_of<scalar>(7) + data_of<os::tensor<std::complex<float>, K>>(8) +
         data_of<matrix>(2) + data_of<matrix>(4) + data_of<bias>(3) + data_of<bias>(5) +
         data_of<os::tensor<bool, K>>(1);
}

std::int64_t bytes_in(auto const& tree) {
  return os::tree_reduce(
      [](std::int64_t n, auto const& a) { return n + std::int64_t(a.local().span() * sizeof(*a.local().data())); },
      std::int64_t{0}, tree);
}

}  // namespace

TEST_CASE("a tree, on every mesh and from there to every other") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    CAPTURE(m.text());
    model<os::values> p;
    fill(m, p, 2);
    os::save(file.path(), p);
    std::string const written = expected_file(m.handle()->describe());
    CHECK(file.bytes() == written);
    CHECK(file.files_beside() == 1);
    t::on_every_mesh([&](t::test_mesh const& other) {
      CAPTURE(other.text());
      auto const same = os::load<model>(file.path(), mesh_of(other));
      CHECK(same.layers.size() == 2);
      CHECK(same.heads == 4);
      CHECK(wrong_elements(other, same) == 0);

      auto const before = os::engine::traffic_of_files;
#if OSTRAKA_ENABLE_MPI
      bytes_read_by_mpi = 0;
#endif
      auto const otherwise = os::load<other_model>(file.path(), mesh_of(other), I = 5, K = 7);
      CHECK(wrong_elements(other, otherwise) == 0);
      std::int64_t const header = other.handle()->device() == 0 ? static_cast<std::int64_t>(written.size()) - 211 : 0;
      CHECK(os::engine::traffic_of_files.read - before.read == bytes_in(otherwise) + header);
#if OSTRAKA_ENABLE_MPI
      CHECK(bytes_read_by_mpi == (t::ranks() > 1 ? bytes_in(otherwise) : 0));
#endif
    });
  });
}

TEST_CASE("what is repeated is written once, by several devices in turn") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    model<os::values> p;
    fill(m, p, 2);
    auto const before = os::engine::traffic_of_files;
    os::save(file.path(), p);
    std::int64_t const mine = os::engine::traffic_of_files.written - before.written;
    std::int64_t all = 0;
    for (std::int64_t n : t::numbers_of_ranks(mine)) all += n;
    CHECK(all == static_cast<std::int64_t>(file.bytes().size()));
    CHECK((t::ranks() == 1 || m.handle()->device() == 0 || mine > 0));
  });
}

TEST_CASE("into a tree that is there") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    model<os::values> p;
    fill(m, p, 2);
    os::save(file.path(), p);
    auto q = os::tree_map([](auto const& a) { return os::zeros_like(a); }, p);
    void const* const memory = q.layers[1].w.local().data();
    os::load_into(q, file.path());
    CHECK(wrong_elements(m, q) == 0);
    CHECK(q.layers[1].w.local().data() == memory);
  });
}

TEST_CASE("several trees together, and one of them alone") {
  t::scratch_file const file("run.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    model<os::values> p;
    fill(m, p, 2);
    layer<os::values> const moments{placed<os::tensor<float, I/X, J/Y>>(m, 9),
                                    placed<os::tensor<os::bfloat16, J>>(m, 10)};
    os::save(file.path(), os::together("model", p, "optimizer", moments));

    auto q = os::tree_map([](auto const& a) { return os::zeros_like(a); }, p);
    auto const other = os::tree_map([](auto const& a) { return os::zeros_like(a); }, moments);
    os::load_into(os::together("model", q, "optimizer", other), file.path());
    CHECK(wrong_elements(m, q) == 0);
    CHECK(t::disagreements(m, other.w, whole<os::tensor<float, I, J>>(9)) == 0);
    CHECK(t::disagreements(m, other.b, whole<os::tensor<os::bfloat16, J>>(10)) == 0);

    auto r = os::tree_map([](auto const& a) { return os::zeros_like(a); }, p);
    os::load_into(os::together("model", r), file.path(), os::ignore_others);
    CHECK(wrong_elements(m, r) == 0);

    // Temporaries, names among them, live as long as the tree that holds them.
    auto const kept = os::together(std::string("a long name of which no ") + "literal is left", model<os::values>(p),
                                   std::string("and another one that is no literal"), layer<os::values>(moments));
    os::save(file.path(), kept);
    CHECK(file.bytes().find("\"a long name of which no literal is left.layers.1.w\"") != std::string::npos);
    auto s = os::tree_map([](auto const& a) { return os::zeros_like(a); }, p);
    os::load_into(os::together("a long name of which no literal is left", s), file.path(), os::ignore_others);
    CHECK(wrong_elements(m, s) == 0);
  });
}

TEST_CASE("a file by another hand: any order, spaces, no metadata, bools that are neither 0 nor 1") {
  t::scratch_file const file("model.safetensors");
  file.write(with_length(R"({ "w":{"data_offsets":[3,15],"shape":[1,3],"dtype":"F32"}, )"
                         R"("flag" : {"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}} )") +
             std::string("\0\1\7", 3) + bytes_of<float>({1, 2, 3}));
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const p = os::load<by_another_hand>(file.path(), mesh_of(m));
    CHECK(t::disagreements(m, p.w, t::global_tensor<float>{"IJ", {{'I', 1}, {'J', 3}}, {1, 2, 3}}) == 0);
    CHECK(differing(m, p.flag, t::global_tensor<std::int8_t>{"J", {{'J', 3}}, {0, 1, 1}}) == 0);
  });
}
