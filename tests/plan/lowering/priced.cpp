// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Schedules that are only priced give the same figures as those that run, in lists that do not grow with the devices.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <ostraka/plan/decisions/viewpoint.hpp>
#include <ostraka/plan/lowering/schedule.hpp>
#include <ostraka/plan/reshard/plan_reshard.hpp>
#include <ostraka/plan/search/plan_einsum.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>

#include "plan/every_spec.hpp"

using namespace ostraka::planner;
using namespace ostraka::testing;

namespace {

// The work of a device, as pricing sees it: verbs except copies and fills one by one, and the figures as numbers.
struct written_work {
  std::string text;

  void write(std::int64_t elements, bool reads) {
    text += (reads ? " c" : " i") + std::to_string(elements);
  }
  void say(action const& a) { text += std::string(" ") + "cimrsf"[static_cast<int>(a.what)]; }
};

std::string work_of(schedule const& s) {
  written_work h;
  for (action const& a : s.actions) {
    if (a.what == verb::copy || a.what == verb::fill) {
      h.write(s.blocks[static_cast<std::size_t>(a.to)].where.size(), a.what == verb::copy);
    } else if (a.what == verb::price) {
      for (int k = 0; k < a.items; ++k) {
        repeated_writes const& w = s.written[static_cast<std::size_t>(a.item + k)];
        for (std::int64_t n = 0; n < w.number; ++n) h.write(w.elements, w.reads);
      }
    } else {
      h.say(a);
    }
  }
  return h.text;
}

// The bytes of each message of an exchange to each member, and whether it is one message.
std::vector<std::vector<std::pair<std::int64_t, bool>>> sent_by(schedule const& s) {
  std::vector<std::vector<std::pair<std::int64_t, bool>>> all;
  for (scheduled_message const& m : s.messages) {
    all.emplace_back(static_cast<std::size_t>(m.members));
    auto& to = all.back();
    for (int k = 0; k < m.parts; ++k) {
      message_part const& p = s.parts[static_cast<std::size_t>(m.first_part + k)];
      std::int64_t const n = p.sent.where.size();
      if (n > 0) to[static_cast<std::size_t>(p.member)] = {n, !p.sent.gapless()};
    }
    for (int k = 0; k < m.sent_runs; ++k) {
      repeated_sends const& r = s.sent[static_cast<std::size_t>(m.first_sent + k)];
      for (std::int64_t d = 0; d < r.members; ++d)
        to[static_cast<std::size_t>(r.first + d * r.step)] = {r.elements, r.at_once};
    }
  }
  return all;
}

template <class Plan>
schedule lowered(Plan const& plan, decisions const& decided, viewpoint const& v, bool priced_only) {
  schedule s;
  s.priced_only = priced_only;
  lower_to(s, plan, decided, v, 8);
  return s;
}

// Both schedules of a device. @returns true if they give the same
template <class Plan>
bool says_the_same(Plan const& plan, decisions const& decided, viewpoint const& v) {
  schedule const run = lowered(plan, decided, v, false), priced = lowered(plan, decided, v, true);
  bool same = work_of(run) == work_of(priced) && sent_by(run) == sent_by(priced) && run.workspace == priced.workspace &&
              run.stages.size() == priced.stages.size() && run.messages.size() == priced.messages.size() &&
              run.products.size() == priced.products.size() && priced.blocks.empty() && priced.parts.empty();
  for (std::size_t i = 0; same && i < run.stages.size(); ++i)
    same = run.stages[i].step == priced.stages[i].step && run.stages[i].fused == priced.stages[i].fused &&
           run.stages[i].copied == priced.stages[i].copied && run.stages[i].moved == priced.stages[i].moved;
  for (std::size_t i = 0; same && i < run.messages.size(); ++i)
    same = run.messages[i].own == priced.messages[i].own && run.messages[i].moved == priced.messages[i].moved;
  return same;
}

spec of(std::initializer_list<std::pair<int, int>> labels) {
  spec s;
  for (auto const& [label, mesh_axis] : labels) {
    mesh_order over;
    if (mesh_axis >= 0) over.push_back(mesh_axis);
    s.push_back(label, over);
  }
  return s;
}

}  // namespace

TEST_CASE("reshards: what is computed, sent and set aside, on every device, between all pairs of specs") {
  einsum_labels const l("ij->ij");
  auto const every = every_spec(l.operands[0], 2);
  std::int64_t cases = 0, wrong = 0;
  for (std::int64_t extent : {1, 5, 12}) {
    extents const e = make_extents(2, {extent, 7}, {2, 3});
    for (spec const& a : every)
      for (spec const& b : every) {
        if (!a.partial.empty() || !b.partial.empty()) continue;
        auto const steps = plan_reshard(a, b, e);
        plan_view const plan(a, b, steps);
        decisions const decided = decide(plan.operands, plan.steps, result_of(plan), e);
        for (std::int64_t d = 0; d < 6; ++d) {
          viewpoint v;
          v.sizes = e;
          v.here = {{d / 3, d % 3}};
          v.via.takes_blocks = d % 2 == 0;
          v.via.longest_message = 1 << 20;
          ++cases;
          wrong += says_the_same(plan, decided, v) ? 0 : 1;
        }
      }
  }
  CHECK(cases > 1000);
  CHECK(wrong == 0);
}

TEST_CASE("products: the same") {
  einsum_labels const l("ij,jk->ik");
  extents const e = make_extents(3, {10}, {2, 3});
  auto const a = every_spec(l.operands[0], 2), b = every_spec(l.operands[1], 2), c = every_spec(l.result, 2);
  std::int64_t wrong = 0;
  for (std::size_t n = 0; n < 300; ++n) {
    einsum_problem p;
    p.operands.push_back(a[n * 7 % a.size()]);
    p.operands.push_back(b[n * 5 % b.size()]);
    p.result = c[n * 3 % c.size()];
    p.sizes = e;
    einsum_plan const plan = plan_einsum(p);
    for (std::int64_t d = 0; d < 6; ++d) {
      viewpoint v;
      v.sizes = e;
      v.here = {{d / 3, d % 3}};
      v.adds = n % 2 == 0;
      wrong += says_the_same(plan, decide(plan, e), v) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the lists of a schedule that is priced do not grow with the devices") {
  auto const lists_of = [](spec const& from, spec const& to, std::int64_t devices) {
    extents const e = make_extents(2, {devices / 8, 3}, {devices, 2});  // fewer indices than devices: uneven parts
    auto const steps = plan_reshard(from, to, e);
    plan_view const plan(from, to, steps);
    viewpoint v;
    v.sizes = e;
    v.here = {{devices - 1, 1}};
    schedule const s = lowered(plan, decide(plan.operands, plan.steps, result_of(plan), e), v, true);
    return s.actions.size() + s.blocks.size() + s.written.size() + s.sent.size() + s.parts.size() + s.buffers.size();
  };
  spec const stored = of({{0, 0}, {1, -1}}), whole = of({{0, -1}, {1, -1}}), across = of({{0, 1}, {1, -1}});
  for (auto const& [from, to] : {std::pair{stored, whole}, {stored, across}, {across, stored}}) {
    std::size_t const few = lists_of(from, to, 64);
    CHECK(few > 0);
    CHECK(lists_of(from, to, 512) == few);
    CHECK(lists_of(from, to, 4096) == few);
  }
}
