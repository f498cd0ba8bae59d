// Mapped files that another program cuts while they are read.

#include "Files.h"

#include "gpuopt/data/mapped_file.h"
#include "gpuopt/data/mapped_reads.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace gpuopt {
namespace {

struct MappedReadsTest : testing::Test {
  MappedReadsTest() { write_file(path, std::string(kBytes, 'x')); }
  void cut() { std::filesystem::resize_file(path, kBytes / 4); }
  static constexpr size_t kBytes = size_t(1) << 20;
  TemporaryFolder folder;
  const std::string path = folder / "file";
};

TEST_F(MappedReadsTest, BytesThatAreGoneAreZerosAndTold) {
  const MappedFile file(path);
  std::atomic<bool> are_gone{false};
  {
    const MappedReads reads(are_gone);
    EXPECT_EQ(file.data[kBytes - 1], 'x');
    EXPECT_FALSE(are_gone);
    cut();
    EXPECT_EQ(file.data[0], 'x');
    EXPECT_FALSE(are_gone);
    EXPECT_EQ(file.data[kBytes / 2], 0);
    EXPECT_TRUE(are_gone);
    std::vector<uint8_t> copy(kBytes);
    memcpy(copy.data(), file.data, kBytes);
    EXPECT_EQ(copy[0], 'x');
    EXPECT_EQ(copy[kBytes - 1], 0);
  }
  // Other files can be read as before.
  write_file(path, "yz");
  const MappedFile next(path);
  are_gone = false;
  const MappedReads reads(are_gone);
  EXPECT_EQ(next.data[1], 'z');
  EXPECT_FALSE(are_gone);
}

using MappedReadsDeathTest = MappedReadsTest;

TEST_F(MappedReadsDeathTest, OthersEndTheProcess) {
  std::atomic<bool> are_gone{false};
  {
    const MappedReads reads(are_gone);
  }
  const MappedFile file(path);
  cut();
  EXPECT_EXIT(exit(file.data[kBytes - 1]), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(
      {
        raise(SIGBUS);
        exit(0);
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST_F(MappedReadsDeathTest, OthersGoToTheHandlerBefore) {
  std::atomic<bool> are_gone{false};
  {
    const MappedReads reads(are_gone);
  }
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, [](int) { _exit(7); });
        detail::note_bus_errors();
        raise(SIGBUS);
      },
      testing::ExitedWithCode(7), "");
}

} // namespace
} // namespace gpuopt
