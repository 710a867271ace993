#include "read/hub/folder_kind.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "read/json/json_document.h"
#include "text/nearest.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostNames = 4096, kMostModules = std::size_t{1} << 20;

std::vector<std::string> names_of_files(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  fs::directory_iterator entry(folder, failed);
  for (; !failed && entry != fs::directory_iterator() && names.size() < kMostNames; entry.increment(failed))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// A layout of another program: two parts of a file's name, and what transformers or that program makes of it.
struct Layout {
  std::string_view begin, end;
  const char* what;
  const char* way;
};
constexpr const char* kFromTensorFlow =
    "transformers makes a folder of it: AutoModel.from_pretrained(FOLDER, from_tf=True).save_pretrained(NEW)";
constexpr const char* kFromTensorFlow1 =
    "transformers makes a folder of it: convert_bert_original_tf_checkpoint_to_pytorch.py, or that of its model";
constexpr const char* kOfTransformers = "the folder of the same model in the layout of transformers is read";
constexpr Layout kLayouts[] = {
    {"consolidated", ".safetensors", "Mistral's own layout",
     "convert_mistral_weights_to_hf.py of transformers makes a folder of it"},
    {"params.json", "", "Meta's own layout", "convert_llama_weights_to_hf.py of transformers makes a folder of it"},
    {"tf_model", ".h5", "TensorFlow's weights", kFromTensorFlow},
    {"", ".ckpt.index", "a checkpoint of TensorFlow", kFromTensorFlow1},
    {"model.ckpt-", ".index", "a checkpoint of TensorFlow", kFromTensorFlow1},
    {"bert_config.json", "", "a checkpoint of TensorFlow", kFromTensorFlow1},
    {"model.weights.h5", "", "a model of Keras", kOfTransformers},
    {"", ".keras", "a model of Keras", kOfTransformers},
    {"saved_model.pb", "", "a SavedModel of TensorFlow, a program", "the folder that it was exported from is read"},
    {"flax_model", ".msgpack", "Flax' weights",
     "transformers makes a folder of it: AutoModel.from_pretrained(FOLDER, from_flax=True).save_pretrained(NEW)"},
    {"openvino_", ".xml", "OpenVINO's files, a program without the names of its parts",
     "the folder that it was exported from is read: config.json and model.safetensors"},
    {"openvino_model", ".bin", "OpenVINO's files, a program without the names of its parts",
     "the folder that it was exported from is read: config.json and model.safetensors"},
    {"rust_model", ".ot", "weights of rust-bert", kOfTransformers},
    {"", ".mlpackage", "a Core ML package, a program", "the folder that it was exported from is read"},
    {"", ".mlmodel", "a Core ML model, a program", "the folder that it was exported from is read"},
    {"shared_vocabulary.", "", "a model of CTranslate2", "the folder that it was converted from is read"},
    {"vocabulary.", "", "a model of CTranslate2", "the folder that it was converted from is read"},
    {"zero_to_fp32.py", "", "a checkpoint of DeepSpeed",
     "python zero_to_fp32.py . pytorch_model.bin makes weights of it, which are read beside config.json"},
    {"", ".distcp", "shards of torch.distributed.checkpoint",
     "python -m torch.distributed.checkpoint.format_utils dcp_to_torch FOLDER pytorch_model.bin makes weights of it"},
    {"latest_checkpointed_iteration.txt", "", "a checkpoint of Megatron-LM",
     "its tools/checkpoint/convert.py makes a folder for transformers"},
    {"", ".nemo", "an archive of NeMo", "its scripts/checkpoint_converters make a folder for transformers"},
    {"model_index.json", "", "a pipeline of diffusers", "the folder of its text encoder is opened by its own path"},
    {"open_clip_config.json", "", "weights of OpenCLIP", kOfTransformers},
    {"weights", ".npz", "MLX' weights", "mlx_lm.convert writes model.safetensors beside config.json"},
    {"dict.", ".txt", "a checkpoint of fairseq",
     "transformers makes a folder of it: the convert_…_original_pytorch_checkpoint script of its model"},
    {"trainer_state.json", "", "the state of a training, without weights", "its checkpoint folders are read"},
    {"events.out.tfevents", "", "the log of a training, without weights", "its checkpoint folders are read"},
};

const Layout* layout_of(const std::vector<std::string>& names, std::string& file) {
  for (const Layout& layout : kLayouts)
    for (const std::string& name : names)
      if (name.starts_with(layout.begin) && name.ends_with(layout.end) &&
          (!layout.end.empty() || name == layout.begin || !layout.begin.ends_with(".json"))) {
        file = name;
        return &layout;
      }
  return nullptr;
}

/// sentence-transformers before version 3: modules.json names the folder of the transformer.
fs::path transformer_of_modules(const fs::path& folder) {
  const auto text = read_file(folder / "modules.json", kMostModules);
  if (!text) return {};
  const auto modules = parse_json("modules.json", *text);
  if (!modules || !modules->is_array()) return {};
  // The first is the transformer, of whatever class; that of newer folders has no folder of its own.
  const json path = modules->empty() || !modules->front().is_object() ? json() : modules->front().value("path", json());
  const std::string name = path.is_string() ? path.get<std::string>() : "";
  if (name.empty() || name.find_first_of("/\\") != name.npos || name.starts_with('.')) return {};
  if (path_exists(folder / name / "config.json")) return folder / name;
  return {};
}

/// Folders in this one that have a config.json: steps of a training, parts of a pipeline.
std::string models_inside(const fs::path& folder, const std::vector<std::string>& names) {
  std::vector<std::string> models;
  for (const std::string& name : names)
    if (path_exists(folder / name / "config.json")) models.push_back(printable(name));
  return models.empty() ? ""
                        : counted(static_cast<Index>(models.size()), "folder") + " with config.json (" +
                              first_texts(models, 3) + ")";
}

/// More than one of these names ends in .gguf: each is a model of its own.
std::string several_gguf(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names)
    if (name.ends_with(".gguf")) files.push_back(printable(name));
  return files.size() < 2 ? "" : std::to_string(files.size()) + " GGUF files (" + first_texts(files, 2) + ")";
}

