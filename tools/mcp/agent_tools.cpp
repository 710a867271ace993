#include "mcp/agent_tools.h"

#include <algorithm>
#include <map>

#include "assets/assets.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/system.h"
#include "cli/frame/cli.h"
#include "models/bundled_models.h"
#include "models/model_sources.h"
#include "paper/font_list.h"
#include "question/question_fields.h"
#include "read/gguf/gguf_model.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostAnswer = std::size_t{1} << 18, kMostWithRow = std::size_t{1} << 24;  // bytes
constexpr std::size_t kMostPicture = std::size_t{1} << 19;

/// A command, and those of its own options that are offered; to a question also those of its table (question_fields).
struct AgentTool {
  const char *name, *command, *options, *about;
};
constexpr AgentTool kTools[] = {
    {"models", "", "", "What a `source` can be: models that come along, and those below the folders of this server."},
    {"ask", "export", "--only --special",
     "A text's tokens, attention weights [layer][head][query][key] and next words. `only` and `row` make it small."},
    {"heads", "heads", "--sort --ascending --effect --from --to --above --value-norms --against --metric --answers",
     "Every head with its name and measures (entropy, distance, previous, induction, sink, …), sorted."},
    {"why", "why", "--head --stack --query --key --sink", "A score, split over what wrote it."},
    {"lens", "lens", "--token --top --metric --answers --query",
     "The guess after each layer, and what each head adds to the score of a word."},
    {"patch", "patch",
     "--from --at --stack --at-layers --at-heads --at-tokens --align --direction --metric --answers --query",
     "Which part (`at`) of the answer to this question brings it back in that to another one (`from`)."},
    {"diagnose", "diagnose", "A B --tolerance --right --num-heads --language",
     "Whether an attention that another program computed is right, and if not, which mistake it is."},
    {"figure", "figure",
     "--output --view --layer --head --query --key --matrix --heads --order --threshold --against --at --metric",
     "Writes a picture (.svg, .pdf, .png) below a folder of this server."}};

/// An argument of a tool: an option of its command, or a word without one; none: the tool's own.
struct Argument {
  std::string option;
  OptionKind kind;
  std::string about;
  bool is_required = false;

  bool is_list() const {
    return kind == OptionKind::numbers || kind == OptionKind::list || kind == OptionKind::repeated;
  }
  /// Of the value, or of each in the list.
  std::string type() const {
    if (kind == OptionKind::flag) return "boolean";
    if (kind == OptionKind::number) return "number";
    const bool whole = kind == OptionKind::integer || kind == OptionKind::count || kind == OptionKind::numbers;
    return whole ? "integer" : "string";
  }
  bool takes(const json& value) const {
    if (kind == OptionKind::flag) return value.is_boolean();
    if (kind == OptionKind::number) return value.is_number();
    return type() == "integer"
               ? value.is_number_integer()
               : value.is_string() && value.get_ref<const std::string&>().find(char{}) == std::string::npos;
  }
};
using Arguments = std::map<std::string, Argument>;

/// `text_pair` of `--text-pair`.
std::string argument_name(const std::string& option) {
  std::string name;
  for (const char c : option.substr(option.find_first_not_of('-'))) name += c == '-' ? '_' : static_cast<char>(c | 32);
  return name;
}

/// Of an option as the help for machines has it.
OptionKind kind_of(const json& option) {
  const std::string takes = option["takes"];
  if (option["several"] == true) return OptionKind::list;
  if (takes.empty()) return OptionKind::flag;
  if (takes == "X" || takes == "FLOAT") return OptionKind::number;
  return takes == "N" || takes == "K" || takes == "L" || takes == "INT" ? OptionKind::count : OptionKind::word;
}

/// What a command prints. Errors also: it is too long; a path of the question that lies outside.
Result<std::string> printed(AgentPlaces& places, const std::vector<std::string>& words, std::size_t most) {
  places.most_output = most;
  places.output.clear();
  places.messages.clear();
  places.refused.clear();
  const auto status = run_command(words);
  std::erase_if(places.refused, [&](const fs::path& path) {
    return std::ranges::any_of(places.looked_at, [&](auto& at) { return path.string().starts_with(at.string()); });
  });
  const auto asked = [&](const fs::path& path) {  // the letters of it that the question has: of a folder also files
    const auto has = [&](const std::string& word) {
      return path.has_filename() && word.find(path.string()) != word.npos;
    };
    return std::ranges::any_of(words, has) ? path.string().size() : 0;
  };
  if (!places.refused.empty()) {
    const Error outside = bad_input(std::ranges::max_element(places.refused, {}, asked)->string(), "",
                                    "a place below the folders of this server", "one outside of them");
    if (!status) return outside;
    places.messages.push_back("warning: " + outside.message());
  }
  if (status) return std::move(places.output);
  if (status.error().where != "standard output") return status.error();
  return bad_input("answer", "", "at most " + std::to_string(most) + " bytes", "more (`only`, `row` make it small)");
}

