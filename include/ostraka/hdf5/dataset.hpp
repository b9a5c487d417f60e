// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::load<double, I/X, J>("run.h5", mesh, os::dataset("u").at(time = -1))`: one dataset of an HDF5 file, or
/// a part of it, as a tensor.

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/engine/files/file_format.hpp>
#include <ostraka/engine/hdf5/dataset_part.hpp>
#include <ostraka/files/load.hpp>
#include <ostraka/types/axes/axis.hpp>

namespace ostraka {

/// A dataset of an HDF5 file, by its name, or a part of it.
class dataset {
 public:
  explicit dataset(std::string name) { part_.name = name.starts_with('/') ? name.substr(1) : std::move(name); }

  /// Returns the part at one index of each of these axes, which the tensor lacks. A negative index counts from the end.
  /// Axes have the names of the file's dimension scales. In a file without such names, they are its first dimensions.
  template <class... Is>
  [[nodiscard]] dataset at(named_extent<Is>... indices) const {
    dataset d = *this;
    (d.part_.at.emplace_back(std::string(Is::name), indices.value), ...);
    return d;
  }

  /// Returns the part that begins at these indices. It has the extents given in the call, or extends to the end.
  template <class... Is>
  [[nodiscard]] dataset from(named_extent<Is>... indices) const {
    dataset d = *this;
    (d.part_.from.emplace_back(std::string(Is::name), indices.value), ...);
    return d;
  }

  /// For the library: the name and the indices.
  [[nodiscard]] engine::dataset_part const& part() const { return part_; }

 private:
  engine::dataset_part part_;
};

namespace detail {

inline void require_dataset_file(char const* operation, std::string const& path) {
  if (!engine::ends_as_hdf5(path))
    throw_error(operation, ": os::dataset names a dataset of an HDF5 file, but the path is ", path,
                "; give a path that ends in .h5 or .hdf5");
}

// Returns "u at time = -1, from I = 2, of the extents (4, any)".
[[gnu::cold]] inline std::string part_in_words(engine::dataset_part const& part, engine::tensor_to_load const& wanted) {
  std::string text = part.name;
  for (auto const& [axis, index] : part.at) append_text(text, " at ", axis, " = ", index, ',');
  for (auto const& [axis, index] : part.from) append_text(text, " from ", axis, " = ", index, ',');
  return join_text(text, " of the extents ", engine::detail::describe_extents(wanted.extents));
}

// Requests the part of a dataset, and no other dataset.
inline engine::tensor_in_file const* ask_for_part(loading& file, char const* operation, std::string const& path,
                                                  dataset const& which, engine::tensor_to_load wanted) {
  wanted.name = which.part().name;
  file.require_same_request([&] { return part_in_words(which.part(), wanted); });
  engine::tensor_in_file const* found = nullptr;
  file.request([&] {
    engine::select_part(file.contents(), operation, path, which.part(), wanted);
    found = file.ask(std::move(wanted));
    file.require_complete();
  });
  return found;
}

}  // namespace detail

/// Loads a tensor from a dataset of an HDF5 file, or from a part of it. Each device reads its block. Extents given in
/// the call, by name or in an os::sizes, must equal the file's, or are those of the part; os::cast_to<float> converts
/// floating-point numbers. Collective over the mesh.
/// @throws ostraka::error, on all devices alike and before anything is made, if the file has no such dataset
template <class T, auto... Dims, class Mesh, class... Given>
  requires(!Tree<T>)
[[nodiscard]] auto load([[maybe_unused]] std::string const& path, [[maybe_unused]] Mesh const& m,
                        [[maybe_unused]] dataset const& which, [[maybe_unused]] Given const&... given) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  if constexpr (reason::ok_or_raise<detail::load_tensor_verdict<tensor_type, Mesh, Given...>>()) {
    detail::require_dataset_file("load", path);
    return detail::load_tensor<tensor_type>(
        path, m, engine::file_format::safetensors,
        [&](detail::loading& file, engine::tensor_to_load wanted) {
          return detail::ask_for_part(file, "load", path, which, std::move(wanted));
        },
        ignore_others, given...);
  } else {
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                                  typename tensor_type::space>();
  }
}

/// Loads into an existing tensor. Its extents are those of the dataset, or of the part.
template <Tensor A, class... Us>
void load_into([[maybe_unused]] A const& a, [[maybe_unused]] std::string const& path,
               [[maybe_unused]] dataset const& which, [[maybe_unused]] elements_cast<Us> const&... option) {
  using verdict = detail::first_fault<detail::writable_verdict<A>, detail::in_file_verdict<A, operation::load>,
                                      detail::load_options_verdict<elements_cast<Us>...>>;
  if constexpr (reason::ok_or_raise<verdict>()) {
    detail::require_dataset_file("load_into", path);
    detail::loading file("load_into", path, engine::file_format::safetensors, detail::common_mesh("load_into", a),
                         detail::load_options_in(ignore_others, option...));
    detail::ask_for_part(file, "load_into", path, which, detail::request_for_existing("", a));
    file.into(detail::for_file(a));
    file.read();
  }
}

}  // namespace ostraka
