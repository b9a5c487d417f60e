// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Memory pages that are closed, and a queue. Pages are opened by mprotect: when a kernel or a copy touches an
/// allocation, the fault opens it, and it is closed when the queue is empty. The host's fault is reported, and opens it
/// until the next launch, fence or copy. Protection keys would close memory to each host thread by itself, but not
/// every processor has them, and a system call of the host, or another process, passes them unseen. With
/// OSTRAKA_GPU_AWARE_MPI=1 functions of MPI touch device memory, too; they wait for no kernel.

#include "device.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <utility>

extern "C" char __executable_start;  // the linker's
extern "C" char _end;

namespace sham {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t arena_bytes = std::size_t{1} << 40;  // of addresses, not of memory
constexpr int fresh = 0xA5;
constexpr int most_traces = 20;

struct allocation {
  std::string label{};
  std::size_t bytes = 0;
  std::size_t closed_bytes = 0;
  bool freed = false;
  bool open = false;
};

struct device {
  std::recursive_mutex alone{};
  std::deque<std::pair<char const*, std::function<void()>>> queue{};
  std::map<char*, allocation> allocations{};  // those freed, too: no address comes back
  std::vector<std::pair<char*, allocation*>> open{};
  std::vector<std::string> reports{};
  work done{};
  char const* last = "nothing";
  char* low = nullptr;
  char* next = nullptr;
  char* heap = nullptr;
  std::size_t in_use = 0;  // bytes of whole pages
  std::size_t limit = arena_bytes;
  bool eager = false;
  bool mpi_may_touch = false;
  struct sigaction before {};
};

device& the_device() {
  static device* const d = new device;  // never destroyed: destructors of static variables free memory of the device
  return *d;
}

thread_local bool volatile in_kernel = false;  // the handler of faults reads it

[[nodiscard]] std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

void protect(char* at, std::size_t bytes, int how) {
  if (bytes == 0 || ::mprotect(at, bytes, how) == 0) return;
  std::perror("sham: mprotect");
  std::_Exit(99);
}

void report(std::string const& what) {
  device& d = the_device();
  d.reports.push_back(what);
  std::fprintf(stderr, "sham: %s\n", what.c_str());
  if (d.reports.size() > most_traces) return;
  void* frames[40];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, 40), 2);
  std::fprintf(stderr, "sham: end of report\n");
}

void close_all() {
  device& d = the_device();
  for (auto const& [at, a] : d.open) {
    if (!a->freed) protect(at, a->closed_bytes, PROT_NONE);
    a->open = false;
  }
  d.open.clear();
}

// While an object lives, a kernel or a copy runs.
struct running {
  running() { in_kernel = true; }
  ~running() { in_kernel = false; }
};

// True if a function of MPI is on the call stack. An MPI that accepts a GPU's memory touches it in all of them.
bool is_in_mpi() {
  void* frames[64];
  int const count = ::backtrace(frames, 64);
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (::dladdr(frames[i], &info) == 0 || info.dli_sname == nullptr) continue;
    if (std::strncmp(info.dli_sname, "MPI_", 4) == 0 || std::strncmp(info.dli_sname, "PMPI_", 5) == 0) return true;
  }
  return false;
}

// Counts a copy between host and device.
void count_copy(void const* to, void const* from, std::size_t bytes) {
  device& d = the_device();
  auto const is_there = [&](void const* at) { return at >= d.low && at < d.low + arena_bytes; };
  if (is_there(to) == is_there(from)) return;
  ++d.done.copies;
  (is_there(to) ? d.done.to_device : d.done.to_host) += static_cast<long>(bytes);
}

std::string kernel_or_host() { return in_kernel ? "a kernel" : "the host"; }

// Opens what a kernel touches, and reports what the host does. Faults are synchronous and come from loads and stores of
// programs, never from the functions of this file, so that it may call what allocates.
void on_fault(int, siginfo_t* info, void*) {
  device& d = the_device();
  char* const at = static_cast<char*>(info->si_addr);
  if (at < d.low || at >= d.low + arena_bytes) {
    ::sigaction(SIGSEGV, &d.before, nullptr);
    return;
  }
  std::lock_guard const lock(d.alone);
  auto found = d.allocations.upper_bound(at);
  allocation* const a = found == d.allocations.begin() ? nullptr : &(--found)->second;
  bool const inside = a != nullptr && at < found->first + a->closed_bytes;
  auto const place = [&] {
    return a == nullptr ? std::string() : "'" + a->label + "', byte " + std::to_string(at - found->first);
  };
  if (!inside || a->freed || a->open) {
    report(kernel_or_host() + " touches " + (inside && a->freed ? "freed memory, " : "what is no memory, beyond ") +
           place() + ", after " + d.last);
    ::signal(SIGSEGV, SIG_DFL);
    return;
  }
  if (!in_kernel && !(d.mpi_may_touch && is_in_mpi()))
    report("the host touches device memory, " + place() + ", after " + d.last);
  protect(found->first, a->closed_bytes, PROT_READ | PROT_WRITE);
  a->open = true;
  d.open.emplace_back(found->first, a);
}

char* begin_of_heap() {
  unsigned long from = 0;
  char line[512];
  if (std::FILE* const maps = std::fopen("/proc/self/maps", "r")) {
    while (from == 0 && std::fgets(line, sizeof line, maps) != nullptr)
      if (std::strstr(line, "[heap]") == nullptr || std::sscanf(line, "%lx", &from) != 1) from = 0;
    std::fclose(maps);
  }
  return reinterpret_cast<char*>(from);
}

