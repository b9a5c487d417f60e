// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Sends tokens to their experts and back without a capacity, in the body of os::shard_map. All rows reach
/// their experts, even if many go to one.
///
///     auto const to = os::route_rows<E/X>(experts, E = 64);    the numbers of rows to send: 8 bytes an expert
///     auto const rows = os::send_rows<R>(x, to);               x[T, M]    → rows[R, M], by expert: to.rows[E]
///     auto const back = os::return_rows(rows, to);             rows[R, M] → [T, K, M]
///
/// os::send_rows and os::return_rows are each other's transpose. A row that stays on its device is copied. Only the
/// bytes of the other rows move.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <ostraka/engine/block_collectives/expert_rows.hpp>
#include <ostraka/experts/choices.hpp>
#include <ostraka/local_view/collectives/group.hpp>

namespace ostraka {

namespace detail {

template <class Space>
struct dropless_routing {
  engine::row_routes<Space> rows;
  engine::expert_owners owners;
};

}  // namespace detail

/// The destinations of this device's rows, and the numbers of rows that it receives; made by os::route_rows. A handle,
/// as a tensor is.
template <class Dim, class Experts, class Rows>
class row_routes {
 public:
  using dim = Dim;
  using experts_type = Experts;
  using axis = typename detail::axis_argument<Dim>::axis;
  using mesh_axes = typename detail::axis_argument<Dim>::mesh;
  using space = typename Experts::view_type::memory_space;
  using state = detail::dropless_routing<space>;

  row_routes(std::shared_ptr<engine::device_mesh const> mesh, std::shared_ptr<state const> shared_state,
             detail::extents_of_axes<axes_in<Experts>> const& choices, Rows const& of_experts)
      : rows(of_experts), mesh_(std::move(mesh)), shared_state_(std::move(shared_state)), choices_(choices) {}

  Rows rows;  ///< [E]: the number of rows that this device receives for each of its experts, which follow each other

  [[nodiscard]] state const& shared_state() const { return *shared_state_; }
  [[nodiscard]] auto const& mesh_handle() const { return mesh_; }
  [[nodiscard]] auto const& choices() const { return choices_; }

