#include "cli/request_options.h"

#include <cmath>

#include "base/file.h"
#include "base/utf8.h"
#include "read/mask_file.h"

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

/// CLI11 reads -1 as the largest whole number there is.
std::string not_negative(const std::string& value) {
  return value.starts_with('-') ? "expected a whole number, 0 or more, found " + value : std::string{};
}

bool is_session(const std::string& path) { return path.ends_with(".headlight.json"); }
bool is_tensors(const std::string& path) { return path.ends_with(".safetensors") || path.ends_with(".npz"); }

}  // namespace

RequestOptions::RequestOptions(CLI::App& command) : command_(command) {
  command.add_option("SOURCE", source_,
                     "A session (.headlight.json) or a tensors file (.safetensors, .npz). Default: fresh weights");
  const char* text = "What is asked";
  command.add_option("--text", text_, "The sentence; '-' reads standard input; several lines are a batch")
      ->group(text);
  command.add_option("--tokens", tokens_, "The sentence with its token boundaries set by hand: 'A|B|C'")
      ->group(text)->excludes("--text");
  command.add_option("--split", split_, "words (default) or characters")->group(text)->excludes("--tokens");
  command.add_option("--pad", pad_, "The last N tokens are padding")->group(text)->type_name("N")
      ->check(not_negative, "");
  const char* model = "The model";
  command.add_flag("--random", random_, "Fresh weights, shaped by the options below")->group(model);
  command.add_option("--arch", arch_, "encoder (default) or decoder")->group(model);
  command.add_option("--d-model", config_.d_model, "Width of the residual stream, 64 by default")->group(model)->type_name("N");
  command.add_option("--num-heads", config_.num_heads, "Heads, a divisor of d_model, 4 by default")->group(model)->type_name("N");
  command.add_option("--layers", config_.num_layers, "Layers, 2 by default")->group(model)->type_name("N");
  command.add_option("--ffn", config_.ffn, "Width of the feed-forward layer, 256 by default; 0 leaves it out")->group(model)->type_name("N");
  command.add_option("--position", position_, "sinusoidal (default) or none")->group(model);
  command.add_option("--norm", norm_, "post (default) or pre")->group(model);
  command.add_option("--activation", activation_, "relu (default) or gelu")->group(model);
  command.add_option("--seed", config_.seed, "Seed of the fresh weights, 0 by default")->group(model)->type_name("N")
      ->check(not_negative, "");
  command.add_flag("--no-bias", no_bias_, "Projections without a bias")->group(model);
  const char* attention = "The attention";
  command.add_option("--mask", mask_, "none, causal, padding, causal+padding, or FILE.npy, FILE.json: [query][key], true or 1 = may attend")
      ->group(attention);
  command.add_option("--scale", scale_, "Multiplies the scores in place of 1/sqrt(d_k)")->group(attention)->type_name("X");
  command.add_option("--threads", threads_, "Threads to compute with; 0, the default: all")->group(attention)->type_name("N")
      ->check(CLI::Range(0, 1024));
}

