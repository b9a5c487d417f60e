// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Parameter trees: plain structs of tensors, templated on the content of their leaves. They can be nested,
/// also in arrays and vectors. operations.hpp and optimizers.hpp include it; docs/design/trees.md gives the reasons for
/// this form.
///
///     template <class L>
///     struct mlp {
///       os::leaf<L, float, in/X, hidden> w1;
///       os::leaf<L, float, hidden> b1;
///     };
///     std::puts(os::describe<mlp>(os::sizes(in = 784, hidden = 128, X = 4)).c_str());   // nothing is allocated
///     auto p = os::make_tree<mlp>(mesh, in = 784, hidden = 128, os::seed(1));           // mlp<os::values>
///     auto half = os::tree_cast<os::bfloat16>(p);                                       // mlp<os::values_of<…>>

#include <ostraka/types/support/language.hpp>

#include <ostraka/seeing/describe_tree.hpp>
#include <ostraka/tree/in_bodies.hpp>
#include <ostraka/tree/in_pipelines.hpp>
#include <ostraka/tree/leaf.hpp>
#include <ostraka/tree/make_tree.hpp>
#include <ostraka/tree/tree_map.hpp>
#include <ostraka/tree/tree_reshard.hpp>
