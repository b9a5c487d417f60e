// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. DLPack's codes of element types and memory spaces, and their names in messages.
///
///     memory space     exported as      adopted from
///     Host             kDLCPU           kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged
///     Cuda             kDLCUDA          kDLCUDA, kDLCUDAManaged
///     CudaUVM          kDLCUDAManaged   kDLCUDAManaged
///     CudaHostPinned   kDLCUDAHost      kDLCUDAHost
///     HIP, HIPManaged  kDLROCM          kDLROCM
///     HIPHostPinned    kDLROCMHost      kDLROCMHost

#include <Kokkos_Core.hpp>

#include <climits>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/engine/dlpack/dlpack_structs.hpp>
#include <ostraka/types/support/join_text.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// An element type as DLPack describes it.
struct dlpack_element {
  int code = 0;
  int bits = 0;
  int lanes = 1;

  friend constexpr bool operator==(dlpack_element const&, dlpack_element const&) = default;
};

namespace detail {

template <class T>
consteval int dlpack_code() {
  if constexpr (std::is_same_v<T, bool>)
    return dlpack::kDLBool;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return dlpack::kDLBfloat;
  else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, float16>)
    return dlpack::kDLFloat;
  else if constexpr (std::is_integral_v<T>)
    return dlpack::kDLInt;
  else
    return dlpack::kDLComplex;
}

}  // namespace detail

/// The DLPack type of the elements T of tensors.
template <class T>
inline constexpr dlpack_element dlpack_element_of{detail::dlpack_code<T>(), static_cast<int>(sizeof(T)) * CHAR_BIT, 1};

/// Returns "float64", "bfloat16", "uint8 in 4 lanes".
[[gnu::cold]] inline std::string dlpack_element_in_words(dlpack_element const& e) {
  constexpr char const* names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  bool const is_named = e.code >= 0 && e.code < 7;
  std::string text = is_named ? names[e.code] : join_text("type code ", e.code, " of ");
  if (e.code != dlpack::kDLBool || e.bits != 8) text += join_text(e.bits);
  if (!is_named) text += " bits";
  return e.lanes == 1 ? text : join_text(text, " in ", e.lanes, " lanes");
}

/// Returns "kDLCUDA", or a number for memory that Kokkos does not have.
[[gnu::cold]] inline std::string dlpack_device_in_words(int type) {
  switch (type) {
    case dlpack::kDLCPU:
      return "kDLCPU";
    case dlpack::kDLCUDA:
      return "kDLCUDA";
    case dlpack::kDLCUDAHost:
      return "kDLCUDAHost";
    case dlpack::kDLROCM:
      return "kDLROCM";
    case dlpack::kDLROCMHost:
      return "kDLROCMHost";
    case dlpack::kDLCUDAManaged:
      return "kDLCUDAManaged";
    default:
      return join_text("device type ", type);
  }
}

/// The device types of a memory space: its type in exports, 0 if DLPack has none, and the types that a tensor in it
/// adopts, up to the first 0.
struct dlpack_memory {
  int exported = 0;
  int adopted[5] = {};

  [[nodiscard]] constexpr bool adopts(int type) const {
    for (int const one : adopted)
      if (one != 0 && one == type) return true;
    return false;
  }
};

namespace detail {

constexpr dlpack_memory dlpack_memory_named(std::string_view space) {
  using namespace dlpack;
  if (space == "Host") return {kDLCPU, {kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged}};
  if (space == "Cuda") return {kDLCUDA, {kDLCUDA, kDLCUDAManaged}};
  if (space == "CudaUVM") return {kDLCUDAManaged, {kDLCUDAManaged}};
  if (space == "CudaHostPinned") return {kDLCUDAHost, {kDLCUDAHost}};
  if (space == "HIP" || space == "HIPManaged") return {kDLROCM, {kDLROCM}};
  if (space == "HIPHostPinned") return {kDLROCMHost, {kDLROCMHost}};
  return {};
}

}  // namespace detail

/// The device types of a memory space of Kokkos, by its name, because Kokkos declares only the spaces of its build.
template <class MemorySpace>
inline constexpr dlpack_memory dlpack_memory_of = detail::dlpack_memory_named(MemorySpace::name());

/// True if each GPU has its own memory of this type.
constexpr bool has_dlpack_device_id(int type) { return type == dlpack::kDLCUDA || type == dlpack::kDLROCM; }

/// The number of the GPU that an execution space instance uses; 0 for a host.
template <class Exec>
int dlpack_device_id([[maybe_unused]] Exec const& exec) {
  if constexpr (requires { exec.cuda_device(); })
    return exec.cuda_device();
  else if constexpr (requires { exec.hip_device(); })
    return exec.hip_device();
  else
    return 0;
}

}  // namespace ostraka::engine
