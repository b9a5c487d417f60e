// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The search for rules against all rules one by one: plain loops over every list of mesh axes for every logical axis,
/// on every mesh, without a bound, an order or a symmetry. The best ten of both take the same time and memory.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/plan/hardware/machines.hpp>
#include <ostraka/plan/program/layers.hpp>
#include <ostraka/plan/rule_search/report.hpp>
#include <ostraka/plan/rule_search/rule_search.hpp>

using namespace ostraka::planner;

namespace {

struct taken {
  double seconds = 0;
  double memory = 0;
};

// Sums in different orders differ in their last digits.
bool alike(double a, double b) { return std::abs(a - b) <= 1e-11 * std::max(a, b); }

void sort_and_keep_distinct(std::vector<taken>& all) {
  std::sort(all.begin(), all.end(), [](taken const& a, taken const& b) { return a.seconds < b.seconds; });
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && alike(all[last].seconds, all[first].seconds)) ++last;
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last),
              [](taken const& a, taken const& b) { return a.memory < b.memory; });
  }
  auto const same = [](taken const& a, taken const& b) {
    return alike(a.seconds, b.seconds) && alike(a.memory, b.memory);
  };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
}

// Every list of different mesh axes.
std::vector<mesh_order> all_lists(int mesh_axes) {
  std::vector<mesh_order> all{{}};
  for (int a = 0; a < mesh_axes; ++a) {
    mesh_order one;
    one.push_back(a);
    all.push_back(one);
    for (int b = 0; b < mesh_axes; ++b) {
      if (a == b) continue;
      mesh_order two = one;
      two.push_back(b);
      all.push_back(two);
    }
  }
  return all;
}

bool tensors_can_be(program const& p, device_mesh const& mesh, axis_rules const& rules) {
  for (std::size_t a = 0; a < p.axes.size(); ++a) {
    std::int64_t ways = 1;
    for (int i = 0; i < rules[a].size(); ++i) ways *= mesh.sizes[static_cast<std::size_t>(rules[a][i])];
    if (p.axes[a].extent % ways != 0 || (ways > 1 && p.axes[a].whole)) return false;
  }
  for (program_tensor const& t : p.tensors) {
    std::vector<int> times(static_cast<std::size_t>(mesh.axes()));
    for (int a : t.axes)
      for (int i = 0; i < rules[static_cast<std::size_t>(a)].size(); ++i)
        if (++times[static_cast<std::size_t>(rules[static_cast<std::size_t>(a)][i])] > 1) return false;
  }
  return true;
}

std::vector<taken> brute_force(program const& p, std::vector<device_mesh> const& meshes, machine const& on,
                               search_settings const& how) {
  std::vector<taken> all;
  program_flow const flow(p);
  plan_table plans;
  for (device_mesh const& mesh : meshes)
    for (keeping kept : how.kept) {
      step_settings step = how.step;
      step.kept = kept;
      statement_prices prices(flow, mesh, on, step, plans);
      tensor_memory memory(flow, prices, step);
      std::vector<mesh_order> const lists = all_lists(mesh.axes());
      std::vector<std::size_t> digit(p.axes.size());
      for (bool more = true; more;) {
        axis_rules rules;
        for (std::size_t d : digit) rules.push_back(lists[d]);
        if (tensors_can_be(p, mesh, rules)) {
          ranked_rules const r = price_program(flow, mesh, rules, prices, memory, step);
          if (r.seconds < unbounded && r.memory.total() <= how.memory_bytes)
            all.push_back({r.seconds, r.memory.total()});
        }
        more = false;
        for (std::size_t a = 0; a < digit.size() && !more; ++a) {
          digit[a] = digit[a] + 1 == (p.axes[a].whole ? 1 : lists.size()) ? 0 : digit[a] + 1;
          more = digit[a] != 0;
        }
      }
    }
  sort_and_keep_distinct(all);
  return all;
}

