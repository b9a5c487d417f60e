// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Caches the plans of the last contractions, so that a loop over the same C[I, K] = A[I, J] B[J, K] plans it
/// once. Each host thread has its own cache.

#include <cstdint>

#include <ostraka/engine/kernels/products/contraction_plan.hpp>
#include <ostraka/engine/memory/per_thread.hpp>

namespace ostraka::engine {

/// The place of a problem's plan in the cache, for repeated calls.
struct plan_ticket {
  int entry = 0;
  std::uint64_t number = 0;  ///< number of the plan, in the order in which plans are made; 0: not looked up yet
};

namespace detail {

inline bool same_labels(std::int64_t const* x, std::int64_t const* y, int count) {
  for (int l = 0; l < count; ++l)
    if (x[l] != y[l]) return false;
  return true;
}

inline bool same_problem(contraction const& x, contraction const& y) {
  if (x.labels != y.labels || !same_labels(x.extent, y.extent, x.labels)) return false;
  for (int l = 0; l < x.labels; ++l)
    if (x.in_a[l] != y.in_a[l] || x.in_b[l] != y.in_b[l] || x.in_c[l] != y.in_c[l]) return false;
  return same_labels(x.a, y.a, x.labels) && same_labels(x.b, y.b, x.labels) && same_labels(x.c, y.c, x.labels);
}

/// True if a problem can be planned: no extent is 0, and no operand has an unshared label.
inline bool is_product(contraction const& p) {
  for (int l = 0; l < p.labels; ++l)
    if (p.extent[l] == 0 || class_of(p, l) == label_class::only_a || class_of(p, l) == label_class::only_b)
      return false;
  return true;
}

/// The last few plans for one element type, made by `Plan`.
template <class T, contraction_plan (*Plan)(contraction const&) = &plan_contraction<T>>
class plan_cache {
 public:
  /// Returns the calling thread's cache.
  static plan_cache& instance() {
    static thread_local constinit plan_cache* cache = nullptr;
    return per_thread(cache);
  }

  /// Returns the plan of a problem; nullptr if it cannot be planned as it is. Valid until the next call. A ticket
  /// belongs to one problem, and finds the plan without a comparison while the cache has it.
  contraction_plan const* find(contraction const& problem, plan_ticket& ticket) {
    bool const valid = limit_ == cblas_limit;
    if (valid && ticket.number != 0 && entries_[ticket.entry].number == ticket.number)
      return &entries_[ticket.entry].plan;
    for (int i = 0; i < used_; ++i)
      if (valid && same_problem(entries_[i].problem, problem)) return return_entry(i, ticket);
    if (!is_product(problem)) return nullptr;
    if (!valid) forget();
    int const i = next_;
    next_ = (next_ + 1) % size;
    used_ = used_ < size ? used_ + 1 : size;
    entries_[i].problem = problem;
    entries_[i].plan = Plan(problem);
    entries_[i].number = ++made_;
    return return_entry(i, ticket);
  }

 private:
  static constexpr int size = 16;
  struct entry {
    contraction problem;
    contraction_plan plan;
    std::uint64_t number = 0;
  };

  contraction_plan const* return_entry(int i, plan_ticket& ticket) {
    ticket = {i, entries_[i].number};
    return &entries_[i].plan;
  }

  void forget() {
    for (entry& e : entries_) e.number = 0;
    used_ = next_ = 0;
    limit_ = cblas_limit;
  }

  entry entries_[size];
  int used_ = 0, next_ = 0;
  std::uint64_t made_ = 0;
  std::int64_t limit_ = 0;
};

}  // namespace detail
}  // namespace ostraka::engine
