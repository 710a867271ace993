// The options that change the attention itself: masks, scale, heads off, weights by hand, layers of their own, dropout.
#pragma once

#include <string>
#include <vector>

#include "cli/options/parser.h"
#include "document/document.h"

namespace headlight {

class EditOptions {
 public:
  /// Adds the options to a command.
  explicit EditOptions(Parser& command);

  /// Changes masks and edits of a document that has its texts and its model already.
  Status apply(Document& document) const;

 private:
  bool given(const char* option) const { return command_.given(option); }
  Status apply_masks(Document& document) const;
  Status apply_off(Document& document) const;
  Status apply_weights(Document& document) const;
  Status apply_layers(Document& document) const;

  Parser command_;
  std::string mask_, encoder_mask_, cross_mask_, off_as_;
  std::vector<std::string> off_, weights_, layer_masks_, layer_scales_;
  float scale_ = 0, dropout_ = 0;
  std::uint64_t dropout_seed_ = 0;
};

/// A line for each mask with an axis for sentences that fits in both orders of its axes.
std::vector<Error> mask_warnings(const Request& request);

}  // namespace headlight
