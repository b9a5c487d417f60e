// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::generate<float, I/X, J>(mesh, I = 8, J = 8, [](std::int64_t i, std::int64_t j) { return i == j ? 1.f :
/// 0.f; })`.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <ostraka/create.hpp>
#include <ostraka/detail/operation.hpp>
#include <ostraka/engine/kernels/parallel.hpp>

namespace ostraka {

namespace detail {

// Writes f(global indices) to element `i` of a dense block.
template <class T, int Rank, class F>
struct generate_element {
  T* data;
  std::int64_t extent[Rank > 0 ? Rank : 1];
  std::int64_t offset[Rank > 0 ? Rank : 1];
  F f;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t index[Rank > 0 ? Rank : 1] = {};
    std::int64_t rest = i;
    for (int d = Rank - 1; d >= 0; --d) {
      index[d] = offset[d] + rest % extent[d];
      rest /= extent[d];
    }
    data[i] = call(index, std::make_index_sequence<static_cast<std::size_t>(Rank)>{});
  }

  template <std::size_t... Ds>
  KOKKOS_INLINE_FUNCTION T call(std::int64_t const (&index)[Rank > 0 ? Rank : 1], std::index_sequence<Ds...>) const {
    static_cast<void>(index);
    return static_cast<T>(f(index[Ds]...));
  }
};

// Calls f with the global indices of each element of this device's block.
template <class TensorType, class F>
void generate_block(char const* operation, TensorType const& t, F const& f) {
  profiled_block<TensorType> const region_of_run(operation, t, "writes");
  constexpr int rank = TensorType::rank;
  generate_element<typename TensorType::value_type, rank, F> kernel{t.local().data(), {}, {}, f};
  for (int d = 0; d < rank; ++d) {
    kernel.extent[d] = t.range(d).size();
    kernel.offset[d] = t.range(d).begin;
  }
  using exec = typename TensorType::view_type::execution_space;
  auto const n = static_cast<std::int64_t>(t.local().size());
  if constexpr (engine::runs_on_host<exec>) {
    auto const run = [&kernel](std::int64_t begin, std::int64_t end, std::int64_t) {
      for (std::int64_t i = begin; i < end; ++i) kernel(i);
    };
    engine::for_each_share("ostraka generate", exec(), n, (n + engine::serial_elements - 1) / engine::serial_elements,
                           n, run);
  } else {
    engine::for_each_item("ostraka generate", exec(), n, n, kernel);
    exec().fence();
  }
}

template <class TensorType, class Mesh, class Arguments, std::size_t... Is>
auto generate_from(Mesh const& m, Arguments const& arguments, std::index_sequence<Is...>) {
  auto t = make_uninitialised<TensorType, wants_values<TensorType, operation::generate>>("generate", m,
                                                                                         std::get<Is>(arguments)...);
  if constexpr (std::is_same_v<decltype(t), TensorType>)
    generate_block("generate", t, std::get<sizeof...(Is)>(arguments));
  return t;
}

}  // namespace detail

/// A tensor whose element at global indices i, j, … is f(i, j, …); f comes last, after the extents, and is called where
/// the tensor lives (on a GPU it has to be callable there), once for each element of each block, in no order.
template <class T, auto... Dims, class Mesh, class... ExtentsThenF>
[[nodiscard]] auto generate([[maybe_unused]] Mesh const& m, [[maybe_unused]] ExtentsThenF const&... extents_then_f) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  using last = detail::last_of<ExtentsThenF...>;
  if constexpr (detail::gives_extents<last>) {
    reason::raise<reason::function_comes_last<last>>();
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                                  typename tensor_type::space>();
  } else {
    return detail::generate_from<tensor_type>(m, std::forward_as_tuple(extents_then_f...),
                                              std::make_index_sequence<sizeof...(ExtentsThenF) - 1>{});
  }
}

/// Says that the element type comes first.
template <auto... Dims, class... Arguments>
auto generate(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

}  // namespace ostraka
