// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Continuous batching: requests join when the pool has pages for them and leave when they have all their tokens. A
/// request that joins brings its whole prompt into the step, and a running one brings its last token.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model.hpp"
#include "pages.hpp"

namespace serving {

struct request {
  std::vector<std::int32_t> prompt;
  std::int64_t count = 0;  ///< the number of tokens to generate
  std::vector<std::int32_t> generated{};
};

/// Keys and values have the elements of the parameters.
template <class L>
class engine {
 public:
  using real = typename decltype(model<L>::norm)::value_type;
  using pool = os::tensor<real, P / X, S, G / Y, D>;

  /// @param most the most positions of a request, as far as the pool has pages for them
  engine(mesh_type const& m, model<L> const& p, extents const& e, std::int64_t pages, std::int64_t slots,
         std::int64_t most)
      : mesh_(m), model_(p), pages_(pages, slots), entries_(std::min(pages_.needed(most), pages_.free())) {
    for (std::int64_t i = 0; i < e.layers; ++i)
      for (auto* pools : {&keys_, &values_})
        pools->push_back(os::zeros<pool>(m, P = pages, S = slots, G = e.key_heads, D = e.head));
  }

  /// Puts a request into the queue. It must outlive the engine's work on it.
  /// @throws std::runtime_error if it could never run: it has no prompt or no token to generate, or too many positions
  void add(request& r) {
    if (r.prompt.empty() || r.count < 1) throw std::runtime_error("a request has a prompt and tokens to generate");
    if (pages_.needed(positions_of(r)) > entries_) throw std::runtime_error("a request has too many positions");
    waiting_.push_back(&r);
  }
  [[nodiscard]] bool is_idle() const { return waiting_.empty() && running_.empty(); }
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] std::int64_t free_pages() const { return pages_.free(); }

  /// Generates a token of each running request. Collective.
  void step() {
    admit();
    if (running_.empty()) return;
    std::vector<std::int32_t> tokens, table, last;
    std::vector<std::int64_t> positions;
    for (active& a : running_) {
      auto const& next = a.of->generated.empty() ? a.of->prompt : std::vector{a.of->generated.back()};
      for (std::int32_t const token : next) {
        tokens.push_back(token);
        positions.push_back(a.length++);
        table.insert(table.end(), a.pages.begin(), a.pages.end());
        table.resize(tokens.size() * static_cast<std::size_t>(entries_));  // with page 0
      }
      last.push_back(static_cast<std::int32_t>(tokens.size()) - 1);
    }
    auto const chosen = likeliest(tokens, positions, table, last);
    for (std::size_t i = 0; i < running_.size(); ++i) running_[i].of->generated.push_back(chosen[i]);
    leave();
  }

 private:
  struct active {
    request* of;
    std::vector<std::int32_t> pages{};
    std::int64_t length = 0;
  };

  static std::int64_t positions_of(request const& r) { return std::ssize(r.prompt) + r.count; }

  // A request joins when the pool has pages for all its positions, so that no running request has to wait.
  void admit() {
    while (!waiting_.empty()) {
      request& r = *waiting_.front();
      if (pages_.needed(positions_of(r)) > pages_.free()) return;
      running_.push_back({&r});
      pages_.reserve(running_.back().pages, positions_of(r));
      waiting_.pop_front();
    }
  }

  void leave() {
    for (active& a : running_)
      if (std::ssize(a.of->generated) >= a.of->count) pages_.release(a.pages);
    std::erase_if(running_, [](active const& a) { return a.pages.empty(); });
  }

  std::vector<std::int32_t> likeliest(std::vector<std::int32_t> const& tokens,
                                      std::vector<std::int64_t> const& positions,
                                      std::vector<std::int32_t> const& table, std::vector<std::int32_t> const& last) {
    std::int64_t const rows = std::ssize(tokens), requests = std::ssize(last);
    auto const ids = os::copy_from_local<std::int32_t, B, Q>(mesh_, B = rows, Q = 1, os::unchecked, tokens);
    auto const at = os::copy_from_local<std::int64_t, B>(mesh_, B = rows, os::unchecked, positions);
    auto const pages = os::copy_from_local<std::int32_t, B, T>(mesh_, B = rows, T = entries_, os::unchecked, table);
    auto const ends = os::copy_from_local<std::int32_t, N>(mesh_, N = requests, os::unchecked, last);
    auto const attend = [&](std::size_t i, auto const& q, auto const& k, auto const& v) {
      auto const from = os::from_positions(at);
      auto const by = os::pages<P / X>(pages);
      os::write_at<S>(keys_[i], from, os::take<Q>(k, 0), by, os::in_range);
      os::write_at<S>(values_[i], from, os::take<Q>(v, 0), by, os::in_range);
      return os::attention<Q, S, D>(q, keys_[i], values_[i], by, os::causal, from, os::in_range);
    };
    auto const best = os::argmax<N, Q>(logits(model_, ids, at, ends, attend));
    std::vector<std::int64_t> chosen(static_cast<std::size_t>(requests));
    os::copy_to_local(best, chosen);
    return {chosen.begin(), chosen.end()};
  }

  mesh_type const& mesh_;
  model<L> const& model_;
  page_allocator pages_;
  std::int64_t entries_;
  std::vector<pool> keys_, values_;
  std::deque<request*> waiting_;
  std::vector<active> running_;
};

}  // namespace serving
