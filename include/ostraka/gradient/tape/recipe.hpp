// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A recipe recomputes a value that was not kept: a gather, in a region of os::save_all_but_gathers. All nodes
/// that need the value share one recipe. The last handle makes the value and keeps nothing. If several handles are
/// left, the value stays until the last one is done, so that it is made once.

#include <utility>

#include <ostraka/calls/operate.hpp>
#include <ostraka/gradient/tape/without_names.hpp>

namespace ostraka::detail {

/// The common base of recipes of all types, so that one function counts their handles. A recipe's function is a
/// pointer, as that of a tape_node is.
class any_recipe {
 public:
  /// Makes the value in the object at `value`; destroys the recipe if `value` is null.
  using function = void (*)(any_recipe&, void* value);

  explicit any_recipe(function run) : run_(run) {}
  any_recipe(any_recipe const&) = delete;
  any_recipe& operator=(any_recipe const&) = delete;

 protected:
  ~any_recipe() = default;
  [[nodiscard]] int handles() const { return handles_; }
  void make(void* value) { run_(*this, value); }

 private:
  template <class Value>
  friend class recipe_handle;
  [[gnu::cold, gnu::noinline]] static void release(any_recipe* r) {
    if (--r->handles_ == 0) r->run_(*r, nullptr);
  }
  function run_;
  int handles_ = 0;
};

/// A recipe whose function makes a Value, a tensor without its names or a variable.
template <class Value>
class recipe : public any_recipe {
 public:
  [[nodiscard, gnu::cold, gnu::noinline]] Value get() {
    if (made_) return value_;
    if (handles() > 1) {
      this->make(&value_);
      made_ = true;
      return value_;
    }
    Value value;
    this->make(&value);
    return value;
  }

 protected:
  using any_recipe::any_recipe;
  ~recipe() = default;

 private:
  bool made_ = false;
  Value value_;
};

/// A handle to a recipe of a Value, or an empty handle.
template <class Value>
class recipe_handle {
 public:
  recipe_handle() = default;
  explicit recipe_handle(recipe<Value>* made) : recipe_(made) { ++static_cast<any_recipe*>(recipe_)->handles_; }
  recipe_handle(recipe_handle const& other) : recipe_(other.recipe_) {
    if (recipe_ != nullptr) ++static_cast<any_recipe*>(recipe_)->handles_;
  }
  recipe_handle(recipe_handle&& other) noexcept : recipe_(std::exchange(other.recipe_, nullptr)) {}
  recipe_handle& operator=(recipe_handle other) noexcept {
    std::swap(recipe_, other.recipe_);
    return *this;
  }
  ~recipe_handle() {
    if (recipe_ != nullptr) any_recipe::release(recipe_);
  }

  explicit operator bool() const { return recipe_ != nullptr; }
  [[nodiscard]] Value get() const { return recipe_->get(); }

 private:
  recipe<Value>* recipe_ = nullptr;
};

/// A handle to a recipe of tensors or variables of type T.
template <class T>
using recipe_of = recipe_handle<without_names<T>>;

}  // namespace ostraka::detail
