// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The tape of programs without elements (foretell.hpp): what tape.hpp, variable.hpp and record.hpp are to
/// programs that run, in constant expressions.

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/gradient/abstract/foretell.hpp>

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
};

/// What recipe.hpp is to programs that run: the gather that is done again.
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
  /// What is kept of a value beside its recipe: nothing.
  [[nodiscard]] constexpr foretold_block block_beside(foretold_block const& of_value) const {
    if (recipe_ != nullptr) return {};
    return of_value;
  }
  /// What it makes, which is kept as long as others will ask for it, too.
  constexpr foretold_block make(forecast* written) const;

 private:
  abstract_recipe* recipe_ = nullptr;
};

struct abstract_recipe {
  foretold_operation gather;
  foretold_bytes bytes;
  abstract_recipe_handle from;
  foretold_block operand{};  // where that has no recipe
  int handles = 0;
  bool is_made = false;
  foretold_block made{};
};

constexpr abstract_recipe_handle::abstract_recipe_handle(abstract_recipe* made) : recipe_(made) { ++recipe_->handles; }
constexpr abstract_recipe_handle::abstract_recipe_handle(abstract_recipe_handle const& other)
    : recipe_(other.recipe_) {
  if (recipe_ != nullptr) ++recipe_->handles;
}
constexpr abstract_recipe_handle::~abstract_recipe_handle() {
  if (recipe_ != nullptr && --recipe_->handles == 0) delete recipe_;
}
constexpr foretold_block abstract_recipe_handle::make(forecast* written) const {
  if (recipe_->is_made) return recipe_->made;
  foretold_block from = recipe_->operand;
  if (recipe_->from) from = recipe_->from.make(written);
  foretold_block const made(written, recipe_->bytes);
  if (written != nullptr) written->add(recipe_->gather);
  recipe_->is_made = recipe_->handles > 1;
  if (recipe_->is_made) recipe_->made = made;
  return made;
}

/// What result_store.hpp is to programs that run: the numbers of the operations whose results a region saves.
class abstract_store {
 public:
  constexpr void want(std::string_view const* names, std::size_t count) { names_ = names, count_ = count; }
  [[nodiscard]] constexpr bool wants(std::string_view name) const {
    return std::find(names_, names_ + count_, name) != names_ + count_;
  }
  template <class T>
  constexpr void keep(int number, abstract<T> const& result) {
    kept_.push_back({number, result.block()});
    written_ = result.written();
  }
  [[nodiscard]] constexpr forecast* written() const { return written_; }
  [[nodiscard]] constexpr bool has(int number) const { return find(number) != nullptr; }
  [[nodiscard]] constexpr foretold_block block_of(int number) const { return find(number)->block; }

 private:
  struct kept_result {
    int number;
    foretold_block block;
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

  /// Is the result of the next operation saved?
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
    delete node;
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
  constexpr ~abstract_slot() override {}  // g++ 12 takes no other in constant expressions

