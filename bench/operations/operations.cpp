// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Softmax, norms and other operations that read and write memory once, against a copy of the same tensor:
/// build/bench/operations [rounds=9] [only=TEXT] [json=FILE]. Results are tensors of their own, as those of os::copy
/// and of PyTorch are (operations.py compares with that). "rows" are along the last axis, "columns" along the first.

#include <cstdint>
#include <string>

#include <ostraka/operations.hpp>

#include "report.hpp"

namespace os = ostraka;

namespace {

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

struct shape {
  char const* name;
  std::int64_t rows, columns;
};

constexpr shape shapes[] = {{"cached", 64, 1024}, {"large", 8192, 1024}, {"long", 64, 131072}};

template <class T>
void time_all(bench::report& report, bench::arguments const& given, char const* element) {
  auto const mesh = os::make_mesh(X = 1);
  int const rounds = given.number("rounds", 9);
  for (shape const& s : shapes) {
    auto const x = os::cast<T>(os::random<float, I, J>(mesh, I = s.rows, J = s.columns));
    auto const gain = os::cast<T>(os::random<float, J>(mesh, J = s.columns));
    auto const bias = os::cast<T>(os::random<float, J>(mesh, J = s.columns));
    bench::contestant const copy{"copy", [&] { static_cast<void>(os::copy(x)); }};
    auto const time = [&](std::string const& what, auto const& run) {
      std::string const name = what + '.' + element + '.' + s.name;
      if (!given.wants(name)) return;
      report.add(bench::compare(name, {{"ours", [&] { static_cast<void>(run()); }}, copy}, rounds));
    };
    time("softmax.rows", [&] { return os::softmax<J>(x); });
    time("log_softmax.rows", [&] { return os::log_softmax<J>(x); });
    time("rms_norm.rows", [&] { return os::rms_norm<J>(x, gain); });
    time("layer_norm.rows", [&] { return os::layer_norm<J>(x, gain, bias); });
    time("log_sum_exp.rows", [&] { return os::log_sum_exp<J>(x); });
    time("gelu.all", [&] { return os::gelu(x); });
    time("softmax.columns", [&] { return os::softmax<I>(x); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  os::environment env(argc, argv);
  bench::arguments const given(argc, argv);
  bench::report report("operations", given);
  time_all<float>(report, given, "f");
  time_all<os::bfloat16>(report, given, "b");
  time_all<double>(report, given, "d");
}
