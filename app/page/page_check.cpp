#include "page/page_check.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/file.h"
#include "figure/labels.h"
#include "heads/head_measures.h"
#include "model/head_text.h"
#include "page/page.h"
#include "page/page_data.h"
#include "page/page_numbers.h"
#include "read/external/page_text.h"
#include "read/json/json_document.h"
#include "session/session_file.h"
#include "write/arrays.h"
#include "write/json.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Beyond its stated error a page may be off by what a later program rounds in another way.
constexpr float kSlack = 2e-6f;

Finding wrong(const std::string& what, const std::string& expected, const std::string& found) {
  return {Severity::error, bad_input(what, "", expected, found).message};
}

/// The numbers of one field of a stack: a string, or packed a list of strings. An Error names the field.
Result<std::string> bytes_of_field(const std::string& where, const json& stack, const char* field, std::size_t expected,
                                   std::size_t parts) {
  const json value = stack.value(field, json());
  const auto bad = [&](const std::string& found) {
    return bad_input(where, field, std::to_string(expected) + " bytes in base64", found);
  };
  if (value.is_string()) {
    auto bytes = decode_base64(value.get_ref<const std::string&>());
    if (!bytes) return bad("no base64");
    if (bytes->size() != expected) return bad(std::to_string(bytes->size()));
    return *std::move(bytes);
  }
  if (!value.is_array() || value.size() != parts || parts == 0) return bad("another field");
  std::string all;
  for (const json& part : value) {
    const auto packed = part.is_string() ? decode_base64(part.get_ref<const std::string&>()) : std::nullopt;
    if (!packed) return bad("no base64");
    auto bytes = unpacked_planes(*packed, expected / parts);
    if (!bytes) return bad("damaged numbers");
    all += *bytes;
  }
  return all;
}

float float16_at(const std::string& bytes, std::size_t number) {
  const auto low = static_cast<unsigned char>(bytes[2 * number]),
             high = static_cast<unsigned char>(bytes[2 * number + 1]);
  return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(static_cast<std::uint16_t>(low | high << 8)));
}

/// Puts rows × columns numbers from `offset` on into the columns of a matrix that begin at `column`.
void fill(const std::string& bytes, std::size_t offset, Index column, Index columns, Matrix& matrix) {
  for (Index row = 0; row < matrix.rows(); ++row)
    for (Index c = 0; c < columns; ++c) matrix(row, column + c) = float16_at(bytes, offset++);
}

/// The page's heads of one stack, as `only` or their number says.
std::vector<HeadRef> heads_of_page(const json& stack, const Trace& trace, Stack which) {
  std::vector<HeadRef> heads;
  const json only = stack.value("only", json());
  if (!only.is_array()) return heads_of(trace, which);
  for (const json& key : only) {
    const auto head = key.is_string() ? parse_head(key.get<std::string>()) : std::nullopt;
    if (head && head->layer < trace.num_layers(which) && head->head < trace.num_heads(which))
      heads.push_back({head->layer, head->head, which});
  }
  return heads;
}

AttentionTrace& attention_in(RoundedTrace& page, StackTrace* encoder, const HeadRef& head) {
  BlockTrace& block = head.stack == Stack::encoder ? encoder->blocks[static_cast<std::size_t>(head.layer)]
                                                   : page.trace.blocks[static_cast<std::size_t>(head.layer)];
  return head.stack == Stack::cross ? *block.cross : block.self;
}

