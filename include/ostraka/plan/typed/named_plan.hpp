// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A plan that remembers the names of its axes, so that it can be queried and printed by name.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/plan/search/replan.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/plan/spec/plan.hpp>
#include <ostraka/plan/typed/to_spec.hpp>
#include <ostraka/plan/workspace/fitting.hpp>
#include <ostraka/plan/workspace/memory_use.hpp>

namespace ostraka {

namespace detail {

/// The names of the labels and mesh axes in specs.
template <class Labels, class Mesh, int ElementBytes = 0>
inline constexpr planner::naming naming_of{names_of<Labels>.data(), names_of<Mesh>.data(), ElementBytes};

}  // namespace detail

/// The passes by which an operation keeps within a limit of workspace: `plan.within(1 << 20, I = 4096)` shows the
/// effect of os::within(1 << 20).
struct passes_within {
  bool fits = false;           ///< true if some number of passes keeps within the limit
  std::int64_t count = 1;      ///< the number of passes
  std::string_view label{};    ///< the label of which each pass takes a part; empty if there is a single pass
  std::int64_t workspace = 0;  ///< in bytes; the least possible if nothing fits
};

/// The plan of an operation with labels `Labels` and mesh axes `Mesh` (type lists), on elements of `ElementBytes`
/// bytes. Queries take named extents, os::sizes, tensors and meshes in any mixture; static extents may be left out.
template <class Labels, class Mesh, int ElementBytes>
struct named_plan : planner::einsum_plan {
  /// Bytes moved per device: all devices' bytes over the number of devices, rounded up.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t bytes(Given const&... given) const {
    auto const e = extents_of(given...);
    return planner::bytes_per_device(this->elements_moved(e), ElementBytes, e);
  }

  /// The bytes per device that steps of one kind move: `plan.bytes_of(os::step::all_gather, X = 2)`.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t bytes_of(step kind, Given const&... given) const {
    auto const e = extents_of(given...);
    std::int64_t elements = 0;
    for (planner::planned_step const& s : this->steps) elements += s.kind == kind ? planner::elements_moved(s, e) : 0;
    return planner::bytes_per_device(elements, ElementBytes, e);
  }

  /// Bytes moved by all devices together; exact, also for uneven blocks. If the arguments include a mesh axis that the
  /// plan does not name (mesh.sizes() includes all), the devices along it repeat the work, and all of them count.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t total_bytes(Given const&... given) const {
    return this->elements_moved(extents_of(given...)) * ElementBytes * side_by_side(collect_sizes(given...));
  }

  /// The number of multiplications and additions on the device with the largest blocks.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t flops(Given const&... given) const {
    return einsum_plan::flops(extents_of(given...));
  }

  /// The most bytes that the device with the largest blocks holds at once beyond operands and result.
  template <class... Given>
  [[nodiscard]] constexpr std::int64_t workspace(Given const&... given) const {
    return planner::peak_workspace(*this, extents_of(given...)) * ElementBytes;
  }

  /// The plan under os::within(limit): this plan, or another one that takes less workspace if this plan does not fit in
  /// any number of passes.
  template <class... Given>
  [[nodiscard]] constexpr named_plan fitting(std::int64_t limit, Given const&... given) const {
    return {planner::fit_plan(*this, extents_of(given...), {limit / ElementBytes}).plan};
  }

  /// The plan under os::for_these_sizes: the plan of the same operation for these sizes.
  template <class... Given>
  [[nodiscard]] constexpr named_plan for_sizes(Given const&... given) const {
    return {planner::replan(*this, this->rule, extents_of(given...))};
  }

  /// The passes in which the plan under os::within(limit) keeps within `limit` bytes.
  template <class... Given>
  [[nodiscard]] constexpr passes_within within(std::int64_t limit, Given const&... given) const {
    planner::pass_choice const c = planner::fit_plan(*this, extents_of(given...), {limit / ElementBytes}).passes;
    std::string_view const label =
        c.first.label < 0 ? std::string_view() : detail::names_of<Labels>[static_cast<std::size_t>(c.first.label)];
    return {c.fits, c.first.parts, label, c.workspace * ElementBytes};
  }

  /// For the library: the given extents in the form that plans use.
  template <class... Given>
  [[nodiscard]] static constexpr planner::extents extents_of(Given const&... given) {
    return detail::extents_from(Labels{}, Mesh{}, collect_sizes(given...));
  }

 private:
  template <class... Named>
  static constexpr std::int64_t side_by_side(ostraka::sizes<Named...> const& given) {
    std::int64_t n = 1;
    ((n *= MeshAxis<Named> && position_in<Named, Mesh> < 0 ? given.template of<Named>() : 1), ...);
    return n;
  }
};

