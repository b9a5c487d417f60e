// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// DLPack tensors that do not suit the tensor that is named, on one device: all devices throw the same, and the tensor
/// is released once on each.
// ranks: 1 2 3 4
// checked: 2 3
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/dlpack.hpp>

#include "support/foreign_array.hpp"
#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using versioned = os::dlpack::DLManagedTensorVersioned;
constexpr std::int64_t k = 3;

std::int64_t rows() { return 2; }
int culprit() { return t::ranks() - 1; }
bool is_culprit() { return t::rank() == culprit(); }
constexpr bool on_host = t::foreign_array<double>::device_type == os::dlpack::kDLCPU;
std::string device() { return "device " + std::to_string(culprit()); }

// Returns the error of all devices if one of them passes a tensor that `spoil` has changed; all release theirs.
template <class T = double, class F>
std::string said_of(F const& spoil) {
  auto const mesh = os::make_mesh(X = t::ranks());
  t::foreign_array<double> array;
  array.elements.assign(static_cast<std::size_t>(rows() * k + 1), 1);
  auto* managed = array.pass<versioned>({{rows(), k}, {k, 1}}, t::float64);
  if (is_culprit()) spoil(*managed);
  std::string const said = t::said_alike(
      [&] { static_cast<void>(os::from_dlpack<T, I / X, J>(mesh, I = rows() * t::ranks(), J = k, managed)); });
  CHECK(array.released == array.passed);
  return said;
}

}  // namespace

TEST_CASE("memory, elements, dimensions and versions") {
  CHECK(said_of([](auto&) {}) == "nothing");
  CHECK(said_of([](auto& m) { m.version.major = 2; }) ==
        "from_dlpack: DLPack's major version is 1, but that of " + device() + " is 2; ask its producer for version 1");
  auto const of_memory = [](std::string const& what) {
    return std::string("from_dlpack: the elements are in memory of the tensor's kind, ") +
           (on_host ? "kDLCPU" : "kDLCUDA") + ", but those of " + device() + " are in memory of another, " + what +
           "; let the producer copy them there";
  };
  CHECK(said_of([](auto& m) { m.dl_tensor.device.device_type = on_host ? os::dlpack::kDLCUDA : os::dlpack::kDLCPU; }) ==
        of_memory(on_host ? "kDLCUDA" : "kDLCPU"));
  CHECK(said_of([](auto& m) { m.dl_tensor.device.device_type = os::dlpack::kDLROCM; }) == of_memory("kDLROCM"));
  CHECK(said_of([](auto& m) { m.dl_tensor.device.device_type = static_cast<os::dlpack::DLDeviceType>(8); }) ==
        of_memory("device type 8"));
  CHECK(said_of([](auto& m) { m.dl_tensor.device.device_id = 1; }) ==
        (on_host ? "nothing"
                 : "from_dlpack: the elements are on the GPU that Kokkos computes on, but those of " + device() +
                       " are on GPU 1 and not on GPU 0; let the producer copy them there"));
  auto const of_elements = [](std::string const& what) {
    return "from_dlpack: the elements are those of the tensor, float64, but those of " + device() + " are " + what +
           "; convert them first";
  };
  auto const typed = [](int code, int bits, int lanes) {
    return [=](auto& m) {
      m.dl_tensor.dtype = {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits),
                           static_cast<std::uint16_t>(lanes)};
    };
  };
  CHECK(said_of(typed(2, 32, 1)) == of_elements("float32"));
  CHECK(said_of(typed(0, 64, 1)) == of_elements("int64"));
  CHECK(said_of(typed(1, 8, 1)) == of_elements("uint8"));
  CHECK(said_of(typed(4, 16, 1)) == of_elements("bfloat16"));
  CHECK(said_of(typed(6, 8, 1)) == of_elements("bool"));
  CHECK(said_of(typed(5, 128, 1)) == of_elements("complex128"));
  CHECK(said_of(typed(2, 64, 2)) == of_elements("float64 in 2 lanes"));
  CHECK(said_of(typed(10, 8, 1)) == of_elements("type code 10 of 8 bits"));
  CHECK(said_of([](auto& m) { m.dl_tensor.ndim = 1; }) ==
        "from_dlpack: a DLPack tensor has a dimension for each axis, 2, but that of " + device() +
            " has 1; reshape it first");
  CHECK(said_of([](auto& m) { m.dl_tensor.ndim = -1; }) ==
        "from_dlpack: a DLPack tensor has a dimension for each axis, 2, but that of " + device() +
            " has -1; reshape it first");
  CHECK(said_of([](auto& m) { m.flags = os::dlpack::read_only_flag; }) ==
        "from_dlpack: the elements of a tensor may be written, but those of " + device() +
            " are read only; name a tensor of constant elements, or copy them with os::copy_from_dlpack");
  CHECK(said_of<double const>([](auto& m) { m.flags = os::dlpack::read_only_flag; }) == "nothing");
  CHECK(said_of([](auto& m) { m.dl_tensor.byte_offset = 4; }) ==
        "from_dlpack: elements lie at multiples of 8 bytes, but those of " + device() +
            " do not; let the producer copy them");
  std::string const malformed =
      "from_dlpack: a DLPack tensor has extents that are not negative and a place for its elements, but that of " +
      device() + " has not; look at its producer";
  CHECK(said_of([](auto& m) { m.dl_tensor.data = nullptr; }) == malformed);
  CHECK(said_of([](auto& m) { m.dl_tensor.shape = nullptr; }) == malformed);
  CHECK(said_of([](auto& m) { m.dl_tensor.shape[0] = -1; }) == malformed);
}

