// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Two operations under way at once: their runs are advanced in turns, from message to message, each in a workspace of
/// its own. Both give what plain loops give, whichever is begun first and however many messages they have.
// ranks: 1 2 4 6

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

using exec_space = Kokkos::DefaultExecutionSpace;
using running = os::engine::running<exec_space, double>;

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

// C = A · B, a run of its own.
template <class Result, class Left, class Right>
struct product {
  using types = os::detail::einsum_types<typename Result::sharding_type, os::policy<os::planner::admit::any>,
                                         os::reduction::sum, Left, Right>;

  product(t::mesh_at_hand const& m, t::extents_by_letter const& e, int seed)
      : whole_a(t::whole_numbers<double>(t::letters_in<Left>(), e, seed)),
        whole_b(t::whole_numbers<double>(t::letters_in<Right>(), e, seed + 1)),
        a(t::placed<Left>(m, whole_a)),
        b(t::placed<Right>(m, whole_b)),
        c(t::placed<Result>(m, t::whole_numbers<double>(t::letters_in<Result>(), e, seed + 2))),
        w(os::detail::context_of<typename types::labels, typename types::mesh>("einsum in flight", a, b, c)),
        plan(os::detail::stored_plan_of<types>),
        blocks{a.local().data(), b.local().data()},
        run(exec, w, plan, memory.of<exec_space>(w, plan, os::engine::update<double>()), blocks, c.local().data(), {}) {}

  [[nodiscard]] std::int64_t wrong(t::mesh_at_hand const& m) const {
    return t::disagreements(m, c, t::product_by_loops(t::letters_in<Result>(), whole_a, whole_b));
  }

  t::global_tensor<double> whole_a, whole_b;
  Left a;
  Right b;
  Result c;
  exec_space exec;
  os::engine::execution_context w;
  os::planner::plan_view plan;
  os::engine::schedule_memory memory;
  double const* blocks[2];
  running run;
};

template <class First, class Second>
void check(t::mesh_at_hand const& m, t::extents_by_letter const& e) {
  INFO(m.text(), t::text_of(e));
  First first(m, e, 11);
  Second second(m, e, 21);
  for (bool more_of_first = true, more_of_second = true; more_of_first || more_of_second;) {
    if (more_of_first) more_of_first = first.run.advance();
    if (more_of_second) more_of_second = second.run.advance();
  }
  second.run.run_to_end();
  first.run.run_to_end();
  CHECK(first.wrong(m) == 0);
  CHECK(second.wrong(m) == 0);
}

}  // namespace

TEST_CASE("two products in flight") {
  using gathers = product<tensor<I/X, K>, tensor<I/X, J>, tensor<J/X, K>>;
  using scatters = product<tensor<I/X, K>, tensor<I, J/X>, tensor<J/X, K>>;
  using reduces = product<tensor<I, K>, tensor<I, J/X>, tensor<J/X, K>>;
  using exchanges = product<tensor<I/X/Y, K>, tensor<I/Y/X, J>, tensor<J, K>>;
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<gathers, scatters>(m, e);
      check<scatters, exchanges>(m, e);
      check<exchanges, gathers>(m, e);
      check<reduces, gathers>(m, e);
      check<gathers, gathers>(m, e);
    }
  });
}
