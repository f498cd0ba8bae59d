// Batches, prepared ahead of the step by threads of their own. Which samples a
// batch holds is a function of (seed, epoch, index) alone, so that it is the
// same for any number of threads.
#pragma once

#include "gpuopt/data/cast.h"
#include "gpuopt/data/draws.h"
#include "gpuopt/data/indices.h"
#include "gpuopt/data/mapped_reads.h"
#include "gpuopt/data/mix.h"
#include "gpuopt/data/worker_tuner.h"
#include "gpuopt/device/background_cpu_time.h"
#include "gpuopt/device/cpu_quota.h"
#include "gpuopt/device/tracer.h"
#include "gpuopt/program/program.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace gpuopt {

// A permutation of [0, n) that is computed entry by entry: a Feistel network on
// the next power of four, which is applied until the result is inside (Black
// and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
class Permutation {
public:
  Permutation(uint64_t seed, uint64_t epoch, int64_t n) : n(uint64_t(n)) {
    while ((uint64_t(1) << (2 * half)) < this->n)
      half++;
    for (uint64_t round = 0; round < kRounds; round++)
      keys[round] =
          mix_bits(mix_bits(seed) ^ mix_bits(epoch * kRounds + round + 1));
  }
  int64_t operator()(int64_t index) const {
    uint64_t x = uint64_t(index);
    do
      x = encrypt(x);
    while (x >= n);
    return int64_t(x);
  }

private:
  static constexpr uint64_t kRounds = 6;
  uint64_t encrypt(uint64_t x) const {
    const uint64_t mask = (uint64_t(1) << half) - 1;
    uint64_t left = x >> half, right = x & mask;
    for (uint64_t key : keys) {
      const uint64_t next = left ^ (mix_bits(right ^ key) & mask);
      left = right;
      right = next;
    }
    return left << half | right;
  }
  uint64_t n, keys[kRounds];
  int half = 1;
};

// A piece of the program's memory.
struct DeviceMemory {
  char *data = nullptr;
  size_t bytes = 0;
};

struct LoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = true;
  uint64_t seed = 42;
  // 0: whoever asks for a batch prepares it; kAutoWorkers: as many as the step
  // needs.
  int num_workers = 2;
  int prefetch_factor = 2;        // batches ahead, for each worker
  bool pads_last = false;         // see Loader::padding; not with shuffle
  int64_t first_batch = 0;        // of all epochs; those before it are left out
  int64_t last_batch = INT64_MAX; // those from it on are not asked for
  MixOptions mix = {};            // of samples with one another
  bool skips_bad_records = false;
  int64_t max_bad_records = 0; // more of them, each counted once, are an error
  Tracer *tracer = nullptr;    // what the workers do, while it is recorded
};

class Loader {
public:
  // Expects one source for each input of the program, in order. On a device
  // with memory of its own, batches go through `staging`.
  Loader(Context &ctx, const Program &program, DataSources all,
         LoaderOptions opt, DeviceMemory staging = {})
      : ctx(ctx), program(program), sources(std::move(all)), options(opt) {
    check_samples(sources, options.batch_size, options.pads_last);
    check_mix(program.inputs, program.batch_size, options.mix);
    taken = delivered = options.first_batch;
    samples = sources.empty() ? 0 : sources[0]->samples();
    for (const auto &source : sources) {
      offsets.push_back(batch_bytes);
      const size_t bytes =
          size_t(source->elements * options.batch_size) * size_of(source->type);
      batch_bytes += (bytes + 255) / 256 * 256;
    }
    if (options.num_workers == kAutoWorkers)
      tuner = WorkerTuner(cores_within_quota(), options.prefetch_factor);
    if (!kStagingIsDevice)
      place_copies(staging);
    use_workers(options.num_workers == kAutoWorkers ? tuner.workers()
                                                    : options.num_workers);
  }
  ~Loader() { stop(); }

  int64_t sample_count() const { return samples; }
  // Returns how many threads prepare batches, now.
  int num_workers() const { return active; }

  // Says that other work has come between the last batch and the next one, as
  // training does between two validations: that was no step of the batch.
  void begin_anew() { follows_step = false; }

  // Returns how many threads --num-workers auto has come to, once; else
  // nothing.
  std::string take_news() {
    if (!tuner.has_settled() || tuner.workers() == 0 || has_told_workers)
      return "";
    has_told_workers = true;
    char share[32];
    snprintf(share, sizeof share, "%.0f %%", 100 * tuner.waiting_share());
    return "--num-workers auto: " + std::to_string(active) +
           (active == 1 ? " thread prepares" : " threads prepare") +
           " batches; the step waits for data for " + share + " of its time";
  }

