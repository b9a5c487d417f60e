// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::scatter_from_root<float, I/X, J>(mesh, I = 1024, J = 8, whole)`: the array of device 0 becomes a
/// tensor; os::gather_to_root's inverse. A[I, J] there → A[I_X, J_Y].

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/create.hpp>
#include <ostraka/detail/operation.hpp>
#include <ostraka/engine/blocks/root_blocks.hpp>
#include <ostraka/engine/collectives/scatter.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/on_root.hpp>

namespace ostraka {

namespace detail {

// What a whole array is: a view of the tensor's rank, or elements one after the other, of the tensor's type.
template <class Array, class TensorType>
inline constexpr bool is_whole_view = false;
template <class Array, class TensorType>
  requires(Kokkos::is_view<Array>::value)
inline constexpr bool is_whole_view<Array, TensorType> =
    static_cast<int>(Array::rank) == TensorType::rank &&
    std::is_same_v<typename element<typename Array::non_const_value_type>::type, typename TensorType::value_type>;

template <class Array, class TensorType>
inline constexpr bool is_whole_list = false;
template <class Array, class TensorType>
  requires(!Kokkos::is_view<Array>::value) && requires(Array const& a) {
    { a.data() } -> std::convertible_to<void const*>;
    { a.size() } -> std::convertible_to<std::size_t>;
  }
  inline constexpr bool is_whole_list<Array, TensorType> =
      std::is_same_v<typename element<std::remove_cvref_t<decltype(*std::declval<Array const&>().data())>>::type,
                     typename TensorType::value_type>;

  // A whole array as device 0 has it. Of a list only the number of elements is known.
  struct whole_extents {
    int rank = 0;  // -1: a list
    std::int64_t extent[max_rank]{};
};

[[gnu::cold]] inline std::string describe_extents(std::int64_t const* extents, int rank) {
  std::string text;
  for (int i = 0; i < rank; ++i) text += (i > 0 ? " × " : "") + std::to_string(extents[i]);
  return rank == 0 ? "one element" : text;
}

// On all devices alike: they are told what device 0 has.
inline void require_whole(engine::execution_context const& w, planner::spec const& s, whole_extents given) {
  engine::broadcast(w.mesh->world(), given.extent, given.rank < 0 ? 1 : given.rank);
  std::int64_t wanted[max_rank]{};
  std::int64_t elements = 1;
  bool same = true;
  for (int i = 0; i < s.rank; ++i) {
    wanted[i] = w.sizes.label[s.label[i]];
    elements *= wanted[i];
    same = same && (given.rank < 0 || given.extent[i] == wanted[i]);
  }
  if (given.rank < 0) same = given.extent[0] == elements;
  if (same) return;
  std::string const tensor = describe_extents(wanted, s.rank);
  std::string const has =
      given.rank < 0 ? std::to_string(given.extent[0]) + " elements" : describe_extents(given.extent, given.rank);
  throw error("scatter_from_root: the array on device 0 has the extents of the tensor, but it is of " + has +
              " and the tensor of " + tensor + "; give the whole array there (on the other devices it is not read)");
}

// `whole` and its layout are looked at on device 0 alone, where the host reads them.
template <class T>
void scatter_blocks(engine::execution_context const& w, planner::spec const& s, T const* whole,
                    engine::strided const& layout, T* block) {
  using host = Kokkos::DefaultHostExecutionSpace;
  engine::root_blocks const blocks = engine::root_blocks_of(w, s);
  engine::profiled const region_of_run([&] { engine::push_root_blocks(w, s, blocks, sizeof(T)); });
  bool const root = w.mesh->device() == 0;
  engine::scratch<T, Kokkos::HostSpace> const message(root ? blocks.elements() : 0);
  if (root) {
    engine::region<T const> const from{whole, layout, engine::whole_box(w, s), {}};
    blocks.for_each([&](engine::box const& b, std::int64_t at) {
      engine::copy(host(), engine::dense_region(message.data() + at, b), from.part(b));
    });
    engine::fence(host());
  }
  engine::scatter(w.mesh->world(), static_cast<T const*>(message.data()), block, blocks.counts);
  engine::broadcast(w.mesh->group(engine::replicating_axes(w)), block, engine::box_of(s, w.here, w.sizes).size());
}

template <class TensorType, class Array>
void scatter_into(TensorType const& t, Array const& whole) {
  using value = typename TensorType::value_type;
  constexpr int rank = TensorType::rank;
  constexpr planner::spec s = spec_of<TensorType, typename TensorType::axes, typename TensorType::mesh_axes>;
  engine::execution_context const w =
      context_of<typename TensorType::axes, typename TensorType::mesh_axes>("scatter_from_root", t);
  if (w.mesh->absent()) return;
  engine::require_same_call<value>(w, s);
  whole_extents given{Kokkos::is_view<Array>::value ? rank : -1, {}};
  engine::strided layout;
  value const* data = nullptr;
  auto const scatter = [&] {
    auto const n = static_cast<std::int64_t>(t.local().size());
    engine::on_host_in_place(execution_space_of<TensorType>(), t.local().data(), n,
                             [&](value* block) { scatter_blocks(w, s, data, layout, block); });
  };
  if constexpr (Kokkos::is_view<Array>::value) {
    for (int i = 0; i < rank; ++i)
      given.extent[i] = static_cast<std::int64_t>(whole.extent(static_cast<std::size_t>(i)));
    require_whole(w, s, given);
    auto const with = [&](auto const& view) {
      data = reinterpret_cast<value const*>(view.data());
      for (int i = 0; i < rank; ++i)
        layout.add(given.extent[i], static_cast<std::int64_t>(view.stride(static_cast<std::size_t>(i))));
      scatter();
    };
    if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Array::memory_space>::accessible) {
      with(whole);
    } else {
      using on_host = decltype(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), whole));
      with(w.mesh->device() == 0 ? Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), whole) : on_host());
    }
  } else {
    given.extent[0] = static_cast<std::int64_t>(whole.size());
    require_whole(w, s, given);
    data = reinterpret_cast<value const*>(whole.data());
    layout = engine::whole_box(w, s).packed();
    scatter();
  }
}

