// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Results that a region (os::checkpoint) saves by name. Operations are numbered as they run. The first run
/// keeps the results to which os::checkpoint_name gives a name of the policy. The second run, in the backward, takes
/// them instead of recomputing them.

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <ostraka/gradient/tape/without_names.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::detail {

template <class T>
inline constexpr char type_mark = 0;

class result_store {
 public:
  result_store() = default;
  result_store(result_store const&) = delete;
  result_store& operator=(result_store const&) = delete;
  result_store(result_store&& other) noexcept : kept_(std::move(other.kept_)) {}
  ~result_store() {
    for (; !kept_.empty(); kept_.pop_back()) delete kept_.back();
  }

  /// Sets the names whose results are kept during the first run.
  void want(std::string_view const* names, std::size_t count) { names_ = names, count_ = count; }
  [[nodiscard]] bool wants(std::string_view name) const {
    return std::find(names_, names_ + count_, name) != names_ + count_;
  }

  template <class T>
  void keep(int number, T const& result) {
    for (kept_result const* k : kept_)
      if (k->number == number) return;
    kept_.push_back(new kept_as<without_names<T>>(number, &type_mark<T>, result));
  }

  /// The result of this operation, or nullptr. `type` is the mark of its type; `Value` is that type without names.
  template <class Value>
  [[nodiscard]] Value const* find(int number, void const* type) const {
    for (kept_result const* k : kept_)
      if (k->number == number) {
        if (k->type != type)
          throw_error(
              "checkpoint: the function did other operations when it was run again; it is a function of its arguments "
              "alone");
        return &static_cast<kept_as<Value> const*>(k)->result;
      }
    return nullptr;
  }

 private:
  struct kept_result {
    kept_result(int n, void const* t) : number(n), type(t) {}
    kept_result(kept_result const&) = delete;
    kept_result& operator=(kept_result const&) = delete;
    virtual ~kept_result() = default;
    int number;
    void const* type;
  };
  template <class Value>
  struct kept_as final : kept_result {
    kept_as(int n, void const* t, Value const& r) : kept_result(n, t), result(r) {}
    Value result;
  };

  dynamic_array<kept_result*> kept_;
  std::string_view const* names_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace ostraka::detail
