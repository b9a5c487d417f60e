// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Nothing allocates in a steady state: what operations ask of malloc in their third to tenth repetition. Operations
/// into tensors that are there ask for nothing, the others for what the block of their result takes. What MPI, BLAS and
/// OpenMP allocate is theirs: a call counts if it comes from this program, which holds the library and, linked
/// statically, Kokkos, or is an operator new.
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/engine/block_collectives/gather_rows.hpp>
#include <ostraka/engine/block_collectives/permute_blocks.hpp>
#include <ostraka/engine/block_collectives/ragged_moves.hpp>
#include <ostraka/engine/block_collectives/root_of_group.hpp>
#include <ostraka/engine/block_collectives/scan_block.hpp>
#include <ostraka/engine/run/in_flight.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/optimizers.hpp>

#include "support/on_meshes.hpp"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

extern "C" {

extern char __executable_start, etext;
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

}  // extern "C"

namespace {

long counted = 0;

bool in_this_program(void const* caller) { return caller >= &__executable_start && caller < &etext; }

void count_if(bool ours) { counted += ours ? 1 : 0; }

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  count_if(in_this_program(__builtin_return_address(0)));
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) {
  count_if(in_this_program(__builtin_return_address(0)));
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  count_if(in_this_program(__builtin_return_address(0)));
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count_if(in_this_program(__builtin_return_address(0)));
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  count_if(in_this_program(__builtin_return_address(0)));
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? 12 : 0;  // ENOMEM
}

}  // extern "C"

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++counted;
  if (void* const memory = __libc_malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++counted;
  if (void* const memory = __libc_memalign(static_cast<std::size_t>(alignment), bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class F>
long allocations_of(F const& f) {
  long const before = counted;
  f();
  return counted - before;
}

// Of the third to the tenth repetition.
template <class F>
long most_in_steady_state(F const& f) {
  long most = 0;
  for (int i = 0; i < 10; ++i) {
    long const n = allocations_of(f);
    if (i >= 2 && n > most) most = n;
  }
  return most;
}

long blocks_made = 0;

// What Kokkos asks for when it makes a block of two dimensions.
long block_of_a_result() {
  using view = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::DefaultExecutionSpace::device_type>;
  return allocations_of([] { view const v(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ostraka tensor"), 4, 4); });
}

struct plus {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a + b; }
};

t::mesh_at_hand make_mesh() {
  switch (t::ranks()) {
    case 1: return t::mesh_at_hand({"XYZ", {1, 1, 1}});
    case 2: return t::mesh_at_hand({"XYZ", {2, 1, 1}});
    default: return t::mesh_at_hand({"XYZ", {2, t::ranks() / 2, 1}});
  }
}

template <auto... Dims>
auto made(t::mesh_at_hand const& m, t::extents_by_letter const& e) {
  using tensor = os::tensor<double, Dims...>;
  return t::placed<tensor>(m, t::whole_numbers<double>(t::letters_in<tensor>(), e, 5));
}

// Blocks that are multiplied by kernels of our own, by BLAS, and unevenly divided ones.
template <class F>
void for_several_extents(F const& f) {
  t::mesh_at_hand const m = make_mesh();
  for (int n : {6, 128, 7}) {
    t::extents_by_letter const e{{'B', 2}, {'I', n}, {'J', n + 2}, {'K', n - 1}, {'L', 2}};
    INFO("about ", n, " elements along each axis");
    f(m, e);
  }
}

}  // namespace

TEST_CASE("the counter counts") {
  CHECK(allocations_of([] { delete new int(1); }) == 1);
  CHECK(allocations_of([] { std::free(std::malloc(8)); }) <= 1);  // a compiler may leave it out
  CHECK(block_of_a_result() >= 1);
}

TEST_CASE("einsum_into") {
  for_several_extents([](t::mesh_at_hand const& m, t::extents_by_letter const& e) {
    auto const rows = made<I/X, J>(m, e);
    auto const columns = made<I, J/X>(m, e);
    auto const blocks = made<I/X, J/Y>(m, e);
    auto const b = made<J, K>(m, e);
    auto const b_rows = made<J/X, K>(m, e);
    auto const b_blocks = made<J/X, K/Y>(m, e);
    auto const c = made<I, K>(m, e);
    auto const c_rows = made<I/X, K>(m, e);
    auto const c_blocks = made<I/X, K/Y>(m, e);
    auto const transposed = made<K, I/X>(m, e);
    CHECK(most_in_steady_state([&] { os::einsum_into(c_rows, rows, b); }) == 0);                            // no move
    CHECK(most_in_steady_state([&] { os::einsum_into(transposed, rows, b); }) == 0);      // another order
    CHECK(most_in_steady_state([&] { os::einsum_into(c, columns, b_rows); }) == 0);       // all-reduce
    CHECK(most_in_steady_state([&] { os::einsum_into(c_rows, columns, b_rows); }) == 0);  // reduce-scatter
    CHECK(most_in_steady_state([&] { os::einsum_into(c_rows, columns, b_rows, os::beta = 1); }) == 0);
    CHECK(most_in_steady_state([&] { os::einsum_into(c, rows, b); }) == 0);                                 // a gather
    CHECK(most_in_steady_state([&] { os::einsum_into(c, columns, b, os::for_these_sizes); }) ==
          0);  // planned at run time, once
    CHECK(most_in_steady_state([&] { os::einsum_into(c_blocks, blocks, b_blocks); }) == 0);  // two gathers
  });
}

TEST_CASE("reshard_into and map_into") {
  for_several_extents([](t::mesh_at_hand const& m, t::extents_by_letter const& e) {
    auto const rows = made<I/X, J>(m, e);
    auto const other_rows = made<I/X, J>(m, e);
    auto const columns = made<I, J/X>(m, e);
    auto const whole = made<I, J>(m, e);
    auto const bias = made<J>(m, e);
    CHECK(most_in_steady_state([&] { os::reshard_into(whole, rows); }) == 0);    // all-gather
    CHECK(most_in_steady_state([&] { os::reshard_into(columns, rows); }) == 0);  // all-to-all
    CHECK(most_in_steady_state([&] { os::reshard_into(rows, whole); }) == 0);    // slice
    CHECK(most_in_steady_state([&] { os::map_into(other_rows, plus(), rows, bias); }) == 0);
    CHECK(most_in_steady_state([&] { os::map_into(rows, plus(), rows, bias); }) == 0);
  });
}

TEST_CASE("a time step with halos") {
  for_several_extents([](t::mesh_at_hand const& m, t::extents_by_letter const& e) {
    os::shard_map<I/X, J/Y>(
        [](auto block) {
          auto const f = [](auto const& u) { return u(-1, 0) + u(1, 1) - 2 * u(0, 0); };
          auto now = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(block);
          auto next = os::zeros_like(now);
          CHECK(most_in_steady_state([&] {
                  os::stencil_into(next, f, os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(now));
                  std::swap(now, next);
                }) == 0);
          CHECK(most_in_steady_state([&] { os::exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(now, block); }) == 0);
          return block;
        },
        made<I/X, J/Y>(m, e));
  });
}

// Two runs of one call and one of another, begun one after the other and waited for later.
template <class To, class From>
void check_in_flight(t::mesh_at_hand const& m, t::extents_by_letter const& e) {
  using types = os::detail::reshard_types<From, typename To::sharding_type>;
  From const from[2] = {t::placed<From>(m, t::whole_numbers<double>(t::letters_in<From>(), e, 5)),
                        t::placed<From>(m, t::whole_numbers<double>(t::letters_in<From>(), e, 6))};
  To const to[2] = {t::placed<To>(m, t::whole_numbers<double>(t::letters_in<To>(), e, 7)),
                    t::placed<To>(m, t::whole_numbers<double>(t::letters_in<To>(), e, 8))};
  os::engine::schedule_memory memory;
  auto const begin = [&](int i) {
    auto const w = os::detail::context_of<typename types::labels, typename types::mesh>("reshard", from[i]);
    return os::engine::begin(Kokkos::DefaultExecutionSpace(), w, types::steps, types::from,
                             os::detail::elements_of(from[i]), to[i].local().data(), memory);
  };
  CHECK(most_in_steady_state([&] {
          os::engine::run_in_flight first = begin(0);
          os::engine::run_in_flight const second = begin(1);
          os::engine::progress();
          first.wait();
        }) == 0);
  if (!std::is_same_v<From, os::tensor<double, I, J, os::partial_max(X)>>)  // whose parts are summands
    for (int i = 0; i < 2; ++i)
      CHECK(t::disagreements(m, to[i], t::whole_numbers<double>(t::letters_in<To>(), e, 5 + i)) == 0);
}

TEST_CASE("runs in flight") {
  for_several_extents([](t::mesh_at_hand const& m, t::extents_by_letter const& e) {
    using rows = os::tensor<double, I/X, J>;
    using columns = os::tensor<double, I, J/X>;
    using whole = os::tensor<double, I, J>;
    using partial = os::tensor<double, I, J, os::partial(X)>;
    using greatest = os::tensor<double, I, J, os::partial_max(X)>;
    check_in_flight<whole, rows>(m, e);
    check_in_flight<columns, rows>(m, e);
    check_in_flight<rows, whole>(m, e);
    check_in_flight<whole, partial>(m, e);
    check_in_flight<rows, partial>(m, e);
    check_in_flight<whole, greatest>(m, e);  // our own all-reduce
  });
}

TEST_CASE("collectives on blocks") {
  namespace e = os::engine;
  e::communicator const world = e::communicator::world();
  e::device_mesh const mesh(world, {"X"}, {world.size()});
  static constexpr std::string_view names[] = {"X"};
  e::execution_context const w = e::make_context(mesh, names, 1, "collective");
  os::planner::mesh_set const axes = os::planner::mesh_set::of(0);
  os::planner::spec const block{};
  Kokkos::DefaultExecutionSpace const exec;
  std::int64_t const n = world.size();
  std::vector<std::int64_t> const each(static_cast<std::size_t>(n), 2);
  std::vector<std::int64_t> places;
  for (std::int64_t d = 0; d < n; ++d) places.push_back(2 * d);
  std::vector<std::int64_t> const here(static_cast<std::size_t>(n), 2 * world.rank());
  for (std::int64_t columns : {3, 4000})
    for (bool with_gaps : {false, true}) {
      std::int64_t const gap = with_gaps ? 5 : 0;
      std::vector<double> memory[4];
      e::region<double> part, other, whole, source;
      e::region<double>* const regions[] = {&part, &other, &whole, &source};
      for (int k = 0; k < 4; ++k) {
        os::planner::box where;
        where.rank = 2;
        where.at[0] = {0, k < 2 ? 2 : 2 * n};
        where.at[1] = {0, columns};
        memory[k].resize(static_cast<std::size_t>(2 * n * (columns + gap)));
        *regions[k] = e::dense_region(memory[k].data(), where);
        regions[k]->stride[0] = columns + gap;
      }
      e::region<double> const dense = e::dense_region(other.data, other.where);
      CHECK(most_in_steady_state([&] {
              e::run_in_flight first =
                  e::begin_permute(exec, w, block, axes, e::permutation_view::by(1), e::readable(part), other);
              e::progress();
            }) == 0);
      CHECK(most_in_steady_state([&] {
              e::begin_gather_rows(exec, w, block, axes, 0, each, e::readable(part), whole).wait();
            }) == 0);
      CHECK(most_in_steady_state([&] {
              e::begin_ragged(exec, w, block, axes, 0, e::readable(source), whole,
                              {places.data(), each.data(), here.data()})
                  .wait();
            }) == 0);
      CHECK(most_in_steady_state([&] {
              e::begin_gather_to(exec, w, block, axes, 0, 0, each, e::readable(part), whole).wait();
              e::begin_scatter_from(exec, w, block, axes, 0, 0, each, e::readable(whole), part).wait();
            }) == 0);
      CHECK(most_in_steady_state([&] {
              e::begin_broadcast(exec, w, block, axes, 0, e::readable(part), dense).wait();
              e::scan_block(exec, w, block, axes, e::readable(part), dense, os::reduction::sum,
                            e::scan_kind::exclusive);
              e::barrier(w, axes);
            }) == 0);
    }
}

TEST_CASE("operations that make their result") {
  long const block = block_of_a_result();
  for_several_extents([&](t::mesh_at_hand const& m, t::extents_by_letter const& e) {
    auto const rows = made<I/X, J>(m, e);
    auto const columns = made<I, J/X>(m, e);
    auto const b_rows = made<J/X, K>(m, e);
    auto const bias = made<J>(m, e);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::einsum<I, K>(columns, b_rows)); }) <= block);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::reshard<I, J/X>(rows)); }) <= block);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::map(plus(), rows, bias)); }) <= block);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::scale(2.0, rows)); }) <= block);
    CHECK(most_in_steady_state([&] { auto const copy = rows; static_cast<void>(copy.local()); }) == 0);
  });
}

