// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Softmax, norms and their cotangents as functions for all shardings of a rank. The facts in an operation's
/// types become constants, so that a distinct operation adds only these and a call to a program.

#include <cstdint>
#include <memory>

#include <ostraka/calls/along.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/engine/divided_rows/normalise_rows.hpp>
#include <ostraka/engine/divided_rows/pull_rows.hpp>

namespace ostraka::detail {

/// An operation along one axis of a tensor as constants.
struct axis_call {
  map_call tensors;  ///< the operands: the tensor and those after it; the result is divided as the tensor is
  int along;         ///< the dimension
};

template <class Labels, class Mesh, class... Operands>
inline constexpr planner::spec const* specs_of_rows[] = {&spec_of<Operands, Labels, Mesh>...};

template <class Labels, class Mesh, class Dim, class A, class... Others>
inline constexpr axis_call make_axis_call{{specs_of_rows<Labels, Mesh, A, Others...>, &spec_of<A, Labels, Mesh>,
                                           &naming_of<Labels, Mesh>, Labels::size, Mesh::size},
                                          dimension_of<Dim, A>};

template <class Dim, class A, class... Others>
inline constexpr axis_call const& axis_call_of =
    make_axis_call<axes_in<A>, union_of<mesh_axes_in<A>, mesh_axes_in<Others>...>, Dim, A, Others...>;

/// One number for each row of a tensor of this rank, in a type wide enough to compute with.
template <class T, int Rank, class Space>
using unnamed_rows = unnamed_tensor<accumulator_of_t<T>, Rank - 1, Space>;

/// The spec without a dimension, for one number per row.
inline planner::spec without_dimension(planner::spec const& s, int dimension) {
  planner::spec rows;
  for (int i = 0; i < s.rank; ++i)
    if (i != dimension) rows.push_back(s.label[i], s.over[i]);
  return rows;
}

/// The spec of a tensor with only the axis of the call.
inline planner::spec spec_along(axis_call const& call) {
  planner::spec along;
  planner::spec const& s = *call.tensors.result;
  along.push_back(s.label[call.along], s.over[call.along]);
  return along;
}

/// A gain or bias, operand `k` of the call, from the block's first index along the axis.
template <class Vector>
Vector const* vector_of(engine::execution_context const& w, axis_call const& call, int k, Vector const* v) {
  return engine::align(w, *call.tensors.operands[k], *call.tensors.result, v).data;
}

// out <- the formula of each element, times the gain and plus the bias, if these are given.
template <class Formula, class Exec, class T>
void normalise_blocks(Exec const& exec, engine::execution_context const& w, axis_call const& call,
                      Formula const& formula, typename Formula::statistic* kept, T* out, T const* x) {
  engine::no_vector const* const none = nullptr;
  planner::spec const& s = *call.tensors.result;
  engine::normalise_rows(exec, w, s, call.along, engine::rows_in(w, s, call.along, x), formula, out, none, none, kept);
}
template <class Formula, class Exec, class T, class Gain>
void normalise_blocks(Exec const& exec, engine::execution_context const& w, axis_call const& call,
                      Formula const& formula, typename Formula::statistic* kept, T* out, T const* x, Gain const* gain) {
  engine::no_vector const* const none = nullptr;
  planner::spec const& s = *call.tensors.result;
  engine::normalise_rows(exec, w, s, call.along, engine::rows_in(w, s, call.along, x), formula, out,
                         vector_of(w, call, 1, gain), none, kept);
}
template <class Formula, class Exec, class T, class Gain, class Bias>
void normalise_blocks(Exec const& exec, engine::execution_context const& w, axis_call const& call,
                      Formula const& formula, typename Formula::statistic* kept, T* out, T const* x, Gain const* gain,
                      Bias const* bias) {
  planner::spec const& s = *call.tensors.result;
  engine::normalise_rows(exec, w, s, call.along, engine::rows_in(w, s, call.along, x), formula, out,
                         vector_of(w, call, 1, gain), vector_of(w, call, 2, bias), kept);
}

/// A new tensor <- the formula of each row of a tensor, times a gain and plus a bias if these follow.
template <class Formula, class T, int Rank, class Space, class... Vectors>
[[gnu::noinline]] void run_rows(axis_call const& call, char const* name, Formula const& formula,
                                std::shared_ptr<engine::device_mesh const> const& mesh, runtime_operand const* operands,
                                unnamed_tensor<T, Rank, Space>& result, T const* x, Vectors const*... vectors) {
  engine::execution_context const w =
      begin_map(call.tensors, name, mesh, operands, 1 + static_cast<int>(sizeof...(Vectors)), result);
  normalise_blocks(execution_space_of<unnamed_tensor<T, Rank, Space>>(), w, call, formula, nullptr,
                   result.local().data(), x, vectors...);
}

/// The same under a mask.
template <class Formula, class T, int Rank, class Space, class Mask>
[[gnu::noinline]] void run_masked_rows(axis_call const& call, char const* name, Formula const& formula,
                                       std::shared_ptr<engine::device_mesh const> const& mesh,
                                       runtime_operand const* operands, unnamed_tensor<T, Rank, Space>& result,
                                       T const* x, Mask const* mask) {
  engine::execution_context const w = begin_map(call.tensors, name, mesh, operands, 2, result);
  planner::spec const& s = *call.tensors.result;
  auto const met = engine::align(w, *call.tensors.operands[1], s, mask);
  engine::no_vector const* const none = nullptr;
  engine::normalise_rows(execution_space_of<unnamed_tensor<T, Rank, Space>>(), w, s, call.along,
                         engine::rows_in(w, s, call.along, x, met.data, met.stride), formula, result.local().data(),
                         none, none);
}

template <class Formula>
struct first_coefficient {
  Formula formula;
  typename Formula::statistic const* rows;
  std::int64_t total;
  KOKKOS_INLINE_FUNCTION auto operator()(std::int64_t row) const { return formula.of_row(rows[row], total).a; }
};
template <class Formula>
struct second_coefficient {
  Formula formula;
  typename Formula::statistic const* rows;
  std::int64_t total;
  KOKKOS_INLINE_FUNCTION auto operator()(std::int64_t row) const { return formula.of_row(rows[row], total).b; }
};

/// A norm with its residuals: the mean of each row, and the factor of its deviations.
template <class Formula, class T, int Rank, class Space, class... Vectors>
[[gnu::noinline]] void run_rows_with_residuals(axis_call const& call, char const* name, Formula const& formula,
                                               std::shared_ptr<engine::device_mesh const> const& mesh,
                                               runtime_operand const* operands, unnamed_tensor<T, Rank, Space>& result,
                                               unnamed_rows<T, Rank, Space>& mean, unnamed_rows<T, Rank, Space>& factor,
                                               T const* x, Vectors const*... vectors) {
  engine::execution_context const w =
      begin_map(call.tensors, name, mesh, operands, 1 + static_cast<int>(sizeof...(Vectors)), result);
  planner::spec const s = without_dimension(*call.tensors.result, call.along);
  mean = allocate_unnamed<accumulator_of_t<T>, Rank - 1, Space>(mesh, w, s);
  factor = allocate_unnamed<accumulator_of_t<T>, Rank - 1, Space>(mesh, w, s);
  auto const count = static_cast<std::int64_t>(mean.local().size());
  engine::kernel_scratch<typename Formula::statistic, typename Space::memory_space> const rows(count);
  auto const exec = execution_space_of<unnamed_tensor<T, Rank, Space>>();
  normalise_blocks(exec, w, call, formula, rows.data(), result.local().data(), x, vectors...);
  std::int64_t const total = operands[0].extents[call.along];
  engine::finish_rows(exec, count, mean.local().data(), first_coefficient<Formula>{formula, rows.data(), total});
  engine::finish_rows(exec, count, factor.local().data(), second_coefficient<Formula>{formula, rows.data(), total});
}

/// The rows of a tensor, their cotangents, and their statistics or null pointers, in the form that the engine's
/// functions take.
template <class T>
struct rows_to_pull {
  T const* x;
  T const* g;
  accumulator_of_t<T> const* mean;
  accumulator_of_t<T> const* factor;
};

// The rows as the engine takes them.
template <class T, class Gain>
engine::rows_and_cotangents<T, Gain> pulled_by(engine::execution_context const& w, axis_call const& call,
                                               rows_to_pull<T> const& in, Gain const* gain) {
  auto const rows = engine::rows_in(w, *call.tensors.result, call.along, in.x).rows;
  return {rows, in.x, in.g, in.mean, in.factor, gain};
}

/// A new tensor <- the cotangents of rows by the formula. The call reads the rows, their cotangents, and perhaps a
/// gain. `in_place`: the result holds the cotangents, and is overwritten.
template <class Formula, class T, int Rank, class Space, class... Gain>
[[gnu::noinline]] void pull_rows_of(axis_call const& call, char const* name, Formula const& formula,
                                    std::shared_ptr<engine::device_mesh const> const& mesh,
                                    runtime_operand const* operands, bool in_place,
                                    unnamed_tensor<T, Rank, Space>& result, rows_to_pull<T> const& in,
                                    Gain const*... gain) {
  map_call const& t = call.tensors;
  constexpr int count = 2 + static_cast<int>(sizeof...(Gain));
  engine::execution_context const w = in_place ? context_of_operands(name, engine::steps_ahead{}, *t.names, t.labels,
                                                                     t.mesh_axes, operands, t.operands, count)
                                               : begin_map(t, name, mesh, operands, count, result);
  auto const pull = [&](auto const* aligned) {
    engine::pull_blocks(execution_space_of<unnamed_tensor<T, Rank, Space>>(), w, *t.result, call.along,
                        pulled_by(w, call, in, aligned), formula, result.local().data());
  };
  if constexpr (sizeof...(Gain) == 0)
    pull(static_cast<engine::no_vector const*>(nullptr));
  else
    pull(vector_of(w, call, 2, gain)...);
}

/// The same, and gains <- this device's part of the cotangents of the gain. @pre rows are contiguous in memory
template <class Formula, class T, int Rank, class Space, class Gain>
[[gnu::noinline]] void pull_rows_and_gain_of(axis_call const& call, char const* name, Formula const& formula,
                                             std::shared_ptr<engine::device_mesh const> const& mesh,
                                             runtime_operand const* operands, unnamed_tensor<T, Rank, Space>& result,
                                             unnamed_tensor<accumulator_of_t<T>, 1, Space>& gains,
                                             rows_to_pull<T> const& in, Gain const* gain) {
  engine::execution_context const w = begin_map(call.tensors, name, mesh, operands, 3, result);
  gains = allocate_unnamed<accumulator_of_t<T>, 1, Space>(mesh, w, spec_along(call));
  engine::pull_blocks_and_gain(execution_space_of<unnamed_tensor<T, Rank, Space>>(), w, *call.tensors.result,
                               call.along, pulled_by(w, call, in, vector_of(w, call, 2, gain)), formula,
                               result.local().data(), gains.local().data());
}

/// For blocks in bodies, whose extents have origins: checks that these agree.
template <class... Operands>
void check_origins([[maybe_unused]] char const* name, [[maybe_unused]] Operands const&... operands) {
  if constexpr (any_varies<Operands...>) origins_of(name, union_of<axes_in<Operands>...>{}, operands...);
}
/// Sets the origins of a new tensor from those of the operands.
template <class TensorType, class... Operands>
void give_origins([[maybe_unused]] char const* name, [[maybe_unused]] TensorType& t,
                  [[maybe_unused]] Operands const&... operands) {
  if constexpr (any_varies<Operands...>) t.set_origins(origins_of(name, axes_in<TensorType>{}, operands...));
}

}  // namespace ostraka::detail
