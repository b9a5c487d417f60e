// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::relabel against plain loops: diagonals and traces of every division of the axes that meet, with labels of their
/// own beside them, times other tensors, of partial tensors; the bytes against the plan's, which are those of the
/// diagonal, and the copied bytes.
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;
using os::sharding_in;
using os::sharding_of;

OSTRAKA_AXIS(three, 3);

namespace {

using pool = os::engine::workspace<Kokkos::DefaultExecutionSpace::memory_space>;

int cases = 0;

// The axes of these tensors all have the extent of I, B too, so that any two of them can meet.
std::vector<t::extents_by_letter> square_extents() {
  std::vector<t::extents_by_letter> all;
  for (std::int64_t n : {8, 7, 1, 0, 5})
    all.push_back({{'B', n}, {'I', n}, {'J', n}, {'K', n}, {'L', 3}});
  return all;
}

// A whole tensor under other labels: the elements whose indices agree.
template <class T>
t::global_tensor<T> relabelled_whole(std::string const& labels, t::global_tensor<T> const& a) {
  std::string distinct;
  for (char l : labels)
    if (distinct.find(l) == std::string::npos) distinct += l;
  t::global_tensor<T> d{distinct, a.extents, {}};
  t::for_each_index(distinct, a.extents, [&](t::extents_by_letter const& at) {
    t::extents_by_letter index = at;
    for (std::size_t p = 0; p < labels.size(); ++p) index[a.labels[p]] = at.at(labels[p]);
    d.values.push_back(a.values[a.position(index)]);
  });
  return d;
}

template <auto... Labels>
struct labels {
  static std::string letters() {
    return (std::string() + ... + std::string(std::remove_cvref_t<decltype(Labels)>::name));
  }
};

// C = the diagonal, reduced to the labels of C.
template <auto... Out, auto... Labels, auto... Dims>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, labels<Labels...> names, dims<Dims...>) {
  using operand = os::tensor<std::int64_t, Dims...>;
  using result = os::tensor<std::int64_t, Out...>;
  auto const whole = t::whole_numbers<std::int64_t>(t::letters_in<operand>(), e, 5);
  auto const a = t::placed<operand>(m, whole);
  auto const d = os::relabel<Labels...>(a);
  constexpr auto plan = os::plan_of<dims<Out...>, decltype(d)>;
  result c;
  t::traffic const moved = t::traffic_of([&] { c = os::einsum<Out...>(d); });
  INFO(m.text(), t::text_of(e), "\n", os::describe(plan, d, m.sizes()));
  auto const wanted = t::sum_by_loops(t::letters_in<result>(), relabelled_whole(names.letters(), whole));
  CHECK(t::disagreements(m, c, wanted) == 0);
  CHECK(moved.bytes == plan.total_bytes(d, m.sizes()));

  auto const before = t::whole_numbers<std::int64_t>(t::letters_in<result>(), e, 6);
  auto const into = t::placed<result>(m, before);
  os::einsum_into(into, d, os::alpha = -2, os::beta = 3);
  auto twice = before;
  for (std::size_t i = 0; i < twice.values.size(); ++i) twice.values[i] = 3 * before.values[i] - 2 * wanted.values[i];
  CHECK(t::disagreements(m, into, twice) == 0);
  ++cases;
}

// C = the diagonal times B.
template <auto... Out, auto... Labels, auto... DimsA, auto... DimsB>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, labels<Labels...> names, dims<DimsA...>,
           dims<DimsB...>) {
  using left = os::tensor<std::int64_t, DimsA...>;
  using right = os::tensor<std::int64_t, DimsB...>;
  using result = os::tensor<std::int64_t, Out...>;
  auto const whole_a = t::whole_numbers<std::int64_t>(t::letters_in<left>(), e, 7);
  auto const whole_b = t::whole_numbers<std::int64_t>(t::letters_in<right>(), e, 8);
  auto const a = t::placed<left>(m, whole_a);
  auto const b = t::placed<right>(m, whole_b);
  auto const d = os::relabel<Labels...>(a);
  constexpr auto plan = os::plan_of<dims<Out...>, decltype(d), right>;
  result c;
  t::traffic const moved = t::traffic_of([&] { c = os::einsum<Out...>(d, b); });
  INFO(m.text(), t::text_of(e), "\n", os::describe(plan, d, b, m.sizes()));
  auto const wanted = t::product_by_loops(t::letters_in<result>(), relabelled_whole(names.letters(), whole_a), whole_b);
  CHECK(t::disagreements(m, c, wanted) == 0);
  CHECK(moved.bytes == plan.total_bytes(d, b, m.sizes()));
  t::traffic const moved_other_way_round = t::traffic_of([&] { c = os::einsum<Out...>(b, d); });
  CHECK(t::disagreements(m, c, wanted) == 0);
  CHECK(moved_other_way_round.bytes == os::plan_of<dims<Out...>, right, decltype(d)>.total_bytes(b, d, m.sizes()));
  ++cases;
}

