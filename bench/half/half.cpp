// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Products of bfloat16 on one thread, in turns: of floats, of bfloat16 as floats, and of bfloat16 by the library that
/// the program links (ostraka::onednn). Shapes are a few rows times large weights, as in decoding, and square ones.
/// Weights change at every call, so that large ones come from memory. Prints a line of JSON for each shape, in
/// microseconds of CPU time; half.py runs this beside PyTorch.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>

namespace {

using namespace ostraka::engine;
using ostraka::bfloat16;
using exec_space = Kokkos::DefaultHostExecutionSpace;

double now() { return static_cast<double>(std::clock()) * 1e6 / CLOCKS_PER_SEC; }

/// C[m, n] = A[m, k] B, where B is stored as B[k, n] or as B[n, k].
contraction product(std::int64_t m, std::int64_t k, std::int64_t n, bool turned) {
  contraction p;
  p.labels = 3;
  std::int64_t const extent[] = {m, n, k}, a[] = {k, 0, 1}, b[] = {0, turned ? k : 1, turned ? 1 : n}, c[] = {n, 1, 0};
  for (int l = 0; l < 3; ++l) {
    p.extent[l] = extent[l];
    p.a[l] = a[l], p.b[l] = b[l], p.c[l] = c[l];
    p.in_a[l] = l != 1, p.in_b[l] = l != 0, p.in_c[l] = l != 2;
  }
  return p;
}

template <class T>
class operands {
 public:
  operands(std::int64_t m, std::int64_t k, std::int64_t n, bool turned, std::int64_t copies)
      : p_(product(m, k, n, turned)),
        size_(k * n),
        copies_(copies),
        a_(std::size_t(m * k)),
        b_(std::size_t(k * n * copies)),
        c_(std::size_t(m * n)) {
    std::uint32_t x = 1;
    for (std::vector<T>* v : {&a_, &b_})
      for (T& e : *v) e = T(static_cast<float>((x = x * 1664525u + 1013904223u) >> 24) / 128 - 1);
  }
  void multiply() {
    contract(exec_space(), p_, a_.data(), b_.data() + next_ % copies_ * size_, c_.data(), update<T>{}, ticket_);
    ++next_;
  }

 private:
  contraction p_;
  std::int64_t size_, copies_, next_ = 0;
  std::vector<T> a_, b_, c_;
  plan_ticket ticket_;
};

template <class F>
double time_of(F const& f, std::int64_t count) {
  double const begin = now();
  for (std::int64_t i = 0; i < count; ++i) f();
  return (now() - begin) / static_cast<double>(count);
}

void measure(std::int64_t m, std::int64_t k, std::int64_t n, bool turned) {
  std::int64_t const copies = m <= 16 ? std::clamp<std::int64_t>((std::int64_t(48) << 20) / (k * n), 1, 64) : 1;
  operands<float> of_floats(m, k, n, turned, copies);
  operands<bfloat16> as_floats(m, k, n, turned, copies), by_library(m, k, n, turned, copies);
  bfloat16_library const* const library = std::exchange(bfloat16_library_of_program, nullptr);
  auto const each = [&](int which) {
    if (which == 0) return of_floats.multiply();
    if (which == 1) return as_floats.multiply();
    bfloat16_library_of_program = library;
    by_library.multiply();
    bfloat16_library_of_program = nullptr;
  };
  std::array<std::vector<double>, 3> times;
  std::array<std::int64_t, 3> count{};
  for (int which = 0; which < 3; ++which) {
    each(which), each(which);
    double const once = time_of([&] { each(which); }, 5);
    count[std::size_t(which)] = std::clamp<std::int64_t>(static_cast<std::int64_t>(20000 / (once + 0.1)), 1, 5000);
  }
  for (int round = 0; round < 5; ++round)
    for (int which = 0; which < 3; ++which)
      times[std::size_t(which)].push_back(time_of([&] { each(which); }, count[std::size_t(which)]));
  for (auto& t : times) std::sort(t.begin(), t.end());
  bfloat16_library_of_program = library;
  std::printf(
      "{\"m\": %ld, \"k\": %ld, \"n\": %ld, \"turned\": %d, \"float\": %.2f, \"as_floats\": %.2f, \"library\": %.2f}\n",
      long(m), long(k), long(n), int(turned), times[0][2], times[1][2], times[2][2]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  if (bfloat16_library_of_program == nullptr || !bfloat16_library_of_program->serves_processor())
    std::fprintf(stderr, "half: no library for bfloat16 on this processor; its column repeats the one before\n");
  for (bool const turned : {false, true}) {
    for (std::int64_t const m : {1, 16})
      for (auto const& [k, n] :
           {std::array{512, 512}, {512, 1408}, {1408, 512}, {512, 8192}, {2048, 2048}, {2048, 8192}})
        measure(m, k, n, turned);
    for (std::int64_t const m : {512, 2048})
      for (auto const& [k, n] : {std::array{512, 512}, {512, 2048}, {2048, 512}}) measure(m, k, n, turned);
    for (std::int64_t const small : {8, 16, 32, 64, 128}) measure(small, small, small, turned);
  }
}
