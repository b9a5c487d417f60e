// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The inputs from which an exchange of halos is planned. A call caches the plans for its last blocks, with
/// all block properties that they depend on, so that a loop does not check or plan anything again.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/context.hpp>
#include <ostraka/engine/call_check/call_key.hpp>
#include <ostraka/engine/call_check/element_name.hpp>
#include <ostraka/engine/moves/halo_plan.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/local_view/halos/ghosted_array.hpp>
#include <ostraka/local_view/halos/halo_options.hpp>
#include <ostraka/local_view/moves_of_blocks.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>
#include <ostraka/types/support/recent_entries.hpp>

namespace ostraka::detail {

/// The requested halos of a block's axes, in their order.
struct halo_asked {
  halo_margins margins[max_rank + 1]{};
  bool is_ring[max_rank + 1]{};
  bool corners = true;
};

[[noreturn, gnu::cold]] inline void throw_halo_too_wide(std::string_view operation, std::string_view axis, int width,
                                                        std::int64_t whole) {
  throw_error(operation, ": a halo is at most as wide as its axis, beyond which there are no neighbours, but ", axis,
              " = ", whole, " is to be padded by ", width, "; choose a smaller width, or a longer axis");
}

/// The exchange for a block with these own extents, of a tensor `s` divided over the mesh axes `moving`. `begins`:
/// where the blocks along each axis begin; null for the block distribution.
inline engine::halo_shape halo_shape_of(engine::execution_context const& w, planner::spec const& s,
                                        planner::mesh_set moving, halo_asked const& asked, std::int64_t const* own,
                                        std::int64_t const* local, extent_origin* origins,
                                        std::int64_t const* const* begins = nullptr) {
  engine::halo_shape shape;
  std::int64_t whole[max_rank + 1]{};
  auto const begins_of = [&](int d) { return begins == nullptr ? nullptr : begins[d]; };
  for (int d = 0; d < s.rank; ++d)
    if (begins_of(d) != nullptr) origins[d] = {};  // the extent of the axis is known without communication
  leave_extents_of_block(w, s, moving, own, origins, whole);
  for (int d = 0; d < s.rank; ++d)
    if (begins_of(d) != nullptr) whole[d] = begins_of(d)[w.sizes.ways(s.over[d])];
  shape.rank = s.rank;
  shape.corners = asked.corners;
  shape.nowhere = w.here.nowhere;
  for (int m = 0; m < w.sizes.mesh_axes; ++m) {
    shape.running[m] = moving.contains(m) ? w.axis[m] : -1;
    shape.ways[m] = w.sizes.mesh[m];
  }
  shape.mesh_axes = w.sizes.mesh_axes;
  for (int d = 0; d < s.rank; ++d) {
    halo_margins const m = asked.margins[d];
    if (m.both() == 0) {
      shape.axis[d].whole = local[d];
      continue;
    }
    if (m.widest() > whole[d]) throw_halo_too_wide(w.operation, w.names.labels[s.label[d]], m.widest(), whole[d]);
    shape.over[d] = s.over[d];
    shape.axis[d] = {whole[d], w.sizes.ways(s.over[d]), m.before, m.behind, asked.is_ring[d], begins_of(d)};
    if (!w.here.nowhere) shape.number[d] = planner::block_number(s.over[d], w.here, w.sizes);
  }
  return shape;
}

// `, I = 8 with 1 more at either end, J = 8 with 2 more before and 1 after, a ring`
[[gnu::cold]] inline std::string describe_halos(engine::halo_shape const& s, planner::naming const& names) {
  std::string text;
  for (int d = 0; d < s.rank; ++d)
    if (planner::padded_axis const& a = s.axis[d]; a.is_padded()) {
      append_text(text, ", ", names.labels[d], " = ", a.whole, " with ", a.before, " more ");
      if (a.before == a.behind)
        append_text(text, "at either end");
      else
        append_text(text, "before and ", a.behind, " behind");
      append_text(text, a.periodic ? ", a ring" : "");
    }
  return join_text(text, s.corners ? "" : ", without corners");
}

/// The types of an exchange for a block without halos along the axes that `Dim` names.
template <class Sharding, class... Dim>
struct halo_types {
  using padded = typename padded_sharding<Sharding, Dim...>::type;
  using lifted = typename lifted_halo<Sharding, Dim...>::type;
  using labels = axes_in<lifted>;
  using mesh = mesh_axes_in<lifted>;
  static constexpr planner::spec spec = spec_of<lifted, labels, mesh>;
  static constexpr planner::mesh_set moving =
      mesh_axes_numbered<mesh>(union_of<typename halo_argument<Dim>::mesh_axes...>{});

