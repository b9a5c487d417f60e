// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Collectives of arrays in device memory: the results are those of plain loops, sums have the bits of a sum in member
/// order, and the bytes copied between host and device are those sent and received, or none if MPI takes the memory.

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/collectives/all_reduce_in_flight.hpp>
#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/collectives/permute_in_flight.hpp>
#include <ostraka/engine/collectives/reduce_scatter_in_flight.hpp>
#include <ostraka/engine/collectives/scan.hpp>
#include <ostraka/engine/collectives/scatter.hpp>

#include "support/sham/device.hpp"

namespace {

using namespace ostraka::engine;
using device = Kokkos::Sham;
using on_device = arrays_of<device>;
using sizes = std::vector<std::int64_t>;

static_assert(std::is_same_v<on_device, device_arrays<device>>);

// Sets a number for the length of a scope.
struct set_to {
  std::int64_t& number;
  std::int64_t before = number;
  set_to(std::int64_t& n, std::int64_t value) : number(n) { n = value; }
  ~set_to() { number = before; }
};

bool is_on(char const* setting) {
  char const* const said = std::getenv(setting);
  return said != nullptr && *said == '1';
}

// NCCL (nccl/) sends in the order of the instance. Its own sums are in the reverse order of members there.
constexpr bool by_nccl = CarriesInOrder<carrier::group, device>;
bool nccl_adds() { return by_nccl && is_on("OSTRAKA_NCCL_ALL_REDUCE"); }

bool takes_device_memory() { return by_nccl || is_on("OSTRAKA_GPU_AWARE_MPI"); }

// Element i of member d. Sums of these are rounded, so that their order shows.
template <class T>
T value(int d, std::int64_t i) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>((17 * d + 7 * i) % 23 - 11);
  else
    return T(static_cast<float>((31 * d + 13 * i) % 101 - 50) * 1.1f + 1.f / static_cast<float>(i + d + 3));
}

template <class T>
std::vector<T> values(int d, std::int64_t count) {
  std::vector<T> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(value<T>(d, i));
  return all;
}

// An array in device memory.
template <class T>
struct there {
  Kokkos::View<T*> v;
  explicit there(std::vector<T> const& from) : v("array", from.size()) {
    Kokkos::deep_copy(v, Kokkos::View<T const*, Kokkos::HostSpace>(from.data(), from.size()));
  }
  explicit there(std::int64_t count) : v("array", static_cast<std::size_t>(count)) {}
  [[nodiscard]] T* data() const { return v.data(); }
  [[nodiscard]] std::vector<T> back() const {
    std::vector<T> all(v.size());
    Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace>(all.data(), all.size()), v);
    return all;
  }
};

template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// The reduction of element i of all members, or of all but one, in member order.
template <class T>
T reduced(int n, std::int64_t i, reduction how, int without = -1, bool in_reverse = false) {
  using wide = std::conditional_t<ostraka::is_narrow<T>, float, T>;
  wide all{};
  bool first = true;
  for (int k = 0; k < n; ++k) {
    int const d = in_reverse ? n - 1 - k : k;
    if (d == without) continue;
    wide const x = wide(value<T>(d, i));
    if (first)
      all = x;
    else if (how == reduction::sum)
      all = static_cast<wide>(all + x);
    else
      all = how == reduction::max ? std::max(all, x) : std::min(all, x);
    first = false;
  }
  return T(all);
}

// Returns the copies between host and device that f makes.
template <class F>
sham::work copied_by(F const& f) {
  sham::work const before = sham::work_done();
  f();
  return sham::work_done() - before;
}

template <class T>
long bytes(std::int64_t count) {
  return static_cast<long>(count) * static_cast<long>(sizeof(T));
}

template <class T>
void check_copies(sham::work const& w, std::int64_t sent, std::int64_t received) {
  CHECK(w.to_host == (takes_device_memory() ? 0 : bytes<T>(sent)));
  CHECK(w.to_device == (takes_device_memory() ? 0 : bytes<T>(received)));
  if (by_nccl) CHECK(w.fences == 1);  // at the end
}

constexpr mpi_calls both[] = {mpi_calls::blocking, mpi_calls::nonblocking};

struct world {
  communicator members = communicator::world();
  int n = members.size(), me = members.rank();
  device const exec{};
  on_device arrays{exec};

  [[nodiscard]] sizes uneven(std::int64_t some) const {
    sizes all;
    for (int d = 0; d < n; ++d) all.push_back(d % 3 == 1 ? 0 : some + d);
    return all;
  }
};

