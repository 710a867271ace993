#include "library/held.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/parallel.h"
#include "explain/matrices.h"
#include "explain/patch/patch_pass.h"
#include "math/forward.h"
#include "math/output.h"
#include "math/variants.h"
#include "models/asking.h"
#include "models/model_choice.h"
#include "models/open_model.h"
#include "question/json/document_json.h"
#include "question/json/export.h"
#include "question/tokenizers.h"
#include "read/external/page_text.h"
#include "read/json/json_document.h"
#include "write/json.h"
#include "write/reduced.h"

namespace headlight {
namespace {

/// The program's lexicon; a checkpoint with a tokenizer of its own needs none.
Result<const Lexicon*> lexicon_for(const Document& document) {
  static const Lexicon none;
  if (const Lexicon* kept = kept_lexicon()) return kept;
  if (!document.tokenizers) TRY(read_lexicon());  // whose Error says why there is none
  return &none;
}

const ExportOptions kBeside{.queries_keys_values = true, .scores = true};

/// Answers every sentence; an earlier answer is reused where it fits.
Result<std::shared_ptr<HeldAnswer>> answered(Document document, std::vector<Request> requests, int threads,
                                             std::vector<Error> warnings, Progress& progress,
                                             const Trace* known = nullptr) {
  if (requests.empty()) return bad_input("text", "tokens", "at least one", "none", ErrorCode::no_tokens);
  auto answer = std::make_shared<HeldAnswer>();
  progress.share = 1 / static_cast<float>(requests.size());
  for (const Request& request : requests) {
    auto trace = TRY(forward(request, progress, known, threads));
    if (!trace) return cancelled("question");
    progress.begin += progress.share;
    warnings.insert(warnings.end(), trace->warnings.begin(), trace->warnings.end());
    known = answer->traces.emplace_back(std::move(trace)).get();
  }
  answer->request = request_json(document);
  answer->warnings = messages_of(warnings);
  for (const ArrayStream& array : all_arrays(answer->traces, kBeside)) answer->names.push_back(array.name);
  answer->threads = threads;
  answer->document = std::move(document);
  answer->requests = std::move(requests);
  return answer;
}

/// The question of a document whose model, where it is not that which was opened, was chosen by the sentence.
AskedResult answer_to(const HeldModel& model, Document document, std::vector<Error> warnings, Progress& progress) {
  if (is_any_sentence(document) && !is_any_sentence(model.document)) {
    const std::lock_guard lock(model.other);
    model.any_sentence = document;
  }
  const Lexicon* lexicon = TRY(lexicon_for(document));
  auto requests = TRY(requests_asked(document, *lexicon));
  return std::shared_ptr<const HeldAnswer>(
      TRY(answered(std::move(document), std::move(requests), model.threads, std::move(warnings), progress)));
}

/// `scores` of `1.encoder_scores`, and of any other name what stands behind the sentence and the stack.
std::string plain_name(const std::string& name) {
  std::string_view rest = name;
  const std::size_t dot = rest.find('.');
  if (dot != rest.npos && dot > 0 &&
      std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(dot),
                  [](unsigned char c) { return std::isdigit(c) != 0; }))
    rest.remove_prefix(dot + 1);
  for (const std::string_view prefix : {"encoder_", "decoder_", "cross_"})
    if (rest.starts_with(prefix)) return std::string(rest.substr(prefix.size()));
  return std::string(rest);
}

headlight_view view_of(const ArrayStream& array, const float* numbers) {
  headlight_view view{.numbers = numbers, .axes = static_cast<std::int32_t>(array.shape.size()), .shape = {}};
  std::copy(array.shape.begin(), array.shape.end(), view.shape);
  return view;
}

/// All pieces in one memory.
Result<Matrix> made(const ArrayStream& array, int threads) {
  Progress progress;
  Work work(progress, array.num_elements(), threads);
  ArrayReader reader(array, work);
  if (array.pieces == 1) return reader.next();
  Matrix numbers(1, static_cast<Index>(array.num_elements()));
  while (!reader.at_end()) {
    Index at = static_cast<Index>(reader.offset());
    for (const Matrix& piece : TRY(reader.next(array.pieces))) {
      std::copy_n(piece.data(), piece.size(), numbers.data() + at);
      at += piece.size();
    }
  }
  return numbers;
}

/// A page is read once: its schema is checked here, where a session is known.
Result<OpenedModel> opened_source(const std::string& source, Progress& progress) {
  if (names_page(source))
    if (const auto data = read_page(source)) {
      TRY(check_session(source, *data));
      return open_page_numbers(source, *data, progress);
    }
  return open_model(source, std::nullopt, progress, Reading::as_used);
}

}  // namespace

