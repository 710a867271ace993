#include "session/file/session_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/session_fixture.h"
#include "base/random.h"
#include "model/batch_mask.h"
#include "models/open_model.h"
#include "question/json/document_json.h"
#include "session/file/open_file.h"

namespace headlight {
namespace {

using fixture::Folder;
using nlohmann::json;

constexpr float kBlocked = -std::numeric_limits<float>::infinity();

Session read_back(const Session& session) {
  const auto read = session_from_json("s.headlight.json", to_json(session));
  EXPECT_TRUE(read) << read.error().message();
  return read ? *read : Session{};
}

std::size_t roll(Random& random, std::size_t count) { return static_cast<std::size_t>(random.next() % count); }

void random_decoder_side(Document& document, Random& random) {
  Config& config = document.config;
  if (roll(random, 3) > 0) return;
  config.arch = Arch::encoder_decoder;
  config.encoder_layers = static_cast<Index>(roll(random, 3));
  document.target.text = "I 爱\nyou";
  document.target.split = roll(random, 2) ? Split::words : Split::characters;
  if (roll(random, 2)) document.target.hand_cuts = {2, 6};
  document.encoder_mask.padding = roll(random, 2) == 0;
  document.cross_mask.causal = roll(random, 2) == 0;
  if (roll(random, 2) == 0) document.mask.window = static_cast<Index>(roll(random, 5));
  document.mask.chunk = static_cast<Index>(roll(random, 3));
  document.mask.prefix = static_cast<Index>(roll(random, 3));
  if (roll(random, 2)) document.cross_mask.painted = {{1, 2, false}};
}

void random_edits(Document& document, Random& random) {
  Config& config = document.config;
  config.norm_kind = roll(random, 2) ? NormKind::layer_norm : NormKind::rms_norm;
  config.gated = roll(random, 2) == 0;
  config.rotary_columns = 2 * roll(random, 3);
  config.softcap = roll(random, 2) == 0 ? 0 : random.uniform() * 50;
  config.sinks = roll(random, 2) == 0;
  config.tied = roll(random, 2) == 0;
  if (roll(random, 2)) config.num_kv_heads = 1;
  if (roll(random, 2)) config.head_dim = static_cast<Index>(1 + roll(random, 9));
  Edits& edits = document.edits;
  const auto stack = [&] { return kStacks[roll(random, 3)]; };
  const auto index = [&] { return static_cast<Index>(roll(random, 9)); };
  if (roll(random, 2)) edits.scale = random.symmetric(4);
  for (std::size_t i = roll(random, 4); i > 0; --i) switch_off(edits, {index(), index(), stack()}, true);
  edits.off_as = roll(random, 2) ? OffAs::zero : OffAs::mean;
  for (std::size_t i = roll(random, 4); i > 0; --i)
    set_weight(edits, {index(), index(), stack()}, {index(), index()}, random.uniform());
  if (roll(random, 2)) set_layer_edit(edits, {.stack = stack(), .layer = index(), .scale = random.symmetric(2)});
  if (roll(random, 2)) {
    MaskSpec mask{.causal = roll(random, 2) == 0, .padding = roll(random, 2) == 0};
    if (roll(random, 2)) mask.painted = {{0, 1, true}, {3, 2, false}};
    set_layer_edit(edits, {.stack = stack(), .layer = index(), .mask = mask});
  }
  if (roll(random, 2)) {
    edits.dropout = random.uniform();
    edits.dropout_seed = random.next();
  }
}

Document random_document(Random& random) {
  const auto below = [&](std::size_t count) { return roll(random, count); };
  const std::vector<std::string> pieces{"我", "请", " cat", "😀", "\n", "e\u0301", "\"\\", "|", "\t", "𠀀"};
  Document document;
  document.source.text.clear();
  for (std::size_t i = below(12); i > 0; --i) document.source.text += pieces[below(pieces.size())];
  document.source.split = below(2) ? Split::words : Split::characters;
  if (below(2)) {
    document.source.hand_cuts.emplace();
    for (std::size_t at = 1; at < document.source.text.size(); ++at)
      if (is_boundary(document.source.text, at) && below(2)) document.source.hand_cuts->push_back(at);
  }
  document.pad = below(20);
  Config& config = document.config;
  config.arch = below(2) ? Arch::encoder : Arch::decoder;
  config.num_heads = static_cast<Index>(1 + below(8));
  config.d_model = config.num_heads * static_cast<Index>(1 + below(16));
  config.num_layers = static_cast<Index>(1 + below(6));
  config.ffn = static_cast<Index>(below(300));
  config.position = below(2) ? Position::none : Position::sinusoidal;
  config.norm = below(2) ? Norm::post : Norm::pre;
  config.activation = below(2) ? Activation::relu : Activation::gelu;
  config.bias = {below(2) == 0, below(2) == 0, below(2) == 0, below(2) == 0, below(2) == 0};
  config.seed = random.next();
  document.mask.causal = below(2) == 0;
  document.mask.padding = below(2) == 0;
  for (std::size_t i = below(5); i > 0; --i)
    paint(document.mask.painted, {static_cast<Index>(below(9)), static_cast<Index>(below(9)), below(2) == 0});
  if (below(2)) {
    Matrix given(static_cast<Index>(1 + below(4)), static_cast<Index>(1 + below(4)));
    for (Index i = 0; i < given.size(); ++i)
      given.data()[i] = below(3) == 0 ? kBlocked : below(3) == 0 ? 0.0f : random.symmetric(1e3f);
    document.mask.given = std::make_shared<const Matrix>(given);
    document.mask.heads = below(2) == 0 ? given.rows() : 1;
    if (below(2) == 0) {
      document.mask.heads = 1;
      document.mask.given = nullptr;
      document.mask.batch = std::make_shared<const BatchMask>(
          below(2) == 0
              ? BatchMask{{1, 2, 2}, {0.0f, kBlocked, random.symmetric(1e3f), 0.0f}, /*sentences_first=*/below(2) == 0}
              : BatchMask{{1, 1, 2}, {0.0f, kBlocked, random.symmetric(1e3f), 0.0f}, true, /*heads=*/2});
    }
  }
  random_decoder_side(document, random);
  random_edits(document, random);
  return document;
}

TEST(SessionFile, AnyDocumentReadsBackEqual) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    Session session;
    session.document = random_document(random);
    const Session read = read_back(session);
    ASSERT_EQ(read.document, session.document) << to_json(session);
    ASSERT_EQ(read.view, session.view);
  }
}

