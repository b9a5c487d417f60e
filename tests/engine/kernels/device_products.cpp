// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The calls to a GPU's library, without a GPU: plain loops stand in for the library and carry out the translation of a
/// product to columns and the plan of a contraction. The stand-in is column-major, reads nothing of C if beta is 0, and
/// knows neither rows nor labels. A library that does nothing else counts handles.
// ranks: 1

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

#include <ostraka/engine/kernels/blas/column_major.hpp>
#include <ostraka/engine/kernels/blas/cublas.hpp>
#include <ostraka/engine/kernels/blas/device_products.hpp>
#include <ostraka/engine/kernels/blas/rocblas.hpp>
#include <ostraka/engine/memory/library_handles.hpp>

#include "engine/kernels/contraction_blocks.hpp"

using namespace ostraka::testing;

namespace {

// Element (i, j) of op(X), X by columns.
std::int64_t place(column_major_call::matrix const& x, std::int64_t i, std::int64_t j) {
  return x.transposed ? j + i * x.leading : i + j * x.leading;
}

// Stands in for cublasGemmStridedBatchedEx.
struct columns_alone {
  template <class T>
  static constexpr bool multiplies = true;

  inline static int calls = 0;
  inline static bool legal = true;

  // The libraries' requirements of leading dimensions.
  static void look_at(column_major_call const& call) {
    auto const fits = [](column_major_call::matrix const& x, std::int64_t rows, std::int64_t columns) {
      return x.leading >= (x.transposed ? columns : rows) && x.leading >= 1;
    };
    ++calls;
    legal = legal && fits(call.x, call.rows, call.inner) && fits(call.y, call.inner, call.columns) &&
            fits(call.z, call.rows, call.columns) && call.batch >= 1 && (call.batch == 1 || call.z.step != 0);
  }

  template <class Exec, class T>
  static void multiply(Exec const&, matrix_product const& p, T const* a, T const* b, update<T> const& how, T* c) {
    using wide = ostraka::accumulator_of_t<T>;
    column_major_call const call = column_major(p);
    look_at(call);
    T const* const x = call.x.operand == 0 ? a : b;
    T const* const y = call.y.operand == 0 ? a : b;
    for (std::int64_t n = 0; n < call.batch; ++n)
      for (std::int64_t i = 0; i < call.rows; ++i)
        for (std::int64_t j = 0; j < call.columns; ++j) {
          wide sum(0);
          for (std::int64_t l = 0; l < call.inner; ++l)
            sum += wide(x[n * call.x.step + place(call.x, i, l)]) * wide(y[n * call.y.step + place(call.y, l, j)]);
          T& z = c[n * call.z.step + i + j * call.z.leading];
          z = how.beta == wide(0) ? T(how.alpha * sum) : T(how.alpha * sum + how.beta * wide(z));
        }
  }
};

// The place of element (i, j) of a row-major or column-major matrix.
std::int64_t place(bool by_rows, std::int64_t leading, std::int64_t i, std::int64_t j) {
  return by_rows ? i * leading + j : i + j * leading;
}

// Carries out the plan of plan_on_device for a contraction by the stand-in, without the cache of plans.
template <class T>
bool computes_right(blocks<T> const& of) {
  contraction_plan const plan = plan_on_device<T>(of.p);
  if (!plan.library) return true;
  std::vector<T> got = of.c, wanted = of.expected;
  of.for_each_result([&](std::size_t i) {
    got[i] = T(2);
    wanted[i] = T(3) * of.expected[i] + T(4) * T(2);
  });
  plan_ticket ticket;
  bool const done = contract_on_device<columns_alone>(exec_space(), of.p, of.a.data(), of.b.data(), got.data(),
                                                      update<T>{T(3), T(4)}, ticket);
  std::vector<T> overwritten = of.c;
  of.for_each_result([&](std::size_t i) { overwritten[i] = unreadable<T>(); });
  contract_on_device<columns_alone>(exec_space(), of.p, of.a.data(), of.b.data(), overwritten.data(), update<T>{},
                                    ticket);
  Kokkos::fence();
  return done && got == wanted && overwritten == of.expected;
}

struct counted_library {
  using handle = int;
  inline static std::multiset<int> open;
  inline static int made = 0;

  static int begin(int device) {
    open.insert(device);
    return ++made * 100 + device;
  }
  static void end(int h) { open.erase(open.find(h % 100)); }
};

}  // namespace

