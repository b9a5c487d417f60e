// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of softmax, its logarithms, cross entropy and norms: by differences of the plain program and by plain
/// loops, of whole and divided axes, the last one and others, uneven and empty blocks; the bytes of their backward;
/// their second derivatives.
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

std::vector<t::extents_by_letter> extents() {
  return {{{'I', 3}, {'J', 5}, {'K', 2}}, {{'I', 8}, {'J', 4}, {'K', 5}}, {{'I', 1}, {'J', 2}, {'K', 3}}};
}

template <class Type>
Type numbers(t::test_mesh const& m, t::extents_by_letter const& e, std::string const& letters, std::uint64_t salt) {
  auto g = t::whole_numbers<double>(letters, e, salt);
  for (double& v : g.values) v *= 0.25;
  return t::placed<Type>(m, g);
}

}  // namespace

TEST_CASE("softmax and its logarithms") {
  t::on_every_mesh([](t::test_mesh const& m) {
    using matrix = os::tensor<double, I/X, J/Y>;
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      auto const w = numbers<matrix>(m, e, "IJ", 2);
      auto seen = t::whole_numbers<int>("IJ", e, 4);
      for (int& v : seen.values) v = v > -3;
      auto const mask = t::placed<os::tensor<int, I, J/Y>>(m, seen);
      t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
        auto const s = os::multiply(os::softmax<J/Y>(p), os::softmax<I/X>(os::scale(p, 0.5), mask));
        return os::sum<>(os::multiply(os::add(s, os::multiply(os::log_softmax<J/Y>(p), s)), w));
      });
      auto const v = numbers<os::tensor<double, I/X>>(m, e, "I", 3);
      t::check_by_differences<matrix>(
          m, e, "IJ", [&](auto const& p) { return os::sum<>(os::multiply(os::log_sum_exp<J/Y>(p), v)); });
    }
  });
}

TEST_CASE("norms with respect to operand, gain and bias") {
  t::on_every_mesh([](t::test_mesh const& m) {
    using matrix = os::tensor<double, I/X, J/Y>;
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      auto const x = numbers<matrix>(m, e, "IJ", 5), w = numbers<matrix>(m, e, "IJ", 2);
      auto const gain = numbers<os::tensor<double, J>>(m, e, "J", 3);
      auto const bias = numbers<os::tensor<double, J/Y>>(m, e, "J", 4);
      auto const weighed = [&](auto const& y) { return os::sum<>(os::multiply(os::multiply(y, y), w)); };
      t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
        return weighed(os::add(os::rms_norm<J/Y>(p, os::epsilon(0.1)), os::layer_norm<J/Y>(p, gain, bias)));
      });
      t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
        return weighed(os::add(os::rms_norm<I/X>(p, os::epsilon(0.1)), os::layer_norm<I/X>(p)));
      });
      t::check_by_differences<os::tensor<double, J>>(m, e, "J", [&](auto const& p) {
        auto const y = os::multiply(x, p);  // with a variable operand, both cotangents are made at once
        return weighed(os::add(os::rms_norm<J/Y>(x, p), os::layer_norm<J/Y>(y, p, p)));
      });
    }
  });
}

namespace {

template <class T>
struct norm_operands {
  template <class L>
  struct tree {
    os::leaf<L, T, I/X, J/Y> x;
    os::leaf<L, T, J> gain;
  };
};

// Cotangents that are made at once equal those that are made one by one.
template <class T>
void check_at_once(t::test_mesh const& m, t::extents_by_letter const& e, double tolerance) {
  INFO(m.text(), t::text_of(e));
  auto const of = [&](std::string const& letters, std::uint64_t salt) {
    auto g = t::whole_numbers<T>(letters, e, salt);
    for (T& v : g.values) v = static_cast<T>(static_cast<float>(v) * 0.25f);
    return g;
  };
  auto const w = t::placed<os::tensor<T, I/X, J/Y>>(m, of("IJ", 2));
  typename norm_operands<T>::template tree<os::values> const given{t::placed<os::tensor<T, I/X, J/Y>>(m, of("IJ", 1)),
                                                                   t::placed<os::tensor<T, J>>(m, of("J", 3))};
  auto const loss = [&](auto const& x, auto const& gain) {
    return os::sum<>(os::multiply(os::add(os::rms_norm<J/Y>(x, gain), os::layer_norm<J/Y>(x, gain)), w));
  };
  auto const both = os::value_and_grad([&](auto const& p) { return loss(p.x, p.gain); })(given);
  auto const of_x = os::value_and_grad([&](auto const& x) { return loss(x, given.gain); })(given.x);
  auto const of_gain = os::value_and_grad([&](auto const& gain) { return loss(given.x, gain); })(given.gain);
  auto const far = [=](auto const& a, auto const& b) {
    auto const left = os::engine::on_host(a.local()), right = os::engine::on_host(b.local());
    std::size_t wrong = left.size() == right.size() ? 0 : 1;
    for (std::size_t i = 0; wrong == 0 && i < left.size(); ++i) {
      double const x = static_cast<double>(left.data()[i]), y = static_cast<double>(right.data()[i]);
      if (!(std::abs(x - y) <= tolerance * (1 + std::abs(y)))) ++wrong;
    }
    return wrong;
  };
  CHECK(far(both.gradient.x, of_x.gradient) == 0);
  CHECK(far(both.gradient.gain, of_gain.gradient) == 0);
}

}  // namespace