TEST(SessionFile, LargestSeedAndSmallestNumbersReadBack) {
  Session session;
  session.document.config.seed = std::uint64_t{1} << 63;
  session.document.edits.scale = 0.1f;
  EXPECT_EQ(read_back(session).document, session.document);
  session.document.config.seed = std::numeric_limits<std::uint64_t>::max();
  using Limits = std::numeric_limits<float>;
  for (const float scale : {Limits::denorm_min(), Limits::max(), -0.0f, 1e-30f}) {
    session.document.edits.scale = scale;
    EXPECT_EQ(read_back(session).document, session.document) << scale;
  }
}

TEST(SessionFile, TheLookReadsBack) {
  Session session;
  session.document.source.text = "a\nb\nc";
  session.view.sentence = 2;
  session.view.prefix = 2;
  session.view.chosen = {1, 3, Stack::cross};
  session.view.look.matrix = matrix_id(Quantity::weights, session.view.chosen);  // it goes with the chosen head
  session.view.scale = Scale::log;
  session.view.own_range = true;
  session.view.grid = GridShow::relations;
  session.view.fold = {.special = true, .words = false};
  session.view.pinned = CellRef{4, 5};
  session.view.viewport = {1, 6, 2, 7};
  session.view.compared = {2, 5, 3, 4};
  session.view.code = {Dialect::einsum, true};
  EXPECT_EQ(read_back(session).view, session.view);
  session.view.fold = {.special = false, .words = true};
  EXPECT_EQ(read_back(session).view, session.view);
}

