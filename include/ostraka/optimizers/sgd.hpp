// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Gradient descent: `os::sgd`, whose state is only the number of steps, and `os::momentum`, whose sum of
/// gradients decays: m ← β m + g, then p ← p − η m, or with Nesterov's look ahead p ← p − η (g + β m). (Sutskever and
/// others, On the importance of initialization and momentum in deep learning, 2013, in the form of PyTorch and optax.)
/// For complex parameters g is the conjugate of the gradient.

#include <cstdint>

#include <ostraka/optimizers/learning_rates.hpp>
#include <ostraka/optimizers/update.hpp>

namespace ostraka {

namespace detail {

/// p − rate (g + decay p)
template <class Wide>
struct descend {
  real_of<Wide> rate, decay;

  KOKKOS_INLINE_FUNCTION void operator()(Wide& p, Wide const& g) const { p -= rate * (uphill(g) + decay * p); }
  void run(Wide* p, Wide const* g) const {
    for (int i = 0; i < engine::run_of_neighbours; ++i) (*this)(p[i], g[i]);
  }
};

template <class Wide>
struct descend_with_momentum {
  real_of<Wide> rate, beta, decay;
  real_of<Wide> of_sum, of_gradient;  ///< the weight of each in a step

  KOKKOS_INLINE_FUNCTION void operator()(Wide& p, Wide const& gradient, Wide& m) const {
    Wide const g = uphill(gradient) + decay * p;
    m = beta * m + g;
    p -= rate * (of_sum * m + of_gradient * g);
  }
  void run(Wide* p, Wide const* g, Wide* m) const {
    for (int i = 0; i < engine::run_of_neighbours; ++i) (*this)(p[i], g[i], m[i]);
  }
};

}  // namespace detail

/// The state of os::sgd.
template <class L, class Shape>
struct sgd_state {
  leaf<L, std::int64_t> steps;
};

/// The state of os::momentum.
template <class L, class Shape>
struct momentum_state {
  leaf<L, std::int64_t> steps;
  detail::filled_with<Shape, L> m;
};

/// Stochastic gradient descent: p ← p − η (g + λ p).
struct sgd {
  schedule learning_rate = 1e-2;  ///< η
  double weight_decay = 0;        ///< λ: λ p is added to the gradient

  /// The state before the first step. Takes os::split_over as other optimisers do, although there is nothing to divide.
  template <class P, class Split = detail::split_state_over<>>
  [[nodiscard]] auto init(P const& parameters, Split const& = {}) const {
    using state = detail::state_for<sgd_state, P, Split>;
    return state{detail::no_steps<decltype(state::steps)>(parameters)};
  }

  /// Updates the parameters and the state. Collective if a gradient has to be reduced.
  template <class P, class G, class L, class Shape>
  void update(P const& parameters, G const& gradients, sgd_state<L, Shape> const& state) const {
    std::int64_t const step = detail::number_of_steps("sgd", state.steps);
    double const rate = learning_rate(step);
    auto one = [&]<class Leaf>(detail::path const&, Leaf const& p, auto const& g) {
      using wide = accumulator_of_t<typename Leaf::value_type>;
      using number = detail::real_of<wide>;
      detail::update_leaf("sgd", detail::descend<wide>{static_cast<number>(rate), static_cast<number>(weight_decay)}, p,
                          g);
    };
    detail::for_each_parameter<Shape>("sgd", one, parameters, gradients);
    detail::fill_block("sgd", state.steps, step + 1);
  }
};

/// Gradient descent with momentum.
struct momentum {
  schedule learning_rate = 1e-2;  ///< η
  double beta = 0.9;              ///< decay of the momentum
  bool nesterov = false;          ///< true if the step looks ahead
  double weight_decay = 0;  ///< λ: λ p is added to the gradient

  /// The state before the first step, divided further over the mesh axes of os::split_over.
  template <class P, class Split = detail::split_state_over<>>
  [[nodiscard]] auto init(P const& parameters, Split const& = {}) const {
    using state = detail::state_for<momentum_state, P, Split>;
    using shape = typename detail::parameters_traits<P>::shape;
    return state{detail::no_steps<decltype(state::steps)>(parameters),
                 detail::zeros_of_state<shape, detail::leaves_in<state>>(parameters)};
  }

  /// Updates the parameters and the state. Collective if the state is divided further than its parameter, or if a
  /// gradient has to be reduced.
  template <class P, class G, class L, class Shape>
  void update(P const& parameters, G const& gradients, momentum_state<L, Shape> const& state) const {
    std::int64_t const step = detail::number_of_steps("momentum", state.steps);
    double const rate = learning_rate(step);
    auto one = [&]<class Leaf>(detail::path const&, Leaf const& p, auto const& g, auto const& m) {
      using wide = accumulator_of_t<typename Leaf::value_type>;
      using number = detail::real_of<wide>;
      detail::descend_with_momentum<wide> const rule{
          static_cast<number>(rate), static_cast<number>(beta), static_cast<number>(weight_decay),
          static_cast<number>(nesterov ? beta : 1.0), nesterov ? number(1) : number(0)};
      detail::update_leaf("momentum", rule, p, g, m);
    };
    detail::for_each_parameter<Shape>("momentum", one, parameters, gradients, state.m);
    detail::fill_block("momentum", state.steps, step + 1);
  }
};

}  // namespace ostraka
