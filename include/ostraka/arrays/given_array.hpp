// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. One description of the arrays in which an application may hold a block: a Kokkos::View or an mdspan of any
/// layout, a list (std::span, std::vector), os::strided memory, or one of these with its dimensions in a given order.
///
///     array                      dimensions    strides      memory
///     View, mdspan               its own       its own      the view's; the host's
///     list                       none: dense   row-major    the host's
///     strided(p, I = …, J = …)   by name       by name      the tensor's
///     in_order<J, I>(array)      J, I          the array's  the array's

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/arrays/strided.hpp>
#include <ostraka/engine/agreement/adopted_block.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/tensors/tensor.hpp>

namespace ostraka::detail {

// `Array` is constant if its elements are only read.
template <class Array>
concept ViewOfBlock = Kokkos::is_view<std::remove_const_t<Array>>::value;

// An mdspan of std, of Kokkos or of another library whose elements are at an address. An accessor may store them in
// another way.
template <class Array>
concept MdspanOfBlock = !ViewOfBlock<Array> && requires(Array & a) {
  a.data_handle();
  a.is_strided();
  requires std::same_as<typename Array::data_handle_type, typename Array::element_type*>;
  requires std::same_as<typename Array::reference, typename Array::element_type&>;
  Array::rank();
};

template <class Array>
concept ListOfBlock = !ViewOfBlock<Array> && !MdspanOfBlock<Array> && requires(Array & a) {
  { a.data() } -> std::convertible_to<void const*>;
  { a.size() } -> std::convertible_to<std::size_t>;
};

/// The memory space of the tensor.
struct memory_of_tensor {};

/// The properties of an array that are known at compile time. `element` is void if the type is not an array, and
/// constant if the elements are only read. `rank` is −1 for a list. `own<Axes>`: the axes of its dimensions, those of
/// the tensor unless it says otherwise.
template <class Array>
struct given_array {
  using element = void;
  using memory = void;
  static constexpr int rank = -1;
  template <class Axes>
  using own = Axes;
};

template <ViewOfBlock Array>
struct given_array<Array> {
  using element = typename detail::element<typename Array::value_type>::type;
  using memory = typename Array::memory_space;
  static constexpr int rank = static_cast<int>(Array::rank);
  template <class Axes>
  using own = Axes;

  static auto* data(Array& a) { return a.data(); }
  static std::int64_t extent(Array& a, int d) {
    return static_cast<std::int64_t>(a.extent(static_cast<std::size_t>(d)));
  }
  static std::int64_t stride(Array& a, int d) {
    return static_cast<std::int64_t>(a.stride(static_cast<std::size_t>(d)));
  }
};

template <MdspanOfBlock Array>
struct given_array<Array> {
  using element = typename detail::element<typename Array::element_type>::type;
  using memory = Kokkos::HostSpace;
  static constexpr int rank = static_cast<int>(Array::rank());
  template <class Axes>
  using own = Axes;

  static typename Array::element_type* data(Array& a) { return a.data_handle(); }
  static std::int64_t extent(Array& a, int d) {
    return static_cast<std::int64_t>(a.extent(static_cast<typename Array::rank_type>(d)));
  }
  static std::int64_t stride([[maybe_unused]] Array& a, [[maybe_unused]] int d) {
    if constexpr (rank > 0)
      return static_cast<std::int64_t>(a.stride(static_cast<typename Array::rank_type>(d)));
    else
      return 1;
  }
};

template <ListOfBlock Array>
struct given_array<Array> {
  using element = typename detail::element<std::remove_pointer_t<decltype(std::declval<Array&>().data())>>::type;
  using memory = Kokkos::HostSpace;
  static constexpr int rank = -1;
  template <class Axes>
  using own = Axes;

  static auto* data(Array& a) { return a.data(); }
  static std::int64_t extent(Array& a, int) { return static_cast<std::int64_t>(a.size()); }
};

// A constant handle may refer to elements that are not constant: `T` says whether they are.
template <class Array, class T, class... Is>
struct given_strided {
  using element = typename detail::element<T>::type;
  using memory = memory_of_tensor;
  static constexpr int rank = static_cast<int>(sizeof...(Is));
  template <class>
  using own = type_list<Is...>;

