// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Operations that move memory and compute next to nothing, against std::memcpy of the same bytes (read + written = 2 x
/// the size given to memcpy), split among as many threads. Labels are in the order of memory, the fastest last:
/// "ij,j->i" is a row-major matrix times a vector, "ji,j->i" a column-major one.
///
///     bench/bandwidth [rounds=5] [only=TEXT] [elements=1000000] [json=FILE]

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/rotation.hpp>

#include "block.hpp"
#include "report.hpp"

namespace {

namespace engine = ostraka::engine;
using exec_space = Kokkos::DefaultHostExecutionSpace;
using extents_of = std::map<char, std::int64_t>;

/// Copies `bytes` with all threads.
void copy_bytes(char* to, char const* from, std::size_t bytes) {
  std::int64_t const threads = exec_space().concurrency();
  if (threads == 1) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::size_t const piece = (bytes / static_cast<std::size_t>(threads) + 4095) / 4096 * 4096;
  Kokkos::parallel_for("memcpy", Kokkos::RangePolicy<exec_space>(0, threads), [=](std::int64_t t) {
    std::size_t const begin = std::min(bytes, piece * static_cast<std::size_t>(t));
    std::memcpy(to + begin, from + begin, std::min(piece, bytes - begin));
  });
  Kokkos::fence();
}

std::int64_t size_of(std::string const& labels, extents_of const& extents) {
  std::int64_t n = 1;
  for (char const l : labels) n *= extents.at(l);
  return n;
}

/// The contraction of a text such as "ij,j->i" or "ijk->ik"; `step_b` multiplies the strides of the second operand.
engine::contraction problem_of(std::string const& text, extents_of const& extents, std::int64_t step_b = 1) {
  std::size_t const arrow = text.find("->"), comma = std::min(text.find(','), arrow);
  std::string const parts[3] = {text.substr(0, comma), comma < arrow ? text.substr(comma + 1, arrow - comma - 1) : "",
                                text.substr(arrow + 2)};
  engine::contraction p;
  for (auto const& [label, extent] : extents) {
    int const l = p.labels++;
    p.extent[l] = extent;
    for (int o = 0; o < 3; ++o) {
      std::size_t const at = parts[o].find(label);
      if (at == std::string::npos) continue;
      (o == 0 ? p.in_a : o == 1 ? p.in_b : p.in_c)[l] = true;
      (o == 0 ? p.a : o == 1 ? p.b : p.c)[l] = size_of(parts[o].substr(at + 1), extents) * (o == 1 ? step_b : 1);
    }
  }
  return p;
}

template <class T>
struct laboratory {
  bench::report& out;
  bench::arguments const& given;
  std::string type;
  std::int64_t elements;  // of the largest operand
  bench::block<T> a = bench::block<T>(static_cast<std::size_t>(elements) * 2, T(1)), b = a, c = a;
  bench::block<char> from = bench::block<char>(sizeof(T) * static_cast<std::size_t>(elements) * 2, 1), to = from;

  bench::comparison against_memcpy(std::string const& what, std::int64_t moved, std::function<void()> const& run) {
    std::size_t const bytes = static_cast<std::size_t>(moved) * sizeof(T) / 2;
    auto const baseline = [this, bytes] { copy_bytes(to.data(), from.data(), bytes); };
    return bench::compare(what, {{"ours", run}, {"memcpy", baseline}}, given.number("rounds", 5), bench::seconds_here,
                          0.01);
  }

  void measure(std::string const& what, std::int64_t moved, std::function<void()> const& run) {
    std::string const name = type + " " + what;
    if (given.wants(name)) out.add(against_memcpy(name, moved, run));
  }

  void contract(std::string const& text, extents_of const& extents, engine::update<T> const& how = {},
                std::int64_t step_b = 1) {
    engine::contraction const p = problem_of(text, extents, step_b);
    std::int64_t const result = engine::block_of(p, engine::operand::c).size();
    std::int64_t const read =
        engine::block_of(p, engine::operand::a).size() + engine::block_of(p, engine::operand::b).size();
    std::int64_t const moved = read + result * (how.beta == T(0) ? 1 : 2);
    std::string remark;
    for (auto const& [label, extent] : extents)
      remark += std::string(remark.empty() ? "" : " ") + label + "=" + std::to_string(extent);
    if (step_b != 1) remark += ", every " + std::to_string(step_b) + "th element of b";
    if (how.beta != T(0)) remark += ", added to c";
    measure(text + " (" + remark + ")", moved, [this, p, how] {
      engine::contract(exec_space(), p, a.data(), b.data(), c.data(), how);
      Kokkos::fence();
    });
  }

