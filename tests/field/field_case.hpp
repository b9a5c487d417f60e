// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Cases from the field: bug reports of comparable libraries, as programs of ours with the value that is right. A case
/// runs on every mesh of the ranks at hand, its operands lie under each sharding of a list, and what it gives is
/// compared with numbers that were worked out by hand:
///
///     FIELD_CASE("N1", "pytorch/pytorch#162692", "The mean over everything was the mean of the ranks' means.") {
///       auto const A = count_up("IJ", {3, 4});
///       under<matrices<double>>(A, [&](auto const& a) {
///         gives(os::mean<J>(a), {4, 5, 6, 7});
///         refuses([&] { os::take<I>(a, 3); }, "index 3 is not in [0, 3)");
///       });
///       // does not compile: partial_in_nonlinear_operation.add_number
///     }
///
/// docs/make_field_page.py reads these files: docs/field-cases.md shows the report, the symptom, the operands, and each
/// `gives`, `refuses` and `does not compile`, which names a file of tests/compile_fail.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/meshes/make_mesh.hpp>

#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace field {

namespace os = ostraka;
namespace t = os::testing;

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// The mesh that a case runs on at present.
inline t::test_mesh const* current_mesh = nullptr;

inline auto mesh() { return os::mesh<X_mesh, Y_mesh, Z_mesh>(current_mesh->handle()); }

template <class Body>
void on_every_mesh(Body const& body) {
  auto const* const before = current_mesh;  // of the case that asks again
  t::on_every_mesh([&](t::test_mesh const& m) {
    INFO(m.text());
    current_mesh = &m;
    body();
  });
  current_mesh = before;
}

// --- operands ---------------------------------------------------------------------------------------------------

/// A whole tensor on every rank: axes by their letters, extents in the same order, elements row-major.
template <class T = double>
t::global_tensor<T> numbers(std::string const& labels, std::initializer_list<std::int64_t> extents,
                            std::vector<T> values) {
  t::global_tensor<T> g{labels, {}, std::move(values)};
  auto extent = extents.begin();
  for (char l : labels) g.extents[l] = *extent++;
  REQUIRE(t::number_of_elements(labels, g.extents) == static_cast<std::int64_t>(g.values.size()));
  return g;
}

/// The same of 0, 1, 2, …
template <class T = double>
t::global_tensor<T> count_up(std::string const& labels, std::initializer_list<std::int64_t> extents) {
  std::int64_t count = 1;
  for (std::int64_t e : extents) count *= e;
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(t::whole_number<T>(i));
  return numbers<T>(labels, extents, std::move(values));
}

/// As a tensor of the library; parts of a partial one are unlike each other.
template <class Tensor>
Tensor place(t::global_tensor<typename Tensor::value_type> const& g) {
  return t::placed<Tensor>(*current_mesh, g);
}

template <class... Tensors>
struct list {};

/// Common lists of shardings: of one axis, and of two.
template <class T, auto A = I>
using vectors = list<os::tensor<T, A>, os::tensor<T, A/X>, os::tensor<T, A/Y>, os::tensor<T, A/X/Y>,
                     os::tensor<T, A/Y/X>>;
template <class T, auto A = I, auto C = J>
using matrices =
    list<os::tensor<T, A, C>, os::tensor<T, A/X, C>, os::tensor<T, A, C/X>, os::tensor<T, A/Y, C/X>,
         os::tensor<T, A/X, C/Y>, os::tensor<T, A/X/Y, C>, os::tensor<T, A, C/Y/X>>;
template <class T, auto A = I, auto C = J>
using summands = list<os::tensor<T, A, C, os::partial(X)>, os::tensor<T, A/X, C, os::partial(Y)>,
                      os::tensor<T, A, C, os::partial(X, Y)>>;

/// Shorter ones, for operands that meet each other in all pairs.
template <class T, auto A = I>
using few_vectors = list<os::tensor<T, A>, os::tensor<T, A/X>, os::tensor<T, A/Y/X>>;
template <class T, auto A = I, auto C = J>
using few_matrices = list<os::tensor<T, A, C>, os::tensor<T, A/X, C>, os::tensor<T, A, C/X>,
                          os::tensor<T, A/Y, C/X>, os::tensor<T, A/X/Y, C>>;

namespace detail {

template <class... Tensors, class T, class F>
void under(list<Tensors...>, t::global_tensor<T> const& g, F const& f) {
  (f(place<Tensors>(g)), ...);
}
template <class... As, class Bs, class A, class B, class F>
void under(list<As...>, Bs, t::global_tensor<A> const& a, t::global_tensor<B> const& b, F const& f) {
  auto const with = [&](auto const& left) { under(Bs{}, b, [&](auto const& right) { f(left, right); }); };
  (with(place<As>(a)), ...);
}

}  // namespace detail

