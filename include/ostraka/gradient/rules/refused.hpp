// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. os::stencil_into of variables is refused. All other operations say so where they are called
/// (tape/record.hpp).

#include <type_traits>

#include <ostraka/gradient/tape/variable.hpp>
#include <ostraka/types/reasons/of_derivatives.hpp>

namespace ostraka {

template <class... Given>
  requires any_variable<std::remove_cvref_t<Given>...>
void stencil_into(Given&&...) { reason::raise<reason::verb_takes_no_variables<Given...>>(); }

}  // namespace ostraka
