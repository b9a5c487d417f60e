// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::abstract<T>` is the type T of a tensor without elements, and works in constant expressions. It holds a
/// pointer to the record of the operations on it, and the block in which it would be.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include <ostraka/gradient/abstract/predicted_memory.hpp>
#include <ostraka/gradient/cotangents/as.hpp>

namespace ostraka {

template <class T>
class abstract;

/// One operation of a program without elements.
struct predicted_operation {
  std::string_view name;                                             ///< the name of the verb or operation
  int (*count)(step) = nullptr;                                      ///< the number of its steps of this kind
  std::int64_t (*total_bytes)(detail::size_table const&) = nullptr;  ///< bytes that all devices move together
  std::int64_t (*bytes)(detail::size_table const&) = nullptr;        ///< bytes that a device moves
  std::int64_t (*flops)(detail::size_table const&) = nullptr;        ///< of products and sums, on the busiest device
  std::int64_t (*workspace)(detail::size_table const&) = nullptr;    ///< bytes that its plan sets aside
  // Stored, not derived from the pointers: under -fsanitize=undefined g++ does not take a comparison of a function's
  // address for constant.
  bool priced = false;
  bool needs_workspace = false;

  /// True if its communication is known from types and sizes. That of a roll by a run-time number of places is not.
  [[nodiscard]] constexpr bool is_priced() const { return priced; }
};

namespace detail {

/// The record of a program: its operations and memory events, in order.
class forecast {
 public:
  constexpr void add(predicted_operation const& op) {
    operations_.push_back(op);
    if (op.needs_workspace) events_.push_back({-1, op.workspace});
  }
  [[nodiscard]] constexpr std::vector<predicted_operation> const& operations() const { return operations_; }

  /// Records a block of that many bytes. @returns its number
  constexpr int allocate(predicted_bytes bytes) {
    events_.push_back({blocks_, bytes});
    return blocks_++;
  }
  constexpr void release(int block) { events_.push_back({block, nullptr, true}); }
  [[nodiscard]] constexpr std::vector<memory_event> const& events() const { return events_; }

  /// Records a parameter, or data, whose memory is not the program's.
  template <class T>
  constexpr void add_operand() {
    operands_.push_back(&largest_block_bytes<T>);
    add_mesh_axes(mesh_axes_in<T>{});
  }
  [[nodiscard]] constexpr std::vector<predicted_bytes> const& operands() const { return operands_; }

  /// Records that a tensor of the program is divided over these mesh axes, so that the program's mesh has them.
  template <class... Ms>
  constexpr void add_mesh_axes(type_list<Ms...>) {
    (add_mesh_axis(Ms::name, Ms::extent), ...);
  }
  /// The mesh axes whose sizes are known from types.
  [[nodiscard]] constexpr std::vector<named_size> const& mesh() const { return mesh_; }
  [[nodiscard]] constexpr int blocks() const { return blocks_; }

 private:
  constexpr void add_mesh_axis(std::string_view name, std::int64_t size) {
    if (size == dynamic_extent) return;
    for (named_size const& m : mesh_)
      if (m.name == name) return;
    mesh_.push_back({name, size, true});
  }

  std::vector<predicted_operation> operations_;
  std::vector<predicted_bytes> operands_;
  std::vector<named_size> mesh_;
  std::vector<memory_event> events_;
  int blocks_ = 0;
};

using predicted_block = abstract_block<forecast>;

}  // namespace detail

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

  constexpr abstract() = default;
  /// A tensor in a block of its own.
  constexpr explicit abstract(detail::forecast* written)
      : forecast_(written), block_(written, &detail::largest_block_bytes<T>) {
    if (written != nullptr) written->add_mesh_axes(mesh_axes_in<T>{});
  }
  /// A tensor in a given block; an operand is in none.
  constexpr abstract(detail::forecast* written, detail::predicted_block const& block)
      : forecast_(written), block_(block) {}

  /// Unknown; ones, so that programs can divide by them.
  [[nodiscard]] constexpr std::array<std::int64_t, static_cast<std::size_t>(rank)> extents() const {
    std::array<std::int64_t, static_cast<std::size_t>(rank)> ones{};
    for (std::int64_t& e : ones) e = 1;
    return ones;
  }

  /// The record of the operations on it.
  [[nodiscard]] constexpr detail::forecast* written() const { return forecast_; }
  [[nodiscard]] constexpr detail::predicted_block const& block() const { return block_; }

 private:
  detail::forecast* forecast_ = nullptr;
  detail::predicted_block block_;
};

namespace detail {

/// The interpreter of abstract tensors: gives the result's type, and records the moves that it would take
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
inline constexpr bool is_variable<abstract<T>> = true;  // goes where variables go; a constant to all derivatives

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
