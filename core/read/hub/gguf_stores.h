// Models that other programs keep as GGUF files: Ollama's store, and folders of such files (LM Studio, llama.cpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace headlight {

struct StoredModelFile {
  std::string name;
  std::filesystem::path file;
  std::optional<Error> trouble = {};  // why it cannot be read
};

/// Of a folder with manifests/ and blobs/: `qwen3:8b` for manifests/registry.ollama.ai/library/qwen3/8b, the owner
/// before it where that is not `library`, and the registry where it is another.
std::vector<StoredModelFile> ollama_models(const std::filesystem::path& root);

/// The GGUF files of a folder and of those in it, up to two levels deep, by their names without the ending, and of a
/// model in several files without their numbers. Those that only go with a model (mmproj…) are left out.
std::vector<StoredModelFile> gguf_files(const std::filesystem::path& root);

/// The one GGUF model of a folder without other weights; empty where there is none, or are several.
std::filesystem::path only_gguf(const std::filesystem::path& folder);

}  // namespace headlight
