// Files as sources of samples.

#include "Files.h"
#include "Samples.h"

#include "gpuopt/data/loader.h"
#include "gpuopt/data/safetensors.h"
#include "gpuopt/data/sources.h"

#include <fstream>
#include <gtest/gtest.h>
#include <set>

namespace gpuopt {
namespace {

TEST(Npy, ReadsSamplesInTheFilesType) {
  TemporaryFolder folder;
  write_file(folder / "x.npy",
             npy("<i2", "(3, 2)", bytes_of<int16_t>({1, 2, 3, 4, 5, 6})));
  const NpySource source(folder / "x.npy", kPairs);
  EXPECT_EQ(source.samples(), 3);
  EXPECT_EQ(source.elements, 2);
  EXPECT_EQ(source.type, Type::I16);
  int16_t last[2];
  memcpy(last, source.at(2), sizeof last);
  EXPECT_EQ(last[1], 6);
}

#ifndef GPUOPT_HAS_PARQUET
TEST(Parquet, NeedsArrow) {
  EXPECT_EQ(error_of([] { read_parquet_column({"a.parquet"}, "x", "a:x"); }),
            "'a:x' is read through Apache Arrow, which the program is built "
            "without; build it by cmake -DGPUOPT_PARQUET=ON");
}
#endif

TEST(Npy, SamplesMayHaveNoElements) {
  TemporaryFolder folder;
  write_file(folder / "x.npy", npy("<f4", "(3, 0)", ""));
  const NpySource source(folder / "x.npy", {"x", Type::F32, 2, {4, 0}, 0, 0});
  EXPECT_EQ(source.samples(), 3);
  EXPECT_EQ(source.elements, 0);
}

TEST(Npy, SaysWhereDimensionsHaveAnotherOrder) {
  TemporaryFolder folder;
  write_file(folder / "x.npy", npy("<f4", "(1, 2, 2, 3)", std::string(48, 0)));
  try {
    const NpySource source(folder / "x.npy",
                           {"x", Type::F32, 4, {1, 3, 2, 2}, 0, 0});
    FAIL();
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("array.transpose"),
              std::string::npos)
        << error.what();
  }
}

TEST(Npy, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const auto six = bytes_of<float>({1, 2, 3, 4, 5, 6});
  const std::pair<std::string, const char *> cases[] = {
      {"", "is not a .npy file that can be read: it does not begin like one; "
           "numpy.save writes them"},
      {"PK\x03\x04 some zip archive", "not a .npy file"},
      {npy("<f4", "(3, 2)", six).substr(0, 40), "its header is cut off"},
      {npy("<f4", "3", six), "its shape is no tuple"},
      {std::string("\x93NUMPY\x01\x00\x06\x00{}   \n", 16),
       "its header lacks 'descr'"},
      {npy("<f4", "(3, 2)", six.substr(1)), "shorter than its header says"},
      {npy("<f4", "(3, 2)", six, "True"),
       "it is in Fortran order; save numpy.ascontiguousarray(array)"},
      {npy("<f4", "(2, 3)", six),
       "has shape [2, 3], but 'x' needs [samples, 2]"},
      {npy("<f4", "(6,)", six), "has shape [6], but 'x' needs [samples, 2]"},
      {npy("<f4", "(0, 2)", ""), "holds no samples"},
      {npy("<f4", "(-1, 2)", six), "shorter than its header says"},
      {npy("<f4", "(9223372036854775807, 2)", six),
       "shorter than its header says"},
      {npy("<f4", "(3, 2, 1)", six),
       "has shape [3, 2, 1], but 'x' needs [samples, 2]; save "
       "array.reshape(-1, 2)"},
      {npy(">f4", "(3, 2)", six),
       "type '>f4' is big-endian; save array.astype('<f4')"},
      {npy("<c8", "(3, 2)", six + six),
       "type '<c8' is not supported; save one of float64, float32, float16, "
       "int8 to int64, uint8 to uint32 or bool"},
      {npy("|O", "(3, 2)", six), "type '|O' is not supported"},
  };
  for (const auto &[content, message] : cases) {
    write_file(folder / "x.npy", content);
    const std::string error =
        error_of([&] { NpySource(folder / "x.npy", kPairs); });
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_NE(error.find("x.npy"), std::string::npos) << error;
  }
  // 3 * 6148914691236517206 is 2 in 64 bits: as many as one sample has.
  write_file(folder / "x.npy", npy("<f4", "(3, 3, 6148914691236517206)", six));
  EXPECT_EQ(error_of([&] { NpySource(folder / "x.npy", kPairs); }),
            "'" + folder / "x.npy" +
                "' has shape [3, 3, 6148914691236517206], but 'x' needs "
                "[samples, 2]");
  EXPECT_EQ(error_of([&] { NpySource(folder / "none.npy", kPairs); }),
            "there is no file or folder '" + folder / "none.npy'");
}

TEST(MissingPath, NamesWhatWasProbablyMeant) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "run");
  for (const char *name : {"model.onnx", "run/x.npy", "run/tokens.bin"})
    write_file(folder / name, "");
  for (const auto &[given, meant] :
       std::vector<std::pair<std::string, std::string>>{
           {"modle.onnx", "model.onnx"},
           {"model", "model.onnx"},
           {"model.onx", "model.onnx"},
           {"rum", "run"},
           {"rum/x.npy", "run/x.npy"},
           {"run/token.bin", "run/tokens.bin"}})
    EXPECT_EQ(describe_missing(folder / given),
              "there is no file or folder '" + folder / given +
                  "'; did you mean '" + folder / meant + "'?");
  for (const char *given : {"rum/y.onnx", "weights.npy", "model.onnx/x"})
    EXPECT_EQ(describe_missing(folder / given),
              "there is no file or folder '" + folder / given + "'");
}

