// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Arrays of other libraries by DLPack: os::from_dlpack, os::copy_from_dlpack and os::to_dlpack, of every layout and
/// element type, and how long their memory lives. Plain loops make the expected values from i and j.
// labels: essential
// ranks: 1 2 3 4
// sham:

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <ostraka/dlpack.hpp>
#include <ostraka/engine/memory/foreign_memory.hpp>

#include "support/allocated_by.hpp"
#include "support/foreign_array.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using versioned = os::dlpack::DLManagedTensorVersioned;
using unversioned = os::dlpack::DLManagedTensor;
using list = std::vector<std::int64_t>;

double value_at(std::int64_t i, std::int64_t j) { return static_cast<double>(100 * i + j + 1); }
std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

std::int64_t first_of(std::int64_t n) { return t::rank() * n / t::ranks(); }
std::int64_t rows_of(std::int64_t n) { return (t::rank() + 1) * n / t::ranks() - first_of(n); }

// The rows that this device holds of an n × k matrix, element (i, j) at `at(i, j)` of as many elements as are given.
template <class At>
t::foreign_array<double> rows_at(std::int64_t n, std::int64_t k, std::int64_t elements, At const& at) {
  t::foreign_array<double> array;
  array.elements.assign(size(elements), -1);
  for (std::int64_t i = 0; i < rows_of(n); ++i)
    for (std::int64_t j = 0; j < k; ++j) array.elements[size(at(i, j))] = value_at(i + first_of(n), j);
  return array;
}

t::foreign_array<double> dense_rows(std::int64_t n, std::int64_t k) {
  return rows_at(n, k, rows_of(n) * k, [&](std::int64_t i, std::int64_t j) { return i * k + j; });
}

template <class A>
int wrong_in(A const& a) {
  return t::wrong_elements(a, value_at);
}

}  // namespace

TEST_CASE("the structs lie as DLPack's specification has them") {
  static_assert(sizeof(void*) != 8 || (sizeof(os::dlpack::DLTensor) == 48 && sizeof(unversioned) == 64 &&
                                       sizeof(versioned) == 80 && offsetof(versioned, dl_tensor) == 32));
  static_assert(offsetof(versioned, version) == 0 && sizeof(os::dlpack::DLPackVersion) == 8);
  static_assert(sizeof(void*) != 8 || (offsetof(versioned, manager_ctx) == 8 && offsetof(versioned, deleter) == 16 &&
                                       offsetof(versioned, flags) == 24));
  static_assert(sizeof(os::dlpack::DLDevice) == 8 && sizeof(os::dlpack::DLDataType) == 4);
#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION == 1
#  define SAME_MEMBER(type, member)                                                 \
    static_assert(offsetof(os::dlpack::type, member) == offsetof(::type, member) && \
                  sizeof(std::declval<os::dlpack::type&>().member) == sizeof(std::declval<::type&>().member))
  SAME_MEMBER(DLTensor, data);
  SAME_MEMBER(DLTensor, device);
  SAME_MEMBER(DLTensor, ndim);
  SAME_MEMBER(DLTensor, dtype);
  SAME_MEMBER(DLTensor, shape);
  SAME_MEMBER(DLTensor, strides);
  SAME_MEMBER(DLTensor, byte_offset);
  SAME_MEMBER(DLDevice, device_type);
  SAME_MEMBER(DLDevice, device_id);
  SAME_MEMBER(DLDataType, code);
  SAME_MEMBER(DLDataType, bits);
  SAME_MEMBER(DLDataType, lanes);
  SAME_MEMBER(DLManagedTensor, dl_tensor);
  SAME_MEMBER(DLManagedTensor, manager_ctx);
  SAME_MEMBER(DLManagedTensor, deleter);
  SAME_MEMBER(DLManagedTensorVersioned, version);
  SAME_MEMBER(DLManagedTensorVersioned, manager_ctx);
  SAME_MEMBER(DLManagedTensorVersioned, deleter);
  SAME_MEMBER(DLManagedTensorVersioned, flags);
  SAME_MEMBER(DLManagedTensorVersioned, dl_tensor);
  static_assert(sizeof(::DLManagedTensorVersioned) == sizeof(versioned) &&
                sizeof(::DLManagedTensor) == sizeof(unversioned));
  static_assert(int(::kDLCPU) == int(os::dlpack::kDLCPU) && int(::kDLCUDA) == int(os::dlpack::kDLCUDA) &&
                int(::kDLCUDAHost) == int(os::dlpack::kDLCUDAHost) && int(::kDLROCM) == int(os::dlpack::kDLROCM) &&
                int(::kDLROCMHost) == int(os::dlpack::kDLROCMHost) &&
                int(::kDLCUDAManaged) == int(os::dlpack::kDLCUDAManaged));
  static_assert(int(::kDLInt) == int(os::dlpack::kDLInt) && int(::kDLUInt) == int(os::dlpack::kDLUInt) &&
                int(::kDLFloat) == int(os::dlpack::kDLFloat) && int(::kDLBfloat) == int(os::dlpack::kDLBfloat) &&
                int(::kDLComplex) == int(os::dlpack::kDLComplex) && int(::kDLBool) == int(os::dlpack::kDLBool));
  static_assert(DLPACK_FLAG_BITMASK_READ_ONLY == os::dlpack::read_only_flag &&
                DLPACK_FLAG_BITMASK_IS_COPIED == os::dlpack::is_copied_flag);
  static_assert(std::is_same_v<os::dlpack::managed_tensor, ::DLManagedTensorVersioned>);
#else
  MESSAGE("SKIPPED: there is no dlpack/dlpack.h of version 1, so the structs are not compared with it");
#endif
}