TEST_CASE("cotangents of a norm's operand and gain at once, of few rows and of many, also of 16 bits") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      check_at_once<double>(m, e, 1e-12);
      check_at_once<os::bfloat16>(m, e, 0.02);
    }
  });
  t::on_every_mesh([](t::test_mesh const& m) {
    if (m.size("X") != t::ranks()) return;
    check_at_once<double>(m, {{'I', 701 * t::ranks()}, {'J', 96}}, 1e-10);  // in shares
  });
}

namespace {

// The cotangents of w[i] (log Σ_j exp x[i, j] − x[i, label[i]]), rows along J of [I, J, K].
template <class T>
t::global_tensor<double> cross_entropy_by_loops(t::global_tensor<T> const& x, t::global_tensor<int> const& label,
                                                t::global_tensor<T> const& w, int ignored) {
  t::global_tensor<double> g{x.labels, x.extents, std::vector<double>(x.values.size())};
  t::for_each_index("IK", x.extents, [&](t::extents_by_letter at) {
    double sum = 0;
    int const l = label.values[label.position(at)];
    double const weight = l == ignored ? 0 : static_cast<double>(w.values[w.position(at)]);
    for (at['J'] = 0; at['J'] < x.extents.at('J'); ++at['J'])
      sum += std::exp(static_cast<double>(x.values[x.position(at)]));
    for (at['J'] = 0; at['J'] < x.extents.at('J'); ++at['J']) {
      double const share = std::exp(static_cast<double>(x.values[x.position(at)])) / sum;
      g.values[g.position(at)] = weight * (share - (at['J'] == l ? 1 : 0));
    }
  });
  return g;
}

// The cotangents of Σ w x gain / √(Σ_j x² / n + ε).
template <class T>
t::global_tensor<double> rms_by_loops(t::global_tensor<T> const& x, t::global_tensor<T> const& w,
                                      t::global_tensor<T> const& gain, double epsilon) {
  t::global_tensor<double> g{x.labels, x.extents, std::vector<double>(x.values.size())};
  double const n = static_cast<double>(x.extents.at('J'));
  t::for_each_index("IK", x.extents, [&](t::extents_by_letter at) {
    double squares = 0, dot = 0;
    auto const h = [&] {
      return static_cast<double>(w.values[w.position(at)]) * static_cast<double>(gain.values[gain.position(at)]);
    };
    auto const element = [&] { return static_cast<double>(x.values[x.position(at)]); };
    for (at['J'] = 0; at['J'] < x.extents.at('J'); ++at['J']) {
      squares += element() * element();
      dot += element() * h();
    }
    double const r = 1 / std::sqrt(squares / n + epsilon);
    for (at['J'] = 0; at['J'] < x.extents.at('J'); ++at['J'])
      g.values[g.position(at)] = r * (h() - element() * r * r * dot / n);
  });
  return g;
}

template <class T>
t::global_tensor<T> quarters(std::string const& letters, t::extents_by_letter const& e, std::uint64_t salt) {
  auto g = t::whole_numbers<T>(letters, e, salt);
  for (T& v : g.values) v = static_cast<T>(static_cast<float>(v) * 0.25f);
  return g;
}

template <class T>
void check_against_loops(t::test_mesh const& m, t::extents_by_letter const& e, double tolerance) {
  INFO(m.text(), t::text_of(e));
  auto const close = [&](auto const& gradient, t::global_tensor<double> const& want) {
    t::global_tensor<T> rounded{want.labels, want.extents, {}};
    for (double v : want.values) rounded.values.push_back(static_cast<T>(v));
    return t::disagreements(m, gradient, rounded, [=](T a, T b) {
             double const x = static_cast<double>(a), y = static_cast<double>(b);
             return std::abs(x - y) <= tolerance * (0.1 + std::abs(y));
           }) == 0;
  };
  auto const x = quarters<T>("IJK", e, 1), w = quarters<T>("IJK", e, 2), gain = quarters<T>("J", e, 3);
  auto const of_rows = quarters<T>("IK", e, 5);
  auto label = t::whole_numbers<int>("IK", e, 1);
  for (int& l : label.values) l = (l + 6) % static_cast<int>(e.at('J'));
  label.values[0] = -7;
  auto const p = t::placed<os::tensor<T, I/X, J/Y, K>>(m, x);
  auto const weight = t::placed<os::tensor<T, I/X, J/Y, K>>(m, w);
  auto const row_weight = t::placed<os::tensor<T, I/X, K>>(m, of_rows);
  auto const labels = t::placed<os::tensor<int, I, K>>(m, label);
  auto const whole_gain = t::placed<os::tensor<T, J>>(m, gain);
  auto const entropy = os::value_and_grad([&](auto const& logits) {
    return os::sum<>(os::multiply(os::cross_entropy<J/Y>(logits, labels, os::ignore(-7)), row_weight));
  })(p);
  CHECK(close(entropy.gradient, cross_entropy_by_loops(x, label, of_rows, -7)));
  auto const norm = os::value_and_grad([&](auto const& a) {
    return os::sum<>(os::multiply(os::rms_norm<J/Y>(a, whole_gain, os::epsilon(0.5)), weight));
  })(p);
  CHECK(close(norm.gradient, rms_by_loops(x, w, gain, 0.5)));
}

}  // namespace

