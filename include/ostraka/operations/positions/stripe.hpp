// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::stripe<S/X>(tokens)`: reorders a sequence so that all devices along X have the same work in causal
/// attention: device i gets chunks i and 2n − 1 − i of 2n chunks. Do this once, on the data. `os::unstripe<S/X>` is the
/// inverse; `os::striped_positions<S/X>(mesh, S = n)` returns each element's position in the sequence.
///
///     stripe<S/X>   [B, S]    → [B, S]      nothing moves
///     stripe<S/X>   [B, S_X]  → [B, S_X]    chunks that change their device

#include <array>
#include <cstddef>
#include <cstdint>

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/creation/creation_options.hpp>
#include <ostraka/creation/generate.hpp>
#include <ostraka/operations/positions/striped.hpp>
#include <ostraka/operations/shapes/rearrange.hpp>

namespace ostraka {

namespace detail {

template <class Dim, class A>
consteval auto check_stripe_axis() {
  using argument = axis_argument<Dim>;
  using splits = splits_of<typename argument::axis, sharding_in<A>>;
  if constexpr ((splits::size > 0 && !std::is_same_v<splits, typename argument::mesh>) ||
                common_of<typename argument::mesh, varying_in<A>>::size > 0)
    return found<reason::stripes_sharding_mismatch<Dim, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}

template <class Operation, class Dim, class A>
consteval auto check_stripe() {
  using argument = axis_argument<Dim>;
  using own = first_fault<typename sharding_traits<sharding_in<A>>::verdict, blocks_verdict<sharding<>, A>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (std::is_void_v<typename argument::axis>)
    return found<reason::not_an_axis<Dim, Operation>>{};
  else if constexpr (position_in<typename argument::axis, axes_in<A>> < 0)
    return found<reason::axis_missing<typename argument::axis, sharding_in<A>>>{};
  else
    return check_stripe_axis<Dim, A>();
}

/// Chunks alternate: every second one is chunk 0, 1, … of the sequence; the ones in between are chunks 2n − 1, 2n − 2,
/// …
[[nodiscard]] constexpr planner::rearrangement striped_chunks(std::int64_t devices, bool is_back) {
  planner::rearrangement r;
  r.extent[0] = r.result = 2 * devices;
  if (is_back) {
    r.pieces.push_back({0, 0, 2, 0, 1, devices});
    r.pieces.push_back({0, 2 * devices - 1, -2, devices, 1, devices});
  } else {
    r.pieces.push_back({0, 0, 1, 0, 2, devices});
    r.pieces.push_back({0, 2 * devices - 1, -1, 1, 2, devices});
  }
  return r;
}

/// The price of reordering a divided axis into stripes. The inverse has the same price.
template <class Dim, class A>
struct moves_of_stripes : moves_by_extents<moves_of_stripes<Dim, A>, axes_in<A>, mesh_axes_in<A>> {
  static constexpr std::int64_t bytes_moved(planner::extents const& e) {
    using mesh = mesh_axes_in<A>;
    constexpr int along = dimension_of<Dim, A>;
    planner::stripes const s{e.label[along], e.ways(mesh_axes_numbered<mesh>(typename axis_argument<Dim>::mesh{}))};
    return s.chunk() * element_bytes_in<A> *
           planner::elements_moved(striped_chunks(s.devices, false), spec_of<A, axes_in<A>, mesh>, along, e);
  }
};
template <class Dim, class A>
using moves_of_stripe = std::conditional_t<(splits_of<typename axis_argument<Dim>::axis, sharding_in<A>>::size > 0),
                                           moves_of_stripes<Dim, A>, nothing_moved>;

}  // namespace detail

namespace operation {

/// The operation of os::stripe and os::unstripe. `Dim`: the axis, and the mesh axes that it is striped over.
template <class Dim>
struct stripe {
  static constexpr char const* name = "stripe";
  bool is_back = false;

  template <class A>
  using verdict = typename decltype(detail::check_stripe<stripe, Dim, A>())::type;