int compare(program const& p, std::vector<device_mesh> const& meshes, machine const& on, search_settings how) {
  std::vector<taken> const expected = brute_force(p, meshes, on, how);
  search_result const found = search_rules(p, meshes, on, how);
  INFO(p.name, " in ", how.memory_bytes, " bytes");
  CHECK(found.ranked.size() == std::min<std::size_t>(expected.size(), static_cast<std::size_t>(how.most)));
  for (std::size_t i = 0; i < found.ranked.size(); ++i) {
    CHECK(alike(found.ranked[i].seconds, expected[i].seconds));
    CHECK(alike(found.ranked[i].memory.total(), expected[i].memory));
  }
  if (expected.empty()) return 0;
  double least = expected[0].memory;
  for (taken const& t : expected) least = std::min(least, t.memory);
  CHECK(found.least_memory <= least);
  return static_cast<int>(expected.size());
}

// x · up · down, its weights used as they lie.
program two_products() {
  program_builder p("two products");
  p.axis("b", 16).axis("m", 8).axis("n", 8).axis("h", 32);
  p.carried("x[b, m]").parameter("up[n, h]").parameter("down[h, n]");
  p.einsum("a[b, h]", {"x", "up[m, h]"}).operation("g[b, h]", {"a"});
  p.einsum("y[b, m]", {"g", "down[h, m]"});
  return p;
}

// The same, weights stored and used under rules of their own, and an operation along rows.
program stored_and_used() {
  program_builder p("stored and used");
  p.axis("b", 16).axis("m", 8).axis("h", 32, {.rule_set = "use"}).axis("stored_n", 8, {.rule_set = "storage"});
  p.axis("stored_h", 32, {.rule_set = "storage"});
  p.carried("x[b, m]").parameter("w[stored_n, stored_h]").move("used[m, h]", "w[m, h]");
  p.operation("n[b, m]", {"x"}, {.flops = 5, .rows = {"m"}});
  p.einsum("y[b, h]", {"n", "used"});
  return p;
}

// Three tensors in one einsum.
program three_factors() {
  program_builder p("three factors");
  p.axis("i", 16).axis("j", 8).axis("k", 16).axis("l", 8);
  p.parameter("a[i, j]").parameter("b[j, k]").input("c[k, l]");
  p.einsum("d[i, l]", {"a", "b", "c"}).einsum("sum[]", {"d"});
  return p;
}

std::vector<device_mesh> meshes_of(std::int64_t devices, machine const& on, std::int64_t node = 0) {
  std::vector<device_mesh> all{mesh_on(on, {"X"}, {devices}, node)};
  for (std::int64_t x = 2; x < devices; ++x)
    if (devices % x == 0) all.push_back(mesh_on(on, {"X", "Y"}, {x, devices / x}, node));
  return all;
}

machine slow_network(double bytes_per_second) {
  machine m = machines::cpu_cluster;
  m.links.bytes_per_second = bytes_per_second;
  m.links.hop_seconds = 1e-9;
  return m;
}

}  // namespace

TEST_CASE("the search is as good as all rules one by one") {
  int cases = 0;
  for (program const& p : {two_products(), stored_and_used(), three_factors()})
    for (double rate : {1e9, 1e11, 1e13})
      for (double memory : {1e9, 6000.0, 3000.0, 100.0})
        for (std::int64_t devices : {2, 4, 8}) {
          machine const on = slow_network(rate);
          cases += compare(p, meshes_of(devices, on), on, {.memory_bytes = memory}) > 0 ? 1 : 0;
        }
  CHECK(cases > 40);
}

TEST_CASE("… where links differ, and of a whole encoder") {
  machine const on = slow_network(1e10).with("Y", {1e12, 1e-8, link_shape::ring, true});
  compare(two_products(), meshes_of(8, on), on, {.memory_bytes = 1e9});
  machine pairs = on;
  pairs.between_nodes = {1e8, 1e-6, link_shape::switched, true};
  compare(two_products(), meshes_of(8, pairs, 2), pairs, {.memory_bytes = 1e9, .node_devices = 2});
  program const layer = programs::feed_forward({.width = 4, .inner = 8}, {.sequences = 2, .length = 2});
  compare(layer, {mesh_on(on, {"X", "Y"}, {2, 2})}, on, {.memory_bytes = 1e9});
}

