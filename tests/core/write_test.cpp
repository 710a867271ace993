// Exports: every format gives back the numbers that the core computed.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <limits>
#include <map>
#include <sstream>

#include "base/formatted.h"
#include "exported.h"
#include "math/attention.h"
#include "math/output.h"
#include "read/array/npz.h"
#include "read/array/safetensors.h"
#include "read/json/json_document.h"
#include "write/export.h"
#include "write/json.h"
#include "write/npz.h"

namespace headlight::write_test {
namespace {

using namespace exported;

constexpr float kInf = std::numeric_limits<float>::infinity();

/// attentions[layer][head] of a flat array (layers, heads, T, S).
Matrix pattern_of(const Array& array, Index layer, Index head) {
  const Index cells = array.shape[2] * array.shape[3];
  return Eigen::Map<const Matrix>(array.values.data() + (layer * array.shape[1] + head) * cells, array.shape[2],
                                  array.shape[3]);
}

void expect_same_arrays(const ArrayFile& file, const Trace& trace, const std::string& prefix) {
  const Array& attentions = file.arrays.at(prefix + "attentions");
  const std::vector<Index> shape = {trace.num_layers(), trace.num_heads(), trace.queries(), trace.keys()};
  ASSERT_EQ(attentions.shape, shape);
  for (Index layer = 0; layer < trace.num_layers(); ++layer)
    for (Index head = 0; head < trace.num_heads(); ++head)
      EXPECT_TRUE(same(pattern_of(attentions, layer, head), attention_rows(trace, {layer, head}, 0, trace.queries())));
  if (trace.model->given) {
    EXPECT_TRUE(same(matrix_of(file.arrays.at(prefix + "output")), trace.last_hidden_state()));
    EXPECT_FALSE(file.arrays.contains(prefix + "hidden_states"));
    return;
  }
  EXPECT_TRUE(same(matrix_of(file.arrays.at(prefix + "last_hidden_state")), trace.last_hidden_state()));
  const Array& hidden = file.arrays.at(prefix + "hidden_states");
  const Index tokens = trace.embedding.rows(), d_model = trace.embedding.cols();
  ASSERT_EQ(hidden.shape, (std::vector<Index>{trace.num_layers() + 1, tokens, d_model}));
  for (Index layer = 0; layer <= trace.num_layers(); ++layer) {
    const Eigen::Map<const Matrix> state(hidden.values.data() + layer * tokens * d_model, tokens, d_model);
    EXPECT_TRUE(same(state, layer == 0 ? trace.embedding : trace.blocks[static_cast<std::size_t>(layer - 1)].output));
  }
}

TEST(NpzExport, ReadsBackTheSameArrays) {
  for (const auto& trace : {trace_of({"a", "b", "c"}, true), cross_trace()}) {
    const auto file = parse_npz("f", bytes_written({trace}, Format::npz));
    ASSERT_TRUE(file) << file.error().message();
    expect_same_arrays(*file, *trace, "");
  }
}

TEST(NpzExport, OptionsAddQueriesKeysValuesAndScores) {
  const auto trace = trace_of({"a", "b", "c"}, true);
  for (const Format format : {Format::npz, Format::safetensors}) {
    const std::string bytes = bytes_written({trace}, format, {.queries_keys_values = true, .scores = true});
    const auto file = format == Format::npz ? parse_npz("f", bytes) : parse_safetensors("f", bytes);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(file->arrays.size(), 7u);
    for (const auto& [name, field] : {std::pair{"queries", &AttentionTrace::query},
                                      {"keys", &AttentionTrace::key},
                                      {"values", &AttentionTrace::value}}) {
      const Array& array = file->arrays.at(name);
      ASSERT_EQ(array.shape, (std::vector<Index>{2, 3, 3, 4})) << name;
      EXPECT_TRUE(same(pattern_of(array, 1, 2), Matrix{head_columns(trace->blocks[1].self.*field, 2, 3)})) << name;
    }
    const Array& scores = file->arrays.at("scores");
    EXPECT_TRUE(same(pattern_of(scores, 1, 2), score_rows(*trace, {1, 2}, 0, 3)));
    EXPECT_EQ(scores.values[1], -kInf);
  }
}

TEST(NpzExport, OneHeadAloneIsThatPartOfAll) {
  const auto trace = trace_of({"a", "b", "c"}, true);
  const ExportOptions one{.queries_keys_values = true, .scores = true, .only = {HeadRef{1, 2}}};
  for (const Format format : {Format::npz, Format::safetensors}) {
    const std::string bytes = bytes_written({trace}, format, one);
    const auto file = format == Format::npz ? parse_npz("f", bytes) : parse_safetensors("f", bytes);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(file->arrays.size(), 5u) << "no hidden states, no logits";
    const Array& attentions = file->arrays.at("attentions");
    ASSERT_EQ(attentions.shape, (std::vector<Index>{1, 1, 3, 3}));
    EXPECT_TRUE(same(pattern_of(attentions, 0, 0), attention_rows(*trace, {1, 2}, 0, 3)));
    EXPECT_TRUE(
        same(pattern_of(file->arrays.at("queries"), 0, 0), Matrix{head_columns(trace->blocks[1].self.query, 2, 3)}));
  }
  const auto json = parse_json("f", bytes_written({trace}, Format::json, {.only = one.only}));
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ((*json)["only"], (nlohmann::json{{"stack", "Self"}, {"layer", 1}, {"head", 2}}));
  EXPECT_EQ((*json)["attention"][0]["attn"].size(), 1u);
  EXPECT_EQ((*json)["attention"][0]["attn"][0][0][2][1].get<float>(), attention_rows(*trace, {1, 2}, 2, 1)(0, 1));
}

TEST(Export, SeveralHeadsAreInTheirOrder) {
  const auto trace = trace_of({"a", "b", "c"}, true);
  const ExportOptions some{.queries_keys_values = true, .only = {HeadRef{1, 2}, HeadRef{0, 1}}};
  for (const Format format : {Format::npz, Format::safetensors}) {
    const std::string bytes = bytes_written({trace}, format, some);
    const auto file = format == Format::npz ? parse_npz("f", bytes) : parse_safetensors("f", bytes);
    ASSERT_TRUE(file) << file.error().message();
    const Array& attentions = file->arrays.at("attentions");
    ASSERT_EQ(attentions.shape, (std::vector<Index>{1, 2, 3, 3}));
    EXPECT_TRUE(same(pattern_of(attentions, 0, 0), attention_rows(*trace, {1, 2}, 0, 3)));
    EXPECT_TRUE(same(pattern_of(attentions, 0, 1), attention_rows(*trace, {0, 1}, 0, 3)));
    EXPECT_TRUE(same(pattern_of(file->arrays.at("keys"), 0, 1), Matrix{head_columns(trace->blocks[0].self.key, 1, 3)}));
  }
  const auto json = parse_json("f", bytes_written({trace}, Format::json, {.only = some.only}));
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ((*json)["only"], (nlohmann::json{{"stack", "Self"}, {"heads", {"1.2", "0.1"}}}));
  EXPECT_EQ((*json)["attention"][0]["attn"][0].size(), 2u);
  const std::string csv = bytes_written({trace}, Format::csv, {.only = some.only});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * 9);
  EXPECT_TRUE(csv.find("\nSelf,1,2,0,0,") < csv.find("\nSelf,0,1,0,0,")) << csv;
  const auto pair = answered(encoder_decoder_request({"a", "b", "c"}, {"x", "y"}));
  Progress progress;
  const auto mixed = write_export({pair}, {""}, Format::json, {.only = {HeadRef{0, 0}, HeadRef{0, 0, Stack::cross}}},
                                  std::nullopt, progress);
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().message(), "--only: expected heads of one attention, found 0.0 and cross:0.0");
}

