// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Local contractions on a device: square products, batches of small ones, and the contractions of
/// bench/contractions/cases.txt, beside one call of cuBLAS of the same M, N, K and batch, whose operands have no gaps.
/// Some elements of the results are compared with plain loops.
///
///     bench/gpu/products [cases=FILE] [largest=FLOPS] [rounds=5] [only=TEXT] [types=fdhbcz] [json=FILE]
///         [markdown=1]
///
/// `largest` leaves out products with more arithmetic. Types: float, double, float16, bfloat16, complex (c and z).

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>

#include "../contractions/cases.hpp"
#include "aim.hpp"
#include "report.hpp"
#include "seconds_on_device.hpp"

namespace {

namespace engine = ostraka::engine;
using exec_space = Kokkos::DefaultExecutionSpace;
using wide = Kokkos::complex<double>;

std::vector<std::string> plain_cases() {
  std::vector<std::string> all;
  for (char const* n : {"64", "256", "512", "1024", "2048", "4096", "8192"})
    all.push_back(std::string("square.") + n + " arithmetic fdhbcz ij,jk->ik i=" + n + ",j=" + n + ",k=" + n);
  for (char const* n : {"16", "32", "64", "128"})
    all.push_back(std::string("batch.") + n + " arithmetic fdhbcz bij,bjk->bik b=4096,i=" + n + ",j=" + n + ",k=" + n);
  all.push_back("tall arithmetic fdb ij,jk->ik i=65536,j=512,k=512");
  all.push_back("transposed arithmetic fdb ji,kj->ik i=2048,j=2048,k=2048");
  all.push_back("vector arithmetic fdb ij,jk->ik i=8192,j=8192,k=1");
  return all;
}

/// Numbers from -1 to 1 in steps of 1/8.
template <class T>
struct numbers {
  T* to;
  std::uint32_t salt;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::uint32_t h = (salt ^ static_cast<std::uint32_t>(i)) * 0x9E3779B1u;
    h ^= h >> 15;
    to[i] = T(static_cast<float>(h % 17) / 8 - 1);
  }
};

template <class T>
using block = Kokkos::View<T*, exec_space>;

template <class T>
block<T> filled(std::int64_t elements, std::uint32_t salt) {
  block<T> b(Kokkos::view_alloc(Kokkos::WithoutInitializing, "operand"), static_cast<std::size_t>(elements));
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<exec_space, Kokkos::IndexType<std::int64_t>>(0, elements),
                       numbers<T>{b.data(), salt});
  return b;
}

template <class T>
wide widened(T const& v) {
  if constexpr (std::is_same_v<T, Kokkos::complex<float>> || std::is_same_v<T, Kokkos::complex<double>>)
    return {static_cast<double>(v.real()), static_cast<double>(v.imag())};
  else if constexpr (std::is_same_v<T, double>)
    return v;
  else
    return static_cast<double>(static_cast<float>(v));
}

/// The distance from 1 to the next number, for complex types that of the real part.
template <class T>
constexpr double epsilon() {
  if constexpr (std::is_same_v<T, ostraka::bfloat16>)
    return 0x1p-7;
  else if constexpr (std::is_same_v<T, ostraka::float16>)
    return 0x1p-10;
  else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, Kokkos::complex<float>>)
    return static_cast<double>(std::numeric_limits<float>::epsilon());
  else
    return std::numeric_limits<double>::epsilon();
}

/// The sum of products for one result, and the sum of their absolute values, by plain loops over the summed labels.
template <class A, class B>
void add_up(bench::contraction_case const& one, engine::contraction const& p, std::string const& summed,
            std::size_t level, A const& a, B const& b, std::int64_t at_a, std::int64_t at_b, wide& sum, double& size) {
  if (level == summed.size()) {
    wide const product = widened(a(static_cast<std::size_t>(at_a))) * widened(b(static_cast<std::size_t>(at_b)));
    sum += product;
    size += std::hypot(product.real(), product.imag());
    return;
  }
  std::size_t const l = one.labels().find(summed[level]);
  for (std::int64_t i = 0; i < p.extent[l]; ++i)
    add_up(one, p, summed, level + 1, a, b, at_a + i * p.a[l], at_b + i * p.b[l], sum, size);
}

/// True if some hundred results are within the bound of rounding: errors of a sum of n numbers grow like the root of n.
template <class T>
bool right(bench::contraction_case const& one, engine::contraction const& p, block<T> const& a, block<T> const& b,
           block<T> const& c) {
  auto const here = [](block<T> const& x) { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x); };
  auto const host_a = here(a), host_b = here(b), host_c = here(c);
  std::int64_t const results = one.size(one.c);
  double const length = static_cast<double>(one.size(one.k()));
  std::int64_t const step = std::max<std::int64_t>(1, results / 100);
  for (std::int64_t result = 0; result < results; result += step) {
    std::int64_t at_a = 0, at_b = 0, rest = result;
    for (std::size_t i = one.c.size(); i-- > 0;) {
      std::size_t const l = one.labels().find(one.c[i]);
      at_a += rest % p.extent[l] * p.a[l];
      at_b += rest % p.extent[l] * p.b[l];
      rest /= p.extent[l];
    }
    wide sum = 0;
    double size = 0;
    add_up(one, p, one.k(), 0, host_a, host_b, at_a, at_b, sum, size);
    wide const error = widened(host_c(static_cast<std::size_t>(result))) - sum;
    double const bound = 8 * (1 + std::sqrt(length)) * epsilon<T>() * size;
    if (!(std::hypot(error.real(), error.imag()) <= bound)) return false;
  }
  return true;
}

