#include "cli/options/request_options.h"

#include <algorithm>

#include "base/folders.h"
#include "base/nearest.h"
#include "cli/options/number_options.h"
#include "document/assets.h"
#include "document/bundled_models.h"
#include "document/known_words.h"
#include "document/log_folder.h"
#include "document/model_choice.h"
#include "document/model_sources.h"
#include "document/open_model.h"
#include "document/sentence_facts.h"
#include "document/tokenizers.h"
#include "read/array/torch_file.h"
#include "read/external/own_numbers.h"
#include "read/external/page_text.h"

namespace headlight {
namespace {

bool is_session(const std::string& path) { return path.ends_with(".headlight.json"); }
bool is_tensors(const std::string& path) {
  return path.ends_with(".safetensors") || path.ends_with(".npz") || is_torch_name(path);
}

Status check_weights(const Document& document, const std::vector<Request>& requests) {
  for (const WeightEdit& edit : document.edits.weights) {
    const Request& request = requests.front();
    if (!has_stack(request, edit.head.stack)) continue;
    const auto queries = static_cast<Index>(query_tokens(request, edit.head.stack).size());
    const auto keys = static_cast<Index>(key_tokens(request, edit.head.stack).size());
    const auto place = [](Index at, Index count) { return std::to_string(at) + " of " + std::to_string(count); };
    if (edit.cell.query >= queries)
      return bad_input("--weight", "query", "0 to " + std::to_string(queries - 1), place(edit.cell.query, queries));
    if (edit.cell.key >= keys)
      return bad_input("--weight", "key", "0 to " + std::to_string(keys - 1), place(edit.cell.key, keys));
  }
  return Done{};
}

/// The shapes of the models that come along; none where these cannot be read.
std::vector<BundledShape> shipped_shapes() {
  const auto shapes = read_shipped_shapes();
  return shapes ? *shapes : std::vector<BundledShape>{};
}

Session session_of(OpenedModel model) {
  Session session;
  session.document = std::move(model.document);
  session.model_warnings = std::move(model.model_warnings);
  return session;
}

}  // namespace

RequestOptions::RequestOptions(Parser& command) : command_(command), edits_(command) {
  command.topic(kRequestTopic, "The options of a question: its text, its model, masks and edits");
  command.option("SOURCE", source_,
                 "A checkpoint folder or a file of it, the name of a model in a cache of this machine "
                 "(`headlight models`), a tensors file (.safetensors, .npz, .pt), a JSON of attentions, a session "
                 "(.headlight.json) or a page (.html). Default: of the trained models that come along "
                 "shipped:encoder where it knows every word, else shipped:any-sentence");
  texts_.add(command);
  model_.add(command);
  add_number_options(command, numbers_, kRequestTopic);
  command.section("The computation", kRequestTopic);
  command.option("--threads", threads_, "Threads to compute with; 0, the default: all", "N").within(0, 1024);
  command.section();
}

/// Without a SOURCE: a shipped model, unless fresh weights or a shape of their own were asked for.
bool RequestOptions::uses_shipped_model() const {
  for (const char* option : model_options())
    if (given(option)) return false;
  return !given("--random") && !given("--split") && !given("--target") && !given("--target-tokens");
}

Result<Startup> RequestOptions::opened_source() const {
  Startup start;
  const bool lesson = source_.ends_with(kLessonEnding);
  if (lesson && command_.name() != "open" && command_.name() != "screenshot")
    return bad_input(source_, "kind", "of a lesson `headlight FILE`, which opens it, or `headlight check FILE`",
                     "headlight " + command_.name());
  if (lesson) start.lesson = source_;
  if (const std::string option = given_numbers(command_); !option.empty()) {
    if (!source_.empty()) return bad_input(option, "", "no SOURCE beside it", source_);
    auto numbers = read_number_options(command_, numbers_);
    if (!numbers) return numbers.error();
    if (given("--num-heads")) numbers->num_heads = model_.sizes().num_heads;
    auto opened = open_model(std::string(kNumbersSource) + numbers_json(*numbers));
    if (!opened) return opened.error();
    start.warnings = std::move(opened->warnings);
    start.session = session_of(*std::move(opened));
    return start;
  }
  if (source_.empty() || lesson) {
    // Of a shape the trained model that has it, what is left out being as in the default model; of --arch alone the
    // nearest of that architecture.
    std::optional<std::string> shipped;
    const auto shapes = given("--random") ? std::vector<BundledShape>{} : shipped_shapes();
    if (!shapes.empty() && uses_shipped_model()) shipped = kDefaultModel;
    else if (!shapes.empty() && !given("--seed") && !given("--split")) {
      Config shape = shapes.front().config;
      if (const auto taken = model_.take(command_, shape); !taken) return taken.error();
      const BundledShape* found = find_model(shapes, shape);
      if (!found && shape.arch != shapes.front().config.arch) found = nearest_model(shapes, shape);
      if (found && agree(command_, shape, found->config)) shipped = found->source;
    }
    if (!shipped) {
      const char* why = given("--seed")    ? ", as --seed asks"
                        : given("--split") ? ": trained models cut text by themselves"
                                           : ": no trained model has this shape";
      if (!given("--random"))
        start.warnings.emplace_back(ErrorCode::bad_value, "",
                                    "the weights are random, seed " +
                                        std::to_string(given("--seed") ? model_.sizes().seed : 0) + why +
                                        " (--random asks for such weights)");
      return start;
    }
    auto opened = open_model(*shipped);
    if (!opened) return opened.error();
    start.session = session_of(*std::move(opened));
    return start;
  }
  if (is_session(source_) || names_page(source_)) {
    auto session = read_session(source_);
    if (!session) return session.error();
    start.session = std::move(*session);
    start.warnings = start.session.lost;
    if (!names_page(source_)) start.session_path = source_;
    return start;
  }
  if (!names_model(source_)) {
    return bad_input(source_, "kind",
                     "a checkpoint folder, a tensors file (.safetensors, .npz, .pt), a JSON of attentions, a session "
                     "(.headlight.json), a page (.html) or a lesson (.lesson.json)",
                     found_at(source_), path_exists(source_) ? ErrorCode::unknown_kind : ErrorCode::file_absent);
  }
  const bool heads = (is_tensors(source_) || names_own_numbers(source_)) && given("--num-heads");
  const Reading reading = command_.name() == "open" ? Reading::whole : Reading::as_used;
  auto opened = open_model(source_, heads ? std::optional(model_.sizes().num_heads) : std::nullopt, reading);
  if (!opened) return opened.error();
  start.warnings = std::move(opened->warnings);
  start.session = session_of(*std::move(opened));
  return start;
}

Result<Startup> RequestOptions::start_of_window() const {
  if (const bool alone = !source_.empty() && command_.count_given() == 1; !alone) return start();
  if (!sentence_of_session(source_).empty()) {  // where its model is not there, the window asks for it
    auto opened = start();
    if (opened) return opened;
    Startup asks;
    asks.open = source_;
    asks.asked = true;
    return asks;
  }
  const auto resolved = path_of_source(source_);
  if (!resolved) return resolved.error();
  if (source_.starts_with(kShipped)) return start();
  if (!path_exists(*resolved / "config.json") && logged_steps(*resolved).empty()) return start();
  Startup start;
  start.open = source_;
  start.asked = true;
  return start;
}

Result<Startup> RequestOptions::start(bool reads_text) const {
  auto start = opened_source();
  if (!start) return start;
  start->asked = command_.count_given() > 0;
  Document& document = start->session.document;
  const auto shaped = [&]() -> Status {
    if (document.model) return check_model(document);
    const auto taken = model_.take(command_, document.config);
    return taken ? check(document.config) : taken;
  };
  if (const auto model = shaped(); !model) return model.error();
  if (given("--arch") && !document.model) document.mask.causal = is_causal_by_default(document.config.arch);
  const auto chosen = [&]() -> Status {
    if (!sentence_chooses_model() || (!given("--text") && !given("--tokens"))) return Done{};
    return choose_model(document, nullptr);
  };
  for (const Status& status : {texts_.apply(document, source_, reads_text), chosen(), edits_.apply(document)})
    if (!status) return status.error();
  return start;
}

Result<Asked> RequestOptions::ask() const {
  auto lexicon = read_lexicon();
  if (!lexicon) return lexicon.error();
  auto start = this->start();
  if (!start) return start.error();
  auto requests = requests_of(start->session.document, *lexicon);
  if (!requests) return requests.error();
  if (const auto inside = check_weights(start->session.document, *requests); !inside) return inside.error();
  for (Error& warning : mask_warnings(requests->front())) start->warnings.push_back(std::move(warning));
  if (const std::string line = unknown_words_line(*requests); !line.empty())
    start->warnings.emplace_back(ErrorCode::bad_value, line);
  const auto& card = start->session.document.card;
  const auto is_other = [](const Request& request) { return is_of_other_words(request.tokens); };
  if (card && !card->plan.teaching.heads.empty() && std::any_of(requests->begin(), requests->end(), is_other))
    start->warnings.emplace_back(
        ErrorCode::bad_value,
        "most words of the sentence are not in the model's word list, as in a language that it was not taught: what "
        "its "
        "heads are called may not hold");
  return Asked{std::move(*lexicon), std::move(*start), std::move(*requests)};
}

Status RequestOptions::check_model(const Document& document) const {
  if (given("--random"))
    return bad_input("--random", "", "no such option beside a model of its own", source_in_words(document));
  if (has_own_inputs(document)) {
    if (given("--num-heads") && !is_tensors(source_) && !names_own_numbers(document.model_path))
      return bad_input("--num-heads", "", "the tensors file itself as SOURCE", source_);
    for (const char* option : model_options())
      if (given(option) && std::string_view(option) != "--num-heads")
        return bad_input(option, "", "no such option beside " + inputs_in_words(document), source_in_words(document));
    return Done{};
  }
  if (given("--seed")) return bad_input("--seed", "", "no such option beside a checkpoint", document.model_path);
  Config asked = document.model->config;
  if (const auto taken = model_.take(command_, asked); !taken) return taken;
  return agree(command_, asked, document.model->config);
}

}  // namespace headlight
