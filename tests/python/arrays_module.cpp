// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Every way in which an array of Python becomes a tensor and a tensor an array, as a module for dlpack_oracle.py.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <complex>
#include <cstdint>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <ostraka/dlpack.hpp>

#include "../../examples/python/job.hpp"

namespace nb = nanobind;
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

namespace {

template <class Tensor>
struct block {
  Tensor elements;
};

template <class Tensor>
void add_block(nb::module_& m, std::string const& name) {
  nb::class_<block<Tensor>>(m, name.c_str())
      .def(
          "__dlpack__",
          [](block<Tensor> const& b, nb::handle, nb::handle max_version, nb::handle, nb::handle) {
            PyObject* const capsule = os::to_dlpack_capsule(b.elements, max_version.ptr());
            if (capsule == nullptr) throw nb::python_error();
            return nb::steal(capsule);
          },
          nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
          nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](block<Tensor> const&) { return std::pair(1, 0); })
      .def("drop_in_another_thread", [](block<Tensor>& b) {
        nb::gil_scoped_release const others_may_run;
        std::thread([last = std::exchange(b.elements, {})] {}).join();
      });
}

/// All processes of a communicator.
struct mesh {
  os::mesh<X_mesh> devices;
};

template <class T>
void add_element(nb::module_& module, std::string const& name) {
  using rows = os::tensor<T, I / X, J>;
  using constant_rows = os::tensor<T const, I / X, J>;
  using columns = os::tensor<T, J, I / X>;
  add_block<rows>(module, "Rows_" + name);
  add_block<constant_rows>(module, "ConstantRows_" + name);
  add_block<columns>(module, "Columns_" + name);
  module.def(("adopt_" + name).c_str(),
             [](mesh const& m, std::int64_t n, std::int64_t k, nb::handle array) {
               return block<rows>{os::from_dlpack<T, I / X, J>(m.devices, I = n, J = k, array.ptr())};
             },
             nb::arg("mesh"), nb::arg("n"), nb::arg("k"), nb::arg("array").none());
  module.def(("adopt_constant_" + name).c_str(), [](mesh const& m, std::int64_t n, std::int64_t k, nb::handle array) {
    return block<constant_rows>{os::from_dlpack<T const, I / X, J>(m.devices, I = n, J = k, array.ptr())};
  });
  module.def(("adopt_swapped_" + name).c_str(), [](mesh const& m, std::int64_t n, std::int64_t k, nb::handle array) {
    return block<columns>{os::from_dlpack<T, J, I / X>(m.devices, I = n, J = k, os::in_order<I, J>(array.ptr()))};
  });
  module.def(("copy_" + name).c_str(), [](mesh const& m, std::int64_t n, std::int64_t k, nb::handle array) {
    return block<rows>{os::copy_from_dlpack<T, I / X, J>(m.devices, I = n, J = k, array.ptr())};
  });
}

// An array with ghost layers, of which __dlpack__ exports what the device owns.
template <class T>
void add_ghosted(nb::module_& module, std::string const& name) {
  using ghosted = os::ghosted_array<T, os::halo<I, 1> / X, os::halo<J, 1>>;
  add_block<ghosted>(module, "Ghosted_" + name);
  module.def(("adopt_ghosted_" + name).c_str(), [](mesh const& m, std::int64_t n, std::int64_t k, nb::handle array) {
    return block<ghosted>{
        os::from_dlpack<T, os::halo<I, 1> / X, os::halo<J, 1>>(m.devices, I = n, J = k, array.ptr())};
  });
  if constexpr (!std::is_const_v<T>)
    module.def(("exchange_" + name).c_str(), [](block<ghosted> const& b) {
      os::exchange_halo_into<os::halo<I, 1> / X, os::halo<J, 1>>(b.elements, os::periodic(I));
    });
}

}  // namespace

NB_MODULE(ostraka_arrays, m) {
  job::begin();
  nb::class_<mesh>(m, "Mesh").def("__init__",
                                  [](mesh* it, nb::handle world) { new (it) mesh{job::mesh_of<X>(world)}; });
  add_element<double>(m, "float64");
  add_element<os::float16>(m, "float16");
  add_element<os::bfloat16>(m, "bfloat16");
  add_element<std::complex<float>>(m, "complex64");
  add_element<std::int8_t>(m, "int8");
  add_element<bool>(m, "bool");
  add_ghosted<double>(m, "float64");
  add_ghosted<double const>(m, "constant_float64");
}
