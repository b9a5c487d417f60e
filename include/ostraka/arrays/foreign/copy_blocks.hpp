// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Copies between a tensor and the arrays of a program that divides its data by a rule of its own. The devices
/// tell each other which elements they hold, and one exchange moves the elements that differ:
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

// A tensor of these extents without elements, used only for its shape.
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

template <class T, auto... Dims>
using tensor_named = basic_tensor<typename named_tensor<T, Dims...>::type::value_type,
                                  typename named_tensor<T, Dims...>::type::sharding_type,
                                  typename named_tensor<T, Dims...>::type::space>;

// Returns make(the arrays, the extents…) for a call that names extents and, after them, arrays; else raises the
// reason.
template <class TensorType, class Operation, class Mesh, class F, class... Given>
auto with_extents_and_arrays([[maybe_unused]] Mesh const& m, [[maybe_unused]] F const& make,
                             [[maybe_unused]] Given const&... extents_then_arrays) {
  using refused =
      after_error_of<typename TensorType::value_type, typename TensorType::sharding_type, typename TensorType::space>;
  constexpr int extents = number_of_extents<Given...>;
  if constexpr (extents < 0) {
    reason::raise<reason::array_without_a_place<Given...>>();
    return refused();
  } else {
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) {
      auto const arguments = std::forward_as_tuple(extents_then_arrays...);
      return with_foreign_arrays<extents>(arguments, [&](auto const& arrays) {
        using verdict = from_blocks_verdict<TensorType, Operation, std::remove_cvref_t<decltype(arrays)>, Mesh,
                                            std::remove_cvref_t<std::tuple_element_t<Is, decltype(arguments)>>...>;
        if constexpr (reason::ok_or_raise<verdict>())
          return make(arrays, std::get<Is>(arguments)...);
        else
          return refused();
      });
    }
    (std::make_index_sequence<static_cast<std::size_t>(extents)>{});
  }
}

}  // namespace detail

/// A new tensor of the elements that the devices hold in arrays of any distribution. The arrays of this device follow
/// the global extents (arrays/foreign/foreign_places.hpp): os::at(I = begin, J = 0), view; or a range of
/// os::placed arrays, which may be empty; or os::block_cyclic(I = 64, J = 64), view. An array is a Kokkos::View or
/// mdspan of any layout, os::strided memory, os::in_order<J, I>(view) or, for one axis, a list. Each device receives
/// the elements that it lacks, by one exchange, and copies those that it has. Collective over the mesh.
/// @throws ostraka::error, on all devices alike and before elements move, if boxes overlap, leave a gap or reach beyond
/// the tensor, or if an array does not have the extents of its device's part
template <class T, auto... Dims, class Mesh, class... ExtentsThenArrays>
[[nodiscard]] auto copy_from_blocks([[maybe_unused]] Mesh const& m,
                                    [[maybe_unused]] ExtentsThenArrays const&... extents_then_arrays) {
  using tensor_type = detail::tensor_named<T, Dims...>;
  return detail::with_extents_and_arrays<tensor_type, operation::copy_from_blocks>(
      m,
      [&](auto const& arrays, auto const&... extents) {
        char const* const name = "copy_from_blocks";
        detail::foreign_state<tensor_type> state;
        state.agree(name, detail::shape_of_blocks<tensor_type>(name, m, extents...), arrays, true, false, false);
        auto t = detail::make_uninitialised<tensor_type>(name, m, extents...);
        state.template copy_from<typename std::remove_cvref_t<decltype(arrays)>::array_type>(name, t);
        return t;
      },
      extents_then_arrays...);
}

/// Does not compile: the error says that the element type comes first.
template <auto... Dims, class... Arguments>
auto copy_from_blocks(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

/// Copies the elements of a tensor into the arrays of this device, which follow it as in os::copy_from_blocks.
/// Together, the arrays hold each element once. Collective over the mesh.
/// @throws ostraka::error, on all devices alike and before elements move, in the cases of os::copy_from_blocks, and for
/// an array whose elements overlap in memory
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
