// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The instances for the vocabulary that ostraka::compiled holds beyond those in compiled_engine.hpp:
/// functions of the engine that operations of neural networks call, for floats and doubles, and functions that move or
/// look up elements of any type. Functions that depend on a rank (random numbers) or are rarer (running sums, sorts)
/// are compiled with the program.

#include <ostraka/calls/planned_call.hpp>
#include <ostraka/compiled/compiled_engine.hpp>
#include <ostraka/elements/cast.hpp>
#include <ostraka/elements/comparison.hpp>
#include <ostraka/elements/where.hpp>
#include <ostraka/operations/attention/attention.hpp>
#include <ostraka/operations/attention/tiled_attention.hpp>
#include <ostraka/operations/elements/functions.hpp>
#include <ostraka/operations/indices/scatter_add.hpp>
#include <ostraka/operations/indices/take.hpp>
#include <ostraka/operations/indices/write_at.hpp>
#include <ostraka/operations/normalisation/cross_entropy.hpp>
#include <ostraka/operations/normalisation/layer_norm.hpp>
#include <ostraka/operations/normalisation/rms_norm.hpp>
#include <ostraka/operations/normalisation/softmax.hpp>
#include <ostraka/operations/positions/rope.hpp>
#include <ostraka/operations/reductions/argmax.hpp>
#include <ostraka/operations/reductions/norm.hpp>
#include <ostraka/operations/shapes/product_axis.hpp>
#include <ostraka/operations/shapes/rearrange.hpp>
#include <ostraka/operations/shapes/transpose.hpp>

/// M(WHERE, EXEC, T, F) for functions of elements F that programs of neural networks call.
#define OSTRAKA_FOR_FUNCTIONS_(M, WHERE, EXEC, T)  \
  M(WHERE, EXEC, T, ostraka::operation::abs)       \
  M(WHERE, EXEC, T, ostraka::operation::exp)       \
  M(WHERE, EXEC, T, ostraka::operation::gelu)      \
  M(WHERE, EXEC, T, ostraka::operation::gelu_tanh) \
  M(WHERE, EXEC, T, ostraka::operation::log)       \
  M(WHERE, EXEC, T, ostraka::operation::relu)      \
  M(WHERE, EXEC, T, ostraka::operation::rsqrt)     \
  M(WHERE, EXEC, T, ostraka::operation::sigmoid)   \
  M(WHERE, EXEC, T, ostraka::operation::silu)      \
  M(WHERE, EXEC, T, ostraka::operation::sqrt)      \
  M(WHERE, EXEC, T, ostraka::operation::square)    \
  M(WHERE, EXEC, T, ostraka::operation::tanh)

#define OSTRAKA_FUNCTION_INSTANCE_(WHERE, EXEC, T, F) OSTRAKA_MAP_INSTANCE_(WHERE, EXEC, T, (read_block<T> const&), F)

#define OSTRAKA_CHOICE_INSTANCES_(WHERE, EXEC, T)                                                                     \
  OSTRAKA_MAP_INSTANCE_(WHERE, EXEC, T, (read_block<T> const&, read_block<T> const&), ostraka::detail::larger)        \
  OSTRAKA_MAP_INSTANCE_(WHERE, EXEC, T, (read_block<T> const&, read_block<T> const&), ostraka::detail::smaller)       \
  OSTRAKA_MAP_INSTANCE_(WHERE, EXEC, bool, (read_block<T> const&, read_block<T> const&), ostraka::detail::is_less)    \
  OSTRAKA_MAP_INSTANCE_(WHERE, EXEC, bool, (read_block<T> const&, read_block<T> const&), ostraka::detail::is_greater) \
  OSTRAKA_MAP_INSTANCE_(WHERE, EXEC, T, (read_block<T> const&, read_block<T> const&, read_block<bool> const&),        \
                        ostraka::detail::choose)                                                                      \
  OSTRAKA_MAP_INSTANCE_(WHERE, EXEC, T, (read_block<T> const&, read_block<bool> const&),                              \
                        ostraka::detail::choose_or_number<T>)                                                         \
  OSTRAKA_MAP_INSTANCE_(WHERE, EXEC, T, (read_block<T> const&, read_block<bool> const&),                              \
                        ostraka::detail::choose_number_or<T>)

