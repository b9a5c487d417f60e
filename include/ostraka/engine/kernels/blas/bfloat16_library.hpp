// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The interface to libraries that multiply matrices of bfloat16 in host memory, like oneDNN (onednn.hpp). The
/// engine calls such a library through a pointer that is set before main, so that ostraka::compiled can use the library
/// although it is built without it.

#include <cstdint>
#include <string>

#include <ostraka/engine/kernels/blas/matrix_product.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// C <- A B of bfloat16. Sums are floats, and an element of C is rounded once.
struct bfloat16_library {
  /// Returns "oneDNN 2.6.3".
  std::string (*name)();

  /// True if this processor has instructions for products of bfloat16, and the library uses them.
  bool (*serves_processor)();

  /// True if the library supports this product of matrices without gaps. The call may take a millisecond.
  bool (*has)(matrix_product const&);

  /// Computes the product. @pre has(p)
  void (*multiply)(matrix_product const& p, bfloat16 const* a, bfloat16 const* b, bfloat16* c);
};

/// The library of the program, or nullptr.
[[gnu::visibility("default")]] inline constinit bfloat16_library const* bfloat16_library_of_program = nullptr;

}  // namespace ostraka::engine
