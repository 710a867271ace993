#include "train/resumed_training.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "read/array/safetensors.h"
#include "train/plan_json.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

/// The settings that a training must share with the one it resumes.
std::string identity(const TrainingPlan& plan, const Corpus& corpus) {
  nlohmann::ordered_json json = plan_json(plan);
  std::uint64_t words = corpus.lines.size();
  for (const std::string& word : corpus.words) words = derive_seed(words, word);
  for (const auto& line : corpus.lines) {
    const std::string_view rows(reinterpret_cast<const char*>(line.data()), line.size() * sizeof line.front());
    words = derive_seed(words, rows);
  }
  const auto add = [&words](const auto& list) {
    words = derive_seed(
        words, std::string_view(reinterpret_cast<const char*>(list.data()), list.size() * sizeof list.front()));
  };
  if (corpus.tokenizer) words = derive_seed(words, corpus.tokenizer_json);
  for (const CorpusText& text : corpus.texts) {
    words = derive_seed(words, std::to_string(text.weight));
    add(text.lines.rows);
    add(text.lines.starts);
  }
  for (const TaughtText& text : corpus.taught) {
    words = derive_seed(words, std::to_string(text.weight));
    for (const TaughtSentence& sentence : text.sentences) {
      add(sentence.rows);
      add(sentence.arcs);
      add(sentence.rests);
    }
  }
  if (corpus.taught_grammar)
    for (const std::string& word : corpus.taught_grammar->words) words = derive_seed(words, word);
  json["words"] = words;
  json["shape"] = nlohmann::ordered_json::array();
  for_each_field([&](const auto& field) {
    if (field.key && !std::is_same_v<decltype(field), const SeedField&>)
      json["shape"].push_back(ConfigValue{plan.config}(field));
  });
  return json.dump();
}

}  // namespace

Status save_training(const std::filesystem::path& folder, const Training& training, const TrainingPlan& plan,
                     const Corpus& corpus, double tokens) {
  const Index size = training.network.size();
  std::vector<NamedTensor> tensors = {{"values", {size}, training.network.values.data()}};
  if (!training.moments.first.empty()) {
    tensors.push_back({"first", {size}, training.moments.first.data()});
    tensors.push_back({"second", {size}, training.moments.second.data()});
  }
  return write_tensors(folder / "resume.safetensors", tensors,
                       {{"step", std::to_string(training.step)},
                        {"tokens", std::to_string(static_cast<std::int64_t>(tokens))},
                        {"plan", identity(plan, corpus)}});
}

Result<ResumedTraining> resume_training(const std::filesystem::path& folder, const TrainingPlan& plan,
                                        const Corpus& corpus) {
  const std::filesystem::path path = folder / "resume.safetensors";
  auto training = begin_training(plan, corpus);
  if (!training) return training.error();
  double words = 0;
  const auto file = read_safetensors(path);
  if (!file) return file.error();
  if (metadata_text(*file, "plan").value_or("") != identity(plan, corpus)) {
    return bad_input(path.string(), "plan", "the options and the corpus that this training began with", "others");
  }
  const std::string step = metadata_text(*file, "step").value_or("");
  training->step = parse_number<Index>(step).value_or(-1);
  if (training->step < 0) return bad_input(path.string(), "step", "a number", "'" + step + "'");
  if (const std::string tokens = metadata_text(*file, "tokens").value_or(""); !tokens.empty()) {
    words = static_cast<double>(parse_number<std::int64_t>(tokens).value_or(-1));
    if (words < 0) return bad_input(path.string(), "tokens", "a number", "'" + tokens + "'");
  } else if (const auto card = read_card(folder); card && *card) {
    words = (*card)->tokens;
  }
  const auto take = [&](const char* what, Floats& to) -> Status {
    const auto found = file->arrays.find(what);
    const auto size = static_cast<std::size_t>(training->network.size());
    if (found == file->arrays.end() || found->second.values.size() != size) {
      return bad_input(path.string(), what, std::to_string(size) + " numbers",
                       found == file->arrays.end() ? "none" : std::to_string(found->second.values.size()));
    }
    to.assign(found->second.values.begin(), found->second.values.end());
    if (!std::all_of(to.begin(), to.end(), [](float value) { return std::isfinite(value); }))
      return bad_input(path.string(), what, "finite numbers", "others", ErrorCode::not_finite);
    return Done{};
  };
  if (const Status done = take("values", training->network.values); !done) return done.error();
  if (training->step > 0) {
    if (const Status done = take("first", training->moments.first); !done) return done.error();
    if (const Status done = take("second", training->moments.second); !done) return done.error();
    const Floats& second = training->moments.second;
    if (std::any_of(second.begin(), second.end(), [](float value) { return value < 0; }))
      return bad_input(path.string(), "second", "mean squares, 0 or more", "a negative number");
  }
  return ResumedTraining{*std::move(training), words};
}

}  // namespace headlight