Result<std::shared_ptr<HeldModel>> hold_model(const char* source, Progress& progress) {
  auto file = std::make_shared<HeldModel>();
  file->chooses_model = source == nullptr;
  if (source && names_session(source)) {
    file->document = TRY(read_question(source, progress, file->warnings));
    return file;
  }
  auto opened = TRY(opened_source(source ? source : std::string(kDefaultModel), progress));
  if (progress.stop) return cancelled("headlight_open");
  file->document = std::move(opened.document);
  file->warnings = std::move(opened.warnings);
  return file;
}

AskedResult ask_words(const HeldModel& model, const std::vector<std::string>& words, Progress& progress) {
  GivenOptions given = TRY(given_options(words));
  std::vector<Error> warnings = model.warnings;
  given.source = model.document.model_path;
  given.notes = &warnings;
  Document document = model.document, seen;
  {
    const std::lock_guard lock(model.other);
    seen = model.any_sentence;
  }
  TRY(take_question(document, given, {.chooses_model = model.chooses_model, .seen = {&seen}}));
  return answer_to(model, std::move(document), std::move(warnings), progress);
}

AskedResult ask_object(const HeldModel& model, std::string_view request, Progress& progress) {
  const ParsedJson parsed = parse_json("request", request);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return bad_input("request", "", "an object", parsed->type_name());
  Document beside = model.document;
  if (const std::lock_guard lock(model.other);
      parsed->value("source", nlohmann::json()) == model.any_sentence.model_path)
    beside = model.any_sentence;
  nlohmann::json all = document_json(beside);
  const nlohmann::json opened = all["source"];
  all.update(*parsed);
  if (all["source"] != opened || all.contains("random"))
    return bad_input("request", "source", opened.dump(),
                     all.contains("random") ? "fresh weights" : all["source"].dump());
  std::vector<Error> warnings = model.warnings;
  auto document = TRY(document_from_json("request", all, progress, warnings, nullptr, &beside));
  return answer_to(model, std::move(document), std::move(warnings), progress);
}

AskedResult next_step(const HeldAnswer& answer, const Sampling& sampling, Progress& progress) {
  if (answer.traces.size() != 1)
    return bad_input("headlight_step", "sentences", "one", std::to_string(answer.traces.size()));
  if (!(std::isfinite(sampling.temperature) && sampling.temperature >= 0))
    return bad_input("headlight_step", "temperature", "0 or more", shortest_text(sampling.temperature));
  const Trace& trace = *answer.traces.front();
  auto word = TRY(next_word(trace, sampling));
  word.probability = probabilities(trace.logits)(word.row);  // the model's, whatever the temperature
  Document document = answer.document;
  append_word(document, 0, word, *TRY(lexicon_for(document)));
  auto next = TRY(
      answered(std::move(document), {extended(answer.requests.front(), word)}, answer.threads, {}, progress, &trace));
  const std::string one = json_candidates({word});
  next->word = one.substr(1, one.size() - 3) +
               ",\"ends\":" + (is_end(answer.document.tokenizers.get(), word.id) ? "true}" : "false}");
  return std::shared_ptr<const HeldAnswer>(std::move(next));
}

Result<ArrayStream> HeldAnswer::stream(const std::string& name) const {
  const auto found_in = [&](const ExportOptions& options) -> std::optional<ArrayStream> {
    for (ArrayStream& array : all_arrays(traces, options))
      if (array.name == name) return std::move(array);
    return std::nullopt;
  };
  if (auto array = found_in(kBeside)) return *std::move(array);
  const std::string plain = plain_name(name);
  if (plain.find(':') != std::string::npos) {
    const ExportOptions reduced{.reduce = TRY(parse_reduction(plain))};
    TRY(reduced_sentences(traces, reduced));
    const std::string attentions = name.substr(0, name.size() - plain.size()) + "attentions";
    for (ArrayStream& array : all_arrays(traces, reduced))
      if (array.name == attentions) return std::move(array);
  }
  const ExportOptions further{.matrices = {plain}};
  if (check_matrix_names(further.matrices)) {
    for (const auto& trace : traces) TRY(check_options(*trace, further));
    if (auto array = found_in(further)) return *std::move(array);
  }
  return bad_input("headlight_array", "", joined_texts(names, ", ") + ", a matrix of `export --with`, or mean:heads",
                   "'" + name + "'");
}

