// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::start_save("run.safetensors", run)`: a save that is begun now and waited for later. What is saved is
/// what the tensors hold at the call, whatever the program makes of them meanwhile.
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

/// A save that is under way, or none. The file gets its name in `test` or `wait`, which all devices call alike; until
/// then an older file is there. Dropped, it waits, too, and an error that it meets is written to standard error; it
/// does not wait while an exception is under way, because other devices may not have met it, and the older file stays.
class [[nodiscard]] pending_save {
 public:
  pending_save() = default;
  explicit pending_save(std::unique_ptr<engine::begun_save> begun) : begun_(std::move(begun)) {}

  pending_save(pending_save&&) = default;
  /// Waits for the save that stood here, and throws as `wait` does.
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

  /// Gives the file its name if all devices have written what they have of it. A message to all devices, one number
  /// each; nothing once the file has its name. @returns whether it has @throws as `wait`
  bool test() {
    if (begun_ == nullptr) return true;
    engine::require_not_ended("save");
    std::unique_ptr<engine::begun_save> begun = std::move(begun_);
    if (begun->test()) return true;
    begun_ = std::move(begun);
    return false;
  }

  /// Waits until the file has its name. @throws ostraka::error, on all devices alike, and then what was there is as it
  /// was
  void wait() {
    if (begun_ == nullptr) return;
    engine::require_not_ended("save");
    std::exchange(begun_, nullptr)->wait();
  }

 private:
  std::unique_ptr<engine::begun_save> begun_;
};

/// os::save, which the program does not wait for: each device copies what it writes to the memory of the host, and a
/// thread of its own writes the copy. The tensors may be written to at once. Where the program ends before the file has
/// its name, an older file is as it was. @throws ostraka::error, on all devices alike, if the file cannot be made
template <TensorOrVariable A>
[[nodiscard]] pending_save start_save(std::string const& path, A const& given) {
  [[maybe_unused]] auto const& a = detail::tensor_behind(given);
  if constexpr (reason::ok_or_raise<detail::in_file_verdict<A, operation::save>>())
    return pending_save(engine::begin_save(*a.mesh_handle(), detail::request_of_tensor(path, a)));
  else
    return {};
}

/// The same of a tree, or of several trees together, with the options that os::save takes.
template <detail::TreeOrTrees T, class... Option>
  requires(detail::is_save_option<Option>&&...)
[[nodiscard]] pending_save start_save(std::string const& path, T const& trees, Option const&... option) {
  detail::leaves_to_save const leaves = detail::leaves_of(path, trees, option...);
  return pending_save(engine::begin_save(*leaves.mesh, leaves.request));
}

/// Says that it is neither.
template <class T>
  requires(!TensorOrVariable<T> && !detail::TreeOrTrees<T>)
pending_save start_save(std::string const&, T const&) {
  reason::raise<reason::not_a_tree<T>>();
  return {};
}

}  // namespace ostraka
