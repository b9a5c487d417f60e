// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Distributed products and reshards against plain MPI and CBLAS written by hand with everything preallocated. "By
/// hand" is the fastest of the plain ways to do the job (by_hand/), by the median of some rounds before: collectives of
/// the MPI library or pairwise messages, products of blocks where they arrive or one product after unpacking. It runs
/// twice in every round: the difference is the noise. Ours is os::einsum_into, whose result is preallocated as well,
/// and os::einsum, which allocates it. The seconds are the slowest rank's. Bytes are counted below both. patterns_float
/// is the same with floats.
///
/// ways=1 shows every way by hand; ours=1 times none of them, and its samples take `sample` microseconds. machine=FILE,
/// from bench/calibrate, compares with predictions: it times all cases `sweeps` times and takes the least; with ours=1
/// os::einsum_into is then repeated alone. line=60: line_between_ranks.hpp.
///
///     mpirun -n 2 bench/patterns [rounds=9] [only=TEXT] [sizes=small,square,large,skewed] [ways=1]
///                       [ours=1 sample=5000] [machine=FILE] [sweeps=1] [line=NANOSECONDS] [json=FILE]

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <type_traits>

#include <ostraka/foresight/time_of.hpp>
#include <ostraka/ostraka.hpp>

#include "by_hand/feed_forward.hpp"
#include "by_hand/products.hpp"
#include "by_hand/reshards.hpp"
#include "job.hpp"
#include "seconds_of_all.hpp"
#include "support/byte_counter.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

// The feed-forward layer's extents: sequences, tokens, width of the model, width of the layer. They are known while
// compiling, so that its plans are the cheapest.
namespace small {
OSTRAKA_AXIS(N, 8);
OSTRAKA_AXIS(S, 8);
OSTRAKA_AXIS(D, 64);
OSTRAKA_AXIS(F, 64);
}  // namespace small
namespace square {
OSTRAKA_AXIS(N, 8);
OSTRAKA_AXIS(S, 128);
OSTRAKA_AXIS(D, 1024);
OSTRAKA_AXIS(F, 1024);
}  // namespace square
namespace large {
OSTRAKA_AXIS(N, 8);
OSTRAKA_AXIS(S, 256);
OSTRAKA_AXIS(D, 1024);
OSTRAKA_AXIS(F, 4096);
}  // namespace large
namespace skewed {
OSTRAKA_AXIS(N, 8);
OSTRAKA_AXIS(S, 1024);
OSTRAKA_AXIS(D, 256);
OSTRAKA_AXIS(F, 1024);
}  // namespace skewed

namespace {

using by_hand::element;
using os::dims;
using os::tensor;

constexpr bool doubles = std::is_same_v<element, double>;

struct named_size {
  char const* name;
  int batch;             // of the batched product
  by_hand::extents each;  // of its members
  by_hand::extents one;   // of the other products
};

constexpr named_size all_sizes[] = {{"small", 8, {16, 16, 16}, {64, 64, 64}},
                                    {"square", 8, {512, 512, 512}, {1024, 1024, 1024}},
                                    {"large", 64, {512, 512, 512}, {2048, 2048, 2048}},
                                    {"skewed", 512, {256, 32, 64}, {16384, 256, 256}}};

// The largest relative difference between our block and the one by hand, on any rank; a NaN counts.
double difference(element const* ours, by_hand::buffer const& theirs) {
  double d = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    double const here = std::abs(double(ours[i]) - double(theirs[i])) / (1 + std::abs(double(theirs[i])));
    d = here <= d ? d : std::isnan(here) ? std::numeric_limits<double>::infinity() : here;
  }
  MPI_Allreduce(MPI_IN_PLACE, &d, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return d;
}

class contest {
 public:
  contest(bench::report& out, bench::arguments const& given, bool root) : out_(out), given_(given), root_(root) {
    if (std::string const file = given.text("machine"); !file.empty()) machine_ = os::load_machine(file);
  }

  [[nodiscard]] bool wants(std::string const& name, std::string const& size) const {
    return (given_.text("sizes", "small,square,large,skewed") + ",").find(size + ",") != std::string::npos &&
           given_.wants(name + ", " + size);
  }

