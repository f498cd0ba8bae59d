#include "emulation/machine/fiber.h"

#include <sys/mman.h>

#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
// AddressSanitizer has to be told of each change of stacks; without it, these
// functions do nothing.
static void __sanitizer_start_switch_fiber(void **, const void *, size_t) {}
static void __sanitizer_finish_switch_fiber(void *, const void **, size_t *) {}
static void __asan_unpoison_memory_region(const volatile void *, size_t) {}
#endif

namespace gpuopt::emulation {

namespace context = boost::context::detail;

constexpr size_t kStackBytes = size_t(256) << 10;
// Stacks at equal distances would compete for a few lines of the cache.
constexpr size_t kColours = 61, kColourBytes = 192;

// Behind the end of a stack lies a page that nobody may touch: a kernel that
// needs more ends the program.
constexpr size_t kGuardBytes = 4096;

static char *map_stack() {
  void *memory =
      mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  mprotect(memory, kGuardBytes, PROT_NONE);
  // A fiber that was stopped by a Fault may have left its frames here.
  __asan_unpoison_memory_region(static_cast<char *>(memory) + kGuardBytes,
                                kStackBytes);
  return static_cast<char *>(memory) + kGuardBytes;
}

Fiber::~Fiber() {
  if (memory)
    munmap(memory - kGuardBytes, kGuardBytes + kStackBytes);
}

void Fiber::start(Body new_body, void *new_argument, int number) {
  if (!memory)
    memory = map_stack();
  size = kStackBytes - size_t(number) % kColours * kColourBytes;
  body = new_body;
  argument = new_argument;
  fake_stack = nullptr;
  inside = context::make_fcontext(memory + size, size, enter);
}

void Fiber::enter(context::transfer_t from) {
  Fiber &self = *static_cast<Fiber *>(from.data);
  self.outside = from.fctx;
  __sanitizer_finish_switch_fiber(nullptr, &self.outer_memory,
                                  &self.outer_size);
  try {
    self.body(self.argument);
  } catch (...) {
    self.failure = std::current_exception();
  }
  self.leave(true);
}

void Fiber::leave(bool for_good) {
  __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack, outer_memory,
                                 outer_size);
  outside = context::jump_fcontext(outside, nullptr).fctx;
  __sanitizer_finish_switch_fiber(fake_stack, &outer_memory, &outer_size);
}

void Fiber::suspend() { leave(false); }

void Fiber::resume() {
  void *outer_fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&outer_fake_stack, memory, size);
  inside = context::jump_fcontext(inside, this).fctx;
  __sanitizer_finish_switch_fiber(outer_fake_stack, nullptr, nullptr);
  if (failure)
    std::rethrow_exception(std::exchange(failure, nullptr));
}

} // namespace gpuopt::emulation
