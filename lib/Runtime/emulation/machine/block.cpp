#include "emulation/machine/block.h"

#include "emulation/machine/fault.h"
#include "emulation/machine/fiber.h"
#include "emulation/machine/matrix.h"
#include "emulation/machine/random.h"
#include "emulation/machine/warpgroup.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

// The section that holds the shared memory of kernels; see machine/words.h.
extern "C" {
extern char __start_gpuopt_shared[] __attribute__((weak));
extern char __stop_gpuopt_shared[] __attribute__((weak));
}

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace gpuopt::emulation {

bool is_inside_kernel = false;

namespace {

enum class State { Ready, AtBarrier, AtExchange, Left };

struct LateCopy {
  void *to;
  const void *from;
  size_t bytes, read;
};
using CopyGroup = std::vector<LateCopy>;
using ProductGroup = std::vector<std::shared_ptr<WarpgroupProduct>>;

struct Thread {
  Fiber fiber;
  State state = State::Left;
  uint3 index{};
  Exchange exchange;
  uint64_t received = 0;
  const char *file = nullptr; // of the barrier that it waits at
  int line = 0;
  CopyGroup open_group;
  std::deque<CopyGroup> closed_groups;
  bool hides_copies = false; // from products of warpgroups
  bool is_ahead = false;     // of a barrier, with copies that it has shown
  bool has_arrived = false;  // for them
  ProductGroup open_products;
  std::deque<ProductGroup> closed_products;
};

class Block {
public:
  void run(const std::function<void()> &kernel);

  Thread &running() { return *threads[size_t(current)]; }
  int lane() const { return current % kWarpSize; }
  std::string name_of_running() const { return name(current); }
  void suspend() { running().fiber.suspend(); }

private:
  static void enter(void *block);
  void start_threads();
  void start_thread(int number);
  void open_warp(int warp);
  bool advance(int warp);
  void resume(int number);
  bool release_exchanges(int warp);
  bool is_complete(int first, const Exchange &wanted) const;
  void serve(int first, const Exchange &wanted);
  void serve_matrix(int first, const Exchange &wanted);
  bool release_product(int warp);
  void begin_product(int first);
  uint64_t answer(int first, const Exchange &wanted) const;
  void release_barrier();
  void report_stuck() const;
  void report_other_barrier(int one, int other) const;
  std::string name(int number) const;
  std::string barrier_of(int number) const;

  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<int> open; // warps that can run
  std::vector<int> order;
  const std::function<void()> *kernel = nullptr;
  int count = 0, alive = 0, current = 0;
};

// A block that has ended with a Fault leaves fibers in the middle of a kernel,
// so the next one gets new ones.
std::unique_ptr<Block> the_block;

uint3 index_in(dim3 size, unsigned number) {
  return {number % size.x, number / size.x % size.y, number / size.x / size.y};
}

std::string coordinates(uint3 at, dim3 size) {
  std::string text = std::to_string(at.x);
  if (size.y * size.z > 1)
    text += ", " + std::to_string(at.y) + ", " + std::to_string(at.z);
  return text;
}

bool is_same_barrier(const Thread &a, const Thread &b) {
  return a.line == b.line && strcmp(a.file, b.file) == 0;
}

void Block::enter(void *block) { (*static_cast<Block *>(block)->kernel)(); }

void Block::start_threads() {
  while (int(threads.size()) < count)
    threads.push_back(std::make_unique<Thread>());
  for (int i = 0; i < count; i++)
    start_thread(i);
  open.clear();
  for (int warp = 0; warp * kWarpSize < count; warp++)
    open.push_back(warp);
}

void Block::start_thread(int number) {
  Thread &thread = *threads[size_t(number)];
  thread.fiber.start(enter, this, number);
  thread.state = State::Ready;
  thread.index = index_in(blockDim, unsigned(number));
  thread.open_group.clear();
  thread.closed_groups.clear();
  thread.hides_copies = thread.is_ahead = thread.has_arrived = false;
  thread.open_products.clear();
  thread.closed_products.clear();
}

void Block::run(const std::function<void()> &new_kernel) {
  kernel = &new_kernel;
  count = int(blockDim.x * blockDim.y * blockDim.z);
  start_threads();
  for (alive = count; alive > 0;) {
    while (!open.empty()) {
      const size_t pick = machine_random().below(open.size());
      if (!advance(open[pick]))
        open.erase(open.begin() + ptrdiff_t(pick));
    }
    if (alive > 0)
      release_barrier();
  }
}

// Runs each lane that can run as far as possible; returns whether any can
// continue.
bool Block::advance(int warp) {
  const int first = warp * kWarpSize, last = std::min(first + kWarpSize, count);
  order.clear();
  for (int i = first; i < last; i++)
    if (threads[size_t(i)]->state == State::Ready)
      order.push_back(i);
  machine_random().shuffle(order);
  for (int i : order)
    resume(i);
  return release_exchanges(warp);
}

void Block::resume(int number) {
  current = number;
  Thread &thread = running();
  threadIdx = thread.index;
  is_inside_kernel = true;
  thread.fiber.resume();
  is_inside_kernel = false;
  if (thread.state == State::Ready) { // it does not wait, so it has returned
    thread.state = State::Left;
    alive--;
  }
}

bool Block::release_exchanges(int warp) {
  const int first = warp * kWarpSize, last = std::min(first + kWarpSize, count);
  bool any = release_product(warp);
  for (int i = first; i < last; i++) {
    const Thread &thread = *threads[size_t(i)];
    if (thread.state == State::AtExchange &&
        thread.exchange.kind != ExchangeKind::WarpgroupProduct &&
        is_complete(first, thread.exchange)) {
      serve(first, thread.exchange);
      any = true;
    }
  }
  return any;
}

bool Block::is_complete(int first, const Exchange &wanted) const {
  for (int lane = 0; lane < kWarpSize; lane++) {
    if (!(wanted.mask >> lane & 1))
      continue;
    if (first + lane >= count)
      return false;
    const Thread &other = *threads[size_t(first + lane)];
    if (other.state != State::AtExchange ||
        other.exchange.mask != wanted.mask ||
        other.exchange.kind != wanted.kind ||
        !is_same_word(other.exchange.matrix, wanted.matrix))
      return false;
  }
  return true;
}

// Answers all lanes before any of them can continue.
void Block::serve(int first, const Exchange &wanted) {
  if (wanted.kind == ExchangeKind::Matrix)
    serve_matrix(first, wanted);
  const uint64_t mask = wanted.mask;
  for (int lane = 0; lane < kWarpSize; lane++)
    if (mask >> lane & 1) {
      Thread &thread = *threads[size_t(first + lane)];
      thread.received = answer(first, thread.exchange);
      thread.state = State::Ready;
    }
}

// Instructions on matrices need a warp of 32 lanes, all of which take part.
void Block::serve_matrix(int first, const Exchange &wanted) {
  if (kWarpSize != 32 || wanted.mask != 0xffffffffu)
    throw Fault("a product of matrices needs all lanes of a warp of 32");
  MatrixLanes lanes;
  for (int lane = 0; lane < 32; lane++)
    lanes[lane] = threads[size_t(first + lane)]->exchange.matrix;
  run_matrix_word(lanes);
}

// Begins the product of a warp's group if all threads of the group are there.
// The group's other warps, which have waited for this one, can run again.
bool Block::release_product(int warp) {
  constexpr int kWarps = kWarpgroupThreads / kWarpSize;
  const int first = warp / kWarps * kWarpgroupThreads;
  if (first + kWarpgroupThreads > count)
    return false;
  const Exchange &wanted = threads[size_t(first)]->exchange;
  for (int i = first; i < first + kWarpgroupThreads; i++) {
    const Thread &thread = *threads[size_t(i)];
    if (thread.state != State::AtExchange ||
        thread.exchange.kind != ExchangeKind::WarpgroupProduct ||
        !is_same_product(thread.exchange.product, wanted.product))
      return false;
  }
  begin_product(first);
  for (int other = first / kWarpSize; other < first / kWarpSize + kWarps;
       other++)
    if (std::find(open.begin(), open.end(), other) == open.end())
      open.push_back(other);
  return true;
}

void Block::begin_product(int first) {
  for (int i = 0; i < count; i++)
    if (threads[size_t(i)]->hides_copies)
      throw Fault(name(i) +
                  " has copied to shared memory what it has not shown "
                  "to products of warpgroups, when one begins");
  // Those of other warpgroups may wait at the barrier already.
  for (int i = first; i < first + kWarpgroupThreads; i++)
    if (threads[size_t(i)]->is_ahead)
      throw Fault(name(i) +
                  " has copied to shared memory what other warps may read too "
                  "early: a product of warpgroups begins before a barrier");
  const WarpgroupOperands *operands[kWarpgroupThreads];
  ProductGroup earlier;
  const Thread &leader = *threads[size_t(first)];
  for (const ProductGroup &group : leader.closed_products)
    earlier.insert(earlier.end(), group.begin(), group.end());
  earlier.insert(earlier.end(), leader.open_products.begin(),
                 leader.open_products.end());
  for (int i = 0; i < kWarpgroupThreads; i++) {
    if (!threads[size_t(first + i)]->has_arrived)
      throw Fault(name(first + i) +
                  " begins a product of its warpgroup, but has "
                  "not said that its registers are ready");
    operands[i] = threads[size_t(first + i)]->exchange.product;
  }
  const auto product = std::make_shared<WarpgroupProduct>(operands, earlier);
  for (int i = first; i < first + kWarpgroupThreads; i++) {
    threads[size_t(i)]->open_products.push_back(product);
    threads[size_t(i)]->state = State::Ready;
  }
}

uint64_t Block::answer(int first, const Exchange &wanted) const {
  uint64_t votes = 0;
  switch (wanted.kind) {
  case ExchangeKind::Barrier:
  case ExchangeKind::Matrix:
  case ExchangeKind::WarpgroupProduct:
    return 0;
  case ExchangeKind::Shuffle:
    return threads[size_t(first + wanted.source)]->exchange.value;
  case ExchangeKind::Ballot:
    for (int lane = 0; lane < kWarpSize; lane++)
      if (wanted.mask >> lane & 1 &&
          threads[size_t(first + lane)]->exchange.value)
        votes |= uint64_t(1) << lane;
    return votes;
  }
  return 0;
}

// Runs when no warp can continue: then all threads must wait at one barrier.
void Block::release_barrier() {
  report_stuck();
  open.clear();
  for (int i = 0; i < count; i++) {
    threads[size_t(i)]->state = State::Ready;
    threads[size_t(i)]->is_ahead = false;
    if (i % kWarpSize == 0)
      open.push_back(i / kWarpSize);
  }
}

void Block::report_stuck() const {
  int waiting = -1, left = -1;
  for (int i = 0; i < count; i++) {
    const Thread &thread = *threads[size_t(i)];
    if (thread.state == State::AtExchange &&
        thread.exchange.kind == ExchangeKind::WarpgroupProduct)
      throw Fault(name(i) +
                  " waits for threads of its warpgroup that never come "
                  "to the same product");
    if (thread.state == State::AtExchange)
      throw Fault(name(i) + " waits for lanes of its warp that its mask names "
                            "and that never come");
    if (thread.state == State::Left)
      left = i;
    else if (waiting < 0)
      waiting = i;
    else if (!is_same_barrier(thread, *threads[size_t(waiting)]))
      report_other_barrier(i, waiting);
  }
  if (left >= 0)
    throw Fault(name(waiting) + " waits at " + barrier_of(waiting) + ", but " +
                name(left) + " has left the kernel");
}

void Block::report_other_barrier(int one, int other) const {
  throw Fault(name(one) + " waits at " + barrier_of(one) + ", but " +
              name(other) + " at another one, " + barrier_of(other));
}

std::string Block::barrier_of(int number) const {
  const Thread &thread = *threads[size_t(number)];
  return std::string("__syncthreads (") + thread.file + ":" +
         std::to_string(thread.line) + ")";
}

std::string Block::name(int number) const {
  return "block " + coordinates(blockIdx, gridDim) + ", thread " +
         coordinates(threads[size_t(number)]->index, blockDim);
}

// The largest block's dynamic shared memory. A smaller block gets its last
// bytes, so that an access past their end hits the page behind them.
constexpr size_t kPage = 4096;
constexpr size_t kDynamicPages = (kMostDynamicBytes + kPage - 1) / kPage;

char *end_of_dynamic_memory() {
  static char *const memory = [] {
    void *mapping =
        mmap(nullptr, (kDynamicPages + 1) * kPage, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
      throw std::bad_alloc();
    char *end = static_cast<char *>(mapping) + kDynamicPages * kPage;
    mprotect(end, kPage, PROT_NONE);
    return end;
  }();
  return memory;
}

size_t dynamic_bytes_of_block = 0;

// All bits set are NaN in each floating-point type.
void poison_shared_memory() {
  if (dynamic_bytes_of_block)
    memset(dynamic_memory(), 0xff, dynamic_bytes_of_block);
  if (__start_gpuopt_shared)
    memset(__start_gpuopt_shared, 0xff,
           size_t(__stop_gpuopt_shared - __start_gpuopt_shared));
}

void run_block(const std::function<void()> &kernel) {
  if (!the_block)
    the_block = std::make_unique<Block>();
  poison_shared_memory();
  try {
    the_block->run(kernel);
  } catch (...) {
    is_inside_kernel = false;
    the_block.reset();
    throw;
  }
}

} // namespace

char *dynamic_memory() {
  constexpr size_t kAlignment = 128;
  return end_of_dynamic_memory() -
         (dynamic_bytes_of_block + kAlignment - 1) / kAlignment * kAlignment;
}

void run_grid(dim3 grid, dim3 block, size_t dynamic_bytes,
              const std::function<void()> &kernel) {
  std::vector<unsigned> order(size_t(grid.x) * grid.y * grid.z);
  for (size_t i = 0; i < order.size(); i++)
    order[i] = unsigned(i);
  machine_random().shuffle(order);
  gridDim = grid;
  blockDim = block;
  dynamic_bytes_of_block = dynamic_bytes;
  for (unsigned number : order) {
    blockIdx = index_in(grid, number);
    run_block(kernel);
  }
}

void wait_for_block(const char *file, int line) {
  Thread &thread = the_block->running();
  thread.state = State::AtBarrier;
  thread.file = file;
  thread.line = line;
  the_block->suspend();
}

uint64_t exchange(const Exchange &mine) {
  Thread &thread = the_block->running();
  if (!(mine.mask >> the_block->lane() & 1))
    throw Fault(the_block->name_of_running() +
                " gives a mask that does not name its own lane");
  if (mine.kind == ExchangeKind::Shuffle && !(mine.mask >> mine.source & 1))
    throw Fault(the_block->name_of_running() + " reads lane " +
                std::to_string(mine.source) +
                " of its warp, which its mask does not name");
  thread.exchange = mine;
  thread.state = State::AtExchange;
  the_block->suspend();
  return thread.received;
}

int lane_in_warp() { return the_block->lane(); }

void refuse_misaligned(const void *address, size_t alignment) {
  throw Fault(
      (the_block ? the_block->name_of_running() : "the host") +
      " accesses a vector of " + std::to_string(alignment) +
      " bytes at an address that is " +
      std::to_string(reinterpret_cast<uintptr_t>(address) % alignment) +
      " bytes past a multiple of that; the program must give the vector "
      "an aligned place");
}

void copy_late(void *to, const void *from, size_t bytes, size_t read) {
  if (reinterpret_cast<uintptr_t>(to) % bytes != 0 ||
      reinterpret_cast<uintptr_t>(from) % bytes != 0)
    throw Fault(the_block->name_of_running() + " copies " +
                std::to_string(bytes) +
                " bytes to shared memory with an address that is no multiple "
                "of that");
  memset(to, 0xff, bytes);
  the_block->running().open_group.push_back({to, from, bytes, read});
}

void close_copy_group() {
  Thread &thread = the_block->running();
  thread.closed_groups.push_back(std::move(thread.open_group));
  thread.open_group.clear();
}

void wait_for_copy_groups(size_t pending) {
  std::deque<CopyGroup> &groups = the_block->running().closed_groups;
  for (; groups.size() > pending; groups.pop_front())
    for (const LateCopy &copy : groups.front()) {
      memset(copy.to, 0, copy.bytes);
      memcpy(copy.to, copy.from, copy.read);
      the_block->running().hides_copies = true;
    }
}

void arrive_for_products() { the_block->running().has_arrived = true; }

void begin_warpgroup_product(const WarpgroupOperands &mine) {
  Thread &thread = the_block->running();
  thread.exchange = {};
  thread.exchange.kind = ExchangeKind::WarpgroupProduct;
  thread.exchange.product = &mine;
  thread.state = State::AtExchange;
  the_block->suspend();
}

void close_product_group() {
  Thread &thread = the_block->running();
  thread.closed_products.push_back(std::move(thread.open_products));
  thread.open_products.clear();
}

void wait_for_product_groups(size_t pending) {
  Thread &thread = the_block->running();
  std::deque<ProductGroup> &groups = thread.closed_products;
  for (; groups.size() > pending; groups.pop_front())
    for (const auto &product : groups.front())
      product->finish(dynamic_memory());
  thread.has_arrived = false;
}

void show_copies_to_products() {
  Thread &thread = the_block->running();
  thread.is_ahead |= thread.hides_copies;
  thread.hides_copies = false;
}

} // namespace gpuopt::emulation