#define OSTRAKA_NORM_INSTANCE_(WHERE, EXEC, T, FORMULA, MASK, GAIN, BIAS)                                            \
  WHERE template void normalise_rows(EXEC const&, execution_context const&, planner::spec const&, int,               \
                                     rows_of_block<T, MASK> const&, FORMULA<T> const&, T*, GAIN const*, BIAS const*, \
                                     FORMULA<T>::statistic*);

#define OSTRAKA_COEFFICIENT_INSTANCES_(WHERE, EXEC, T, FORMULA)                           \
  WHERE template void finish_rows(EXEC const&, std::int64_t, T*,                          \
                                  ostraka::detail::first_coefficient<FORMULA<T>> const&); \
  WHERE template void finish_rows(EXEC const&, std::int64_t, T*,                          \
                                  ostraka::detail::second_coefficient<FORMULA<T>> const&);

#define OSTRAKA_ROW_INSTANCES_(WHERE, EXEC, T)                                                                 \
  OSTRAKA_NORM_INSTANCE_(WHERE, EXEC, T, softmax_formula, no_mask, no_vector, no_vector)                       \
  OSTRAKA_NORM_INSTANCE_(WHERE, EXEC, T, softmax_formula, bool, no_vector, no_vector)                          \
  OSTRAKA_NORM_INSTANCE_(WHERE, EXEC, T, log_softmax_formula, no_mask, no_vector, no_vector)                   \
  OSTRAKA_NORM_INSTANCE_(WHERE, EXEC, T, rms_norm_formula, no_mask, no_vector, no_vector)                      \
  OSTRAKA_NORM_INSTANCE_(WHERE, EXEC, T, rms_norm_formula, no_mask, T, no_vector)                              \
  OSTRAKA_NORM_INSTANCE_(WHERE, EXEC, T, layer_norm_formula, no_mask, no_vector, no_vector)                    \
  OSTRAKA_NORM_INSTANCE_(WHERE, EXEC, T, layer_norm_formula, no_mask, T, no_vector)                            \
  OSTRAKA_NORM_INSTANCE_(WHERE, EXEC, T, layer_norm_formula, no_mask, T, T)                                    \
  OSTRAKA_COEFFICIENT_INSTANCES_(WHERE, EXEC, T, rms_norm_formula)                                             \
  OSTRAKA_COEFFICIENT_INSTANCES_(WHERE, EXEC, T, layer_norm_formula)                                           \
  WHERE template void finish_statistics<softmax_formula<T>, ostraka::detail::log_of_all<T>>(                   \
      EXEC const&, execution_context const&, planner::spec const&, int, rows_of_block<T> const&, T*);          \
  WHERE template rows_of_block<T> rows_in(execution_context const&, planner::spec const&, int, T const*);      \
  WHERE template rows_of_block<T, bool> rows_in(execution_context const&, planner::spec const&, int, T const*, \
                                                bool const*, std::int64_t const*);

#define OSTRAKA_STATE_INSTANCE_(WHERE, EXEC, T, R, FINISH, ...)                                                 \
  WHERE template void accumulate_rows<__VA_ARGS__>(EXEC const&, execution_context const&, planner::spec const&, \
                                                   planner::spec const&, planner::mesh_set, T const*, R*,       \
                                                   FINISH const&);

#define OSTRAKA_REDUCTION_INSTANCES_(WHERE, EXEC, T)                                                      \
  OSTRAKA_STATE_INSTANCE_(WHERE, EXEC, T, double, ostraka::detail::identity_finish, sum_of<square_of, T>) \
  OSTRAKA_STATE_INSTANCE_(WHERE, EXEC, T, std::int64_t, ostraka::detail::index_of_state,                  \
                          extreme_element<reduction::max, T>)                                             \
  OSTRAKA_MAP_INSTANCE_(WHERE, EXEC, T, (read_block<double> const&), ostraka::detail::square_root<T>)

