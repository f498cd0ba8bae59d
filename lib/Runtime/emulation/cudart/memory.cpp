#include "emulation/cudart/memory.h"

#include "emulation/machine/block.h"
#include "emulation/machine/fault.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>

namespace gpuopt::emulation {

constexpr size_t kPage = 4096;
// The alignment that cudaMalloc promises. No more is given, so that nobody
// relies on more.
constexpr size_t kAlignment = 256;

static size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

#if !defined(__SANITIZE_ADDRESS__)

static const Memory *watched = nullptr; // for the handler below

static void describe_place(char *text, size_t size) {
  if (!is_inside_kernel)
    snprintf(text, size, "the host, or a library's call,");
  else
    snprintf(text, size, "block %u, thread %u", blockIdx.x, threadIdx.x);
}

static const char *what_is_wrong(const Allocation &a, const char *address) {
  if (address >= a.data + a.bytes)
    return ", past its end";
  return a.kind == MemoryKind::Device && !is_inside_kernel ? " of the device"
                                                           : "";
}

static void describe_address(char *text, size_t size, const char *address) {
  if (const Allocation *a = watched->find_mapping(address))
    snprintf(text, size, "byte %zd of an allocation of %zu bytes%s",
             ptrdiff_t(address - a->data), a->bytes,
             what_is_wrong(*a, address));
  else
    snprintf(text, size, "address %p, where nothing was allocated",
             static_cast<const void *>(address));
}

static void report_access(int, siginfo_t *info, void *) {
  char who[80], what[160];
  describe_place(who, sizeof who);
  // The processor tells no address where it has refused one without a look.
  if (info->si_code == SI_KERNEL)
    snprintf(what, sizeof what, "a misaligned or non-canonical address");
  else
    describe_address(what, sizeof what, static_cast<char *>(info->si_addr));
  fprintf(stderr, "emulation: %s touches %s\n", who, what);
  _exit(1);
}

static void watch(const Memory &memory) {
  watched = &memory;
  struct sigaction action{};
  action.sa_sigaction = report_access;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}

#else
static void watch(const Memory &) {}
#endif

Memory::Memory() { watch(*this); }

void *Memory::allocate(MemoryKind kind, size_t bytes) {
  if (kind == MemoryKind::Device && bytes > free_bytes())
    return nullptr;
  Allocation a;
  a.bytes = bytes;
  a.kind = kind;
  const size_t whole = round_up(round_up(bytes, kAlignment), kPage);
  a.mapped_bytes = whole + kPage;
  void *mapping = mmap(nullptr, a.mapped_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return nullptr;
  a.mapping = static_cast<char *>(mapping);
  mprotect(a.mapping + whole, kPage, PROT_NONE);
  a.data = a.mapping + whole - round_up(bytes, kAlignment);
  memset(a.mapping, 0xff, whole);
  if (kind == MemoryKind::Device) {
    device_bytes += bytes;
    mprotect(a.mapping, whole, PROT_NONE);
  }
  return by_start.emplace(a.data, a).first->second.data;
}

bool Memory::release(MemoryKind kind, void *data) {
  auto found = by_start.find(static_cast<char *>(data));
  if (found == by_start.end() || found->second.kind != kind)
    return false;
  if (kind == MemoryKind::Device)
    device_bytes -= found->second.bytes;
  munmap(found->second.mapping, found->second.mapped_bytes);
  by_start.erase(found);
  return true;
}

const Allocation *Memory::find_mapping(const void *address) const {
  auto next = by_start.upper_bound(static_cast<const char *>(address));
  if (next == by_start.begin())
    return nullptr;
  const Allocation &a = std::prev(next)->second;
  return address < a.mapping + a.mapped_bytes ? &a : nullptr;
}

const Allocation *Memory::find(const void *address) const {
  const Allocation *a = find_mapping(address);
  return a && address < a->data + a->bytes ? a : nullptr;
}

void Memory::protect(int protection) {
  for (const auto &[start, a] : by_start)
    if (a.kind == MemoryKind::Device)
      mprotect(a.mapping, a.mapped_bytes - kPage, protection);
}
void Memory::open() { protect(PROT_READ | PROT_WRITE); }
void Memory::close() { protect(PROT_NONE); }

void expect_on_device(const Memory &memory, const void *address, size_t bytes,
                      const std::string &what) {
  const Allocation *a = memory.find(address);
  if (!a || a->kind != MemoryKind::Device)
    throw Fault(what + " is not memory of the device");
  const size_t offset = size_t(static_cast<const char *>(address) - a->data);
  if (offset + bytes > a->bytes)
    throw Fault(what + " reaches " + std::to_string(offset + bytes - a->bytes) +
                " bytes past the end of an allocation of " +
                std::to_string(a->bytes) + " bytes");
}

} // namespace gpuopt::emulation