// An IDX file's header; `code` is that of its type.
std::string idx(int code, const std::vector<int> &shape,
                const std::string &data) {
  std::string file = {0, 0, char(code), char(shape.size())};
  for (int size : shape)
    file += {char(size >> 24), char(size >> 16), char(size >> 8), char(size)};
  return file + data;
}

TEST(Idx, ReadsBytes) {
  TemporaryFolder folder;
  // 300 = 0x12c samples show that sizes are big-endian.
  std::string data(600, 'a');
  data[599] = char(200);
  write_file(folder / "x", idx(8, {300, 1, 2}, data));
  const IdxSource source(folder / "x", kPairs);
  EXPECT_EQ(source.samples(), 300);
  EXPECT_EQ(source.elements, 2);
  EXPECT_EQ(source.type, Type::U8);
  EXPECT_EQ(source.at(299)[1], 200);
  write_file(folder / "x", idx(9, {3, 2}, "abcdef"));
  EXPECT_EQ(IdxSource(folder / "x", kPairs).type, Type::I8);
}

TEST(Idx, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const std::pair<std::string, const char *> cases[] = {
      {"", "is not an IDX file that can be read: it does not begin like one"},
      {"\x93NUMPY",
       "is not an IDX file that can be read: it does not begin like one"},
      {idx(8, {3, 2}, "").substr(0, 10), "its header is cut off"},
      {idx(10, {3, 2}, std::string(24, 0)), "there is no type 10"},
      {idx(13, {3, 2}, std::string(24, 0)),
       "its elements take several bytes, in big-endian order, and only single "
       "bytes are read; convert it by numpy.save"},
      {idx(8, {2, 3}, "abcdef"),
       "has shape [2, 3], but 'x' needs samples of 2 elements"},
      {idx(8, {0, 2}, ""), "holds no samples"},
      {idx(8, {3, 2}, "abcde"), "is shorter than its header says"},
  };
  for (const auto &[content, message] : cases) {
    write_file(folder / "x", content);
    const std::string error =
        error_of([&] { IdxSource(folder / "x", kPairs); });
    EXPECT_NE(error.find(message), std::string::npos) << error;
  }
}

TEST(Idx, SplitsDimensionsOtherwise) {
  EXPECT_TRUE(merges_into({28, 28}, {1, 28, 28}));
  EXPECT_TRUE(merges_into({28, 28}, {784}));
  EXPECT_TRUE(merges_into({4, 6}, {2, 2, 6}));
  EXPECT_FALSE(merges_into({20, 32}, {32, 20}));
  TemporaryFolder folder;
  write_file(folder / "x", idx(8, {1, 2, 3}, "abcdef"));
  const TensorInfo turned{"x", Type::F32, 3, {4, 3, 2}, 0, 96};
  EXPECT_NE(error_of([&] { IdxSource(folder / "x", turned); })
                .find("' has other dimensions in a sample, [3, 2]; transpose "
                      "it"),
            std::string::npos);
}

TEST(Idx, IsKnownByItsBeginning) {
  TemporaryFolder folder;
  const InputInfo inputs[] = {{kPairs}};
  DataFlags flags;
  flags.add("data", "x=" + (folder / "x"));
  auto opened = [&](const std::string &content) {
    write_file(folder / "x", content);
    return SourceOpener(inputs, flags, "uint16", "").open()[0]->type;
  };
  EXPECT_EQ(opened(idx(8, {3, 2}, "abcdef")), Type::U8);
  EXPECT_EQ(opened(npy("|i1", "(3, 2)", "abcdef")), Type::I8);
}