Result<Arguments> arguments_of(AgentPlaces& places, const AgentTool& tool) {
  Arguments arguments;
  if (*tool.command == '\0') return arguments;
  const auto help = parse_json("help", TRY(printed(places, {tool.command, "--help", "--format", "json"}, kMostAnswer)));
  if (!help) return help.error();
  const std::string offered = std::string(" ") + tool.options + " ";
  for (const json& option : *help) {
    const std::string name = option["option"];
    if (name == "SOURCE") arguments["source"] = {name, OptionKind::word, "A model or a file: see `models`"};
    if (offered.find(" " + name + " ") != offered.npos)
      arguments[argument_name(name)] = {name, kind_of(option), option["help"], option["required"]};
  }
  if (!arguments.contains("source")) return arguments;
  for (const QuestionField& field : question_fields())
    for (const FieldOption& option : field.options)
      if (field.part != FieldPart::model)
        arguments[argument_name(option.name)] = {option.name, option.kind, option.help};
  if (std::string_view(tool.name) == "ask")
    arguments["row"] = {"", OptionKind::count, "Of the weights this query alone"};
  return arguments;
}

/// Adds an argument as words of a command.
Status add_words(const std::string& name, const Argument& argument, const json& value,
                 std::vector<std::string>& words) {
  const bool fits =
      argument.is_list()
          ? value.is_array() && std::ranges::all_of(value, [&](const json& one) { return argument.takes(one); })
          : argument.takes(value);
  if (!fits)
    return bad_input(name, "", (argument.is_list() ? "a list, each " : "") + argument.type(), found_text(value));
  if (value == "-") return bad_input(name, "", "a text or a path, as - is standard input", found_text(value));
  const auto text = [](const json& one) { return one.is_string() ? one.get<std::string>() : one.dump(); };
  const auto add = [&](const std::string& word) {  // behind = it may begin with a hyphen, but not be empty
    if (word.empty()) words.insert(words.end(), {argument.option, word});
    else words.push_back(argument.option + "=" + word);
  };
  if (!argument.option.starts_with('-')) {
    if (text(value).starts_with('-')) return bad_input(name, "", "a path or a name", found_text(value));
    words.push_back(text(value));
  } else if (argument.kind == OptionKind::flag) {
    if (value == true) words.push_back(argument.option);
  } else if (argument.kind == OptionKind::repeated) {
    for (const json& one : value) add(text(one));
  } else if (argument.is_list()) {
    if (!value.empty()) add(joined_texts(value, ",", text));
  } else {
    add(text(value));
  }
  return Done{};
}

json text_content(const std::string& text) { return {{"type", "text"}, {"text", text}}; }

/// An export with the weights of one query alone, without what is as large as they are.
Result<json> with_row(const std::string& answer, const json& row) {
  auto parsed = parse_json("answer", answer);
  if (!parsed) return parsed.error();
  if (!is_whole(row, 0, std::uint64_t{1} << 30)) return bad_input("row", "", "a whole number from 0", found_text(row));
  if (!parsed->contains("attention")) return bad_input("row", "", "one sentence", "several");
  parsed->erase("mask");
  const auto at = row.get<std::size_t>();
  std::size_t rows = 0;  // the stacks of two texts have different ones
  for (json& stack : (*parsed)["attention"])
    for (json& layer : stack["attn"])
      for (json& head : layer) {
        rows = std::max(rows, head.size());
        head = at < head.size() ? json::array({head[at]}) : json::array();
      }
  TRY(check_within("row", "", static_cast<Index>(at), static_cast<Index>(rows)));
  return text_content(parsed->dump());
}