TEST(Export, Float16IsTheRoundedNumberInHalfTheBytes) {
  const auto trace = trace_of({"a", "b", "c"}, true);
  const ExportOptions half{.scores = true, .type = TensorType::float16};
  for (const Format format : {Format::npz, Format::safetensors}) {
    const std::string bytes = bytes_written({trace}, format, half);
    const auto file = format == Format::npz ? parse_npz("f", bytes) : parse_safetensors("f", bytes);
    ASSERT_TRUE(file) << file.error().message();
    const Matrix exact = attention_rows(*trace, {1, 2}, 0, 3);
    const Matrix rounded = exact.cast<Eigen::half>().cast<float>();
    EXPECT_TRUE(same(pattern_of(file->arrays.at("attentions"), 1, 2), rounded));
    EXPECT_EQ(file->arrays.at("scores").values[1], -kInf);
  }
  EXPECT_EQ(2 * bytes_of_export({trace}, half), bytes_of_export({trace}, {.scores = true}));
  EXPECT_EQ(bytes_of_export({trace}, {.only = {HeadRef{0, 0}}}), 3u * 3 * 4);
}

TEST(Export, ANumberBeyondFloat16IsNamed) {
  ArrayStream array;
  array.name = "scores";
  array.shape = {2, 2};
  array.axes = {"query", "key"};
  Matrix piece(1, 2);
  piece << 65504, 65536;
  const auto halves = halves_of(array, 2, piece);
  ASSERT_FALSE(halves);
  EXPECT_TRUE(halves.error().message().starts_with("scores: query 1 key 1: expected a number that float16 holds"))
      << halves.error().message();
}

