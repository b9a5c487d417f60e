// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::stencil(f, x, c, …)`: b[i, j] = f(x around (i, j), c[i, j], …), for a padded block and optional
/// further blocks. Calls f(neighbours, element, …) once for each point, in no order, in the execution space:
///
///     auto const heat = [=] KOKKOS_FUNCTION(auto const& u) {
///       return u(0, 0) + k * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0));
///     };
///     auto next = os::stencil(heat, os::start_exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(block));
///
/// For CUDA f must be a struct with such an operator(): nvcc does not compile generic lambdas for a GPU.
///
/// If a block's halo is still in transit, the points that do not need it are computed first, and the others when it has
/// arrived.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/called_function.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/calls/shared_memory.hpp>
#include <ostraka/engine/blocks/stencil_block.hpp>
#include <ostraka/local_view/halos/check_reach.hpp>
#include <ostraka/local_view/halos/exchange_halo.hpp>
#include <ostraka/local_view/points/stencil_points.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

namespace detail {

// The stencil operand of an argument.
template <class A>
struct stencil_operand {
  using type = A;
  static A const& tensor(A const& a) { return a; }
  static std::uint32_t waits_for(A const&) { return 0; }
  static void wait(A const&) {}
};
template <class Padded>
struct stencil_operand<pending_halo<Padded>> {
  using type = Padded;
  static Padded const& tensor(pending_halo<Padded> const& p) { return p.target_; }
  static std::uint32_t waits_for(pending_halo<Padded> const& p) { return p.waits_for_; }
  static void wait(pending_halo<Padded>& p) { p.flight_.wait(); }
};
template <class T>
using tensor_of_operand = typename stencil_operand<std::remove_cvref_t<T>>::type;

// A block with a halo in transit, as an operand. `wait` waits for it in place.
template <class Pending>
struct operand_in_flight {
  Pending& begun;
};
template <class Pending>
struct stencil_operand<operand_in_flight<Pending>> {
  using type = typename Pending::padded;
  static type const& tensor(operand_in_flight<Pending> const& x) { return stencil_operand<Pending>::tensor(x.begun); }
  static std::uint32_t waits_for(operand_in_flight<Pending> const& x) {
    return stencil_operand<Pending>::waits_for(x.begun);
  }
  static void wait(operand_in_flight<Pending> const& x) { stencil_operand<Pending>::wait(x.begun); }
};
template <class Pending>
struct interpreter_of<operand_in_flight<Pending>> {
  using type = runs;
};

template <class T>
  requires is_pending_halo<T> operand_in_flight<T> as_operand(T& x) { return {x}; }
template <class T>
  requires(!is_pending_halo<T>)
T const& as_operand(T const& x) { return x; }

template <class T>
concept StencilOperand = BlockOrArray<std::remove_cvref_t<T>> || is_pending_halo<std::remove_cvref_t<T>>;

// The type of f's argument for a block.
template <class A>
using given_to_stencil =
    std::conditional_t<(padded_axes<axes_in<A>> > 0),
                       neighbours<typename A::value_type, (padded_axes<axes_in<A>> > 0 ? padded_axes<axes_in<A>> : 1)>,
                       typename A::value_type>;

template <class F, class... As>
struct stencil_value {
  using given = std::remove_cvref_t<std::invoke_result_t<F const&, given_to_stencil<As> const&...>>;
  using type = typename element<given>::type;
};

// The sharding that all blocks share: without halos and {V}.
template <class A>
using place_of = invariant_over<sharding_without_halos<sharding_in<A>>, varying_in<A>>;

template <class First, class Other>
consteval auto check_stencil_axes() {
  if constexpr (std::is_same_v<place_of<First>, place_of<Other>>)
    return found<reason::ok>{};
  else
    return found<reason::stencil_of_other_axes<sharding_in<First>, sharding_in<Other>>>{};
}

template <class First, class... Rest>
consteval auto check_stencil() {
  if constexpr (padded_axes<axes_in<First>> == 0)
    return found<reason::stencil_needs_a_halo<sharding_in<First>>>{};
  else
    return found<first_fault<values_verdict<First, operation::map>,
                             typename decltype(check_stencil_axes<First, Rest>())::type...>>{};
}
template <class... As>
using stencil_verdict = typename decltype(check_stencil<As...>())::type;

template <class Target, class R, class... As>
consteval auto check_stencil_into() {
  using own = stencil_verdict<As..., Target>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else
    return found<first_fault<writable_verdict<Target>, target_verdict<Target, As...>,
                             element_type_verdict<typename Target::value_type, R>>>{};
}

// Computes the points that need no data in transit, waits, and then computes the others.
template <class Exec, class R, class F, class Operand, class... Sources>
void run_stencil(engine::stencil_points const& p, F const& f, engine::aligned<R> const& result, Operand&& first,
                 Sources const&... from) {
  using operand = stencil_operand<std::remove_cvref_t<Operand>>;
  engine::stencil_of_block(
      engine::instance<Exec>(), p, operand::waits_for(first), [&] { operand::wait(first); }, f, result, from...);
}

template <class Sharding, class... As>
using stencil_sharding = varying_as<sharding_without_halos<Sharding>, As...>;

template <class A, class... More>
using stencil_after_error =
    after_error_of<typename A::value_type, stencil_sharding<sharding_in<A>, A, More...>, typename A::space>;

template <class R, class F, class Every, class Operand, class... More>
auto new_stencil(F const& f, Every const& every, Operand const& first, More const&... more) {
  using A = tensor_of_operand<Operand>;
  using result_type = basic_tensor<R, stencil_sharding<sharding_in<A>, A, More...>, typename A::space>;
  A const& a = stencil_operand<std::remove_cvref_t<Operand>>::tensor(first);
  common_mesh("stencil", a);
  (require_same_block("stencil", a, more, axes_in<A>{}), ...);
  require_reach<F, A, More...>("stencil", *a.mesh_handle(), f);
  engine::stencil_points p = points_of(a);
  extent_origins<A::rank> origins = own_origins(a);
  typename result_type::extents_type extents = a.extents();
  if constexpr (is_every<Every>) take_steps("stencil", a, every, p, origins);
  std::int64_t local[max_rank + 1]{};
  for (int d = 0; d < A::rank; ++d) {
    auto const i = static_cast<std::size_t>(d);
    local[d] = p.points(d);
    extents[i] = p.every[d] == 1 && margins_in<A>[i].both() == 0 ? extents[i] : local[d];
  }
  auto const result = make_block<result_type>(a.mesh_handle(), extents, local, without_marks(origins));
  profiled_block<result_type> const region_of_run("stencil", result, "reads and writes", 2);
  run_stencil<execution_space_type<A>>(p, f, own_block<R>(result), first, source_block(a), source_block(more)...);
  return result;
}

inline void refuse_neighbours_in_result(bool overlap) {
  if (overlap)
    throw_error(
        "stencil_into: the result may be one of the blocks that are read at one point only, but it shares memory with "
        "one whose neighbours are read; keep two blocks and exchange their handles");
}

template <class F, class Target, class Operand, class... More>
void stencil_into_block(Target const& target, F const& f, Operand const& first, More const&... more) {
  using A = tensor_of_operand<Operand>;
  A const& a = stencil_operand<std::remove_cvref_t<Operand>>::tensor(first);
  common_mesh("stencil_into", a);
  common_mesh("stencil_into", target);
  (require_same_block("stencil_into", a, more, axes_in<A>{}), ...);
  require_same_block("stencil_into", a, target, axes_in<A>{});
  require_reach<F, A, More...>("stencil_into", *a.mesh_handle(), f);
  auto const shares = [&]<class B>(B const& b) { return padded_axes<axes_in<B>> > 0 && share_memory(target, b); };
  refuse_neighbours_in_result((shares(a) || ... || shares(more)));
  engine::stencil_points const p = points_of(a);
  profiled_block<Target> const region_of_run("stencil_into", target, "reads and writes", 2);
  run_stencil<execution_space_type<A>>(p, f, own_block<typename Target::value_type>(target), first, source_block(a),
                                     source_block(more)...);
}

}  // namespace detail

