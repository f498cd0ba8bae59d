// Regular expressions of names, as Python means them.

#include "gpuopt/Support/NameExpression.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace gpuopt;

namespace {

std::string errorOf(StringRef expression) {
  std::string error;
  EXPECT_FALSE(NameExpression(expression).isValid(error)) << expression.str();
  EXPECT_FALSE(NameExpression(expression).match("d")) << expression.str();
  return error;
}

/// Returns which of the names an expression matches, a space behind each.
std::string matchesOf(StringRef expression) {
  const NameExpression compiled(expression);
  std::string error, all;
  EXPECT_TRUE(compiled.isValid(error)) << expression.str() << ": " << error;
  for (const char *name :
       {"fc1.weight", "fc12.bias", "fcd", "out-s", "a b", "w_b.x"})
    if (compiled.match(name))
      all += std::string(name) + "|";
  return all;
}

// What Python's re.search finds in the same names.
TEST(NameExpression, MeansWhatPythonMeans) {
  EXPECT_EQ(matchesOf(R"(fc\d)"), "fc1.weight|fc12.bias|");
  EXPECT_EQ(matchesOf(R"(fc\d\.)"), "fc1.weight|");
  EXPECT_EQ(matchesOf(R"(^fc\D)"), "fcd|");
  EXPECT_EQ(matchesOf(R"(^\w+$)"), "fcd|");
  EXPECT_EQ(matchesOf(R"(^\w+\W\w$)"), "out-s|a b|w_b.x|");
  EXPECT_EQ(matchesOf(R"(a\sb)"), "a b|");
  EXPECT_EQ(matchesOf(R"(^\S+$)"), "fc1.weight|fc12.bias|fcd|out-s|w_b.x|");
  EXPECT_EQ(matchesOf(R"(\Afc.*s\Z)"), "fc12.bias|");
  EXPECT_EQ(matchesOf("(?:fc1|out)[.-]"), "fc1.weight|out-s|");
  EXPECT_EQ(matchesOf(R"(^(?:fc\d+?)(?:\.w.*?t)??$)"), "fc1.weight|");
  EXPECT_EQ(matchesOf(R"(c\d{2}?\.)"), "fc12.bias|");
  EXPECT_EQ(matchesOf("^f??c?d*?"),
            "fc1.weight|fc12.bias|fcd|out-s|a b|w_b.x|");
}

TEST(NameExpression, KnowsSets) {
  EXPECT_EQ(matchesOf(R"(fc[\d]+\.)"), "fc1.weight|fc12.bias|");
  EXPECT_EQ(matchesOf(R"(fc[^\d])"), "fcd|");
  EXPECT_EQ(matchesOf(R"(^[\w\.]+$)"), "fc1.weight|fc12.bias|fcd|w_b.x|");
  EXPECT_EQ(matchesOf(R"([\s-])"), "out-s|a b|");
  EXPECT_EQ(matchesOf("[]-]s"), "out-s|");
  EXPECT_EQ(matchesOf("^[^]o]*$"), "fc1.weight|fc12.bias|fcd|a b|w_b.x|");
  EXPECT_EQ(matchesOf("d[[?(]*$"), "fcd|");
  EXPECT_EQ(matchesOf("c1[{,2}]"), "fc12.bias|");
  EXPECT_EQ(matchesOf(R"(t[\w\-.]s$)"), "out-s|");
  EXPECT_EQ(matchesOf(R"(t[+\-\d]s$)"), "out-s|");
  EXPECT_EQ(matchesOf(R"(^[^\-. ]+$)"), "fcd|");
  EXPECT_EQ(matchesOf(R"(^[^o\]a]*$)"), "fc1.weight|fcd|w_b.x|");
  EXPECT_TRUE(NameExpression(R"(^[a\]]+$)").match("a]a"));
  EXPECT_TRUE(NameExpression(R"(^[]\]a]$)").match("a"));
  EXPECT_TRUE(NameExpression(R"(^a[\\]d$)").match(R"(a\d)"));
  EXPECT_TRUE(NameExpression(R"(^a[d\^]$)").match("a^"));
}

// gpuopt's own advice, and Python's re.escape, put a \ before signs.
TEST(NameExpression, FindsNamesThatWereEscaped) {
  for (const char *name : {"a.b", "onnx::MatMul_12", "w[0].x(1)", "a+b*c?",
                           "x^$|{2}\\d", "h.0.w", "a-b c#d"}) {
    const NameExpression escaped("^" + Regex::escape(name) + "$");
    EXPECT_TRUE(escaped.match(name)) << name;
    EXPECT_FALSE(escaped.match(std::string(name) + "x")) << name;
  }
  EXPECT_TRUE(NameExpression(R"(^a\-b\ c\#d\&e\~f$)").match("a-b c#d&e~f"));
}

TEST(NameExpression, RefusesWhatPosixCannotSay) {
  EXPECT_EQ(errorOf(R"((?!out)d)"),
            "'(?!' means something in Python that is not supported here; "
            "write the expression without it");
  for (const char *part : {"(?i", "(?P", "(?<", "(?=", "(?#", R"(\b)", R"(\B)",
                           R"(\1)", R"(\n)", R"(\x)", "{,", "\\"})
    EXPECT_EQ(NameExpression("d" + std::string(part)).refusedPart(), part);
  for (const char *part : {R"(\b)", R"(\D)", R"(\[)", "[:", "[="})
    EXPECT_EQ(NameExpression("[d" + std::string(part)).refusedPart(), part);
  EXPECT_EQ(NameExpression(R"([\^d])").refusedPart(), R"(\^)");
}

TEST(NameExpression, SaysWhatIsMalformed) {
  for (const char *expression : {"(", "d)", "[d", "*", "d**", "d*+"})
    EXPECT_NE(errorOf(expression), "") << expression;
}

} // namespace
