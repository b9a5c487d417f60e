// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Files: tensors without elements or axes, arrays whose columns come first, and another number of devices.

// page: Files
// sham:

#include <doctest/doctest.h>

#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "field/field_case.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

using namespace field;

namespace {

template <class Leaf>
struct with_nothing_between {
  os::leaf<Leaf, float, I/X> a;
  os::leaf<Leaf, float, J/X, K> b;
  os::leaf<Leaf, float, L> c;
  os::leaf<Leaf, float, I, K/Y> d;
};

template <class Leaf>
struct counted {
  os::leaf<Leaf, std::int64_t> step;
};

template <class Leaf>
struct uneven {
  os::leaf<Leaf, double, B/X> a;
  os::leaf<Leaf, double, I/X> b;
  os::leaf<Leaf, double, J/X> c;
  os::leaf<Leaf, double, K/Y/X> d;
};

template <class Leaf>
struct uneven_elsewhere {
  os::leaf<Leaf, double, B/Y> a;
  os::leaf<Leaf, double, I> b;
  os::leaf<Leaf, double, J/X/Y> c;
  os::leaf<Leaf, double, K/X> d;
};

template <class Leaf>
struct state {
  uneven<Leaf> p, m;
  os::leaf<Leaf, std::int64_t> steps;
};

template <class Leaf>
struct state_elsewhere {
  uneven_elsewhere<Leaf> p, m;
  os::leaf<Leaf, std::int64_t> steps;
};

template <class T>
std::string bytes_of(std::vector<T> const& values) {
  return {reinterpret_cast<char const*>(values.data()), values.size() * sizeof(T)};
}

// A safetensors file of another program.
std::string safetensors(std::string header, std::string const& data) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return bytes_of(std::vector<std::uint64_t>{header.size()}) + header + data;
}

// The bytes of a file behind its header.
std::string data_in(std::string const& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), std::min<std::size_t>(8, file.size()));
  return file.size() < 8 + length ? "no data" : file.substr(8 + length);
}

// An .npy file of another program.
std::string npy(std::string const& descr, std::string const& order, std::string const& shape, std::string const& data) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  std::string s("\x93NUMPY\x01\0", 8);
  s += static_cast<char>(header.size() & 0xFF);
  s += static_cast<char>(header.size() >> 8);
  return s + header + data;
}

std::string big_endian(std::string bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += 8)
    std::reverse(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(at + 8));
  return bytes;
}

template <class Tree>
Tree placed_state(double shift) {
  Tree s;
  auto const put = [&](auto& leaf, t::global_tensor<double> g) {
    for (double& v : g.values) v += shift;
    leaf = place<std::remove_reference_t<decltype(leaf)>>(g);
  };
  put(s.a, count_up("B", {6}));
  put(s.b, count_up("I", {3}));
  put(s.c, count_up("J", {5}));
  put(s.d, count_up("K", {7}));
  return s;
}

template <class Tree>
void is_the_state(Tree const& s) {
  gives(s.p.a, {0, 1, 2, 3, 4, 5});
  gives(s.p.b, {0, 1, 2});
  gives(s.p.c, {0, 1, 2, 3, 4});
  gives(s.p.d, {0, 1, 2, 3, 4, 5, 6});
  gives(s.m.a, {0.5, 1.5, 2.5, 3.5, 4.5, 5.5});
  gives(s.m.b, {0.5, 1.5, 2.5});
  gives(s.m.c, {0.5, 1.5, 2.5, 3.5, 4.5});
  gives(s.m.d, {0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5});
  gives(s.steps, 3);
}

}  // namespace

