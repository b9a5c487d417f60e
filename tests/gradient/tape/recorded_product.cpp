// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Products of two tensors, which one function records for all shardings, and those that it does not record: gradients
/// by each factor and by both, against plain loops, in regions too.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class T>
using of = os::variable<T>;

template <class Out, class... Given>
inline constexpr bool is_shared =
    os::detail::is_shared_product<typename os::detail::dims_types<Out>::sharding_type, Given...>;

using rows = os::tensor<double, I/X, J>;
using columns = os::tensor<double, J, K/Y>;
using summands = os::tensor<double, J/X, K>;

// Products that divide, reduce or gather, of one variable or two.
static_assert(is_shared<os::dims<I/X, K/Y>, of<rows>, of<columns>>);
static_assert(is_shared<os::dims<I/X, K>, of<rows>, summands>);
static_assert(is_shared<os::dims<I, K/X>, rows, of<summands>>);
static_assert(is_shared<os::dims<I, K, os::partial(X)>, of<os::tensor<double, I, J/X>>, of<summands>>);
static_assert(is_shared<os::dims<I/X, K>, of<rows>, of<summands>, std::remove_cvref_t<decltype(os::gather_right)>>);
static_assert(is_shared<os::dims<I/X, K>, of<rows>, os::tensor<double const, J, K>>);
// One of its cotangents is broadcast, its workspace is limited, it has three factors, or another derivative is taken.
static_assert(!is_shared<os::dims<I/X>, of<rows>, of<columns>>);
static_assert(!is_shared<os::dims<I/X, K>, of<rows>, of<summands>, decltype(os::within(1))>);
static_assert(!is_shared<os::dims<I/X, L>, of<rows>, of<columns>, of<os::tensor<double, K, L>>>);
static_assert(!is_shared<os::dims<I/X, K>, of<of<rows>>, of<of<summands>>>);

constexpr auto equal = [](double got, double want) { return got == want; };

t::global_tensor<double> product(std::string const& out, t::global_tensor<double> const& a,
                                 t::global_tensor<double> const& b) {
  return t::einsum_by_loops(out, a, b, 0.0, [](double c, double x, double y) { return c + x * y; });
}

template <class L>
struct divided_rows {
  os::leaf<L, double, I/X, J> a;
  os::leaf<L, double, J, K/Y> b;
};

template <class L>
struct divided_sums {
  os::leaf<L, double, I, J/X> a;
  os::leaf<L, double, J/X, K> b;
};

template <class L>
struct stored_divided {
  os::leaf<L, double, I/X, J> a;
  os::leaf<L, double, J/X, K> b;
};

/// The gradients of f(a, b, w) = Σ W[I, K] A[I, J] B[J, K], for all extents from 0 to 3: some uneven, some below the
/// number of devices.
template <template <class> class Factors, class W, class F>
void check(F const& f) {
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (std::int64_t n = 0; n < 4 * 4 * 4; ++n) {
      t::extents_by_letter const e{{'I', n / 16}, {'J', n / 4 % 4}, {'K', n % 4}};
      INFO(m.text(), t::text_of(e));
      auto const all_a = t::whole_numbers<double>("IJ", e, 1), all_b = t::whole_numbers<double>("JK", e, 2),
                 all_w = t::whole_numbers<double>("IK", e, 3);
      Factors<os::values> p;
      p.a = t::placed<decltype(p.a)>(m, all_a);
      p.b = t::placed<decltype(p.b)>(m, all_b);
      auto const w = t::placed<W>(m, all_w);
      auto const of_a = product("IJ", all_w, all_b), of_b = product("JK", all_a, all_w);

      auto const of_both = os::value_and_grad([&](auto const& q) { return f(q.a, q.b, w); })(p).gradient;
      CHECK(t::disagreements(m, of_both.a, of_a, equal) == 0);
      CHECK(t::disagreements(m, of_both.b, of_b, equal) == 0);
      auto const by_a = os::value_and_grad([&](auto const& a) { return f(a, p.b, w); })(p.a).gradient;
      CHECK(t::disagreements(m, by_a, of_a, equal) == 0);
      auto const by_b = os::value_and_grad([&](auto const& b) { return f(p.a, b, w); })(p.b).gradient;
      CHECK(t::disagreements(m, by_b, of_b, equal) == 0);
      os::variable<decltype(p.b)> const constant = p.b;
      auto const beside = os::value_and_grad([&](auto const& a) { return f(a, constant, w); })(p.a).gradient;
      CHECK(t::disagreements(m, beside, of_a, equal) == 0);
    }
  });
}

}  // namespace

TEST_CASE("products without a move, and with one") {
  using w = os::tensor<double, I/X, K/Y>;
  check<divided_rows, w>([](auto const& a, auto const& b, w const& weights) {
    return os::sum<>(os::einsum<I/X, K/Y>(a, b) * weights);
  });
  check<divided_sums, w>([](auto const& a, auto const& b, w const& weights) {
    return os::sum<>(os::reshard<I/X, K/Y>(os::einsum<I/X, K>(a, b)) * weights);
  });
  check<stored_divided, w>([](auto const& a, auto const& b, w const& weights) {
    return os::sum<>(os::reshard<I/X, K/Y>(os::einsum<I/X, K>(a, b, os::gather_right)) * weights);
  });
}

TEST_CASE("summands") {
  using w = os::tensor<double, I, K>;
  check<divided_sums, w>([](auto const& a, auto const& b, w const& weights) {
    return os::sum<>(os::reshard<I, K>(os::einsum<I, K, os::partial(X)>(a, b)) * weights);
  });
}

TEST_CASE("a factor that is used twice") {
  using w = os::tensor<double, I/X, K>;
  check<stored_divided, w>([](auto const& a, auto const& b, w const& weights) {
    auto const once = os::einsum<I/X, K>(a, b);
    auto const again = os::einsum<I/X, K>(os::add(a, a), b);
    return os::sum<>(os::subtract(again, once) * weights);
  });
}

TEST_CASE("in regions that save a product by name, or gather a factor again") {
  using w = os::tensor<double, I/X, K>;
  check<stored_divided, w>([](auto const& a, auto const& b, w const& weights) {
    auto const f = [&](auto const& x, auto const& y) {
      return os::checkpoint_name(os::einsum<I/X, K>(x, y), "product") * weights;
    };
    return os::sum<>(os::checkpoint(f, os::save_names("product"))(a, b));
  });
  check<stored_divided, w>([](auto const& a, auto const& b, w const& weights) {
    auto const f = [](auto const& x, auto const& y) { return os::einsum<I/X, K>(x, os::reshard<J, K>(y)); };
    return os::sum<>(os::checkpoint(f, os::save_all_but_gathers)(a, b) * weights);
  });
}