TEST_CASE("a dense array of either version is adopted where it is, and released once after all that share it") {
  auto const mesh = os::make_mesh(X = t::ranks());
  for (std::int64_t const n : {std::int64_t(3 * t::ranks() + 1), std::int64_t(t::ranks() - 1), std::int64_t(0)})
    for (std::int64_t const k : {4, 1, 0}) {
      INFO(n, " × ", k);
      auto array = dense_rows(n, k);
      auto const check = [&](auto* managed) {
        {
          os::tensor<double, I / X, J> a;
          CHECK(t::allocated_by([&] {
                  auto made = os::from_dlpack<double, I / X, J>(mesh, I = n, J = k, managed);
                  static_assert(std::is_same_v<decltype(made), os::tensor<double, I / X, J>>);
                  a = std::move(made);
                }) <= 128);  // Kokkos' record of the owner
          if (!array.elements.empty()) CHECK(a.local().data() == array.elements.data());
          CHECK(wrong_in(a) == 0);
          CHECK(a.label().empty());
          CHECK(array.released == array.passed - 1);
          auto const block = a.local();
          auto const renamed = os::rename<I, K>(a);
          a = {};
          CHECK(array.released == array.passed - 1);
          CHECK(renamed.extent(K) == n);
        }
        CHECK(array.released == array.passed);
      };
      list const shape{rows_of(n), k};
      check(array.pass<versioned>({shape, {k, 1}}, t::float64));
      check(array.pass<versioned>({shape, {}}, t::float64));
      check(array.pass<unversioned>({shape, {k, 1}}, t::float64));
      check(array.pass<unversioned>({shape, {}}, t::float64));
      if (rows_of(n) <= 1) check(array.pass<versioned>({shape, {-77, 1}}, t::float64));  // no row follows
      auto owner = os::dlpack_pointer<versioned>(array.pass<versioned>({shape, {k, 1}}, t::float64));
      CHECK(wrong_in(os::from_dlpack<double, I / X, J>(mesh, I = n, J = k, std::move(owner))) == 0);
      CHECK(owner == nullptr);
      CHECK(array.released == array.passed);
    }
}

