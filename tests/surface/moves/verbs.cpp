// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The verbs that are one move: the sharding of the result, one step of that kind in the plan, the elements, and the
/// bytes by the textbook's formula, with n devices along the mesh axes and |T| the bytes as divided by the others.
/// A[I_X, J] → A[I, J]: (n−1)/n · |T|.
// labels: essential
// gpu: 4

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

// Runs a verb on every mesh; `bytes(m, e)` is the formula, for all devices together.
template <class T, auto... DimsFrom, auto... DimsTo, class Verb, class Bytes>
void check_verb(dims<DimsFrom...>, dims<DimsTo...>, os::step kind, Verb verb, Bytes bytes) {
  using from = os::tensor<T, DimsFrom...>;
  using to = os::tensor<T, DimsTo...>;
  static_assert(std::is_same_v<decltype(verb(from())), to>);
  t::on_every_mesh([&](t::test_mesh const& m) {
    // A multiple of every product of mesh axes, so that the formula is exact; and uneven ones for the elements.
    for (t::extents_by_letter const& e :
         {t::extents_by_letter{{'I', 24}, {'J', 48}}, {{'I', 7}, {'J', 5}}, {{'I', 1}, {'J', 0}}}) {
      auto const whole = t::whole_numbers<T>("IJ", e, 9);
      auto const a = t::placed<from>(m, whole);
      to b;
      t::traffic const moved = t::traffic_of([&] { b = verb(a); });
      to const same = os::reshard<DimsTo...>(a);
      INFO(m.text(), os::describe(a), " to ", os::describe(b));
      CHECK(t::disagreements(m, b, whole) == 0);
      CHECK(t::disagreements(m, same, whole) == 0);
      if (e.at('I') == 24) CHECK(moved.bytes == bytes(m) * static_cast<std::int64_t>(sizeof(T)));
      if (!os::communicates(kind)) CHECK(moved.calls == 0);
    }
  });
}

constexpr std::int64_t elements = 24 * 48;

std::int64_t devices(t::test_mesh const& m) { return m.size("X") * m.size("Y") * m.size("Z"); }

}  // namespace

TEST_CASE("all_gather") {
  auto const over_x = [](auto const& a) { return os::all_gather<X>(a); };
  check_verb<float>(dims<I/X, J>{}, dims<I, J>{}, os::step::all_gather, over_x,
                    [](t::test_mesh const& m) { return devices(m) / m.size("X") * (m.size("X") - 1) * elements; });
  check_verb<double>(dims<I/Y, J/X>{}, dims<I/Y, J>{}, os::step::all_gather, over_x, [](t::test_mesh const& m) {
    return devices(m) / m.size("X") * (m.size("X") - 1) * elements / m.size("Y");
  });
  check_verb<float>(dims<I, J/Y/X>{}, dims<I, J/Y>{}, os::step::all_gather, over_x, [](t::test_mesh const& m) {
    return devices(m) / m.size("X") * (m.size("X") - 1) * elements / m.size("Y");
  });
  check_verb<std::int64_t>(
      dims<I, J/X/Y>{}, dims<I, J>{}, os::step::all_gather, [](auto const& a) { return os::all_gather<X, Y>(a); },
      [](t::test_mesh const& m) { return m.size("Z") * (m.size("X") * m.size("Y") - 1) * elements; });
  check_verb<float>(
      dims<I/X, J/Y>{}, dims<I, J>{}, os::step::all_gather, [](auto const& a) { return os::all_gather<Y, X>(a); },
      [](t::test_mesh const& m) { return m.size("Z") * (m.size("X") * m.size("Y") - 1) * elements; });
  check_verb<float>(dims<I/X, J, partial(Y)>{}, dims<I, J, partial(Y)>{}, os::step::all_gather, over_x,
                    [](t::test_mesh const& m) { return devices(m) / m.size("X") * (m.size("X") - 1) * elements; });
}

