// The names of heads: relations where they were measured, else what the heads do in this sentence.
#include "figure/head_name.h"
#include "app/shipped.h"

#include <gtest/gtest.h>

#include <set>
#include "app/session_fixture.h"

#include "base/formatted.h"
#include "base/random.h"
#include "base/utf8.h"
#include "derived/head_stats.h"
#include "figure/labels.h"
#include "model/head_text.h"
#include "models/bundled_models.h"
#include "models/model_choice.h"
#include "models/open_model.h"
#include "train/run/training_files.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

struct AnsweredText {
  Document document;
  std::shared_ptr<const Trace> trace;
};

Document document_with_model(const std::string& model) {
  Document document = default_document(fixture::shipped().get());
  for (const BundledModel& one : *fixture::shipped())
    if (one.source == model) take_model(document, one);
  return document;
}

/// The model for any sentence is read from its folder when a sentence needs it, and once in this test program.
const Document& document_of_any_sentence() {
  static const auto opened = open_model(std::string(kAnySentence));
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message());
  return opened->document;
}

AnsweredText answered(const std::string& model, const std::string& text) {
  Document document = model == kAnySentence ? document_of_any_sentence() : document_with_model(model);
  document.mask.causal = is_causal_by_default(config_of(document).arch);
  set_text(document, TextSide::source, text, fixture::lexicon());
  auto requests = requests_of(document, fixture::lexicon());
  EXPECT_TRUE(requests);
  return {document, *forward(requests->front())};
}

HeadName name_of(const AnsweredText& answer, HeadRef head, Language language = Language::en) {
  return names_of(language, answer.document, *answer.trace, {head}).front();
}

TEST(HeadName, RelationsStandInTheDirectionOfLooking) {
  const AnsweredText answer = answered("shipped:encoder", std::string(kDefaultSentence));
  const std::pair<HeadRef, const char*> all[] = {{{1, 6}, "object → its verb"},
                                                 {{1, 1}, "subject → its verb, direction → its place"},
                                                 {{1, 2}, "verb → its subject, place → its direction"}};
  for (const auto& [head, words] : all) {
    const HeadName name = name_of(answer, head);
    EXPECT_NE(name.words.find(words), std::string::npos) << name.words;
    EXPECT_TRUE(name.named) << words;
  }
  EXPECT_NE(name_of(answer, {1, 5}).words.find("same person"), std::string::npos);
  EXPECT_EQ(name_of(answer, {1, 6}, Language::zh).words, "宾语 → 动词");
  // The object's row of that head has its largest weight on the verb: 机票 → 订了.
  Index key = 0;
  answer.trace->head({1, 6}).thumbnail.row(9).maxCoeff(&key);
  EXPECT_EQ(key, 5);
  const SentenceArcs arcs = named_arcs(answer.document, *answer.trace);
  const NamedArc* arc = arcs.at({1, 6}, {9, 5});
  ASSERT_NE(arc, nullptr);
  EXPECT_EQ(arc->relation, "VO");
  EXPECT_TRUE(arc->reversed);
  EXPECT_GT(arc->precision, 0.9);
}

TEST(HeadName, ListsWhatTheHeadDidInThisSentence) {
  EXPECT_EQ(name_of(answered("shipped:encoder", "The animal didn't cross the street because it was too tired."), {1, 5})
                .words,
            "pronoun → its noun");
  const AnsweredText answer = answered("shipped:any-sentence", "The teacher gave the students a difficult test.");
  const HeadName name = name_of(answer, {2, 0});
  EXPECT_EQ(name.words, "3 determiners; 5 words rest on <s>");
  EXPECT_EQ(name.brief, "3 determiners");
  EXPECT_EQ(name_of(answer, {2, 0}, Language::zh).brief, "3 个限定词");
  EXPECT_EQ(name_of(answer, {2, 3}).words, "rests here") << "there is no auxiliary";
  EXPECT_FALSE(name_of(answer, {2, 3}).named);
  const AnsweredText exam = answered("shipped:any-sentence", "老师说明天的考试取消了");
  EXPECT_GT(exam.trace->head({3, 0}).thumbnail(1, 2), 0.9f) << "老师 → 说";
  EXPECT_EQ(name_of(exam, {3, 0}).words, "5 words rest on <s>") << "a head whose words look elsewhere does not rest";
}

TEST(HeadName, WordsInPiecesRestAsTheMapOfWordsShowsThem) {
  const auto answer = answered("shipped:any-sentence", "Schwarzenegger visited Massachusetts with his granddaughter.");
  EXPECT_EQ(name_of(answer, {3, 0}).words, "5 words rest on <s>") << "Schwarzenegger looks at visited";
  EXPECT_EQ(name_of(answer, {3, 1}).words, "1 object; 5 words rest on <s>") << "the object has a name";
}