  /// Times one case: `into` writes `c`, `anew` allocates its result, and the ways of `ways_to(target)` write as many
  /// elements to `target`. All ways run some rounds. The fastest one then takes turns with ours, beside its twin with
  /// buffers of its own: the difference of the two is noise or memory.
  void run(std::string const& name, std::string const& size, std::function<void()> const& into,
           std::function<void()> const& anew, element const* c, std::size_t elements,
           std::function<by_hand::ways(element*)> const& ways_to) {
    by_hand::buffer theirs(elements);
    by_hand::ways const ways = ways_to(theirs.data());
    auto const ours_moves = os::testing::traffic_of(into).bytes;
    anew();
    double worst = 0;
    auto least = std::numeric_limits<std::int64_t>::max();
    for (auto const& way : ways) {
      std::fill(theirs.begin(), theirs.end(), element(std::nan("")));
      least = std::min(least, os::testing::traffic_of(way.run).bytes);
      worst = std::max(worst, difference(c, theirs));
    }
    std::vector<bench::contestant> all = {{"einsum_into", into}, {"allocating", anew}};
    int const rounds = given_.number("rounds", 9);
    if (given_.number("ours", 0)) {
      if (!given_.text("machine").empty()) all.pop_back();
      bench::comparison ours =
          bench::compare(name + ", " + size, all, rounds, bench::seconds_of_all, given_.number("sample", 5000) * 1e-6);
      predict(ours, into);
      return out_.add(ours);
    }
    std::size_t const best = fastest_of(ways);
    by_hand::buffer twins(elements);
    all.push_back({ways[best].name, ways[best].run});
    all.push_back({"its twin", ways_to(twins.data())[best].run});
    bench::comparison const timed = bench::compare(name + ", " + size, all, rounds, bench::seconds_of_all);

    bench::comparison shown = part_of(timed, 0, {2, 3});
    shown.numbers = {{"bytes", double(ours_moves)}, {"bytes by hand", double(least)}};
    if (!(worst < (doubles ? 1e-9 : 1e-4))) shown.remark = "DIFFERENT RESULTS";
    if (ours_moves != least) shown.remark += " DIFFERENT BYTES";
    predict(shown, into);
    out_.add(shown);
    bench::comparison allocating = part_of(timed, 1, {2});
    allocating.what += ", allocating";
    out_.add(allocating);
    bench::comparison twin = part_of(timed, 3, {2});
    twin.what += ", by hand again";
    out_.add(twin);
  }

  /// Prints how far predictions are from measurements, over all cases.
  void show_predictions() const {
    if (predictions_.empty() || !root_) return;
    bench::line_between_ranks::instance().print();
    double logs = 0, distances = 0, near = 0;
    for (auto const& [what, p] : predictions_) {
      double const log = std::log(p.predicted / p.measured);
      std::printf("%-60s %10s to %10s   predicted / measured %.2f\n", what.c_str(),
                  bench::show_seconds(p.measured).c_str(), bench::show_seconds(p.most).c_str(), std::exp(log));
      logs += log;
      distances += std::abs(log);
      near += std::abs(log) <= std::log(1.2);
    }
    double const n = static_cast<double>(predictions_.size());
    std::printf("predicted / measured: geometric mean %.2f, mean factor %.2f, %.0f of %.0f within 1.2\n",
                std::exp(logs / n), std::exp(distances / n), near, n);
  }

 private:
  // The model's time of `into` on the file's machine, on the slowest rank, beside the fastest round.
  void predict(bench::comparison& measured, std::function<void()> const& into) {
    if (given_.text("machine").empty()) return;
    os::predicted_time const t = os::time_of(os::make_mesh(X = ranks()), machine_, into);
    double const ratio = bench::largest(t.seconds) / measured.seconds[0].least;
    measured.numbers["predicted / measured"] = ratio;
    measured.numbers["predicted waiting / all"] = t.waiting / t.seconds;
    prediction& p = predictions_[measured.what];
    p.predicted = bench::largest(t.seconds);
    p.measured = p.measured > 0 ? std::min(p.measured, measured.seconds[0].least) : measured.seconds[0].least;
    p.most = std::max(p.most, measured.seconds[0].median);
  }