TEST_CASE("all_reduce") {
  check_verb<float>(
      dims<I, J, partial(X)>{}, dims<I, J>{}, os::step::all_reduce, [](auto const& a) { return os::all_reduce<X>(a); },
      [](t::test_mesh const& m) { return devices(m) / m.size("X") * 2 * (m.size("X") - 1) * elements; });
  check_verb<Kokkos::complex<double>>(
      dims<I, J, partial(X, Y)>{}, dims<I, J>{}, os::step::all_reduce,
      [](auto const& a) { return os::all_reduce<X, Y>(a); },
      [](t::test_mesh const& m) { return m.size("Z") * 2 * (m.size("X") * m.size("Y") - 1) * elements; });
  check_verb<std::int32_t>(
      dims<I/Y, J, partial(X)>{}, dims<I/Y, J>{}, os::step::all_reduce,
      [](auto const& a) { return os::all_reduce<X>(a); },
      [](t::test_mesh const& m) { return devices(m) / m.size("X") * 2 * (m.size("X") - 1) * elements / m.size("Y"); });
}

TEST_CASE("reduce_scatter") {
  check_verb<float>(
      dims<I, J, partial(X)>{}, dims<I/X, J>{}, os::step::reduce_scatter,
      [](auto const& a) { return os::reduce_scatter<I/X>(a); },
      [](t::test_mesh const& m) { return devices(m) / m.size("X") * (m.size("X") - 1) * elements; });
  check_verb<double>(
      dims<I, J/Y, partial(X)>{}, dims<I, J/Y/X>{}, os::step::reduce_scatter,
      [](auto const& a) { return os::reduce_scatter<J/X>(a); },
      [](t::test_mesh const& m) { return devices(m) / m.size("X") * (m.size("X") - 1) * elements / m.size("Y"); });
  check_verb<std::int64_t>(
      dims<I, J, partial(X, Y)>{}, dims<I, J/Y/X>{}, os::step::reduce_scatter,
      [](auto const& a) { return os::reduce_scatter<J/Y/X>(a); },
      [](t::test_mesh const& m) { return m.size("Z") * (m.size("X") * m.size("Y") - 1) * elements; });
  check_verb<float>(
      dims<I, J, partial(X, Y)>{}, dims<I/Y, J, partial(X)>{}, os::step::reduce_scatter,
      [](auto const& a) { return os::reduce_scatter<I/Y>(a); },
      [](t::test_mesh const& m) { return devices(m) / m.size("Y") * (m.size("Y") - 1) * elements; });
}

TEST_CASE("all_to_all") {
  check_verb<float>(
      dims<I/X, J>{}, dims<I, J/X>{}, os::step::all_to_all, [](auto const& a) { return os::all_to_all<J/X>(a); },
      [](t::test_mesh const& m) {
        return devices(m) / m.size("X") * (m.size("X") - 1) * elements /
               m.size("X");  // (n−1)/n² · |T| on each of n devices
      });
  check_verb<double>(
      dims<I/Y/X, J>{}, dims<I/Y, J/X>{}, os::step::all_to_all, [](auto const& a) { return os::all_to_all<J/X>(a); },
      [](t::test_mesh const& m) {
        return devices(m) / m.size("X") * (m.size("X") - 1) * elements / m.size("X") / m.size("Y");
      });
  check_verb<std::int32_t>(
      dims<I/X/Y, J>{}, dims<I, J/X/Y>{}, os::step::all_to_all, [](auto const& a) { return os::all_to_all<J/X/Y>(a); },
      [](t::test_mesh const& m) {
        std::int64_t const n = m.size("X") * m.size("Y");
        return m.size("Z") * (n - 1) * elements / n;
      });
}

TEST_CASE("slice") {
  auto const nothing = [](t::test_mesh const&) { return std::int64_t(0); };
  check_verb<float>(
      dims<I, J>{}, dims<I/X, J>{}, os::step::slice, [](auto const& a) { return os::slice<I/X>(a); }, nothing);
  check_verb<Kokkos::complex<float>>(
      dims<I, J/Y>{}, dims<I, J/Y/X>{}, os::step::slice, [](auto const& a) { return os::slice<J/X>(a); }, nothing);
  check_verb<float>(
      dims<I, J>{}, dims<I/Y/X, J>{}, os::step::slice, [](auto const& a) { return os::slice<I/Y/X>(a); }, nothing);
  check_verb<float>(
      dims<I, J, partial(Y)>{}, dims<I/X, J, partial(Y)>{}, os::step::slice,
      [](auto const& a) { return os::slice<I/X>(a); }, nothing);
}
