// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The HDF5 library, which programs link by ostraka::hdf5: handles that close its objects, its errors as text,
/// and a file that one device or all devices of a group have open.

#include <ostraka/engine/machine/mpi.hpp>  // first: HDF5 includes MPI, too

#if __has_include(<hdf5.h>) && __has_include(<hdf5_hl.h>)
#  include <hdf5.h>
#  include <hdf5_hl.h>
#else
#  error "ostraka: <ostraka/hdf5.hpp> needs HDF5; link ostraka::hdf5, the component hdf5 of find_package(ostraka)"
#endif
#if OSTRAKA_ENABLE_MPI && !defined(H5_HAVE_PARALLEL)
#  error "ostraka: this HDF5 was built without MPI; link ostraka::hdf5, which finds the one of the same MPI"
#endif

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <ostraka/engine/disk/posix_file.hpp>
#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/engine/groups/communicator.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// While an object of this class exists, the library prints no errors: they become the text of an ostraka::error.
class quiet_hdf5 {
 public:
  quiet_hdf5() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  quiet_hdf5(quiet_hdf5 const&) = delete;
  quiet_hdf5& operator=(quiet_hdf5 const&) = delete;
  ~quiet_hdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// Returns the library's text for its last error: the innermost message.
[[nodiscard, gnu::cold]] inline std::string words_of_hdf5() {
  std::string_view words = "no reason is given";
  auto const take = [](unsigned number, H5E_error2_t const* e, void* to) -> herr_t {
    if (number == 0 && e->desc != nullptr) *static_cast<std::string_view*>(to) = e->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &words);
  return std::string(words);
}

/// An object of the library. The destructor closes it.
class hdf5_object {
 public:
  hdf5_object() = default;
  hdf5_object(hid_t id, herr_t (*closes)(hid_t)) : id_(id), close_(closes) {}
  hdf5_object(hdf5_object&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  hdf5_object& operator=(hdf5_object&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~hdf5_object() { static_cast<void>(close()); }

  [[nodiscard]] hid_t id() const { return id_; }
  [[nodiscard]] bool is_there() const { return id_ >= 0; }

  /// Leaves the object open.
  void release() { id_ = H5I_INVALID_HID; }

  /// Closes the object. @returns true if that succeeded
  bool close() {
    hid_t const id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

/// The way to open a file.
enum class hdf5_access { reads, writes, makes };

/// An open HDF5 file. Its objects are closed with it.
class hdf5_file {
 public:
  /// Opens the file on this device alone. @throws ostraka::error
  hdf5_file(std::string operation, std::string path, hdf5_access access)
      : operation_(std::move(operation)), path_(std::move(path)) {
    if (access != hdf5_access::makes)  // opens a pipe or a terminal without waiting, and refuses it
      static_cast<void>(posix_file(operation_, path_, O_RDONLY | O_NONBLOCK).size());
    hdf5_object const settings = file_settings();
    file_ = {open(access, settings.id()), &H5Fclose};
    if (file_.is_there()) return;
    std::string const words = words_of_hdf5();
    if (access != hdf5_access::makes && H5Fis_hdf5(path_.c_str()) == 0)
      throw_error(operation_, ": ", path_, " is no HDF5 file; give the path of one");
    fail("cannot be opened", words);
  }

  /// Opens the file on all members of a group, which read and write together. Collective. @throws ostraka::error, on
  /// all members alike
  hdf5_file(communicator const& all, std::string operation, std::string path, hdf5_access access)
      : operation_(std::move(operation)), path_(std::move(path)), all_(all) {
    // Each device checks that it can see the file before it calls the library, where a failure would leave the others
    // waiting.
    run_or_fail_together(
        all_, [&] { posix_file const seen(operation_, path_, access == hdf5_access::reads ? O_RDONLY : O_RDWR); });
    hdf5_object settings = file_settings();
#if OSTRAKA_ENABLE_MPI
    if (all_.size() > 1) {
      all_.enter();
      H5Pset_fapl_mpio(settings.id(), all_.native(), MPI_INFO_NULL);
      H5Pset_all_coll_metadata_ops(settings.id(), true);
      H5Pset_coll_metadata_write(settings.id(), true);
    }
#endif
    file_ = {open(access, settings.id()), &H5Fclose};
    std::string what = file_.is_there() ? std::string() : text_of("cannot be opened", words_of_hdf5());
    std::int64_t lacks = what.empty() ? 0 : 1;
    all_.find_largest(&lacks, 1);
    if (lacks != 0) file_.release();  // closing is collective, and not all members have it open
    throw_alike(all_, what);
  }

  [[nodiscard]] hid_t id() const { return file_.id(); }
  [[nodiscard]] communicator const& all() const { return all_; }
  [[nodiscard]] std::string const& operation() const { return operation_; }
  [[nodiscard]] std::string const& path() const { return path_; }

  /// Flushes and closes the file. Collective if it was opened collectively. @throws ostraka::error, on all members
  /// alike
  void close() {
    std::string what;
    if (H5Fflush(file_.id(), H5F_SCOPE_GLOBAL) < 0) what = text_of("cannot be written", words_of_hdf5());
    if (!file_.close() && what.empty()) what = text_of("cannot be closed", words_of_hdf5());
    throw_alike(all_, what);
  }

  /// Returns the sentence of an error.
  [[nodiscard, gnu::cold]] std::string text_of(std::string_view what, std::string_view words) const {
    return join_text(
        operation_, ": ", path_, ' ', what, " (HDF5: ", words,
        "); check that the file is whole and visible to all devices, that they may access it, and "
        "that its disk has space");
  }
  [[noreturn, gnu::cold]] void fail(std::string_view what, std::string_view words) const {
    throw error(text_of(what, words));
  }

  /// Passes on the result of a library call. @throws ostraka::error if the call failed
  template <class R>
  R require(R result, std::string_view what) const {
    if (result < 0) fail(what, words_of_hdf5());
    return result;
  }

 private:
  // Allows file systems without locks.
  static hdf5_object file_settings() {
    hdf5_object settings(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
    H5Pset_fclose_degree(settings.id(), H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
    H5Pset_file_locking(settings.id(), true, true);
#endif
    return settings;
  }

  [[nodiscard]] hid_t open(hdf5_access access, hid_t settings) const {
    if (access == hdf5_access::makes) return H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, settings);
    return H5Fopen(path_.c_str(), access == hdf5_access::reads ? H5F_ACC_RDONLY : H5F_ACC_RDWR, settings);
  }

  quiet_hdf5 quiet_;
  std::string operation_;
  std::string path_;
  communicator all_;
  hdf5_object file_;
};

}  // namespace ostraka::engine
