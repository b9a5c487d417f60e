// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A contraction together with the move next to it, part by part (plan/lowering/fused.hpp): a gather whose own part is multiplied where it
/// lies while the others travel, or a reduce-scatter whose own part is multiplied last, onto the sum of what arrives.
///
///     C <- alpha A_own B_own + beta C, then C <- C + alpha A_p B_p      for the parts p before and after the own one, as they arrived

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/moves/moves.hpp>
#include <ostraka/engine/run/loops_of_labels.hpp>
#include <ostraka/engine/run/run_record.hpp>
#include <ostraka/engine/run/travelling.hpp>
#include <ostraka/plan/lowering/fused.hpp>

namespace ostraka::engine::detail {

// A product of two blocks into a third; each of the three has labels of its own.
template <class T>
struct block_product {
  planner::spec const* labels[3] = {};  // left, right, result
  region<T const> block[3] = {};

  [[nodiscard]] contraction loops(execution_context const& w) const {
    return loops_of_labels(w.sizes.labels, {{labels[0], &block[0]}, {labels[1], &block[1]}, {labels[2], &block[2]}});
  }

  // Of these indices of a label. Block number `which` is already `given`, which has those alone. @pre the others do not
  // lie as messages
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
    return p;
  }

  // That part as it is remembered; what is `given` begins behind `base`.
  [[nodiscard]] product_record record_of_part(execution_context const& w, int label, planner::range indices, int which,
                                              region<T const> const& given, T const* base) const {
    block_product const p = part(label, indices, which, given);
    product_record r{p.loops(w)};
    for (int k = 0; k < 3; ++k) r.at[k] = p.block[k].data - (k == which ? base : block[k].data);
    return r;
  }
};

// The parts of a block along one mesh axis: the own one, and the others, which lie in a message one behind the other.
class others_of_message {
 public:
  others_of_message(execution_context const& w, box const& whole, box const& own, planner::device_loops const& loops)
      : w_(w), whole_(whole), own_(own), loops_(loops), dimension_(loops[0].dimension) {}

  [[nodiscard]] int dimension() const { return dimension_; }
  [[nodiscard]] planner::range own() const { return own_.at[dimension_]; }

  // Calls `use(block, indices)` for those before the own one, `between()`, and `use` for those after it: at once, or
  // one by one.
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

  execution_context const& w_;
  box whole_;
  box own_;
  planner::device_loops loops_;
  int dimension_;
};

// An all-gather of parts under way: `message` gets the others' parts.
template <class Exec, class T>
class others_on_their_way {
 public:
  others_on_their_way(Exec const& exec, communicator const& members, T const* own, std::int64_t part, T* message,
                      std::int64_t count)
      : sends_(const_cast<T*>(own), part, is_staged<Exec>(host_work::carries)),  // which is not written
        receives_(message, count, is_staged<Exec>(host_work::carries)) {
    gather_.begin_of_others(members, sent(exec), receives_.data(), part);
  }

  void wait() {
    gather_.finish();
    receives_.bring_back();
  }

 private:
  T const* sent(Exec const& exec) const {
    fence(exec);
    sends_.bring();
    return sends_.data();
  }

  array_for_mpi<Exec, T> sends_;
  array_for_mpi<Exec, T> receives_;
  all_gather_in_flight<T> gather_;
};

// The products of the own part of block number `which` and of the others', in the order of the devices. @pre the own
// block has its place, and the message has its own
template <class T>
void remember_parts(execution_context const& w, others_of_message const& others, block_product<T> const& product,
                    int which, T const* message, bool one_by_one, step_record<T>& known) {
  int const label = product.labels[which]->label[others.dimension()];
  region<T const> const& own = product.block[which];
  auto const remember = [&](region<T const> const& block, planner::range indices, T const* base) {
    known.products.push_back(product.record_of_part(w, label, indices, which, block, base));
  };
  others.for_each(
      message, one_by_one,
      [&](region<T const> const& block, planner::range indices) { remember(block, indices, message); },
      [&] {
        known.own = known.products.size();
        remember(own, others.own(), own.data);
      });
}

// A factor whose own part is here: what it is multiplied with, and what that gives.
template <class Exec, class T>
struct gathered_product {
  travelling<Exec, T>& left;
  travelling<Exec, T>& right;
  travelling<Exec, T>& result;
  int which;  // 0 or 1: the factor that is gathered

