// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Tensors of random numbers: uniform, normal, truncated normal, Bernoulli, and permutations. A number is a
/// function of the seed and of the element's global index, so it is the same on every mesh and equal on replicas. Each
/// device makes its own numbers, and nothing moves.
///
///     os::uniform<float, I/X, J>(mesh, I = 8, J = 8, os::seed(1), os::between(-1, 1))
///     os::normal<float, I/X, J>(mesh, I = 8, J = 8, os::seed(2), os::around(0, 0.02))

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/operate.hpp>
#include <ostraka/creation/creation_options.hpp>
#include <ostraka/engine/kernels/numbers/distributions.hpp>
#include <ostraka/operations/creation/iota.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace operation {
struct uniform;
struct normal;
struct truncated_normal;
struct bernoulli;
struct random_permutation;
}  // namespace operation

namespace detail {

/// f of the position of an element in the whole tensor, row-major.
template <class F, int Rank>
struct at_position {
  F f;
  std::int64_t extent[Rank > 0 ? Rank : 1];

  template <class... Index>
  KOKKOS_INLINE_FUNCTION auto operator()(Index... index) const {
    return f(position(static_cast<std::int64_t>(index)...));
  }

 protected:
  template <class... Index>
  KOKKOS_INLINE_FUNCTION std::uint64_t position(Index... index) const {
    std::uint64_t at = 0;
    int d = 0;
    ((at = at * static_cast<std::uint64_t>(extent[d++]) + static_cast<std::uint64_t>(index)), ...);
    return at;
  }
};

/// f of an element, and of its position.
template <class F, int Rank>
struct of_element_and_position : at_position<F, Rank> {
  template <class T, class... Index>
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, Index... index) const {
    return this->f(x, this->position(static_cast<std::int64_t>(index)...));
  }
};

/// The kinds of elements that a distribution has.
enum class random_kind { any, number, real };

template <random_kind Kind, class T, class Operation>
consteval auto check_random_elements() {
  constexpr bool fits = Kind == random_kind::any ||
                        (!std::is_integral_v<T> && (Kind == random_kind::number || std::is_same_v<real_of<T>, T>));
  if constexpr (fits)
    return found<reason::ok>{};
  else
    return found<reason::not_of_this_distribution<T, Operation>>{};
}

template <random_kind Kind, class TensorType, class Operation>
using random_verdict =
    first_fault<typename decltype(check_random_elements<Kind, typename TensorType::value_type, Operation>())::type,
                values_verdict<TensorType, Operation>>;

/// A tensor of the numbers of `make(tensor, key)`.
template <class TensorType, class Verdict, class Make, class Mesh, class... Given>
auto random_tensor(char const* name, Make const& make, Mesh const& m, Given const&... given) {
  auto t = make_uninitialised<TensorType, Verdict>(name, m, extents_beside<is_option<Given>>(given)...);
  if constexpr (std::is_same_v<decltype(t), TensorType>) {
    std::uint64_t const key = option_among(seed(0), given...).value;
    require_seed(name, t, key);
    auto const f = make(t, key);
    at_position<decltype(make(t, key)), TensorType::rank> all{f, {}};
    for (int d = 0; d < TensorType::rank; ++d) all.extent[d] = t.extents()[static_cast<std::size_t>(d)];
    generate_elements(name, t, all);
  }
  return t;
}

inline void require_deviation(char const* name, double deviation) {
  if (!(deviation >= 0))
    throw_error(name, ": a standard deviation is not negative, but it is ", deviation,
                "; give os::around(mean, deviation)");
}

template <class N>
void require_bounds(char const* name, N low, N high) {
  if (!(low < high))
    throw_error(name, ": the lower bound is below the upper one, but they are ", low, " and ", high,
                "; give os::between(low, high)");
}

inline void require_probability(char const* name, double p) {
  if (!(p >= 0 && p <= 1))
    throw_error(name, ": a probability is from 0 to 1, but it is ", p,
                "; give the part of all elements that it is for");
}

}  // namespace detail

/// A new seed, unrelated to `s` and to the seeds for other numbers: for layer 3, os::fold_in(seed, 3).
[[nodiscard]] inline seed fold_in(seed s, std::uint64_t number) { return seed(engine::folded_key(s.value, number)); }

