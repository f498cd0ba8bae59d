// --generate: which models it takes, and prompts.

#include "TrainerFixture.h"

#include "gpuopt/predictor/generator.h"

namespace gpuopt {
namespace {

struct GeneratorTest : TrainerTest {
  // Returns why a model of 4 sequences of 12 tokens, with a second input of its
  // own shape, is refused; nothing if it is not.
  std::string refusal(const char *name, std::vector<int64_t> shape,
                      bool tokens_first = true) {
    auto input = [](const char *name, const std::vector<int64_t> &shape) {
      InputInfo info{};
      info.tensor.name = name;
      info.tensor.type = Type::I64;
      info.tensor.rank = int(shape.size());
      std::copy(shape.begin(), shape.end(), info.tensor.shape);
      return info;
    };
    InputInfo inputs[] = {input("input_ids", {4, 12}), input(name, shape)};
    if (!tokens_first)
      std::swap(inputs[0], inputs[1]);
    OutputInfo logits{};
    logits.tensor = {"logits", Type::F32, 3, {4, 12, 61}, 0, 0};
    const OutputInfo outputs[] = {logits};
    program.inputs = inputs;
    program.outputs = outputs;
    program.batch_size = 4;
    Session session(program, 1);
    try {
      Generator(program, Settings(), session);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(GeneratorTest, InputsHaveOneWindow) {
  for (const char *name : {"attention_mask", "position_ids"})
    for (bool tokens_first : {true, false}) {
      EXPECT_EQ(refusal(name, {4, 12}, tokens_first), "");
      EXPECT_NE(refusal(name, {4, 5}, tokens_first)
                    .find("of that shape, but this one has '"),
                std::string::npos);
      EXPECT_NE(refusal(name, {4, 20}, tokens_first), "");
      EXPECT_NE(refusal(name, {4}, tokens_first), "");
    }
}

TEST_F(GeneratorTest, CountsBlankLines) {
  write_file(folder / "prompts.jsonl", "[1, 2]\n\n{}\n");
  try {
    read_prompts(folder / "prompts.jsonl", 61);
    ADD_FAILURE() << "the third line is no list";
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()).rfind("line 3 of '", 0), 0u)
        << error.what();
  }
}

} // namespace
} // namespace gpuopt