TEST_CASE("links of mesh axes on nodes of four devices") {
  machine const& on = machines::h100;
  auto const levels = [&](std::vector<std::int64_t> const& sizes) {
    std::vector<std::string> const names(sizes.size(), "");
    std::string text;
    for (auto const& axis : mesh_on(on, names, sizes, 4).levels) {
      for (level const& l : axis) text += (l.links == on.links ? "within " : "between ") + std::to_string(l.ways) + ' ';
      text += '|';
    }
    return text;
  };
  CHECK(levels({4}) == "within 4 |");
  CHECK(levels({8, 4}) == "between 8 |within 4 |");
  CHECK(levels({8, 2}) == "between 4 within 2 |within 2 |");
  CHECK(levels({2, 8}) == "between 2 |between 2 within 4 |");
  CHECK(levels({2, 2, 2}) == "between 2 |within 2 |within 2 |");
  CHECK(levels({4, 3}) == "between 4 |within 3 |");
}

TEST_CASE("meshes of so many devices") {
  using shapes = std::vector<std::vector<std::int64_t>>;
  CHECK(mesh_shapes(8, 3, true) == shapes{{8}, {4, 2}, {2, 4}, {2, 2, 2}});
  CHECK(mesh_shapes(8, 3, false) == shapes{{8}, {4, 2}, {2, 2, 2}});
  CHECK(mesh_shapes(12, 2, true) == shapes{{12}, {6, 2}, {4, 3}, {3, 4}, {2, 6}});
  CHECK(mesh_shapes(1, 2, true) == shapes{{1}});
}

TEST_CASE("how many are asked for does not change what the best are called") {
  // b and s are alike: what divides one of them might divide the other.
  program_builder p("alike");
  p.axis("b", 64).axis("s", 64).axis("m", 1024).axis("n", 1024).axis("h", 1024);
  p.carried("x[b, s, m]").parameter("w[n, h]").einsum("y[b, s, h]", {"x", "w[m, h]"});
  search_result const ten = search_rules(p, 4, machines::h100, {.most = 10});
  search_result const one = search_rules(p, 4, machines::h100, {.most = 1});
  REQUIRE(one.ranked.size() == 1);
  REQUIRE(ten.ranked.size() == 10);
  CHECK(line_to_paste(p, one.ranked[0]) == "constexpr os::rules<b/X> R;");
  CHECK(line_to_paste(p, ten.ranked[0]) == "constexpr os::rules<b/X> R;");
}

TEST_CASE("mesh axes have names that no axis of the program has") {
  program_builder p("letters");
  p.axis("X", 16).axis("Z", 1024).axis("U", 1024);
  p.parameter("a[X, Z]").parameter("b[Z, U]").einsum("c[X, U]", {"a", "b"});
  search_result const found = search_rules(p, 4, machines::h100, {.mesh_axes = 3});
  for (ranked_rules const& r : found.ranked)
    for (std::size_t i = 0; i < r.mesh.names.size(); ++i) CHECK(r.mesh.names[i] == (i == 0 ? "Y" : "V"));
  CHECK(detail::free_mesh_names(p, 6) == std::vector<std::string>{"Y", "V", "W", "X2", "Y2", "Z2"});
}

