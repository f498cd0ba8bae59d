// The calls of a step. A call converts this object to the context once, which
// marks its beginning while calls are timed. No other code of a step takes part
// in that.
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
    if (context.timestamps)
      context.timestamps->add(context);
    return context;
  }

private:
  Context &context;
};

} // namespace gpuopt
