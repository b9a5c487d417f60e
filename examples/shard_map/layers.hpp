// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The network of network.hpp as tensors: x[N, D] → relu(x · W[D, F] + b[F]), whose F is the next layer's D. It is
/// written for one device; the same code works on blocks, with any sharding whose products move nothing.

#include <array>
#include <cstddef>
#include <utility>

#include "network.hpp"
#include "support.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(N, network::batch);    // samples
OSTRAKA_AXIS(D);                    // the inputs of a layer
OSTRAKA_AXIS(F);                    // its outputs

/// The array f(0), …, f(5).
template <class Make>
auto for_each_layer(Make const& f) {
  return [&]<std::size_t... Ls>(std::index_sequence<Ls...>) {
    return std::array{f(static_cast<int>(Ls))...};
  }(std::make_index_sequence<network::layers>{});
}

template <auto... Dims>
auto make_weights(auto const& mesh) {
  return for_each_layer([&](int l) {
    auto const extents = os::sizes(D = network::inputs_of(l), F = network::outputs_of(l));
    return os::generate<float, Dims...>(mesh, extents, network::weight(l));
  });
}

template <auto... Dims>
auto make_biases(auto const& mesh) {
  return for_each_layer([&](int l) {
    return os::generate<float, Dims...>(mesh, F = network::outputs_of(l), network::bias(l));
  });
}

template <auto... Dims>
auto make_inputs(auto const& mesh) {
  return os::generate<float, Dims...>(mesh, D = network::inputs_of(0), network::inputs());
}

template <auto... Dims>
auto make_targets(auto const& mesh) {
  return os::generate<float, Dims...>(mesh, F = network::outputs_of(network::layers - 1), network::targets());
}

/// The network; affine(x, l) is layer l's x · W + b.
template <class X, class Affine>
auto predict(X x, Affine const& affine) {
  constexpr std::size_t last = network::layers - 1;
  for (std::size_t l = 0; l < last; ++l) x = os::rename<F, D>(os::map(network::relu{}, affine(x, l)));
  return affine(x, last);
}

/// The squared errors of each sample: [N]
auto squared_errors(auto const& predictions, auto const& targets) {
  return os::sum<N>(os::map(network::squared_difference{}, predictions, targets));
}

/// Prints the loss and whether it is the known one; returns the exit status of main.
int verdict_of_loss(auto const& loss, auto const& mesh) {
  bool const good = network::is_loss(double{os::value(loss)});
  if (mesh.device() == 0) std::printf("loss %.6f: %s\n", double{os::value(loss)}, good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