namespace operation {

/// os::stencil with function f. The halo of the first operand may still be in transit.
template <class F, class Every>
struct stencil {
  using takes_strides = void;
  static constexpr char const* name = "stencil";
  F f;
  Every every;

  template <class A, class... More>
  using verdict = detail::first_fault<detail::callable_there_verdict<F, typename detail::tensor_of_operand<A>::space>,
                                      detail::stencil_verdict<detail::tensor_of_operand<A>, More...>>;
  template <class...>
  using moves = detail::nothing_moved;
  template <class A, class... More>
  using refused = detail::stencil_after_error<detail::tensor_of_operand<A>, More...>;

  template <class A, class... More>
  auto run(detail::at_once, A const& a, More const&... more) const {
    using given = typename detail::stencil_value<F, detail::tensor_of_operand<A>, More...>::type;
    return detail::new_stencil<given>(f, every, a, more...);
  }
};

}  // namespace operation

namespace detail {

template <class F, class Every, class Target, class A, class... More>
struct written_to<ostraka::operation::stencil<F, Every>, Target, A, More...> {
  static consteval auto check() {
    using own = first_fault<callable_there_verdict<F, typename tensor_of_operand<A>::space>,
                            stencil_verdict<tensor_of_operand<A>, More...>>;
    if constexpr (!std::is_same_v<own, reason::ok>)
      return found<own>{};
    else
      return check_stencil_into<Target, typename stencil_value<F, tensor_of_operand<A>, More...>::type,
                                tensor_of_operand<A>, More...>();
  }
  using verdict = typename decltype(check())::type;

