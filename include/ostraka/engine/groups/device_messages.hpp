// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Messages of arrays in a GPU's memory. The carrier sends the arrays themselves if it takes them, otherwise a
/// copy of each message on the host. Messages leave together after one fence, which waits for the kernels that wrote
/// the data. Data that arrive are copied in the order of the instance, so that kernels launched after wait() see them,
/// and the host need not wait. A carrier that sends in the order of the instance needs no fence, and wait() does
/// nothing.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/groups/device_arrays.hpp>
#include <ostraka/engine/groups/message.hpp>
#include <ostraka/engine/memory/short_array.hpp>

namespace ostraka::engine::detail {

/// The same calls as `messages`, for a GPU's memory. `InOrder`: the carrier sends in the order of the instance.
template <class Exec, bool InOrder = CarriesInOrder<carrier::group, Exec>, class Group = carrier::group>
class device_messages {
 public:
  using group = Group;
  static constexpr bool in_order = InOrder;

  /// True if the carrier gets copies on the host.
  [[nodiscard]] static bool copied() { return !InOrder && copies_for_carrier<Exec>(); }

  device_messages() = default;
  device_messages(device_messages const&) = delete;
  device_messages& operator=(device_messages const&) = delete;
  ~device_messages() {
    carried_.wait();
    give_back_copies();
  }

  void on(device_arrays<Exec>& arrays) { arrays_ = &arrays; }
  [[nodiscard]] device_arrays<Exec>& arrays() const { return *arrays_; }

  void begin(communicator const& members, counted_collective& counted) { begin(members, members.next_tag(), counted); }
  void begin(communicator const& members, int tag, counted_collective& counted) {
    carried_.begin(members, tag, counted);
    dry_ = members.is_dry();
    group_ = members.carried();
  }
  [[nodiscard]] int tag() const { return carried_.tag(); }

  template <class T>
  [[gnu::cold]] void receive(int from, T* data, std::int64_t count) {
    if (dry_ || count == 0) return carried_.receive(from, data, count);
    T* const array = array_for_carrier(data, count);
    writes(data, array, count);
    later_.push_back(posted_as<T>(false, from, array, count));  // a kernel or a copy may still use it
  }

  template <class T>
  [[gnu::cold]] void send(int to, T const* data, std::int64_t count) {
    if (dry_ || count == 0) return carried_.send(to, data, count);
    if (data != latest_.from || count != latest_.count || latest_.array == nullptr) {  // one copy for all receivers
      T* const array = array_for_carrier(const_cast<T*>(data), count);                 // not written
      reads(data, array, count);
      latest_ = {data, array, count};
    }
    later_.push_back(posted_as<T>(true, to, latest_.array, count));
  }

  /// Sends the messages that were posted since the last call.
  [[gnu::cold]] void flush() {
    if (later_.empty()) return;
    if constexpr (InOrder) {
      launch_step();
    } else {
      ready();
      for (posted const& m : later_) m.call(carried_, m.member, m.array, m.count);
    }
    later_.clear();
  }

  /// Waits until all messages have arrived. Kernels and copies from then on see the data.
  void wait() {
    flush();
    carried_.wait();
    take_arrived();
  }

  bool test() {
    flush();
    if (!carried_.test()) return false;
    take_arrived();
    return true;
  }

  /// Returns the array that a collective of the carrier gets in place of `data`. `reads` declares the elements that the
  /// collective reads, `writes` the elements that it writes, and `ready` returns when the carrier may begin; wait()
  /// ends the collective.
  template <class T>
  [[nodiscard]] T* array_for_carrier(T* data, std::int64_t count) {
    if (count == 0 || !copied()) return data;
    return copies_.template add<T>(count);
  }
  template <class T>
  void reads(T const* data, T* array, std::int64_t count) {
    if (array != data) arrays_->to_host(data, reinterpret_cast<char*>(array), bytes_of<T>(count));
  }
  template <class T>
  void writes(T* data, T const* array, std::int64_t count) {
    if (array != data) arriving_.push_back({reinterpret_cast<char const*>(array), data, bytes_of<T>(count)});
  }
  void ready() { arrays_->fence(); }

  [[nodiscard]] carrier::group::requests& begun() { return carried_.begun(); }

 private:
  struct posted {
    void (*call)(messages& carried, int member, void* array, std::int64_t count);
    int member;
    void* array;
    std::int64_t count;
    std::int64_t bytes;
    bool sent;
  };
  struct arrival {
    char const* copy;
    void* data;
    std::int64_t bytes;
  };
  struct sent {
    void const* from = nullptr;
    void* array = nullptr;
    std::int64_t count = 0;
  };

  template <class T>
  static std::int64_t bytes_of(std::int64_t count) {
    return count * static_cast<std::int64_t>(sizeof(T));
  }
  template <class T>
  static posted posted_as(bool sent, int member, void* array, std::int64_t count) {
    return {sent ? &send_now<T> : &receive_now<T>, member, array, count, bytes_of<T>(count), sent};
  }
  template <class T>
  static void send_now(messages& carried, int to, void* array, std::int64_t count) {
    carried.send(to, static_cast<T const*>(array), count);
  }
  template <class T>
  static void receive_now(messages& carried, int from, void* array, std::int64_t count) {
    carried.receive(from, static_cast<T*>(array), count);
  }

  void launch_step() {
    group_->begin_step();
    for (posted const& m : later_) {
      if (!m.sent) {
        group_->receive(arrays_->exec(), m.member, m.array, m.bytes);
        continue;
      }
      carried_.count_sent(m.member, m.bytes, (m.count + chunk_limit - 1) / chunk_limit);
      group_->send(arrays_->exec(), m.member, static_cast<void const*>(m.array), m.bytes);
    }
    group_->end_step();
  }

  void take_arrived() {
    for (arrival const& a : arriving_) arrays_->from_host(a.copy, a.data, a.bytes);
    arriving_.clear();
    give_back_copies();
  }

  void give_back_copies() {
    if (!copies_.empty()) arrays_->keep(copies_);
    latest_ = {};
  }

  device_arrays<Exec>* arrays_ = nullptr;
  Group const* group_ = nullptr;
  bool dry_ = false;
  typename device_arrays<Exec>::copies copies_;  // the copies that the carrier uses
  short_array<posted, 8> later_;
  short_array<arrival, 8> arriving_;
  sent latest_;
  messages carried_;  // last: its destructor waits
};

template <class Arrays>
struct messages_of_arrays {
  using type = messages;
};
template <class Exec>
struct messages_of_arrays<device_arrays<Exec>> {
  using type = device_messages<Exec>;
};

/// The class that sends arrays of this kind.
template <class Arrays>
using messages_on = typename messages_of_arrays<Arrays>::type;

/// The same, where the host waits for each message, whichever the carrier.
template <class Arrays>
struct host_messages_of_arrays {
  using type = messages;
};
template <class Exec>
struct host_messages_of_arrays<device_arrays<Exec>> {
  using type = device_messages<Exec, false>;
};
template <class Arrays>
using messages_by_host_on = typename host_messages_of_arrays<Arrays>::type;

/// A collective that begins as messages and is done when all of them have arrived.
template <class Arrays = host_arrays>
struct counted_messages {
  counted_collective counted;
  messages_on<Arrays> pending;  // destroyed first, which waits for the messages

  void begin(communicator const& members, collective how) {
    members.enter();
    counted.begin(members, how);
    pending.begin(members, counted);
  }
  bool test() { return pending.test(); }
  void finish() {
    counted.wait();
    pending.wait();
    counted.end();
  }
};

}  // namespace ostraka::engine::detail