  static int ranks() {
    int n = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    return n;
  }

  [[nodiscard]] std::size_t fastest_of(by_hand::ways const& ways) const {
    std::vector<bench::contestant> all;
    for (auto const& way : ways) all.push_back({way.name, way.run});
    bench::comparison const timed =
        bench::compare("", all, std::max(3, given_.number("rounds", 9) / 3), bench::seconds_of_all);
    std::size_t best = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (timed.seconds[k].median < timed.seconds[best].median) best = k;
      if (root_ && given_.number("ways", 0))
        std::printf("    %-36s %10s\n", all[k].name.c_str(), bench::show_seconds(timed.seconds[k].median).c_str());
    }
    return best;
  }

  static bench::comparison part_of(bench::comparison const& c, std::size_t subject,
                                   std::vector<std::size_t> const& baselines) {
    bench::comparison p;
    p.what = c.what;
    p.names = {c.names[subject]};
    p.seconds = {c.seconds[subject]};
    p.ratio = {{1, 1, 1}};
    p.samples = {c.samples[subject]};
    for (std::size_t k : baselines) {
      p.names.push_back(c.names[k]);
      p.seconds.push_back(c.seconds[k]);
      p.ratio.push_back(bench::ratio_of(c.samples[subject], c.samples[k]));
      p.samples.push_back(c.samples[k]);
    }
    return p;
  }

  bench::report& out_;
  bench::arguments const& given_;
  bool root_;
  os::machine machine_{};
  struct prediction {
    double predicted = 0;
    double measured = 0;  // the least time of all sweeps
    double most = 0;      // the largest of their medians
  };
  std::map<std::string, prediction> predictions_;
};

// `multiply(a, b)` is os::einsum with its result named; os::einsum_into does the same under the same policy.
template <class A, class B_, class Mesh, class Given, class Multiply, class Ways, class Policy = decltype(os::cheapest)>
void product(contest& c, std::string const& name, named_size const& n, Mesh const& mesh, Given const& given,
             Multiply const& multiply, Ways const& ways_for, Policy policy = os::cheapest) {
  if (!c.wants(name, n.name)) return;
  auto const a = os::random<A>(mesh, given, os::seed(1));
  auto const b = os::random<B_>(mesh, given, os::seed(2));
  auto const result = multiply(a, b, policy);
  auto other = result;
  auto const into = [&] { os::einsum_into(result, a, b, policy); };
  auto const anew = [&] { other = multiply(a, b, policy); };
  c.run(name, n.name, into, anew, result.local().data(), result.local().size(),
        [&](element* to) { return ways_for(a.local().data(), b.local().data(), to); });
}

template <class A, class Mesh, class Given, class Move, class Ways>
void reshard(contest& c, std::string const& name, named_size const& n, Mesh const& mesh, Given const& given,
             Move const& move, Ways const& ways_for) {
  if (!c.wants(name, n.name)) return;
  auto const a = os::random<A>(mesh, given, os::seed(1));
  auto const result = move(a);
  auto other = result;
  auto const into = [&] { os::einsum_into(result, a); };
  auto const anew = [&] { other = move(a); };
  c.run(name, n.name, into, anew, result.local().data(), result.local().size(),
        [&](element* to) { return ways_for(a.local().data(), to); });
}