FIELD_CASE("F1", "huggingface/safetensors#442, huggingface/safetensors#205, huggingface/safetensors#510",
           "A tensor without elements between two others was refused, or moved their offsets.") {
  with_nothing_between<os::values> p;
  p.a = place<os::tensor<float, I/X>>(numbers<float>("I", {3}, {1, 2, 3}));
  p.b = place<os::tensor<float, J/X, K>>(numbers<float>("JK", {2, 0}, {}));
  p.c = place<os::tensor<float, L>>(numbers<float>("L", {0}, {}));
  p.d = place<os::tensor<float, I, K/Y>>(numbers<float>("IK", {2, 1}, {4, 5}));
  t::scratch_file const file("a.safetensors");
  os::save(file.path(), p);
  CHECK(data_in(file.bytes()) == bytes_of<float>({1, 2, 3, 4, 5}));
  auto const again = os::load<with_nothing_between>(file.path(), mesh());
  gives(again.a, {1, 2, 3});
  gives(again.b, {}, {2, 0});
  gives(again.c, {}, {0});
  gives(again.d, {4, 5});
}

FIELD_CASE("F3", "rogersce/cnpy#7, xtensor-stack/xtensor#2032, eddelbuettel/rcppcnpy#12",
           "An array whose file has its columns first was read as its transpose.") {
  t::scratch_file const file("a.npy");
  for (bool const most_significant_first : {false, true}) {
    auto const written = [&](std::string const& order, std::string const& shape, std::vector<double> const& data) {
      std::string const bytes = bytes_of(data);
      file.write(npy(most_significant_first ? ">f8" : "<f8", order, shape,
                     most_significant_first ? big_endian(bytes) : bytes));
    };
    written("True", "(2, 3)", {0, 3, 1, 4, 2, 5});
    gives(os::load<double, I/X, J>(file.path(), mesh()), {0, 1, 2, 3, 4, 5}, {2, 3});
    gives(os::load<double, I, J/X>(file.path(), mesh()), {0, 1, 2, 3, 4, 5}, {2, 3});
    written("True", "(3,)", {7, 8, 9});
    gives(os::load<double, I/X>(file.path(), mesh()), {7, 8, 9});
    written("False", "()", {6});
    gives(os::load<double>(file.path(), mesh()), 6);
    written("True", "(1, 3)", {1, 2, 3});
    gives(os::load<double, I/Y, J/X>(file.path(), mesh()), {1, 2, 3}, {1, 3});
  }
}

FIELD_CASE("F4", "huggingface/safetensors#380, vllm-project/vllm#1696",
           "A number was saved with the shape [1] where the shape [] was meant, or the other way round.") {
  counted<os::values> p;
  p.step = place<os::tensor<std::int64_t>>(numbers<std::int64_t>("", {}, {17}));
  t::scratch_file const file("a.safetensors");
  os::save(file.path(), p);
  CHECK(file.bytes().find(R"("step":{"dtype":"I64","shape":[],"data_offsets":[0,8]})") != std::string::npos);
  gives(os::load<counted>(file.path(), mesh()).step, 17);
  file.write(safetensors(R"({"step":{"dtype":"I64","shape":[],"data_offsets":[0,8]}})", bytes_of<std::int64_t>({18})));
  gives(os::load<counted>(file.path(), mesh()).step, 18);
  file.write(safetensors(R"({"step":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", bytes_of<std::int64_t>({18})));
  refuses([&] { static_cast<void>(os::load<counted>(file.path(), mesh())); },
          "has 1 axis, of extent 1, and a tensor without axes is asked for");
}

FIELD_CASE("F5", "pytorch/pytorch#108869, pytorch/torchtitan#811, NVIDIA/Megatron-LM#5077",
           "Parameters that the ranks do not divide evenly were wrong when another number of ranks loaded them.") {
  t::scratch_file const file("a.safetensors");
  state<os::values> s{placed_state<uneven<os::values>>(0), placed_state<uneven<os::values>>(0.5),
                      place<os::tensor<std::int64_t>>(numbers<std::int64_t>("", {}, {3}))};
  os::save(file.path(), s);
  // The same bytes from every mesh: the number of steps stands where it stands by the order of the leaves.
  std::string const data = data_in(file.bytes());
  CHECK(data.size() == 8 * (2 * (6 + 3 + 5 + 7) + 1));
  CHECK(data.find(bytes_of<double>({0, 1, 2, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6})) !=
        std::string::npos);
  on_every_mesh([&] {
    is_the_state(os::load<state>(file.path(), mesh()));
    is_the_state(os::load<state_elsewhere>(file.path(), mesh()));
  });
}
