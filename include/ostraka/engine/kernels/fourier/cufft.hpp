// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Fourier transforms in the memory of GPUs by cuFFT or hipFFT, which programs link by ostraka::cufft. A plan
/// transforms rows that are consecutive or interleaved in memory. Kernels before and after it apply the factors,
/// weights and conjugations that the library lacks; they also interleave rows with other layouts. Everything runs on
/// the stream of the execution space instance, and the host does not wait.

#include <ostraka/engine/kernels/fourier/cufft_plans.hpp>

#if OSTRAKA_ENABLE_CUFFT

#  include <algorithm>
#  include <cstddef>
#  include <cstdint>
#  include <string>
#  include <type_traits>

#  include <ostraka/engine/kernels/fourier/fourier_library.hpp>
#  include <ostraka/engine/kernels/fourier/fourier_rows.hpp>
#  include <ostraka/engine/kernels/loops/parallel.hpp>
#  include <ostraka/engine/kernels/loops/stream.hpp>
#  include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

namespace detail {

/// A kernel that reads, changes and writes element t of rows in a block, or of the same rows interleaved. `from` and
/// `to` may be the same if both have the same order.
template <class R>
struct fourier_pass {
  R const* from = nullptr;
  R* to = nullptr;
  std::int64_t n = 1, length = 1, step = 1, count = 1;
  bool reads_reals = false, writes_reals = false;
  bool reads_side_by_side = false, writes_side_by_side = false;
  bool is_half = false;  // half a spectrum of reals, where the weights apply
  bool clears = false;   // clears imaginary parts of numbers that occur once in the whole spectrum
  R real_factor = 1, imaginary_factor = 1;
  R weight = 1;  // of numbers that occur twice

  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    std::int64_t side = t;
    bool twice = false;
    if (is_half || reads_side_by_side != writes_side_by_side) {
      std::int64_t const row = t / step, k = row % length;
      side = k * count + row / length * step + t % step;
      twice = is_half && k > 0 && 2 * k != n;
    }
    std::int64_t const in = reads_side_by_side ? side : t, out = writes_side_by_side ? side : t;
    R const w = twice ? weight : R(1);
    R const re = reads_reals ? from[in] : from[2 * in];
    R const im = reads_reals || (clears && !twice) ? R(0) : from[2 * in + 1];
    if (writes_reals) {
      to[out] = re * real_factor * w;
    } else {
      to[2 * out] = re * real_factor * w;
      to[2 * out + 1] = im * imaginary_factor * w;
    }
  }
};

/// The transform of nonempty rows, in three parts: a kernel, the library's transform, another kernel. Parts that would
/// only copy are left out.
template <class Exec, class R>
class cufft_transform {
 public:
  cufft_transform(Exec const& exec, fourier_rows const& rows, R const* x, R* y)
      : exec_(exec),
        rows_(rows),
        x_(x),
        y_(y),
        from_reals_(has_half_spectrum(rows.kind)),
        to_reals_(has_real_result(rows.kind)),
        side_by_side_(!takes_rows_as_they_lie()) {}

  /// Runs the transform. Returns false, and does nothing, if the library has no plan for such rows.
  bool run() const {
    if (rows_.n == 1) {
      pass_over_one();
      return true;
    }
    current_device const here(device_of(exec_));
    plan const* const p = plans::of(exec_).find(exec_, task());
    if (p == nullptr) return false;
    std::int64_t const count = rows_.count();
    std::int64_t const read = count * rows_.length_read() * (from_reals_ ? 1 : 2);
    std::int64_t const written = count * rows_.length_written() * (to_reals_ ? 1 : 2);
    bool const in_place = !from_reals_ && !to_reals_;
    // The library overwrites spectra of reals.
    kernel_scratch<R, space> const before(to_reals_ || side_by_side_ ? read : 0);
    kernel_scratch<R, space> const after(side_by_side_ && !in_place ? written : 0);
    R const* from = x_;
    R* to = y_;
    if (before.data() != nullptr || rows_.of_reals != from_reals_) {
      R* const copy = before.data() != nullptr ? before.data() : y_;
      pass_before(copy);
      from = copy;
    }
    if (side_by_side_) to = in_place ? before.data() : after.data();
    launch(*p, const_cast<R*>(from), to);
    if (side_by_side_ || scales_after()) pass_after(to);
    return true;
  }

 private:
  using space = typename Exec::memory_space;
  using names = cufft_names<R>;
  using plans = known_cufft_plans<R>;
  using plan = typename plans::plan;

  // True if one call of the library transforms `step` interleaved rows; otherwise it transforms every step-th row.
  [[nodiscard]] bool is_by_outer() const { return rows_.outer <= rows_.step; }
  [[nodiscard]] std::int64_t groups() const { return side_by_side_ ? 1 : std::min(rows_.outer, rows_.step); }

  // Each further call costs about as much as moving one or two mebibytes; interleaving rows and back moves all of them
  // twice more. The library requires pairs of reals to be aligned like complex numbers.
  [[nodiscard]] bool takes_rows_as_they_lie() const {
    std::int64_t const calls = std::min(rows_.outer, rows_.step);
    std::int64_t const bytes = (rows_.numbers_read() + rows_.numbers_written()) * static_cast<std::int64_t>(sizeof(R));
    if (calls > 2 + bytes / (std::int64_t{1} << 21)) return false;
    if (!is_aligned(y_) || (rows_.of_reals == from_reals_ && !to_reals_ && !is_aligned(x_))) return false;
    bool const is_even = is_by_outer() && rows_.n * rows_.step % 2 == 0;
    return calls == 1 || is_even || !(from_reals_ || to_reals_);
  }

