// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Takes the DLPack tensor that a program passes on this device, in either version of the struct, with its
/// owner, and checks that it can be the block of a tensor. Each device sees only its own DLPack tensor, so all devices
/// exchange errors before one throws.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <ostraka/engine/dlpack/dlpack_codes.hpp>
#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>
#include <ostraka/types/support/reason.hpp>

namespace ostraka::engine {

/// A DLPack tensor that the program passes, or none.
struct dlpack_given {
  memory_owner owner;
  bool is_given = false;  ///< false for a null pointer, and if the producer refuses
  std::string refusal;    ///< the producer's error text
  std::uint32_t major = 1, minor = 0;
  bool read_only = false;
  void* first = nullptr;  ///< the first element; null without elements
  int device_type = 0, device_id = 0;
  dlpack_element element;
  std::int64_t rank = 0;
  bool has_shape = true;
  strided layout;  ///< up to a tensor's largest rank
};

/// The properties that a DLPack tensor must have as the block of a tensor.
struct dlpack_demand {
  dlpack_element element;
  std::size_t alignment = 1;
  int rank = 0;
  bool writes = true;
  dlpack_memory memory;
  int device_id = 0;
};

/// A DLPack struct from version 1 on, from any header.
template <class Managed>
concept VersionedDlpack = requires(Managed* m) {
  m->version.major;
  m->flags;
  m->manager_ctx;
  m->deleter(m);
  m->dl_tensor.byte_offset;
};

/// A DLPack struct of either version.
template <class Managed>
concept ManagedDlpack = VersionedDlpack<Managed> || requires(Managed* m) {
  m->manager_ctx;
  m->deleter(m);
  m->dl_tensor.byte_offset;
};

namespace detail {

// Describes the layout. A tensor without strides is row-major.
inline void describe_dlpack_layout(dlpack_given& given, std::int64_t const* shape, std::int64_t const* strides) {
  given.has_shape = given.rank == 0 || shape != nullptr;
  if (!given.has_shape || given.rank < 0 || given.rank > max_rank) return;
  given.layout.rank = static_cast<int>(given.rank);
  for (int d = 0; d < given.layout.rank; ++d) given.layout.extent[d] = shape[d];
  given.layout.close_gaps();
  if (strides != nullptr)
    for (int d = 0; d < given.layout.rank; ++d) given.layout.stride[d] = strides[d];
}

template <class Managed>
void release_dlpack(void* managed) {
  auto* const it = static_cast<Managed*>(managed);
  if (it->deleter != nullptr) it->deleter(it);
}

}  // namespace detail

/// Takes a DLPack tensor. Its deleter is called when the result, or the view that gets its owner, is destroyed.
template <ManagedDlpack Managed>
[[gnu::cold]] dlpack_given take_dlpack(Managed* managed) {
  dlpack_given given;
  if (managed == nullptr) return given;
  given.owner = memory_owner(managed, &detail::release_dlpack<Managed>);
  given.is_given = true;
  if constexpr (VersionedDlpack<Managed>) {
    given.major = managed->version.major;
    given.minor = managed->version.minor;
    if (given.major != 1) return given;  // only the deleter has a known position
    given.read_only = (managed->flags & dlpack::read_only_flag) != 0;
  }
  auto const& t = managed->dl_tensor;
  given.device_type = static_cast<int>(t.device.device_type);
  given.device_id = t.device.device_id;
  given.element = {t.dtype.code, t.dtype.bits, t.dtype.lanes};
  given.rank = t.ndim;
  if (t.data != nullptr) given.first = static_cast<std::byte*>(t.data) + t.byte_offset;
  detail::describe_dlpack_layout(given, t.shape, t.strides);
  return given;
}

/// Takes the DLPack tensor of an argument of type `Given`; dlpack/python_capsule.hpp adds Python objects.
template <class Given>
struct dlpack_source {
  static constexpr bool is_one = false;
};

template <ManagedDlpack Managed>
struct dlpack_source<Managed*> {
  static constexpr bool is_one = true;
  static dlpack_given take(Managed* managed) { return take_dlpack(managed); }
};

template <ManagedDlpack Managed, class Deleter>
struct dlpack_source<std::unique_ptr<Managed, Deleter>> {
  static constexpr bool is_one = true;
  static dlpack_given take(std::unique_ptr<Managed, Deleter>&& managed) { return take_dlpack(managed.release()); }
};

template <>
struct dlpack_source<std::nullptr_t> {
  static constexpr bool is_one = true;
  static dlpack_given take(std::nullptr_t) { return {}; }
};

namespace detail {

inline bool has_no_elements(strided const& b) {
  for (int d = 0; d < b.rank; ++d)
    if (b.extent[d] == 0) return true;
  return false;
}

inline bool is_malformed(dlpack_given const& given) {
  if (!given.has_shape) return true;
  for (int d = 0; d < given.layout.rank; ++d)
    if (given.layout.extent[d] < 0) return true;
  return given.first == nullptr && !has_no_elements(given.layout);
}

// Returns the rule that a DLPack tensor breaks, in the order of checks up to the device, and the rest of the error
// sentence; empty if it breaks none.
[[gnu::cold]] inline std::pair<std::string, std::string> broken_rule(dlpack_given const& given,
                                                                     dlpack_demand const& wanted) {
  if (!given.refusal.empty())
    return {"a producer gives its array by __dlpack__, but", join_text("'s refuses: ", given.refusal)};
  if (!given.is_given)
    return {"each device gives a DLPack tensor that has not been used before, but",
            " gives none; ask the producer for one for each call"};
  if (given.major != 1)
    return {"DLPack's major version is 1, but that of",
            join_text(" is ", given.major, "; ask its producer for version 1")};
  if (!wanted.memory.adopts(given.device_type))
    return {join_text("the elements are in memory of the tensor's kind, ",
                      dlpack_device_in_words(wanted.memory.exported), ", but those of"),
            join_text(" are in memory of another, ", dlpack_device_in_words(given.device_type),
                      "; let the producer copy them there")};
  if (has_dlpack_device_id(given.device_type) && given.device_id != wanted.device_id)
    return {join_text("the elements are on the GPU that Kokkos computes on, but those of"),
            join_text(" are on GPU ", given.device_id, " and not on GPU ", wanted.device_id,
                      "; let the producer copy them there")};
  if (!(given.element == wanted.element))
    return {
        join_text("the elements are those of the tensor, ", dlpack_element_in_words(wanted.element), ", but those of"),
        join_text(" are ", dlpack_element_in_words(given.element), "; convert them first")};
  if (given.rank != wanted.rank)
    return {join_text("a DLPack tensor has a dimension for each axis, ", wanted.rank, ", but that of"),
            join_text(" has ", given.rank, "; reshape it first")};
  if (is_malformed(given))
    return {"a DLPack tensor has extents that are not negative and a place for its elements, but that of",
            " has not; look at its producer"};
  if (given.read_only && wanted.writes)
    return {"the elements of a tensor may be written, but those of",
            " are read only; name a tensor of constant elements, or copy them with os::copy_from_dlpack"};
  if (!has_no_elements(given.layout) && reinterpret_cast<std::uintptr_t>(given.first) % wanted.alignment != 0)
    return {join_text("elements lie at multiples of ", wanted.alignment, " bytes, but those of"),
            " do not; let the producer copy them"};
  return {};
}

}  // namespace detail

/// Waits until an instance's kernels have written the data that a consumer will read.
template <class Exec>
void wait_for_writes(Exec const& exec) {
  fence(exec);
}

/// Waits until a consumer's kernels, on instances of its own, no longer use a block on a GPU, so that its memory can be
/// reused.
template <class Memory>
void wait_for_consumer() {
  if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible)
    if (Kokkos::is_initialized()) Kokkos::fence();
}

/// @throws ostraka::error, on all devices alike, if a device's argument is not a DLPack tensor that can be the block of
/// a tensor. Does not check extents and strides. Collective over the mesh if other devices are asked. A process outside
/// the mesh may pass nothing.
[[gnu::cold]] inline void require_dlpack(char const* operation, device_mesh const& mesh, dlpack_given const& given,
                                         dlpack_demand const& wanted, bool ask_others) {
  exclusive_use const use = mesh.use(operation);
  bool const is_absent = mesh.absent();
  std::string sentence;
  if (!is_absent || given.is_given || !given.refusal.empty())
    if (auto const [rule, rest] = detail::broken_rule(given, wanted); !rule.empty())
      sentence = is_absent ? join_text(operation, ": ", rule, " this process", rest)
                           : join_text(operation, ": ", rule, " device ", mesh.device(), rest);
  if (ask_others && !is_absent)
    throw_alike(mesh.world(), sentence);
  else if (!sentence.empty())
    throw error(sentence);
}

}  // namespace ostraka::engine
