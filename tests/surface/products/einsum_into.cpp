// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::einsum_into against plain loops: C <- alpha A · B + beta C for every way in which the result arrives in C, the
/// bytes against the plan's, the workspace against the plan's, NaN where nothing may be read, and the same bits on all
/// that hold the same elements.
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

using pool = os::engine::workspace<Kokkos::DefaultExecutionSpace::memory_space>;

int cases = 0;
int without_workspace = 0;
bool seen[16] = {};  // kinds of steps that the results have gone through

template <class T>
void spoil(T const& tensor) {
  if constexpr (!std::is_integral_v<typename T::value_type>)
    Kokkos::deep_copy(tensor.local(), typename T::value_type(std::nanf("")));
}

// Reduce-scatters add incoming parts in pieces beside the workspace: two for each other device, none longer than a
// block.
std::int64_t pieces(os::planner::einsum_plan const& plan, os::planner::extents const& e) {
  std::int64_t most = 0;
  for (os::planner::planned_step const& s : plan.steps)
    if (s.kind == os::step::reduce_scatter)
      most = std::max(most, 2 * (e.ways(s.axes) - 1) * os::planner::largest_block(s.to, e));
  return most;
}

template <class T>
struct factors {
  T alpha, beta;
};

template <class T>
std::vector<factors<T>> usual_factors() {
  return {{T(1), T(0)}, {T(2), T(0)}, {T(1), T(1)}, {T(-1), T(3)}, {T(0), T(2)}, {T(0), T(0)}};
}

// After `run(how)` on a tensor that held `before`, it holds alpha · product + beta · before.
template <class C, class Plan, class Run>
void check(t::test_mesh const& m, t::extents_by_letter const& e, Plan const& plan,
           t::global_tensor<typename C::value_type> const& product, Run const& run) {
  using value = typename C::value_type;
  auto const before = t::whole_numbers<value>(t::letters_in<C>(), e, 9);
  for (factors<value> const& f : usual_factors<value>()) {
    C const c = t::placed<C>(m, before);
    if (f.beta == value(0)) spoil(c);
    auto wanted = before;
    for (std::size_t i = 0; i < wanted.values.size(); ++i)
      wanted.values[i] = f.alpha * product.values[i] + f.beta * before.values[i];
    void const* const place = c.local().data();
    pool::instance().release();
    std::size_t const held = pool::instance().held_bytes();
    t::traffic const moved = t::traffic_of([&] { run(c, f); });
    auto const used = static_cast<std::int64_t>(pool::instance().held_bytes() - held);
    INFO(m.text(), t::text_of(e), "\n", os::describe(plan, t::named(e), m.sizes()));
    CAPTURE(f.alpha);
    CAPTURE(f.beta);
    CHECK(t::disagreements(m, c, wanted) == 0);
    CHECK(moved.bytes == plan.total_bytes(t::named(e), m.sizes()));
    CHECK(c.local().data() == place);
    auto const predicted = plan.workspace(t::named(e), m.sizes());
    auto const added = static_cast<std::int64_t>(sizeof(value)) * pieces(plan, plan.extents_of(t::named(e), m.sizes()));
    bool const one_move = plan.steps.size() <= 2;  // of several, the pool's blocks are longer than was asked for
    if (one_move || predicted == 0) CHECK(used <= predicted + added);
    without_workspace += predicted == 0 && used == 0 ? 1 : 0;
    ++cases;
  }
  for (os::planner::planned_step const& s : plan.steps)
    if (s.operand == os::planner::the_result) seen[static_cast<int>(s.kind)] = true;
}

template <class T, auto... Out, auto... DimsA, auto... DimsB, class Policy = os::policy<os::planner::admit::any>>
void check_into(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, dims<DimsA...>, dims<DimsB...>,
                Policy policy = {}) {
  using left = os::tensor<T, DimsA...>;
  using right = os::tensor<T, DimsB...>;
  using result = os::tensor<T, Out...>;
  using value = typename result::value_type;
  constexpr auto plan = os::plan_of<dims<Out...>, left, right, Policy>;
  auto const whole_a = t::whole_numbers<value>(t::letters_in<left>(), e, 1);
  auto const whole_b = t::whole_numbers<value>(t::letters_in<right>(), e, 2);
  auto const a = t::placed<left>(m, whole_a);
  auto const b = t::placed<right>(m, whole_b);
  check<result>(m, e, plan, t::product_by_loops(t::letters_in<result>(), whole_a, whole_b),
                [&](result const& c, factors<value> const& f) {
                  os::einsum_into(c, a, b, os::alpha = f.alpha, os::beta = f.beta, policy);
                });
}

