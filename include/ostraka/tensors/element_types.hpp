// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The element types of tensors, and the verdict on the type of a tensor.

#include <Kokkos_Core.hpp>

#include <complex>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/types/reasons/operation_names.hpp>
#include <ostraka/types/shardings/sharding.hpp>

namespace ostraka::detail {

// std::complex does not work on devices; Kokkos::complex, with the same layout, replaces it.
template <class T>
struct element {
  using type = T;
};

template <class T>
struct element<std::complex<T>> {
  using type = Kokkos::complex<T>;
};

template <class T>
struct element<T const> {
  using type = typename element<T>::type const;
};

template <class T>
struct real_part {
  using type = T;
};

template <class T>
struct real_part<Kokkos::complex<T>> {
  using type = T;
};

template <class T>
using real_of = typename real_part<T>::type;

template <class T>
inline constexpr bool is_element = is_one_of<T, float, double, Kokkos::complex<float>, Kokkos::complex<double>, float16,
                                             bfloat16, bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t>;

template <class T, reduction How, class Culprit>
consteval auto check_reducible() {
  if constexpr (engine::is_reducible<T>(How))
    return found<reason::ok>{};
  else if constexpr (How == reduction::max || How == reduction::min)
    return found<reason::elements_have_no_order<T, Culprit>>{};
  else if constexpr (std::is_same_v<T, bool>)
    return found<reason::bools_do_not_add<Culprit>>{};
  else
    return found<reason::elements_are_not_integral<T, Culprit>>{};
}

// `reason::ok` if elements T have this reduction. `Culprit`: the operation that needs it.
template <class T, reduction How, class Culprit>
using reducible_verdict = typename decltype(check_reducible<T, How, Culprit>())::type;

template <class T, class... Partials>
consteval auto check_element(type_list<Partials...>) {
  if constexpr (!is_element<T>)
    return found<reason::element_type_unsupported<T>>{};
  else
    return found<first_fault<reducible_verdict<T, Partials::kind, Partials>...>>{};
}

// `reason::ok`, or the reason why a tensor of this sharding cannot have elements T.
template <class T, class Sharding>
using element_verdict = typename decltype(check_element<std::remove_const_t<T>>(
    typename sharding_traits<Sharding>::partial_entries{}))::type;

// `reason::ok`, or the reason why the type of a tensor is refused.
template <class T, class Sharding>
using tensor_verdict = first_fault<typename sharding_traits<Sharding>::verdict, element_verdict<T, Sharding>>;

}  // namespace ostraka::detail