char* top_of_stack() {
  static thread_local char* const top = [] {
    pthread_attr_t attributes;
    void* base = nullptr;
    std::size_t size = 0;
    ::pthread_getattr_np(::pthread_self(), &attributes);
    ::pthread_attr_getstack(&attributes, &base, &size);
    ::pthread_attr_destroy(&attributes);
    return static_cast<char*>(base) + size;
  }();
  return top;
}

void open_arena(device& d) {
  if (d.low != nullptr) return;
  void* const at = ::mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  d.low = d.next = static_cast<char*>(at);
}

}  // namespace

void begin() {
  device& d = the_device();
  open_arena(d);
  d.eager = std::getenv("SHAM_EAGER") != nullptr;
  char const* const aware = std::getenv("OSTRAKA_GPU_AWARE_MPI");
  d.mpi_may_touch = aware != nullptr && *aware == '1';
  d.heap = begin_of_heap();
  void* frames[2];
  ::backtrace(frames, 2);  // loads its library now, rather than in a fault
  struct sigaction act {};
  act.sa_sigaction = &on_fault;
  act.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGSEGV, &act, &d.before);
}

void end() {
  fence("Kokkos::finalize");
  std::size_t const reports = the_device().reports.size();
  if (reports == 0) return;
  std::fprintf(stderr, "sham: %zu reports\n", reports);
  std::fflush(nullptr);
  std::_Exit(99);
}

std::vector<std::string> take_reports() {
  std::lock_guard const lock(the_device().alone);
  return std::exchange(the_device().reports, {});
}

void launch(char const* what, std::function<void()> work) {
  driver const active;
  device& d = the_device();
  std::lock_guard const lock(d.alone);
  if (in_kernel) return report(std::string("a kernel launches ") + what);
  ++d.done.launches;
  close_all();
  d.last = what;
  d.queue.emplace_back(what, std::move(work));
  if (d.eager) fence(what);
}

void require_device_memory(void const* memory, char const* who) {
  device& d = the_device();
  std::lock_guard const lock(d.alone);
  char const* const at = static_cast<char const*>(memory);
  if (at < d.low || at >= d.low + arena_bytes) report(std::string(who) + " is given memory of the host");
}

work work_done() { return the_device().done; }

void fence_by_host(char const* why) {
  std::lock_guard const lock(the_device().alone);
  if (!in_kernel) ++the_device().done.fences;
  fence(why);
}

void fence(char const* why) {
  driver const active;
  device& d = the_device();
  std::lock_guard const lock(d.alone);
  if (in_kernel) return;  // the copy of a functor that ends in its kernel
  close_all();
  while (!d.queue.empty()) {
    auto const [what, work] = std::move(d.queue.front());
    d.queue.pop_front();
    d.last = what;
    running const now;
    work();
  }
  close_all();
  d.last = why;
}

void copy(void* to, void const* from, std::size_t bytes) {
  driver const active;
  std::lock_guard const lock(the_device().alone);
  ++the_device().done.fences;
  count_copy(to, from, bytes);
  fence("a copy");
  {
    running const now;
    std::memmove(to, from, bytes);
  }
  close_all();
}

void copy_later(void* to, void const* from, std::size_t bytes) {
  driver const active;
  count_copy(to, from, bytes);
  launch("a copy on an instance", [=] { std::memmove(to, from, bytes); });
  --the_device().done.launches;
}

//     [the host's page] [closed pages] [a page that is never open]
void* allocate(char const* label, std::size_t bytes) {
  driver const active;
  device& d = the_device();
  std::lock_guard const lock(d.alone);
  open_arena(d);
  std::size_t const closed = whole_pages(bytes);
  char* const begin = d.next + page;
  if (bytes > arena_bytes / 2 || closed > d.limit - std::min(d.in_use, d.limit) ||
      begin + closed + page > d.low + arena_bytes)
    throw std::bad_alloc();
  if (::mprotect(d.next, page + closed, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  std::memset(begin, fresh, closed);
  protect(begin, closed, PROT_NONE);
  d.allocations[begin] = {label, bytes, closed};
  ++d.done.allocations;
  d.in_use += closed;
  d.next = begin + closed + page;
  return begin;
}

void free(void* memory) {
  if (memory == nullptr) return;
  driver const active;
  device& d = the_device();
  std::lock_guard const lock(d.alone);
  fence("a free");
  char* const begin = static_cast<char*>(memory);
  allocation& a = d.allocations.at(begin);
  a.freed = true;
  d.in_use -= a.closed_bytes;
  ::mmap(begin - page, page + a.closed_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
         0);
}

void limit_memory(std::size_t bytes) {
  std::lock_guard const lock(the_device().alone);
  the_device().limit = bytes;
}

std::size_t bytes_in_use(char const* label) {
  std::lock_guard const lock(the_device().alone);
  std::size_t sum = 0;
  for (auto const& [at, a] : the_device().allocations)
    if (!a.freed && a.label == label) sum += a.bytes;
  return sum;
}

void look_for_host_addresses(void const* functor, std::size_t bytes, char const* name) {
  device const& d = the_device();
  char const here = 0;
  char const* const begin = static_cast<char const*>(functor);
  for (std::size_t i = 0; i + sizeof(char*) <= bytes; i += sizeof(char*)) {
    char const* word;
    std::memcpy(&word, begin + i, sizeof word);
    if ((reinterpret_cast<std::size_t>(word) & 1) != 0) continue;  // a view's owner, marked as not counted
    char const* what = nullptr;
    if (word > &here && word < top_of_stack()) what = "the stack";
    if (d.heap != nullptr && word >= d.heap && word < static_cast<char const*>(::sbrk(0))) what = "the heap";
    if (word >= &__executable_start && word < &_end) what = "a variable or a function of the host";
    if (what == nullptr) continue;
    return report(std::string("a functor has an address of ") + what + " at byte " + std::to_string(i) + ": " + name);
  }
}

}  // namespace sham
