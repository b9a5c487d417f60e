// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Loading fails on one rank or on all: every rank throws the same sentence, none hangs, and the target of the load
/// does not change.
// ranks: 1 2 4
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "files/failing.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace {
long arrays_until_memory_ends = -1;
}

// Memory runs out for one of a program's arrays; the others are as usual.
void* operator new[](std::size_t bytes) {
  if (arrays_until_memory_ends >= 0 && arrays_until_memory_ends-- == 0) throw std::bad_alloc();
  return ::operator new(bytes);
}
void operator delete[](void* p) noexcept { ::operator delete(p); }
void operator delete[](void* p, std::size_t) noexcept { ::operator delete(p); }

namespace os = ostraka;
namespace t = os::testing;

using t::mesh_of;
using t::model;
using t::said_alike;
using t::says;
using t::smaller;

namespace {

template <class L>
struct doubles {
  os::leaf<L, double, I, J> w;
  os::leaf<L, std::int32_t, J> b;
};

template <class L>
struct turned {
  os::leaf<L, float, J, I> w;
  os::leaf<L, std::int32_t, J> b;
};

template <class L>
struct renamed {
  os::leaf<L, float, K, B> w;
  os::leaf<L, std::int32_t, B> b;
};

template <class L>
struct larger {
  os::leaf<L, float, I, J> w;
  os::leaf<L, std::int32_t, J> b;
  os::leaf<L, float, J> c;
};

template <class L>
struct of_one_axis {
  os::leaf<L, float, I> w;
};

template <class L>
struct of_no_axes {
  os::leaf<L, float> w;
};

template <class L>
struct flat {
  os::leaf<L, float, I> w;
  os::leaf<L, std::int32_t, J> b;
};

template <class L>
struct with_layers {
  std::vector<smaller<L>> layers;
};

template <class L>
struct two_names {
  os::leaf<L, float, I, J> w, v;
};

template <class L>
struct stack {
  smaller<os::stacked<L, K>> layers;
};
template <class L>
struct stack_in_two {
  smaller<os::stacked<L, K, B>> layers;
};

template <class L>
struct two_vectors {
  std::vector<smaller<L>> one, other;
};

template <class L>
struct nested {
  std::vector<two_vectors<L>> layers;
};

std::string with_length(std::string const& json) {
  std::string s;
  for (int byte = 0; byte < 8; ++byte) s += static_cast<char>(json.size() >> 8 * byte & 0xFF);
  return s + json;
}

}  // namespace

TEST_CASE("a file that is not there, or no such file") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const load = [&] { static_cast<void>(os::load<model>(file.path(), mesh_of(m))); };
    says(
        said_alike([&] { static_cast<void>(os::load<model>((file.folder() / "x.safetensors").string(), mesh_of(m))); }),
        "No such file or directory");
    says(said_alike([&] { static_cast<void>(os::load<model>(file.folder().string() + "x", mesh_of(m))); }),
         "give a path that ends in");
    says(said_alike([&] { static_cast<void>(os::load<float, I>("a.safetensors", mesh_of(m))); }),
         "give a path that ends in .npy");
    for (std::string const& wrong :
         {std::string(), std::string("1234567"), std::string(8, '\xff'), std::string("\x05\0\0\0\0\0\0\0{}", 10),
          with_length("{\"w\":" + std::string(1000, '[')), with_length("{} "), with_length("{}") + "more",
          with_length(R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})"),
          with_length(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,9223372036854775807]}})"),
          with_length("{\"\xff\":1}")}) {
      file.write(wrong);
      std::string const said = said_alike(load);
      if (wrong != with_length("{} ")) says(said, "is no well-formed .safetensors file");
      if (wrong == with_length("{} ")) says(said, "has no tensors called w and b; give");
    }
    os::save(file.path(), os::make_tree<model>(mesh_of(m), I = 5, J = 3));
    std::string const good = file.bytes();
    for (std::size_t n = 0; n < good.size(); n += 31) {
      file.write(good.substr(0, n));
      says(said_alike(load), "is no well-formed .safetensors file");
    }
    file.write(good + '\0');
    says(said_alike(load), "belong to no tensor");
    file.write(good);
    load();
  });
}

