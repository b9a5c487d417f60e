// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::adam` (Kingma and Ba, Adam: a method for stochastic optimization, 2015, algorithm 1) and `os::adamw`
/// (Loshchilov and Hutter, Decoupled weight decay regularization, 2019, algorithm 2, with the learning rate as its
/// schedule multiplier, as in PyTorch and optax). Step t, counted from 1:
///
///     m ← β₁ m + (1 − β₁) g                         p ← p − η m̂ / (√v̂ + ε) − η λ p
///     v ← β₂ v + (1 − β₂) g²                        m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)
///
/// For complex parameters g is the conjugate of the gradient and g² is |g|², as in optax: the imaginary parts of v are
/// 0.

#include <cmath>
#include <cstdint>
#include <string_view>

#include <ostraka/engine/kernels/numbers/square_root.hpp>
#include <ostraka/optimizers/learning_rates.hpp>
#include <ostraka/optimizers/update.hpp>

namespace ostraka {

namespace detail {

template <class Wide>
struct adam_step {
  using number = real_of<Wide>;
  number beta1, beta2, of_gradient, of_square;  ///< βs, and 1 − β
  number rate;                                  ///< η / (1 − β₁ᵗ)
  number correction;                            ///< 1 / (1 − β₂ᵗ)
  number epsilon;
  number keeps;  ///< 1 − η λ

  /// Updates the moments m and v with the gradient, and returns v̂.
  KOKKOS_INLINE_FUNCTION number remember(Wide const& g, Wide& m, Wide& v) const {
    m = beta1 * m + of_gradient * uphill(g);
    if constexpr (complex_number<Wide>) {
      number const square = beta2 * v.real() + of_square * (g.real() * g.real() + g.imag() * g.imag());
      v = Wide(square, number(0));
      return correction * square;
    } else {
      v = beta2 * v + of_square * g * g;
      return correction * v;
    }
  }
  KOKKOS_INLINE_FUNCTION void move(Wide& p, Wide const& m, number const& root) const {
    p = keeps * p - rate * m / (root + epsilon);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Wide& p, Wide const& g, Wide& m, Wide& v) const {
    move(p, m, engine::square_root(remember(g, m, v)));
  }
  void run(Wide* p, Wide const* g, Wide* m, Wide* v) const {
    number root[engine::run_of_neighbours];
    for (int i = 0; i < engine::run_of_neighbours; ++i) root[i] = remember(g[i], m[i], v[i]);
    engine::square_roots(engine::run_of_neighbours, root, root);
    for (int i = 0; i < engine::run_of_neighbours; ++i) move(p[i], m[i], root[i]);
  }
};

/// The numbers of one step in double, before they are converted for a leaf.
struct adam_numbers {
  double rate, beta1, beta2, epsilon, t;

  template <class Wide>
  [[nodiscard]] adam_step<Wide> step(double decay) const {
    using number = real_of<Wide>;
    return {number(beta1),
            number(beta2),
            number(1 - beta1),
            number(1 - beta2),
            number(rate / (1 - std::pow(beta1, t))),
            number(1 / (1 - std::pow(beta2, t))),
            number(epsilon),
            number(1 - rate * decay)};
  }
};

}  // namespace detail

/// The state of os::adam and os::adamw.
template <class L, class Shape>
struct adam_state {
  leaf<L, std::int64_t> steps;
  detail::filled_with<Shape, L> m;
  detail::filled_with<Shape, L> v;
};

namespace detail {

template <class P, class Split>
auto make_adam_state(P const& parameters) {
  using state = state_for<adam_state, P, Split>;
  using shape = typename parameters_traits<P>::shape;
  return state{no_steps<decltype(state::steps)>(parameters), zeros_of_state<shape, leaves_in<state>>(parameters),
               zeros_of_state<shape, leaves_in<state>>(parameters)};
}

// decay(path, rank) returns a leaf's λ.
template <class P, class G, class L, class Shape, class Decay>
void update_by_adam(char const* name, adam_numbers numbers, schedule const& rate, Decay const& decay,
                    P const& parameters, G const& gradients, adam_state<L, Shape> const& state) {
  std::int64_t const step = number_of_steps(name, state.steps);
  numbers.rate = rate(step);
  numbers.t = static_cast<double>(step + 1);
  auto one = [&]<class Leaf>(path const& at, Leaf const& p, auto const& g, auto const& m, auto const& v) {
    update_leaf(name, numbers.step<accumulator_of_t<typename Leaf::value_type>>(decay(at, Leaf::rank)), p, g, m, v);
  };
  for_each_parameter<Shape>(name, one, parameters, gradients, state.m, state.v);
  fill_block(name, state.steps, step + 1);
}

}  // namespace detail

/// Adam, with bias-corrected moments.
struct adam {
  schedule learning_rate = 1e-3;  ///< η
  double beta1 = 0.9;             ///< decay of the mean of gradients
  double beta2 = 0.999;           ///< decay of the mean of their squares
  double epsilon = 1e-8;          ///< added to the root of that mean

  /// The state before the first step, divided further over the mesh axes of os::split_over.
  template <class P, class Split = detail::split_state_over<>>
  [[nodiscard]] auto init(P const& parameters, Split const& = {}) const {
    return detail::make_adam_state<P, Split>(parameters);
  }

  /// Updates the parameters and the state. Collective if the state is divided further than its parameter, or if a
  /// gradient has to be reduced.
  template <class P, class G, class L, class Shape>
  void update(P const& parameters, G const& gradients, adam_state<L, Shape> const& state) const {
    detail::update_by_adam(
        "adam", {0, beta1, beta2, epsilon, 0}, learning_rate, [](detail::path const&, int) { return 0.0; }, parameters,
        gradients, state);
  }
};

/// For `decays` of os::adamw: true for leaves with two axes or more, so neither for biases nor for the scales of norms.
inline bool decays_matrices(std::string_view, int rank) { return rank >= 2; }

/// Adam with weight decay that is decoupled from the gradient.
struct adamw {
  schedule learning_rate = 1e-3;  ///< η
  double beta1 = 0.9;             ///< decay of the mean of gradients
  double beta2 = 0.999;           ///< decay of the mean of their squares
  double epsilon = 1e-8;          ///< added to the root of that mean
  double weight_decay = 1e-2;  ///< λ

  /// Returns true for leaves that decay, by path (`layers[3].w1`, empty for a single tensor) and number of axes; null:
  /// all leaves decay.
  bool (*decays)(std::string_view path, int rank) = nullptr;

  /// The state before the first step, divided further over the mesh axes of os::split_over.
  template <class P, class Split = detail::split_state_over<>>
  [[nodiscard]] auto init(P const& parameters, Split const& = {}) const {
    return detail::make_adam_state<P, Split>(parameters);
  }

  /// Updates the parameters and the state. Collective if the state is divided further than its parameter, or if a
  /// gradient has to be reduced.
  template <class P, class G, class L, class Shape>
  void update(P const& parameters, G const& gradients, adam_state<L, Shape> const& state) const {
    auto const decay = [this](detail::path const& at, int rank) {
      return decays == nullptr || decays(at.text(), rank) ? weight_decay : 0.0;
    };
    detail::update_by_adam("adamw", {0, beta1, beta2, epsilon, 0}, learning_rate, decay, parameters, gradients, state);
  }
};

}  // namespace ostraka
