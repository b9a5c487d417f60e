// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::dropout(x, 0.1, os::seed(1))`: each element becomes zero with that probability, and the others are
/// divided by the probability of being kept. The choice is a function of the seed and the global index: the same on
/// every mesh.

#include <cstdint>
#include <type_traits>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/calls/along.hpp>
#include <ostraka/operations/creation/random_numbers.hpp>

namespace ostraka {

namespace operation {

struct dropout : detail::moves_nothing {
  static constexpr char const* name = "dropout";

  double rate = 0;
  ostraka::seed seed = ostraka::seed(0);

  /// Linear in x: summands stay summands.
  template <class A>
  using verdict =
      detail::first_fault<typename sharding_traits<sharding_in<A>>::verdict, detail::blocks_verdict<sharding<>, A>,
                          typename decltype(detail::check_random_elements<detail::random_kind::number,
                                                                          typename A::value_type, dropout>())::type,
                          detail::kinds_verdict<reduction::sum, A>>;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    using element = typename A::value_type;
    using wide = accumulator_of_t<element>;
    detail::common_mesh(name, a);
    detail::require_probability(name, rate);
    detail::require_seed(name, a, seed.value);
    auto const result = detail::uninitialised_like(a);
    double const kept = 1 - rate;
    engine::bernoulli_number<element> const mask{detail::seed_of_block(a, seed).value, kept};
    detail::of_element_and_position<engine::dropped_number<element>, A::rank> f{
        {{mask, wide(static_cast<detail::real_of<wide>>(kept > 0 ? 1 / kept : 0))}, {}}};
    planner::range where[A::rank + 1];
    for (int d = 0; d < A::rank; ++d) {
      where[d] = a.range(d);
      f.extent[d] = a.extents()[static_cast<std::size_t>(d)];
    }
    detail::profiled_block<A> const region_of_run(name, a, "reads and writes", 2);
    engine::map_with_indices<A::rank>(detail::execution_space_of<A>(), result.local().data(), detail::elements_of(a),
                                      where, f);
    return result;
  }
};

}  // namespace operation

/// x / (1 − rate) where an element is kept, else 0. In the body of os::shard_map masks differ between the devices along
/// which a block varies, and depend on their places on the mesh. @throws ostraka::error unless the rate is from 0 to 1
template <TensorOrVariable A>
[[nodiscard]] constexpr auto dropout(A const& a, double rate, seed s) {
  return detail::operate(operation::dropout{{}, rate, s}, a);
}

}  // namespace ostraka