void on_one_axis(contest& c, named_size const& n, int p) {
  using by_hand::extents;
  auto const mesh = os::make_mesh(X = p);
  by_hand::group const g(MPI_COMM_WORLD);
  extents const e = n.one;
  auto const given = os::sizes(I = e.i, J = e.j, K = e.k);
  auto const to_rows = [](auto const& a, auto const& b, auto policy) { return os::einsum<I/X, K>(a, b, policy); };
  auto const to_whole = [](auto const& a, auto const& b, auto policy) { return os::einsum<I, K>(a, b, policy); };
  using whole_right = tensor<element, J, K>;

  product<tensor<element, I/X, J>, whole_right>(c, "1 [I_X,J].[J,K]->[I_X,K] nothing moves", n, mesh, given, to_rows,
                                               [&](auto... at) { return by_hand::rows_apart(g, e, at...); });
  product<tensor<element, I, J/X>, whole_right>(
      c, "2 [I,J_X].[J,K]->[I,K] gather", n, mesh, given, to_whole,
      [&](auto... at) { return by_hand::gather_left(g, e, at...); }, os::gather_left);
  product<tensor<element, I, J/X>, whole_right>(
      c, "2r [I,J_X].[J,K]->[I,K] slice, all-reduce", n, mesh, given, to_whole,
      [&](element const* a, element const* b, element* to) { return by_hand::reduce_all(g, e, a, b, true, to); },
      os::reduce_result);
  product<tensor<element, I, J/X>, tensor<element, J/X, K>>(
      c, "3 [I,J_X].[J_X,K]->[I_X,K] reduce-scatter", n, mesh, given, to_rows,
      [&](auto... at) { return by_hand::scatter_rows(g, e, at...); });
  product<tensor<element, I, J/X>, tensor<element, J/X, K>>(
      c, "3c [I,J_X].[J_X,K]->[I,K_X] reduce-scatter", n, mesh, given,
      [](auto const& a, auto const& b, auto policy) { return os::einsum<I, K/X>(a, b, policy); },
      [&](auto... at) { return by_hand::scatter_columns(g, e, at...); });
  product<tensor<element, I, J/X>, tensor<element, J/X, K>>(
      c, "3a [I,J_X].[J_X,K]->[I,K] all-reduce", n, mesh, given, to_whole,
      [&](element const* a, element const* b, element* to) { return by_hand::reduce_all(g, e, a, b, false, to); });
  product<tensor<element, I/X, J>, tensor<element, J, K/X>>(
      c, "4 [I_X,J].[J,K_X]->[I_X,K] gather", n, mesh, given, to_rows,
      [&](auto... at) { return by_hand::gather_right(g, e, at...); });
  product<tensor<element, B/X, I, J>, tensor<element, B/X, J, K>>(
      c, "batch [B_X,I,J].[B_X,J,K]->[B_X,I,K]", n, mesh,
      os::sizes(B = n.batch, I = n.each.i, J = n.each.j, K = n.each.k),
      [](auto const& a, auto const& b, auto policy) { return os::einsum<B/X, I, K>(a, b, policy); },
      [&](auto... at) { return by_hand::batch_apart(g, n.batch, n.each, at...); });
  reshard<tensor<element, I/X, J>>(
      c, "all-to-all [I_X,J]->[I,J_X]", n, mesh, os::sizes(I = e.i, J = e.j),
      [](auto const& a) { return os::reshard<I, J/X>(a); },
      [&](auto... at) { return by_hand::all_to_all(g, e.i, e.j, at...); });
}

// A mesh of two axes; on two ranks one of them has size 1, in turn.
void exchanges(contest& c, named_size const& n, int x, int y) {
  auto const mesh = os::make_mesh(X = x, Y = y);
  by_hand::group const all(MPI_COMM_WORLD);
  auto const given = os::sizes(I = n.one.i, J = n.one.j);
  std::string const on = " on " + std::to_string(x) + "x" + std::to_string(y);
  if (x > 1)
    reshard<tensor<element, I/X/Y, J>>(
        c, "exchange [I_XY,J]->[I_Y,J]" + on, n, mesh, given, [](auto const& a) { return os::reshard<I/Y, J>(a); },
        [&](auto... at) { return by_hand::drop_major(all, x, y, n.one.i, n.one.j, at...); });
  if (x > 1 && y > 1)
    reshard<tensor<element, I/X/Y, J>>(
        c, "exchange [I_XY,J]->[I_YX,J]" + on, n, mesh, given, [](auto const& a) { return os::reshard<I/Y/X, J>(a); },
        [&](auto... at) { return by_hand::swap_order(all, x, y, n.one.i, n.one.j, at...); });
}

