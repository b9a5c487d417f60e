// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A call's key on this device, where only first runs are compared: a number computed from everything that its
/// description contains. Equal keys mean equal descriptions, and a key takes a tenth of the time of a description. A
/// name enters by its address: the names of axes are constants of the program.

#include <cstdint>
#include <string_view>

#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/spec/spec.hpp>

namespace ostraka::engine {

class call_key {
 public:
  call_key& add(std::uint64_t n) {
    value_ = (value_ ^ n) * 0x9E3779B97F4A7C15u;
    value_ ^= value_ >> 29;
    return *this;
  }
  call_key& add(void const* where) { return add(reinterpret_cast<std::uintptr_t>(where)); }
  call_key& add(std::string_view text) {
    std::uint64_t n = text.size();
    for (char const c : text) n = (n ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return add(n);
  }
  call_key& add(planner::spec const& s) {
    for (int i = 0; i < s.rank; ++i) add(static_cast<std::uint64_t>(s.label[i]) << 32 | s.over[i].code);
    return add(static_cast<std::uint64_t>(s.partial.bits) << 16 | static_cast<std::uint64_t>(s.kind) << 8 |
               static_cast<std::uint64_t>(s.rank));
  }
  /// Adds the operation, its names and its extents.
  call_key& add(execution_context const& w) {
    add(w.operation).add(static_cast<void const*>(w.names.labels)).add(static_cast<void const*>(w.names.mesh_axes));
    for (int l = 0; l < w.sizes.labels; ++l) add(static_cast<std::uint64_t>(w.sizes.label[l]));
    return *this;
  }

  operator std::uint64_t() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace ostraka::engine