#if OSTRAKA_ENABLE_CUBLAS && defined(KOKKOS_ENABLE_CUDA)
/// C[i, m, n] = A[i, m, k] B[i, k, n] by one call, which sees the transposed matrices, by columns.
template <class T>
class library_product {
 public:
  static constexpr char const* name = "cuBLAS";
  library_product() { cublasCreate(&handle_), cublasSetStream(handle_, exec_space().cuda_stream()); }
  ~library_product() { cublasDestroy(handle_); }
  library_product(library_product const&) = delete;
  library_product& operator=(library_product const&) = delete;

  void run(bench::contraction_case const& one, T const* a, T const* b, T* c) const {
    constexpr auto type = engine::cublas::type_of<T>();
    ostraka::accumulator_of_t<T> const alpha(1), beta(0);
    std::int64_t const m = one.size(one.m()), n = one.size(one.n()), k = one.size(one.k());
    auto const narrow = [](std::int64_t x) { return static_cast<int>(x); };
    auto const status =
        cublasGemmStridedBatchedEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, narrow(n), narrow(m), narrow(k), &alpha, b,
                                   type.data, narrow(n), k * n, a, type.data, narrow(k), m * k, &beta, c, type.data,
                                   narrow(n), m * n, narrow(one.size(one.batch())), type.compute, CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS) std::printf("cuBLAS: %s\n", cublasGetStatusString(status));
  }

 private:
  cublasHandle_t handle_ = nullptr;
};
#endif

template <class T>
int time_case(bench::report& report, bench::aim& aim, bench::arguments const& given, bench::contraction_case const& one,
              char type) {
  std::string const name = one.name + '.' + type;
  if (!given.wants(name) || given.text("types", "fdhbcz").find(type) == std::string::npos) return 0;
  engine::contraction const p = bench::numbers_of(one);
  block<T> const a = filled<T>(one.size(one.a), 1), b = filled<T>(one.size(one.b), 2);
  block<T> const c = filled<T>(one.size(one.c), 3);
  engine::plan_ticket ticket;
  std::vector<bench::contestant> all{
      {"ours", [&] { engine::contract(exec_space(), p, a.data(), b.data(), c.data(), {}, ticket); }}};
#if OSTRAKA_ENABLE_CUBLAS && defined(KOKKOS_ENABLE_CUDA)
  library_product<T> const library;
  all.push_back({library.name, [&] { library.run(one, a.data(), b.data(), c.data()); }});
#endif
  all[0].run();
  Kokkos::fence();
  bool const is_right = right(one, p, a, b, c);
  auto result = bench::compare(name, all, given.number("rounds", 5), bench::seconds_on_device);
  result.numbers["GFLOP/s"] = (type == 'c' || type == 'z' ? 4 : 1) * one.flops() / result.seconds[0].median * 1e-9;
  if (!is_right) result.remark = "WRONG RESULT";
  if (result.ratio.size() > 1 && one.flops() >= 2.0 * 1024 * 1024 * 1024) aim.add(name, 1 / result.ratio[1].median);
  report.add(std::move(result));
  return is_right ? 0 : 1;
}

int time_type(bench::report& report, bench::aim& aim, bench::arguments const& given, bench::contraction_case const& one,
              char type) {
  switch (type) {
    case 'f':
      return time_case<float>(report, aim, given, one, type);
    case 'd':
      return time_case<double>(report, aim, given, one, type);
    case 'h':
      return time_case<ostraka::float16>(report, aim, given, one, type);
    case 'b':
      return time_case<ostraka::bfloat16>(report, aim, given, one, type);
    case 'c':
      return time_case<Kokkos::complex<float>>(report, aim, given, one, type);
    default:
      return time_case<Kokkos::complex<double>>(report, aim, given, one, type);
  }
}

int time_all(bench::arguments const& given) {
  std::vector<bench::contraction_case> cases;
  for (std::string const& line : plain_cases()) cases.push_back(bench::parse_case(line));
  if (std::string const file = given.text("cases"); !file.empty())
    for (bench::contraction_case const& one : bench::read_cases(file))
      if (one.arithmetic && one.two_operands) cases.push_back(one);
  bench::report report("products", given);
  report.condition("device", exec_space::name());
#if OSTRAKA_ENABLE_CUBLAS && defined(KOKKOS_ENABLE_CUDA)
  report.condition("library", engine::cublas::name());
#endif
  double const largest = std::atof(given.text("largest", "1e300").c_str());
  bench::aim aim("products from 1024³ on have 0.95 of cuBLAS' speed", 0.95);
  int wrong = 0;
  for (bench::contraction_case const& one : cases)
    if (one.flops() <= largest)
      for (char const type : one.types) wrong += time_type(report, aim, given, one, type);
  aim.print();
  if (wrong > 0) std::printf("%d WRONG RESULTS\n", wrong);
  return wrong > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  return time_all(bench::arguments(argc, argv));
}