  static T* data(Array& a) { return a.first; }
  static std::int64_t stride(Array& a, int d) { return a.stride[d]; }
};
template <class T, class... Is>
struct given_array<strided_memory<T, Is...>> : given_strided<strided_memory<T, Is...>, T, Is...> {};
template <class T, class... Is>
struct given_array<strided_memory<T, Is...> const> : given_strided<strided_memory<T, Is...> const, T, Is...> {};

template <class Array, class Given, class... Is>
struct given_in_order {
  using inner = given_array<std::remove_reference_t<Given>>;
  using element = typename inner::element;
  using memory = typename inner::memory;
  static constexpr int rank = inner::rank;
  template <class>
  using own = type_list<Is...>;

  static auto* data(Array& a) { return inner::data(of(a)); }
  static std::int64_t extent(Array& a, int d) { return inner::extent(of(a), d); }
  static std::int64_t stride(Array& a, int d) { return inner::stride(of(a), d); }

 private:
  static auto& of(Array& a) { return const_cast<std::remove_reference_t<Given>&>(a.array); }
};
template <class Given, class... Is>
struct given_array<array_in_order<Given, Is...>> : given_in_order<array_in_order<Given, Is...>, Given, Is...> {};
template <class Given, class... Is>
struct given_array<array_in_order<Given, Is...> const>
    : given_in_order<array_in_order<Given, Is...> const, Given, Is...> {};

/// An array in which an application may hold a block.
template <class Array>
concept GivenArray = !std::is_void_v<typename given_array<std::remove_reference_t<Array>>::element>;

/// True if an array has the elements and the dimensions of a block of such a tensor. A tensor without axes has one
/// element, and so do lists.
template <class TensorType, class Array>
inline constexpr bool holds_block =
    std::is_same_v<std::remove_const_t<typename given_array<Array>::element>, typename TensorType::value_type> &&
    (given_array<Array>::rank < 0 || given_array<Array>::rank == TensorType::rank);

/// True if the array's dimensions are those of the tensor, in any order.
template <class TensorType, class Array>
inline constexpr bool has_axes = [] {
  using axes = typename TensorType::axes;
  using own = typename given_array<Array>::template own<axes>;
  return own::size == axes::size && difference_of<axes, own>::size == 0 &&
         (given_array<Array>::rank >= 0 || std::is_same_v<own, axes>);
}();

/// The layout of a block in an array, dimension by dimension of the tensor; for a list, as engine::require_block takes
/// it. `wanted`: the extents of the block, which are those of strided memory.
template <class Array, class... As>
engine::strided describe_block(type_list<As...>, Array& array, [[maybe_unused]] std::int64_t const* wanted) {
  using given = given_array<Array>;
  using own = typename given::template own<type_list<As...>>;
  engine::strided b;
  b.rank = given::rank;
  if constexpr (given::rank < 0) {
    b.extent[0] = given::extent(array, 0);
  } else {
    [[maybe_unused]] constexpr int at[] = {position_in<As, own>..., 0};
    for (int d = 0; d < b.rank; ++d) {
      b.stride[d] = given::stride(array, at[d]);
      if constexpr (requires { given::extent(array, 0); })
        b.extent[d] = given::extent(array, at[d]);
      else
        b.extent[d] = wanted[d];
    }
  }
  return b;
}

/// The same layout, as kernels take it. @pre it has the extents of the block
inline engine::strided layout_of_block(engine::strided const& b, std::int64_t const* wanted, int rank) {
  return b.rank < 0 ? engine::row_major(wanted, rank) : b;
}

/// Returns the alignment that elements of tensors have and those of this array lack; 0 if they have it. A
/// std::complex<double> may be at any multiple of 8 bytes; a Kokkos::complex<double> is at a multiple of 16.
template <class Array>
std::int64_t missing_alignment([[maybe_unused]] Array& array) {
  using element = typename given_array<Array>::element;
  using own = std::remove_pointer_t<decltype(given_array<Array>::data(array))>;
  if constexpr (alignof(element) > alignof(own))
    if (reinterpret_cast<std::uintptr_t>(given_array<Array>::data(array)) % alignof(element) != 0)
      return alignof(element);
  return 0;
}

/// The address of its elements, in the types of tensors: std::complex becomes Kokkos::complex. @pre the elements are
/// aligned as these types
template <class Array>
auto* data_of(Array& array) {
  using element = typename given_array<Array>::element;
  return reinterpret_cast<element*>(given_array<Array>::data(array));
}

}  // namespace ostraka::detail
