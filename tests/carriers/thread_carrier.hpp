// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A second back end of communication, between the host threads of a thread_job. Programs without MPI use it if
/// OSTRAKA_CARRIER names it, as tests/carriers/CMakeLists.txt does.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/plan/blocks/strided_layout.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/values/half.hpp>
#include <ostraka/types/values/reduction.hpp>

#include "carriers/thread_job.hpp"

namespace ostraka::testing {

struct thread_carrier {
  /// Ranks of the job, in an order.
  struct processes {
    std::vector<int> ranks;
    explicit processes(std::vector<int> these) : ranks(std::move(these)) {}
    explicit processes(engine::native_communicator) {
      for (int r = 0; r < thread_job::here().job->ranks(); ++r) ranks.push_back(r);
    }
    processes(processes const& all, dynamic_array<int> const& numbers) {
      for (int const n : numbers) ranks.push_back(all.ranks[static_cast<std::size_t>(n)]);
    }
    [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
    [[nodiscard]] int find(int rank) const {
      for (std::size_t i = 0; i < ranks.size(); ++i)
        if (ranks[i] == rank) return static_cast<int>(i);
      return -1;
    }
    [[nodiscard]] dynamic_array<int> numbers_in(processes const& others) const {
      dynamic_array<int> numbers;
      for (int const r : ranks) numbers.push_back(others.find(r));
      return numbers;
    }
  };

  /// Calls that have begun: each part is polled until it is done.
  class requests {
   public:
    void add(std::function<bool(bool waits)> part) { parts_.push_back(std::move(part)); }
    void wait() {
      for (auto const& part : parts_) part(true);
      parts_.clear();
    }
    bool test() {
      std::erase_if(parts_, [](auto const& part) { return part(false); });
      return parts_.empty();
    }

   private:
    std::vector<std::function<bool(bool)>> parts_;
  };

  class group {
   public:
    struct handle {
      int number = 0;
      std::vector<int> members;
    };
    using requests = thread_carrier::requests;

    group() = default;
    explicit group(handle const& made)
        : number_(made.number), members_(made.members), rank_(members_.find(thread_job::here().rank)) {}
    group(group const&) = delete;
    group& operator=(group const&) = delete;

    [[nodiscard]] int size() const { return members_.size(); }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] processes members() const { return members_; }
    [[nodiscard]] engine::native_communicator native() const { return {}; }

    static handle duplicate_of(engine::native_communicator theirs) {
      static thread_local int occasion = 0;
      return made_of(0, processes(theirs).ranks, ++occasion);
    }
    [[nodiscard]] handle duplicate() const { return part(members_); }
    [[nodiscard]] handle split_by_machine() const { return duplicate(); }
    [[nodiscard]] handle split(int colour, int key) const {
      std::vector<std::int64_t> all(static_cast<std::size_t>(2 * size()));
      std::int64_t const mine[2] = {colour, key};
      all_gather(mine, all.data(), 2);
      std::vector<std::pair<std::int64_t, int>> order;
      for (int m = 0; m < size(); ++m)
        if (all[static_cast<std::size_t>(2 * m)] == colour)
          order.emplace_back(all[static_cast<std::size_t>(2 * m + 1)], members_.ranks[static_cast<std::size_t>(m)]);
      std::sort(order.begin(), order.end());
      std::vector<int> ranks;
      for (auto const& o : order) ranks.push_back(o.second);
      return part(processes(std::move(ranks)));
    }
    [[nodiscard]] handle part(processes const& some) const {
      return made_of(number_, some.ranks, ++occasions_[some.ranks]);
    }

