// What llama.cpp makes of GGUF files: the attention of every head and the logits, or the ids of texts, as JSON.
//
//   npm install @fugood/llama.node@1.7.15
//   L=node_modules/@fugood/llama.node/src/llama.cpp
//   g++ -std=c++20 -O1 -I $L/include -I $L/ggml/include tests/golden/llama_cpp.cpp -ldl -o llama_cpp
//   llama_cpp node_modules/@fugood/node-llama-linux-x64/index.node maps 3,9,27,1,44,9,12 FILE.gguf … > maps.json
//   llama_cpp node_modules/@fugood/node-llama-linux-x64/index.node ids TEXTS.json FILE.gguf … > ids.json
//
// GgufModels of tests_core writes such files into the folder HEADLIGHT_KEEP_GGUF. TEXTS.json is a list of texts. The
// library is a module of node, of which no function of node is called here.
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ggml-backend.h"
#include "ggml.h"
#include "llama.h"

namespace {

void* library = nullptr;

template <class Function>
Function* at(const char* name) {
  void* found = dlsym(library, name);
  if (!found) {
    std::fprintf(stderr, "llama_cpp: the library has no %s\n", name);
    std::exit(2);
  }
  return reinterpret_cast<Function*>(found);
}
#define OF(name) at<decltype(name)>(#name)

/// The attention of each layer, as it is computed.
struct Captured {
  std::map<int, std::vector<float>> maps;  // (heads, queries, keys)
  std::map<int, int> heads;
  int tokens = 0;
};

bool capture(ggml_tensor* tensor, bool ask, void* data) {
  constexpr const char* kName = "kq_soft_max-";
  if (std::strncmp(tensor->name, kName, std::strlen(kName)) != 0) return !ask;
  if (ask) return true;
  auto& captured = *static_cast<Captured*>(data);
  const int layer = std::atoi(tensor->name + std::strlen(kName)), n = captured.tokens;
  std::vector<float> all(tensor->ne[0] * tensor->ne[1] * tensor->ne[2]);
  OF(ggml_backend_tensor_get)(tensor, all.data(), 0, all.size() * sizeof(float));
  auto& map = captured.maps[layer];
  captured.heads[layer] = static_cast<int>(tensor->ne[2]);
  for (int head = 0; head < tensor->ne[2]; ++head)
    for (int query = 0; query < n; ++query)
      for (int key = 0; key < n; ++key) map.push_back(all[(head * tensor->ne[1] + query) * tensor->ne[0] + key]);
  return true;
}

std::string numbers(const std::vector<float>& values) {
  std::string text = "[";
  for (const float value : values) {
    char one[32];
    std::snprintf(one, sizeof one, "%.9g", static_cast<double>(value));
    text += (text.size() > 1 ? "," : "") + std::string(one);
  }
  return text + "]";
}

llama_model* opened(const char* path, bool words_alone) {
  llama_model_params params = OF(llama_model_default_params)();
  params.vocab_only = words_alone;
  params.n_gpu_layers = 0;
  llama_model* model = OF(llama_model_load_from_file)(path, params);
  if (!model) std::fprintf(stderr, "llama_cpp: %s is not read\n", path), std::exit(2);
  return model;
}

std::string maps_of(const char* path, std::vector<llama_token> ids) {
  llama_model* model = opened(path, false);
  Captured captured{.tokens = static_cast<int>(ids.size())};
  llama_context_params params = OF(llama_context_default_params)();
  params.n_ctx = 256;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.type_k = params.type_v = GGML_TYPE_F32;
  params.cb_eval = capture;
  params.cb_eval_user_data = &captured;
  llama_context* context = OF(llama_init_from_model)(model, params);
  const bool encoder = std::strstr(path, "bert") != nullptr;
  llama_batch batch = OF(llama_batch_init)(static_cast<int>(ids.size()), 0, 1);
  batch.n_tokens = static_cast<int>(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    batch.token[i] = ids[i];
    batch.pos[i] = static_cast<llama_pos>(i);
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = 1;
  }
  const int failed = encoder ? OF(llama_encode)(context, batch) : OF(llama_decode)(context, batch);
  if (failed) std::fprintf(stderr, "llama_cpp: %s: no answer\n", path), std::exit(2);
  std::string text = "{\"attentions\": [";
  for (const auto& [layer, map] : captured.maps) text += (layer > 0 ? ",\n   " : "\n   ") + numbers(map);
  text += "]";
  const llama_vocab* vocabulary = OF(llama_model_get_vocab)(model);
  const int words = OF(llama_vocab_n_tokens)(vocabulary);
  const float* logits = encoder ? nullptr : OF(llama_get_logits_ith)(context, static_cast<int>(ids.size()) - 1);
  if (logits) text += ",\n  \"logits\": " + numbers(std::vector<float>(logits, logits + words));
  return text + "}";
}

/// A list of texts, without escapes but those of JSON's writers for control characters, quotes and backslashes.
std::vector<std::string> texts_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string json((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] != '"') continue;
    std::string text;
    for (++i; json[i] != '"'; ++i) {
      if (json[i] != '\\') {
        text += json[i];
        continue;
      }
      switch (json[++i]) {
        case 'n': text += '\n'; break;
        case 't': text += '\t'; break;
        case 'r': text += '\r'; break;
        case 'b': text += '\b'; break;
        case 'f': text += '\f'; break;
        case 'u': text += static_cast<char>(std::stoi(json.substr(i + 1, 4), nullptr, 16)), i += 4; break;
        default: text += json[i];
      }
    }
    texts.push_back(text);
  }
  return texts;
}

std::string ids_of(const char* path, const std::vector<std::string>& texts) {
  const llama_vocab* vocabulary = OF(llama_model_get_vocab)(opened(path, true));
  std::string json = "[";
  for (const std::string& text : texts) {
    std::vector<llama_token> ids(text.size() + 16);
    const int count = OF(llama_tokenize)(vocabulary, text.data(), static_cast<int>(text.size()), ids.data(),
                                         static_cast<int>(ids.size()), true, true);
    std::string list = "[";
    for (int i = 0; i < count; ++i) list += (i > 0 ? "," : "") + std::to_string(ids[static_cast<std::size_t>(i)]);
    json += (json.size() > 1 ? ",\n   " : "\n   ") + list + "]";
  }
  return json + "]";
}

std::string stem(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  return file.substr(0, file.rfind('.'));
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) return std::fprintf(stderr, "llama_cpp LIBRARY maps IDS|ids TEXTS.json FILE…\n"), 2;
  library = dlopen(words[1], RTLD_LAZY | RTLD_GLOBAL);
  if (!library) return std::fprintf(stderr, "llama_cpp: %s\n", dlerror()), 2;
  OF(llama_log_set)([](ggml_log_level, const char*, void*) {}, nullptr);
  OF(llama_backend_init)();
  const bool maps = std::strcmp(words[2], "maps") == 0;
  std::vector<llama_token> ids;
  std::stringstream list(words[3]);
  for (std::string id; maps && std::getline(list, id, ',');) ids.push_back(std::stoi(id));
  std::printf("{\n");
  for (int i = 4; i < count; ++i)
    std::printf(" \"%s\": %s%s\n", stem(words[i]).c_str(),
                (maps ? maps_of(words[i], ids) : ids_of(words[i], texts_of(words[3]))).c_str(),
                i + 1 < count ? "," : "");
  std::printf("}\n");
  std::fflush(stdout);
  std::_Exit(0);  // the library waits for node at the end
}
