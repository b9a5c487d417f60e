// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Numerics: sums, means, extremes and norms of blocks that are uneven or empty, and what may be done with summands.

// page: Numerics
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>
#include <ostraka/optimizers.hpp>
#include <ostraka/tree.hpp>

#include <cmath>
#include <cstdint>

#include "field/field_case.hpp"
#include "support/on_meshes.hpp"

using namespace field;

namespace {

template <class Leaf>
struct parameters {
  os::leaf<Leaf, double, I/X, J> w;
  os::leaf<Leaf, double, K> b;
  os::leaf<Leaf, double, J, L/X> v;
};

}  // namespace

FIELD_CASE(
    "N1", "pytorch/pytorch#162692",
    "The mean over everything was the mean of the ranks' means: rows that the ranks do not divide evenly weighed "
    "too much, and an empty rank made it NaN.") {
  auto const A = count_up("IJ", {3, 4});
  under<matrices<double>>(A, [](auto const& a) {
    gives(os::mean<>(a), 5.5);
    gives(os::mean<J>(a), {4, 5, 6, 7});
    gives(os::variance<>(a), 143.0 / 12);
  });
  under<summands<double>>(A, [](auto const& a) {
    gives(os::mean<>(a), 5.5);
    gives(os::mean<J/X>(a), {4, 5, 6, 7});
  });
  auto const one_row = count_up("IJ", {1, 4});
  under<matrices<double>>(one_row, [](auto const& a) { gives(os::mean<>(a), 1.5); });
}

FIELD_CASE("N2", "pytorch/pytorch#163193, pytorch/pytorch#149768, pytorch/pytorch#167813",
           "Adding 10 to a sum that is still distributed over two ranks added it on both: 65 for 55.") {
  auto const V = count_up("I", {10});
  under<vectors<double>>(V, [](auto const& v) {
    gives(os::sum<>(v) + 10, 55);
    gives(10 + os::sum<>(v), 55);
    gives(os::sum<>(v) - 10, 35);
    gives(os::sum<>(v) + os::full<double>(mesh(), 10), 55);
  });
  auto const v = place<os::tensor<double, I/X>>(V);
  auto const s = os::sum<os::partial(X)>(v);
  gives(os::all_reduce<X>(2 * s), 90);
  gives(os::all_reduce<X>(s + s), 90);
  // does not compile: partial_in_nonlinear_operation.add_number
  // does not compile: partial_plus_replicated
  // does not compile: partial_plus_replicated.subtract
}

FIELD_CASE(
    "N4", "pytorch/pytorch#168940, pytorch/pytorch#173936, tenstorrent/tt-mlir#8623",
    "The index of the largest element along a divided axis was the largest (or the sum) of the ranks' local indices.") {
  under<vectors<double>>(numbers("I", {4}, {10, 5, 3, 8}), [](auto const& a) {
    gives(os::argmax<>(a), 0);
    gives(os::argmin<>(a), 2);
  });
  auto const ties = numbers("I", {4}, {7, 1, 7, 2});
  under<vectors<double>>(ties, [](auto const& a) { gives(os::argmax<>(a), 0); });
  auto const uneven = numbers("I", {5}, {-1, -5, 2, -7, 2});
  under<vectors<double>>(uneven, [](auto const& a) { gives(os::argmax<>(a), 2); });
  auto const with_nan = numbers("I", {5}, {1, 9, 2, not_a_number, 3});
  under<vectors<double>>(with_nan, [](auto const& a) { gives(os::argmax<>(a), 3); });
  auto const alone = numbers("I", {1}, {4});
  under<vectors<double>>(alone, [](auto const& a) { gives(os::argmax<>(a), 0); });
  auto const rows = numbers("IJ", {4, 4}, {3, 9, 1, 9, 3, 9, 1, 9, 3, 9, 1, 9, 3, 9, 1, 9});
  under<matrices<double>>(rows, [](auto const& a) { gives(os::argmax<I>(a), {1, 1, 1, 1}); });
  auto const last_row = numbers("IJ", {2, 2}, {1, 2, 4, 3});
  under<matrices<double>>(last_row, [](auto const& a) { gives(os::argmax<>(a), 2); });
}

