// `headlight diagnose`, as a script uses it.
#include <gtest/gtest.h>

#include <cmath>

#include "app/program.h"
#include "diagnose/file_comparison.h"
#include "read/array/npz.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

/// A line of JSON, and the exit status beside it.
json compared(Strings words, int status) {
  words.insert(words.begin(), "diagnose");
  words.insert(words.end(), {"--format", "json"});
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, status) << ran.err;
  EXPECT_EQ(lines_of(ran.out), 1);
  const json answer = json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(answer.is_object()) << ran.out;
  return answer;
}

std::string export_to(const Folder& folder, const std::string& name, Strings words = {}) {
  const std::string file = (folder / name).string();
  words.insert(words.begin(), {"export", "--random", "--text", "我 爱 北 京", "-o", file});
  const Ran ran = run(small(words));
  EXPECT_EQ(ran.status, 0) << ran.err;
  return file;
}

TEST(DiagnoseCommand, OneAnswerIsEqualInEveryFormat) {
  const Folder folder;
  const std::string files[] = {export_to(folder, "a.json"), export_to(folder, "a.npz"),
                               export_to(folder, "a.safetensors", {"--with", "qkv,scores"})};
  for (const auto& a : files)
    for (const auto& b : files) {
      const json answer = compared({a, b}, 0);
      EXPECT_EQ(answer["equal"], true);
      EXPECT_EQ(answer["diagnosis"], nullptr);
      EXPECT_EQ(answer["mistakes"], json::array());
      const bool attentions_only = a.ends_with("json") || b.ends_with("json");
      EXPECT_EQ(answer["arrays"].size() == 1, attentions_only);
      EXPECT_EQ(answer["unchecked"].size(), answer["only_a"].size() + answer["only_b"].size());
      for (const json& array : answer["arrays"]) EXPECT_EQ(array["max_abs"], 0.0);
    }
  const Ran text = run({"diagnose", files[0], files[2]});
  EXPECT_EQ(text.status, 0);
  EXPECT_TRUE(contains(text.out, "\nequal\n")) << text.out;
  EXPECT_TRUE(contains(text.out, "only in B")) << text.out;
}

TEST(DiagnoseCommand, TheScaleOfTheTutorialIsRecognised) {
  const Folder folder;
  const std::string a = export_to(folder, "a.json"), b = export_to(folder, "b.npz", {"--scale", "2"});
  const json answer = compared({a, b}, 1);
  EXPECT_EQ(answer["equal"], false);
  EXPECT_EQ(answer["diagnosis"], "scores multiplied by sqrt(d_k)");
  EXPECT_LT(answer["explains"]["left"], 1e-5);
  ASSERT_EQ(answer["mistakes"].size(), 1u);
  EXPECT_EQ(answer["mistakes"][0]["code"], "scale_inverted");
  EXPECT_EQ(answer["mistakes"][0]["text"], answer["diagnosis"]);
  EXPECT_EQ(answer["mistakes"][0]["array"], "attentions");
  EXPECT_EQ(answer["mistakes"][0]["before"], answer["explains"]["difference"]);
  EXPECT_EQ(answer["mistakes"][0]["after"], answer["explains"]["left"]);
  const json& array = answer["arrays"][0];
  EXPECT_EQ(array["name"], "attentions");
  // What is reported is what the files hold.
  const json attn = json::parse(*read_file(a))["attention"][0]["attn"];
  const auto other = read_npz(b);
  ASSERT_TRUE(other);
  const auto& values = other->arrays.at("attentions").values;
  float largest = 0;
  std::size_t at = 0;
  for (const json& row : attn[0][0])
    for (const json& weight : row) largest = std::max(largest, std::abs(weight.get<float>() - values[at++]));
  for (const json& row : attn[0][1])
    for (const json& weight : row) largest = std::max(largest, std::abs(weight.get<float>() - values[at++]));
  EXPECT_EQ(array["max_abs"].get<float>(), largest);
  ASSERT_EQ(array["at"].size(), 4u);
  const auto cell = [&](const json& place) {
    return attn[place[0].get<std::size_t>()][place[1].get<std::size_t>()][place[2].get<std::size_t>()]
               [place[3].get<std::size_t>()]
                   .get<float>();
  };
  EXPECT_EQ(array["largest"]["expected"].get<float>(), cell(array["at"]));
  EXPECT_EQ(array["first"]["expected"].get<float>(), cell(array["first"]["at"]));

  const Ran text = run({"diagnose", a, b});
  EXPECT_EQ(text.status, 1);
  EXPECT_TRUE(contains(text.out, "first difference: attentions, L0·H0, query 0 '我', key ")) << text.out;
  EXPECT_TRUE(contains(text.out, "diagnosis: scores multiplied by sqrt(d_k)\n")) << text.out;
}

