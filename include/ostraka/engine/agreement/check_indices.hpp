// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Checks that all numbers of an index tensor are among 0 … n−1. If every device holds the same block, each
/// checks it alone. Otherwise the devices agree on the first fault with a message of 8 bytes, so that all throw the
/// same error.
///
///     take: an index is one of 0 … 49 along V, but it is 77 at B = 3, S = 0; …

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/engine/call_check/call_key.hpp>
#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/plan/blocks/box.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

/// Returns the smaller of two places; −1 stands for none.
KOKKOS_INLINE_FUNCTION std::int64_t earlier(std::int64_t a, std::int64_t b) {
  return a < 0 ? b : b < 0 ? a : b < a ? b : a;
}

template <class Index>
struct find_wrong_index {
  Index const* index;
  std::int64_t extent;

  KOKKOS_INLINE_FUNCTION bool wrong(std::int64_t i) const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(index[i])) >= static_cast<std::uint64_t>(extent);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& first) const {
    if (wrong(i)) first = earlier(first, i);
  }
  KOKKOS_INLINE_FUNCTION void init(std::int64_t& first) const { first = -1; }
  KOKKOS_INLINE_FUNCTION void join(std::int64_t& first, std::int64_t const& other) const {
    first = earlier(first, other);
  }
  // Before Kokkos 4 the arguments of join are volatile.
  KOKKOS_INLINE_FUNCTION void join(std::int64_t volatile& first, std::int64_t const volatile& other) const {
    first = earlier(first, other);
  }
};

template <class Exec, class Index>
std::int64_t index_at(Index const* where) {
  Kokkos::View<Index const, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const one(where);
  return static_cast<std::int64_t>(read_on_host(one));
}

inline constexpr std::int64_t none_wrong = std::numeric_limits<std::int64_t>::min();

[[noreturn, gnu::cold]] inline void throw_wrong_index(execution_context const& w, planner::spec const& s,
                                                      std::string_view axis, std::int64_t extent, std::int64_t value,
                                                      std::string const& at) {
  throw_error(w.operation, ": an index is ",
              extent > 0 ? join_text("one of 0 … ", extent - 1, " along ") : "none of the empty axis ", axis,
              ", but it is ", value, s.rank > 0 ? " at " : "", at, "; correct it, or give the axis a larger extent");
}

// Returns "I = 3, J = 0" for an element of a block, or of the tensor that contains the block.
[[gnu::cold]] inline std::string name_place(execution_context const& w, planner::spec const& s,
                                            planner::box const& whole, std::int64_t number) {
  std::string text;
  for (int d = s.rank - 1; d >= 0; number /= whole.at[d].size(), --d)
    text = join_text(w.names.labels[s.label[d]], " = ", number % whole.at[d].size(), text.empty() ? "" : ", ", text);
  return text;
}

// Returns " of the block of X = 1, Y = 0" for a number in the group along these axes.
[[gnu::cold]] inline std::string name_member(device_mesh const& mesh, std::uint32_t axes_bits, std::int64_t number) {
  std::string text;
  for (int a = mesh.axes() - 1; a >= 0; --a) {
    if ((axes_bits >> a & 1u) == 0) continue;
    text = join_text(mesh.name(a), " = ", number % mesh.size(a), text.empty() ? "" : ", ", text);
    number /= mesh.size(a);
  }
  return join_text(" of the block of ", text);
}

}  // namespace detail

/// Returns the place of the first number of a dense block that is not among 0 … extent−1; −1 if all are.
template <class Exec, class Index>
std::int64_t first_wrong_index(Exec const& exec, Index const* index, std::int64_t n, std::int64_t extent) {
  if (!computes()) return -1;
  detail::find_wrong_index<Index> const look{index, extent};
  if constexpr (runs_on_host<Exec>) {
    std::atomic<std::int64_t> first{-1};
    auto const run = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      bool wrong = false;
      for (std::int64_t i = begin; i < end; ++i) wrong |= look.wrong(i);
      if (!wrong) return;
      while (!look.wrong(begin)) ++begin;
      std::int64_t found = first.load();
      while (detail::earlier(found, begin) != found && !first.compare_exchange_weak(found, begin)) {
      }
    };
    for_each_share("ostraka check indices", exec, n, (n + serial_elements - 1) / serial_elements, n, run);
    return first.load();
  } else {
    std::int64_t first = -1;
    if (n > 0)
      Kokkos::parallel_reduce(detail::kernel_name("ostraka check indices"),
                              Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n), look, first);
    return first;
  }
}

/// @throws ostraka::error, the same on all devices, unless every number of the tensor `s` is among 0 … extent−1.
/// `index`: this device's dense block. `differing`: the mesh axes along which blocks differ; the call is collective
/// over them, and sends nothing if there are none. `axis`: the name of the axis with that extent. `of_its_own`: the
/// block belongs to the local view and is not part of a whole; the error then names the device that holds it.
template <class Exec, class Index>
void check_indices(Exec const& exec, execution_context const& w, planner::spec const& s, Index const* index,
                   planner::mesh_set differing, std::string_view axis, std::int64_t extent, bool of_its_own) {
  if (w.mesh->absent()) return;
  planner::box const here = planner::box_of(s, w.here, w.sizes);
  planner::box whole = here;
  for (int d = 0; d < s.rank && !of_its_own; ++d) whole.at[d] = {0, w.sizes.label[s.label[d]]};
  communicator const& group = w.group(differing);
  std::int64_t const common = of_its_own ? -1 : extent;  // the extent of a block may differ between devices
  require_agreement(
      group, [&] { return call_key().add(w.operation).add(axis).add(static_cast<std::uint64_t>(common)); },
      [&] {
        return join_text(w.operation, " of indices along ", axis,
                         common < 0 ? std::string() : join_text(" of ", common));
      });
  std::int64_t const own = first_wrong_index(exec, index, here.size(), extent);
  // Faults are numbered by element, or by device, so that the largest number is the first fault.
  std::int64_t place = -1;
  if (own >= 0) {
    std::int64_t rest = own;
    std::int64_t step = 1;
    place = 0;
    for (int d = s.rank - 1; d >= 0; --d) {
      std::int64_t const n = here.at[d].size();
      place += (rest % n + here.at[d].begin - whole.at[d].begin) * step;
      rest /= n;
      step *= whole.at[d].size();
    }
  }
  std::int64_t first = own < 0 ? detail::none_wrong : of_its_own ? -1 - group.rank() : -1 - place;
  std::int64_t const mine = first;
  bool const alone = group.size() == 1;
  if (!alone) group.find_largest(&first, 1);
  if (first == detail::none_wrong) return;
  std::int64_t reported[3] = {detail::none_wrong, detail::none_wrong, detail::none_wrong};
  if (mine == first) {
    reported[0] = detail::index_at<Exec>(index + own);
    reported[1] = place;
    reported[2] = extent;
  }
  if (!alone) group.find_largest(reported, 3);
  detail::throw_wrong_index(
      w, s, axis, reported[2], reported[0],
      of_its_own ? join_text("element ", reported[1], detail::name_member(*w.mesh, w.bits_of(differing), -1 - first))
                 : detail::name_place(w, s, whole, reported[1]));
}

}  // namespace ostraka::engine
