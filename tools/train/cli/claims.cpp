#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/formatted.h"
#include "cli/frame/question_command.h"
#include "derived/head_stats.h"
#include "figure/head_name.h"
#include "model/head_text.h"
#include "models/model_choice.h"
#include "names/named_arcs.h"
#include "question/tokenizers.h"
#include "train/measure/arc_fit.h"
#include "train/run/training_files.h"
#include "view/start_cell.h"
#include "words/head_name_words.h"
#include "words/relation_words.h"
#include "words/text_words.h"

namespace headlight {
namespace {

std::string text_of(const Tokens& tokens, const SpeltWord& word) {
  return tokens.text.substr(word.begin, word.end - word.begin);
}

std::string label_of(const NamedArc& arc) { return relation_in_words(Language::en, arc.relation, arc.reversed); }

/// What the window states when it opens on a sentence: the line above the large map.
struct Opening {
  HeadRef head;
  CellRef cell;
  std::string text;
};

/// Without a text where the strongest cell is not known, as of long texts.
Opening opening_of(const Document& document, const std::shared_ptr<const Trace>& answer, const SentenceArcs& arcs) {
  const Trace& trace = *answer;
  const auto start = start_cell(document, trace, arcs);
  const HeadRef head = start ? start->head : heads_of(trace).front();
  const auto maps = folded_maps(answer, {.special = true, .words = true});  // as the window has them
  const auto& stack = maps->stacks[static_cast<std::size_t>(head.stack)];
  const FoldedStack* folded = stack ? &*stack : nullptr;
  if (!start && !has_pixel_of_each_cell(trace, head)) return {head, {}, {}};
  const CellRef cell = start ? start->cell : strongest_cell(trace, head, folded);
  const NamedArc* arc = start ? arcs.at(head, cell) : nullptr;
  const NamedArc* refers = start && !arc ? arcs.referring_at(head, cell) : nullptr;
  return {head, cell,
          lines_of_cell(Language::en, cell_of(trace, head, cell, folded), arc, start.has_value()).front() +
              (refers ? " " + measured_in_words(Language::en, kTextWords.right_in_texts, *refers) + "." : "")};
}

Value claims_json(const Opening& opening, const SentenceArcs& arcs) {
  const auto arc_json = [](const NamedArc& arc) {
    return json_object({{"query", arc.cell.query},
                        {"key", arc.cell.key},
                        {"head", head_text(arc.head)},
                        {"weight", arc.weight},
                        {"relation", arc.relation},
                        {"label", label_of(arc)},
                        {"precision", arc.precision},
                        {"measured", arc.measured}});
  };
  return json_object({{"opening", opening.text.empty() ? Value()
                                                       : json_object({{"query", opening.cell.query},
                                                                      {"key", opening.cell.key},
                                                                      {"head", head_text(opening.head)},
                                                                      {"text", opening.text}})},
                      {"arcs", json_list(arcs.named, arc_json)}});
}

std::string claims_text(const Trace& trace, const Opening& opening, const SentenceArcs& arcs) {
  std::string text = opening.text.empty() ? "" : head_label(opening.head) + ": " + opening.text + "\n";
  std::vector<std::vector<std::string>> lines{{"head", "weight", "from", "to", "relation", "right in 100", "measured"}};
  for (const NamedArc& arc : arcs.named)
    lines.push_back({head_label(arc.head), formatted("%.3f", static_cast<double>(arc.weight)),
                     word_in_table(text_of(trace.query_tokens(arc.head.stack), arc.from)),
                     word_in_table(text_of(trace.key_tokens(arc.head.stack), arc.to)), label_of(arc),
                     formatted("%.0f", 100 * arc.precision), std::to_string(arc.measured)});
  if (!arcs.named.empty()) return text + aligned_text(lines, {false, true, false, false, false, true, true});
  return text + kHeadNameWords.unnamed[static_cast<int>(arcs.unnamed)].en + "\n";
}

Result<Answer> answer(const Question& question) {
  const Document& document = question.asked.document();
  const SentenceArcs arcs = named_arcs(document, *question.trace);
  const Opening opening = opening_of(document, question.trace, arcs);
  if (question.wants("json")) return Answer(claims_json(opening, arcs));
  return Answer(claims_text(*question.trace, opening, arcs));
}

/// What was named in sentences of treebanks, and how much of it is right.
struct Counted {
  struct Relation {
    Index named = 0, right = 0;
  };
  std::map<std::string, Relation> relations;
  Relation all;
  Index words = 0;
};

/// An arc that several heads show counts once.
void count(const TreebankSentence& sentence, const SentenceArcs& arcs, Counted& counted) {
  std::set<std::tuple<Index, Index, std::string>> known;
  counted.words += static_cast<Index>(sentence.words.size());
  for (const NamedArc& arc : arcs.named) {
    if (!known.emplace(arc.from.first, arc.to.first, arc.relation).second) continue;
    const bool right = has_relation(sentence, arc.from, arc.to, arc.relation);
    for (Counted::Relation* one : {&counted.relations[arc.relation], &counted.all}) ++one->named, one->right += right;
  }
}

double share(Index part, Index all) { return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0; }

Value counted_json(const Counted& counted) {
  const auto relation_json = [](const auto& one) {
    return json_object({{"relation", one.first},
                        {"label", relation_in_words(Language::en, one.first)},
                        {"named", one.second.named},
                        {"right", one.second.right}});
  };
  return json_object({{"relations", json_list(counted.relations, relation_json)},
                      {"named", counted.all.named},
                      {"right", counted.all.right},
                      {"words", counted.words}});
}

std::string counted_text(const Counted& counted) {
  std::vector<std::vector<std::string>> lines{{"relation", "named", "right", "share", ""}};
  for (const auto& [name, one] : counted.relations)
    lines.push_back({name, std::to_string(one.named), std::to_string(one.right),
                     formatted("%.3f", share(one.right, one.named)), relation_in_words(Language::en, name)});
  return aligned_text(lines, {false, true, true, true, false}) +
         formatted("%ld named in %ld words (%.2f in ten), %ld right: %.3f\n", static_cast<long>(counted.all.named),
                   static_cast<long>(counted.words), 10 * share(counted.all.named, counted.words),
                   static_cast<long>(counted.all.right), share(counted.all.right, counted.all.named));
}

/// Every sentence of the treebanks, answered by the model that the window would choose for it.
Result<int> run_treebanks(const QuestionCommand& command, const std::vector<std::string>& files) {
  const auto start = TRY(command.request().start());
  const auto lexicon = TRY(read_lexicon());
  const auto treebanks = TRY(read_treebanks(files));
  Document document = start.session.document, other = document;
  Counted counted;
  for (const HeldOutTreebank& treebank : treebanks)
    for (const TreebankSentence& sentence : treebank.sentences) {
      set_text(document, TextSide::source, sentence.text, lexicon);
      const auto model = document.model;
      Document before = document;
      if (command.request().sentence_chooses_model())
        if (const Status chosen = choose_model(document, nullptr, {&other}); !chosen) return chosen.error();
      if (document.model != model) other = std::move(before);
      const auto requests = TRY(requests_of(document, lexicon));
      const auto trace = TRY(forward(requests.front(), unwatched(), nullptr, command.request().threads()));
      count(sentence, named_arcs(document, *trace), counted);
    }
  if (command.format() == "json") return print_json(counted_json(counted));
  return print(counted_text(counted));
}

ParsedCommand add_claims(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto treebanks = std::make_shared<std::vector<std::string>>();
  parser.option("--treebank", *treebanks,
                "Treebanks (CoNLL-U) in place of a text: of every relation how many cells are named, and how many of "
                "these names are right");
  command.take_format({"text", "json"}, "text (default) or json: an object a sentence, a line each");
  const ParsedCommand each = command.answers(SentencesAsked::each, answer);
  return [command, treebanks, each]() -> Result<int> {
    return treebanks->empty() ? each() : run_treebanks(command, *treebanks);
  };
}

}  // namespace

extern const NamedCommand kClaims{"claims",
                                  "What the window says of a sentence: its named cells, and how often such are right",
                                  R"(
headlight claims --text 'The teacher gave the students a difficult test.'
headlight claims --treebank en_ewt-dev.conllu --format json
The first line is the head that the window opens on and what it says. A cell is named by a relation where a head points
from one word at another with a weight of at least 0.3, and where at least 6 of 10 such cells are right by the lower end
of the measured interval of 95 %.
With --format json: {"opening": {"query", "key", "head", "text"}, "arcs": [{"query", "key", "head", "weight",
"relation", "label", "precision", "measured"}]}, a line a sentence; with --treebank {"relations": [{"relation", "label",
"named", "right"}], "named", "right", "words"}: an arc that several heads show counts once.)",
                                  add_claims};

}  // namespace headlight