TEST(HeadName, NothingIsNamedThatTheSentenceOrAnEditTookFromWhatWasMeasured) {
  const auto named = [](const AnsweredText& answer) { return named_arcs(answer.document, *answer.trace).named.size(); };
  EXPECT_EQ(named(answered("shipped:encoder", "I am a student")), 0u) << "unknown words";
  AnsweredText answer = answered("shipped:any-sentence", "The teacher gave the students a difficult test.");
  EXPECT_GE(named(answer), 4u);
  const auto after = [&](auto&& change) {
    Request request = answer.trace->request;
    change(request);
    return named({answer.document, *forward(request)});
  };
  EXPECT_EQ(after([](Request& r) { r.mask.causal = true; }), 0u);
  EXPECT_EQ(after([](Request& r) { r.edits.scale = 0.3f; }), 0u);
  EXPECT_EQ(after([](Request& r) { switch_off(r.edits, {0, 0}, true); }), 0u);
  EXPECT_EQ(after([](Request& r) { set_weight(r.edits, {2, 0}, {1, 2}, 0.5f); }), 0u);
  EXPECT_EQ(after([](Request& r) { r.model = nullptr; }), 0u) << "random weights";
  EXPECT_GE(after([](Request&) {}), 4u);
}

TEST(HeadName, NamesByMeasuresAreTrueOfTheMapOfWords) {
  int checked = 0;
  for (const char* text :
       {"Hello", "猫睡觉", "Supercalifragilisticexpialidocious!", "Buffalo buffalo Buffalo buffalo buffalo"}) {
    const AnsweredText answer = answered("shipped:any-sentence", text);
    const auto folded = folded_maps(answer.trace, {.special = true, .words = true});
    const FoldedStack& words = *folded->stacks[static_cast<std::size_t>(Stack::self)];
    for (const HeadRef& head : heads_of(*answer.trace)) {
      const HeadName name = name_of(answer, head);
      const Matrix& map = words.map(head);
      const Index away = name.measure == Measure::next ? 1 : name.measure == Measure::previous ? -1 : 0;
      if (name.named || !name.measure || (away == 0 && name.measure != Measure::same)) continue;
      const float sum = map.diagonal(away).sum();
      EXPECT_NEAR(name.share, sum / static_cast<float>(map.rows() - (away != 0)), 1e-5f)
          << text << head_label(head) << name.words;
      ++checked;
    }
  }
  EXPECT_GT(checked, 3);
}

TEST(HeadName, TheStrongestCellOfAMapOfWordsIsThatOfTheMap) {
  const AnsweredText answer = answered("shipped:any-sentence", "The unbelievable kittens were snoring loudly.");
  const auto folded = folded_maps(answer.trace, {.special = true, .words = true});
  const FoldedStack& words = *folded->stacks[static_cast<std::size_t>(Stack::self)];
  int others = 0;
  for (const HeadRef& head : heads_of(*answer.trace)) {
    const CellRef cell = strongest_cell(*answer.trace, head, &words), token = strongest_cell(*answer.trace, head);
    const Index row = *words.fold.queries.group(cell.query), column = *words.fold.keys.group(cell.key);
    EXPECT_EQ(words.map(head)(row, column), words.map(head).maxCoeff()) << head_label(head);
    others += !words.fold.queries.together(cell.query, token.query) || !words.fold.keys.together(cell.key, token.key);
  }
  EXPECT_GT(others, 5) << "a piece of a word had more";
}

TEST(HeadName, TheOnlyCellOfAMapIsNoStrongestOne) {
  const auto line_of = [](const char* text) {
    const AnsweredText answer = answered("shipped:any-sentence", text);
    const auto folded = folded_maps(answer.trace, {.special = true, .words = true});
    const FoldedStack& words = *folded->stacks[static_cast<std::size_t>(Stack::self)];
    const CellRef cell = strongest_cell(*answer.trace, {}, &words);
    return lines_of_cell(Language::en, cell_of(*answer.trace, {}, cell, &words), nullptr, false).front();
  };
  EXPECT_TRUE(line_of("hello").starts_with("“hello” looks at itself")) << line_of("hello");
  EXPECT_TRUE(line_of("hello there").starts_with("Strongest between words")) << line_of("hello there");
  EXPECT_TRUE(line_of("猫。").starts_with("Strongest: ")) << "a mark is no word: " << line_of("猫。");
}