/// Puts the page's numbers in place of the answer's own. An Error names a field that does not fit.
Status take_numbers(const std::string& where, const json& stack, const std::vector<HeadRef>& heads, RoundedTrace& page,
                    StackTrace* encoder) {
  std::vector<Index> layers;
  for (const HeadRef& head : heads)
    if (layers.empty() || layers.back() != head.layer) layers.push_back(head.layer);
  const auto read = [&](const char* field, std::size_t each, std::size_t count) {
    return bytes_of_field(where, stack, field, 2 * each * count, layers.size());
  };
  const AttentionTrace& first = attention_in(page, encoder, heads.front());
  const auto queries = static_cast<std::size_t>(first.mask->queries()),
             keys = static_cast<std::size_t>(first.mask->keys());
  if (first.patterns) {
    const auto bytes = read("weights", queries * keys, heads.size());
    if (!bytes) return bytes.error();
    std::size_t at = 0;
    for (const HeadRef& head : heads) {
      auto& patterns = const_cast<std::vector<Matrix>&>(*attention_in(page, encoder, head).patterns);
      fill(*bytes, at, 0, static_cast<Index>(keys), patterns[static_cast<std::size_t>(head.head)]);
      at += queries * keys;
    }
    return Done{};
  }
  const Index d_k = first.query.cols() / first.num_heads();
  const auto q = read("q", queries * static_cast<std::size_t>(d_k), heads.size());
  if (!q) return q.error();
  std::vector<HeadRef> groups;
  std::size_t at = 0;
  for (const HeadRef& head : heads) {
    AttentionTrace& attention = attention_in(page, encoder, head);
    fill(*q, at, head.head * d_k, d_k, attention.query);
    at += queries * static_cast<std::size_t>(d_k);
    groups.push_back({head.layer, attention.kv_head(head.head), head.stack});
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  const auto k = read("k", keys * static_cast<std::size_t>(d_k), groups.size());
  if (!k) return k.error();
  at = 0;
  for (const HeadRef& group : groups) {
    fill(*k, at, group.head * d_k, d_k, attention_in(page, encoder, group).key);
    at += keys * static_cast<std::size_t>(d_k);
  }
  return Done{};
}

Status take_page(const std::string& where, const json& data, const Trace& trace, RoundedTrace& page,
                 StackTrace* encoder, std::vector<HeadRef>& heads) {
  const json stacks = data.value("stacks", json());
  if (!stacks.is_array() || stacks.empty()) return bad_input(where, "stacks", "a list", "nothing");
  for (const json& stack : stacks) {
    if (!stack.is_object()) return bad_input(where, "stacks", "objects", "something else");
    const json label = stack.value("name", json());
    const auto names = stacks_of(trace);
    const auto own = std::find_if(names.begin(), names.end(),
                                  [&](const StackNames& one) { return label == std::string(one.label); });
    if (own == names.end()) return bad_input(where, "stacks", "an attention of the answer", printable(label.dump()));
    const auto of_stack = heads_of_page(stack, trace, own->stack);
    if (of_stack.empty()) return bad_input(where, "only", "heads of the answer", "none");
    if (const auto taken = take_numbers(where, stack, of_stack, page, encoder); !taken) return taken;
    heads.insert(heads.end(), of_stack.begin(), of_stack.end());
  }
  return Done{};
}

Finding tokens_finding(const json& data, const Trace& trace) {
  for (const NamedTokens& named : named_tokens(trace)) {
    const json list = data.value(named.name, json());
    const auto text_of = [&](std::size_t i) { return list[i].is_object() ? list[i].value("text", json()) : json(); };
    if (!list.is_array() || list.size() != named.tokens->size())
      return wrong(named.name, std::to_string(named.tokens->size()),
                   list.is_array() ? std::to_string(list.size()) : "no list");
    for (std::size_t i = 0; i < list.size(); ++i)
      if (text_of(i) != json::parse(json_string(named.tokens->tokens[i].text)))
        return wrong(named.name + " " + std::to_string(i), printable(json_string(named.tokens->tokens[i].text)),
                     printable(text_of(i).dump(-1, ' ', false, json::error_handler_t::replace)));
  }
  return {Severity::good,
          "the tokens are those that the request gives: " + std::to_string(trace.query_tokens().size())};
}

}  // namespace

Result<std::vector<Finding>> check_page(const std::filesystem::path& file, const Lexicon& lexicon, Progress& progress) {
  const std::string where = file.string();
  const auto html = read_file(file);
  if (!html) return html.error();
  const auto text = data_of_page(where, *html);
  if (!text) return text.error();
  const auto data = parse_json(where, *text);
  if (!data) return data.error();
  auto session = session_from_json(where, *text, progress);
  if (!session) return session.error();
  const auto requests = requests_of(session->document, lexicon);
  if (!requests) return Error{where + ": " + requests.error().message};
  const std::size_t sentence = std::min(session->view.sentence, requests->size() - 1);
  const auto trace = forward((*requests)[sentence], progress);
  if (!trace) return Error{where + ": " + trace.error().message};

  std::vector<Finding> findings{tokens_finding(*data, **trace)};
  if (findings.back().severity == Severity::error) return findings;
  RoundedTrace page = rounded(**trace);
  const auto encoder = page.trace.encoder ? std::make_shared<StackTrace>(*page.trace.encoder) : nullptr;
  page.trace.encoder = encoder;
  std::vector<HeadRef> heads;
  if (const auto taken = take_page(where, *data, **trace, page, encoder.get(), heads); !taken) {
    findings.push_back({Severity::error, taken.error().message});
    return findings;
  }
  const json stated = data->value("error", json());
  const float error = stated.is_number() ? stated.get<float>() : 0.0f;
  const float found = rounding_error(**trace, page.trace, heads, {0, &progress.stop});
  const std::string count = std::to_string(heads.size()) + (heads.size() == 1 ? " head" : " heads");
  if (!(found <= error + kSlack))
    findings.push_back(wrong("weights of " + count,
                             "at most " + brief_number(error) + " from the request's, as the page states",
                             brief_number(found)));
  else
    findings.push_back({Severity::good, "weights of " + count + " are the request's: the largest difference is " +
                                            brief_number(found) + ", the page states " + brief_number(error)});
  return findings;
}

}  // namespace headlight