#define OSTRAKA_ATTENTION_INSTANCES_(WHERE, EXEC, T)                                                                  \
  WHERE template void rotate_blocks(EXEC const&, execution_context const&, planner::spec const&, rotation const&,     \
                                    read_block<std::int64_t> const*, T const*, T*);                                   \
  WHERE template void mask_later_keys(EXEC const&, execution_context const&, planner::spec const&, int, std::int64_t, \
                                      T*, std::int64_t);                                                              \
  WHERE template bool may_involve_nan(EXEC const&, T const*, std::int64_t, T const*, std::int64_t);                   \
  WHERE template void repair_weighted_sums(EXEC const&, execution_context const&, planner::spec const&,               \
                                           planner::spec const&, planner::spec const&, T const*, T const*, T*);       \
  WHERE template void attend_in_tiles(EXEC const&, execution_context const&, ring_attention const&, T const*,         \
                                      T const*, T const*, T*, T*, score_rule<T> const&);                              \
  WHERE template void pull_attention_in_tiles(EXEC const&, execution_context const&, ring_attention const&, T const*, \
                                              T const*, T const*, T const*, T const*, T const*, T*, T*, T*,           \
                                              score_rule<T> const&, score_rule_cotangents<T> const&);

#define OSTRAKA_INDEXED_INSTANCES_(WHERE, EXEC, T, INDEX)                                                         \
  WHERE template void look_up_blocks(EXEC const&, execution_context const&, int, planner::spec const&,            \
                                     planner::spec const&, planner::spec const&, T*, T const*, INDEX const*);     \
  WHERE template void scatter_add_blocks(EXEC const&, execution_context const&, int, planner::spec const&,        \
                                         planner::spec const&, planner::spec const&, T*, T const*, INDEX const*); \
  WHERE template void cross_entropy_rows(EXEC const&, execution_context const&, planner::spec const&, int,        \
                                         rows_of_block<T> const&, labels_of_rows<INDEX> const&, T*,               \
                                         accumulator_of_t<T>*);

#define OSTRAKA_INDEX_INSTANCES_(WHERE, EXEC, INDEX)                                                           \
  WHERE template void check_indices(EXEC const&, execution_context const&, planner::spec const&, INDEX const*, \
                                    planner::mesh_set, std::string_view, std::int64_t, bool);

#define OSTRAKA_PLACE_INSTANCES_(WHERE, EXEC, T)                                                                 \
  WHERE template void rearrange(EXEC const&, execution_context const&, planner::spec const&, int,                \
                                planner::rearrangement const&, strided_block<T const*> const*,                   \
                                strided_block<T*> const&, T const&, int);                                        \
  WHERE template void copy_aligned(EXEC const&, execution_context const&, planner::spec const&, T*,              \
                                   read_block<T> const&);                                                        \
  WHERE template void write_rows(EXEC const&, execution_context const&, planner::spec const&, int, std::int64_t, \
                                 std::int64_t, T*, T const*);

/// M(WHERE, T, RANK) for the usual ranks of tensors.
#define OSTRAKA_FOR_RANKS_(M, WHERE, T) \
  M(WHERE, T, 0) M(WHERE, T, 1) M(WHERE, T, 2) M(WHERE, T, 3) M(WHERE, T, 4) M(WHERE, T, 5) M(WHERE, T, 6)

#define OSTRAKA_TENSOR_INSTANCES_(WHERE, T, RANK)                                                                      \
  WHERE template unnamed_tensor<T, RANK, compiled_space::device_type> allocate_unnamed(                                \
      std::shared_ptr<engine::device_mesh const> const&, engine::execution_context const&, planner::spec const&);      \
  WHERE template engine::execution_context begin_map(                                                                  \
      map_call const&, char const*, std::shared_ptr<engine::device_mesh const> const&, runtime_operand const*, int,    \
      unnamed_tensor<T, RANK, compiled_space::device_type>&);                                                          \
  WHERE template void run_planned(planned_call const&, char const*, std::shared_ptr<engine::device_mesh const> const&, \
                                  runtime_operand const*, T const* const*, engine::update<T> const&,                   \
                                  engine::run_functions<compiled_space, T> const&, engine::schedule_memory*&,          \
                                  unnamed_tensor<T, RANK, compiled_space::device_type>&);

