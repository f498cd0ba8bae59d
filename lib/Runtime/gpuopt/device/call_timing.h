// The calls of a step. A call converts this object to the context once, which
// tells an observer of it, as while calls are timed. No other code of a step
// takes part in that.
//
//   const Calls ctx{context};
//   gemm(ctx, ...);
//   launch(ctx, ...);
#pragma once

#include "gpuopt/device/device.h"

namespace gpuopt {

class Calls {
public:
  explicit Calls(Context &context) : context(context) {}
  // This is not inlined, because a step has thousands of calls, and compilers
  // would spend more time on them than on everything else.
  [[gnu::noinline]] operator Context &() const {
    if (context.observer)
      context.observer->begin_call(context);
    return context;
  }

private:
  Context &context;
};

// Tells an observer of the calls in its scope, after one that there is already.
class ObserverScope {
public:
  ObserverScope(Context &ctx, CallObserver &observer)
      : ctx(ctx), outer(ctx.observer),
        both(outer ? *outer : observer, observer) {
    ctx.observer = outer ? static_cast<CallObserver *>(&both) : &observer;
  }
  ~ObserverScope() { ctx.observer = outer; }
  ObserverScope(const ObserverScope &) = delete;
  ObserverScope &operator=(const ObserverScope &) = delete;

private:
  Context &ctx;
  CallObserver *const outer; // or null
  TwoObservers both;
};

} // namespace gpuopt