TEST_CASE("cross entropy of logits that are divided, also of 16 bits and side by side, and norms of these") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      check_against_loops<double>(m, e, 1e-12);
      check_against_loops<os::bfloat16>(m, e, 0.02);
    }
  });
}

TEST_CASE("cross entropy by differences") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      auto label = t::whole_numbers<int>("I", e, 1);
      for (int& l : label.values) l = (l + 6) % static_cast<int>(e.at('J'));
      label.values[0] = -7;
      auto const labels = t::placed<os::tensor<int, I/X>>(m, label);
      auto const w = numbers<os::tensor<double, I/X>>(m, e, "I", 2);
      t::check_by_differences<os::tensor<double, I/X, J/Y>>(m, e, "IJ", [&](auto const& p) {
        return os::sum<>(os::multiply(os::cross_entropy<J/Y>(p, labels, os::ignore(-7)), w));
      });
    }
  });
}

TEST_CASE("what the backward of a divided axis moves") {
  t::on_every_mesh([](t::test_mesh const& m) {
    if (m.size("X") != t::ranks() || t::ranks() == 1) return;
    INFO(m.text());
    std::int64_t const n = t::ranks(), rows = 4 * n;
    t::extents_by_letter const e{{'I', rows}, {'J', 2 * n}};
    auto const p = numbers<os::tensor<double, I, J/X>>(m, e, "IJ", 1);
    auto const gain = numbers<os::tensor<double, J/X>>(m, e, "J", 2);
    auto const label = t::whole_numbers<int>("I", e, 1);
    auto const labels = os::map([](int l) { return l < 0 ? 0 : 1; }, t::placed<os::tensor<int, I>>(m, label));
    auto const moved = [&](auto const& f) {
      auto const loss = [&](auto const& a) { return os::sum<>(f(a)); };
      t::traffic const forward = t::traffic_of([&] { static_cast<void>(loss(p)); });
      t::traffic const both = t::traffic_of([&] { static_cast<void>(os::value_and_grad(loss)(p)); });
      return both.bytes - forward.bytes;
    };
    std::int64_t const number = 2 * (n - 1) * rows * 8;  // all-reduce of one number a row
    CHECK(moved([](auto const& a) { return os::softmax<J/X>(a); }) == number);
    CHECK(moved([](auto const& a) { return os::log_softmax<J/X>(a); }) == number);
    CHECK(moved([](auto const& a) { return os::log_sum_exp<J/X>(a); }) == 0);
    CHECK(moved([&](auto const& a) { return os::cross_entropy<J/X>(a, labels); }) == 0);
    CHECK(moved([&](auto const& a) { return os::rms_norm<J/X>(a, gain); }) == number);
    CHECK(moved([&](auto const& a) { return os::layer_norm<J/X>(a, gain, gain); }) == 2 * number);
    CHECK(moved([&](auto const& a) { return os::rms_norm<J/X>(a, os::sum<J/X>(a)); }) == number);
    CHECK(moved([&](auto const& a) { return os::layer_norm<J/X>(a, gain, os::sum<J/X>(a)); }) == 2 * number);
  });
}

