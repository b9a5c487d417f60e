// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Reads the headers of files (load_tensors.hpp). Device 0 finds the files of a path and reads the index and
/// the headers, and all devices parse them. Programs that link ostraka::compiled do not include this.
///
///     model.safetensors               that file
///     model.safetensors.index.json    the parts that it names, beside it
///     a folder                        model.safetensors in it, else model.safetensors.index.json

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/disk/posix_file.hpp>
#include <ostraka/engine/disk/replacing_file.hpp>
#include <ostraka/engine/files/fail_together.hpp>
#include <ostraka/engine/files/load_tensors.hpp>
#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/engine/formats/npy.hpp>
#include <ostraka/engine/formats/safetensors.hpp>
#include <ostraka/engine/formats/safetensors_index.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

// Calls f(), which parses a file. Malformed input becomes an error that names the file.
template <class F>
decltype(auto) well_formed(char const* operation, std::string const& path, std::string_view ending, F const& f) {
  try {
    return f();
  } catch (malformed_header const& e) {
    throw error(
        join_text(operation, ": ", path, " is no well-formed ", ending, " file: ", e.what(), "; write it again"));
  }
}

// The kind of a path. Device 0 sends it to the other devices.
enum class path_kind : std::int64_t { file, index, folder_of_file, folder_of_index };

inline constexpr bool has_index(path_kind k) { return k == path_kind::index || k == path_kind::folder_of_index; }

// The file to read first: the only one, or the index.
inline std::string first_path(std::string const& path, path_kind k) {
  return k == path_kind::folder_of_file    ? path_in(path, "model.safetensors")
         : k == path_kind::folder_of_index ? path_in(path, "model.safetensors.index.json")
                                           : path;
}

inline path_kind find_files(char const* operation, std::string const& path, file_format format) {
  if (format == file_format::npy || path.ends_with(safetensors_ending)) return path_kind::file;
  if (path.ends_with(index_ending)) return path_kind::index;
  struct stat is;
  auto const is_there = [&](std::string const& at) { return ::stat(at.c_str(), &is) == 0; };
  if (!is_there(path) || !S_ISDIR(is.st_mode)) require_ending(operation, path, format);
  for (path_kind const k : {path_kind::folder_of_file, path_kind::folder_of_index})
    if (is_there(first_path(path, k))) return k;
  throw_error(operation, ": the folder ", path,
              " has neither a model.safetensors nor a model.safetensors.index.json; give the path of the file");
}

// The text of a file up to its data, and the size of the file.
struct text_of_file {
  std::string text{};
  std::int64_t file_bytes = 0;
};

// Reads on the calling device. Opens without blocking, so that a pipe or a terminal is refused and not waited for.
inline text_of_file read_header(char const* operation, std::string const& path, file_format format) {
  bool const npy = format == file_format::npy;
  posix_file const file(operation, path, O_RDONLY | O_NONBLOCK);
  text_of_file h;
  h.file_bytes = file.size();
  std::int64_t const begun = std::min(h.file_bytes, npy ? npy_prefix : safetensors_prefix);
  h.text.resize(static_cast<std::size_t>(begun));
  file.read(h.text.data(), begun, 0);
  std::int64_t const bytes = well_formed(operation, path, ending_of(format), [&] {
    return npy ? npy_header_bytes(h.text, h.file_bytes) : safetensors_header_bytes(h.text, h.file_bytes);
  });
  h.text.resize(static_cast<std::size_t>(bytes));
  if (bytes > begun) file.read(h.text.data() + begun, bytes - begun, begun);
  traffic_of_files.read += std::max(bytes, begun);
  return h;
}

inline text_of_file read_index(char const* operation, std::string const& path) {
  posix_file const file(operation, path, O_RDONLY | O_NONBLOCK);
  text_of_file i;
  i.file_bytes = file.size();
  if (i.file_bytes > max_index_bytes)
    throw_error(operation, ": ", path, " has ", i.file_bytes, " bytes, and an index has ", max_index_bytes,
                " at most; give the path of an index");
  i.text.resize(static_cast<std::size_t>(i.file_bytes));
  file.read(i.text.data(), i.file_bytes, 0);
  traffic_of_files.read += i.file_bytes;
  return i;
}

inline safetensors_index parse_index(char const* operation, std::string const& path, std::string const& text) {
  return well_formed(operation, path, index_ending, [&] { return parse_safetensors_index(text); });
}

