// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::map: elements that meet, tensors that lack a label repeated along it, others sliced for nothing. C[I_X, J] =
/// f(A[I_X, J], B[J])
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <type_traits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

// Not symmetric, and no operand can be left out without changing it.
struct mix {
  template <class... Ts>
  KOKKOS_FUNCTION auto operator()(Ts const&... values) const {
    std::int64_t r = 1;
    ((r = r * 3 + static_cast<std::int64_t>(values)), ...);
    return r;
  }
};

// Functions that give another element type. nvcc takes no plain lambda in a kernel (docs/design/gpus.md).
struct same_type {
  KOKKOS_FUNCTION float operator()(float v) const { return v; }
};
struct wider {
  KOKKOS_FUNCTION double operator()(float v) const { return static_cast<double>(v) / 3; }
};
struct is_positive {
  KOKKOS_FUNCTION bool operator()(float v) const { return v > 0; }
};
struct as_complex {
  KOKKOS_FUNCTION std::complex<float> operator()(float v) const { return std::complex<float>(v, -v); }
};

template <class... Operands>
t::global_tensor<std::int64_t> mix_by_loops(std::string const& out, t::extents_by_letter const& e,
                                            t::global_tensor<Operands> const&... operands) {
  t::global_tensor<std::int64_t> c{out, e, {}};
  t::for_each_index(out, e, [&](t::extents_by_letter const& at) {
    c.values.push_back(mix()(operands.values[operands.position(at)]...));
  });
  return c;
}

template <class Operand>
t::global_tensor<typename Operand::value_type> whole(t::extents_by_letter const& e, std::uint64_t salt) {
  return t::whole_numbers<typename Operand::value_type>(t::letters_in<Operand>(), e, salt);
}

template <auto... Out, class... Operands>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, std::type_identity<Operands>...) {
  using result = os::tensor<std::int64_t, Out...>;
  auto const run = [&](Operands const&... operands) {
    result c;
    static_assert(std::is_same_v<decltype(os::map(mix(), operands...)), result>);
    t::traffic const moved = t::traffic_of([&] { c = os::map(mix(), operands...); });
    INFO(m.text(), t::text_of(e), os::describe(c));
    CHECK(t::disagreements(m, c, mix_by_loops(t::letters_in<result>(), e, whole<Operands>(e, sizeof(Operands))...)) ==
          0);
    CHECK(moved.calls == 0);
  };
  run(t::placed<Operands>(m, whole<Operands>(e, sizeof(Operands)))...);
}

template <class T, auto... Dims>
constexpr std::type_identity<os::tensor<T, Dims...>> a{};

}  // namespace

TEST_CASE("every way to meet") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check(m, e, dims<I/X, J/Y>{}, a<double, I/X, J/Y>);
      check(m, e, dims<I/X, J>{}, a<double, I/X, J>, a<double, I/X, J>);
      check(m, e, dims<I/X, J>{}, a<double, I/X, J>, a<double, J>);          // repeated along I
      check(m, e, dims<I/X, J>{}, a<double, I/X, J>, a<double, I/X>);        // repeated along J
      check(m, e, dims<I/X, J/Y>{}, a<float, I, J>, a<double, I/X, J/Y>);    // sliced
      check(m, e, dims<I/X/Y, J>{}, a<double, I/X, J>, a<double, J, I/X/Y>);
      check(m, e, dims<I/X, J/Y>{}, a<double, I/X>, a<double, J/Y>);         // outer
      check(m, e, dims<J, I/X>{}, a<double, J>, a<double, I/X, J>);          // order of first appearance
      check(m, e, dims<I/X, J>{}, a<std::int32_t, I/X, J>, a<double>);       // a scalar
      check(m, e, dims<>{}, a<float>);
      check(m, e, dims<B, I/X, J/Y, K>{}, a<double, B, I>, a<std::int32_t, I/X, J>, a<float, J/Y, K>,
            a<std::int64_t, K>);
      check(m, e, dims<B/X, I, J/Y>{}, a<double, B/X, I, J>, a<float, J/Y, B, I>);  // three axes in two orders
      check(m, e, dims<K, J/Y, B/X, I>{}, a<double, K, J>, a<float, B/X, I, J/Y>, a<double, I, K, B>);
      check(m, e, dims<I/Z/X, K/Y>{}, a<double, I/Z>, a<double, K/Y, I>, a<float, I/Z/X>);
    }
  });
}

TEST_CASE("element type of the result") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const e = t::usual_extents()[1];
    auto const g = t::whole_numbers<float>("I", e, 3);
    auto const x = t::placed<os::tensor<float, I/X>>(m, g);
    auto const same = os::map(same_type{}, x);
    auto const wide = os::map(wider{}, x);
    auto const positive = os::map(is_positive{}, x);
    auto const pair = os::map(as_complex{}, x);
    static_assert(std::is_same_v<decltype(same)::value_type, float>);
    static_assert(std::is_same_v<decltype(wide)::value_type, double>);
    static_assert(std::is_same_v<decltype(positive)::value_type, bool>);
    static_assert(std::is_same_v<decltype(pair)::value_type, Kokkos::complex<float>>);
    CHECK(t::disagreements(m, same, g) == 0);
    std::size_t i = 0;
    auto const wide_block = os::engine::on_host(wide.local());
    auto const positive_block = os::engine::on_host(positive.local());
    auto const pair_block = os::engine::on_host(pair.local());
    for (std::size_t at : t::positions_on(t::placement_of<decltype(x)>(), m, g.labels, e, t::rank())) {
      float const v = g.values[at];
      CHECK(wide_block(i) == static_cast<double>(v) / 3);
      CHECK(positive_block(i) == (v > 0));
      CHECK(pair_block(i) == Kokkos::complex<float>(v, -v));
      ++i;
    }
  });
}

TEST_CASE("long runs") {  // longer than the piece that one thread takes
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 20011}};
    check(m, e, dims<I, J/X>{}, a<double, I, J/X>, a<double, J>);
    check(m, e, dims<J/X, I>{}, a<double, J/X>, a<double, I, J>);
  });
}
