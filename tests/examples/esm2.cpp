// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The layer of examples/esm2: the bytes that its plans predict equal those worked out by hand for the model with 15
/// billion parameters, and those counted when a small layer runs; its three ways give the same gradient. A checkpoint
/// of Hugging Face gives what transformers gives (hugging_face/references.py).
// labels: ci

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "../../examples/esm2/checkpoint.hpp"
#include "../../examples/esm2/plan.hpp"
#include "support/byte_counter.hpp"

namespace {

using namespace esm2;

// Elements of 4 bytes on X=2 · Y=4: a gather over n devices, or its transpose, moves n − 1 of n parts of the array.
constexpr std::int64_t over_y(std::int64_t elements) { return 4 * elements * 3 / 4; }
constexpr std::int64_t over_x(std::int64_t elements) { return 4 * elements / 2; }

constexpr std::int64_t width = 5120, inner = 20480;
constexpr std::int64_t projection = over_x(width * width / 4), wide = over_x(width * inner / 4);

// Tokens of a device's sequences.
constexpr std::int64_t tokens(std::int64_t batch) { return batch / 2 * 512; }

constexpr std::int64_t forward_as_published(std::int64_t batch) {
  std::int64_t const activations = over_y(tokens(batch) * width), statistics = 2 * 2 * over_y(2 * tokens(batch));
  return statistics + (activations + 3 * projection) + (projection + activations) + 2 * (activations + wide);
}

constexpr bool rows_are_as_by_hand(std::int64_t batch) {
  auto const rows = rows_of_layer(of_15_billion(batch));
  std::int64_t const h = over_y(tokens(batch) * width);
  std::int64_t const wanted[] = {0, h, projection, projection, projection, 0, projection + h, 0, h + wide, wide + h};
  for (int i : {1, 2, 3, 4, 5, 6, 8, 9})
    if (rows[static_cast<std::size_t>(i)].published != wanted[i]) return false;
  for (row const& r : rows)
    if (r.planned > r.published) return false;
  return sum_of_layer(of_15_billion(batch)).published == forward_as_published(batch);
}
static_assert(rows_are_as_by_hand(8) && rows_are_as_by_hand(32));

// At batch 8 weights of the feed-forward sublayer stay, and the activations of all sequences come to them. Up: from
// [B_X, S, M_Y] to [B, S, M_X], of which a device has an eighth beforehand, or nothing, and the sum of [B, S, F_Y] over
// X. Down: the gather of that, the sum of [B, S, M_X] over Y, and half of the result moves elsewhere.
constexpr std::int64_t inner_of_all = 2 * tokens(8) * inner / 4, width_of_all = 2 * tokens(8) * width / 2;
constexpr auto at_8 = rows_of_layer(of_15_billion(8));
static_assert(at_8[8].planned == 4 * width_of_all * 7 / 8 + over_x(inner_of_all));
static_assert(at_8[9].planned == over_x(inner_of_all) + over_y(width_of_all) + 4 * width_of_all / 4 * 3 / 4);
static_assert(sum_of_layer(of_15_billion(8)).planned < sum_of_layer(of_15_billion(8)).published);
static_assert(sum_of_layer(of_15_billion(32)).planned == sum_of_layer(of_15_billion(32)).published);

// Parameters without memory: 4 projections and 2 wide weights of a layer, a half over X and a quarter over Y.
constexpr std::int64_t divided = 4 * width * width + 2 * width * inner, whole = 9 * width + inner;
static_assert(os::bytes_a_device<layer>(of_15_billion(8)) == 4 * (divided / 8 + whole));

// The backward is the forward's moves transposed; also, a quarter of each bias and gain is summed over X, and gathered.
constexpr bool backward_is_transposed(passes const& p) {
  return p.backward - p.forward == 4 * (whole / 4 + whole * 3 / 4);
}
static_assert(backward_is_transposed(passes_of<published>(of_15_billion(8))));
static_assert(backward_is_transposed(passes_of<published>(of_15_billion(32))));
static_assert(backward_is_transposed(passes_of<stationary>(of_15_billion(8))));
static_assert(passes_of<stationary>(of_15_billion(8)).forward == sum_of_layer(of_15_billion(8)).planned);

struct filled {
  template <class Leaf>
  auto operator()(Leaf const& leaf) const {
    return os::normal<typename Leaf::type>(leaf.mesh(), leaf.sizes(), leaf.seed(), os::around(0, 0.3));
  }
};

template <class A, class Other>
double difference(A const& a, Other const& b) {
  return os::value(os::max<>(os::abs(a - b)));
}

}  // namespace

TEST_CASE("what is predicted is what is counted, and all ways give the same gradient") {
  int const devices = static_cast<int>(os::testing::numbers_of_ranks(0).size());
  for (int x = 1; x <= devices; ++x) {
    if (devices % x != 0) continue;
    auto const m = os::make_mesh(X = x, Y = devices / x);
    INFO(x, " x ", devices / x);
    // Blocks of the same size on every device.
    auto const sizes = os::sizes(B = 8, S = 5, K = 5, M = 64, N = 64, H = 8, D = 8, I = 4, F = 128);
    auto const p = os::make_tree<layer_and_input>(m, sizes, os::seed(1), filled{});
    auto const wanted = os::value_and_grad(sum_of_result<planned>{})(p);

    auto const check = [&]<class Way>(Way) {
      std::optional<decltype(os::value_and_grad(sum_of_result<Way>{})(p))> found;
      auto const moved = os::testing::traffic_of([&] { found = os::value_and_grad(sum_of_result<Way>{})(p); });
      CHECK(moved.bytes == gradient<Way>.total_bytes(sizes, m.sizes(), P = 2));
      os::for_each_leaf(
          [&](std::string const& path, auto const& a, auto const& b) {
            INFO(path);
            CHECK(difference(a, b) <= 1e-4 * os::value(os::max<>(os::abs(b))) + 1e-5);
          },
          found->gradient, wanted.gradient);
    };
    check(planned{});
    check(published{});
    check(stationary{});
  }
}

namespace {

template <class L>
struct reference {
  os::leaf<L, std::int32_t, B / X, S> tokens;
  os::leaf<L, double, B, S, M> encoded;
};

}  // namespace

TEST_CASE("a checkpoint of Hugging Face gives what transformers gives") {
  int const devices = static_cast<int>(os::testing::numbers_of_ranks(0).size());
  std::string const folder = REFERENCES "/esm2";
  for (int x = 1; x <= devices; ++x) {
    if (devices % x != 0) continue;
    auto const m = os::make_mesh(X = x, Y = devices / x);
    INFO(x, " x ", devices / x);
    auto const wanted = os::load<reference>(folder + "/encoded.safetensors", m);
    encoder<os::values> const p = esm2::load(folder, m, 4);
    CHECK(p.layers.size() == 2);
    auto const check = [&](auto const& encoded) {
      auto const found = os::cast<double>(os::reshard<B, S, M>(encoded));
      CHECK(difference(found, wanted.encoded) <= 3e-6 * os::value(os::max<>(os::abs(wanted.encoded))));
    };
    check(encoded<planned>(p, wanted.tokens));
    check(encoded<published>(p, wanted.tokens));
    check(encoded<stationary>(p, wanted.tokens));
  }
}
