// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Every way to write a sharding gives one type; its validity is a question that does not fail. Compiling is passing.

#include <type_traits>

#include <ostraka/plan/typed/to_spec.hpp>
#include <ostraka/types/shardings/sharding.hpp>

namespace os = ostraka;
using std::is_same_v;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(hidden, 5120);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y, 4);
OSTRAKA_MESH_AXIS(Z);

// By hand, without the macro.
struct K_axis : os::axis<"K", 8> {};
inline constexpr K_axis K{};

// ---- what the declarations say --------------------------------------------------------------------------------------

static_assert(os::Axis<I_axis> && !os::MeshAxis<I_axis>);
static_assert(os::MeshAxis<X_mesh> && !os::Axis<X_mesh>);
static_assert(!os::Axis<int> && !os::MeshAxis<os::over<I_axis, X_mesh>>);
static_assert(I_axis::name == "I" && hidden_axis::name == "hidden" && Y_mesh::name == "Y");
static_assert(I_axis::extent == os::dynamic_extent && hidden_axis::extent == 5120 && K_axis::extent == 8);
static_assert(X_mesh::extent == os::dynamic_extent && Y_mesh::extent == 4);

constexpr auto given = (I = 1024);
static_assert(is_same_v<decltype(given), os::named_extent<I_axis> const> && given.value == 1024);

// In a function, and in its lambdas without being captured; an axis of the same name elsewhere is another one.
std::int64_t declared_in_a_function() {
  OSTRAKA_AXIS(P);
  OSTRAKA_AXIS(Q, 12);
  OSTRAKA_MESH_AXIS(W);
  static_assert(P_axis::name == "P" && Q_axis::extent == 12 && W_mesh::extent == os::dynamic_extent);
  static_assert(is_same_v<os::sharding_of<P / W, Q>, os::sharding<os::over<P_axis, W_mesh>, Q_axis>>);
  auto const of_lambda = [](auto n) {
    static_assert(is_same_v<os::sharding_of<Q, P / W>, os::sharding<Q_axis, os::over<P_axis, W_mesh>>>);
    return os::sizes(P = n, J = 3).of(P);
  };
  return of_lambda(5) + of_lambda(6U);
}

// And in a class.
template <class T>
struct layer {
  OSTRAKA_AXIS(Q, 7);
  using weights = os::sharding_of<Q, J>;
};
static_assert(is_same_v<os::sharding_of<layer<int>::Q, J>, layer<int>::weights> &&
              !is_same_v<layer<int>::weights, layer<long>::weights>);

template <class T>
auto declared_in_a_template(T n) {
  OSTRAKA_AXIS(Q);
  return os::sizes(Q = n, J = 3);
}
static_assert(!is_same_v<decltype(declared_in_a_template(1)), decltype(declared_in_a_template(1U))>);

// ---- one type a sharding --------------------------------------------------------------------------------------------

constexpr auto I_X = I / X;
constexpr auto I_XY = I / X / Y;
constexpr auto U_X = os::partial(X);

static_assert(is_same_v<decltype(I / X), os::over<I_axis, X_mesh>>);
static_assert(is_same_v<decltype(I / X / Y), os::over<I_axis, X_mesh, Y_mesh>>);
static_assert(is_same_v<decltype(I_X / Y), decltype(I / X / Y)>);

// A bare axis stays bare, also when it is written as one divided over nothing.
static_assert(is_same_v<os::sharding_of<I, J>, os::sharding<I_axis, J_axis>>);
static_assert(is_same_v<os::sharding_of<os::over<I_axis>{}, J>, os::sharding_of<I, J>>);
static_assert(is_same_v<os::sharding_of<I / X, J>, os::sharding<os::over<I_axis, X_mesh>, J_axis>>);
static_assert(is_same_v<os::sharding_of<>, os::sharding<>>);