  template <class... Options>
  static consteval halo_asked asked() {
    halo_asked a;
    (ask<halo_argument<Dim>, Options...>(a), ...);
    a.corners = !(std::is_same_v<Options, faces_only> || ...);
    return a;
  }

  /// A key for the text of describe().
  template <class T>
  static engine::call_key key_of_call(std::string_view operation, engine::halo_shape const& shape) {
    engine::call_key key;
    key.add(operation).add(static_cast<void const*>(names_of<labels>.data()));
    key.add(static_cast<void const*>(names_of<mesh>.data())).add(static_cast<void const*>(engine::element_name<T>));
    key.add(spec).add(std::uint64_t{shape.corners});
    for (int d = 0; d < shape.rank; ++d)
      key.add(static_cast<std::uint64_t>(shape.axis[d].whole))
          .add(static_cast<std::uint64_t>(shape.axis[d].before) << 1 | std::uint64_t{shape.axis[d].periodic})
          .add(static_cast<std::uint64_t>(shape.axis[d].behind));
    return key;
  }

  /// The text of an exchange, for the comparison of calls.
  template <class T>
  [[gnu::cold]] static std::string describe(char const* operation, engine::halo_shape const& shape) {
    planner::naming names;
    names.labels = names_of<labels>.data();
    names.mesh_axes = names_of<mesh>.data();
    return join_text(operation, ' ', planner::describe(spec, names), ", ", engine::element_name<T>,
                     describe_halos(shape, names));
  }

  template <class One, class... Options>
  static consteval void ask(halo_asked& a) {
    a.margins[position_in<typename One::axis, labels>] = unpadded_axis<typename One::padded>::margins;
    a.is_ring[position_in<typename One::axis, labels>] = (detail::is_ring<typename One::axis, Options> || ...);
  }
};

/// The axes of a padded block with margins from other devices.
inline std::uint32_t waited_for(engine::halo_shape const& s) {
  std::uint32_t bits = 0;
  for (int d = 0; d < s.rank; ++d)
    if (s.axis[d].is_padded() && s.axis[d].ways > 1) bits |= 1u << d;
  return bits;
}

template <class Types>
engine::execution_context halo_context(char const* operation, engine::device_mesh const& mesh) {
  engine::execution_context w =
      engine::make_context(mesh, names_of<typename Types::mesh>.data(), Types::mesh::size, operation);
  w.names.labels = names_of<typename Types::labels>.data();
  w.sizes.labels = Types::labels::size;
  return w;
}

/// The strides of an array with ghost layers, and where the blocks of all devices begin. Empty for a tensor's block,
/// which is row-major and follows the block distribution.
template <class A>
struct strides_of_array {
  explicit strides_of_array(A const&) {}
  [[nodiscard]] bool are_of(A const&) const { return true; }
  [[nodiscard]] static std::int64_t const* const* begins() { return nullptr; }
};
template <class A>
  requires is_ghosted<A>
struct strides_of_array<A> {
  std::int64_t at[static_cast<std::size_t>(A::rank)];
  typename A::begins_type of_blocks;

  explicit strides_of_array(A const& a) : of_blocks(a.begins()) {
    for (int d = 0; d < A::rank; ++d) at[d] = static_cast<std::int64_t>(a.local().stride(static_cast<std::size_t>(d)));
  }
  [[nodiscard]] bool are_of(A const& a) const {
    for (int d = 0; d < A::rank; ++d)
      if (at[d] != static_cast<std::int64_t>(a.local().stride(static_cast<std::size_t>(d)))) return false;
    return of_blocks == a.begins();
  }
  [[nodiscard]] std::int64_t const* const* begins() const { return of_blocks.data(); }
};

/// The properties of a block on which its exchange depends.
template <class A>
struct halo_call {
  typename A::extents_type extents;
  extent_origins<A::rank> origins{};
  std::array<std::int64_t, static_cast<std::size_t>(A::rank)> local;  ///< extents of the view
  [[no_unique_address]] strides_of_array<A> strides;

  explicit halo_call(A const& a) : extents(a.extents()), strides(a) {
    if constexpr (varying_in<A>::size > 0) origins = a.origins();
    for (std::size_t d = 0; d < local.size(); ++d) local[d] = static_cast<std::int64_t>(a.local().extent(d));
  }

  [[nodiscard]] bool is_of(A const& a) const {
    if (extents != a.extents()) return false;
    for (std::size_t d = 0; d < local.size(); ++d)
      if (local[d] != static_cast<std::int64_t>(a.local().extent(d))) return false;
    if (!strides.are_of(a)) return false;
    if constexpr (varying_in<A>::size > 0)
      return origins == a.origins();
    else
      return true;
  }

