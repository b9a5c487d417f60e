// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::value_and_grad(f)(params, batch…)`: the value of f and its gradient with respect to params, by one run
/// of f on variables and one backward run of its tape. f is any callable on tensors, with loops, branches and
/// recursion. Its result is a number: a tensor without axes that is not partial. params are a tensor, or a tree of
/// tensors (tree.hpp), whose gradient is another tree.

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/creation/copy.hpp>
#include <ostraka/creation/zeros.hpp>
#include <ostraka/elements/cast.hpp>
#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/gradient/cotangents/as.hpp>
#include <ostraka/gradient/cotangents/deferred.hpp>

namespace ostraka {

/// The result of os::value_and_grad.
template <class Value, class Gradient>
struct value_with_gradient {
  Value value;        ///< what the function returned
  Gradient gradient;  ///< the derivative, of the parameters' type
};

/// The result for a function that returns more than its loss, `std::tuple(loss, logits)`. `aux` holds the other values,
/// as a std::tuple if there are several; no derivative flows through them.
template <class Value, class Gradient, class Aux>
struct value_with_gradient_and_aux {
  Value value;        ///< the loss
  Gradient gradient;  ///< its derivative, of the parameters' type
  Aux aux;            ///< the values that the function returned in addition to the loss
};

namespace detail {

template <class T>
consteval auto check_differentiable() {
  using value = typename T::value_type;
  if constexpr (is_differentiable<value>)
    return found<reason::ok>{};
  else
    return found<reason::derivative_of_integers<value>>{};
}

/// `reason::ok` if derivatives of T can be taken.
template <class T>
using differentiable_verdict = typename decltype(check_differentiable<T>())::type;

// The first mesh axis along which a loss varies and the gradient of a variable does not: the gradient would need a sum
// over devices that the program has not written.
template <class Loss, class V>
consteval auto check_gradient_varies() {
  using cotangent = typename V::cotangent_type;
  using summed = difference_of<varying_in<Loss>, varying_in<cotangent>>;
  if constexpr (summed::size > 0)
    return found<reason::loss_varies_where_gradient_does_not<typename type_at<summed, 0>::type, sharding_in<Loss>,
                                                             sharding_in<cotangent>>>{};
  else
    return found<reason::ok>{};
}

template <class Loss, class... Vs>
consteval auto check_gradients_vary(type_list<Vs...>) {
  return found<first_fault<typename decltype(check_gradient_varies<Loss, Vs>())::type...>>{};
}

// `P` are the parameters, as variables.
template <class Loss, class P>
consteval auto check_loss() {
  if constexpr (is_after_error<Loss>)
    return found<reason::ok>{};
  else if constexpr (!TensorOrVariable<Loss>)
    return found<reason::loss_is_not_a_scalar<Loss>>{};
  else if constexpr (axes_in<Loss>::size > 0 || sharding_traits<sharding_in<Loss>>::partials::size > 0)
    return found<reason::loss_is_not_a_scalar<sharding_in<Loss>>>{};
  else if constexpr (!is_real<typename Loss::value_type>)
    return found<reason::loss_is_complex<typename Loss::value_type>>{};
  else if constexpr (varying_in<Loss>::size == 0)
    return found<reason::ok>{};
  else if constexpr (is_variable<P>)
    return check_gradient_varies<Loss, P>();
  else
    return check_gradients_vary<Loss>(typename leaf_list<shape_of<P>, P>::type{});
}

template <class Loss, class P>
using loss_verdict = typename decltype(check_loss<Loss, std::remove_cvref_t<P>>())::type;

template <class How>
struct make_variable {
  tape* t;

