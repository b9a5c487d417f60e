// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::random<float, I/X, J>(mesh, I = 8, J = 8, os::seed(1))`: the same numbers on every mesh.

#include <cstdint>
#include <tuple>
#include <type_traits>

#include <ostraka/engine/random.hpp>
#include <ostraka/generate.hpp>

namespace ostraka {

/// Which numbers os::random gives; tensors of one program that are to differ want different seeds.
struct seed {
  std::uint64_t value;
  explicit constexpr seed(std::uint64_t v) : value(v) {}
};

namespace detail {

// The random value of an element is a function of its position in the whole tensor, row-major.
template <class T, int Rank>
struct random_element {
  std::uint64_t seed;
  std::int64_t extent[Rank > 0 ? Rank : 1];

  template <class... Index>
  KOKKOS_INLINE_FUNCTION T operator()(Index... index) const {
    std::uint64_t position = 0;
    int d = 0;
    ((position = position * static_cast<std::uint64_t>(extent[d++]) + static_cast<std::uint64_t>(index)), ...);
    return engine::random_value<T>(seed, position);
  }
};

template <class TensorType, class Mesh, class... Given>
auto random_tensor(seed s, Mesh const& m, Given const&... given) {
  auto t = make_uninitialised<TensorType, wants_values<TensorType, operation::random>>("random", m, given...);
  if constexpr (std::is_same_v<decltype(t), TensorType>) {
    random_element<typename TensorType::value_type, TensorType::rank> f{s.value, {}};
    for (int d = 0; d < TensorType::rank; ++d) f.extent[d] = t.extents()[static_cast<std::size_t>(d)];
    generate_block(t, f);
  }
  return t;
}

// Takes the seed out of the arguments, wherever it stands.
template <class TensorType, class Mesh, class... Done>
auto random_arguments(seed s, Mesh const& m, std::tuple<Done const&...> done) {
  return std::apply([&](auto const&... given) { return random_tensor<TensorType>(s, m, given...); }, done);
}

template <class TensorType, class Mesh, class... Done, class Next, class... More>
auto random_arguments(seed s, Mesh const& m, std::tuple<Done const&...> done, Next const& next, More const&... more) {
  if constexpr (std::is_same_v<Next, seed>)
    return random_arguments<TensorType>(next, m, done, more...);
  else
    return random_arguments<TensorType>(s, m, std::tuple_cat(done, std::tuple<Next const&>(next)), more...);
}

}  // namespace detail

/// Random numbers from a counter-based generator on the global index (Philox4x32-10): floating-point numbers uniform on [0, 1)
/// (complex: both parts), integers on 0 … 99. Extents by name, and optionally an os::seed (else 0).
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto random(Mesh const& m, Given const&... given) {
  return detail::random_arguments<typename detail::named_tensor<T, Dims...>::type>(seed(0), m, std::tuple<>(), given...);
}

/// Says that the element type comes first.
template <auto... Dims, class... Arguments>
auto random(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

}  // namespace ostraka
