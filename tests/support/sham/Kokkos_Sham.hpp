// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The sham device as an execution space and a memory space of Kokkos 3.4, which host spaces cannot access: the
/// interface that Kokkos requires of a backend. CMakeLists.txt makes Kokkos' headers include it. It has the spaces and
/// the copies; the kernels are in sham_kernels.hpp.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <new>
#include <string>

#include "device.hpp"

namespace Kokkos {

/// The device's memory.
class ShamSpace {
 public:
  using memory_space = ShamSpace;
  using size_type = std::size_t;
  using execution_space = Sham;
  using device_type = Kokkos::Device<Sham, ShamSpace>;

  static constexpr char const* name() { return "Sham"; }

  // Kokkos' header of an allocation precedes the memory.
  void* allocate(char const* label, std::size_t bytes, std::size_t reported) const {
    constexpr std::size_t header = sizeof(Impl::SharedAllocationHeader);
    char* const memory = static_cast<char*>(sham::allocate(label, bytes - header));
    if (Kokkos::Profiling::profileLibraryLoaded())
      Kokkos::Profiling::allocateData(Kokkos::Tools::make_space_handle(name()), label, memory, reported);
    return memory - header;
  }
  void deallocate(char const* label, void* at, std::size_t reported) const {
    char* const memory = static_cast<char*>(at) + sizeof(Impl::SharedAllocationHeader);
    if (Kokkos::Profiling::profileLibraryLoaded())
      Kokkos::Profiling::deallocateData(Kokkos::Tools::make_space_handle(name()), label, memory, reported);
    sham::free(memory);
  }
};

/// The device's execution space. Kernels run late: at a fence, a copy that waits, a reduction to the host, or a free.
class Sham {
 public:
  using execution_space = Sham;
  using memory_space = ShamSpace;
  using size_type = std::size_t;
  using device_type = Kokkos::Device<Sham, ShamSpace>;
  using array_layout = LayoutLeft;
  using scratch_memory_space = ScratchMemorySpace<Sham>;

  static char const* name() { return "Sham"; }
  static int concurrency() { return 132 * 2048; }  // as on a GPU
  static int in_parallel() { return 0; }
  static void impl_static_fence() { sham::fence_by_host("a fence"); }
  void fence() const { sham::fence_by_host("a fence"); }
  void fence(std::string const&) const { sham::fence_by_host("a fence"); }
  static void print_configuration(std::ostream&, bool = false) {}
  static bool impl_is_initialized() { return true; }
  static int impl_thread_pool_size(int = 0) { return 1; }
  static int impl_thread_pool_rank() { return 0; }
  static unsigned impl_hardware_thread_id() { return 0; }
  static unsigned impl_max_hardware_threads() { return 1; }
  [[nodiscard]] std::uint32_t impl_instance_id() const noexcept { return 0; }
};

namespace Tools::Experimental {
template <>
struct DeviceTypeTraits<Sham> {
  static constexpr DeviceType id = DeviceType::Unknown;
};
}  // namespace Tools::Experimental

namespace Impl {

class ShamSpaceInitializer : public ExecSpaceInitializerBase {
 public:
  void initialize(InitArguments const&) final { sham::begin(); }
  void finalize(bool const) final { sham::end(); }
  void fence() final { sham::fence_by_host("Kokkos::fence"); }
  void print_configuration(std::ostream&, bool const) final {}
};

template <>
struct MemorySpaceAccess<HostSpace, ShamSpace> {
  enum { assignable = false, accessible = false, deepcopy = true };
};
template <>
struct MemorySpaceAccess<ShamSpace, HostSpace> {
  enum { assignable = false, accessible = false, deepcopy = true };
};

template <>
class SharedAllocationRecord<ShamSpace, void> : public SharedAllocationRecord<void, void> {
  using base = SharedAllocationRecord<void, void>;
  static constexpr std::size_t header = sizeof(SharedAllocationHeader);

 public:
  SharedAllocationRecord(SharedAllocationRecord const&) = delete;
  SharedAllocationRecord& operator=(SharedAllocationRecord const&) = delete;

  [[nodiscard]] std::string get_label() const { return base::head()->m_label; }
  static SharedAllocationRecord* allocate(ShamSpace const& space, std::string const& label, std::size_t bytes) {
    return new SharedAllocationRecord(space, label, bytes);
  }
  static void* allocate_tracked(ShamSpace const& space, std::string const& label, std::size_t bytes) {
    if (bytes == 0) return nullptr;
    SharedAllocationRecord* const made = allocate(space, label, bytes);
    base::increment(made);
    return made->data();
  }
  static void deallocate_tracked(void* at) {
    if (at != nullptr) base::decrement(get_record(at));
  }
  static SharedAllocationRecord* get_record(void* at) {
    return static_cast<SharedAllocationRecord*>(SharedAllocationHeader::get_header(at)->m_record);
  }
  static void print_records(std::ostream&, ShamSpace const&, bool = false) {}

 protected:
  SharedAllocationRecord(ShamSpace const& space, std::string const& label, std::size_t bytes,
                         base::function_type destroy = &destroy_record)
      : base(static_cast<SharedAllocationHeader*>(space.allocate(label.c_str(), header + bytes, bytes)), header + bytes,
             destroy) {
    base::m_alloc_ptr->m_record = this;
    constexpr std::size_t longest = SharedAllocationHeader::maximum_label_length - 1;
    base::m_alloc_ptr->m_label[label.copy(base::m_alloc_ptr->m_label, longest)] = '\0';
  }
  ~SharedAllocationRecord() {
    ShamSpace().deallocate(base::m_alloc_ptr->m_label, base::m_alloc_ptr, base::m_alloc_size - header);
  }

 private:
  static void destroy_record(base* record) { delete static_cast<SharedAllocationRecord*>(record); }
};

/// Kokkos' copies: with an instance they wait in its queue, as those of a GPU may.
template <class Exec>
struct sham_copy {
  sham_copy(void* to, void const* from, std::size_t bytes) { sham::copy(to, from, bytes); }
  sham_copy(Exec const&, void* to, void const* from, std::size_t bytes) { sham::copy_later(to, from, bytes); }
};
template <class Exec>
struct DeepCopy<ShamSpace, ShamSpace, Exec> : sham_copy<Exec> {
  using sham_copy<Exec>::sham_copy;
};
template <class Exec>
struct DeepCopy<HostSpace, ShamSpace, Exec> : sham_copy<Exec> {
  using sham_copy<Exec>::sham_copy;
};
template <class Exec>
struct DeepCopy<ShamSpace, HostSpace, Exec> : sham_copy<Exec> {
  using sham_copy<Exec>::sham_copy;
};

}  // namespace Impl
}  // namespace Kokkos

#include "sham_kernels.hpp"