TEST(SessionFile, AnUnknownFormOfTheHeadsIsMaps) {
  json object = json::parse(to_json(Session{}));
  for (const char* name : {"row", "column", "no such"}) {
    object["view"]["grid"] = name;
    EXPECT_EQ(session_from_json("s.headlight.json", object.dump())->view.grid, GridShow::maps) << name;
  }
  Session session;
  session.view.grid = GridShow::all;
  EXPECT_EQ(json::parse(to_json(session))["view"]["grid"], "glance") << "as --view names it";
}

TEST(SessionFile, EarlierNamesAreReadOfTheFormOfTheHeadsAlone) {
  json object = json::parse(to_json(Session{}));
  object["view"] = {{"grid", "layers"}, {"view", "steps"}};
  const auto read = session_from_json("s.headlight.json", object.dump());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->view.grid, GridShow::all);
  EXPECT_EQ(read->view.view, View::heads);
}

TEST(SessionFile, RequestIsOneLineAndNamesTheSentenceOfABatch) {
  Document document;
  document.source.text = "a\nb";
  const std::string one = request_json(document), second = request_json(document, 1);
  EXPECT_EQ(one.find('\n'), std::string::npos);
  EXPECT_FALSE(json::parse(one).contains("sentence"));
  EXPECT_EQ(json::parse(second)["sentence"], 1);
  EXPECT_EQ(json::parse(second)["text"], "a\nb");
}

TEST(SessionFile, TensorsAreReadAgainFromWhereverTheyWere) {
  const Folder folder;
  std::filesystem::copy_file(fixture::golden("tensors-pad-8/input.safetensors"), folder / "w.safetensors");
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const auto opened = open_model("w.safetensors");
  std::filesystem::current_path(here);
  ASSERT_TRUE(opened) << opened.error().message();
  Session session{opened->document, {}};
  session.document.edits.scale = 0.3f;
  const std::string path = folder.with("s.headlight.json", to_json(session));
  const auto read = read_session(path);
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_TRUE(read->document.model);
  EXPECT_TRUE(same(read->document.model->given->stacks.at(Stack::self).query,
                   session.document.model->given->stacks.at(Stack::self).query));
  EXPECT_EQ(read->document.model->config, session.document.model->config);
  EXPECT_EQ(read->document.mask, session.document.mask);
  EXPECT_EQ(read->document.edits, session.document.edits);
  EXPECT_EQ(read->document.model_path, session.document.model_path);

  std::filesystem::remove(folder / "w.safetensors");
  const auto gone = read_session(path);
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message().find("w.safetensors"), std::string::npos);
}

TEST(SessionFile, ASourceBesideTheSessionIsFoundInAFolderOfAnyName) {
  const Folder folder;
  const auto opened = open_model(fixture::golden("tensors-pad-8/input.safetensors"));
  ASSERT_TRUE(opened) << opened.error().message();
  Session session{opened->document, {}};
  session.document.model_path = "/gone/w.safetensors";
  for (const char* name : {"ab", "a: b"}) {
    const std::filesystem::path inner = folder / name;
    std::filesystem::create_directory(inner);
    std::filesystem::copy_file(fixture::golden("tensors-pad-8/input.safetensors"), inner / "w.safetensors");
    const auto read = read_session(folder.with(std::string(name) + "/s.headlight.json", to_json(session)));
    EXPECT_TRUE(read) << read.error().message();
  }
}

TEST(SessionFile, FieldsOfOtherVersionsAreNoReasonToRefuse) {
  json object = json::parse(to_json(Session{}));
  object["request"]["of_tomorrow"] = {1, 2};
  for (const char* later : {"norm_type", "gated", "tied", "target_split", "sinks", "softcap", "rotary_columns"})
    object["request"].erase(later);
  object["request"].erase("bias");
  const auto read = session_from_json("s.headlight.json", object.dump());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->document, Document{});
}

