// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A contraction together with the move next to it, part by part (plan/joined.hpp): a gather whose own part is multiplied where it
/// lies while the others travel, or a reduce-scatter whose own part is multiplied last, onto the sum of what arrives.
///
///     C <- alpha A_own B_own + beta C, then C <- C + alpha A_p B_p      for the parts p before and after the own one, as they arrived

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/local/contraction.hpp>
#include <ostraka/engine/loops_of_labels.hpp>
#include <ostraka/engine/moves.hpp>
#include <ostraka/plan/joined.hpp>

namespace ostraka::engine::detail {

// A product of two blocks into a third; each of the three has labels of its own.
template <class T>
struct block_product {
  planner::spec const* labels[3] = {};  // left, right, result
  region<T const> block[3] = {};
  T* result = nullptr;

  template <class Exec>
  void multiply(Exec const& exec, locale const& w, update<T> const& how) const {
    contract(exec, loops_of_labels<T>(w.sizes.labels, {{labels[0], &block[0]}, {labels[1], &block[1]}, {labels[2], &block[2]}}), block[0].data,
             block[1].data, result, how);
  }

  // Of these indices of a label. Block number `which` is already `given`, which has those alone. @pre the others do not lie as messages
  [[nodiscard]] block_product part(int label, planner::range indices, int which, region<T const> const& given) const {
    block_product p = *this;
    p.block[which] = given;
    for (int k = 0; k < 3; ++k) {
      int const at = k == which ? -1 : labels[k]->find(label);
      if (at < 0) continue;
      box inner = block[k].where;
      inner.at[at] = indices;
      p.block[k] = block[k].part(inner);
    }
    if (which != 2) p.result = result + (p.block[2].data - block[2].data);
    return p;
  }
};

// The parts of a block along one mesh axis: the own one, and the others, which lie in a message one behind the other.
class others_of_message {
 public:
  others_of_message(locale const& w, box const& whole, box const& own, planner::device_loops const& loops)
      : w_(w), whole_(whole), own_(own), loops_(loops), dimension_(loops[0].dimension) {}

  [[nodiscard]] int dimension() const { return dimension_; }
  [[nodiscard]] planner::range own() const { return own_.at[dimension_]; }
  [[nodiscard]] std::int64_t size() const { return whole_.size() - own_.size(); }

  // Calls `use(block, indices)` for those before the own one, `between()`, and `use` for those after it: at once, or one by one.
  template <class T, class Use, class Between>
  void for_each(T* message, bool one_by_one, Use const& use, Between const& between) const {
    planner::range const all = whole_.at[dimension_];
    T* const after = walk(message, {all.begin, own().begin}, one_by_one, use);
    between();
    walk(after, {own().end, all.end}, one_by_one, use);
  }

 private:
  template <class T, class Use>
  T* walk(T* message, planner::range const& parts, bool one_by_one, Use const& use) const {
    std::int64_t const step = one_by_one ? loops_[0].unit : parts.size();
    for (std::int64_t begin = parts.begin; begin < parts.end; begin += step) {
      box b = whole_;
      b.at[dimension_] = {begin, begin + step};
      use(as_message(w_, message, b, loops_), b.at[dimension_]);
      message += b.size();
    }
    return message;
  }

  locale const& w_;
  box whole_;
  box own_;
  planner::device_loops loops_;
  int dimension_;
};

// An all-gather of parts under way, on the host: `message` gets the others' parts.
template <class Exec, class T>
class others_on_their_way {
 public:
  others_on_their_way(Exec const& exec, communicator const& members, T const* own, std::int64_t part, T* message, std::int64_t count)
      : message_(message),
        count_(count),
        host_own_(seen_by_host<Exec> ? 0 : part),
        host_message_(seen_by_host<Exec> ? 0 : count),
        gather_(members, on_host(exec, own, part), seen_by_host<Exec> ? message : host_message_.data(), part) {}

