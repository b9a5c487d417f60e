// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The stages of a transform, run: a move, and the transforms of the axes that are whole after it. A result
/// takes the first memory that there is for it:
///
///     an existing tensor's     if it is the whole operation's, and os::fft_into and its like name that tensor
///     the operand's            if that has complex elements and nothing else holds it: a stage's before
///     workspace                if only the next move reads it
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
  /// True if the result of this stage may lie where its operand did.
  template <int Stage, class T>
  static constexpr bool fits = !has_half_spectrum(kind<Stage>) && !has_real_result(kind<Stage>) &&
                               std::is_same_v<element<Stage>, typename T::element_type>;

  /// The stages from this one on. `overwrites`: nothing reads the operand afterwards.
  template <int Stage, class How, class T>
  auto from(How const& how, T& a, bool overwrites) const {
    using next = sharding_of_stage<Stage>;
    if constexpr (std::is_same_v<sharding_in<T>, next>) {
      return from_transform<Stage>(how, a, overwrites);
    } else if constexpr (is_into<How> && Stage == stages) {
      run_reshard_into<reshard_types<T, next>>(how.target, a, policy<planner::admit::any>());
      return how.target;
    } else if constexpr (is_into<How> && is_last<Stage, next> && fits<Stage, T>) {
      basic_tensor<typename T::value_type, next, typename T::space> moved(how.target.mesh_handle(),
                                                                          how.target.extents(), how.target.local());
      run_reshard_into<reshard_types<T, next>>(moved, a, policy<planner::admit::any>());
      return from_transform<Stage>(how, moved, true);
    } else {
      auto moved = operate(ostraka::operation::reshard<next>{}, a);
      if constexpr (!std::is_const_v<T>) a = T();
      return from_transform<Stage>(how, moved, true);
    }
  }

 private:
  template <int Stage, class How, class T>
  auto from_transform(How const& how, T& a, bool overwrites) const {
    if constexpr (Stage == stages) {
      return a;
    } else {
      kernel_memory<Stage> workspace;
      auto result = result_of<Stage>(how, a, overwrites, workspace);
      transform<Stage>(a, result);
      return from<Stage + 1>(how, result, true);
    }
  }

  template <int Stage>
  using kernel_memory = engine::kernel_scratch<element<Stage>, typename A::space::memory_space>;

  /// The tensor that the transforms of a stage write.
  template <int Stage, class How, class T>
  auto result_of(How const& how, T const& a, [[maybe_unused]] bool overwrites,
                 [[maybe_unused]] kernel_memory<Stage>& workspace) const {
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
        if (overwrites && engine::holders_of(a.local()) == 1)
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

  /// An axis has its extent from the one that it replaces, unless it is given.
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