  void reduce(std::string const& text, extents_of const& extents) {
    engine::contraction const p = problem_of(text, extents);
    std::int64_t const moved =
        engine::block_of(p, engine::operand::a).size() + engine::block_of(p, engine::operand::c).size();
    measure("sum " + text, moved, [this, p] {
      engine::reduce(exec_space(), p, a.data(), c.data(), engine::reduction::sum);
      Kokkos::fence();
    });
  }

  /// Rotary positions of 32 heads of 64 pairs; each run makes the table anew.
  void rotate(std::string const& what, std::int64_t frequency_step, std::int64_t pair_step) {
    constexpr std::int64_t heads = 32, pairs = 64;
    std::int64_t const positions = elements / (heads * 2 * pairs);
    engine::angle_table angles;
    angles.frequencies = angles.all_frequencies = pairs;
    engine::pair_layout layout;
    layout.loops.add(positions, heads * 2 * pairs, std::int64_t(1));
    layout.loops.add(heads, 2 * pairs, std::int64_t(0));
    layout.frequency_step = frequency_step;
    layout.pair_step = pair_step;
    measure("rope, " + what, positions * heads * 2 * pairs * 2, [=, this] {
      engine::rotate_block(exec_space(), angles, positions, layout, static_cast<T const*>(a.data()), c.data());
    });
  }

  /// Every permutation of `rank` indices of about the same extent: the worst, and the geometric mean.
  void copies(int rank) {
    std::string const what = type + " copy " + std::to_string(rank) + " indices";
    if (!given.wants(what)) return;
    std::int64_t side = static_cast<std::int64_t>(std::pow(static_cast<double>(elements), 1.0 / rank));
    std::string const labels = std::string("ijklm").substr(0, static_cast<std::size_t>(rank));
    std::string order = labels;
    extents_of extents;
    for (char const l : labels) extents[l] = l == labels.back() ? side + 3 : side;
    bench::comparison worst;
    double logarithm = 0;
    int count = 0;
    while (std::next_permutation(order.begin(), order.end())) {
      engine::strided source, target;
      for (char const l : labels) {
        source.add(extents[l], size_of(labels.substr(labels.find(l) + 1), extents));
        target.add(extents[l], size_of(order.substr(order.find(l) + 1), extents));
      }
      auto const run = [&] {
        engine::copy(exec_space(), c.data(), target, static_cast<T const*>(a.data()), source);
        Kokkos::fence();
      };
      bench::comparison const one = against_memcpy(what, source.size() * 2, run);
      if (given.number("each", 0)) std::printf("  %s->%s %.2f\n", labels.c_str(), order.c_str(), one.ratio[1].median);
      logarithm += std::log(one.ratio[1].median);
      ++count;
      if (worst.ratio.empty() || one.ratio[1].median > worst.ratio[1].median) {
        worst = one;
        worst.remark = "worst: " + labels + "->" + order;
      }
    }
    worst.numbers["mean of all permutations"] = std::exp(logarithm / count);
    out.add(worst);
  }

  std::int64_t whole_root(int degree) const {
    return static_cast<std::int64_t>(std::pow(static_cast<double>(elements), 1.0 / degree));
  }

