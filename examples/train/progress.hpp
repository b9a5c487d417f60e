// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The progress of training: a bar with loss, tokens per second and bytes per step, redrawn in place on a terminal, a
/// line now and then elsewhere.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "../digits/progress.hpp"
#include "support/byte_counter.hpp"

namespace train {

/// Only the device that `speaks` prints; all devices call `show` alike, because bytes are added over them.
class progress {
 public:
  progress(bool speaks, std::int64_t steps, std::int64_t tokens_of_step)
      : speaks_(speaks), in_place_(digits::on_terminal()), steps_(steps), tokens_of_step_(tokens_of_step) {}

  /// After a step, counted from 1.
  void show(std::int64_t step, double loss) {
    ++since_;
    std::int64_t const every = steps_ > 20 ? steps_ / 20 : 1;
    if (step % every != 0 && step != steps_) return;
    auto const now = std::chrono::steady_clock::now();
    double const seconds = std::chrono::duration<double>(now - then_).count();
    auto const bytes = os::testing::sum_over_ranks({so_far().bytes - bytes_, 0}).bytes;
    if (speaks_) draw(step, loss, static_cast<double>(since_ * tokens_of_step_) / seconds, bytes / since_);
    then_ = std::chrono::steady_clock::now();
    bytes_ = so_far().bytes;
    since_ = 0;
  }

 private:
  static os::testing::traffic so_far() { return os::testing::traffic_so_far(); }

  void draw(std::int64_t step, double loss, double rate, std::int64_t bytes) const {
    constexpr std::int64_t width = 24;
    auto const full = static_cast<std::size_t>(width * step / steps_);
    std::string const bar = std::string(full, '#') + std::string(width - full, '.');
    std::printf("%s  [%s] step %lld, loss %.4f, %.0f tokens/s, %s a step%s", in_place_ ? "\r" : "", bar.c_str(),
                static_cast<long long>(step), loss, rate, os::planner::describe_bytes(bytes).c_str(),
                in_place_ && step < steps_ ? "   " : "\n");
    std::fflush(stdout);
  }

  bool speaks_, in_place_;
  std::int64_t steps_, tokens_of_step_;
  std::int64_t since_ = 0, bytes_ = so_far().bytes;
  std::chrono::steady_clock::time_point then_ = std::chrono::steady_clock::now();
};

}  // namespace train
