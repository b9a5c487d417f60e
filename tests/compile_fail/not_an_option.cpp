// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::uniform is given an option of os::normal
// error: operation: it does not read this option, which would silently be ignored; docs/operations.md says which ones it reads
// error: not_an_option<around, operation::uniform>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);

#ifdef SHOULD_FAIL
auto f(os::mesh<> const& mesh) {
  return os::uniform<float, I, J>(mesh, I = 3, J = 4, os::seed(1), os::around(0, 0.02));
}
#else
auto f(os::mesh<> const& mesh) {
  return os::uniform<float, I, J>(mesh, I = 3, J = 4, os::seed(1), os::between(-1, 1));
}
#endif
