// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::for_each_point(f, x, y, …)` and `os::sum_over_points(f, x, y, …)`: one pass over the points that this
/// device owns, which updates several blocks in place and sums. A step of an iterative solver takes a few such passes:
///
///     auto const rr = os::sum_over_points([=] KOKKOS_FUNCTION(double& x, double& r, double p, double q) {
///       x += alpha * p;
///       r -= alpha * q;
///       return r * r;
///     }, x, r, p, q);
///
/// If f returns an array, `os::sum_over_points<K>(f, x, …)` returns a sum for each of its elements, along the axis K.
///
/// f gets a reference to each block's element at the point. For a block with a halo in transit, or passed as
/// os::neighbours_of(p), it gets the neighbours of the point, as a stencil does.

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/calls/called_function.hpp>
#include <ostraka/engine/blocks/dense.hpp>
#include <ostraka/local_view/points/check_points.hpp>
#include <ostraka/local_view/points/stencil.hpp>

namespace ostraka {

namespace operation {

template <class F, class... Axes>
struct sum_over_points;

}  // namespace operation

namespace detail {

// A padded block whose neighbours are read.
template <class A>
struct read_around {
  A const& block;
};
template <class A>
struct stencil_operand<read_around<A>> {
  using type = A;
  static A const& tensor(read_around<A> const& x) { return x.block; }
  static std::uint32_t waits_for(read_around<A> const&) { return 0; }
  static void wait(read_around<A> const&) {}
};
template <class A>
struct interpreter_of<read_around<A>> : interpreter_of<A> {};

template <class T>
inline constexpr bool is_read_around = false;
template <class A>
inline constexpr bool is_read_around<read_around<A>> = true;
template <class Pending>
inline constexpr bool is_read_around<operand_in_flight<Pending>> = true;

template <class T>
concept PointOperand = BlockOrArray<std::remove_cvref_t<T>> || is_pending_halo<std::remove_cvref_t<T>> ||
    is_read_around<std::remove_cvref_t<T>>;

// The argument of f for an operand, given that operands vary along `Varying`: the neighbours of the point, or a
// reference to the element. A block that is the same on all devices is read only if other operands vary.
template <class Operand, class Varying, class A = tensor_of_operand<Operand>>
using given_at_point = std::conditional_t<
    is_read_around<Operand>, given_to_stencil<A> const&,
    std::conditional_t<std::is_const_v<typename A::element_type> || (difference_of<Varying, varying_in<A>>::size > 0),
                       typename A::value_type const&, typename A::value_type&>>;

template <class... Operands>
using varying_at_points = union_of<varying_in<tensor_of_operand<Operands>>...>;

template <class F, class... Operands>
using value_at_points =
    std::remove_cvref_t<std::invoke_result_t<F const&, given_at_point<Operands, varying_at_points<Operands...>>...>>;

template <class Operand>
consteval auto check_read_around() {
  using A = tensor_of_operand<Operand>;
  if constexpr (is_read_around<Operand> && padded_axes<axes_in<A>> == 0)
    return found<reason::neighbours_need_a_halo<sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}

template <class F, class First, class... Rest>
consteval auto check_points() {
  return found<first_fault<
      values_verdict<tensor_of_operand<First>, operation::map>,
      values_verdict<tensor_of_operand<Rest>, operation::map>...,
      typename decltype(check_stencil_axes<tensor_of_operand<First>, tensor_of_operand<Rest>>())::type...,
      typename decltype(check_read_around<First>())::type, typename decltype(check_read_around<Rest>())::type...,
      callable_there_verdict<F, typename tensor_of_operand<First>::space>,
      called_verdict<F, given_at_point<First, varying_at_points<First, Rest...>>,
                     given_at_point<Rest, varying_at_points<First, Rest...>>...>>>{};
}

// The summands in a value of f: one number, or those of a std::array or a Kokkos::Array. `sum`: the type that adds
// them.
template <class Value>
struct summands_in {
  static constexpr int number = 0;
  using type = typename element<Value>::type;
  using sum = accumulator_of_t<type>;
};
template <class T, std::size_t N>
struct summands_in_array {
  static constexpr int number = static_cast<int>(N);
  using type = typename element<T>::type;
  using sum = engine::several_sums<accumulator_of_t<type>, number>;
};
template <class T, std::size_t N>
struct summands_in<std::array<T, N>> : summands_in_array<T, N> {};
template <class T, std::size_t N>
struct summands_in<Kokkos::Array<T, N>> : summands_in_array<T, N> {};

template <class F, class... Operands>
using summands_at_points = summands_in<value_at_points<F, Operands...>>;

// `Axes`: the axis that names the sums; none for one sum.
template <class Value, class F, class... Axes>
consteval auto check_summands() {
  if constexpr (std::is_void_v<Value>)
    return found<reason::nothing_to_sum<F>>{};
  else if constexpr (sizeof...(Axes) == 0 && summands_in<Value>::number > 0)
    return found<reason::sums_need_an_axis<Value>>{};
  else if constexpr (sizeof...(Axes) > 0 && summands_in<Value>::number == 0)
    return found<reason::sums_need_an_array<Value>>{};
  else if constexpr (((Axes::extent != dynamic_extent && Axes::extent != summands_in<Value>::number) || ...))
    return found<reason::sums_of_another_number<Axes..., summands_in<Value>::number>>{};
  else
    return found<reducible_verdict<typename summands_in<Value>::type, reduction::sum,
                                   ostraka::operation::sum_over_points<F, Axes...>>>{};
}

template <class Axes, class F, class... Operands>
consteval auto check_sums() {
  using blocks = decltype(check_points<F, Operands...>());
  if constexpr (!std::is_same_v<typename blocks::type, reason::ok>)
    return blocks{};
  else
    return []<class... As>(type_list<As...>) {
      return check_summands<value_at_points<F, Operands...>, F, As...>();
    }(Axes{});
}

// Returns the operand's block, as the kernel reads or writes it.
template <class Operand, class Varying>
auto block_at_points(Operand const& x) {
  auto const& a = stencil_operand<Operand>::tensor(x);
  if constexpr (is_read_around<Operand>) {
    return source_block(a);
  } else {
    using T = std::remove_reference_t<given_at_point<Operand, Varying>>;
    engine::stencil_operand_block<T, 0> b;
    b.block = own_block<T>(a);
    return b;
  }
}

// Throws if an operand that f may write shares memory with another, unless f gets the same element of both.
template <class Varying, class... Operands>
void require_apart(char const* operation, Operands const&... operands) {
  static constexpr std::array<bool, sizeof...(Operands)> around{is_read_around<Operands>...};
  static constexpr std::array<bool, sizeof...(Operands)> written{
      !std::is_const_v<std::remove_reference_t<given_at_point<Operands, Varying>>>...};
  bool apart = true;
  auto const look = [&]<std::size_t I, class A, std::size_t... Ks>(std::integral_constant<std::size_t, I>, A const& a,
                                                                   std::index_sequence<Ks...>) {
    auto const meet = [&]<std::size_t K, class B>(std::integral_constant<std::size_t, K>, B const& b) {
      if constexpr (I < K && (written[I] || written[K]))
        apart = apart && ((!around[I] && !around[K] && is_same_place(a, b)) || !share_memory(a, b));
    };
    (meet(std::integral_constant<std::size_t, Ks>{}, stencil_operand<Operands>::tensor(operands)), ...);
  };
  [&]<std::size_t... Is>(std::index_sequence<Is...> all) {
    (look(std::integral_constant<std::size_t, Is>{}, stencil_operand<Operands>::tensor(operands), all), ...);
  }
  (std::index_sequence_for<Operands...>{});
  refuse_shared_points(operation, !apart);
}

// The sharding of sums over a device's points, with the axis of several: partial if the operands are divided.
template <class Axes, class Divided, class... As>
struct sum_of_points;
template <class... Axes, class Divided, class... As>
struct sum_of_points<type_list<Axes...>, Divided, As...> {
  using type = varying_as<canonical_sharding<Axes..., typename partial_of<reduction::sum, Divided>::type>, As...>;
};
template <class... Axes, class... As>
struct sum_of_points<type_list<Axes...>, type_list<>, As...> {
  using type = varying_as<canonical_sharding<Axes...>, As...>;
};

// Calls f at all points, and returns the sum of its values.
template <class S, class F, class First, class... Rest>
S run_points(char const* operation, F const& f, First const& first, Rest const&... rest) {
  using A = tensor_of_operand<First>;
  using varying = varying_at_points<First, Rest...>;
  A const& a = stencil_operand<First>::tensor(first);
  common_mesh(operation, a);
  (require_same_block(operation, a, stencil_operand<Rest>::tensor(rest), axes_in<A>{}), ...);
  require_apart<varying>(operation, first, rest...);
  require_reach_at_points<given_at_point<First, varying>, given_at_point<Rest, varying>...>(
      operation, *a.mesh_handle(), f, type_list<A, tensor_of_operand<Rest>...>{});
  engine::stencil_points p = points_of(a);
  auto const widen = [&]<class Operand>(Operand const& x) {
    if constexpr (is_read_around<Operand>) widen_margins(p, stencil_operand<Operand>::tensor(x));
  };
  for (int d = 0; d < p.rank; ++d) p.before[d] = p.behind[d] = 0;
  widen(first), (widen(rest), ...);
  profiled_block<A> const region_of_run(operation, a, "reads and writes", 1 + static_cast<int>(sizeof...(Rest)));
  auto const wait = [&] { stencil_operand<First>::wait(first), (stencil_operand<Rest>::wait(rest), ...); };
  return engine::points_of_block<S>(
      execution_space_of<A>(), p,
      (stencil_operand<First>::waits_for(first) | ... | stencil_operand<Rest>::waits_for(rest)), wait, f,
      block_at_points<First, varying>(first), block_at_points<Rest, varying>(rest)...);
}

}  // namespace detail

namespace operation {

/// os::for_each_point with this function.
template <class F>
struct for_each_point {
  static constexpr char const* name = "for_each_point";
  using takes_strides = void;
  F f;