TEST(CsvExport, OneHeadAloneKeepsItsNumbers) {
  const auto trace = answered(encoder_decoder_request({"a", "b", "c"}, {"x", "y"}));
  const std::string text = bytes_written({trace}, Format::csv, {.only = {HeadRef{1, 0, Stack::cross}}});
  EXPECT_TRUE(text.starts_with("stack,layer,head,query,key,query_token,key_token,weight\nCross,1,0,0,0,x,a,")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 * 3);
}

TEST(Export, AHeadThatIsNotThereIsRefused) {
  const auto trace = trace_of({"a", "b"});
  for (const HeadRef head : {HeadRef{2, 0}, HeadRef{0, 3}, HeadRef{0, 0, Stack::cross}}) {
    Progress progress;
    const auto written = write_export({trace}, {""}, Format::json, {.only = {head}}, std::nullopt, progress);
    ASSERT_FALSE(written);
    EXPECT_TRUE(written.error().message().starts_with("export: head: expected one that the model has, found"));
  }
}

TEST(NpzExport, ABatchNumbersItsArrays) {
  const auto first = trace_of({"a", "b"}), second = trace_of({"c"});
  for (const Format format : {Format::npz, Format::safetensors}) {
    const std::string bytes = bytes_written({first, second}, format);
    const auto file = format == Format::npz ? parse_npz("f", bytes) : parse_safetensors("f", bytes);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(file->arrays.size(), 6u);
    expect_same_arrays(*file, *first, "0.");
    expect_same_arrays(*file, *second, "1.");
  }
}

TEST(NpzExport, AnEncoderDecoderHasThreeAttentions) {
  const auto trace = answered(encoder_decoder_request({"a", "b", "c"}, {"x", "y"}));
  for (const Format format : {Format::npz, Format::safetensors}) {
    const std::string bytes = bytes_written({trace}, format, {.queries_keys_values = true, .scores = true});
    const auto file = format == Format::npz ? parse_npz("f", bytes) : parse_safetensors("f", bytes);
    ASSERT_TRUE(file) << file.error().message();
    const std::map<std::string, std::vector<Index>> shapes = {
        {"encoder_attentions", {1, 3, 3, 3}},  {"decoder_attentions", {2, 3, 2, 2}},
        {"cross_attentions", {2, 3, 2, 3}},    {"encoder_queries", {1, 3, 3, 4}},
        {"encoder_keys", {1, 3, 3, 4}},        {"encoder_values", {1, 3, 3, 4}},
        {"decoder_queries", {2, 3, 2, 4}},     {"decoder_keys", {2, 3, 2, 4}},
        {"decoder_values", {2, 3, 2, 4}},      {"cross_queries", {2, 3, 2, 4}},
        {"cross_keys", {2, 3, 3, 4}},          {"cross_values", {2, 3, 3, 4}},
        {"encoder_scores", {1, 3, 3, 3}},      {"decoder_scores", {2, 3, 2, 2}},
        {"cross_scores", {2, 3, 2, 3}},        {"encoder_hidden_states", {2, 3, 12}},
        {"decoder_hidden_states", {3, 2, 12}}, {"encoder_last_hidden_state", {3, 12}},
        {"last_hidden_state", {2, 12}},        {"logits", {2, 5}}};
    EXPECT_EQ(file->arrays.size(), shapes.size());
    for (const auto& [name, shape] : shapes) {
      ASSERT_TRUE(file->arrays.contains(name)) << name;
      EXPECT_EQ(file->arrays.at(name).shape, shape) << name;
    }
    for (const auto& [name, stack] :
         {std::pair{"encoder", Stack::encoder}, {"decoder", Stack::self}, {"cross", Stack::cross}}) {
      const Array& attentions = file->arrays.at(std::string(name) + "_attentions");
      const Index layer = trace->num_layers(stack) - 1;
      EXPECT_TRUE(
          same(pattern_of(attentions, layer, 2), attention_rows(*trace, {layer, 2, stack}, 0, trace->queries(stack))))
          << name;
      const Array& scores = file->arrays.at(std::string(name) + "_scores");
      EXPECT_TRUE(same(pattern_of(scores, layer, 1), score_rows(*trace, {layer, 1, stack}, 0, trace->queries(stack))))
          << name;
    }
    const Matrix logits = matrix_of(file->arrays.at("logits"));
    EXPECT_TRUE(same(logits, logit_rows(*trace, 0, 2)));
    EXPECT_TRUE(same(logits.row(1), trace->logits)) << "the last token says the next word";
    if (format == Format::npz) continue;
    EXPECT_EQ(file->metadata.at("tokens"), R"(["a","b","c"])");
    EXPECT_EQ(file->metadata.at("target_tokens"), R"(["x","y"])");
    EXPECT_FALSE(file->metadata.contains("key_tokens"));
  }
}

