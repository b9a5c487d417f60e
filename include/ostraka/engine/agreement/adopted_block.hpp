// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Checks the extents and the layout of a block that the program passes. Each device sees only its own block,
/// so the devices agree before one of them throws. A list has rank −1, and its only extent is the number of its
/// elements.

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/memory/misaligned.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The layout demanded of a block that the program passes: row-major without gaps to adopt it, any to read it, a place
/// for each element (unique) to write it. A block with ghost layers must also have no negative stride; `with_ghosts_at`
/// if its device has said where the block begins.
enum class demand { row_major, any, unique, with_ghosts, with_ghosts_at };

namespace detail {

inline constexpr bool has_ghosts(demand how) { return how >= demand::with_ghosts; }

// True if two elements in a plane of two dimensions share a place. With strides s and t and their greatest common
// divisor g, t/g steps along the first dimension lead to the same place as s/g steps along the second.
[[gnu::cold]] inline bool has_shared_place(strided const& b) {
  for (int d = 0; d < b.rank; ++d)
    for (int e = 0; e < d; ++e) {
      std::int64_t const s = std::abs(b.stride[d]), t = std::abs(b.stride[e]), g = std::gcd(s, t);
      if (g > 0 && t / g < b.extent[d] && s / g < b.extent[e]) return true;
    }
  return false;
}

inline constexpr char elements_share_a_place[] =
    "elements that share one; give it no stride of 0, and none that is too short for its extents";

inline bool has_elements(std::int64_t const* extents, int rank) {
  for (int d = 0; d < rank; ++d)
    if (extents[d] == 0) return false;
  return true;
}

// True if each element has a place of its own.
inline bool is_unique(strided const& b) {
  if (!has_elements(b.extent, b.rank)) return true;
  for (int d = 0; d < b.rank; ++d)
    if (b.extent[d] > 1 && b.stride[d] == 0) return false;
  return b.rank < 2 || b.is_row_major() || !has_shared_place(b);
}

inline bool has_no_negative_stride(strided const& b) {
  for (int d = 0; d < b.rank; ++d)
    if (b.extent[d] > 1 && b.stride[d] < 0) return false;
  return true;
}

// Larger than any alignment. One number holds a device and the alignment that its array lacks: device · alignments +
// alignment.
inline constexpr std::int64_t alignments = 4096;

inline bool meets_demand(strided const& b, demand how) {
  if (how == demand::row_major) return b.is_row_major();
  return how == demand::any || (is_unique(b) && (how == demand::unique || has_no_negative_stride(b)));
}

// Returns a dimension whose extent is not the wanted one; −1 if all are right.
inline int wrong_dimension(strided const& b, std::int64_t const* wanted, int rank) {
  std::int64_t elements = 1;
  for (int d = 0; d < rank; ++d) elements *= wanted[d];
  if (b.rank < 0) return b.extent[0] == elements ? -1 : 0;
  for (int d = rank - 1; d >= 0; --d)
    if (b.extent[d] != wanted[d]) return d;
  return -1;
}

// Returns the elements along a dimension, or for a list all elements.
inline std::int64_t elements_along(strided const& b, std::int64_t const* of, int rank, int dimension) {
  if (b.rank >= 0) return of[dimension];
  std::int64_t elements = 1;
  for (int d = 0; d < rank; ++d) elements *= of[d];
  return elements;
}

// Returns "4 elements along dimension 1", for a list "4 elements".
[[gnu::cold]] inline std::string elements_in_words(std::int64_t elements, int dimension) {
  return dimension < 0 ? join_text(elements, " elements")
                       : join_text(elements, " elements along dimension ", dimension);
}

[[gnu::cold]] inline std::string elements_in_words(strided const& b, std::int64_t const* of, int rank, int dimension) {
  return elements_in_words(elements_along(b, of, rank, dimension), b.rank < 0 ? -1 : dimension);
}

// Throws the error about the block of device `first`. It names the extent of the device's block and that of the view,
// which this device reports to all others. Collective over the mesh if others are asked.
[[noreturn, gnu::cold]] inline void refuse_block(std::string const& operation, device_mesh const& mesh, demand how,
                                                 std::int64_t first, strided const& b, std::int64_t const* wanted,
                                                 int rank, int wrong, bool ask_others) {
  constexpr std::int64_t nothing = -1;
  std::int64_t reported[3] = {nothing, nothing,
                              nothing};  // the extent it holds, the extent it gave, in which dimension
  if (mesh.device() == first) {
    reported[0] = elements_along(b, wanted, rank, wrong);
    reported[1] = b.extent[wrong];
    if (b.rank >= 0) reported[2] = wrong;
  }
  if (ask_others) mesh.world().find_largest(reported, 3);
  throw_error(
      operation, ": each view has the extents of its device's block", has_ghosts(how) ? " with its ghost layers" : "",
      ", but that of device ", first, " has not; device ", first, " holds ",
      elements_in_words(reported[0], static_cast<int>(reported[2])), " and its view has ", reported[1],
      how == demand::with_ghosts_at ? "; a device holds what lies between its os::at and that of the next one"
                                    : "; device d of p holds [floor(d*n/p), floor((d+1)*n/p)) of an extent n",
      how == demand::with_ghosts && operation == "from_local" ? ", or what os::at(I = begin) before the view says"
                                                              : "");
}

}  // namespace detail

