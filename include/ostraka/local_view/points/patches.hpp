// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::patches<M, N>(x)`: the surroundings of each point of a padded block, as further axes, one for each
/// padded axis. p[i, j, m, n, c] = x[i + m − 1, j + n − 1, c]. float[I(1), J(1), C] {V_X} → float[I, J, M, N, C] {V_X}
///
/// A convolution is then an einsum, with its plan, work and derivatives.
///
///     auto x = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>>(image);       float[I(1), J(1), C] {V_X}
///     auto y = os::einsum<I, J, D>(os::patches<M, N>(x), weights);               weights: float[M, N, C, D]
///     auto z = os::einsum<I, J, D>(os::patches<M, N>(os::every(I = 2, J = 2), x), weights);     of stride 2

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/blocks/stencil_cotangents.hpp>
#include <ostraka/local_view/points/stencil.hpp>

namespace ostraka {

namespace detail {

// The padded axes of a block, in order.
template <class Axes>
struct padded_axes_among;
template <class... As>
struct padded_axes_among<type_list<As...>> {
  using type = concatenation_of<std::conditional_t<is_halo<As>, type_list<As>, type_list<>>...>;
};
template <class A>
using padded_axes_of = typename padded_axes_among<axes_in<A>>::type;

template <class A>
using last_padded =
    typename unpadded_axis<typename type_at<padded_axes_of<A>, padded_axes_of<A>::size - 1>::type>::type;

// The sharding without halos, with the axes of patches after the last padded one.
template <class A, class... Taps>
using patches_sharding = with_entry<sharding_without_halos<sharding_in<A>>, last_padded<A>, last_padded<A>, Taps...>;

template <class Tap, class Padded>
consteval auto check_patch_axis() {
  if constexpr (Tap::extent != dynamic_extent && Tap::extent != Padded::before + Padded::behind + 1)
    return found<reason::patches_of_another_width<Tap, static_cast<long long>(Tap::extent), Padded>>{};
  else
    return found<reason::ok>{};
}

template <class A, class... Taps>
consteval auto check_patches() {
  if constexpr (padded_axes<axes_in<A>> == 0) {
    return found<reason::stencil_needs_a_halo<sharding_in<A>>>{};
  } else if constexpr (padded_axes<axes_in<A>> != static_cast<int>(sizeof...(Taps))) {
    return found<reason::patches_need_an_axis_each<sharding_in<A>, Taps...>>{};
  } else {
    return []<class... Padded>(type_list<Padded...>) {
      return found<
          first_fault<values_verdict<A, operation::map>, typename decltype(check_patch_axis<Taps, Padded>())::type...,
                      typename sharding_traits<patches_sharding<A, Taps...>>::verdict>>{};
    }(padded_axes_of<A>{});
  }
}

// The position of the elements around each of these points, in the array of `rank` + Axes dimensions and in the padded
// block.
inline engine::patch_layout patch_layout_of(engine::stencil_points const& p, std::int64_t const* stride, int last) {
  engine::patch_layout l{};
  std::int64_t extents[2 * max_rank + 1]{};
  int rank = 0;
  for (int d = 0; d < p.rank; ++d) {
    extents[rank++] = p.points(d);
    l.padded.add(p.points(d), stride[d] * p.every[d]);
    l.begin += p.first[d] * stride[d] - p.before[d] * stride[d];
    if (d != last) continue;
    l.taps = rank;
    for (int e = 0; e <= last; ++e) {
      std::int64_t const around = p.before[e] + p.behind[e];
      if (around == 0) continue;
      extents[rank++] = around + 1;
      l.padded.add(around + 1, stride[e]);
      ++l.axes;
    }
  }
  l.array = engine::row_major(extents, rank);
  return l;
}

template <class A>
constexpr int last_padded_dimension() {
  int last = -1;
  for (int d = 0; d < A::rank; ++d)
    if (margins_in<A>[static_cast<std::size_t>(d)].both() > 0) last = d;
  return last;
}

template <class Every, class A, class... Taps>
auto new_patches(Every const& every, A const& a, type_list<Taps...>) {
  using result_type = basic_tensor<typename A::value_type, patches_sharding<A, Taps...>, typename A::space>;
  constexpr int last = last_padded_dimension<A>();
  common_mesh("patches", a);
  engine::stencil_points p = points_of(a);
  extent_origins<A::rank> own = own_origins(a);
  if constexpr (is_every<Every>) take_steps("patches", a, every, p, own);
  auto const block = own_block<typename A::value_type const>(a);
  engine::patch_layout const layout = patch_layout_of(p, block.stride, last);
  typename result_type::extents_type extents{};
  extent_origins<result_type::rank> origins{};
  for (int d = 0; d < result_type::rank; ++d) {
    bool const is_tap = d >= layout.taps && d < layout.taps + layout.axes;
    int const of_block = d < layout.taps ? d : d - layout.axes;
    auto const i = static_cast<std::size_t>(d), k = static_cast<std::size_t>(of_block);
    bool const as_it_was = !is_tap && p.every[of_block] == 1 && p.before[of_block] + p.behind[of_block] == 0;
    extents[i] = as_it_was ? a.extents()[k] : layout.array.extent[d];
    if (!is_tap) origins[i] = own[k];
  }
  auto const result = make_block<result_type>(a.mesh_handle(), extents, layout.array.extent, without_marks(origins));
  profiled_block<result_type> const region_of_run("patches", result, "reads and writes", 2);
  engine::gather_patches(engine::instance<execution_space_type<A>>(), layout, block.data, result.local().data());
  return result;
}

}  // namespace detail

namespace operation {

/// os::patches as an operation. `Taps` is a list of axes.
template <class Taps, class Every>
struct patches;
template <class... Taps, class Every>
struct patches<type_list<Taps...>, Every> {
  static constexpr char const* name = "patches";
  Every every;

  template <class A>
  using verdict = typename decltype(detail::check_patches<A, Taps...>())::type;
  template <class>
  using moves = detail::nothing_moved;
  template <class A>
  using refused = detail::stencil_after_error<A>;

  template <class A>
  auto run(detail::at_once, A const& a) const {
    return detail::new_patches(every, a, type_list<Taps...>{});
  }
};

}  // namespace operation

/// The surroundings of each point of a padded block: for each padded axis an axis of `Taps`, in their order, after the
/// last padded one, with 2 width + 1 indices. The result has more elements than the block by the product of these
/// extents. Nothing moves.
template <auto... Taps, TensorOrVariable A>
[[nodiscard]] auto patches(A const& a) {
  return detail::operate(operation::patches<type_list<detail::type_of<Taps>...>, detail::no_every>{}, a);
}

/// The same at every n-th index, as for os::stencil: `os::patches<M, N>(os::every(I = 2, J = 2), x)`.
/// @throws ostraka::error, on all devices alike, if the step does not divide blocks of the same extent
template <auto... Taps, class... As, TensorOrVariable A>
[[nodiscard]] auto patches(every_index<As...> const& steps, A const& a) {
  return detail::operate(operation::patches<type_list<detail::type_of<Taps>...>, every_index<As...>>{steps}, a);
}

}  // namespace ostraka
