// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The command line.

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "../transformer/settings.hpp"

namespace train {

using namespace transformer;

inline constexpr char const* help =
    "usage: train [options]\n"
    "\n"
    "Trains a decoder-only transformer on the bytes of a text, on all devices, and lets it continue one.\n"
    "\n"
    "  --rules NAME        data, fsdp, tensor, data+tensor, fsdp+tensor, 2d   (default fsdp+tensor)\n"
    "  --attention NAME    mha, gqa or mla                                     (default gqa)\n"
    "  --mesh AxB          devices along X and Y                               (default 2 x half of them)\n"
    "  --text FILE         what it learns                                      (default data/alice.txt)\n"
    "  --steps N           optimiser steps                                     (default 200)\n"
    "  --batch N           sequences in a step                                 (default 16)\n"
    "  --length N          bytes in a sequence                                 (default 64)\n"
    "  --layers N          (default 2)\n"
    "  --width N           of the model                                        (default 64)\n"
    "  --heads N           of queries, which divide the width                  (default 4)\n"
    "  --rate R            of learning, at its highest                         (default 0.01)\n"
    "  --seed N            of parameters, batches and samples                  (default 1)\n"
    "  --save FILE         a checkpoint, parameters and optimiser, at the end\n"
    "  --load FILE         to go on from, under whatever rules and mesh it was written\n"
    "  --prompt TEXT       what is continued                                   (default \"Alice \")\n"
    "  --sample N          bytes of each continuation                          (default 160)\n"
    "  --temperature T     of the second continuation                          (default 0.8)\n"
    "  --check             compare decoding with a cache with the whole model\n"
    "  --dry               price a step under every rule set on --mesh AxB, which need not be here, and run nothing\n"
    "  --machine NAME      whose devices these are, or a file of bench/calibrate (default h100)\n"
    "  --node N            so many of them lie in a node                       (default all)\n"
    "  --help              this text\n";

struct options : settings {
  std::string rules = "fsdp+tensor", attention = "gqa", text = EXAMPLE_FOLDER "/data/alice.txt", prompt = "Alice ";
  std::string save, load, machine = "h100";
  int mesh_x = 0, mesh_y = 0, node = 0;
  std::int64_t steps = 200, sample = 160;
  double temperature = 0.8;
  bool check = false, dry = false, help = false;
};

namespace detail {

template <class T>
T number(std::string_view option, std::string_view text, T least) {
  T value{};
  auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || !(value >= least))
    throw refusal("options: " + std::string(option) + " takes a number from " + std::to_string(least) + " on, not '" +
                  std::string(text) + "'; see --help");
  return value;
}

inline void set_mesh(options& o, std::string_view text) {
  std::size_t const x = text.find('x');
  if (x == text.npos) throw refusal("options: --mesh takes two numbers as 2x4, not '" + std::string(text) + "'");
  o.mesh_x = number<int>("--mesh", text.substr(0, x), 1);
  o.mesh_y = number<int>("--mesh", text.substr(x + 1), 1);
  if (o.mesh_x > (1 << 24) / o.mesh_y)
    throw refusal("options: --mesh takes " + std::to_string(1 << 24) + " devices at most");
}

/// An alias: g++ 12 behind nvcc does not take `T options::*at` as a member, because nvcc adds parentheses.
template <class T>
using member = T options::*;

/// @returns true if there is an option of this name
inline bool set_value(options& o, std::string_view name, std::string_view value) {
  struct text {
    char const* name;
    member<std::string> at;
  };
  struct count {
    char const* name;
    member<std::int64_t> at;
    std::int64_t least;
  };
  struct fraction {
    char const* name;
    member<double> at;
  };
  for (text const& t :
       {text{"--rules", &options::rules}, text{"--attention", &options::attention}, text{"--text", &options::text},
        text{"--prompt", &options::prompt}, text{"--save", &options::save}, text{"--load", &options::load},
        text{"--machine", &options::machine}})
    if (name == t.name) return o.*t.at = value, true;
  for (count const& c : {count{"--steps", &options::steps, 0}, count{"--batch", &options::batch, 1},
                         count{"--length", &options::length, 1}, count{"--layers", &options::layers, 1},
                         count{"--width", &options::width, 1}, count{"--heads", &options::heads, 1},
                         count{"--sample", &options::sample, 0}})
    if (name == c.name) return o.*c.at = number<std::int64_t>(name, value, c.least), true;
  for (fraction const& f : {fraction{"--rate", &options::rate}, fraction{"--temperature", &options::temperature}})
    if (name == f.name) return o.*f.at = number<double>(name, value, 0), true;
  if (name == "--seed")
    o.seed = number<std::uint64_t>(name, value, 0);
  else if (name == "--node")
    o.node = number<int>(name, value, 1);
  else if (name == "--mesh")
    set_mesh(o, value);
  else
    return false;
  return true;
}

}  // namespace detail

/// @throws refusal for an unknown option or a value that it cannot read
inline options parse_options(int argc, char const* const* argv) {
  using detail::number;
  options o;
  for (int i = 1; i < argc; ++i) {
    std::string_view const name = argv[i];
    if (name == "--help") {
      o.help = true;
    } else if (name == "--check") {
      o.check = true;
    } else if (name == "--dry") {
      o.dry = true;
    } else {
      if (i + 1 == argc) throw refusal("options: " + std::string(name) + " is no option, or lacks a value; see --help");
      std::string_view const value = argv[++i];
      if (!detail::set_value(o, name, value))
        throw refusal("options: there is no option '" + std::string(name) + "'; see --help");
    }
  }
  if (o.dry && o.mesh_x == 0) throw refusal("options: --dry prices on a mesh that is named, as --mesh 8192x8");
  if (o.prompt.empty()) throw refusal("options: --prompt takes at least one byte");
  set_widths(o, o.attention == "gqa");
  return o;
}

}  // namespace train
