// Prepares batches as a trainer does, and says how fast; what they hold goes
// into a file if one is named.
//
// usage: read_batches BATCH COUNT WORKERS CHANNELS HEIGHT WIDTH OUT FLAG...
//   OUT    - for none; else each batch's numbers, then its labels of 64 bits
//   FLAG   --data=FILES of the pictures, or of arrays; --labels=FILES,
//          --transform=TRANSFORMS, --tokens=FILE (windows of WIDTH), --shuffle,
//          --first=BATCH: the first one, as where a run is resumed,
//          --skip-bad: another sample takes the place of a bad record,
//          --prepare-only: what a worker does for a batch, on this thread
//   WORKERS  -1: as many as keep the step from waiting
#include "gpuopt/data/loader.h"
#include "gpuopt/data/sources.h"

#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace gpuopt;

namespace {

struct Arguments {
  int64_t batch, count, workers, channels, height, width, first = 0;
  std::string out;
  DataFlags data;
  bool shuffle = false, prepare_only = false, skips_bad = false;

  Arguments(int argc, char **argv) {
    if (argc < 9)
      throw Error("usage: read_batches BATCH COUNT WORKERS CHANNELS HEIGHT "
                  "WIDTH OUT FLAG...");
    int64_t *const numbers[] = {&batch,    &count,  &workers,
                                &channels, &height, &width};
    for (int i = 0; i < 6; i++)
      *numbers[i] = strtoll(argv[i + 1], nullptr, 10);
    out = argv[7];
    for (int i = 8; i < argc; i++) {
      const std::string flag = argv[i], value = flag.substr(flag.find('=') + 1);
      if (flag.rfind("--data=", 0) == 0)
        data.add("--data", "x=" + value);
      else if (flag.rfind("--labels=", 0) == 0)
        data.labels = value;
      else if (flag.rfind("--transform=", 0) == 0)
        data.transform = value;
      else if (flag.rfind("--tokens=", 0) == 0)
        data.tokens = value;
      else if (flag.rfind("--first=", 0) == 0)
        first = strtoll(value.c_str(), nullptr, 10);
      else if (flag == "--skip-bad")
        skips_bad = true;
      else if (flag == "--shuffle")
        shuffle = true;
      else if (flag == "--prepare-only")
        prepare_only = true;
      else
        throw Error("there is no flag " + flag);
    }
  }
};

// Reads samples in random order and checks them; returns their bytes.
size_t prepare(const Arguments &a, const Table<InputInfo> &inputs,
               const DataSources &sources) {
  size_t bytes = 0;
  std::vector<std::vector<uint8_t>> batches;
  for (const auto &source : sources)
    batches.emplace_back(source->sample_bytes() * size_t(a.batch));
  const int64_t samples = sources[0]->samples();
  const Permutation order(42, 0, samples);
  for (int64_t i = 0; i < a.batch * a.count; i++)
    for (size_t k = 0; k < sources.size(); k++) {
      const DataSource &source = *sources[k];
      uint8_t *to =
          batches[k].data() + size_t(i % a.batch) * source.sample_bytes();
      const int64_t sample = order(i % samples);
      source.read({sample}, to);
      if (const std::string problem =
              problem_of_indices(inputs.data[k], source, to, sample);
          !problem.empty())
        throw Error(problem);
      bytes += source.sample_bytes();
    }
  return bytes;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double resident_mib() {
  long long total = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> total >> pages;
  return double(pages) * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

int run(const Arguments &a) {
  const bool is_tokens = !a.data.tokens.empty();
  InputInfo inputs[2];
  TensorInfo &x = inputs[0].tensor, &labels = inputs[1].tensor;
  x = is_tokens ? TensorInfo{"x", Type::I64, 2, {a.batch, a.width}, 0, 0}
                : TensorInfo{"x", Type::F32,
                             4,   {a.batch, a.channels, a.height, a.width},
                             0,   0};
  x.bytes = size_t(x.elements()) * size_of(x.type);
  labels =
      is_tokens
          ? TensorInfo{"labels", Type::I64, 2, {a.batch, a.width}, x.bytes, 0}
          : TensorInfo{"labels", Type::I64, 1, {a.batch}, x.bytes, 0};
  labels.bytes = size_t(labels.elements()) * 8;
  inputs[1].is_label = true;
  if (is_tokens)
    inputs[0].index_limit = inputs[1].index_limit = 65536;
  Program program{};
  program.name = "read_batches";
  program.inputs = inputs;
  LoaderOptions options;
  options.batch_size = a.batch;
  options.shuffle = a.shuffle;
  options.num_workers = a.workers < 0 ? kAutoWorkers : int(a.workers);
  options.first_batch = a.first;
  options.skips_bad_records = a.skips_bad;
  options.max_bad_records = 100;
  Context ctx(1);
  DataSources sources = SourceOpener(inputs, a.data, "uint16", "--").open();
  if (a.prepare_only) {
    const auto start = Clock::now();
    const size_t bytes = prepare(a, inputs, sources);
    printf("%.6f seconds for %zu bytes\n", seconds_since(start), bytes);
    return 0;
  }
  Loader loader(ctx, program, std::move(sources), options);
  std::vector<char> memory(x.bytes + labels.bytes);
  std::ofstream out;
  if (a.out != "-")
    out.open(a.out, std::ios::binary);
  const auto start = Clock::now();
  double resident = 0;
  for (int64_t i = 0; i < a.count; i++) {
    if (i == (a.count + 99) / 100)
      resident = resident_mib();
    loader.deliver(memory.data());
    if (out.is_open())
      out.write(memory.data(), std::streamsize(memory.size()));
  }
  printf("%.6f seconds for %lld samples\n", seconds_since(start),
         static_cast<long long>(a.batch * a.count));
  if (resident > 0)
    printf("%.3f MiB resident behind 1 %% of the batches, %.3f at the end\n",
           resident, resident_mib());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(Arguments(argc, argv));
  } catch (const std::exception &error) {
    fprintf(stderr, "read_batches: error: %s\n", error.what());
    return 1;
  }
}
