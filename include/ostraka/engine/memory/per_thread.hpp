// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The state that the engine keeps between operations belongs to the host thread that calls: its pool, the
/// schedules of its operations, the plans of its products. So threads that work on meshes of their own share nothing
/// and need no locks. An object is created when its thread first needs it, and destroyed with the thread. It costs one
/// thread-local pointer:
///
///     static thread_local constinit schedule_memory* memory = nullptr;
///     run(…, per_thread(memory));

#include <atomic>
#include <cstdint>

#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// A lock for rare and short sections, such as a thread's first use of a pool.
class short_lock {
 public:
  [[gnu::cold]] explicit short_lock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) flag_.wait(true, std::memory_order_relaxed);
  }
  [[gnu::cold, gnu::noinline]] ~short_lock() {
    flag_.clear(std::memory_order_release);
    flag_.notify_one();
  }
  short_lock(short_lock const&) = delete;
  short_lock& operator=(short_lock const&) = delete;

 private:
  std::atomic_flag& flag_;
};

namespace detail {

/// The objects of one host thread, destroyed in reverse order of their creation.
class thread_objects {
 public:
  [[gnu::visibility("default")]] static thread_objects& mine() {
    static thread_local thread_objects all;
    return all;
  }

  template <class T, class Place>
  [[gnu::cold, gnu::noinline]] static T& make(Place*& place) {
    T* const made = new T;  // T's constructor may ask for other objects
    place = made;
    mine().objects_.push_back({&place, [](void* at) {
                                 delete static_cast<T*>(*static_cast<Place**>(at));
                                 *static_cast<Place**>(at) = nullptr;
                               }});
    return *made;
  }

  thread_objects(thread_objects const&) = delete;
  thread_objects& operator=(thread_objects const&) = delete;
  ~thread_objects() {
    for (; !objects_.empty(); objects_.pop_back()) objects_.back().end(objects_.back().place);
  }

 private:
  thread_objects() = default;

  struct object {
    void* place;
    void (*end)(void* place);
  };
  dynamic_array<object> objects_;
};

}  // namespace detail

/// Returns the calling thread's object, and creates it at the first call. `place` is a thread-local pointer to it.
template <class T>
T& per_thread(T*& place) {
  return place != nullptr ? *place : detail::thread_objects::make<T>(place);
}

/// Returns a number for a type, a hash of its name.
template <class T>
consteval std::uint64_t number_of_type() {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (char const* at = __PRETTY_FUNCTION__; *at != 0; ++at)
    hash = (hash ^ static_cast<unsigned char>(*at)) * 1099511628211u;
  return hash;
}

/// The instance of an execution space that a thread uses (machine/instance.hpp).
struct instance_in_use {
  void const* given = nullptr;  ///< null: the default one
  std::uint64_t scope = 0;      ///< the number of the scope that set it; 0 outside all scopes
  std::uint64_t scopes = 0;     ///< number of scopes that have begun
  bool unfenced = false;        ///< an operation on it has ended without a fence
};

/// Each thread's pointer to an object that exists once per type, such as a memory space, identified by number_of_type;
/// and the thread's instance of an execution space. All libraries of a process share them. A template of the type
/// itself would not be shared: a library that hides its symbols hides Kokkos' types, and with them every template
/// instance of these types.
template <std::uint64_t NumberOfType>
struct shared_by_type {
  [[gnu::visibility("default")]] inline static thread_local constinit void* object = nullptr;
  [[gnu::visibility("default")]] inline static thread_local constinit instance_in_use instance{};
};

/// Returns the calling thread's instance of an execution space.
template <class Exec>
instance_in_use& instance_of_thread() {
  return shared_by_type<number_of_type<Exec>()>::instance;
}

}  // namespace ostraka::engine
