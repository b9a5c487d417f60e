// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Meshes over all ranks: coordinates and the members of every group against brute force, and the refusals.
// ranks: 1 2 3 4 6 8
// labels: essential
// sham:
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ostraka/engine/mesh/device_mesh.hpp>

#include "support/byte_counter.hpp"

namespace {

using namespace ostraka::engine;

/// All ordered factorisations of n into this many sizes.
std::vector<std::vector<int>> shapes_of(int n, int axes) {
  if (axes == 0) return n == 1 ? std::vector<std::vector<int>>{{}} : std::vector<std::vector<int>>{};
  std::vector<std::vector<int>> shapes;
  for (int first = 1; first <= n; ++first)
    if (n % first == 0)
      for (std::vector<int> shape : shapes_of(n / first, axes - 1)) {
        shape.insert(shape.begin(), first);
        shapes.push_back(shape);
      }
  return shapes;
}

std::vector<std::string> const letters = {"X", "Y", "Z", "U", "V", "W", "T"};

std::vector<std::string> names_for(std::vector<int> const& sizes) {
  return {letters.begin(), letters.begin() + static_cast<long>(sizes.size())};
}

std::vector<int> coordinates_of(int device, std::vector<int> const& sizes) {
  std::vector<int> at(sizes.size());
  for (std::size_t a = sizes.size(); a-- > 0;) {
    at[a] = device % sizes[a];
    device /= sizes[a];
  }
  return at;
}

std::string message_of(communicator const& world, std::vector<std::string> names, std::vector<int> sizes) {
  try {
    device_mesh const mesh(world, names, sizes);
  } catch (ostraka::error const& e) {
    return e.what();
  }
  return "";
}

bool mentions(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("coordinates and groups of every mesh of up to three axes") {
  communicator const world = communicator::world();
  for (int axes = world.size() == 1 ? 0 : 1; axes <= 3; ++axes)
    for (std::vector<int> const& sizes : shapes_of(world.size(), axes)) {
      device_mesh const mesh(world, names_for(sizes), sizes);
      REQUIRE(mesh.axes() == axes);
      REQUIRE(mesh.devices() == world.size());
      REQUIRE(mesh.device() == world.rank());
      std::vector<int> const here = coordinates_of(world.rank(), sizes);
      for (int a = 0; a < axes; ++a) {
        CHECK(mesh.name(a) == letters[static_cast<std::size_t>(a)]);
        CHECK(mesh.find(mesh.name(a)) == a);
        CHECK(mesh.size(a) == sizes[static_cast<std::size_t>(a)]);
        CHECK(mesh.coordinate(a) == here[static_cast<std::size_t>(a)]);
      }
      CHECK(mesh.find("Q") == -1);

      for (std::uint32_t set = 0; set < 1u << axes; ++set) {
        std::vector<std::int64_t>
            expected;  // devices that agree with this one outside the set, in the order of their numbers
        for (int d = 0; d < world.size(); ++d) {
          std::vector<int> const there = coordinates_of(d, sizes);
          bool same = true;
          for (int a = 0; a < axes; ++a)
            if ((set >> a & 1u) == 0)
              same = same && there[static_cast<std::size_t>(a)] == here[static_cast<std::size_t>(a)];
          if (same) expected.push_back(d);
        }
        communicator const& group = mesh.group(set);
        REQUIRE(group.size() == static_cast<int>(expected.size()));
        CHECK(expected[static_cast<std::size_t>(group.rank())] == world.rank());
        std::int64_t const mine = world.rank();
        std::vector<std::int64_t> members(expected.size());
        all_gather(group, &mine, members.data(), std::vector<std::int64_t>(members.size(), 1));
        CHECK(members == expected);
      }
    }
}

TEST_CASE("meshes that cannot be are refused on every device, with the numbers and the remedy") {
  communicator const world = communicator::world();
  int const n = world.size();
  std::string const has = "the communicator has " + std::to_string(n);
  std::string text = message_of(world, {"X", "Y"}, {2, n});
  CHECK(mentions(text,
                 "make_mesh: X=2 · Y=" + std::to_string(n) + " needs " + std::to_string(2 * n) + " devices, " + has));
  CHECK(mentions(text, "; choose sizes whose product is " + std::to_string(n)));
  CHECK(mentions(message_of(world, {"X"}, {2147483647}), has));
  CHECK(mentions(message_of(world, {"X", "Y", "Z"}, {65536, 65536, 65536}), has));
  CHECK(mentions(message_of(world, {"X", "Y", "Z"}, {1 << 30, 1 << 30, 16}), has));  // the product is 2^64
  CHECK(mentions(message_of(world, {"X", "Y"}, {n, 0}), "Y=0"));
  CHECK(mentions(message_of(world, {"X", "Y"}, {-1, -n}), "X=-1"));
  CHECK(mentions(message_of(world, {"X", "X"}, {n, 1}), "every mesh axis has its own name, but X is the name of two"));
  CHECK(mentions(message_of(world, {"X"}, {n, 1}), "as many names as sizes"));
  CHECK(mentions(message_of(world, {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M"},
                            {n, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
                 "at most 12 axes"));
  if (n > 1) CHECK(mentions(message_of(world, {}, {}), has));
  CHECK(message_of(world, {"X"}, {n}) == "");
}

TEST_CASE("devices that name different meshes get an error, and do not hang") {
  communicator const world = communicator::world();
  if (world.size() == 1) return;
  std::vector<int> const sizes =
      world.rank() == 0 ? std::vector<int>{world.size(), 1} : std::vector<int>{1, world.size()};
  CHECK(mentions(message_of(world, {"X", "Y"}, sizes), "every device makes the same mesh"));
}

TEST_CASE("communicators: splits, copies and the group of one") {
  communicator const world = communicator::world();
  CHECK(communicator().size() == 1);
  CHECK(communicator().rank() == 0);
  communicator const reversed = world.split(0, -world.rank());
  CHECK(reversed.size() == world.size());
  CHECK(reversed.rank() == world.size() - 1 - world.rank());
  communicator const own = world.split(world.rank(), 0);
  CHECK(own.size() == 1);
}

namespace {
// Destroyed after main, when MPI has ended: it must not touch MPI any more. The exit status of the process is the
// check.
std::unique_ptr<device_mesh> outlives_mpi;
}  // namespace

TEST_CASE("a mesh may outlive MPI") {
  communicator const world = communicator::world();
  outlives_mpi = std::make_unique<device_mesh>(world, std::vector<std::string>{"X"}, std::vector<int>{world.size()});
  CHECK(outlives_mpi->group(1).size() == world.size());
}

#if OSTRAKA_ENABLE_MPI

TEST_CASE("a group gets its communicator when it is asked for, once, and copies of the mesh share it") {
  communicator const world = communicator::world();
  if (world.size() % 2 != 0 || world.compares_calls()) return;
  long const before = ostraka::testing::communicators_alive();
  device_mesh const mesh(world, {"X", "Y", "Z"}, {2, 1, world.size() / 2});
  device_mesh const copy = mesh;
  CHECK(ostraka::testing::communicators_alive() == before);
  CHECK(mesh.group(7).size() == world.size());
  CHECK(mesh.group(2).size() == 1);
  CHECK(ostraka::testing::communicators_alive() == before);
  int const proper = world.size() > 2 ? 1 : 0;  // else the line has all ranks
  CHECK(mesh.group(1).size() == 2);
  CHECK(copy.group(3).native() == mesh.group(1).native());
  CHECK(ostraka::testing::communicators_alive() == before + proper);
}

#endif
