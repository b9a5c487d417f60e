// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Machines for predictions: the rates at which a device computes and reads, and the links along each mesh
/// axis. Use a named machine with published numbers, load a file that bench/calibrate has measured, or define your own.
///
///     auto const cluster = os::machines::h100.with("X", os::machines::h100_network);
///     auto const here = os::load_machine("here.machine");

#include <cstdio>
#include <string>
#include <string_view>

#include <ostraka/plan/hardware/collective_time.hpp>
#include <ostraka/plan/hardware/machine_data.hpp>
#include <ostraka/plan/hardware/machine_text.hpp>
#include <ostraka/plan/hardware/machines.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

using planner::compute_rates;
using planner::link;
using planner::link_shape;
using planner::machine;
using planner::rate_at;
using planner::rates_by_size;
/// Machines from the literature: os::machines::h100 and others.
namespace machines = planner::machines;

/// Loads a machine from a file (plan/hardware/machine_text.hpp). Each process reads it by itself.
/// @throws ostraka::error that names the file, and the line with the mistake if there is one
[[nodiscard]] inline machine load_machine(std::string const& path) {
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) throw_error("load_machine: there is no file ", path, " to read; bench/calibrate writes one");
  std::string text;
  char part[4096];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
  bool const failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) throw_error("load_machine: ", path, " cannot be read");
  machine const m = planner::machine_from_text(text, join_text("load_machine: ", path));
  if (m == machine{}) throw_error("load_machine: ", path, " describes no machine; bench/calibrate writes such a file");
  return m;
}

/// Writes a machine's file. @throws ostraka::error if it cannot be written
inline void save_machine(machine const& m, std::string const& path) {
  std::string const text = planner::machine_as_text(m);
  std::FILE* const file = std::fopen(path.c_str(), "w");
  bool const written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  bool const closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed)
    throw_error("save_machine: ", path, " cannot be written; give a path where files may be made");
}

}  // namespace ostraka