template <class T>
void check_gather(world& w, sizes const& counts, mpi_calls calls, bool others_alone) {
  INFO(counts.front(), int(calls), others_alone);
  std::int64_t total = 0, before = 0;
  for (int d = 0; d < w.n; ++d) {
    before += d < w.me ? counts[static_cast<std::size_t>(d)] : 0;
    total += counts[static_cast<std::size_t>(d)];
  }
  std::int64_t const own = counts[static_cast<std::size_t>(w.me)];
  std::vector<T> expected;
  for (int d = 0; d < w.n; ++d)
    for (T x : values<T>(d, counts[static_cast<std::size_t>(d)]))
      if (!others_alone || d != w.me) expected.push_back(x);
  there<T> const sent(values<T>(w.me, own)), received(total - (others_alone ? own : 0));
  sham::work const done = copied_by([&] {
    all_gather_in_flight<T, on_device> gather;
    gather.on(w.arrays);
    if (others_alone)
      gather.begin_of_others(w.members, sent.data(), received.data(), own);
    else
      gather.begin(w.members, sent.data(), received.data(), counts, calls);
    while (calls == mpi_calls::nonblocking && !gather.test()) {
    }
    gather.finish();
    w.arrays.fence();
  });
  CHECK(same_bits(received.back(), expected));
  if (w.n > 1) check_copies<T>(done, own, total - own);
}

template <class T>
void check_scatter(world& w, sizes const& counts, reduction how, mpi_calls calls, bool with_own, update<T> into) {
  INFO(counts.front(), int(how), int(calls), with_own);
  std::int64_t total = 0, before = 0, longest = 0;
  for (int d = 0; d < w.n; ++d) {
    before += d < w.me ? counts[static_cast<std::size_t>(d)] : 0;
    total += counts[static_cast<std::size_t>(d)];
    longest = std::max(longest, counts[static_cast<std::size_t>(d)]);
  }
  std::int64_t const own = counts[static_cast<std::size_t>(w.me)];
  std::vector<T> all = values<T>(w.me, total), old = values<T>(7, own), expected = old;
  for (std::int64_t i = 0; i < own; ++i) {
    // The rest is compared with the same collective on the host, whose additions are in member order.
    if (into.overwrites())
      expected[static_cast<std::size_t>(i)] = reduced<T>(w.n, before + i, how, with_own ? -1 : w.me);
  }
  if (!with_own) all.erase(all.begin() + before, all.begin() + before + own);
  parts_sent const parts = with_own ? parts_sent::all : parts_sent::all_but_own;
  if (!into.overwrites()) reduce_scatter<T>(w.members, all.data(), expected.data(), counts, how, into, parts);
  there<T> const sent(all), received(old);
  using flight = reduce_scatter_in_flight<T, on_device>;
  there<T> const pieces(flight::pieces_of(w.members, own, longest, calls));
  sham::work const done = copied_by([&] {
    flight scatter;
    scatter.on(w.arrays);
    scatter.begin(w.members, sent.data(), received.data(), counts, pieces.data(), how, into, parts, calls);
    while (calls == mpi_calls::nonblocking && !scatter.test()) {
    }
    scatter.finish();
    w.arrays.fence();
  });
  CHECK(same_bits(received.back(), expected));
  check_copies<T>(done, total - own, (w.n - 1) * own);
}

template <class T>
void check_all_reduce(world& w, std::int64_t count, reduction how, mpi_calls calls) {
  INFO(count, int(how), int(calls));
  using flight = all_reduce_in_flight<T, on_device>;
  std::vector<T> expected = values<T>(w.me, count);
  bool const by_carrier = flight::by_carrier(how, count, calls);
  if (nccl_adds() && ostraka::is_narrow<T>) return;  // the fake adds no elements of 16 bits
  if (by_carrier && !by_nccl)                        // in MPI's order, as on the host
    all_reduce(w.members, expected.data(), count, how);
  else
    for (std::int64_t i = 0; i < count; ++i)
      expected[static_cast<std::size_t>(i)] = reduced<T>(w.n, i, how, -1, by_carrier);
  there<T> const data(values<T>(w.me, count));
  std::int64_t const part = share_of_all_reduce(w.members, count);
  there<T> const share(part), pieces(reduce_scatter_in_flight<T, on_device>::pieces_of(w.members, part, part, calls));
  sham::work const done = copied_by([&] {
    flight reduce;
    reduce.on(w.arrays);
    reduce.begin(w.members, data.data(), count, how, share.data(), pieces.data(), calls);
    while (calls == mpi_calls::nonblocking && !reduce.test()) {
    }
    reduce.finish();
    w.arrays.fence();
  });
  CHECK(same_bits(data.back(), expected));
  std::int64_t const own = (w.me + 1) * count / w.n - w.me * count / w.n;
  if (w.n == 1 || count == 0)
    check_copies<T>(done, 0, 0);
  else if (by_carrier)
    check_copies<T>(done, count, count);
  else
    check_copies<T>(done, count - own + own, (w.n - 1) * own + count - own);
}

}  // namespace

TEST_CASE_TEMPLATE("all-gather", T, float, double, std::int8_t, ostraka::bfloat16) {
  world w;
  for (std::int64_t const limit : {std::int64_t{1} << 30, std::int64_t{5}}) {
    set_to const lower(chunk_limit, limit);
    for (std::int64_t const some : {0, 1, 2, 3, 40})
      for (mpi_calls const calls : both) {
        check_gather<T>(w, sizes(static_cast<std::size_t>(w.n), some), calls, false);
        check_gather<T>(w, w.uneven(some), calls, false);
        check_gather<T>(w, sizes(static_cast<std::size_t>(w.n), some), mpi_calls::nonblocking, true);
      }
  }
}

