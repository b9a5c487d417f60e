// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The messages with which ranks compare their calls in check mode: the description of a call, and the
/// question whether the waiting ranks form a ring. Senders do not wait for them to arrive.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <cstddef>
#  include <cstdint>
#  include <cstring>
#  include <string>

#  include <ostraka/engine/carriers/control.hpp>
#  include <ostraka/engine/spmd/group_records.hpp>
#  include <ostraka/engine/spmd/peer_monitor.hpp>
#  include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine::detail {

/// The message about a call that a rank is about to make: the fingerprint of the group's members, the group's number
/// among the groups of these members, and the description of the call.
struct call_record {
  [[gnu::cold]] static std::string packed(group_record const& group, std::string const& text) {
    std::string bytes(16, '\0');
    std::memcpy(bytes.data(), &group.ranks, 8);
    std::memcpy(bytes.data() + 8, &group.number, 8);
    bytes.append(text);
    return bytes;
  }
  static bool same_members(std::string const& a, std::string const& b) { return a.compare(0, 8, b, 0, 8) == 0; }
  static std::uint64_t number(std::string const& bytes) {
    std::uint64_t n = 0;
    std::memcpy(&n, bytes.data() + 8, 8);
    return n;
  }
  static std::string text(std::string const& bytes) { return bytes.substr(16); }
};

/// A question that follows the waiting ranks: whether the chain that begins at `asker` comes back to it.
struct chain {
  std::int32_t asker = 0;
  std::int32_t lowest = 0;     ///< the smallest number of a rank on the way
  std::uint64_t occasion = 0;  ///< of the asker: the wait, and the question within it
  std::string text;

  [[nodiscard, gnu::cold]] std::string packed() const {
    std::string bytes(16, '\0');
    std::memcpy(bytes.data(), &asker, 4);
    std::memcpy(bytes.data() + 4, &lowest, 4);
    std::memcpy(bytes.data() + 8, &occasion, 8);
    bytes.append(text);
    return bytes;
  }
  [[gnu::cold]] static chain unpacked(std::string const& bytes) {
    chain c;
    std::memcpy(&c.asker, bytes.data(), 4);
    std::memcpy(&c.lowest, bytes.data() + 4, 4);
    std::memcpy(&c.occasion, bytes.data() + 8, 8);
    c.text = bytes.substr(16);
    return c;
  }
};

/// Message tags that no collective uses.
enum class control_message { record = 32766, question = 32767 };

/// The channel on which the members of a group compare calls. It is one channel for all groups, in the monitor's
/// numbering, since a message of any group tells which ranks wait for which. Where several host threads may wait at
/// once, it is the group's own communicator.
struct control_channel {
  native_communicator comm = no_communicator();
  int me = 0;
  dynamic_array<int> members;  // in the order of the group
  bool of_all_groups = true;

  control_channel(group_record const& group, native_communicator own)
      : of_all_groups(!group.monitor->is_thread_multiple()) {
    if (of_all_groups) {
      comm = group.monitor->comm();
      me = group.monitor->rank();
      members = *group.members;
      return;
    }
    comm = own;
    members.resize(group.members->size());
    for (std::size_t m = 0; m < members.size(); ++m) {
      members[m] = static_cast<int>(m);
      if ((*group.members)[m] == group.monitor->rank()) me = members[m];
    }
  }
};

/// A message that keeps its memory until it has arrived. An `answered` message has arrived only once the receiver
/// receives it.
class pending_send {
 public:
  [[gnu::cold]] pending_send(native_communicator comm, int to, control_message kind, std::string const& bytes,
                             bool answered = false)
      : bytes_(bytes), answered_(answered) {
    control::send(comm, to, static_cast<int>(kind), bytes_.data(), bytes_.size(), request_,
                  answered ? control::send_ends::received : control::send_ends::soon);
    next_ = first_;
    first_ = this;
  }

  /// True if a message still waits for its answer.
  [[nodiscard, gnu::cold]] static bool any_unanswered() {
    for (pending_send const* o = first_; o != nullptr; o = o->next_)
      if (o->answered_) return true;
    return false;
  }

  /// Frees the messages that have arrived.
  [[gnu::cold]] static void tidy() {
    for (pending_send** o = &first_; *o != nullptr;) {
      if ((*o)->request_.test()) {
        pending_send* const done = *o;
        *o = done->next_;
        delete done;
      } else {
        o = &(*o)->next_;
      }
    }
  }

 private:
  std::string bytes_;
  bool answered_ = false;
  control::request request_;
  pending_send* next_ = nullptr;
  // Messages are never freed before they have arrived.
  [[gnu::visibility("default")]] inline static thread_local constinit pending_send* first_ = nullptr;
};

/// True if a message has arrived; `from`, which may be any_member, becomes its sender.
inline bool has_control_message(native_communicator comm, int& from, control_message kind) {
  return control::find(comm, from, static_cast<int>(kind));
}

/// @pre has_control_message
[[gnu::cold]] inline std::string receive_control_message(native_communicator comm, int from, control_message kind) {
  return control::receive_text(comm, from, static_cast<int>(kind));
}

}  // namespace ostraka::engine::detail

#endif
