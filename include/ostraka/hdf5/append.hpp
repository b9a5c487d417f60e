// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::save("u.h5", os::together("u", u), os::chunked(I = 64))` saves datasets in chunks;
/// `os::append<time>("run.h5", os::together("u", u))` appends to datasets that grow.

#include <string>
#include <type_traits>

#include <ostraka/engine/hdf5/hdf5_tensors.hpp>
#include <ostraka/files/save.hpp>
#include <ostraka/hdf5/chunked.hpp>

namespace ostraka {

/// Saves a tree, or trees and tensors together, in an HDF5 file with chunked datasets. Without this option os::save
/// stores each dataset contiguously.
template <detail::TreeOrTrees T, class... Option>
  requires(detail::is_save_option<Option>&&...)
void save(std::string const& path, T const& trees, chunks const& stored, Option const&... option) {
  detail::leaves_to_save const leaves = detail::leaves_of(path, trees, option...);
  engine::save_datasets(*leaves.mesh, leaves.request, stored.layout());
}

/// Appends each tensor to the dataset of its name, as the next index of the axis `Axis`, which the dataset has before
/// the axes of the tensor. Makes the file if it does not exist. os::stored_as may follow. Collective over the mesh. If
/// the job is killed meanwhile, the file may be damaged: store data that must not be lost with os::save.
/// @throws ostraka::error, on all devices alike and before any dataset grows, if the file has other datasets, elements
/// or extents
template <auto Axis, detail::TreeOrTrees T, class... Option>
  requires(detail::is_save_option<Option>&&...)
void append(std::string const& path, T const& trees, Option const&... option) {
  append<Axis>(path, trees, chunks({}), option...);
}

/// The same, with chunked datasets if this call makes the file. Without the option a chunk is one index of the axis, or
/// a part of it.
template <auto Axis, detail::TreeOrTrees T, class... Option>
  requires(detail::is_save_option<Option>&&...)
void append(std::string const& path, T const& trees, chunks const& stored, Option const&... option) {
  detail::leaves_to_save const leaves = detail::leaves_of(path, trees, option...);
  engine::append_datasets(*leaves.mesh, leaves.request, stored.layout(),
                          std::string(std::remove_cvref_t<decltype(Axis)>::name));
}

}  // namespace ostraka
