// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4

/// @file
/// The memory that an operation holds at its peak, measured below the library: operands, the result and the plan's
/// workspace, and nothing more except a kernel's workspace (our tiles' panels, if a product is theirs), which the pool
/// counts apart. A program of many operations holds as much as the one that takes most, in whatever order they come.
/// Kokkos reports every block that it allocates and frees; C++ allocates beside these only lists of blocks, which are
/// counted and bounded. Neither sees MPI's own allocations. Calls are not compared: their words are the group's, one
/// for each different call.
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

#include "support/allocated_by.hpp"
#include "support/in_driver.hpp"
#include "support/no_call_check.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

struct meter {
  std::int64_t live = 0;
  std::int64_t peak = 0;
  void add(std::int64_t bytes) {
    live += bytes;
    peak = std::max(peak, live);
  }
  void start() { live = peak = 0; }
};

meter blocks;  // that Kokkos allocates
meter lists;   // what operator new gives

constexpr std::size_t head = alignof(std::max_align_t);  // before each list, its length

}  // namespace

void* operator new(std::size_t bytes) {
  void* const p = std::malloc(bytes + head);
  if (p == nullptr) throw std::bad_alloc();
  if (t::in_driver()) bytes = 0;  // not a list of the library
  *static_cast<std::size_t*>(p) = bytes;
  lists.add(static_cast<std::int64_t>(bytes));
  return static_cast<char*>(p) + head;
}

void operator delete(void* p) noexcept {
  if (p == nullptr) return;
  char* const begin = static_cast<char*>(p) - head;
  lists.add(-static_cast<std::int64_t>(*reinterpret_cast<std::size_t*>(begin)));
  std::free(begin);
}

void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

int cases = 0;
int with_workspace = 0;
int with_kernels = 0;
int to_the_byte = 0;

void listen() {
  using namespace Kokkos::Tools::Experimental;
  os::engine::detail::plan_cache<double>::instance();  // made once and kept for good by a host thread
  set_allocate_data_callback([](auto space, char const*, void const*, std::uint64_t bytes) {
    if (t::is_of_tensors(space)) blocks.add(static_cast<std::int64_t>(bytes));
  });
  set_deallocate_data_callback([](auto space, char const*, void const*, std::uint64_t bytes) {
    if (t::is_of_tensors(space)) blocks.add(-static_cast<std::int64_t>(bytes));
  });
}

constexpr std::int64_t record = 128;  // of Kokkos, which is what it tells for a result without elements
constexpr std::int64_t most_lists = 16 * 1024;

struct operation_to_come {
  std::int64_t workspace;
  std::function<std::int64_t()> run;  // gives the bytes of its result
};

bool together = false;  // true if operations are checked as a program, with extents that were not seen before
std::vector<operation_to_come> program;

// The operation, on an empty pool, gives a new tensor, or nothing. Later runs hold as much as the first did.
template <class Plan, class Operation>
void check(t::test_mesh const& m, t::extents_by_letter const& e, Plan const& plan, Operation&& operation) {
  std::int64_t const workspace = plan.workspace(t::named(e), m.sizes());
  if (together) return program.push_back({workspace, operation});
  auto& pool = os::engine::workspace<Kokkos::DefaultExecutionSpace::memory_space>::instance();
  pool.release();
  blocks.start();
  lists.start();
  std::int64_t const result = operation();
  std::int64_t const peak = blocks.peak;
  std::int64_t const by_plans = static_cast<std::int64_t>(pool.most_used_by_plans());
  std::int64_t const by_kernels = static_cast<std::int64_t>(pool.most_used_by_kernels());
  for (int round = 0; round < 3; ++round) operation();
  std::int64_t const listed = lists.peak;
  INFO(m.text(), t::text_of(e), "result ", result, " B, workspace ", workspace, " B\n",
       os::describe(plan, t::named(e), m.sizes()));
  CHECK(by_plans <= workspace);
  CHECK(static_cast<std::int64_t>(pool.most_used_by_plans()) == by_plans);
  CHECK(peak <= std::max(result, record) + workspace + by_kernels);
  CHECK(blocks.peak <= std::max(result, record) + workspace + by_kernels);
  CHECK(listed <= most_lists);
  ++cases;
  to_the_byte += peak == result + workspace ? 1 : 0;
  with_workspace += workspace > 0 ? 1 : 0;
  with_kernels += by_kernels > 0 ? 1 : 0;
}

