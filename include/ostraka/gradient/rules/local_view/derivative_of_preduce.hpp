// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of os::preduce, a reduction by a function of the program. A device's block enters the result
/// through the device's own calls of f, one a round, with a received block. The received block does not depend on the
/// device's own block, and the cotangent of the result is the same on all devices. So each device pulls back through
/// its own calls, on a tape of their own:
///
///     forward     r = f(…f(f(x, t₁), t₂)…), with tₖ on the side of its devices
///     backward    the cotangent of x, by the same calls on variables: nothing moves, because the tₖ were kept
///
/// If the number of devices is not a power of two, some devices send their block to a neighbour before the rounds. The
/// neighbour pulls back to both blocks, and sends one cotangent back. A second derivative depends on the others'
/// blocks, so its backward exchanges the blocks again, as variables.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/rules/local_view/derivative_of_exchanges.hpp>
#include <ostraka/gradient/rules/local_view/kept_rounds.hpp>
#include <ostraka/gradient/rules/local_view/pipeline_parameters.hpp>

namespace ostraka {

namespace detail {

template <class There>
struct relabelled_pullback {
  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    return settled_cotangent<Wanted>(There{}(g));
  }
};

// The kinds of the cotangents of results, and of f's intermediate results.
template <class... Ms>
struct preduce_kinds {
  using invariant_along = type_list<Ms...>;
};

/// A block as an argument of f on the tape of a device's calls: a variable if its derivative is taken.
template <class MeshAxes, class Block, class... Given>
struct find_combined;
template <class... Ms, class Block, class... Given>
struct find_combined<type_list<Ms...>, Block, Given...> {
  using given = decltype(ostraka::operation::unvaried<Ms...>{}(std::declval<Block const&>()));
  using type = variable<given, cotangent_of_result<preduce_kinds<Ms...>, given, Given...>>;
};
template <class... Ms, class Block, class... Given>
  requires(!is_differentiable<typename Block::value_type>)
struct find_combined<type_list<Ms...>, Block, Given...> {
  using type = decltype(ostraka::operation::unvaried<Ms...>{}(std::declval<Block const&>()));
};

template <class Cotangent, class X>
Cotangent zeros_for(X const& x) {
  if constexpr (is_variable<Cotangent>)
    return Cotangent(zeros_for<typename Cotangent::tensor_type>(x));
  else
    return zero_cotangent<Cotangent>(tensor_of(x));
}

struct no_slot {};

template <class C>
struct find_slot_of_result {
  using type = no_slot;
};
template <Variable C>
struct find_slot_of_result<C> {
  using type = cotangent_slot<typename C::cotangent_type>;
};

inline no_slot* slot_on(tape&, no_slot*) { return nullptr; }
template <class Sum>
slot_of_sum<Sum>* slot_on(tape& t, slot_of_sum<Sum>*) {
  return t.push<slot_of_sum<Sum>>();
}

// The tensor type of a variable, or the type itself.
template <class C>
struct find_value {
  using type = C;
};
template <Variable C>
struct find_value<C> {
  using type = typename C::tensor_type;
};

/// Converts a result of f to an argument of f.
template <class C, class R>
C as_combined(R const& made) {
  if constexpr (!is_variable<C> || depth_of<R> < depth_of<C>)
    return C(typename find_value<C>::type(made));
  else if constexpr (std::is_same_v<typename R::tensor_type, typename C::tensor_type>)
    return made;
  else
    return [&]<class... Ms>(type_list<Ms...>) { return ostraka::pvary<Ms{}...>(made); }(
        difference_of<varying_in<C>, varying_in<R>>{});
}

template <class F, class MeshAxes, class... Given>
class preduce_node;

/// os::preduce as a node. The slots of its results come before it on the tape.
template <class F, class... Ms, class... Given>
class preduce_node<F, type_list<Ms...>, Given...> final : public tape_node {
  template <class G>
  using combined = typename find_combined<type_list<Ms...>, plain_type<G>, Given...>::type;
  using all_combined = std::tuple<combined<Given>...>;
  using all_given = std::tuple<plain_type<Given>...>;

 public:
  using received = dynamic_array<received_blocks<plain_type<Given>...>>;
  using result_slots = std::tuple<typename find_slot_of_result<combined<Given>>::type*...>;

  preduce_node(F const& f, received&& kept, result_slots const& results, Given const&... given)
      : tape_node(run_node<preduce_node>), f_(f), kept_(std::move(kept)), results_(results), given_(remember(given)...),
        slots_(slot_of<Given>(given)...) {}

 private:
  friend void run_node<preduce_node>(tape_node&, bool);
  ~preduce_node() = default;

  static constexpr bool is_differentiated_again = any_variable<plain_type<Given>...>;

  [[gnu::noinline]] void pull_back() {
    bool const is_wanted = std::apply([](auto const*... slots) { return (has_cotangent(slots) || ...); }, results_);
    if (is_wanted) pull(std::index_sequence_for<Given...>());
  }

  static bool has_cotangent(no_slot const*) { return false; }
  template <class Sum>
  static bool has_cotangent(slot_of_sum<Sum> const* slot) {
    return !slot->is_empty();
  }