  void all() {
    std::int64_t const n = static_cast<std::int64_t>(std::sqrt(static_cast<double>(elements)));
    std::int64_t const wide = elements / 64;
    std::int64_t const side = static_cast<std::int64_t>(std::cbrt(static_cast<double>(elements)));
    // matrix times vector
    for (char const* text : {"ij,j->i", "ji,j->i"}) {
      contract(text, {{'i', n}, {'j', n}});
      contract(text, {{'i', 64}, {'j', wide}});
      contract(text, {{'i', wide}, {'j', 64}});
      contract(text, {{'i', 4}, {'j', elements / 4}});
      contract(text, {{'i', elements / 4}, {'j', 4}});
      contract(text, {{'i', n}, {'j', n}}, {}, 3);
      contract(text, {{'i', n}, {'j', n}}, {T(2), T(1)});
    }
    // batched, and tensor times vector
    contract("bij,bj->bi", {{'b', 64}, {'i', 256}, {'j', wide / 256}});
    contract("bji,bj->bi", {{'b', 64}, {'i', 256}, {'j', wide / 256}});
    contract("ijb,jb->ib", {{'b', 64}, {'i', 256}, {'j', wide / 256}});
    for (char const* text :
         {"ijk,i->jk", "ijk,j->ik", "ijk,k->ij", "ijk,ik->j", "ijk,ki->j", "ijk,jk->i", "ijk,ij->k", "ijk,k->ji"})
      contract(text, {{'i', side}, {'j', side}, {'k', side}});
    // outer and dot products, elementwise
    contract("i,j->ij", {{'i', n}, {'j', n}});
    contract("i,j->ji", {{'i', n}, {'j', n}});
    contract("i,j->ij", {{'i', n}, {'j', n}}, {T(2), T(1)});
    contract("ij,k->ijk", {{'i', side}, {'j', side}, {'k', side}});
    contract("i,i->", {{'i', elements}});
    contract("ij,ij->", {{'i', n}, {'j', n}});
    contract("ij,ji->", {{'i', n}, {'j', n}});
    contract("ij,ij->i", {{'i', n}, {'j', n}});
    contract("ij,ij->j", {{'i', n}, {'j', n}});
    contract("ij,ij->ij", {{'i', n}, {'j', n}});
    contract("ij,ij->ij", {{'i', n}, {'j', n}}, {T(2), T(1)});
    contract("ij,ji->ij", {{'i', n}, {'j', n}});
    contract("ij,i->ij", {{'i', n}, {'j', n}});
    contract("ij,j->ij", {{'i', n}, {'j', n}});
    contract("ij,j->ji", {{'i', n}, {'j', n}});
    // sums
    for (char const* text : {"i->", "ij->i", "ij->j", "ijk->ik", "ijk->ki", "ijk->i", "ijk->j", "ijk->k", "ijk->ij",
                             "ijk->ji", "ijk->jk", "ijk->kj", "ijkl->ik", "ijkl->jl", "ijkl->lj"}) {
      std::string const whole = text;
      std::string const labels = whole.substr(0, whole.find('-'));
      extents_of extents;
      for (char const l : labels) extents[l] = whole_root(static_cast<int>(labels.size()));
      reduce(text, extents);
    }
    reduce("ij->j", {{'i', elements / 4}, {'j', 4}});
    reduce("ij->i", {{'i', elements / 4}, {'j', 4}});
    // the one-dimensional map, the update, copies
    engine::loop_nest<3> line;
    line.add(elements, std::int64_t(1), std::int64_t(1), std::int64_t(1));
    measure("map x + 2 y", elements * 3, [this, line] {
      auto const add = [](T x, T y) { return x + T(2) * y; };
      engine::map_elements(exec_space(), line, add, c.data(), static_cast<T const*>(a.data()),
                           static_cast<T const*>(b.data()));
      Kokkos::fence();
    });
    engine::strided const matrix = engine::row_major({n, n});
    engine::strided const turned = engine::strided().add(n, 1).add(n, n);
    engine::update<T> const added{T(2), T(1)};
    measure("c <- 2 x + c", n * n * 3, [=, this] {
      engine::copy(exec_space(), c.data(), matrix, static_cast<T const*>(a.data()), matrix, added);
    });
    measure("c <- 2 x + c, x turned", n * n * 3, [=, this] {
      engine::copy(exec_space(), c.data(), matrix, static_cast<T const*>(a.data()), turned, added);
    });
    measure("copy as it lies", n * n * 2,
            [=, this] { engine::copy(exec_space(), c.data(), matrix, static_cast<T const*>(a.data()), matrix); });
    measure("copy to every other row", n * n * 2, [=, this] {
      engine::copy(exec_space(), c.data(), engine::strided().add(n, 2 * n).add(n, 1), static_cast<T const*>(a.data()),
                   matrix);
    });
    measure("copy of every other element", n * n * 2, [=, this] {
      engine::copy(exec_space(), c.data(), matrix, static_cast<T const*>(a.data()),
                   engine::strided().add(n, 2 * n).add(n, 2));
    });
    measure("fill", n * n, [=, this] { engine::fill(exec_space(), c.data(), n * n, T(3)); Kokkos::fence(); });
    rotate("pairs are neighbours", 2, 1);
    rotate("pairs are a half apart", 1, 64);
    for (int rank = 2; rank <= 5; ++rank) copies(rank);
  }
};

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  bench::arguments const given(argc, argv);
  bench::report out("bandwidth", given);
  out.condition("threads", std::to_string(exec_space().concurrency()));
  std::int64_t const elements = given.number("elements", 1000000);
  out.condition("elements of the largest operand", std::to_string(elements));
  laboratory<double>{out, given, "fp64", elements}.all();
  laboratory<float>{out, given, "fp32", elements}.all();
}
