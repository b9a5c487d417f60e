// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Runs the stages of a transform. Each is a move, and then the transforms of the axes that are whole. A
/// result takes the first memory in this list that is available:
///
///     an existing tensor's     if it is the result of the operation, and os::fft_into or a variant names that tensor
///     the operand's            if that has complex elements and nothing else holds it, or it is workspace
///     workspace                if only the next stage reads it
///     a new block              whose pages the system clears at their first use, if it is large

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/with_axis.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/blocks/transform_block.hpp>
#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/fourier/fourier_layout.hpp>
#include <ostraka/moves/reshard_into.hpp>

namespace ostraka::detail {

/// The extent of the result of a transform of length n.
[[nodiscard]] constexpr std::int64_t extent_of_spectrum(fourier_kind kind, std::int64_t n) {
  return has_half_spectrum(kind) ? n / 2 + 1 : n;
}

/// The memory of an operand of transforms: the program keeps it; or it may take the result if nothing else holds it; or
/// it may take the result in any case.
enum class operand_memory { kept, given_away, workspace };

/// The run of a transform of an A, which has an ok verdict. `n`: the length of the last axis of the call.
template <fourier_kind Kind, class Layout, class A>
struct fourier_run {
  char const* name;
  std::int64_t n;

  static constexpr int stages = Layout::stages.count;

  template <int Stage>
  static auto find_sharding() {
    if constexpr (Stage < stages)
      return std::type_identity<varying_as_one<typename Layout::template rows<Stage>, A>>();
    else
      return std::type_identity<varying_as_one<typename Layout::target, A>>();
  }
  /// The sharding that a stage works on; after the last, that of the result.
  template <int Stage>
  using sharding_of_stage = typename decltype(find_sharding<Stage>())::type;
  template <int Stage>
  using old_axes = typename Layout::template transformed_in<Stage, typename Layout::Is>;
  template <int Stage>
  using new_axes = typename Layout::template transformed_in<Stage, typename Layout::Ks>;
  template <int Stage>
  static constexpr fourier_kind kind = Layout::template has_last<Stage> ? Kind : complex_kind(Kind);
  template <int Stage>
  using element = typename fourier_element<kind<Stage>, typename A::value_type>::type;

  /// True if the transforms of this stage make the result of the operation.
  template <int Stage, class T>
  static constexpr bool is_last =
      Stage + 1 ==
      stages&&
          std::is_same_v<typename with_new_axes<T, old_axes<Stage>, new_axes<Stage>>::type, sharding_of_stage<stages>>;
  /// True if the result of this stage may take its operand's memory.
  template <int Stage, class T>
  static constexpr bool fits = !has_half_spectrum(kind<Stage>) && !has_real_result(kind<Stage>) &&
                               std::is_same_v<element<Stage>, typename T::element_type>;

  /// Runs this stage and the following ones.
  template <int Stage, class How, class T>
  auto from(How const& how, T& a, operand_memory memory) const {
    using next = sharding_of_stage<Stage>;
    using moved_type = basic_tensor<typename T::value_type, next, typename A::space>;
    constexpr bool becomes_result = Stage == stages || (is_last<Stage, next> && fits<Stage, T>);
    if constexpr (std::is_same_v<sharding_in<T>, next>) {
      return from_transform<Stage>(how, a, memory);
    } else if constexpr (is_into<How> && Stage == stages) {
      move(how.target, a);
      return how.target;
    } else if constexpr (is_into<How> && becomes_result) {
      moved_type moved(how.target.mesh_handle(), how.target.extents(), how.target.local());
      move(moved, a);
      return from_transform<Stage>(how, moved, operand_memory::workspace);
    } else if constexpr (becomes_result || reads_same_memory<T, next>) {
      auto moved = operate(ostraka::operation::reshard<next>{}, a);
      release(a);
      return from_transform<Stage>(how, moved, operand_memory::given_away);
    } else {
      workspace_of<typename T::value_type> workspace;
      auto moved = in_workspace<moved_type>(a, workspace);
      move(moved, a);
      release(a);
      return from_transform<Stage>(how, moved, operand_memory::workspace);
    }
  }

 private:
  template <class T>
  using workspace_of = engine::kernel_scratch<T, typename A::space::memory_space>;

  /// True if a reshard to this sharding may return the same block, or if the block has extents of its own.
  template <class T, class To>
  static constexpr bool reads_same_memory = varying_in<T>::size > 0 || reshard_types<T, To>::changes_nothing;

  template <class To, class T>
  static void move(To const& to, T const& a) {
    run_reshard_into<reshard_types<T, sharding_in<To>>>(to, a, policy<planner::admit::any>());
  }

  /// Frees the block of a tensor that no later stage reads, unless it is the operation's operand, which belongs to the
  /// program.
  template <class T>
  static void release(T& a) {
    if constexpr (!std::is_const_v<T>) a = T();
  }

