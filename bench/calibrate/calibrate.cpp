// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Measures the machine that it runs on, at the ranks at hand, and writes it to a file that os::load_machine reads:
/// what a rank multiplies in a second while all do, by element type; what it reads and writes, in caches and beyond;
/// what an operation takes beside; what a message takes, α + bytes · β, while all ranks gather. All of it through the
/// library: what is predicted is then what this machine does with it, not what its makers say.
///
///     mpirun -n 2 bench/calibrate [file=here.machine] [name=TEXT] [rounds=60]
///
/// bench/patterns machine=here.machine says how far predictions are from what is measured.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <ostraka/machine.hpp>
#include <ostraka/ostraka.hpp>

#include "report.hpp"
#include "seconds_of_all.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

namespace {

using mesh = decltype(os::make_mesh(X = 1));

// The least of some rounds' seconds of one run, on the slowest rank: whatever else the machine does only adds. Rounds
// are short, so that some of them meet nobody else.
double seconds_of(std::function<void()> const& run, int rounds) {
  return bench::compare("", {{"", run}}, rounds, bench::seconds_of_all, 0.0003).seconds[0].least;
}

// Each rank multiplies matrices of n × n.
template <class T>
double flops_per_second(mesh const& m, int n, int rounds) {
  auto const given = os::sizes(I = n * m.size(X), J = n, K = n);
  auto const a = os::full<T, I / X, J>(m, given, T(1));
  auto const b = os::full<T, J, K>(m, given, T(1));
  auto const c = os::full<T, I / X, K>(m, given, T(0));
  return 2.0 * n * n * n / seconds_of([&] { os::einsum_into(c, a, b); }, rounds);
}

struct timed {
  double bytes, seconds;
};

// Each rank adds two arrays into a third: so many bytes read and written.
timed touched(mesh const& m, std::int64_t bytes, int rounds) {
  std::int64_t const n = bytes / 24;
  auto const a = os::full<double, I / X>(m, I = n * m.size(X), 1.0);
  auto const b = os::full<double, I / X>(m, I = n * m.size(X), 2.0);
  auto const c = os::full<double, I / X>(m, I = n * m.size(X), 0.0);
  auto const add = [&] {
    os::map_into(
        c, KOKKOS_LAMBDA(double x, double y) { return x + y; }, a, b);
  };
  return {24.0 * static_cast<double>(n), seconds_of(add, rounds)};
}

// Two rates, and up to how many bytes the first one holds, that are the nearest to what was timed. An operation's own
// time is taken out first.
void fit_memory(std::vector<timed> const& all, os::machine& m) {
  auto const rate = [&](timed const& t) { return t.bytes / std::max(t.seconds - m.operation_seconds, t.seconds / 2); };
  auto const mean = [&](std::size_t from, std::size_t to) {  // geometric
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += std::log(rate(all[i]));
    return std::exp(sum / static_cast<double>(to - from));
  };
  double least = 1e300;
  for (std::size_t cut = 1; cut < all.size(); ++cut) {
    double const fast = mean(0, cut);
    double const slow = mean(cut, all.size());
    double off = 0;
    for (std::size_t i = 0; i < all.size(); ++i) off += std::abs(std::log(rate(all[i]) / (i < cut ? fast : slow)));
    if (off >= least) continue;
    least = off;
    m.cache_bytes_per_second = fast;
    m.cache_bytes = all[cut - 1].bytes;
    m.memory_bytes_per_second = slow;
  }
}

// A product of two elements: what is left is the call.
double operation_seconds(mesh const& m, int rounds) {
  auto const a = os::full<double, I / X, J>(m, os::sizes(I = m.size(X), J = 1), 1.0);
  auto const b = os::full<double, J, K>(m, os::sizes(J = 1, K = 1), 1.0);
  auto const c = os::full<double, I / X, K>(m, os::sizes(I = m.size(X), K = 1), 0.0);
  return seconds_of([&] { os::einsum_into(c, a, b); }, rounds);
}

// So many bytes from each rank to each other: a gather of this library, without what it is besides messages, an
// operation and a copy of the own part. One message of it.
double seconds_of_message(mesh const& m, os::machine const& here, std::int64_t bytes, int rounds) {
  std::int64_t const n = bytes / 8 * m.size(X);
  auto const parts = os::full<double, I / X>(m, I = n, 1.0);
  auto const whole = os::full<double, I>(m, I = n, 0.0);
  double const all = seconds_of([&] { os::reshard_into(whole, parts); }, rounds);
  double const beside = here.operation_seconds + ostraka::planner::memory_seconds(here, 2.0 * double(bytes));
  return std::max(all - beside, all / 4) / (m.size(X) - 1);
}

// Does a message go on while its receiver computes? Both are as long as each other: then they take once or twice that.
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

// α and β, and from which size on messages take a handshake, whose messages are, in the geometric mean, the nearest to
// what was timed. For a rate, a size and what short and long messages take: the middle of what each message asks for.
os::link fitted(std::vector<timed> const& all) {
  os::link best;
  double least = 1e300;
  for (std::size_t cut = 2; cut < all.size(); ++cut)  // that many are short
    for (double rate = 1e7; rate < 1e12; rate *= 1.03) {
      auto const beside = [&](std::size_t from, std::size_t to) {
        double best_of_all = 0;
        double off_least = 1e300;
        for (double alpha = 1e-8; alpha < 1e-3; alpha *= 1.05) {
          double off = 0;
          for (std::size_t i = from; i < to; ++i)
            off += std::abs(std::log((alpha + all[i].bytes / rate) / all[i].seconds));
          if (off < off_least) off_least = off, best_of_all = alpha;
        }
        return timed{off_least, best_of_all};
      };
      timed const short_ones = beside(0, cut);
      timed const long_ones = beside(cut, all.size());
      if (short_ones.bytes + long_ones.bytes >= least || long_ones.seconds < short_ones.seconds) continue;
      least = short_ones.bytes + long_ones.bytes;
      best = {rate,
              short_ones.seconds,
              os::link_shape::switched,
              true,
              long_ones.seconds - short_ones.seconds,
              all[cut - 1].bytes};
    }
  return best;
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
  int const rounds = given.number("rounds", 60);
  int const ranks = env.devices();
  auto const m = os::make_mesh(X = ranks);
  bool const root = m.device() == 0;

  os::machine here;
  here.name = given.text("name", std::to_string(ranks) + " ranks, " + processor());
  here.flops_per_second.float64 = flops_per_second<double>(m, 1024, rounds);
  here.flops_per_second.float32 = flops_per_second<float>(m, 1024, rounds);
  here.flops_per_second.float16 = flops_per_second<os::bfloat16>(m, 1024, rounds);
  here.flops_per_second.int8 = flops_per_second<std::int8_t>(m, 256, rounds);
  here.memory_bytes = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE)) / ranks;
  here.operation_seconds = operation_seconds(m, rounds);
  std::vector<timed> passes;
  for (std::int64_t bytes = 3 << 14; bytes <= 3 << 26; bytes *= 4) passes.push_back(touched(m, bytes, rounds));
  fit_memory(passes, here);

  std::vector<timed> messages;
  for (std::int64_t bytes = 8; ranks > 1 && bytes <= 1 << 25; bytes *= 4)
    messages.push_back({double(bytes), seconds_of_message(m, here, bytes, rounds)});
  if (ranks > 1) {
    here.links = fitted(messages);
    here.links.overlaps = overlaps(ranks, rounds);
  }
  if (!root) return 0;

  if (ranks == 1) {
    here.links = {1e300, 0, os::link_shape::switched, true};
    std::printf("one rank: there is nobody to send to, and links count nothing\n");
  }
  for (timed const& t : passes)
    std::printf("%10.0f B read and written: %s, by the model %s\n", t.bytes, bench::show_seconds(t.seconds).c_str(),
                bench::show_seconds(here.operation_seconds + ostraka::planner::memory_seconds(here, t.bytes)).c_str());
  for (timed const& t : messages)
    std::printf(
        "a message of %9.0f B: %s, by the model %s\n", t.bytes, bench::show_seconds(t.seconds).c_str(),
        bench::show_seconds(message_seconds(here.links, t.bytes) + t.bytes / here.links.bytes_per_second).c_str());
  std::printf("%s", ostraka::planner::machine_as_text(here).c_str());
  if (std::string const file = given.text("file"); !file.empty()) os::save_machine(here, file);
}