TEST(NpzExport, GroupedHeadsHaveFewerKeysThanQueries) {
  Request request;
  request.config = {.d_model = 12, .num_heads = 4, .num_kv_heads = 2, .head_dim = 5, .num_layers = 1, .ffn = 0};
  request.tokens = plain_tokens({"a", "b", "c"});
  const auto trace = answered(request);
  const auto file = parse_npz("f", bytes_written({trace}, Format::npz, {.queries_keys_values = true}));
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->arrays.at("queries").shape, (std::vector<Index>{1, 4, 3, 5}));
  for (const auto& [name, field] : {std::pair{"keys", &AttentionTrace::key}, {"values", &AttentionTrace::value}}) {
    ASSERT_EQ(file->arrays.at(name).shape, (std::vector<Index>{1, 2, 3, 5})) << name;
    EXPECT_TRUE(
        same(pattern_of(file->arrays.at(name), 0, 1), Matrix{head_columns(trace->blocks[0].self.*field, 1, 2)}));
  }
}

TEST(NpzExport, HiddenStatesEndBeforeTheFinalNormAndLogitsAreOfEveryToken) {
  Request request;
  request.config = {.d_model = 12, .num_heads = 3, .num_layers = 2, .ffn = 8, .norm = Norm::pre};
  request.tokens = plain_tokens({"a", "b", "c"});
  request.vocabulary = vocabulary_of({"a", "b"});
  const auto trace = answered(request);
  const auto file = parse_npz("f", bytes_written({trace}, Format::npz));
  ASSERT_TRUE(file) << file.error().message();
  expect_same_arrays(*file, *trace, "");
  EXPECT_FALSE(same(trace->blocks[1].output, trace->last_hidden_state())) << "or this test says nothing";
  EXPECT_TRUE(same(matrix_of(file->arrays.at("logits")), logit_rows(*trace, 0, 3)));
}

TEST(NpzExport, AttentionComputedElsewhereIsAllThereIs) {
  const auto trace = pattern_trace(2);
  for (const Format format : {Format::npz, Format::safetensors}) {
    const std::string bytes = bytes_written({trace}, format, {.queries_keys_values = true, .scores = true});
    const auto file = format == Format::npz ? parse_npz("f", bytes) : parse_safetensors("f", bytes);
    ASSERT_TRUE(file) << file.error().message();
    ASSERT_EQ(file->arrays.size(), 1u);
    EXPECT_TRUE(same(pattern_of(file->arrays.at("attentions"), 0, 1), Matrix::Constant(2, 3, 0.25f)));
  }
}

TEST(NpzExport, HeadersAreNumPysOwn) {
  const std::string header = npy_header({2, 3});
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(0, 70),
            std::string("\x93NUMPY\1\0\x76\0", 10) + "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ");
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(npy_header({7}).find("(7,), }"), std::string::npos);
  EXPECT_NE(npy_header({}).find("(), }"), std::string::npos);
}

TEST(SafetensorsExport, ReadsBackTheSameArrays) {
  for (const auto& trace : {trace_of({"a", "\"b", "c"}, true), cross_trace()}) {
    const std::string bytes = bytes_written({trace}, Format::safetensors);
    const auto file = parse_safetensors("f", bytes);
    ASSERT_TRUE(file) << file.error().message();
    expect_same_arrays(*file, *trace, "");
    EXPECT_EQ(file->metadata.at("format"), "headlight.attention/1");
    EXPECT_EQ(file->metadata.at("tokens"), json_texts(trace->query_tokens()));
    EXPECT_EQ(file->metadata.contains("key_tokens"), trace->model->given.has_value());
    EXPECT_EQ(static_cast<unsigned char>(bytes[0]) % 8, 0);
  }
}