  /// A tensor with the extents of `a` under another sharding, in workspace.
  template <class To, class T>
  To in_workspace(T const& a, workspace_of<typename T::value_type>& workspace) const {
    using labels = axes_in<T>;
    using mesh = union_of<mesh_axes_in<T>, mesh_axes_in<To>>;
    constexpr planner::spec to = spec_of<To, labels, mesh>;
    engine::execution_context const w = context_of<labels, mesh>(name, a);
    typename To::extents_type extents{};
    std::int64_t local[max_rank + 1]{};
    for (int i = 0; i < to.rank; ++i) {
      extents[static_cast<std::size_t>(i)] = w.sizes.label[to.label[i]];
      local[i] = planner::range_of(to, i, w.here, w.sizes).size();
    }
    return To(a.mesh_handle(), extents,
              view_of<typename To::view_type>(workspace, local,
                                              std::make_index_sequence<static_cast<std::size_t>(To::rank)>()));
  }

  template <int Stage, class How, class T>
  auto from_transform(How const& how, T& a, operand_memory memory) const {
    if constexpr (Stage == stages) {
      return a;
    } else {
      workspace_of<element<Stage>> workspace;
      auto result = result_of<Stage>(how, a, memory, workspace);
      transform<Stage>(a, result);
      return from<Stage + 1>(how, result, operand_memory::workspace);
    }
  }

  /// The tensor that the transforms of a stage write.
  template <int Stage, class How, class T>
  auto result_of(How const& how, T const& a, [[maybe_unused]] operand_memory memory,
                 [[maybe_unused]] workspace_of<element<Stage>>& workspace) const {
    using Is = old_axes<Stage>;
    using Ks = new_axes<Stage>;
    using to = typename with_new_axes<sharding_in<T>, Is, Ks>::type;
    auto extents = a.extents();
    if constexpr (kind<Stage> != complex_kind(kind<Stage>)) {
      constexpr int last = position_in<typename type_at<typename Layout::Is, Layout::Is::size - 1>::type, axes_in<T>>;
      extents[static_cast<std::size_t>(last)] = extent_of_spectrum(kind<Stage>, n);
    }
    auto const over = [&](auto const& make) {
      auto result = tensor_with_axes<element<Stage>, Is, Ks>(name, a, extents, make);
      if constexpr (varying_in<T>::size > 0) keep_origins<Stage>(a, result);
      return result;
    };
    if constexpr (is_into<How> && is_last<Stage, sharding_in<T>>) {
      return over([&](auto, std::int64_t const*) { return how.target.local(); });
    } else {
      constexpr bool is_moved = !std::is_same_v<to, sharding_of_stage<Stage + 1>> &&
                                !reshard_types<basic_tensor<element<Stage>, to, typename A::space>,
                                               sharding_of_stage<Stage + 1>>::changes_nothing;
      if constexpr (fits<Stage, T>)
        if ((is_moved && memory == operand_memory::workspace) ||
            (memory == operand_memory::given_away && engine::holders_of(a.local()) == 1))
          return over([&](auto, std::int64_t const*) { return a.local(); });
      if constexpr (is_moved && varying_in<T>::size == 0)
        return over([&]<class View>(std::type_identity<View>, std::int64_t const* local) {
          return view_of<View>(workspace, local, std::make_index_sequence<static_cast<std::size_t>(T::rank)>());
        });
      else
        return over(make_new_block());
    }
  }

  template <class View, class Memory, std::size_t... i>
  static View view_of(Memory& workspace, std::int64_t const* extents, std::index_sequence<i...>) {
    workspace = Memory((extents[i] * ... * std::int64_t{1}));
    return View(workspace.data(), typename View::array_layout(static_cast<std::size_t>(extents[i])...));
  }

  /// An axis takes its extent from the axis that it replaces, unless the call gives one.
  template <int Stage, class T, class R>
  static void keep_origins(T const& a, R& result) {
    using last = typename type_at<typename Layout::Is, Layout::Is::size - 1>::type;
    auto const before = a.origins();
    auto origins = result.origins();
    auto const keep = [&](int axis, bool is_last) {
      auto const at = static_cast<std::size_t>(axis);
      if (is_last && has_real_result(kind<Stage>)) return;
      origins[at] = before[at];
      if (is_last && has_half_spectrum(kind<Stage>) && !before[at].is_alike())
        origins[at] = {extent_origin::of_its_own};
    };
    [&]<class... I>(type_list<I...>) {
      (keep(position_in<I, axes_in<T>>, std::is_same_v<I, last>), ...);
    }(old_axes<Stage>{});
    result.set_origins(origins);
  }

  template <int Stage, class T, class R>
  void transform(T const& a, R const& result) const {
    using labels = axes_in<T>;
    using mesh = mesh_axes_in<T>;
    constexpr auto along = []<class... I>(type_list<I...>) {
      return std::array<int, sizeof...(I)>{position_in<I, labels>...};
    }(old_axes<Stage>{});
    engine::execution_context const w = context_of<labels, mesh>(name, a);
    engine::transform_block<real_of<typename T::value_type>>(execution_space_of<T>(), w, spec_of<T, labels, mesh>,
                                                             along.data(), static_cast<int>(along.size()), kind<Stage>,
                                                             n, elements_of(a), result.local().data());
  }
};

}  // namespace ostraka::detail