// The type codes that are passed to a library, where one is available.
#if OSTRAKA_ENABLE_CUBLAS && defined(KOKKOS_ENABLE_CUDA)
static_assert(std::is_same_v<library_of<Kokkos::Cuda>, cublas>);
static_assert(cublas::multiplies<float> && cublas::multiplies<double> && cublas::multiplies<Kokkos::complex<float>> &&
              cublas::multiplies<Kokkos::complex<double>> && cublas::multiplies<ostraka::float16> &&
              cublas::multiplies<ostraka::bfloat16>);
static_assert(!cublas::multiplies<std::int32_t> && !cublas::multiplies<std::int64_t>);
static_assert(cublas::type_of<ostraka::float16>().data == CUDA_R_16F &&
              cublas::type_of<ostraka::float16>().compute == CUBLAS_COMPUTE_32F);
static_assert(cublas::type_of<ostraka::bfloat16>().data == CUDA_R_16BF &&
              cublas::type_of<ostraka::bfloat16>().compute == CUBLAS_COMPUTE_32F);
static_assert(sizeof(Kokkos::complex<float>) == sizeof(cuComplex) &&
              sizeof(Kokkos::complex<double>) == sizeof(cuDoubleComplex));
#endif
#if OSTRAKA_ENABLE_ROCBLAS && defined(KOKKOS_ENABLE_HIP)
static_assert(std::is_same_v<library_of<hip_space>, rocblas>);
static_assert(rocblas::multiplies<float> && rocblas::multiplies<double> &&
              rocblas::multiplies<Kokkos::complex<float>> && rocblas::multiplies<Kokkos::complex<double>> &&
              rocblas::multiplies<ostraka::float16> && rocblas::multiplies<ostraka::bfloat16>);
static_assert(!rocblas::multiplies<std::int32_t> && !rocblas::multiplies<std::int64_t>);
static_assert(rocblas::type_of<ostraka::float16>().data == rocblas_datatype_f16_r &&
              rocblas::type_of<ostraka::float16>().compute == rocblas_datatype_f32_r);
static_assert(rocblas::type_of<ostraka::bfloat16>().data == rocblas_datatype_bf16_r &&
              rocblas::type_of<ostraka::bfloat16>().compute == rocblas_datatype_f32_r);
static_assert(sizeof(Kokkos::complex<float>) == sizeof(rocblas_float_complex) &&
              sizeof(Kokkos::complex<double>) == sizeof(rocblas_double_complex));
#endif

TEST_CASE("a product by rows or columns, transposed, padded, in a batch") {
  std::int64_t const m = 3, n = 4, k = 5, products = 2;
  for (int bits = 0; bits < 16; ++bits) {
    CAPTURE(bits);
    bool const by_rows = (bits & 1) != 0, a_turned = (bits & 2) != 0, b_turned = (bits & 4) != 0;
    bool const b_repeated = (bits & 8) != 0;
    bool const a_by_rows = by_rows != a_turned, b_by_rows = by_rows != b_turned;
    matrix_product p{by_rows,
                     m,
                     n,
                     k,
                     {a_turned, (a_by_rows ? k : m) + 1},
                     {b_turned, (b_by_rows ? n : k) + 2},
                     (by_rows ? n : m) + 3,
                     products,
                     {60, b_repeated ? 0 : 70, 80}};
    std::mt19937 random(static_cast<unsigned>(bits));
    std::vector<double> a(200), b(200), c(200), wanted;
    for (auto* v : {&a, &b, &c})
      for (double& x : *v) x = small_value<double>(random);
    wanted = c;
    for (std::int64_t s = 0; s < products; ++s)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::int64_t l = 0; l < k; ++l)
            sum += a[std::size_t(s * p.step[0] + place(a_by_rows, p.a.leading, i, l))] *
                   b[std::size_t(s * p.step[1] + place(b_by_rows, p.b.leading, l, j))];
          double& x = wanted[std::size_t(s * p.step[2] + place(by_rows, p.c_leading, i, j))];
          x = 2 * sum - 3 * x;
        }
    columns_alone::legal = true;
    columns_alone::multiply(exec_space(), p, a.data(), b.data(), update<double>{2, -3}, c.data());
    CHECK(columns_alone::legal);
    CHECK(c == wanted);
  }
}

