// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// One contraction with its operands, ready to be computed by each contestant, and the check against plain loops.

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/kernels/reduce.hpp>

#include "baselines.hpp"
#include "block.hpp"
#include "cases.hpp"
#include "report.hpp"
#include "algorithms.hpp"

namespace bench {

/// The part that does not depend on the element type.
class trial {
 public:
  virtual ~trial() = default;
  /// The contestants: ours; also gemm and ttgt if arithmetic dominates, copy if bandwidth does.
  [[nodiscard]] virtual std::vector<contestant> contestants() = 0;
  /// True if every checked element of the result is within the bound of rounding. Checks all elements of small results,
  /// and some of large ones.
  virtual bool right(std::function<void()> const& way) = 0;
  [[nodiscard]] virtual double bytes() const = 0;
  /// All algorithms that the engine could use.
  [[nodiscard]] virtual std::vector<algorithm> algorithms() = 0;
};

template <class T>
class typed_trial final : public trial {
 public:
  explicit typed_trial(contraction_case const& one)
      : case_(one),
        problem_(numbers_of(one)),
        a_(numbers(one.size(one.a), 1)),
        b_(numbers(one.two_operands ? one.size(one.b) : 0, 2)),
        c_(numbers(one.size(one.c), 3)) {}

  std::vector<contestant> contestants() override {
    std::vector<contestant> all{{"ours", [this] { ours(); }}};
    if (case_.arithmetic) {
      all.push_back({"gemm", [this, p = products_of(case_)] { p.run(a_.data(), b_.data(), c_.data()); }});
      auto const ttgt = std::make_shared<by_transposition<T>>(case_);
      all.push_back({"ttgt", [this, ttgt] { ttgt->run(a_.data(), b_.data(), c_.data()); }});
    } else {
      std::size_t const half = static_cast<std::size_t>(bytes()) / 2;
      auto const from = std::make_shared<block<char>>(half, 'x');
      auto const to = std::make_shared<block<char>>(half, 'y');
      all.push_back({"copy", [from, to] { std::memcpy(to->data(), from->data(), to->size()); }});
    }
    return all;
  }

  std::vector<algorithm> algorithms() override {
    return algorithms_of(problem_, a_.data(), b_.data(), c_.data());
  }

  [[nodiscard]] double bytes() const override { return static_cast<double>(case_.elements()) * sizeof(T); }

  bool right(std::function<void()> const& way) override {
    std::fill(c_.begin(), c_.end(), std::numeric_limits<T>::quiet_NaN());
    way();
    std::int64_t const results = case_.size(case_.c);
    std::int64_t const length = case_.size(case_.labels()) / results;
    std::int64_t const looks = std::min(results, std::max<std::int64_t>(16, 20000000 / length));
    for (std::int64_t i = 0; i < looks; ++i)
      if (!right_at(static_cast<std::int64_t>(static_cast<double>(results) * static_cast<double>(i) /
                                              static_cast<double>(looks)),
                    length))
        return false;
    return true;
  }

 private:
  static block<T> numbers(std::int64_t size, unsigned seed) {
    std::minstd_rand random(seed);
    block<T> all(static_cast<std::size_t>(size));
    for (T& x : all) x = T(2) * static_cast<T>(random()) / static_cast<T>(std::minstd_rand::max()) - T(1);
    return all;
  }

  void ours() {
    Kokkos::DefaultHostExecutionSpace const exec;
    if (case_.two_operands)
      ostraka::engine::contract(exec, problem_, a_.data(), b_.data(), c_.data());
    else
      ostraka::engine::reduce(exec, problem_, a_.data(), c_.data(), ostraka::engine::reduction::sum);
    exec.fence();
  }

  // Rounding errors of a sum of n products, in any order, grow like the root of n; an error above eight times that is
  // no rounding.
  bool right_at(std::int64_t result, std::int64_t length) const {
    std::int64_t a = 0, b = 0;
    std::int64_t rest = result;
    for (std::size_t i = case_.c.size(); i-- > 0;) {
      std::int64_t const n = case_.extents.at(case_.c[i]);
      step(case_.c[i], rest % n, a, b);
      rest /= n;
    }
    std::string const summed = contraction_case::among(case_.labels(), case_.c, false, case_.c, false);
    double sum = 0, size = 0;
    add(summed, 0, a, b, sum, size);
    double const bound = 8 * (1 + std::sqrt(static_cast<double>(length))) * std::numeric_limits<T>::epsilon() * size;
    return std::abs(static_cast<double>(c_[static_cast<std::size_t>(result)]) - sum) <= bound;
  }

  void step(char label, std::int64_t index, std::int64_t& a, std::int64_t& b) const {
    std::size_t const l = case_.labels().find(label);
    a += index * problem_.a[l];
    b += index * problem_.b[l];
  }

  void add(std::string const& labels, std::size_t level, std::int64_t a, std::int64_t b, double& sum,
           double& size) const {
    if (level == labels.size()) {
      double const factor = case_.two_operands ? static_cast<double>(b_[static_cast<std::size_t>(b)]) : 1.0;
      double const product = static_cast<double>(a_[static_cast<std::size_t>(a)]) * factor;
      sum += product;
      size += std::abs(product);
      return;
    }
    std::size_t const l = case_.labels().find(labels[level]);
    for (std::int64_t i = 0; i < problem_.extent[l]; ++i)
      add(labels, level + 1, a + i * problem_.a[l], b + i * problem_.b[l], sum, size);
  }

  contraction_case case_;
  ostraka::engine::contraction problem_;
  block<T> a_, b_, c_;
};

inline std::unique_ptr<trial> make_trial(contraction_case const& one, char type) {
  if (type == 'f') return std::make_unique<typed_trial<float>>(one);
  return std::make_unique<typed_trial<double>>(one);
}

}  // namespace bench
