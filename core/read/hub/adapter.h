// LoRA adapters, merged into the weights that they change: Hu et al. 2021, and of peft's LoraConfig ranks and alphas by
// pattern, rslora (Kalajdzievski 2023), DoRA (Liu et al. 2024), biases and modules that are saved whole.
// https://github.com/huggingface/peft/tree/v0.17.1/src/peft/tuners/lora
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "read/array/array.h"
#include "read/hub/adapter_choice.h"
#include "read/hub/config_file.h"

namespace headlight {

/// Whether the folder holds the configuration of an adapter.
bool has_adapter(const std::filesystem::path& folder);

/// The base that the adapter in this folder names; empty where it names none.
Result<std::string> base_of_adapter(const std::filesystem::path& folder);

/// An Error where tensors of an adapter are among a checkpoint's own, and `folder` does not say by how much they count.
Status check_own_adapter(const StoredArrays& stored, const std::filesystem::path& folder);

/// The arrays of a checkpoint in `folder`, under the names of their family, with the adapters merged: what they change
/// is then float32 in memory. Tensors of an adapter among the arrays are merged as `folder` says, too. Errors: an
/// adapter of another kind than LoRA, one whose weights are not there, have other shapes than the base's or no base,
/// and tensors of an adapter whose scale is stated nowhere. Where an adapter changes one of two tied layers, `hub` says
/// that they no longer are.
Result<StoredArrays> with_adapters(StoredArrays stored, const std::filesystem::path& folder, HubConfig& hub,
                                   const AdapterChoice& choice, std::vector<Error>& warnings);

}  // namespace headlight