  // Without padding, an epoch leaves out the samples that do not fill a batch.
  // If samples are shuffled, these are different ones in each epoch.
  int64_t batches_per_epoch() const {
    return samples / options.batch_size + (padding() > 0 ? 2 : 0);
  }
  // With `pads_last`, returns how many copies of the last sample fill the last
  // batch. In that case, the epoch has one more batch, of this sample alone:
  // its result tells how much the copies have added.
  int64_t padding() const {
    const int64_t rest = samples % options.batch_size;
    return options.pads_last && rest > 0 ? options.batch_size - rest : 0;
  }

  // Returns " (192 of 200 in an epoch)" if some samples are left out.
  std::string describe_epoch() const {
    const int64_t used = samples / options.batch_size * options.batch_size;
    return used == samples || options.pads_last
               ? ""
               : " (" + std::to_string(used) + " of " +
                     std::to_string(samples) + " in an epoch)";
  }

  // Returns where a sample of the batch that was delivered last lies, in the
  // data of an input; empty if it is not known, as of samples that are mixed.
  std::string place_of(size_t input, int64_t place) const {
    if (options.mix.are_given() || delivered_samples.empty())
      return "";
    return sources[input]->place(delivered_samples[size_t(place)]);
  }

  // Puts the next batch into the program's inputs; returns the milliseconds
  // that the step had to wait for it.
  double deliver(char *memory) {
    const auto start = Clock::now();
    if (active == 0)
      prepare(take_batch(), delivered);
    PreparedBatch &prepared = wait_for_batch();
    tell_bad_records(prepared);
    if (!prepared.problem.empty())
      throw Error(prepared.problem);
    const double waited = milliseconds(start, Clock::now());
    put_into_inputs(prepared, delivered, memory);
    {
      const std::lock_guard<std::mutex> lock(mutex);
      unused.push_back(&prepared);
      places.erase(delivered++);
    }
    changed.notify_all();
    if (follows_step && tuner.batch(waited, milliseconds(last_delivery, start)))
      use_workers(tuner.workers());
    follows_step = true;
    last_delivery = Clock::now();
    return waited;
  }

  // Puts an earlier batch into the program's inputs again: `back` is 1 for the
  // one that was delivered last, 2 for the one before it. Its samples are read
  // again, and place_of is of this batch from then on.
  void deliver_again(int64_t back, char *memory) {
    if (!again.staging)
      again.staging = ctx.allocate_staging(batch_bytes);
    again.bad_records.clear();
    const int64_t batch = delivered - back;
    fill(again, batch);
    // It may take the place of the next one, which is copied again then.
    copied = -1;
    put_into_inputs(again, batch, memory);
    copied = -1;
  }

  // Starts the copy of the next batch to the device if the batch is ready, so
  // that the copy overlaps with the step that was just launched.
  void prefetch() {
    if (kStagingIsDevice)
      return;
    PreparedBatch *prepared = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!is_ready(delivered) || !places.at(delivered)->problem.empty())
        return;
      prepared = places.at(delivered);
    }
    start_copy(*prepared, delivered);
  }

