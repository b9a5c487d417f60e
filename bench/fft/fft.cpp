// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A transform of n³ complex numbers in slabs, [I_X, J, L] → [K_I, K_J_X, K_L]: os::fft_into along the three axes, into
/// an array that is kept, as the others do; beside it FFTW-MPI with FFTW_MPI_TRANSPOSED_OUT and measured plans, FFTW
/// with one MPI_Alltoallw by hand (by_hand.hpp), and os::fft, whose result is a new array each time. bench/fft has our
/// own transforms, bench/fft_fftw the same with ostraka::fftw. The seconds are the slowest rank's.
///
///     mpirun -n 2 bench/fft [rounds=9] [only=TEXT] [json=FILE]

#include <mpi.h>

#include <fftw3-mpi.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <ostraka/fft.hpp>
#include <ostraka/ostraka.hpp>

#include "by_hand.hpp"
#include "job.hpp"
#include "seconds_of_all.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(L);
OSTRAKA_AXIS(KI);
OSTRAKA_AXIS(KJ);
OSTRAKA_AXIS(KL);
OSTRAKA_MESH_AXIS(X);

namespace {

using complex = Kokkos::complex<double>;

struct element_of {
  KOKKOS_FUNCTION complex operator()(std::int64_t i, std::int64_t j, std::int64_t l) const {
    return {static_cast<double>((7 * i + 3 * j + l) % 19), static_cast<double>((i * j + 5 * l) % 13)};
  }
};

/// FFTW-MPI's result is [K_J_X, K_I, K_L]; ours and that by hand are [K_I, K_J_X, K_L].
double difference(complex const* ours, fftw_complex const* transposed, fftw_complex const* by_hand, int n, int part) {
  double worst = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < part; ++j)
      for (int l = 0; l < n; ++l) {
        auto const at = static_cast<std::size_t>((i * part + j) * n + l),
                   other = static_cast<std::size_t>((j * n + i) * n + l);
        worst =
            std::max(worst, std::hypot(ours[at].real() - transposed[other][0], ours[at].imag() - transposed[other][1]));
        worst = std::max(worst, std::hypot(ours[at].real() - by_hand[at][0], ours[at].imag() - by_hand[at][1]));
      }
  return worst;
}

void compare(bench::report& out, bench::arguments const& given, int n, int ranks) {
  std::string const name = std::to_string(n) + "^3, slabs, transposed";
  if (!given.wants(name)) return;
  auto const mesh = os::make_mesh(X = ranks);
  auto const u = os::generate<complex, I/X, J, L>(mesh, I = n, J = n, L = n, element_of{});
  auto const* const numbers = reinterpret_cast<fftw_complex const*>(u.local().data());

  auto const spectrum = os::zeros<complex, KI, KJ/X, KL>(mesh, KI = n, KJ = n, KL = n);
  auto const ours = [&] { os::fft_into<os::dims<I/X, J, L>>(spectrum, u); };
  os::tensor<complex, KI, KJ/X, KL> made;
  auto const in_new_memory = [&] { made = os::fft<os::dims<I/X, J, L>, KI, KJ/X, KL>(u); };

  std::ptrdiff_t rows = 0, begin = 0, rows_behind = 0, begin_behind = 0;
  std::ptrdiff_t const size =
      fftw_mpi_local_size_3d_transposed(n, n, n, MPI_COMM_WORLD, &rows, &begin, &rows_behind, &begin_behind);
  fftw_complex* const in = fftw_alloc_complex(static_cast<std::size_t>(size));
  fftw_complex* const result = fftw_alloc_complex(static_cast<std::size_t>(size));
  fftw_plan const plan =
      fftw_mpi_plan_dft_3d(n, n, n, in, result, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT);
  for (std::size_t k = 0; k < u.local().size(); ++k) in[k][0] = numbers[k][0], in[k][1] = numbers[k][1];
  auto const fftw_mpi = [&] { fftw_execute(plan); };

  bench::slabs_by_hand slabs(n, ranks);
  auto const by_hand = [&] { slabs.run(numbers); };

  ours();
  fftw_mpi();
  by_hand();
  double const apart = difference(spectrum.local().data(), result, slabs.result(), n, n / ranks);
  bench::comparison timed = bench::compare(
      name, {{"os::fft_into", ours}, {"FFTW-MPI", fftw_mpi}, {"by hand", by_hand}, {"os::fft", in_new_memory}},
      given.number("rounds", 9), bench::seconds_of_all);
  timed.numbers["ms FFTW-MPI"] = 1e3 * timed.seconds[1].median;
  timed.numbers["ms by hand"] = 1e3 * timed.seconds[2].median;
  timed.numbers["os::fft / by hand"] = timed.seconds[3].median / timed.seconds[2].median;
  if (!(apart < 1e-9 * n * n * n)) timed.remark = "DIFFERENT RESULTS";
  out.add(timed);
  fftw_destroy_plan(plan);
  fftw_free(in);
  fftw_free(result);
}

}  // namespace

int main(int argc, char** argv) {
  bench::job job("fft", argc, argv);
  fftw_mpi_init();
  job.out.condition("transforms", OSTRAKA_ENABLE_FFTW ? "FFTW, estimated" : "our own");
  for (int n : {32, 64, 128, 256}) compare(job.out, job.given, n, job.ranks);
}