Result<Start> RequestOptions::start() const {
  Start start;
  start.asked = !command_.remaining().empty();
  for (const CLI::Option* option : command_.get_options()) start.asked = start.asked || option->count() > 0;
  Document& document = start.session.document;
  if (is_session(source_)) {
    auto session = read_session(source_);
    if (!session) return session.error();
    start.session = std::move(*session);
    start.session_path = source_;
  } else if (is_tensors(source_)) {
    auto opened = open_tensors(source_, given("--num-heads") ? std::optional(config_.num_heads) : std::nullopt);
    if (!opened) return opened.error();
    document = std::move(opened->session.document);
  } else if (!source_.empty()) {
    std::error_code ignored;
    return bad_input(source_, "kind", "a session (.headlight.json) or a tensors file (.safetensors, .npz)",
                     std::filesystem::is_directory(source_, ignored) ? "a folder"
                     : std::filesystem::exists(source_, ignored)     ? "another file"
                                                                     : "no such file");
  }
  if (document.model) {
    for (const char* option : {"--text", "--tokens", "--split", "--pad", "--arch", "--d-model", "--layers", "--ffn",
                               "--position", "--norm", "--activation", "--seed", "--no-bias", "--random"})
      if (given(option)) return bad_input(option, "", "no such option beside a tensors file", source_);
    if (given("--num-heads") && !is_tensors(source_))
      return bad_input("--num-heads", "", "the tensors file itself as SOURCE", source_);
  }
  for (const Status& status : {apply_text(document), document.model ? Status(Done{}) : apply_model(document.config)})
    if (!status) return status.error();
  if (given("--arch") && !given("--mask")) document.mask.causal = document.config.arch == Arch::decoder;
  if (const auto status = apply_mask(document); !status) return status.error();
  if (given("--scale")) {
    if (!std::isfinite(scale_)) return bad_input("--scale", "", "a finite number", std::to_string(scale_));
    document.edits.scale = scale_;
  }
  return start;
}

Status RequestOptions::apply_text(Document& document) const {
  if (given("--text")) {
    document.text = text_;
    document.hand_cuts.reset();
    if (text_ == "-") {
      auto text = read_standard_input();
      if (!text) return text.error();
      document.text = std::move(*text);
      while (document.text.ends_with('\n') || document.text.ends_with('\r')) document.text.pop_back();
    }
    if (const auto valid = check_utf8("--text", document.text); !valid) return valid;
  }
  if (given("--tokens")) {
    auto marked = parse_marked_tokens("--tokens", tokens_);
    if (!marked) return marked.error();
    document.text = std::move(marked->text);
    document.hand_cuts = std::move(marked->cuts);
  }
  if (given("--split")) {
    document.hand_cuts.reset();
    if (const auto chosen = choose("--split", split_, document.split, {Split::words, Split::characters}); !chosen)
      return chosen;
  }
  if (given("--pad")) document.pad = pad_;
  return Done{};
}

Status RequestOptions::apply_model(Config& config) const {
  if (given("--d-model")) config.d_model = config_.d_model;
  if (given("--num-heads")) config.num_heads = config_.num_heads;
  if (given("--layers")) config.num_layers = config_.num_layers;
  if (given("--ffn")) config.ffn = config_.ffn;
  if (given("--seed")) config.seed = config_.seed;
  if (no_bias_) config.bias = false;
  if (given("--arch"))
    if (const auto chosen = choose("--arch", arch_, config.arch, {Arch::encoder, Arch::decoder}); !chosen) return chosen;
  if (given("--position"))
    if (const auto chosen = choose("--position", position_, config.position, {Position::sinusoidal, Position::none}); !chosen)
      return chosen;
  if (given("--norm"))
    if (const auto chosen = choose("--norm", norm_, config.norm, {Norm::post, Norm::pre}); !chosen) return chosen;
  if (given("--activation"))
    if (const auto chosen = choose("--activation", activation_, config.activation, {Activation::relu, Activation::gelu}); !chosen)
      return chosen;
  return check(config);
}

Status RequestOptions::apply_mask(Document& document) const {
  if (!given("--mask")) return Done{};
  MaskSpec& mask = document.mask;
  mask = MaskSpec{};
  if (mask_.ends_with(".npy") || mask_.ends_with(".json")) {
    auto matrix = read_mask(mask_);
    if (!matrix) return matrix.error();
    mask.given = std::make_shared<const Matrix>(std::move(*matrix));
    return Done{};
  }
  const bool known = mask_ == "none" || mask_ == "causal" || mask_ == "padding" || mask_ == "causal+padding";
  if (!known) return bad_input("--mask", "", "none, causal, padding, causal+padding, FILE.npy or FILE.json", mask_);
  mask.causal = mask_.starts_with("causal");
  mask.padding = mask_.ends_with("padding");
  return Done{};
}

}  // namespace headlight