Result<headlight_view> HeldAnswer::array(const std::string& name) const {
  const std::lock_guard lock(making_);
  if (const auto known = arrays_.find(name); known != arrays_.end()) return known->second.second;
  const ArrayStream array = TRY(stream(name));
  if (array.shape.size() > HEADLIGHT_MOST_AXES)
    return bad_input(name, "axes", std::to_string(HEADLIGHT_MOST_AXES), std::to_string(array.shape.size()));
  if (array.held) return view_of(array, array.held->data());
  Matrix numbers = TRY(made(array, threads));
  const headlight_view view = view_of(array, numbers.data());
  arrays_.emplace(name, std::pair(std::move(numbers), view));  // whose memory stays where it is
  return view;
}

Result<const char*> HeldAnswer::tokens(std::size_t sentence, std::string_view name) const {
  if (sentence >= traces.size()) return static_cast<const char*>(nullptr);
  const std::lock_guard lock(making_);
  for (const NamedTokens& named : named_tokens(*traces[sentence])) {
    if (named.name != name) continue;
    std::string& text = texts_[std::to_string(sentence) + "." + named.name];
    if (text.empty()) text = json_tokens(*named.tokens);
    return text.c_str();
  }
  return static_cast<const char*>(nullptr);
}

Status HeldAnswer::write(const std::string& file, Progress& progress) const {
  const Format format = TRY(format_for(file));
  std::vector<std::string> descriptions;
  for (std::size_t i = 0; i < traces.size(); ++i)
    descriptions.push_back(request_json(document, traces.size() > 1 ? std::optional(i) : std::nullopt));
  return write_export(traces, descriptions, format, {.threads = threads}, file, progress);
}

Status patched(const HeldAnswer& clean, const HeldAnswer& corrupt, std::string_view at, const LogitsMetric& metric,
               std::span<double> values, Progress& progress) {
  const auto part = value_named<PatchAt>(kPatchNames, at);
  if (!part) return bad_input("headlight_patch", "place", listed(kPatchNames), at);
  if (clean.traces.size() != 1 || corrupt.traces.size() != 1)
    return bad_input("headlight_patch", "sentences", "one each", "several");
  const Trace &source = *clean.traces.front(), &base = *corrupt.traces.front();
  if (source.model != base.model) return bad_input("headlight_patch", "model", "the same in both answers", "two");
  TRY(check_has_logits(base, "headlight_patch"));
  PatchWanted wanted{.at = *part};
  for (Index token = 0; token < std::min(source.queries(), base.queries()); ++token)
    wanted.queries.emplace_back(token, token), wanted.keys.emplace_back(token, token);
  TRY(check_part(source, base, wanted));
  const bool by_layer = *part == PatchAt::residual || *part == PatchAt::ffn;
  std::size_t done = 0;
  for (Index layer = 0; layer < base.num_layers(); ++layer) {
    const Index heads = by_layer         ? 1
                        : of_keys(*part) ? base.attention(Stack::self, layer).num_kv_heads
                                         : base.num_heads();
    for (Index head = 0; head < heads; ++head, ++done) {
      if (done == values.size())
        return bad_input("headlight_patch", "room", "one number a place", std::to_string(done));
      const HeadRef place{.layer = layer, .head = head};
      if (*part == PatchAt::ffn && !exists(source, matrix_id(Quantity::ffn_output, place)))
        return bad_input("headlight_patch", "place", "a part that the model has", at);
      const Patch patch =
          patch_of_pairs(*part, place, part_of(source, *part, place), of_keys(*part) ? wanted.keys : wanted.queries);
      const auto hidden = forward_variants(base, {{patch}}, 0, progress, corrupt.threads);
      if (!hidden) return hidden.error();
      const Matrix logits = logits_of(*base.model, **hidden, Threads(corrupt.threads));
      values[done] = metric(logits.data(), logits.rows(), logits.cols());
      if (progress.stop) return cancelled("headlight_patch");
    }
  }
  return Done{};
}

}  // namespace headlight
