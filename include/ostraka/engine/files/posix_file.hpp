// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Files as one process has them: reading and writing at a place, and a file that replaces another whole or
/// not at all. It is written under another name beside it, and gets its own when all of it is on the disk.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// What the system says of this number.
[[gnu::cold]] inline std::string words_of_errno(int number) { return std::generic_category().message(number); }

/// An open file. Closed with it.
class posix_file {
 public:
  /// @throws ostraka::error, as all of its functions do
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

  /// Bytes that it has.
  [[nodiscard]] std::int64_t size() const {
    struct stat is;
    if (::fstat(fd_, &is) != 0) fail("cannot be looked at", errno);
    if (!S_ISREG(is.st_mode)) throw_error(operation_, ": ", path_, " is no regular file; give the path of one");
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

  /// Makes room for so many bytes, so that a full disk is found before anything is written.
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

  /// Returns when the disk has what was written.
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
    throw_error(operation_, ": ", path_, ' ', what, " (", words_of_errno(number),
                "); see that it is there for all devices, with the right to use it and room on its disk");
  }

  std::string operation_;
  std::string path_;
  int fd_ = -1;
};

/// A file that is written beside the one that it will replace. Removed again unless it has replaced it.
class replacing_file {
 public:
  /// @throws ostraka::error
  replacing_file(std::string const& operation, std::string const& path, std::int64_t bytes)
      : operation_(operation),
        path_(followed(operation, path)),
        file_(operation, name_beside(path_), O_RDWR | O_CREAT | O_EXCL) {
    written_ = true;
    try {
      file_.reserve(bytes);
    } catch (...) {
      remove();
      throw;
    }
  }
  ~replacing_file() { remove(); }

  /// What it is called until then.
  [[nodiscard]] std::string const& name() const { return file_.path(); }

  /// It is the file of this path from now on. @throws ostraka::error, and then the old file is as it was
  void replace() {
    file_.flush();
    if (std::rename(name().c_str(), path_.c_str()) != 0)
      throw_error(operation_, ": ", path_, " cannot be replaced (", words_of_errno(errno),
                  "); the old file is as it was");
    written_ = false;
    std::size_t const slash = path_.rfind('/');
    std::string const folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    posix_file(operation_, folder, O_RDONLY).flush();  // the name is on the disk, too
  }

 private:
  // The file that a link stands for; one that is there is a regular one.
  static std::string followed(std::string const& operation, std::string const& path) {
    struct stat is;
    if (::stat(path.c_str(), &is) != 0) return path;
    if (!S_ISREG(is.st_mode)) throw_error(operation, ": ", path, " is there and no regular file; give the path of one");
    char* const whole = ::realpath(path.c_str(), nullptr);
    std::string const found = whole != nullptr ? whole : path;
    std::free(whole);
    return found;
  }

  static std::string name_beside(std::string const& path) {
    auto const now = std::chrono::steady_clock::now().time_since_epoch().count();
    return join_text(path, ".partial-", ::getpid(), '-', now);
  }

  void remove() {
    if (written_) ::unlink(name().c_str());
    written_ = false;
  }

  std::string operation_;
  std::string path_;
  posix_file file_;
  bool written_ = false;
};

}  // namespace ostraka::engine