namespace detail {

inline std::uint64_t coordinate_along(engine::device_mesh const& mesh, std::string_view mesh_axis) {
  return mesh.absent() ? 0 : static_cast<std::uint64_t>(mesh.coordinate(mesh.find(mesh_axis)));
}

/// The seed of this device's block. In the body of os::shard_map a block's indices do not tell its place, so the seed
/// depends on the device's coordinates along the mesh axes along which the block varies.
template <class A>
seed seed_of_block(A const& a, seed s) {
  [&]<class... Ms>(type_list<Ms...>) {
    ((s = fold_in(s, coordinate_along(*a.mesh_handle(), Ms::name))), ...);
  }(varying_in<A>{});
  return s;
}

}  // namespace detail

/// Uniform on [0, 1), or on [low, high) with os::between(low, high); integers by default 0 or 1. Give extents by name,
/// and an os::seed (else 0).
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto uniform(Mesh const& m, Given const&... given) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  using element = typename tensor_type::value_type;
  using number = typename engine::uniform_number<element>::number;
  auto const make = [&](auto const&, std::uint64_t key) {
    auto const bounds =
        detail::numbers_among(between<number>(0, std::is_integral_v<element> ? number(2) : number(1)), given...);
    detail::require_bounds("uniform", bounds.low, bounds.high);
    return engine::uniform_number<element>{key, bounds.low, bounds.high};
  };
  return detail::random_tensor<
      tensor_type,
      detail::first_fault<
          detail::random_verdict<detail::random_kind::any, tensor_type, operation::uniform>,
          typename detail::options_given<operation::uniform, type_list<seed, between<int>>, Given...>::verdict>>(
      "uniform", make, m, given...);
}

/// Normal with mean 0 and standard deviation 1, or those of os::around(mean, deviation). For complex numbers, each part
/// has half of the variance.
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto normal(Mesh const& m, Given const&... given) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  auto const make = [&](auto const&, std::uint64_t key) {
    around const how = detail::option_among(around(0), given...);
    detail::require_deviation("normal", how.deviation);
    return engine::normal_number<typename tensor_type::value_type>{key, how.mean, how.deviation};
  };
  return detail::random_tensor<
      tensor_type, detail::first_fault<
                       detail::random_verdict<detail::random_kind::number, tensor_type, operation::normal>,
                       typename detail::options_given<operation::normal, type_list<seed, around>, Given...>::verdict>>(
      "normal", make, m, given...);
}

/// Normal, truncated at two deviations from the mean, or at the deviations in os::between(low, high); os::around(mean,
/// deviation) sets mean and deviation of the distribution before truncation.
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto truncated_normal(Mesh const& m, Given const&... given) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  auto const make = [&](auto const&, std::uint64_t key) {
    around const how = detail::option_among(around(0), given...);
    auto const bounds = detail::numbers_among(between<double>(-2, 2), given...);
    detail::require_deviation("truncated_normal", how.deviation);
    detail::require_bounds("truncated_normal", bounds.low, bounds.high);
    return engine::truncated_number<typename tensor_type::value_type>::of(key, how.mean, how.deviation, bounds.low,
                                                                          bounds.high);
  };
  return detail::random_tensor<
      tensor_type,
      detail::first_fault<detail::random_verdict<detail::random_kind::real, tensor_type, operation::truncated_normal>,
                          typename detail::options_given<operation::truncated_normal,
                                                         type_list<seed, around, between<int>>, Given...>::verdict>>(
      "truncated_normal", make, m, given...);
}

/// 1 with os::probability(p), by default one half, else 0.
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto bernoulli(Mesh const& m, Given const&... given) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  auto const make = [&](auto const&, std::uint64_t key) {
    double const p = detail::option_among(probability(0.5), given...).value;
    detail::require_probability("bernoulli", p);
    return engine::bernoulli_number<typename tensor_type::value_type>{key, p};
  };
  return detail::random_tensor<
      tensor_type,
      detail::first_fault<
          detail::random_verdict<detail::random_kind::any, tensor_type, operation::bernoulli>,
          typename detail::options_given<operation::bernoulli, type_list<seed, probability>, Given...>::verdict>>(
      "bernoulli", make, m, given...);
}

/// The numbers 0 … n−1 in random order, as std::int64_t: `os::random_permutation<I/X>(mesh, I = n, os::seed(1))`. Each
/// device computes its own part.
template <auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto random_permutation(Mesh const& m, Given const&... given) {
  using tensor_type = tensor<std::int64_t, Dims...>;
  auto const make = [](auto const& t, std::uint64_t key) { return engine::permuted_number{key, t.extents()[0]}; };
  return detail::random_tensor<
      tensor_type,
      detail::first_fault<
          typename decltype(detail::check_one_axis<tensor_type, operation::random_permutation>())::type,
          typename detail::options_given<operation::random_permutation, type_list<seed>, Given...>::verdict>>(
      "random_permutation", make, m, given...);
}

}  // namespace ostraka