// The literature's spelling.
static_assert(is_same_v<os::sharding_of<I_X, J>, os::sharding_of<I / X, J>>);
static_assert(is_same_v<os::sharding_of<I_XY, J>, os::sharding_of<I / X / Y, J>>);
static_assert(is_same_v<os::sharding_of<I, U_X>, os::sharding_of<I, os::partial(X)>>);

// Mesh axes of a partial are a set: their order, their grouping and their place do not matter.
static_assert(is_same_v<os::sharding_of<I, os::partial(X, Y)>, os::sharding_of<I, os::partial(Y, X)>>);
static_assert(is_same_v<os::sharding_of<I, os::partial(X), os::partial(Y)>, os::sharding_of<I, os::partial(X, Y)>>);
static_assert(is_same_v<os::sharding_of<os::partial(Y), I, os::partial(X)>, os::sharding_of<I, os::partial(X, Y)>>);
static_assert(
    is_same_v<os::sharding_of<I, os::partial(Z, Y, X)>, os::sharding<I_axis, os::partial_sum<X_mesh, Y_mesh, Z_mesh>>>);
static_assert(is_same_v<os::sharding_of<I, os::partial(Y, Z, X)>, os::sharding_of<I, os::partial(X, Z, Y)>>);

// The other kinds alike, each with its own canonical entry.
static_assert(is_same_v<decltype(os::partial(X)), decltype(os::partial_sum(X))>);
static_assert(
    is_same_v<os::sharding_of<I, os::partial_max(Y, X)>, os::sharding<I_axis, os::partial_max<X_mesh, Y_mesh>>>);
static_assert(
    is_same_v<os::sharding_of<I, os::partial_max(Y), os::partial_max(X)>, os::sharding_of<os::partial_max(X, Y), I>>);
static_assert(is_same_v<os::sharding_of<os::partial_min(X)>, os::sharding<os::partial_min<X_mesh>>>);
static_assert(is_same_v<os::sharding_of<os::partial_prod(X)>, os::sharding<os::partial_prod<X_mesh>>>);
static_assert(is_same_v<os::sharding_of<os::partial_and(X)>, os::sharding<os::partial_and<X_mesh>>>);
static_assert(is_same_v<os::sharding_of<os::partial_or(X)>, os::sharding<os::partial_or<X_mesh>>>);
static_assert(!is_same_v<os::sharding_of<os::partial_or(X)>, os::sharding_of<os::partial_and(X)>>);

// A different meaning is a different type.
static_assert(!is_same_v<os::sharding_of<I / X / Y>, os::sharding_of<I / Y / X>>);
static_assert(!is_same_v<os::sharding_of<I, J>, os::sharding_of<J, I>>);
static_assert(!is_same_v<os::sharding_of<I, os::partial(X)>, os::sharding_of<I>>);

// ---- what a sharding says of itself ---------------------------------------------------------------------------------

using traits = os::sharding_traits<os::sharding_of<I / X, J / Y, K, os::partial(Z)>>;
static_assert(traits::rank == 3);
static_assert(is_same_v<traits::axes, os::type_list<I_axis, J_axis, K_axis>>);
static_assert(is_same_v<traits::splits, os::type_list<X_mesh, Y_mesh>>);
static_assert(is_same_v<traits::partials, os::type_list<Z_mesh>>);
static_assert(is_same_v<traits::mesh_axes, os::type_list<X_mesh, Y_mesh, Z_mesh>>);

// ---- validity is a question -----------------------------------------------------------------------------------------

template <class Sharding>
using verdict = typename os::sharding_traits<Sharding>::verdict;

static_assert(os::is_valid_sharding<os::sharding_of<>>);
static_assert(os::is_valid_sharding<os::sharding_of<I / X / Y, J, K, os::partial(Z)>>);
static_assert(!os::is_valid_sharding<os::sharding_of<I, I>>);
static_assert(is_same_v<verdict<os::sharding_of<I / X, J, I / Y>>, os::reason::axis_used_twice<I_axis>>);

// Each way to use a mesh axis twice; the reason names both uses.
template <class Sharding, class FirstUse, class SecondUse>
constexpr bool uses_x_twice =
    is_same_v<verdict<Sharding>, os::reason::mesh_axis_used_twice<X_mesh, FirstUse, SecondUse>>;