TEST(CsvExport, HasALineForEveryWeight) {
  const auto trace = trace_of({"a,b", "\"", "c\nd"}, true);
  const std::string text = bytes_written({trace}, Format::csv);
  EXPECT_TRUE(
      text.starts_with("stack,layer,head,query,key,query_token,key_token,weight\n"
                       "Self,0,0,0,0,\"a,b\",\"a,b\",1\n"
                       "Self,0,0,0,1,\"a,b\",\"\"\"\",0\n"
                       "Self,0,0,0,2,\"a,b\",\"c\nd\",0\n"))
      << text.substr(0, 300);
  const auto plain = trace_of({"x", "y"});
  std::istringstream lines(bytes_written({plain}, Format::csv));
  std::string line;
  std::getline(lines, line);
  for (Index layer = 0; layer < 2; ++layer)
    for (Index head = 0; head < 3; ++head)
      for (Index query = 0; query < 2; ++query)
        for (Index key = 0; key < 2; ++key) {
          std::string expected = "Self," + std::to_string(layer) + "," + std::to_string(head) + "," +
                                 std::to_string(query) + "," + std::to_string(key) + (query == 0 ? ",x" : ",y") +
                                 (key == 0 ? ",x," : ",y,");
          append_number(expected, attention_rows(*plain, {layer, head}, query, 1)(0, key));
          ASSERT_TRUE(std::getline(lines, line));
          EXPECT_EQ(line, expected);
        }
  EXPECT_FALSE(std::getline(lines, line));
  EXPECT_EQ(csv_field("a\rb"), "\"a\rb\"");
}

TEST(CsvExport, SaysWhichAttentionAWeightBelongsTo) {
  const auto trace = answered(encoder_decoder_request({"a", "b", "c"}, {"x", "y"}));
  std::istringstream lines(bytes_written({trace}, Format::csv));
  std::map<std::string, int> counts;
  std::string line, last;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    ++counts[line.substr(0, line.find(','))];
    last = line;
  }
  EXPECT_EQ(counts, (std::map<std::string, int>{{"Encoder", 3 * 9}, {"Decoder", 2 * 3 * 4}, {"Cross", 2 * 3 * 6}}));
  std::string expected = "Cross,1,2,1,2,y,c,";
  append_number(expected, attention_rows(*trace, {1, 2, Stack::cross}, 1, 1)(0, 2));
  EXPECT_EQ(last, expected);
}

TEST(CsvExport, ABatchHasAColumnMore) {
  const std::string text = bytes_written({trace_of({"a"}, false, 1), trace_of({"b"}, false, 1)}, Format::csv);
  EXPECT_EQ(text,
            "stack,layer,head,query,key,query_token,key_token,weight,sentence\n"
            "Self,0,0,0,0,a,a,1,0\nSelf,0,1,0,0,a,a,1,0\nSelf,0,2,0,0,a,a,1,0\n"
            "Self,0,0,0,0,b,b,1,1\nSelf,0,1,0,0,b,b,1,1\nSelf,0,2,0,0,b,b,1,1\n");
  const Folder folder;
  const auto status = write({trace_of({"a"})}, Format::csv, folder / "x", {.scores = true});
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message().find("export: --with: expected a format other than csv"), std::string::npos);
}

TEST(Export, NoPieceIsLargerThanABlockOfRows) {
  std::vector<std::string> texts;
  for (int i = 0; i < 600; ++i) texts.push_back("w" + std::to_string(i));
  const auto trace = trace_of(texts, false, 1);
  for (const auto& array : attention_arrays(*trace, {.queries_keys_values = true, .scores = true})) {
    std::size_t sum = 0;
    for (Index piece = 0; piece < array.pieces; ++piece) {
      const Matrix rows = array.piece(piece);
      EXPECT_LE(rows.size(), kRowBlock * 600);
      sum += static_cast<std::size_t>(rows.size());
    }
    EXPECT_EQ(sum, array.num_elements()) << array.name;
  }
  const auto file = parse_npz("f", bytes_written({trace}, Format::npz));
  ASSERT_TRUE(file) << file.error().message();
  expect_same_arrays(*file, *trace, "");
  const auto object = parse_json("f", bytes_written({trace}, Format::json));
  ASSERT_TRUE(object) << object.error().message();
  EXPECT_EQ((*object)["attention"][0]["attn"][0][2][599][598].get<float>(),
            attention_rows(*trace, {0, 2}, 599, 1)(0, 598));
}

TEST(Texts, OfAListTheFirstAreNamedAndTheOthersCounted) {
  const std::vector<std::string> names{"a", "b", "c"};
  EXPECT_EQ(first_texts(names, 3), "a, b, c");
  EXPECT_EQ(first_texts(names, 2), "a, b and 1 more");
  EXPECT_EQ(first_texts(std::vector<int>{7}, 2, [](int one) { return std::to_string(one); }), "7");
}

}  // namespace
}  // namespace headlight::write_test
