// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6 8
// sham:
// timeout: 300

/// @file
/// os::reshard, os::reshard_into and os::start_reshard to shardings that name the axes in another order: [I_X, J] →
/// [J_X, I]. The elements are compared with the whole tensor, by its global indices, and the bytes with the plan's.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>

#include <ostraka/local_view.hpp>

#include "support/on_meshes.hpp"
#include "support/transport_limits.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

template <class T, auto... DimsFrom, auto... DimsTo>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<DimsFrom...>, dims<DimsTo...>) {
  using from = os::tensor<T, DimsFrom...>;
  using to = os::tensor<T, DimsTo...>;
  auto const whole = t::whole_numbers<T>(t::letters_in<from>(), e, 9);
  auto const source = t::placed<from>(m, whole);
  to target;
  t::traffic const moved = t::traffic_of([&] { target = os::reshard<DimsTo...>(source); });
  INFO(m.text(), t::text_of(e), os::describe(source), " to ", os::describe(target));
  CHECK(t::disagreements(m, target, whole) == 0);
  CHECK(t::disagreements(m, source, whole) == 0);
  CHECK(moved.bytes == os::reshard_plan<DimsTo...>(source).total_bytes(t::named(e), m.sizes()));
  CHECK(static_cast<void const*>(source.local().data()) != static_cast<void const*>(target.local().data()));

  auto const back = os::reshard<DimsFrom...>(target);
  static_assert(std::is_same_v<std::remove_const_t<decltype(back)>, from>);
  CHECK(t::disagreements(m, back, whole) == 0);

  to const existing = t::placed<to>(m, t::whole_numbers<T>(t::letters_in<to>(), e, 3));
  os::reshard_into(existing, source);
  CHECK(t::disagreements(m, existing, whole) == 0);

  auto begun = os::start_reshard<DimsTo...>(source);
  CHECK(t::disagreements(m, std::move(begun).wait(), whole) == 0);

  CHECK(t::disagreements(m, os::reshard<DimsTo...>(source, os::within(1 << 20)), whole) == 0);
}

template <class T>
void check_two(t::test_mesh const& m, t::extents_by_letter const& e) {
  check<T>(m, e, dims<I, J>{}, dims<J, I>{});
  check<T>(m, e, dims<I/X, J>{}, dims<J, I/X>{});
  check<T>(m, e, dims<I/X, J>{}, dims<J/X, I>{});
  check<T>(m, e, dims<I/X, J>{}, dims<J, I>{});
  check<T>(m, e, dims<I, J/X>{}, dims<J, I>{});
  check<T>(m, e, dims<I, J>{}, dims<J/X, I>{});
}

template <class T>
void check_more(t::test_mesh const& m, t::extents_by_letter const& e) {
  check<T>(m, e, dims<I/X, J/Y>{}, dims<J/X, I/Y>{});
  check<T>(m, e, dims<I/X/Y, J>{}, dims<J/Y, I/X>{});
  check<T>(m, e, dims<I/X, J, K/Y>{}, dims<K/X, I, J/Y>{});
  check<T>(m, e, dims<I/Y/X, J/Z>{}, dims<J, I/X>{});
  check<T>(m, e, dims<I, J, partial(X)>{}, dims<J, I>{});
  check<T>(m, e, dims<I, J, partial(X)>{}, dims<J/X, I>{});
  check<T>(m, e, dims<I/Y, J, partial(X)>{}, dims<J/X/Y, I>{});
  check<T>(m, e, dims<I/X, J>{}, dims<J, I, partial(X)>{});
  check<T>(m, e, dims<I, J>{}, dims<J/Y, I, partial(X)>{});
}

}  // namespace

TEST_CASE("all small extents") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t i = 0; i <= 3; ++i)
      for (std::int64_t j = 0; j <= 3; ++j) check_two<double>(m, {{'B', 1}, {'I', i}, {'J', j}, {'K', 1}, {'L', 1}});
  });
}

TEST_CASE("several mesh axes, swapped, replicated and partial") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) check_more<double>(m, e);
  });
}

TEST_CASE("with blocks that MPI takes from where they lie") {
  t::blocks_in_place const limits;
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) check_two<double>(m, e), check_more<double>(m, e);
  });
}

