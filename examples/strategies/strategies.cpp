// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Trains the same model under every strategy of the literature. Each gives the losses of one device; a table shows the
/// bytes that it moves and holds. Try  mpirun -n 8 strategies  and  strategies --list; README.md says more.
// labels: ci

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/plan.hpp>

#include "strategy.hpp"
#include "support/byte_counter.hpp"

namespace strategies {

struct data;
struct zero1;
struct zero2;
struct zero3;
struct fsdp_tensor;
struct sequence_tensor;
struct transposed;
struct width_tensor;
struct gathered_context;
struct striped_ring;
struct experts_dense;
struct experts_dense_alone;
struct experts_dropless;
struct experts_capacity;
struct gpipe;
struct by_turns;
struct circular_each_tick;
struct circular_each_repeat;
struct circular_each_pass;
struct experts_stages;

namespace {

// Meshes; sizes of 0 if a strategy does not fit the number of devices.
mesh_sizes along_x(int n) { return {n, 1, 1}; }
mesh_sizes along_y(int n) { return {1, n, 1}; }
mesh_sizes y_of_two(int n) { return n % 2 == 0 ? mesh_sizes{n / 2, 2, 1} : mesh_sizes{0}; }
mesh_sizes y_of_four(int n) { return n % 4 == 0 ? mesh_sizes{n / 4, 4, 1} : mesh_sizes{0}; }
mesh_sizes x_of_two(int n) { return n % 2 == 0 ? mesh_sizes{2, n / 2, 1} : mesh_sizes{0}; }
mesh_sizes in_stripes(int n) { return 32 % (2 * n) == 0 ? along_x(n) : mesh_sizes{0}; }
mesh_sizes in_stripes_y_of_two(int n) { return 32 % n == 0 ? y_of_two(n) : mesh_sizes{0}; }

mesh_sizes along_z(int n) { return n <= 4 ? mesh_sizes{1, 1, n} : mesh_sizes{n / 4, 1, 4}; }
mesh_sizes z_of_two(int n) { return n % 2 == 0 ? mesh_sizes{n / 2, 1, 2} : mesh_sizes{0}; }
template <int Xs, int Zs, int Ys>
mesh_sizes just(int n) {
  return n == Xs * Zs * Ys ? mesh_sizes{Xs, Ys, Zs} : mesh_sizes{0};
}

using program = outcome (*)(mesh_type const&, problem const&);

/// The published volumes of a strategy, in units of the parameters' bytes: the bytes that each of n devices sends,
/// times (n − 1)/n, and the bytes that it holds.
struct volumes {
  double moved, parameters, gradients, state;
};

struct row {
  char const* name;
  mesh_sizes (*mesh_for)(int devices);
  program run;
  struct rest {
    std::int64_t microbatches = 1, rounds = 1, layers = 4;
    std::int64_t devices_a_sequence = 0;  ///< for a batch that is smaller than the number of devices
    volumes (*published)(double n) = nullptr;
    program one = strategies::run<data>;  ///< the same model on one device
    bool data_decides = false;            ///< data decides what is moved, so that no dry run predicts it
  } more;
};

// Rajbhandari, Rasley, Ruwase, He, "ZeRO" (2020), sections 5 and 7; Adam's state is twice the parameters.
volumes data_volumes(double) { return {2, 1, 1, 2}; }
volumes zero1_volumes(double n) { return {2, 1, 1, 2 / n}; }
volumes zero2_volumes(double n) { return {2, 1, 1 / n, 2 / n}; }
volumes zero3_volumes(double n) { return {3, 1 / n, 1 / n, 2 / n}; }
volumes fsdp_volumes(double n) { return {2, 1 / n, 1 / n, 2 / n}; }  // as zero3, but gathered weights are kept

constexpr row rows[] = {
    {"data", along_x, run<data>, {.published = data_volumes}},
    {"data, 4 microbatches", along_x, run<data>, {.microbatches = 4, .published = data_volumes}},
    {"zero1", along_x, run<zero1>, {.published = zero1_volumes}},
    {"zero1, 4 microbatches", along_x, run<zero1>, {.microbatches = 4, .published = zero1_volumes}},
    {"zero2", along_x, run<zero2>, {.published = zero2_volumes}},
    {"zero3", along_x, run<zero3>, {.published = zero3_volumes}},
    {"fsdp", along_x, run<fsdp_tensor>, {.published = fsdp_volumes}},
    {"tensor", along_y, run<fsdp_tensor>, {}},
    {"fsdp x tensor of 2", y_of_two, run<fsdp_tensor>, {}},
    {"fsdp of 2 x tensor", x_of_two, run<fsdp_tensor>, {}},
    {"tensor, sequence split", along_y, run<sequence_tensor>, {}},
    {"fsdp of 2 x sequence", x_of_two, run<sequence_tensor>, {}},
    {"tensor, transposed", along_y, run<transposed>, {}},
    {"fsdp x tensor, 1/4 each", y_of_four, run<fsdp_tensor>, {.devices_a_sequence = 4}},
    {"2d", x_of_two, run<width_tensor>, {}},
    {"context, gathered", along_x, run<gathered_context>, {}},
    {"context, striped ring", in_stripes, run<striped_ring>, {}},
    {"striped ring x tensor", in_stripes_y_of_two, run<striped_ring>, {}},
    {"experts, dropless", along_x, run<experts_dropless>, {.one = run<experts_dense>, .data_decides = true}},
    {"experts, capacity", along_x, run<experts_capacity>, {.one = run<experts_dense>}},
    {"experts and context", along_y, run<experts_dropless>, {.one = run<experts_dense>, .data_decides = true}},
    {"experts, 2 x context", x_of_two, run<experts_capacity>, {.one = run<experts_dense>}},
    {"gpipe", along_z, run<gpipe>, {}},
    {"1f1b", along_z, run<by_turns>, {}},
    {"1f1b, 6 layers", along_z, run<by_turns>, {.layers = 6}},
    {"circular", z_of_two, run<circular_each_pass>, {.rounds = 2}},
    {"circular, each tick", z_of_two, run<circular_each_tick>, {.rounds = 2, .layers = 8}},
    {"circular, each repeat", z_of_two, run<circular_each_repeat>, {.rounds = 2, .layers = 8}},
    {"circular, each pass", z_of_two, run<circular_each_pass>, {.rounds = 2, .layers = 8}},
    {"3d: 2 x 2 x 2", just<2, 2, 2>, run<by_turns>, {}},
    {"3d: 1 x 2 x 4", just<1, 2, 4>, run<by_turns>, {}},
    {"3d: 2 x 4 x 1", just<2, 4, 1>, run<by_turns>, {}},
    {"3d: 8 x 1 x 1", just<8, 1, 1>, run<by_turns>, {}},
    {"experts x 2 stages", just<4, 2, 1>, run<experts_stages>, {.one = run<experts_dense_alone>}},
    {"experts: 2 x 2 x 2", just<2, 2, 2>, run<experts_stages>, {.one = run<experts_dense_alone>}},
};

struct options {
  std::string only;
  std::string relay;  ///< the file that strategies hand on; empty if none
  problem of;
  bool list = false, help = false;
};

constexpr char const* help =
    "usage: strategies [--strategy NAME] [--steps N] [--relay FILE.safetensors] [--list]\n"
    "\n"
    "Trains a small transformer under one strategy, or all of them, and compares the losses with those of one device.\n"
    "With --relay all strategies also make one run together: each goes on for a few steps from the file that the one\n"
    "before it has left.\n";

/// @throws refusal
options parse_options(int argc, char const* const* argv) {
  options o;
  o.of.width = 32;
  o.of.length = 32;
  for (int i = 1; i < argc; ++i) {
    std::string_view const name = argv[i];
    if (name == "--list" || name == "--help") {
      (name == "--list" ? o.list : o.help) = true;
      continue;
    }
    if ((name != "--strategy" && name != "--steps" && name != "--relay") || i + 1 == argc)
      throw refusal("there is no option " + std::string(name) + ", or it lacks a value; see --help");
    std::string_view const value = argv[++i];
    if (name == "--strategy") {
      o.only = value;
    } else if (name == "--relay") {
      o.relay = value;
    } else {
      auto const [end, fault] = std::from_chars(value.data(), value.data() + value.size(), o.of.steps);
      if (fault != std::errc() || end != value.data() + value.size() || o.of.steps < 1)
        throw refusal("--steps takes a number from 1 on, not '" + std::string(value) + "'");
    }
  }
  auto const is_it = [&](row const& r) { return o.only == r.name; };
  if (!o.only.empty() && std::none_of(std::begin(rows), std::end(rows), is_it))
    throw refusal("there is no strategy '" + o.only + "'; see --list");
  set_widths(o.of, true);
  return o;
}

/// The largest relative difference of two curves.
double difference(std::vector<double> const& a, std::vector<double> const& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double const d = std::fabs(a[i] - b[i]) / std::fabs(b[i]);
    largest = d <= largest ? largest : d;  // keeps NaN
  }
  return largest;
}

/// added: the sum over all devices. most: the number of the device that has most.
std::int64_t added(std::int64_t mine) { return os::testing::sum_over_ranks({mine, 0}).bytes; }
std::int64_t most(std::int64_t mine) {
  std::int64_t largest = mine;
  for (std::int64_t n : os::testing::numbers_of_ranks(mine)) largest = std::max(largest, n);
  return largest;
}

outcome of_all(outcome o) {
  o.moved = added(o.moved);
  for (std::int64_t* n : {&o.peak, &o.parameters, &o.gradients, &o.state}) *n = most(*n);
  return o;
}

std::string text_of(std::int64_t bytes) { return os::planner::describe_bytes(bytes); }

std::string share_or_none(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return share < 0 ? "" : text;
}

void print_head(problem const& o, outcome const& one) {
  std::printf(
      "%lld steps of %lld sequences of %lld bytes, %lld layers of width %lld, %s of parameters. One device: loss "
      "%.6f to %.6f, %s in use.\nBytes: moved in a step by all devices; in use at once, and of these held, by the "
      "one that has most."
      "\n\n%-24s %-6s %9s %8s %12s %12s %12s %12s %8s %8s %12s %12s %12s\n",
      static_cast<long long>(o.steps), static_cast<long long>(o.batch), static_cast<long long>(o.length),
      static_cast<long long>(o.layers), static_cast<long long>(o.width), text_of(one.parameters).c_str(),
      one.losses.front(), one.losses.back(), text_of(one.peak).c_str(), "strategy", "mesh", "loss", "differs", "moved",
      "predicted", "in use", "predicted", "idle", "predicted", "parameters", "gradients", "state");
}

void print_row(row const& r, mesh_sizes const& n, outcome const& o, outcome const& predicted, double differs) {
  std::string const mesh = std::to_string(n.x) + "x" + std::to_string(n.y) + "x" + std::to_string(n.z);
  std::printf("%-24s %-6s %9.6f %8.0e %12s %12s %12s %12s %8s %8s %12s %12s %12s\n", r.name, mesh.c_str(),
              o.losses.back(), differs, text_of(o.moved).c_str(), text_of(predicted.moved).c_str(),
              text_of(o.peak).c_str(), text_of(predicted.peak).c_str(), share_or_none(o.idle).c_str(),
              share_or_none(predicted.idle).c_str(), text_of(o.parameters).c_str(), text_of(o.gradients).c_str(),
              text_of(o.state).c_str());
  std::fflush(stdout);
}

/// True if a strategy moves and holds the published volumes. It may also move a few numbers: the loss, whether tokens
/// and targets are in range, and the gradients' norm.
bool keeps(volumes v, outcome const& o, double parameters, double n, double microbatches) {
  double const numbers = 2 * (n - 1) * sizeof(double) * (3 * microbatches + 1);
  double const more = static_cast<double>(o.moved) - v.moved * parameters * (n - 1);
  auto const holds = [&](std::int64_t bytes, double share) { return static_cast<double>(bytes) == share * parameters; };
  return more >= 0 && more <= numbers && holds(o.parameters, v.parameters) && holds(o.gradients, v.gradients) &&
         holds(o.state - static_cast<std::int64_t>(sizeof(std::int64_t)), v.state);  // and the number of steps
}

/// The outcomes on one device, each computed once.
class on_one_device {
 public:
  outcome const& of(program p, problem const& o) {
    for (entry const& e : known_)
      if (e.of == p && e.layers == o.layers && e.batch == o.batch) return e.found;
    known_.push_back({p, o.layers, o.batch, p(os::make_mesh(os::this_device, X = 1, Y = 1, Z = 1), o)});
    return known_.back().found;
  }

