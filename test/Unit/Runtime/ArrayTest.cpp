// Members of .npz files and tensors of safetensors files as sources of samples.

#include "Files.h"
#include "Samples.h"

#include "gpuopt/data/sources.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace gpuopt {
namespace {

std::string number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; i++)
    text += char(value >> (8 * i) & 255);
  return text;
}

std::string deflated(const std::string &content) {
  std::string packed(compressBound(content.size()), 0);
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in =
      reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  stream.avail_in = uInt(content.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = uInt(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// An archive of one member. With `is_wide`, its sizes are in extra fields of 64
// bits, as those of large archives are.
std::string zip(const std::string &name, const std::string &content,
                bool is_deflated, bool is_wide = false) {
  const std::string packed = is_deflated ? deflated(content) : content;
  const uint64_t kElsewhere = 0xffffffff;
  const uLong crc = ::crc32(0, reinterpret_cast<const Bytef *>(content.data()),
                            uInt(content.size()));
  const std::string extra =
      is_wide ? number(1, 2) + number(24, 2) + number(content.size(), 8) +
                    number(packed.size(), 8) + number(0, 8)
              : "";
  const std::string method = number(is_deflated ? 8 : 0, 2);
  const std::string sizes =
      number(crc, 4) + number(is_wide ? kElsewhere : packed.size(), 4) +
      number(is_wide ? kElsewhere : content.size(), 4) + number(name.size(), 2);
  std::string file = number(0x04034b50, 4) + number(20, 2) + number(0, 2) +
                     method + number(0, 4) + sizes + number(0, 2) + name +
                     packed;
  const size_t begin = file.size();
  file += number(0x02014b50, 4) + number(20, 2) + number(20, 2) + number(0, 2) +
          method + number(0, 4) + sizes + number(extra.size(), 2) +
          number(0, 10) + number(is_wide ? kElsewhere : 0, 4) + name + extra;
  const size_t bytes = file.size() - begin;
  if (is_wide) {
    const size_t end = file.size();
    file += number(0x06064b50, 4) + number(44, 8) + number(45, 2) +
            number(45, 2) + number(0, 8) + number(1, 8) + number(1, 8) +
            number(bytes, 8) + number(begin, 8);
    file +=
        number(0x07064b50, 4) + number(0, 4) + number(end, 8) + number(1, 4);
  }
  return file + number(0x06054b50, 4) + number(0, 4) +
         number(is_wide ? 0xffff : 1, 2) + number(is_wide ? 0xffff : 1, 2) +
         number(is_wide ? kElsewhere : bytes, 4) +
         number(is_wide ? kElsewhere : begin, 4) + number(0, 2);
}

std::unique_ptr<DataSource> open_source(const std::string &path) {
  static const InputInfo inputs[] = {{kPairs}};
  DataFlags flags;
  flags.add("data", "x=" + path);
  return std::move(SourceOpener(inputs, flags, "uint16", "").open()[0]);
}

std::vector<int16_t> sample_of(const DataSource &source, int64_t sample) {
  std::vector<int16_t> values(size_t(source.elements));
  source.read({sample}, reinterpret_cast<uint8_t *>(values.data()));
  return values;
}

const std::string kThreePairs =
    npy("<i2", "(3, 2)", bytes_of<int16_t>({1, 2, 3, 4, 5, 6}));

TEST(Npz, ReadsMembers) {
  TemporaryFolder folder;
  for (const bool is_deflated : {false, true})
    for (const bool is_wide : {false, true}) {
      write_file(folder / "x.npz",
                 zip("images.npy", kThreePairs, is_deflated, is_wide));
      const auto source = open_source(folder / "x.npz:images");
      EXPECT_EQ(source->samples(), 3);
      EXPECT_EQ(source->type, Type::I16);
      EXPECT_EQ(sample_of(*source, 2), (std::vector<int16_t>{5, 6}));
      EXPECT_EQ(open_source(folder / "x.npz:images.npy")->samples(), 3);
    }
}

TEST(Npz, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const std::string stored = zip("a.npy", kThreePairs, false),
                    packed = zip("a.npy", kThreePairs, true);
  auto changed = [](std::string file, size_t at, char to) {
    file[at] = to;
    return file;
  };
  const std::pair<std::string, const char *> cases[] = {
      {"", "it does not end like one; numpy.savez writes them"},
      {changed(stored, stored.size() - 6, 127), "its directory is damaged"},
      {std::string(99, 'x'),
       "it does not end like one; numpy.savez writes them"},
      {stored.substr(40), "is not a .npz file that can be read"},
      {changed(stored, stored.size() - 3, 127), "it is cut off"},
      {changed(stored, 0, 'x'), "'a.npy' is damaged"},
      {changed(packed, 45, char(packed[45] ^ 1)), "'a.npy' is damaged"},
      {changed(stored, stored.find("PK\1\2") - 1, 'x'), "'a.npy' is damaged"},
      {zip("b.npy", kThreePairs, false),
       "has no array 'a'; it holds 'b.npy'; name one as "},
      {zip("a.npy", "text", true), "a' is not a .npy file that can be read"},
      {zip("a.npy", kThreePairs.substr(0, kThreePairs.size() - 1), true),
       "x.npz:a' is shorter than its header says"},
  };
  for (const auto &[content, message] : cases) {
    write_file(folder / "x.npz", content);
    const std::string error =
        error_of([&] { open_source(folder / "x.npz:a"); });
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_NE(error.find("x.npz"), std::string::npos) << error;
  }
}

TEST(SafetensorsColumns, AreSources) {
  TemporaryFolder folder;
  const std::vector<int16_t> values = {1, 2, 3, 4, 5, 6};
  write_safetensors(folder / "x.safetensors",
                    {{"a", Type::I16, {3, 2}, values.data(), 12},
                     {"b", Type::I16, {2, 3}, values.data(), 12},
                     {"half", Type::BF16, {3, 2}, values.data(), 12},
                     {"short", Type::I16, {4, 2}, values.data(), 12}});
  const auto source = open_source(folder / "x.safetensors:a");
  EXPECT_EQ(source->samples(), 3);
  EXPECT_EQ(sample_of(*source, 1), (std::vector<int16_t>{3, 4}));
  const std::pair<const char *, const char *> cases[] = {
      {":b", "x.safetensors:b' has shape [2, 3], but 'x' needs [samples, 2]"},
      {":c", "x.safetensors' has no tensor 'c'; it holds 'a', 'b', 'half', "
             "'short'; name one as "},
      {"", "has no tensor ''; it holds 'a'"},
      {":half", "x.safetensors:half' holds bf16, but 'x' needs f32"},
      {":short", "x.safetensors:short' is shorter than its header says"},
  };
  for (const auto &[member, message] : cases) {
    const std::string error = error_of(
        [&] { open_source(folder / "x.safetensors" + std::string(member)); });
    EXPECT_NE(error.find(message), std::string::npos) << error;
  }
  std::string file = read_file(folder / "x.safetensors");
  file.replace(file.find("I16"), 3, "X16");
  write_file(folder / "x.safetensors", file);
  EXPECT_EQ(error_of([&] { open_source(folder / "x.safetensors:a"); }),
            "'" + folder / "x.safetensors:a" +
                "' is of type X16, which cannot be read; save it as F32, F16 "
                "or integers");
}

TEST(DataPath, SplitsAtTheColonOfAMember) {
  const DataPath npz = parse_data_path("a:b/x.npz:c:d");
  EXPECT_EQ(npz.file, "a:b/x.npz");
  EXPECT_EQ(npz.member, "c:d");
  EXPECT_EQ(parse_data_path("x:y.npy").file, "x:y.npy");
  TemporaryFolder folder;
  write_file(folder / "x.npz:c", "");
  EXPECT_EQ(parse_data_path(folder / "x.npz:c").member, "");
}

} // namespace
} // namespace gpuopt
