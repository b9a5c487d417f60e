// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::abstract<T>` is the type T of a tensor without elements, and works in constant expressions. It holds
/// its extents, the block that it would occupy, and a pointer to the record of the operations on it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/gradient/abstract/forecast.hpp>
#include <ostraka/gradient/cotangents/as.hpp>

namespace ostraka {

/// A tensor of type T without elements.
template <class T>
class abstract {
 public:
  using tensor_type = T;
  using value_type = typename T::value_type;
  using element_type = typename T::element_type;
  using sharding_type = typename T::sharding_type;
  using space = typename T::space;
  using axes = typename T::axes;
  using mesh_axes = typename T::mesh_axes;
  static constexpr int rank = T::rank;
  using extents_type = std::array<std::int64_t, static_cast<std::size_t>(rank)>;

  constexpr abstract() = default;
  /// A tensor in a given block; an operand has none.
  constexpr abstract(detail::forecast* written, extents_type const& extents, detail::predicted_block const& block)
      : forecast_(written), extents_(extents), block_(block) {
    if (written != nullptr) written->add_mesh_axes(mesh_axes_in<T>{});
  }
  /// A tensor in a block of its own.
  constexpr abstract(detail::forecast* written, extents_type const& extents) : abstract(written, extents, {}) {
    if (written != nullptr) block_ = written->allocate(written->bytes_of_block(*this));
  }

  /// The extent of an axis; while a program is listed, 64 if its type does not have it.
  template <Axis A>
  [[nodiscard]] constexpr std::int64_t extent(A) const {
    constexpr int at = position_in<A, axes>;
    if constexpr (at >= 0)
      return extents_[static_cast<std::size_t>(at)];
    else
      reason::raise<reason::axis_missing<A, sharding_type>>();
    return 1;
  }
  /// All extents, in the order of the axes.
  [[nodiscard]] constexpr extents_type const& extents() const { return extents_; }
  /// The sizes of mesh axes, for prices. @pre the tensor has a record
  [[nodiscard]] constexpr detail::size_table const* mesh_sizes() const { return &forecast_->sizes(); }

  /// The record of the operations on it.
  [[nodiscard]] constexpr detail::forecast* written() const { return forecast_; }
  [[nodiscard]] constexpr detail::predicted_block const& block() const { return block_; }

 private:
  detail::forecast* forecast_ = nullptr;
  extents_type extents_{};
  detail::predicted_block block_;
};

namespace detail {

/// The interpreter of abstract tensors: returns a result of the right type, and records the moves that it would take
/// (predict.hpp).
struct predicts {
  static constexpr int level = 1;
  template <class How, class Operation, class... Given>
  static constexpr auto operate(How const& how, Operation const& operation, Given const&... given);
  template <class Operation, class... Given>
  static constexpr auto record(Operation const& operation, Given const&... given);
};
template <class T>
struct interpreter_of<abstract<T>> {
  using type = predicts;
};

/// The interpreter of variables of abstract tensors (abstract_variable.hpp).
struct records_abstract {
  static constexpr int level = 3;
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
struct interpreter_of<variable<abstract<T>, Cotangent>> {
  using type = records_abstract;
};

}  // namespace detail

template <class T>
inline constexpr bool is_abstract<abstract<T>> = true;
template <class T>
inline constexpr bool is_variable<abstract<T>> = true;  // accepted where variables are; a constant for all derivatives

template <class T>
[[nodiscard]] constexpr abstract<T> stop_gradient(abstract<T> const& x) {
  return x;
}

namespace detail {

template <class T>
inline constexpr bool is_after_error<abstract<T>> = is_after_error<T>;

template <class A, class Sharding>
  requires(is_abstract<A> || is_abstract_variable<A>)
struct refused_of<A, Sharding> {
  using type = abstract<after_error_of<typename A::value_type, Sharding, typename A::space>>;
};

template <class T>
struct default_cotangent<abstract<T>> {
  using type = abstract<cotangent_of<T>>;
};

template <class T>
struct concrete {
  using type = T;
};
template <class T>
struct concrete<abstract<T>> {
  using type = T;
};

constexpr forecast* written_in() { return nullptr; }
template <class First, class... More>
constexpr forecast* written_in(First const& first, More const&... more) {
  if constexpr (is_abstract<First>)
    return first.written() != nullptr ? first.written() : written_in(more...);
  else
    return written_in(more...);
}

}  // namespace detail

}  // namespace ostraka