 private:
  struct entry {
    program of;
    std::int64_t layers, batch;
    outcome found;
  };
  std::deque<entry> known_;
};

/// The problem with the changes that a strategy makes to it.
problem as_in(row const& r, problem o, int devices) {
  o.microbatches = r.more.microbatches;
  o.rounds = r.more.rounds;
  o.layers = r.more.layers;
  if (r.more.devices_a_sequence > 0) o.batch = devices / r.more.devices_a_sequence;
  return o;
}

/// @returns true if every strategy gives the losses of one device, moves the predicted bytes and needs the predicted
/// memory. Only the process that `speaks` knows.
bool run_all(options const& o, int devices, bool speaks) {
  on_one_device alone;
  if (speaks) print_head(o.of, alone.of(run<data>, o.of));
  bool good = true;
  for (row const& r : rows) {
    mesh_sizes const n = r.mesh_for(devices);
    if (n.x == 0 || (!o.only.empty() && o.only != r.name)) continue;
    problem of = as_in(r, o.of, devices);
    auto const m = os::make_mesh(X = n.x, Y = n.y, Z = n.z);
    outcome const all = of_all(r.run(m, of));
    of.steps = 2;
    outcome const predicted = of_all(r.run(os::dry_mesh(os::as_device(m.device()), X = n.x, Y = n.y, Z = n.z), of));
    if (!speaks) continue;
    problem alike = o.of;
    alike.layers = of.layers;
    alike.batch = of.batch;
    outcome const& one = alone.of(r.more.one, alike);
    double const differs = difference(all.losses, one.losses);
    print_row(r, n, all, predicted, differs);
    bool const fits =
        r.more.published == nullptr || keeps(r.more.published(devices), all, static_cast<double>(one.parameters),
                                             devices, static_cast<double>(r.more.microbatches));
    bool const as_predicted = r.more.data_decides || (all.moved == predicted.moved && all.peak == predicted.peak);
    good = good && fits && differs <= 1e-10 && as_predicted && std::fabs(all.idle - predicted.idle) <= 1e-12;
    if (!fits) std::printf("%s moves or holds what is not published of it\n", r.name);
  }
  return good;
}

/// Runs all strategies in turn, a few steps each. Each one continues from the checkpoint of the one before, under other
/// rules, on another mesh, with layers stacked otherwise. @returns true if the loss goes on as on one device
bool run_relay(options const& o, int devices, bool speaks) {
  std::vector<row const*> legs;
  for (row const& r : rows)
    if (r.mesh_for(devices).x > 0 && as_in(r, o.of, devices).batch == o.of.batch && r.more.layers == o.of.layers &&
        r.more.one == run<data>)
      legs.push_back(&r);
  std::vector<double> losses;
  auto const count = static_cast<std::int64_t>(legs.size());
  for (std::int64_t k = 0; k < count; ++k) {
    row const& r = *legs[static_cast<std::size_t>(k)];
    mesh_sizes const n = r.mesh_for(devices);
    auto const m = os::make_mesh(X = n.x, Y = n.y, Z = n.z);
    problem of = as_in(r, o.of, devices);
    of.steps = o.of.steps * (k + 1) / count;
    of.save = o.relay;
    if (k > 0) of.load = o.relay;
    outcome const leg = r.run(m, of);
    losses.insert(losses.end(), leg.losses.begin(), leg.losses.end());
  }
  if (!speaks) return true;
  outcome const one = run<data>(os::make_mesh(os::this_device, X = 1, Y = 1, Z = 1), o.of);
  double const differs = losses.size() == one.losses.size() ? difference(losses, one.losses) : 1;
  std::printf("%-24s %-6s %9.6f %8.0e   one run, gone on with by %d strategies in turn\n", "relay", "", losses.back(),
              differs, static_cast<int>(count));
  return differs <= 1e-10;
}

}  // namespace

}  // namespace strategies

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  bool const speaks = os::make_mesh(X = env.devices()).device() == 0;
  try {
    strategies::options const o = strategies::parse_options(argc, argv);
    if (speaks && o.help) std::printf("%s", strategies::help);
    if (speaks && o.list)
      for (strategies::row const& r : strategies::rows) std::printf("%s\n", r.name);
    if (o.help || o.list) return 0;
    bool good = strategies::run_all(o, env.devices(), speaks);
    if (!o.relay.empty()) good = strategies::run_relay(o, env.devices(), speaks) && good;
    return good ? 0 : 1;
  } catch (strategies::refusal const& r) {
    if (speaks) std::fprintf(stderr, "strategies: %s\n", r.what());
    return 1;
  }
}
