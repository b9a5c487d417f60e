// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. An optimiser's walk over parameters, gradients and its state: leaf by leaf, in one pass over the memory of
/// each. A leaf is updated in the state's sharding: the gradient is resharded to it, and the new parameter back to its
/// own sharding:
///
///     parameter   gradient        state       communication
///     [I, J]      [I, J]          [I, J]      none
///     [I_X, J]    [I_X, J]        [I_X, J]    none
///     [I, J]      [I, J] {U_X}    [I, J]      all-reduce of the gradient
///     [I, J]      [I, J]          [I_X, J]    all-gather of the parameter
///     [I, J]      [I, J] {U_X}    [I_X, J]    reduce-scatter of the gradient, all-gather of the parameter
///
/// Leaves that are resharded on the way use scratch memory. Complex parameters move against the conjugates of their
/// gradients.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ostraka/calls/numbers.hpp>
#include <ostraka/engine/kernels/change_blocks.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/moves/reshard_into.hpp>
#include <ostraka/optimizers/optimizer_state.hpp>

namespace ostraka::detail {

/// The direction in which the loss grows fastest, for a gradient of os::value_and_grad: the conjugate, if complex.
template <class Wide>
KOKKOS_INLINE_FUNCTION Wide uphill(Wide const& g) {
  if constexpr (complex_number<Wide>)
    return Wide(g.real(), -g.imag());
  else
    return g;
}

/// Applies f(x…) to the elements of blocks of one sharding, and writes back the arguments that are not const.
template <class Wide, class F, class First, class... Rest>
void change_together(char const* operation, F const& f, First const& first, Rest const&... rest) {
  context_of<axes_in<First>, mesh_axes_in<First>>(operation, first, rest...);
  profiled_block<First> const region_of_run(operation, first, "reads and writes",
                                            1 + static_cast<int>(sizeof...(Rest)));
  engine::change_blocks<Wide>(operation, execution_space_of<First>(), static_cast<std::int64_t>(first.local().size()),
                              f, first.local().data(), rest.local().data()...);
}

/// A tensor in scratch memory for the duration of a scope.
template <class TensorType>
class scratch_tensor {
 public:
  template <class A>
  explicit scratch_tensor(A const& like) {
    TensorType const shape(like.mesh_handle(), like.extents(), typename TensorType::view_type());
    std::int64_t extents[max_rank + 1]{}, elements = 1;
    for (int i = 0; i < TensorType::rank; ++i) elements *= extents[i] = shape.range(i).size();
    memory_ = decltype(memory_)(elements);
    tensor_ = view(like, extents, std::make_index_sequence<static_cast<std::size_t>(TensorType::rank)>{});
  }

  TensorType const& get() const { return tensor_; }

 private:
  template <class A, std::size_t... Is>
  TensorType view(A const& like, std::int64_t const* extents, std::index_sequence<Is...>) const {
    return TensorType(like.mesh_handle(), like.extents(),
                      typename TensorType::view_type(memory_.data(), static_cast<std::size_t>(extents[Is])...));
  }

  engine::kernel_scratch<typename TensorType::value_type, typename TensorType::view_type::memory_space> memory_;
  TensorType tensor_;
};

template <class A, class Sharding>
using resharded = basic_tensor<typename A::value_type, Sharding, typename A::space>;

/// Calls f with `a` under `Sharding`: `a` itself if it has that sharding, else a temporary.
template <class Sharding, class A, class F>
void with_sharding(A const& a, F const& f) {
  if constexpr (std::is_same_v<sharding_in<A>, Sharding>) {
    f(a);
  } else {
    scratch_tensor<resharded<A, Sharding>> const there(a);
    reshard_into(there.get(), a);
    f(there.get());
  }
}

template <class P, class G>
consteval auto check_update() {
  using own = first_fault<parameter_verdict<P>, writable_verdict<P>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (!std::is_same_v<axes_in<P>, axes_in<G>>)
    return found<reason::gradient_of_other_axes<sharding_in<P>, sharding_in<G>>>{};
  else if constexpr (std::is_integral_v<typename P::value_type>)
    return found<reason::gradient_of_integers<typename P::value_type>>{};
  else if constexpr (std::is_integral_v<typename G::value_type>)
    return found<reason::gradient_of_integers<typename G::value_type>>{};
  else
    return found<reason::ok>{};
}

/// `reason::ok`, or the reason why a parameter cannot be updated by this gradient.
template <class P, class G>
using update_verdict = typename decltype(check_update<P, G>())::type;

/// Updates one leaf: rule(p, g, states…) for its elements. Without states it is updated under the parameter's sharding.
template <class Rule, class P, class G, class... States>
void update_leaf(char const* optimizer, Rule const& rule, P const& p, G const& g, States const&... states) {
  if constexpr (reason::ok_or_raise<update_verdict<P, G>>()) {
    using where = sharding_in<typename nth<0, States..., P>::type>;
    using wide = accumulator_of_t<typename P::value_type>;
    with_sharding<where>(g, [&](auto const& gradient) {
      basic_tensor<typename G::value_type const, where, typename G::space> const read(gradient);
      if constexpr (std::is_same_v<sharding_in<P>, where>) {
        change_together<wide>(optimizer, rule, p, read, states...);
      } else {
        scratch_tensor<resharded<P, where>> const part(p);
        reshard_into(part.get(), p);
        change_together<wide>(optimizer, rule, part.get(), read, states...);
        reshard_into(p, part.get());
      }
    });
  }
}

/// Calls f(path, parameter, gradient, states…) for every leaf. `Shape` is the shape of these trees, or of a single
/// tensor.
template <class Shape, class F, class P, class G, class... States>
void for_each_parameter(char const* optimizer, F f, P const& parameters, G const& gradients, States const&... states) {
  if constexpr (Tensor<P>) {
    f(path{}, parameters, gradients, states...);
  } else if constexpr (reason::ok_or_raise<trees_verdict<P, G, States...>>()) {
    require_same_lengths<Shape>(path{}, optimizer, parameters, gradients, states...);
    visit<Shape>(f, path{}, parameters, gradients, states...);
  }
}

}  // namespace ostraka::detail