TEST(DiagnoseCommand, MasksAreRecognisedBetweenExports) {
  const Folder folder;
  const std::string none = export_to(folder, "none.json");
  const std::string causal = export_to(folder, "causal.json", {"--mask", "causal"});
  EXPECT_EQ(compared({causal, none}, 1)["diagnosis"], "mask missing");
  EXPECT_EQ(compared({none, causal}, 1)["diagnosis"], nullptr);
  EXPECT_EQ(compared({none, causal, "--right", "b"}, 1)["diagnosis"], "A: mask missing");
  EXPECT_EQ(compared({none, causal, "--right", "either"}, 1)["otherwise"], "A: mask missing");
}

TEST(DiagnoseCommand, OtherWeightsHaveNoDiagnosis) {
  const Folder folder;
  const json answer = compared({export_to(folder, "a.json"), export_to(folder, "b.json", {"--seed", "5"})}, 1);
  EXPECT_EQ(answer["diagnosis"], nullptr);
  EXPECT_EQ(answer["first"], "attentions");
  EXPECT_EQ(answer["mistakes"][0]["code"], "unexplained");
}

TEST(DiagnoseCommand, ToleranceDecides) {
  const Folder folder;
  const std::string a = export_to(folder, "a.json"), b = export_to(folder, "b.json", {"--scale", "0.72"});
  EXPECT_EQ(run({"diagnose", a, b}).status, 1);
  EXPECT_EQ(run({"diagnose", a, b, "--tolerance", "1"}).status, 0);
  EXPECT_TRUE(contains(refused({"diagnose", a, b, "--tolerance", "-1"}), "--tolerance"));
  EXPECT_TRUE(contains(run({"diagnose", "--help"}).out, "relative to max(1"));
}

TEST(DiagnoseCommand, TheEarlierNameIsTakenAndInNoHelp) {
  const Folder folder;
  const std::string a = export_to(folder, "a.json"), b = export_to(folder, "b.json", {"--scale", "0.72"});
  const Ran earlier = run({"compare", a, b}), now = run({"diagnose", a, b});
  EXPECT_EQ(earlier.status, 1);
  EXPECT_EQ(earlier.out, now.out);
  EXPECT_EQ(earlier.err, now.err);
  EXPECT_EQ(run({"compare", "--help"}).out, run({"diagnose", "--help"}).out);
  EXPECT_TRUE(contains(run({"--help"}).out, "\n  diagnose "));
  EXPECT_FALSE(contains(run({"--help"}).out, "\n  compare "));
}

TEST(DiagnoseCommand, ReferenceAnswersOfTensorsFiles) {
  for (const char* name : {"tensors-self-6", "tensors-causal-7", "tensors-pad-8", "tensors-cross-4x6"}) {
    const std::string folder = golden(name).string();
    const json answer = compared({folder + "/input.safetensors", folder + "/expected.npz"}, 0);
    EXPECT_EQ(answer["equal"], true) << name << answer;
    EXPECT_GE(answer["arrays"].size(), 1u);
  }
  const std::string torch = golden("torch-attention-kdim").string();
  EXPECT_EQ(compared({torch + "/layers.safetensors", torch + "/expected.npz"}, 0)["arrays"].size(), 2u);
}

TEST(DiagnoseCommand, RoundingToHalfPrecisionIsSaid) {
  const Folder folder;
  const std::string whole = export_to(folder, "a.npz"), half = export_to(folder, "b.npz", {"--dtype", "float16"});
  const Ran ran = run({"diagnose", whole, half});
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(contains(ran.err, "warning: " + half +
                                    ": attentions: numbers of float16 are rounded to more than the "
                                    "tolerance; --tolerance 4e-3 allows for it"))
      << ran.err;
  const Ran allowed = run({"diagnose", whole, half, "--tolerance", "4e-3"});
  EXPECT_EQ(allowed.status, 0);
  EXPECT_EQ(allowed.err, "");
  EXPECT_EQ(run({"diagnose", whole, whole}).err, "");
}

TEST(DiagnoseCommand, TheDocumentNamesItsTolerances) {
  const auto project = std::filesystem::path(HEADLIGHT_TEST_DATA).parent_path();
  const std::string document = *read_file(project / "docs" / "check-your-attention.md");
  const std::string half = kFloat16Tolerance, brain = kBfloat16Tolerance;
  EXPECT_TRUE(contains(document, "`--tolerance " + half + "` or `" + brain + "`"));
  EXPECT_EQ(kCompareTolerance, 2e-5f);
  EXPECT_TRUE(contains(document, "compared cell by cell, to 2e-5 or"));
}

