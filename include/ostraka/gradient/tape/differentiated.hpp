// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Tells the values whose derivatives a program takes: an os::variable. Only headers of gradient/ ask; others
/// hand their operands to detail::operate.

namespace ostraka {

/// True if the type is an os::variable.
template <class T>
inline constexpr bool is_variable = false;

/// True if the type is an os::abstract: a tensor's type without elements (predict.hpp). It goes where variables go.
template <class T>
inline constexpr bool is_abstract = false;

/// A tensor whose derivative the program takes.
template <class T>
concept Variable = is_variable<T>;

/// True if one of the types is an os::variable.
template <class... Ts>
inline constexpr bool any_variable = (is_variable<Ts> || ...);

}  // namespace ostraka
