// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Learning rates as functions of the step's number, which begins at 0. A rate is the same number on every
/// device. `os::schedule` is a number, one of the structs below, or any function of the program's own.
///
///     os::adam{.learning_rate = 1e-3}
///     os::adam{.learning_rate = os::warm_up{.steps = 100, .then = os::cosine_decay{.from = 1e-3, .steps = 5000}}}
///     os::adam{.learning_rate = [](std::int64_t step) { return 1e-3 / std::sqrt(1.0 + double(step)); }}

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace ostraka {

/// A number that changes from step to step.
class schedule {
 public:
  schedule(double constant) : constant_(constant) {}

  template <class F>
    requires(!std::is_same_v<F, schedule> && std::is_invocable_r_v<double, F const&, std::int64_t>)
  schedule(F function) : rule_(std::make_shared<rule_by<F>>(std::move(function))) {}

  [[nodiscard]] double operator()(std::int64_t step) const { return rule_ ? rule_->at(step) : constant_; }

 private:
  struct rule {
    rule() = default;
    rule(rule const&) = delete;
    rule& operator=(rule const&) = delete;
    virtual ~rule() = default;
    virtual double at(std::int64_t step) const = 0;
  };
  template <class F>
  struct rule_by : rule {
    explicit rule_by(F f) : function(std::move(f)) {}
    double at(std::int64_t step) const override { return function(step); }
    F function;
  };

  double constant_ = 0;
  std::shared_ptr<rule const> rule_;
};

namespace detail {

/// The fraction of `steps` that is done; 1 after their end.
inline double share_of_steps(std::int64_t step, std::int64_t steps) {
  return steps <= 0 ? 1.0 : static_cast<double>(std::clamp<std::int64_t>(step, 0, steps)) / static_cast<double>(steps);
}

}  // namespace detail

/// From one number to another along a straight line; then constant.
struct linear_decay {
  double from = 1e-3;
  double to = 0;
  std::int64_t steps = 1000;

  double operator()(std::int64_t step) const { return from + (to - from) * detail::share_of_steps(step, steps); }
};

/// From one number to another along half a cosine: to + (from − to) (1 + cos πs)/2, where s is the fraction of the
/// steps that is done; then constant.
struct cosine_decay {
  double from = 1e-3;
  double to = 0;
  std::int64_t steps = 1000;

  double operator()(std::int64_t step) const {
    constexpr double pi = 3.14159265358979323846;
    return to + (from - to) * 0.5 * (1 + std::cos(pi * detail::share_of_steps(step, steps)));
  }
};

/// from · factor^(step/steps), but not below `to`.
struct exponential_decay {
  double from = 1e-3;
  double factor = 0.9;
  std::int64_t steps = 1000;
  double to = 0;

  double operator()(std::int64_t step) const {
    return std::max(to, from * std::pow(factor, static_cast<double>(step) / static_cast<double>(steps)));
  }
};

/// Multiplies the rate by `factor` after every `steps` steps.
struct step_decay {
  double from = 1e-3;
  double factor = 0.1;
  std::int64_t steps = 1000;

  double operator()(std::int64_t step) const { return from * std::pow(factor, static_cast<double>(step / steps)); }
};

/// Grows for `steps` steps along a straight line to the first value of another schedule, which follows.
struct warm_up {
  std::int64_t steps = 100;
  double from = 0;
  schedule then = 1e-3;

  double operator()(std::int64_t step) const {
    return step < steps ? from + (then(0) - from) * detail::share_of_steps(step, steps) : then(step - steps);
  }
};

}  // namespace ostraka
