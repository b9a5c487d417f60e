// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Fourier transforms in a device's memory by cuFFT, which cufft/ makes of loops, against sums in long double: each
/// kind, short and uneven lengths, rows one after another, side by side and both, memory that is aligned as complex
/// numbers are and memory that is not. The host neither copies nor waits; calls and plans are counted.

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <ostraka/engine/kernels/fourier/transform_in_turn.hpp>
#include <ostraka/engine/kernels/fourier/transform_rows.hpp>
#include <ostraka/fft.hpp>
#include <ostraka/ostraka.hpp>
#include <ostraka/types/support/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <cufft.h>

#include "fourier/rows_on_device.hpp"
#include "support/sham/device.hpp"

namespace os = ostraka;
namespace t = os::testing;
using os::fourier_kind;
using os::engine::fourier_rows;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_MESH_AXIS(X);

namespace {

using device = Kokkos::DefaultExecutionSpace;

struct cost {
  long launches, calls;
  friend bool operator==(cost const&, cost const&) = default;
};

/// Transforms rows, checks what they become, and returns the cost, after a first transform of such rows, for which
/// plans are made and workspace is allocated. `off`: numbers by which memory misses its alignment.
template <class R>
cost check(fourier_rows const& rows, int off_x = 0, int off_y = 0) {
  INFO(os::name_of(rows.kind), ", reals: ", rows.of_reals, ", ", rows.n, ": ", rows.outer, " x ", rows.step);
  std::vector<R> const x = t::some_numbers<R>(rows.numbers_read());
  t::placed_array<R> const from(x, 2 + off_x),
      to(std::vector<R>(static_cast<std::size_t>(rows.numbers_written())), 2 + off_y);
  auto const transform = [&](R* y) {
    os::engine::transform_rows(device(), rows, static_cast<R const*>(from.data()), y);
  };
  transform(to.data());
  sham::work const before = sham::work_done();
  long const calls = fake_cufft::so_far().calls;
  transform(to.data());
  sham::work const done = sham::work_done() - before;
  cost const paid{done.launches, fake_cufft::so_far().calls - calls};
  CHECK(done.copies == 0);
  CHECK(done.to_host == 0);
  CHECK(done.to_device == 0);
  if (rows.n > 0) CHECK(done.fences == 0);
  std::vector<R> const want = t::transformed_by_sums(rows, x);
  CHECK(t::error_of(to.values(), want, rows.n) <= 1);
  CHECK(from.values() == x);
  if (!rows.is_real() && !rows.of_reals) {
    transform(from.data());
    CHECK(t::error_of(from.values(), want, rows.n) <= 1);
  }
  return paid;
}

template <class R>
void check_rows() {
  for (fourier_rows const& rows : t::short_rows())
    for (int const off : {0, 1, 2, 3}) check<R>(rows, off & 1, off >> 1);
}

}  // namespace

// Kokkos calls hooks in reverse order: this one, the first, when plans have ended.
TEST_CASE("plans end before Kokkos does") {
  Kokkos::push_finalize_hook([] {
    if (fake_cufft::so_far().plans_kept == 0 && fake_cufft::so_far().plans_made > 0) return;
    std::fprintf(stderr, "plans are left when Kokkos ends: %ld\n", fake_cufft::so_far().plans_kept);
    std::_Exit(98);
  });
  check<double>({fourier_kind::fft, 4, 3, 1, false});
  CHECK(fake_cufft::so_far().plans_kept == 1);
}

TEST_CASE("transforms of double") { check_rows<double>(); }
TEST_CASE("transforms of float") { check_rows<float>(); }

TEST_CASE("one call for rows that a plan describes, few for few groups, and at most three kernels otherwise") {
  using kind = fourier_kind;
  auto const is = [](fourier_rows const& rows, cost const& want) {
    cost const c = check<double>(rows);
    INFO(os::name_of(rows.kind), ", reals: ", rows.of_reals, ", ", rows.n, ": ", rows.outer, " x ", rows.step);
    CHECK(c.launches == want.launches);
    CHECK(c.calls == want.calls);
  };
  for (auto const& [outer, step] : {std::pair<int, int>{50, 1}, {1, 50}, {1, 1}}) {
    is({kind::fft, 8, outer, step, false}, {1, 1});
    is({kind::fft, 8, outer, step, true}, {2, 1});    // reals become complex numbers
    is({kind::ifft, 8, outer, step, false}, {2, 1});  // 1/n
    is({kind::rfft, 8, outer, step, true}, {1, 1});
    is({kind::irfft, 8, outer, step, false}, {2, 1});  // a copy, with 1/n
    is({kind::rfft_transposed, 8, outer, step, false}, {2, 1});
    is({kind::irfft_transposed, 8, outer, step, true}, {2, 1});
    is({kind::fft, 1, outer, step, true}, {1, 0});
  }
  is({kind::fft, 8, 2, 50, false}, {2, 2});
  is({kind::fft, 8, 50, 2, false}, {2, 2});
  is({kind::rfft, 8, 2, 50, true}, {2, 2});
  is({kind::rfft, 5, 2, 3, true}, {3, 1});   // the second group would not be aligned
  is({kind::rfft, 8, 50, 2, true}, {3, 1});  // nor would every second real
  for (auto const& [k, of_reals] : t::every_kind()) is({k, 8, 20, 50, of_reals}, {3, 1});
  is({kind::fft, 2, 4, 65536, false}, {4, 4});  // moving 16 MiB twice more takes longer than three calls
  CHECK(check<double>({kind::rfft, 8, 9, 1, true}, 1, 0) == cost{3, 1});
  CHECK(check<double>({kind::fft, 8, 9, 1, false}, 0, 1) == cost{3, 1});
}

