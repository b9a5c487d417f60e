// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// ZeRO, stage 3: parameters, too, are stored divided. A weight is gathered where it is used, in the forward and again
/// in the backward, which keeps none of them; gradients are reduce-scattered to the parameters' sharding: 3 P (n −
/// 1)/n.

#include "../transformer/rules.hpp"
#include "trainer.hpp"

namespace strategies {

/// The loss, whose backward repeats the gathers.
template <class Loss>
struct gathered_again {
  template <class Parameters, class Tokens>
  auto operator()(Parameters const& p, Tokens const& tokens, Tokens const& next) const {
    return os::checkpoint(Loss{}, os::save_all_but_gathers)(p, tokens, next);
  }
};

struct zero3 : plain_rules<fsdp_and_tensor> {
  using loss = gathered_again<plain_rules<fsdp_and_tensor>::loss>;
};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::zero3>(strategies::mesh_type const&,
                                                                strategies::problem const&);
