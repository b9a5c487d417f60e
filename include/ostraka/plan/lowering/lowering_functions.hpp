// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The functions of lowering that only some plans need, as a table. Code that knows a plan at compile time
/// names the functions of its kinds (kinds.hpp), and the program contains no others.
///
///     all_gather A, contract        gather, contract_gathered
///     contract, reduce_scatter C    scatter, contract_scattered

#include <type_traits>

#include <ostraka/plan/lowering/actions.hpp>
#include <ostraka/plan/lowering/kinds.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::planner {

struct step_decision;

namespace detail {

struct block_product;
template <class Writer>
class move_lowering;
template <class Writer>
class product_lowering;
template <class Writer>
class ring_lowering;

}  // namespace detail

/// The lowering functions that a plan needs; functions that it does not call are null.
template <class Writer>
struct lowering_functions {
  /// Functions of moves, as move_lowering::move.
  using move = void (detail::move_lowering<Writer>::*)(planned_step const&, step_decision const&, buffer_block const&,
                                                       buffer_block const&, scaling);
  move gather = nullptr;
  move all_reduce = nullptr;
  move scatter = nullptr;
  move exchange = nullptr;

  /// Functions of contractions that are fused with the move next to them; block number `which` is the moved one.
  using fused = void (detail::product_lowering<Writer>::*)(planned_step const&, detail::block_product const&, int which,
                                                           scaling);
  fused contract_gathered = nullptr;
  fused contract_scattered = nullptr;

  /// The same around a ring, along a dimension of the moved tensor, possibly both ways.
  using ring = void (detail::ring_lowering<Writer>::*)(planned_step const&, int dimension, detail::block_product const&,
                                                       int which, bool both_ways, scaling);
  ring ring_of_gather = nullptr;
  ring ring_of_scatter = nullptr;
};

/// Throws: a plan calls for a function that its kinds do not name.
[[noreturn, gnu::cold]] inline void lacks_function() {
  throw_error("internal error: a schedule holds a step that its plan does not name; please report the operation");
}

/// Calls one of the functions. (At compile time all functions exist; with sanitizers g++ does not accept a comparison
/// of their addresses as a constant.)
template <class Lowering, class Function, class... Arguments>
constexpr void call_named(Lowering& lowering, Function function, Arguments const&... arguments) {
  if (!std::is_constant_evaluated() && function == nullptr) lacks_function();
  (lowering.*function)(arguments...);
}

}  // namespace ostraka::planner