TEST_CASE("tensors of other numbers of axes than the file's") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const mesh = mesh_of(m);
    std::string const& path = file.path();
    os::save(path, os::make_tree<of_one_axis>(mesh, I = 1));
    CHECK(said_alike([&] { static_cast<void>(os::load<of_no_axes>(path, mesh)); }) ==
          "load: w in " + path +
              " has 1 axis, of extent 1, and a tensor without axes is asked for; name an axis for each of the file's "
              "(the leaf w)");
    os::save(path, os::make_tree<of_no_axes>(mesh));
    CHECK(said_alike([&] { static_cast<void>(os::load<of_one_axis>(path, mesh)); }) ==
          "load: w in " + path +
              " has no axes, and one of the axes (I) is asked for; name an axis for each of the file's (the leaf w)");
  });
}

TEST_CASE("another tree than was saved") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const mesh = mesh_of(m);
    os::save(file.path(), os::make_tree<model>(mesh, I = 5, J = 3));
    auto const said = [&](auto const& load) { return said_alike([&] { static_cast<void>(load()); }); };
    std::string const& path = file.path();
    says(said([&] { return os::load<doubles>(path, mesh); }),
         "w in " + path + " has elements F32, and F64 are asked for");
    says(said([&] { return os::load<turned>(path, mesh); }),
         "was saved with the axes I/X, J/Y, which are asked for in another order");
    says(said([&] { return os::load<larger>(path, mesh); }), "has no tensor called c");
    says(said([&] { return os::load<smaller>(path, mesh); }), "also has b, for which the tree has no leaf");
    says(said([&] { return os::load<flat>(path, mesh); }),
         "has 2 axes, of extents (5, 3), and one of the axes (I) is asked for");
    says(said([&] { return os::load<with_layers>(path, mesh); }),
         "also has b and w, for which the tree has no leaves;");
    says(said([&] { return os::load<model>(path, mesh, I = 6); }),
         "has the extents (5, 3), and (6, any) are asked for");
    says(said([&] { return os::load<model>(path, mesh, os::sizes(I = 5, J = 4, B = 2)); }), "(5, 4) are asked for");
    CHECK(said([&] { return os::load<smaller>(path, mesh, os::ignore_others); }) == "nothing");
    CHECK(said([&] { return os::load<renamed>(path, mesh); }) == "nothing");
    CHECK(said([&] { return os::load<with_layers>(path, mesh, os::ignore_others); }) == "nothing");

    auto const there = os::make_tree<model>(mesh, I = 6, J = 3, os::seed(3));
    auto const copy = os::tree_map([](auto const& a) { return os::copy(a); }, there);
    says(said_alike([&] { os::load_into(there, path); }), "(6, 3) are asked for");
    os::for_each_leaf(
        [](std::string const&, auto const& a, auto const& b) {
          auto const left = t::host_block(a), right = t::host_block(b);
          for (std::size_t i = 0; i < left.size(); ++i) CHECK(left.data()[i] == right.data()[i]);
        },
        there, copy);
  });
}

TEST_CASE("ranks whose requests differ") {
  if (t::ranks() < 2) return;
  t::scratch_file const file("model.safetensors");
  t::scratch_file const array("a.npy");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const mesh = mesh_of(m);
    bool const first = t::rank() == 0;
    std::string const& path = file.path();
    auto const of_model = [&](auto... given) { static_cast<void>(os::load<model>(path, mesh, given...)); };
    os::save(path, os::make_tree<model>(mesh, I = 5, J = 3));
    // One rank's request fails: all throw its error.
    says(said_alike([&] { of_model(I = first ? 5 : 6); }), "has the extents (5, 3), and (6, any) are asked for");
    says(said_alike([&] { of_model(I = first ? 6 : 5); }), "has the extents (5, 3), and (6, any) are asked for");
    auto const names = [&](std::string_view name) { return std::string(name == "w" && !first ? "x" : name); };
    says(said_alike([&] { of_model(names); }), "has no tensor called w, and also has w, for which");
    auto const failing = [&](std::string_view name) {
      if (!first) throw std::runtime_error("a function of the program");
      return std::string(name);
    };
    says(said_alike([&] { of_model(failing); }), "a function of the program");
    auto const wordless = [&](std::string_view name) {
      if (!first) throw std::runtime_error("");
      return std::string(name);
    };
    says(said_alike([&] { of_model(wordless); }), "an error without a text");
    auto const there = os::make_tree<smaller>(mesh, I = 5, J = 3, os::seed(3));
    auto const copy = os::tree_map([](auto const& a) { return os::copy(a); }, there);
    says(said_alike([&] { first ? os::load_into(there, path, os::ignore_others) : os::load_into(there, path); }),
         "also has b, for which the tree has no leaf");
    auto const kept = t::host_block(there.w), before = t::host_block(copy.w);
    for (std::size_t i = 0; i < kept.size(); ++i) CHECK(kept.data()[i] == before.data()[i]);
    os::save(array.path(), os::random<double, I/X>(mesh, I = 4, os::seed(1)));
    auto const a = os::zeros<float, I>(mesh, I = 4);
    says(said_alike([&] {
           first ? os::load_into(a, array.path(), os::cast_to<float>) : os::load_into(a, array.path());
         }),
         "has elements F64, and F32 are asked for");
    // Each request succeeds: the first one that differs is named.
    if (mesh.handle()->world().compared() == os::engine::compared_calls::none) return;
    os::save(path, os::make_tree<two_names>(mesh, I = 5, J = 3));
    auto const swapped = [&](std::string_view name) { return std::string(first ? name : name == "v" ? "w" : "v"); };
    std::string const said = said_alike([&] { static_cast<void>(os::load<two_names>(path, mesh, swapped)); });
    says(said, "rank 0 calls load w of the extents (5, 3), from w at byte 0; ");
    says(said, " load w of the extents (5, 3), from v at byte 60; ");
    os::save(path, os::make_tree<stack>(mesh, I = 5, J = 3, K = 6));
    says(said_alike([&] { static_cast<void>(os::load<stack_in_two>(path, mesh, K = first ? 2 : 3)); }),
         "rank 0 calls load layers stacked along axes of the extents (2, 3); ");
    CHECK(said_alike([&] { static_cast<void>(os::load<stack_in_two>(path, mesh, K = 2)); }) == "nothing");
  });
}

