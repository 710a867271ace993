#include "read/tokenizer/tokenizer_classes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "read/tokenizer/tokenizer_json.h"
#include "read/tokenizer/tokenizer_rules.h"
#include "text/characters.h"

namespace headlight {
namespace {

using nlohmann::json;

struct OfModelType {
  std::string_view type, tokenizer;
};
constexpr OfModelType kOfModelTypes[] = {
    {"albert", "AlbertTokenizer"},
    {"bart", "BartTokenizer"},
    {"bert", "BertTokenizer"},
    {"bloom", "BloomTokenizer"},
    {"camembert", "CamembertTokenizer"},
    {"clip", "CLIPTokenizer"},
    {"clip_text_model", "CLIPTokenizer"},
    {"codellama", "CodeLlamaTokenizer"},
    {"cohere", "CohereTokenizer"},
    {"deberta", "DebertaTokenizer"},
    {"deberta-v2", "DebertaV2Tokenizer"},
    {"deepseek_v2", "LlamaTokenizer"},
    {"deepseek_v3", "LlamaTokenizer"},
    {"distilbert", "DistilBertTokenizer"},
    {"electra", "ElectraTokenizer"},
    {"ernie", "BertTokenizer"},
    {"falcon", "PreTrainedTokenizer"},
    {"gemma", "GemmaTokenizer"},
    {"gemma2", "GemmaTokenizer"},
    {"gemma3", "GemmaTokenizer"},
    {"gemma3_text", "GemmaTokenizer"},
    {"gpt2", "GPT2Tokenizer"},
    {"gpt_neo", "GPT2Tokenizer"},
    {"gpt_neox", "GPTNeoXTokenizer"},
    {"gptj", "GPT2Tokenizer"},
    {"granite", "GPT2Tokenizer"},
    {"llama", "LlamaTokenizer"},
    {"llava", "LlamaTokenizer"},
    {"longformer", "LongformerTokenizer"},
    {"m2m_100", "M2M100Tokenizer"},
    {"marian", "MarianTokenizer"},
    {"mbart", "MBartTokenizer"},
    {"mistral", "LlamaTokenizer"},
    {"mistral3", "LlamaTokenizer"},
    {"mixtral", "LlamaTokenizer"},
    {"modernbert", "PreTrainedTokenizer"},
    {"mpnet", "MPNetTokenizer"},
    {"mt5", "MT5Tokenizer"},
    {"olmo", "GPTNeoXTokenizer"},
    {"olmo2", "GPT2Tokenizer"},
    {"opt", "GPT2Tokenizer"},
    {"pegasus", "PegasusTokenizer"},
    {"phi", "CodeGenTokenizer"},
    {"phi3", "LlamaTokenizer"},
    {"qwen2", "Qwen2Tokenizer"},
    {"qwen2_5_vl", "Qwen2Tokenizer"},
    {"qwen2_moe", "Qwen2Tokenizer"},
    {"qwen2_vl", "Qwen2Tokenizer"},
    {"qwen3", "Qwen2Tokenizer"},
    {"qwen3_moe", "Qwen2Tokenizer"},
    {"roberta", "RobertaTokenizer"},
    {"roformer", "RoFormerTokenizer"},
    {"smollm3", "PreTrainedTokenizer"},
    {"starcoder2", "GPT2Tokenizer"},
    {"t5", "T5Tokenizer"},
    {"xlm-roberta", "XLMRobertaTokenizer"},
};

struct Foreign {
  std::string_view name, needs;
};
constexpr Foreign kForeignClasses[] = {
    {"CpmTokenizer", "jieba"},       {"FSMTTokenizer", "Moses"},
    {"FlaubertTokenizer", "Moses"},  {"PhobertTokenizer", "words cut by VnCoreNLP and fastBPE"},
    {"RoFormerTokenizer", "jieba"},  {"XLMTokenizer", "Moses"},
    {"TransfoXLTokenizer", "Moses"},
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// BERT's classes set the flags of a BertNormalizer that says otherwise.
bool sets_normalizer(std::string_view name) {
  return is_one_of(
      name, {"BertTokenizer", "ConvBertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "LayoutLMTokenizer",
             "LxmertTokenizer", "MPNetTokenizer", "MobileBertTokenizer", "SqueezeBertTokenizer"});
}

/// Classes that make a template of bos and eos, with what they mean unless a key says otherwise.
struct Framed {
  std::string_view name, bos, eos;
  bool begins = true;
};
constexpr Framed kFramed[] = {
    {"LlamaTokenizer", "<s>", "</s>"},
    {"CodeLlamaTokenizer", "<s>", "</s>"},
    {"GemmaTokenizer", "<bos>", "<eos>"},
    {"CohereTokenizer", "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>"},
    {"GPTNeoXTokenizer", "<|endoftext|>", "<|endoftext|>", false},
};

std::string by(const TokenizerSettings& settings, const char* key) {
  return settings.states(key) ? std::string("tokenizer_config.json (") + key + ")"
                              : settings.tokenizer_class + ", by " + settings.class_from;
}

/// A flag of an object in the document; true where it changed.
bool set_flag(json& object, const char* key, const json& value, const json& unstated) {
  const auto at = object.find(key);
  if ((at == object.end() ? unstated : *at) == value) return false;
  object[key] = value;
  return true;
}

void set_bert_normalizer(json& normalizer, const TokenizerSettings& settings, AppliedRules& rules) {
  const auto set = [&](const char* flag, const char* key, const json& value, const json& unstated, const char* what) {
    if (set_flag(normalizer, flag, value, unstated))
      rules.push_back(std::string(what) +
                      (value == json(true) ? ""
                       : value.is_null()   ? " as lower case"
                                           : " not") +
                      ": by " + by(settings, key));
  };
  set("lowercase", "do_lower_case", settings.flag("do_lower_case", true), true, "lower case");
  const bool states = settings.states("strip_accents");
  set("strip_accents", "strip_accents", states ? json(settings.flag("strip_accents", false)) : json(nullptr), nullptr,
      "accents dropped");
  if (settings.tokenizer_class != "MPNetTokenizer")
    set("handle_chinese_chars", "tokenize_chinese_chars", settings.flag("tokenize_chinese_chars", true), true,
        "Chinese characters apart");
}

using Specials = std::vector<std::pair<std::int32_t, std::string>>;

/// The specials around each of two texts, the second of type 1.
Template framed(const Specials& before, const Specials& after) {
  Template result = template_around(before, after);
  result.pair = result.parts;
  for (Template::Part part : result.parts) {
    part.type = 1;
    part.second = part.is_text;
    result.pair.push_back(std::move(part));
  }
  return result;
}

void frame(Tokenizer& tokenizer, const Framed& known, const TokenizerSettings& settings, AppliedRules& rules,
           std::vector<Error>& warnings, std::string_view where) {
  Specials before, after;
  const auto add = [&](Specials& specials, const char* role, std::string_view usual, const char* key, bool unstated) {
    if (!settings.flag(key, unstated)) return true;
    const std::string word = settings.special(role, std::string(usual));
    const auto id = word.empty() ? std::nullopt : id_of_token(tokenizer, word);
    if (id) return specials.emplace_back(*id, word), true;
    if (settings.states(key) || settings.specials.contains(role))
      warnings.push_back(bad_input(where, role, "a token of the vocabulary, as " + by(settings, key) + " puts it there",
                                   word.empty() ? "none" : quoted_word(word)));
    return false;
  };
  if (!add(before, "bos_token", known.bos, "add_bos_token", known.begins) ||
      !add(after, "eos_token", known.eos, "add_eos_token", false))
    return;
  rules.push_back("bos " + (before.empty() ? "none" : before.front().second) + ": by " + by(settings, "add_bos_token"));
  rules.push_back("eos " + (after.empty() ? "none" : after.front().second) + ": by " + by(settings, "add_eos_token"));
  tokenizer.templates = {framed(before, after)};
}

/// mBART's template: the language of the text behind it, or before it.
void frame_by_language(Tokenizer& tokenizer, bool before_text, const TokenizerSettings& settings, AppliedRules& rules) {
  const std::string language = settings.word("src_lang", "en_XX"), end = settings.special("eos_token", "</s>");
  const auto language_id = id_of_token(tokenizer, language), end_id = id_of_token(tokenizer, end);
  if (!language_id || !end_id) return;
  Specials before, after{{*end_id, end}};
  (before_text ? before : after).emplace_back(*language_id, language);
  Template around = template_around(before, after);
  around.pair = around.parts;
  const auto text = std::find_if(around.pair.begin(), around.pair.end(), [](const auto& part) { return part.is_text; });
  around.pair.insert(text + 1, {.is_text = true, .second = true});
  tokenizer.templates = {std::move(around)};
  rules.push_back(
      "language " + language + ": by " +
      (settings.words.contains("src_lang") ? "tokenizer_config.json (src_lang)" : settings.tokenizer_class));
}

}  // namespace

std::string class_of_model_type(std::string_view model_type) {
  const auto found = std::find_if(std::begin(kOfModelTypes), std::end(kOfModelTypes),
                                  [&](const OfModelType& one) { return one.type == model_type; });
  return found == std::end(kOfModelTypes) ? std::string() : std::string(found->tokenizer);
}

bool is_plain_class(std::string_view name) {
  return is_one_of(name, {"", "PreTrainedTokenizer", "TokenizersBackend", "BloomTokenizer", "AutoTokenizer"});
}

Status check_class(std::string_view where, const TokenizerSettings& settings) {
  const std::string& name = settings.tokenizer_class;
  const auto refused = [&](const std::string& needs) {
    return bad_input(where, "tokenizer_class (" + settings.class_from + ")", "a class whose words are cut here",
                     quoted_word(name) + ", which needs " + needs + "; ids can be given instead (--ids)");
  };
  if (name == "BertJapaneseTokenizer") {
    if (const std::string cutter = settings.word("word_tokenizer_type", "basic"); cutter != "basic")
      return refused(cutter == "mecab" ? "MeCab" : cutter == "sudachi" ? "Sudachi" : quoted_word(cutter));
    if (const std::string pieces = settings.word("subword_tokenizer_type", "wordpiece"); pieces != "wordpiece")
      return refused("pieces of the kind " + quoted_word(pieces));
  }
  if (name == "BertweetTokenizer" && settings.flag("normalization", false))
    return refused("the words and emoji of NLTK's TweetTokenizer (normalization)");
  for (const Foreign& foreign : kForeignClasses)
    if (foreign.name == name) return refused(std::string(foreign.needs));
  return Done{};
}

void apply_to_document(json& document, const TokenizerSettings& settings, AppliedRules& rules) {
  if (!document.is_object() || !settings.any) return;
  const auto object = [&](const char* key) -> json* {
    const auto at = document.find(key);
    return at != document.end() && at->is_object() ? &*at : nullptr;
  };
  if (json* normalizer = object("normalizer");
      normalizer && normalizer->value("type", json()) == "BertNormalizer" && sets_normalizer(settings.tokenizer_class))
    set_bert_normalizer(*normalizer, settings, rules);
  json* cut = object("pre_tokenizer");
  const bool stated = settings.states("add_prefix_space");
  if (!cut || cut->value("type", json()) != "ByteLevel" || (settings.version_5 && !stated) || !settings.stored) return;
  const bool space = settings.flag("add_prefix_space", false);
  if (set_flag(*cut, "add_prefix_space", space, true))
    rules.push_back(std::string("space before the text") + (space ? "" : " not") + ": by " +
                    (stated ? "tokenizer_config.json (add_prefix_space)" : "tokenizer_config.json, which has none"));
}

std::optional<std::int32_t> id_of_token(const Tokenizer& tokenizer, const std::string& word) {
  for (const AddedToken& added : tokenizer.added.tokens())
    if (added.content == word) return added.id;
  return words_of(tokenizer).id(word);
}

Status add_tokens(std::string_view where, Tokenizer& tokenizer, std::vector<AddedToken> present,
                  const TokenizerSettings& settings, Numbering numbering, AppliedRules& rules,
                  std::vector<Error>& warnings) {
  const WordTable& words = words_of(tokenizer);
  std::size_t before = present.size();
  std::int32_t next = static_cast<std::int32_t>(words.size());
  std::unordered_map<std::string, std::size_t> place_of;  // in `present`, by content
  for (std::size_t i = 0; i < present.size(); ++i) {
    next = std::max(next, present[i].id + 1);
    place_of.try_emplace(present[i].content, i);
  }
  const bool own_count = before > 0 && settings.added_from == "added_tokens.json";
  const auto put = [&](AddedToken token, bool replace) {
    const auto [found, fresh] = place_of.try_emplace(token.content, present.size());
    if (!fresh) {
      AddedToken& there = present[found->second];
      token.id = there.id;
      if (replace) there = std::move(token);
      return;
    }
    const std::int32_t stated = token.id;
    if (const auto id = words.id(token.content)) token.id = *id;
    else if (stated < 0 || numbering == Numbering::after_the_last) token.id = next;
    if (stated >= 0 && token.id != stated)
      warnings.emplace_back(ErrorCode::bad_value, where,
                            quoted_word(token.content) + " has the id " + std::to_string(token.id) + ", not " +
                                std::to_string(stated) + " as " + settings.added_from + " says");
    next = std::max(next, token.id + 1);
    present.push_back(std::move(token));
  };
  for (const AddedToken& token : settings.added) put(token, !own_count);
  if (present.size() > before)
    rules.push_back(std::to_string(present.size() - before) + " added tokens: by " + settings.added_from);
  before = present.size();
  for (const RoleToken& role : settings.roles) put(role.token, role.described && numbering == Numbering::as_stated);
  std::string list;
  for (std::size_t i = before; i < present.size(); ++i) list += (list.empty() ? "" : " ") + present[i].content;
  if (!list.empty()) rules.push_back("whole words " + list + ": by " + settings.roles_from);
  if (next > kMostTokenIds)
    return bad_input(where, "added tokens", "ids below " + std::to_string(kMostTokenIds), std::to_string(next - 1));
  if (settings.flag("split_special_tokens", false)) {
    rules.push_back("special tokens in a text are cut like it: by tokenizer_config.json (split_special_tokens)");
    std::erase_if(present, [&](const AddedToken& token) { return token.special && words.id(token.content); });
  }
  return set_added_tokens(tokenizer, std::move(present));
}

void apply_template(Tokenizer& tokenizer, const TokenizerSettings& settings, AppliedRules& rules,
                    std::vector<Error>& warnings, std::string_view where) {
  const std::string& name = settings.tokenizer_class;
  if (settings.version_5) {
    if (settings.states("add_bos_token") || settings.states("add_eos_token"))
      rules.push_back(
          "bos and eos: by tokenizer.json alone, as in transformers 5, whatever tokenizer_config.json says");
    return;
  }
  for (const Framed& known : kFramed)
    if (known.name == name) return frame(tokenizer, known, settings, rules, warnings, where);
  if (name == "MBartTokenizer" || name == "MBart50Tokenizer")
    return frame_by_language(tokenizer, name == "MBart50Tokenizer", settings, rules);
  if (settings.flag("add_bos_token", false) && tokenizer.templates.empty())
    rules.push_back("bos none: " + (name.empty() ? std::string("no class") : name) +
                    " does not read add_bos_token of tokenizer_config.json, and tokenizer.json has no template");
}

}  // namespace headlight
