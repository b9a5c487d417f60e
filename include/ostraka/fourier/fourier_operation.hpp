// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The operation of os::fft and its like as a name, by which its derivative is found, the axis that it makes,
/// and the length that the derivative gives it.

#include <cstdint>

#include <ostraka/plan/typed/to_spec.hpp>
#include <ostraka/types/values/fourier_kind.hpp>

namespace ostraka::operation {

/// `Along`: the axis that is transformed, as it lies. `Named`: the result's dimensions, or only its new axis.
template <fourier_kind Kind, class Along, class Named>
struct fourier;

}  // namespace ostraka::operation

namespace ostraka::detail {

/// The axis that I becomes, of the axes of the result: the one that the operand lacks, or I itself.
template <class Result, class Axes, class I>
using new_axis = typename type_at<concatenation_of<difference_of<Result, Axes>, type_list<I>>, 0>::type;

/// The n of a real result, which derivatives know. For a block it may differ from that of the axis' type.
struct fourier_length {
  std::int64_t n;
};

}  // namespace ostraka::detail