TEST(DiagnoseCommand, OneFileIsItsOwnQuestion) {
  // Two tokens whose queries are themselves; the author multiplied by sqrt(d_k).
  const auto entry = [](const char* name, const char* shape, std::size_t from, std::size_t to) {
    return std::string("\"") + name + "\":{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":[" +
           std::to_string(from) + "," + std::to_string(to) + "]}";
  };
  float x[] = {1, 0.5f, -0.25f, 2, 0.5f, 1.5f};
  const auto file = [&](float scale) {
    std::vector<float> data;
    for (int i = 0; i < 3; ++i) {
      float row[3], sum = 0;
      for (int j = 0; j < 3; ++j) sum += row[j] = std::exp((x[2 * i] * x[2 * j] + x[2 * i + 1] * x[2 * j + 1]) * scale);
      for (const float cell : row) data.push_back(cell / sum);
    }
    data.insert(data.end(), std::begin(x), std::end(x));
    std::string header = R"({"__metadata__":{"num_heads":"1","tokens":"[\"a\",\"b\",\"c\"]"},)" +
                         entry("attentions", "[1,3,3]", 0, 36) + "," + entry("query", "[3,2]", 36, 60) + "}";
    header += std::string((8 - header.size() % 8) % 8, ' ');
    std::string bytes(8, '\0');
    for (int i = 0; i < 8; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<char>(header.size() >> (8 * i) & 255);
    return bytes + header + std::string(reinterpret_cast<const char*>(data.data()), data.size() * 4);
  };
  const Folder folder;
  const float root = std::sqrt(2.0f);
  const json right = compared({folder.with("right.safetensors", file(1 / root))}, 0);
  EXPECT_EQ(right["arrays"].size(), 1u);
  const std::string wrong = folder.with("wrong.safetensors", file(root));
  EXPECT_EQ(compared({wrong}, 1)["diagnosis"], "scores multiplied by sqrt(d_k)");
  EXPECT_EQ(compared({folder.with("none.safetensors", file(1))}, 1)["diagnosis"], "scores not divided by sqrt(d_k)");
  EXPECT_TRUE(contains(run({"diagnose", wrong}).out, "query 0 'a', key 0 'a'"));
  // Of inputs near 0 the weights are nearly even, and the mistake makes less than the tolerance.
  for (float& value : x) value *= 0.002f;
  EXPECT_EQ(compared({folder.with("right.safetensors", file(1 / root))}, 0)["diagnosis"], nullptr);
  const std::string small_inputs = folder.with("small.safetensors", file(root));
  const json hidden = compared({small_inputs}, 1);
  EXPECT_EQ(hidden["diagnosis"], "scores multiplied by sqrt(d_k)");
  EXPECT_EQ(hidden["equal"], false);
  EXPECT_TRUE(
      contains(run({"diagnose", small_inputs}).out, "so small that the difference is below the tolerance, 2e-05"));
  EXPECT_EQ(compared({small_inputs, "--tolerance", "1e-4"}, 0)["equal"], true) << "who asks for less is told less";
}

TEST(DiagnoseCommand, PyTorchFilesAreTaken) {
  const std::string saved = golden("torch-files/attention.pth").string();
  EXPECT_EQ(compared({saved}, 1)["diagnosis"], "scores not divided by sqrt(d_k)");
  const json answer = compared({saved}, 1);
  ASSERT_EQ(answer["verdicts"].size(), 1u);
  EXPECT_EQ(answer["verdicts"][0]["codes"], json::array({"scale_missing"}));
  EXPECT_EQ(answer["verdicts"][0]["arrays"][0]["array"], "attentions");
  EXPECT_LT(answer["verdicts"][0]["arrays"][0]["after"], 1e-5);
}

TEST(DiagnoseCommand, BadInputIsNamed) {
  const Folder folder;
  const std::string a = export_to(folder, "a.json");
  EXPECT_TRUE(contains(refused({"diagnose", a, (folder / "missing.json").string()}), "missing.json"));
  EXPECT_TRUE(
      contains(refused({"diagnose", a, folder.with("b.txt", "x")}), "b.txt: name: expected a file named .json"));
  EXPECT_TRUE(contains(refused({"diagnose", a, folder.with("b.json", "{\"attention\":[{\"attn\":[[[[1,2],[3]]]]}]}")}),
                       "attention[0].attn[0][0][1]: expected 2 entries"));
  EXPECT_TRUE(contains(refused({"diagnose", a}), "query: expected the inputs of the attention, or a second file"));
  EXPECT_TRUE(contains(refused({"diagnose", golden("tensors-self-6/input.safetensors").string()}),
                       "as your implementation computed them"));
  EXPECT_EQ(lines_of(refused({"diagnose"})), 1);
  EXPECT_EQ(run({"diagnose", a, a}, "", "/dev/full").status, 2);
}

}  // namespace
}  // namespace headlight
