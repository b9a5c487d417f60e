// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::accumulate(sum, gradients)`: sum ← sum + gradients in place, leaf by leaf, without communication.
/// Partial gradients of microbatches stay partial, and are reduced once, after the last microbatch (docs/training.md).

#include <ostraka/optimizers/update.hpp>

namespace ostraka {

namespace detail {

template <class Wide>
struct add_to {
  KOKKOS_INLINE_FUNCTION void operator()(Wide& sum, Wide const& g) const { sum += g; }
  void run(Wide* sum, Wide const* g) const {
    for (int i = 0; i < engine::run_of_neighbours; ++i) sum[i] += g[i];
  }
};

template <class... Ps>
consteval bool are_sums(type_list<Ps...>) {
  return ((Ps::kind == reduction::sum) && ...);
}

template <class Sum, class G>
consteval auto check_accumulate() {
  using traits = sharding_traits<sharding_in<Sum>>;
  if constexpr (!std::is_same_v<sharding_in<Sum>, sharding_in<G>>)
    return found<reason::accumulated_another_sharding<sharding_in<Sum>, sharding_in<G>>>{};
  else if constexpr (!are_sums(typename traits::partial_entries{}))
    return found<
        reason::partial_in_nonlinear_operation<typename type_at<typename traits::partials, 0>::type, operation::add>>{};
  else
    return found<writable_verdict<Sum>>{};
}

struct accumulate_leaf {
  template <class Sum, class G>
  void operator()(path const&, Sum const& sum, G const& g) const {
    if constexpr (reason::ok_or_raise<typename decltype(check_accumulate<Sum, G>())::type>()) {
      using wide = accumulator_of_t<typename Sum::value_type>;
      basic_tensor<typename G::value_type const, sharding_in<G>, typename G::space> const read(g);
      change_together<wide>("accumulate", add_to<wide>{}, sum, read);
    }
  }
};

}  // namespace detail

/// sum ← sum + gradients: two trees of one struct, or two tensors, with the same shardings, partial or not. The sum may
/// have wider elements: an os::values_of<float> for gradients of 16 bits.
/// @throws ostraka::error, on all devices alike, if extents or lengths of vectors disagree
template <class Sum, class G>
void accumulate(Sum const& sum, G const& gradients) {
  using shape = typename detail::parameters_traits<Sum>::shape;
  detail::for_each_parameter<shape>("accumulate", detail::accumulate_leaf{}, sum, gradients);
}

}  // namespace ostraka
