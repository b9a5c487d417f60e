// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A program that is traced (check.py): by OSTRAKA_TRACE as a whole, a part of it by os::trace, and on a dry mesh by
/// os::trace_of. It prints the figures that the files have to match, by other counts: the time that it took, and the
/// bytes that the first device sends, by os::cost_of. An exception ends one trace, and one has a name that is no text.
///
///     program <folder>

#include <chrono>
#include <cstdio>
#include <string>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/foresight/time_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/seeing/trace.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Products with moves before and after, a row operation, one in flight, and time of the program's own.
void step(auto const& mesh) {
  auto const a = os::random<float, I/X, J/Y>(mesh, I = 240, J = 360);
  auto const b = os::random<float, J/Y, K>(mesh, J = 360, K = 120);
  os::trace_region const whole("step \"one\"");
  for (int i = 0; i < 5; ++i) {
    auto const c = os::einsum<I/X, K/Y>(a, b);
    auto gathered = os::start_reshard<I, K/Y>(c);
    auto const s = os::softmax<K>(os::reshard<I/X, K>(c));
    static_cast<void>(std::move(gathered).wait());
    double const until = seconds() + 2e-3;
    while (seconds() < until) {
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::string const folder = argv[1];
  double const begin = seconds();
  double inner = 0, part_begin = 0, part_inner = 0, part_outer = 0;
  int rank = 0;
  {
    os::environment env(argc, argv);
    int const n = env.devices();
    auto const mesh = os::make_mesh(X = n % 2 == 0 ? n / 2 : n, Y = n % 2 == 0 ? 2 : 1);
    rank = mesh.device();
    bool const speaks = rank == 0;
    double const began = seconds();
    step(mesh);
    os::cost const c = os::cost_of(mesh, [&] { step(mesh); });
    part_begin = seconds();
    {
      os::trace const traced(speaks ? folder + "/part.json" : std::string());  // rank 0's name counts
      double const traced_from = seconds();
      step(mesh);
      std::string const table = os::trace_summary(traced);
      if (speaks) std::fputs(table.c_str(), stdout);
      part_inner = seconds() - traced_from;
    }
    part_outer = seconds() - part_begin;
    std::string table;
    try {
      os::trace const ended(folder + "/ended.json");
      {
        os::trace_region const odd(std::string("caf\xe9\n\0\xe2\x82\xac", 9));
        auto const started = os::zeros<float, I/X>(os::dry_mesh(X = 4), I = 8);
        static_cast<void>(os::reshard<I>(started));  // it sends nothing
      }
      table = os::trace_summary(ended);
      throw folder;
    } catch (std::string const&) {
    }
    if (speaks) std::fputs(table.c_str(), stdout);
    auto const dry = os::dry_mesh(X = 16, Y = 2);
    os::cost const priced = os::cost_of(dry, [&] { step(dry); });
    double const predicted = os::time_of(dry, os::machines::h100, [&] { step(dry); }).seconds;
    table = os::trace_of(
        dry, os::machines::h100, [&] { step(dry); }, speaks ? folder + "/dry.json" : std::string());
    if (speaks)
      std::printf("%spart_bytes %lld\ndry_bytes %lld\ndry_flops %lld\ndry_seconds %.9e\n", table.c_str(),
                  static_cast<long long>(c.bytes), static_cast<long long>(priced.bytes),
                  static_cast<long long>(priced.flops), predicted);
    inner = seconds() - began;
  }
  // Each time is more than the one, and less than the other.
  std::printf(
      "part_seconds_%d %.6f\npart_around_seconds_%d %.6f\nwhole_seconds_%d %.6f\nwhole_around_seconds_%d %.6f\n", rank,
      part_inner, rank, part_outer, rank, inner, rank, seconds() - begin);
  return 0;
}
