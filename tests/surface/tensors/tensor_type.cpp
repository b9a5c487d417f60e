// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1

/// @file
/// The same tensor always has the same type, and operations give the type that was asked for. Compiling is passing.
// sham:

#include <complex>
#include <type_traits>

#include <ostraka/ostraka.hpp>

namespace os = ostraka;
using std::is_same_v;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

constexpr auto I_X = I / X;
using space = Kokkos::DefaultExecutionSpace::device_type;

static_assert(is_same_v<os::tensor<float, I / X, J>,
                        os::basic_tensor<float, os::sharding<os::over<I_axis, X_mesh>, J_axis>, space>>);
static_assert(is_same_v<os::tensor<float, I_X, J>, os::tensor<float, I / X, J>>);
static_assert(is_same_v<os::tensor<float, I, os::partial(Y, X)>, os::tensor<float, I, os::partial(X), os::partial(Y)>>);
static_assert(is_same_v<os::tensor<std::complex<double>, I>, os::tensor<Kokkos::complex<double>, I>>);
static_assert(!is_same_v<os::tensor<float, I>, os::tensor<double, I>>);
static_assert(os::Tensor<os::tensor<float>> && !os::Tensor<float>);

using A = os::tensor<float, I / X, J>;
using B = os::tensor<float, J, K / Y>;
static_assert(A::rank == 2 && is_same_v<A::view_type, Kokkos::View<float**, Kokkos::LayoutRight, space>>);
static_assert(os::tensor<float>::rank == 0);

A a();
B b();
static_assert(is_same_v<decltype(os::einsum<I / X, K / Y>(a(), b())), os::tensor<float, I / X, K / Y>>);
static_assert(is_same_v<decltype(os::contract<J>(a(), b())), os::tensor<float, I / X, K / Y>>);
static_assert(is_same_v<decltype(os::contract<>(a(), b())), os::tensor<float, I / X, J, K / Y>>);
static_assert(is_same_v<decltype(os::reshard<I, J / Y>(a())), os::tensor<float, I, J / Y>>);
static_assert(is_same_v<decltype(os::all_gather<X>(a())), os::tensor<float, I, J>>);
static_assert(is_same_v<decltype(os::all_to_all<J / X>(a())), os::tensor<float, I, J / X>>);
static_assert(is_same_v<decltype(os::slice<J / Y>(a())), os::tensor<float, I / X, J / Y>>);
static_assert(is_same_v<decltype(os::slice<I / Y>(a())), os::tensor<float, I / X / Y, J>>);
static_assert(is_same_v<decltype(os::rename<J, K>(a())), os::tensor<float, I / X, K>>);
static_assert(is_same_v<decltype(os::sum<I / X>(a())), os::tensor<float, I / X>>);
static_assert(is_same_v<decltype(os::sum<J, os::partial(X)>(a())), os::tensor<float, J, os::partial(X)>>);
static_assert(is_same_v<decltype(os::all_reduce<X>(os::sum<J, os::partial(X)>(a()))), os::tensor<float, J>>);
static_assert(
    is_same_v<decltype(os::reduce_scatter<J / X>(os::sum<J, os::partial(X)>(a()))), os::tensor<float, J / X>>);

// Queries take tensor types.
static_assert(os::can_contract<os::dims<J>, A, B> && !os::can_contract<os::dims<J>, A, os::tensor<float, J, K / X>>);
static_assert(os::can_einsum<os::dims<I, K>, A, B> &&
              os::plan_of<os::dims<I, J>, os::tensor<double, I / X, J>>.bytes(I = 8, J = 2, X = 2) == 64);

// With constant elements a tensor is read-only: an operand like any other, and tensors that share its memory are
// read-only, too.
using C = os::tensor<float const, I / X, J>;
C c();
static_assert(is_same_v<C::value_type, float> && is_same_v<C::element_type, float const> &&
              is_same_v<C::view_type, Kokkos::View<float const**, Kokkos::LayoutRight, space>>);
static_assert(is_same_v<decltype(os::einsum<I / X, K / Y>(c(), b())), os::tensor<float, I / X, K / Y>>);
static_assert(is_same_v<decltype(os::add(c(), a())), A> && is_same_v<decltype(os::scale(2, c())), A> &&
              is_same_v<decltype(os::copy(c())), A>);
static_assert(is_same_v<decltype(os::all_gather<X>(c())), os::tensor<float, I, J>> &&
              is_same_v<decltype(os::reshard<I / X, J>(c())), C>);
static_assert(is_same_v<decltype(os::rename<J, K>(c())), os::tensor<float const, I / X, K>>);
static_assert(os::can_contract<os::dims<J>, C, B> && std::is_convertible_v<A, C>);