template <class F>
void on_meshes_and_extents(F&& f) {
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : square_extents()) f(m, e);
  });
}

template <class Relabelled, class Sharding>
constexpr bool seen_as = std::is_same_v<sharding_in<Relabelled>, Sharding>;

template <auto... Dims>
using number_tensor = os::tensor<double, Dims...>;

}  // namespace

// The planner's view of the tensor.
static_assert(seen_as<os::relabelled<number_tensor<I, J>, I_axis, I_axis>, sharding_of<I>>);
static_assert(seen_as<os::relabelled<number_tensor<I/X, J>, I_axis, I_axis>, sharding_of<I/X>>);
static_assert(seen_as<os::relabelled<number_tensor<I, J/X>, I_axis, I_axis>, sharding_of<I/X>>);
static_assert(seen_as<os::relabelled<number_tensor<I/X, J/Y>, I_axis, I_axis>, sharding_of<I/X, partial(Y)>>);
static_assert(seen_as<os::relabelled<number_tensor<I/X/Y, J/Z>, K_axis, K_axis>, sharding_of<K/X/Y, partial(Z)>>);
static_assert(seen_as<os::relabelled<number_tensor<I, J/Z, K/X, partial(Y)>, L_axis, L_axis, L_axis>,
                      sharding_of<L/Z, partial(X, Y)>>);
static_assert(
    seen_as<os::relabelled<number_tensor<I/X, B, J/Y>, I_axis, B_axis, I_axis>, sharding_of<I/X, B, partial(Y)>>);
static_assert(seen_as<os::relabelled<number_tensor<I/X, J/Y>, J_axis, I_axis>, sharding_of<J/X, I/Y>>);

TEST_CASE("diagonals") {
  on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check(m, e, dims<I>{}, labels<I, I>{}, dims<I, J>{});
    check(m, e, dims<I/X>{}, labels<I, I>{}, dims<I/X, J>{});
    check(m, e, dims<I/X>{}, labels<I, I>{}, dims<I, J/X>{});
    check(m, e, dims<I/X>{}, labels<I, I>{}, dims<I/X, J/Y>{});
    check(m, e, dims<I/X, partial(Y)>{}, labels<I, I>{}, dims<I/X, J/Y>{});  // as it is
    check(m, e, dims<I/X/Y>{}, labels<I, I>{}, dims<I/X, J/Y>{});
    check(m, e, dims<I/Y>{}, labels<I, I>{}, dims<I/X, J/Y>{});
    check(m, e, dims<I>{}, labels<I, I>{}, dims<I/X, J/Y>{});
    check(m, e, dims<I>{}, labels<I, I>{}, dims<I/X/Y, J/Z>{});
    check(m, e, dims<I/Z>{}, labels<I, I>{}, dims<I, J/Y/X, partial(Z)>{});
    check(m, e, dims<L>{}, labels<I, I, L>{}, dims<I/X, J/Y, L>{});
    check(m, e, dims<B/Y, I/X>{}, labels<I, B, I>{}, dims<I/X, B, J/Y>{});
    check(m, e, dims<I>{}, labels<I, I, I>{}, dims<I/X, J/Y, K/Z>{});        // three at once
    check(m, e, dims<J/X, I>{}, labels<I, J, I>{}, dims<I, J/X, K>{});
  });
  CHECK(cases > 0);
}

