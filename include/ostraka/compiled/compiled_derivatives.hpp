// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The instances for derivatives that ostraka::compiled holds, in addition to those of the operations
/// themselves (compiled_operations.hpp): functions of the engine that the rules of neural networks call.

#include <ostraka/compiled/compiled_operations.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_choices.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_functions.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_cross_entropy.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_norms.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_softmax.hpp>
#include <ostraka/gradient/rules/operations/recorded_attention.hpp>
#include <ostraka/gradient/tape/recorded_product.hpp>

#define OSTRAKA_KEPT_DERIVATIVE_INSTANCE_(WHERE, EXEC, T, F)                          \
  OSTRAKA_MAP_INSTANCE_(WHERE, EXEC, T, (read_block<T> const&, read_block<T> const&), \
                        ostraka::detail::times_kept_derivative<F>)

#define OSTRAKA_EXTREME_INSTANCE_(WHERE, EXEC, T, OPERAND, HOW)                           \
  OSTRAKA_MAP_INSTANCE_(                                                                  \
      WHERE, EXEC, T, (read_block<T> const&, read_block<T> const&, read_block<T> const&), \
      ostraka::detail::times_derivative<OPERAND, ostraka::detail::derivative_of_extreme<reduction::HOW>, T>)

#define OSTRAKA_COTANGENT_INSTANCE_(WHERE, EXEC, T, FORMULA, GAIN)                                  \
  WHERE template void pull_blocks(EXEC const&, execution_context const&, planner::spec const&, int, \
                                  rows_and_cotangents<T, GAIN> const&, FORMULA<T> const&, T*);

// For rows that are contiguous (pull_rows_and_gain).
#define OSTRAKA_GAIN_COTANGENT_INSTANCE_(WHERE, EXEC, T, FORMULA)                                            \
  WHERE template void pull_blocks_and_gain(EXEC const&, execution_context const&, planner::spec const&, int, \
                                           rows_and_cotangents<T, T> const&, FORMULA<T> const&, T*,          \
                                           accumulator_of_t<T>*);

#define OSTRAKA_LOSS_COTANGENT_INSTANCE_(WHERE, EXEC, T, INDEX)                                            \
  WHERE template void pull_cross_entropy(EXEC const&, execution_context const&, planner::spec const&, int, \
                                         rows_of_block<T> const&, labels_of_rows<INDEX> const&,            \
                                         accumulator_of_t<T> const*, T const*, T*);

#define OSTRAKA_SUM_OF_COTANGENTS_INSTANCE_(WHERE, T, RANK)                                      \
  WHERE template void add_cotangent(unnamed_tensor<T, RANK, compiled_space::device_type>&, bool, \
                                    unnamed_tensor<T, RANK, compiled_space::device_type> const&);

#define OSTRAKA_RANKED_(T, RANK) unnamed_tensor<T, RANK, compiled_space::device_type>

// For a product of two tensors of these ranks.
#define OSTRAKA_PRODUCT_INSTANCE_(WHERE, T, A, B, RESULT)                                                 \
  WHERE template void record_product(product_and_derivative<T, compiled_space::device_type> const&,       \
                                     shared_operand<OSTRAKA_RANKED_(T, A), OSTRAKA_RANKED_(T, A)> const&, \
                                     shared_operand<OSTRAKA_RANKED_(T, B), OSTRAKA_RANKED_(T, B)> const&, \
                                     OSTRAKA_RANKED_(T, RESULT)&,                                         \
                                     place_on_tape<OSTRAKA_RANKED_(T, RESULT), OSTRAKA_RANKED_(T, RESULT)>&);

// For a softmax of tensors of this rank.
#define OSTRAKA_RECORDED_SOFTMAX_INSTANCE_(WHERE, T, RANK, RULE)                                                      \
  WHERE template void record_softmax<RULE>(rows_and_derivative<T, compiled_space::device_type> const&, bool,          \
                                           shared_operand<OSTRAKA_RANKED_(T, RANK), OSTRAKA_RANKED_(T, RANK)> const&, \
                                           OSTRAKA_RANKED_(T, RANK)&,                                                 \
                                           place_on_tape<OSTRAKA_RANKED_(T, RANK), OSTRAKA_RANKED_(T, RANK)>&);

// For a norm of tensors of this rank. Its vectors follow.
#define OSTRAKA_RECORDED_NORM_INSTANCE_(WHERE, T, RANK, RULE, ...)                                   \
  WHERE template void record_norm<RULE>(                                                             \
      rows_and_derivative<T, compiled_space::device_type> const&, double, OSTRAKA_RANKED_(T, RANK)&, \
      place_on_tape<OSTRAKA_RANKED_(T, RANK), OSTRAKA_RANKED_(T, RANK)>&,                            \
      shared_operand<OSTRAKA_RANKED_(T, RANK), OSTRAKA_RANKED_(T, RANK)> const&, __VA_ARGS__);

#define OSTRAKA_VECTOR_(T) shared_vector<T, compiled_space::device_type> const&

#define OSTRAKA_RECORDED_NORM_INSTANCES_(WHERE, T, RANK)                               \
  OSTRAKA_RECORDED_NORM_INSTANCE_(WHERE, T, RANK, rms_norm_rule, OSTRAKA_VECTOR_(T))   \
  OSTRAKA_RECORDED_NORM_INSTANCE_(WHERE, T, RANK, layer_norm_rule, OSTRAKA_VECTOR_(T)) \
  OSTRAKA_RECORDED_NORM_INSTANCE_(WHERE, T, RANK, layer_norm_rule, OSTRAKA_VECTOR_(T), OSTRAKA_VECTOR_(T))