TEST_CASE("a norm in a body, with a gain that does not vary") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 4}};
    INFO(m.text());
    auto const x = numbers<os::tensor<double, I/X, J>>(m, e, "IJ", 4);
    t::check_by_differences<os::tensor<double, J>>(m, e, "J", [&](auto const& p) {
      auto const y = os::shard_map<I/X, J>(
          [](auto a, auto q) { return os::layer_norm<J>(os::multiply(a, q), q, q); }, x, p);
      return os::sum<>(os::multiply(os::multiply(y, y), x));
    });
  });
}

TEST_CASE("second derivatives") {
  t::on_every_mesh([](t::test_mesh const& m) {
    using matrix = os::tensor<double, I/X, J/Y>;
    t::extents_by_letter const e{{'I', 2}, {'J', 3}};
    INFO(m.text());
    auto const gain = numbers<os::tensor<double, J/Y>>(m, e, "J", 2);
    auto label = t::whole_numbers<int>("I", e, 1);
    for (int& l : label.values) l = (l + 6) % 3;
    auto const labels = t::placed<os::tensor<int, I/X>>(m, label);
    auto const squared_gradient = [&](auto const& loss) {
      return [&](auto const& p) {
        auto const r = os::value_and_grad(loss)(p);
        return os::sum<>(os::multiply(r.gradient, r.gradient));
      };
    };
    t::check_by_differences<matrix>(
        m, e, "IJ", squared_gradient([&](auto const& a) {
          auto const s = os::multiply(os::softmax<J/Y>(a), os::log_softmax<J/Y>(a));
          return os::sum<>(os::multiply(os::sum<I/X>(s), os::cross_entropy<J/Y>(a, labels)));
        }));
    t::check_by_differences<matrix>(m, e, "IJ", squared_gradient([&](auto const& a) {
                                      auto const y = os::multiply(os::rms_norm<J/Y>(a, os::epsilon(0.3)),
                                                                  os::layer_norm<J/Y>(a, gain, gain));
                                      return os::sum<>(os::multiply(y, a));
                                    }));
    t::check_by_differences<os::tensor<double, J/Y>>(m, e, "J", [&](auto const& p) {
      auto const x = numbers<matrix>(m, e, "IJ", 4);
      auto const r = os::value_and_grad([&](auto const& g) {
        auto const y = os::layer_norm<J/Y>(os::multiply(x, g), g);
        return os::sum<>(os::multiply(y, y));
      })(p);
      return os::sum<>(os::multiply(r.gradient, r.gradient));
    });
  });
}

namespace {

using weights = os::tensor<double, I/X, J>;
using rows_of_data = os::tensor<double, B/X, I>;

// A layer with its norm, and classes that are divided.
constexpr auto classified = [](auto const& w, auto const& x, auto const& gain, auto const& label) {
  auto const h =
      os::einsum<B, J/X>(os::rms_norm<I>(os::reshard<B, I>(x), os::reshard<I>(gain)), os::reshard<I, J/X>(w));
  auto const scale = os::sum<J/X>(w);
  return os::mean<>(os::cross_entropy<J/X>(os::layer_norm<J/X>(os::log_softmax<J/X>(h), scale, scale), label));
};

constexpr auto plan_of_rows =
    os::gradient_plan<weights, rows_of_data, os::tensor<double, I>, os::tensor<int, B>>(classified);
static_assert(plan_of_rows.unpriced() == 0);

}  // namespace

TEST_CASE("what gradients with norms and cross entropy move is known while compiling") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 7}, {'I', 5}, {'J', 6}};
    INFO(m.text());
    auto label = t::whole_numbers<int>("B", e, 1);
    for (int& l : label.values) l = (l + 6) % 6;
    auto const w = numbers<weights>(m, e, "IJ", 1);
    auto const x = numbers<rows_of_data>(m, e, "BI", 2);
    auto const gain = numbers<os::tensor<double, I>>(m, e, "I", 3);
    auto const labels = t::placed<os::tensor<int, B>>(m, label);
    auto const moved = t::traffic_of([&] { static_cast<void>(os::value_and_grad(classified)(w, x, gain, labels)); });
    CHECK(moved.bytes ==
          plan_of_rows.total_bytes(B = 7, I = 5, J = 6, X = m.size("X"), Y = m.size("Y"), Z = m.size("Z")));
  });
}