private:
  using Clock = std::chrono::steady_clock;
  static double milliseconds(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
  }

  struct BadSample {
    int64_t sample;
    std::string problem;
  };
  struct PreparedBatch {
    char *staging = nullptr;
    int64_t ready = -1;                 // the batch that lies here
    std::vector<int64_t> samples;       // of which it is
    std::string problem;                // why the batch is not there
    std::vector<BadSample> bad_records; // that others have replaced
    Event copied;
  };

  // How many batches may be prepared ahead.
  int64_t ahead() const {
    return std::max(1, active * options.prefetch_factor);
  }
  // The mutex is held.
  bool is_ready(int64_t batch) const {
    const auto place = places.find(batch);
    return place != places.end() && place->second->ready == batch;
  }
  PreparedBatch &wait_for_batch() {
    const TraceSpan span(options.tracer, "wait for batch", "trainer");
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return is_ready(delivered); });
    return *places.at(delivered);
  }
  // Returns where the next batch will be prepared. The mutex is held, if there
  // are workers.
  PreparedBatch &take_batch() {
    PreparedBatch *prepared = unused.back();
    unused.pop_back();
    return *(places[taken++] = prepared);
  }

  // Lets a number of workers run. Fewer than before leave the others asleep.
  void use_workers(int count) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      active = count;
      while (int64_t(ring.size()) < ahead()) {
        ring.emplace_back().staging = ctx.allocate_staging(batch_bytes);
        unused.push_back(&ring.back());
      }
    }
    changed.notify_all();
    start_workers(count);
  }

  // A batch on the device.
  struct Copy {
    char *memory = nullptr;
    Event used;
  };
  Copy &copy_of(int64_t batch) { return copies[size_t(batch) % copies_count]; }

  // Places two copies, or one if the files' types are wider than the program's.
  void place_copies(DeviceMemory staging) {
    if (batch_bytes == 0)
      return;
    copies_count = std::min<size_t>(2, staging.bytes / batch_bytes);
    if (copies_count == 0) {
      copies_count = 2;
      staging.data = ctx.allocate_uncounted(2 * batch_bytes);
    }
    for (size_t i = 0; i < copies_count; i++)
      copies[i].memory = staging.data + i * batch_bytes;
  }

  void put_into_inputs(PreparedBatch &prepared, int64_t batch, char *memory) {
    const TraceSpan span(options.tracer, "put batch into inputs", "trainer");
    const char *from = prepared.staging;
    if (!kStagingIsDevice) {
      start_copy(prepared, batch);
      prepared.copied.wait(ctx);
      from = copy_of(batch).memory;
    }
    for (size_t i = 0; i < sources.size(); i++) {
      const TensorInfo &tensor = program.inputs.data[i].tensor;
      char *to = memory + tensor.offset;
      if (sources[i]->gives_classes)
        spread_classes(ctx, sources[i]->type, from + offsets[i], to, tensor);
      else if (sources[i]->scale)
        scale_pixels(ctx, from + offsets[i], tensor.type, to, tensor.elements(),
                     *sources[i]->scale);
      else
        cast_input(ctx, sources[i]->type, from + offsets[i], tensor.type, to,
                   tensor.elements());
    }
    if (options.mix.are_given())
      mix(memory, batch);
    if (!kStagingIsDevice) {
      copy_of(batch).used.record(ctx);
      prepared.copied.synchronize(); // before a worker fills the batch again
    }
    delivered_samples.swap(prepared.samples);
  }

  // It does not matter which worker prepares a batch, so if the system allows
  // fewer threads, fewer do.
  void start_workers(int count) {
    try {
      while (int(workers.size()) < count)
        workers.emplace_back(
            [this, number = int(workers.size())] { work(number); });
    } catch (const std::system_error &error) {
      if (workers.empty())
        throw Error(std::string("cannot start a thread to prepare batches: ") +
                    error.what());
      fprintf(stderr,
              "%s: warning: only %zu of %d --num-workers could be started: "
              "%s\n",
              program.name, workers.size(), count, error.what());
    }
  }
  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    for (std::thread &worker : workers)
      worker.join();
  }

  // Starts the copy of a batch once, after the kernels that read the old
  // content.
  void start_copy(PreparedBatch &prepared, int64_t batch) {
    if (copied == batch)
      return;
    copied = batch;
    Copy &copy = copy_of(batch);
    copy.used.copy_waits(ctx);
    copy_from_staging(ctx, copy.memory, prepared.staging, batch_bytes);
    prepared.copied.record_copy(ctx);
  }

  // Workers are numbered; those from `active` on sleep.
  void work(int number) {
    BackgroundCpuTime::begin();
    for (;;) {
      int64_t batch;
      PreparedBatch *prepared;
      {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] {
          return stopping || (number < active && taken < delivered + ahead());
        });
        if (stopping || taken == options.last_batch)
          return;
        batch = taken;
        prepared = &take_batch();
      }
      prepare(*prepared, batch);
    }
  }

  void prepare(PreparedBatch &prepared, int64_t batch) {
    const TraceSpan span(options.tracer, "prepare batch",
                         options.num_workers != 0 ? "loader" : "trainer");
    std::string problem;
    prepared.bad_records.clear();
    try {
      fill(prepared, batch);
    } catch (const std::exception &error) {
      problem = error_text(error);
    }
    {
      const std::lock_guard<std::mutex> lock(mutex);
      prepared.problem = problem;
      prepared.ready = batch;
    }
    changed.notify_all();
  }

  void fill(PreparedBatch &prepared, int64_t batch) {
    const int64_t per_epoch = batches_per_epoch(), epoch = batch / per_epoch;
    const int64_t first = batch % per_epoch * options.batch_size;
    const Permutation order(options.seed, uint64_t(epoch), samples);
    prepared.samples.resize(size_t(options.batch_size));
    for (int64_t k = 0; k < options.batch_size; k++) {
      SampleDraw draw;
      draw.sample =
          options.shuffle ? order(first + k) : std::min(first + k, samples - 1);
      draw.seed = options.seed;
      // All validations transform a picture alike.
      draw.epoch = options.pads_last ? 0 : uint64_t(epoch);
      read_or_replace(prepared, draw, k);
      // Small samples take less time than it takes to count it.
      if (k % kSamplesPerCount == kSamplesPerCount - 1 ||
          k == options.batch_size - 1)
        BackgroundCpuTime::count();
    }
  }
  static constexpr int64_t kSamplesPerCount = 16;

  // What replaces a bad record is a function of (seed, epoch, sample, attempt).
  void read_or_replace(PreparedBatch &prepared, SampleDraw draw,
                       int64_t place) {
    constexpr uint64_t kMostAttempts = 100;
    const int64_t sample = draw.sample;
    for (uint64_t attempt = 1;; attempt++)
      try {
        read_sample(prepared, draw, place);
        prepared.samples[size_t(place)] = draw.sample;
        return;
      } catch (const BadRecord &problem) {
        if (!options.skips_bad_records || attempt == kMostAttempts)
          throw;
        prepared.bad_records.push_back({draw.sample, problem.what()});
        draw.sample = Draws(draw.seed, draw.epoch, uint64_t(sample), attempt)
                          .below(samples);
      }
  }

  void read_sample(PreparedBatch &prepared, const SampleDraw &draw,
                   int64_t place) {
    for (size_t i = 0; i < sources.size(); i++) {
      const DataSource &source = *sources[i];
      auto *to = reinterpret_cast<uint8_t *>(prepared.staging) + offsets[i] +
                 size_t(place) * source.sample_bytes();
      {
        const MappedReads reads(bytes_are_gone);
        source.read(draw, to);
      }
      if (bytes_are_gone)
        throw Error(source.place(draw.sample) +
                    " cannot be read: a file of the data was cut or written "
                    "again while this process reads it; leave the data as they "
                    "are until it has ended");
      const std::string problem =
          problem_of_indices(program.inputs.data[i], source, to, draw.sample);
      if (!problem.empty())
        throw BadRecord(problem);
    }
  }

  // Mixes the samples of the batch that has just been put into the inputs.
  void mix(char *memory, int64_t batch) {
    const int64_t per_epoch = batches_per_epoch();
    // Samples' draws have the numbers from 0 on.
    const uint64_t number = ~uint64_t(batch % per_epoch);
    mix_batch(ctx, memory, program.inputs, options.mix,
              Draws(options.seed, uint64_t(batch / per_epoch), number));
  }

  // Bad records are counted when their batch is used, so that the count does
  // not depend on how far ahead the workers are. A record counts once, however
  // often its sample comes: in each epoch, and as the padding of a validation.
  void tell_bad_records(const PreparedBatch &prepared) {
    for (const auto &[sample, problem] : prepared.bad_records) {
      if (!bad_samples.insert(sample).second)
        continue;
      const auto count = static_cast<long long>(bad_samples.size());
      if (count > options.max_bad_records)
        throw Error("more records are bad than --max-bad-records allows, " +
                    std::to_string(options.max_bad_records) + ": " + problem);
      fprintf(stderr,
              "%s: warning: skipped bad record %lld of at most %lld: %s\n",
              program.name, count,
              static_cast<long long>(options.max_bad_records), problem.c_str());
    }
  }

  Context &ctx;
  const Program &program;
  DataSources sources;
  LoaderOptions options;
  int64_t samples = 0;
  std::vector<int64_t> delivered_samples; // of the batch in the inputs
  size_t batch_bytes = 0;
  std::vector<size_t> offsets;
  std::deque<PreparedBatch> ring;
  PreparedBatch again;                       // of deliver_again
  std::vector<PreparedBatch *> unused;       // of the ring
  std::map<int64_t, PreparedBatch *> places; // of batches that were taken
  WorkerTuner tuner;
  int active = 0; // workers that may run
  Clock::time_point last_delivery;
  bool follows_step =
      false; // whether the last delivery was for the step before
  bool has_told_workers = false;
  Copy copies[2];
  size_t copies_count = 1;
  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable changed;
  int64_t taken = 0, delivered = 0;
  int64_t copied = -1;           // the last batch whose copy was started
  std::set<int64_t> bad_samples; // that were told
  std::atomic<bool> bytes_are_gone{false}; // of a file that is mapped
  bool stopping = false;
};

} // namespace gpuopt
