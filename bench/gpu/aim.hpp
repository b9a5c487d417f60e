// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// An aim of the benchmarks on a GPU: a speed relative to a baseline that the cases to which it applies should reach.
/// Prints a line that begins with "aim: ", which bench/gpu/day puts at the top of its report.

#include <cstdio>
#include <string>
#include <utility>

namespace bench {

class aim {
 public:
  /// `what`: "products from 1024³ on have 0.95 of cuBLAS' speed"
  aim(std::string what, double speed) : what_(std::move(what)), speed_(speed) {}

  void add(std::string const& name, double speed) {
    ++cases_;
    reached_ += speed >= speed_ ? 1 : 0;
    if (cases_ > 1 && speed >= least_) return;
    least_ = speed;
    slowest_ = name;
  }

  void print() const {
    if (cases_ == 0)
      std::printf("\naim: %s: not measured here\n", what_.c_str());
    else
      std::printf("\naim: %s: %s, %d of %d cases; the slowest is %s with %.2f\n", what_.c_str(),
                  reached_ == cases_ ? "reached" : "NOT REACHED", reached_, cases_, slowest_.c_str(), least_);
  }

 private:
  std::string what_, slowest_;
  double speed_;
  double least_ = 0;
  int cases_ = 0, reached_ = 0;
};

}  // namespace bench
