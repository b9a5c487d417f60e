// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Gradients compared with those of JAX. Each program of oracle/make.py stands here by the same name, and runs on every
/// mesh under shardings drawn by its name: of operands and, if a program names one, of results.
// labels: ci
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "gradient/oracle/gradients.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

t::extents_by_letter const extents{{'B', 2}, {'I', 3}, {'J', 4}, {'K', 2}, {'L', 3}};

// ---- shardings -----------------------------------------------------------------------------------------------------

using shardings =
    std::tuple<os::rules<I/X>, os::rules<J/X>, os::rules<I/X, J/Y>, os::rules<J/X, I/Y>, os::rules<I/X/Y>,
               os::rules<J/Y/X>, os::rules<I/X, J/Y, K/Z>, os::rules<K/X, I/Y>, os::rules<B/X, J/Y>,
               os::rules<B/Y, I/X>, os::rules<J/X/Z, I/Y>, os::rules<B/X, K/Y, J/Z>, os::rules<L/X, J/Y>>;

consteval std::size_t draw(std::string_view name, std::uint64_t number) {
  std::uint64_t h = 14695981039346656037u + number;  // FNV-1a
  for (char const c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return (h >> 20) % std::tuple_size_v<shardings>;
}

template <os::fixed_string Name, std::uint64_t Number>
using drawn = std::tuple_element_t<draw(Name.view(), Number), shardings>;

// ---- operands ------------------------------------------------------------------------------------------------------

template <auto... Axes>
struct on {
  template <class R>
  static constexpr auto under = R{}(Axes...);
};

template <auto A>
struct one {
  template <class Leaves>
  struct tree {
    os::leaf<Leaves, double, A> a;
  };
};
template <auto A, auto B>
struct two {
  template <class Leaves>
  struct tree {
    os::leaf<Leaves, double, A> a;
    os::leaf<Leaves, double, B> b;
  };
};
template <auto A, auto B, auto C>
struct three {
  template <class Leaves>
  struct tree {
    os::leaf<Leaves, double, A> a;
    os::leaf<Leaves, double, B> b;
    os::leaf<Leaves, double, C> c;
  };
};

template <auto A>
one<A> tree_of(os::dims<A>);
template <auto A, auto B>
two<A, B> tree_of(os::dims<A, B>);
template <auto A, auto B, auto C>
three<A, B, C> tree_of(os::dims<A, B, C>);

// splitmix64, from −1 up to 1
double number(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t z = ((seed << 32) + place + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

t::global_tensor<double> numbers(std::uint64_t seed, std::string const& letters, t::extents_by_letter const& e) {
  t::global_tensor<double> g{letters, e, {}};
  for (std::int64_t i = 0; i < t::number_of_elements(letters, e); ++i)
    g.values.push_back(number(seed, static_cast<std::uint64_t>(i)));
  return g;
}

// Along J, of I.
template <auto Dim>
auto index(t::test_mesh const& m) {
  return t::placed<os::tensor<int, Dim>>(m, t::global_tensor<int>{"J", extents, {2, 0, 2, 1}});
}

// ---- a program beside JAX's ----------------------------------------------------------------------------------------

bool close(double got, double want) { return std::abs(got - want) <= 1e-11 * (1 + std::abs(want)); }

// Σ weight · result
template <class Result>
auto weighed(t::test_mesh const& m, Result const& result) {
  using tensor = os::cotangent_of<os::detail::plain_type<Result>>;
  t::extents_by_letter e;
  std::size_t d = 0;
  for (char const letter : t::letters_in<tensor>()) e[letter] = result.extents()[d++];
  return os::sum<>(os::multiply(result, t::placed<tensor>(m, numbers(0, t::letters_in<tensor>(), e))));
}

template <class R, class Q, class... Operands, class F>
void check_under(t::test_mesh const& m, oracle::answer const& answer, F const& f) {
  using tree = decltype(tree_of(os::dims<Operands::template under<R>...>{}));
  typename tree::template tree<os::values> p;
  std::uint64_t seed = 1;
  os::for_each_leaf(
      [&](auto const&, auto& x) {
        using tensor = std::remove_cvref_t<decltype(x)>;
        x = t::placed<tensor>(m, numbers(seed++, t::letters_in<tensor>(), extents));
      },
      p);
  auto const loss = [&](auto const& q) {
    if constexpr (sizeof...(Operands) == 1)
      return weighed(m, f(R{}, Q{}, q.a));
    else if constexpr (sizeof...(Operands) == 2)
      return weighed(m, f(R{}, Q{}, q.a, q.b));
    else
      return weighed(m, f(R{}, Q{}, q.a, q.b, q.c));
  };
  auto const r = os::value_and_grad(loss)(p);
  double const* expected = oracle::numbers + answer.first;
  CHECK(close(os::value(r.value), *expected++));
  os::for_each_leaf(
      [&](auto const& name, auto const& g) {
        INFO(name);
        auto want = numbers(0, t::letters_in<std::remove_cvref_t<decltype(g)>>(), extents);
        for (double& v : want.values) v = *expected++;
        CHECK(t::disagreements(m, g, want, close) == 0);
      },
      r.gradient);
  CHECK(expected == oracle::numbers + answer.first + answer.count);
}

oracle::answer const& answer_to(std::string_view name) {
  for (oracle::answer const& answer : oracle::answers)
    if (answer.name == name) return answer;
  FAIL("no program of oracle/make.py: ", std::string(name));
  return oracle::answers[0];
}

// Under one drawing: programs in which nothing depends on the places of elements.
template <os::fixed_string Name, class... Operands, class F>
void check_once(t::test_mesh const& m, F const& f) {
  oracle::answer const& answer = answer_to(Name.view());
  INFO(answer.name, m.text());
  check_under<drawn<Name, 0>, drawn<Name, 1>, Operands...>(m, answer, f);
}

template <os::fixed_string Name, class... Operands, class F>
void check(t::test_mesh const& m, F const& f) {
  check_once<Name, Operands...>(m, f);
  oracle::answer const& answer = answer_to(Name.view());
  INFO(answer.name, m.text());
  check_under<drawn<Name, 2>, drawn<Name, 3>, Operands...>(m, answer, f);
}

}  // namespace

TEST_CASE("products") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check<"product", on<I, J>, on<J, K>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& b) {
      return os::einsum<Q{}(I, K)>(a, b);
    });
    check<"outer", on<I>, on<J>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& b) {
      return os::einsum<Q{}(I, J)>(a, b);
    });
    check<"batched", on<B, I, J>, on<B, J, K>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& b) {
      return os::einsum<Q{}(B, I, K)>(a, b);
    });
    check<"chain", on<I, J>, on<J, K>, on<K, L>>(
        m, []<class R, class Q>(R, Q, auto const& a, auto const& b, auto const& c) {
          return os::einsum<Q{}(I, L)>(a, b, c);
        });
    check<"summed away", on<I, J>, on<J, K>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& b) {
      return os::einsum<Q{}(I)>(a, b, os::sum_over(K));
    });
    check<"hadamard", on<I, J>, on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& b) {
      return os::einsum<Q{}(J)>(a, b);
    });
    check<"sum", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::sum<Q{}(J)>(a); });
    check<"mean", on<I, J, K>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::mean<Q{}(J)>(a); });
  });
}

