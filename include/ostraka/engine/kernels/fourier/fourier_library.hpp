// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The interface to libraries of Fourier transforms. A backend is a file in this folder with a struct like
/// no_fourier_library, and a specialisation of fourier_library_of_space for the execution spaces that it supports.

namespace ostraka::engine {

/// No library. Shows the members that a backend has.
struct no_fourier_library {
  /// True if the library transforms numbers whose parts are R.
  template <class R>
  static constexpr bool transforms = false;

  // template <class Exec, class R>
  // static bool run(Exec const&, fourier_rows const&, R const* x, R* y);
  //     y <- the transforms of x, in the order in which work was started on the instance; they need not have ended on
  //     return. Does not change x. Returns false, and does nothing, if the library does not transform such rows; on the
  //     host it transforms all. @pre n > 0, and there are rows
};

template <class Exec, class = void>
struct fourier_library_of_space {
  using type = no_fourier_library;
};

/// The library that transforms for an execution space.
template <class Exec>
using fourier_library_of = typename fourier_library_of_space<Exec>::type;

}  // namespace ostraka::engine