TEST_CASE("bodies of os::shard_map") {
  long const block = block_of_a_result();
  for_several_extents([&](t::mesh_at_hand const& m, t::extents_by_letter const& e) {
    auto const rows = made<I/X, J>(m, e);
    auto const columns = made<I, J/X>(m, e);
    auto const b_rows = made<J/X, K>(m, e);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::shard_map<I/X, J>([](auto a) { return a; }, rows)); }) == 0);
    CHECK(most_in_steady_state([&] {
            static_cast<void>(os::shard_map<I/X, J>(
                [](auto a) {
                  os::map_into(a, plus(), a, a);
                  return a;
                },
                rows));
          }) == 0);
    CHECK(most_in_steady_state([&] {
            static_cast<void>(os::shard_map<I, K>(
                [](auto a, auto b) { return os::psum<X>(os::einsum<I, K>(a, b)); }, columns, b_rows));
          }) <= 2 * block);
    CHECK(most_in_steady_state([&] {
            static_cast<void>(os::shard_map<I, J>([](auto a) { return os::all_gather<I/X>(a); }, rows));
          }) <= block);
  });
}

TEST_CASE("what is begun, and waited for or dropped") {
  long const block = block_of_a_result();
  for_several_extents([&](t::mesh_at_hand const& m, t::extents_by_letter const& e) {
    auto const rows = made<I/X, J>(m, e);
    auto const whole = made<I, J>(m, e);
    auto const b_rows = made<J/X, K>(m, e);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::start_reshard<I, J>(rows).wait()); }) <= block);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::start_reshard<I, J>(rows)); }) <= block);
    CHECK(most_in_steady_state([&] { static_cast<void>(os::start_einsum<I/X, K>(rows, b_rows).wait()); }) <= block);
    CHECK(most_in_steady_state([&] {
            static_cast<void>(os::shard_map<os::dims<I, J>{}, os::dims<I, J>{}>(
                [](auto p, auto w) {
                  static_cast<void>(os::start_shift<X>(p, 1));
                  auto gathered = os::start_all_gather<I/X>(p);
                  auto sum = os::start_psum<X>(os::pvary<X>(w));
                  return std::tuple(std::move(gathered).wait(), std::move(sum).wait());
                },
                rows, whole));
          }) <= 3 * block);
  });
}

