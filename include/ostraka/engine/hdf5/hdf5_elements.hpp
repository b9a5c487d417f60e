// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The HDF5 types of the elements of tensors, as h5py writes them: little-endian numbers, complex numbers as a
/// compound of r and i, bools as an enumeration of FALSE and TRUE, and 16-bit floating-point numbers as types with
/// their own fields.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <ostraka/engine/formats/file_element.hpp>
#include <ostraka/engine/hdf5/hdf5_library.hpp>

namespace ostraka::engine {

namespace detail {

// The fields of a floating-point type: sign, exponent, mantissa.
struct float_fields {
  file_element element;
  std::size_t bytes, exponent_at, exponent_bits, mantissa_bits, bias;
};

inline constexpr float_fields known_floats[] = {{file_element::f64, 8, 52, 11, 52, 1023},
                                                {file_element::f32, 4, 23, 8, 23, 127},
                                                {file_element::f16, 2, 10, 5, 10, 15},
                                                {file_element::bf16, 2, 7, 8, 7, 127}};

inline hdf5_object narrow_float(file_element e) {
  hdf5_object type(H5Tcopy(H5T_IEEE_F32LE), &H5Tclose);
  for (float_fields const& f : known_floats)
    if (f.element == e) {
      H5Tset_fields(type.id(), 8 * f.bytes - 1, f.exponent_at, f.exponent_bits, 0, f.mantissa_bits);
      H5Tset_size(type.id(), f.bytes);
      H5Tset_ebias(type.id(), f.bias);
    }
  return type;
}

inline hdf5_object complex_type(hid_t part, std::size_t bytes) {
  hdf5_object type(H5Tcreate(H5T_COMPOUND, 2 * bytes), &H5Tclose);
  H5Tinsert(type.id(), "r", 0, part);
  H5Tinsert(type.id(), "i", bytes, part);
  return type;
}

inline hdf5_object bool_type() {
  hdf5_object type(H5Tenum_create(H5T_STD_I8LE), &H5Tclose);
  std::int8_t const no = 0, yes = 1;
  H5Tenum_insert(type.id(), "FALSE", &no);
  H5Tenum_insert(type.id(), "TRUE", &yes);
  return type;
}

// True if member `number` has this name.
inline bool member_is(hid_t type, unsigned number, std::string_view name) {
  char* const text = H5Tget_member_name(type, number);
  bool const is = text != nullptr && name == text;
  if (text != nullptr) H5free_memory(text);
  return is;
}

inline bool find_integer(hid_t type, file_element& found) {
  std::size_t const bytes = H5Tget_size(type);
  if (H5Tget_precision(type) != 8 * bytes) return false;
  bool const is_signed = H5Tget_sign(type) == H5T_SGN_2;
  constexpr file_element with_sign[] = {file_element::i8, file_element::i16, file_element::i32, file_element::i64};
  constexpr file_element without[] = {file_element::u8, file_element::u16, file_element::u32, file_element::u64};
  for (std::size_t k = 0; k < 4; ++k)
    if (bytes == std::size_t{1} << k) return found = is_signed ? with_sign[k] : without[k], true;
  return false;
}

inline bool find_float(hid_t type, file_element& found) {
  std::size_t sign_at = 0, exponent_at = 0, exponent_bits = 0, mantissa_at = 0, mantissa_bits = 0;
  if (H5Tget_fields(type, &sign_at, &exponent_at, &exponent_bits, &mantissa_at, &mantissa_bits) < 0) return false;
  H5T_order_t const order = H5Tget_order(type);
  for (float_fields const& f : known_floats)
    if (H5Tget_size(type) == f.bytes && sign_at == 8 * f.bytes - 1 && exponent_at == f.exponent_at &&
        exponent_bits == f.exponent_bits && mantissa_at == 0 && mantissa_bits == f.mantissa_bits &&
        H5Tget_ebias(type) == f.bias && (order == H5T_ORDER_LE || order == H5T_ORDER_BE))
      return found = f.element, true;
  return false;
}

inline bool find_complex(hid_t type, file_element& found) {
  if (H5Tget_nmembers(type) != 2 || !member_is(type, 0, "r") || !member_is(type, 1, "i")) return false;
  hdf5_object const real(H5Tget_member_type(type, 0), &H5Tclose), imaginary(H5Tget_member_type(type, 1), &H5Tclose);
  file_element part = file_element::f64;
  if (H5Tget_class(real.id()) != H5T_FLOAT || !find_float(real.id(), part)) return false;
  if (H5Tequal(real.id(), imaginary.id()) <= 0 || (part != file_element::f64 && part != file_element::f32))
    return false;
  found = part == file_element::f64 ? file_element::c128 : file_element::c64;
  return true;
}

inline bool is_bool(hid_t type) {
  std::int8_t value[2] = {1, 0};
  return H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 && member_is(type, 0, "FALSE") &&
         member_is(type, 1, "TRUE") && H5Tget_member_value(type, 0, &value[0]) >= 0 &&
         H5Tget_member_value(type, 1, &value[1]) >= 0 && value[0] == 0 && value[1] == 1;
}

}  // namespace detail

/// Returns the HDF5 type of these elements, in files and in memory.
[[nodiscard]] inline hdf5_object hdf5_type_of(file_element e) {
  auto const copy = [](hid_t type) { return hdf5_object(H5Tcopy(type), &H5Tclose); };
  switch (e) {
    case file_element::f64:
      return copy(H5T_IEEE_F64LE);
    case file_element::f32:
      return copy(H5T_IEEE_F32LE);
    case file_element::f16:
    case file_element::bf16:
      return detail::narrow_float(e);
    case file_element::i64:
      return copy(H5T_STD_I64LE);
    case file_element::i32:
      return copy(H5T_STD_I32LE);
    case file_element::i16:
      return copy(H5T_STD_I16LE);
    case file_element::i8:
      return copy(H5T_STD_I8LE);
    case file_element::boolean:
      return detail::bool_type();
    case file_element::c64:
      return detail::complex_type(H5T_IEEE_F32LE, 4);
    case file_element::c128:
      return detail::complex_type(H5T_IEEE_F64LE, 8);
    default:  // tensors have no such elements
      return copy(H5T_STD_U8LE);
  }
}

/// Finds the elements with this type, in either byte order. @returns false if there are none
[[nodiscard]] inline bool find_hdf5_element(hid_t type, file_element& found) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return detail::find_integer(type, found);
    case H5T_FLOAT:
      return detail::find_float(type, found);
    case H5T_COMPOUND:
      return detail::find_complex(type, found);
    case H5T_ENUM:
      return found = file_element::boolean, detail::is_bool(type);
    default:
      return false;
  }
}

}  // namespace ostraka::engine