TEST_CASE("elements") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check_once<"arithmetic", on<I, J>, on<J>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& b) {
      return (a * b - 2.0 * a) / (b * b + 1.0) + 3.0 / (2.0 - a);
    });
    check_once<"exp", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::exp(a); });
    check_once<"expm1", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::expm1(a); });
    check_once<"log", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::log(a + 1.5); });
    check_once<"log1p", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::log1p(0.5 * a); });
    check_once<"tanh", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::tanh(2.0 * a); });
    check_once<"sin", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::sin(3.0 * a); });
    check_once<"cos", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::cos(3.0 * a); });
    check_once<"sqrt", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::sqrt(a + 1.5); });
    check_once<"rsqrt", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::rsqrt(a + 1.5); });
    check_once<"erf", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::erf(a); });
    check_once<"pow", on<I, J>, on<J>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& b) {
      return os::pow(a + 1.5, b);
    });
    check_once<"sigmoid", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::sigmoid(3.0 * a); });
    check_once<"silu", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::silu(3.0 * a); });
    check_once<"gelu", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::gelu(3.0 * a); });
    check_once<"gelu_tanh", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::gelu_tanh(3.0 * a); });
    check_once<"relu", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::relu(a); });
    check_once<"clamp", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::clamp(a, -0.25, 0.5); });
    check_once<"abs", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::abs(a); });
    check_once<"square", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::square(a); });
    check_once<"maximum", on<I, J>, on<J>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& b) {
      return os::maximum(a, b);
    });
    check_once<"minimum", on<I, J>, on<J>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& b) {
      return os::minimum(a, b);
    });
    check_once<"where", on<I, J>, on<J>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& b) {
      return os::where(a < b, a * b, b);
    });
  });
}

TEST_CASE("reductions") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check<"max", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::max<Q{}(I)>(a); });
    check<"min", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::min<Q{}(J)>(a); });
    check<"prod", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::prod<Q{}(I)>(a); });
    check<"norm", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::norm<Q{}(I)>(a); });
    check<"variance", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::variance<Q{}(I)>(a); });
    check<"standard_deviation", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) {
      return os::standard_deviation<Q{}(J)>(a, os::ddof(1));
    });
  });
}

