// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The network of ../shard_map/network.hpp as a differentiable program: relu(x · W + b) layer by layer, the mean over
/// the samples of squared errors, and the training that all programs of this folder share. Each program is compared
/// with the sequential one: the losses, the gradients of every layer, and five steps of gradient descent.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <vector>

#include <ostraka/gradient.hpp>

#include "sequential.hpp"
#include "support/byte_counter.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(N, network::batch);  // samples
OSTRAKA_AXIS(D);                  // the inputs of a layer
OSTRAKA_AXIS(F);                  // its outputs

/// The inputs, outputs and parameters of all layers, in elements: inputs and outputs of one sample.
inline constexpr std::int64_t all_inputs = 784 + 5 * 128, all_outputs = 5 * 128 + 8;
inline constexpr std::int64_t first_weight = 784 * 128, other_weight = 128 * 128;
inline constexpr std::int64_t all_weights = first_weight + 4 * other_weight + 128 * 8, all_biases = all_outputs;

struct relu {
  template <class T>
  KOKKOS_FUNCTION T operator()(T v) const {
    return v > 0 ? v : T(0);
  }
  template <class T>
  KOKKOS_FUNCTION T derivative(T v) const {
    return v > 0 ? T(1) : T(0);
  }
};

/// The network; affine(x, l) is layer l's x · W + b.
auto predict(auto const& inputs, auto const& affine) {
  constexpr std::size_t last = network::layers - 1;
  auto x = os::rename<F, D>(os::map(relu{}, affine(inputs, 0)));
  for (std::size_t l = 1; l < last; ++l) x = os::rename<F, D>(os::map(relu{}, affine(x, l)));
  return affine(x, last);
}

/// The mean over the samples of the sum of squared errors.
auto mean_of_squares(auto const& predictions, auto const& targets) {
  auto const errors = os::subtract(predictions, targets);
  return os::scale(os::sum<>(os::multiply(errors, errors)), 1. / network::batch);
}

/// The numbers of the layers between the first and the last one, one after another.
struct stacked {
  std::array<network::normal_numbers, network::layers - 2> of_layer;
  template <class Make>
  explicit stacked(Make const& make) : of_layer{make(1), make(2), make(3), make(4)} {}
  KOKKOS_FUNCTION float operator()(std::int64_t l, std::int64_t d, std::int64_t f) const {
    return of_layer[static_cast<std::size_t>(l)](d, f);
  }
  KOKKOS_FUNCTION float operator()(std::int64_t l, std::int64_t f) const {
    return of_layer[static_cast<std::size_t>(l)](f);
  }
};

/// Counts the blocks of the given sizes, those of gathered weights: the most that exist at once.
class blocks_of {
 public:
  template <class F>
  static int at_once(std::array<std::int64_t, 2> const& elements, F const& f) {
    using namespace Kokkos::Tools::Experimental;
    sizes_ = elements;
    now_ = most_ = 0;
    set_allocate_data_callback([](auto, char const*, void const*, std::uint64_t bytes) {
      now_ += is_one(bytes) ? 1 : 0;
      most_ = std::max(most_, now_);
    });
    set_deallocate_data_callback(
        [](auto, char const*, void const*, std::uint64_t bytes) { now_ -= is_one(bytes) ? 1 : 0; });
    f();
    set_allocate_data_callback(nullptr);
    set_deallocate_data_callback(nullptr);
    return most_;
  }

 private:
  static bool is_one(std::uint64_t bytes) {
    return std::any_of(sizes_.begin(), sizes_.end(),
                       [&](std::int64_t s) { return bytes == static_cast<std::uint64_t>(s) * sizeof(double); });
  }
  static inline std::array<std::int64_t, 2> sizes_{};
  static inline int now_ = 0, most_ = 0;
};

/// Trains, and collects the checks.
class training {
 public:
  static constexpr int steps = 5;
  static constexpr double rate = 3e-3;

  /// Runs gradient descent on loss(parameters, inputs, targets) from the network's parameters, and compares each step
  /// with the sequential program. Parameters is a tree with the arrays W and b of all layers, or of the first and the
  /// last one, with inner_W and inner_b for the others.
  template <template <class> class Parameters, class Inputs, class Targets, class Mesh, class Loss>
  void run(char const* name, Mesh const& mesh, Loss const& loss) {
    root_ = mesh.device() == 0;
    if (root_) std::printf("%s\n", name);
    auto const inputs = os::generate<Inputs>(mesh, D = network::inputs_of(0), network::inputs());
    auto const targets = os::generate<Targets>(mesh, F = network::outputs_of(network::layers - 1), network::targets());
    Parameters<os::values> p = initial<Parameters>(mesh);
    auto layers = sequential::initial_layers();
    std::vector<sequential::layer> gradient;
    for (int step = 0; step <= steps; ++step) {
      auto const r = os::value_and_grad(loss)(p, inputs, targets);
      double const expected = sequential::loss(layers, gradient);
      double const found = os::value(r.value);
      if (root_) std::printf("%d  loss %.9f\n", step, found);
      compare(found, expected);
      compare_layers(r.gradient, gradient);
      if (step == 0) good_ = good_ && network::is_loss(found);
      p = os::tree_map([](auto const& w, auto const& g) { return os::subtract(w, os::scale(g, rate)); }, p, r.gradient);
      sequential::descend(layers, gradient, rate);
    }
    auto const again = [&] { (void)os::value_and_grad(loss)(p, inputs, targets); };
    forward_ = os::testing::traffic_of([&] { (void)loss(p, inputs, targets); }).bytes;
    backward_ = os::testing::traffic_of(again).bytes - forward_;
    if (!of_gathered_weights_[0]) return;
    int const at_once = blocks_of::at_once(of_gathered_weights_, again);
    if (root_) std::printf("gathered weights at once: %d\n", at_once);
    good_ = good_ && at_once == 1;
  }

