// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The progress of the solver: a bar that is redrawn in place on a terminal, a line now and then elsewhere.

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>

namespace digits {

/// True if the output goes to a terminal. Open MPI gives its processes a pseudo-terminal, wherever the output finally
/// goes. Such a pseudo-terminal has no size; in that case the output of the parent process decides.
inline bool on_terminal() {
  if (isatty(STDOUT_FILENO) == 0) return false;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return true;
  char target[16] = "";
  std::string const launcher = "/proc/" + std::to_string(getppid()) + "/fd/1";
  return readlink(launcher.c_str(), target, sizeof target - 1) > 0 && std::string(target).starts_with("/dev/pts/");
}

/// Shows a residual that falls from 1 to a goal. Only the device that `speaks` prints.
class progress {
 public:
  progress(bool speaks, double goal) : speaks_(speaks), in_place_(speaks && on_terminal()), goal_(goal) {}

  void show(int iteration, double residual) {
    iteration_ = iteration;
    residual_ = residual;
    if (in_place_ || iteration % 100 == 0) draw();
  }

  /// Shows the last residual.
  ~progress() {
    if (in_place_ || iteration_ % 100 != 0) draw();
    if (speaks_ && in_place_) std::printf("\n");
  }

  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

 private:
  void draw() const {
    if (!speaks_) return;
    // Residuals fall exponentially: their logarithm tells how much is left.
    double const share = residual_ <= goal_ ? 1 : std::fmax(0, std::log(residual_) / std::log(goal_));
    auto const full = static_cast<std::size_t>(std::lround(share * width));
    std::string const bar = std::string(full, '#') + std::string(width - full, '.');
    std::printf("%s  [%s] iteration %3d, residual %.1e%s", in_place_ ? "\r" : "", bar.c_str(), iteration_, residual_,
                in_place_ ? "" : "\n");
    std::fflush(stdout);
  }

  static constexpr std::size_t width = 32;
  bool speaks_;
  bool in_place_;
  double goal_;
  int iteration_ = 0;
  double residual_ = 1;
};

}  // namespace digits