  static void run(ostraka::operation::stencil<F, Every> const& operation, Target const& target, A const& a,
                  More const&... more) {
    stencil_into_block(target, operation.f, a, more...);
  }
};

}  // namespace detail

/// A block with the values of f around each point of `x`, a padded block or one with a halo in transit
/// (os::start_exchange_halo). f also gets the elements of further blocks there, or their neighbours if they are padded.
/// The result has the axes without halos and elements of f's result type. It varies along the mesh axes along which an
/// operand varies. Nothing moves but halos in transit.
/// @throws ostraka::error, on all devices alike, if extents disagree, and in check mode if f reads beyond a halo
template <class F, class X, detail::BlockOrArray... More>
  requires(!detail::StencilOperand<F> && detail::StencilOperand<X>)
[[nodiscard]] auto stencil(F const& f, X&& x, More const&... more) {
  return detail::operate(operation::stencil<std::decay_t<F>, detail::no_every>{f, {}}, detail::as_operand(x), more...);
}

/// The same at every n-th index: `os::stencil(f, os::every(I = 2, J = 2), x)` is a convolution of stride 2.
/// @throws ostraka::error, on all devices alike, if the step does not divide blocks of the same extent
template <class F, class... As, class X, detail::BlockOrArray... More>
  requires(!detail::StencilOperand<F> && detail::StencilOperand<X>)
[[nodiscard]] auto stencil(F const& f, every_index<As...> const& steps, X&& x, More const&... more) {
  return detail::operate(operation::stencil<std::decay_t<F>, every_index<As...>>{f, steps}, detail::as_operand(x),
                         more...);
}

/// The same into a block, or into the inner part of a padded one. The target may be one of `more` that is not padded.
/// Allocates no memory.
/// @throws ostraka::error, on all devices alike, if extents disagree or the target shares memory with a padded block
template <detail::BlockOrArray Target, class F, class X, detail::BlockOrArray... More>
  requires(!detail::StencilOperand<F> && detail::StencilOperand<X>)
void stencil_into(Target const& target, F const& f, X&& x, More const&... more) {
  detail::operate_how(detail::into{target}, operation::stencil<std::decay_t<F>, detail::no_every>{f, {}},
                      detail::as_operand(x), more...);
}

/// Do not compile: the error says that the function comes first.
template <class First, class... Rest>
  requires detail::StencilOperand<First>
auto stencil(First const&, Rest const&...) {
  reason::raise<reason::stencil_arguments_out_of_order<First, Rest...>>();
  return detail::scalar_after_error<First, Rest...>();
}
template <class First, class Second, class... Rest>
  requires(detail::StencilOperand<Second> ||
           (!detail::StencilOperand<First> && (detail::StencilOperand<Rest> || ...)) ||
           (detail::StencilOperand<First> && !(detail::StencilOperand<Rest> || ...)))
void stencil_into(First const&, Second const&, Rest const&...) {
  reason::raise<reason::stencil_arguments_out_of_order<First, Second, Rest...>>();
}

}  // namespace ostraka
