// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The mesh of devices, with its axes as a type. A device's number is its rank in the communicator, first mesh
/// axis major. make_mesh.hpp makes meshes.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/groups/communicator.hpp>
#include <ostraka/engine/machine/exclusive_use.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/plan/typed/to_spec.hpp>
#include <ostraka/types/axes/sizes.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

template <MeshAxis... Ms>
class mesh;

/// The mesh of a tensor, `A.mesh()`, with the mesh axes that the tensor's type names. The mesh itself may have more.
/// Use it to make further tensors on A's mesh.
template <MeshAxis... Ms>
class tensor_mesh {
 public:
  explicit tensor_mesh(std::shared_ptr<engine::device_mesh const> devices) : devices_(std::move(devices)) {}

  /// The number of devices along a mesh axis.
  template <MeshAxis M>
  [[nodiscard]] int size(M) const {
    return devices_->size(number<M>());
  }

  /// True if this process is not one of its devices.
  [[nodiscard]] bool absent() const { return devices_->absent(); }

  /// This device's coordinate along a mesh axis. @throws ostraka::error where the mesh is absent
  template <MeshAxis M>
  [[nodiscard]] int coordinate(M) const {
    return present().coordinate(number<M>());
  }

  /// This device's number. @throws ostraka::error where the mesh is absent
  [[nodiscard]] int device() const { return present().device(); }

  /// The number of devices.
  [[nodiscard]] int devices() const { return devices_->devices(); }

  /// The number of devices on each node. The devices of a node are a block of the mesh, and messages between them are
  /// fast. 1 if the nodes' blocks differ in size.
  [[nodiscard]] int devices_per_node() const { return devices_->devices_per_node(); }

  /// The number of consecutive devices along a mesh axis that are on one node. An axis of 8 with 4 of them within a
  /// node is a slow axis of 2, the major part of its coordinate, times a fast one of 4.
  template <MeshAxis M>
  [[nodiscard]] int within_node(M) const {
    return devices_->within_node(number<M>());
  }

  /// The sizes of all mesh axes by name, as arguments to the functions of a plan.
  [[nodiscard]] ostraka::sizes<Ms...> sizes() const { return {named_extent<Ms>(Ms{}, size(Ms{}))...}; }

  /// The MPI communicator of the mesh's devices, ranked by their numbers; or of the devices that differ from this one
  /// along only the given mesh axes, ranked by their coordinates: `MPI_Bcast(…, mesh.communicator(X))`. It belongs to
  /// the program: no message of an operation travels on it. It lives as long as the mesh or a tensor on it.
  /// MPI_COMM_NULL if the mesh is absent. Collective over these devices the first time.
  template <MeshAxis... Along>
  [[nodiscard]] engine::native_communicator communicator(Along...) const {
    std::uint32_t const all = (std::uint32_t{1} << devices_->axes()) - 1;
    std::uint32_t const along = (std::uint32_t{0} | ... | (std::uint32_t{1} << number<Along>()));
    return communicator_over(sizeof...(Along) == 0 ? all : along);
  }

  /// The mesh as the engine knows it.
  [[nodiscard]] std::shared_ptr<engine::device_mesh const> const& handle() const { return devices_; }

 private:
  [[nodiscard]] engine::device_mesh const& present() const {
    if (devices_->absent())
      throw_error(
          "mesh: this process is none of the mesh's devices, so it has no number and no coordinates on it; ask "
          "mesh.absent() first");
    return *devices_;
  }

  [[nodiscard]] engine::native_communicator communicator_over(std::uint32_t axes) const {
    if (devices_->absent()) return engine::no_communicator();
    engine::require_devices(*devices_, "mesh.communicator");
    engine::exclusive_use const use = devices_->use("mesh.communicator");
    return devices_
        ->group_of_program(axes,
                           [](engine::communicator const& ours) {
                             engine::require_agreement(ours, [] { return std::string("mesh.communicator"); });
                           })
        .native();
  }

  // The number of a mesh axis among all axes of the mesh.
  template <class M>
  [[nodiscard]] int number() const {
    if constexpr (!is_one_of<M, Ms...>) {
      reason::raise<reason::unknown_mesh_axis<M, mesh<Ms...>>>();
      return 0;
    } else {
      return devices_->find(M::name);
    }
  }

  std::shared_ptr<engine::device_mesh const> devices_;
};

/// A mesh with these axes. Copies are shallow. On a process that is not one of its devices the mesh is absent: it knows
/// its axes and sizes, its tensors have no elements there, and operations on them do nothing, so that all processes can
/// run the same program.
template <MeshAxis... Ms>
class mesh : public tensor_mesh<Ms...> {
 public:
  using tensor_mesh<Ms...>::tensor_mesh;
};

}  // namespace ostraka