// What os::gather_to_root gave stands for its view.
template <class Array>
Array const& array_in(Array const& given) {
  return given;
}
template <class View>
View const& array_in(on_root<View> const& given) {
  return view_of_root::in(given);
}

template <class TensorType, class Mesh, class Arguments, std::size_t... Is>
auto scatter_from(Mesh const& m, Arguments const& arguments, std::index_sequence<Is...>) {
  auto t = make_uninitialised<TensorType, wants_values<TensorType, operation::scatter_from_root>>(
      "scatter_from_root", m, std::get<Is>(arguments)...);
  if constexpr (std::is_same_v<decltype(t), TensorType>) scatter_into(t, array_in(std::get<sizeof...(Is)>(arguments)));
  return t;
}

}  // namespace detail

/// A tensor of the elements that device 0 has; every device gets its block of them. The array comes last, after the
/// global extents: a Kokkos::View of any layout with a dimension for each axis, what os::gather_to_root gave, or
/// row-major elements in a std::span or std::vector. On the other devices it has the same type, is not read, and may be
/// empty. Each block is sent once; devices that hold the same pass it on. Collective over the mesh.
/// @throws ostraka::error, on all devices alike, if the array on device 0 has other extents
template <class T, auto... Dims, class Mesh, class... ExtentsThenArray>
[[nodiscard]] auto scatter_from_root([[maybe_unused]] Mesh const& m,
                                     [[maybe_unused]] ExtentsThenArray const&... extents_then_array) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  using last = detail::last_of<ExtentsThenArray...>;
  using array = std::remove_cvref_t<decltype(detail::array_in(std::declval<last const&>()))>;
  if constexpr (detail::is_whole_view<array, tensor_type> || detail::is_whole_list<array, tensor_type>) {
    return detail::scatter_from<tensor_type>(m, std::forward_as_tuple(extents_then_array...),
                                             std::make_index_sequence<sizeof...(ExtentsThenArray) - 1>{});
  } else {
    reason::raise<reason::whole_array_comes_last<last, tensor_type>>();
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                                  typename tensor_type::space>();
  }
}

/// Says that the element type comes first.
template <auto... Dims, class... Arguments>
auto scatter_from_root(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

}  // namespace ostraka
