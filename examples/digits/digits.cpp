// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Learns to read handwritten digits by ridge regression on random features, sharded over a mesh of devices. Every
/// product is an einsum whose communication is known while compiling. Try  mpirun -n 8 digits  and  digits --help.
///
///     H[N_X, F_Y] = relu(images[N_X, P] · W[P, F_Y])          (HᵀH + λI) C = Hᵀ · classes          C[F_YX, K]

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>

#include "agreement.hpp"
#include "data.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "ridge.hpp"
#include "traffic.hpp"

namespace digits {

constexpr double tolerance = 1e-11;  // for the solver's residuals

/// A regression on one mesh, from data that its device 0 has read.
struct regression {
  weights w;
  problem given;

  regression(mesh const& m, examples const& e, options const& o)
      : w(random_weights(m, o.features, o.seed)),
        given{features_of(return_entry<P>(m, e.count, e.images), w), return_entry<K>(m, e.count, e.classes), o.ridge} {}
};

void introduce(mesh const& m, regression const& r, dataset const& data, options const& o) {
  std::string const split = std::to_string(data.training.count) + " images to learn from, " +
                            std::to_string(data.held_out.count) + " held out";
  std::string const size = std::to_string(o.features) + " random features";
  std::printf("%s: %s\n", o.csv.c_str(), split.c_str());
  std::printf("Ridge regression with weight %g on %s, on a mesh of %d × %d devices\n\n", o.ridge, size.c_str(),
              m.size(X), m.size(Y));
  std::printf("  W        %s\n", os::describe(r.w).c_str());
  std::printf("  H        %s\n", os::describe(r.given.h).c_str());
  std::printf("  classes  %s\n", os::describe(r.given.truth).c_str());
  std::printf("  C        %s\n", os::describe(os::zeros<coefficients>(m, F = o.features)).c_str());
  print_plans(m, data.training.count, o.features);
  std::printf("\nConjugate gradients, %d classes side by side\n", static_cast<int>(K_axis::extent));
}

fit solve_and_show(problem const& p, options const& o, bool speaks) {
  progress bar(speaks, tolerance);
  return solve(p, tolerance, o.iterations, [&](int iteration, double residual) { bar.show(iteration, residual); });
}

/// On device 0: solves the same problem again on a mesh of this device alone. @returns whether the answers agree
bool one_device_agrees(dataset const& data, options const& o, fit const& theirs, matrix const& their_c,
                       matrix const& their_scores) {
  mesh const lone = make_lone_mesh();
  std::printf("The same on one device: ");
  std::fflush(stdout);
  regression const r(lone, data.training, o);
  fit const own = solve(r.given, tolerance, o.iterations, [](int, double) {});
  matrix const c = *os::gather_to_root(own.c);
  features const h = features_of(return_entry<P>(lone, data.held_out.count, data.held_out.images), r.w);
  matrix const scores = *os::gather_to_root(predict(h, own.c));

  bound const allowed(r.given, own.residual + theirs.residual, own.iterations + theirs.iterations);
  bool agree = true;
  double tightest = allowed(0, c);
  for (std::size_t k = 0; k < c.extent(1); ++k) {
    double const d = distance(k, c, their_c);
    tightest = std::fmin(tightest, allowed(k, c));
    agree = agree && d <= allowed(k, c);  // false for NaN
  }
  std::printf("differences of at most %.1e in C (bound: %.1e) and %.1e in what it predicts: %s\n",
              largest_difference(c, their_c), tightest, largest_difference(scores, their_scores),
              agree ? "PASS" : "FAIL");
  return agree;
}

/// On device 0: writes the coefficients to a file. @returns whether it could be written
bool save(std::string const& file, matrix const& c) {
  std::ofstream out(file);
  out.precision(17);
  for (std::size_t f = 0; f < c.extent(0); ++f)
    for (std::size_t k = 0; k < c.extent(1); ++k) out << c(f, k) << (k + 1 < c.extent(1) ? ',' : '\n');
  if (out.flush()) return true;
  std::fprintf(stderr, "digits: %s: the file cannot be written; name one that can\n", file.c_str());
  return false;
}

/// @returns, on all devices, whether all went well
bool run(mesh const& m, options const& o) {
  bool const speaks = m.device() == 0;
  dataset const data = read_dataset(m, o.csv);
  regression const r(m, data.training, o);
  if (speaks) introduce(m, r, data, o);

  auto const start = std::chrono::steady_clock::now();
  fit const solution = solve_and_show(r.given, o, speaks);
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  features const h = features_of(return_entry<P>(m, data.held_out.count, data.held_out.images), r.w);
  classes const scores = predict(h, solution.c);
  double const share_right = accuracy(scores, return_entry<K>(m, data.held_out.count, data.held_out.classes));

  auto const c = os::gather_to_root(solution.c);
  auto const all_scores = os::gather_to_root(scores);
  bool well = true;
  if (speaks) {
    double const megabytes = 1e-6 * static_cast<double>(bytes_moved(m, data, o.features, solution.iterations));
    std::printf("\nHeld-out accuracy: %.2f %%\n", 100 * share_right);
    std::printf("All devices together moved %.1f MB; the solver ran %.1f s\n", megabytes, seconds);
    well = one_device_agrees(data, o, solution, *c, *all_scores);
    if (!o.save.empty()) well = save(o.save, *c) && well;
  }
  return tell_all(m, well ? 1 : 0) == 1;
}

}  // namespace digits

int main(int argc, char** argv) {
  ostraka::environment const env(argc, argv);
  digits::mesh const mesh = digits::make_mesh(env.devices());
  try {
    digits::options const options = digits::parse_options(argc, argv, EXAMPLE_FOLDER "/digits.csv");
    if (!options.help) return digits::run(mesh, options) ? 0 : 1;
    if (mesh.device() == 0) std::printf("%s", digits::help);
    return 0;
  } catch (digits::refusal const& r) {
    if (mesh.device() == 0) std::fprintf(stderr, "digits: %s\n", r.what());
    return 1;
  }
}