/// A file of these names in the folder, or in its folder onnx, that is of a foreign format.
std::string foreign_in(const fs::path& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const fs::path path = folder / name;
    const std::string foreign = is_folder(path) ? std::string() : foreign_format(path);
    if (!foreign.empty()) return name + ", " + foreign;
  }
  return {};
}

}  // namespace

std::vector<fs::path> shards_without_index(const fs::path& folder) {
  std::vector<fs::path> shards;
  for (const std::string& name : names_of_files(folder)) {
    const bool weights = (name.starts_with("model-") && name.ends_with(".safetensors")) ||
                         (name.starts_with("pytorch_model-") && name.ends_with(".bin"));
    if (weights && name.find("-of-") != name.npos) shards.push_back(folder / name);
  }
  return shards;
}

std::vector<fs::path> weights_of_other_names(const fs::path& folder) {
  constexpr std::string_view kEndings[] = {".safetensors", ".bin", ".pt", ".pth", ".ckpt"};
  constexpr std::string_view kOthers[] = {"adapter_", "consolidated", "openvino_",    "optimizer", "scheduler",
                                          "scaler",   "rng_state",    "training_args"};  // (of a training)
  std::vector<fs::path> found;
  for (const std::string& name : names_of_files(folder)) {
    const auto begins = [&](std::string_view begin) { return name.starts_with(begin); };
    const auto ends = [&](std::string_view end) { return name.ends_with(end); };
    if (std::any_of(std::begin(kEndings), std::end(kEndings), ends) &&
        std::none_of(std::begin(kOthers), std::end(kOthers), begins) && is_regular(folder / name))
      found.push_back(folder / name);
  }
  return found;
}

FolderKind kind_of_folder(const fs::path& path) {
  if (!is_folder(path)) return {.what = foreign_format(path)};
  const std::vector<std::string> names = names_of_files(path);
  const auto has = [&](std::string_view name) { return std::binary_search(names.begin(), names.end(), name); };
  if (const std::string foreign = foreign_in(path, names); !foreign.empty()) return {.what = foreign};
  if (const fs::path inside = transformer_of_modules(path); !inside.empty())
    return {.what = "a folder of sentence-transformers", .way = "its model is read", .inside = inside};
  std::string file;
  if (const Layout* layout = layout_of(names, file))
    return {.what = layout->what + (" (" + printable(file) + ")"), .way = layout->way};
  for (const std::string part : {"onnx", "openvino", "original"}) {
    if (!has(part)) continue;
    FolderKind inside = kind_of_folder(path / part);
    if (!inside.what.empty()) return {.what = part + "/" + inside.what, .way = inside.way};
  }
  if (const std::string files = several_gguf(names); !files.empty())
    return {.what = files, .way = "each is opened by its own path"};
  if (has("adapter_config.json"))
    return {.what = "an adapter (adapter_config.json)", .way = "it is read with its base (--adapter)"};
  if (has("config.json")) return {};
  for (const std::string& name : names)
    if (name.starts_with("ckpt") && name.ends_with(".pt"))
      return {.what = printable(name) + " without config.json",
              .way = "beside a config.json of its family it is read (nanoGPT: gpt2)"};
  if (const std::string models = models_inside(has("snapshots") ? path / "snapshots" : path,
                                               has("snapshots") ? names_of_files(path / "snapshots") : names);
      !models.empty())
    return {.what = has("snapshots") ? "a model of Hugging Face's cache, in snapshots: " + models : models,
            .way = has("snapshots") ? "it is opened by its name (headlight models)" : "each is opened by its own path"};
  for (const char* name : {"tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "spiece.model"})
    if (has(name)) return {.what = "a tokenizer alone, no config.json"};
  return {};
}

}  // namespace headlight
