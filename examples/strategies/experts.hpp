// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A transformer with a mixture of experts, as a strategy.

#include "../transformer/experts.hpp"
#include "trainer.hpp"

namespace strategies {

template <class Rules, class Mixture, bool Ordered = true>
struct mixture_rules : plain_rules<Rules> {
  using variant = variant_of_experts<Rules, grouped, Mixture>;
  using loss = loss_of_experts<variant, Ordered>;
};

}  // namespace strategies