  template <class T>
  auto operator()(T const& x) const {
    using cotangent = cotangent_by<How, T>;
    reason::raise<first_fault<differentiable_verdict<T>, cotangent_verdict<T, cotangent>>>();
    return variable<T, cotangent>(x, t->push<cotangent_slot<cotangent>>(), t);
  }
};

// A tensor as a variable of as many derivatives as `To`; it is a constant for all of them.
template <class To, class T>
To lifted(T const& x) {
  if constexpr (std::is_same_v<To, T> || std::is_convertible_v<T const&, To>)
    return x;
  else
    return To(lifted<typename To::tensor_type>(x));
}

struct as_constant {
  template <class T>
  auto operator()(T const& x) const {
    return variable<T>(x);
  }
};

// Parameters at which a function of variables of `Depth` derivatives is differentiated once more.
template <int Depth, class T>
auto at_derivative(T const& x) {
  if constexpr (derivatives_in<T>() >= Depth)
    return x;
  else if constexpr (TensorOrVariable<T>)
    return at_derivative<Depth>(variable<T>(x));
  else
    return at_derivative<Depth>(tree_map<typename variables_of_leaves<leaves_in<T>>::type>(as_constant{}, x));
}

template <class How, class T>
auto as_variables(tape& t, T const& x) {
  if constexpr (TensorOrVariable<T>)
    return make_variable<How>{&t}(x);
  else
    return tree_map<typename differentiated_leaves<How, leaves_in<T>>::type>(make_variable<How>{&t}, x);
}

// Copies a tensor whose block has other handles or owners, because programs write to values and gradients in place.
template <class T>
T unshared(T const& x) {
  if constexpr (Tensor<T> && !is_after_error<T>)
    if (engine::holders_of(x.local()) != 1) return copy(x);
  return x;
}

// The gradient of a leaf that the loss does not use.
template <class Cotangent, class T>
[[gnu::cold, gnu::noinline]] Cotangent zero_gradient(variable<T, Cotangent> const& x) {
  using zeros = decltype(stop_gradient(std::declval<Cotangent const&>()));
  zeros zero = allocate<zeros>(x.value().mesh_handle(), x.extents());
  if constexpr (varying_in<T>::size > 0) zero.set_origins(stop_gradient(x).origins());
  fill_block("gradient", zero, typename zeros::value_type(0));
  return lifted<Cotangent>(zero);
}

// The gradient of a leaf.
template <class T, class Cotangent>
Cotangent leaf_gradient(variable<T, Cotangent> const& x) {
  if (x.slot()->is_empty()) return zero_gradient<Cotangent>(x);
  Cotangent sum(x.slot()->sum());
  if constexpr (Tensor<Cotangent>)
    if (engine::holders_of(sum.local()) != 2) return copy(sum);  // expects two holders, the slot and this handle,
                                                                 // because programs write to gradients in place
  return sum;
}

struct gradient_of_leaf {
  template <class V>
  auto operator()(V const& x) const {
    return leaf_gradient(x);
  }
};

// `Parameters` has the leaf policy from which that of the gradient follows.
template <class How, class Parameters, class V>
auto gradient_of(V const& x) {
  if constexpr (is_variable<V>)
    return leaf_gradient(x);
  else
    return tree_map<typename gradient_leaves<How, leaves_in<Parameters>>::type>(gradient_of_leaf{}, x);
}

template <class P>
consteval auto check_parameters() {
  if constexpr (TensorOrVariable<P>)
    return found<differentiable_verdict<P>>{};
  else
    return found<trees_verdict<P>>{};
}

// True if a function returns more than its loss.
template <class T>
inline constexpr bool returns_aux = false;
template <class Loss, class First, class... Rest>
inline constexpr bool returns_aux<std::tuple<Loss, First, Rest...>> = true;

template <class How, class F>
class value_and_gradient_of {
 public:
  explicit value_and_gradient_of(F function) : f(std::move(function)) {}

