// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The instances for optimisers that ostraka::compiled holds: their updates of the elements of a block.

#include <ostraka/compiled/compiled_engine.hpp>
#include <ostraka/optimizers/adam.hpp>
#include <ostraka/optimizers/clip.hpp>
#include <ostraka/optimizers/sgd.hpp>

/// For floats and doubles. WHERE is `extern`, or empty in the source that makes the instances.
#define OSTRAKA_UPDATE_INSTANCES_(WHERE, T)                                                                    \
  namespace ostraka::engine {                                                                                  \
  WHERE template void change_blocks<T>(char const*, ::ostraka::detail::compiled_space const&, std::int64_t,    \
                                       ostraka::detail::descend<T> const&, T*, T const*);                      \
  WHERE template void change_blocks<T>(char const*, ::ostraka::detail::compiled_space const&, std::int64_t,    \
                                       ostraka::detail::descend_with_momentum<T> const&, T*, T const*, T*);    \
  WHERE template void change_blocks<T>(char const*, ::ostraka::detail::compiled_space const&, std::int64_t,    \
                                       ostraka::detail::adam_step<T> const&, T*, T const*, T*, T*);            \
  WHERE template void change_blocks<T>(char const*, ::ostraka::detail::compiled_space const&, std::int64_t,    \
                                       ostraka::detail::times<T> const&, T*);                                  \
  WHERE template void accumulate_rows<sum_of<square_of, T>>(::ostraka::detail::compiled_space const&,          \
                                                            execution_context const&, planner::spec const&,    \
                                                            planner::spec const&, planner::mesh_set, T const*, \
                                                            double*, ostraka::detail::same_number const&);     \
  }

OSTRAKA_UPDATE_INSTANCES_(extern, float)
OSTRAKA_UPDATE_INSTANCES_(extern, double)