TEST(SessionFile, PartsThatAreOffAreKept) {
  Session session;
  session.document.edits.layers = {{.layer = 0, .parts = {.residual = true, .ffn = true}},
                                   {.layer = 1, .scale = 1.0f, .parts = {.norm = true}}};
  EXPECT_EQ(read_back(session).document.edits, session.document.edits);
}

TEST(SessionFile, ACheckpointIsReadAgainWithItsIds) {
  for (const char* name : {"gpt2", "marian"}) {
    const auto opened = open_model(fixture::golden(name));
    ASSERT_TRUE(opened) << opened.error().message();
    Session session{opened->document, {}};
    session.document.source.ids = {1, 5, 2};
    session.document.source.id_cuts = {2};
    session.document.target.ids =
        main_side(session.document) == TextSide::target ? std::vector<std::int64_t>{3} : std::vector<std::int64_t>{};
    session.document.pad = 1;
    session.document.edits.off = {{0, 1}};
    const Session read = read_back(session);
    ASSERT_TRUE(read.document.model) << name;
    EXPECT_EQ(read.document.source.ids, session.document.source.ids);
    EXPECT_EQ(read.document.source.id_cuts, session.document.source.id_cuts);
    EXPECT_EQ(read.document.target.ids, session.document.target.ids);
    EXPECT_EQ(read.document.pad, 1u);
    EXPECT_EQ(read.document.mask, session.document.mask);
    EXPECT_TRUE(read.document.mask.causal);
    EXPECT_EQ(read.document.edits, session.document.edits);
    EXPECT_EQ(read.document.model->config, session.document.model->config);
  }
}

TEST(OpenAny, AFolderIsACheckpointAndAnExportIsAttention) {
  const auto folder = open_any(fixture::golden("gpt2"));
  ASSERT_TRUE(folder) << folder.error().message();
  EXPECT_EQ(folder->kind, OpenFile::Kind::document);
  EXPECT_TRUE(reads_ids(folder->session.document));
  const Folder own;
  const auto bertviz =
      open_any(own.with("view.json", R"({"attention": [{"name": null, "attn": [[[[0.25, 0.75], [1, 0]]]],
      "left_text": ["a", "b"], "right_text": ["a", "b"]}]})"));
  ASSERT_TRUE(bertviz) << bertviz.error().message();
  EXPECT_EQ(bertviz->kind, OpenFile::Kind::document);
  EXPECT_TRUE(has_own_inputs(bertviz->session.document));
  Session session;
  session.document = bertviz->session.document;
  EXPECT_TRUE(has_own_inputs(read_back(session).document)) << "a session names the file";
}

TEST(OpenAny, KnowsAFileByItsEnding) {
  const Folder folder;
  const auto text = open_any(folder.with("t.txt", "\uFEFF我爱\r\n你\r\n\n"));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->kind, OpenFile::Kind::text);
  EXPECT_EQ(text->text, "我爱\r\n你");
  const auto mask = open_any(folder.with("m.json", "[[1, 0], [1, 1]]"));
  ASSERT_TRUE(mask);
  EXPECT_EQ(mask->kind, OpenFile::Kind::mask);
  EXPECT_EQ((*mask->mask.given)(0, 1), kBlocked);
  const auto session = open_any(folder.with("s.headlight.json", to_json(Session{})));
  ASSERT_TRUE(session);
  EXPECT_EQ(session->kind, OpenFile::Kind::session);
  const auto tensors = open_any(fixture::golden("tensors-self-6/input.safetensors"));
  ASSERT_TRUE(tensors);
  EXPECT_EQ(tensors->kind, OpenFile::Kind::document);
  EXPECT_FALSE(open_any(folder.with("x.bin", "")));
  EXPECT_FALSE(open_any(folder / "missing"));
  EXPECT_FALSE(open_any(folder.path()));
}

}  // namespace
}  // namespace headlight
