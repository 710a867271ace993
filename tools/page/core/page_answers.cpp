#include "page/core/page_answers.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/formatted.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::pair<Stack, const char*> kMaskFields[] = {
    {Stack::self, "mask"}, {Stack::encoder, "encoder_mask"}, {Stack::cross, "cross_mask"}};

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
  return still;
}

AttentionTrace& StillAnswer::attention(Stack stack, std::size_t layer) {
  BlockTrace& block = (stack == Stack::encoder ? encoder_->blocks : trace_.blocks)[layer];
  return stack == Stack::cross ? *block.cross : block.self;
}

void StillAnswer::take_numbers() {
  auto model = std::make_shared<Model>();
  ExternalInputs& given = model->given.emplace();
  given.stacks[Stack::self];  // is always there
  encoder_ = std::make_shared<StackTrace>();
  for (auto& [stack, of_stack] : page_.stacks) {
    given.stacks[stack].query_tokens = of_stack.query_tokens;
    given.stacks[stack].key_tokens = of_stack.key_tokens;
    auto& blocks = stack == Stack::encoder ? encoder_->blocks : trace_.blocks;
    blocks.resize(std::max(blocks.size(), of_stack.layers.size()));
    for (std::size_t layer = 0; layer < of_stack.layers.size(); ++layer) {
      if (stack == Stack::cross) blocks[layer].cross.emplace();
      AttentionTrace& own = of_stack.layers[layer];
      const auto mask = own.mask;
      const float scale = own.scale;
      attention(stack, layer) = std::move(own);
      own.mask = mask;
      own.scale = scale;
    }
  }
  trace_.encoder = encoder_;
  trace_.model = trace_.request.model = std::move(model);
  trace_.request.edits = page_.edits;
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
      changed.mask = of_stack.layers[layer].mask;
      changed.scale = scale.value_or(of_stack.layers[layer].scale);
    }
  trace_.request.edits = page_.edits;
  return Done{};
}

}  // namespace headlight
