// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Softmax and norms on the tape, and their derivatives: one function records all of a formula on tensors of
/// the same rank (shared_node.hpp), if elements are as wide as sums and the result belongs to the global view.

#include <type_traits>

#include <ostraka/gradient/tape/shared_conversion.hpp>
#include <ostraka/operations/normalisation/axis_call.hpp>

namespace ostraka::detail {

/// A softmax or norm and its derivative as constants.
template <class T, class Space>
struct rows_and_derivative {
  char const* name = nullptr;
  char const* name_of_vjp = nullptr;
  void const* type_of_result = nullptr;  ///< its mark, by which regions find saved results
  axis_call call{};                      ///< of the tensor, and of the mask, or of gain and bias
  conversion<T, Space> to_operand{};
  conversion<T, Space> const* to_vectors = nullptr;  ///< to the cotangents of gain and bias
};

/// The call of a derivative, which reads the tensor, its cotangent, and perhaps the gain.
struct call_of_derivative {
  planner::spec const* specs[3] = {};
  axis_call call;

  explicit call_of_derivative(axis_call const& forward, bool has_gain) : call(forward) {
    specs[0] = specs[1] = forward.tensors.result;
    if (has_gain) specs[2] = forward.tensors.operands[1];
    call.tensors.operands = specs;
  }
  call_of_derivative(call_of_derivative const&) = delete;
  call_of_derivative& operator=(call_of_derivative const&) = delete;
};

/// The pullback of a softmax, which keeps its result. `Rule` has its `formula` and `cotangents`.
template <class Rule, class T, int Rank, class Space>
class shared_softmax_pullback {
 public:
  using tensor_type = unnamed_tensor<T, Rank, Space>;
  using constants = rows_and_derivative<T, Space>;

  shared_softmax_pullback(constants const& all, shared_operand<tensor_type, tensor_type> const& a,
                          tensor_type const& result)
      : all_(all), slot_(a.slot()), result_(result) {}

  void pull(tensor_type const& g) const {
    if (slot_ == nullptr) return;
    call_of_derivative const back(all_.call, false);
    runtime_operand const operands[] = {runtime_operand_of(result_), runtime_operand_of(g)};
    tensor_type pulled;
    pull_rows_of(back.call, all_.name_of_vjp, Rule::template cotangents<T>(), result_.mesh_handle(), operands, false,
                 pulled, rows_to_pull<T>{result_.local().data(), g.local().data(), nullptr, nullptr});
    add_converted(all_.to_operand, pulled, slot_);
  }

 private:
  constants const& all_;
  slot_of_sum<tensor_type>* slot_;
  tensor_type result_;
};

/// Writes the softmax of a tensor to `y`, and puts it on the tape of the tensor. `hides`: a mask has written −∞ into
/// it.
template <class Rule, class T, int Rank, class Space>
[[gnu::cold, gnu::noinline]] void record_softmax(
    rows_and_derivative<T, Space> const& all, bool hides,
    shared_operand<unnamed_tensor<T, Rank, Space>, unnamed_tensor<T, Rank, Space>> const& a,
    unnamed_tensor<T, Rank, Space>& y,
    place_on_tape<unnamed_tensor<T, Rank, Space>, unnamed_tensor<T, Rank, Space>>& place) {
  tape* const t = a.live();
  runtime_operand const operand = runtime_operand_of(a.value);
  if (auto const* const saved = saved_result<unnamed_tensor<T, Rank, Space>>(t, all.type_of_result))
    y = *saved;
  else
    run_rows(all.call, all.name, Rule::template formula<T>(hides), a.value.mesh_handle(), &operand, y,
             a.value.local().data());
  put_on_tape<shared_softmax_pullback<Rule, T, Rank, Space>>(t, all.name, place, all, a, y);
}

/// The gain or bias of a norm.
template <class T, class Space>
using shared_vector = shared_operand<unnamed_tensor<T, 1, Space>, unnamed_tensor<T, 1, Space>>;

/// The pullback of a norm without gain and bias.
template <class Rule, class T, int Rank, class Space, class... Vectors>
class shared_norm_pullback {
 public:
  using tensor_type = unnamed_tensor<T, Rank, Space>;
  using rows_type = unnamed_rows<T, Rank, Space>;
  using constants = rows_and_derivative<T, Space>;

  shared_norm_pullback(constants const& all, rows_type const& mean, rows_type const& factor,
                       shared_operand<tensor_type, tensor_type> const& a)
      : all_(all), slot_(a.slot()), a_(a, true), mean_(mean), factor_(factor) {}

  void pull(tensor_type const& g) const {
    if (slot_ == nullptr) return;
    tensor_type const x = a_.get();
    call_of_derivative const back(all_.call, false);
    runtime_operand const operands[] = {runtime_operand_of(x), runtime_operand_of(g)};
    tensor_type pulled;
    pull_rows_of(back.call, all_.name_of_vjp, Rule::template cotangents<T>(), x.mesh_handle(), operands, false, pulled,
                 rows(x, g));
    add_converted(all_.to_operand, pulled, slot_);
  }

