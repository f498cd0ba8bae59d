// The calls of a step. Each takes the context once, and so tells where it
// begins while they are timed; nothing else of a step knows of that.
//
//   const Calls ctx{context};
//   gemm(ctx, ...);
//   launch(ctx, ...);
#pragma once

#include "gpuopt/device.h"

namespace gpuopt {

class Calls {
public:
  explicit Calls(Context &context) : context(context) {}
  operator Context &() const {
    if (context.moments)
      context.moments->add(context);
    return context;
  }

private:
  Context &context;
};

} // namespace gpuopt