  template <class Parameters, class... Constants>
  auto operator()(Parameters const& parameters, Constants const&... constants) const {
    if constexpr (!reason::ok_or_raise<typename decltype(check_parameters<Parameters>())::type>())
      return value_with_gradient<Parameters, Parameters>{parameters, parameters};
    else
      return differentiate_at(at_derivative<std::max({0, derivatives_in<Constants>()...})>(parameters), constants...);
  }

 private:
  template <class Parameters, class... Constants>
  auto differentiate_at(Parameters const& parameters, Constants const&... constants) const {
    tape t;
    auto const p = as_variables<How>(t, parameters);
    tape_node const* const leaves = t.last();
    auto const given = f(p, constants...);
    if constexpr (returns_aux<std::remove_cvref_t<decltype(given)>>) {
      return std::apply(
          [&](auto const& loss, auto const&... more) {
            auto const r = pulled_from(t, leaves, parameters, p, loss);
            using aux = decltype(beside(plain(more)...));
            return value_with_gradient_and_aux<decltype(r.value), decltype(r.gradient), aux>{
                r.value, r.gradient, beside(plain(more)...)};
          },
          given);
    } else {
      return pulled_from(t, leaves, parameters, p, given);
    }
  }

  template <class... Ts>
  static auto beside(Ts const&... more) {
    if constexpr (sizeof...(Ts) == 1)
      return std::get<0>(std::tuple(more...));
    else
      return std::tuple(more...);
  }

  // The value of the loss, and the gradients from running the tape back.
  template <class Parameters, class P, class Loss>
  [[gnu::cold]] static auto pulled_from(tape& t, tape_node const* leaves, Parameters const& parameters, P const& p,
                          Loss const& loss) {
    using result = std::remove_cvref_t<Loss>;
    if constexpr (!reason::ok_or_raise<loss_verdict<result, P>>()) {
      return value_with_gradient<plain_type<result>, Parameters>{plain(loss), parameters};
    } else if constexpr (is_variable<result>) {
      if (loss.tape() == nullptr) return with_gradient<Parameters>(loss.value(), p);  // a constant
      if (tape_of(loss) != &t) throw_other_tape();
      auto one = zeros_like(stop_gradient(loss));
      fill_block("value_and_grad", one, typename result::value_type(1));
      add_cotangent(loss, lifted<cotangent_of<typename result::tensor_type>>(one));
      t.unwind_to(leaves);
      return with_gradient<Parameters>(loss.value(), p);
    } else {
      return with_gradient<Parameters>(loss, p);
    }
  }

  template <class Parameters, class Value, class P>
  [[gnu::cold]] static auto with_gradient(Value const& value, P const& p) {
    using gradient = decltype(gradient_of<How, Parameters>(p));
    return value_with_gradient<Value, gradient>{unshared(value), gradient_of<How, Parameters>(p)};
  }

  F f;
};

}  // namespace detail

/// The function that returns f's value and its gradient with respect to its first argument: `.value` and `.gradient`.
/// For an f that returns `std::tuple(loss, more…)` also `.aux`, JAX's has_aux.
///
/// For a complex parameter x + iy the gradient of the loss u is ∂u/∂x − i ∂u/∂y, as in JAX: steepest descent is along
/// minus its conjugate, `os::conj(gradient)`, which the optimisers use.
///
/// In the body of os::shard_map parameters are blocks, tensors that a body captures, and trees of both. A loss that is
/// the same on all devices (os::psum<X>) has one gradient, of the sum. A loss that varies along X has a gradient for
/// each device with respect to a parameter that varies: a block, or os::pvary<X>(w). With respect to a parameter that
/// does not vary, it does not compile.
///
/// Gradients have the parameters' types, unless `How` says otherwise: os::deferred_over<X>, which leaves them partial,
/// a leaf policy of the program's own, or os::dims<I, J, os::partial(X)> for a single tensor.
template <class How = void, class F>
[[nodiscard]] auto value_and_grad(F f) {
  return detail::value_and_gradient_of<How, F>(std::move(f));
}

}  // namespace ostraka