// The operations that `all` checks, each alone, then as a program from an empty pool: twice in their order, twice in
// the opposite one, then each before one from the other end.
template <class All>
void alone_and_together(All const& all) {
  all();
  together = true;
  all();
  together = false;
  auto& pool = os::engine::workspace<Kokkos::DefaultExecutionSpace::memory_space>::instance();
  std::vector<std::size_t> order;
  std::size_t const n = program.size();
  for (int round = 0; round < 4; ++round)
    for (std::size_t i = 0; i < n; ++i) order.push_back(round < 2 ? i : n - 1 - i);
  for (std::size_t i = 0; i < n; ++i) order.insert(order.end(), {i, n - 1 - i});
  pool.release();
  blocks.start();
  std::int64_t most = 0;  // that any operation so far takes
  std::int64_t beyond = 0;
  for (std::size_t const i : order) {
    blocks.peak = blocks.live;
    most = std::max(most, program[i].workspace);
    std::int64_t const result = program[i].run();
    std::int64_t const by_kernels = static_cast<std::int64_t>(pool.most_used_by_kernels());
    beyond = std::max(beyond, blocks.peak - std::max(result, record) - most - by_kernels);
  }
  INFO(n, " operations, of which one takes ", most, " B");
  CHECK(beyond <= 0);
  program.clear();
}

template <class Tensor>
std::int64_t bytes_of(Tensor const& a) {
  return static_cast<std::int64_t>(a.local().size() * sizeof(typename Tensor::value_type));
}

std::vector<t::extents_by_letter> extents() {
  if (together)
    return {{{'B', 4}, {'I', 40}, {'J', 16}, {'K', 56}, {'L', 8}},
            {{'B', 3}, {'I', 37}, {'J', 45}, {'K', 19}, {'L', 7}}};
  return {{{'B', 4}, {'I', 48}, {'J', 24}, {'K', 72}, {'L', 16}},
          {{'B', 3}, {'I', 31}, {'J', 50}, {'K', 17}, {'L', 5}}};
}

template <auto... Dims>
auto tensor_of(t::test_mesh const& m, t::extents_by_letter const& e, dims<Dims...>) {
  using tensor = os::tensor<double, Dims...>;
  return t::placed<tensor>(m, t::whole_numbers<double>(t::letters_in<tensor>(), e, 61));
}

template <auto... Out, class... Operands>
void product(t::test_mesh const& m, dims<Out...>, Operands... operands) {
  for (t::extents_by_letter const& e : extents())
    [&](auto const&... a) {
      check(m, e, os::plan<Out...>(a...), [=] { return bytes_of(os::einsum<Out...>(a...)); });
      auto const c = tensor_of(m, e, dims<Out...>{});
      check(m, e, os::plan<Out...>(a...), [=] {
        os::einsum_into(c, a..., os::beta = 2);
        return std::int64_t(0);
      });
    }(tensor_of(m, e, operands)...);
}

template <auto... To, class From>
void reshard(t::test_mesh const& m, dims<To...>, From from) {
  for (t::extents_by_letter const& e : extents()) {
    auto const a = tensor_of(m, e, from);
    check(m, e, os::reshard_plan<To...>(a), [=] { return bytes_of(os::reshard<To...>(a)); });
  }
}