// Returns the texts of the index, if there is one, and of all headers.
inline std::vector<text_of_file> read_texts(char const* operation, std::string const& path, path_kind kind,
                                            file_format format) {
  std::vector<text_of_file> texts;
  std::string const first = first_path(path, kind);
  if (!has_index(kind)) {
    texts.push_back(read_header(operation, first, format));
    return texts;
  }
  texts.push_back(read_index(operation, first));
  for (std::string const& part : parse_index(operation, first, texts.front().text).parts)
    texts.push_back(read_header(operation, path_beside(first, part), format));
  return texts;
}

inline file_contents parse_header(char const* operation, std::string const& path, file_format format,
                                  text_of_file const& h) {
  return well_formed(operation, path, ending_of(format), [&] {
    return format == file_format::npy
               ? parse_npy(h.text, h.file_bytes)
               : parse_safetensors(std::string_view(h.text).substr(safetensors_prefix), h.file_bytes);
  });
}

inline file_set parse_texts(char const* operation, std::string const& path, path_kind kind, file_format format,
                            std::vector<text_of_file> const& texts) {
  std::string const first = first_path(path, kind);
  file_set files;
  std::vector<file_contents> contents;
  auto const add = [&](std::string const& at, text_of_file const& h) {
    contents.push_back(parse_header(operation, at, format, h));
    files.parts.push_back({at, contents.back().data_begin, h.file_bytes});
  };
  if (!has_index(kind)) {
    add(first, texts.front());
    files.contents = std::move(contents.front());
    return files;
  }
  safetensors_index const index = parse_index(operation, first, texts.front().text);
  for (std::size_t k = 0; k < index.parts.size(); ++k) add(path_beside(first, index.parts[k]), texts[k + 1]);
  files.contents = well_formed(operation, first, index_ending, [&] { return join_parts(index, std::move(contents)); });
  return files;
}

// Sends the texts that member 0 has read to all members. Collective.
inline void broadcast_texts(communicator const& all, path_kind& kind, std::vector<text_of_file>& texts) {
  std::int64_t summary[2] = {static_cast<std::int64_t>(kind), static_cast<std::int64_t>(texts.size())};
  broadcast(all, summary, 2);
  std::vector<std::int64_t> sizes;
  std::string one;
  run_or_fail_together(all, [&] {
    kind = static_cast<path_kind>(summary[0]);
    texts.resize(static_cast<std::size_t>(summary[1]));
    for (text_of_file const& t : texts) {
      sizes.push_back(static_cast<std::int64_t>(t.text.size()));
      sizes.push_back(t.file_bytes);
      one += t.text;
    }
  });
  broadcast(all, sizes.data(), static_cast<std::int64_t>(sizes.size()));
  std::int64_t length = 0;
  for (std::size_t k = 0; k < sizes.size(); k += 2) length += sizes[k];
  run_or_fail_together(all, [&] { one.resize(static_cast<std::size_t>(length)); });
  broadcast(all, reinterpret_cast<std::int8_t*>(one.data()), length);
  run_or_fail_together(all, [&] {
    std::size_t at = 0;
    for (std::size_t k = 0; k < texts.size(); ++k) {
      texts[k] = {one.substr(at, static_cast<std::size_t>(sizes[2 * k])), sizes[2 * k + 1]};
      at += texts[k].text.size();
    }
  });
}

}  // namespace detail

template <class>
std::shared_ptr<file_set> load_contents(device_mesh const& mesh, char const* operation, std::string const& path,
                                        file_format format) {
  if (format == file_format::npy) require_ending(operation, path, format);
  if (format != file_format::npy && ends_as_hdf5(path))
    return std::make_shared<file_set>(require_hdf5(operation, path).load_contents(mesh, operation, path));
  exclusive_use const use = mesh.use(operation);
  communicator const alone;
  communicator const& all = mesh.absent() || mesh.is_dry() ? alone : mesh.world();
  // Only check mode compares the paths, too: ranks may see one file under several names.
  require_agreement(all,
                    [&] { return all.compares_calls() ? join_text(operation, ' ', path) : std::string(operation); });
  auto kind = detail::path_kind::file;
  std::vector<detail::text_of_file> texts;
  auto files = std::make_shared<file_set>();
  run_or_fail_together(all, [&] {
    if (all.rank() != 0) return;
    kind = detail::find_files(operation, path, format);
    texts = detail::read_texts(operation, path, kind, format);
  });
  detail::broadcast_texts(all, kind, texts);
  run_or_fail_together(all, [&] { *files = detail::parse_texts(operation, path, kind, format, texts); });
  return files;
}

}  // namespace ostraka::engine
