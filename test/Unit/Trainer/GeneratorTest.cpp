// --generate: which models it takes, and prompts.

#include "TrainerFixture.h"

#include "gpuopt/predictor/predictor.h"

namespace gpuopt {
namespace {

struct Named {
  const char *name;
  std::vector<int64_t> shape;
  Type type = Type::I64;
};

// A step computes 2 tokens of 4 sequences behind 10 past ones.
const Named kPast{"past_key_values.0.key", {4, 3, 10, 8}, Type::F32};
const Named kPresent{"present.0.key", {4, 3, 12, 8}, Type::F32};

struct GeneratorTest : TrainerTest {
  static TensorInfo tensor_of(const Named &named) {
    TensorInfo tensor{};
    tensor.name = named.name;
    tensor.type = named.type;
    tensor.rank = int(named.shape.size());
    std::copy(named.shape.begin(), named.shape.end(), tensor.shape);
    return tensor;
  }
  // Returns why a model, or a prompt of `length` tokens that two shall follow,
  // is refused; nothing if it is not.
  std::string refusal_of(const std::vector<Named> &inputs,
                         const std::vector<Named> &outputs, size_t length = 1) {
    InputInfo input_infos[4] = {};
    for (size_t i = 0; i < inputs.size(); i++)
      input_infos[i].tensor = tensor_of(inputs[i]);
    OutputInfo output_infos[2] = {};
    for (size_t i = 0; i < outputs.size(); i++)
      output_infos[i].tensor = tensor_of(outputs[i]);
    program.inputs = input_infos;
    program.inputs.count = int(inputs.size());
    program.outputs = output_infos;
    program.outputs.count = int(outputs.size());
    program.batch_size = 4;
    Session session(program, 1);
    Settings settings;
    settings.generate = 2;
    StepWaiting waiting(WaitPolicy::Passive, 1);
    try {
      Generator(program, settings, session, waiting)
          .expect_capacity({Tokens(length)});
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }
  // Returns why a model of 4 sequences of 12 tokens with a second input is
  // refused.
  std::string refusal(const char *name, std::vector<int64_t> shape,
                      bool tokens_first = true) {
    std::vector<Named> inputs{{"input_ids", {4, 12}}, {name, shape}};
    if (!tokens_first)
      std::swap(inputs[0], inputs[1]);
    return refusal_of(inputs, {{"logits", {4, 12, 61}, Type::F32}});
  }
  // Returns why a model with a cache is refused.
  std::string refusal_of_cache(const Named &past, const Named &present,
                               int64_t seen = 12,
                               const char *beside = "position_ids",
                               size_t length = 1) {
    return refusal_of({{"input_ids", {4, 2}},
                       {"attention_mask", {4, seen}},
                       {beside, {4, 2}},
                       past},
                      {{"logits", {4, 2, 61}, Type::F32}, present}, length);
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

TEST_F(GeneratorTest, EachPastTensorHasItsPresentOne) {
  EXPECT_EQ(refusal_of_cache(kPast, kPresent), "");
  EXPECT_EQ(
      refusal_of_cache({"past.0.key", {4, 3, 10, 8}, Type::F32},
                       {"present_key_values.0.key", {4, 3, 12, 8}, Type::F32}),
      "");
  EXPECT_EQ(
      refusal_of_cache(kPast, {"present.1.key", {4, 3, 12, 8}, Type::F32}),
      "the input 'past_key_values.0.key' of shape [4, 3, 10, 8] has no output "
      "that fits: '--generate' expects one called 'present' with the same "
      "ending and type, of shape [batch, heads, past + tokens, size] where the "
      "input's is [batch, heads, past, size] with as many past tokens in all "
      "layers; the model has 'logits' of shape "
      "[4, 2, 61], 'present.1.key' of shape [4, 3, 12, 8]");
  const Named half{kPast.name, kPast.shape, Type::F16};
  EXPECT_EQ(refusal_of_cache(half, kPresent), "") << "it is rounded";
  EXPECT_NE(refusal_of_cache(half, {kPresent.name, kPresent.shape, Type::F64})
                .find("'present.0.key' of shape [4, 3, 12, 8] and type "
                      "float64, where the input has type float16"),
            std::string::npos);
  const std::string no_present = "; the model has 'present.0.key' of shape [";
  for (const Named &present : {Named{"present.0.key", {4, 3, 12, 8}, Type::F16},
                               Named{"present.0.key", {4, 3, 12, 9}, Type::F32},
                               Named{"present.0.key", {4, 2, 12, 8}, Type::F32},
                               Named{"present.0.key", {4, 3, 10, 8}, Type::F32},
                               Named{"present.0.key", {4, 12, 24}, Type::F32}})
    EXPECT_NE(refusal_of_cache(kPast, present).find(no_present),
              std::string::npos);
  // As many new tokens as are given.
  EXPECT_EQ(
      refusal_of_cache(kPast, {"present.0.key", {4, 3, 13, 8}, Type::F32}),
      "'--generate' expects the keys and values of 12 tokens in the output "
      "'present.0.key' of shape [4, 3, 13, 8]: those of the input "
      "'past_key_values.0.key' of shape [4, 3, 10, 8], and behind them those "
      "of 'input_ids' of shape [4, 2]; export a model whose 'present' outputs "
      "have both");
}

TEST_F(GeneratorTest, MaskAndPositionsTellWhatIsInTheCache) {
  EXPECT_NE(refusal_of_cache(kPast, kPresent, 10)
                .find("of that shape, the mask with the past tokens before "
                      "it, but this one has 'input_ids' of shape [4, 2], "
                      "'attention_mask' of shape [4, 10]"),
            std::string::npos);
  EXPECT_NE(
      refusal_of({{"input_ids", {4, 2}}, {"attention_mask", {4, 12}}, kPast},
                 {{"logits", {4, 2, 61}, Type::F32}, kPresent})
          .find("'--generate' needs the inputs 'attention_mask' and "
                "'position_ids' of a "
                "model with a cache, which tell which past tokens are "
                "valid, but its inputs are 'input_ids'"),
      std::string::npos);
}

TEST_F(GeneratorTest, TheCacheHoldsThePromptAndWhatFollows) {
  EXPECT_EQ(refusal_of_cache(kPast, kPresent, 12, "position_ids", 10), "");
  EXPECT_EQ(
      refusal_of_cache(kPast, kPresent, 12, "position_ids", 11),
      "prompt 0 has 11 tokens and 2 are to follow, but the model has a "
      "cache for the keys and values of 10 tokens; compile it with more past "
      "tokens");
}

TEST_F(GeneratorTest, PredictorsFlushDenormals) {
  volatile float denormal = 1e-40f, large = 1e10f;
  Settings settings{};
  settings.generate = 1; // needs no outputs
  for (bool flushes : {true, false}) {
    settings.flush_denormals = flushes;
    Predictor predictor(program, settings);
    EXPECT_EQ(denormal * large == 0, flushes);
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
