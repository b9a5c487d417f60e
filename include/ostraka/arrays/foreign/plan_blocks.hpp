// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Repeated copies from and to arrays of another distribution: the devices agree once, and each computes once
/// what it sends and receives. `auto plan = os::plan_blocks<double, I/X>(mesh, I = n, os::at(I = begin), view)`, then
/// `plan.copy_from_into(A, view)` and `plan.copy_to(A, view)`.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/arrays/foreign/copy_blocks.hpp>

namespace ostraka {

/// The result of os::plan_blocks. Each copy names its arrays. They may differ from the plan's and have other strides,
/// if each has the extents of one in the plan, and each placed array also its begin. Copies are collective over the
/// mesh. After the first one in each direction they allocate nothing but the tensor that copy_from() makes. The devices
/// agree that all arrays fit. With os::unchecked after the arrays, nothing is sent for this check, and an error is
/// thrown on its device alone. Movable; one host thread uses it at a time.
template <class TensorType>
class blocks_plan {
 public:
  using tensor_type = TensorType;  ///< the tensors that the plan is for

  /// A new tensor of the elements of the arrays: one view, or a range of os::placed ones.
  /// @throws ostraka::error, on all devices alike, if the arrays are not those of the plan
  template <class Arrays>
  [[nodiscard]] TensorType copy_from(Arrays const& arrays) {
    auto t = detail::allocate<TensorType>(mesh_, extents_);
    read("blocks_plan::copy_from", t, arrays, true);
    return t;
  }

  /// Copies into an existing tensor. If the array is the tensor's own memory, elements that are already in place stay
  /// there.
  template <class Arrays>
  void copy_from_into(TensorType const& to, Arrays const& arrays) {
    read_into(to, arrays, true);
  }
  template <class Arrays>
  void copy_from_into(TensorType const& to, Arrays const& arrays, unchecked_by_others) {
    read_into(to, arrays, false);
  }

  /// Copies the elements of a tensor into the arrays. @throws ostraka::error as copy_from(), and if elements of an
  /// array overlap in memory
  template <Tensor A, class Arrays>
  void copy_to(A const& a, Arrays&& arrays) {
    write(a, arrays, true);
  }
  template <Tensor A, class Arrays>
  void copy_to(A const& a, Arrays&& arrays, unchecked_by_others) {
    write(a, arrays, false);
  }

  /// Bytes that this device sends in a copy from the arrays; 0 if no other device needs its elements.
  [[nodiscard]] std::int64_t bytes_sent_from() const { return state_.bytes_from(); }
  /// Bytes that this device sends in a copy to the arrays.
  [[nodiscard]] std::int64_t bytes_sent_to() const { return state_.bytes_to(); }

  // For os::plan_blocks.
  template <class Arrays>
  blocks_plan(TensorType const& shape, Arrays const& arrays) : mesh_(shape.mesh_handle()), extents_(shape.extents()) {
    state_.agree("plan_blocks", shape, arrays, true, true, false);
  }

 private:
  template <class A>
  static consteval auto check_planned() {
    if constexpr (std::is_same_v<typename A::sharding_type, typename TensorType::sharding_type> &&
                  std::is_same_v<typename A::value_type, typename TensorType::value_type>)
      return detail::found<reason::ok>{};
    else
      return detail::found<reason::plan_of_other_tensors<A, TensorType>>{};
  }
  template <class A>
  using planned_verdict = typename decltype(check_planned<A>())::type;

  TensorType shape() const { return TensorType(mesh_, extents_, typename TensorType::view_type()); }

  template <class A>
  void require_tensor(char const* name, A const& a) const {
    detail::common_mesh(name, a);
    if (a.mesh_handle() != mesh_)
      throw_error(name, ": a plan is for tensors of one mesh, but this tensor lives on another; ",
                  "make a plan for it with os::plan_blocks");
    if (a.extents() != extents_)
      throw_error(name, ": a plan is for tensors of the same extents, but this tensor has others; ",
                  "make a plan for it with os::plan_blocks");
  }

  template <class Arrays>
  void read_into(TensorType const& to, Arrays const& arrays, bool ask_others) {
    char const* const name = "blocks_plan::copy_from_into";
    require_tensor(name, to);
    read(name, to, arrays, ask_others);
  }

  template <class Arrays>
  void read(char const* name, TensorType const& t, Arrays const& arrays, bool ask_others) {
    with(arrays, [&](auto const& given, bool at_begins) {
      using given_type = std::remove_cvref_t<decltype(given)>;
      state_.inspect_again(name, shape(), given, at_begins, false, ask_others);
      state_.template copy_from<typename given_type::array_type>(name, t);
    });
  }

  template <class A, class Arrays>
  void write(A const& a, Arrays& arrays, bool ask_others) {
    if constexpr (reason::ok_or_raise<planned_verdict<A>>()) {
      char const* const name = "blocks_plan::copy_to";
      require_tensor(name, a);
      with(arrays, [&](auto const& given, bool at_begins) {
        using given_type = std::remove_cvref_t<decltype(given)>;
        if constexpr (reason::ok_or_raise<detail::written_verdict<given_type>>()) {
          state_.inspect_again(name, shape(), given, at_begins, true, ask_others);
          state_.template copy_to<typename given_type::array_type>(name, a);
        }
      });
    }
  }

  // f(the arrays, true if they say where they begin)
  template <class Arrays, class F>
  static void with(Arrays& arrays, F const& f) {
    if constexpr (detail::PlacedRange<Arrays>) {
      using given = detail::foreign_arrays<detail::not_cyclic, std::remove_const_t<Arrays>>;
      if constexpr (reason::ok_or_raise<detail::foreign_verdict<TensorType, given>>())
        f(given{detail::not_cyclic{}, arrays}, true);
    } else {
      detail::single_placed const range{placed(at(), arrays)};
      using given = detail::foreign_arrays<detail::not_cyclic, decltype(range)>;
      using verdict = typename decltype(detail::check_foreign_array<TensorType, typename given::array_type>())::type;
      if constexpr (reason::ok_or_raise<verdict>()) f(given{detail::not_cyclic{}, range}, false);
    }
  }

  std::shared_ptr<engine::device_mesh const> mesh_;
  typename TensorType::extents_type extents_;
  detail::foreign_state<TensorType> state_;
};

/// A plan of copies between a tensor and arrays. The arrays are named as in os::copy_from_blocks; their elements are
/// not read. Collective over the mesh. @throws ostraka::error as os::copy_from_blocks does
template <class T, auto... Dims, class Mesh, class... ExtentsThenArrays>
[[nodiscard]] auto plan_blocks([[maybe_unused]] Mesh const& m,
                               [[maybe_unused]] ExtentsThenArrays const&... extents_then_arrays) {
  using tensor_type = detail::tensor_named<T, Dims...>;
  return detail::with_extents_and_arrays<tensor_type, operation::plan_blocks>(
      m,
      [&](auto const& arrays, auto const&... extents) {
        return blocks_plan<tensor_type>(detail::shape_of_blocks<tensor_type>("plan_blocks", m, extents...), arrays);
      },
      extents_then_arrays...);
}

}  // namespace ostraka