TEST_CASE("in rounds of one or two elements to each") {
  for (std::int64_t elements : {1, 2}) {
    t::short_rounds const limits(elements * static_cast<std::int64_t>(sizeof(double)));
    t::on_every_mesh([](t::test_mesh const& m) {
      for (t::extents_by_letter const& e : t::usual_extents()) check_two<double>(m, e), check_more<double>(m, e);
      for (std::int64_t i = 0; i <= 3; ++i)
        for (std::int64_t j = 0; j <= 3; ++j) check_two<double>(m, {{'B', 1}, {'I', i}, {'J', j}, {'K', 1}, {'L', 1}});
    });
  }
}

TEST_CASE("narrow and complex elements") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check_two<os::bfloat16>(m, e);
      check_two<std::int8_t>(m, e);
      check_two<Kokkos::complex<double>>(m, e);
      check_two<std::int64_t>(m, e);
    }
  });
}

TEST_CASE("five axes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<float>(m, e, dims<B/X, I, J/Y, K, L/Z>{}, dims<L, K/Z, B, J/X, I/Y>{});
      check<float>(m, e, dims<B, I, J/X, K, L>{}, dims<B, I/X, L, J, K>{});
    }
  });
}

TEST_CASE("in a body, and into an array of the program's own") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const whole = t::whole_numbers<double>("IJ", e, 5);
      auto const a = t::placed<os::tensor<double, I/X, J/Y>>(m, whole);
      INFO(m.text(), t::text_of(e));
      auto const b = os::shard_map<os::manual(X), J, I/X>([](auto x) { return os::reshard<J, I>(x); }, a);
      CHECK(t::disagreements(m, b, whole) == 0);
      auto const c = os::shard_map<os::manual(X), J/Y, I/X>([](auto x) { return os::reshard<J/Y, I>(x); }, a);
      CHECK(t::disagreements(m, c, whole) == 0);

      os::tensor<double, J/X, I> const wanted = os::reshard<J/X, I>(a);
      Kokkos::View<double**, Kokkos::LayoutLeft> const left("left", wanted.local().extent(0), wanted.local().extent(1));
      os::reshard_into<J/X, I>(left, a);
      auto const got = os::engine::on_host(left);
      auto const block = t::host_block(wanted);
      int wrong = 0;
      for (std::size_t j = 0; j < got.extent(0); ++j)
        for (std::size_t i = 0; i < got.extent(1); ++i) wrong += got(j, i) == block(j, i) ? 0 : 1;
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("within a workspace") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e = {{'B', 1}, {'I', 24}, {'J', 12}, {'K', 1}, {'L', 1}};
    auto const whole = t::whole_numbers<double>("IJ", e, 4);
    auto const source = t::placed<os::tensor<double, I/X, J>>(m, whole);
    std::int64_t const enough = os::reshard_plan<J/X, I>(source).workspace(t::named(e), m.sizes());
    for (std::int64_t limit : {enough, enough * 3 / 4, enough / 2}) {
      os::tensor<double, J/X, I> b;
      try {
        b = os::reshard<J/X, I>(source, os::within(limit));
      } catch (os::error const&) {
        CHECK(limit < enough);
        continue;
      }
      CHECK(t::disagreements(m, b, whole) == 0);
    }
  });
}

TEST_CASE("the plan says when the order changes") {
  auto const text = [](auto const& plan) { return os::describe(plan, I = 4, J = 6, X = 2); };
  using rows = os::tensor<double, I/X, J>;
  using columns = os::tensor<double, I, J/X>;
  std::string const exchange = text(os::reshard_plan_of<dims<J/X, I>, rows>);
  CHECK(exchange.find("all_to_all<X>        A[I_X, J] → B[J_X, I]") != std::string::npos);
  CHECK(exchange.find("48 B, transposed when packed") != std::string::npos);
  CHECK(text(os::reshard_plan_of<dims<J, I>, columns>).find(", transposed when packed") != std::string::npos);
  using summands = os::tensor<double, I, J, partial(X)>;
  CHECK(text(os::reshard_plan_of<dims<J, I/X>, summands>).find(", transposed on arrival") != std::string::npos);
  CHECK(text(os::reshard_plan_of<dims<J, I/X>, rows>).find("transpose            A[I_X, J] → B[J, I_X]") !=
        std::string::npos);
  CHECK(text(os::reshard_plan_of<dims<J, I/X>, os::tensor<double, I, J>>).find(" transposed\n") != std::string::npos);
}