// For attention of queries of this rank to keys and values of rank 4.
#define OSTRAKA_OF_RANK_(T, RANK) shared_tensor<T, RANK, compiled_space::device_type> const&
#define OSTRAKA_RECORDED_ATTENTION_INSTANCES_(WHERE, T, RANK)                                                          \
  WHERE template void record_tiles(tiles_and_derivative<T, compiled_space::device_type> const&, tiles_of_call const&,  \
                                   OSTRAKA_OF_RANK_(T, RANK), OSTRAKA_OF_RANK_(T, 4), OSTRAKA_OF_RANK_(T, 4),          \
                                   OSTRAKA_RANKED_(T, RANK)&, place_of_tensor<T, RANK, compiled_space::device_type>&); \
  WHERE template void record_whole_attention<RANK>(                                                                    \
      weights_and_derivative<T, compiled_space::device_type> const&,                                                   \
      weighing_and_derivative<T, compiled_space::device_type> const&, numbers_of_scores const&,                        \
      OSTRAKA_OF_RANK_(T, RANK), OSTRAKA_OF_RANK_(T, 4), OSTRAKA_OF_RANK_(T, 4), OSTRAKA_RANKED_(T, RANK)&,            \
      place_of_tensor<T, RANK, compiled_space::device_type>&);

/// For floats and doubles. WHERE is `extern`, or empty in the source that makes the instances.
#define OSTRAKA_DERIVATIVE_INSTANCES_(WHERE, T)                                                                  \
  namespace ostraka::engine {                                                                                    \
  OSTRAKA_FOR_FUNCTIONS_(OSTRAKA_KEPT_DERIVATIVE_INSTANCE_, WHERE, ::ostraka::detail::compiled_space, T)         \
  OSTRAKA_COTANGENT_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, softmax_cotangents, no_vector)        \
  OSTRAKA_COTANGENT_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, log_softmax_cotangents, no_vector)    \
  OSTRAKA_COTANGENT_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, rms_norm_cotangents, no_vector)       \
  OSTRAKA_COTANGENT_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, rms_norm_cotangents, T)               \
  OSTRAKA_COTANGENT_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, layer_norm_cotangents, no_vector)     \
  OSTRAKA_COTANGENT_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, layer_norm_cotangents, T)             \
  OSTRAKA_GAIN_COTANGENT_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, rms_norm_cotangents)             \
  OSTRAKA_GAIN_COTANGENT_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, layer_norm_cotangents)           \
  OSTRAKA_LOSS_COTANGENT_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, std::int32_t)                    \
  OSTRAKA_LOSS_COTANGENT_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, std::int64_t)                    \
  OSTRAKA_MAP_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T,                                             \
                        (read_block<T> const&, read_block<T> const&, read_block<T> const&),                      \
                        ostraka::detail::share_of_row)                                                           \
  OSTRAKA_EXTREME_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, 0, max)                                 \
  OSTRAKA_EXTREME_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, 1, max)                                 \
  OSTRAKA_EXTREME_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, 0, min)                                 \
  OSTRAKA_EXTREME_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, T, 1, min)                                 \
  WHERE template void combine_blocks(::ostraka::detail::compiled_space const&, T*, ostraka::detail::plus const&, \
                                     T const*, T const*, std::int64_t);                                          \
  WHERE template void change_block(::ostraka::detail::compiled_space const&, T*, std::int64_t,                   \
                                   ostraka::detail::divide_by<T> const&);                                        \
  }                                                                                                              \
  namespace ostraka::detail {                                                                                    \
  OSTRAKA_FOR_RANKS_(OSTRAKA_SUM_OF_COTANGENTS_INSTANCE_, WHERE, T)                                              \
  OSTRAKA_PRODUCT_INSTANCE_(WHERE, T, 2, 2, 2)                                                                   \
  OSTRAKA_PRODUCT_INSTANCE_(WHERE, T, 3, 2, 3)                                                                   \
  OSTRAKA_RECORDED_SOFTMAX_INSTANCE_(WHERE, T, 2, softmax_rule)                                                  \
  OSTRAKA_RECORDED_SOFTMAX_INSTANCE_(WHERE, T, 3, softmax_rule)                                                  \
  OSTRAKA_RECORDED_SOFTMAX_INSTANCE_(WHERE, T, 4, softmax_rule)                                                  \
  OSTRAKA_RECORDED_SOFTMAX_INSTANCE_(WHERE, T, 2, log_softmax_rule)                                              \
  OSTRAKA_RECORDED_SOFTMAX_INSTANCE_(WHERE, T, 3, log_softmax_rule)                                              \
  OSTRAKA_RECORDED_NORM_INSTANCES_(WHERE, T, 2)                                                                  \
  OSTRAKA_RECORDED_NORM_INSTANCES_(WHERE, T, 3)                                                                  \
  OSTRAKA_RECORDED_ATTENTION_INSTANCES_(WHERE, T, 4)                                                             \
  OSTRAKA_RECORDED_ATTENTION_INSTANCES_(WHERE, T, 5)                                                             \
  }

/// For the element types of labels.
#define OSTRAKA_LABEL_INSTANCE_(WHERE, T)                                                               \
  namespace ostraka::engine {                                                                           \
  OSTRAKA_MAP_INSTANCE_(WHERE, ::ostraka::detail::compiled_space, std::int64_t, (read_block<T> const&), \
                        ostraka::detail::drop_ignored)                                                  \
  }

OSTRAKA_DERIVATIVE_INSTANCES_(extern, float)
OSTRAKA_DERIVATIVE_INSTANCES_(extern, double)
OSTRAKA_LABEL_INSTANCE_(extern, std::int32_t)
OSTRAKA_LABEL_INSTANCE_(extern, std::int64_t)
