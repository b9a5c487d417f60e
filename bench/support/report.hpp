// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The shared parts of the benchmarks: a subject is timed in turns with its baselines, so that other work on the
/// machine affects all of them; each round gives a ratio, and the figure is the median of the ratios with its spread.
/// It prints a table for people and writes JSON for programs.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// The median of some figures, and their spread.
struct spread {
  double median = 0, least = 0, most = 0;
};

inline spread spread_of(std::vector<double> v) {
  if (v.empty()) return {};
  std::sort(v.begin(), v.end());
  return {v[v.size() / 2], v.front(), v.back()};
}

/// `program [rounds=N] [json=FILE] [only=TEXT] [name=value]...`
class arguments {
 public:
  arguments(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      std::string const word = argv[i];
      std::size_t const at = word.find('=');
      if (at != std::string::npos) given_[word.substr(0, at)] = word.substr(at + 1);
    }
  }

  [[nodiscard]] std::string text(std::string const& name, std::string const& otherwise = "") const {
    auto const found = given_.find(name);
    return found == given_.end() ? otherwise : found->second;
  }
  [[nodiscard]] int number(std::string const& name, int otherwise) const {
    auto const found = given_.find(name);
    return found == given_.end() ? otherwise : std::atoi(found->second.c_str());
  }
  /// True if the user asks for this case.
  [[nodiscard]] bool wants(std::string const& name) const { return name.find(text("only")) != std::string::npos; }

 private:
  std::map<std::string, std::string> given_;
};

/// A function to be timed.
struct contestant {
  std::string name;
  std::function<void()> run;
};

/// A subject (the first) and its baselines: seconds of each, and the subject's ratio to each baseline, round by round.
struct comparison {
  std::string what;
  std::vector<std::string> names;
  std::vector<spread> seconds;  ///< of one run
  std::vector<spread> ratio;    ///< subject / contestant; 1 for the subject itself
  std::vector<std::vector<double>> samples;  ///< seconds of each, round by round
  std::map<std::string, double> numbers;  ///< further figures: bytes, flop/s, differences
  std::string remark;
};

/// The ratios of the seconds of `one` to those of `other`, round by round.
inline spread ratio_of(std::vector<double> const& one, std::vector<double> const& other) {
  std::vector<double> ratios;
  for (std::size_t r = 0; r < one.size(); ++r) ratios.push_back(one[r] / other[r]);
  return spread_of(std::move(ratios));
}

