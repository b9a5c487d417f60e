// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// An array as another library passes it by DLPack: elements, a layout, and a deleter that counts its calls. The
/// elements are where tensors are stored. The sham device's memory has DLPack's code for CUDA memory.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include <ostraka/engine/dlpack/dlpack_codes.hpp>
#include <ostraka/engine/dlpack/dlpack_structs.hpp>

#include "support/program_array.hpp"

#if __has_include(<Kokkos_Sham.hpp>)
template <>
inline constexpr ostraka::engine::dlpack_memory ostraka::engine::dlpack_memory_of<Kokkos::ShamSpace> =
    detail::dlpack_memory_named("Cuda");
#endif

namespace ostraka::testing {

/// The numbers of an array in DLPack's terms, to be changed by a test before the array is passed.
struct foreign_layout {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

/// The array. It outlives the structs that it has passed, and counts them: a test checks at the end that `passed` and
/// `released` are equal.
template <class T>
struct foreign_array {
  /// DLPack's code for the memory of tensors.
  static constexpr auto device_type =
      static_cast<dlpack::DLDeviceType>(engine::dlpack_memory_of<Kokkos::DefaultExecutionSpace::memory_space>.exported);

  program_array<T> elements;
  int passed = 0, released = 0;

  /// Returns a tensor that begins at element `first`, to be released once. The elements are those of the host's copy.
  template <class Managed>
  Managed* pass(foreign_layout const& layout, dlpack::DLDataType type, std::size_t first = 0) {
    struct held {
      Managed managed{};
      foreign_layout layout;
      foreign_array* array;
    };
    auto* const made = new held{{}, layout, this};
    ++passed;
    elements.send();
    auto& t = made->managed.dl_tensor;
    t.data = elements.empty() ? nullptr : static_cast<void*>(elements.data() + first);
    t.device = {device_type, 0};
    t.ndim = static_cast<std::int32_t>(layout.shape.size());
    t.dtype = type;
    t.shape = made->layout.shape.data();
    t.strides = layout.strides.empty() ? nullptr : made->layout.strides.data();
    made->managed.manager_ctx = made;
    made->managed.deleter = [](Managed* self) {
      auto* const mine = static_cast<held*>(self->manager_ctx);
      ++mine->array->released;
      delete mine;
    };
    if constexpr (requires { made->managed.version; }) made->managed.version = {1, 1};
    return &made->managed;
  }
};

inline constexpr dlpack::DLDataType float64{dlpack::kDLFloat, 64, 1};

}  // namespace ostraka::testing
