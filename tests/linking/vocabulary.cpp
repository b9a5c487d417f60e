// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The vocabulary that programs of neural networks call, with its derivatives, for one element type. It is compiled
/// with ostraka::compiled and not run: library_is_whole.cmake checks which functions of the engine its object holds.

#include <cstdint>
#include <tuple>

#include <ostraka/files.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/optimizers.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(S, 16);
OSTRAKA_AXIS(T);
OSTRAKA_AXIS(V);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(H);
OSTRAKA_AXIS(D);
OSTRAKA_AXIS(E);
OSTRAKA_AXIS(P, 2);
OSTRAKA_MESH_AXIS(X);

using mesh_type = os::mesh<X_mesh>;
using number = VOCABULARY_ELEMENT;
template <auto... Dims>
using numbers = os::tensor<number, Dims...>;

template <class L>
struct parameters {
  os::leaf<L, number, V/X, M> table;
  os::leaf<L, number, M> gain, bias;
  os::leaf<L, number, M, H/X, D> queries;
};

auto elementwise(auto const& x, auto const& y) {
  auto const a = os::tanh(os::exp(x)) + os::sqrt(os::log(y)) - os::sigmoid(x) * os::silu(y);
  auto const b = os::gelu(a) / os::gelu_tanh(x) + os::relu(y) * 2 - os::square(a) / 3 + 1 - (1 - os::abs(x));
  return os::where(os::greater(x, y), os::maximum(a, b), os::rsqrt(-os::minimum(a, b)));
}

auto norms(auto const& x, auto const& gain, auto const& bias) {
  return os::rms_norm<M>(os::layer_norm<M>(os::layer_norm<M>(os::rms_norm<M>(x), gain, bias), gain, bias), gain);
}

auto attention(auto const& x, auto const& w, auto const& positions) {
  auto const q = os::einsum<B, S, H/X, D>(x, w);
  auto const k = os::rope<S, E, P>(os::split<D, E, P>(q, P = 2), positions);
  auto const keys = os::rename<S, T>(os::merge<E, P, D>(k));
  return os::einsum<B, S, M>(
      os::attention<S, T, D>(q, keys, os::transpose<B, H, T, D>(os::rename<S, T>(q)), os::causal), w);
}

struct loss {
  auto operator()(auto const& p, auto const& tokens, auto const& next, auto const& positions, auto const& mask) const {
    auto const x = os::take<V, B, S, M>(p.table, tokens);
    auto const y = norms(elementwise(x, attention(x, p.queries, positions)), p.gain, p.bias);
    auto const z = os::softmax<M>(y, mask) + os::log_softmax<M>(os::softmax<M>(y));
    auto const logits = os::einsum<B, S, V/X>(z, p.table);
    return os::mean<>(os::cross_entropy<V/X>(logits, next, os::ignore(-100))) +
           os::mean<>(os::log_sum_exp<V/X>(logits));
  }
};

void step(mesh_type const& mesh, os::tensor<std::int32_t, B, S> const& tokens, os::tensor<bool, S, M> const& mask) {
  auto const p = os::load<parameters>("parameters.safetensors", mesh);
  auto const positions = os::iota<std::int32_t, S>(mesh);
  auto const adam = os::adamw{.learning_rate = 1e-3};
  auto const state = adam.init(p);
  auto const [value, gradients] = os::value_and_grad(loss{})(p, tokens, tokens, positions, mask);
  os::clip_by_global_norm(gradients, 1.0);
  adam.update(p, gradients, state);
  os::save("parameters.safetensors", os::together("p", p, "state", state));
}

auto shapes(numbers<T/X, M> const& x) {
  auto const wide = os::concatenate<M>(os::window<T/X>(x, 2, 10), os::roll<T/X>(os::pad<T/X>(x, 2, 3), 1));
  return os::broadcast<B, T/X, M>(os::flip<T/X>(wide), B = 4);
}

auto rows(numbers<S, M/X> const& x) { return std::tuple(os::argmax<M/X>(x), os::norm<M/X>(x)); }
