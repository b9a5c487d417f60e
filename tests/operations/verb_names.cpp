// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Errors name the function that the program called: each one gets tensors that are empty handles, and an axis is split
/// by extents that do not multiply.
// ranks: 1
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include <ostraka/experts.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/optimizers.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class F>
std::string thrown_by(F const& f) {
  try {
    f();
  } catch (os::error const& e) {
    return e.what();
  }
  return "nothing";
}

// The name before the colon.
template <class F>
std::string named_by(F const& f) {
  std::string const text = thrown_by(f);
  return text.substr(0, text.find(':'));
}

}  // namespace

#define CHECK_NAME(name, ...) CHECK(named_by([&] { static_cast<void>(__VA_ARGS__); }) == name)

TEST_CASE("errors name the function that was called") {
  os::tensor<double, I, J> const a;
  os::tensor<double, I> const row;
  os::tensor<bool, I, J> const b;
  os::tensor<std::int32_t, I> const index;

  CHECK_NAME("sum", os::sum<I>(a));
  CHECK_NAME("max", os::max<I>(a));
  CHECK_NAME("min", os::min<I>(a));
  CHECK_NAME("prod", os::prod<I>(a));
  CHECK_NAME("mean", os::mean<I>(a));
  CHECK_NAME("bit_and", os::bit_and<I>(b));
  CHECK_NAME("bit_or", os::bit_or<I>(b));
  CHECK_NAME("norm", os::norm<I>(a));
  CHECK_NAME("variance", os::variance<I>(a));
  CHECK_NAME("standard_deviation", os::standard_deviation<I>(a));
  CHECK_NAME("count", os::count<I>(a));
  CHECK_NAME("any", os::any<I>(b));
  CHECK_NAME("all", os::all<I>(b));
  CHECK_NAME("argmax", os::argmax<I>(a));
  CHECK_NAME("argmin", os::argmin<I>(a));

  CHECK_NAME("map", os::map([](double x) { return x; }, a));
  CHECK_NAME("map_into", os::map_into(a, [](double x) { return x; }, a));
  CHECK_NAME("add", os::add(a, a));
  CHECK_NAME("subtract", os::subtract(a, a));
  CHECK_NAME("multiply", os::multiply(a, a));
  CHECK_NAME("divide", os::divide(a, a));
  CHECK_NAME("negate", os::negate(a));
  CHECK_NAME("scale", os::scale(2.0, a));
  CHECK_NAME("maximum", os::maximum(a, a));
  CHECK_NAME("minimum", os::minimum(a, a));
  CHECK_NAME("where", os::where(b, a, a));
  CHECK_NAME("cast", os::cast<float>(a));
  CHECK_NAME("equal", os::equal(a, a));
  CHECK_NAME("less", os::less(a, 1.0));
  CHECK_NAME("logical_and", os::logical_and(b, b));
  CHECK_NAME("logical_not", os::logical_not(b));
  CHECK_NAME("exp", os::exp(a));
  CHECK_NAME("gelu", os::gelu(a));
  CHECK_NAME("abs", os::abs(a));
  CHECK_NAME("clamp", os::clamp(a, 0.0, 1.0));

  CHECK_NAME("einsum", os::einsum<I, J>(a, row));
  CHECK_NAME("contract", os::contract<J>(a, os::tensor<double, J, K>()));
  CHECK_NAME("einsum_into", os::einsum_into(row, a));
  CHECK_NAME("reshard", os::reshard<I, J>(a));
  CHECK_NAME("reshard_into", os::reshard_into(a, a));
  CHECK_NAME("copy", os::copy(a));
  CHECK_NAME("zeros_like", os::zeros_like(a));
  CHECK_NAME("value", os::value(os::tensor<double>()));
  CHECK_NAME("gather_to_root", os::gather_to_root(a));

  CHECK_NAME("softmax", os::softmax<J>(a));
  CHECK_NAME("log_softmax", os::log_softmax<J>(a));
  CHECK_NAME("log_sum_exp", os::log_sum_exp<J>(a));
  CHECK_NAME("rms_norm", os::rms_norm<J>(a));
  CHECK_NAME("layer_norm", os::layer_norm<J>(a));
  CHECK_NAME("cross_entropy", os::cross_entropy<J>(a, index));
  CHECK_NAME("cross_entropy", os::cross_entropy<J>(a, index, os::ignore(-1)));
  CHECK_NAME("mean_where", os::mean_where<>(a, b));

  CHECK_NAME("take", os::take<J>(os::tensor<double, J>(), index));
  CHECK_NAME("scatter_add", os::scatter_add<K, K, J>(a, index, K = 3));
  CHECK_NAME("segment_sum", os::segment_sum<I, K>(a, index, K = 3));
  CHECK_NAME("one_hot", os::one_hot<double, K>(index, K = 3));
  CHECK_NAME("sort", os::sort<J>(a));
  CHECK_NAME("argsort", os::argsort<J>(a));
  CHECK_NAME("top_k", os::top_k<J, K>(a, K = 1));
  CHECK_NAME("sample", os::sample<J>(a, os::seed(1)));
  CHECK_NAME("cumsum", os::cumsum<J>(a));

  CHECK_NAME("split", os::split<J, K, L>(a, K = 2));
  CHECK_NAME("merge", os::merge<I, J, K>(a));
  CHECK_NAME("transpose", os::transpose<J, I>(a));
  CHECK_NAME("broadcast", os::broadcast<I, J, K>(a, K = 2));
  CHECK_NAME("concatenate", os::concatenate<J>(a, a));
  CHECK_NAME("roll", os::roll<J>(a, 1));
  CHECK_NAME("flip", os::flip<J>(a));
  CHECK_NAME("lower_triangle", os::lower_triangle<I, J>(a));
  CHECK_NAME("attention", os::attention<I, K, J>(a, os::tensor<double, K, J>(), os::tensor<double, K, J>()));

  os::tensor<std::int32_t, I, K> const chosen;
  os::tensor<double, I, K> const weights;
  CHECK_NAME("dropless", os::dropless<L, B>([](auto const& r, auto const&, auto const&) { return r; }, a, chosen,
                                             weights, os::tensor<double, B, J>()));
}

TEST_CASE("an axis that is split says which extents were given") {
  auto const mesh = os::make_mesh(X = 1);
  auto const a = os::zeros<float, J>(mesh, J = 8);
  std::string const begin =
      "split: the extent of the merged axis is the product of the extents of its two parts, but it is J = 8, and ";
  CHECK(thrown_by([&] { static_cast<void>(os::split<J, K, L>(a, K = 3)); }) ==
        begin + "K = 3 does not divide it; give extents whose product it is");
  CHECK(thrown_by([&] { static_cast<void>(os::split<J, K, L>(a, L = 5)); }) ==
        begin + "L = 5 does not divide it; give extents whose product it is");
  CHECK(thrown_by([&] { static_cast<void>(os::split<J, K, L>(a, K = 3, L = 5)); }) ==
        begin + "K = 3 and L = 5 do not multiply to it; give extents whose product it is");
}
