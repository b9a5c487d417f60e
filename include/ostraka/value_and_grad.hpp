// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::value_and_grad(f)(params, batch…)`: the value of f and its gradient with respect to params, by one run
/// of f on variables and one of its tape back. f is any callable on tensors, with loops, branches and recursion; its
/// result is a number: a tensor without axes that is not partial. params are a tensor, or a tree of them (tree.hpp),
/// of which the gradient is another one.

#include <type_traits>
#include <utility>

#include <ostraka/copy.hpp>
#include <ostraka/gradient/record.hpp>
#include <ostraka/tree/map.hpp>
#include <ostraka/zeros.hpp>

namespace ostraka {

/// Variables stand in the leaves of a tree: `mlp<os::variables>` is what a function of parameters `mlp<os::values>` is
/// called with by os::value_and_grad.
struct variables {
  template <class T, class Sharding>
  using leaf = variable<values::leaf<T, Sharding>>;
};

/// What os::value_and_grad gives.
template <class Value, class Gradient>
struct value_with_gradient {
  Value value;
  Gradient gradient;
};

namespace detail {

template <class T>
consteval auto check_differentiable() {
  using value = typename T::value_type;
  if constexpr (std::is_floating_point_v<value> || is_narrow<value>)
    return found<no_block_verdict<T, operation::value_and_grad>>{};
  else
    return found<reason::derivative_of_no_real_numbers<value>>{};
}

/// Can derivatives be taken of it?
template <class T>
using differentiable_verdict = typename decltype(check_differentiable<T>())::type;

template <class Loss>
consteval auto check_loss() {
  if constexpr (axes_in<Loss>::size > 0 || sharding_traits<sharding_in<Loss>>::partials::size > 0)
    return found<reason::loss_is_no_number<sharding_in<Loss>>>{};
  else
    return found<reason::ok>{};
}

template <class Loss>
using loss_verdict = typename decltype(check_loss<Loss>())::type;

struct make_variable {
  tape* t;

  template <class T>
  auto operator()(T const& x) const {
    reason::raise<differentiable_verdict<T>>();
    using cotangent = cotangent_of<T>;
    return variable<T, cotangent>(x, t->push<cotangent_slot<cotangent>>(), t);
  }
};

template <class T>
auto as_variables(tape& t, T const& x) {
  if constexpr (Tensor<T>)
    return make_variable{&t}(x);
  else
    return tree_map<variables>(make_variable{&t}, x);
}

// What is not used has the gradient zero. A cotangent that another one shares is copied: a gradient may be written to.
template <class T, class Cotangent>
Cotangent leaf_gradient(variable<T, Cotangent> const& x) {
  if (!x.slot()->is_empty())
    return x.slot()->sum().local().use_count() > 1 ? copy(x.slot()->sum()) : x.slot()->sum();
  Cotangent zero = allocate<Cotangent>(x.value().mesh_handle(), x.extents());
  fill_block("gradient", zero, typename Cotangent::value_type(0));
  return zero;
}

struct gradient_of_leaf {
  template <class V>
  auto operator()(V const& x) const {
    return leaf_gradient(x);
  }
};

template <class V>
auto gradient_of(V const& x) {
  if constexpr (is_variable<V>)
    return leaf_gradient(x);
  else
    return tree_map<values>(gradient_of_leaf{}, x);
}

template <class P>
consteval auto check_parameters() {
  if constexpr (Tensor<P>)
    return found<differentiable_verdict<P>>{};
  else
    return found<trees_verdict<P>>{};
}

template <class F>
class value_and_gradient_of {
 public:
  explicit value_and_gradient_of(F function) : f(std::move(function)) {}

  template <class Parameters, class... Constants>
  auto operator()(Parameters const& parameters, Constants const&... constants) const {
    if constexpr (!reason::ok_or_raise<typename decltype(check_parameters<Parameters>())::type>())
      return value_with_gradient<Parameters, Parameters>{parameters, parameters};
    else
      return differentiate_at(parameters, constants...);
  }

 private:
  template <class Parameters, class... Constants>
  auto differentiate_at(Parameters const& parameters, Constants const&... constants) const {
    tape t;
    auto const p = as_variables(t, parameters);
    tape_node const* const leaves = t.last();
    auto const loss = f(p, constants...);
    using result = std::remove_cvref_t<decltype(loss)>;
    if constexpr (!reason::ok_or_raise<loss_verdict<result>>()) {
      return value_with_gradient<plain_type<result>, Parameters>{plain(loss), parameters};
    } else if constexpr (is_variable<result>) {
      if (loss.tape() != &t) throw_other_tape();
      auto one = zeros_like(loss.value());
      fill_block("value_and_grad", one, typename result::value_type(1));
      loss.slot()->add(one);
      t.unwind_to(leaves);
      return value_with_gradient<typename result::tensor_type, decltype(gradient_of(p))>{loss.value(), gradient_of(p)};
    } else {
      return value_with_gradient<result, decltype(gradient_of(p))>{loss, gradient_of(p)};
    }
  }

  F f;
};

}  // namespace detail

/// The function that gives f's value and its gradient with respect to its first argument: `.value` and `.gradient`.
template <class F>
[[nodiscard]] auto value_and_grad(F f) {
  return detail::value_and_gradient_of<F>(std::move(f));
}

}  // namespace ostraka