// For softmax and norms of tensors of this rank. Their vectors follow.
#define OSTRAKA_RUN_ROWS_INSTANCE_(WHERE, T, RANK, FORMULA, ...)                                          \
  WHERE template void run_rows(axis_call const&, char const*, engine::FORMULA<T> const&,                  \
                               std::shared_ptr<engine::device_mesh const> const&, runtime_operand const*, \
                               unnamed_tensor<T, RANK, compiled_space::device_type>&, __VA_ARGS__);

#define OSTRAKA_RUN_ROWS_INSTANCES_(WHERE, T, RANK)                                \
  OSTRAKA_RUN_ROWS_INSTANCE_(WHERE, T, RANK, softmax_formula, T const*)            \
  OSTRAKA_RUN_ROWS_INSTANCE_(WHERE, T, RANK, rms_norm_formula, T const*, T const*) \
  OSTRAKA_RUN_ROWS_INSTANCE_(WHERE, T, RANK, layer_norm_formula, T const*, T const*, T const*)

/// For tensors of all types.
#define OSTRAKA_SHAPE_INSTANCES_(WHERE)                                                                                \
  namespace ostraka::detail {                                                                                          \
  WHERE template void throw_no_product<>(char const*, product_names const&, std::int64_t, std::int64_t, std::int64_t); \
  WHERE template void require_whole_blocks<>(char const*, product_names const&, std::int64_t, std::int64_t,            \
                                             std::int64_t);                                                            \
  WHERE template std::int64_t ways_along<>(engine::device_mesh const&, std::string_view const*, planner::mesh_order);  \
  }

/// For floats and doubles. WHERE is `extern`, or empty in the source that makes the instances.
#define OSTRAKA_OPERATION_INSTANCES_(WHERE, T)                                                    \
  namespace ostraka::engine {                                                                     \
  OSTRAKA_FOR_FUNCTIONS_(OSTRAKA_FUNCTION_INSTANCE_, WHERE, ::ostraka::detail::compiled_space, T) \
  OSTRAKA_CHOICE_INSTANCES_(WHERE, ::ostraka::detail::compiled_space, T)                          \
  OSTRAKA_ROW_INSTANCES_(WHERE, ::ostraka::detail::compiled_space, T)                             \
  OSTRAKA_REDUCTION_INSTANCES_(WHERE, ::ostraka::detail::compiled_space, T)                       \
  OSTRAKA_ATTENTION_INSTANCES_(WHERE, ::ostraka::detail::compiled_space, T)                       \
  OSTRAKA_INDEXED_INSTANCES_(WHERE, ::ostraka::detail::compiled_space, T, std::int32_t)           \
  OSTRAKA_INDEXED_INSTANCES_(WHERE, ::ostraka::detail::compiled_space, T, std::int64_t)           \
  OSTRAKA_PLACE_INSTANCES_(WHERE, ::ostraka::detail::compiled_space, T)                           \
  }                                                                                               \
  namespace ostraka::detail {                                                                     \
  OSTRAKA_FOR_RANKS_(OSTRAKA_TENSOR_INSTANCES_, WHERE, T)                                         \
  OSTRAKA_RUN_ROWS_INSTANCES_(WHERE, T, 2)                                                        \
  OSTRAKA_RUN_ROWS_INSTANCES_(WHERE, T, 3)                                                        \
  OSTRAKA_RUN_ROWS_INSTANCES_(WHERE, T, 4)                                                        \
  }

/// For integers.
#define OSTRAKA_INDEX_OPERATION_INSTANCES_(WHERE, T)                                                    \
  namespace ostraka::engine {                                                                           \
  OSTRAKA_INDEX_INSTANCES_(WHERE, ::ostraka::detail::compiled_space, T)                                 \
  OSTRAKA_PLACE_INSTANCES_(WHERE, ::ostraka::detail::compiled_space, T)                                 \
  OSTRAKA_MAP_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, std::int64_t, (read_block<T> const&), \
                        ostraka::detail::to_element<std::int64_t>)                                      \
  }

OSTRAKA_SHAPE_INSTANCES_(extern)
OSTRAKA_OPERATION_INSTANCES_(extern, float)
OSTRAKA_OPERATION_INSTANCES_(extern, double)
OSTRAKA_INDEX_OPERATION_INSTANCES_(extern, std::int32_t)
OSTRAKA_INDEX_OPERATION_INSTANCES_(extern, std::int64_t)
