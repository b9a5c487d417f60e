// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Plans of cuFFT, or of hipFFT, which has the same calls for AMD's GPUs and is based on rocFFT. A host thread
/// remembers the plans that it used last on each device. A plan's work area comes from the pool, and the plan runs on
/// the stream of an execution space instance. It has not run on a GPU yet.

#ifndef OSTRAKA_ENABLE_CUFFT
#  define OSTRAKA_ENABLE_CUFFT 0
#endif

#include <Kokkos_Core.hpp>

#if OSTRAKA_ENABLE_CUFFT

#  if defined(KOKKOS_ENABLE_HIP)
#    include <hipfft/hipfft.h>
#  else
#    include <cufft.h>
#  endif

#  include <cstddef>
#  include <cstdint>
#  include <string>

#  include <ostraka/engine/kernels/loops/stream.hpp>
#  include <ostraka/engine/memory/library_handles.hpp>
#  include <ostraka/engine/memory/pool.hpp>
#  include <ostraka/types/support/error.hpp>
#  include <ostraka/types/support/join_text.hpp>
#  include <ostraka/types/support/recent_entries.hpp>

namespace ostraka::engine::detail {

/// The library's functions, and those for numbers whose parts are R.
struct cufft_functions;
template <class R>
struct cufft_names;

#  define OSTRAKA_DETAIL_CUFFT_FUNCTIONS(P, Q)                                              \
    struct cufft_functions {                                                                \
      using handle = P##Handle;                                                             \
      using status = P##Result;                                                             \
      using type = P##Type;                                                                 \
      static constexpr auto create = &P##Create;                                            \
      static constexpr auto allocate_by_itself = &P##SetAutoAllocation;                     \
      static constexpr auto make = &P##MakePlanMany64;                                      \
      static constexpr auto set_work_area = &P##SetWorkArea;                                \
      static constexpr auto set_stream = &P##SetStream;                                     \
      static constexpr auto destroy = &P##Destroy;                                          \
      static bool succeeded(status s) { return s == Q##_SUCCESS; }                          \
      static bool refused(status s) {                                                       \
        return s == Q##_INVALID_SIZE || s == Q##_NOT_IMPLEMENTED || s == Q##_NOT_SUPPORTED; \
      }                                                                                     \
    };
#  define OSTRAKA_DETAIL_CUFFT_NAMES(P, Q, R, REAL, COMPLEX, C2C, R2C, C2R) \
    template <>                                                             \
    struct cufft_names<R> : cufft_functions {                               \
      using real = P##REAL;                                                 \
      using complex = P##COMPLEX;                                           \
      static constexpr type complex_rows = Q##_##C2C;                       \
      static constexpr type rows_of_reals = Q##_##R2C;                      \
      static constexpr type rows_to_reals = Q##_##C2R;                      \
      static constexpr auto run_complex = &P##Exec##C2C;                    \
      static constexpr auto run_from_reals = &P##Exec##R2C;                 \
      static constexpr auto run_to_reals = &P##Exec##C2R;                   \
    };
#  if defined(KOKKOS_ENABLE_HIP)
OSTRAKA_DETAIL_CUFFT_FUNCTIONS(hipfft, HIPFFT)
OSTRAKA_DETAIL_CUFFT_NAMES(hipfft, HIPFFT, double, DoubleReal, DoubleComplex, Z2Z, D2Z, Z2D)
OSTRAKA_DETAIL_CUFFT_NAMES(hipfft, HIPFFT, float, Real, Complex, C2C, R2C, C2R)
#  else
OSTRAKA_DETAIL_CUFFT_FUNCTIONS(cufft, CUFFT)
OSTRAKA_DETAIL_CUFFT_NAMES(cufft, CUFFT, double, DoubleReal, DoubleComplex, Z2Z, D2Z, Z2D)
OSTRAKA_DETAIL_CUFFT_NAMES(cufft, CUFFT, float, Real, Complex, C2C, R2C, C2R)
#  endif
#  undef OSTRAKA_DETAIL_CUFFT_FUNCTIONS
#  undef OSTRAKA_DETAIL_CUFFT_NAMES

/// Returns "cuFFT 12.0", the version that the program was compiled against.
[[gnu::cold]] inline std::string name_of_cufft() {
#  if defined(KOKKOS_ENABLE_HIP)
  return join_text("hipFFT ", hipfftVersionMajor, '.', hipfftVersionMinor);
#  else
  return join_text("cuFFT ", CUFFT_VER_MAJOR, '.', CUFFT_VER_MINOR);
#  endif
}

[[gnu::cold]] inline void require_cufft(cufft_functions::status said, char const* call) {
  if (!cufft_functions::succeeded(said))
    throw_error(name_of_cufft(), ": ", call, " failed with status ", static_cast<int>(said),
                "; programs without ostraka::cufft transform on the host");
}

/// The task of a plan: `batch` transforms of length n. Elements of a row are `step` apart; the first elements of two
/// rows are `apart_read` and `apart_written` apart.
template <class R>
struct cufft_task {
  typename cufft_names<R>::type type;
  std::int64_t n, batch, step, apart_read, apart_written;
  friend bool operator==(cufft_task const&, cufft_task const&) = default;
};

/// The plans that a host thread used last on a device.
template <class R>
class known_cufft_plans {
 public:
  using names = cufft_names<R>;