TEST_CASE("rows") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check<"softmax", on<I, J>>(
        m, []<class R, class Q>(R, Q, auto const& a) { return os::softmax<R{}(I)>(os::scale(a, 2.0)); });
    check<"log_softmax", on<I, J>>(
        m, []<class R, class Q>(R, Q, auto const& a) { return os::log_softmax<R{}(J)>(os::scale(a, 2.0)); });
    check<"log_sum_exp", on<I, J>>(
        m, []<class R, class Q>(R, Q, auto const& a) { return os::log_sum_exp<R{}(J)>(os::scale(a, 2.0)); });
    check<"cross_entropy", on<J, I>>(m, [&]<class R, class Q>(R, Q, auto const& a) {
      return os::cross_entropy<R{}(I)>(a, index<R{}(J)>(m));
    });
    check<"rms_norm", on<I, J>, on<J>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& gain) {
      return os::rms_norm<R{}(J)>(a, gain);
    });
    check<"layer_norm", on<I, J>, on<J>, on<J>>(
        m, []<class R, class Q>(R, Q, auto const& a, auto const& gain, auto const& bias) {
          return os::layer_norm<R{}(J)>(a, gain, bias);
        });
  });
}

TEST_CASE("running sums and sorts") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check<"cumsum", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::cumsum<R{}(J)>(a); });
    check<"cumprod", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::cumprod<R{}(I)>(a); });
    check<"cummax", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::cummax<R{}(J)>(a); });
    check<"cummin", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::cummin<R{}(I)>(a); });
    check<"reversed", on<I, J>>(
        m, []<class R, class Q>(R, Q, auto const& a) { return os::cumsum<R{}(I)>(a, os::reversed); });
    check<"sort", on<I, J>>(
        m, []<class R, class Q>(R, Q, auto const& a) { return os::sort<J>(os::reshard<R{}(I), J>(a)); });
    check<"top_k", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) {
      return os::top_k<J, K>(os::reshard<R{}(I), J>(a), K = 2).values;
    });
  });
}

TEST_CASE("indices") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check<"take", on<I, L>>(m, [&]<class R, class Q>(R, Q, auto const& a) {
      return os::take<I, Q{}(J, L)>(a, index<R{}(J)>(m));
    });
    check<"scatter_add", on<J, L>>(m, [&]<class R, class Q>(R, Q, auto const& a) {
      return os::scatter_add<I, Q{}(I, L)>(a, index<R{}(J)>(m), I = 3);
    });
    check<"segment_sum", on<J, L>>(m, [&]<class R, class Q>(R, Q, auto const& a) {
      return os::segment_sum<J, I, Q{}(I, L)>(a, index<R{}(J)>(m), I = 3);
    });
  });
}

TEST_CASE("shape") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check<"transpose", on<I, J, K>>(m,
                                    []<class R, class Q>(R, Q, auto const& a) { return os::transpose<K, I, J>(a); });
    check<"broadcast", on<J>>(
        m, []<class R, class Q>(R, Q, auto const& a) { return os::broadcast<R{}(I, J)>(a, I = 3); });
    check<"window", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::window<R{}(J)>(a, 1, 3); });
    check<"pad", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::pad<R{}(I)>(a, 1, 2); });
    check<"roll", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::roll<R{}(J)>(a, 1); });
    check<"flip", on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a) { return os::flip<R{}(I)>(a); });
    check<"concatenate", on<I, J>, on<I, J>>(m, []<class R, class Q>(R, Q, auto const& a, auto const& b) {
      return os::concatenate<R{}(I)>(a, b);
    });
    check<"lower_triangle", on<I, J>>(
        m, []<class R, class Q>(R, Q, auto const& a) { return os::lower_triangle<I, J>(a); });
  });
}

TEST_CASE("attention") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check<"rope", on<J, L, K>>(m, []<class R, class Q>(R, Q, auto const& a) {
      return os::rope<J, L, K>(os::reshard<R{}(J), R{}(L), K>(a));
    });
    check<"attention", on<B, I, L>, on<B, K, L>, on<B, K, L>>(
        m, []<class R, class Q>(R, Q, auto const& q, auto const& k, auto const& v) {
          return os::attention<I, R{}(K), R{}(L)>(q, k, v);
        });
    check<"causal attention", on<B, I, L>, on<B, K, L>, on<B, K, L>>(
        m, []<class R, class Q>(R, Q, auto const& q, auto const& k, auto const& v) {
          return os::attention<I, R{}(K), R{}(L)>(q, k, v, os::causal);
        });
  });
}