template <auto N, auto S, auto D, auto F>
void feed_forward(contest& c, named_size const& n, int x, int y) {
  using activations = tensor<element, N/X, S, D/Y>;
  using weights_in = tensor<element, D/X, F/Y>;
  using hidden = tensor<element, N/X, S, F/Y>;
  using weights_out = tensor<element, F/Y, D/X>;
  constexpr auto up = os::plan_of<dims<N/X, S, F/Y>, activations, weights_in>;
  constexpr auto down = os::plan_of<dims<N/X, S, D/Y>, hidden, weights_out>;
  static_assert(up.count(os::step::all_gather) == 2 && up.communications() == 2);
  static_assert(down.count(os::step::all_gather) == 1 && down.count(os::step::reduce_scatter) == 1 &&
                down.communications() == 2);

  auto const mesh = os::make_mesh(X = x, Y = y);
  MPI_Comm along_x = MPI_COMM_NULL;
  MPI_Comm along_y = MPI_COMM_NULL;
  int const rank = mesh.device();
  MPI_Comm_split(MPI_COMM_WORLD, rank % y, rank, &along_x);
  MPI_Comm_split(MPI_COMM_WORLD, rank / y, rank, &along_y);
  by_hand::group const gx(along_x);
  by_hand::group const gy(along_y);
  using std::decay_t;
  by_hand::layer const l{int(decay_t<decltype(N)>::extent * decay_t<decltype(S)>::extent),
                         int(decay_t<decltype(D)>::extent), int(decay_t<decltype(F)>::extent)};
  std::string const on = " on " + std::to_string(x) + "x" + std::to_string(y);
  product<activations, weights_in>(
      c, "feed in [B_X,S,D_Y].[D_X,F_Y]->[B_X,S,F_Y]" + on, n, mesh, os::sizes(),
      [](auto const& a, auto const& b, auto policy) { return os::einsum<N/X, S, F/Y>(a, b, policy); },
      [&](auto... at) { return by_hand::feed_in(gx, gy, l, at...); });
  product<hidden, weights_out>(
      c, "feed out [B_X,S,F_Y].[F_Y,D_X]->[B_X,S,D_Y]" + on, n, mesh, os::sizes(),
      [](auto const& a, auto const& b, auto policy) { return os::einsum<N/X, S, D/Y>(a, b, policy); },
      [&](auto... at) { return by_hand::feed_out(gx, gy, l, at...); });
  MPI_Comm_free(&along_x);
  MPI_Comm_free(&along_y);
}

void feed_forward(contest& c, named_size const& n, int x, int y) {
  std::string const name = n.name;
  if (name == "small") feed_forward<small::N, small::S, small::D, small::F>(c, n, x, y);
  if (name == "square") feed_forward<square::N, square::S, square::D, square::F>(c, n, x, y);
  if (name == "large") feed_forward<large::N, large::S, large::D, large::F>(c, n, x, y);
  if (name == "skewed") feed_forward<skewed::N, skewed::S, skewed::D, skewed::F>(c, n, x, y);
}

void all_patterns(contest& c, named_size const& n, int p) {
  on_one_axis(c, n, p);
  exchanges(c, n, p > 1 ? 2 : 1, p > 1 ? p / 2 : 1);
  feed_forward(c, n, p > 1 ? 2 : 1, p > 1 ? p / 2 : 1);
  if (p == 2 || p == 8) feed_forward(c, n, p / 2, 2);
}

}  // namespace

int main(int argc, char** argv) {
  bench::job job("patterns", argc, argv);
  if (job.ranks != 1 && job.ranks % 2 != 0) {
    std::fprintf(stderr, "patterns: %d ranks do not divide the extents evenly; take a power of two up to 8\n",
                 job.ranks);
    return 1;
  }
  bench::line_between_ranks::instance().limit(job.given.number("line", 0), 60);
  job.out.condition("element", doubles ? "double" : "float");
  char const* const core = std::getenv("OPENBLAS_CORETYPE");
  job.out.condition("OpenBLAS core type", core ? core : "as detected");
  contest c(job.out, job.given, job.rank == 0);
  for (int sweep = job.given.number("sweeps", 1); sweep > 0; --sweep)
    for (named_size const& n : all_sizes) all_patterns(c, n, job.ranks);
  c.show_predictions();
}
