// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Saves that the program does not wait for, on every mesh: the file is that of os::save at the time of the call, an
/// older one is there until `test` or `wait`, the program goes on meanwhile. Errors of one rank come out on all; a job
/// that dies leaves the old file whole.
// ranks: 1 2 4
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "files/dying.hpp"
#include "files/failing.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using t::mesh_of;
using t::model;
using t::said_alike;
using t::says;

namespace {

// The bytes of a file that os::save makes of these, alone in a folder.
template <class... Given>
std::string saved(std::string const& name, Given const&... given) {
  t::scratch_file const file(name);
  os::save(file.path(), given...);
  t::numbers_of_ranks(0);
  std::string bytes = file.bytes();
  t::numbers_of_ranks(0);
  return bytes;
}

std::string bytes_on_all(t::scratch_file const& file) {
  t::numbers_of_ranks(0);
  std::string bytes = file.bytes();
  t::numbers_of_ranks(0);
  return bytes;
}

int files_on_all(t::scratch_file const& file) {
  t::numbers_of_ranks(0);
  int const n = file.files_beside();
  t::numbers_of_ranks(0);
  return n;
}

auto tree(t::test_mesh const& m, std::uint64_t seed) {
  return os::make_tree<model>(mesh_of(m), I = 5, J = 3, os::seed(seed));
}

}  // namespace

TEST_CASE("the file is that of the call, the old one is there until then") {
  t::on_every_mesh([&](t::test_mesh const& m) {
    CAPTURE(m.text());
    t::scratch_file const file("model.safetensors"), array("a.npy");
    file.write("the old file");
    auto const p = tree(m, 1);
    std::string const wanted = saved("model.safetensors", p), wanted_array = saved("a.npy", p.w);
    {
      os::pending_save saving = os::start_save(file.path(), p);
      os::pending_save another = os::start_save(array.path(), p.w);
      t::change_block(p.w, [](auto const& block) { block.data()[0] += 1; });  // at once
      CHECK(bytes_on_all(file) == "the old file");
      float const sum = os::value(os::sum(p.w));  // the mesh is free meanwhile
      CHECK(sum == os::value(os::sum(p.w)));
      while (!saving.test()) {
      }
      CHECK(saving.test());
      CHECK(bytes_on_all(file) == wanted);
      saving.wait();
      another.wait();
      CHECK(bytes_on_all(array) == wanted_array);
      t::change_block(p.w, [](auto const& block) { block.data()[0] -= 1; });
    }
    CHECK(files_on_all(file) == 1);
    CHECK(files_on_all(array) == 1);

    auto const q = tree(m, 2);
    {
      os::pending_save saving = os::start_save(file.path(), os::together("a", q, "b", p));
      saving = os::start_save(file.path(), q, os::stored_as{{"w", "weight"}});  // waits for the other
      CHECK(bytes_on_all(file) == saved("model.safetensors", os::together("a", q, "b", p)));
      os::pending_save const moved = std::move(saving);
      saving.wait();  // there is none
      CHECK(saving.test());
    }
    CHECK(bytes_on_all(file) == saved("model.safetensors", q, os::stored_as{{"w", "weight"}}));
    os::pending_save none;
    none.wait();
    CHECK(none.test());
    CHECK(files_on_all(file) == 1);
  });
}

TEST_CASE("in parts") {
  t::on_every_mesh([&](t::test_mesh const& m) {
    t::scratch_file const index("model.safetensors.index.json");
    auto const p = tree(m, 1), q = tree(m, 2);
    os::save(index.path(), p, os::in_parts_of(60));
    std::string const before = bytes_on_all(index);
    auto saving = os::start_save(index.folder().string(), q, os::in_parts_of(1000));
    CHECK(bytes_on_all(index) == before);
    CHECK(files_on_all(index) == 4);
    saving.wait();
    CHECK(files_on_all(index) == 2);
    auto const again = os::load<model>(index.path(), mesh_of(m));
    CHECK(saved("model.safetensors", again) == saved("model.safetensors", q));
  });
}

TEST_CASE("an exception under way drops the save, and the old file stays") {
  t::on_every_mesh([&](t::test_mesh const& m) {
    t::scratch_file const file("model.safetensors");
    file.write("the old file");
    auto const p = tree(m, 1);
    try {
      os::pending_save const saving = os::start_save(file.path(), p);
      throw std::runtime_error("another thing");
    } catch (std::runtime_error const&) {
    }
    CHECK(bytes_on_all(file) == "the old file");
    CHECK(files_on_all(file) == 1);
  });
}

TEST_CASE("errors at the call, and those of one rank's thread, on all ranks") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    file.write("the old file");
    auto const p = os::make_tree<model>(mesh_of(m), I = 100, J = 30);
    auto const said = [&](std::string const& path) {
      return said_alike([&] { static_cast<void>(os::start_save(path, p)); });
    };
    says(said((file.folder() / "none" / "m.safetensors").string()), "No such file or directory");
    says(said(file.path() + ".txt"), "give a path that ends in .safetensors");
    says(said_alike([&] { static_cast<void>(os::start_save(file.path(), os::together("a", p, "a", p))); }),
         "two leaves are called a.");
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit usual{};
    ::getrlimit(RLIMIT_FSIZE, &usual);
    for (int where = 0; where < t::ranks(); ++where) {
      CAPTURE(where);
      rlimit limit = usual;
      if (where == t::rank()) limit.rlim_cur = 300;
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::string const what = said_alike([&] {
        auto saving = os::start_save(file.path(), p);
        saving.wait();
      });
      ::setrlimit(RLIMIT_FSIZE, &usual);
      // A rank that writes nothing, or only at the front, does not meet the end of its disk.
      bool const writes_there = m.text().find("X=" + std::to_string(t::ranks())) != std::string::npos;
      if (where == 0 || writes_there) says(what, "File too large");
      if (what != "nothing") CHECK(bytes_on_all(file) == "the old file");
      CHECK(files_on_all(file) == 1);
      file.write("the old file");
    }
    auto saving = os::start_save(file.path(), p);
    saving.wait();
    CHECK(bytes_on_all(file) == saved("model.safetensors", p));
  });
}

TEST_CASE("a job that dies at any moment leaves the old file or the new one") {
  if (t::ranks() > 1) return;  // (a job of several ranks would end with the one)
  t::test_mesh const m(t::mesh_shapes().front());
  auto const p = tree(m, 1), q = tree(m, 2);
  std::string const before = saved("model.safetensors", p), after = saved("model.safetensors", q);
  int old_ones = 0;
  bool ended = false;
  for (int n = 0; !ended && n < 100; ++n) {
    t::scratch_file const file("model.safetensors");
    file.write(before);
    ended = t::dies_at(n, [&] {
      auto saving = os::start_save(file.path(), q);
      saving.wait();
    });
    std::string const found = file.bytes();
    CHECK((found == before || found == after));
    old_ones += found == before;
    if (ended) CHECK(found == after);
  }
  CHECK(ended);
  CHECK(old_ones > 2);
  t::scratch_file const file("model.safetensors");
  file.write(before);
  CHECK(!t::dies_at(1000, [&] {
    auto const saving = os::start_save(file.path(), q);
    ::kill(::getpid(), SIGKILL);  // all may be written, and the program has not come to `wait`
  }));
  CHECK(file.bytes() == before);
}