template <class T>
std::string seven_tokens() {
  return bytes_of<T>({10, 11, 12, 13, 14, 15, 16});
}

TEST(Tokens, WindowsAndLabels) {
  TemporaryFolder folder;
  std::vector<int32_t> header(256, 0);
  header[0] = 20240520;
  header[1] = 1;
  std::vector<int32_t> llama(256, 0);
  llama[0] = 20240801;
  llama[1] = 7;
  const std::string counted = [=]() mutable {
    header[2] = 7;
    return bytes_of(header);
  }();
  const std::pair<std::string, Type> files[] = {
      {seven_tokens<uint16_t>(), Type::U16},
      {bytes_of(header) + seven_tokens<uint16_t>(), Type::U16},
      {counted + seven_tokens<uint16_t>() + "more", Type::U16},
      {bytes_of(llama) + seven_tokens<uint32_t>(), Type::U32},
      {npy("|u1", "(7,)", seven_tokens<uint8_t>()), Type::U8},
      {npy("<i4", "(7,)", seven_tokens<int32_t>()), Type::I32},
      {npy("<i8", "(7,)", seven_tokens<int64_t>()), Type::I64},
      {npy("<u8", "(7,)", seven_tokens<int64_t>()), Type::I64},
  };
  for (const auto &[content, type] : files) {
    write_file(folder / "tokens", content);
    const auto file = std::make_shared<TokenFile>(folder / "tokens", Type::U16);
    const TokenSource windows(file, 3, false), labels(file, 3, true);
    EXPECT_EQ(windows.type, type);
    EXPECT_EQ(windows.samples(), 2);
    int64_t first = 0, next = 0;
    memcpy(&first, windows.at(1), size_of(type));
    memcpy(&next, labels.at(1), size_of(type));
    EXPECT_EQ(first, 13);
    EXPECT_EQ(next, 14);
    EXPECT_NE(error_of([&] {
                TokenSource(file, 7, false);
              }).find("7 tokens, but one window needs 8"),
              std::string::npos);
  }
}

TEST(Tokens, SaysWhatIsWrong) {
  TemporaryFolder folder;
  std::vector<int32_t> header(256, 0);
  header[0] = 20240520;
  header[1] = 1;
  header[2] = 8;
  auto with_version = [=](int32_t magic, int32_t version) mutable {
    header[0] = magic;
    header[1] = version;
    return bytes_of(header) + seven_tokens<uint32_t>();
  };
  const std::pair<std::string, const char *> cases[] = {
      {"", "holds no tokens"},
      {"odd",
       "has 3 bytes, which u16 does not divide; --token-type says what its "
       "tokens are"},
      {bytes_of(header) + seven_tokens<uint16_t>(),
       "is shorter than its header says"},
      {with_version(20240520, 7), "has llm.c's header 20240520 with version 7, "
                                  "but only version 1 of it is known"},
      {with_version(20240801, 1), "has llm.c's header 20240801 with version 1, "
                                  "but only version 7 of it is known"},
      {npy("<i8", "(8,)", seven_tokens<int64_t>()),
       "is shorter than its header says"},
      {npy("<i8", "(7, 1)", seven_tokens<int64_t>()),
       "holds i64 [7, 1], but tokens are an array of integers with one "
       "dimension; --data and --labels take samples"},
      {npy("<f4", "(7,)", seven_tokens<float>()), "holds f32 [7], but tokens"},
      {npy("|b1", "(7,)", seven_tokens<uint8_t>()), "holds bool [7], but"},
  };
  for (const auto &[content, message] : cases) {
    write_file(folder / "tokens", content);
    const std::string error =
        error_of([&] { TokenFile(folder / "tokens", Type::U16); });
    EXPECT_NE(error.find(message), std::string::npos) << error;
  }
}

// Two integer inputs of two dimensions, and labels.
struct SourcesTest : testing::Test {
  SourcesTest() {
    write_file(folder / "tokens", seven_tokens<uint16_t>());
    write_file(folder / "two.npy",
               npy("<i4", "(2, 3)", bytes_of<int32_t>({1, 1, 1, 1, 1, 1})));
    program.inputs = inputs;
    data.tokens = folder / "tokens";
  }
  std::string problem() {
    return error_of(
        [&] { SourceOpener(program.inputs, data, "uint16", "--").open(); });
  }
  TemporaryFolder folder;
  InputInfo inputs[3] = {{{"ids", Type::I64, 2, {2, 3}, 0, 48}},
                         {{"mask", Type::I64, 2, {2, 3}, 0, 48}},
                         {{"labels", Type::I64, 2, {2, 3}, 0, 48}, 20, true}};
  Program program{};
  DataFlags data;
};

