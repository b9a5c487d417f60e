// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A Hugging Face model under a named rule set: scored, tuned, saved so that from_pretrained reads it, and continued.
// labels: ci

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "run.hpp"

namespace {

using namespace hugging_face;

constexpr char const* help =
    "usage: hugging_face FOLDER --tokens FILE [options]\n"
    "\n"
    "Runs the model in the folder of a checkpoint (config.json and its safetensors) on all devices: Llama, Mistral,\n"
    "Qwen2, Qwen3, Gemma, Gemma 2, Gemma 3 (text), GPT-2 or ESM-2. Losses go to standard error, continuations to\n"
    "standard output, as numbers of tokens.\n"
    "\n"
    "  --tokens FILE     numbers of tokens, a sequence a line (tokens.py makes them of text)\n"
    "  --rules NAME      data, fsdp, tensor, data+tensor, fsdp+tensor      (default fsdp+tensor)\n"
    "  --mesh AxB        devices along X and Y                             (default 2 x half of them)\n"
    "  --steps N         of AdamW on these sequences                       (default 0)\n"
    "  --rate R          of learning                                       (default 1e-5)\n"
    "  --save FOLDER     saves the model, for from_pretrained\n"
    "  --generate N      continues each sequence by N tokens               (default 0)\n"
    "  --temperature T   of the tokens that are drawn; 0: the likeliest    (default 0)\n"
    "  --top-k K         draws from the K likeliest; 0: from all           (default 0)\n"
    "  --top-p P         draws from the likeliest until their probabilities reach P    (default 1)\n"
    "  --seed N          of the draws; the same on every mesh              (default 0)\n";

template <class T>
T number(std::string_view option, std::string_view text) {
  T value{};
  auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || !(value >= 0))
    throw refusal(std::string(option) + " takes a number, not '" + std::string(text) + "'");
  return value;
}

options parse_options(int argc, char const* const* argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    std::string_view const name = argv[i];
    if (name.substr(0, 2) != "--") {
      o.folder = name;
      continue;
    }
    if (++i == argc) throw refusal(std::string(name) + " lacks a value");
    std::string_view const value = argv[i];
    std::size_t const x = value.find('x');
    if (name == "--tokens")
      o.tokens = value;
    else if (name == "--rules")
      o.rules = value;
    else if (name == "--save")
      o.save = value;
    else if (name == "--steps")
      o.steps = number<std::int64_t>(name, value);
    else if (name == "--rate")
      o.rate = number<double>(name, value);
    else if (name == "--generate")
      o.generate = number<std::int64_t>(name, value);
    else if (name == "--temperature")
      o.next.temperature = number<double>(name, value);
    else if (name == "--top-k")
      o.next.top_k = number<std::int64_t>(name, value);
    else if (name == "--top-p")
      o.next.top_p = number<double>(name, value);
    else if (name == "--seed")
      o.next.seed = number<std::uint64_t>(name, value);
    else if (name == "--mesh" && x != value.npos)
      o.mesh_x = number<int>(name, value.substr(0, x)), o.mesh_y = number<int>(name, value.substr(x + 1));
    else
      throw refusal("there is no option " + std::string(name) + " " + std::string(value));
  }
  if (o.folder.empty() || o.tokens.empty()) throw refusal(std::string("a folder and --tokens are needed\n\n") + help);
  return o;
}

/// A rule set's name: data parallelism alone, or tensor parallelism alone, has all devices along X, or Y.
void run_by_name(options const& o, int devices) {
  int x = o.mesh_x > 0 ? o.mesh_x : devices % 2 == 0 ? 2 : 1, y = o.mesh_y > 0 ? o.mesh_y : devices / x;
  if (o.rules == "data" || o.rules == "fsdp") x *= y, y = 1;
  if (o.rules == "tensor") y *= x, x = 1;
  auto const m = os::make_mesh(X = x, Y = y);
  if (o.rules == "data" || o.rules == "data+tensor") return run<data_and_tensor>(m, o);
  if (o.rules == "fsdp" || o.rules == "tensor" || o.rules == "fsdp+tensor") return run<fsdp_and_tensor>(m, o);
  throw refusal("there are no rules " + o.rules + "\n\n" + help);
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  bool const speaks = os::make_mesh(X = env.devices()).device() == 0;
  if (argc == 2 && std::string_view(argv[1]) == "--help") return speaks && std::fputs(help, stdout) < 0 ? 1 : 0;
  try {
    return run_by_name(parse_options(argc, argv), env.devices()), 0;
  } catch (refusal const& r) {
    if (speaks) std::fprintf(stderr, "hugging_face: %s\n", r.what());
  } catch (os::error const& e) {  // of a checkpoint, on all devices alike
    if (speaks) std::fprintf(stderr, "hugging_face: %s\n", e.what());
  }
  return 1;
}