/// Seconds of `repeats` runs on this process.
inline double seconds_here(std::function<void()> const& run, int repeats) {
  auto const begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Times all contestants in turns, after two rounds to warm up. Short runs are repeated until the shortest sample takes
/// `sample` seconds, equally often for all contestants, so that none has warmer caches. `clock` returns the seconds of
/// some repeats; under MPI it starts with a barrier and returns the slowest rank's seconds on every rank.
inline comparison compare(std::string what, std::vector<contestant> const& all, int rounds,
                          std::function<double(std::function<void()> const&, int)> const& clock = seconds_here,
                          double sample = 0.005) {
  comparison c;
  c.what = std::move(what);
  c.samples.resize(all.size());
  double fastest = sample;
  for (contestant const& one : all) {
    clock(one.run, 1);
    fastest = std::min(fastest, clock(one.run, 1));
  }
  int const repeats = fastest >= sample ? 1 : static_cast<int>(std::min(1e6, sample / std::max(fastest, 1e-9))) + 1;
  for (int r = -2; r < rounds; ++r) {
    for (std::size_t turn = 0; turn < all.size(); ++turn) {  // the order alternates
      std::size_t const k = r % 2 == 0 ? turn : all.size() - 1 - turn;
      double const each = clock(all[k].run, repeats) / repeats;
      if (r >= 0) c.samples[k].push_back(each);
    }
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    c.names.push_back(all[k].name);
    c.seconds.push_back(spread_of(c.samples[k]));
    c.ratio.push_back(ratio_of(c.samples[0], c.samples[k]));
  }
  return c;
}

/// "12.3 µs"
inline std::string show_seconds(double s) {
  char text[32];
  if (s < 1e-6) std::snprintf(text, sizeof text, "%.1f ns", s * 1e9);
  else if (s < 1e-3) std::snprintf(text, sizeof text, "%.2f µs", s * 1e6);
  else if (s < 1) std::snprintf(text, sizeof text, "%.2f ms", s * 1e3);
  else std::snprintf(text, sizeof text, "%.2f s", s);
  return text;
}

/// Prints comparisons as they come, a line each, and at the end writes all of them as JSON if json=FILE asks for it.
/// With markdown=1 the lines are rows of a table.
class report {
 public:
  report(std::string name, arguments const& given, bool speaks = true)
      : name_(std::move(name)),
        file_(given.text("json")),
        speaks_(speaks),
        markdown_(given.number("markdown", 0) != 0) {}

  /// Adds a condition of the measurement: sizes, ranks, threads, the library.
  void condition(std::string const& key, std::string const& value) {
    if (speaks_) std::printf("%s%s: %s\n", markdown_ ? "- " : "", key.c_str(), value.c_str());
    conditions_.emplace_back(key, value);
  }

  void add(comparison c) {
    if (speaks_ && markdown_) {
      print_row(c);
    } else if (speaks_) {
      std::printf("%-44s %10s", c.what.c_str(), show_seconds(c.seconds[0].median).c_str());
      for (std::size_t k = 1; k < c.names.size(); ++k)
        std::printf("   / %s %.2f (%.2f to %.2f)", c.names[k].c_str(), c.ratio[k].median, c.ratio[k].least,
                    c.ratio[k].most);
      for (auto const& [key, value] : c.numbers) std::printf("   %s %g", key.c_str(), value);
      std::printf("%s%s\n", c.remark.empty() ? "" : "   ", c.remark.c_str());
      std::fflush(stdout);
    }
    comparisons_.push_back(std::move(c));
  }

  ~report() {
    if (!speaks_ || file_.empty()) return;
    std::FILE* const out = std::fopen(file_.c_str(), "w");
    if (!out) {
      std::fprintf(stderr, "%s: cannot write %s\n", name_.c_str(), file_.c_str());
      return;
    }
    std::fprintf(out, "{\"benchmark\": \"%s\", \"conditions\": {", name_.c_str());
    for (std::size_t i = 0; i < conditions_.size(); ++i)
      std::fprintf(out, "%s\"%s\": \"%s\"", i ? ", " : "", conditions_[i].first.c_str(), conditions_[i].second.c_str());
    std::fprintf(out, "}, \"results\": [");
    for (std::size_t i = 0; i < comparisons_.size(); ++i) {
      comparison const& c = comparisons_[i];
      std::fprintf(out, "%s\n  {\"what\": \"%s\", \"contestants\": [", i ? "," : "", c.what.c_str());
      for (std::size_t k = 0; k < c.names.size(); ++k)
        std::fprintf(out, "%s{\"name\": \"%s\", \"seconds\": [%.9g, %.9g, %.9g], \"ratio\": [%.6g, %.6g, %.6g]}",
                     k ? ", " : "", c.names[k].c_str(), c.seconds[k].median, c.seconds[k].least, c.seconds[k].most,
                     c.ratio[k].median, c.ratio[k].least, c.ratio[k].most);
      std::fprintf(out, "], \"numbers\": {");
      bool first = true;
      for (auto const& [key, value] : c.numbers)
        std::fprintf(out, "%s\"%s\": %.17g", std::exchange(first, false) ? "" : ", ", key.c_str(), value);
      std::fprintf(out, "}, \"remark\": \"%s\"}", c.remark.c_str());
    }
    std::fprintf(out, "\n]}\n");
    std::fclose(out);
  }

  report(report const&) = delete;
  report& operator=(report const&) = delete;

  [[nodiscard]] std::vector<comparison> const& comparisons() const { return comparisons_; }

 private:
  void print_row(comparison const& c) {
    std::string header = "\n| case | time |", rule = "|---|---|";
    auto const column = [&](std::string const& title) {
      header += ' ' + title + " |";
      rule += "---|";
    };
    for (std::size_t k = 1; k < c.names.size(); ++k) column("time / that of " + c.names[k]);
    for (auto const& [key, value] : c.numbers) column(key);
    if (std::exchange(header_, header) != header) std::printf("%s\n%s\n", header.c_str(), rule.c_str());
    std::printf("| %s%s%s | %s |", c.what.c_str(), c.remark.empty() ? "" : ": ", c.remark.c_str(),
                show_seconds(c.seconds[0].median).c_str());
    for (std::size_t k = 1; k < c.names.size(); ++k)
      std::printf(" %.3g (%.3g to %.3g) |", c.ratio[k].median, c.ratio[k].least, c.ratio[k].most);
    for (auto const& [key, value] : c.numbers) std::printf(" %.3g |", value);
    std::printf("\n");
    std::fflush(stdout);
  }

  std::string name_, file_;
  bool speaks_, markdown_;
  std::string header_;  // of the last row's table
  std::vector<std::pair<std::string, std::string>> conditions_;
  std::vector<comparison> comparisons_;
};

}  // namespace bench