  template <std::size_t... Is>
  void pull(std::index_sequence<Is...> all) {
    all_given const own(std::get<Is>(given_).get()...);
    auto const& block = tensor_of(std::get<0>(own));
    named_group const g = group_of<std::remove_cvref_t<decltype(block)>, Ms...>("preduce", block);
    combining_tree const tree(g.size, g.number);
    bool const has_others = !g.w.mesh->absent() && g.size > 1;
    if constexpr (is_differentiated_again) {
      all_given mine = own;
      if (has_others) combine_in_rounds<Ms...>(tree, f_, keeps_variables<plain_type<Given>...>{own, &kept_}, mine);
    }
    std::tuple const of_results(cotangent_here<combined<Given>>(std::get<Is>(results_), std::get<Is>(own))...);

    tape t;
    all_combined const leaves(leaf<combined<Given>, slot_of<Given>::wanted>(t, std::get<Is>(own))...);
    bool const has_neighbour = has_others && tree.is_paired() && tree.place() >= 0;
    all_combined neighbours;
    if (has_neighbour)
      neighbours =
          all_combined(leaf<combined<Given>, slot_of<Given>::wanted>(t, std::get<Is>(kept_.front().blocks))...);
    tape_node const* const last = t.last();
    if (tree.place() >= 0) {
      all_combined const made = combined_again(leaves, neighbours, has_neighbour, all);
      (add_result(std::get<Is>(made), std::get<Is>(of_results), std::get<Is>(results_)), ...);
      t.unwind_to(last);
    }
    auto const used = std::tuple_cat(own, of_results);
    (return_cotangents<Is>(tree, has_others, used, std::get<Is>(own), std::get<Is>(leaves), std::get<Is>(neighbours)),
     ...);
  }

  // A leaf of the tape; a constant for an argument that is not a variable.
  template <class C, bool Wanted, class Block>
  static C leaf(tape& t, Block const& block) {
    if constexpr (is_variable<C> && Wanted)
      return C(ostraka::operation::unvaried<Ms...>{}(block), t.push<cotangent_slot<typename C::cotangent_type>>(), &t);
    else
      return C(ostraka::operation::unvaried<Ms...>{}(block));
  }

  template <std::size_t... Is>
  all_combined combined_again(all_combined const& leaves, all_combined const& neighbours, bool has_neighbour,
                              std::index_sequence<Is...>) const {
    all_combined mine = leaves;
    for (auto const& r : kept_) {
      if (r.as == received_as::unused) continue;
      bool const is_neighbour = has_neighbour && &r == kept_.begin();
      constexpr ostraka::operation::unvaried<Ms...> same{};
      all_combined const theirs =
          is_neighbour ? neighbours : all_combined(combined<Given>(same(std::get<Is>(r.blocks)))...);
      bool const is_before = r.as == received_as::before;
      auto const made = call_on_blocks(f_, is_before ? theirs : mine, is_before ? mine : theirs);
      mine = all_combined(as_combined<combined<Given>>(std::get<Is>(made))...);
    }
    return mine;
  }

  // The cotangent of a result, which is the same on all devices, as this device's own.
  template <class C, class Slot, class Block>
  static auto cotangent_here([[maybe_unused]] Slot const* slot, [[maybe_unused]] Block const& own) {
    if constexpr (!is_variable<C>)
      return no_slot();
    else if constexpr (is_variable<typename C::cotangent_type>)
      return ostraka::pvary<Ms{}...>(slot->is_empty() ? zeros_for<typename C::cotangent_type>(own) : slot->sum());
    else
      return typename C::cotangent_type(slot->sum());
  }

  template <class C, class G, class Slot>
  static void add_result([[maybe_unused]] C const& made, [[maybe_unused]] G const& g,
                         [[maybe_unused]] Slot const* slot) {
    if constexpr (is_variable<C>)
      if (!slot->is_empty() && made.slot() != nullptr) {
        if constexpr (is_variable<G>)
          add_cotangent(made, ostraka::operation::unvaried<Ms...>{}(g));
        else
          add_cotangent(made, g);
      }
  }

  template <std::size_t I, class Used, class Block, class C>
  void return_cotangents([[maybe_unused]] combining_tree const& tree, [[maybe_unused]] bool has_others,
                         [[maybe_unused]] Used const& used, [[maybe_unused]] Block const& own,
                         [[maybe_unused]] C const& leaf, [[maybe_unused]] C const& neighbour) const {
    using slot = std::tuple_element_t<I, std::tuple<slot_of<Given>...>>;
    if constexpr (slot::wanted) {
      using cotangent = typename C::cotangent_type;
      auto const of = [&](C const& x) {
        return ostraka::operation::varied<Ms...>{}(x.slot()->is_empty() ? zeros_for<cotangent>(own)
                                                                        : cotangent(x.slot()->sum()));
      };
      auto mine = of(leaf);
      if (has_others && tree.has_pairs()) {
        bool const is_odd = tree.place() < 0, is_even = tree.is_paired() && !is_odd;
        std::tuple const sent(with_zeros_for(is_even ? of(neighbour) : mine, used));
        auto const back = send_all<Ms...>(sent, [&](auto& hops) { tree.to_odd(hops); });
        mine = is_odd ? std::get<0>(back) : with_zeros_for(mine, back);
      }
      mine = with_zeros_for(mine, used);
      if constexpr (is_differentiated_again)
        for (auto const& r : kept_) mine = with_zeros_for(mine, r.blocks);
      propagate<preduce_node>(std::get<I>(slots_), mine);
    }
  }

