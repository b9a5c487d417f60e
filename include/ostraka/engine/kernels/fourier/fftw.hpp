// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Fourier transforms by FFTW 3, which programs link by ostraka::fftw. Plans are made with FFTW_ESTIMATE, so
/// that planning overwrites no array and results are the same in every run. A host thread remembers the plans that it
/// used last; only planning takes a lock.

#ifndef OSTRAKA_ENABLE_FFTW
#  define OSTRAKA_ENABLE_FFTW 0
#endif

#if OSTRAKA_ENABLE_FFTW

#  include <fftw3.h>

#  include <algorithm>
#  include <atomic>
#  include <cstddef>
#  include <cstdint>
#  include <type_traits>

#  include <ostraka/engine/kernels/fourier/fourier_library.hpp>
#  include <ostraka/engine/kernels/fourier/fourier_rows.hpp>
#  include <ostraka/engine/kernels/loops/parallel.hpp>
#  include <ostraka/engine/memory/per_thread.hpp>
#  include <ostraka/engine/memory/pool.hpp>
#  include <ostraka/types/support/recent_entries.hpp>

namespace ostraka::engine {

namespace detail {

/// Locks FFTW's planner, which two threads must not call at once.
[[gnu::visibility("default")]] inline std::atomic_flag planner_of_fftw{};

/// FFTW's functions for numbers whose parts are R.
template <class R>
struct fftw_names;

#  define OSTRAKA_DETAIL_FFTW_NAMES(R, P)                               \
    template <>                                                         \
    struct fftw_names<R> {                                              \
      using plan = P##_plan;                                            \
      using complex = P##_complex;                                      \
      using dimension = P##_iodim64;                                    \
      static constexpr auto plan_complex = &P##_plan_guru64_dft;        \
      static constexpr auto plan_from_reals = &P##_plan_guru64_dft_r2c; \
      static constexpr auto plan_to_reals = &P##_plan_guru64_dft_c2r;   \
      static constexpr auto run_complex = &P##_execute_dft;             \
      static constexpr auto run_from_reals = &P##_execute_dft_r2c;      \
      static constexpr auto run_to_reals = &P##_execute_dft_c2r;        \
      static constexpr auto destroy = &P##_destroy_plan;                \
      static constexpr auto alignment_of = &P##_alignment_of;           \
    };
OSTRAKA_DETAIL_FFTW_NAMES(double, fftw)
OSTRAKA_DETAIL_FFTW_NAMES(float, fftwf)
#  undef OSTRAKA_DETAIL_FFTW_NAMES

/// The task of a plan of FFTW: `outer` groups, with `side` of the `step` interleaved rows each.
struct fftw_task {
  std::int64_t n, outer, step, side;
  int from_reals, to_reals, sign, in_place, align_x, align_y;
  friend bool operator==(fftw_task const&, fftw_task const&) = default;
};

/// The plans that a host thread used last.
template <class R>
class known_fftw_plans {
 public:
  using names = fftw_names<R>;

  known_fftw_plans() = default;
  known_fftw_plans(known_fftw_plans const&) = delete;
  known_fftw_plans& operator=(known_fftw_plans const&) = delete;
  ~known_fftw_plans() {
    short_lock const alone(planner_of_fftw);
    for (entry& e : plans_) names::destroy(e.plan);
  }

  [[nodiscard]] static known_fftw_plans& mine() {
    static thread_local constinit known_fftw_plans* plans = nullptr;
    return per_thread(plans);
  }

  /// Runs the task: transforms rows of x to rows of y, which may be x.
  void run(fftw_task task, R* x, R* y) {
    task.in_place = x == y;
    task.align_x = names::alignment_of(x);
    task.align_y = names::alignment_of(y);
    auto* const cx = reinterpret_cast<typename names::complex*>(x);
    auto* const cy = reinterpret_cast<typename names::complex*>(y);
    typename names::plan const plan = of(task, x, y);
    if (task.from_reals)
      names::run_from_reals(plan, x, cy);
    else if (task.to_reals)
      names::run_to_reals(plan, cx, y);
    else
      names::run_complex(plan, cx, cy);
  }

 private:
  struct entry {
    fftw_task task;
    typename names::plan plan;
  };

  typename names::plan of(fftw_task const& task, R* x, R* y) {
    for (entry const& e : plans_)
      if (e.task == task) return e.plan;
    short_lock const alone(planner_of_fftw);
    entry const made{task, make(task, x, y)};
    plans_.add(made, [](entry const& oldest) { names::destroy(oldest.plan); });
    return made.plan;
  }

  static typename names::plan make(fftw_task const& t, R* x, R* y) {
    using dimension = typename names::dimension;
    std::int64_t const half = t.n / 2 + 1, read = t.to_reals ? half : t.n, written = t.from_reals ? half : t.n;
    dimension const row{t.n, t.step, t.step};
    dimension const rows[2] = {{t.outer, read * t.step, written * t.step}, {t.side, 1, 1}};
    unsigned const flags = FFTW_ESTIMATE | FFTW_PRESERVE_INPUT;
    auto* const cx = reinterpret_cast<typename names::complex*>(x);
    auto* const cy = reinterpret_cast<typename names::complex*>(y);
    if (t.from_reals) return names::plan_from_reals(1, &row, 2, rows, x, cy, flags);
    if (t.to_reals) return names::plan_to_reals(1, &row, 2, rows, cx, y, flags);
    return names::plan_complex(1, &row, 2, rows, cx, cy, t.sign, t.in_place ? unsigned{FFTW_ESTIMATE} : flags);
  }

