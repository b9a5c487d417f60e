// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::pipeline against layers in plain loops: every schedule, on every mesh with stages along X, as many microbatches
/// as stages and fewer and more, layers that are divided unevenly over the stages; outside and in bodies, with layers
/// that communicate along other mesh axes. The bytes sent are those that the table predicts, idle slots are not
/// computed, and only the first stage reads a batch that all have.
// gpu: 4

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <ostraka/local_view/pipelines/pipeline.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using number = std::int64_t;

template <auto... Dims>
using tensor = os::tensor<number, Dims...>;

// Keeps numbers small, so that sums are exact, and is not linear.
struct folded {
  KOKKOS_FUNCTION number operator()(number v) const { return v < 0 ? -v % 7 : v % 11; }
};

// h + folded(h · w + b) by loops, for layers one after another.
t::global_tensor<number> through_layers(t::global_tensor<number> x, t::global_tensor<number> const& w,
                                        t::global_tensor<number> const& b) {
  auto const width = static_cast<std::size_t>(x.extents.at('I'));
  auto const rows = width == 0 ? 0 : x.values.size() / width;
  for (std::size_t l = 0; l < b.values.size() / width; ++l)
    for (std::size_t n = 0; n < rows; ++n) {
      std::vector<number> sums(b.values.begin() + static_cast<long>(l * width),
                               b.values.begin() + static_cast<long>((l + 1) * width));
      for (std::size_t i = 0; i < width; ++i)
        for (std::size_t j = 0; j < width; ++j)
          sums[j] += x.values[n * width + i] * w.values[(l * width + i) * width + j];
      for (std::size_t j = 0; j < width; ++j)
        x.values[n * width + j] = (x.values[n * width + j] + folded()(sums[j])) % 13;
    }
  return x;
}

struct modulo {
  KOKKOS_FUNCTION number operator()(number a, number b) const { return (a + b) % 13; }
};

struct counted_layer {
  int* calls;
  int last = -1;  // the call that throws
  template <class H, class W, class Bias>
  auto operator()(H const& h, W const& w, Bias const& b) const {
    if (++*calls == last) throw std::logic_error("no luck");
    auto const sums = os::add(os::einsum<B, J>(h, w, os::sum_over(L, K)), os::sum<J>(b));
    return os::map(modulo(), h, os::rename<J, I>(os::map(folded(), sums)));
  }
};

struct batch {
  t::extents_by_letter e;
  t::global_tensor<number> x, w, b, wanted;
  batch(std::int64_t rows, std::int64_t layers, std::int64_t repeats)
      : e{{'B', rows}, {'I', 12}, {'J', 12}, {'K', repeats}, {'L', layers}},
        x(t::whole_numbers<number>("BI", e, 1)),
        w(t::whole_numbers<number>("KLIJ", e, 2)),
        b(t::whole_numbers<number>("KLJ", e, 3)),
        wanted(through_layers(x, w, b)) {}

  // The same parameters without repeats.
  static t::global_tensor<number> once(t::global_tensor<number> g) {
    g.labels.erase(0, 1);
    return g;
  }
};

template <class F>
void on_all(F&& f) {
  t::on_every_mesh(f);
  if (t::ranks() == 8) f(t::test_mesh({"XYZ", {8, 1, 1}}));
}

// Bytes of all messages, by the table: activations, inputs and outputs, or the result to all.
std::int64_t predicted(os::planner::pipeline_schedule const& table, t::test_mesh const& m, batch const& now,
                       bool divided) {
  std::int64_t const whole = 8 * static_cast<std::int64_t>(now.x.values.size());
  std::int64_t const activation = whole / table.microbatches;
  std::int64_t const pipelines = m.size("Y") * m.size("Z");
  std::int64_t const in_and_out =
      divided ? (messages_fed(table) + messages_drained(table)) * activation : (table.stages - 1) * whole;
  return pipelines * (bytes_sent(table, activation) + in_and_out);
}