  F f_;
  received kept_;
  result_slots results_;
  std::tuple<remembered<plain_type<Given>>...> given_;
  std::tuple<slot_of<Given>...> slots_;
};

// True if f can be called on variables.
template <class F, class... Combined>
consteval bool takes_variables() {
  if constexpr (sizeof...(Combined) == 1)
    return std::is_invocable_v<F const&, Combined const&..., Combined const&...>;
  else
    return std::is_invocable_v<F const&, std::tuple<Combined...> const&, std::tuple<Combined...> const&>;
}

template <class F, class MeshAxes, class... Given>
struct preduce_verdict;
template <class F, class... Ms, class... Given>
struct preduce_verdict<F, type_list<Ms...>, Given...> {
  static consteval auto check() {
    using given = typename check_preduce<type_list<Ms...>, Given...>::verdict;
    if constexpr (!std::is_same_v<given, reason::ok>)
      return found<given>{};
    else if constexpr (!takes_variables<
                           F, typename find_combined<type_list<Ms...>, plain_type<Given>, Given...>::type...>())
      return found<reason::preduce_has_no_derivative<F>>{};
    else
      return found<reason::ok>{};
  }
  using type = typename decltype(check())::type;
};

template <class T>
auto as_tuple(T const& one) {
  return std::tuple(one);
}
template <class... Ts>
std::tuple<Ts...> as_tuple(std::tuple<Ts...> const& several) {
  return several;
}

// A result with its slot.
template <class C, class Made, class Slot>
auto result_in_slot(Made const& made, tape* t, [[maybe_unused]] Slot* slot) {
  if constexpr (is_variable<C>)
    return C(typename C::tensor_type(made), slot, t);
  else
    return made;
}

template <class... Ms, class F, class... Given>
auto preduce_on_tape(F const& f, Given const&... given) {
  using node_type = preduce_node<F, type_list<Ms...>, Given...>;
  tape* const all = common_tape(given...);
  bool const is_recorded = all != nullptr && !all->is_first_run();
  typename node_type::received kept;
  auto const made = as_tuple([&] {
    if constexpr (any_variable<plain_type<Given>...>)
      return ostraka::operation::preduce<Ms...>{}(f, plain(given)...);
    else
      return reduce_and_keep<Ms...>(f, keeps_received<plain_type<Given>...>(is_recorded ? &kept : nullptr),
                                    plain(given)...);
  }());
  typename node_type::result_slots slots{};
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    if (is_recorded) {
      ((std::get<Is>(slots) = slot_on(*all, std::get<Is>(slots))), ...);
      all->name_next("preduce");
      all->template push<node_type>(f, std::move(kept), slots, given...);
    }
    std::tuple const results(
        result_in_slot<typename find_combined<type_list<Ms...>, plain_type<Given>, Given...>::type>(
            std::get<Is>(made), all, std::get<Is>(slots))...);
    if constexpr (sizeof...(Given) == 1)
      return std::get<0>(results);
    else
      return results;
  }
  (std::index_sequence_for<Given...>());
}

/// os::preduce of variables, and perhaps constants among them.
template <class... Ms, class F, class... Given>
auto preduce_of_variables(F const& f, Given const&... given) {
  constexpr int depth = depth_of_all<Given...>;
  if constexpr (((is_variable<Given> && depth_of<Given> < depth) || ...))
    return preduce_of_variables<Ms...>(f, at_depth<depth>(given)...);
  else if constexpr (!reason::ok_or_raise<typename preduce_verdict<F, type_list<Ms...>, Given...>::type>())
    return scalar_after_error<Given...>();
  else
    return preduce_on_tape<Ms...>(f, given...);
}

}  // namespace detail

template <class F, class... Ms>
struct derivative_of<operation::preduce_by<F, Ms...>> {
  template <class... Given>
  static auto composed(operation::preduce_by<F, Ms...> const& reduce, Given const&... given) {
    return detail::preduce_of_variables<Ms...>(reduce.f, given...);
  }
};

template <class... Ms>
struct derivative_of<operation::unvaried<Ms...>> {
  using invariant_along = type_list<Ms...>;
  template <class Result, class A>
  static auto pullback(operation::unvaried<Ms...> const&, Result const&, A const&) {
    return detail::relabelled_pullback<operation::varied<Ms...>>{};
  }
};

template <class... Ms>
struct derivative_of<operation::varied<Ms...>> {
  template <class Result, class A>
  static auto pullback(operation::varied<Ms...> const&, Result const&, A const&) {
    return detail::relabelled_pullback<operation::unvaried<Ms...>>{};
  }
};

}  // namespace ostraka
