// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Measures the machine that it runs on, with the ranks that it is started on, and writes a file that os::load_machine
/// reads: the flop/s of a rank while all ranks compute, by element type, and the share of it that smaller products
/// reach; the bandwidth of reading and writing, in caches and beyond; the overhead of an operation; the time of a
/// message, α + bytes · β, while all ranks gather, with one β for short messages and one for long ones; the time of a
/// message of rows that is sent in place; the rate of reductions in an all-reduce. It measures everything through the
/// library, so predictions are based on this machine with this library, not on its vendor's figures. Each operation is
/// repeated, so that the caches hold its blocks as far as they fit.
///
///     mpirun -n 2 bench/calibrate [file=here.machine] [name=TEXT] [sweeps=8] [rounds=5] [line=NANOSECONDS]
///
/// line=60 measures only while a cache line takes at most 60 ns between ranks, line=-100 while it takes at least 100 ns
/// (line_between_ranks.hpp), and waits for that 60 s in all.
///
/// bench/patterns machine=here.machine shows how far predictions are from measurements.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <ostraka/foresight/machine.hpp>
#include <ostraka/ostraka.hpp>

#include "fits.hpp"
#include "report.hpp"
#include "seconds_of_all.hpp"

namespace os = ostraka;
namespace planner = ostraka::planner;
using calibrate::timed;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

