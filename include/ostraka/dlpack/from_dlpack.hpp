// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::from_dlpack<float, I/X, J>(mesh, I = 1024, J = 8, managed)` makes another library's array the block of
/// a tensor, without a copy; `os::copy_from_dlpack` copies an array of any layout.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/arrays/copy_local.hpp>
#include <ostraka/engine/dlpack/dlpack_given.hpp>
#include <ostraka/types/reasons/of_arrays.hpp>

namespace ostraka {

namespace detail {

/// A DLPack tensor after its elements, dimensions and memory were compared with those of the tensor.
template <class T, int Rank>
struct dlpack_array {
  T* first;
  engine::strided layout;
};

template <class T, int Rank>
struct given_array<dlpack_array<T, Rank>> {
  using element = T;
  using memory = memory_of_tensor;
  static constexpr int rank = Rank;
  template <class Axes>
  using own = Axes;

  static T* data(dlpack_array<T, Rank>& a) { return a.first; }
  static std::int64_t extent(dlpack_array<T, Rank>& a, int d) { return a.layout.extent[d]; }
  static std::int64_t stride(dlpack_array<T, Rank>& a, int d) { return a.layout.stride[d]; }
};

// The argument for a DLPack tensor: the tensor itself, or os::in_order around it. `with<Array>`: the same argument for
// an array. `is_taken`: true for a DLPack tensor that may be taken; an owner must be moved.
template <class Given, class Bare = std::remove_cvref_t<Given>>
struct given_dlpack {
  using source = engine::dlpack_source<Bare>;
  static constexpr bool is_taken =
      source::is_one && (std::is_copy_constructible_v<Bare> || !std::is_reference_v<Given>);
  template <class Array>
  using with = Array;

  template <class Named>
  static engine::dlpack_given take(Named& given) {
    if constexpr (std::is_copy_constructible_v<Bare>)
      return source::take(given);
    else
      return source::take(std::move(given));
  }
};

template <class Given, class Inner, class... Is>
struct given_dlpack<Given, array_in_order<Inner, Is...>> {
  using inner = given_dlpack<std::conditional_t<std::is_reference_v<Given>, std::remove_cvref_t<Inner>&, Inner>>;
  static constexpr bool is_taken = inner::is_taken;
  template <class Array>
  using with = array_in_order<Array, Is...>;

