// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. An operation on variables becomes a node of the tape. Its *pullback* is a struct that keeps what the
/// derivative needs and, for operand K, makes of the result's cotangent that of the operand, in the sharding that the
/// operand wants:
///
///     template <int K, class Wanted, class G>  Wanted pull(G const& cotangent) const;
///     template <class G>  std::tuple<…> pull_all(G const& cotangent) const;      or those of all operands at once
///
/// It is made of public operations, so that a backward is planned, counted and described as any program.

#include <cstddef>
#include <tuple>
#include <utility>

#include <ostraka/gradient/variable.hpp>
#include <ostraka/reductions.hpp>
#include <ostraka/reshard.hpp>

namespace ostraka::detail {

// Where the cotangent of an operand goes; of a constant, nowhere.
template <class T>
struct slot_of {
  explicit slot_of(T const&) {}
  static constexpr bool wanted = false;
};
template <class T, class Cotangent>
struct slot_of<variable<T, Cotangent>> {
  explicit slot_of(variable<T, Cotangent> const& x) : slot(x.slot()) {}
  static constexpr bool wanted = true;
  using cotangent_type = Cotangent;
  cotangent_slot<Cotangent>* slot;
};

template <class T>
tape* tape_of(T const&) {
  return nullptr;
}
template <class T, class Cotangent>
tape* tape_of(variable<T, Cotangent> const& x) {
  return x.tape();
}

/// A tensor of the axes of `Wanted`, and perhaps more, as one: sums over those that it lacks, and moves.
template <class Wanted, class G>
Wanted summed_to(G const& g) {
  using target = sharding_in<Wanted>;
  if constexpr (std::is_same_v<sharding_in<G>, target>)
    return g;
  else if constexpr (std::is_same_v<axes_in<G>, axes_in<Wanted>>)
    return checked_reshard<at_once, target>("reshard", g, policy<planner::admit::any>{});
  else
    return reduce<target, reduction::sum>("sum", g, policy<planner::admit::any>{});
}

/// What a variable's cotangents came to, if there were any.
template <class Cotangent>
struct cotangent_sum {
  bool is_empty;
  Cotangent sum;
};

[[noreturn, gnu::cold]] inline void throw_other_tape() {
  throw error(
      "value_and_grad: variables that meet are of one derivative, but one of these is of an outer os::value_and_grad, or was captured by a "
      "function of os::checkpoint; hand it over as an argument, or its value by os::stop_gradient(x)");
}

inline void join_tapes(tape*& all, tape* one) {
  if (one == nullptr) return;
  if (all != nullptr && all != one) throw_other_tape();
  all = one;
}

/// The node of an operation on operands of these types.
template <class Cotangent, class Pullback, class... Operands>
class recorded : public cotangent_slot<Cotangent> {
 public:
  template <class P>
  explicit recorded(P&& pullback, Operands const&... operands)
      : pullback_(std::forward<P>(pullback)), slots_(slot_of<Operands>(operands)...) {}

  void pull() override {
    if (!this->is_empty()) pull_each(std::index_sequence_for<Operands...>{});
  }

 private:
  template <std::size_t... Ks>
  void pull_each(std::index_sequence<Ks...>) {
    if constexpr (requires { pullback_.pull_all(this->sum()); }) {
      auto const all = pullback_.pull_all(this->sum());
      (hand_on(std::get<Ks>(slots_), std::get<Ks>(all)), ...);
    } else {
      (pull_one<static_cast<int>(Ks)>(std::get<Ks>(slots_)), ...);
    }
  }

  template <int K, class Slot>
  void pull_one(Slot const& to) {
    if constexpr (Slot::wanted)
      to.slot->add(pullback_.template pull<K, typename Slot::cotangent_type>(this->sum()));
  }

  template <class Slot, class G>
  static void hand_on(Slot const& to, G const& g) {
    if constexpr (Slot::wanted) to.slot->add(summed_to<typename Slot::cotangent_type>(g));
  }
  template <class Slot, class Sum>
  static void hand_on(Slot const& to, cotangent_sum<Sum> const& g) {
    if constexpr (Slot::wanted)
      if (!g.is_empty) to.slot->add(g.sum);
  }

  Pullback pullback_;
  std::tuple<slot_of<Operands>...> slots_;
};

/// The result of an operation as a variable whose cotangents have the type `Cotangent`.
template <class Cotangent, class Result, class Pullback, class... Operands>
auto record_as(Result const& result, Pullback pullback, Operands const&... operands) {
  tape* of_operands = nullptr;
  (join_tapes(of_operands, tape_of(operands)), ...);
  auto* const node = of_operands->template push<recorded<Cotangent, Pullback, Operands...>>(std::move(pullback),
                                                                                            operands...);
  return variable<Result, Cotangent>(result, node, of_operands);
}

/// The same, of the result's type.
template <class Result, class Pullback, class... Operands>
auto record(Result const& result, Pullback pullback, Operands const&... operands) {
  return record_as<cotangent_of<Result>>(result, std::move(pullback), operands...);
}

struct identity_pullback {
  template <int, class Wanted, class G>
  Wanted pull(G const& g) const {
    return summed_to<Wanted>(g);
  }
};

template <class Wanted, class T, class Cotangent>
variable<T, Wanted> with_cotangent(variable<T, Cotangent> const& x) {
  return record_as<Wanted>(x.value(), identity_pullback{}, x);
}

/// The tensors of a pullback: those that a derivative needs, else nothing.
struct not_kept {
  template <class T>
  explicit not_kept(T const&) {}
};
template <bool Needed, class T>
using kept = std::conditional_t<Needed, T, not_kept>;

}  // namespace ostraka::detail