template <class T, auto... Out, auto... DimsA>
void check_into(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, dims<DimsA...>) {
  using operand = os::tensor<T, DimsA...>;
  using result = os::tensor<T, Out...>;
  using value = typename result::value_type;
  constexpr auto plan = os::plan_of<dims<Out...>, operand>;
  auto const whole = t::whole_numbers<value>(t::letters_in<operand>(), e, 3);
  auto const a = t::placed<operand>(m, whole);
  check<result>(
      m, e, plan, t::sum_by_loops(t::letters_in<result>(), whole),
      [&](result const& c, factors<value> const& f) { os::einsum_into(c, a, os::alpha = f.alpha, os::beta = f.beta); });
}

template <class F>
void on_meshes_and_extents(F&& f) {
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) f(m, e);
  });
}

}  // namespace

TEST_CASE("two operands, every way for the result to arrive") {
  on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_into<double>(m, e, dims<I, K>{}, dims<I, J>{}, dims<J, K>{});
    check_into<double>(m, e, dims<I/X, K/Y>{}, dims<I/X, J>{}, dims<J, K/Y>{});
    check_into<double>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});                              // all-reduce
    check_into<double>(m, e, dims<I, K>{}, dims<I, J/X/Y>{}, dims<J/X/Y, K>{});  // over two axes
    check_into<double>(m, e, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{});    // reduce-scatter
    check_into<double>(m, e, dims<I, K/X>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check_into<double>(m, e, dims<I, K>{}, dims<I/X, J>{}, dims<J, K>{}, os::reduce_result);             // gather
    check_into<double>(m, e, dims<I, K>{}, dims<I, J>{}, dims<J, K/X>{}, os::reduce_result);
    check_into<double>(m, e, dims<I/X/Y, K>{}, dims<I/Y/X, J>{}, dims<J, K>{}, os::reduce_result);       // exchange
    check_into<double>(m, e, dims<I, K/X>{}, dims<I/X, J>{}, dims<J, K>{}, os::reduce_result);           // all-to-all
    check_into<double>(m, e, dims<I, K, partial(X)>{}, dims<I, J/X>{}, dims<J/X, K>{});  // nothing moves
    check_into<double>(m, e, dims<I, K, partial(X, Y)>{}, dims<I/X, J>{}, dims<J, K/Y>{});
    check_into<double>(m, e, dims<I/Y, K, partial(X)>{}, dims<I, J, partial(X)>{}, dims<J, K, partial(Y)>{});
    check_into<double>(m, e, dims<K/Y, I/X, B>{}, dims<B, I/X, J>{}, dims<B, J/X, K/Y>{});
  });
  for (os::step kind : {os::step::all_reduce, os::step::reduce_scatter, os::step::contract})
    CHECK(seen[static_cast<int>(kind)]);
  CHECK(without_workspace > 0);
}

TEST_CASE("one operand, and scalars") {
  on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_into<double>(m, e, dims<I>{}, dims<I, J/X>{});
    check_into<double>(m, e, dims<I/X>{}, dims<I, J/X>{});
    check_into<double>(m, e, dims<J, I>{}, dims<I/X, J/Y>{});
    check_into<double>(m, e, dims<J/X, I>{}, dims<I/X, J>{});
    check_into<double>(m, e, dims<I, partial(X)>{}, dims<I/X>{});       // padded with zeros
    check_into<double>(m, e, dims<I, partial(X, Y)>{}, dims<I/X>{});    // and masked
    check_into<double>(m, e, dims<I, partial(X)>{}, dims<I>{});
    check_into<double>(m, e, dims<>{}, dims<I/X, J/Y>{});
    check_into<double>(m, e, dims<>{}, dims<I/X>{}, dims<I/Y>{});
    check_into<double>(m, e, dims<partial(X)>{}, dims<I>{}, dims<I/X>{});
    check_into<double>(m, e, dims<partial(X)>{}, dims<>{}, dims<>{});
  });
}

TEST_CASE("other elements") {
  on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_into<std::int32_t>(m, e, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check_into<std::int64_t>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check_into<float>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check_into<Kokkos::complex<float>>(m, e, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check_into<Kokkos::complex<double>>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
  });
}

TEST_CASE("three operands: alpha once") {
  on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    using first = os::tensor<double, I/X, J>;
    using second = os::tensor<double, J, K/X>;
    using third = os::tensor<double, K, L>;
    using result = os::tensor<double, I, L>;
    auto const a = t::whole_numbers<double>("IJ", e, 1);
    auto const b = t::whole_numbers<double>("JK", e, 2);
    auto const c = t::whole_numbers<double>("KL", e, 3);
    first const placed_a = t::placed<first>(m, a);
    second const placed_b = t::placed<second>(m, b);
    third const placed_c = t::placed<third>(m, c);
    constexpr auto plan = os::plan_of<dims<I, L>, first, second, third>;
    check<result>(m, e, plan, t::product_by_loops("IL", t::product_by_loops("IK", a, b), c),
                  [&](result const& into, factors<double> const& f) {
                    os::einsum_into(into, placed_a, placed_b, placed_c, os::beta = f.beta, os::alpha = f.alpha);
                  });
  });
}