  template <class A>
  using moves = detail::moves_of_stripe<Dim, A>;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    using axes = axes_in<A>;
    using mesh = mesh_axes_in<A>;
    using result_type = basic_tensor<typename A::value_type, sharding_in<A>, typename A::space>;
    constexpr int along = detail::dimension_of<Dim, A>;
    engine::execution_context const w = detail::context_of<axes, mesh>(name, a);
    planner::stripes const s = stripes_of(a);
    auto const result = detail::allocate_for<result_type, axes, mesh>(w, a);
    // The block as [outer, chunk, within a chunk and inner].
    auto const in_chunks = [&](auto const* view, auto* data) {
      std::array<std::int64_t, 3> extents{1, 0, s.chunk()};
      for (int i = 0; i < A::rank; ++i) {
        auto const n = static_cast<std::int64_t>(view->extent(static_cast<std::size_t>(i)));
        if (i == along)
          extents[1] = s.chunk() == 0 ? 0 : n / s.chunk();
        else
          extents[i < along ? 0u : 2u] *= n;
      }
      return detail::dense_block(data, extents.data(), 3);
    };
    auto const from_view = a.local(), to_view = result.local();
    using element = typename A::value_type;
    auto const from = in_chunks(&from_view, static_cast<element const*>(from_view.data()));
    engine::rearrange(detail::execution_space_of<A>(), w, spec_of<A, axes, mesh>, along,
                      detail::striped_chunks(s.devices, is_back), &from, in_chunks(&to_view, to_view.data()), element(),
                      1);
    return result;
  }

 private:
  template <class A>
  static planner::stripes stripes_of(A const& a) {
    using argument = detail::axis_argument<Dim>;
    planner::stripes const s{a.extents()[static_cast<std::size_t>(detail::dimension_of<Dim, A>)],
                             devices(*detail::common_mesh(name, a), typename argument::mesh{})};
    detail::require_stripes(name, argument::axis::name, s);
    return s;
  }
  template <class... Ms>
  static std::int64_t devices(engine::device_mesh const& mesh, type_list<Ms...>) {
    return detail::devices_along<Ms...>(name, mesh);
  }
};

}  // namespace operation

/// Reorders an axis into stripes over mesh axes: `os::stripe<S/X>(tokens)`, with S divided over X or undivided. If it
/// is divided, chunks move to other devices. Use it for os::attention with os::striped<X>.
/// @throws ostraka::error, on all devices alike, if S is not divisible by twice the number of devices along the mesh
/// axes
template <auto Dim, TensorOrVariable A>
[[nodiscard]] constexpr auto stripe(A const& a) {
  return detail::operate(operation::stripe<detail::type_of<Dim>>{}, a);
}

/// The inverse of os::stripe: restores the order of positions. Moves and errors as for os::stripe.
template <auto Dim, TensorOrVariable A>
[[nodiscard]] constexpr auto unstripe(A const& a) {
  return detail::operate(operation::stripe<detail::type_of<Dim>>{true}, a);
}

namespace detail {

template <class Dim, class Tensor, class... Ms>
void fill_striped_positions(Tensor const& t, type_list<Ms...>) {
  planner::stripes const s{t.extents()[0], devices_along<Ms...>("striped_positions", *t.mesh_handle())};
  require_stripes("striped_positions", axis_argument<Dim>::axis::name, s);
  if (s.extent > 0) generate_elements("striped_positions", t, engine::position_at(s));
}

}  // namespace detail

/// The position of each element of a striped sequence, as std::int64_t: `os::striped_positions<S/X>(mesh, S = n)`, for
/// os::rope and for other code that needs positions. Nothing moves.
template <auto Dim, class Mesh, class... Given>
[[nodiscard]] auto striped_positions(Mesh const& m, Given const&... given) {
  using argument = detail::type_of<Dim>;
  using tensor_type = typename detail::named_tensor<std::int64_t, Dim>::type;
  auto t = detail::make_uninitialised<tensor_type, detail::values_verdict<tensor_type, operation::stripe<argument>>>(
      "striped_positions", m, given...);
  if constexpr (std::is_same_v<decltype(t), tensor_type>)
    detail::fill_striped_positions<argument>(t, typename detail::axis_argument<argument>::mesh{});
  return t;
}

}  // namespace ostraka
