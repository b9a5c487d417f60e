// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::stencil(f, x, c, …)`: b[i, j] = f(x around (i, j), c[i, j], …), of a padded block and perhaps others.
/// f is called as f(neighbours, element, …), once for each point, in no order, where the execution space runs:
///
///     auto const heat = [=] KOKKOS_FUNCTION(auto const& u) {
///       return u(0, 0) + k * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0));
///     };
///     auto next = os::stencil(heat, os::start_exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(block));
///
/// For CUDA f is a struct with such an operator(): nvcc takes no generic lambda to a GPU.
///
/// Of a block whose halo is still on its way it computes what needs none of it first, and the rest when it is there.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/shared_memory.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/engine/blocks/stencil_block.hpp>
#include <ostraka/local_view/halos/check_reach.hpp>
#include <ostraka/local_view/halos/exchange_halo.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

/// Behind the blocks of os::stencil: the result has every second index of I from 0 on, counted over all blocks:
/// `os::every(I = 2)`. A strided convolution.
template <class... As>
struct every_index {
  std::int64_t steps[sizeof...(As)];
};
template <class... As>
[[nodiscard]] constexpr every_index<As...> every(named_extent<As> const&... steps) {
  return {{steps.value...}};
}

namespace detail {

template <class T>
inline constexpr bool is_every = false;
template <class... As>
inline constexpr bool is_every<every_index<As...>> = true;

// What a stencil makes of its arguments.
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

template <class T>
concept StencilOperand = Tensor<std::remove_cvref_t<T>> || is_pending_halo<std::remove_cvref_t<T>>;

// What f gets for a block.
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

// The sharding of what all blocks have in common: without halos and {V}.
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

// This device's block without its halo: extents, how they came about, and where it lies.
template <class A>
extent_origins<A::rank> own_origins(A const& a) {
  extent_origins<A::rank> origins{};
  if constexpr (varying_in<A>::size > 0) origins = a.origins();
  for (std::size_t d = 0; d < origins.size(); ++d) origins[d] = origins[d].padded_by(-2 * halo_widths<A>[d]);
  return origins;
}

// Of a block without halo nobody says any more whether others have indices of the axis.
template <std::size_t Rank>
std::array<extent_origin, Rank> without_marks(std::array<extent_origin, Rank> origins) {
  for (extent_origin& o : origins) o.is_undivided = false;
  return origins;
}

template <class T, class A>
engine::aligned<T> own_block(A const& a) {
  engine::aligned<T> b{a.local().data(), {}};
  std::int64_t step = 1;
  for (int d = A::rank - 1; d >= 0; --d) {
    auto const i = static_cast<std::size_t>(d);
    b.stride[d] = step;
    b.data += halo_widths<A>[i] * step;
    step *= static_cast<std::int64_t>(a.local().extent(i));
  }
  return b;
}

template <class A>
auto source_block(A const& a) {
  using value = typename A::value_type;
  engine::stencil_operand_block<value, padded_axes<axes_in<A>>> b{own_block<value const>(a), {}};
  int k = 0;
  for (int d = 0; d < A::rank; ++d)
    if (halo_widths<A>[static_cast<std::size_t>(d)] > 0) b.neighbour[k++] = b.block.stride[d];
  return b;
}

[[noreturn, gnu::cold]] inline void throw_stencil_extents(std::string_view operation, std::string_view axis,
                                                          std::int64_t one, std::int64_t other) {
  throw_error(operation, ": all blocks have the same extents, halos aside, but ", axis, " is ", one, " in one and ",
              other, " in another; pad blocks of the same extents");
}

template <class First, class Other, class... Ls>
void require_same_block(char const* operation, First const& first, Other const& other, type_list<Ls...>) {
  if constexpr (std::is_same_v<First, Other> && varying_in<First>::size > 0)
    if (first.extents() == other.extents() && first.origins() == other.origins()) return;
  auto const one = own_origins(first), two = own_origins(other);
  std::string_view const names[] = {own_axis<Ls>::type::name..., {}};
  for (std::size_t d = 0; d < one.size(); ++d) {
    joined_origin(operation, names[d], one[d], two[d]);
    auto const n = first.extents()[d] - 2 * halo_widths<First>[d], m = other.extents()[d] - 2 * halo_widths<Other>[d];
    if (n != m) throw_stencil_extents(operation, names[d], n, m);
  }
}

template <class A>
engine::stencil_points points_of(A const& a) {
  engine::stencil_points p;
  p.rank = A::rank;
  for (int d = 0; d < A::rank; ++d) {
    auto const i = static_cast<std::size_t>(d);
    p.width[d] = halo_widths<A>[i];
    p.extent[d] = static_cast<std::int64_t>(a.local().extent(i)) - 2 * p.width[d];
    p.every[d] = 1;
  }
  return p;
}

[[noreturn, gnu::cold]] inline void throw_stride(std::string_view operation, std::string_view axis,
                                                 std::string const& why) {
  throw_error(operation, ": os::every counts the indices of ", axis, " over all blocks, ", why);
}

// Every so-manyth index of an axis: which ones this block has, and how the extent of the result came about.
inline void take_every(char const* operation, std::string_view axis, engine::device_mesh const& mesh, int d,
                       std::int64_t step, engine::stencil_points& p, extent_origin& origin) {
  if (step < 1)
    throw_stride(operation, axis, join_text("by a step of at least 1, not ", step, "; give a positive one"));
  p.every[d] = step;
  if (step == 1) return;
  if (origin.is_alike()) {
    if (p.extent[d] % step != 0 && !(origin.is_undivided && p.width[d] > 0))
      throw_stride(
          operation, axis,
          join_text("so blocks of ", p.extent[d], " begin with other ones; choose blocks that ", step, " divides"));
    return;
  }
  if (origin.whole == extent_origin::of_its_own || origin.shifted != 0)
    throw_stride(operation, axis,
                 "and how many there are before this one is not known; leave the body and enter it again");
  std::int64_t number = 0, ways = 1;
  for (int k = 0; k < origin.over.size(); ++k) {
    number = number * mesh.size(origin.over[k]) + mesh.coordinate(origin.over[k]);
    ways *= mesh.size(origin.over[k]);
  }
  std::int64_t const whole = origin.whole, all = (whole + step - 1) / step;
  auto const before = [&](std::int64_t n) { return (n + step - 1) / step; };
  bool is_distribution = true;
  for (std::int64_t k = 0; k < ways; ++k) {
    planner::range const b = planner::block(whole, k, ways);
    is_distribution = is_distribution && before(b.end) - before(b.begin) == planner::block(all, k, ways).size();
  }
  origin = is_distribution ? extent_origin{all, origin.over} : extent_origin{extent_origin::of_its_own};
  std::int64_t const begin = mesh.absent() ? 0 : planner::block(whole, number, ways).begin;
  p.first[d] = (step - begin % step) % step;
}

template <class A, class... As>
void take_steps(char const* operation, A const& a, every_index<As...> const& e, engine::stencil_points& p,
                extent_origins<A::rank>& origins) {
  using own = axes_in<sharding_without_halos<sharding_in<A>>>;
  auto const take = [&]<class One>(std::type_identity<One>, std::int64_t step) {
    constexpr int d = position_in<One, own>;
    if constexpr (d < 0)
      reason::raise<reason::axis_missing<One, sharding_in<A>>>();
    else
      take_every(operation, One::name, *a.mesh_handle(), d, step, p, origins[static_cast<std::size_t>(d)]);
  };
  int k = 0;
  (take(std::type_identity<As>{}, e.steps[k++]), ...);
}

// The points that need none of what is on its way, and then the others.
template <class Exec, class R, class F, class Operand, class... Sources>
void run_stencil(engine::stencil_points const& p, F const& f, engine::aligned<R> const& result, Operand&& first,
                 Sources const&... from) {
  using operand = stencil_operand<std::remove_cvref_t<Operand>>;
  engine::stencil_of_block(
      engine::instance<Exec>(), p, operand::waits_for(first), [&] { operand::wait(first); }, f, result, from...);
}

// Where an operand has said what is wrong with it, nothing more is.
template <class A, class... More>
constexpr bool is_stencil() {
  if constexpr (is_after_error<A>)
    return false;
  else
    return reason::ok_or_raise<stencil_verdict<A, More...>>();
}

template <class Sharding, class... As>
using stencil_sharding = varying_as<sharding_without_halos<Sharding>, As...>;

template <class A, class... More>
using stencil_after_error =
    after_error_of<typename A::value_type, stencil_sharding<sharding_in<A>, A, More...>, typename A::space>;

template <class R, class F, class Every, class Operand, class... More>
auto new_stencil(F const& f, Every const& every, Operand&& first, More const&... more) {
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
    extents[i] = p.every[d] == 1 && p.width[d] == 0 ? extents[i] : local[d];
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
void stencil_into_block(Target const& target, F const& f, Operand&& first, More const&... more) {
  using A = tensor_of_operand<Operand>;
  A const& a = stencil_operand<std::remove_cvref_t<Operand>>::tensor(first);
  common_mesh("stencil_into", a);
  common_mesh("stencil_into", target);
  (require_same_block("stencil_into", a, more, axes_in<A>{}), ...);
  require_same_block("stencil_into", a, target, axes_in<A>{});
  require_reach<F, A, More...>("stencil_into", *a.mesh_handle(), f);
  auto const shares = [&]<class B>(B const& b) {
    return padded_axes<axes_in<B>> > 0 && memory_of(target).overlaps(memory_of(b));
  };
  refuse_neighbours_in_result((shares(a) || ... || shares(more)));
  engine::stencil_points const p = points_of(a);
  profiled_block<Target> const region_of_run("stencil_into", target, "reads and writes", 2);
  run_stencil<execution_space_type<A>>(p, f, own_block<typename Target::value_type>(target), first, source_block(a),
                                     source_block(more)...);
}

struct no_every {};

}  // namespace detail

/// A block of f around each point of `x`, a padded block or one whose halo is on its way (os::start_exchange_halo), and
/// of the elements of further blocks there; those that are padded, too, give their neighbours. The result has the axes
/// without halos and the elements that f gives. It varies where one of them does.
/// @throws ostraka::error, on all devices alike, if extents disagree, and in check mode if f reads beyond a halo
template <class F, class X, Tensor... More>
  requires(!detail::StencilOperand<F> && detail::StencilOperand<X>)
[[nodiscard]] auto stencil(F const& f, X&& x, More const&... more) {
  using A = detail::tensor_of_operand<X>;
  if constexpr (detail::is_stencil<A, More...>())
    return detail::new_stencil<typename detail::stencil_value<F, A, More...>::type>(f, detail::no_every{}, x, more...);
  else
    return detail::stencil_after_error<A, More...>();
}

/// The same at every so-manyth index: `os::stencil(f, os::every(I = 2, J = 2), x)` is a convolution of stride 2.
/// @throws ostraka::error, on all devices alike, if blocks of the same extent are not divided by the step
template <class F, class... As, class X, Tensor... More>
  requires(!detail::StencilOperand<F> && detail::StencilOperand<X>)
[[nodiscard]] auto stencil(F const& f, every_index<As...> const& steps, X&& x, More const&... more) {
  using A = detail::tensor_of_operand<X>;
  if constexpr (detail::is_stencil<A, More...>())
    return detail::new_stencil<typename detail::stencil_value<F, A, More...>::type>(f, steps, x, more...);
  else
    return detail::stencil_after_error<A, More...>();
}

/// The same into a block, or into the inner part of a padded one, which may be one of `more` that is not padded. Takes
/// no memory.
/// @throws ostraka::error, on all devices alike, if extents disagree or the target shares memory with a padded block
template <Tensor Target, class F, class X, Tensor... More>
  requires(!detail::StencilOperand<F> && detail::StencilOperand<X>)
void stencil_into(Target const& target, F const& f, X&& x, More const&... more) {
  using A = detail::tensor_of_operand<X>;
  if constexpr (detail::is_stencil<A, More...>()) {
    using value = typename detail::stencil_value<F, A, More...>::type;
    if constexpr (reason::ok_or_raise<
                      typename decltype(detail::check_stencil_into<Target, value, A, More...>())::type>())
      detail::stencil_into_block(target, f, x, more...);
  }
}

/// Say where the function stands.
template <class First, class... Rest>
  requires(detail::StencilOperand<First> && !any_variable<First, Rest...>)
auto stencil(First const&, Rest const&...) {
  reason::raise<reason::stencil_is_called_otherwise<First, Rest...>>();
  return detail::scalar_after_error<First, Rest...>();
}
template <class First, class Second, class... Rest>
  requires((detail::StencilOperand<Second> ||
            (!detail::StencilOperand<First> && (detail::StencilOperand<Rest> || ...)) ||
            (detail::StencilOperand<First> && !(detail::StencilOperand<Rest> || ...))) &&
           !any_variable<First, Second, Rest...>)
void stencil_into(First const&, Second const&, Rest const&...) {
  reason::raise<reason::stencil_is_called_otherwise<First, Second, Rest...>>();
}

}  // namespace ostraka