TEST(HeadName, NoMarkHasARelation) {
  const AnsweredText answer =
      answered("shipped:any-sentence", "Dr. Maria Lopez moved to Oslo in 1998 with three suitcases.");
  const SentenceArcs arcs = named_arcs(answer.document, *answer.trace);
  const auto text_of = [&](const SpeltWord& word) {
    return answer.trace->query_tokens().text.substr(word.begin, word.end - word.begin);
  };
  EXPECT_GT(arcs.named.size(), 4u);
  for (const NamedArc& arc : arcs.named)
    EXPECT_TRUE(text_of(arc.from) != "." && text_of(arc.to) != ".") << arc.relation;
}

TEST(HeadName, AWordOfAnotherSequenceIsNotItself) {
  const fixture::Folder folder;
  const auto opened = open_model(folder.with("cross.json", R"({"attention": [{"attn": [[[[0.9, 0.1], [0.2, 0.8]]]],
    "left_text": ["le", "chat"], "right_text": ["the", "cat"]}]})"));
  ASSERT_TRUE(opened);
  const auto requests = requests_of(opened->document, fixture::lexicon());
  ASSERT_TRUE(requests);
  const auto trace = forward(requests->front());
  ASSERT_TRUE(trace);
  EXPECT_FALSE(is_one_sequence(**trace, Stack::self));
  EXPECT_FALSE(cell_of(**trace, {0, 0}, {1, 1}).itself);
}

TEST(HeadName, WordsInPiecesHaveTheWeightOfTheMergedMap) {
  const AnsweredText answer = answered("shipped:any-sentence", "My neighbour sold the boat to his cousin.");
  const auto folded = folded_maps(answer.trace, {.words = true});
  const FoldedStack& words = *folded->stacks[static_cast<std::size_t>(Stack::self)];
  const SentenceArcs arcs = named_arcs(answer.document, *answer.trace);
  bool of_pieces = false;
  for (const NamedArc& arc : arcs.named) {
    of_pieces |= arc.from.count > 1;
    const Index row = *words.fold.queries.group(arc.cell.query), column = *words.fold.keys.group(arc.cell.key);
    EXPECT_NEAR(arc.weight, words.map(arc.head)(row, column), 1e-6f) << arc.relation;
  }
  EXPECT_TRUE(of_pieces) << "neighbour → sold";
}

TEST(HeadName, LayersThatAttendAsBeforeKeepTheirNames) {
  const AnsweredText answer =
      answered("shipped:any-sentence", "The old man gave his daughter a small book in the garden.");
  const TrainingCard& card = *answer.document.card;
  const SentenceArcs all = named_arcs(card, *answer.trace);
  const auto of_layers = [&](Index below) {
    std::vector<NamedArc> named;
    for (const NamedArc& arc : all.named)
      if (arc.head.layer < below) named.push_back(arc);
    return named;
  };
  const auto after = [&](auto&& change) {
    Request request = answer.trace->request;
    change(request.edits);
    return named_arcs(card, **forward(request)).named;
  };
  ASSERT_FALSE(of_layers(3).empty());
  ASSERT_LT(of_layers(3).size(), all.named.size());
  EXPECT_EQ(after([](Edits& edits) { switch_off(edits, {3, 7}, true); }), all.named) << "no later layer looks";
  EXPECT_EQ(after([](Edits& edits) { switch_off(edits, {2, 0}, true); }), of_layers(3));
  EXPECT_EQ(after([](Edits& edits) { set_weight(edits, {3, 0}, {1, 2}, 0.5f); }), of_layers(3));
  EXPECT_TRUE(after([](Edits& edits) { switch_off(edits, {1, 0}, true); }).empty());
}

