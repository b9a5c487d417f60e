// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The names of element types in messages.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

template <class T>
inline constexpr char const* element_name = "";
template <>
inline constexpr char const* element_name<float> = "float";
template <>
inline constexpr char const* element_name<double> = "double";
template <>
inline constexpr char const* element_name<Kokkos::complex<float>> = "complex<float>";
template <>
inline constexpr char const* element_name<Kokkos::complex<double>> = "complex<double>";
template <>
inline constexpr char const* element_name<bool> = "bool";
template <>
inline constexpr char const* element_name<std::int8_t> = "int8";
template <>
inline constexpr char const* element_name<std::int16_t> = "int16";
template <>
inline constexpr char const* element_name<std::int32_t> = "int32";
template <>
inline constexpr char const* element_name<std::int64_t> = "int64";
template <>
inline constexpr char const* element_name<float16> = "float16";
template <>
inline constexpr char const* element_name<bfloat16> = "bfloat16";

}  // namespace ostraka::engine
