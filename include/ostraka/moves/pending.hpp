// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Operations that begin now and are waited for later. `os::start_psum<X>(a)`, os::start_einsum<…>(A, B) and
/// the like return an os::pending, whose result cannot be read before `wait`:
///
///     auto next = os::start_shift<X>(r, +1);          messages are under way
///     os::einsum_into(c, a, r, os::beta = 1);         meanwhile
///     r = std::move(next).wait();
///
/// A begun operation reads its operands until `wait`: elements that the program writes to them before then may or may
/// not be sent.

#include <tuple>
#include <utility>

#include <ostraka/calls/at_once.hpp>
#include <ostraka/engine/run/in_flight.hpp>
#include <ostraka/types/reasons.hpp>

namespace ostraka {

/// The result of an operation that is under way. The operation ends when the program waits for it, or drops it:
/// dropping waits. Until then it reads its operands. The handle keeps them alive, and the program must not write to
/// them (through `a.local()`, or with an `…_into` function): a receiver would get old elements, new ones, or both. The
/// handle belongs to the host thread that began the operation, and must not leave the body of os::shard_map. All
/// devices begin, and wait for, operations in the same order. `Kept`: views of the operands.
template <class Result, class... Kept>
class [[nodiscard]] pending {
 public:
  pending(Result result, engine::run_in_flight run, Kept... kept)
      : result_(std::move(result)), kept_(std::move(kept)...), run_(std::move(run)) {}

  pending(pending&&) = default;
  /// Waits first for the operation that this handle holds, while the memory that it reads and writes exists.
  pending& operator=(pending&& other) {
    if (this == &other) return *this;
    run_.wait();
    result_ = std::move(other.result_);
    kept_ = std::move(other.kept_);
    run_ = std::move(other.run_);
    return *this;
  }

  /// Waits, and returns the result: `std::move(p).wait()`.
  Result wait() && {
    run_.wait();
    return std::move(result_);
  }

  /// Does not compile: the error says to move the handle.
  Result wait() & {
    reason::raise<reason::pending_value_not_moved<pending>>();
    return std::move(*this).wait();
  }

  /// Makes progress on messages, without waiting; true if they have arrived. Call it in long computations of the
  /// program: MPI moves long messages only while it is called.
  bool test() { return run_.test(); }

 private:
  Result result_;
  std::tuple<Kept...> kept_;
  engine::run_in_flight run_;  // last, so that it ends before the memory that it reads is freed
};

/// The same, with local work left to do on the result: a mean is a sum that is divided when it has arrived.
template <class Pending, class Last>
class [[nodiscard]] pending_and {
 public:
  pending_and(Pending begun, Last last) : begun_(std::move(begun)), last_(std::move(last)) {}

  /// As for os::pending.
  auto wait() && {
    auto result = std::move(begun_).wait();
    last_(result);
    return result;
  }
  auto wait() & {
    reason::raise<reason::pending_value_not_moved<pending_and>>();
    return std::move(*this).wait();
  }
  /// As for os::pending.
  bool test() { return begun_.test(); }

 private:
  Pending begun_;
  Last last_;
};

/// True for the result of a begun operation: an os::pending.
template <class T>
inline constexpr bool is_pending = false;
template <class Result, class... Kept>
inline constexpr bool is_pending<pending<Result, Kept...>> = true;
template <class Pending, class Last>
inline constexpr bool is_pending<pending_and<Pending, Last>> = true;

namespace detail {

/// Runs operations that begin now and are waited for later (at_once.hpp runs them at once).
struct later {
  static constexpr bool is_begun = true;

  template <class Result>
  static pending<Result> same(Result const& result) {
    return {result, {}};
  }
  template <class Result, class... Kept, class Begin>
  static pending<Result, Kept...> launch(Result const& result, std::tuple<Kept...> const& operands,
                                         Begin const& begin) {
    return std::apply([&](Kept const&... kept) { return pending<Result, Kept...>(result, begin(), kept...); },
                      operands);
  }
  template <class Result, class... Kept, class... Run>
  static pending<Result, Kept...> run(Result const& result, std::tuple<Kept...> const& operands, Run&&... run) {
    return launch(result, operands, [&] { return engine::begin(std::forward<Run>(run)...); });
  }
};

}  // namespace detail

}  // namespace ostraka
