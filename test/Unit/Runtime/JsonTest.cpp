// Strings of JSON with escapes, as other programs write them.
#include "gpuopt/data/json.h"

#include <gtest/gtest.h>

namespace gpuopt {
namespace {

std::string read_string(const std::string &json) {
  JsonParser parser(json.data(), json.size(), "no JSON");
  return parser.string();
}

TEST(Json, ReadsEscapedCharacters) {
  EXPECT_EQ(read_string(R"("a\"\\\/b")"), "a\"\\/b");
  EXPECT_EQ(read_string(R"("\b\f\n\r\t")"), "\b\f\n\r\t");
  EXPECT_EQ(read_string(R"("\u0041\u007f")"), "A\x7f");
  EXPECT_EQ(read_string(R"("bl\u00f6cke")"), "bl\u00f6cke");
  EXPECT_EQ(read_string(R"("\u07FF\u0800\uFFFD")"), "\u07FF\u0800\uFFFD");
  EXPECT_EQ(read_string(R"("\ud83d\ude00")"), "\U0001F600");
  EXPECT_EQ(read_string(R"("\udbff\udfff")"), "\U0010FFFF");
  EXPECT_EQ(read_string("\"bl\u00f6cke\""), "bl\u00f6cke");
}

TEST(Json, RefusesWhatIsNoEscape) {
  for (const char *text :
       {R"("\u12")", R"("\u12g4")", R"("\u-123")", R"("\x41")", R"("\ud83d")",
        R"("\ud83dx")", R"("\ud83d\u0041")", R"("\ude00")", R"("\)", R"("\u)",
        R"("\ud83d\)"})
    EXPECT_THROW(read_string(text), Error) << text;
}

TEST(Json, ReadsWhatItHasWritten) {
  const std::string text = "\"a\\b\"\n\x01 \u00e9\U0001F600";
  EXPECT_EQ(read_string(json_quoted(text)), text);
}

} // namespace
} // namespace gpuopt