static_assert(uses_x_twice<os::sharding_of<I / X, J / X>, I_axis, J_axis>);
static_assert(uses_x_twice<os::sharding_of<I / X / X>, I_axis, I_axis>);
static_assert(uses_x_twice<os::sharding_of<I / X / Y, K, J / Z / X>, I_axis, J_axis>);
static_assert(uses_x_twice<os::sharding_of<I / X, J / X, K / X>, I_axis, J_axis>);
static_assert(uses_x_twice<os::sharding_of<I / X, os::partial(X)>, I_axis, decltype(os::partial(X))>);
static_assert(uses_x_twice<os::sharding_of<I, J / Y / X, os::partial(Z, X)>, J_axis, decltype(os::partial(X, Z))>);
static_assert(uses_x_twice<os::sharding_of<I, os::partial(X), os::partial(X)>, decltype(os::partial(X, X)),
                           decltype(os::partial(X, X))>);

static_assert(uses_x_twice<os::sharding_of<I, os::partial(X), os::partial_max(X)>, os::partial_sum<X_mesh>,
                           os::partial_max<X_mesh>>);
static_assert(uses_x_twice<os::sharding_of<I / X, os::partial_min(X)>, I_axis, os::partial_min<X_mesh>>);

// One kind a tensor.
static_assert(is_same_v<verdict<os::sharding_of<I, os::partial(X), os::partial_max(Y)>>,
                        os::reason::partial_in_two_ways<os::partial_sum<X_mesh>, os::partial_max<Y_mesh>>>);
static_assert(is_same_v<verdict<os::sharding_of<os::partial_or(Z), I, os::partial_and(X), os::partial_or(Y)>>,
                        os::reason::partial_in_two_ways<os::partial_or<Y_mesh, Z_mesh>, os::partial_and<X_mesh>>>);

static_assert(is_same_v<verdict<os::sharding_of<I, X>>, os::reason::not_a_dimension<X_mesh>>);
static_assert(is_same_v<verdict<os::sharding_of<I, 7>>, os::reason::not_a_dimension<int>>);

struct a : os::axis<"a"> {};
struct b : os::axis<"b"> {};
struct c : os::axis<"c"> {};
struct d : os::axis<"d"> {};
struct e : os::axis<"e"> {};
struct f : os::axis<"f"> {};
static_assert(os::is_valid_sharding<os::sharding<a, b, c, d, e, f, I_axis, J_axis>>);
static_assert(is_same_v<verdict<os::sharding<a, b, c, d, e, f, I_axis, J_axis, K_axis>>, os::reason::too_many_axes<9>>);

// ---- to values and back ---------------------------------------------------------------------------------------------

template <class S, os::reduction Kind>
constexpr bool goes_through_the_door = [] {
  using axes = os::axes_in<S>;
  using mesh = os::type_list<Z_mesh, Y_mesh, X_mesh>;
  constexpr auto value = os::spec_of<S, axes, mesh>;
  return value.kind == Kind && value.partial.bits == 6 && is_same_v<os::sharding_from<value, axes, mesh>, S>;
}();
static_assert(goes_through_the_door<os::sharding_of<I / Z, J, os::partial(X, Y)>, os::reduction::sum>);
static_assert(goes_through_the_door<os::sharding_of<I / Z, J, os::partial_max(X, Y)>, os::reduction::max>);
static_assert(goes_through_the_door<os::sharding_of<I / Z, J, os::partial_min(X, Y)>, os::reduction::min>);
static_assert(goes_through_the_door<os::sharding_of<I / Z, J, os::partial_prod(X, Y)>, os::reduction::prod>);
static_assert(goes_through_the_door<os::sharding_of<I / Z, J, os::partial_and(X, Y)>, os::reduction::bit_and>);
static_assert(goes_through_the_door<os::sharding_of<I / Z, J, os::partial_or(X, Y)>, os::reduction::bit_or>);