TEST_CASE("memory that ends on one rank") {
  t::scratch_file const file("a.npy");
  std::string header = "{'descr': '>f4', 'fortran_order': True, 'shape': (8, 4), }";
  header.resize(118, ' ');
  file.write(std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + std::string(128, '\0'));
  t::on_every_mesh([&](t::test_mesh const& m) {
    bool const here = t::rank() == t::ranks() - 1;
    int ended = 0;
    for (long array = 0; array < 4; ++array) {
      CAPTURE(array);
      auto const said = said_alike<std::exception>([&] {
        if (here) arrays_until_memory_ends = array;
        static_cast<void>(os::load<float, I/X, J/Y>(file.path(), mesh_of(m)));
        arrays_until_memory_ends = -1;
      });
      arrays_until_memory_ends = -1;
      CHECK((said == "nothing" || said == std::bad_alloc().what()));
      ended += said != "nothing";
    }
    CHECK(ended >= 2);  // the elements read, and the same with their rows first
  });
}

TEST_CASE("vectors are not longer than a file has tensors of them") {
  t::scratch_file const file("model.safetensors");
  auto const empty = [](std::string const& name) {
    return '"' + name + R"(":{"dtype":"F32","shape":[0,0],"data_offsets":[0,0]})";
  };
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const said = [&](std::string const& tensors) {
      file.write(with_length('{' + tensors + '}'));
      return said_alike([&] { static_cast<void>(os::load<with_layers>(file.path(), mesh_of(m), os::ignore_others)); });
    };
    says(said(empty("layers.99999999999999999999999.w")), "has layers.99999999999999999999999.w and no more than 1 ");
    says(said(empty("layers.2.w") + ',' + empty("layers.0.w") + ',' + empty("m") + ',' + empty("z")),
         "has layers.2.w and no more than 2 tensors of layers");
    says(said(empty("layers.1.w") + ',' + empty("layers.1.b")), "has no tensor called layers.0.w;");
    CHECK(said(empty("layers.0.w") + ',' + empty("layers.01.w") + ',' + empty("layers.7a.w")) == "nothing");
  });
}

TEST_CASE("a header of very many tensors takes no longer for each of them") {
  t::scratch_file const file("model.safetensors");
  std::string json = R"({"__metadata__":{)";
  int const count = 20000;
  for (int i = 0; i < count; ++i)
    json += (i > 0 ? ",\"layers." : "\"layers.") + std::to_string(i) + R"(.one.0.w.axes":"I, J")";
  json += '}';
  for (int i = 0; i < count; ++i)
    json += ",\"layers." + std::to_string(i) + R"(.one.0.w":{"dtype":"F32","shape":[0,0],"data_offsets":[0,0]})";
  file.write(with_length(json + R"(,"z":{"dtype":"F32","shape":[0,0],"data_offsets":[0,0]}})"));
  t::test_mesh const m(t::mesh_shapes().front());
  auto const seconds = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  };
  double const begun = seconds();
  says(said_alike([&] { static_cast<void>(os::load<nested>(file.path(), mesh_of(m))); }), "also has z");
  CHECK(seconds() - begun < 5);  // comparing each with each takes more than a minute
}
