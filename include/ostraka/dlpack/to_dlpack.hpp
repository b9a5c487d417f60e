// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::to_dlpack(A)` passes this device's block of a tensor to another array library, without a copy, or the
/// device's own part of an array with ghost layers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <ostraka/calls/context.hpp>
#include <ostraka/engine/dlpack/dlpack_codes.hpp>
#include <ostraka/engine/dlpack/dlpack_given.hpp>
#include <ostraka/engine/spmd/ended.hpp>
#include <ostraka/local_view/halos/check_reach.hpp>
#include <ostraka/local_view/halos/ghosted_array.hpp>
#include <ostraka/types/reasons/of_arrays.hpp>

namespace ostraka {

/// Calls the deleter of a DLPack tensor.
struct dlpack_deleter {
  /// Calls the deleter.
  template <engine::ManagedDlpack Managed>
  void operator()(Managed* managed) const {
    engine::detail::release_dlpack<Managed>(managed);
  }
};

/// A DLPack tensor without a consumer yet. `release()` passes it to a consumer, which calls its deleter.
template <class Managed = dlpack::managed_tensor>
using dlpack_pointer = std::unique_ptr<Managed, dlpack_deleter>;

namespace detail {

// A DLPack tensor, with the tensor that owns its block.
template <class Managed, class A>
struct exported_tensor {
  Managed managed{};
  std::int64_t shape[A::rank + 1]{};
  std::int64_t strides[A::rank + 1]{};
  A kept;

  explicit exported_tensor(A const& a) : kept(a) {}
  static void release(Managed* self) {
    engine::wait_for_consumer<typename A::view_type::memory_space>();
    delete static_cast<exported_tensor*>(self->manager_ctx);
  }
};

// Describes this device's block. @pre the kernels that write it have finished
template <class Managed, class A>
dlpack_pointer<Managed> export_block(A const& a) {
  using value = typename A::value_type;
  using memory = typename A::view_type::memory_space;
  constexpr int device_type = engine::dlpack_memory_of<memory>.exported;
  auto* const made = new exported_tensor<Managed, A>(a);
  auto const& block = made->kept.local();
  auto& t = made->managed.dl_tensor;
  engine::strided layout;
  auto* first = const_cast<value*>(block.data());
  for (int d = 0; d < A::rank; ++d) layout.add(static_cast<std::int64_t>(block.extent(static_cast<std::size_t>(d))), 0);
  layout.close_gaps();
  if constexpr (is_ghosted<A>)
    for (int d = 0; d < A::rank; ++d) {
      halo_margins const ghosts = margins_in<A>[static_cast<std::size_t>(d)];
      layout.extent[d] -= ghosts.both();
      layout.stride[d] = static_cast<std::int64_t>(block.stride(static_cast<std::size_t>(d)));
      first += ghosts.before * layout.stride[d];
    }
  for (int d = 0; d < A::rank; ++d) {
    made->shape[d] = layout.extent[d];
    made->strides[d] = layout.stride[d];
  }
  t.data = layout.size() == 0 ? nullptr : first;
  t.device = {static_cast<decltype(t.device.device_type)>(device_type),
              engine::has_dlpack_device_id(device_type) ? engine::dlpack_device_id(execution_space_of<A>()) : 0};
  t.ndim = A::rank;
  t.dtype = {static_cast<std::uint8_t>(engine::dlpack_element_of<value>.code),
             static_cast<std::uint8_t>(engine::dlpack_element_of<value>.bits), 1};
  t.shape = A::rank == 0 ? nullptr : made->shape;
  t.strides = A::rank == 0 ? nullptr : made->strides;
  made->managed.manager_ctx = made;
  made->managed.deleter = &exported_tensor<Managed, A>::release;
  if constexpr (engine::VersionedDlpack<Managed>) {
    made->managed.version = {1, 0};
    made->managed.flags = std::is_const_v<typename A::element_type> ? dlpack::read_only_flag : 0;
  }
  return dlpack_pointer<Managed>(&made->managed);
}

template <class Managed, class A>
consteval auto check_exported() {
  if constexpr (engine::dlpack_memory_of<typename A::view_type::memory_space>.exported == 0)
    return found<reason::memory_without_dlpack<typename A::view_type::memory_space>>{};
  else if constexpr (std::is_const_v<typename A::element_type> && !engine::VersionedDlpack<Managed>)
    return found<reason::dlpack_without_flags<typename A::element_type>>{};
  else
    return found<reason::ok>{};
}

template <class Managed, class A>
using export_verdict = typename decltype(check_exported<Managed, A>())::type;

// A handle of memory that this device holds.
template <class A>
concept HeldBlock = Tensor<A> || is_ghosted<A>;

}  // namespace detail

/// Passes this device's block to another array library: a DLManagedTensorVersioned, or the named struct,
/// `os::to_dlpack<DLManagedTensor>(A)`, with the block's extents, row-major strides, elements and memory. For an
/// os::ghosted_array, passes the part that this device owns, with the array's strides. Never copies: tensor and
/// consumer see each other's writes. The block lives until the deleter is called, on any thread, even if the tensor is
/// destroyed earlier. A tensor of constant elements is marked as read only; for a partial tensor, the block is this
/// device's summand. Waits for the kernels that write the block. Not collective.
/// @throws ostraka::error for an empty handle, and if the os::environment has ended
template <class Managed = dlpack::managed_tensor, detail::HeldBlock A>
[[nodiscard]] dlpack_pointer<Managed> to_dlpack([[maybe_unused]] A const& a) {
  if constexpr (reason::ok_or_raise<detail::export_verdict<Managed, A>>()) {
    engine::require_not_ended("to_dlpack");
    static_cast<void>(detail::common_mesh("to_dlpack", a));
    engine::wait_for_writes(detail::execution_space_of<A>());
    return detail::export_block<Managed>(a);
  } else {
    return nullptr;
  }
}

}  // namespace ostraka