TEST_CASE("traces") {
  on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check(m, e, dims<>{}, labels<I, I>{}, dims<I, J>{});
    check(m, e, dims<>{}, labels<I, I>{}, dims<I/X, J/Y>{});
    check(m, e, dims<>{}, labels<I, I>{}, dims<I/X, J, partial(Y)>{});
    check(m, e, dims<partial(X, Y)>{}, labels<I, I>{}, dims<I/X, J/Y>{});    // nothing moves
    check(m, e, dims<>{}, labels<I, I, J, J>{}, dims<I/X, J/Y, K/Z, B>{});
    check(m, e, dims<L/Y>{}, labels<I, I, L>{}, dims<I/X, J, L>{});
  });
}

TEST_CASE("new names alone") {
  on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check(m, e, dims<J/X, K/Y>{}, labels<J, K>{}, dims<I/X, J/Y>{});
    check(m, e, dims<J, I>{}, labels<J, I>{}, dims<I/X, J>{});  // a transpose of the names
    check(m, e, dims<>{}, labels<>{}, dims<>{});
  });
}

TEST_CASE("times another tensor") {
  on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check(m, e, dims<I/X, K/Y>{}, labels<I, I>{}, dims<I/X, J/Y>{}, dims<I/X, K/Y>{});  // rows scaled
    check(m, e, dims<K>{}, labels<I, I>{}, dims<I, J>{}, dims<I, K>{});
    check(m, e, dims<K/X>{}, labels<I, I>{}, dims<I/X, J/Y>{}, dims<I, K>{});
    check(m, e, dims<>{}, labels<I, I>{}, dims<I, J/X>{}, dims<I/Y>{});
    check(m, e, dims<I, L/X>{}, labels<I, I, K>{}, dims<I, J/Y, K/X>{}, dims<K/X, L>{});
  });
}

TEST_CASE("only the diagonal is copied, only where a block lacks some of it, and the plan knows") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 1}, {'I', 48}, {'J', 48}, {'K', 1}, {'L', 1}};
    auto const whole = t::whole_numbers<double>("IJ", e, 1);
    auto const held_by = [&](auto const& a) {
      auto const d = os::relabel<I, I>(a);
      pool::instance().release();
      auto const before = pool::instance().held_bytes();
      auto const c = os::einsum<I/X, partial(Y)>(d);
      auto const held = static_cast<std::int64_t>(pool::instance().held_bytes() - before);
      CHECK(held <= os::plan_of<dims<I/X, partial(Y)>, decltype(d)>.workspace(t::named(e), m.sizes()));
      return held;
    };
    CHECK(held_by(t::placed<os::tensor<double, I/X, J, partial(Y)>>(m, whole)) == 0);
    std::int64_t const rows = t::block_on<os::tensor<double, I/X>>(m, e, t::rank())[0].end -
                              t::block_on<os::tensor<double, I/X>>(m, e, t::rank())[0].begin;
    std::int64_t const copied = held_by(t::placed<os::tensor<double, I/X, J/Y>>(m, whole));
    CHECK(copied <= 8 * rows);
    if (m.size("Y") == 1) CHECK(copied == 0);
  });
}

TEST_CASE("sum, max, mean and value take it") {
  auto const mesh = os::make_mesh(X = t::ranks(), Y = 1);
  auto const a = os::zeros<double, I, J/X>(mesh, I = 6, J = 6);
  Kokkos::deep_copy(a.local(), 2.0);
  auto const d = os::relabel<K, K>(a);
  CHECK(os::value(os::sum<>(d)) == 12);
  CHECK(os::value(os::max<>(d)) == 2);
  CHECK(os::value(os::mean<>(d)) == 2);
  CHECK(os::value(os::einsum<>(d, d)) == 24);
  CHECK(d.extent(K) == 6);
}

TEST_CASE("axes under one label have one extent") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::zeros<double, I, J/X>(mesh, I = 6, J = 5);
  CHECK_THROWS_WITH_AS(static_cast<void>(os::relabel<K, K>(a)), doctest::Contains("K is 6, and J is 5"), os::error);
  CHECK_THROWS_WITH_AS(static_cast<void>(os::relabel<three, K>(a)), doctest::Contains("three is 3, and I is 6"),
                       os::error);
  using unset = std::remove_const_t<decltype(a)>;
  CHECK_THROWS_AS(static_cast<void>(os::einsum<>(os::relabel<K, K>(unset()))), os::error);
}