  struct plan {
    cufft_task<R> task;
    typename names::handle value;
    std::size_t work_bytes;
  };

  /// Returns the calling thread's plans for the device of an instance.
  template <class Exec>
  static known_cufft_plans& of(Exec const& exec) {
    return *library_handles<known_cufft_plans>::of(device_of(exec));
  }

  explicit known_cufft_plans(int device) : device_(device) {}
  known_cufft_plans(known_cufft_plans const&) = delete;
  known_cufft_plans& operator=(known_cufft_plans const&) = delete;
  ~known_cufft_plans() {
    if (plans_.empty()) return;
    Kokkos::fence();  // waits for kernels of these plans
    current_device const here(device_);
    for (plan& p : plans_) names::destroy(p.value);
  }

  /// Returns the plan of a task, valid until the next call; null if the library has none. If there are too many plans,
  /// destroys one after the kernels that use it.
  template <class Exec>
  plan const* find(Exec const& exec, cufft_task<R> const& task) {
    for (plan const& p : plans_)
      if (p.task == task) return &p;
    plan made{task, {}, 0};
    if (!make(made)) return nullptr;
    return &plans_.add(made, [&](plan const& oldest) {
      exec.fence();
      names::destroy(oldest.value);
    });
  }

  // --- library_handles ---

  using handle = known_cufft_plans*;
  static handle begin(int device) { return new known_cufft_plans(device); }
  static void end(handle plans) { delete plans; }

 private:
  static bool make(plan& p) {
    cufft_task<R> const& t = p.task;
    require_cufft(names::create(&p.value), "Create");
    require_made(names::allocate_by_itself(p.value, 0), "SetAutoAllocation", p);
    long long n = t.n, half = t.n / 2 + 1;
    long long* const read = t.type == names::rows_to_reals ? &half : &n;
    long long* const written = t.type == names::rows_of_reals ? &half : &n;
    auto const said = names::make(p.value, 1, &n, read, t.step, t.apart_read, written, t.step, t.apart_written, t.type,
                                  t.batch, &p.work_bytes);
    if (names::refused(said)) {
      names::destroy(p.value);
      return false;
    }
    require_made(said, "MakePlanMany64", p);
    return true;
  }

  static void require_made(typename names::status said, char const* call, plan& p) {
    if (!names::succeeded(said)) names::destroy(p.value);
    require_cufft(said, call);
  }

  int device_;
  recent_entries<plan, 64> plans_;  // planning takes long, and plans take little memory
};

/// Work memory of a plan, aligned to 256 bytes like allocations of the device.
template <class Space>
class cufft_work_area {
 public:
  explicit cufft_work_area(std::size_t bytes)
      : memory_(bytes > 0 ? static_cast<std::int64_t>(bytes + alignment - 1) : 0) {}

  [[nodiscard]] void* data() const {
    auto const at = reinterpret_cast<std::uintptr_t>(memory_.data());
    return reinterpret_cast<void*>((at + alignment - 1) / alignment * alignment);
  }

 private:
  static constexpr std::size_t alignment = 256;
  kernel_scratch<char, Space> memory_;
};

}  // namespace ostraka::engine::detail

#endif