TEST(HeadName, ATextOfNoMeasuredKindHasNoNames) {
  constexpr const char* kTaught[] = {
      "The quick brown fox jumps over the lazy dog.",
      "The archaeologist deciphered a cuneiform tablet from Nineveh.",
      "Photosynthesis converts sunlight into chemical energy.",
      "He quickly googled the defenestration of Prague.",
      "She was diagnosed with fibromyalgia last winter.",
      "Our committee postponed the quinquennial jamboree.",
      "The trophy does not fit in the suitcase because it is too big.",
      "The cat sat on the mat.",
      "Antidisestablishmentarianism is a long word.",
      "John Smith lives in Massachusetts.",
      "我昨天在图书馆看了一本关于天安门的书。",
      "小猫饿坏了，它没有吃鱼。",
      "他告诉我，他要走了。",
      "经济发展了，人民生活水平提高了。",
      "我用 Kubernetes 部署了三个服务。",
      "The NASA team and the UNESCO committee met at 5 p.m. in the old library.",
      "A well-known author - e.g. the winner of last year - will read from her book.",
  };
  constexpr const char* kOthers[] = {
      "for i in range(10): print(i)",
      "int main() { return x[0] + y; }",
      "SELECT name FROM users WHERE id = 4 ORDER BY name",
      "INSERT INTO orders VALUES (1, 'book')",
      "if user is not None and user.name in names: return user",
      "git commit -m \"fix the bug in the parser\"",
      "ticket the booked she tired because it",
      "我昨天在超市買了三斤蘋果",
      "這是學生們學習的圖書館。",
      "The cat 喜欢 the 鱼 and 我们 like it",
      "Le chat noir dort sur le canapé du salon.",
      "Je voudrais réserver une table pour deux personnes ce soir.",
      "Les enfants jouent dans le jardin avec leurs amis.",
      "Il a mangé une pomme et bu un verre d'eau.",
      "Ma sœur travaille à l'hôpital depuis trois ans.",
      "Der Hund schläft unter dem Tisch in der Küche.",
      "Ich habe gestern ein neues Buch gekauft.",
      "Die Kinder spielen im Garten mit ihren Freunden.",
      "Wir fahren morgen mit dem Zug nach Berlin.",
      "Meine Schwester arbeitet seit drei Jahren im Krankenhaus.",
      "El gato duerme en la mesa de la cocina.",
      "Me gustaría reservar una mesa para dos personas.",
      "Los niños juegan en el jardín con sus amigos.",
      "Mi hermana trabaja en un hospital desde hace tres años.",
      "Ayer compré un libro nuevo en la librería.",
  };
  for (const char* text : kTaught) {
    const AnsweredText answer = answered("shipped:any-sentence", text);
    EXPECT_TRUE(is_of_measured_kind(answer.trace->query_tokens())) << text;
  }
  for (const char* text : kOthers) {
    const AnsweredText answer = answered("shipped:any-sentence", text);
    EXPECT_TRUE(named_arcs(answer.document, *answer.trace).named.empty()) << text;
  }
}

/// Every sentence of this project's treebank, and the same words in another order.
TEST(HeadName, ShuffledSentencesHaveNextToNoNames) {
  const auto treebanks = read_treebanks({fixture::golden("claims.conllu").string()});
  ASSERT_TRUE(treebanks) << treebanks.error().message();
  const Document& document = document_of_any_sentence();
  const ArcLabels& labels = *document.card->arcs;
  Random random(3);
  Index sentences = 0, silenced = 0, words = 0, named = 0, of_shuffled = 0;
  for (const TreebankSentence& sentence : treebanks->front().sentences) {
    if (sentence.words.size() < kFewestInOrder) continue;
    std::vector<std::string> order;
    for (const TreebankSentence::Word& word : sentence.words)
      order.push_back(sentence.text.substr(word.begin, word.end - word.begin));
    for (std::size_t left = order.size() - 1; left > 1; --left)  // the mark at the end stays there
      std::swap(order[left - 1], order[static_cast<std::size_t>(random.uniform() * static_cast<float>(left))]);
    const AnsweredText answer = answered(std::string(kAnySentence), sentence.text),
                       other = answered(std::string(kAnySentence), joined_texts(order, " "));
    const Tokens& tokens = answer.trace->query_tokens();
    ++sentences;
    silenced += !are_in_order(labels, is_in_chinese(tokens) ? ArcLanguage::chinese : ArcLanguage::english,
                              *answer.trace, spelt_words(tokens));
    words += std::ssize(order);
    named += std::ssize(named_arcs(answer.document, *answer.trace).named);
    of_shuffled += std::ssize(named_arcs(other.document, *other.trace).named);
  }
  ASSERT_GT(sentences, 30);
  EXPECT_LE(100 * silenced, 5 * sentences) << silenced << " of " << sentences;
  EXPECT_GE(4 * named, words) << named << " in " << words;
  EXPECT_LE(10 * of_shuffled, words) << of_shuffled << " in " << words;
}

TEST(HeadName, EachSentenceOfABatchIsOfItsLanguage) {
  Document document = document_of_any_sentence();
  set_text(document, TextSide::source, "The teacher gave the students a test.\n我喜欢这本书。", fixture::lexicon());
  const auto requests = requests_of(document, fixture::lexicon());
  ASSERT_TRUE(requests);
  ASSERT_EQ(requests->size(), 2u);
  const auto relations = [&](std::size_t sentence) {
    std::set<std::string> found;
    for (const NamedArc& arc : named_arcs(document, **forward((*requests)[sentence])).named) found.insert(arc.relation);
    return found;
  };
  EXPECT_TRUE(relations(0).contains("nsubj"));
  EXPECT_FALSE(relations(1).contains("amod"));
  EXPECT_FALSE(is_in_chinese((*requests)[0].tokens));
  EXPECT_TRUE(is_in_chinese((*requests)[1].tokens));
}

