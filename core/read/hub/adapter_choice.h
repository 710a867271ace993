// What of a checkpoint is read: with which adapters, and which of two parts.
#pragma once

#include <filesystem>
#include <vector>

namespace headlight {

/// Of a model of a picture and a text beside each other (CLIP, SigLIP): the part that is read. Others have one.
enum class ModelPart { picture, text };

/// Adapters: those that lie in its folder, none, or those of other folders, one added to the other.
struct AdapterChoice {
  bool none = false;
  std::vector<std::filesystem::path> folders = {};
  ModelPart part = ModelPart::picture;
};

}  // namespace headlight