  void wait() {
    gather_.wait();
    if constexpr (!seen_by_host<Exec>)
      if (count_ > 0) stage<typename Exec::memory_space, Kokkos::HostSpace>(message_, static_cast<T const*>(host_message_.data()), count_);
  }

 private:
  T const* on_host(Exec const& exec, T const* own, [[maybe_unused]] std::int64_t part) const {
    exec.fence();
    if constexpr (seen_by_host<Exec>) return own;
    if (part > 0) stage<Kokkos::HostSpace, typename Exec::memory_space>(host_own_.data(), own, part);
    return host_own_.data();
  }

  T* message_;
  std::int64_t count_;
  scratch<T, Kokkos::HostSpace> host_own_;
  scratch<T, Kokkos::HostSpace> host_message_;
  all_gather_of_others<T> gather_;
};

// `product` has the own part of factor number `which`, which `gather` would gather: its result becomes alpha (the product) + beta (itself).
template <class Exec, class T>
void gather_and_contract(Exec const& exec, locale const& w, planner::planned_step const& gather, int which, block_product<T> const& product,
                         update<T> const& how) {
  region<T const> own = product.block[which];
  std::int64_t const part = own.where.size();
  planner::device_loops const loops = planner::loops_of_received(gather, w.sizes);
  others_of_message const others(w, box_of(gather.to, w.here, w.sizes), own.where, loops);
  scratch<T, typename Exec::memory_space> const message(others.size());
  scratch<T, typename Exec::memory_space> const packed(own.gapless() ? 0 : part);
  if (!own.gapless()) {
    copy(exec, dense_region(packed.data(), own.where), own);
    own = readable(dense_region(packed.data(), own.where));
  }
  others_on_their_way<Exec, T> arriving(exec, w.group(gather.axes), own.data, part, message.data(), others.size());

  int const label = gather.to.label[others.dimension()];
  bool const summed = product.labels[2]->find(label) < 0;
  bool const repeated = planner::is_repeated(*product.labels[2], loops);
  bool const own_first = !(summed && repeated);  // else nobody begins before all have what they wait for: MPI may move nothing meanwhile
  update<T> next = how;
  auto const multiply = [&](region<T const> const& block, planner::range indices) {
    product.part(label, indices, which, block).multiply(exec, w, next);
    if (summed) next.beta = T(1);
  };
  if (own_first) multiply(own, others.own());
  arriving.wait();
  others.for_each(static_cast<T const*>(message.data()), repeated, multiply, [&] {
    if (!own_first) multiply(own, others.own());
  });
}

// `product` writes to `to`, the own part of its result, which `scatter` would scatter: it becomes alpha (the sum over the devices) + beta (itself).
template <class Exec, class T>
void contract_and_scatter(Exec const& exec, locale const& w, planner::planned_step const& scatter, block_product<T> const& product, region<T> const& to,
                          update<T> const& how) {
  others_of_message const others(w, box_of(scatter.from, w.here, w.sizes), to.where, planner::loops_of_sent(scatter, w.sizes));
  int const label = scatter.from.label[others.dimension()];
  auto const multiply = [&](region<T> const& block, planner::range indices, update<T> const& as) {
    block_product<T> part = product.part(label, indices, 2, readable(block));
    part.result = block.data;
    part.multiply(exec, w, as);
  };
  scratch<T, typename Exec::memory_space> const message(others.size());
  others.for_each(message.data(), false, [&](region<T> const& block, planner::range r) { multiply(block, r, update<T>{how.alpha, T(0)}); }, [] {});

  update<T> const arriving{T(1), how.beta};
  update<T> const summed = to.gapless() ? arriving : update<T>{};
  with_message<Exec>(exec, to, arriving, false, [&](T* own) {
    on_host_in_out<Exec>(exec, static_cast<T const*>(message.data()), others.size(), own, to.where.size(),
                         [&](T const* out, T* in) { reduce_scatter_of_others(w.group(scatter.axes), out, in, to.where.size(), summed); },
                         summed.beta != T(0));
  });
  multiply(to, others.own(), update<T>{how.alpha, T(1)});
}

}  // namespace ostraka::engine::detail