  recent_entries<entry, 16> plans_;
};

/// y[i] <- f(i) on the host's threads.
template <class Exec, class F>
void for_each_number(Exec const& exec, std::int64_t count, F const& f) {
  std::int64_t const shares = std::min<std::int64_t>(count / serial_elements + 1, exec.concurrency());
  for_each_share("ostraka fourier", exec, count, shares, count,
                 [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                   for (std::int64_t i = begin; i < end; ++i) f(i);
                 });
}

}  // namespace detail

/// FFTW 3. It does not know execution space instances, so it waits for the kernels started on this one.
struct fftw {
  template <class R>
  static constexpr bool transforms = std::is_same_v<R, float> || std::is_same_v<R, double>;

  template <class Exec, class R>
  static bool run(Exec const& exec, fourier_rows const& rows, R const* x, R* y) {
    fence(exec);
    transform(exec, rows, x, y);
    return true;
  }

 private:
  template <class Exec, class R>
  static void transform(Exec const& exec, fourier_rows const& rows, R const* x, R* y) {
    R const n = static_cast<R>(rows.n);
    bool const inverse = rows.is_inverse();
    detail::fftw_task const task{rows.n,
                                 rows.outer,
                                 rows.step,
                                 rows.step,
                                 has_half_spectrum(rows.kind),
                                 has_real_result(rows.kind),
                                 inverse ? FFTW_BACKWARD : FFTW_FORWARD,
                                 0,
                                 0,
                                 0};
    std::int64_t const read = rows.count() * rows.length_read(), written = rows.count() * rows.length_written();
    auto const times = [&](std::int64_t i) {
      return static_cast<R>(times_in_spectrum(i / rows.step % rows.half(), rows.n));
    };
    switch (rows.kind) {
      case fourier_kind::fft:
      case fourier_kind::ifft:
        if (rows.of_reals) {
          detail::for_each_number(exec, read, [=](std::int64_t i) { y[2 * i] = x[i], y[2 * i + 1] = R(0); });
          run_in_shares(exec, rows, task, y, y);
        } else {
          run_in_shares(exec, rows, task, const_cast<R*>(x), y);
        }
        if (inverse) detail::for_each_number(exec, 2 * written, [=](std::int64_t i) { y[i] /= n; });
        return;
      case fourier_kind::rfft:
        return run_in_shares(exec, rows, task, const_cast<R*>(x), y);
      case fourier_kind::irfft:
        run_in_shares(exec, rows, task, const_cast<R*>(x), y);
        return detail::for_each_number(exec, written, [=](std::int64_t i) { y[i] /= n; });
      case fourier_kind::rfft_transposed: {
        kernel_scratch<R, Kokkos::HostSpace> const memory(2 * read);
        R* const z = memory.data();
        detail::for_each_number(exec, read, [&](std::int64_t i) {
          z[2 * i] = x[2 * i] / times(i), z[2 * i + 1] = -x[2 * i + 1] / times(i);
        });
        return run_in_shares(exec, rows, task, z, y);
      }
      case fourier_kind::irfft_transposed:
        run_in_shares(exec, rows, task, const_cast<R*>(x), y);
        return detail::for_each_number(
            exec, written, [&](std::int64_t i) { y[2 * i] *= times(i) / n, y[2 * i + 1] *= -times(i) / n; });
    }
  }

  // Each thread has its own plans, and a share of the outer rows, or of the interleaved rows.
  template <class Exec, class R>
  static void run_in_shares(Exec const& exec, fourier_rows const& rows, detail::fftw_task const& task, R* x, R* y) {
    std::int64_t const read = rows.length_read() * (task.from_reals ? 1 : 2);
    std::int64_t const written = rows.length_written() * (task.to_reals ? 1 : 2);
    std::int64_t const size = rows.count() * rows.n, most = exec.concurrency();
    bool const by_outer = rows.outer >= most;
    std::int64_t const tasks = by_outer ? rows.outer : rows.step;
    std::int64_t const shares = std::min({tasks, size / serial_elements + 1, most});
    for_each_share("ostraka fourier", exec, tasks, shares, size,
                   [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                     detail::fftw_task part = task;
                     (by_outer ? part.outer : part.side) = end - begin;
                     std::int64_t const from = by_outer ? begin * rows.step * read : begin * (task.from_reals ? 1 : 2);
                     std::int64_t const to = by_outer ? begin * rows.step * written : begin * (task.to_reals ? 1 : 2);
                     detail::known_fftw_plans<R>::mine().run(part, x + from, y + to);
                   });
  }
};

template <class Exec>
struct fourier_library_of_space<Exec, std::enable_if_t<runs_on_host<Exec>>> {
  using type = fftw;
};

}  // namespace ostraka::engine

#endif