namespace {

using mesh = decltype(os::make_mesh(X = 1));

// Seconds of one run on the slowest rank, the least of all rounds: other work on the machine only adds to it. Rounds
// are short, so that some of them run undisturbed.
double seconds_of(std::function<void()> const& run, int rounds) {
  return bench::compare("", {{"", run}}, rounds, bench::seconds_of_all, 0.0003).seconds[0].least;
}

// Each rank multiplies matrices of n × n: seconds of 10⁹ flops.
template <class T>
double seconds_of_products(mesh const& m, int n, int rounds) {
  auto const given = os::sizes(I = n * m.size(X), J = n, K = n);
  auto const a = os::full<T, I / X, J>(m, given, T(1));
  auto const b = os::full<T, J, K>(m, given, T(1));
  auto const c = os::full<T, I / X, K>(m, given, T(0));
  return seconds_of([&] { os::einsum_into(c, a, b); }, rounds) / (2e-9 * n * n * n);
}

// The same for a batch of several products.
double seconds_of_batch(mesh const& m, std::int64_t batch, int n, int rounds) {
  auto const given = os::sizes(B = batch * m.size(X), I = n, J = n, K = n);
  auto const a = os::full<double, B / X, I, J>(m, given, 1.0);
  auto const b = os::full<double, B / X, J, K>(m, given, 1.0);
  auto const c = os::full<double, B / X, I, K>(m, given, 0.0);
  return seconds_of([&] { os::einsum_into(c, a, b); }, rounds);
}

// Multiplies matrices of one element: the time left is that of the call.
double seconds_of_operation(mesh const& m, int rounds) {
  auto const a = os::full<double, I / X, J>(m, os::sizes(I = m.size(X), J = 1), 1.0);
  auto const b = os::full<double, J, K>(m, os::sizes(J = 1, K = 1), 1.0);
  auto const c = os::full<double, I / X, K>(m, os::sizes(I = m.size(X), K = 1), 0.0);
  return seconds_of([&] { os::einsum_into(c, a, b); }, rounds);
}

// Each rank adds two arrays into a third: `bytes` read and written in all, 24 for each element.
double seconds_of_pass(mesh const& m, std::int64_t bytes, int rounds) {
  std::int64_t const n = bytes / 24;
  auto const a = os::full<double, I / X>(m, I = n * m.size(X), 1.0);
  auto const b = os::full<double, I / X>(m, I = n * m.size(X), 2.0);
  auto const c = os::full<double, I / X>(m, I = n * m.size(X), 0.0);
  auto const add = [&] {
    os::map_into(
        c, KOKKOS_LAMBDA(double x, double y) { return x + y; }, a, b);
  };
  return seconds_of(add, rounds);
}

// Each rank sends so many bytes to each other rank.
double seconds_of_gather(mesh const& m, std::int64_t bytes, int rounds) {
  std::int64_t const n = bytes / 8 * m.size(X);
  auto const parts = os::full<double, I / X>(m, I = n, 1.0);
  auto const whole = os::full<double, I>(m, I = n, 0.0);
  return seconds_of([&] { os::reshard_into(whole, parts); }, rounds);
}

// The same in rows: there are as many rows as elements in a row, or twice that, as in an all-to-all of a square matrix.
double seconds_of_all_to_all(mesh const& m, std::int64_t bytes, int rounds) {
  std::int64_t row = 1;
  while (4 * row * row <= bytes / 8) row *= 2;
  auto const given = os::sizes(I = bytes / 8 / row * m.size(X), J = row * m.size(X));
  auto const rows = os::full<double, I / X, J>(m, given, 1.0);
  auto const columns = os::full<double, I, J / X>(m, given, 0.0);
  return seconds_of([&] { os::reshard_into(columns, rows); }, rounds);
}

// An all-reduce of so many bytes.
double seconds_of_all_reduce(mesh const& m, std::int64_t bytes, int rounds) {
  auto const summands = os::zeros<double, I, os::partial(X)>(m, I = bytes / 8);
  auto const whole = os::full<double, I>(m, I = bytes / 8, 0.0);
  return seconds_of([&] { os::reshard_into(whole, summands); }, rounds);
}

// True if a message proceeds while its receiver computes. Both take equally long: then the pair takes once that, else
// twice.
bool overlaps(int ranks, int rounds) {
  constexpr int bytes = 1 << 20;
  std::vector<char> sent(bytes, 1);
  std::vector<char> received(bytes, 0);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto const pass_on = [&](double busy) {
    MPI_Request r[2];
    MPI_Irecv(received.data(), bytes, MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(sent.data(), bytes, MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &r[1]);
    for (double const begin = MPI_Wtime(); MPI_Wtime() - begin < busy;) {
    }
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  };
  double const message = seconds_of([&] { pass_on(0); }, rounds);
  return seconds_of([&] { pass_on(message); }, rounds) < 1.5 * message;
}

// The sizes of messages of rows: shorter ones do not count as such, longer ones are packed (moves/transport.hpp).
std::int64_t const first_of_rows = os::engine::shortest_block_message;
std::int64_t const last_of_rows = os::engine::longest_block_message;

// Products of 64³. Caches hold four of them, but not these many: 50 MB.
constexpr std::int64_t products_from_memory = 512;

// The measured times, at sizes that double from one to the next.
struct times {
  double products[4]{};  // of 10⁹ flops, by element type
  double operation = 0;
  double from_memory = 0;    // many products
  std::vector<timed> cubes;  // four products of doubles: extents instead of bytes
  std::vector<timed> passes, gathers, all_to_alls, all_reduces;

  // The least times so far. All sizes are measured again and again, so that a disturbance of the machine for a second,
  // or a rank that the system has moved, does not affect one size alone.
  void measure(mesh const& m, int rounds) {
    keep(products[0], seconds_of_products<double>(m, 1024, rounds));
    keep(products[1], seconds_of_products<float>(m, 1024, rounds));
    keep(products[2], seconds_of_products<os::bfloat16>(m, 1024, rounds));
    keep(products[3], seconds_of_products<std::int8_t>(m, 256, rounds));
    keep(operation, seconds_of_operation(m, rounds));
    at_sizes(cubes, 8, 512, [&](auto n) { return seconds_of_batch(m, 4, static_cast<int>(n), rounds); });
    keep(from_memory, seconds_of_batch(m, products_from_memory, 64, rounds));
    at_sizes(passes, 3 << 14, 3 << 26, [&](auto bytes) { return seconds_of_pass(m, bytes, rounds); });
    if (m.size(X) == 1) return;
    at_sizes(gathers, 8, 1 << 25, [&](auto bytes) { return seconds_of_gather(m, bytes, rounds); });
    at_sizes(all_to_alls, first_of_rows, 1 << 23, [&](auto bytes) { return seconds_of_all_to_all(m, bytes, rounds); });
    at_sizes(all_reduces, 1 << 16, 1 << 26, [&](auto bytes) { return seconds_of_all_reduce(m, bytes, rounds); });
  }

 private:
  static void keep(double& least, double seconds) { least = least > 0 ? std::min(least, seconds) : seconds; }

  template <class Time>
  static void at_sizes(std::vector<timed>& all, std::int64_t first, std::int64_t last, Time const& time) {
    std::size_t i = 0;
    for (std::int64_t bytes = first; bytes <= last; bytes *= 2, ++i) {
      if (i == all.size()) all.push_back({double(bytes), 0});
      keep(all[i].seconds, time(bytes));
    }
  }
};

// Shorter work has one rate; longer work, which a cache may hold or not, has a rate for each size.
constexpr double short_bytes = 1 << 18;

// Subtracts the times `beside` from those of each size, but leaves at least `part` of each.
template <class Beside>
std::vector<timed> without(std::vector<timed> all, double part, Beside const& beside) {
  for (timed& t : all) t.seconds = std::max(t.seconds - beside(t.bytes), t.seconds * part);
  return all;
}

// The share of the rate of large products that products of n × n matrices reach, without the overhead of the operation.
void add_shares(times const& measured, os::machine& m) {
  for (timed const& t : without(measured.cubes, 0.25, [&](double) { return m.operation_seconds; })) {
    double const n = t.bytes, flops = 4 * 2 * n * n * n;
    m.shares.add({2 * n / 3, flops / t.seconds / m.flops_per_second.float64});
  }
  m.shares.add({2 * 1024.0 / 3, 1});
}

void add_memory(times const& measured, os::machine& m) {
  auto const passes = without(measured.passes, 0.5, [&](double) { return m.operation_seconds; });
  m.cache_bytes = short_bytes;
  m.cache_bytes_per_second = calibrate::rates_of(passes, m.cache_bytes, m.memory_of_size);
  m.memory_bytes_per_second = m.memory_of_size.last().rate;
}

// The time of many products beyond the longer of computing and reading, as a share of the shorter.
void add_waits(times const& measured, os::machine& m) {
  double const flops = 2.0 * 64 * 64 * 64 * products_from_memory, bytes = 3.0 * 64 * 64 * 8 * products_from_memory;
  double const roofline = planner::local_seconds(m, flops, 8, bytes, bytes);
  m.memory_waits = 1;
  double const shorter = planner::local_seconds(m, flops, 8, bytes, bytes) - roofline;
  m.memory_waits = std::clamp((measured.from_memory - m.operation_seconds - roofline) / shorter, 0.0, 1.0);
}

// One message of a gather: without the overhead of the operation, and the copy of a device's own part.
std::vector<timed> messages_of(times const& measured, os::machine const& m, double ranks) {
  std::vector<timed> all = without(measured.gathers, 0.25, [&](double bytes) {
    return m.operation_seconds + planner::memory_seconds(m, 2 * bytes, (ranks + 1) * bytes);
  });
  for (timed& t : all) t.seconds /= ranks - 1;
  return all;
}

// The messages of rows are the time of an all-to-all without the operation, the copy of a device's own part and
// packing.
void add_rows(times const& measured, os::machine& m, double ranks) {
  for (timed const& t : without(measured.all_to_alls, 0.25, [&](double bytes) {
         double const copied = bytes > double(last_of_rows) ? ranks * bytes : bytes;
         return m.operation_seconds + planner::memory_seconds(m, 2 * copied, 2 * ranks * bytes);
       }))
    m.links.of_rows.add({t.bytes, (ranks - 1) * t.bytes / t.seconds});
}

// The reduction of the other devices' parts is the time of an all-reduce without its messages, the operation and the
// copy of a device's own summand.
void add_reductions(times const& measured, os::machine& m, std::int64_t ranks) {
  double const n = double(ranks);
  std::vector<timed> reductions = without(measured.all_reduces, 0.05, [&](double bytes) {
    return m.operation_seconds + planner::memory_seconds(m, 2 * bytes) +
           planner::seconds(m.links, planner::collective::all_reduce, ranks, bytes);
  });
  for (timed& t : reductions) t.bytes *= (n - 1) / n;
  m.reduction_bytes_per_second = calibrate::rates_of(reductions, short_bytes, m.reductions_of_size);
}

std::string processor() {
  std::string name = "this machine";
  if (std::FILE* const file = std::fopen("/proc/cpuinfo", "r")) {
    char line[512];
    while (std::fgets(line, sizeof line, file) != nullptr)
      if (std::strncmp(line, "model name", 10) == 0 && std::strchr(line, ':') != nullptr) {
        name = std::strchr(line, ':') + 2;
        name.erase(name.find_last_not_of("\n ") + 1);
        break;
      }
    std::fclose(file);
  }
  return name;
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  bench::arguments const given(argc, argv);
  int const rounds = given.number("rounds", 5);
  int const ranks = env.devices();
  auto const m = os::make_mesh(X = ranks);

  bench::line_between_ranks::instance().limit(given.number("line", 0), 60);
  times measured;
  for (int sweep = given.number("sweeps", 8); sweep > 0; --sweep) measured.measure(m, rounds);

  os::machine here;
  here.name = given.text("name", std::to_string(ranks) + " ranks, " + processor());
  auto const flops = [&](int type) { return 1e9 / measured.products[type]; };
  here.flops_per_second = {flops(0), flops(1), flops(2), flops(3)};
  here.memory_bytes = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE)) / ranks;
  here.operation_seconds = measured.operation;
  add_shares(measured, here);
  add_memory(measured, here);
  add_waits(measured, here);
  std::vector<timed> messages;
  if (ranks > 1) {
    messages = messages_of(measured, here, ranks);
    here.links = calibrate::link_of(messages, short_bytes);
    here.links.overlaps = overlaps(ranks, 8 * rounds);
    add_rows(measured, here, ranks);
    add_reductions(measured, here, ranks);
  }
  if (m.device() != 0) return 0;
  bench::line_between_ranks::instance().print();

  if (ranks == 1) {
    here.links = {1e300, 0, os::link_shape::switched, true};
    std::printf("one rank: there is nobody to send to, and links count nothing\n");
  }
  auto const show = [](char const* what, timed const& t, double predicted) {
    std::printf("%s %10.0f B: %s, by the model %s\n", what, t.bytes, bench::show_seconds(t.seconds).c_str(),
                bench::show_seconds(predicted).c_str());
  };
  for (timed const& t : measured.passes)
    show("read and written", t, here.operation_seconds + planner::memory_seconds(here, t.bytes));
  for (timed const& t : messages)
    show("a message of", t, planner::seconds(here.links, planner::collective::permute, 2, t.bytes));
  std::printf("%s", planner::machine_as_text(here).c_str());
  if (std::string const file = given.text("file"); !file.empty()) os::save_machine(here, file);
}
