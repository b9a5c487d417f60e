// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::part<J>(a, i, n)`: part i of n of a tensor or block along J, by the block distribution, in place. Use
/// it in rings in a body: each device multiplies the part that belongs to the block that has just arrived.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <ostraka/calls/context.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/run/execute.hpp>
#include <ostraka/tensors/after_error.hpp>
#include <ostraka/tensors/relabelled.hpp>
#include <ostraka/types/shardings/varying_int.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

/// A part along `J` that is not dense: an operand of os::einsum, os::einsum_into, reductions and plans. os::part makes
/// it. It holds the tensor's memory. os::einsum<I, J>(part) copies it.
template <class TensorType, class J, class Sharding>
class part_of {
 public:
  using value_type = typename TensorType::value_type;
  using space = typename TensorType::space;
  using view_type = typename TensorType::view_type;
  using sharding_type = Sharding;
  using axes = typename sharding_traits<sharding_type>::axes;
  using mesh_axes = typename sharding_traits<sharding_type>::mesh_axes;
  static constexpr int rank = axes::size;

  part_of(TensorType const& tensor, planner::range range, detail::extent_origin const& origin)
      : tensor_(tensor), begin_(range.begin), extents_(tensor.extents()), origin_(origin) {
    extents_[static_cast<std::size_t>(position)] = range.size();
  }

  template <Axis A>
  [[nodiscard]] std::int64_t extent(A) const {
    return extents_[static_cast<std::size_t>(position_in<A, axes>)];
  }
  [[nodiscard]] typename TensorType::extents_type const& extents() const { return extents_; }
  [[nodiscard]] TensorType const& tensor() const { return tensor_; }
  [[nodiscard]] std::string label() const { return tensor_.label(); }
  [[nodiscard]] std::shared_ptr<engine::device_mesh const> const& mesh_handle() const { return tensor_.mesh_handle(); }

  /// The origins of the extents.
  [[nodiscard]] detail::extent_origins<rank> origins() const {
    detail::extent_origins<rank> origins{};
    if constexpr (varying_in<TensorType>::size > 0) origins = tensor_.origins();
    origins[static_cast<std::size_t>(position)] = origin_;
    return origins;
  }

  /// The operand for the engine: the part's first element, and the layout of the whole block.
  [[nodiscard]] engine::operand_source<value_type> source() const {
    static constexpr auto along = [] {
      std::array<int, static_cast<std::size_t>(rank)> a{};
      for (int i = 0; i < rank; ++i) a[static_cast<std::size_t>(i)] = i;
      return a;
    }();
    engine::operand_source<value_type> s{tensor_.local().data(), along.data(), {}};
    if (tensor_.local().size() > 0)
      s.data += begin_ * static_cast<std::int64_t>(tensor_.local().stride(static_cast<std::size_t>(position)));
    for (int i = 0; i < rank; ++i) s.whole.at[s.whole.rank++] = tensor_.range(i);
    return s;
  }

 private:
  static constexpr int position = position_in<J, axes>;

  TensorType tensor_;
  std::int64_t begin_;
  typename TensorType::extents_type extents_;
  detail::extent_origin origin_;
};

template <class TensorType, class J, class Sharding>
inline constexpr bool is_operand<part_of<TensorType, J, Sharding>> = true;

namespace detail {

template <class A, class J>
consteval auto check_part() {
  if constexpr (position_in<J, axes_in<A>> < 0)
    return found<reason::axis_missing<J, sharding_in<A>>>{};
  else if constexpr (!std::is_same_v<typename divisor_of<J, sharding_in<A>>::type, J>)
    return found<reason::part_of_divided_axis<J, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}

[[noreturn, gnu::cold]] inline void throw_no_part(std::int64_t i, std::int64_t n) {
  throw_error("part: parts are numbered from 0, but part ", i, " of ", n,
              " was asked for; keep i below n, as (i - 1) % n of an os::axis_index does");
}

// The origin of a part's extent: the same on all devices if all take the same part of the same extent, or if all parts
// have the same length.
inline extent_origin origin_of_part(extent_origin const& whole, bool varies, std::int64_t extent, std::int64_t n) {
  return whole.is_alike() && (!varies || extent % n == 0) ? extent_origin{} : extent_origin{extent_origin::of_its_own};
}

// Along the first axis a part is dense, so it is a tensor. Kokkos' subview keeps the memory.
template <class Result, class A>
Result dense_part(A const& a, planner::range range, extent_origin const& origin) {
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    [[maybe_unused]] auto const whole = [](std::size_t) { return Kokkos::ALL; };
    typename Result::view_type const local(Kokkos::subview(a.local(), std::pair(range.begin, range.end), whole(Is)...));
    auto extents = a.extents();
    extents[0] = range.size();
    Result part(a.mesh_handle(), extents, local);
    if constexpr (varying_in<Result>::size > 0) {
      extent_origins<Result::rank> origins{};
      if constexpr (varying_in<A>::size > 0) origins = a.origins();
      origins[0] = origin;
      part.set_origins(origins);
    }
    return part;
  }(std::make_index_sequence<static_cast<std::size_t>(A::rank) - 1>{});
}

}  // namespace detail

namespace operation {

/// os::part<J> as an operation: part i of n.
template <class J, class Number>
struct part {
  static constexpr char const* name = "part";
  Number i;
  std::int64_t n;

  template <class A>
  using verdict = typename decltype(detail::check_part<A, J>())::type;
  template <class>
  using moves = detail::nothing_moved;
  template <class A>
  using refused = detail::after_error<A>;

  template <class A>
  auto run(detail::at_once, A const& a) const {
    using sharding = typename detail::with_varying<sharding_in<A>, typename detail::number_varies<Number>::type>::type;
    detail::common_mesh(name, a);
    std::int64_t number = detail::plain_number(i);
    if (a.mesh_handle()->absent() && number < 0) number = 0;  // on a process that holds nothing
    if (number < 0 || number >= n) detail::throw_no_part(number, n);
    std::int64_t const extent = a.extents()[static_cast<std::size_t>(position_in<J, axes_in<A>>)];
    planner::range const range = planner::block(extent, number, n);
    detail::extent_origin const origin =
        detail::origin_of_part(detail::origin_in<J>(a), detail::is_varying_int<Number>, extent, n);
    if constexpr (position_in<J, axes_in<A>> == 0)
      return detail::dense_part<basic_tensor<typename A::element_type, sharding, typename A::space>>(a, range, origin);
    else
      return part_of<A, J, sharding>(a, range, origin);
  }
};

}  // namespace operation

/// Part `i` of `n` of `a` along J, [⌊i·N/n⌋, ⌊(i+1)·N/n⌋) of its N indices, in the memory of `a`. Along the first axis
/// it is a tensor, which may be written to; along another one it is an operand for reading. For a variable it is a
/// copy, unless it is dense. It varies along the mesh axes along which `i` varies (os::axis_index). J must not be
/// divided.
/// @throws ostraka::error unless 0 ≤ i < n
template <auto J, TensorOrVariable A, class Number>
  requires(detail::is_varying_int<Number> || std::integral<Number>)
[[nodiscard]] auto part(A const& a, Number i, std::int64_t n) {
  return detail::operate(operation::part<detail::type_of<J>, Number>{i, n}, a);
}

}  // namespace ostraka