template <os::pipeline_rule Rule, bool Divided, bool Repeats>
void compare(t::test_mesh const& m, int microbatches, batch const& now) {
  int calls = 0;
  std::int64_t wrong = -1;
  auto table = Rule(m.size("X"), microbatches);
  if (Rule.per_layer) table.lanes = static_cast<int>(now.e.at('L')) / m.size("X");
  table.repeats = static_cast<int>(now.e.at('K'));
  t::traffic sent;
  auto const run = [&](auto const& x, auto const& w, auto const& b) {
    sent = t::traffic_of([&] {
      auto const y = [&] {
        if constexpr (Repeats)
          return os::pipeline<Rule, L/X, B, K>(os::microbatches = microbatches, counted_layer{&calls}, x, w, b);
        else
          return os::pipeline<Rule, L/X, B>(os::microbatches = microbatches, counted_layer{&calls}, x, w, b);
      }();
      static_assert(std::is_same_v<decltype(y), std::remove_cvref_t<decltype(x)> const>);
      wrong = t::disagreements(m, y, now.wanted);
    });
  };
  auto const with_batch = [&](auto const& w, auto const& b) {
    if constexpr (Divided)
      run(t::placed<tensor<B/X, I>>(m, now.x), w, b);
    else
      run(t::placed<tensor<B, I>>(m, now.x), w, b);
  };
  if constexpr (Repeats)
    with_batch(t::placed<tensor<K, L/X, I, J>>(m, now.w), t::placed<tensor<K, L/X, J>>(m, now.b));
  else
    with_batch(t::placed<tensor<L/X, I, J>>(m, batch::once(now.w)),
               t::placed<tensor<L/X, J>>(m, batch::once(now.b)));
  CHECK(wrong == 0);
  CHECK(sent.bytes == predicted(table, m, now, Divided));
  // Every layer once for every microbatch, in each of the pipelines that are beside each other.
  std::int64_t all = 0;
  for (std::int64_t n : t::numbers_of_ranks(calls)) all += n;
  CHECK(all == now.e.at('K') * now.e.at('L') * microbatches * m.size("Y") * m.size("Z"));
}

}  // namespace

TEST_CASE("every schedule, with a batch that is divided over the stages or not") {
  on_all([](t::test_mesh const& m) {
    int const stages = m.size("X");
    for (int microbatches : {1, stages, 3 * stages}) {
      INFO(m.text(), ", ", microbatches, " microbatches");
      batch const once(6 * stages * microbatches, 2 * stages, 1);
      batch const thrice(2 * stages * microbatches, stages, 3);
      compare<os::gpipe, false, false>(m, microbatches, once);
      compare<os::tick_per_layer, false, false>(m, microbatches, once);
      compare<os::circular, false, true>(m, microbatches, thrice);
      compare<os::circular_by_groups, false, true>(m, microbatches, thrice);
      compare<os::tick_per_layer, false, true>(m, microbatches, thrice);
      if (microbatches % stages != 0) continue;
      compare<os::gpipe, true, false>(m, microbatches, once);
      compare<os::tick_per_layer, true, false>(m, microbatches, once);
      compare<os::circular, true, true>(m, microbatches, thrice);
    }
  });
}

TEST_CASE("microbatches that the stages do not divide, stages with other numbers of layers, an empty batch") {
  on_all([](t::test_mesh const& m) {
    INFO(m.text());
    compare<os::gpipe, false, false>(m, 5, batch(15, 7, 1));
    compare<os::gpipe, false, false>(m, 3, batch(3, 1, 1));
    compare<os::circular_by_groups, false, true>(m, 7, batch(14, m.size("X"), 2));
    compare<os::gpipe, true, false>(m, m.size("X"), batch(0, 3, 1));
  });
}

