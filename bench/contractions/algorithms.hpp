// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Every algorithm by which the engine could compute a contraction, with the cost that its cost model expects. Compare
/// the two to check the constants of the model.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>

#include "cases.hpp"
#include "report.hpp"

namespace bench {

/// An algorithm, the cost that the model expects of it (product_cost.hpp), its seconds, and whether the model chooses
/// it.
struct algorithm {
  std::string name;
  double expected = 0;
  bool chosen = false;
  std::function<void()> run;
  double seconds = 1e300;
};

/// Our own kernels, and the library with every operand in place (.) or copied (c), in the order A, B, C.
template <class T>
std::vector<algorithm> algorithms_of(ostraka::engine::contraction const& p, T const* a, T const* b, T* c) {
  using namespace ostraka::engine;
  using exec_space = Kokkos::DefaultHostExecutionSpace;
  exec_space const exec;
  contraction_plan const chosen = plan_contraction<T>(p);
  double const of_tiles = detail::worth_tiles(loops_of(p)) ? detail::cost_of_tiles<T>(loops_of(p)) : 0;
  std::vector<algorithm> all{{"own", of_tiles, !chosen.library,
                              [=] { detail::contract_portable(exec, p, a, b, c, update<T>{}); }}};
  if constexpr (cblas::multiplies<T>)
    for (int copied = 0; copied < 8; ++copied) {
      contraction_plan plan;
      detail::try_copying<T>(plan, p, copied, cblas::limit());
      if (!plan.library) continue;
      std::string name;
      bool same = chosen.library;
      for (int o = 0; o < 3; ++o) {
        name += ".c"[copied >> o & 1];
        same = same && chosen.copied[o] == plan.copied[o];
      }
      all.push_back({name, plan.cost, same, [=] { detail::follow_plan<cblas>(exec, p, plan, a, b, c, update<T>{}); }});
    }
  return all;
}

/// Times the algorithms in turns and keeps the least time of each; an algorithm that takes four times as long as the
/// best runs three rounds only.
inline void time_algorithms(std::vector<algorithm>& all, int rounds) {
  double best = 1e300;
  for (int r = -1; r < rounds; ++r)
    for (algorithm& w : all) {
      if (r > 1 && w.seconds > 4 * best) continue;
      double const once = seconds_here(w.run, 1);
      double const sample = 0.002;
      w.seconds = std::min(w.seconds, once >= sample ? once
                                                     : seconds_here(w.run, static_cast<int>(sample / once) + 1) /
                                                           (static_cast<int>(sample / once) + 1));
      best = std::min(best, w.seconds);
    }
  std::sort(all.begin(), all.end(), [](algorithm const& x, algorithm const& y) { return x.seconds < y.seconds; });
}

/// Prints a line: the chosen algorithm, its time as a multiple of the fastest one's, and all algorithms with measured
/// time and expected millions of multiplications. @returns the multiple
inline double show_algorithms(std::string const& name, std::vector<algorithm> const& all) {
  double regret = 0;
  for (algorithm const& w : all)
    if (w.chosen) regret = w.seconds / all[0].seconds;
  std::printf("%-32s regret %.2f  ", name.c_str(), regret);
  for (algorithm const& w : all)
    std::printf(" %s%s %s (%.3g)", w.chosen ? "*" : "", w.name.c_str(), show_seconds(w.seconds).c_str(),
                w.expected * 1e-6);
  std::printf("\n");
  std::fflush(stdout);
  return regret;
}

/// Random contractions: up to two labels of each class, extents of any size, every operand's labels in any order.
inline std::vector<contraction_case> random_cases(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<contraction_case> all;
  while (static_cast<int>(all.size()) < count) {
    contraction_case one;
    one.types = random() % 2 ? "f" : "d";
    double const scale = std::exp2(1 + static_cast<double>(random() % 60) / 10);
    char label = 'a';
    for (int kind = 0; kind < 4; ++kind)  // batch, m, n, k
      for (int many = kind == 0 ? (random() % 3 == 0 ? 1 : 0) : 1 + static_cast<int>(random() % 2); many > 0;
           --many, ++label) {
        one.extents[label] = std::max<std::int64_t>(
            2, static_cast<std::int64_t>(scale * std::exp2(static_cast<double>(random() % 40) / 10 - 2)));
        if (kind != 2) one.a += label;
        if (kind != 1) one.b += label;
        if (kind != 3) one.c += label;
      }
    for (std::string* const labels : {&one.a, &one.b, &one.c}) std::shuffle(labels->begin(), labels->end(), random);
    if (one.flops() > 2e8 || one.flops() < 2e3 || one.elements() > 8000000) continue;
    one.name = "random" + std::to_string(all.size()) + ":" + one.a + "," + one.b + "->" + one.c;
    for (auto const& [l, n] : one.extents) one.name += ":" + std::string(1, l) + std::to_string(n);
    all.push_back(one);
  }
  return all;
}

}  // namespace bench