TEST_CASE(
    "tensor and array see each other's writes, begun moves and bodies keep the memory, and a deleter may be null") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks() + 1, k = 3;
  auto array = dense_rows(n, k);
  {
    auto const a =
        os::from_dlpack<double, I / X, J>(mesh, I = n, J = k, array.pass<versioned>({{rows_of(n), k}, {}}, t::float64));
    array.elements[0] = -5;
    array.elements.send();
    CHECK(t::host_block(a)(0, 0) == -5);
    t::change_block(a, [&](auto const& block) { block(0, 0) = value_at(first_of(n), 0); });
    array.elements.fetch();
    CHECK(array.elements[0] == value_at(first_of(n), 0));
    os::map_into(
        a, [](double x) { return 2 * x; }, a);
    array.elements.fetch();
    CHECK(array.elements[array.elements.size() - 1] == 2 * value_at(first_of(n) + rows_of(n) - 1, k - 1));
    os::map_into(
        a, [](double x) { return x / 2; }, a);
    array.elements.fetch();
  }
  CHECK(array.released == array.passed);

  auto begun = os::start_reshard<I, J>(
      os::from_dlpack<double, I / X, J>(mesh, I = n, J = k, array.pass<versioned>({{rows_of(n), k}, {}}, t::float64)));
  CHECK(wrong_in(std::move(begun).wait()) == 0);
  auto const through = os::shard_map<I / X, J>(
      [](auto block) { return block; },
      os::from_dlpack<double, I / X, J>(mesh, I = n, J = k, array.pass<versioned>({{rows_of(n), k}, {}}, t::float64)));
  CHECK(wrong_in(through) == 0);

  auto* const managed = array.pass<versioned>({{rows_of(n), k}, {}}, t::float64);
  auto const deleter = std::exchange(managed->deleter, nullptr);
  CHECK(wrong_in(os::from_dlpack<double, I / X, J>(mesh, I = n, J = k, managed)) == 0);
  deleter(managed);
}

TEST_CASE("an offset in bytes counts from the data") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = t::ranks() + 1, k = 3;
  auto array = rows_at(n, k, rows_of(n) * k + 2, [&](std::int64_t i, std::int64_t j) { return i * k + j + 2; });
  auto* const managed = array.pass<versioned>({{rows_of(n), k}, {}}, t::float64);
  managed->dl_tensor.byte_offset = 2 * sizeof(double);
  auto const a = os::from_dlpack<double, I / X, J>(mesh, I = n, J = k, managed);
  CHECK(a.local().data() == array.elements.data() + 2);
  CHECK(wrong_in(a) == 0);
}

TEST_CASE("other orders are adopted as what they are, other strides are refused or copied") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const k = 3;
  for (std::int64_t const n :
       {std::int64_t(3 * t::ranks() + 1), std::int64_t(t::ranks() - 1), std::int64_t(2 * t::ranks())}) {
    INFO(n, " rows");
    std::int64_t const rows = rows_of(n);
    list const shape{rows, k};
    auto left = rows_at(n, k, rows * k, [&](std::int64_t i, std::int64_t j) { return j * rows + i; });
    auto const swapped = [](std::int64_t j, std::int64_t i) { return value_at(i, j); };
    auto const in_order = os::from_dlpack<double, J, I / X>(
        mesh, I = n, J = k, os::in_order<I, J>(left.pass<versioned>({shape, {1, rows}}, t::float64)));
    if (rows > 0) CHECK(in_order.local().data() == left.elements.data());
    CHECK(t::wrong_elements(in_order, swapped) == 0);
    os::dlpack_pointer<versioned> owner(left.pass<versioned>({shape, {1, rows}}, t::float64));
    CHECK(t::wrong_elements(os::from_dlpack<double, J, I / X>(mesh, I = n, J = k, os::in_order<I, J>(std::move(owner))),
                            swapped) == 0);

    // A layout, which a device with two rows sees, and where its first element is.
    auto const copies = [&](t::foreign_array<double>& array, list const& strides, std::size_t first,
                            auto const& wanted) {
      auto const a = os::copy_from_dlpack<double, I / X, J>(mesh, I = n, J = k,
                                                            array.pass<versioned>({shape, strides}, t::float64, first));
      static_assert(std::is_same_v<decltype(a), os::tensor<double, I / X, J> const>);
      CHECK(t::wrong_elements(a, wanted) == 0);
      CHECK(array.released == array.passed);
      auto* const again = array.pass<versioned>({shape, strides}, t::float64, first);
      if (n < 2 * t::ranks()) return again->deleter(again);
      CHECK_THROWS_WITH_AS(static_cast<void>(os::from_dlpack<double, I / X, J>(mesh, I = n, J = k, again)),
                           "from_dlpack: a block lies row-major without gaps, but the view of device 0 is a part of a "
                           "larger one, padded, or in another order; copy it with os::copy_from_dlpack, or adopt what "
                           "lies in another order as a tensor of the axes in that order, with os::in_order<…>(view)",
                           os::error);
      CHECK(array.released == array.passed);
    };
    std::int64_t const last = 2 * k * rows;
    auto backwards = rows_at(n, k, last + 1, [&](std::int64_t i, std::int64_t j) { return last - 2 * k * i - j; });
    auto padded = rows_at(n, k, rows * (k + 2) + 1, [&](std::int64_t i, std::int64_t j) { return i * (k + 2) + j; });
    auto columns = left;
    columns.passed = columns.released = 0;
    copies(columns, {1, rows}, 0, value_at);
    copies(backwards, {-2 * k, -1}, size(last), value_at);
    copies(padded, {k + 2, 1}, 0, value_at);
    t::foreign_array<double> row;
    row.elements = {1, 2, 3};
    copies(row, {0, 1}, 0, [](std::int64_t, std::int64_t j) { return static_cast<double>(j + 1); });
    t::foreign_array<double> number;
    number.elements = {7};
    copies(number, {0, 0}, 0, [](std::int64_t, std::int64_t) { return 7.0; });
  }
}