TEST(HeadName, AHeadThatGivesTheRightWordNextToNothingHasNoName) {
  const AnsweredText answer = answered("shipped:decoder", std::string(kDefaultSentence));
  for (const NamedArc& arc : named_arcs(answer.document, *answer.trace).named) {
    EXPECT_GE(arc.weight, kLeastPointing) << head_label(arc.head);
    EXPECT_GE(arc.precision, kLeastPrecision) << head_label(arc.head);
  }
  EXPECT_FALSE(name_of(answer, {1, 5}).named) << "place → its direction, with a mean weight of .009";
  for (const HeadRef& head : heads_of(*answer.trace)) EXPECT_FALSE(name_of(answer, head).words.empty());
}

TEST(HeadName, OtherHeadsAreNamedByTheirStrongestMeasure) {
  const auto named = [&](std::initializer_list<std::pair<Measure, float>> values) {
    HeadMeasures measures;
    measures.of_words[static_cast<std::size_t>(Measure::confidence)] = 1.0f;
    for (const auto& [measure, value] : values) measures.of_words[static_cast<std::size_t>(measure)] = value;
    return head_name(Language::en, SentenceArcs{}, {}, &measures);
  };
  EXPECT_EQ(named({{Measure::previous, 0.8f}, {Measure::first, 0.6f}}).words, "previous word");
  EXPECT_EQ(named({{Measure::previous, 0.5f}, {Measure::normalized, 0.9f}}).words, "spread out");
  EXPECT_EQ(named({{Measure::same, 0.51f}, {Measure::normalized, 0.9f}}).words, "itself");
  EXPECT_EQ(named({{Measure::next, 0.53f}, {Measure::normalized, 0.99f}}).words, "spread out") << "one of two words";
  EXPECT_EQ(named({{Measure::duplicate, 0.7f}}).words, "same word again");
  EXPECT_EQ(named({{Measure::first, 0.9f}, {Measure::special, 0.9f}}).words, "special tokens") << "<s> is no word";
  EXPECT_EQ(named({{Measure::first, 0.9f}, {Measure::special, 0.6f}}).words, "first word");
  EXPECT_EQ(named({{Measure::next, 0.4f}, {Measure::normalized, 0.85f}}).words, "mixed");
  EXPECT_EQ(named({}).words, "mixed") << "nothing stands out";
  EXPECT_EQ(named({{Measure::sink, 0.45f}, {Measure::normalized, 0.3f}}).words, "rests on one token");
  EXPECT_EQ(named({{Measure::sink, 0.45f}, {Measure::normalized, 0.9f}}).words, "spread out");
  EXPECT_EQ(named({{Measure::sink, 0.3f}, {Measure::normalized, 0.3f}}).words, "mixed") << "less than 0.4";
  EXPECT_EQ(named({{Measure::sink, 0.9f}, {Measure::first, 0.9f}}).words, "first word");
  EXPECT_TRUE(head_name(Language::en, SentenceArcs{}, {}, nullptr).words.empty()) << "not measured yet";
  const HeadMeasures none;
  EXPECT_TRUE(head_name(Language::en, SentenceArcs{}, {}, &none).words.empty()) << "no row of a word";
}

TEST(HeadName, ARestThatIsNoSpecialTokenIsNamedByItsToken) {
  HeadMeasures measures;
  measures.of_words[static_cast<std::size_t>(Measure::confidence)] = 1.0f;
  measures.of_words[static_cast<std::size_t>(Measure::sink)] = 0.43f;
  measures.sink_of_words = {.key = 32, .text = "·32", .even = 0.02f};
  const auto name_in = [&](Language language) { return head_name(language, SentenceArcs{}, {1, 3}, &measures); };
  EXPECT_EQ(name_in(Language::en).words, "rests on one token: ·32");
  EXPECT_EQ(name_in(Language::en).brief, "rests on one token");
  EXPECT_EQ(name_in(Language::zh).words, "停在一个词元上：·32");
  EXPECT_NE(name_explained(Language::en, name_in(Language::en)).find("43 %"), std::string::npos);
  measures.sink_of_words.even = 0.25f;
  EXPECT_EQ(name_in(Language::en).words, "mixed") << "not twice an even share";
}

}  // namespace
}  // namespace headlight