TEST_CASE("what is found is said in a program's words") {
  program const p = stored_and_used();
  ranked_rules r;
  r.mesh = mesh_on(machines::h100, {"X", "Y"}, {4, 2});
  r.rules.resize(5);
  r.rules[0].push_back(0);
  r.rules[0].push_back(1);
  r.rules[3].push_back(1);
  CHECK(line_to_paste(p, r) ==
        "constexpr os::rules<b/X/Y> R;\nusing use = os::rules<>;\nusing storage = os::rules<stored_n/Y>;");
  CHECK(describe(r.mesh) == "os::make_mesh(X = 4, Y = 2)");
  CHECK(describe_seconds(2.5e-4) == "250 µs");
  CHECK(describe_seconds(1.25) == "1.25 s");
  CHECK(describe_seconds(0.9996) == "1000 ms");
  CHECK(describe_seconds(5400) == "5400 s");
  CHECK(describe_seconds(2e-9) == "0.00 µs");
  CHECK(describe_memory(8e10) == "80.0 GB");
  CHECK(describe_memory(1.5e13) == "15000 GB");
  CHECK(describe_memory(1.5e3) == "1.50 KB");
  CHECK(describe_memory(0.5) == "0.50 B");
  search_result const nothing = search_rules(p, 4, machines::h100, {.memory_bytes = 1});
  CHECK(nothing.ranked.empty());
  CHECK(describe(p, nothing).find("no rules fit") != std::string::npos);
}

namespace {

template <class F>
void says(F const& f, std::string const& what) {
  std::string said = "nothing";
  try {
    f();
  } catch (ostraka::error const& e) {
    said = e.what();
  }
  INFO(said);
  CHECK(said.find(what) != std::string::npos);
}

}  // namespace

TEST_CASE("settings, meshes and machines that cannot be searched are said") {
  program const p = two_products();
  machine const& on = machines::h100;
  auto const asked = [&](search_settings const& how, std::int64_t devices, std::string const& what) {
    says([&] { static_cast<void>(search_rules(p, devices, on, how)); }, "search_rules: " + what);
  };
  asked({.most = 0}, 4, "at least one set of rules");
  asked({.most = -1}, 4, "at least one set of rules");
  asked({.memory_bytes = std::nan("")}, 4, "memory_bytes is a number");
  asked({.mesh_axes = 0}, 4, "a mesh has one axis at least");
  asked({.node_devices = -8}, 4, "a node has no negative number");
  asked({.kept = {}}, 4, "nothing is said of what is kept");
  asked({}, 0, "there is one device at least");
  asked({}, -8, "there is one device at least");
  CHECK(search_rules(p, 1, machine{.name = "one", .flops_per_second = on.flops_per_second}).ranked.size() == 1);

  auto const on_machine = [&](machine const& m, std::string const& what) {
    says([&] { static_cast<void>(search_rules(p, 4, m)); }, "search_rules: the machine h100 " + what);
  };
  machine m = on;
  m.links = {};
  on_machine(m, "has no links along mesh axis X");
  on_machine(on.with("Y", {}), "has no links along mesh axis Y");
  m = on;
  m.flops_per_second.float32 = 0;
  on_machine(m, "does not multiply elements of 4 bytes");
  m = on;
  m.memory_bytes_per_second = std::nan("");
  on_machine(m, "has a number that is negative, or none");
  auto const on_mesh = [&](device_mesh const& mesh, std::string const& what) {
    says([&] { static_cast<void>(search_rules(p, std::vector<device_mesh>{mesh}, on)); }, what);
  };
  on_mesh(mesh_on(on, std::vector<std::string>(8, "X"), std::vector<std::int64_t>(8, 2)),
          "a mesh has more than 7 axes");
  on_mesh({{"X"}, {0}, {{}}}, "a mesh axis has no devices");
  says([&] { static_cast<void>(search_rules(p, std::vector<device_mesh>{}, on)); }, "there is no mesh");
  says([&] { static_cast<void>(search_rules(program{}, 4, on)); }, "computes nothing");
  program_builder large("large");
  large.axis("i", std::int64_t{1} << 40).axis("j", std::int64_t{1} << 20);
  large.parameter("x[i, j]").einsum("y[i]", {"x"});
  says([&] { static_cast<void>(search_rules(large, 4, on)); }, "more than 2·10^18 elements");
}