  /// From now on a device may hold one gathered weight: of the first layer it has `first` elements, else `other`.
  void expect_one_gathered_weight_of(std::int64_t first, std::int64_t other) { of_gathered_weights_ = {first, other}; }

  /// Compares the elements that all devices together move, forward and backward, with these.
  void expect_moves(std::int64_t forward, std::int64_t backward) {
    if (!root_) return;
    std::printf("bytes moved: forward %lld, backward %lld\n", static_cast<long long>(forward_),
                static_cast<long long>(backward_));
    // In check mode devices also send each other their calls.
    if (os::engine::calls_to_compare() == os::engine::compared_calls::all) return;
    if (forward_ == 8 * forward && backward_ == 8 * backward) return;
    std::printf("expected: %lld and %lld\n", static_cast<long long>(8 * forward),
                static_cast<long long>(8 * backward));
    good_ = false;
  }

  /// Prints the verdict; returns the exit status of main.
  [[nodiscard]] int verdict() const {
    if (root_)
      std::printf("largest difference from the sequential program %.1e: %s\n", largest_, good_ ? "PASS" : "FAIL");
    return good_ ? 0 : 1;
  }

 private:
  template <template <class> class Parameters, class Mesh>
  static Parameters<os::values> initial(Mesh const& mesh) {
    Parameters<os::values> p;
    for (std::size_t i = 0; i < p.W.size(); ++i) {
      int const l = layer_at(i, p);
      using weight = std::remove_cvref_t<decltype(p.W[i])>;
      using bias = std::remove_cvref_t<decltype(p.b[i])>;
      p.W[i] = os::generate<weight>(mesh, D = network::inputs_of(l), F = network::outputs_of(l), network::weight(l));
      p.b[i] = os::generate<bias>(mesh, F = network::outputs_of(l), network::bias(l));
    }
    if constexpr (requires { p.inner_W; }) {
      auto const width = os::sizes(D = network::outputs_of(0), F = network::outputs_of(0));
      p.inner_W = os::generate<decltype(p.inner_W)>(mesh, width, stacked(network::weight));
      p.inner_b = os::generate<decltype(p.inner_b)>(mesh, width, stacked(network::bias));
    }
    return p;
  }

  // The layer of W[i]: p has all layers, or only the first and the last one.
  static int layer_at(std::size_t i, auto const& p) {
    return p.W.size() == 2 && i == 1 ? network::layers - 1 : static_cast<int>(i);
  }

  void compare_layers(auto const& found, std::vector<sequential::layer> const& expected) {
    for (std::size_t i = 0; i < found.W.size(); ++i) {
      auto const l = static_cast<std::size_t>(layer_at(i, found));
      compare(found.W[i], expected[l].W);
      compare(found.b[i], expected[l].b);
    }
    if constexpr (requires { found.inner_W; }) {
      sequential::layer inner;
      for (std::size_t l = 1; l + 1 < expected.size(); ++l) {
        inner.W.insert(inner.W.end(), expected[l].W.begin(), expected[l].W.end());
        inner.b.insert(inner.b.end(), expected[l].b.begin(), expected[l].b.end());
      }
      compare(found.inner_W, inner.W);
      compare(found.inner_b, inner.b);
    }
  }

  void compare(double found, double expected) {
    double const difference = std::abs(found - expected) / (1 + std::abs(expected));
    largest_ = std::fmax(largest_, difference);
    good_ = good_ && difference <= 1e-9;
  }

  void compare(auto const& found, sequential::matrix const& expected) {
    auto const whole = os::gather_to_root(found);
    if (!whole) return;
    good_ = good_ && whole->size() == expected.size();
    for (std::size_t i = 0; good_ && i < expected.size(); ++i) compare(whole->data()[i], expected[i]);
  }

  bool root_ = false;
  bool good_ = true;
  double largest_ = 0;
  std::int64_t forward_ = 0, backward_ = 0;
  std::array<std::int64_t, 2> of_gathered_weights_{};
};
