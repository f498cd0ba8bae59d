// The calls of a step. Each takes the context once, and so tells where it
// begins while they are timed; nothing else of a step knows of that.
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
  // A call, since a step has thousands of them, on which compilers would spend
  // more time than on everything else.
  [[gnu::noinline]] operator Context &() const {
    if (context.timestamps)
      context.timestamps->add(context);
    return context;
  }

private:
  Context &context;
};

} // namespace gpuopt