FIELD_CASE("N13", "NVIDIA-NeMo/RL#3788, mindspore-ai/hyper-parallel#526, ROCm/TransformerEngine#715",
           "The norm of the gradients counted repeated elements once for each rank: √34 for 5 on two ranks.") {
  parameters<os::values> p;
  p.w = place<os::tensor<double, I/X, J>>(numbers("IJ", {2, 2}, {2, 2, 2, 2}));
  p.b = place<os::tensor<double, K>>(numbers("K", {1}, {3}));
  p.v = place<os::tensor<double, J, L/X>>(numbers("JL", {2, 0}, {}));
  gives(os::global_norm(p), 5);
  os::clip_by_global_norm(p, 1);
  gives(p.w, {0.4, 0.4, 0.4, 0.4});
  gives(p.b, {0.6});
  p.w = place<os::tensor<double, I/X, J>>(numbers("IJ", {2, 2}, {infinite, 2, 2, 2}));
  os::clip_by_global_norm(p, 1);
  gives(p.w, {not_a_number, 0, 0, 0});
  gives(p.b, {0});
  // does not compile: partial_in_nonlinear_operation.global_norm
}

FIELD_CASE("N17", "pytorch/pytorch#147180",
           "Comparing two tensors of summands compared the summands: −5p == 2p was true everywhere.") {
  auto const P = numbers("I", {2}, {0, 3});
  under<list<os::tensor<double, I, os::partial(X)>, os::tensor<double, I, os::partial(X, Y)>>>(P, [](auto const& p) {
    gives(os::reshard<I>(-5 * p) == os::reshard<I>(2 * p), {true, false});
  });
  // does not compile: partial_in_nonlinear_operation.field_n17
}

FIELD_CASE("O1", "helmholtz-analytics/heat#730",
           "A sum over one axis left a result that was said to be divided along an axis it did not have.") {
  auto const A = count_up("IJ", {3, 2});
  under<matrices<double>>(A, [](auto const& a) {
    gives(os::sum<J>(a), {6, 9}, {2});
    gives(os::sum<J/X>(a), {6, 9}, {2});
    gives(os::max<I>(a), {1, 3, 5}, {3});
  });
  under<summands<double>>(A, [](auto const& a) { gives(os::sum<J/X>(a), {6, 9}, {2}); });
  // does not compile: assigned_other_axes
}

FIELD_CASE("O2", "dask/dask#8637", "The result of a reduction depended on the pieces into which the array was cut.") {
  auto const A = numbers("IJ", {5, 3}, {4, -2, 7, 1, 0, 3, -8, 5, 2, 6, 6, 6, -1, -1, 9});
  under<matrices<double>>(A, [](auto const& a) {
    gives(os::min<>(a), -8);
    gives(os::prod<J>(a), {192, 0, 2268});
    gives(os::cumsum<I>(os::reshard<I, J/X>(a)), {4, -2, 7, 5, -2, 10, -3, 3, 12, 3, 9, 18, 2, 8, 27});
    gives(os::cumsum<I/X>(os::reshard<I/X, J>(a)), {4, -2, 7, 5, -2, 10, -3, 3, 12, 3, 9, 18, 2, 8, 27});
    gives(os::norm<I>(os::reshard<I/X, J>(a)),
          {8.306623862918075, 3.1622776601683795, 9.643650760992955, 10.392304845413264, 9.1104335791443});
  });
}

FIELD_CASE("O3", "meta-pytorch/torchrec#3809",
           "The largest element of a tensor without elements raised an error, and empty blocks are usual.") {
  auto const one = numbers("I", {1}, {-4});
  under<vectors<double>>(one, [](auto const& a) {
    gives(os::max<>(a), -4);
    gives(os::max<>(os::abs(a)), 4);
  });
  auto const none = numbers("I", {0}, {});
  under<vectors<double>>(none, [](auto const& a) {
    gives(os::max<>(a), -infinite);
    gives(os::sum<>(a), 0);
    gives(os::prod<>(a), 1);
    gives(os::norm<>(a), 0);
    refuses([&] { static_cast<void>(os::argmax<>(a)); }, "argmax: the result is one of the elements");
  });
}
