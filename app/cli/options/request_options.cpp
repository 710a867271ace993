#include "cli/options/request_options.h"

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "cli/options/number_option.h"
#include "cli/options/number_options.h"
#include "document/assets.h"
#include "document/bundled_models.h"
#include "document/known_words.h"
#include "document/log_folder.h"
#include "document/model_choice.h"
#include "document/model_sources.h"
#include "document/open_model.h"
#include "document/tokenizers.h"
#include "read/array/torch_file.h"
#include "read/external/own_numbers.h"
#include "read/external/page_text.h"
#include "read/tokenizer/chat.h"

namespace headlight {
namespace {

template <class Enum>
Status choose(const char* option, const std::string& found, Enum& value, std::initializer_list<Enum> choices) {
  std::string expected;
  for (const Enum choice : choices) {
    if (name(choice) == found) {
      value = choice;
      return Done{};
    }
    expected.append(expected.empty() ? "" : " or ").append(name(choice));
  }
  return bad_input(option, "", expected, found);
}

bool is_session(const std::string& path) { return path.ends_with(".headlight.json"); }
bool is_tensors(const std::string& path) {
  return path.ends_with(".safetensors") || path.ends_with(".npz") || is_torch_name(path);
}

constexpr const char* kTextOptions[] = {"--text", "--text-pair", "--tokens", "--target", "--target-tokens", "--split"};
constexpr const char* kIdOptions[] = {"--ids", "--decoder-ids", "--token-type-ids"};

Status take_text(const char* option, const std::string& found, TextInput& input) {
  input.text = found;
  input.hand_cuts.reset();
  if (found == "-") {
    auto text = read_standard_input();
    if (!text) return text.error();
    input.text = std::move(*text);
    while (input.text.ends_with('\n') || input.text.ends_with('\r')) input.text.pop_back();
  }
  return check_utf8(option, input.text);
}

Status take_marked(const char* option, const std::string& found, TextInput& input) {
  auto marked = parse_marked_tokens(option, found);
  if (!marked) return marked.error();
  input.text = std::move(marked->text);
  input.hand_cuts = std::move(marked->cuts);
  return Done{};
}

/// "1,2,3"; CLI11 itself would leave out what is missing in "1,,3".
template <class Number>
void take_numbers(const char* option, const std::string& found, std::vector<Number>& numbers) {
  numbers.clear();
  const char* at = found.data();
  const char* const end = at + found.size();
  for (;;) {
    const auto [next, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc() || (next != end && *next != ','))
      throw CLI::ValidationError(option, "expected whole numbers with a comma between them, found '" + found + "'");
    if (next == end) return;
    at = next + 1;
  }
}

Status check_numbers(const char* option, const auto& numbers) {
  for (const auto number : numbers)
    if (number < 0) return bad_input(option, "", "whole numbers, 0 or more", std::to_string(number));
  return Done{};
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

/// Of a document that has its own inputs: what it came from.
std::string inputs_in_words(const Document& document) {
  return names_page(document.model_path) ? "a page whose model is not there" : "a tensors file";
}

Session session_of(OpenedModel model) {
  Session session;
  session.document = std::move(model.document);
  session.model_warnings = std::move(model.model_warnings);
  return session;
}

}  // namespace

RequestOptions::RequestOptions(CLI::App& command) : command_(command), edits_(command) {
  command.add_option("SOURCE", source_,
                     "A checkpoint folder or a file of it, the name of a model in a cache of this machine "
                     "(`headlight models`), a tensors file (.safetensors, .npz, .pt), a JSON of attentions, a session "
                     "(.headlight.json) or a page (.html). Default: of the trained models that come along "
                     "shipped:encoder where it knows every word, else shipped:any-sentence");
  const char* text = "What is asked";
  command.add_option("--text", text_, "The sentence; '-' reads standard input; several lines are a batch")->group(text);
  command.add_option("--tokens", tokens_, "The sentence with its token boundaries set by hand: 'A|B|C'")
      ->group(text)
      ->excludes("--text");
  command
      .add_option("--text-pair", second_,
                  "Sentence B beside it, a line for each of the text's, of a checkpoint whose "
                  "tokenizer takes pairs")
      ->group(text);
  command
      .add_option("--target", target_, "What the decoder of an encoder-decoder reads, a line for each of the text's")
      ->group(text);
  command.add_option("--target-tokens", target_tokens_, "The same with its token boundaries set by hand")
      ->group(text)
      ->excludes("--target");
  command.add_option("--split", split_, "words (default) or characters")
      ->group(text)
      ->excludes("--tokens")
      ->excludes("--target-tokens");
  const auto add_list = [&](const char* option, auto& list, const char* help) {
    command
        .add_option_function<std::string>(
            option, [option, &list](const std::string& found) { take_numbers(option, found, list); }, help)
        ->group(text)
        ->type_name("N,N,…");
  };
  const auto add_ids = [&](const char* option, auto& list, const char* help, const char* other, const char* tokens) {
    add_list(option, list, help);
    command.get_option(option)->excludes(other)->excludes(tokens);
  };
  add_ids("--ids", ids_, "Token ids in place of text, for a checkpoint; no special tokens are added", "--text",
          "--tokens");
  command.get_option("--ids")->excludes("--text-pair");
  add_ids("--decoder-ids", decoder_ids_, "The ids that the decoder of an encoder-decoder reads", "--target",
          "--target-tokens");
  command
      .add_option("--chat", chat_,
                  "A turn of a conversation with an instruct model: system:TEXT, user:TEXT or assistant:TEXT, several "
                  "times; the special tokens of its family are put around")
      ->group(text)
      ->type_name("ROLE:TEXT")
      ->allow_extra_args(false)
      ->excludes("--text", "--tokens", "--ids", "--text-pair");
  add_list("--token-type-ids", token_types_, "A type for each id, where the model has types");
  command.add_option("--pad", pad_, "The last N tokens are padding")
      ->group(text)
      ->type_name("N")
      ->check(not_negative, "");
  model_.add(command);
  add_number_options(command, numbers_);
  command.add_option("--threads", threads_, "Threads to compute with; 0, the default: all")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
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
  if (lesson && command_.get_name() != "open" && command_.get_name() != "screenshot")
    return bad_input(source_, "kind", "of a lesson `headlight FILE`, which opens it, or `headlight check FILE`",
                     "headlight " + command_.get_name());
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
        start.warnings.push_back("the weights are random, seed " +
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
                     found_at(source_));
  }
  const bool heads = (is_tensors(source_) || names_own_numbers(source_)) && given("--num-heads");
  const Reading reading = command_.get_name() == "open" ? Reading::whole : Reading::as_used;
  auto opened = open_model(source_, heads ? std::optional(model_.sizes().num_heads) : std::nullopt, reading);
  if (!opened) return opened.error();
  start.warnings = std::move(opened->warnings);
  start.session = session_of(*std::move(opened));
  return start;
}

Result<Startup> RequestOptions::start_of_window() const {
  const auto options = command_.get_options();
  const auto is_given = [](const CLI::Option* option) { return option->count() > 0; };
  const bool alone = !source_.empty() && std::count_if(options.begin(), options.end(), is_given) == 1;
  if (!alone) return start();
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
  std::error_code ignored;
  if (source_.starts_with(kShipped)) return start();
  if (!std::filesystem::exists(*resolved / "config.json", ignored) && logged_steps(*resolved).empty()) return start();
  Startup start;
  start.open = source_;
  start.asked = true;
  return start;
}

Result<Startup> RequestOptions::start(bool reads_text) const {
  auto start = opened_source();
  if (!start) return start;
  start->asked = !command_.remaining().empty();
  for (const CLI::Option* option : command_.get_options()) start->asked = start->asked || option->count() > 0;
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
  for (const Status& status :
       {apply_text(document, reads_text), apply_ids(document), apply_chat(document), chosen(), edits_.apply(document)})
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
  for (std::string& line : mask_warnings(requests->front())) start->warnings.push_back(std::move(line));
  if (std::string line = unknown_words_line(*requests); !line.empty()) start->warnings.push_back(std::move(line));
  return Asked{std::move(*lexicon), std::move(*start), std::move(*requests)};
}

Status RequestOptions::check_model(const Document& document) const {
  if (given("--random"))
    return bad_input("--random", "", "no such option beside a model of its own", document.model_path);
  if (has_own_inputs(document)) {
    if (given("--num-heads") && !is_tensors(source_) && !names_own_numbers(document.model_path))
      return bad_input("--num-heads", "", "the tensors file itself as SOURCE", source_);
    for (const char* option : model_options())
      if (given(option) && std::string_view(option) != "--num-heads")
        return bad_input(option, "", "no such option beside " + inputs_in_words(document), document.model_path);
    return Done{};
  }
  if (given("--seed")) return bad_input("--seed", "", "no such option beside a checkpoint", document.model_path);
  Config asked = document.model->config;
  if (const auto taken = model_.take(command_, asked); !taken) return taken;
  return agree(command_, asked, document.model->config);
}

Status RequestOptions::check_text_option(const char* option, const Document& document) const {
  if (has_own_inputs(document))
    return bad_input(option, "", "no such option beside " + inputs_in_words(document), document.model_path);
  if (!can_read_text(document))
    return bad_input(option, "", "--ids beside a checkpoint without a tokenizer",
                     document.tokenizers ? document.tokenizers->problem : document.model_path);
  if (is_checkpoint(document) && std::string_view(option) == "--split")
    return bad_input(option, "", "no such option beside a checkpoint, which has its own tokenizer",
                     document.model_path);
  if (std::string_view(option) == "--text-pair" && !takes_pairs(document))
    return bad_input(option, "", "a checkpoint, no decoder, whose tokenizer has a template for pairs",
                     reads_ids(document) ? "ids in place of text"
                     : document.model    ? document.model_path
                                         : "fresh weights");
  const bool of_target = std::string_view(option).starts_with("--target");
  const Arch arch = config_of(document).arch;
  if (of_target && arch != Arch::encoder_decoder)
    return bad_input(option, "", document.model ? "an encoder-decoder" : "--arch encoder-decoder",
                     (document.model ? "" : "--arch ") + std::string(name(arch)));
  return Done{};
}

Status RequestOptions::apply_text(Document& document, bool reads_text) const {
  if ((given("--text") || given("--tokens")) && can_read_text(document)) {
    document.source.ids.clear();
    document.token_types.clear();
  }
  for (const char* option : kTextOptions)
    if (given(option))
      if (const auto valid = check_text_option(option, document); !valid) return valid;
  if (given("--target") || given("--target-tokens")) document.target.ids.clear();
  if (given("--text-pair")) {
    if (const auto valid = check_utf8("--text-pair", second_); !valid) return valid;
    document.text_pair = second_;
  }
  if (given("--text")) {
    const std::string& text = reads_text || text_ != "-" ? text_ : std::string();
    if (const auto taken = take_text("--text", text, document.source); !taken) return taken;
  }
  if (given("--tokens"))
    if (const auto taken = take_marked("--tokens", tokens_, document.source); !taken) return taken;
  if (given("--target"))
    if (const auto taken = take_text("--target", target_, document.target); !taken) return taken;
  if (given("--target-tokens"))
    if (const auto taken = take_marked("--target-tokens", target_tokens_, document.target); !taken) return taken;
  // The target that a document begins with belongs to the text that it begins with.
  const bool new_text = given("--text") || given("--tokens") || command_.get_name() == "generate";
  const bool begins = document.tokenizers && document.tokenizers->start && document.target == Document{}.target;
  if (new_text && begins && !given("--target") && !given("--target-tokens") && !given("--decoder-ids"))
    document.target = {};
  if (given("--split")) {
    for (TextInput* input : {&document.source, &document.target}) {
      input->hand_cuts.reset();
      if (const auto chosen = choose("--split", split_, input->split, {Split::words, Split::characters}); !chosen)
        return chosen;
    }
  }
  if (!given("--pad")) return Done{};
  if (has_own_inputs(document))
    return bad_input("--pad", "", "no such option beside " + inputs_in_words(document), document.model_path);
  document.pad = pad_;
  return Done{};
}

Status RequestOptions::apply_chat(Document& document) const {
  if (!given("--chat")) return Done{};
  if (!is_checkpoint(document) || !can_read_text(document) || !document.tokenizers->source)
    return bad_input("--chat", "", "an instruct model with a tokenizer as SOURCE", source_.empty() ? "none" : source_);
  std::vector<ChatTurn> turns;
  for (const std::string& text : chat_) {
    auto turn = parse_chat_turn(text);
    if (!turn) return turn.error();
    turns.push_back(std::move(*turn));
  }
  auto ids = chat_ids(*document.tokenizers->source, turns);
  if (!ids) return ids.error();
  document.source.ids = std::move(*ids);
  document.token_types.clear();
  return Done{};
}

Status RequestOptions::apply_ids(Document& document) const {
  for (const char* option : kIdOptions)
    if (given(option) && !is_checkpoint(document))
      return bad_input(option, "", "a checkpoint folder as SOURCE", source_.empty() ? "none" : source_);
  if (given("--decoder-ids") && config_of(document).arch != Arch::encoder_decoder)
    return bad_input("--decoder-ids", "", "an encoder-decoder", name(config_of(document).arch).data());
  for (const Status& status : {check_numbers("--ids", ids_), check_numbers("--decoder-ids", decoder_ids_),
                               check_numbers("--token-type-ids", token_types_)})
    if (!status) return status;
  if (given("--ids")) {
    document.source.ids = ids_;
    document.token_types.clear();
  }
  if (given("--decoder-ids")) document.target.ids = decoder_ids_;
  if (given("--ids") && config_of(document).arch == Arch::encoder_decoder && document.target.ids.empty() &&
      can_read_text(document) && !given("--target") && !given("--target-tokens"))
    return bad_input("--decoder-ids", "", "ids, or a --target, beside --ids of an encoder-decoder", "none");
  if (given("--token-type-ids") && document.source.ids.empty())
    return bad_input("--token-type-ids", "", "--ids beside it", "none");
  if (given("--token-type-ids")) document.token_types = token_types_;
  return Done{};
}

}  // namespace headlight