    template <class T>
    void send(int to, int tag, T const* data, std::int64_t count, requests&) const {
      record("send", to, count * width<T>);
      put(to, tag, data, count);
    }
    template <class T>
    void receive(int from, int tag, T* data, std::int64_t count, requests& with) const {
      record("receive", from, count * width<T>);
      get(from, tag, data, count, with);
    }
    template <class T>
    void send(int to, int tag, T const* data, engine::strided const& block, requests&) const {
      record("send block", to, block.size() * width<T>);
      std::vector<element<T>> packed;
      each_element(block, [&](std::int64_t at) { packed.push_back({data[at]}); });
      put(to, tag, packed.data(), block.size());
    }
    template <class T>
    void receive(int from, int tag, T* data, engine::strided const& block, requests& with) const {
      record("receive block", from, block.size() * width<T>);
      begin(from, tag, with, [data, block](thread_job::bytes const& m) {
        std::size_t next = 0;
        each_element(block, [&](std::int64_t at) {
          std::memcpy(static_cast<void*>(data + at), m.data() + next, sizeof(T));
          next += sizeof(T);
        });
      });
    }

    void barrier() const {
      char const none = 0;
      std::vector<char> all(members_.ranks.size());
      record("barrier", -1, 0);
      gather_quietly(&none, all.data(), 1);
    }

    template <class T>
    void broadcast(T* data, std::int64_t count, int root) const {
      requests with;
      broadcast(data, count, root, with);
      with.wait();
    }
    template <class T>
    void broadcast(T* data, std::int64_t count, int root, requests& with) const {
      record("broadcast", root, count * width<T>);
      int const tag = next_tag();
      if (rank_ != root) return get(root, tag, data, count, with);
      for (int m = 0; m < size(); ++m)
        if (m != root) put(m, tag, data, count);
    }

    template <class T>
    void all_reduce(T* data, std::int64_t count, reduction how) const {
      requests with;
      all_reduce(data, count, how, with);
      with.wait();
    }
    template <class T>
    void all_reduce(T* data, std::int64_t count, reduction how, requests& with) const {
      record("all_reduce", -1, count * width<T>);
      int const tag = next_tag();
      for (int m = 0; m < size(); ++m)
        if (m != rank_) put(m, tag, data, count);
      std::vector<T> const own(data, data + count);
      with.add([this, data, own, tag, how](bool waits) {
        // In the order of members, at the end, when all of them have sent theirs.
        static_cast<void>(waits);
        std::vector<T> all;
        for (int m = 0; m < size(); ++m) {
          std::vector<T> theirs = own;
          if (m != rank_) get_now(m, tag, theirs.data(), std::ssize(own));
          if (m == 0)
            all = theirs;
          else
            for (std::size_t i = 0; i < all.size(); ++i) all[i] = reduced(how, all[i], theirs[i]);
        }
        std::copy(all.begin(), all.end(), data);
        return true;
      });
    }

    template <class T>
    void all_gather(T const* from, T* data, std::int64_t each) const {
      record("all_gather", -1, each * width<T>);
      gather_quietly(from, data, each);
    }
    template <class T>
    void all_gather(T* data, engine::counts_view const& counts) const {
      record("all_gather in place", -1, counts[static_cast<std::size_t>(rank_)] * width<T>);
      int const tag = next_tag();
      T const* const own = data + counts.before(static_cast<std::size_t>(rank_));
      for (int m = 0; m < size(); ++m)
        if (m != rank_) put(m, tag, own, counts[static_cast<std::size_t>(rank_)]);
      for (int m = 0; m < size(); ++m)
        if (m != rank_)
          get_now(m, tag, data + counts.before(static_cast<std::size_t>(m)), counts[static_cast<std::size_t>(m)]);
    }
    template <class T>
    void gather(T const* from, T* data, engine::counts_view const& counts, int root) const {
      record("gather", root, counts[static_cast<std::size_t>(rank_)] * width<T>);
      int const tag = next_tag();
      put(root, tag, from, counts[static_cast<std::size_t>(rank_)]);
      for (int m = 0; m < size() && rank_ == root; ++m)
        get_now(m, tag, data + counts.before(static_cast<std::size_t>(m)), counts[static_cast<std::size_t>(m)]);
    }
    template <class T>
    void scatter(T const* from, T* data, engine::counts_view const& counts, int root) const {
      record("scatter", root, counts[static_cast<std::size_t>(rank_)] * width<T>);
      int const tag = next_tag();
      for (int m = 0; m < size() && rank_ == root; ++m)
        put(m, tag, from + counts.before(static_cast<std::size_t>(m)), counts[static_cast<std::size_t>(m)]);
      get_now(root, tag, data, counts[static_cast<std::size_t>(rank_)]);
    }
    template <class T>
    void all_to_all(T const* from, T* data, std::int64_t each) const {
      record("all_to_all", -1, each * width<T>);
      int const tag = next_tag();
      for (int m = 0; m < size(); ++m) put(m, tag, from + m * each, each);
      for (int m = 0; m < size(); ++m) get_now(m, tag, data + m * each, each);
    }

