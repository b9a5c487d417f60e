// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A recipe makes a value again that was not kept: a gather, in a region of os::save_all_but_gathers. All
/// nodes that need the value share one recipe. If one handle is left, it makes the value and keeps nothing. If several
/// are left, the value stays until the last of them is done, so that it is made once.

#include <utility>

namespace ostraka::detail {

/// The common base of recipes of all types, so that one function counts their handles.
class any_recipe {
 public:
  any_recipe() = default;
  any_recipe(any_recipe const&) = delete;
  any_recipe& operator=(any_recipe const&) = delete;
  virtual ~any_recipe() {}

 protected:
  [[nodiscard]] int handles() const { return handles_; }

 private:
  template <class T>
  friend class recipe_handle;
  [[gnu::noinline]] static void release(any_recipe* r) {
    if (--r->handles_ == 0) delete r;
  }
  int handles_ = 0;
};

template <class T>
class recipe : public any_recipe {
 public:

  [[nodiscard, gnu::cold, gnu::noinline]] T get() {
    if (made_) return value_;
    if (handles() == 1) return make();
    value_ = make();
    made_ = true;
    return value_;
  }

 private:
  virtual T make() const = 0;

  bool made_ = false;
  T value_;
};

/// A handle to a recipe, or to none.
template <class T>
class recipe_handle {
 public:
  recipe_handle() = default;
  explicit recipe_handle(recipe<T>* made) : recipe_(made) { ++static_cast<any_recipe*>(recipe_)->handles_; }
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
  [[nodiscard]] T get() const { return recipe_->get(); }

 private:
  recipe<T>* recipe_ = nullptr;
};

}  // namespace ostraka::detail
