// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The tape of programs without elements (predict.hpp): the counterpart of tape.hpp in constant expressions.
/// Its variables are in abstract_variable.hpp.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/gradient/abstract/predict.hpp>

namespace ostraka {

namespace detail {

class abstract_node {
 public:
  constexpr abstract_node() = default;
  abstract_node(abstract_node const&) = delete;
  abstract_node& operator=(abstract_node const&) = delete;
  constexpr virtual ~abstract_node() {}
  constexpr virtual void pull() = 0;

 private:
  friend class abstract_tape;
  abstract_node* before_ = nullptr;
  void (*end_)(abstract_node* ended) = nullptr;  // nvcc aborts where a template's object is deleted as an abstract_node
};

/// The counterpart of recipe.hpp: a gather that the backward repeats.
struct abstract_recipe;
class abstract_recipe_handle {
 public:
  constexpr abstract_recipe_handle() = default;
  constexpr explicit abstract_recipe_handle(abstract_recipe* made);
  constexpr abstract_recipe_handle(abstract_recipe_handle const& other);
  constexpr abstract_recipe_handle& operator=(abstract_recipe_handle other) {
    std::swap(recipe_, other.recipe_);
    return *this;
  }
  constexpr ~abstract_recipe_handle();
  constexpr explicit operator bool() const { return recipe_ != nullptr; }
  /// The block that is kept for a value with a recipe: none.
  [[nodiscard]] constexpr predicted_block block_beside(predicted_block const& of_value) const {
    if (recipe_ != nullptr) return {};
    return of_value;
  }
  /// The block that the recipe makes. It is kept as long as other handles may need it.
  constexpr predicted_block make(forecast* written) const;

 private:
  abstract_recipe* recipe_ = nullptr;
};

struct abstract_recipe {
  predicted_entry gather;
  std::int64_t bytes;  ///< size of the block that it makes
  abstract_recipe_handle from;
  predicted_block operand{};  // if `from` has no recipe
  int handles = 0;
  bool is_made = false;
  predicted_block made{};
};

constexpr abstract_recipe_handle::abstract_recipe_handle(abstract_recipe* made) : recipe_(made) { ++recipe_->handles; }
constexpr abstract_recipe_handle::abstract_recipe_handle(abstract_recipe_handle const& other)
    : recipe_(other.recipe_) {
  if (recipe_ != nullptr) ++recipe_->handles;
}
constexpr abstract_recipe_handle::~abstract_recipe_handle() {
  if (recipe_ != nullptr && --recipe_->handles == 0) delete recipe_;
}
constexpr predicted_block abstract_recipe_handle::make(forecast* written) const {
  if (recipe_->is_made) return recipe_->made;
  predicted_block from = recipe_->operand;
  if (recipe_->from) from = recipe_->from.make(written);
  predicted_block made;
  if (written != nullptr) {
    made = written->allocate(recipe_->bytes);
    recipe_->gather.add_to(*written);
  }
  recipe_->is_made = recipe_->handles > 1;
  if (recipe_->is_made) recipe_->made = made;
  return made;
}

/// The counterpart of result_store.hpp: the numbers of the operations whose results a region saves.
class abstract_store {
 public:
  constexpr void want(std::string_view const* names, std::size_t count) { names_ = names, count_ = count; }
  [[nodiscard]] constexpr bool wants(std::string_view name) const {
    return std::find(names_, names_ + count_, name) != names_ + count_;
  }
  template <class T>
  constexpr void keep(int number, abstract<T> const& result) {
    kept_.push_back({number, {}, result.block()});
    std::copy(result.extents().begin(), result.extents().end(), kept_.back().extents.begin());
    written_ = result.written();
  }
  [[nodiscard]] constexpr bool has(int number) const { return find(number) != nullptr; }
  /// The result of the operation of this number. @pre it is kept, and has this type
  template <class Abstract>
  [[nodiscard]] constexpr Abstract get(int number) const {
    kept_result const& kept = *find(number);
    typename Abstract::extents_type extents{};
    std::copy_n(kept.extents.begin(), extents.size(), extents.begin());
    return {written_, extents, kept.block};
  }

 private:
  struct kept_result {
    int number;
    std::array<std::int64_t, max_rank> extents;
    predicted_block block;
  };
  [[nodiscard]] constexpr kept_result const* find(int number) const {
    for (kept_result const& k : kept_)
      if (k.number == number) return &k;
    return nullptr;
  }

  std::vector<kept_result> kept_;
  forecast* written_ = nullptr;
  std::string_view const* names_ = nullptr;
  std::size_t count_ = 0;
};

class abstract_tape {
 public:
  constexpr abstract_tape() = default;
  abstract_tape(abstract_tape const&) = delete;
  abstract_tape& operator=(abstract_tape const&) = delete;
  constexpr ~abstract_tape() {
    while (last_ != nullptr) drop();
  }

  template <class Node, class... Arguments>
  constexpr Node* push(Arguments const&... arguments) {
    auto* const node = new Node(arguments...);
    node->end_ = [](abstract_node* ended) { delete static_cast<Node*>(ended); };
    node->before_ = last_;
    last_ = node;
    return node;
  }

  [[nodiscard]] constexpr bool gathers_again() const { return gathers_again_; }
  constexpr void set_gathers_again(bool again) { gathers_again_ = again; }

  constexpr void run_first(abstract_store& s) { saved_ = &s, is_first_run_ = true; }
  constexpr void run_again(abstract_store& s) { saved_ = &s; }
  [[nodiscard]] constexpr bool is_first_run() const { return is_first_run_; }
  [[nodiscard]] constexpr abstract_store* saved() const { return saved_; }
  [[nodiscard]] constexpr int number_of_last() const { return number_; }

  /// True if the result of the next operation is saved.
  constexpr bool is_next_saved() {
    ++number_;
    return saved_ != nullptr && !is_first_run_ && saved_->has(number_);
  }

  [[nodiscard]] constexpr abstract_node const* last() const { return last_; }
  constexpr void unwind_to(abstract_node const* first) {
    for (; last_ != first; drop()) last_->pull();
  }

 private:
  constexpr void drop() {
    abstract_node* const node = last_;
    last_ = node->before_;
    node->end_(node);
  }
  abstract_node* last_ = nullptr;
  abstract_store* saved_ = nullptr;
  int number_ = 0;
  bool is_first_run_ = false;
  bool gathers_again_ = false;
};

template <class Cotangent>
class abstract_slot : public abstract_node {
 public:
  constexpr abstract_slot() = default;
  constexpr ~abstract_slot() override {}  // the only form that g++ 12 accepts in constant expressions

  constexpr void add(Cotangent const& g) {
    if (is_empty_)
      sum_ = g;
    else if (sum_.block().is_alone())  // in place
      predict_in_place(operation::add{}, sum_, g);
    else
      sum_ = sum_of_cotangents(sum_, g);
    is_empty_ = false;
  }
  [[nodiscard]] constexpr bool is_empty() const { return is_empty_; }
  [[nodiscard]] constexpr Cotangent const& sum() const { return sum_; }
  constexpr void pull() override {}

 private:
  Cotangent sum_;
  bool is_empty_ = true;
};

}  // namespace detail

}  // namespace ostraka
