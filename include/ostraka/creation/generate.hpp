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

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/called_function.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/engine/blocks/generate_block.hpp>

namespace ostraka {

namespace detail {

// Calls f with the global indices of each element of this device's block.
template <class T, int Rank, class Space, class F>
[[gnu::noinline]] void generate_unnamed(char const* operation, planner::spec const& s, planner::naming const& names,
                                        int mesh_axes, unnamed_tensor<T, Rank, Space> const& t, F const& f) {
  engine::profiled const region_of_run([&] {
    engine::push_blocks(operation, s, names, "writes", static_cast<std::int64_t>(t.local().size() * sizeof(T)));
  });
  auto const w = context_of_tensor("tensor", *t.mesh_handle(), names.mesh_axes, mesh_axes, t.extents().data(), Rank);
  planner::range where[Rank + 1];
  for (int d = 0; d < Rank; ++d) where[d] = planner::range_of(s, d, w.here, w.sizes);
  engine::generate_block<Rank>(execution_space_of<unnamed_tensor<T, Rank, Space>>(), t.local().data(), where, f);
}

template <class TensorType, class F>
void generate_elements(char const* operation, TensorType const& t, F const& f) {
  using axes = axes_in<TensorType>;
  using mesh_axes = mesh_axes_in<TensorType>;
  generate_unnamed<typename TensorType::value_type, TensorType::rank, typename TensorType::space>(
      operation, spec_of<TensorType, axes, mesh_axes>, naming_of<axes, mesh_axes>, mesh_axes::size, t, f);
}

template <class F, std::size_t... Is>
consteval auto check_generator(std::index_sequence<Is...>) {
  return found<called_verdict<F, typename global_index<Is>::type...>>{};
}

template <class TensorType, class Mesh, class Arguments, std::size_t... Is>
auto generate_from(Mesh const& m, Arguments const& arguments, std::index_sequence<Is...>) {
  using function = std::remove_cvref_t<std::tuple_element_t<sizeof...(Is), Arguments>>;
  using verdict = first_fault<values_verdict<TensorType, operation::generate>,
                              callable_there_verdict<function, typename TensorType::space>,
                              typename decltype(check_generator<function>(
                                  std::make_index_sequence<static_cast<std::size_t>(TensorType::rank)>{}))::type>;
  auto t = make_uninitialised<TensorType, verdict>("generate", m, std::get<Is>(arguments)...);
  if constexpr (std::is_same_v<decltype(t), TensorType>)
    generate_elements("generate", t, std::get<sizeof...(Is)>(arguments));
  return t;
}

}  // namespace detail

/// A tensor whose element at global indices i, j, … is f(i, j, …). f, a function's name or a callable object, comes
/// last, after the extents. It is called where the tensor lives (on a GPU it has to be callable there), once for each
/// element of each block, in no order.
template <class T, auto... Dims, class Mesh, class... ExtentsThenF>
[[nodiscard]] auto generate([[maybe_unused]] Mesh const& m, [[maybe_unused]] ExtentsThenF const&... extents_then_f) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  using last = detail::last_of<ExtentsThenF...>;
  if constexpr (detail::names_extents<last>) {
    reason::raise<reason::function_comes_last<last>>();
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                                  typename tensor_type::space>();
  } else {
    return detail::generate_from<tensor_type>(m, std::forward_as_tuple(extents_then_f...),
                                              std::make_index_sequence<sizeof...(ExtentsThenF) - 1>{});
  }
}

namespace detail {

// The function pointer to which the name of an overloaded function converts as an argument of os::generate for such a
// tensor.
template <class T, auto... Dims>
using overloaded_generator = typename overloaded_of_indices<
    typename named_tensor<T, Dims...>::type::value_type,
    std::make_index_sequence<static_cast<std::size_t>(named_tensor<T, Dims...>::type::rank)>>::type;

template <class TensorType>
auto overloaded_generator_given() {
  reason::raise<reason::function_is_overloaded<typename TensorType::value_type>>();
  return after_error_of<typename TensorType::value_type, typename TensorType::sharding_type,
                        typename TensorType::space>();
}

}  // namespace detail

/// Do not compile, for up to four extents: the error says that the name of an overloaded function does not say which
/// one is meant.
template <class T, auto... Dims, class Mesh>
auto generate(Mesh const&, detail::overloaded_generator<T, Dims...> const&) {
  return detail::overloaded_generator_given<typename detail::named_tensor<T, Dims...>::type>();
}
template <class T, auto... Dims, class Mesh, class E1>
auto generate(Mesh const&, E1 const&, detail::overloaded_generator<T, Dims...> const&) {
  return detail::overloaded_generator_given<typename detail::named_tensor<T, Dims...>::type>();
}
template <class T, auto... Dims, class Mesh, class E1, class E2>
auto generate(Mesh const&, E1 const&, E2 const&, detail::overloaded_generator<T, Dims...> const&) {
  return detail::overloaded_generator_given<typename detail::named_tensor<T, Dims...>::type>();
}
template <class T, auto... Dims, class Mesh, class E1, class E2, class E3>
auto generate(Mesh const&, E1 const&, E2 const&, E3 const&, detail::overloaded_generator<T, Dims...> const&) {
  return detail::overloaded_generator_given<typename detail::named_tensor<T, Dims...>::type>();
}
template <class T, auto... Dims, class Mesh, class E1, class E2, class E3, class E4>
auto generate(Mesh const&, E1 const&, E2 const&, E3 const&, E4 const&,
              detail::overloaded_generator<T, Dims...> const&) {
  return detail::overloaded_generator_given<typename detail::named_tensor<T, Dims...>::type>();
}

/// Does not compile: the error says that the element type comes first.
template <auto... Dims, class... Arguments>
auto generate(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

}  // namespace ostraka
