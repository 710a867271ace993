// The one kind of model that a page has: a checkpoint folder, whose files the page put into memory.
#include "models/open_model.h"

#include "card/training_card.h"
#include "question/tokenizers.h"
#include "read/hub/checkpoint.h"

namespace headlight {

Result<OpenedModel> open_model(const std::filesystem::path& path, std::optional<Index>, Progress& progress,
                               Reading reading) {
  auto checkpoint = TRY(read_checkpoint(path, progress, kMostWidenedBytes, reading));
  OpenedModel opened;
  opened.warnings = opened.model_warnings = std::move(checkpoint.warnings);
  Document& document = opened.document;
  document.tokenizers = read_tokenizers(path, *checkpoint.model, opened.warnings);
  document.model = std::move(checkpoint.model);
  document.mask.causal = is_causal_by_default(document.model->config.arch);
  document.model_path = path.string();
  if (auto card = read_card(path); !card) opened.warnings.push_back(card.error());
  else if (*card) document.card = std::make_shared<const TrainingCard>(**std::move(card));
  return opened;
}

}  // namespace headlight