TEST_CASE("in a body, with a batch divided over another mesh axis as well, and layers that communicate") {
  on_all([](t::test_mesh const& m) {
    INFO(m.text());
    int const stages = m.size("X"), data = m.size("Z");
    batch const now(2 * stages * data, stages, 1);
    auto const w = t::placed<tensor<L/X, I, J/Y>>(m, batch::once(now.w));
    auto const b = t::placed<tensor<L/X, J>>(m, batch::once(now.b));
    auto const layer = [](auto const& h, auto const& w_of_layer, auto const& b_of_layer) {
      auto const product = os::einsum<B, J>(h, w_of_layer, os::sum_over(L));
      auto const sums = os::add(os::all_gather<J/Y>(product), os::sum<J>(b_of_layer));
      return os::map(modulo(), h, os::rename<J, I>(os::map(folded(), sums)));
    };
    auto const x = t::placed<tensor<B/Z / X, I>>(m, now.x);
    auto const y = os::shard_map<B/Z / X, I>(
        [&](auto const& block, auto const& w_block, auto const& b_block) {
          auto const made =
              os::pipeline<os::gpipe, L/X, B>(os::microbatches = stages, layer, block, w_block, b_block);
          static_assert(std::is_same_v<decltype(made), tensor<B, I, os::varying(X, Y, Z)> const> ||
                        std::is_same_v<decltype(made), tensor<B, I, os::varying(X, Z)> const>);
          return os::pmax<Y>(os::pvary<Y>(made));
        },
        x, w, b);
    CHECK(t::disagreements(m, y, now.wanted) == 0);
  });
}

TEST_CASE("a batch that all have is read by the first stage alone") {
  on_all([](t::test_mesh const& m) {
    INFO(m.text());
    int const stages = m.size("X");
    t::extents_by_letter const e{{'B', 8}, {'I', 2}, {'L', stages}};
    auto const x = t::placed<os::tensor<double, B, I>>(m, t::whole_numbers<double>("BI", e, 4));
    auto const w = t::placed<os::tensor<double, L/X, I>>(m, t::whole_numbers<double>("LI", e, 5));
    if (m.coordinate("X", t::rank()) != 0)
      t::write_elements(std::vector<double>(16, std::numeric_limits<double>::quiet_NaN()), x.local().data());
    auto const y = os::pipeline<os::gpipe, L/X, B>(
        os::microbatches = 4, [](auto const& h, auto const& v) { return os::add(h, os::sum<I>(v)); }, x, w);
    auto wanted = t::whole_numbers<double>("BI", e, 4);
    auto const added = t::whole_numbers<double>("LI", e, 5);
    for (std::size_t n = 0; n < wanted.values.size(); ++n)
      for (int l = 0; l < stages; ++l) wanted.values[n] += added.values[static_cast<std::size_t>(l) * 2 + n % 2];
    CHECK(t::disagreements(m, y, wanted) == 0);
  });
}

TEST_CASE("on a mesh of some of the processes; the others pass by") {
#if OSTRAKA_ENABLE_MPI
  int const n = (t::ranks() + 1) / 2;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, t::rank() < n ? 0 : MPI_UNDEFINED, t::rank(), &part);
  auto const mesh = os::make_mesh(part, X = n);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  auto const x = os::full<double, B/X, I>(mesh, B = 4 * n, I = 2, 1.0);
  auto const w = os::full<double, L/X, I>(mesh, L = 3 * n, I = 2, 2.0);
  int calls = 0;
  auto const y = os::pipeline<os::gpipe, L/X, B>(
      os::microbatches = 2 * n, [&](auto const& h, auto const& v) { return ++calls, os::add(h, os::sum<I>(v)); }, x, w);
  CHECK(y.extent(B) == 4 * n);
  CHECK(calls == (mesh.absent() ? 0 : 3 * 2 * n));
  for (double const v : t::read_elements(y.local().data(), y.local().size())) CHECK(v == 1 + 2 * 3 * n);
#endif
}

