// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A checkpoint in parts that replaces another one completely or not at all. The new parts get unused names,
/// then the new index replaces the old one, then the old parts are removed. Whenever the process dies, the index names
/// the parts of one checkpoint, and all of them exist.
///
///     model-00001-of-00002.safetensors, model-00002-of-00002.safetensors        by model.safetensors.index.json
///     model-2-00001-of-00003.safetensors, …                                     where a file has one of these names

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/engine/disk/posix_file.hpp>
#include <ostraka/engine/disk/replacing_file.hpp>
#include <ostraka/engine/formats/safetensors_index.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Parts written beside those of the checkpoint that they will replace.
class replacing_parts {
 public:
  /// Creates the parts, and reserves bytes[k] for part k. The path is that of the index, or of its folder.
  /// @throws ostraka::error
  replacing_parts(std::string const& operation, std::string const& path, std::vector<std::int64_t> const& bytes)
      : operation_(operation), folder_of_checkpoint_(!path.ends_with(index_ending)) {
    index_ = folder_of_checkpoint_ ? path_in(path, "model.safetensors.index.json") : path;
    struct stat is;
    std::string const name = index_.substr(path_beside(index_, "").size());
    if ((folder_of_checkpoint_ && (::stat(path.c_str(), &is) != 0 || !S_ISDIR(is.st_mode))) ||
        name.size() <= index_ending.size())
      throw_error(operation, ": parts are stored in the folder of their index, but the path is ", path,
                  "; give a path that ends in ", index_ending, ", or make the folder");
    replacing_file::require_replaceable(operation, index_);
    stem_ = name.substr(0, name.size() - index_ending.size());
    for (std::size_t k = 0; k < bytes.size(); ++k)
      parts_.emplace_back(operation, path_beside(index_, part_name(1, k, bytes.size())), bytes[k], false);
  }
  replacing_parts(replacing_parts const&) = delete;
  replacing_parts& operator=(replacing_parts const&) = delete;

  /// Returns the temporary name of part k.
  [[nodiscard]] std::string const& name(std::size_t k) const { return parts_[k].name(); }

  /// Returns the names that the parts get if no file has one of these names.
  [[nodiscard]] std::vector<std::string> plain_names() const { return names_of(1); }

  /// Replaces the checkpoint. `index_of(names)` returns the text of an index of parts with these names.
  /// @throws ostraka::error; the old checkpoint is then unchanged
  template <class F>
  void replace(F const& index_of) {
    std::vector<std::string> const old = parts_of(index_).value_or(std::vector<std::string>());
    std::vector<std::string> const names = take_names();
    std::unique_ptr<replacing_file> index;
    try {
      for (std::size_t k = 0; k < parts_.size(); ++k) parts_[k].replace(path_beside(index_, names[k]));
      std::string const text = index_of(names);
      index = std::make_unique<replacing_file>(operation_, index_, static_cast<std::int64_t>(text.size()));
      posix_file(operation_, index->name(), O_RDWR).write(text.data(), static_cast<std::int64_t>(text.size()), 0);
      index->replace();
    } catch (...) {
      if (index == nullptr || !index->has_replaced()) remove(names);
      throw;
    }
    remove_old(old, names);
  }

 private:
  // model-00001-of-00003.safetensors; in a later generation model-2-00001-of-00003.safetensors
  [[nodiscard]] std::string part_name(int generation, std::size_t k, std::size_t parts) const {
    auto const five = [](std::size_t n) {
      std::string digits = std::to_string(n);
      return digits.insert(0, digits.size() < 5 ? 5 - digits.size() : 0, '0');
    };
    return join_text(stem_, '-', generation == 1 ? std::string() : join_text(generation, '-'), five(k + 1), "-of-",
                     five(parts), safetensors_ending);
  }

  [[nodiscard]] std::vector<std::string> names_of(int generation) const {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < parts_.size(); ++k) names.push_back(part_name(generation, k, parts_.size()));
    return names;
  }

  // Returns unused names. An empty file reserves each of them, so that another job cannot take it.
  [[nodiscard]] std::vector<std::string> take_names() const {
    for (int generation = 1;; ++generation) {
      std::vector<std::string> taken;
      for (std::string const& name : names_of(generation)) {
        std::string const path = path_beside(index_, name);
        int const made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        int const number = errno;
        if (made >= 0) {
          ::close(made);
          taken.push_back(name);
          continue;
        }
        remove(taken);
        if (number == EEXIST) break;
        throw_error(operation_, ": ", path, " cannot be made (", words_of_errno(number),
                    "); the old checkpoint is as it was");
      }
      if (taken.size() == parts_.size()) return taken;
    }
  }

  void remove(std::vector<std::string> const& names) const {
    for (std::string const& name : names) ::unlink(path_beside(index_, name).c_str());
  }

  // Returns the parts that an index names; nothing if the file does not exist, or is not an index.
  [[nodiscard]] std::optional<std::vector<std::string>> parts_of(std::string const& index) const {
    try {
      posix_file const file(operation_, index, O_RDONLY | O_NONBLOCK);
      std::int64_t const bytes = file.size();
      if (bytes > max_index_bytes) return {};
      std::string text(static_cast<std::size_t>(bytes), '\0');
      file.read(text.data(), bytes, 0);
      return parse_safetensors_index(text).parts;
    } catch (error const&) {
      return {};
    } catch (malformed_header const&) {
      return {};
    }
  }

  // Removes the old parts, except those that another index of the folder names; removes none if such an index cannot be
  // read. In a folder, model.safetensors takes precedence over an index, so that file is removed, too.
  void remove_old(std::vector<std::string> old, std::vector<std::string> const& names) const {
    if (folder_of_checkpoint_) old.push_back("model.safetensors");
    std::vector<std::string> kept = names;
    std::string const folder = path_beside(index_, "");
    DIR* const entries = ::opendir(folder.empty() ? "." : folder.c_str());
    if (entries == nullptr) return;
    while (dirent const* const entry = ::readdir(entries)) {
      std::string const path = path_beside(index_, entry->d_name);
      if (path == index_ || !path.ends_with(index_ending)) continue;
      std::optional<std::vector<std::string>> const others = parts_of(path);
      if (others)
        kept.insert(kept.end(), others->begin(), others->end());
      else
        old.clear();
    }
    ::closedir(entries);
    std::sort(kept.begin(), kept.end());
    std::erase_if(old, [&](std::string const& name) { return std::binary_search(kept.begin(), kept.end(), name); });
    remove(old);
  }

  std::string operation_;
  bool folder_of_checkpoint_;
  std::string index_;
  std::string stem_;
  std::vector<replacing_file> parts_;
};

}  // namespace ostraka::engine
