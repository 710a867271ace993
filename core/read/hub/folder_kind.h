// What a file or folder is: models in layouts that are read, and those that other programs write, by the names of their
// files and their first bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headlight {

struct FolderKind {
  std::string what;                   // "Meta's own layout (params.json, consolidated.00.pth)"; empty: not known
  std::string way = {};               // how it becomes readable; empty where it is, or nothing is known
  std::filesystem::path inside = {};  // what is to be opened in its place

  /// "WHAT: WAY", for the end of a message.
  std::string line() const { return way.empty() ? what : what + ": " + way; }
};

/// What the folder is, or the file. Only names and the first bytes of small files are looked at.
FolderKind kind_of_folder(const std::filesystem::path& path);

/// The shards NAME-0000I-of-0000N of a folder without their index, in order; empty where there are none.
std::vector<std::filesystem::path> shards_without_index(const std::filesystem::path& folder);

/// Files that look like weights under a name of their own (model.fp16.safetensors, ckpt.pt, epoch=3.ckpt), in order.
std::vector<std::filesystem::path> weights_of_other_names(const std::filesystem::path& folder);

}  // namespace headlight
