// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Memory of programs without elements. An abstract tensor holds a block as a tensor does, counted by its
/// handles. So what a tape keeps, and how long, follows from the same rules as in programs that run. Allocations and
/// frees are recorded in order; sizes are filled in later.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/types/axes/sizes.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::detail {

/// An extent by name.
struct named_size {
  std::string_view name;
  std::int64_t size = 0;
  bool is_of_mesh = false;
};

/// The extents for which a plan is priced.
struct size_table {
  named_size const* first;
  std::size_t count;

  template <class Name>
  [[nodiscard]] constexpr std::int64_t of() const {
    for (std::size_t i = 0; i < count; ++i)
      if (first[i].name == Name::name) return first[i].size;
    if constexpr (Name::extent != dynamic_extent)
      return Name::extent;
    else
      throw_error("gradient_plan: the extent of ", Name::name, " is not given");
  }

  /// The number of devices that do the same side by side, along mesh axes that are not among these.
  template <class... Mesh>
  [[nodiscard]] constexpr std::int64_t side_by_side() const {
    std::int64_t n = 1;
    for (std::size_t i = 0; i < count; ++i)
      if (first[i].is_of_mesh && ((first[i].name != Mesh::name) && ...)) n *= first[i].size;
    return n;
  }
};

/// The given sizes, and those of mesh axes that a program's types know.
template <std::size_t N>
class known_sizes {
 public:
  template <class... Named, std::size_t OfMesh>
  constexpr known_sizes(ostraka::sizes<Named...> const& given, std::array<named_size, OfMesh> const& mesh)
      : all_{named_size{Named::name, given.template of<Named>(), MeshAxis<Named>}...}, count_(sizeof...(Named)) {
    for (named_size const& m : mesh)
      if (m.is_of_mesh && ((m.name != Named::name) && ...)) all_[count_++] = m;
  }
  [[nodiscard]] constexpr size_table table() const { return {all_.data(), count_}; }

 private:
  std::array<named_size, N> all_;
  std::size_t count_;
};
template <class... Named, std::size_t OfMesh>
known_sizes(ostraka::sizes<Named...> const&, std::array<named_size, OfMesh> const&)
    -> known_sizes<sizeof...(Named) + OfMesh>;

using predicted_bytes = std::int64_t (*)(size_table const&);

/// A block is allocated or freed, or an operation sets memory aside while it runs.
struct memory_event {
  int block = -1;                  ///< −1: memory that is set aside
  predicted_bytes bytes = nullptr;
  bool frees = false;  ///< true if the block is freed
};

/// Bytes of the largest block of a tensor.
template <class T>
constexpr std::int64_t largest_block_bytes(size_table const& sizes) {
  using labels = axes_in<T>;
  using mesh = mesh_axes_in<T>;
  return planner::largest_block(spec_of<T, labels, mesh>, extents_by_name<labels, mesh>::of(sizes)) *
         static_cast<std::int64_t>(sizeof(typename T::value_type));
}

/// A handle to a block, or to none: the block of an operand is not the program's. `Written` is the type of the record.
template <class Written>
class abstract_block {
 public:
  constexpr abstract_block() = default;
  constexpr abstract_block(Written* written, predicted_bytes bytes)
      : shared_(written == nullptr ? nullptr : new shared{written, written->allocate(bytes), 1}) {}
  constexpr abstract_block(abstract_block const& other) : shared_(other.shared_) {
    if (shared_ != nullptr) ++shared_->handles;
  }
  constexpr abstract_block& operator=(abstract_block other) {
    std::swap(shared_, other.shared_);
    return *this;
  }
  constexpr ~abstract_block() {
    if (shared_ == nullptr || --shared_->handles > 0) return;
    shared_->written->release(shared_->number);
    delete shared_;
  }

  /// True if there is no other handle to the block.
  [[nodiscard]] constexpr bool is_alone() const { return shared_ != nullptr && shared_->handles == 1; }

 private:
  struct shared {
    Written* written;
    int number;
    int handles;
  };
  shared* shared_ = nullptr;
};

/// Bytes in use now, and the most at once. Memory that operations set aside stays with the process until more is needed
/// (engine/memory/pool.hpp).
struct memory_in_use {
  std::int64_t now = 0;
  std::int64_t workspace = 0;
  std::int64_t most = 0;

  template <class Blocks>
  constexpr void happen(memory_event const& e, Blocks& bytes_of, size_table const& sizes) {
    if (e.block < 0) {
      workspace = std::max(workspace, e.bytes(sizes));
    } else if (e.frees) {
      now -= bytes_of[static_cast<std::size_t>(e.block)];
    } else {
      bytes_of[static_cast<std::size_t>(e.block)] = e.bytes(sizes);
      now += bytes_of[static_cast<std::size_t>(e.block)];
    }
    most = std::max(most, now + workspace);
  }
};

/// The numbers of memory events, blocks, operands and mesh axes in a program.
struct memory_numbers {
  std::size_t events = 0, of_forward = 0, blocks = 0, operands = 0, mesh_axes = 0;
  friend constexpr bool operator==(memory_numbers const&, memory_numbers const&) = default;
};

/// The memory events of a program.
template <memory_numbers N>
struct predicted_memory {
  std::array<memory_event, N.events + 1> events{};
  std::array<predicted_bytes, N.operands + 1> operands{};
  std::array<named_size, N.mesh_axes + 1> mesh{};  ///< mesh axes whose sizes are known from types

  constexpr predicted_memory() = default;
  template <class Written>
  constexpr explicit predicted_memory(Written const& written) {
    for (std::size_t i = 0; i < N.events; ++i) events[i] = written.events()[i];
    for (std::size_t i = 0; i < N.operands; ++i) operands[i] = written.operands()[i];
    for (std::size_t i = 0; i < N.mesh_axes; ++i) mesh[i] = written.mesh()[i];
  }

  [[nodiscard]] constexpr std::int64_t of_operands(size_table const& sizes) const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < N.operands; ++i) bytes += operands[i](sizes);
    return bytes;
  }

  /// The memory in use after `count` events.
  [[nodiscard]] constexpr memory_in_use after(std::size_t count, size_table const& sizes) const {
    std::array<std::int64_t, N.blocks + 1> bytes_of{};
    memory_in_use use;
    for (std::size_t i = 0; i < count; ++i) use.happen(events[i], bytes_of, sizes);
    return use;
  }
};

}  // namespace ostraka::detail
