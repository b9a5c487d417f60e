// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Saving fails on one rank or on all: every rank throws the same sentence, none hangs, the old file does not change,
/// and nothing is left beside it.
// ranks: 1 2 4
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "files/failing.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;
namespace fs = std::filesystem;

using t::mesh_of;
using t::model;
using t::said_alike;
using t::says;
using t::smaller;

namespace {

template <class L>
struct with_b {
  smaller<L> b;
};

template <class L>
struct with_metadata {
  os::leaf<L, float, I, J> __metadata__;
};

// Files of more bytes than this cannot be written, by this rank.
class full_disk {
 public:
  full_disk(bool here, rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &usual_);
    rlimit limit = usual_;
    if (here) limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~full_disk() { ::setrlimit(RLIMIT_FSIZE, &usual_); }

 private:
  rlimit usual_{};
};

}  // namespace

TEST_CASE("a file that cannot be made") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const p = os::make_tree<model>(mesh_of(m), I = 5, J = 3);
    says(said_alike([&] { os::save((file.folder() / "none" / "m.safetensors").string(), p); }),
         "No such file or directory");
    says(said_alike([&] { os::save("", p); }), "give a path that ends in .safetensors");
    says(said_alike([&] { os::save(".safetensors", p); }), "give a path that ends in .safetensors");
    says(said_alike([&] { os::save((file.folder() / "m.npy").string(), p); }), "give a path that ends in .safetensors");
    says(said_alike([&] { os::save(file.path(), p.w); }), "give a path that ends in .npy");
    std::string const folder = (file.folder() / "folder.safetensors").string();
    if (t::rank() == 0) fs::create_directory(folder);
    t::numbers_of_ranks(0);
    says(said_alike([&] { os::save(folder, p); }), "exists and is not a regular file");
    t::numbers_of_ranks(0);
    if (t::rank() == 0) fs::remove(folder);
    t::numbers_of_ranks(0);
    CHECK(file.files_beside() == 0);
    t::numbers_of_ranks(0);
    CHECK_THROWS_WITH_AS(os::save(file.path(), model<os::values>{}), doctest::Contains("empty handle"), os::error);
  });
}

TEST_CASE("names that no file can have keep what was there") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const mesh = mesh_of(m);
    auto const p = os::make_tree<smaller>(mesh, I = 5, J = 3);
    os::save(file.path(), os::together("a", os::make_tree<with_b>(mesh, I = 5, J = 3), "a.c", p));
    std::string const before = file.bytes();
    auto const said = [&](auto const& trees) { return said_alike([&] { os::save(file.path(), trees); }); };
    auto const q = os::make_tree<smaller>(mesh, I = 5, J = 3);
    says(said(os::together("model", p, "model", q)), "two leaves are called model.w in " + file.path());
    auto const b = os::make_tree<with_b>(mesh, I = 5, J = 3);
    says(said(os::together("a", b, "a.b", q)), "two leaves are called a.b.w in " + file.path());
    says(said(os::make_tree<with_metadata>(mesh, I = 5, J = 3)), "a leaf is called __metadata__ in " + file.path());
    says(said(os::together("caf\xe9", p)), "a string is not UTF-8");
    CHECK(file.bytes() == before);
    CHECK(file.files_beside() == 1);
    t::numbers_of_ranks(0);
  });
}

TEST_CASE("a disk that is full, for all ranks or for one") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const p = os::make_tree<model>(mesh_of(m), I = 100, J = 30);
    os::save(file.path(), p);
    std::string const before = file.bytes();
    auto const q = os::make_tree<model>(mesh_of(m), I = 100, J = 30, os::seed(1));
    for (int where = -1; where < t::ranks(); ++where) {
      std::string said;
      {
        full_disk const limit(where < 0 || where == t::rank(), 2000);
        said = said_alike([&] { os::save(file.path(), q); });
      }
      CAPTURE(where);
      // A rank of little data may not reach the end of its disk.
      if (where <= 0) says(said, "File too large");
      CHECK(file.files_beside() == 1);
      if (said != "nothing") CHECK(file.bytes() == before);
      t::numbers_of_ranks(0);
      os::save(file.path(), p);
      CHECK(file.bytes() == before);
    }
  });
}

TEST_CASE("a link is followed, an old file replaced, other users' rights to it as usual") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    std::string const link = (file.folder() / "newest.safetensors").string();
    auto const p = os::make_tree<model>(mesh_of(m), I = 5, J = 3);
    os::save(file.path(), p);
    std::string const before = file.bytes();
    if (t::rank() == 0) fs::create_symlink("model.safetensors", link);
    t::numbers_of_ranks(0);
    os::save(link, os::make_tree<model>(mesh_of(m), I = 5, J = 3, os::seed(7)));
    t::numbers_of_ranks(0);
    CHECK(fs::is_symlink(link));
    CHECK(file.bytes() != before);
    CHECK(file.bytes().size() == before.size());
    CHECK((fs::status(file.path()).permissions() & fs::perms::owner_all) ==
          (fs::perms::owner_read | fs::perms::owner_write));
    t::numbers_of_ranks(0);
    if (t::rank() == 0) fs::remove(link);
    t::numbers_of_ranks(0);
  });
}
