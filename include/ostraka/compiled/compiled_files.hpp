// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The instances for files that ostraka::compiled holds, in the manner of compiled_engine.hpp.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/compiled/compiled_engine.hpp>
#include <ostraka/engine/files/load_tensors.hpp>
#include <ostraka/engine/files/save_tensors.hpp>
#include <ostraka/files/load_options.hpp>
#include <ostraka/files/load_tree.hpp>
#include <ostraka/files/save.hpp>

/// WHERE is `extern`, or empty in the source that makes the instances.
#define OSTRAKA_FILE_INSTANCES_(WHERE)                                                                               \
  namespace ostraka::engine {                                                                                        \
  WHERE template file_block part_of<>(file_block, int, std::int64_t const*);                                         \
  WHERE template std::shared_ptr<file_set> load_contents<>(device_mesh const&, char const*, std::string const&,      \
                                                           file_format);                                             \
  WHERE template void rename_tensors<>(file_contents&, char const*, std::string const&, tensor_names const&);        \
  WHERE template std::span<tensor_in_file const> tensors_beginning_with<>(file_contents const&, std::string_view);   \
  WHERE template std::string describe_axes<>(execution_context const&, planner::spec const&, int);                   \
  WHERE template tensor_in_file const* find_tensor<>(file_contents&, char const*, std::string const&,                \
                                                     tensor_to_load const&);                                         \
  WHERE template void require_complete<>(file_set const&, char const*, std::string const&,                           \
                                         std::vector<tensor_in_file const*>, std::vector<std::string> const&, bool); \
  WHERE template void agree_on_requests<>(device_mesh const&, char const*, std::string const&,                       \
                                          std::vector<tensor_in_file const*> const&);                                \
  WHERE template void load_blocks<>(device_mesh const&, char const*, std::string const&, file_set const&,            \
                                    std::vector<placed_block>);                                                      \
  WHERE template void save_tensors<>(device_mesh const&, save_request const&);                                       \
  WHERE template std::unique_ptr<begun_save> begin_save<>(device_mesh const&, save_request const&);                  \
  }

/// For the leaves of trees.
#define OSTRAKA_LEAF_INSTANCES_(WHERE)                                                                               \
  namespace ostraka::detail {                                                                                        \
  WHERE template std::string name_in_file<>(path const&);                                                            \
  WHERE template std::size_t elements_in_file<>(loading const&, std::string const&);                                 \
  WHERE template void ask_for_leaf<>(loading&, path const&, layer_of_stack const&, tensors_of_type const&,           \
                                     std::int64_t const*, std::vector<std::vector<std::int64_t>>&, std::size_t);     \
  WHERE template engine::file_block block_of_layer<>(char const*, layer_of_stack const&, tensor_for_file const&);    \
  WHERE template engine::tensor_to_save tensor_to_save<>(std::string, layer_of_stack const&, tensor_for_file const&, \
                                                         stored_as const*);                                          \
  WHERE template void set_names<>(engine::tensor_names&, stored_as const&);                                          \
  }

/// For the blocks of tensors of T.
#define OSTRAKA_FILE_BLOCK_INSTANCE_(WHERE, T)                                                          \
  namespace ostraka::engine {                                                                           \
  WHERE template file_block file_block_of<::ostraka::detail::compiled_space>(execution_context const&,  \
                                                                             planner::spec const&, T*); \
  }

OSTRAKA_FILE_INSTANCES_(extern)
OSTRAKA_LEAF_INSTANCES_(extern)
OSTRAKA_FILE_BLOCK_INSTANCE_(extern, float)
OSTRAKA_FILE_BLOCK_INSTANCE_(extern, double)
OSTRAKA_FILE_BLOCK_INSTANCE_(extern, std::int64_t)