  /// True if this device knows the lengths of all axes. If not, devices exchange them in each call.
  [[nodiscard]] bool knows_all_lengths() const {
    for (std::size_t d = 0; d < origins.size(); ++d) {
      bool const is_agreed = strides.begins() != nullptr && strides.begins()[d] != nullptr;
      if (origins[d].whole == extent_origin::of_its_own && !is_agreed) return false;
    }
    return true;
  }
};

/// The moves of an exchange of the halos `Dim`, or of its transpose. `a`: the block with or without these halos.
template <class Own, class... Dim, class... Options, class A>
moves_of_call moves_of_halos(char const* operation, A const& a, type_list<Options...>) {
  using types = halo_types<Own, Dim...>;
  constexpr bool is_padded = !std::is_same_v<Own, sharding_in<A>>;
  static constexpr halo_asked asked = types::template asked<Options...>();
  halo_call<A> own(a);
  for (std::size_t d = 0; d < own.extents.size(); ++d) {
    extent_origin& o = own.origins[d];
    int const more = is_padded ? asked.margins[d].both() : 0;
    own.extents[d] -= more;
    own.local[d] -= more;
    o = o.whole == extent_origin::of_its_own ? extent_origin{} : o.padded_by(-more);  // others count as this device
  }
  engine::execution_context const w = halo_context<types>(operation, *common_mesh(operation, a));
  engine::halo_shape shape = halo_shape_of(w, types::spec, types::moving, asked, own.extents.data(), own.local.data(),
                                           own.origins.data(), own.strides.begins());
  block_on_devices<A> const blocks(a);
  return blocks.moves([&](auto const& c, auto const& extents) {
    std::int64_t number[max_rank]{};
    for (int d = 0; d < shape.rank; ++d) {
      if (!shape.axis[d].is_padded()) shape.axis[d].whole = extents[static_cast<std::size_t>(d)];
      for (int k = 0; k < shape.over[d].size(); ++k) {
        int const m = shape.over[d][k];
        number[d] = number[d] * shape.ways[m] + c[static_cast<std::size_t>(w.axis[m])];
      }
    }
    return planner::elements_received(shape.axis, number, shape.rank, shape.corners);
  });
}

/// The plans of one call in a program, for the last blocks of type A, and for targets of type `Into` if that is a
/// different type.
template <class A, class... Into>
class halo_calls {
 public:
  /// The plan for these blocks. For new blocks, `shape()` makes the checks and returns the shape to plan.
  template <class Shape>
  engine::halo_plan& of(engine::device_mesh const& mesh, A const& a, Shape const& shape, Into const&... into) {
    bool const zero_copy = !engine::is_gpu_memory<execution_space_type<A>>();
    for (known const& k : known_)
      if (k.mesh == mesh.serial() && k.plan->shape.zero_copy == zero_copy && k.is_of(a, into...)) return *k.plan;
    return remember(mesh, shape(), zero_copy, a, into...);
  }

 private:
  struct known : halo_call<A>, halo_call<Into>... {
    std::uint64_t mesh;
    engine::halo_plan* plan;
    known(A const& a, Into const&... into, std::uint64_t on, engine::halo_plan& planned)
        : halo_call<A>(a), halo_call<Into>(into)..., mesh(on), plan(&planned) {}
    [[nodiscard]] bool is_of(A const& a, Into const&... into) const {
      return halo_call<A>::is_of(a) && (halo_call<Into>::is_of(into) && ...);
    }
  };

  [[gnu::cold, gnu::noinline]] engine::halo_plan& remember(engine::device_mesh const& mesh, engine::halo_shape shape,
                                                           bool zero_copy, A const& a, Into const&... into) {
    shape.zero_copy = zero_copy;
    (take_strides(shape, into), ...);
    if constexpr (sizeof...(Into) == 0) take_strides(shape, a);
    std::int64_t const dropped = plans_.dropped();
    engine::halo_plan& plan = plans_.of(shape);
    if (plans_.dropped() != dropped) known_.clear();
    if (!halo_call<A>(a).knows_all_lengths()) return plan;
    known_.add(known(a, into..., mesh.serial(), plan));
    return plan;
  }

  // Stores the strides of a target. A block that is only read is row-major.
  template <class Padded>
  static void take_strides([[maybe_unused]] engine::halo_shape& shape, [[maybe_unused]] Padded const& target) {
    if constexpr (is_ghosted<Padded>) {
      strides_of_array<Padded> const strides(target);
      shape.is_strided = true;
      for (int d = 0; d < Padded::rank; ++d) shape.stride[d] = strides.at[d];
    }
  }

  engine::halo_plans plans_;
  recent_entries<known, 8> known_;
};

}  // namespace ostraka::detail
