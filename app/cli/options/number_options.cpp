#include "cli/options/number_options.h"

#include "base/file.h"
#include "base/utf8.h"

namespace headlight {
namespace {

/// An option, and where its table goes: one, or one for each head.
struct NumberOption {
  const char* name;
  std::optional<NumberTable> OwnNumbers::*table;
  std::vector<NumberTable> OwnNumbers::*heads;
  const char* help;
};
constexpr NumberOption kNumberOptions[] = {
    {"--x", &OwnNumbers::x, nullptr,
     "Embeddings, a row a token, words in front of them its names; - is standard input"},
    {"--w-q", nullptr, &OwnNumbers::w_q, "W_Q as a page has it, x·W: (d_model, d_k), a file a head or one for all"},
    {"--w-k", nullptr, &OwnNumbers::w_k, "The same for the keys"},
    {"--w-v", nullptr, &OwnNumbers::w_v, "The same for the values"},
    {"--w-o", &OwnNumbers::w_o, nullptr, "W_O, (heads·d_v, d_model)"},
    {"--scores", &OwnNumbers::scores, nullptr,
     "Scores before the softmax, after the scale (beside --x they are only checked)"},
    {"--weights", &OwnNumbers::weights, nullptr,
     "Weights after the softmax (beside --x or --scores they are only checked)"}};

Result<NumberTable> table_of_option(const std::string& file) {
  if (file != "-") return read_number_table(file);
  const auto text = TRY(read_standard_input(kMostTableBytes));
  return parse_number_table("standard input", text);
}

}  // namespace

void add_number_options(Parser& command, std::map<std::string, std::string>& files, const std::string& topic) {
  command.section("Numbers of one's own, in place of SOURCE: NumPy text, JSON, CSV, .npy", topic);
  for (const NumberOption& option : kNumberOptions)
    command.option(option.name, files[option.name], option.help, option.heads ? "FILE,…" : "FILE");
  command.section();
}

std::string given_numbers(const Parser& command) {
  for (const NumberOption& option : kNumberOptions)
    if (command.given(option.name)) return option.name;
  return {};
}

Result<OwnNumbers> read_number_options(const Parser& command, const std::map<std::string, std::string>& files) {
  OwnNumbers numbers;
  for (const NumberOption& option : kNumberOptions) {
    if (!command.given(option.name)) continue;
    const std::string& names = files.at(option.name);
    for (const std::string_view file : option.heads ? split_at(',', names) : std::vector<std::string_view>{names}) {
      auto table = TRY(table_of_option(std::string(file)));
      if (option.heads) (numbers.*option.heads).push_back(std::move(table));
      else numbers.*option.table = std::move(table);
    }
  }
  return numbers;
}

}  // namespace headlight
