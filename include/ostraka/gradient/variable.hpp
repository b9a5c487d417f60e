// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::variable<T>`: a tensor of type T in a program whose derivative is taken. It knows its value and where
/// its cotangents are summed up, and their type is a static property of it: by default the value's own, without parts.
/// So the sharding that a backward is asked for is known while compiling, and with it its plan.

#include <cstdint>
#include <type_traits>

#include <ostraka/gradient/tape.hpp>
#include <ostraka/types/differentiated.hpp>

namespace ostraka {

namespace detail {

template <class Entry>
struct without_parts_entry {
  using type = Entry;
};
template <Partial P>
struct without_parts_entry<P> {
  using type = sharding<>;
};

template <class T>
struct default_cotangent;
template <class T, class... Entries, class Space>
struct default_cotangent<basic_tensor<T, sharding<Entries...>, Space>> {
  using type = basic_tensor<std::remove_const_t<T>, canonical_sharding<typename without_parts_entry<Entries>::type...>,
                            Space>;
};

}  // namespace detail

/// The type of the cotangents of a tensor, unless it is told: the same without parts.
template <class T>
using cotangent_of = typename detail::default_cotangent<T>::type;

template <class T, class Cotangent = cotangent_of<T>>
class variable;

namespace detail {

template <class Wanted, class T, class Cotangent>
variable<T, Wanted> with_cotangent(variable<T, Cotangent> const& x);

}  // namespace detail

/// A tensor whose derivative is wanted, in a function that os::value_and_grad calls. `Cotangent`: the tensor type of
/// its cotangents.
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

  variable(T const& value, detail::cotangent_slot<Cotangent>* slot, detail::tape* tape)
      : value_(value), slot_(slot), tape_(tape) {}

  /// The same value, with cotangents of another type: `os::variable<T> y = x;` begins a loop in which y has one type.
  template <class Other>
    requires(!std::is_same_v<Other, Cotangent>)
  variable(variable<T, Other> const& x) : variable(detail::with_cotangent<Cotangent>(x)) {}

  /// The plain tensor; what is computed of it is a constant to the derivative.
  [[nodiscard]] T const& value() const { return value_; }

  template <Axis A>
  [[nodiscard]] auto extent(A a) const {
    return value_.extent(a);
  }
  [[nodiscard]] auto const& extents() const { return value_.extents(); }
  [[nodiscard]] auto sizes() const { return value_.sizes(); }
  [[nodiscard]] auto const& mesh_handle() const { return value_.mesh_handle(); }

  [[nodiscard]] detail::cotangent_slot<Cotangent>* slot() const { return slot_; }
  [[nodiscard]] detail::tape* tape() const { return tape_; }

  /// Another value whose cotangents are this one's: the same tensor under another sharding.
  template <class Other>
  [[nodiscard]] variable<Other, Cotangent> as(Other const& value) const {
    return {value, slot_, tape_};
  }

 private:
  T value_;
  detail::cotangent_slot<Cotangent>* slot_;
  detail::tape* tape_;
};

template <class T, class Cotangent>
inline constexpr bool is_variable<variable<T, Cotangent>> = true;

/// The plain tensor of a variable, through which no derivative flows.
template <class T, class Cotangent>
[[nodiscard]] T stop_gradient(variable<T, Cotangent> const& x) {
  return x.value();
}
template <Tensor T>
[[nodiscard]] T stop_gradient(T const& x) {
  return x;
}

namespace detail {

/// What plain verbs take: a variable's value, anything else as it is.
template <class T>
T const& plain(T const& x) {
  return x;
}
template <class T, class Cotangent>
T const& plain(variable<T, Cotangent> const& x) {
  return x.value();
}

template <class T>
using plain_type = std::remove_cvref_t<decltype(plain(std::declval<T const&>()))>;

}  // namespace detail

}  // namespace ostraka
