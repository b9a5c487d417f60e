// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Softmax, norms, rope and other operations that read and write memory once, against a copy of the same tensor.
/// Results are new tensors, like those of os::copy and of PyTorch (operations.py compares with it). "rows" are along
/// the last axis, "columns" along the first. For rope a row is heads of 128 numbers; pairs are neighbours, or half of
/// the head's width apart. os::copy may bypass the caches when it writes; "loop", a copy by ordinary stores into fresh
/// memory, does not.
///
///     bench/operations [rounds=9] [only=TEXT] [json=FILE]

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <ostraka/operations.hpp>

#include "report.hpp"

namespace os = ostraka;

namespace {

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(H);
OSTRAKA_AXIS(D);
OSTRAKA_AXIS(F);
OSTRAKA_AXIS(P);
OSTRAKA_MESH_AXIS(X);

constexpr std::int64_t frequencies = 64;  // of a head

struct shape {
  char const* name;
  std::int64_t rows, columns;
};

constexpr shape shapes[] = {{"cached", 64, 1024}, {"large", 8192, 1024}, {"long", 64, 131072}};

/// Copies by ordinary stores, a cache line at a time: compilers do not replace it by a call.
template <class T>
void copy_by_lines(T const* from, T* to, std::int64_t n) {
  constexpr std::int64_t line = 64 / sizeof(T);
  for (std::int64_t i = 0; i < n; i += line) {
    __builtin_memcpy(to + i, from + i, 64);
    asm volatile("" ::: "memory");
  }
}

template <class T>
void time_all(bench::report& report, bench::arguments const& given, char const* element) {
  auto const mesh = os::make_mesh(X = 1);
  int const rounds = given.number("rounds", 9);
  for (shape const& s : shapes) {
    auto const x = os::cast<T>(os::random<float, I, J>(mesh, I = s.rows, J = s.columns));
    auto const gain = os::cast<T>(os::random<float, J>(mesh, J = s.columns));
    auto const bias = os::cast<T>(os::random<float, J>(mesh, J = s.columns));
    bench::contestant const copy{"copy", [&] { static_cast<void>(os::copy(x)); }};
    bench::contestant const loop{"loop", [&, n = s.rows * s.columns] {
                                   std::unique_ptr<T[]> const own(new T[static_cast<std::size_t>(n)]);
                                   copy_by_lines(x.local().data(), own.get(), n);
                                 }};
    auto const time = [&](std::string const& what, auto const& run) {
      std::string const name = what + '.' + element + '.' + s.name;
      if (!given.wants(name)) return;
      report.add(bench::compare(name, {{"ours", [&] { static_cast<void>(run()); }}, copy, loop}, rounds));
    };
    time("softmax.rows", [&] { return os::softmax<J>(x); });
    time("log_softmax.rows", [&] { return os::log_softmax<J>(x); });
    time("rms_norm.rows", [&] { return os::rms_norm<J>(x, gain); });
    time("layer_norm.rows", [&] { return os::layer_norm<J>(x, gain, bias); });
    time("log_sum_exp.rows", [&] { return os::log_sum_exp<J>(x); });
    time("gelu.all", [&] { return os::gelu(x); });
    time("softmax.columns", [&] { return os::softmax<I>(x); });
    auto const heads = os::split<J, H, D>(x, D = 2 * frequencies);
    auto const pairs = os::split<D, F, P>(heads, P = 2);
    auto const halves = os::split<D, P, F>(heads, P = 2);
    time("rope.pairs", [&] { return os::rope<I, F, P>(pairs); });
    time("rope.halves", [&] { return os::rope<I, F, P>(halves); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  os::environment env(argc, argv);
  bench::arguments const given(argc, argv);
  bench::report report("operations", given);
  time_all<float>(report, given, "f");
  time_all<os::bfloat16>(report, given, "b");
  time_all<os::float16>(report, given, "h");
  time_all<double>(report, given, "d");
}
