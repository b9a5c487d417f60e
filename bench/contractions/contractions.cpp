// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The local contraction on the suite of cases.txt. Where arithmetic dominates, ours takes turns with the library's
/// product of the same M, N and K (for a batch, as many products, all contiguous) and with
/// transpose-transpose-GEMM-transpose; where bandwidth dominates, with a copy that moves as many bytes.
///
///     bench/contractions [rounds=5] [only=TEXT] [class=arithmetic|bandwidth] [types=fd] [json=FILE] [cases=FILE]
///     bench/contractions algorithms=1 [random=40] [...]      the chosen algorithm against all others
///     bench/contractions serve=1 [cases=FILE]      the server that contractions.py starts
///
/// It uses one thread unless OMP_NUM_THREADS and the library's variable say otherwise.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cases.hpp"
#include "report.hpp"
#include "trial.hpp"

namespace {

using namespace bench;

/// The speeds of a class, relative to its baseline.
struct summary {
  double logarithms = 0;
  double worst = 1e300;
  std::string worst_case;
  int cases = 0;

  void add(std::string const& name, double speed) {
    logarithms += std::log(speed);
    ++cases;
    if (speed < worst) worst = speed, worst_case = name;
  }
  void print(char const* what) const {
    if (cases > 0)
      std::printf("%s: %d cases, geometric mean %.3f, worst %.2f (%s)\n", what, cases, std::exp(logarithms / cases),
                  worst, worst_case.c_str());
  }
};

int compare_all(arguments const& given, std::vector<contraction_case> const& cases) {
  report results("contractions", given);
  results.condition(
      "ours against",
      "gemm and ttgt where arithmetic dominates, copy where bandwidth does; ratios of times, ours / theirs");
  results.condition("threads", std::to_string(Kokkos::DefaultHostExecutionSpace().concurrency()));
  summary against_gemm, against_ttgt, against_copy;
  int wrong = 0;
  for (contraction_case const& one : cases) {
    if (std::string const kind = given.text("class"); !kind.empty() && (kind == "arithmetic") != one.arithmetic)
      continue;
    for (char type : one.types) {
      std::string const name = one.name + "." + type;
      if (!given.wants(name) || given.text("types", "fd").find(type) == std::string::npos) continue;
      std::unique_ptr<trial> const now = make_trial(one, type);
      std::vector<contestant> const all = now->contestants();
      bool const right = now->right(all[0].run) && (!one.arithmetic || now->right(all[2].run));
      wrong += right ? 0 : 1;
      comparison c = compare(name, all, given.number("rounds", 5));
      double const seconds = c.seconds[0].median;
      c.numbers[one.arithmetic ? "GFLOP/s" : "GB/s"] = (one.arithmetic ? one.flops() : now->bytes()) / seconds * 1e-9;
      if (!right) c.remark = "WRONG RESULT";
      (one.arithmetic ? against_gemm : against_copy).add(name, 1 / c.ratio[1].median);
      if (one.arithmetic) against_ttgt.add(name, 1 / c.ratio[2].median);
      results.add(std::move(c));
    }
  }
  against_gemm.print("arithmetic, speed of ours / gemm");
  against_ttgt.print("arithmetic, speed of ours / ttgt");
  against_copy.print("bandwidth, speed of ours / copy");
  if (wrong > 0) std::printf("%d WRONG RESULTS\n", wrong);
  return wrong > 0 ? 1 : 0;
}

/// Compares the choices of the cost model with the fastest algorithms, on the cases and on random ones.
int compare_algorithms(arguments const& given, std::vector<contraction_case> cases) {
  std::vector<contraction_case> const more =
      random_cases(given.number("random", 0), static_cast<unsigned>(given.number("seed", 1)));
  cases.insert(cases.end(), more.begin(), more.end());
  summary speed;
  for (contraction_case const& one : cases) {
    if (!one.two_operands || one.k().empty() || one.m().size() + one.n().size() == 0) continue;
    if (std::string const kind = given.text("class"); !kind.empty() && (kind == "arithmetic") != one.arithmetic)
      continue;
    for (char type : one.types) {
      std::string const name = one.name + "." + type;
      if (!given.wants(name) || given.text("types", "fd").find(type) == std::string::npos) continue;
      std::unique_ptr<trial> const now = make_trial(one, type);
      std::vector<algorithm> all = now->algorithms();
      time_algorithms(all, given.number("rounds", 5));
      speed.add(name, 1 / show_algorithms(name, all));
    }
  }
  speed.print("speed of the chosen algorithm / of the fastest");
  return 0;
}

/// Answers lines of `case.type contestant repeats` with the seconds of all repeats, and `case.type check 0` with 1 or
/// 0. It holds one case at a time.
int serve(std::vector<contraction_case> const& cases) {
  std::string held, name, who;
  std::unique_ptr<trial> now;
  std::vector<contestant> all;
  for (int repeats = 0; std::cin >> name >> who >> repeats;) {
    if (name != held) {
      std::string const stem = name.substr(0, name.size() - 2);
      auto const one =
          std::find_if(cases.begin(), cases.end(), [&](contraction_case const& c) { return c.name == stem; });
      if (one == cases.end()) return std::fprintf(stderr, "no case %s\n", name.c_str()), 1;
      all.clear();
      now = make_trial(*one, name.back());
      all = now->contestants();
      held = name;
    }
    double answer = -1;
    if (who == "check") answer = now->right(all[0].run) ? 1 : 0;
    for (contestant const& c : all)
      if (c.name == who) answer = seconds_here(c.run, repeats);
    std::printf("%.9g\n", answer);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  arguments const given(argc, argv);
  std::filesystem::path const beside_this = std::filesystem::path(__FILE__).parent_path() / "cases.txt";
  std::vector<contraction_case> const cases = read_cases(given.text("cases", beside_this.string()));
  if (given.number("algorithms", 0) > 0) return compare_algorithms(given, cases);
  return given.number("serve", 0) ? serve(cases) : compare_all(given, cases);
}
