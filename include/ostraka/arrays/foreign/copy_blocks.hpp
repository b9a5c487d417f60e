// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Between a tensor and arrays of a program that divides it by a rule of its own. The devices tell each other
/// what they hold, and one exchange moves what differs:
///
///     auto A = os::copy_from_blocks<double, I/X, J>(mesh, I = n, J = m, os::at(I = begin), view);
///     os::copy_to_blocks(A, os::at(I = begin), view);

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/arrays/foreign/foreign_state.hpp>

namespace ostraka {

namespace detail {

// A tensor of these extents without elements, of which only the shape is asked.
template <class TensorType, class Mesh, class... Given>
TensorType shape_of_blocks(char const* operation, Mesh const& m, Given const&... extents) {
  engine::require_not_ended(operation);
  return TensorType(m.handle(),
                    checked_extents<TensorType>(axes_in<TensorType>{}, collect_sizes(extents...), operation),
                    typename TensorType::view_type());
}

template <class TensorType, class Operation, class Arrays, class Mesh, class... Extents>
using from_blocks_verdict =
    first_fault<creation_verdict<TensorType, Mesh, Extents...>, no_block_verdict<TensorType, Operation>,
                values_verdict<TensorType, Operation>, foreign_verdict<TensorType, Arrays>>;

template <class TensorType, class Arguments, class Mesh, std::size_t... Is>
auto copy_from_blocks(Mesh const& m, [[maybe_unused]] Arguments const& arguments, std::index_sequence<Is...>) {
  constexpr int extents = static_cast<int>(sizeof...(Is));
  return with_foreign_arrays<extents>(arguments, [&](auto const& arrays) {
    using given = std::remove_cvref_t<decltype(arrays)>;
    using verdict = from_blocks_verdict<TensorType, operation::copy_from_blocks, given, Mesh,
                                        std::remove_cvref_t<std::tuple_element_t<Is, Arguments>>...>;
    if constexpr (reason::ok_or_raise<verdict>()) {
      char const* const name = "copy_from_blocks";
      foreign_state<TensorType> state;
      state.agree(name, shape_of_blocks<TensorType>(name, m, std::get<Is>(arguments)...), arrays, true, false, false);
      auto t = make_uninitialised<TensorType>(name, m, std::get<Is>(arguments)...);
      state.template copy_from<typename given::array_type>(name, t);
      return t;
    } else {
      return after_error_of<typename TensorType::value_type, typename TensorType::sharding_type,
                            typename TensorType::space>();
    }
  });
}

}  // namespace detail

/// A new tensor of the elements that the devices hold in arrays of any distribution. Behind the global extents stand
/// the arrays of this device (arrays/foreign/foreign_places.hpp): os::at(I = begin, J = 0), view; or a range of os::placed
/// arrays, which may be empty; or os::block_cyclic(I = 64, J = 64), view. An array is a Kokkos::View or mdspan of any
/// layout, os::strided memory, os::in_order<J, I>(view) or, of one axis, a list. Each device gets what it lacks, by one
/// exchange, and copies what it has. Collective over the mesh.
/// @throws ostraka::error, on all devices alike and before elements move, if boxes overlap, leave a gap or reach beyond
/// the tensor, or if an array has not the extents of what its device is dealt
template <class T, auto... Dims, class Mesh, class... ExtentsThenArrays>
[[nodiscard]] auto copy_from_blocks([[maybe_unused]] Mesh const& m,
                                    [[maybe_unused]] ExtentsThenArrays const&... extents_then_arrays) {
  using named = typename detail::named_tensor<T, Dims...>::type;
  using tensor_type = basic_tensor<typename named::value_type, typename named::sharding_type, typename named::space>;
  constexpr int extents = detail::number_of_extents<ExtentsThenArrays...>;
  if constexpr (extents < 0) {
    reason::raise<reason::array_without_a_place<ExtentsThenArrays...>>();
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                                  typename tensor_type::space>();
  } else {
    return detail::copy_from_blocks<tensor_type>(m, std::forward_as_tuple(extents_then_arrays...),
                                                 std::make_index_sequence<static_cast<std::size_t>(extents)>{});
  }
}

/// Says that the element type comes first.
template <auto... Dims, class... Arguments>
auto copy_from_blocks(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

/// The elements of a tensor into the arrays of this device, which stand behind it as in os::copy_from_blocks. All
/// arrays together have each element once. Collective over the mesh.
/// @throws ostraka::error, on all devices alike and before elements move, for what os::copy_from_blocks refuses, and
/// for an array with a stride of 0
template <Tensor A, class... Arrays>
void copy_to_blocks([[maybe_unused]] A const& a, [[maybe_unused]] Arrays&&... arrays) {
  using namespace detail;
  using tensor_type = basic_tensor<typename A::value_type, typename A::sharding_type, typename A::space>;
  if constexpr (number_of_extents<Arrays...> != 0) {
    reason::raise<reason::array_without_a_place<std::remove_cvref_t<Arrays>...>>();
  } else {
    with_foreign_arrays<0>(std::forward_as_tuple(arrays...), [&](auto const& given) {
      using given_type = std::remove_cvref_t<decltype(given)>;
      if constexpr (reason::ok_or_raise<first_fault<
                        no_block_verdict<A, operation::copy_to_blocks>, values_verdict<A, operation::copy_to_blocks>,
                        foreign_verdict<tensor_type, given_type>, written_verdict<given_type>>>()) {
        char const* const name = "copy_to_blocks";
        common_mesh(name, a);
        foreign_state<tensor_type> state;
        state.agree(name, tensor_type(a.mesh_handle(), a.extents(), typename tensor_type::view_type()), given, false,
                    true, true);
        state.template copy_to<typename given_type::array_type>(name, a);
      }
    });
  }
}

}  // namespace ostraka