TEST_CASE("a plan is made once, and few are kept, while transforms wait on the device") {
  check<double>({fourier_kind::fft, 6, 4, 1, false});
  long const made = fake_cufft::so_far().plans_made;
  check<double>({fourier_kind::ifft, 6, 4, 1, false});  // the same plan
  CHECK(fake_cufft::so_far().plans_made == made);
  std::vector<t::placed_array<double>> results;
  std::int64_t const longest = 90;
  std::vector<double> const x = t::some_numbers<double>(2 * longest);
  t::placed_array<double> const from(x, 2);
  for (std::int64_t n = 2; n <= longest; ++n)
    results.emplace_back(std::vector<double>(static_cast<std::size_t>(2 * n)), 2);
  for (std::int64_t n = 2; n <= longest; ++n)
    os::engine::transform_rows(device(), {fourier_kind::fft, n, 1, 1, false}, static_cast<double const*>(from.data()),
                               results[static_cast<std::size_t>(n - 2)].data());
  CHECK(fake_cufft::so_far().plans_kept <= 2 * 64);
  for (std::int64_t n = 2; n <= longest; ++n) {
    std::vector<double> const row(x.begin(), x.begin() + 2 * n);
    CHECK(t::error_of(results[static_cast<std::size_t>(n - 2)].values(),
                      t::transformed_by_sums({fourier_kind::fft, n, 1, 1, false}, row), n) <= 1);
  }
  CHECK(fake_cufft::so_far().run_destroyed == 0);
}

TEST_CASE("axes in turn, with what lies between them on the device") {
  using kind = fourier_kind;
  std::vector<fourier_rows> const there = {{kind::rfft, 6, 12, 1, true}, {kind::fft, 4, 3, 4, false}};
  std::vector<fourier_rows> const back = {{kind::ifft, 4, 3, 4, false}, {kind::irfft, 6, 12, 1, false}};
  std::vector<float> const x = t::some_numbers<float>(72);
  t::placed_array<float> const from(x, 2), between(std::vector<float>(96), 2), to(std::vector<float>(72), 2);
  auto const transform = [&] {
    os::engine::transform_in_turn(device(), there.data(), 2, static_cast<float const*>(from.data()), between.data());
    os::engine::transform_in_turn(device(), back.data(), 2, static_cast<float const*>(between.data()), to.data());
  };
  transform();
  sham::work const before = sham::work_done();
  transform();
  sham::work const done = sham::work_done() - before;
  CHECK(done.copies == 0);
  CHECK(done.fences == 0);
  std::vector<float> const want = t::transformed_by_sums(there[1], t::transformed_by_sums(there[0], x));
  CHECK(t::error_of(between.values(), want, 24) <= 1);
  CHECK(t::error_of(to.values(), x, 24) <= 1);
}

TEST_CASE("operations on tensors copy nothing to the host, and undo each other") {
  auto const mesh = os::make_mesh(X = 1);
  auto const a = os::random<double, I, J>(mesh, I = 6, J = 9);
  auto const there_and_back = [&] {
    auto const h = os::fft<I, L>(os::rfft<J, K>(a));
    return os::irfft<K, J>(os::ifft<L, I>(h), J = 9);
  };
  static_cast<void>(there_and_back());
  sham::work const before = sham::work_done();
  long const calls = fake_cufft::so_far().calls;
  auto const b = there_and_back();
  sham::work const done = sham::work_done() - before;
  CHECK(done.copies == 0);
  CHECK(fake_cufft::so_far().calls == calls + 4);
  auto const difference = b - a;
  CHECK(os::value(os::sum<>(os::multiply(a, a))) > 1);
  CHECK(os::value(os::sum<>(os::multiply(difference, difference))) <= 1e-28);
}

TEST_CASE("rows that the library refuses go through the host") {
  for (cufftResult const status : {CUFFT_INVALID_SIZE, CUFFT_NOT_IMPLEMENTED, CUFFT_NOT_SUPPORTED}) {
    fake_cufft::refuse_above(100, status);
    long const kept = fake_cufft::so_far().plans_kept, calls = fake_cufft::so_far().calls;
    fourier_rows const rows{fourier_kind::irfft, 101, 2, 3, false};
    std::vector<double> const x = t::some_numbers<double>(rows.numbers_read());
    t::placed_array<double> const from(x, 2),
        to(std::vector<double>(static_cast<std::size_t>(rows.numbers_written())), 2);
    os::engine::transform_rows(device(), rows, static_cast<double const*>(from.data()), to.data());
    CHECK(t::error_of(to.values(), t::transformed_by_sums(rows, x), rows.n) <= 1);
    CHECK(from.values() == x);
    CHECK(fake_cufft::so_far().plans_kept == kept);
    CHECK(fake_cufft::so_far().calls == calls);
  }
}

TEST_CASE("other failures are errors") {
  fake_cufft::refuse_above(100, CUFFT_ALLOC_FAILED);
  long const kept = fake_cufft::so_far().plans_kept;
  double* const none = nullptr;
  std::string said;
  try {
    os::engine::transform_rows(device(), {fourier_kind::fft, 101, 1, 1, false}, static_cast<double const*>(none), none);
  } catch (os::error const& e) {
    said = e.what();
  }
  CHECK(said ==
        "cuFFT 12.0: MakePlanMany64 failed with status 2; programs without ostraka::cufft transform on the host");
  CHECK(fake_cufft::so_far().plans_kept == kept);
  fake_cufft::refuse_above(std::numeric_limits<long long>::max(), CUFFT_SUCCESS);
}