 private:
  std::shared_ptr<engine::device_mesh const> mesh_;
  std::shared_ptr<state const> shared_state_;
  detail::extents_of_axes<axes_in<Experts>> choices_;
};

namespace operation {

struct route_rows {
  static constexpr char const* name = "route_rows";
};

}  // namespace operation

namespace detail {

// The devices along the experts' mesh axes, for a block; none if the experts are whole.
template <class A, class... Ms>
named_group owners_of(char const* operation, A const& a, type_list<Ms...>) {
  return group_of<A, Ms...>(operation, a);
}

template <class Experts, class... Ms>
consteval auto check_varies_along(type_list<Ms...>) {
  if constexpr (sizeof...(Ms) > 0)
    return found<varies_verdict<Experts, Ms...>>{};
  else
    return found<reason::ok>{};
}

template <class Dim, class Experts, class... Given>
consteval auto check_routed() {
  using argument = axis_argument<Dim>;
  using own = first_fault<is_an_axis_verdict<ostraka::operation::route_rows, Dim>,
                          choices_verdict<ostraka::operation::route_rows, Experts>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (mesh_axes_in<Experts>::size > 0)
    return found<reason::axis_must_be_whole<typename type_at<axes_in<Experts>, 0>::type, sharding_in<Experts>,
                                            ostraka::operation::route_rows>>{};
  else
    return found<first_fault<typename decltype(check_varies_along<Experts>(typename argument::mesh{}))::type,
                             typename decltype(check_extents_given<false>(type_list<typename argument::axis>{},
                                                                          type_list<Given...>{}))::type>>{};
}

// `operation` is the name of the operation that the program called.
template <class Dim, class Experts>
auto make_routes(char const* operation, Experts const& experts, std::int64_t count) {
  using argument = axis_argument<Dim>;
  using E = typename argument::axis;
  using rows_sharding = typename with_varying<sharding<E>, varying_in<Experts>>::type;
  using rows_type = basic_tensor<std::int64_t, rows_sharding, typename Experts::space>;
  using routes = row_routes<Dim, Experts, rows_type>;
  named_group const g = owners_of(operation, experts, typename argument::mesh{});
  auto const state = std::make_shared<typename routes::state>();
  extents_of_axes<axes_in<Experts>> const choices = extents_of_axes_in(experts);
  extents_of_axes<type_list<E>> own;
  state->owners.count = g.size;
  for (int d = 0; d < g.size; ++d) state->owners.member.push_back(argument::mesh::size == 0 ? 0 : g.member(d));
  own.whole[0] = planner::block(count, g.number, g.size).size();
  own.local[0] = own.whole[0];
  if (count % g.size != 0) {  // as a weight that is divided this way enters a body
    own.origins[0].whole = count;
    for (int m = 0; m < argument::mesh::size; ++m)
      if (g.w.sizes.mesh[m] > 1) own.origins[0].over.push_back(g.w.axis[m]);
  }
  if (g.w.mesh->absent()) {
    own.local[0] = 0;
  } else {
    if (g.size > 1)
      engine::require_same_call<std::int64_t>(g.w,
                                              spec_of<Experts, axes_in<Experts>, union_of<typename argument::mesh>>,
                                              g.axes, [] { return std::string(); });
    state->rows = engine::make_row_routes<typename routes::space>(
        g.w, g.axes, state->owners, count, engine::numbers_on_host(experts.local()),
        static_cast<std::int64_t>(experts.local().extent(static_cast<std::size_t>(Experts::rank - 1))));
  }
  auto const rows = make_of_axes<rows_type>(experts.mesh_handle(), own);
  if (!g.w.mesh->absent())
    engine::write_numbers<typename routes::space>(state->rows.experts, rows.local().data());
  return routes(experts.mesh_handle(), state, choices, rows);
}

}  // namespace detail

namespace operation {

/// `R` is the axis of the rows.
template <class R, class Routes>
struct send_rows {
  static constexpr char const* name = "send_rows";
  using experts = typename Routes::experts_type;
  using types = detail::choices_of<experts>;
  Routes routes;

  template <class X>
  using rest = typename types::template rest_of<X, types::template has_choices<X>>;
  template <class X>
  using result = varying_as<detail::canonical_sharding<R, rest<X>>, X, experts>;

  template <class X>
  using verdict = detail::first_fault<detail::tokens_verdict<send_rows, X, experts>,
                                      detail::blocks_verdict<sharding<>, X, experts>>;

  template <class How, class X>
  auto run(How const&, X const& x) const {
    using result_type = basic_tensor<typename X::value_type, result<X>, typename X::space>;
    constexpr bool of_choices = types::template has_choices<X>;
    detail::named_group g = detail::owners_of(name, x, typename Routes::mesh_axes{});
    auto const& there = routes.shared_state().rows;
    detail::extents_of_axes<type_list<R>> come;
    come.local[0] = come.whole[0] = there.rows_received();
    if constexpr (varying_in<experts>::size > 0) come.origins[0].whole = detail::extent_origin::of_its_own;
    auto const rows = detail::make_of_axes<result_type>(x.mesh_handle(), come, detail::extents_of_axes_in(x));
    if (g.w.mesh->absent()) return rows;
    detail::profiled_block<result_type> const region_of_run(name, rows, "writes");
    engine::send_rows(detail::execution_space_of<X>(), g.w,
                      spec_of<X, axes_in<X>, union_of<typename Routes::mesh_axes, mesh_axes_in<X>>>, g.axes, there,
                      of_choices, detail::elements_behind(x, experts::rank - (of_choices ? 0 : 1)),
                      detail::elements_of(x), rows.local().data());
    return rows;
  }
};

template <class R, class Routes>
struct return_rows {
  static constexpr char const* name = "return_rows";
  using experts = typename Routes::experts_type;
  using types = detail::choices_of<experts>;
  Routes routes;

  template <class A>
  using rest = detail::without_axes<detail::lasting_sharding<A>, type_list<R>>;
  template <class A>
  using result = varying_as<detail::canonical_sharding<typename types::choices, rest<A>>, A, experts>;