TEST_CASE_TEMPLATE("every element type goes there and back", T, float, double, std::complex<float>,
                   std::complex<double>, os::float16, os::bfloat16, bool, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t) {
  using element = typename os::tensor<T, I / X>::value_type;
  struct described {
    std::uint8_t code, bits;
  };
  constexpr described type = [] {
    constexpr auto bits = static_cast<std::uint8_t>(8 * sizeof(T));
    if constexpr (std::is_same_v<T, bool>)
      return described{6, 8};
    else if constexpr (std::is_same_v<T, os::bfloat16>)
      return described{4, 16};
    else if constexpr (std::is_same_v<T, os::float16>)
      return described{2, 16};
    else if constexpr (std::is_floating_point_v<T>)
      return described{2, bits};
    else if constexpr (std::is_integral_v<T>)
      return described{0, bits};
    else
      return described{5, bits};
  }();
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks() + 1;
  auto const a = os::zeros<T, I / X>(mesh, I = n);
  t::change_block(a, [&](auto const& block) {
    for (std::int64_t i = 0; i < rows_of(n); ++i) block(size(i)) = t::whole_number<element>((i + first_of(n)) % 2);
  });
  auto managed = os::to_dlpack(a);
  CHECK(managed->version.major == 1);
  CHECK(managed->flags == 0);
  CHECK(managed->dl_tensor.dtype.code == type.code);
  CHECK(managed->dl_tensor.dtype.bits == type.bits);
  CHECK(managed->dl_tensor.dtype.lanes == 1);
  auto const back = os::from_dlpack<T, I / X>(mesh, I = n, std::move(managed));
  CHECK(back.local().data() == a.local().data());
  int wrong = 0;
  auto const block = t::host_block(back);
  for (std::int64_t i = 0; i < rows_of(n); ++i)
    wrong += !(block(size(i)) == t::whole_number<element>((i + first_of(n)) % 2));
  CHECK(wrong == 0);
}

TEST_CASE("an exported block outlives its tensor, and is described in full") {
  auto const mesh = os::make_mesh(X = t::ranks());
  for (std::int64_t const n : {std::int64_t(2 * t::ranks() + 1), std::int64_t(t::ranks() - 1)}) {
    std::int64_t const rows = rows_of(n);
    os::dlpack_pointer<> managed;
    os::dlpack_pointer<unversioned> old;
    {
      auto const a = os::generate<double, I / X, J>(mesh, I = n, J = 3,
                                                    [](std::int64_t i, std::int64_t j) { return value_at(i, j); });
      managed = os::to_dlpack(a);
      old = os::to_dlpack<unversioned>(a);
      CHECK(managed->dl_tensor.data == (rows == 0 ? nullptr : a.local().data()));
    }
    auto const check = [&](auto const& tensor) {
      CHECK(tensor.ndim == 2);
      CHECK(tensor.device.device_type == t::foreign_array<double>::device_type);
      CHECK(tensor.device.device_id == 0);
      CHECK(tensor.byte_offset == 0);
      CHECK(list(tensor.shape, tensor.shape + 2) == list{rows, 3});
      CHECK(list(tensor.strides, tensor.strides + 2) == list{3, 1});
      int wrong = 0;
      std::vector<double> const block = t::read_elements(static_cast<double const*>(tensor.data), size(rows * 3));
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < 3; ++j) wrong += block[size(i * 3 + j)] != value_at(i + first_of(n), j);
      CHECK(wrong == 0);
    };
    check(managed->dl_tensor);
    check(old->dl_tensor);
  }
  CHECK_THROWS_AS(static_cast<void>(os::to_dlpack(os::tensor<double, I / X>())), os::error);
}

