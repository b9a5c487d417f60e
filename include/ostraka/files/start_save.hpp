// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::start_save("run.safetensors", run)` starts a save that the program waits for later. The file gets the
/// values of the tensors at the call, even if the program changes them meanwhile.
///
///     os::pending_save saving;
///     for (int step = 0; step < steps; ++step) {
///       train(params, state);
///       if (step % 1000 == 0) saving = os::start_save("run.safetensors", run);   // waits for the one before
///       saving.test();                                                           // the file gets its name here
///     }
///     saving.wait();

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <ostraka/engine/files/save_tensors.hpp>
#include <ostraka/engine/spmd/ended.hpp>
#include <ostraka/files/save.hpp>

namespace ostraka {

/// A save in progress, or none. The file gets its name in `test` or `wait`, which all devices must call alike; until
/// then an older file stays. The destructor also waits, and writes an error to standard error. While an exception
/// unwinds the stack it does not wait, because other devices may not have thrown; the older file stays.
class [[nodiscard]] pending_save {
 public:
  pending_save() = default;
  explicit pending_save(std::unique_ptr<engine::begun_save> begun) : begun_(std::move(begun)) {}

  pending_save(pending_save&&) = default;
  /// Waits for the save that this object held, and throws as `wait` does.
  pending_save& operator=(pending_save&& other) {
    if (this == &other) return *this;
    std::unique_ptr<engine::begun_save> next = std::move(other.begun_);
    wait();
    begun_ = std::move(next);
    return *this;
  }
  ~pending_save() {
    if (begun_ == nullptr || std::uncaught_exceptions() > 0) return;
    try {
      wait();
    } catch (std::exception const& e) {
      std::fprintf(stderr, "ostraka: %s\n", e.what());
    }
  }

  /// Gives the file its name if all devices have written their parts. Takes an all-reduce of one number, and no message
  /// once the file has its name. @returns true if it has its name @throws as `wait`
  bool test() {
    if (begun_ == nullptr) return true;
    engine::require_not_ended("save");
    std::unique_ptr<engine::begun_save> begun = std::move(begun_);
    if (begun->test()) return true;
    begun_ = std::move(begun);
    return false;
  }

  /// Waits until the file has its name. @throws ostraka::error, on all devices alike; an older file is then unchanged
  void wait() {
    if (begun_ == nullptr) return;
    engine::require_not_ended("save");
    std::exchange(begun_, nullptr)->wait();
  }

 private:
  std::unique_ptr<engine::begun_save> begun_;
};

/// Like os::save, but the program does not wait: each device copies its part to host memory, and a thread writes the
/// copy. The program may change the tensors at once. If the program ends before the file has its name, an older file is
/// unchanged. @throws ostraka::error, on all devices alike, if the file cannot be made
template <TensorOrVariable A>
[[nodiscard]] pending_save start_save(std::string const& path, A const& given) {
  [[maybe_unused]] auto const& a = detail::underlying_tensor(given);
  if constexpr (reason::ok_or_raise<detail::in_file_verdict<A, operation::save>>())
    return pending_save(engine::begin_save(*a.mesh_handle(), detail::request_of_tensor(path, a)));
  else
    return {};
}

/// Saves a tree, or several trees together, with the options of os::save.
template <detail::TreeOrTrees T, class... Option>
  requires(detail::is_save_option<Option>&&...)
[[nodiscard]] pending_save start_save(std::string const& path, T const& trees, Option const&... option) {
  detail::leaves_to_save const leaves = detail::leaves_of(path, trees, option...);
  return pending_save(engine::begin_save(*leaves.mesh, leaves.request));
}

/// Reports an argument that is neither a tensor nor a tree.
template <class T>
  requires(!TensorOrVariable<T> && !detail::TreeOrTrees<T>)
pending_save start_save(std::string const&, T const&) {
  reason::raise<reason::not_a_tree<T>>();
  return {};
}

}  // namespace ostraka
