// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Several operations in flight at once, each in a workspace of its own: advanced in turns, from message to message, or
/// begun and waited for later. All give the results of plain loops, whichever is begun first and however many messages
/// they have.
// ranks: 1 2 4 6
// gpu: 4

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <ostraka/engine/run/in_flight.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

using exec_space = Kokkos::DefaultExecutionSpace;
using running = os::engine::running<exec_space, double>;

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

// C = A · B, and what a run of it is given.
template <class Result, class Left, class Right, os::reduction How = os::reduction::sum>
struct problem {
  using types =
      os::detail::einsum_types<typename Result::sharding_type, os::policy<os::planner::admit::any>, How, Left, Right>;

  problem(t::test_mesh const& m, t::extents_by_letter const& e, int seed)
      : whole_a(t::whole_numbers<double>(t::letters_in<Left>(), e, seed)),
        whole_b(t::whole_numbers<double>(t::letters_in<Right>(), e, seed + 1)),
        a(t::placed<Left>(m, whole_a)),
        b(t::placed<Right>(m, whole_b)),
        c(t::placed<Result>(m, t::whole_numbers<double>(t::letters_in<Result>(), e, seed + 2))),
        w(os::detail::context_of<typename types::labels, typename types::mesh>("einsum in flight", a, b, c)),
        plan(os::detail::stored_plan_of<types>),
        blocks{a.local().data(), b.local().data()} {}

  [[nodiscard]] os::engine::run_in_flight begin(os::engine::schedule_memory& memory) const {
    return os::engine::begin(exec, w, plan, blocks, c.local().data(), os::engine::update<double>(), memory);
  }

  [[nodiscard]] std::int64_t wrong(t::test_mesh const& m) const {
    return t::disagreements(m, c, t::product_by_loops(t::letters_in<Result>(), whole_a, whole_b));
  }

  t::global_tensor<double> whole_a, whole_b;
  Left a;
  Right b;
  Result c;
  exec_space exec;
  os::engine::execution_context w;
  os::planner::plan_view plan;
  double const* blocks[2];
};

// A run of its own.
template <class Result, class Left, class Right>
struct product : problem<Result, Left, Right> {
  product(t::test_mesh const& m, t::extents_by_letter const& e, int seed)
      : problem<Result, Left, Right>(m, e, seed),
        run(this->exec, this->w, this->plan,
            memory.of<exec_space>(this->w, this->plan, os::engine::update<double>(),
                                  os::engine::every_function<exec_space, double>()),
            this->blocks, this->c.local().data(), {}, os::engine::every_function<exec_space, double>()) {}

  os::engine::schedule_memory memory;
  running run;
};

template <class First, class Second>
void check(t::test_mesh const& m, t::extents_by_letter const& e) {
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
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<gathers, scatters>(m, e);
      check<scatters, exchanges>(m, e);
      check<exchanges, gathers>(m, e);
      check<reduces, gathers>(m, e);
      check<gathers, gathers>(m, e);
    }
  });
}

namespace {

// Three runs of one call and one of another; the first to begin ends last.
template <class One, class Other>
void check_in_flight(t::test_mesh const& m, t::extents_by_letter const& e) {
  INFO(m.text(), t::text_of(e));
  os::engine::schedule_memory memory, of_other;
  One const first(m, e, 11), second(m, e, 21), third(m, e, 31);
  Other const other(m, e, 41);
  os::engine::run_in_flight a = first.begin(memory);
  os::engine::run_in_flight b = second.begin(memory);
  os::engine::run_in_flight d = other.begin(of_other);
  os::engine::progress();
  {
    os::engine::run_in_flight c = third.begin(memory);
    static_cast<void>(c.test());
    b.wait();
    CHECK(!b);
    CHECK(b.test());
    b = std::move(d);
    CHECK(!d);
    os::engine::progress();
  }  // it waits
  CHECK(third.wrong(m) == 0);
  b = {};
  CHECK(other.wrong(m) == 0);
  CHECK(second.wrong(m) == 0);
  a.wait();
  CHECK(first.wrong(m) == 0);
  CHECK(os::engine::in_flight::first() == nullptr);
}

}  // namespace

TEST_CASE("runs that are begun and waited for later") {
  using local = problem<tensor<I/X, K>, tensor<I/X, J>, tensor<J, K>>;
  using gathers = problem<tensor<I/X, K>, tensor<I/X, J>, tensor<J/X, K>>;
  using all_parts = problem<tensor<I, K>, tensor<I/X, J>, tensor<J, K>>;
  using scatters = problem<tensor<I/X, K>, tensor<I, J/X>, tensor<J/X, K>>;
  using reduces = problem<tensor<I, K>, tensor<I, J/X>, tensor<J/X, K>>;
  using exchanges = problem<tensor<I/X/Y, K>, tensor<I/Y/X, J>, tensor<J, K>>;
  using two_gathers = problem<tensor<I/X, K/Y>, tensor<I/X, J/Y>, tensor<J/X, K/Y>>;
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check_in_flight<gathers, scatters>(m, e);
      check_in_flight<reduces, exchanges>(m, e);
      check_in_flight<exchanges, local>(m, e);
      check_in_flight<two_gathers, reduces>(m, e);
      check_in_flight<all_parts, two_gathers>(m, e);
      check_in_flight<scatters, all_parts>(m, e);
    }
  });
}

TEST_CASE("a call remembers its last schedules, and those that are in flight") {
  using gathers = problem<tensor<I/X, K>, tensor<I/X, J>, tensor<J/X, K>>;
  t::on_every_mesh([](t::test_mesh const& m) {
    os::engine::schedule_memory memory;
    std::vector<std::unique_ptr<gathers>> problems;
    for (int n = 1; n <= 40; ++n)
      problems.push_back(std::make_unique<gathers>(m, t::extents_by_letter{{'I', n}, {'J', 5}, {'K', 3}}, n));
    std::vector<os::engine::run_in_flight> runs;
    for (auto const& p : problems) runs.push_back(p->begin(memory));
    for (auto& r : runs) r.wait();
    for (auto const& p : problems) CHECK(p->wrong(m) == 0);
  });
}

// Long arrays are reduced by our own reduce-scatter and all-gather, in pieces that are set aside for it.
TEST_CASE("long reductions in flight") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 301}, {'J', 203}};
    INFO(m.text());
    auto const values = t::whole_numbers<double>("IJ", e, 7);
    auto const parts = t::placed<tensor<I, J, os::partial(X)>>(m, values);
    auto sum = os::start_reshard<I, J>(parts);
    auto rows = os::start_reshard<I/X, J>(parts);
    auto columns = os::start_reshard<I, J/X>(parts);
    static_cast<void>(sum.test());
    os::engine::progress();
    CHECK(t::disagreements(m, std::move(sum).wait(), values) == 0);
    CHECK(t::disagreements(m, std::move(rows).wait(), values) == 0);
    CHECK(t::disagreements(m, std::move(columns).wait(), values) == 0);
  });
}