 protected:
  [[nodiscard]] rows_to_pull<T> rows(tensor_type const& x, tensor_type const& g) const {
    return {x.local().data(), g.local().data(), Rule::has_mean ? mean_.local().data() : nullptr,
            factor_.local().data()};
  }

  constants const& all_;
  slot_of_sum<tensor_type>* slot_;
  kept_operand<tensor_type> a_;
  rows_type mean_, factor_;
};

/// The same with a gain, and perhaps a bias.
template <class Rule, class T, int Rank, class Space, class... Bias>
class shared_norm_pullback<Rule, T, Rank, Space, shared_vector<T, Space>, Bias...>
    : shared_norm_pullback<Rule, T, Rank, Space> {
  using base = shared_norm_pullback<Rule, T, Rank, Space>;
  using vector_type = unnamed_tensor<T, 1, Space>;

 public:
  using typename base::tensor_type;

  shared_norm_pullback(typename base::constants const& all, typename base::rows_type const& mean,
                       typename base::rows_type const& factor, shared_operand<tensor_type, tensor_type> const& a,
                       shared_vector<T, Space> const& gain, Bias const&... bias)
      : base(all, mean, factor, a), slots_{gain.slot(), bias.slot()...}, gain_(gain, true) {}

  void pull(tensor_type const& g) const {
    tensor_type const x = this->a_.get();
    vector_type const gain = gain_.get();
    call_of_derivative const back(this->all_.call, true);
    runtime_operand const operands[] = {runtime_operand_of(x), runtime_operand_of(g), runtime_operand_of(gain)};
    tensor_type pulled;
    vector_type gains;
    pull_rows_and_gain_of(back.call, this->all_.name_of_vjp, Rule::template cotangents<T>(), x.mesh_handle(), operands,
                          pulled, gains, this->rows(x, g), gain.local().data());
    add_converted(this->all_.to_operand, pulled, this->slot_);
    add_converted(this->all_.to_vectors[0], gains, slots_[0]);
    if constexpr (sizeof...(Bias) > 0) add_converted(this->all_.to_vectors[1], g, slots_[1]);
  }

 private:
  slot_of_sum<vector_type>* slots_[1 + sizeof...(Bias)];
  kept_operand<vector_type> gain_;
};

/// Writes a norm to `y`, and puts it on the tape of its operands. `Vectors` are the gain and the bias, if there are
/// any.
template <class Rule, class T, int Rank, class Space, class... Vectors>
[[gnu::cold, gnu::noinline]] void record_norm(
    rows_and_derivative<T, Space> const& all, double epsilon, unnamed_tensor<T, Rank, Space>& y,
    place_on_tape<unnamed_tensor<T, Rank, Space>, unnamed_tensor<T, Rank, Space>>& place,
    shared_operand<unnamed_tensor<T, Rank, Space>, unnamed_tensor<T, Rank, Space>> const& a,
    Vectors const&... vectors) {
  tape* const t = tape_of_operands(a, vectors...);
  runtime_operand const operands[] = {runtime_operand_of(a.value), runtime_operand_of(vectors.value)...};
  unnamed_rows<T, Rank, Space> mean, factor;
  run_rows_with_residuals(all.call, all.name, Rule::template formula<T>(epsilon), a.value.mesh_handle(), operands, y,
                          mean, factor, a.value.local().data(), vectors.value.local().data()...);
  if (auto const* const saved = saved_result<unnamed_tensor<T, Rank, Space>>(t, all.type_of_result)) y = *saved;
  put_on_tape<shared_norm_pullback<Rule, T, Rank, Space, Vectors...>>(t, all.name, place, all, mean, factor, a,
                                                                      vectors...);
}

/// Operands for which such a function may record an operation: tensors of the global view, with elements that need no
/// wider type, and variables of these, of one derivative.
template <class A, class... Others>
inline constexpr bool may_share_rows = depth_of_all<A, Others...> == 1 && is_tensor<plain_type<A>> &&
                                       (is_tensor<plain_type<Others>> && ...);

template <class Operation, class A, class... Others>
consteval bool check_shared_rows() {
  using T = typename A::value_type;
  if constexpr (any_varies<A, Others...> || !std::is_same_v<typename A::element_type, accumulator_of_t<T>>)
    return false;
  else if constexpr ((!std::is_same_v<typename Others::element_type, T> || ...) ||
                     (!std::is_same_v<typename Others::space, typename A::space> || ...))
    return false;
  else
    return std::is_same_v<typename Operation::template verdict<A, Others...>, reason::ok>;
}

}  // namespace ostraka::detail
