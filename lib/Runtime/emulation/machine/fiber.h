// A fiber: a function with a stack of its own that can stop anywhere and
// continue later. Each thread of an emulated block is one.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>
#include <exception>

namespace gpuopt::emulation {

class Fiber {
public:
  using Body = void (*)(void *argument);

  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  // Prepares to run `body` from its beginning at the next `resume`. Fibers
  // with different numbers have stacks that do not collide in the cache.
  void start(Body body, void *argument, int number);
  // Runs the fiber until it suspends itself or ends; what `body` throws is
  // thrown here.
  void resume();
  // Returns from within the fiber to where `resume` was called.
  void suspend();

private:
  static void enter(boost::context::detail::transfer_t from);
  void leave(bool for_good);

  char *memory = nullptr; // the lowest byte of the stack
  size_t size = 0;
  boost::context::detail::fcontext_t inside = nullptr, outside = nullptr;
  Body body = nullptr;
  void *argument = nullptr;
  std::exception_ptr failure;
  // AddressSanitizer's data on the stacks of both sides.
  void *fake_stack = nullptr;
  const void *outer_memory = nullptr;
  size_t outer_size = 0;
};

} // namespace gpuopt::emulation