TEST_CASE("memory that the host reads, whichever library allocated it, and memory that a GPU reads") {
  for (int const type : on_host ? std::vector{1, 3, 11, 13} : std::vector{2, 13})
    CHECK(said_of([&](auto& m) { m.dl_tensor.device.device_type = static_cast<os::dlpack::DLDeviceType>(type); }) ==
          "nothing");
}

TEST_CASE("extents and layouts, as os::from_local says it") {
  CHECK(said_of([](auto& m) { m.dl_tensor.shape[1] = 2; }) ==
        "from_dlpack: each view has the extents of its device's block, but that of " + device() + " has not; " +
            device() +
            " holds 3 elements along dimension 1 and its view has 2; device d of p holds [floor(d*n/p), "
            "floor((d+1)*n/p)) of an extent n");
  auto const layout =
      "from_dlpack: a block lies row-major without gaps, but the view of " + device() +
      " is a part of a larger one, padded, or in another order; copy it with os::copy_from_dlpack, or "
      "adopt what lies in another order as a tensor of the axes in that order, with os::in_order<…>(view)";
  for (auto const& [row, column] :
       {std::pair(4, 1), std::pair(1, 2), std::pair(0, 1), std::pair(-3, 1), std::pair(3, -1), std::pair(0, 0)})
    CHECK(said_of([&](auto& m) {
            m.dl_tensor.strides[0] = row;
            m.dl_tensor.strides[1] = column;
          }) == layout);
}

TEST_CASE("nothing, and a tensor for each call") {
  auto const mesh = os::make_mesh(X = t::ranks());
  t::foreign_array<double> array;
  array.elements.assign(1, 1);
  auto* const managed = is_culprit() ? nullptr : array.pass<versioned>({{1}, {}}, t::float64);
  CHECK(t::said_alike([&] { static_cast<void>(os::from_dlpack<double, I / X>(mesh, I = t::ranks(), managed)); }) ==
        "from_dlpack: each device gives a DLPack tensor that has not been used before, but " + device() +
            " gives none; ask the producer for one for each call");
  CHECK(array.released == array.passed);
  CHECK(t::said_alike([&] { static_cast<void>(os::copy_from_dlpack<double, I / X>(mesh, I = t::ranks(), nullptr)); }) ==
        "copy_from_dlpack: each device gives a DLPack tensor that has not been used before, but device 0 gives "
        "none; ask the producer for one for each call");
}

TEST_CASE("with os::unchecked nothing is sent, and a device throws alone") {
  auto const mesh = os::make_mesh(X = t::ranks());
  t::foreign_array<double> array;
  array.elements.assign(1, 1);
  std::string said = "nothing";
  auto const calls =
      t::traffic_of([&] {
        auto* const managed = array.pass<versioned>({{1}, {}}, t::float64);
        if (is_culprit()) managed->dl_tensor.dtype.bits = 32;
        try {
          static_cast<void>(os::from_dlpack<double, I / X>(mesh, I = t::ranks(), os::unchecked, managed));
        } catch (os::error const& e) {
          said = e.what();
        }
      }).calls;
  CHECK(calls == 0);
  CHECK((said != "nothing") == is_culprit());
  CHECK(array.released == array.passed);
}

TEST_CASE("in check mode ranks that call different things say so, and none waits") {
  char const* const checks = std::getenv("OSTRAKA_CHECK_SPMD");
  if (t::ranks() < 2 || checks == nullptr || std::string(checks) != "1") return;
  auto const mesh = os::make_mesh(X = t::ranks());
  t::foreign_array<double> array;
  array.elements.assign(1, 1);
  std::string const said = t::said_alike([&] {
    auto* const managed = array.pass<versioned>({{1}, {}}, t::float64);
    if (is_culprit())
      static_cast<void>(os::copy_from_dlpack<double, I / X>(mesh, I = t::ranks(), managed));
    else
      static_cast<void>(os::from_dlpack<double, I / X>(mesh, I = t::ranks(), managed));
  });
  CHECK(said.find("copy_from_dlpack") != std::string::npos);
  CHECK(array.released == array.passed);
}

TEST_CASE("a process outside of the mesh gives nothing, or an empty array") {
  if (t::ranks() < 2) return;
  t::foreign_array<double> array;
  array.elements.assign(4, 2);
#if OSTRAKA_ENABLE_MPI
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, is_culprit() ? MPI_UNDEFINED : 0, t::rank(), &part);
  int const n = t::ranks() - 1;
  auto const mesh = os::make_mesh(part, X = n);
  auto const passed = [&](std::int64_t rows_here) { return array.pass<versioned>({{rows_here, 2}, {}}, t::float64); };
  auto const a = os::from_dlpack<double, I / X, J>(mesh, I = 2 * n, J = 2, is_culprit() ? nullptr : passed(2));
  CHECK(a.extent(I) == 2 * n);
  auto const b = os::from_dlpack<double, I / X, J>(mesh, I = 2 * n, J = 2, passed(is_culprit() ? 0 : 2));
  CHECK(b.extent(J) == 2);
  std::string said;
  if (is_culprit()) try {
      static_cast<void>(os::from_dlpack<double, I / X, J>(mesh, I = 2 * n, J = 2, passed(2)));
    } catch (os::error const& e) {
      said = e.what();
    }
  CHECK((said.find("from_dlpack: this process is none of the mesh's devices and holds no block") == 0) == is_culprit());
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
#endif
}
