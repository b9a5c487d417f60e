// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Checkpoints and arrays in files that other programs read, too. Each device writes and reads its own blocks.
/// Include this header in a program that saves or loads. docs/files.md describes the files and the handling of errors.
///
///     os::save("model.safetensors", params);                              // a tree of parameters
///     auto params = os::load<mlp>("model.safetensors", mesh);             // under any sharding, on any mesh
///     os::load_into(params, "model.safetensors");                         // into an existing tree
///     auto params = os::load<llama>("hub", mesh, names, os::cast_to<float>);  // parts, other names, other elements
///     os::save("run.safetensors", os::together("model", params, "optimizer", state));
///     os::save("hub", params, os::in_parts_of(5'000'000'000));            // parts and their index
///     auto saving = os::start_save("run.safetensors", params);            // the program continues
///     os::save("a.npy", A);                                               // one tensor
///     os::save_xdmf("flow.xdmf", os::together("u", u, "p", p));           // fields that ParaView opens
///     auto A = os::load<float, I/X, J>("a.npy", mesh);

#include <ostraka/types/support/language.hpp>

#include <ostraka/files/load.hpp>
#include <ostraka/files/save.hpp>
#include <ostraka/files/save_xdmf.hpp>
#include <ostraka/files/start_save.hpp>
#include <ostraka/files/stored_as.hpp>
#include <ostraka/files/together.hpp>

#ifdef OSTRAKA_COMPILED
#include <ostraka/compiled/compiled_files.hpp>
#endif