TEST_CASE("what does not fit is an error on all devices") {
  on_all([](t::test_mesh const& m) {
    INFO(m.text());
    int const stages = m.size("X");
    int calls = 0;
    auto const run = [&](std::int64_t rows, int microbatches, auto const& place) {
      batch const now(rows, stages, 1);
      auto const w = t::placed<tensor<L/X, I, J>>(m, batch::once(now.w));
      auto const b = t::placed<tensor<L/X, J>>(m, batch::once(now.b));
      auto const y =
          os::pipeline<os::gpipe, L/X, B>(os::microbatches = microbatches, counted_layer{&calls}, place(now), w, b);
      CHECK(y.extents()[0] == rows);
    };
    auto const whole = [&](batch const& now) { return t::placed<tensor<B, I>>(m, now.x); };
    auto const divided = [&](batch const& now) { return t::placed<tensor<B/X, I>>(m, now.x); };
    CHECK_THROWS_AS(run(6, 0, whole), os::error);
    CHECK_THROWS_AS(run(6, 4, whole), os::error);
    CHECK_THROWS_AS(run(6 * stages, 4 * stages, divided), os::error);
    if (stages > 1) {
      CHECK_THROWS_AS(run(6 * stages * (stages + 1), stages + 1, divided), os::error);
      CHECK_THROWS_AS(run(stages + 1, stages, divided), os::error);
      batch const now(6, stages + 1, 1);
      auto const w = t::placed<tensor<L/X, I, J>>(m, batch::once(now.w));
      auto const b = t::placed<tensor<L/X, J>>(m, batch::once(now.b));
      auto const per_layer = [&] {
        return os::pipeline<os::tick_per_layer, L/X, B>(os::microbatches = 2, counted_layer{&calls}, whole(now), w,
                                                          b);
      };
      CHECK_THROWS_AS(per_layer(), os::error);
    }
    CHECK(calls == 0);
  });
}

TEST_CASE("what a layer throws on one stage all devices throw, and go on") {
  on_all([](t::test_mesh const& m) {
    int const stages = m.size("X"), here = m.coordinate("X", t::rank());
    batch const now(2 * stages * stages, stages, 1);
    auto const w = t::placed<tensor<L/X, I, J>>(m, batch::once(now.w));
    auto const b = t::placed<tensor<L/X, J>>(m, batch::once(now.b));
    auto const run = [&]<os::pipeline_rule Rule>(auto const& x, int bad, int last) {
      int calls = 0;
      return os::pipeline<Rule, L/X, B>(os::microbatches = stages, counted_layer{&calls, here == bad ? last : -1}, x, w,
                                        b);
    };
    auto const compare_said = [&](auto const& x, int bad, int last) {
      INFO(m.text(), ", stage ", bad, " in call ", last);
      std::string const said = "no luck", on_all_stages = "stage " + std::to_string(bad) + " of ";
      auto const caught = [&](auto const& f) {
        std::string why;
        try {
          f();
        } catch (os::error const& e) {
          why = e.what();
        } catch (std::logic_error const& e) {
          if (stages == 1) why = on_all_stages + e.what();
        }
        return why;
      };
      for (std::string const& why : {caught([&] { run.operator()<os::gpipe>(x, bad, last); }),
                                     caught([&] { run.operator()<os::tick_per_layer>(x, bad, last); })}) {
        CHECK(why.find(said) != why.npos);
        CHECK(why.find(on_all_stages) != why.npos);
      }
      CHECK(t::disagreements(m, run.operator()<os::gpipe>(x, -1, -1), now.wanted) == 0);
    };
    for (int bad : {0, stages - 1})
      for (int last : {1, stages}) {
        compare_said(t::placed<tensor<B, I>>(m, now.x), bad, last);
        compare_said(t::placed<tensor<B/X, I>>(m, now.x), bad, last);
      }
  });
}

TEST_CASE("a layer whose result has other extents is an error on all devices") {
  on_all([](t::test_mesh const& m) {
    INFO(m.text());
    int const stages = m.size("X");
    t::extents_by_letter const e{{'B', 6}, {'I', 4}, {'J', 5}, {'L', stages}};
    auto const x = t::placed<tensor<B, I>>(m, t::whole_numbers<number>("BI", e, 4));
    auto const w = t::placed<tensor<L/X, I, J>>(m, t::whole_numbers<number>("LIJ", e, 5));
    auto const run = [&] {
      (void)os::pipeline<os::gpipe, L/X, B>(
          os::microbatches = 2,
          [](auto const& h, auto const& v) { return os::rename<J, I>(os::einsum<B, J>(h, v, os::sum_over(L))); },
          x, w);
    };
    CHECK_THROWS_AS(run(), os::error);
  });
}