TEST_CASE_TEMPLATE("contractions of every combination of labels, permuted and padded", T, float,
                   Kokkos::complex<double>) {
  std::mt19937 random(5);
  columns_alone::legal = true;
  columns_alone::calls = 0;
  for_each_set_of_classes(random, {batch, left, right, summed}, 3, 12, [&](contraction const& shape, int repeat) {
    REQUIRE(computes_right(blocks<T>(random, shape, repeat % 2 == 1)));
  });
  CHECK(columns_alone::legal);
  CHECK(columns_alone::calls > 100);
}

TEST_CASE_TEMPLATE("elements of 16 bits: one call adds up an element of C", T, ostraka::float16, ostraka::bfloat16) {
  std::int64_t const rows = 4, inner[] = {6, 50}, columns = 3;
  // C[i, k] = sum over j and l of A[i, j, l] B[l, k, j]: j and l are fused in neither operand as it is stored.
  contraction p;
  p.labels = 4;  // i, j, l, k
  std::int64_t const extent[] = {rows, inner[0], inner[1], columns}, a_step[] = {300, 50, 1, 0},
                     b_step[] = {0, 1, 18, 6}, c_step[] = {3, 0, 0, 1};
  for (int l = 0; l < 4; ++l) {
    p.extent[l] = extent[l];
    p.a[l] = a_step[l], p.b[l] = b_step[l], p.c[l] = c_step[l];
    p.in_a[l] = l<3, p.in_b[l] = l> 0, p.in_c[l] = l == 0 || l == 3;
  }
  contraction_plan const plan = plan_on_device<T>(p);
  REQUIRE(plan.library);
  CHECK(plan.product.k == inner[0] * inner[1]);
  // 300 ones a sum: by parts of 16 bits bfloat16 would stop at 256.
  std::vector<T> a(1200, T(1.0f)), b(900, T(1.0f)), c(12, T(4.0f));
  plan_ticket ticket;
  REQUIRE(contract_on_device<columns_alone>(exec_space(), p, a.data(), b.data(), c.data(), update<T>{1, 1}, ticket));
  Kokkos::fence();
  for (T const& x : c) CHECK(float(x) == 304);
}

TEST_CASE("a batch is one call, and copies save calls") {
  auto const calls_for = [](contraction const& p) {
    contraction_plan const plan = plan_on_device<double>(p);
    return plan.library ? ostraka::engine::detail::calls_of(plan) : 0;
  };
  contraction p;  // C[b, i, k] = sum over j of A[b, i, j] B[b, j, k]
  p.labels = 4;
  std::int64_t const extent[] = {64, 32, 16, 8}, a[] = {512, 16, 1, 0}, b[] = {128, 0, 8, 1}, c[] = {256, 8, 0, 1};
  for (int l = 0; l < 4; ++l) {
    p.extent[l] = extent[l];
    p.a[l] = a[l], p.b[l] = b[l], p.c[l] = c[l];
    p.in_a[l] = l != 3, p.in_b[l] = l != 1, p.in_c[l] = l != 2;
  }
  CHECK(calls_for(p) == 1);
  contraction_plan const as_stored = plan_on_device<double>(p);
  CHECK(!as_stored.copies());
  // The same with the batch innermost in A: no matrix there has a stride of 1 until it is copied.
  p.a[0] = 1, p.a[1] = 64 * 16, p.a[2] = 64;
  contraction_plan const copied = plan_on_device<double>(p);
  CHECK(calls_for(p) == 1);
  CHECK(copied.copied[0]);
  CHECK(!copied.copied[1]);
  CHECK(!copied.copied[2]);
  // Not for a library: an outer product, a sum of products.
  p.extent[2] = 1;
  CHECK(calls_for(p) == 0);
}

TEST_CASE("a handle for each thread and device, none twice, all ended") {
  using handles = library_handles<counted_library>;
  int const first = handles::of(0);
  CHECK(handles::of(0) == first);
  CHECK(handles::of(1) % 100 == 1);
  int elsewhere = 0;
  std::thread([&] { elsewhere = handles::of(0); }).join();
  CHECK(elsewhere != first);
  CHECK(counted_library::open == std::multiset<int>{0, 1});  // the thread has ended, and its handle with it
  handles::end_all();
  CHECK(counted_library::open.empty());
  CHECK(handles::of(0) != first);
  handles::end_all();
}