TEST_CASE("all that hold the same elements hold the same bits") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const odd = [](auto const& tensor, int salt) {
      auto const local = Kokkos::create_mirror_view(tensor.local());
      for (std::size_t i = 0; i < local.size(); ++i) local.data()[i] = std::sin(static_cast<double>(i) * 1.7 + salt);
      Kokkos::deep_copy(tensor.local(), local);
    };
    t::extents_by_letter const e{{'I', 5}, {'J', 41}, {'K', 7}};
    auto const a = t::placed<os::tensor<double, I, J/X/Y/Z>>(m, t::whole_numbers<double>("IJ", e, 1));
    auto const b = t::placed<os::tensor<double, J/X/Y/Z, K>>(m, t::whole_numbers<double>("JK", e, 2));
    auto const c = t::placed<os::tensor<double, I, K>>(m, t::whole_numbers<double>("IK", e, 3));
    odd(a, t::rank());
    odd(b, t::rank() + 9);
    odd(c, 4);
    os::einsum_into(c, a, b, os::alpha = 0.3, os::beta = 0.7);
    std::vector<char> mine(c.local().size() * sizeof(double));
    std::memcpy(mine.data(), t::host_block(c).data(), mine.size());
    for (std::vector<char> const& theirs : t::bytes_of_ranks(mine)) CHECK(theirs == mine);
  });
}

TEST_CASE("factors are optional, in any order, and any numbers of the elements' kind") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const one = os::zeros<double, I/X>(mesh, I = 5);
  Kokkos::deep_copy(one.local(), 1.0);
  auto const c = os::zeros<double>(mesh);
  Kokkos::deep_copy(c.local(), 100.0);
  os::einsum_into(c, one, one);
  CHECK(os::value(c) == 5);
  os::einsum_into(c, one, one, os::beta = 1);
  CHECK(os::value(c) == 10);
  os::einsum_into(c, one, one, os::beta = 1, os::alpha = 2.5f);
  CHECK(os::value(c) == 22.5);
  os::einsum_into(c, one, one, os::alpha = -1, os::reduce_result, os::beta = 2);
  CHECK(os::value(c) == 40);
  os::einsum_into(c, one, os::alpha = 3);
  CHECK(os::value(c) == 15);

  auto const z = os::zeros<std::complex<double>>(mesh);
  Kokkos::deep_copy(z.local(), Kokkos::complex<double>(1, 2));
  auto const i = os::zeros<std::complex<double>>(mesh);
  Kokkos::deep_copy(i.local(), Kokkos::complex<double>(0, 1));
  os::einsum_into(z, i, os::alpha = std::complex<float>(0, 1), os::beta = Kokkos::complex<double>(0, 1));
  CHECK(os::value(z).real() == -3);
  CHECK(os::value(z).imag() == 1);
}

TEST_CASE("what is wrong is said on all ranks before anything moves") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::zeros<double, I/X, J>(mesh, I = 1, J = 4);  // most blocks are empty
  auto const b = os::zeros<double, J, K>(mesh, J = 4, K = 4);
  auto const c = os::zeros<double, I, K>(mesh, I = 2, K = 4);
  t::traffic const moved = t::traffic_of([&] {
    CHECK_THROWS_AS(os::einsum_into(c, a, b), os::error);
    CHECK_THROWS_WITH_AS(os::einsum_into(a, a), doctest::Contains("shares memory"), os::error);
    CHECK_THROWS_WITH_AS(os::einsum_into(os::rename<J, K>(a), a, b, os::beta = 1), doctest::Contains("shares memory"),
                         os::error);
    CHECK_THROWS_AS(os::einsum_into(os::tensor<double, I, K>(), a, b), os::error);
  });
  CHECK(moved.bytes == 0);
}

TEST_CASE("many steps accumulated, one reduction") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::zeros<double, I, J/X>(mesh, I = 3, J = 10);
  auto const b = os::zeros<double, J/X, K>(mesh, J = 10, K = 4);
  Kokkos::deep_copy(a.local(), 1.0);
  Kokkos::deep_copy(b.local(), 2.0);
  auto const sum = os::zeros<double, I, K, partial(X)>(mesh, I = 3, K = 4);
  t::traffic const adding = t::traffic_of([&] {
    for (int step = 0; step < 10; ++step) os::einsum_into(sum, a, b, os::beta = 1);
  });
  CHECK(adding.bytes == 0);
  CHECK(adding.calls == 0);
  os::tensor<double, I, K> total;
  t::traffic const reducing = t::traffic_of([&] { total = os::all_reduce<X>(sum); });
  CHECK(reducing.bytes == 2 * (t::ranks() - 1) * 12 * 8);
  auto const local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), total.local());
  for (std::size_t i = 0; i < local.size(); ++i) CHECK(local.data()[i] == 200);
}