  constexpr void add(Cotangent const& g) {
    if (is_empty_)
      sum_ = g;
    else if (sum_.block().is_alone())  // in place
      foretell_in_place(operation::add{}, sum_, g);
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

/// A tensor without elements whose derivative is foretold.
template <class T, class Cotangent>
class variable<abstract<T>, Cotangent> {
 public:
  using tensor_type = abstract<T>;
  using cotangent_type = Cotangent;
  using value_type = typename T::value_type;
  using sharding_type = typename T::sharding_type;
  using space = typename T::space;
  using axes = typename T::axes;
  using mesh_axes = typename T::mesh_axes;
  static constexpr int rank = T::rank;

  constexpr variable() = default;
  constexpr variable(tensor_type const& value) : value_(value) {}
  constexpr variable(tensor_type const& value, detail::abstract_slot<Cotangent>* slot, detail::abstract_tape* tape)
      : value_(value), slot_(slot), tape_(tape) {}
  constexpr variable(tensor_type const& value, int number, detail::abstract_tape* tape)
      : value_(value), tape_(tape), number_(number) {}
  template <class Other>
    requires(!std::is_same_v<Other, Cotangent>)
  constexpr variable(variable<tensor_type, Other> const& x) : variable(detail::with_cotangent<Cotangent>(x)) {}

  [[nodiscard]] constexpr tensor_type const& value() const { return value_; }
  [[nodiscard]] constexpr auto extents() const { return value_.extents(); }
  [[nodiscard]] constexpr detail::abstract_slot<Cotangent>* slot() const { return slot_; }
  [[nodiscard]] constexpr detail::abstract_tape* tape() const { return tape_; }
  [[nodiscard]] constexpr int number() const { return number_; }

  template <class Other>
  [[nodiscard]] constexpr variable<Other, Cotangent> as(Other const& value) const {
    return {value, slot_, tape_};
  }

  [[nodiscard]] constexpr detail::abstract_recipe_handle const& recipe() const { return recipe_; }
  [[nodiscard]] constexpr variable made_by(detail::abstract_recipe_handle const& recipe) const {
    variable x = *this;
    x.recipe_ = recipe;
    return x;
  }

 private:
  tensor_type value_;
  detail::abstract_slot<Cotangent>* slot_ = nullptr;
  detail::abstract_tape* tape_ = nullptr;
  int number_ = 0;
  detail::abstract_recipe_handle recipe_;
};

namespace detail {

template <class T>
class remembered<abstract<T>> {
 public:
  constexpr explicit remembered(abstract<T> const& x) : value_(x) {}
  constexpr remembered(abstract<T> const& x, abstract_recipe_handle const& again)
      : value_(x.written(), again.block_beside(x.block())), again_(again) {}

  [[nodiscard]] constexpr abstract<T> get() const {
    if (again_) return abstract<T>(value_.written(), again_.make(value_.written()));
    return value_;
  }

 private:
  abstract<T> value_;
  abstract_recipe_handle again_;
};

/// The result of an operation; one that a region has saved is not written down again, unless `IsMadeAgain` (see
/// record_with_more).
template <bool IsMadeAgain = false, class Make>
constexpr auto foretold_result(abstract_tape* t, Make const& make) -> decltype(make()) {
  using type = decltype(make());
  bool const is_saved = t != nullptr && t->is_next_saved();
  if constexpr (is_abstract<type> && !IsMadeAgain)
    if (is_saved) return type(t->saved()->written(), t->saved()->block_of(t->number_of_last()));
  return make();
}

template <class Sharding, class X, class Policy>
constexpr auto reshard_foretold(X const& x, Policy const& how) {
  auto const value = foretold_result(x.tape(), [&] { return reshard_as<Sharding>(x.value(), how); });
  using from = typename X::tensor_type::tensor_type;
  using to = typename std::remove_cvref_t<decltype(value)>::tensor_type;
  if constexpr (is_after_error<to>) {
    return value;
  } else {
    if (x.tape() != nullptr && x.tape()->is_first_run())
      return variable<abstract<to>, typename X::cotangent_type>(value, x.tape()->number_of_last(), x.tape());
    auto const y = x.as(value);
    if constexpr (is_a_gather<from, Sharding>())
      if (x.tape() != nullptr && x.tape()->gathers_again())
        return y.made_by(abstract_recipe_handle(new abstract_recipe{
            entry_of<reshard_plan_to<sharding_in<to>, from>>("reshard"), &largest_block_bytes<to>, x.recipe(),
            x.recipe().block_beside(x.value().block())}));
    return y;
  }
}

template <class T, class Cotangent>
struct slot_of<variable<abstract<T>, Cotangent>> {
  constexpr explicit slot_of(variable<abstract<T>, Cotangent> const& x) : slot(x.slot()) {}
  static constexpr bool wanted = true;
  using cotangent_type = Cotangent;
  abstract_slot<Cotangent>* slot;

  constexpr void add(Cotangent const& g) const { slot->add(g); }
};

template <class T>
constexpr void find_tape(abstract_tape*&, T const&) {}
template <class T, class Cotangent>
constexpr void find_tape(abstract_tape*& found, variable<abstract<T>, Cotangent> const& x) {
  if (x.tape() != nullptr) found = x.tape();
}

template <class Cotangent, class Pullback, class... Operands>
class abstract_recorded final : public abstract_slot<Cotangent> {
 public:
  constexpr explicit abstract_recorded(Pullback const& pullback, Operands const&... operands)
      : pullback_(pullback), slots_(slot_of<Operands>(operands)...) {}

  constexpr ~abstract_recorded() override {}

  constexpr void pull() override {
    if (!this->is_empty()) hand_all_on(pullback_, slots_, this->sum());
  }

 private:
  Pullback pullback_;
  std::tuple<slot_of<Operands>...> slots_;
};

template <class Wanted, class X>
constexpr auto foretold_with_cotangent(X const& x) {
  using type = variable<typename X::tensor_type, Wanted>;
  if (x.tape() == nullptr) return type(x.value());
  if (x.tape()->is_first_run()) return type(x.value(), x.number(), x.tape());
  using recorded_node = abstract_recorded<Wanted, identity_pullback, X>;
  return type(x.value(), x.tape()->template push<recorded_node>(identity_pullback{}, x), x.tape()).made_by(x.recipe());
}

/// Of rules that need more than the result of what runs: the derivative is an operation whose price is not known.
struct opaque_pullback {
  std::string_view name;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if (g.written() != nullptr) g.written()->add({name});
    return Wanted(g.written());
  }
};

template <class Operation, class... Given>
inline constexpr bool has_more = requires(Operation const& operation) {
  derivative_of<Operation>::with_more(operation,
                                      std::declval<typename concrete<plain_type<Given>>::type const&>()...);
};

template <class Operation, class Result, class... Given>
constexpr auto foretold_pullback(Operation const& operation, Result const& result, Given const&... given) {
  using rule = derivative_of<Operation>;
  if constexpr (!requires { rule::with_rows_of(result, plain(given)...); } && has_more<Operation, Given...>)
    return opaque_pullback{text_of_name<Operation>()};
  else if constexpr (requires { rule::with_rows_of(result, plain(given)...); })
    return rule::pullback(operation, rule::with_rows_of(result, plain(given)...), given...);
  else
    return rule::pullback(operation, as_held(result), given...);
}

}  // namespace detail

/// An operation on variables of abstract tensors.
template <class Operation, class... Given>
constexpr auto record_foretold(Operation const& operation, Given const&... given) {
  detail::abstract_tape* t = nullptr;
  (detail::find_tape(t, given), ...);
  auto const make = [&] { return detail::apply_to(operation, detail::plain(given)...); };
  auto const result = detail::foretold_result<detail::has_more<Operation, Given...>>(t, make);
  using type = std::remove_cvref_t<decltype(result)>;
  if constexpr (!is_abstract<type> || detail::is_constant_result<derivative_of<Operation>, type>() ||
                detail::is_after_error<type>) {
    return result;
  } else {
    using cotangent = detail::cotangent_of_result<derivative_of<Operation>, type, Given...>;
    if (t == nullptr) return variable<type, cotangent>(result);
    if (t->is_first_run()) return variable<type, cotangent>(result, t->number_of_last(), t);
    auto const pullback = detail::foretold_pullback(operation, result, given...);
    using node = detail::abstract_recorded<cotangent, std::remove_cvref_t<decltype(pullback)>, Given...>;
    return variable<type, cotangent>(result, t->push<node>(pullback, given...), t);
  }
}

namespace detail {

template <class How, class Operation, class... Given>
constexpr auto records_foretold::operate(How const& how, Operation const& operation, Given const&... given) {
  return operate_on_variables<records_foretold>(how, operation, given...);
}
template <class Operation, class... Given>
constexpr auto records_foretold::record(Operation const& operation, Given const&... given) {
  return record_foretold(operation, given...);
}

}  // namespace detail

}  // namespace ostraka
