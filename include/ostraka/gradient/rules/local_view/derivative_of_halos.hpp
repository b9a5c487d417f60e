// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of operations that are linear in a block with halos. Each derivative is the transposed
/// operation, which itself has a derivative.
///
///     forward                          backward
///     exchange_halo<os::halo<I>/X>     margins go back to the devices that own these indices, and are added there
///     own                              among zeros
///     patches<M, N>                    each element is added where it came from

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <ostraka/engine/moves/copy_block.hpp>
#include <ostraka/engine/moves/halo_flight.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_exchanges.hpp>
#include <ostraka/local_view/halos/exchange_halo.hpp>
#include <ostraka/local_view/points/own.hpp>
#include <ostraka/local_view/points/patches.hpp>

namespace ostraka {

namespace detail {

/// A block's extents and their origins.
template <int Rank>
struct block_shape {
  std::array<std::int64_t, static_cast<std::size_t>(Rank)> extents;
  extent_origins<Rank> origins;
};

template <class X>
block_shape<X::rank> shape_of_block(X const& x) {
  return {x.extents(), origins_of_operand(x)};
}

// A block of zeros with this sharding and shape on the devices of `g`; it varies as `g` does.
template <class Sharding, class G, int Rank>
auto zeros_for(G const& g, block_shape<Rank> const& shape, std::array<std::int64_t, max_rank + 1> const& local) {
  using block =
      basic_tensor<typename G::value_type, typename with_varying<Sharding, varying_in<G>>::type, typename G::space>;
  auto const zero = make_block<block>(g.mesh_handle(), shape.extents, local.data(), shape.origins);
  fill_block("gradient", zero, typename G::value_type(0));
  return zero;
}

// The local extents of a padded block of this sharding, whose own part has the extents `own`.
template <class Sharding, class Own>
std::array<std::int64_t, max_rank + 1> padded_extents(Own const& own) {
  constexpr auto margins = margins_of(axes_in<Sharding>{});
  std::array<std::int64_t, max_rank + 1> local{};
  for (std::size_t d = 0; d + 1 < margins.size(); ++d) local[d] = own[d] + margins[d].both();
  return local;
}

// The transpose of an exchange of the halos `Dim`. The options of the exchange say which axes are rings, and whether
// corners were sent.
template <class... Dim, class G, class... Options>
auto return_halo(char const* operation, G const& g, type_list<Options...>) {
  using own_sharding = sharding_without_halos_along<sharding_in<G>, Dim...>;
  using types = halo_types<own_sharding, Dim...>;
  using value = typename G::value_type;
  using block = basic_tensor<value, own_sharding, typename G::space>;
  using exec = execution_space_type<G>;
  static constexpr halo_asked asked = types::template asked<Options...>();
  engine::execution_context const w = halo_context<types>(operation, *common_mesh(operation, g));
  extent_origins<G::rank> origins = origins_of_operand(g);
  typename block::extents_type extents = g.extents();
  local_extents_array local = local_extents_of(g);
  for (std::size_t d = 0; d < extents.size(); ++d) {
    int const more = asked.margins[d].both();
    if (more == 0) continue;
    extents[d] -= more;
    local[d] -= more;
    origins[d] = origins[d].padded_by(-more);
    origins[d].is_undivided = false;
  }
  extent_origins<G::rank> leaving = origins;
  engine::halo_shape shape =
      halo_shape_of(w, types::spec, types::moving, asked, extents.data(), local.data(), leaving.data());
  shape.zero_copy = !engine::is_gpu_memory<exec>();
  auto const result = make_block<block>(g.mesh_handle(), extents, local.data(), origins);
  engine::communicator const& members = w.group(types::moving);
  engine::require_agreement(
      members, [&] { return types::template key_of_call<value>(operation, shape); },
      [&] { return types::template describe<value>(operation, shape); });
  static thread_local constinit engine::halo_plans* plans = nullptr;
  engine::begin_halo<engine::halo_way::give_back>(
      engine::instance<exec>(), *w.mesh, w.operation, members, engine::per_thread(plans).of(shape),
      static_cast<value const*>(g.local().data()), result.local().data())
      .wait();
  return result;
}

}  // namespace detail

namespace operation {

/// Sends the margins of a padded block back to their owners: the sum of all devices' values of an index.
template <class Dim, class Options>
struct return_halo;
template <class... Dim, class... Options>
struct return_halo<type_list<Dim...>, type_list<Options...>>
    : detail::callable<return_halo<type_list<Dim...>, type_list<Options...>>> {
  static constexpr char const* name = "return_halo";

  template <class>
  using verdict = reason::ok;
  template <class G>
  [[nodiscard]] detail::moves_of_call moved(G const& g) const {
    return detail::moves_of_halos<detail::sharding_without_halos_along<sharding_in<G>, Dim...>, Dim...>(
        name, g, type_list<Options...>{});
  }

  template <class G>
  auto run(detail::at_once, G const& g) const {
    return detail::return_halo<Dim...>("return_halo", g, type_list<Options...>{});
  }
};

/// Puts a block in the middle of a padded one of this sharding, with zeros around it.
template <class Sharding, int Rank>
struct among_halo : detail::internal_step<among_halo<Sharding, Rank>> {
  static constexpr char const* name = "among_halo";
  detail::block_shape<Rank> shape;

