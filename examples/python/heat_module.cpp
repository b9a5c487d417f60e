// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A solver of the heat equation for Python, by nanobind. A program under mpi4py gives each rank's rows as a NumPy
/// array or a PyTorch tensor; Ostraka uses them where they are. The result is an object that NumPy, PyTorch and others
/// take by DLPack, without a copy either.
///
///     solver = ostraka_heat.Solver(MPI.COMM_WORLD, rows, columns, 0.2)
///     begin, end = solver.rows()
///     u = numpy.from_dlpack(solver.advance(numpy.zeros((end - begin, columns)), 100))

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <ostraka/dlpack.hpp>

#include "job.hpp"

namespace nb = nanobind;
namespace os = ostraka;

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

namespace {

/// r = k / h² for steps of length k.
struct heat_step {
  double r;
  KOKKOS_FUNCTION double operator()(auto const& u) const {
    return u(0, 0) + r * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0));
  }
};

using rows_of_field = os::tensor<double, I/X, J>;
using whole_field = os::tensor<double, I, J>;

/// u_t = u_xx + u_yy, u = 0 beyond the edges, by Euler's method (as in examples/heat).
rows_of_field spread_heat(os::tensor<double const, I/X, J> const& start, double r, int steps) {
  return os::shard_map<I/X, J>([=](auto block) {
    auto now = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>>(block);
    auto next = os::zeros_like(now);
    for (int s = 0; s < steps; ++s) {
      os::stencil_into(next, heat_step{r},
                       os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>>(now, os::faces));
      std::swap(now, next);
    }
    return os::own(now);
  }, start);
}

/// A tensor as other libraries see it: an object with __dlpack__ and __dlpack_device__.
template <class Tensor>
struct field {
  Tensor elements;
};

template <class Tensor>
nb::object dlpack_of(field<Tensor> const& f, nb::handle, nb::handle max_version, nb::handle dl_device,
                     nb::handle copy) {
  bool const elsewhere = !dl_device.is_none() && nb::cast<std::pair<int, int>>(dl_device) != std::pair(1, 0);
  if (elsewhere || (!copy.is_none() && nb::cast<bool>(copy)))
    throw nb::buffer_error("__dlpack__: a field is given where it is; let the consumer copy it");
  PyObject* const capsule = os::to_dlpack_capsule(f.elements, max_version.ptr());
  if (capsule == nullptr) throw nb::python_error();
  return nb::steal(capsule);
}

template <class Tensor>
void add_field(nb::module_& m, char const* name) {
  nb::class_<field<Tensor>>(m, name)
      .def("__dlpack__", &dlpack_of<Tensor>, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](field<Tensor> const&) { return std::pair(1, 0); });
}

class solver {
 public:
  solver(nb::handle communicator, std::int64_t rows, std::int64_t columns, double r)
      : mesh_(job::mesh_of<X>(communicator)), rows_(rows), columns_(columns), r_(r) {}

  /// The rows of this rank.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> rows() const {
    std::int64_t const d = mesh_.device(), p = mesh_.size(X);
    return {d * rows_ / p, (d + 1) * rows_ / p};
  }

  /// The field some steps later. `u` has __dlpack__, lies row-major, and is only read.
  [[nodiscard]] field<rows_of_field> advance(nb::handle u, int steps) const {
    auto const start = os::from_dlpack<double const, I/X, J>(mesh_, I = rows_, J = columns_, u.ptr());
    nb::gil_scoped_release const others_may_run;
    return {spread_heat(start, r_, steps)};
  }

  /// The whole field, on every rank.
  [[nodiscard]] field<whole_field> whole(field<rows_of_field> const& f) const {
    nb::gil_scoped_release const others_may_run;
    return {os::reshard<I, J>(f.elements)};
  }

 private:
  os::mesh<X_mesh> mesh_;
  std::int64_t rows_, columns_;
  double r_;
};

}  // namespace

NB_MODULE(ostraka_heat, m) {
  job::begin();
  add_field<rows_of_field>(m, "Field");
  add_field<whole_field>(m, "WholeField");
  nb::class_<solver>(m, "Solver")
      .def(nb::init<nb::handle, std::int64_t, std::int64_t, double>(), nb::arg("communicator"), nb::arg("rows"),
           nb::arg("columns"), nb::arg("r"))
      .def("rows", &solver::rows)
      .def("advance", &solver::advance, nb::arg("u"), nb::arg("steps"))
      .def("whole", &solver::whole, nb::arg("field"));
}