/// Returns why an array cannot take a block of these extents; empty if it can. `misaligned`: the alignment that its
/// elements lack, or 0.
inline std::string fault_of_block(strided const& b, std::int64_t const* wanted, int rank, std::int64_t misaligned) {
  int const wrong = detail::wrong_dimension(b, wanted, rank);
  if (wrong >= 0)
    return join_text("an array that is written has the extents of its device's block, which holds ",
                     detail::elements_in_words(b, wanted, rank, wrong), ", and the array has ", b.extent[wrong]);
  if (!detail::is_unique(b))
    return join_text("each element of what is written has a place of its own, but the array has ",
                     detail::elements_share_a_place);
  if (misaligned != 0 && detail::has_elements(wanted, rank)) return misaligned_in_words(misaligned, "the array");
  return {};
}

/// @throws ostraka::error, on all devices alike, if a block does not have the `wanted` extents of its device, or not
/// the demanded layout, or lacks the alignment `misaligned` (0: none). Collective over the mesh. If others are not
/// asked, nothing is sent, and only this device throws.
inline void require_block(std::string const& operation, demand how, device_mesh const& mesh, strided const& b,
                          std::int64_t const* wanted, int rank, std::int64_t misaligned, bool ask_others) {
  exclusive_use const use = mesh.use(operation.c_str());
  int const wrong = detail::wrong_dimension(b, wanted, rank);
  if (mesh.absent()) {
    if (wrong >= 0 && rank > 0)
      throw_error(operation, ": this process is none of the mesh's devices and holds no block, but its view has ",
                  detail::elements_in_words(b, b.extent, b.rank < 0 ? 1 : rank, wrong),
                  "; give an empty view where mesh.absent()");
    return;
  }
  bool const lies_well = detail::meets_demand(b, how);
  if (!lies_well || !detail::has_elements(wanted, rank)) misaligned = 0;
  std::int64_t const here = mesh.devices() - mesh.device();  // largest for the first device
  std::int64_t first_wrong[2] = {wrong < 0 ? 0 : here,
                                 lies_well && misaligned == 0 ? 0 : here * detail::alignments + misaligned};
  if (ask_others) mesh.world().find_largest(first_wrong, 2);
  if (first_wrong[0] > 0)
    detail::refuse_block(operation, mesh, how, mesh.devices() - first_wrong[0], b, wanted, rank, wrong, ask_others);
  if (first_wrong[1] > 0) {
    std::string const whose = join_text("the view of device ", mesh.devices() - first_wrong[1] / detail::alignments);
    if (std::int64_t const alignment = first_wrong[1] % detail::alignments; alignment != 0)
      throw_error(operation, ": ", misaligned_in_words(alignment, whose));
    if (detail::has_ghosts(how))
      throw_error(operation, ": each element has a place of its own, further on than the one before it, but ", whose,
                  " has a stride of 0, or a negative one, or one too short for its extents; give one with positive "
                  "strides that are long enough");
    throw error(
        how == demand::row_major
            ? join_text(operation, ": a block lies row-major without gaps, but ", whose,
                        " is a part of a larger one, padded, or in another order; copy it with os::copy_", operation,
                        ", or adopt what lies in another order as a tensor of the axes in that order, with "
                        "os::in_order<…>(view)")
            : join_text(operation, ": each element of what is written has a place of its own, but ", whose,
                        " has ", detail::elements_share_a_place));
  }
}

}  // namespace ostraka::engine
