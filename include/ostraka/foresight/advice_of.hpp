// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Advice on a part of a program that other calls would make cheaper: a tensor that is moved twice, a gather
/// or an all-reduce whose result is sliced again, communication that could begin earlier.
///
///     for (std::string const& advice : os::advice_of(dry, os::machines::h100, [&] { step(dry); }))
///       std::puts(advice.c_str());

#include <string>
#include <vector>

#include <ostraka/engine/trace/program_adviser.hpp>
#include <ostraka/foresight/machine.hpp>
#include <ostraka/foresight/priced_run.hpp>

namespace ostraka {

/// Advice on f(): a sentence for each fault, with its remedy. Advises on late communication only if that saves at least
/// 2 % of the time on that machine. Says nothing about calls that the library makes by itself in backwards, nor about a
/// tensor that outlives f, because a later part may read it. Does not see a program's own kernels: it may advise on a
/// tensor that they write between two moves. On a dry mesh nothing is computed (os::cost_of). Not collective by itself.
template <MeshAxis... Ms, class F>
[[nodiscard]] std::vector<std::string> advice_of(mesh<Ms...> const& m, machine const& on, F&& f) {
  engine::program_adviser adviser(on);
  detail::run_priced(m, f);
  auto const texts = adviser.advice();
  return {texts.begin(), texts.end()};
}

}  // namespace ostraka
