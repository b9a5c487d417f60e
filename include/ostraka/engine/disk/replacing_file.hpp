// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A file that replaces another one completely or not at all. It is written under a temporary name in the same
/// folder, and renamed when all of it is on the disk.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <ostraka/engine/disk/posix_file.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Returns the path of another file in the folder of this one.
[[nodiscard]] inline std::string path_beside(std::string const& path, std::string_view name) {
  std::size_t const slash = path.rfind('/');
  return slash == std::string::npos ? std::string(name) : join_text(path.substr(0, slash + 1), name);
}

/// Returns the path of a file in this folder.
[[nodiscard]] inline std::string path_in(std::string const& folder, std::string_view name) {
  return join_text(folder, folder.ends_with('/') ? "" : "/", name);
}

/// A file written beside the one that it will replace. The destructor removes it unless it has replaced the other.
class replacing_file {
 public:
  /// Creates the file and reserves this many bytes. Follows a symbolic link to its target unless `follows` is false.
  /// @throws ostraka::error
  replacing_file(std::string const& operation, std::string const& path, std::int64_t bytes, bool follows = true)
      : operation_(operation), path_(follows ? followed(operation, path) : path), name_(name_beside(path_)) {
    posix_file const file(operation_, name_, O_RDWR | O_CREAT | O_EXCL);
    written_ = true;
    try {
      file.reserve(bytes);
    } catch (...) {
      remove();
      throw;
    }
  }
  replacing_file(replacing_file&& other) noexcept
      : operation_(std::move(other.operation_)),
        path_(std::move(other.path_)),
        name_(std::move(other.name_)),
        written_(std::exchange(other.written_, false)) {}
  replacing_file& operator=(replacing_file&&) = delete;
  ~replacing_file() { remove(); }

  /// @throws ostraka::error if the path exists and is not a regular file
  static void require_replaceable(std::string const& operation, std::string const& path) {
    struct stat is;
    if (::stat(path.c_str(), &is) == 0 && !S_ISREG(is.st_mode))
      throw_error(operation, ": ", path, " exists and is not a regular file; give another path");
  }

  /// Returns the temporary name.
  [[nodiscard]] std::string const& name() const { return name_; }

  /// True once the file has its path.
  [[nodiscard]] bool has_replaced() const { return !written_; }

  /// Gives the file its path. @throws ostraka::error; the old file is then unchanged
  void replace() { replace(path_); }

  /// The same for another path in this folder.
  void replace(std::string const& path) {
    posix_file(operation_, name_, O_RDWR).flush();
    if (std::rename(name_.c_str(), path.c_str()) != 0)
      throw_error(operation_, ": ", path, " cannot be replaced (", words_of_errno(errno),
                  "); the old file is as it was");
    written_ = false;
    std::string const folder = path_beside(path, "");
    posix_file(operation_, folder.empty() ? "." : folder, O_RDONLY).flush();  // the new name is on the disk, too
  }

 private:
  // Returns the target of a link.
  static std::string followed(std::string const& operation, std::string const& path) {
    require_replaceable(operation, path);
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
    if (written_) ::unlink(name_.c_str());
    written_ = false;
  }

  std::string operation_;
  std::string path_;
  std::string name_;
  bool written_ = false;
};

}  // namespace ostraka::engine
