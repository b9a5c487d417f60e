// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. How far each parallelism can go for a model, a batch and a machine: the bound of each, and the number of
/// devices that tensor and fully sharded parallelism can use together. As text:
///
///     parallelism      ways  flop/byte    needed  bound by
///     tensor              5      3,456     2,550  links: 8 ways would wait
///
/// flop/byte: operations that a device computes per byte that it sends; needed: operations that the machine does in the
/// time that it needs to send a byte.

#include <string>

#include <ostraka/plan/parallelism/bounds.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::planner {

/// The result of os::advise_parallelism: how far each kind of parallelism goes, and the best mixture.
struct parallelism_advice {
  transformer_shape shape{};
  token_batch batch{};
  machine on{};
  parallelism_reach reach[parallelisms]{};  ///< the reach of each parallelism alone
  mixed_ways together{};  ///< tensor and fully sharded, on the most devices (1, 2, 4, …) at which their links keep up

  [[nodiscard]] constexpr parallelism_reach const& of(parallelism p) const { return reach[static_cast<int>(p)]; }
};

/// Predicts from plans and the machine's links; nothing runs. The links along the mesh axis of a parallelism are the
/// machine's links of that name: `machine.with("data", slow_links)`.
/// @throws ostraka::error for sizes that no model or batch has, and if the machine does not multiply such elements or
/// has no links
[[nodiscard]] constexpr parallelism_advice advise_parallelism(transformer_shape const& shape, machine const& m,
                                                              token_batch const& batch) {
  for (int p = 0; p < parallelisms; ++p)
    check_parallelism("advise_parallelism", shape, batch, m, static_cast<parallelism>(p));
  parallelism_advice a{.shape = shape, .batch = batch, .on = m};
  for (int p = 0; p < parallelisms; ++p) a.reach[p] = reach_of(static_cast<parallelism>(p), shape, batch, m);
  for (std::int64_t devices = 1; devices <= batch.tokens(); devices *= 2) {
    mixed_ways const found = best_mixture(shape, batch.tokens(), m, devices);
    if (found.ways.devices() != devices || !found.forward.keeps_up()) break;
    a.together = found;
  }
  return a;
}

namespace detail {

inline std::string padded(std::string const& text, std::size_t width, bool right) {
  std::string const blanks(text.size() < width ? width - text.size() : 0, ' ');
  return right ? blanks + text : text + blanks;
}

inline std::string rounded(double n) { return describe_number(static_cast<std::int64_t>(n + 0.5)); }

inline std::string bound_in_words(parallelism_reach const& r) {
  if (r.ways_of_sizes == 1) return "nothing to divide";
  if (r.next_ways > 0 && r.ways == 1) return join_text("links: even ", describe_number(r.next_ways), " ways wait");
  if (r.next_ways > 0) return join_text("links: ", describe_number(r.next_ways), " ways would wait");
  if (r.bubble > 0) return join_text("layers, and idle for ", rounded(100 * r.bubble), " % of the time");
  switch (r.kind) {
    case parallelism::tensor: return "heads of keys";
    case parallelism::context: return "positions";
    case parallelism::expert: return "experts";
    case parallelism::pipeline: return "layers";
    default: return "sequences";
  }
}

}  // namespace detail

/// The advice as text: a line for each parallelism, and one for two together.
[[nodiscard, gnu::cold]] inline std::string describe(parallelism_advice const& a) {
  using detail::padded;
  using detail::rounded;
  std::string text = join_text(describe_number(a.batch.tokens()), " tokens a step on ", a.on.name.view(), "\n\n",
                               padded("parallelism", 14, false), padded("ways", 8, true), padded("flop/byte", 11, true),
                               padded("needed", 10, true), "  bound by\n");
  for (parallelism_reach const& r : a.reach) {
    bool const none = r.ways_of_sizes == 1;
    append_text(text, padded(name_of(r.kind), 14, false), padded(describe_number(r.ways), 8, true),
                padded(none ? "" : rounded(r.intensity), 11, true), padded(none ? "" : rounded(r.needed), 10, true),
                "  ", detail::bound_in_words(r), '\n');
  }
  parallel_ways const& w = a.together.ways;
  return join_text(text, "\nfully_sharded and tensor together: up to ", describe_number(w.devices()), " devices, ",
                   describe_number(w.fully_sharded), " x ", describe_number(w.tensor), ", with ",
                   describe_number(a.batch.tokens() / w.devices()), " tokens each\n");
}

}  // namespace ostraka::planner