// Its results are blocks; what the tape holds beside them lies in memory that it has kept.
TEST_CASE("gradients allocate blocks and nothing else") {
  namespace tools = Kokkos::Tools::Experimental;
  long const block = block_of_a_result();
  for_several_extents([&](t::mesh_at_hand const& m, t::extents_by_letter const& e) {
    auto const x = made<I/X, J>(m, e);
    auto const w = made<J, K>(m, e);
    auto const gradient = os::value_and_grad([](auto const& weight, auto const& input) {
      auto const h = os::einsum<I/X, K>(input, weight);
      return os::sum<>(os::multiply(h, h));
    });
    auto const step = [&] { static_cast<void>(gradient(w, x)); };
    for (int i = 0; i < 3; ++i) step();
    blocks_made = 0;
    tools::set_allocate_data_callback([](auto, char const*, void const*, std::uint64_t) { ++blocks_made; });
    step();
    tools::set_allocate_data_callback(nullptr);  // names of kernels are strings where somebody listens
    CHECK(blocks_made > 0);
    CHECK(most_in_steady_state(step) <= blocks_made * block);
  });
}

TEST_CASE("steps of optimisers") {
  for_several_extents([&](t::mesh_at_hand const& m, t::extents_by_letter const& e) {
    auto const p = made<I, J>(m, e);
    auto const g = made<I, J>(m, e);
    auto const partial = made<I, J, os::partial(X)>(m, e);
    os::adamw const optimizer{.learning_rate = os::warm_up{.then = os::cosine_decay{}}, .decays = os::decays_matrices};
    auto const state = optimizer.init(p);
    auto const divided = optimizer.init(p, os::split_over<X>);
    CHECK(most_in_steady_state([&] { optimizer.update(p, g, state); }) == 0);
    CHECK(most_in_steady_state([&] { optimizer.update(p, partial, state); }) == 0);    // all-reduce
    CHECK(most_in_steady_state([&] { optimizer.update(p, g, divided); }) == 0);        // gather
    CHECK(most_in_steady_state([&] { optimizer.update(p, partial, divided); }) == 0);  // reduce-scatter, and gather
    auto const rows = made<I/X, J>(m, e);
    CHECK(most_in_steady_state([&] { os::clip_by_global_norm(rows, 0.5); }) == 0);
    CHECK(most_in_steady_state([&] { os::accumulate(partial, partial); }) == 0);
  });
}

#else

TEST_CASE("allocations are counted with the GNU C library alone") {
  MESSAGE("SKIPPED: another C library, or a sanitizer that owns malloc");
}

#endif