  template <class Named>
  static engine::dlpack_given take(Named& given) {
    return inner::take(given.array);
  }
};

template <class TensorType, class Given>
consteval auto check_dlpack() {
  using given = given_dlpack<Given>;
  using array = typename given::template with<dlpack_array<typename TensorType::element_type, TensorType::rank>>;
  if constexpr (!given::is_taken)
    return found<reason::not_a_dlpack_tensor<std::remove_cvref_t<Given>>>{};
  else if constexpr (engine::dlpack_memory_of<typename TensorType::view_type::memory_space>.exported == 0)
    return found<reason::memory_without_dlpack<typename TensorType::view_type::memory_space>>{};
  else if constexpr (!has_axes<TensorType, array>)
    return found<reason::array_of_other_axes<std::remove_cvref_t<Given>, typename TensorType::sharding_type>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok`, or the reason why the argument cannot be the block of such a tensor.
template <class TensorType, class Given>
using dlpack_verdict = typename decltype(check_dlpack<TensorType, Given>())::type;

// @throws ostraka::error, on all devices alike, if the argument of a device does not match the tensor. `Element` is
// constant if it is only read.
template <class TensorType, class Element, class Mesh, class... Extents>
dlpack_array<Element, TensorType::rank> checked_dlpack(char const* operation, Mesh const& m,
                                                       engine::dlpack_given const& given, Extents const&... extents) {
  using value = typename TensorType::value_type;
  engine::require_not_ended(operation);
  static_cast<void>(compared_shape<TensorType>(operation, m, extents...));
  engine::dlpack_demand const wanted{engine::dlpack_element_of<value>,
                                     alignof(value),
                                     TensorType::rank,
                                     !std::is_const_v<Element>,
                                     engine::dlpack_memory_of<typename TensorType::view_type::memory_space>,
                                     engine::dlpack_device_id(execution_space_of<TensorType>())};
  engine::require_dlpack(operation, *m.handle(), given, wanted, !(is_unchecked<Extents> || ...));
  bool const is_nothing = m.absent() && (!given.is_given || given.layout.size() == 0);
  if (is_nothing) return {nullptr, {TensorType::rank}};  // all extents are 0 on a process outside of the mesh
  return {static_cast<Element*>(given.first), given.layout};
}

// The two ways to take a DLPack tensor.
struct adopts_dlpack {
  template <class Named>
  using result = Named;
  template <class Named>
  using element = typename Named::element_type;

  template <class TensorType, class Array, class Mesh, class... Extents>
  static TensorType run(Mesh const& m, engine::dlpack_given given, Extents const&... extents) {
    using view = typename TensorType::view_type;
    Array array{checked_dlpack<TensorType, element<TensorType>>("from_dlpack", m, given, extents...)};
    auto const seen = inspect_block<TensorType>("from_dlpack", engine::demand::row_major, m, array, extents...);
    view block = block_view<view>(array, seen.wanted, std::make_index_sequence<static_cast<std::size_t>(view::rank)>{});
    engine::keep_owner(block, std::move(given.owner), label_of_ours);
    TensorType t(m.handle(), seen.extents, std::move(block));
    set_given_origins("from_dlpack", t, typename TensorType::axes{}, varying_in<TensorType>{}, extents...);
    return t;
  }
};

struct copies_dlpack {
  template <class Named>
  using result = basic_tensor<typename Named::value_type, typename Named::sharding_type, typename Named::space>;
  template <class Named>
  using element = typename Named::value_type const;

  template <class TensorType, class Array, class Mesh, class... Extents>
  static TensorType run(Mesh const& m, engine::dlpack_given const& given, Extents const&... extents) {
    Array array{checked_dlpack<TensorType, element<TensorType>>("copy_from_dlpack", m, given, extents...)};
    return copied_from<TensorType>("copy_from_dlpack", m, array, extents...);
  }
};

// The type of an argument in a std::tuple: a reference for a named argument.
template <std::size_t I, class Arguments>
using argument_in =
    std::conditional_t<std::is_lvalue_reference_v<std::tuple_element_t<I, Arguments>>,
                       std::tuple_element_t<I, Arguments>, std::remove_reference_t<std::tuple_element_t<I, Arguments>>>;

template <class How, class Named, class Mesh, class Arguments, std::size_t... Is>
auto from_given_dlpack(Mesh const& m, Arguments arguments, std::index_sequence<Is...>) {
  using given = argument_in<sizeof...(Is), Arguments>;
  using tensor_type = typename How::template result<Named>;
  using writable = basic_tensor<typename Named::value_type, typename Named::sharding_type, typename Named::space>;
  using verdict = first_fault<
      creation_verdict<writable, Mesh,
                       extent_beside_unchecked<std::remove_cvref_t<std::tuple_element_t<Is, Arguments>>>...>,
      dlpack_verdict<tensor_type, given>>;
  if constexpr (reason::ok_or_raise<verdict>()) {
    using array = typename given_dlpack<given>::template with<
        dlpack_array<typename How::template element<tensor_type>, tensor_type::rank>>;
    return How::template run<tensor_type, array>(m, given_dlpack<given>::take(std::get<sizeof...(Is)>(arguments)),
                                                 std::get<Is>(arguments)...);
  } else {
    return after_error_of<typename Named::value_type, typename Named::sharding_type, typename Named::space>();
  }
}

template <class How, class Named, class Mesh, class... ExtentsThenTensor>
auto from_last_dlpack(Mesh const& m, ExtentsThenTensor&&... extents_then_tensor) {
  using last = last_of<ExtentsThenTensor...>;
  if constexpr (names_extents<std::remove_cvref_t<last>>) {
    reason::raise<reason::not_a_dlpack_tensor<std::remove_cvref_t<last>>>();
    return after_error_of<typename Named::value_type, typename Named::sharding_type, typename Named::space>();
  } else {
    return from_given_dlpack<How, Named>(m,
                                         std::forward_as_tuple(std::forward<ExtentsThenTensor>(extents_then_tensor)...),
                                         std::make_index_sequence<sizeof...(ExtentsThenTensor) - 1>{});
  }
}

}  // namespace detail

/// Makes another library's array this device's block of a new tensor. The array comes last, after the global extents: a
/// DLManagedTensorVersioned*, a DLManagedTensor*, the result of os::to_dlpack, moved, or, if Python.h was included
/// before, a PyObject* that is a capsule or has the method __dlpack__. os::in_order<J, I> around one of these changes
/// the order of its dimensions. The array must be row-major without gaps in the order of the axes, and in the tensor's
/// memory space. Never copies: tensor and array see each other's writes. The call consumes the array, even if it
/// throws: the array's deleter is called once, when neither the tensor nor anything that shares its block needs it. A
/// read-only array needs constant elements, `os::from_dlpack<float const, I/X>`. Collective over the mesh, unless
/// os::unchecked is among the extents: then nothing is sent, and an error is thrown on its device alone.
/// @throws ostraka::error, on all devices alike, if an array has other elements, dimensions, extents or memory than the
/// block of its device, or is not row-major
template <class T, auto... Dims, class Mesh, class... ExtentsThenTensor>
  requires(!detail::names_ghosts<Dims...>)  // ghosted_dlpack.hpp
[[nodiscard]] auto from_dlpack([[maybe_unused]] Mesh const& m,
                               [[maybe_unused]] ExtentsThenTensor&&... extents_then_tensor) {
  return detail::from_last_dlpack<detail::adopts_dlpack, typename detail::named_tensor<T, Dims...>::type>(
      m, std::forward<ExtentsThenTensor>(extents_then_tensor)...);
}

/// The same, but copies the elements and releases the array before it returns. The array may have any strides, and may
/// be read only.
template <class T, auto... Dims, class Mesh, class... ExtentsThenTensor>
[[nodiscard]] auto copy_from_dlpack([[maybe_unused]] Mesh const& m,
                                    [[maybe_unused]] ExtentsThenTensor&&... extents_then_tensor) {
  return detail::from_last_dlpack<detail::copies_dlpack, typename detail::named_tensor<T, Dims...>::type>(
      m, std::forward<ExtentsThenTensor>(extents_then_tensor)...);
}

/// Does not compile: the error says that the element type comes first.
template <auto... Dims, class... Arguments>
auto from_dlpack(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}
/// Does not compile, for the same reason.
template <auto... Dims, class... Arguments>
auto copy_from_dlpack(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

}  // namespace ostraka
