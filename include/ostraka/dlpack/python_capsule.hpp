// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. DLPack tensors in capsules, as Python passes them; declared if Python.h was included before. Call these
/// functions, and os::from_dlpack with a PyObject*, while this thread holds the GIL. Deleters are called without the
/// GIL, as DLPack requires.
///
///     struct                      name of a capsule     after it has been used
///     DLManagedTensorVersioned    dltensor_versioned    used_dltensor_versioned
///     DLManagedTensor             dltensor              used_dltensor

#include <string>
#include <type_traits>
#include <utility>

#include <ostraka/dlpack/to_dlpack.hpp>
#include <ostraka/engine/dlpack/dlpack_given.hpp>

#if defined(Py_PYTHON_H)

namespace ostraka {

namespace detail {

// A reference to a Python object, released by the destructor.
class python_object {
 public:
  explicit python_object(PyObject* object) : object_(object) {}
  python_object(python_object const&) = delete;
  python_object& operator=(python_object const&) = delete;
  ~python_object() { Py_XDECREF(object_); }
  [[nodiscard]] PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

template <class Managed>
inline constexpr char const* capsule_name = engine::VersionedDlpack<Managed> ? "dltensor_versioned" : "dltensor";
template <class Managed>
inline constexpr char const* used_capsule_name =
    engine::VersionedDlpack<Managed> ? "used_dltensor_versioned" : "used_dltensor";

// Clears the exception that is set, and returns it.
inline PyObject* take_exception() {
#  if PY_VERSION_HEX >= 0x030C0000
  return PyErr_GetRaisedException();
#  else
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return value;
#  endif
}

// Clears the exception that is set, and returns "BufferError: text".
[[gnu::cold]] inline std::string take_python_error() {
  python_object const raised(take_exception());
  if (raised.get() == nullptr) return "an error";
  std::string said = Py_TYPE(raised.get())->tp_name;
  python_object const text(PyObject_Str(raised.get()));
  char const* const characters = text.get() == nullptr ? nullptr : PyUnicode_AsUTF8(text.get());
  if (characters != nullptr && *characters != '\0') said += std::string(": ") + characters;
  PyErr_Clear();
  return said;
}

// Returns a new reference to the result of __dlpack__, or null with an exception set. A producer without versions takes
// no argument for them.
inline PyObject* call_dlpack(PyObject* producer) {
  python_object const method(PyObject_GetAttrString(producer, "__dlpack__"));
  if (method.get() == nullptr) return nullptr;
  python_object const none(PyTuple_New(0)), options(Py_BuildValue("{s(ii)}", "max_version", 1, 1));
  if (none.get() == nullptr || options.get() == nullptr) return nullptr;
  PyObject* const capsule = PyObject_Call(method.get(), none.get(), options.get());
  if (capsule != nullptr || !PyErr_ExceptionMatches(PyExc_TypeError)) return capsule;
  PyErr_Clear();
  return PyObject_Call(method.get(), none.get(), nullptr);
}

// Takes the tensor in a capsule of this kind; returns false if the capsule is of another kind. The capsule is marked as
// used at once, and loses its destructor, because not every destructor checks the mark.
template <class Managed>
bool take_capsule(PyObject* capsule, engine::dlpack_given& given) {
  if (PyCapsule_IsValid(capsule, capsule_name<Managed>) == 0) return false;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, capsule_name<Managed>));
  PyCapsule_SetName(capsule, used_capsule_name<Managed>);
  PyCapsule_SetDestructor(capsule, nullptr);
  given = engine::take_dlpack(managed);
  return true;
}

// The destructor of an unused capsule.
template <class Managed>
void release_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, capsule_name<Managed>) != 0)
    dlpack_deleter()(static_cast<Managed*>(PyCapsule_GetPointer(capsule, capsule_name<Managed>)));
}

}  // namespace detail

namespace engine {

/// A capsule, or an object with __dlpack__. All devices throw an error with the text of the Python exception.
template <>
struct dlpack_source<PyObject*> {
  static constexpr bool is_one = true;

  [[gnu::cold]] static dlpack_given take(PyObject* object) {
    dlpack_given given;
    if (object == nullptr || object == Py_None) return given;
    bool const is_capsule = PyCapsule_CheckExact(object) != 0;
    if (is_capsule) Py_INCREF(object);
    ostraka::detail::python_object const capsule(is_capsule ? object : ostraka::detail::call_dlpack(object));
    if (capsule.get() == nullptr)
      given.refusal = ostraka::detail::take_python_error();
    else if (!ostraka::detail::take_capsule<dlpack::DLManagedTensorVersioned>(capsule.get(), given))
      ostraka::detail::take_capsule<dlpack::DLManagedTensor>(capsule.get(), given);
    return given;
  }
};

}  // namespace engine

namespace detail {

template <class Managed, class A>
PyObject* new_capsule(A const& a) {
  auto managed = to_dlpack<Managed>(a);
  PyObject* const capsule = PyCapsule_New(managed.get(), capsule_name<Managed>, &release_capsule<Managed>);
  if (capsule != nullptr) static_cast<void>(managed.release());
  return capsule;
}

}  // namespace detail

/// Returns a new capsule with this device's block, as os::to_dlpack passes it, for a method `__dlpack__(self, *,
/// stream, max_version, dl_device, copy)`. `max_version` is the argument of the consumer: a tuple, or None from a
/// consumer that knows only the struct before version 1.
/// @throws ostraka::error as os::to_dlpack does. Returns null with an exception set if `max_version` is not a tuple,
/// and if the consumer would not see that the elements are read only.
template <detail::HeldBlock A>
[[nodiscard]] PyObject* to_dlpack_capsule(A const& a, PyObject* max_version) {
  long major = 0;
  if (max_version != nullptr && max_version != Py_None) {
    PyObject* const first = PyTuple_Check(max_version) ? PyTuple_GetItem(max_version, 0) : nullptr;
    if (first != nullptr) major = PyLong_AsLong(first);
    if (first == nullptr && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "__dlpack__: max_version is a tuple");
    if (PyErr_Occurred()) return nullptr;
  }
  if (major >= 1) return detail::new_capsule<dlpack::managed_tensor>(a);
  if constexpr (!std::is_const_v<typename A::element_type>) return detail::new_capsule<dlpack::DLManagedTensor>(a);
  PyErr_SetString(PyExc_BufferError,
                  "__dlpack__: a consumer of DLPack before version 1 does not see that elements may only be read; pass "
                  "max_version=(1, 0), or export a copy");
  return nullptr;
}

}  // namespace ostraka

#endif