   private:
    template <class T>
    static constexpr std::int64_t width = sizeof(T);
    template <class T>
    struct element {  // no std::vector<bool>
      T value;
    };

    static handle made_of(int of, std::vector<int> const& ranks, int occasion) {
      return {thread_job::here().job->group_number(of, ranks, occasion), ranks};
    }
    static void record(char const* what, int member, std::int64_t bytes) {
      thread_job::here().job->record({what, member, bytes});
    }
    [[nodiscard]] int next_tag() const { return -1 - collectives_++; }  // distinct from those of messages

    template <class T>
    void put(int to, int tag, T const* data, std::int64_t count) const {
      auto const* const begin = reinterpret_cast<std::byte const*>(data);
      thread_job::here().job->put({number_, rank_, to, tag},
                                  {begin, begin + count * static_cast<std::int64_t>(sizeof(T))});
    }
    template <class Done>
    void begin(int from, int tag, requests& with, Done done) const {
      thread_job::mailbox const at(number_, from, rank_, tag);
      with.add([at, number = thread_job::here().job->number_of_next(at), done](bool waits) {
        thread_job::bytes message;
        bool const arrived = thread_job::here().job->take(at, number, message, waits);
        if (arrived) done(message);
        return arrived;
      });
    }
    template <class T>
    void get(int from, int tag, T* data, std::int64_t count, requests& with) const {
      begin(from, tag, with, [data, count](thread_job::bytes const& m) {
        if (std::ssize(m) != count * width<T>) std::abort();  // its length is not the receiver's
        if (!m.empty()) std::memcpy(static_cast<void*>(data), m.data(), m.size());
      });
    }
    template <class T>
    void get_now(int from, int tag, T* data, std::int64_t count) const {
      requests with;
      get(from, tag, data, count, with);
      with.wait();
    }
    template <class T>
    void gather_quietly(T const* from, T* data, std::int64_t each) const {
      int const tag = next_tag();
      for (int m = 0; m < size(); ++m) put(m, tag, from, each);
      for (int m = 0; m < size(); ++m) get_now(m, tag, data + m * each, each);
    }

    template <class F>
    static void each_element(engine::strided const& block, F const& f, int d = 0, std::int64_t at = 0) {
      if (d == block.rank) return f(at);
      for (std::int64_t i = 0; i < block.extent[d]; ++i) each_element(block, f, d + 1, at + i * block.stride[d]);
    }

    template <class T>
    static T reduced(reduction how, T a, T b) {
      if (how == reduction::sum) return static_cast<T>(a + b);
      if constexpr (requires { a < b; }) {
        if (how == reduction::max) return a < b ? b : a;
        if (how == reduction::min) return b < a ? b : a;
      }
      std::abort();  // the tests use no other reduction
    }

    int number_ = 0;
    processes members_{std::vector<int>{}};
    int rank_ = 0;
    mutable int collectives_ = 0;
    mutable std::map<std::vector<int>, int> occasions_;
  };

  template <class T>
  static constexpr bool reduces(reduction how) {
    return how == reduction::sum && !is_narrow<T>;
  }
};

}  // namespace ostraka::testing

namespace ostraka::engine {
using carrier = testing::thread_carrier;
}  // namespace ostraka::engine