  template <class A>
  static consteval auto check() {
    using own = detail::first_fault<typename sharding_traits<sharding_in<A>>::verdict,
                                    detail::whole_values_verdict<return_rows, A>,
                                    detail::blocks_verdict<sharding<>, A, experts>>;
    if constexpr (!std::is_same_v<own, reason::ok>)
      return detail::found<own>{};
    else if constexpr (position_in<R, axes_in<A>> != 0)
      return detail::found<reason::axis_missing<R, sharding_in<A>>>{};
    else if constexpr (detail::splits_of<R, sharding_in<A>>::size > 0)
      return detail::found<reason::axis_must_be_whole<R, sharding_in<A>, return_rows>>{};
    else
      return detail::found<typename sharding_traits<result<A>>::verdict>{};
  }
  template <class A>
  using verdict = typename decltype(check<A>())::type;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    using result_type = basic_tensor<typename A::value_type, result<A>, typename A::space>;
    detail::named_group g = detail::owners_of(name, a, typename Routes::mesh_axes{});
    auto const back =
        detail::make_of_axes<result_type>(a.mesh_handle(), routes.choices(), detail::extents_of_axes_in(a));
    if (g.w.mesh->absent()) return back;
    detail::profiled_block<result_type> const region_of_run(name, back, "writes");
    engine::return_rows(detail::execution_space_of<A>(), g.w,
                        spec_of<A, axes_in<A>, union_of<typename Routes::mesh_axes, mesh_axes_in<A>>>, g.axes,
                        routes.shared_state().rows, detail::elements_behind(a, 1), detail::elements_of(a),
                        back.local().data());
    return back;
  }
};

}  // namespace operation

/// The numbers of rows that each device sends to each expert: `os::route_rows<E/X>(experts, E = 64)`, from the chosen
/// experts of this device's tokens, [T, K]. A choice that names no expert (−1) is not sent. With a bare E all experts
/// are on every device, and nothing moves. Collective over X.
template <auto Dim, Tensor Experts, class... Given>
[[nodiscard]] auto route_rows(Experts const& experts, Given const&... given) {
  using argument = detail::type_of<Dim>;
  if constexpr (reason::ok_or_raise<typename decltype(detail::check_routed<argument, Experts, Given...>())::type>()) {
    using E = typename detail::axis_argument<argument>::axis;
    return detail::make_routes<argument>(operation::route_rows::name, experts,
                                         detail::checked_extent<false, E>(collect_sizes(given...), "route_rows"));
  } else {
    return detail::refused_choices{};
  }
}

/// Sends rows to their experts: from x[T, M] each token's row to each of its chosen experts; from y[T, K, M] each
/// choice's row to its expert. Returns the received rows, [R, M], sorted by expert, routes.rows[e] rows for each. The
/// extent of R is each device's own. Collective over the mesh axes of the experts.
template <auto R, TensorOrVariable X, class Dim, class Experts, class Rows>
[[nodiscard]] auto send_rows(X const& x, row_routes<Dim, Experts, Rows> const& routes) {
  using send = operation::send_rows<detail::type_of<R>, row_routes<Dim, Experts, Rows>>;
  return detail::operate(send{routes}, x);
}

/// Sends rows [R, M], as os::send_rows returned them, back to the devices of their tokens: [T, K, M]. A choice that was
/// not sent gets zeros. Collective over the mesh axes of the experts.
template <auto R, TensorOrVariable A, class Dim, class Experts, class Rows>
[[nodiscard]] auto return_rows(A const& rows, row_routes<Dim, Experts, Rows> const& routes) {
  using back = operation::return_rows<detail::type_of<R>, row_routes<Dim, Experts, Rows>>;
  return detail::operate(back{routes}, rows);
}

/// Stands in for the results on routes that were refused.
template <auto R, TensorOrVariable X>
[[nodiscard]] auto send_rows(X const&, detail::refused_choices) {
  return detail::after_refused_choices<X>{};
}
template <auto R, TensorOrVariable A>
[[nodiscard]] auto return_rows(A const&, detail::refused_choices) {
  return detail::after_refused_choices<A>{};
}

}  // namespace ostraka