  static bool is_aligned(R const* at) { return reinterpret_cast<std::uintptr_t>(at) % (2 * sizeof(R)) == 0; }

  [[nodiscard]] cufft_task<R> task() const {
    auto const type = from_reals_ ? names::rows_of_reals : to_reals_ ? names::rows_to_reals : names::complex_rows;
    if (side_by_side_) return {type, rows_.n, rows_.count(), rows_.count(), 1, 1};
    if (is_by_outer()) return {type, rows_.n, rows_.step, rows_.step, 1, 1};
    return {
        type, rows_.n, rows_.outer, rows_.step, rows_.length_read() * rows_.step, rows_.length_written() * rows_.step};
  }

  void launch(plan const& p, R* from, R* to) const {
    cufft_work_area<space> const area(p.work_bytes);
    require_cufft(names::set_stream(p.value, stream_of(exec_)), "SetStream");
    require_cufft(names::set_work_area(p.value, area.data()), "SetWorkArea");
    std::int64_t const apart = is_by_outer() ? rows_.step : 1;
    std::int64_t const read = (is_by_outer() ? rows_.length_read() * apart : 1) * (from_reals_ ? 1 : 2);
    std::int64_t const written = (is_by_outer() ? rows_.length_written() * apart : 1) * (to_reals_ ? 1 : 2);
    for (std::int64_t g = 0; g < groups(); ++g) {
      auto* const complex_from = reinterpret_cast<typename names::complex*>(from + g * read);
      auto* const complex_to = reinterpret_cast<typename names::complex*>(to + g * written);
      if (from_reals_)
        require_cufft(names::run_from_reals(p.value, from + g * read, complex_to), "the transform of reals");
      else if (to_reals_)
        require_cufft(names::run_to_reals(p.value, complex_from, to + g * written), "the transform to reals");
      else
        require_cufft(names::run_complex(p.value, complex_from, complex_to, rows_.is_inverse() ? 1 : -1),
                      "the transform");
    }
  }

  // --- kernels ---

  // A pass over what the transform reads, with the factors of spectra that become reals.
  [[nodiscard]] fourier_pass<R> reading() const {
    fourier_pass<R> pass = over(rows_.length_read());
    pass.from = x_;
    pass.reads_reals = rows_.of_reals;
    pass.writes_reals = from_reals_;
    pass.is_half = pass.clears = to_reals_;
    if (rows_.kind == fourier_kind::irfft) pass.real_factor = pass.imaginary_factor = one_over_n();
    if (rows_.kind == fourier_kind::rfft_transposed) pass.imaginary_factor = R(-1), pass.weight = R(0.5);
    return pass;
  }

  // A pass over what the transform writes, with the factors of other transforms.
  [[nodiscard]] fourier_pass<R> writing() const {
    fourier_pass<R> pass = over(rows_.length_written());
    pass.to = y_;
    pass.reads_reals = pass.writes_reals = to_reals_;
    if (scales_after()) pass.real_factor = pass.imaginary_factor = one_over_n();
    if (rows_.kind == fourier_kind::irfft_transposed) {
      pass.is_half = true;
      pass.imaginary_factor = -one_over_n();
      pass.weight = R(2);
    }
    return pass;
  }

  void pass_before(R* to) const {
    fourier_pass<R> pass = reading();
    pass.to = to;
    pass.writes_side_by_side = side_by_side_;
    start(pass, rows_.length_read());
  }

  void pass_after(R const* from) const {
    fourier_pass<R> pass = writing();
    pass.from = from;
    pass.reads_side_by_side = side_by_side_;
    start(pass, rows_.length_written());
  }

  // Rows of one number are their own transforms.
  void pass_over_one() const {
    fourier_pass<R> pass = over(1);
    pass.from = x_;
    pass.to = y_;
    pass.reads_reals = rows_.of_reals;
    pass.writes_reals = to_reals_;
    if (rows_.kind == fourier_kind::irfft_transposed) pass.imaginary_factor = R(-1);
    start(pass, 1);
  }

  [[nodiscard]] fourier_pass<R> over(std::int64_t length) const {
    fourier_pass<R> pass;
    pass.n = rows_.n;
    pass.length = length;
    pass.step = rows_.step;
    pass.count = rows_.count();
    return pass;
  }

  [[nodiscard]] bool scales_after() const {
    return rows_.kind == fourier_kind::ifft || rows_.kind == fourier_kind::irfft_transposed;
  }
  [[nodiscard]] R one_over_n() const { return R(1) / static_cast<R>(rows_.n); }

  void start(fourier_pass<R> const& pass, std::int64_t length) const {
    std::int64_t const elements = rows_.count() * length;
    for_each_item("ostraka fourier", exec_, elements, elements, pass);
  }

  Exec const& exec_;
  fourier_rows rows_;
  R const* x_;
  R* y_;
  bool from_reals_, to_reals_;  // of the library's plan
  bool side_by_side_;
};

}  // namespace detail

/// cuFFT, or hipFFT.
struct cufft {
  template <class R>
  static constexpr bool transforms = std::is_same_v<R, float> || std::is_same_v<R, double>;

  template <class Exec, class R>
  static bool run(Exec const& exec, fourier_rows const& rows, R const* x, R* y) {
    return detail::cufft_transform<Exec, R>(exec, rows, x, y).run();
  }
};

template <class Exec>
struct fourier_library_of_space<Exec, std::enable_if_t<!runs_on_host<Exec> && detail::HasStream<Exec>>> {
  using type = cufft;
};

}  // namespace ostraka::engine

#endif
