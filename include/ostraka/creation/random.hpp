// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::random<float, I/X, J>(mesh, I = 8, J = 8, os::seed(1))`: the same numbers on every mesh.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/creation/generate.hpp>
#include <ostraka/engine/kernels/numbers/philox.hpp>

namespace ostraka {

/// The seed of os::random. Two tensors of one program have different numbers if their seeds differ.
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

/// In check mode, throws unless devices that hold parts of one tensor pass the same seed. Devices along which a block
/// varies make numbers of their own.
template <class TensorType>
void require_seed(char const* name, TensorType const& t, std::uint64_t value) {
  engine::device_mesh const& mesh = *t.mesh_handle();
  if (!mesh.world().compares_calls()) return;
  auto const along = [&]<class... Ms>(type_list<Ms...>) { return ((1u << mesh.find(Ms::name)) | ... | 0u); };
  engine::require_same_seed(compared_context_of(name, t),
                            spec_of<TensorType, axes_in<TensorType>, mesh_axes_in<TensorType>>,
                            engine::element_name<typename TensorType::value_type>, value,
                            ~along(varying_in<TensorType>{}));
}

}  // namespace detail

/// Random numbers from a counter-based generator on the global index (Philox4x32-10): floating-point numbers uniform on
/// [0, 1) (complex: both parts), integers on 0 … 99. Give extents by name, and optionally an os::seed (else 0).
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto random(Mesh const& m, Given const&... given) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  auto t = detail::make_uninitialised<tensor_type, detail::values_verdict<tensor_type, operation::random>>(
      "random", m, detail::extents_beside<std::is_same_v<Given, seed>>(given)...);
  if constexpr (std::is_same_v<decltype(t), tensor_type>) {
    seed const s = detail::option_among(seed(0), given...);
    detail::random_element<typename tensor_type::value_type, tensor_type::rank> f{s.value, {}};
    detail::require_seed("random", t, s.value);
    for (int d = 0; d < tensor_type::rank; ++d) f.extent[d] = t.extents()[static_cast<std::size_t>(d)];
    detail::generate_elements("random", t, f);
  }
  return t;
}

/// Does not compile: the error says that the element type comes first.
template <auto... Dims, class... Arguments>
auto random(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

}  // namespace ostraka
