// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A plan on blocks that are parts of larger ones: an einsum in pieces along an undivided label gives the whole of
/// plain loops. The memory between the pieces does not change.
// ranks: 1 2 4 6
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

// The indices [lo, hi) of label number `l` of a dense block, which then count from 0.
template <class T>
os::engine::strided_block<T*> piece_of(T* data, os::engine::execution_context whole,
                                       os::engine::execution_context const& piece, os::planner::spec const& s, int l,
                                       std::int64_t lo) {
  os::engine::strided_block<T*> r = os::engine::dense_block(data, os::engine::box_of(s, whole.here, whole.sizes));
  os::engine::box const inner = os::engine::box_of(s, piece.here, piece.sizes);
  for (int i = 0; i < s.rank; ++i) {
    if (s.label[i] == l && inner.size() > 0) r.data += lo * r.stride[i];
  }
  r.where = inner;
  return r;
}

// C <- 2 A · B + 3 C, a few indices of K at a time.
template <auto... Out, auto... DimsA, auto... DimsB>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, dims<DimsA...>, dims<DimsB...>) {
  using left = os::tensor<double, DimsA...>;
  using right = os::tensor<double, DimsB...>;
  using result = os::tensor<double, Out...>;
  using types = os::detail::einsum_types<os::sharding_of<Out...>, os::policy<os::planner::admit::any>,
                                         os::reduction::sum, left, right>;
  using labels = typename types::labels;
  using mesh = typename types::mesh;
  using exec_space = Kokkos::DefaultExecutionSpace;
  auto const whole_a = t::whole_numbers<double>(t::letters_in<left>(), e, 11);
  auto const whole_b = t::whole_numbers<double>(t::letters_in<right>(), e, 12);
  auto const before = t::whole_numbers<double>(t::letters_in<result>(), e, 13);
  auto const a = t::placed<left>(m, whole_a);
  auto const b = t::placed<right>(m, whole_b);
  auto const c = t::placed<result>(m, before);
  os::planner::plan_view const plan = os::detail::stored_plan_of<types>;
  os::engine::execution_context const w = os::detail::context_of<labels, mesh>("einsum in pieces", a, b, c);
  constexpr int l = os::position_in<K_axis, labels>;
  exec_space const exec;
  os::engine::schedule_memory memory;
  for (std::int64_t lo = 0; lo < w.sizes.label[l]; lo += 3) {
    os::engine::execution_context piece = w;
    piece.sizes.label[l] = std::min<std::int64_t>(3, w.sizes.label[l] - lo);
    os::engine::strided_block<double const*> const operands[] = {
        piece_of(static_cast<double const*>(a.local().data()), w, piece, plan.operands[0], l, lo),
        piece_of(static_cast<double const*>(b.local().data()), w, piece, plan.operands[1], l, lo)};
    os::engine::run(exec, piece, plan, operands, piece_of(c.local().data(), w, piece, *plan.result, l, lo),
                    os::engine::update<double>{2, 3}, memory);
  }
  auto wanted = t::product_by_loops(t::letters_in<result>(), whole_a, whole_b);
  for (std::size_t i = 0; i < wanted.values.size(); ++i) wanted.values[i] = 2 * wanted.values[i] + 3 * before.values[i];
  INFO(m.text(), t::text_of(e));
  CHECK(t::disagreements(m, c, wanted) == 0);
}

}  // namespace

TEST_CASE("einsum in pieces of a label") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check(m, e, dims<I, K>{}, dims<I, J>{}, dims<J, K>{});
      check(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});                         // all-reduce
      check(m, e, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{});                       // reduce-scatter
      check(m, e, dims<K, I/X>{}, dims<I, J/X>{}, dims<J/X, K>{});
      check(m, e, dims<I/X, K>{}, dims<I/X, J>{}, dims<J/X, K>{});                       // gathers
      check(m, e, dims<I, K, J/Y>{}, dims<I/X, J/Y>{}, dims<J/Y, K>{});
      check(m, e, dims<I/X/Y, K>{}, dims<I/Y/X, J>{}, dims<J, K>{});                     // exchanges
      check(m, e, dims<K, I/X>{}, dims<I/Y, J/X>{}, dims<J/X/Y, K>{});
      check(m, e, dims<I, K, partial(X)>{}, dims<I, J, partial(X)>{}, dims<J, K>{});
      check(m, e, dims<I, K, partial(X)>{}, dims<I, J>{}, dims<J, K>{});                 // mask
      check(m, e, dims<K, I>{}, dims<I, J, partial(X)>{}, dims<J, K>{});
      check(m, e, dims<I, K, partial(X)>{}, dims<I/X, J>{}, dims<J, K>{});               // zero-pad
    }
  });
}
