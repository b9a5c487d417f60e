// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the refused sum is an operand of further collectives, which say nothing
// error: tensor: the axis asked for is an axis of the tensor
// error: axis_missing<K_axis, sharding<I_axis, J_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a, std::array<int, 2> const& n) {
  return os::shard_map<I/X, J>([&](auto block) {
    auto b = os::psum_scatter<K/X>(block);
    auto moved = os::pbroadcast<X>(b, 0);
    auto index = os::pargmax<X>(b);
    auto sums = os::inclusive_scan<X>(b);
    auto whole = os::gather_to<I/X>(b, 0);
    auto part = os::scatter_from<I/X>(b, 0);
    auto exchanged = os::all_to_all<I/X, I/X>(b);
    auto begun = os::start_pbroadcast<X>(b, 0);
    auto come = std::move(begun).wait();
    auto rows = os::ragged_all_to_all<I/X>(b, b, n, n, n);
    auto padded = os::exchange_halo<os::halo<I, 1>/X>(b);
    os::exchange_halo_into<os::halo<I, 1>/X>(padded);
    os::start_exchange_halo_into<os::halo<I, 1>/X>(padded, b).wait();
    auto made = os::stencil([](auto x) { return x(-1) + x(1); }, os::start_exchange_halo<os::halo<I, 1>/X>(b));
    return b;
  }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a, std::array<int, 2> const& n) {
  return os::shard_map<I/X, J>([&](auto block) {
    auto b = os::psum_scatter<J/X>(block);
    auto moved = os::pbroadcast<X>(b, 0);
    auto index = os::pargmax<X>(b);
    auto sums = os::inclusive_scan<X>(b);
    auto whole = os::gather_to<I/X>(b, 0);
    auto part = os::scatter_from<I/X>(b, 0);
    auto exchanged = os::all_to_all<I/X, I/X>(b);
    auto begun = os::start_pbroadcast<X>(b, 0);
    auto come = std::move(begun).wait();
    auto rows = os::ragged_all_to_all<I/X>(b, b, n, n, n);
    auto padded = os::exchange_halo<os::halo<I, 1>/X>(b);
    os::exchange_halo_into<os::halo<I, 1>/X>(padded);
    os::start_exchange_halo_into<os::halo<I, 1>/X>(padded, b).wait();
    auto made = os::stencil([](auto x) { return x(-1) + x(1); }, os::start_exchange_halo<os::halo<I, 1>/X>(b));
    return b;
  }, a);
}
#endif
