// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::variable<T>`: a tensor of type T in a program whose derivative is taken. It holds its value and a
/// pointer to the sum of its cotangents. The type of the cotangents is a static property of the variable: by default
/// the value's own, not partial. So the sharding of a backward's result, and with it the plan, is known at compile
/// time. T may itself be a variable, of an outer derivative: second derivatives are derivatives of programs on
/// variables.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/calls/operate.hpp>
#include <ostraka/gradient/tape/differentiated.hpp>
#include <ostraka/gradient/tape/recipe.hpp>
#include <ostraka/gradient/tape/tape.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>

namespace ostraka {

namespace detail {

template <class T>
struct default_cotangent;
template <class T, class Sharding, class Space>
struct default_cotangent<basic_tensor<T, Sharding, Space>> {
  using type = basic_tensor<std::remove_const_t<T>, typename without_parts<Sharding>::type, Space>;
};

template <class TensorType>
struct default_cotangent<after_error<TensorType>> : default_cotangent<TensorType> {};

}  // namespace detail

/// The default type of a tensor's cotangents: the same type, not partial.
template <class T>
using cotangent_of = typename detail::default_cotangent<T>::type;

template <class T, class Cotangent = cotangent_of<T>>
class variable;

namespace detail {

// Marks the constructor that makes the value in place.
struct made_in_place {};

/// The place of a variable on its tape, for a value and cotangents of these types without their names: one class for
/// all shardings of a rank.
template <class Value, class Sum>
struct place_on_tape {
  slot_of_sum<Sum>* slot = nullptr;  ///< the slot of its cotangents; null for a constant
  tape_handle on{};
  int number = 0;                 ///< number of its operation, in the first run of a region
  recipe_handle<Value> recipe{};  ///< recomputes the value for nodes that do not keep it
};

template <class T, class Cotangent>
struct default_cotangent<variable<T, Cotangent>> {
  using type = variable<cotangent_of<T>>;
};

template <class Wanted, class T, class Cotangent>
constexpr variable<T, Wanted> with_cotangent(variable<T, Cotangent> const& x);

}  // namespace detail

/// A tensor with respect to which a derivative is taken, or that depends on one, in a function that os::value_and_grad
/// calls. `Cotangent` is the tensor type of its cotangents.
template <class T, class Cotangent>
class variable {
 public:
  using tensor_type = T;
  using cotangent_type = Cotangent;
  using value_type = typename T::value_type;
  using sharding_type = typename T::sharding_type;
  using space = typename T::space;
  using axes = typename T::axes;
  using mesh_axes = typename T::mesh_axes;
  static constexpr int rank = T::rank;

  variable() = default;

  /// A constant, for calls that need the type of a variable.
  variable(T const& value) : value_(value) {}

  variable(T&& value, detail::cotangent_slot<Cotangent>* slot, detail::tape* tape)
      : value_(std::move(value)), place_{slot, tape} {}
  variable(T const& value, detail::cotangent_slot<Cotangent>* slot, detail::tape* tape)
      : value_(value), place_{slot, tape} {}

  /// The result of operation `number` in the first run of a region, which writes no nodes.
  variable(T&& value, int number, detail::tape* tape) : value_(std::move(value)), place_{nullptr, tape, number} {}
  variable(T const& value, int number, detail::tape* tape) : value_(value), place_{nullptr, tape, number} {}

  /// A constant whose value is what `make` returns, without a copy; `set_slot` or `set_number` puts it on a tape.
  template <class Make>
  variable(detail::made_in_place, Make const& make) : value_(make()) {}
  void set_slot(detail::cotangent_slot<Cotangent>* slot, detail::tape* tape) { place_.slot = slot, place_.on = tape; }
  void set_number(int number, detail::tape* tape) { place_.number = number, place_.on = tape; }

  /// The same value, with cotangents of another type: `os::variable<T> y = x;` begins a loop in which y has one type.
  template <class Other>
    requires(!std::is_same_v<Other, Cotangent>)
  variable(variable<T, Other> const& x) : variable(detail::with_cotangent<Cotangent>(x)) {}

  /// The plain tensor. Results computed from it are constants to the derivative.
  [[nodiscard]] T const& value() const { return value_; }

  template <Axis A>
  [[nodiscard]] auto extent(A a) const {
    return value_.extent(a);
  }
  [[nodiscard]] auto const& extents() const { return value_.extents(); }
  [[nodiscard]] auto sizes() const { return value_.sizes(); }
  [[nodiscard]] auto const& mesh_handle() const { return value_.mesh_handle(); }
  template <MeshAxis... More>
  [[nodiscard]] auto mesh(More... more) const {
    return value_.mesh(more...);
  }

  /// The slot of its cotangents, and its tape; nullptr for a constant.
  [[nodiscard]] detail::cotangent_slot<Cotangent>* slot() const { return place_.slot; }
  [[nodiscard]] detail::tape* tape() const { return place_.on.at; }