  travelling<Exec, T>& own() const { return which == 0 ? left : right; }

  void multiply(Exec const& exec, product_record& part, T const* of_which, update<T> const& how) const {
    part.multiply(exec, which == 0 ? of_which : left.data, which == 1 ? of_which : right.data, result.mine, how);
  }
};

// result <- alpha (the product) + beta result, where `gather` would gather one factor.
template <class Exec, class T>
void gather_and_contract(Exec const& exec, execution_context const& w, planner::planned_step const& gather,
                         gathered_product<Exec, T> const& p, update<T> const& how, step_record<T>& known) {
  region<T const> own = p.own().now();
  std::int64_t const part = own.where.size();
  if (!known.known) known.others = box_of(gather.to, w.here, w.sizes).size() - part;
  scratch<T, typename Exec::memory_space> const message(known.others);
  scratch<T, typename Exec::memory_space> const packed(own.gapless() ? 0 : part);
  if (!own.gapless()) {
    copy(exec, dense_region(packed.data(), own.where), own);
    own = readable(dense_region(packed.data(), own.where));
  }
  others_on_their_way<Exec, T> arriving(exec, w.group(gather.axes), own.data, part, message.data(), known.others);
  if (!known.known) {
    planner::device_loops const loops = planner::loops_of_received(gather, w.sizes);
    block_product<T> product{{p.left.labels, p.right.labels, p.result.labels},
                             {p.left.now(), p.right.now(), p.result.now()}};
    product.block[p.which] = own;
    others_of_message const others(w, box_of(gather.to, w.here, w.sizes), own.where, loops);
    bool const repeated = planner::is_repeated(*product.labels[2], loops);
    known.summed = product.labels[2]->find(gather.to.label[others.dimension()]) < 0;
    known.own_first =
        !(known.summed &&
          repeated);  // else nobody begins before all have what they wait for: MPI may move nothing meanwhile
    remember_parts<T>(w, others, product, p.which, message.data(), repeated, known);
  }
  update<T> next = how;
  auto const multiply = [&](std::size_t k) {
    p.multiply(exec, known.products[k], k == known.own ? own.data : message.data(), next);
    if (known.summed) next.beta = T(1);
  };
  if (known.own_first) multiply(known.own);
  arriving.wait();
  for (std::size_t k = 0; k < known.products.size(); ++k)
    if (k != known.own || !known.own_first) multiply(k);
}

// The own part of the result of left · right, which `scatter` would scatter: it becomes alpha (the sum over the
// devices) + beta (itself).
template <class Exec, class T>
void contract_and_scatter(Exec const& exec, execution_context const& w, planner::planned_step const& scatter,
                          travelling<Exec, T> const& left, travelling<Exec, T> const& right,
                          travelling<Exec, T> const& result, update<T> const& how, step_record<T>& known) {
  region<T> const to = result.target();
  std::int64_t const part = to.where.size();
  if (!known.known) known.others = box_of(scatter.from, w.here, w.sizes).size() - part;
  scratch<T, typename Exec::memory_space> const message(known.others);
  if (!known.known) {
    others_of_message const others(w, box_of(scatter.from, w.here, w.sizes), to.where,
                                   planner::loops_of_sent(scatter, w.sizes));
    block_product<T> const product{{left.labels, right.labels, result.labels}, {left.now(), right.now(), readable(to)}};
    remember_parts<T>(w, others, product, 2, message.data(), false, known);
  }
  auto const multiply = [&](std::size_t k, T* into, update<T> const& as) {
    known.products[k].multiply(exec, left.data, right.data, into, as);
  };
  for (std::size_t k = 0; k < known.products.size(); ++k)
    if (k != known.own) multiply(k, message.data(), update<T>{how.alpha, T(0)});

  update<T> const arriving{T(1), how.beta};
  update<T> const summed = to.gapless() ? arriving : update<T>{};
  with_message<Exec>(exec, to, arriving, false, [&](T* own) {
    with_arrays_for_mpi(
        exec, host_work::computes, static_cast<T const*>(message.data()), known.others, own, part,
        [&](T const* out, T* in) { reduce_scatter_of_others(w.group(scatter.axes), out, in, part, summed); },
        summed.beta != T(0));
  });
  multiply(known.own, to.data, update<T>{how.alpha, T(1)});
}

}  // namespace ostraka::engine::detail
