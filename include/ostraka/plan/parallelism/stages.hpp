// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The work of the stages of a pipeline and the messages between them, by the table of its schedule: the
/// arithmetic intensity of pipelining a transformer. Attention is left out, as in the literature, because it is a small
/// part for short texts.

#include <cstdint>

#include <ostraka/plan/parallelism/layer.hpp>
#include <ostraka/plan/pipeline/messages.hpp>

namespace ostraka::planner {

/// The intensity of all stages together. S·R parts of the layers have S·R − 1 borders; `bytes_in_the_limit` counts S·R.
/// @pre microbatches divide the sequences
[[nodiscard]] constexpr intensity stage_traffic(transformer_shape const& m, token_batch const& b,
                                                pipeline_schedule const& s) {
  token_batch const one{b.sequences / s.microbatches, b.length};
  sublayer_traffic const layer = feed_forward_traffic(m, one, {});
  double const flops = layer.forward.flops() + (s.backward ? layer.backward.flops() : 0);
  double const parts = static_cast<double>(s.stages) * s.repeats;
  double const bytes = static_cast<double>(messages(s)) * static_cast<double>(one.tokens() * m.width * m.element_bytes);
  double const passes = static_cast<double>(s.microbatches) * static_cast<double>(m.layers);
  return {flops * passes, bytes, bytes * parts / (parts - 1)};
}

}  // namespace ostraka::planner
