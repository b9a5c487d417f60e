// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Recognises the values whose derivatives a program takes: os::variable. Only headers of gradient/ use it;
/// others pass their operands to detail::operate.

namespace ostraka {

/// True if the type is an os::variable.
template <class T>
inline constexpr bool is_variable = false;

/// True if the type is an os::abstract: a tensor's type without elements (predict.hpp). It is accepted where variables
/// are.
template <class T>
inline constexpr bool is_abstract = false;

/// A tensor whose derivative the program takes.
template <class T>
concept Variable = is_variable<T>;

/// True if one of the types is an os::variable.
template <class... Ts>
inline constexpr bool any_variable = (is_variable<Ts> || ...);

}  // namespace ostraka