  /// The same tape, with its serial, which tells whether the tape still exists. A variable does not outlive the call
  /// that made it.
  [[nodiscard]] detail::tape_handle const& tape_handle() const { return place_.on; }

  /// The number of the operation that made it, in the first run of a region; else 0.
  [[nodiscard]] int number() const { return place_.number; }

  /// A variable with another value that shares this one's cotangents: the same tensor under another sharding.
  template <class Other>
  [[nodiscard]] variable<Other, Cotangent> as(Other value) const {
    return {std::move(value), place_.slot, place_.on.at};
  }

  /// This variable with an equal value, which may have another name.
  [[nodiscard]] variable with_value(T value) const {
    variable x = *this;
    x.value_ = std::move(value);
    return x;
  }

  /// The recipe by which nodes recompute the value if they do not keep it.
  [[nodiscard]] detail::recipe_of<T> const& recipe() const { return place_.recipe; }
  void set_recipe(detail::recipe_of<T> recipe) { place_.recipe = std::move(recipe); }
  [[nodiscard]] variable made_by(detail::recipe_of<T> recipe) const {
    variable x = *this;
    x.set_recipe(std::move(recipe));
    return x;
  }

  /// For the library: its place on the tape. Below, both parts, for functions that write them for all shardings.
  [[nodiscard]] auto const& place() const { return place_; }
  [[nodiscard]] auto& writable_place() { return place_; }
  [[nodiscard]] T& writable_value() { return value_; }

 private:
  T value_;
  detail::place_on_tape<detail::without_names<T>, detail::without_names<Cotangent>> place_;
};

template <class T, class Cotangent>
inline constexpr bool is_variable<variable<T, Cotangent>> = true;

namespace detail {

/// The interpreter of variables: runs the operation on their values and records it (record.hpp).
struct records {
  static constexpr int level = 2;
  template <class How, class Operation, class... Given>
  static constexpr auto operate(How const& how, Operation const& operation, Given const&... given);
  template <class Operation, class... Given>
  static constexpr auto record(Operation const& operation, Given const&... given);
  template <class X>
  static constexpr auto const& value_of(X const& x) {
    return x.value();
  }
};
template <class T, class Cotangent>
struct interpreter_of<variable<T, Cotangent>> {
  using type = records;
};

}  // namespace detail

/// The plain tensor of a variable, through which no derivative flows.
template <Tensor T>
[[nodiscard]] constexpr T stop_gradient(T const& x) {
  return x;
}
template <class T, class Cotangent>
[[nodiscard]] constexpr auto stop_gradient(variable<T, Cotangent> const& x) {
  return stop_gradient(x.value());
}

namespace detail {

/// The number of nested derivatives.
template <class T>
inline constexpr int depth_of = 0;
template <class T, class Cotangent>
inline constexpr int depth_of<variable<T, Cotangent>> = 1 + depth_of<T>;

/// True if a type is a variable of an abstract tensor (predict.hpp).
template <class T>
inline constexpr bool is_abstract_variable = false;
template <class T, class Cotangent>
inline constexpr bool is_abstract_variable<variable<T, Cotangent>> = is_abstract<T>;
template <class... Ts>
inline constexpr bool any_abstract_variable = (is_abstract_variable<Ts> || ...);
/// True if one of the types is a variable of an outer derivative.
template <class... Ts>
inline constexpr bool any_differentiated_again = ((is_variable<Ts> && !is_abstract<Ts>) || ...);

template <class... Ts>
inline constexpr int depth_of_all = std::max({0, depth_of<Ts>...});

/// A variable of an outer derivative, as the rules of an inner one treat it: a constant.
template <class V>
struct held {
  using value_type = typename V::value_type;
  using sharding_type = typename V::sharding_type;
  using space = typename V::space;
  using axes = typename V::axes;
  using mesh_axes = typename V::mesh_axes;
  static constexpr int rank = V::rank;

  V value;

  [[nodiscard]] auto const& extents() const { return value.extents(); }
  [[nodiscard]] auto const& mesh_handle() const { return value.mesh_handle(); }
};

// Unchanged if it is not a variable.
template <class T>
constexpr decltype(auto) as_held(T const& x) {
  if constexpr (is_variable<T>)
    return held<T>{x};
  else
    return (x);
}

template <int Depth, class T>
constexpr decltype(auto) at_depth(T const& x) {
  if constexpr (is_variable<T> && depth_of<T> < Depth)
    return held<T>{x};
  else
    return (x);
}

/// The argument for operations of one derivative less: a variable's value, any other argument unchanged.
template <class T>
constexpr T const& plain(T const& x) {
  return x;
}
template <class T, class Cotangent>
constexpr T const& plain(variable<T, Cotangent> const& x) {
  return x.value();
}
template <class V>
constexpr V const& plain(held<V> const& x) {
  return x.value;
}

template <class T>
using plain_type = std::remove_cvref_t<decltype(plain(std::declval<T const&>()))>;

}  // namespace detail

}  // namespace ostraka