TEST_F(SourcesTest, TokensFeedTheInputThatDataDoesNotName) {
  data.files["mask"] = folder / "two.npy";
  const auto sources =
      SourceOpener(program.inputs, data, "uint16", "--").open();
  ASSERT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources[0]->path, folder / "tokens");
  EXPECT_EQ(sources[1]->path, folder / "two.npy");
  EXPECT_EQ(sources[2]->path, folder / "tokens");
}

TEST_F(SourcesTest, SaysWhatTokensMean) {
  EXPECT_EQ(problem(), "'--tokens' could be any of 'ids', 'mask'; give all "
                       "but one by --data");
  data.files["ids"] = data.files["mask"] = folder / "two.npy";
  EXPECT_EQ(problem(), "'--tokens' finds no integer input of two dimensions "
                       "that --data does not give");
  data.files.erase("ids");
  data.tokens.clear();
  data.files["ids"] = folder / "two.npy";
  EXPECT_EQ(problem(), "the labels are missing: --labels FILE");
  data.files.erase("ids");
  EXPECT_EQ(problem(), "input 'ids' is missing: --data ids=FILE");
  data.tokens = folder / "tokens";
  data.labels = folder / "two.npy";
  EXPECT_EQ(problem(), "with '--tokens' the label is the next token; leave out "
                       "--labels");
}

TEST(Safetensors, WritesWhatItReads) {
  TemporaryFolder folder;
  const std::vector<float> a = {1, 2, 3};
  const std::vector<int64_t> b = {7};
  write_safetensors(folder / "w",
                    {{"a.\"quoted\"", Type::F32, {3}, a.data(), 12},
                     {"b", Type::I64, {}, b.data(), 8}});
  const MappedFile file(folder / "w");
  const auto tensors = read_safetensors(file);
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors.at("b").dtype, "I64");
  EXPECT_EQ(memcmp(tensors.at("a.\"quoted\"").data, a.data(), 12), 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "w.part"));
}

TEST(Safetensors, RefusesDamage) {
  TemporaryFolder folder;
  auto with_header = [](const std::string &json) {
    const uint64_t size = json.size();
    return std::string(reinterpret_cast<const char *>(&size), 8) + json +
           "12345678";
  };
  for (const std::string &content :
       {std::string(""), std::string("{}"), std::string(8, '\xff'),
        with_header("{\"a\":"),
        with_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[9],\"data_offsets\":["
                    "0,36]}}"),
        with_header(
            "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}"),
        with_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":["
                    "-4,0]}}")}) {
    write_file(folder / "w", content);
    const MappedFile file(folder / "w");
    EXPECT_NE(error_of([&] {
                read_safetensors(file);
              }).find("not a safetensors file"),
              std::string::npos);
  }
}

TEST(Safetensors, AFullDiskLeavesTheOldFile) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full";
  TemporaryFolder folder;
  write_file(folder / "w", "old");
  std::filesystem::create_symlink("/dev/full", folder / "w.part");
  const std::vector<char> data(1 << 16);
  const std::string error = error_of([&] {
    write_safetensors(folder / "w",
                      {{"a", Type::U8, {1 << 16}, data.data(), data.size()}});
  });
  EXPECT_NE(error.find("No space left"), std::string::npos) << error;
  EXPECT_NE(error.find("; what was there before is unchanged"),
            std::string::npos)
      << error;
  EXPECT_EQ(read_file(folder / "w"), "old");
}

TEST(Permutation, VisitsEachOnceInAnOrderOfItsOwn) {
  std::vector<std::vector<int64_t>> orders;
  for (int64_t n : {1, 2, 5, 64, 1000})
    for (uint64_t epoch : {0, 1}) {
      const Permutation order(42, epoch, n);
      std::set<int64_t> seen;
      orders.emplace_back();
      for (int64_t i = 0; i < n; i++) {
        orders.back().push_back(order(i));
        seen.insert(order(i));
      }
      EXPECT_EQ(int64_t(seen.size()), n);
      EXPECT_TRUE(*seen.begin() == 0 && *seen.rbegin() == n - 1);
    }
  EXPECT_NE(orders[8], orders[9]) << "epochs differ";
}

} // namespace
} // namespace gpuopt
