// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::load on a dry mesh: the blocks are those of the device that is played, and the bytes that it would read are
/// those that the device of a mesh of ranks reads. Only headers are read, so that a file may be of any size: a sparse
/// one here. The sentences of errors are the same.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/files.hpp>
#include <ostraka/meshes/dry_mesh.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

#include "files/failing.hpp"
#include "files/plain_safetensors.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

t::plain_tensor tensor(std::string const& name, std::string const& dtype, std::vector<std::int64_t> const& shape) {
  std::int64_t bytes = dtype == "BF16" ? 2 : 4;
  for (std::int64_t const n : shape) bytes *= n;
  return {name, dtype, shape, std::string(static_cast<std::size_t>(bytes), '\0')};
}

std::int64_t header_bytes(std::string const& file) {
  std::int64_t length = 8;
  for (int byte = 0; byte < 8; ++byte)
    length += std::int64_t(static_cast<unsigned char>(file[static_cast<std::size_t>(byte)])) << 8 * byte;
  return length;
}

// The bytes that f reads of files, but for their headers.
template <class F>
std::int64_t read_by(F&& f, std::int64_t header) {
  auto const before = os::engine::traffic_of_files.read;
  f();
  return os::engine::traffic_of_files.read - before - header;
}

template <class A, class Other>
bool same_extents(A const& a, Other const& b) {
  bool same = a.extents() == b.extents();
  for (unsigned d = 0; d < 2; ++d) same = same && (d >= A::rank || a.local().extent(d) == b.local().extent(d));
  return same;
}

template <class L>
struct one {
  os::leaf<L, float, I / X, J / Y> w;
};

}  // namespace

TEST_CASE("blocks and bytes are those of a device") {
  t::scratch_file const file("model.safetensors");
  for (std::int64_t const i : {0, 1, 3, 7})
    for (std::string const dtype : {"F32", "BF16"}) {
      file.write(t::plain_safetensors({tensor("w", dtype, {i, 5}), tensor("b", "I32", {5})}));
      std::int64_t const header = header_bytes(file.bytes());
      t::on_every_mesh([&](t::test_mesh const& m) {
        CAPTURE(m.text());
        auto const mesh = t::mesh_of(m);
        std::int64_t const at =
            (mesh.coordinate(X) * mesh.size(Y) + mesh.coordinate(Y)) * mesh.size(Z) + mesh.coordinate(Z);
        auto const dry = os::dry_mesh(os::as_device(at), X = mesh.size(X), Y = mesh.size(Y), Z = mesh.size(Z));
        t::model<os::values> wet, played;
        std::int64_t const reads = read_by([&] { wet = os::load<t::model>(file.path(), mesh, os::cast_to<float>); },
                                           mesh.device() == 0 ? header : 0);
        std::int64_t const would_read =
            read_by([&] { played = os::load<t::model>(file.path(), dry, os::cast_to<float>); }, header);
        CHECK(reads == would_read);
        CHECK(same_extents(wet.w, played.w));
        CHECK(same_extents(wet.b, played.b));
        CHECK(read_by([&] { os::load_into(played, file.path(), os::cast_to<float>); }, header) == reads);
      });
    }
}

TEST_CASE("errors say the same") {
  t::scratch_file const file("model.safetensors");
  file.write(t::plain_safetensors({tensor("w", "F32", {3, 5})}));
  auto const dry = os::dry_mesh(X = 64, Y = 8);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::load<t::model>(file.path(), dry)),
      ("load: " + file.path() + " has no tensor called b; give the tree that was saved, or a file of this one").c_str(),
      os::error);
  CHECK_THROWS_AS(static_cast<void>(os::load<t::model>(file.path() + "x", dry)), os::error);
}

TEST_CASE("a file of a terabyte, by its header") {
  t::scratch_file const file("model.safetensors");
  constexpr std::int64_t n = 1 << 19;  // n × n floats: 2⁴⁰ bytes
  std::string json = R"({"w":{"dtype":"F32","shape":[)" + std::to_string(n) + ',' + std::to_string(n) +
                     R"(],"data_offsets":[0,)" + std::to_string(4 * n * n) + "]}}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string start;
  for (int byte = 0; byte < 8; ++byte) start += static_cast<char>(json.size() >> 8 * byte & 0xFF);
  file.write(start + json);
  if (t::rank() == 0)
    std::filesystem::resize_file(file.path(), static_cast<std::uintmax_t>(8 + json.size()) + 4 * n * n);
  t::numbers_of_ranks(0);
  auto const dry = os::dry_mesh(X = 8192, Y = 512);
  std::int64_t const reads = read_by(
      [&] {
        auto const p = os::load<one>(file.path(), dry);
        CHECK(p.w.extent(I) == n);
        CHECK(p.w.local().extent(0) == n / 8192);
      },
      static_cast<std::int64_t>(start.size() + json.size()));
  CHECK(reads == 4 * (n / 8192) * (n / 512));
}