TEST_CASE_TEMPLATE("reduce-scatter", T, float, double, std::int32_t, ostraka::bfloat16, ostraka::float16) {
  world w;
  for (std::int64_t const arriving : {std::int64_t{8} << 20, std::int64_t{1}})  // one piece, and several
    for (std::int64_t const some : {0, 1, 2, 3, 2500}) {
      set_to const lower(bytes_arriving_on_gpu, arriving);
      for (mpi_calls const calls : both)
        for (bool const with_own : {true, false})
          for (reduction const how : {reduction::sum, reduction::max}) {
            if (w.n == 1 && !with_own) continue;
            check_scatter<T>(w, sizes(static_cast<std::size_t>(w.n), some), how, calls, with_own, {});
            check_scatter<T>(w, w.uneven(some), how, calls, with_own, {});
          }
      using wide = typename update<T>::wide;
      check_scatter<T>(w, w.uneven(some), reduction::sum, mpi_calls::blocking, true, {wide(1), wide(1)});
      check_scatter<T>(w, w.uneven(some), reduction::sum, mpi_calls::blocking, true, {wide(2), wide(0)});
    }
}

TEST_CASE_TEMPLATE("all-reduce", T, float, double, std::int64_t, ostraka::bfloat16) {
  world w;
  for (std::int64_t const count : {0, 1, 2, 3, 1000, 40000})
    for (mpi_calls const calls : both)
      for (reduction const how : {reduction::sum, reduction::min}) check_all_reduce<T>(w, count, how, calls);
}

TEST_CASE_TEMPLATE("exchange, permute and broadcast", T, float, std::int64_t) {
  world w;
  for (std::int64_t const some : {0, 1, 2, 3, 50}) {
    // Member d sends member e `some` + d + e elements, from place e of its array on.
    auto const count = [&](int d, int e) { return d == e ? 0 : some + d + e; };
    std::int64_t out = 0, in = 0, most = some + 2 * w.n;
    there<T> const sent(values<T>(w.me, w.n + most)), received(std::int64_t{w.n} * most);
    std::vector<exchanged<T>> parts;
    for (int e = 0; e < w.n; ++e) {
      parts.push_back({sent.data() + e, count(w.me, e), received.data() + e * most, count(e, w.me)});
      out += count(w.me, e);
      in += count(e, w.me);
    }
    check_copies<T>(copied_by([&] {
                      exchange_in_flight<T, on_device> exchange;
                      exchange.on(w.arrays);
                      exchange.begin(w.members, parts.data());
                      exchange.finish();
                      w.arrays.fence();
                    }),
                    out, in);
    auto const all = received.back();
    for (int e = 0; e < w.n; ++e)
      for (std::int64_t i = 0; i < count(e, w.me); ++i)
        CHECK(all[static_cast<std::size_t>(e * most + i)] == value<T>(e, w.me + i));

    there<T> const shifted(some);
    bool const alone = w.n == 1;
    check_copies<T>(
        copied_by([&] {
          permute_in_flight<T, on_device> permute;
          permute.on(w.arrays);
          permute.begin(w.members, permutation_view::by(1).of(w.me, w.n), {sent.data(), some, shifted.data(), some});
          permute.finish();
          w.arrays.fence();
        }),
        alone ? 0 : some, alone ? 0 : some);
    if (!alone) CHECK(same_bits(shifted.back(), values<T>((w.me + w.n - 1) % w.n, some)));

    for (mpi_calls const calls : both) {
      int const root = w.n - 1;
      there<T> const given(values<T>(w.me, some));
      check_copies<T>(copied_by([&] {
                        broadcast_in_flight<T, on_device> broadcast;
                        broadcast.on(w.arrays);
                        broadcast.begin(w.members, given.data(), some, root, calls);
                        broadcast.finish();
                        w.arrays.fence();
                      }),
                      !alone && w.me == root ? some : 0, w.me == root ? 0 : some);
      CHECK(same_bits(given.back(), values<T>(root, some)));
    }
  }
}

TEST_CASE_TEMPLATE("scan", T, double, std::int32_t, ostraka::bfloat16) {
  world w;
  for (std::int64_t const count : {0, 1, 2, 3, 70})
    for (scan_kind const kind : {scan_kind::inclusive, scan_kind::exclusive}) {
      std::vector<T> expected = values<T>(w.me, count);
      scan(w.members, expected.data(), count, reduction::sum, kind);  // on the host
      there<T> const data(values<T>(w.me, count));
      scan(w.members, w.arrays, data.data(), count, reduction::sum, kind, {});
      w.arrays.fence();
      CHECK(same_bits(data.back(), expected));
    }
}

TEST_CASE("nothing was reported") { CHECK(sham::take_reports().empty()); }