/// A plan that is known from types, `Source::plan`. It has that value, and its numbers are constants even if the object
/// is not, like the size of a std::array: static_assert(p.communications() == 1) holds for `auto const p = os::plan<I,
/// K>(a, b)` even if `a` and `b` are references, which give no constant before C++23.
template <class Source>
struct constant_plan : std::remove_cvref_t<decltype(Source::plan)> {
  [[nodiscard]] static constexpr int count(step kind) { return Source::plan.count(kind); }
  [[nodiscard]] static constexpr int communications() { return Source::plan.communications(); }
  template <class... Given>
  [[nodiscard]] static constexpr std::int64_t bytes(Given const&... given) {
    return Source::plan.bytes(given...);
  }
  template <class... Given>
  [[nodiscard]] static constexpr std::int64_t bytes_of(step kind, Given const&... given) {
    return Source::plan.bytes_of(kind, given...);
  }
  template <class... Given>
  [[nodiscard]] static constexpr std::int64_t total_bytes(Given const&... given) {
    return Source::plan.total_bytes(given...);
  }
  template <class... Given>
  [[nodiscard]] static constexpr std::int64_t flops(Given const&... given) {
    return Source::plan.flops(given...);
  }
  template <class... Given>
  [[nodiscard]] static constexpr std::int64_t workspace(Given const&... given) {
    return Source::plan.workspace(given...);
  }
  template <class... Given>
  [[nodiscard]] static constexpr passes_within within(std::int64_t limit, Given const&... given) {
    return Source::plan.within(limit, given...);
  }
};

namespace detail {

template <class Given>
concept labelled_operand = requires(Given const& g) {
  typename Given::sharding_type;
  { g.label() } -> std::convertible_to<std::string>;
};

template <class Names, class Among>
inline constexpr bool all_among = false;
template <class... Names, class Among>
inline constexpr bool all_among<type_list<Names...>, Among> = ((position_in<Names, Among> >= 0) && ...);

// The labels of the tensors that are given as a plan's operands and, after them, its result.
template <class Labels, class Mesh>
struct given_labels {
  std::string label[planner::max_operands + 1];
  std::string_view view[planner::max_operands + 1];
  int count = 0;

  template <class Given>
  [[gnu::cold]] void take([[maybe_unused]] planner::einsum_plan const& plan, [[maybe_unused]] Given const& given) {
    if constexpr (labelled_operand<Given>) {
      int const k = count++;
      if constexpr (all_among<axes_in<Given>, Labels> && all_among<mesh_axes_in<Given>, Mesh>) {
        if (k > plan.operands.size()) return;
        if (spec_of<Given, Labels, Mesh> == (k < plan.operands.size() ? plan.operands[k] : plan.result))
          label[k] = given.label();
        view[k] = label[k];
      }
    }
  }
};

}  // namespace detail

/// The plan in the literature's notation, with the bytes per device that each step moves for the given extents; without
/// any, for the extents that the plan was made for. Tensors given in the order of the operands, possibly followed by
/// the result, appear under their labels: `C[I_X, K] = T[I_X, J] · V[J, K]`.
template <class Labels, class Mesh, int ElementBytes, class... Given>
[[nodiscard, gnu::cold]] std::string describe(named_plan<Labels, Mesh, ElementBytes> const& plan,
                                              Given const&... given) {
  planner::naming n = detail::naming_of<Labels, Mesh, ElementBytes>;
  if constexpr ((detail::labelled_operand<Given> || ...)) {
    detail::given_labels<Labels, Mesh> labels;
    (labels.take(plan, given), ...);
    n.tensors = labels.view;
    return planner::describe(plan, n, plan.extents_of(given...));
  } else if constexpr (sizeof...(Given) == 0) {
    return planner::describe(plan, n, plan.sizes);
  } else {
    return planner::describe(plan, n, plan.extents_of(given...));
  }
}

}  // namespace ostraka
