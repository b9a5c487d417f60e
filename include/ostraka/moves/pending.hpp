// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Operations that are begun now and waited for later. `os::start_psum<X>(a)`, os::start_einsum<…>(A, B) and
/// the like give an os::pending, whose result nobody can read before `wait`:
///
///     auto next = os::start_shift<X>(r, +1);          messages are under way
///     os::einsum_into(c, a, r, os::beta = 1);         meanwhile
///     r = std::move(next).wait();
///
/// A begun operation reads its operands until `wait`: what is written to them before may or may not be sent.

#include <tuple>
#include <utility>

#include <ostraka/calls/at_once.hpp>
#include <ostraka/engine/run/in_flight.hpp>
#include <ostraka/types/reasons.hpp>

namespace ostraka {

/// The result of an operation that is under way. It ends where it is waited for, or dropped: then it waits. Until then
/// the operation reads its operands. They are kept alive, and the program does not write to them (by `a.local()`, or a
/// verb `…_into` them): a receiver would get old elements, new ones, or both. It belongs to the host thread that began
/// it, and does not leave the body of os::shard_map. All devices begin, and wait for, operations in the same order.
/// `Kept`: views of the operands.
template <class Result, class... Kept>
class [[nodiscard]] pending {
 public:
  pending(Result result, engine::run_in_flight run, Kept... kept)
      : result_(std::move(result)), kept_(std::move(kept)...), run_(std::move(run)) {}

  pending(pending&&) = default;
  /// Waits for the operation that stood here, while there is the memory that it reads and writes.
  pending& operator=(pending&& other) {
    if (this == &other) return *this;
    run_.wait();
    result_ = std::move(other.result_);
    kept_ = std::move(other.kept_);
    run_ = std::move(other.run_);
    return *this;
  }

  /// The result, once it is there: `std::move(p).wait()`.
  Result wait() && {
    run_.wait();
    return std::move(result_);
  }

  /// Says so where it is not.
  Result wait() & {
    reason::raise<reason::waited_for_by_name<pending>>();
    return std::move(*this).wait();
  }

  /// Lets messages go on, without waiting; have they arrived? For long computations of the program's own: MPI moves
  /// long messages only while it is called.
  bool test() { return run_.test(); }

 private:
  Result result_;
  std::tuple<Kept...> kept_;
  engine::run_in_flight run_;  // last, so that it ends before the memory that it reads is given back
};

/// The same, with something left to do with the result on this device: a mean is a sum that is divided when it is
/// there.
template <class Pending, class Last>
class [[nodiscard]] pending_and {
 public:
  pending_and(Pending begun, Last last) : begun_(std::move(begun)), last_(std::move(last)) {}

  /// As of os::pending.
  auto wait() && {
    auto result = std::move(begun_).wait();
    last_(result);
    return result;
  }
  auto wait() & {
    reason::raise<reason::waited_for_by_name<pending_and>>();
    return std::move(*this).wait();
  }
  bool test() { return begun_.test(); }

 private:
  Pending begun_;
  Last last_;
};

/// Whether a type is what a begun operation gives: an os::pending.
template <class T>
inline constexpr bool is_pending = false;
template <class Result, class... Kept>
inline constexpr bool is_pending<pending<Result, Kept...>> = true;
template <class Pending, class Last>
inline constexpr bool is_pending<pending_and<Pending, Last>> = true;

namespace detail {

/// How operations are run that are begun and waited for (at_once.hpp has the other way).
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