/// Those that come along; those of the folders, which may be models themselves; those of caches that lie there.
Result<json> models_in(const std::vector<fs::path>& folders) {
  ModelRoots roots = model_roots();
  for (auto* list : {&roots.hugging_face, &roots.model_scope, &roots.folders, &roots.ollama, &roots.gguf})
    std::erase_if(*list, [](const fs::path& root) { return !is_folder(root); });
  std::vector<KeptModel> kept;
  for (const fs::path& folder : folders) {
    if (path_exists(folder / "config.json")) kept.push_back({.name = folder.filename().string(), .folder = folder});
    roots.folders.push_back(folder);
  }
  std::ranges::move(kept_models(roots), std::back_inserter(kept));
  json rows = json::array();
  for (const std::string& source : TRY(shipped_sources())) rows.push_back({{"source", source}, {"opens", true}});
  for (const ListedModel& model : listed_models(kept, 0, listed_folder_or_file))
    rows.push_back({{"source", model.folder.string()},
                    {"name", model.name},
                    {"family", model.family},
                    {"layers", model.layers},
                    {"heads", model.heads},
                    {"opens", model.opens()},
                    {"reason", model.reason}});
  return text_content(json{{"models", rows}}.dump());
}

/// What was drawn, a bitmap also as such.
json picture_of(const std::string& file) {
  json content = json::array({text_content("wrote " + fs::absolute(file).string())});
  if (const auto bytes = read_file(file, kMostPicture); bytes && file.ends_with(".png"))
    content.push_back({{"type", "image"}, {"data", encode_base64(*bytes)}, {"mimeType", "image/png"}});
  return content;
}

Result<json> content_of(AgentPlaces& places, const AgentTool& tool, const json& given) {
  const Arguments arguments = TRY(arguments_of(places, tool));
  std::vector<std::string> words{tool.command};
  json row;
  for (const auto& [key, value] : given.items()) {
    const auto known = arguments.find(key);
    if (known == arguments.end()) return bad_input(tool.name, "", "an argument of its schema", quoted_word(key));
    if (known->second.option.empty()) row = value;
    else TRY(add_words(key, known->second, value, words));
  }
  if (words[0].empty()) return models_in(places.folders);
  if (words[0] == "figure") {
    TRY(printed(places, words, kMostAnswer));
    return picture_of(given["output"]);
  }
  words.emplace_back("--format=json");
  const std::string text = TRY(printed(places, words, row.is_null() ? kMostAnswer : kMostWithRow));
  return row.is_null() ? text_content(text) : with_row(text, row);
}

}  // namespace

Status AgentPlaces::confine(const std::vector<std::string>& names) {
  std::error_code missing;
  for (const std::string& name : names) {
    folders.push_back(fs::canonical(name, missing));
    if (!is_folder(folders.back()))
      return bad_input(name, "", "a folder that is there", missing ? missing.message() : "a file");
  }
  if (!folders.empty()) fs::current_path(folders.front(), missing);
  if (missing) return bad_input(names.front(), "", "a folder that can be entered", missing.message());
  writable = readable = folders;
  const fs::path data = fs::weakly_canonical(TRY(asset_folder()));
  readable.insert(readable.end(), {data / "assets", data / "shaders"});
  if (auto fonts = listed_fonts(kLatinFamilies)) {
    if (fonts->of_family) fonts->fonts.push_back(*fonts->of_family);
    for (const ListedFont& font : fonts->fonts) readable.push_back(fs::weakly_canonical(font.file, missing));
  }
  looked_at = asset_folders(environment("HEADLIGHT_DATA"), code_file());
  looked_at.push_back(config_folder());
  const ModelRoots roots = model_roots();
  for (const auto* list : {&roots.hugging_face, &roots.model_scope, &roots.folders, &roots.ollama, &roots.gguf})
    looked_at.insert(looked_at.end(), list->begin(), list->end());
  std::erase(looked_at, fs::path());  // a root that this system has not
  confines = this;
  return Done{};
}

json agent_tools(AgentPlaces& places) {
  json tools = json::array();
  for (const AgentTool& tool : kTools) {
    json properties = json::object(), required = json::array();
    if (const auto arguments = arguments_of(places, tool))
      for (const auto& [name, argument] : *arguments) {
        json& schema = properties[name] = {{"type", argument.type()}, {"description", argument.about}};
        if (argument.is_list()) schema.update({{"type", "array"}, {"items", {{"type", argument.type()}}}});
        if (argument.is_required) required.push_back(name);
      }
    tools.push_back(
        {{"name", tool.name},
         {"description", tool.about},
         {"inputSchema",
          {{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}}}});
  }
  return tools;
}

json call_agent_tool(AgentPlaces& places, const std::string& name, const json& given) {
  const auto* const tool = std::ranges::find(kTools, name, &AgentTool::name);
  if (tool == std::end(kTools)) return {};
  const auto found = content_of(places, *tool, given);
  json content = !found ? text_content(found.error().message()) : *found;
  if (!content.is_array()) content = json::array({content});
  if (found)
    for (const std::string& message : places.messages) content.push_back(text_content(message));
  return {{"content", content}, {"isError", !found}};
}

}  // namespace headlight