template <auto... Out, class From>
void reduction(t::test_mesh const& m, dims<Out...>, From from) {
  for (t::extents_by_letter const& e : extents()) {
    auto const a = tensor_of(m, e, from);
    check(m, e, os::plan<Out...>(a), [=] { return bytes_of(os::sum<Out...>(a)); });
    if constexpr (os::sharding_traits<os::sharding_in<decltype(a)>>::partials::size == 0)
      check(m, e, os::plan<Out...>(a), [=] { return bytes_of(os::max<Out...>(a)); });
  }
}

}  // namespace

TEST_CASE("products") {
  listen();
  t::on_every_mesh([](t::test_mesh const& m) {
    alone_and_together([&] {
      // the four textbook cases
      product(m, dims<I/X, K/Y>{}, dims<I/X, J>{}, dims<J, K/Y>{});
      product(m, dims<I, K>{}, dims<I, J/X>{}, dims<J, K>{});
      product(m, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
      product(m, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
      product(m, dims<I, K/X>{}, dims<I/X, J>{}, dims<J, K/X>{});
      // a batch that is divided, a feed-forward layer on two mesh axes, in and out
      product(m, dims<B/X, I, K>{}, dims<B/X, I, J>{}, dims<B/X, J, K>{});
      product(m, dims<B/X, I, K>{}, dims<B/X, I, J>{}, dims<B, J/X, K>{});
      product(m, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/X, K/Y>{});
      product(m, dims<I/X, J/Y>{}, dims<I/X, K/Y>{}, dims<K/Y, J/X>{});
      // partial sums, three operands
      product(m, dims<I, K, partial(X)>{}, dims<I, J/X>{}, dims<J, K>{});
      product(m, dims<I, K>{}, dims<I, J, partial(X)>{}, dims<J, K, partial(X)>{});
      product(m, dims<I/X, L>{}, dims<I/X, J>{}, dims<J, K/Y>{}, dims<K/Y, L>{});
    });
  });
  MESSAGE(cases, " cases, ", with_workspace, " with workspace, ", with_kernels, " with scratch of kernels, ",
          to_the_byte, " as large as predicted");
}

TEST_CASE("moves") {
  listen();
  t::on_every_mesh([](t::test_mesh const& m) {
    alone_and_together([&] {
      reshard(m, dims<I, J/X>{}, dims<I/X, J>{});
      reshard(m, dims<I, J>{}, dims<I/X, J>{});
      reshard(m, dims<I, J>{}, dims<I, J/X/Y>{});
      reshard(m, dims<I/Y/X, J>{}, dims<I/X/Y, J>{});
      reshard(m, dims<I/Y, B, K>{}, dims<I, B/Y, K/X>{});
      reshard(m, dims<I/Y, J/X>{}, dims<I, J, partial(X)>{});
      reshard(m, dims<I/X/Y, J>{}, dims<I, J, partial(X)>{});
      reshard(m, dims<I, J, partial(Y)>{}, dims<I, J/Y, partial(X)>{});
    });
  });
  MESSAGE(cases, " cases, ", with_workspace, " with workspace, ", with_kernels, " with scratch of kernels, ",
          to_the_byte, " as large as predicted");
}

TEST_CASE("reductions") {
  listen();
  t::on_every_mesh([](t::test_mesh const& m) {
    alone_and_together([&] {
      reduction(m, dims<I>{}, dims<I/X, J>{});
      reduction(m, dims<I>{}, dims<I, J/X>{});
      reduction(m, dims<J, I/X>{}, dims<I, J, K/X>{});
      reduction(m, dims<I, K>{}, dims<I, J/Y, K, partial(X)>{});
    });
  });
  MESSAGE(cases, " cases, ", with_workspace, " with workspace, ", with_kernels, " with scratch of kernels, ",
          to_the_byte, " as large as predicted");
  if (!os::engine::is_gpu_memory<Kokkos::DefaultExecutionSpace>()) CHECK(with_kernels < cases / 8);
  if (t::ranks() > 1) CHECK(to_the_byte > cases / 4);
}
