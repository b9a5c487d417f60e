// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A tensor without its names: the part that all shardings of a rank share.

#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/engine/memory/kept_blocks.hpp>
#include <ostraka/engine/memory/shared_value.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/spmd/ended.hpp>
#include <ostraka/tensors/block_extents.hpp>

namespace ostraka::detail {

template <class T, int Rank>
struct add_pointers : add_pointers<T*, Rank - 1> {};

template <class T>
struct add_pointers<T, 0> {
  using type = T;
};

// The label of the views that operations make.
inline constexpr auto& label_of_ours = engine::label_of_blocks;

// A tensor without its names. It is compiled once for all shardings of a rank.
template <class T, int Rank, class Space>
class unnamed_tensor {
 public:
  /// This device's block: row-major, one dimension per axis, in the order of the axes.
  using view_type = Kokkos::View<typename add_pointers<T, Rank>::type, Kokkos::LayoutRight, Space>;
  using extents_type = std::array<std::int64_t, static_cast<std::size_t>(Rank)>;  ///< one extent per axis

  unnamed_tensor() = default;
  unnamed_tensor(std::shared_ptr<engine::device_mesh const> mesh, extents_type const& extents, view_type local)
      : mesh_(std::move(mesh)), extents_(extents) {
    engine::exchange_views(local_, local);
  }

  // Not inlined: few places of the engine change reference counts, but every operation of a program does. A move
  // changes none, although Kokkos 3 counts the views that it moves.
  [[gnu::noinline]] unnamed_tensor(unnamed_tensor const& other)
      : mesh_(other.mesh_), extents_(other.extents_), local_(other.local_), label_(other.label_) {}
  unnamed_tensor(unnamed_tensor&& other) noexcept { exchange(other); }
  [[gnu::noinline]] unnamed_tensor& operator=(unnamed_tensor const& other) {
    if (this == &other) return *this;  // Kokkos 3.4 would free the block
    engine::leak_view(local_);
    mesh_ = other.mesh_;
    extents_ = other.extents_;
    local_ = other.local_;
    label_ = other.label_;
    return *this;
  }
  unnamed_tensor& operator=(unnamed_tensor&& other) noexcept {
    if (this == &other) return *this;
    if (mesh_ != nullptr) end();
    exchange(other);
    return *this;
  }
  [[gnu::noinline]] ~unnamed_tensor() { engine::leak_view(local_); }

  /// This device's block; writing to it writes to the tensor.
  [[nodiscard]] view_type const& local() const { return local_; }

  /// The global extents, in the order of the axes.
  [[nodiscard]] extents_type const& extents() const { return extents_; }

  /// The tensor's label in the program: the label of os::named, else that of the Kokkos::View that os::from_local
  /// adopted; empty without either.
  [[nodiscard, gnu::cold]] std::string label() const {
    if (label_) return *label_;
    std::string of_view = local_.label();
    return of_view == label_of_ours ? std::string() : of_view;
  }

  /// Labels this handle; other handles of the block keep their labels. os::named calls it.
  void set_label(std::string label) { label_ = engine::shared_value<std::string const>::make(std::move(label)); }
  /// Gives this handle the label of another one.
  template <class Other>
  void share_label(Other const& other) {
    label_ = other.label_handle();
  }
  /// For the library: the label of set_label.
  [[nodiscard]] engine::shared_value<std::string const> const& label_handle() const { return label_; }

  /// The mesh of the tensor; null for an empty handle.
  [[nodiscard]] std::shared_ptr<engine::device_mesh const> const& mesh_handle() const { return mesh_; }

 private:
  // Takes over the other handle. @pre this one is empty
  void exchange(unnamed_tensor& other) noexcept {
    mesh_.swap(other.mesh_);
    extents_ = other.extents_;
    engine::exchange_views(local_, other.local_);
    label_.swap(other.label_);
  }
  [[gnu::noinline]] void end() noexcept { unnamed_tensor const ended(std::move(*this)); }

  std::shared_ptr<engine::device_mesh const> mesh_;
  extents_type extents_{};
  view_type local_;
  engine::shared_value<std::string const> label_;  // usually none
};

// A block in the body of os::shard_map. It also knows the origins of its extents.
template <class T, int Rank, class Space>
class unnamed_block : public unnamed_tensor<T, Rank, Space> {
 public:
  using unnamed_tensor<T, Rank, Space>::unnamed_tensor;
  unnamed_block() = default;
  unnamed_block(unnamed_tensor<T, Rank, Space> tensor) : unnamed_tensor<T, Rank, Space>(std::move(tensor)) {}

  /// The origins of the extents of its axes, in their order.
  [[nodiscard]] extent_origins<Rank> const& origins() const { return origins_; }
  /// For the library: sets the origins.
  void set_origins(extent_origins<Rank> const& origins) { origins_ = origins; }

 private:
  extent_origins<Rank> origins_{};
};

}  // namespace ostraka::detail