  template <class G>
  auto run(detail::at_once, G const& g) const {
    auto const all =
        detail::zeros_for<Sharding>(g, shape, detail::padded_extents<Sharding>(detail::local_extents_of(g)));
    constexpr auto margins = detail::margins_of(axes_in<Sharding>{});
    engine::box here, there;
    here.rank = there.rank = Rank;
    for (int d = 0; d < Rank; ++d) {
      auto const i = static_cast<std::size_t>(d);
      auto const n = static_cast<std::int64_t>(g.local().extent(i));
      here.at[d] = {0, n};
      there.at[d] = {margins[i].before, margins[i].before + n};
    }
    engine::copy_part(detail::execution_space_of<G>(), detail::writable_block(all), there, detail::readable_block(g),
                      here);
    return all;
  }
};

/// Adds each element of patches where it came from; returns a padded block of this sharding.
template <class Sharding, int Rank, class Taps, class Every>
struct add_patches : detail::internal_step<add_patches<Sharding, Rank, Taps, Every>> {
  static constexpr char const* name = "add_patches";
  detail::block_shape<Rank> shape;
  detail::local_extents_array local;
  Every every;

  template <class G>
  auto run(detail::at_once, G const& g) const {
    auto const all = detail::zeros_for<Sharding>(g, shape, local);
    using A = std::remove_cvref_t<decltype(all)>;
    engine::stencil_points p = detail::points_of(all);
    detail::extent_origins<Rank> own = detail::own_origins(all);
    if constexpr (detail::is_every<Every>) detail::take_steps("patches", all, every, p, own);
    auto const block = detail::own_block<typename A::value_type>(all);
    engine::patch_layout const layout = detail::patch_layout_of(p, block.stride, detail::last_padded_dimension<A>());
    engine::add_patches(detail::execution_space_of<G>(), layout, block.data,
                        static_cast<typename A::value_type const*>(g.local().data()));
    return all;
  }
};

/// The sum of two cotangents of a padded block: each device's copy of an index is added by itself.
struct add_padded : detail::internal_step<add_padded> {
  static constexpr char const* name = "add_padded";

  template <class A>
  A run(detail::at_once, A const& a, A const& b) const {
    detail::cotangent_slot<A> sum;
    sum.add(a);
    sum.add(b);
    return A(sum.sum());
  }
};

}  // namespace operation

namespace detail {

template <class Cotangent>
Cotangent sum_of_padded(Cotangent const& a, Cotangent const& b) {
  return ostraka::operation::add_padded{}(a, b);
}

/// The pullback that applies the transposed operation.
template <class Back>
struct transpose_pullback {
  Back back;
  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    return settled_cotangent<Wanted>(operate(back, g));
  }
};
template <class Back>
transpose_pullback(Back) -> transpose_pullback<Back>;

template <class Option>
inline constexpr bool is_boundary = false;
template <class Number>
inline constexpr bool is_boundary<boundary_value<Number>> = true;

// The type without {V}, because cotangents vary along mesh axes of their own.
template <class X>
using sharding_of_block = invariant_over<sharding_in<X>, varying_in<X>>;

}  // namespace detail

template <class... Dim>
struct derivative_of<operation::exchange_halo<Dim...>> {
  template <class Result, class A, class... Options>
  static auto pullback(operation::exchange_halo<Dim...> const&, Result const&, A const&, Options const&...) {
    // A number beyond the ends is a constant.
    using named =
        concatenation_of<std::conditional_t<detail::is_boundary<Options>, type_list<>, type_list<Options>>...>;
    return detail::transpose_pullback{operation::return_halo<type_list<Dim...>, named>{}};
  }
};

template <class... Dim, class... Options>
struct derivative_of<operation::return_halo<type_list<Dim...>, type_list<Options...>>> {
  struct exchanged {
    template <int, class Wanted, class G>
    auto pull(G const& g) const {
      return detail::settled_cotangent<Wanted>(operation::exchange_halo<Dim...>{}(g, Options{}...));
    }
  };
  template <class Result, class G>
  static auto pullback(operation::return_halo<type_list<Dim...>, type_list<Options...>> const&, Result const&,
                       G const&) {
    return exchanged{};
  }
};

template <>
struct derivative_of<operation::add_padded> {
  template <class Result, class A, class B>
  static auto pullback(operation::add_padded const&, Result const&, A const&, B const&) {
    return detail::identity_pullback{};
  }
};

template <>
struct derivative_of<operation::own_part> {
  template <class Result, class A>
  static auto pullback(operation::own_part const&, Result const&, A const& a) {
    return detail::transpose_pullback{
        operation::among_halo<detail::sharding_of_block<A>, A::rank>{{}, detail::shape_of_block(a)}};
  }
};

template <class Sharding, int Rank>
struct derivative_of<operation::among_halo<Sharding, Rank>> {
  template <class Result, class G>
  static auto pullback(operation::among_halo<Sharding, Rank> const&, Result const&, G const&) {
    return detail::transpose_pullback{operation::own_part{}};
  }
};

template <class Taps, class Every>
struct derivative_of<operation::patches<Taps, Every>> {
  template <class Result, class A>
  static auto pullback(operation::patches<Taps, Every> const& operation, Result const&, A const& a) {
    return detail::transpose_pullback{operation::add_patches<detail::sharding_of_block<A>, A::rank, Taps, Every>{
        {}, detail::shape_of_block(a), detail::local_extents_of(detail::tensor_of(a)), operation.every}};
  }
};

template <class Sharding, int Rank, class Taps, class Every>
struct derivative_of<operation::add_patches<Sharding, Rank, Taps, Every>> {
  template <class Result, class G>
  static auto pullback(operation::add_patches<Sharding, Rank, Taps, Every> const& operation, Result const&, G const&) {
    return detail::transpose_pullback{operation::patches<Taps, Every>{operation.every}};
  }
};

}  // namespace ostraka