  template <class... Operands>
  using verdict = typename decltype(detail::check_points<F, Operands...>())::type;
  template <class...>
  using moves = detail::nothing_moved;
  template <class... Operands>
  using refused = void;

  template <class... Operands>
  void run(detail::at_once, Operands const&... operands) const {
    detail::run_points<engine::no_sum>(name, f, operands...);
  }
};

/// os::sum_over_points with this function. `Axes`: the axis of several sums; none for one.
template <class F, class... Axes>
struct sum_over_points {
  static constexpr char const* name = "sum_over_points";
  using takes_strides = void;
  F f;

  template <class... Operands>
  using verdict = typename decltype(detail::check_sums<type_list<Axes...>, F, Operands...>())::type;
  template <class...>
  using moves = detail::nothing_moved;
  template <class First, class... Rest>
  using refused = detail::scalar_after_error<First, Rest...>;

  template <class First, class... Rest>
  auto run(detail::at_once, First const& first, Rest const&... rest) const {
    using A = detail::tensor_of_operand<First>;
    using summands = detail::summands_at_points<F, First, Rest...>;
    using S = typename summands::type;
    using sharding_type = typename detail::sum_of_points<type_list<Axes...>, mesh_axes_in<A>, A,
                                                         detail::tensor_of_operand<Rest>...>::type;
    using result_type = basic_tensor<S, sharding_type, typename A::space>;
    auto const sum = detail::run_points<typename summands::sum>(name, f, first, rest...);
    std::int64_t const local[1] = {summands::number};
    typename result_type::extents_type extents{};
    if constexpr (sizeof...(Axes) > 0) extents[0] = summands::number;
    auto const result = detail::make_block<result_type>(detail::stencil_operand<First>::tensor(first).mesh_handle(),
                                                        extents, local, {});
    auto const exec = detail::execution_space_of<result_type>();
    if constexpr (sizeof...(Axes) == 0)
      engine::fill_block(exec, result.local().data(), 1, static_cast<S>(sum));
    else
      engine::store_numbers(exec, result.local().data(), sum, summands::number);
    return result;
  }
};

}  // namespace operation

/// Passes f the neighbours of each point of a padded block instead of the element. A block with a halo in transit does
/// not need it.
template <detail::BlockOrArray A>
[[nodiscard]] detail::read_around<A> neighbours_of(A const& padded) {
  return {padded};
}

/// Calls f once for each point that this device owns, in no order, in the execution space. f gets a reference to the
/// element of each operand, which it may write, or the neighbours of the point (os::neighbours_of). Operands are blocks
/// and arrays with ghost layers; the halo of one of them may still be in transit. Allocates no memory. Blocks that vary
/// along fewer mesh axes than others are read only.
/// @throws ostraka::error, on all devices alike, if extents disagree or operands share memory at different points
template <class F, class... Operands>
  requires(sizeof...(Operands) > 0 && !detail::PointOperand<F> && (detail::PointOperand<Operands> && ...))
void for_each_point(F const& f, Operands&&... operands) {
  detail::operate(operation::for_each_point<std::decay_t<F>>{f}, detail::as_operand(operands)...);
}

/// The same, and returns the sum of f's values over the points that this device owns: a block without axes, which
/// os::psum sums over devices; for divided tensors, a partial sum. The sum does not depend on the number of threads.
/// @throws ostraka::error, on all devices alike, if extents disagree or operands share memory at different points
template <class F, class... Operands>
  requires(sizeof...(Operands) > 0 && !detail::PointOperand<F> && (detail::PointOperand<Operands> && ...))
[[nodiscard]] auto sum_over_points(F const& f, Operands&&... operands) {
  return detail::operate(operation::sum_over_points<std::decay_t<F>>{f}, detail::as_operand(operands)...);
}

/// Several sums in one pass: f returns a std::array or a Kokkos::Array of numbers, and the result has the axis K, with
/// the sum of their k-th elements at index k. A reduction over devices then sends one message for all of them. Each sum
/// has the bits of one that is taken alone. Kernels of GPUs return a Kokkos::Array. It is meant for a few sums, up to a
/// dozen: each of them is stored for 256 points at a time.
/// @throws ostraka::error, on all devices alike, if extents disagree or operands share memory at different points
template <auto K, class F, class... Operands>
  requires(Axis<detail::type_of<K>> && sizeof...(Operands) > 0 && !detail::PointOperand<F> &&
           (detail::PointOperand<Operands> && ...))
[[nodiscard]] auto sum_over_points(F const& f, Operands&&... operands) {
  return detail::operate(operation::sum_over_points<std::decay_t<F>, detail::type_of<K>>{f},
                         detail::as_operand(operands)...);
}

}  // namespace ostraka
