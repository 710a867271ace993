#include "cli/options/request_options.h"

#include <algorithm>

#include "base/folders.h"
#include "base/formatted.h"
#include "card/training_card.h"
#include "cli/options/number_options.h"
#include "cli/options/print.h"
#include "math/block.h"
#include "model/batch_mask.h"
#include "models/asking.h"
#include "models/bundled_models.h"
#include "models/log_folder.h"
#include "models/model_sources.h"
#include "models/open_model.h"
#include "names/sentence_facts.h"
#include "question/json/document_json.h"
#include "question/tokenizers.h"
#include "read/array/torch_file.h"
#include "read/external/own_numbers.h"
#include "read/external/page_text.h"
#include "read/gguf/gguf_model.h"
#include "session/tool_state.h"

namespace headlight {
namespace {

/// An option that asks nothing: a window with it alone starts as one without options.
constexpr const char* kAsksNothing = "--timings";

bool is_tensors(const std::string& path) {
  return path.ends_with(".safetensors") || path.ends_with(".npz") || is_torch_name(path);
}

/// The shapes of the models that come along; none where these cannot be read.
std::vector<BundledShape> shipped_shapes() {
  const auto shapes = read_shipped_shapes();
  return shapes ? *shapes : std::vector<BundledShape>{};
}

/// A line for each mask with an axis for sentences that fits in both orders of its axes, or with one for the heads.
std::vector<Error> mask_warnings(const Document& document, const Request& request) {
  std::vector<Error> warnings;
  for (const Stack stack : kStacks) {
    if (!has_stack(request, stack)) continue;
    const auto mask = stretched_mask(mask_spec(request, stack), static_cast<Index>(query_tokens(request, stack).size()),
                                     static_cast<Index>(key_tokens(request, stack).size()));
    if (mask && mask->either)
      warnings.emplace_back(ErrorCode::bad_value, mask_name(stack),
                            axes_text(mask->shape) +
                                " fits with the sentences as its first axis and as its last: read as " +
                                axes_in_words(*mask));
    const auto& batch = mask_spec(request, stack).batch;
    const Index heads = attention_size(document, stack)->heads;
    if (mask && batch && !batch->sentences_first && heads > 1 && batch->shape[0] == heads && mask->axes == "bij")
      warnings.emplace_back(ErrorCode::bad_value, mask_name(stack),
                            axes_text(mask->shape) + " fits with the heads as its first axis, too: read as " +
                                axes_in_words(*mask) + "; four axes, (1, heads, queries, keys), give each head one");
  }
  return warnings;
}

Session session_of(OpenedModel model) {
  Session session;
  session.document = std::move(model.document);
  session.model_warnings = std::move(model.model_warnings);
  return session;
}

/// The heads of the parts of a question in the help.
constexpr const char* kAttention =
    "The attention (STACK: is encoder: or cross: in an encoder-decoder; nothing: the decoder's own)";
constexpr const char* kTitles[] = {"What is asked", "The model", kAttention, kAttention};

}  // namespace

RequestOptions::RequestOptions(Parser& command, const QuestionFields& fields) : command_(command), fields_(fields) {
  command.topic(kRequestTopic, "The options of a question: its text, its model, masks and edits");
  command.option("SOURCE", source_,
                 "A checkpoint folder or a file of it, the name of a model in a cache of this machine "
                 "(`headlight models`), a tensors file (.safetensors, .npz, .pt), a JSON of attentions, a session "
                 "(.headlight.json) or a page (.html). Default: of the trained models that come along "
                 "shipped:encoder where it knows every word, else shipped:any-sentence");
  for (const QuestionField& field : fields_) {
    command_.section(kTitles[static_cast<std::size_t>(field.part)], kRequestTopic);
    for (const FieldOption& option : field.options) add(option);
  }
  command
      .option("--adapter", adapters_,
              "A LoRA adapter's folder, merged into the model, perhaps several times; or none: without the one that "
              "lies beside the weights",
              "FOLDER")
      .repeated();
  command.option("--as-stored", as_stored_,
                 "Ids of tokenizer.json alone, without what the files beside it and its class change");
  command
      .option("--part", part_, "Of a model that reads a picture and a text (CLIP, SigLIP): picture (default) or text")
      .one_of({"picture", "text"});
  constexpr const char* kArrayHelp[] = {
      "Of arrays with several sentences the one to show, counted from 0",
      "Of the steps of generate() the one to show; without it all as one map",
      "Of arrays under several names those with this in their name",
      "What the axes of arrays are: layers, batch, heads, T and S in their order, as batch,heads,T,S",
      "Of arrays whose keys are patches of a picture or positions of a board: they are laid out as an image, 14x14, "
      "class tokens before it"};
  constexpr const char* kArrayTakes[] = {"I", "I", "NAME", "LIST", "RxC"};
  for (std::size_t i = 0; i < std::size(kArrayMarks); ++i) {
    // The window's --step is that of a lesson; behind the name of a file #step=2 is the same.
    if (i == 1 && (command.name() == "open" || command.name() == "screenshot")) continue;
    add({kArrayOptions[i], OptionKind::word, kArrayTakes[i], kArrayHelp[i]});
  }
  add_number_options(command, numbers_, kRequestTopic);
  command.section("The computation", kRequestTopic);
  command.option("--threads", threads_, "Threads to compute with; 0, the default: all", "N").within(0, 1024);
  command.section();
  for (const QuestionField& field : fields_)
    for (const FieldOption& option : field.options) command.restrict(option.name, option.excludes, option.needs);
}

void RequestOptions::add(const FieldOption& option) {
  if (option.kind == OptionKind::flag) {
    command_.option(option.name, flags_[option.name], option.help);
    return;
  }
  std::vector<std::string>& words = words_[option.name];
  const bool list = option.kind == OptionKind::list, repeated = option.kind == OptionKind::repeated;
  const TakeWord take = [&words, kind = option.kind](const std::string& word) {
    words.assign(1, word);
    return option_fault(kind, word);
  };
  Option added = command_.option(option.name, list || repeated ? OptionTarget(words) : OptionTarget(take), option.help,
                                 option.takes);
  if (list) added.list();
  if (repeated) added.repeated();
}

GivenOptions RequestOptions::given_options(bool reads_text) const {
  GivenOptions all{.source = source_};
  for (const auto& [option, words] : words_)
    if (command_.given(option)) all.words[option] = words;
  for (const auto& [option, is_given] : flags_)
    if (is_given) all.words[option] = {};
  if (!reads_text && given("--ids")) all.words["--ids"] = {"0"};  // each line has ids of its own
  else if (!reads_text && reads_standard_input()) all.words["--text"] = {""};
  return all;
}

/// Whether such an option of arrays was given: --step may be that of a lesson.
bool RequestOptions::of_arrays(const char* option) const { return words_.contains(option) && given(option); }

/// An Error of an option that says how a SOURCE is read, where that is none, or itself says it.
Status RequestOptions::check_source_options() const {
  const std::string found = source_.empty() ? "none" : source_;
  for (const char* option : {"--adapter", "--part", "--as-stored"})
    if (given(option)) return bad_input(option, "", "a checkpoint as SOURCE", found);
  for (const char* option : kArrayOptions)
    if (of_arrays(option)) return bad_input(option, "", "a file of arrays as SOURCE", found);
  return Done{};
}

std::string RequestOptions::source() const {
  std::string source = source_;
  if (source.empty()) return source;
  for (const std::string& adapter : adapters_) source.append(kAdapterMark).append(adapter);
  for (std::size_t i = 0; i < std::size(kArrayMarks); ++i)
    if (of_arrays(kArrayOptions[i])) source.append(kArrayMarks[i]).append(words_.at(kArrayOptions[i]).front());
  if (part_ == "text") source.append(kTextPart);
  return as_stored_ ? source.append(kIdsAsStored) : source;
}

/// Whether an option of the model was given, beside --random.
bool RequestOptions::gives_shape() const {
  for (const QuestionField& field : fields_)
    for (const FieldOption& option : field.options)
      if (field.part == FieldPart::model && field.text && given(option.name)) return true;
  return false;
}

/// Without a SOURCE: a shipped model, unless fresh weights or another shape were asked for.
bool RequestOptions::uses_shipped_model() const {
  return !gives_shape() && !given("--random") && !given("--split") && !given("--target") && !given("--target-tokens");
}

std::optional<Index> RequestOptions::num_heads() const {
  return given("--num-heads") ? parse_number<Index>(words_.at("--num-heads").front()) : std::nullopt;
}

Status RequestOptions::agree(const Document& asked, const Document& there) const {
  for (const QuestionField& field : fields_) {
    if (field.part != FieldPart::model || !field.text || field.text(asked) == field.text(there)) continue;
    for (const FieldOption& option : field.options)
      if (given(option.name))
        return bad_input(option.name, "", field.text(there) + ", as the checkpoint has it", field.text(asked));
  }
  return Done{};
}

Result<Startup> RequestOptions::opened_source(const GivenOptions& given_words) const {
  Startup start;
  const bool lesson = source_.ends_with(kLessonEnding);
  if (lesson && command_.name() != "open" && command_.name() != "screenshot")
    return bad_input(source_, "kind", "of a lesson `headlight FILE`, which opens it, or `headlight check FILE`",
                     "headlight " + command_.name());
  if (lesson) start.lesson = source_;
  if (source_.empty() || lesson || names_session(source_) || names_page(source_)) TRY(check_source_options());
  const auto of_model = [&](Result<OpenedModel> opened) -> Result<Startup> {
    if (!opened) return opened.error();
    start.warnings = std::move(opened->warnings);
    start.session = session_of(*std::move(opened));
    return start;
  };
  if (const std::string option = given_numbers(command_); !option.empty()) {
    if (!source_.empty()) return bad_input(option, "", "no SOURCE beside it", source_);
    auto numbers = TRY(read_number_options(command_, numbers_));
    if (const auto heads = num_heads()) numbers.num_heads = *heads;
    return of_model(open_model(std::string(kNumbersSource) + numbers_json(numbers)));
  }
  if (source_.empty() || lesson) return shipped_or_fresh(given_words, std::move(start));
  if (names_session(source_) || names_page(source_)) {
    auto session = TRY(read_session(source_));
    start.session = std::move(session);
    start.warnings = start.session.lost;
    if (!names_page(source_)) start.session_path = source_;
    return start;
  }
  const bool heads = (is_tensors(source_) || names_own_numbers(source_)) && given("--num-heads");
  const Reading reading = command_.name() == "open" ? Reading::whole : Reading::as_used;
  return of_model(open_model(source(), heads ? num_heads() : std::nullopt, unwatched(), reading));
}

/// Of a shape the trained model that has it, or fresh weights.
Result<Startup> RequestOptions::shipped_or_fresh(const GivenOptions& given_words, Startup start) const {
  // Of a shape the trained model that has it, what is left out being as in the default model; of --arch alone the
  // nearest of that architecture.
  std::optional<std::string> shipped;
  const auto shapes = given("--random") ? std::vector<BundledShape>{} : shipped_shapes();
  if (!shapes.empty() && uses_shipped_model()) shipped = kDefaultModel;
  else if (!shapes.empty() && !given("--seed") && !given("--split")) {
    Document asked;
    asked.config = shapes.front().config;
    TRY(take_fields(asked, given_words, FieldPart::model, fields_));
    const Config& shape = asked.config;
    const BundledShape* found = find_model(shapes, shape);
    if (!found && shape.arch != shapes.front().config.arch) found = nearest_model(shapes, shape);
    Document there;
    if (found) there.config = found->config;
    if (found && agree(asked, there)) shipped = found->source;
  }
  if (!shipped) {
    const char* why = given("--seed")    ? ", as --seed asks"
                      : given("--split") ? ": trained models cut text by themselves"
                                         : ": no trained model has this shape";
    if (!given("--random"))
      start.warnings.emplace_back(ErrorCode::bad_value, std::string("the weights are random, seed ") +
                                                            (given("--seed") ? given_words.word("--seed") : "0") + why +
                                                            " (--random asks for such weights)");
    return start;
  }
  auto opened = TRY(open_model(*shipped));
  start.session = session_of(std::move(opened));
  return start;
}

Result<Startup> RequestOptions::start_of_window() const {
  if (const bool alone = !source_.empty() && command_.count_given(kAsksNothing) == 1; !alone) return start();
  Startup later;
  later.open = source();
  later.asked = true;
  if (!sentence_of_session(source_).empty()) {  // where its model is not there, the window asks for it
    auto opened = start();
    return opened ? opened : later;
  }
  const auto resolved = TRY(path_of_source(source_));
  if (source_.starts_with(kShipped)) return start();
  if (!path_exists(resolved / "config.json") && !is_gguf(resolved) && logged_steps(resolved).empty()) {
    auto opened = start();
    return !opened && opened_by_tool(source_) ? later : opened;
  }
  return later;
}

Result<Startup> RequestOptions::start(bool reads_text) const {
  GivenOptions given_words = given_options(reads_text);
  auto start = opened_source(given_words);
  if (!start) return start;
  start->asked = command_.count_given(kAsksNothing) > 0;
  Document& document = start->session.document;
  const auto shaped = [&]() -> Status {
    if (document.model) return check_model(document, given_words);
    const Status taken = take_fields(document, given_words, FieldPart::model, fields_);
    return taken ? check(document.config) : taken;
  };
  TRY(shaped());
  if (given("--arch") && !document.model) document.mask.causal = is_causal_by_default(document.config.arch);
  std::vector<Error> notes;
  given_words.notes = &notes;
  const TakingOptions how{.chooses_model = sentence_chooses_model(), .empties_target = command_.name() == "generate"};
  const Status asked = take_question(document, given_words, how, fields_);
  print_warnings(notes);
  if (!asked) return asked.error();
  return start;
}

Result<Asked> RequestOptions::ask() const {
  auto lexicon = TRY(read_lexicon());
  auto start = TRY(this->start());
  auto requests = TRY(requests_asked(start.session.document, lexicon));
  for (Error& warning : mask_warnings(start.session.document, requests.front()))
    start.warnings.push_back(std::move(warning));
  const bool probes = command_.name() == "heads" && command_.has("--probe") && given("--probe");
  const bool reads_text = !probes;  // a probe has tokens of its own
  if (const std::string line = unknown_words_line(requests); reads_text && !line.empty())
    start.warnings.emplace_back(ErrorCode::bad_value, line);
  const auto& card = start.session.document.card;
  const auto is_other = [](const Request& request) { return !is_of_measured_kind(request.tokens); };
  if (reads_text && card && !card->plan.teaching.heads.empty() && std::ranges::any_of(requests, is_other))
    start.warnings.emplace_back(ErrorCode::bad_value,
                                "the text is of no kind that the model was measured on (another language, most words "
                                "not in its list, a program, two languages): its arcs have no names");
  return Asked{std::move(lexicon), std::move(start), std::move(requests), source()};
}

Status RequestOptions::check_model(const Document& document, const GivenOptions& given_words) const {
  if (given("--random"))
    return bad_input("--random", "", "no such option beside a model of its own", source_in_words(document));
  if (has_own_inputs(document)) {
    if (given("--num-heads") && !is_tensors(source_) && !names_own_numbers(document.model_path))
      return bad_input("--num-heads", "", "the tensors file itself as SOURCE", source_);
    for (const QuestionField& field : fields_)
      for (const FieldOption& option : field.options)
        if (field.part == FieldPart::model && std::string_view(option.name) != "--num-heads" && given(option.name))
          return bad_input(option.name, "", "no such option beside " + inputs_in_words(document),
                           source_in_words(document));
    return Done{};
  }
  if (given("--seed")) return bad_input("--seed", "", "no such option beside a checkpoint", document.model_path);
  Document asked;
  asked.config = document.model->config;
  if (const auto taken = take_fields(asked, given_words, FieldPart::model, fields_); !taken) return taken;
  return agree(asked, document);
}

}  // namespace headlight
