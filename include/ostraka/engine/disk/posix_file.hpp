// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A file of one process, read and written at given positions.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <ostraka/types/support/error.hpp>

namespace ostraka::engine {

/// Returns the system's text for an error number.
[[gnu::cold]] inline std::string words_of_errno(int number) { return std::generic_category().message(number); }

/// An open file. The destructor closes it.
class posix_file {
 public:
  /// Opens the file. @throws ostraka::error, like all functions of this class
  posix_file(std::string operation, std::string path, int flags)
      : operation_(std::move(operation)), path_(std::move(path)) {
    do fd_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
    while (fd_ < 0 && errno == EINTR);
    if (fd_ < 0) fail("cannot be opened", errno);
  }
  posix_file(posix_file const&) = delete;
  posix_file& operator=(posix_file const&) = delete;
  ~posix_file() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] std::string const& path() const { return path_; }

  /// Returns the file's size in bytes.
  [[nodiscard]] std::int64_t size() const {
    struct stat is;
    if (::fstat(fd_, &is) != 0) fail("cannot be looked at", errno);
    if (!S_ISREG(is.st_mode)) throw_error(operation_, ": ", path_, " is not a regular file; give the path of one");
    return static_cast<std::int64_t>(is.st_size);
  }

  void read(char* to, std::int64_t bytes, std::int64_t at) const {
    transfer(
        bytes,
        [&](std::int64_t done) {
          return ::pread(fd_, to + done, static_cast<std::size_t>(bytes - done), static_cast<off_t>(at + done));
        },
        "cannot be read");
  }

  void write(char const* from, std::int64_t bytes, std::int64_t at) const {
    transfer(
        bytes,
        [&](std::int64_t done) {
          return ::pwrite(fd_, from + done, static_cast<std::size_t>(bytes - done), static_cast<off_t>(at + done));
        },
        "cannot be written");
  }

  /// Reserves space for this many bytes, so that a full disk is detected before anything is written.
  void reserve(std::int64_t bytes) const {
#if defined(__linux__)
    int status;
    do status = ::fallocate(fd_, 0, 0, static_cast<off_t>(bytes));
    while (status != 0 && errno == EINTR);
    if (status == 0) return;
    if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL) fail("has no room", errno);
#endif
    if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) fail("has no room", errno);
  }

  /// Waits until the written bytes are on the disk.
  void flush() const {
    if (::fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP) fail("cannot be written", errno);
  }

 private:
  template <class Move>
  void transfer(std::int64_t bytes, Move const& move, char const* what) const {
    for (std::int64_t done = 0; done < bytes;) {
      ssize_t const n = move(done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(what, errno);
      if (n == 0) throw_error(operation_, ": ", path_, " ends before its last byte; has another program changed it?");
      done += n;
    }
  }

  [[noreturn, gnu::cold]] void fail(char const* what, int number) const {
    throw_error(
        operation_, ": ", path_, ' ', what, " (", words_of_errno(number),
        "); check that the file is visible to all devices, that they may access it, and that its disk has space");
  }

  std::string operation_;
  std::string path_;
  int fd_ = -1;
};

}  // namespace ostraka::engine