TEST_CASE("what is read only stays so") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = t::ranks() + 2, k = 3;
  auto array = dense_rows(n, k);
  auto const passed = [&] {
    auto* const managed = array.pass<versioned>({{rows_of(n), k}, {}}, t::float64);
    managed->flags = os::dlpack::read_only_flag;
    return managed;
  };
  auto const constant = os::from_dlpack<double const, I / X, J>(mesh, I = n, J = k, passed());
  static_assert(std::is_same_v<decltype(constant), os::tensor<double const, I / X, J> const>);
  CHECK(constant.local().data() == array.elements.data());
  CHECK(wrong_in(constant) == 0);
  CHECK(os::to_dlpack(constant)->flags == os::dlpack::read_only_flag);
  CHECK(wrong_in(os::copy_from_dlpack<double, I / X, J>(mesh, I = n, J = k, passed())) == 0);
  auto const again = os::from_dlpack<double const, I / X, J>(mesh, I = n, J = k, os::to_dlpack(constant));
  CHECK(again.local().data() == array.elements.data());
  // A tensor of constant elements also adopts elements that others may write.
  auto* const managed = array.pass<versioned>({{rows_of(n), k}, {}}, t::float64);
  CHECK(wrong_in(os::from_dlpack<double const, I / X, J>(mesh, I = n, J = k, managed)) == 0);
}

TEST_CASE("no axes, three axes, whole axes and host tensors") {
  auto const mesh = os::make_mesh(X = t::ranks());
  t::foreign_array<double> array;
  array.elements = {1, 2, 3, 4, 5, 6};
  CHECK(os::value(os::from_dlpack<double>(mesh, array.pass<versioned>({{}, {}}, t::float64))) == 1);
  CHECK(os::to_dlpack(os::full<double>(mesh, 3.0))->dl_tensor.ndim == 0);
  auto const three = os::from_dlpack<double, I, J, K>(mesh, I = 1, J = 2, K = 3,
                                                      array.pass<versioned>({{1, 2, 3}, {6, 3, 1}}, t::float64));
  CHECK(t::host_block(three)(0, 1, 2) == 6);
  std::vector<double> elements{1, 2, 3, 4, 5, 6};
  auto* const on_host = array.pass<versioned>({{2, 3}, {}}, t::float64);
  on_host->dl_tensor.data = elements.data();
  on_host->dl_tensor.device.device_type = os::dlpack::kDLCPU;
  auto const host = os::from_dlpack<os::host_tensor<double, I, J>>(mesh, I = 2, J = 3, on_host);
  CHECK(host.local()(1, 0) == 4);
  auto const turned = os::from_dlpack<double, K, I, J>(
      mesh, I = 1, J = 2, K = 3, os::in_order<I, J, K>(array.pass<versioned>({{1, 2, 3}, {1, 1, 2}}, t::float64)));
  CHECK(t::host_block(turned)(2, 0, 1) == 6);
}

TEST_CASE("memory of another library is not ours, whatever shares it") {
  auto const mesh = os::make_mesh(X = t::ranks());
  t::foreign_array<double> array;
  array.elements = {1, 2};
  auto const a = os::from_dlpack<double, I>(mesh, I = 2, array.pass<versioned>({{2}, {}}, t::float64));
  CHECK(a.local().use_count() == 1);
  CHECK(os::engine::holders_of(a.local()) == 0);
  auto const own = os::zeros<double, I>(mesh, I = 2);
  CHECK(os::engine::holders_of(own.local()) == own.local().use_count());
  CHECK(os::engine::holders_of(Kokkos::View<double*>(array.elements.data(), 2)) == 0);
}