/// f(a) under each sharding of the list; f(a, b) under each pair of two lists.
template <class Tensors, class T, class F>
void under(t::global_tensor<T> const& g, F const& f) {
  detail::under(Tensors{}, g, f);
}
template <class As, class Bs, class A, class B, class F>
void under(t::global_tensor<A> const& a, t::global_tensor<B> const& b, F const& f) {
  detail::under(As{}, Bs{}, a, b, f);
}

// --- results ----------------------------------------------------------------------------------------------------

/// The right result of a case: a number, or all elements row-major.
template <class T>
struct expected {
  std::vector<T> values;

  template <class N>
    requires std::is_arithmetic_v<N> expected(N v) : values{element(static_cast<double>(v))} {}
    expected(std::initializer_list<double> all) {
      for (double v : all) values.push_back(element(v));
    }
    template <class V = T>
      requires(!std::is_arithmetic_v<V>)
    expected(std::initializer_list<V> all) : values(all) {}
    expected(std::vector<T> all) : values(std::move(all)) {}

    static T element(double v) {
      if constexpr (std::is_arithmetic_v<T>)
        return static_cast<T>(v);
      else
        return T(static_cast<float>(v));
    }
};

/// By a result's elements; truth values count as 0 and 1.
template <class T>
using expected_of = expected<std::conditional_t<std::is_same_v<T, bool>, std::int32_t, T>>;

namespace detail {

// Equal but for the digits after the tenth, to which the values of cases are given; NaN is NaN, ∞ is ∞.
template <class T>
bool same(T const& got, T const& want) {
  if constexpr (std::is_integral_v<T>) {
    return got == want;
  } else if constexpr (requires { got.imag(); }) {
    return same(static_cast<double>(got.real()), static_cast<double>(want.real())) &&
           same(static_cast<double>(got.imag()), static_cast<double>(want.imag()));
  } else {
    auto const g = static_cast<double>(static_cast<float>(got)), w = static_cast<double>(static_cast<float>(want));
    if constexpr (std::is_same_v<T, double>)
      return got == want || (std::isnan(got) && std::isnan(want)) ||
             std::abs(got - want) <= 1e-9 * (1 + std::abs(want));
    else
      return g == w || (std::isnan(g) && std::isnan(w)) ||
             (sizeof(T) == 4 && std::abs(g - w) <= 1e-6 * (1 + std::abs(w)));
  }
}

template <class... As, class Tensor>
t::extents_by_letter extents_of(os::type_list<As...>, Tensor const& a) {
  t::extents_by_letter e;
  std::size_t d = 0;
  ((e[As::name[0]] = a.extents()[d++]), ...);
  return e;
}

}  // namespace detail

/// The tensor has these elements, each on all devices that hold it, and these extents if they are given.
template <class Tensor>
void gives(Tensor const& got, expected_of<typename Tensor::value_type> const& want,
           std::initializer_list<std::int64_t> extents = {},
           std::source_location const at = std::source_location::current()) {
  using value = typename Tensor::value_type;
  if constexpr (std::is_same_v<value, bool>) {
    gives(os::cast<std::int32_t>(got), want, extents, at);
  } else {
    INFO(std::string(at.file_name()), ":", at.line(), ": ", os::describe(got));
    t::global_tensor<value> g{t::letters_in<Tensor>(), detail::extents_of(os::axes_in<Tensor>{}, got), want.values};
    if (extents.size() > 0) {
      std::vector<std::int64_t> wanted(extents), of_result;
      for (char l : g.labels) of_result.push_back(g.extents.at(l));
      CHECK(of_result == wanted);
    }
    auto const count = t::number_of_elements(g.labels, g.extents);
    CHECK(count == static_cast<std::int64_t>(g.values.size()));
    if (count == static_cast<std::int64_t>(g.values.size()))
      CHECK(t::disagreements(*current_mesh, got, g,
                             [](value const& a, value const& b) { return detail::same(a, b); }) == 0);
  }
}
inline void gives(double got, double want, std::source_location const at = std::source_location::current()) {
  INFO(std::string(at.file_name()), ":", at.line(), ": ", got);
  CHECK(detail::same(got, want));
}

/// It is an os::error, alike on all ranks, whose text has this in it.
template <class F>
void refuses(F const& f, std::string_view sentence, std::source_location const at = std::source_location::current()) {
  INFO(std::string(at.file_name()), ":", at.line());
  std::string const said = t::said_alike(f);
  INFO(said);
  CHECK(said.find(sentence) != std::string::npos);
}

}  // namespace field

#define FIELD_JOINED(a, b) a##b
#define FIELD_NAME(line) FIELD_JOINED(field_case_, line)

/// A case by its letter and number, where it was reported (or "none"), and what went wrong there.
#define FIELD_CASE(id, report, symptom)                                                 \
  static void FIELD_NAME(__LINE__)();                                                   \
  TEST_CASE(id " " report ": " symptom) { field::on_every_mesh(FIELD_NAME(__LINE__)); } \
  static void FIELD_NAME(__LINE__)()
