#include "page/core/page_answers.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/formatted.h"
#include "math/attention.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::pair<Stack, const char*> kMaskFields[] = {
    {Stack::self, "mask"}, {Stack::encoder, "encoder_mask"}, {Stack::cross, "cross_mask"}};

/// The arcs of a page's `relations`, and its `resting`. What is not of the answer is left out.
SentenceArcs arcs_of(const json& answer, const Trace& trace) {
  SentenceArcs arcs;
  const auto head_of = [&](const json& row) -> std::optional<HeadRef> {
    for (const StackNames& names : stacks_of(trace))
      if (row.value("stack", "") == names.label) {
        const HeadRef head{row.value("layer", Index{-1}), row.value("head", Index{-1}), names.stack};
        if (head.layer >= 0 && head.layer < trace.num_layers(head.stack) && head.head >= 0 &&
            head.head < trace.num_heads(head.stack))
          return head;
      }
    return std::nullopt;
  };
  for (const json& row : answer.value("relations", json::array())) {
    const auto head = head_of(row);
    for (const json& one : head ? row.value("arcs", json::array()) : json::array()) {
      NamedArc arc;
      arc.head = *head;
      arc.cell = {one.value("query", Index{-1}), one.value("key", Index{-1})};
      arc.relation = one.value("relation", "");
      arc.reversed = one.value("reversed", false);
      arc.precision = one.value("precision", 0.0);
      if (arc.cell.query >= 0 && arc.cell.query < trace.queries(head->stack) && arc.cell.key >= 0 &&
          arc.cell.key < trace.keys(head->stack))
        arcs.named.push_back(std::move(arc));
    }
  }
  for (const json& row : answer.value("resting", json::array()))
    if (const auto head = head_of(row))
      arcs.resting.push_back({*head, row.value("words", Index{0}), row.value("all", false)});
  arcs.rest = answer.value("rest", "");
  return arcs;
}

}  // namespace

Status read_changes(const json& object, std::map<Stack, MaskSpec>& masks, Edits& edits) {
  JsonProblems problems{kPageSource};
  const JsonField fields(object, "", problems);
  for (const auto& [stack, name] : kMaskFields)
    if (fields.contains(name)) masks[stack] = mask_from_json(fields.at(name));
  read_edits(fields, edits);
  take_seed(object, edits);
  return problems.status();
}

void take_seed(const json& object, Edits& edits) {
  if (const auto at = object.find("seed"); at != object.end() && at->is_string())
    edits.dropout_seed = parse_number<std::uint64_t>(at->get<std::string>()).value_or(0);
}

Result<std::unique_ptr<StillAnswer>> StillAnswer::read(const json& answer, const PageNumbers& beside) {
  auto page = TRY(page_of_answer(kPageSource, answer, beside));
  auto still = std::make_unique<StillAnswer>();
  still->page_ = std::move(page);
  take_seed(answer["edits"], still->page_.edits);
  still->take_numbers();
  still->take_thumbnails(answer["stacks"]);
  still->trace_->largest_weight = answer.value("largest", 1.0f);
  still->arcs_ = arcs_of(answer, *still->trace_);
  return still;
}

/// Those in the data, of long sentences.
void StillAnswer::take_thumbnails(const json& stacks) {
  for (const json& object : stacks) {
    const auto stack = static_cast<Stack>(object.value("number", 0));
    const auto at = object.find("thumbnails");
    if (at == object.end() || !at->is_object()) continue;
    const std::string bytes = decode_base64(at->value("data", "")).value_or("");
    const Index side = std::clamp<Index>(at->value("side", Index{0}), 0, kThumbnail);
    const Index rows = std::min(side, trace_->queries(stack)), columns = std::min(side, trace_->keys(stack));
    auto byte = bytes.begin();
    for (const HeadRef& head : heads(stack)) {
      if (bytes.end() - byte < rows * columns) break;
      Matrix small(rows, columns);
      for (Index i = 0; i < small.size(); ++i, ++byte) {
        const auto value = static_cast<unsigned char>(*byte);
        small.data()[i] = value == 255 ? -1.0f : static_cast<float>(value) / 254;
      }
      attention(stack, static_cast<std::size_t>(head.layer)).heads[static_cast<std::size_t>(head.head)].thumbnail =
          std::move(small);
    }
  }
}

const Matrix& StillAnswer::thumbnail(const HeadRef& head) {
  Matrix& small =
      attention(head.stack, static_cast<std::size_t>(head.layer)).heads[static_cast<std::size_t>(head.head)].thumbnail;
  const Region whole{.head = head, .num_queries = trace_->queries(head.stack), .num_keys = trace_->keys(head.stack)};
  if (small.size() == 0) small = region_weights(*trace_, whole, kThumbnail, kNeverStops);
  return small;
}

AttentionTrace& StillAnswer::attention(Stack stack, std::size_t layer) {
  BlockTrace& block = (stack == Stack::encoder ? encoder_->blocks : trace_->blocks)[layer];
  return stack == Stack::cross ? *block.cross : block.self;
}

void StillAnswer::take_numbers() {
  auto model = std::make_shared<Model>();
  ExternalInputs& given = model->given.emplace();
  given.stacks[Stack::self];  // is always there
  given.summed_up = page_.summed_up;
  encoder_ = std::make_shared<StackTrace>();
  for (auto& [stack, of_stack] : page_.stacks) {
    given.stacks[stack].query_tokens = of_stack.query_tokens;
    given.stacks[stack].key_tokens = of_stack.key_tokens;
    auto& blocks = stack == Stack::encoder ? encoder_->blocks : trace_->blocks;
    blocks.resize(std::max(blocks.size(), of_stack.layers.size()));
    for (std::size_t layer = 0; layer < of_stack.layers.size(); ++layer) {
      if (stack == Stack::cross) blocks[layer].cross.emplace();
      AttentionTrace& own = of_stack.layers[layer];
      const auto mask = own.mask;
      const float scale = own.scale;
      trace_->is_signed = trace_->is_signed || own.is_signed;
      attention(stack, layer) = std::move(own);
      own.mask = mask;
      own.scale = scale;
    }
  }
  if (trace_->is_signed)
    for (const auto& entry : page_.stacks)
      for (std::size_t layer = 0; layer < entry.second.layers.size(); ++layer)
        attention(entry.first, layer).is_signed = true;
  trace_->encoder = encoder_;
  trace_->model = trace_->request.model = std::move(model);
  trace_->request.edits = page_.edits;
}

Status StillAnswer::change(const json& request) {
  page_.edits = {};
  TRY(read_changes(request, page_.masks, page_.edits));
  TRY(resolve_masks(kPageSource, page_));
  for (const auto& [stack, of_stack] : page_.stacks)
    for (std::size_t layer = 0; layer < of_stack.layers.size(); ++layer) {
      AttentionTrace& changed = attention(stack, layer);
      const LayerEdit* own = layer_edit(page_.edits, stack, static_cast<Index>(layer));
      const auto scale = own && own->scale ? own->scale : page_.edits.scale;
      for (HeadTrace& head : changed.heads) head.thumbnail = {};
      changed.mask = of_stack.layers[layer].mask;
      changed.scale = scale.value_or(of_stack.layers[layer].scale);
    }
  trace_->request.edits = page_.edits;
  return Done{};
}

}  // namespace headlight