TEST_CASE("statements that no tensors can meet in are said") {
  auto const line = [&](auto const& write, std::string const& what) {
    says(
        [&] {
          program_builder p("p");
          p.axis("i", 8).axis("j", 8).axis("k", 4).parameter("x[i, j]").parameter("y[j, k]").input("z[]");
          write(p);
        },
        "program p: " + what);
  };
  using builder = program_builder;
  line([](builder& p) { p.axis("i", 8); }, "axis i is there already");
  line([](builder& p) { p.axis("l", 0); }, "axis l has no indices");
  line([](builder& p) { p.input("x[i]"); }, "tensor x is there already");
  line([](builder& p) { p.input("[i]"); }, "a tensor in [i] has no name");
  line([](builder& p) { p.input("w[i"); }, "w[i lacks its bracket ]");
  line([](builder& p) { p.input("w[i] * 2"); }, "w[i] * 2 goes on after its bracket ]");
  line([](builder& p) { p.input("w[i, i]"); }, "axis i appears twice in w[i, i]");
  line([](builder& p) { p.einsum("w[i]", {"x[i, i]"}); }, "axis i appears twice in x[i, i]");
  line([](builder& p) { p.einsum("w[i]", {"v"}); }, "no tensor is called v");
  line([](builder& p) { p.einsum("w[i]", {"x[i]"}); }, "x[i] has another number of axes");
  line([](builder& p) { p.einsum("w[i]", {"x[i, k]"}); }, "j of x is called k, which has another extent");
  line([](builder& p) { p.einsum("w[]", {}); }, "w[] is made of nothing");
  line([](builder& p) { p.einsum("w[k]", {"x"}); }, "no operand of w[k] has its axis k");
  line([](builder& p) { p.einsum("w[i]", {"x", "z", "z", "z", "z", "z", "z", "z", "z"}); },
       "w[i] has more than 8 operands");
  line([](builder& p) { p.move("w[i]", "x"); }, "w[i] is moved, and has other axes");
  line([](builder& p) { p.move("w[j, i]", "x"); }, "w[j, i] is moved, and has other axes");
  line([](builder& p) { p.operation("w[i, j]", {"x"}, {.whole = {"k"}}); }, "no operand of w[i, j] has axis k");
  line([](builder& p) { p.operation("w[i, j]", {"x"}, {.flops = -1}); }, "flops and row_numbers of w[i, j]");
  line([](builder& p) { p.repeat(0); }, "there is at least one layer");
  line([](builder& p) { p.result("x"); }, "no statement makes x");
  says([] { static_cast<void>(program_builder("p", 0)); }, "an element has at least 1 byte");
  program_builder wide("wide");
  std::string axes[3];
  for (int i = 0; i < 18; ++i) {
    std::string const name = "a" + std::to_string(i);
    wide.axis(name, 2);
    axes[i / 6] += (i % 6 == 0 ? "" : ", ") + name;
  }
  for (int t = 0; t < 3; ++t) wide.parameter("xyz"[t] + ("[" + axes[t] + ']'));
  says([&] { wide.einsum("r[a0]", {"x", "y", "z"}); }, "operands of r[a0] have more than 16 axes");
  says([&] { wide.operation("s[a0]", {"x", "y"}); }, "operands of s[a0] have more than 8 axes");
  says([] { static_cast<void>(programs::decoder({.width = 1, .inner = 1, .head_width = 1}, {})); },
       "axis vocabulary has no indices");
  says(
      [] {
        static_cast<void>(
            programs::encoder({.width = 1, .inner = 1, .heads = 40, .kv_heads = 12, .head_width = 1}, {}));
      },
      "give kv_heads that divides heads");
  says([] { static_cast<void>(programs::encoder({.width = 1, .inner = 1, .up_products = 3}, {})); },
       "give up_products = 1 or 2");
  says([] { static_cast<void>(programs::encoder({.width = 1, .inner = 1, .experts = 2}, {})); }, "give experts = 1");
}
