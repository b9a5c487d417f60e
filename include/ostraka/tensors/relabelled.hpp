// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A tensor with other labels: the result of os::relabel<I, I>(A) (algebra/relabel.hpp). Also defines
/// operands: tensors, and relabelled tensors.

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include <ostraka/engine/run/execute.hpp>
#include <ostraka/plan/spec/policy.hpp>
#include <ostraka/plan/typed/checks.hpp>
#include <ostraka/tensors/after_error.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

// One axis with its label, and the mesh axes that divide it.
template <class Label, class Splits>
struct labelled;

// Merges the axes of one label: keeps the first division, and makes the result partial over the mesh axes of all
// others.
template <class Label, class Kept, class Summed, class... Labelled>
struct merge_labelled;

template <class Label, class... Kept, class Summed>
struct merge_labelled<Label, type_list<Kept...>, Summed> {
  using entry = over<Label, Kept...>;
  using summed = Summed;
};

template <class Label, class Kept, class Summed, class Other, class Splits, class... More>
struct merge_labelled<Label, Kept, Summed, labelled<Other, Splits>, More...>
    : merge_labelled<Label, Kept, Summed, More...> {};

template <class Label, class Splits, class Summed, class... More>
struct merge_labelled<Label, type_list<>, Summed, labelled<Label, Splits>, More...>
    : merge_labelled<Label, Splits, Summed, More...> {};

template <class Label, class K, class... Kept, class... Summed, class... Splits, class... More>
struct merge_labelled<Label, type_list<K, Kept...>, type_list<Summed...>, labelled<Label, type_list<Splits...>>,
                      More...>
    : merge_labelled<Label, type_list<K, Kept...>, type_list<Summed..., Splits...>, More...> {};

// The summands as dimensions of a sharding; empty without mesh axes.
auto summands_over(type_list<>) -> sharding<>;
template <class M, class... Ms>
auto summands_over(type_list<M, Ms...>) -> partial_sum<M, Ms...>;

template <class Distinct, class... Labelled>
struct merge_all;

template <class... Distinct, class... Labelled>
struct merge_all<type_list<Distinct...>, Labelled...> {
  template <class... Others>
  using sharding = canonical_sharding<
      typename merge_labelled<Distinct, type_list<>, type_list<>, Labelled...>::entry..., Others...,
      decltype(summands_over(
          concatenation_of<typename merge_labelled<Distinct, type_list<>, type_list<>, Labelled...>::summed...>{}))>;
};

// Splits entries into axes and others.
template <class Axes, class Others, class... Entries>
struct split_entries {
  using axes = Axes;
  using others = Others;
};

template <class... As, class... Os, class E, class... Entries>
struct split_entries<type_list<As...>, type_list<Os...>, E, Entries...>
    : split_entries<std::conditional_t<(entry<E>::axes::size > 0), type_list<As..., E>, type_list<As...>>,
                    std::conditional_t<(entry<E>::axes::size > 0), type_list<Os...>, type_list<Os..., E>>, Entries...> {
};

template <class Sharding>
struct entries_in;

template <class... Entries>
struct entries_in<sharding<Entries...>> : split_entries<type_list<>, type_list<>, Entries...> {};

template <class Labels, class Entries, class Others>
struct relabel_sharding;

template <class... Labels, class... Entries, class... Others>
struct relabel_sharding<type_list<Labels...>, type_list<Entries...>, type_list<Others...>> {
  using type = typename merge_all<union_of<type_list<Labels...>>,
                                  labelled<Labels, typename entry<Entries>::splits>...>::template sharding<Others...>;
};

}  // namespace detail

