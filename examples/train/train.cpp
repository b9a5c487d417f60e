// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A decoder-only transformer learns the bytes of a text under a rule set that is given by name. It has one model
/// source (model.hpp, attention.hpp); the rules (rules.hpp) decide what is stored where, gathered and reduced. Try
/// mpirun -n 4 train --rules fsdp+tensor  and  train --help; README.md says more.
// labels: ci

#include <cstdio>
#include <string>

#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/plan.hpp>

#include "run.hpp"
#include "support/byte_counter.hpp"

namespace train {

/// The mesh axes that have several devices. Rules that divide over one mesh axis alone have all devices along it.
enum class devices { along_both, along_x, along_y };

struct program {
  bool (*run)(mesh_type const&, options const&) = nullptr;
  step_price (*price)(mesh_type const&, options const&, os::machine const&) = nullptr;
};
template <class Rules, class Attention>
constexpr program under{run<Rules, Attention>, price<Rules, Attention>};

struct entry {
  char const* rules;
  program grouped, latent;
  devices lie = devices::along_both;

  [[nodiscard]] program const& of(options const& o) const { return o.attention == "mla" ? latent : grouped; }
  void place(int& x, int& y) const {
    if (lie == devices::along_x) x *= y, y = 1;
    if (lie == devices::along_y) y *= x, x = 1;
  }
};

constexpr entry programs[] = {
    {"data", under<data_and_tensor, grouped>, under<data_and_tensor, latent>, devices::along_x},
    {"fsdp", under<fsdp_and_tensor, grouped>, under<fsdp_and_tensor, latent>, devices::along_x},
    {"tensor", under<fsdp_and_tensor, grouped>, under<fsdp_and_tensor, latent>, devices::along_y},
    {"data+tensor", under<data_and_tensor, grouped>, under<data_and_tensor, latent>},
    {"fsdp+tensor", under<fsdp_and_tensor, grouped>, under<fsdp_and_tensor, latent>},
    {"2d", under<two_dimensional, grouped>, {}},
};

void check_attention(options const& o) {
  if (o.attention != "mha" && o.attention != "gqa" && o.attention != "mla")
    throw refusal("options: --attention is mha, gqa or mla, not '" + o.attention + "'");
}

entry const& find(options const& o) {
  for (entry const& e : programs)
    if (o.rules == e.rules) {
      if (e.of(o).run == nullptr)
        throw refusal("options: mla is not compiled under the rules " + o.rules + "; add it to train.cpp");
      return e;
    }
  throw refusal("options: there are no rules '" + o.rules + "'; see --help");
}

bool run(options const& o, int x, int y) {
  check_attention(o);
  entry const& e = find(o);
  e.place(x, y);
  return e.of(o).run(os::make_mesh(X = x, Y = y), o);
}

/// The machine of a name, or of a file. @throws refusal
os::machine machine_of(std::string const& name) {
  std::string names;
  for (os::machine const& m : os::machines::all) {
    if (m.name.view() == name) return m;
    names += std::string(m.name.view()) + ", ";
  }
  if (name.find_first_of("./") == name.npos)
    throw refusal("options: --machine is " + names + "or a file of bench/calibrate, not '" + name + "'");
  return os::load_machine(name);
}

/// A dry mesh as the last device sees it, whose blocks are the largest.
mesh_type dry_mesh_of(options const& o, int x, int y) {
  os::dry_device const last = os::as_device(std::int64_t{x} * y - 1);
  if (o.node == 0) return os::dry_mesh(last, X = x, Y = y);
  return os::dry_mesh(last, os::devices_per_node(o.node), X = x, Y = y);
}

void print_head(options const& o, os::machine const& on, std::int64_t parameters) {
  std::printf(
      "A training step of a model of %s parameters, %lld sequences of %lld bytes, on %lld devices of %s. The one with "
      "most:\n\n"
      "%-12s %-9s %18s %18s %18s %20s %10s %10s %10s %10s\n",
      os::planner::describe_number(parameters).c_str(), static_cast<long long>(o.batch),
      static_cast<long long>(o.length), static_cast<long long>(o.mesh_x) * o.mesh_y, on.name.text, "rules", "mesh",
      "keeps", "sends", "at once", "flop", "step", "computing", "waiting", "priced in");
}

/// Prints a row for each rule set.
void print_prices(options const& o, os::machine const& on) {
  auto const bytes = [](std::int64_t n) { return os::planner::describe_bytes(n); };
  bool is_first = true;
  for (entry const& e : programs) {
    if (e.of(o).price == nullptr) continue;
    int x = o.mesh_x, y = o.mesh_y;
    e.place(x, y);
    step_price const r = e.of(o).price(dry_mesh_of(o, x, y), o, on);
    if (is_first) print_head(o, on, r.parameters);
    is_first = false;
    std::string const mesh = std::to_string(x) + "x" + std::to_string(y);
    std::printf("%-12s %-9s %18s %18s %18s %20s %7.3f ms %7.3f ms %7.3f ms %7.1f ms\n", e.rules, mesh.c_str(),
                bytes(r.kept).c_str(), bytes(r.sent).c_str(), bytes(r.peak).c_str(),
                os::planner::describe_number(r.flops).c_str(), 1e3 * r.seconds, 1e3 * r.computing, 1e3 * r.waiting,
                1e3 * r.pricing);
    std::fflush(stdout);
  }
}

/// Prints prices; one process computes them. @throws refusal
void run_dry(options const& o, bool speaks) {
  check_attention(o);
  try {
    os::machine const on = machine_of(o.machine);
    if (speaks) print_prices(o, on);
  } catch (os::error const& e) {  // a file that is no machine, nodes that do not divide the mesh
    throw refusal(e.what());
  }
}

}  // namespace train

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  bool const speaks = os::make_mesh(X = env.devices()).device() == 0;
  try {
    train::options const o = train::parse_options(argc, argv);
    int const x = o.mesh_x > 0 ? o.mesh_x : env.devices() % 2 == 0 ? 2 : 1;
    if (o.dry && !o.help) return train::run_dry(o, speaks), 0;
    if (!o.help) return train::run(o, x, o.mesh_y > 0 ? o.mesh_y : env.devices() / x) ? 0 : 1;
    if (speaks) std::printf("%s", train::help);
    return 0;
  } catch (train::refusal const& r) {
    if (speaks) std::fprintf(stderr, "train: %s\n", r.what());
    return 1;
  }
}
