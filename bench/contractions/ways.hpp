// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Every way in which the engine could do a contraction, with what its cost model thinks of it: that is how the model's
/// constants are kept honest.

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

/// A way, what the model counts in it, the seconds that it expects, and whether it chooses it.
struct way {
  std::string name;
  ostraka::engine::detail::cost_counts counts;
  bool chosen = false;
  std::function<void()> run;
  double seconds = 1e300;

  [[nodiscard]] double expected() const { return counts.nanoseconds() * 1e-9; }
};

/// Our own kernels, and the library with every operand where it lies (.), gathered (g) or copied (c), in the order A,
/// B, C.
template <class T>
std::vector<way> ways_of(ostraka::engine::contraction const& p, T const* a, T const* b, T* c) {
  using namespace ostraka::engine;
  Kokkos::DefaultHostExecutionSpace const exec;
  contraction_plan const chosen = plan_contraction<T>(p);
  std::vector<way> all{{"own", detail::counts_of_our_kernels<T>(loops_of(p)), !chosen.library,
                        [=] { detail::contract_portable(exec, p, a, b, c, update<T>{}); }}};
#if OSTRAKA_ENABLE_CBLAS
  for (int moved = 0; moved < 27; ++moved) {
    int copied = 0, packed = 0;
    std::string name;
    for (int o = 0, rest = moved; o < 3; ++o, rest /= 3) {
      name += ".gc"[rest % 3];
      if (rest % 3 != 0) (rest % 3 == 2 ? copied : packed) |= 1 << o;
    }
    contraction_plan plan;
    detail::try_copying<T>(plan, p, copied, packed);
    if (!plan.library) continue;
    bool same = chosen.library;
    for (int o = 0; o < 3; ++o) same = same && chosen.copied[o] == plan.copied[o] && chosen.pack[o] == plan.pack[o];
    all.push_back({name, detail::counts_of<T>(plan, loops_of(plan.problem)), same,
                   [=] { detail::follow_plan(exec, p, plan, a, b, c, update<T>{}); }});
  }
#endif
  return all;
}

/// Times them in turns; the least of some rounds each, and of a way that takes four times as long as another only once.
inline void time_ways(std::vector<way>& all, int rounds) {
  double best = 1e300;
  for (int r = -1; r < rounds; ++r)
    for (way& w : all) {
      if (w.seconds < 1e299 && w.seconds > 4 * best) continue;
      double const once = seconds_here(w.run, 1);
      double const sample = 0.002;
      w.seconds = std::min(w.seconds, once >= sample ? once
                                                     : seconds_here(w.run, static_cast<int>(sample / once) + 1) /
                                                           (static_cast<int>(sample / once) + 1));
      best = std::min(best, w.seconds);
    }
  std::sort(all.begin(), all.end(), [](way const& x, way const& y) { return x.seconds < y.seconds; });
}

/// A line: what is chosen, its time as a multiple of the fastest way's, and the ways with measured and expected time.
/// The multiple.
inline double show_ways(std::string const& name, std::vector<way> const& all, std::size_t shown) {
  double regret = 0;
  for (way const& w : all)
    if (w.chosen) regret = w.seconds / all[0].seconds;
  std::printf("%-32s regret %.2f  ", name.c_str(), regret);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i < shown || all[i].chosen || all[i].name == "own")
      std::printf(" %s%s %s (%s)", all[i].chosen ? "*" : "", all[i].name.c_str(), show_seconds(all[i].seconds).c_str(),
                  show_seconds(all[i].expected()).c_str());
  std::printf("\n");
  std::fflush(stdout);
  return regret;
}

/// For fit.py: a line a way, case, way, seconds, whether chosen, counts.
inline void write_ways(std::FILE* out, std::string const& name, std::vector<way> const& all) {
  for (way const& w : all) {
    std::fprintf(out, "%s %s %.6g %d", name.c_str(), w.name.c_str(), w.seconds, w.chosen ? 1 : 0);
    for (double const n : w.counts.of) std::fprintf(out, " %.6g", n);
    std::fprintf(out, "\n");
  }
}

/// Contractions that nobody has chosen: up to two labels of each class, extents of any size, every operand's labels in
/// any order.
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