/// A tensor with other labels, as an operand of os::einsum, os::einsum_into, os::plan and reductions. os::relabel makes
/// it. It refers to the tensor's memory and has no elements of its own.
template <class TensorType, class... Labels>
class relabelled {
 public:
  using value_type = typename TensorType::value_type;
  using space = typename TensorType::space;
  using view_type = typename TensorType::view_type;
  using sharding_type =
      typename detail::relabel_sharding<type_list<Labels...>,
                                        typename detail::entries_in<typename TensorType::sharding_type>::axes,
                                        typename detail::entries_in<typename TensorType::sharding_type>::others>::type;
  using axes = union_of<type_list<Labels...>>;
  using mesh_axes = typename sharding_traits<sharding_type>::mesh_axes;

  /// True if a block may lack some entries of the diagonal. The block is then copied, and padded with zeros.
  static constexpr bool is_copied = sharding_traits<sharding_type>::partials::size >
                                    sharding_traits<typename TensorType::sharding_type>::partials::size;

  explicit relabelled(TensorType const& tensor) : tensor_(tensor) {
    for (int p = TensorType::rank - 1; p >= 0; --p)
      extents_[static_cast<std::size_t>(along()[p])] = tensor.extents()[static_cast<std::size_t>(p)];
    if constexpr (varying_in<TensorType>::size > 0)
      for (int p = 0; p < TensorType::rank; ++p)  // all devices know this before they compare extents
        for (int q = 0; q < p; ++q)
          if (along()[p] == along()[q])
            detail::joined_origin("relabel", detail::names_of<axes>[static_cast<std::size_t>(along()[p])],
                                  tensor.origins()[static_cast<std::size_t>(q)],
                                  tensor.origins()[static_cast<std::size_t>(p)]);
  }

  /// The global extent of a label.
  template <Axis A>
  [[nodiscard]] std::int64_t extent(A) const {
    return extents_[static_cast<std::size_t>(position_in<A, axes>)];
  }

  [[nodiscard]] std::array<std::int64_t, axes::size> const& extents() const { return extents_; }

  /// The extents of the labels and the sizes of the mesh axes, by name.
  [[nodiscard]] auto sizes() const { return sizes(axes{}, mesh_axes{}); }

  [[nodiscard]] TensorType const& tensor() const { return tensor_; }

  /// For a block: the origins of its extents.
  [[nodiscard]] auto origins() const {
    detail::extent_origins<axes::size> origins{};
    for (int p = TensorType::rank - 1; p >= 0; --p)
      origins[static_cast<std::size_t>(along()[p])] = tensor_.origins()[static_cast<std::size_t>(p)];
    return origins;
  }

  /// The tensor's label.
  [[nodiscard]] std::string label() const { return tensor_.label(); }

  [[nodiscard]] std::shared_ptr<engine::device_mesh const> const& mesh_handle() const { return tensor_.mesh_handle(); }

  /// The operand as the engine reads it: the tensor's block, and the label of each of its dimensions.
  [[nodiscard]] engine::operand_source<value_type> source() const {
    engine::operand_source<value_type> s{tensor_.local().data(), along(), {}};
    for (int p = 0; p < TensorType::rank; ++p) s.whole.at[s.whole.rank++] = tensor_.range(p);
    return s;
  }

 private:
  static int const* along() {
    static constexpr int positions[] = {position_in<Labels, axes>..., 0};  // one more, because there may be no axes
    return positions;
  }

  template <class... As, class... Ms>
  [[nodiscard]] ostraka::sizes<As..., Ms...> sizes(type_list<As...>, type_list<Ms...>) const {
    [[maybe_unused]] auto const of_tensor = tensor_.sizes();
    return {named_extent<As>(As{}, extent(As{}))..., named_extent<Ms>(Ms{}, of_tensor.template of<Ms>())...};
  }

  TensorType tensor_;
  std::array<std::int64_t, axes::size> extents_{};
};

/// True for an operand of an einsum: a tensor, or a relabelled one.
template <class T>
inline constexpr bool is_operand = is_tensor<T>;
template <class TensorType, class... Labels>
inline constexpr bool is_operand<relabelled<TensorType, Labels...>> = true;

/// An operand of an einsum: a tensor, or a relabelled one.
template <class T>
concept Operand = is_operand<T>;

}  // namespace ostraka
