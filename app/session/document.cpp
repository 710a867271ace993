#include "session/document.h"

#include <algorithm>

namespace headlight {
namespace {

Status check_ids(std::string_view where, std::string_view option, const std::vector<std::int64_t>& ids) {
  if (ids.empty())
    return bad_input(where, "", "ids, as " + std::string(option) + " 1,2,3 gives them (a checkpoint is read without a "
                     "tokenizer)", "none");
  if (ids.size() > kMaxTokens)
    return bad_input(where, "", "at most " + std::to_string(kMaxTokens), std::to_string(ids.size()));
  return Done{};
}

/// The one request of a checkpoint, which reads ids.
Result<std::vector<Request>> request_of_ids(const Document& document, Request request) {
  if (const auto valid = check_ids("ids", "--ids", document.ids); !valid) return valid.error();
  const std::vector<int>& types = document.token_types;
  if (!types.empty() && types.size() != document.ids.size())
    return bad_input("token types", "", std::to_string(document.ids.size()) + ", as many as there are ids",
                     std::to_string(types.size()));
  request.tokens = with_padding_marked(tokens_of_ids(document.ids), document.pad);
  for (std::size_t i = 0; i < types.size(); ++i) request.tokens.tokens[i].type = types[i];
  if (request.config.arch == Arch::encoder_decoder) {
    if (const auto valid = check_ids("decoder ids", "--decoder-ids", document.target.ids); !valid) return valid.error();
    request.target = tokens_of_ids(document.target.ids);
  }
  return std::vector<Request>{std::move(request)};
}

/// The sentences of one side, each as long as the longest.
Result<std::vector<Tokens>> padded_sentences(std::string_view where, const Passage& passage, std::size_t pad,
                                             const Lexicon& lexicon) {
  auto lines = tokens_of_lines(where, passage, lexicon, kMaxTokens);
  if (!lines) return lines;
  if (lines->empty()) return bad_input(where, "tokens", "at least one", "none");
  std::size_t longest = 0;
  for (Tokens& tokens : *lines) {
    tokens = with_padding_marked(std::move(tokens), pad);
    longest = std::max(longest, tokens.size());
  }
  if (lines->size() > 1 && lines->size() * longest > kMaxBatchTokens)
    return bad_input(where, "tokens of the batch, every sentence as long as the longest",
                     "at most " + std::to_string(kMaxBatchTokens), std::to_string(lines->size() * longest));
  for (Tokens& tokens : *lines) tokens = padded(std::move(tokens), longest);
  return lines;
}

Error unpaired_lines(std::size_t sources, std::size_t targets) {
  return bad_input("target", "sentences", std::to_string(sources) + ", a line for each line of the text",
                   std::to_string(targets));
}

MaskSpec Document::*mask_field(Stack stack) {
  switch (stack) {
    case Stack::encoder: return &Document::encoder_mask;
    case Stack::cross: return &Document::cross_mask;
    case Stack::self: break;
  }
  return &Document::mask;
}

/// The first rows and columns of a given mask, where it has more.
void shrink(MaskSpec& mask, Index queries, Index keys) {
  std::erase_if(mask.painted, [&](const PaintedCell& cell) { return cell.query >= queries || cell.key >= keys; });
  if (!mask.given || (mask.given->rows() <= queries && mask.given->cols() <= keys)) return;
  mask.given = std::make_shared<const Matrix>(
      mask.given->topLeftCorner(std::min(queries, mask.given->rows()), std::min(keys, mask.given->cols())));
}

}  // namespace

Passage& passage(Document& document, Side side) {
  if (side == Side::target) return document.target;
  return document;
}

const Passage& passage(const Document& document, Side side) {
  if (side == Side::target) return document.target;
  return document;
}

Side main_side(const Document& document) {
  return config_of(document).arch == Arch::encoder_decoder ? Side::target : Side::source;
}

const Config& config_of(const Document& document) { return document.model ? document.model->config : document.config; }

bool has_own_inputs(const Document& document) { return document.model && document.model->given; }

bool reads_ids(const Document& document) { return document.model && !document.model->given; }

MaskSpec& mask_of(Document& document, Stack stack) { return document.*mask_field(stack); }
const MaskSpec& mask_of(const Document& document, Stack stack) { return document.*mask_field(stack); }

const MaskSpec& mask_of(const Document& document, Stack stack, Index layer) {
  const LayerEdit* edit = layer_edit(document.edits, stack, layer);
  return edit && edit->mask ? *edit->mask : mask_of(document, stack);
}

Result<std::vector<Request>> requests_of(const Document& document, const Lexicon& lexicon) {
  Request common{.model = document.model,
                 .config = config_of(document),
                 .vocabulary = document.model ? nullptr : lexicon.vocabulary,
                 .tokens = {},
                 .target = {},
                 .mask = document.mask,
                 .encoder_mask = document.encoder_mask,
                 .cross_mask = document.cross_mask,
                 .edits = document.edits};
  if (has_own_inputs(document)) return std::vector<Request>{common};
  if (reads_ids(document)) return request_of_ids(document, std::move(common));
  if (const auto valid = check(document.config); !valid) return valid.error();

  auto sources = padded_sentences("text", document, document.pad, lexicon);
  if (!sources) return sources.error();
  std::vector<Request> requests(sources->size(), common);
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].tokens = std::move((*sources)[i]);
  if (common.config.arch != Arch::encoder_decoder) return requests;

