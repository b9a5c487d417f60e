// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The record of a program without elements. The program runs once without sizes, to list its operations, and
/// once for each question about its costs. Then its tensors have the extents of that question, and the record adds up
/// the costs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/gradient/abstract/predicted_memory.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

/// One operation of a program without elements.
struct predicted_operation {
  std::string_view name;         ///< the name of the verb or operation
  int (*count)(step) = nullptr;  ///< the number of its steps of this kind
  // Stored, not derived from the pointer: under -fsanitize=undefined g++ does not take a comparison of a function's
  // address for constant.
  bool priced = false;

  /// True if types, sizes and the program's numbers determine the costs. For ragged exchanges they do not.
  [[nodiscard]] constexpr bool is_priced() const { return priced; }
};

namespace detail {

/// An extent by name.
struct named_size {
  std::string_view name;
  std::int64_t size = 0;
  bool is_of_mesh = false;
};

/// The extents for which a program is priced. Has the functions of engine::device_mesh that call_sizes calls.
struct size_table {
  static constexpr std::int64_t missing = -1;
  named_size const* first = nullptr;
  std::size_t count = 0;

  /// The extent that is given by this name, or `missing`.
  [[nodiscard]] constexpr std::int64_t given(std::string_view name) const {
    for (std::size_t i = 0; i < count; ++i)
      if (first[i].name == name) return first[i].size;
    return missing;
  }
  [[nodiscard]] constexpr std::size_t find(std::string_view name) const {
    for (std::size_t i = 0; i < count; ++i)
      if (first[i].name == name) return i;
    throw_error("gradient_plan: the extent of ", name, " is not given");
  }
  [[nodiscard]] constexpr std::int64_t size(std::size_t i) const { return first[i].size; }
  [[nodiscard]] constexpr std::int64_t devices() const {
    std::int64_t n = 1;
    for (std::size_t i = 0; i < count; ++i) n *= first[i].is_of_mesh ? first[i].size : 1;
    return n;
  }
};

/// Bytes and flops. In a question, the requested members are set; in an answer, all numbers are.
struct predicted_costs {
  std::int64_t total_bytes = 0;  ///< moved by all devices together
  std::int64_t bytes = 0;        ///< moved by a device, rounded up in each operation
  std::int64_t flops = 0;        ///< of products and sums, on the busiest device
};

/// A question about the costs of a program.
struct cost_question {
  bool total_bytes = false, bytes = false, flops = false, memory = false;
  bool of_backward = true;

  [[nodiscard]] constexpr bool asks_for_operations() const { return total_bytes || bytes || flops; }
};

/// The answer to a question.
struct predicted_step {
  predicted_costs forward, backward;
  memory_in_use at_end;
  std::int64_t tape = 0, operands = 0;  ///< bytes in use after the forward, and bytes of parameters and data
};

/// The record of a program.
class forecast {
 public:
  /// Lists the operations.
  constexpr forecast() = default;
  /// Adds up costs for these sizes.
  constexpr forecast(size_table const& sizes, cost_question const& asked)
      : sizes_(sizes), asked_(asked), has_sizes_(true) {}

  [[nodiscard]] constexpr bool has_sizes() const { return has_sizes_; }
  [[nodiscard]] constexpr size_table const& sizes() const { return sizes_; }
  [[nodiscard]] constexpr cost_question const& asked() const { return asked_; }

  constexpr void add(predicted_operation const& op) {
    if (!has_sizes_) operations_.push_back(op);
  }
  /// Adds the costs of an operation, and the memory that it sets aside.
  constexpr void add(predicted_costs const& c, std::int64_t workspace) {
    predicted_costs& sum = is_backward_ ? step_.backward : step_.forward;
    sum.total_bytes += c.total_bytes;
    sum.bytes += c.bytes;
    sum.flops += c.flops;
    memory_.set_aside(workspace);
  }
  [[nodiscard]] constexpr std::vector<predicted_operation> const& operations() const { return operations_; }

  /// The extent of an axis of a parameter, or of an axis that an operation makes: its static extent, or the table's.
  /// While operations are only listed, an unknown extent is 64: programs may divide by it, and rules multiply all
  /// extents of a tensor.
  template <class Axis>
  [[nodiscard]] constexpr std::int64_t extent_of() const {
    if (std::int64_t const n = sizes_.given(Axis::name); n != size_table::missing) return n;
    return Axis::extent != dynamic_extent ? Axis::extent : has_sizes_ ? size_table::missing : 64;
  }

  [[nodiscard]] constexpr predicted_block allocate(std::int64_t bytes) { return {memory_, bytes}; }

  /// Bytes of the largest block of a tensor, if the question is about memory.
  template <class T>
  [[nodiscard]] constexpr std::int64_t bytes_of_block(T const& tensor) const {
    using labels = axes_in<T>;
    using mesh = mesh_axes_in<T>;
    if (!asked_.memory) return 0;
    return planner::largest_block(spec_of<T, labels, mesh>, extents_by_name<labels, mesh>::of(sizes_of_call(tensor))) *
           static_cast<std::int64_t>(sizeof(typename T::value_type));
  }

  /// Records a parameter or data, whose memory does not belong to the program.
  template <class T>
  constexpr void add_operand(T const& tensor) {
    step_.operands += bytes_of_block(tensor);
  }

  /// Records that a tensor of the program is divided over these mesh axes, so that the program's mesh has them.
  template <class... Ms>
  constexpr void add_mesh_axes(type_list<Ms...>) {
    (add_mesh_axis(Ms::name, Ms::extent), ...);
  }
  /// The mesh axes whose sizes are known from types.
  [[nodiscard]] constexpr std::vector<named_size> const& mesh() const { return mesh_; }

  /// Marks the beginning of the derivative.
  constexpr void begin_backward() {
    step_.tape = memory_.now;
    forward_operations_ = operations_.size();
    is_backward_ = true;
  }
  [[nodiscard]] constexpr std::size_t forward_operations() const { return forward_operations_; }
  /// Marks the end of the program, before its last tensors are freed.
  constexpr void end() { step_.at_end = memory_; }
  [[nodiscard]] constexpr predicted_step const& step() const { return step_; }

 private:
  constexpr void add_mesh_axis(std::string_view name, std::int64_t size) {
    if (has_sizes_ || size == dynamic_extent) return;
    for (named_size const& m : mesh_)
      if (m.name == name) return;
    mesh_.push_back({name, size, true});
  }

  size_table sizes_{};
  cost_question asked_{};
  bool has_sizes_ = false, is_backward_ = false;
  predicted_step step_{};
  memory_in_use memory_{};
  std::size_t forward_operations_ = 0;
  std::vector<predicted_operation> operations_;
  std::vector<named_size> mesh_;
};

}  // namespace detail

}  // namespace ostraka
