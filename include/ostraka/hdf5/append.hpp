// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::save("u.h5", os::together("u", u), os::chunked(I = 64))`: datasets that are stored in chunks;
/// `os::append<time>("run.h5", os::together("u", u))`: datasets that grow.

#include <string>
#include <type_traits>

#include <ostraka/engine/hdf5/hdf5_tensors.hpp>
#include <ostraka/files/save.hpp>
#include <ostraka/hdf5/chunked.hpp>

namespace ostraka {

/// Saves a tree, or trees and tensors together, in an HDF5 file whose datasets are stored so. os::save without this
/// option stores each dataset in one run.
template <detail::TreeOrTrees T, class... Option>
  requires(detail::is_save_option<Option>&&...)
void save(std::string const& path, T const& trees, chunks const& stored, Option const&... option) {
  detail::leaves_to_save const leaves = detail::leaves_of(path, trees, option...);
  engine::save_datasets(*leaves.mesh, leaves.request, stored.layout());
}

/// Appends each tensor to a dataset of its name, which has the axis `Axis` before those of the tensor, as its next
/// index there. A file that is not there is made. os::stored_as may follow. Collective over the mesh. If the job is
/// killed meanwhile, the file may be damaged: keep what must not be lost in a file of os::save.
/// @throws ostraka::error, on all devices alike, before any dataset is longer if the file has other datasets, elements
/// or extents
template <auto Axis, detail::TreeOrTrees T, class... Option>
  requires(detail::is_save_option<Option>&&...)
void append(std::string const& path, T const& trees, Option const&... option) {
  append<Axis>(path, trees, chunks({}), option...);
}

/// The same for datasets that are stored in such chunks, if this call makes the file. Without the option a chunk is one
/// index of the axis, or a part of it.
template <auto Axis, detail::TreeOrTrees T, class... Option>
  requires(detail::is_save_option<Option>&&...)
void append(std::string const& path, T const& trees, chunks const& stored, Option const&... option) {
  detail::leaves_to_save const leaves = detail::leaves_of(path, trees, option...);
  engine::append_datasets(*leaves.mesh, leaves.request, stored.layout(),
                          std::string(std::remove_cvref_t<decltype(Axis)>::name));
}

}  // namespace ostraka