  auto targets = padded_sentences("target", document.target, 0, lexicon);
  if (!targets) return targets.error();
  if (targets->size() != requests.size())
    return unpaired_lines(requests.size(), targets->size());
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].target = std::move((*targets)[i]);
  return requests;
}

Result<std::vector<Document>> documents_of_lines(const Document& document) {
  if (document.model) return std::vector<Document>{document};
  const bool two_texts = document.config.arch == Arch::encoder_decoder;
  const auto sources = sentences(document.text), targets = sentences(document.target.text);
  if (sources.empty()) return bad_input("text", "tokens", "at least one", "none");
  if (two_texts && targets.size() != sources.size()) return unpaired_lines(sources.size(), targets.size());
  std::vector<Document> documents;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Document one = document;
    static_cast<Passage&>(one) = passage_of(document, sources[i]);
    if (two_texts) one.target = passage_of(document.target, targets[i]);
    documents.push_back(std::move(one));
  }
  return documents;
}

void append_word(Document& document, std::size_t sentence, const Candidate& word, const Lexicon& lexicon) {
  const Side side = main_side(document);
  Passage& written = passage(document, side);
  const std::size_t pad = side == Side::source ? document.pad : 0;
  if (!reads_ids(document)) return insert_word(written, sentence, pad, word.text, lexicon);
  const auto before = static_cast<std::ptrdiff_t>(std::min(pad, written.ids.size()));
  const auto at = written.ids.insert(written.ids.end() - before, word.id);
  if (side == Side::source && !document.token_types.empty())
    document.token_types.insert(document.token_types.begin() + (at - written.ids.begin()), 0);
}

Request prefix_of(Request request, std::size_t count) {
  const bool has_decoder = request.config.arch != Arch::encoder && !(request.model && request.model->given);
  const bool writes_target = request.config.arch == Arch::encoder_decoder;
  Tokens& tokens = writes_target ? request.target : request.tokens;
  if (!has_decoder || count == 0 || count >= tokens.size()) return request;
  tokens.tokens.resize(count);
  tokens.text.resize(tokens.tokens.back().end);
  const auto queries = static_cast<Index>(count);
  const Index keys = static_cast<Index>(writes_target ? request.tokens.size() : count);
  shrink(request.mask, queries, queries);
  shrink(request.cross_mask, queries, keys);
  for (LayerEdit& layer : request.edits.layers)
    if (layer.mask && layer.stack != Stack::encoder)
      shrink(*layer.mask, queries, layer.stack == Stack::cross ? keys : queries);
  std::erase_if(request.edits.weights, [&](const WeightEdit& edit) {
    const Index all_keys = edit.head.stack == Stack::cross ? keys : queries;
    return edit.head.stack != Stack::encoder && (edit.cell.query >= queries || edit.cell.key >= all_keys);
  });
  return request;
}

}  // namespace headlight
