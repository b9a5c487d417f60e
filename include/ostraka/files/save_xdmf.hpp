// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::save_xdmf("flow.xdmf", os::together("u", u, "p", p))` saves fields for ParaView and VisIt, each in an
/// .npy file, which NumPy also reads.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ostraka/engine/disk/replacing_file.hpp>
#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/files/file_layout.hpp>
#include <ostraka/engine/files/save_tensors.hpp>
#include <ostraka/engine/formats/xdmf.hpp>
#include <ostraka/files/save.hpp>
#include <ostraka/files/together.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

/// The positions of grid points: point (i, j, k) is at origin + (i, j, k) · spacing. Both have one number for each axis
/// of the tensors, in their order. The last axis is x.
struct xdmf_grid {
  std::vector<double> origin{};   ///< empty: 0
  std::vector<double> spacing{};  ///< empty: 1
};

namespace detail {

// flow.xdmf → flow.u.npy
inline std::string path_of_field(std::string const& path, std::string const& field) {
  return join_text(path.substr(0, path.size() - std::string_view(".xdmf").size()), '.', field, ".npy");
}

// The points that all fields share.
inline engine::xdmf_points points_of_fields(engine::save_request const& fields, xdmf_grid const& grid) {
  engine::xdmf_points points;
  for (engine::tensor_to_save const& t : fields.tensors) {
    std::vector<std::int64_t> const extents(t.block.extents.begin(), t.block.extents.begin() + t.block.block.rank);
    if (!engine::is_in_xdmf(t.block.element))
      throw_error("save_xdmf: a field has integers, float or double in XDMF, and ", t.name,
                  " has others; save its real and imaginary parts, or os::cast it");
    if (extents.empty() || extents.size() > 3)
      throw_error("save_xdmf: a field has one to three axes, and ", t.name, " has ", extents.size(),
                  "; save a part of it");
    if (t.name.empty() || t.name.find('/') != std::string::npos)
      throw_error("save_xdmf: the name of a field is part of the name of its file, and \"", t.name,
                  "\" cannot be; give the tensor another name in os::together");
    if (&t != &fields.tensors.front() && extents != points.extents)
      throw_error("save_xdmf: fields of one file lie on the same points, and ", fields.tensors.front().name,
                  " has the extents ", engine::detail::describe_extents(points.extents), ", ", t.name, ' ',
                  engine::detail::describe_extents(extents), "; save them in files of their own");
    points.extents = extents;
  }
  points.origin = grid.origin;
  points.spacing = grid.spacing;
  for (std::vector<double> const* numbers : {&points.origin, &points.spacing})
    if (!numbers->empty() && numbers->size() != points.extents.size())
      throw_error("save_xdmf: os::xdmf_grid has a number for each axis of the fields, ", points.extents.size(),
                  ", and ", numbers->size(), " are given; give one for each");
  return points;
}

// Device 0 writes the text.
inline void write_text(engine::device_mesh const& mesh, std::string const& path, std::string const& text) {
  engine::exclusive_use const use = mesh.use("save_xdmf");
  engine::run_or_fail_together(mesh.world(), [&] {
    if (mesh.device() != 0) return;
    auto const bytes = static_cast<std::int64_t>(text.size());
    engine::replacing_file file("save_xdmf", path, bytes);
    engine::posix_file("save_xdmf", file.name(), O_RDWR).write(text.data(), bytes, 0);
    file.replace();
  });
}

}  // namespace detail

/// Saves fields on one regular grid for ParaView: saves each tensor by os::save, `u` as `flow.u.npy`, and then the text
/// `flow.xdmf`, which names them. Fields have one to three axes, and integer, float or double elements. Collective over
/// the mesh.
/// @throws ostraka::error, on all devices alike; before anything is written if the fields do not match
template <class... Trees>
void save_xdmf(std::string const& path, named_trees<Trees...> const& fields, xdmf_grid const& grid = {}) {
  if (!path.ends_with(".xdmf"))
    throw_error("save_xdmf: the path is that of the XDMF text, but it is ", path, "; give a path that ends in .xdmf");
  detail::leaves_to_save const leaves = detail::leaves_of(path, fields);
  engine::xdmf_points const points = detail::points_of_fields(leaves.request, grid);
  std::vector<engine::xdmf_field> described;
  for (engine::tensor_to_save const& t : leaves.request.tensors) {
    std::string const file = detail::path_of_field(path, t.name);
    engine::save_request one{file, engine::file_format::npy, {t}};
    one.tensors[0].name.clear();
    engine::file_layout const layout = engine::lay_out(file, one.format, one.tensors, 0, {});
    described.push_back(
        {t.name, file.substr(file.rfind('/') + 1), t.block.element, layout.files.front().contents.data_begin});
    engine::save_tensors(*leaves.mesh, one);
  }
  if (!leaves.mesh->absent()) detail::write_text(*leaves.mesh, path, engine::make_xdmf(points, described));
}

}  // namespace ostraka
