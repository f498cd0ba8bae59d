// What is told of each call of a step, before it runs. Nothing is told unless
// Context::observer is set: a call tests one pointer.
#pragma once

namespace gpuopt {

struct Context;

class CallObserver {
public:
  virtual ~CallObserver() = default;
  virtual void begin_call(Context &) = 0;
};

// Tells two observers of the same calls.
class TwoObservers : public CallObserver {
public:
  TwoObservers(CallObserver &first, CallObserver &second)
      : first(first), second(second) {}
  void begin_call(Context &ctx) override {
    first.begin_call(ctx);
    second.begin_call(ctx);
  }

private:
  CallObserver &first, &second;
};

} // namespace gpuopt
