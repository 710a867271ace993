// The parts of a page's data (headlight.page/1), written piece by piece: a long sentence is never held as text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "page/page.h"
#include "read/external/packed_planes.h"

namespace headlight {

/// Takes a page in order; of its data JSON in which no `<` stands, so that no text ends the script element. Without
/// `write` it is counted alone: numbers are not made, and packed ones count as if they were not.
struct PageSink {
  std::function<bool(std::string_view)> write = {};  // false: the page is no longer wanted, the rest need not be made
  std::size_t bytes = 0, numbers = 0;                // of all, and of q, k and v, or weights, among them
  std::vector<std::function<std::string()>> beside = {};  // make texts in base64, a script element each, after the data

  bool only_counts() const { return !write; }
  bool operator()(std::string_view text) {
    bytes += text.size();
    return !write || write(text);
  }
};

/// JSON with every `<` as \u003c.
std::string without_markup(std::string json);
/// JSON that can stand in a page: no character of it is markup.
std::string page_json(const nlohmann::json& value);

/// An Error naming the first number that float16 does not hold.
Status check_numbers(const Trace& trace, const std::vector<HeadRef>& heads);

/// `"tokens":…,"stacks":[…],…`: the fields of an answer, without braces; `arcs` are its names.
void write_answer(const Trace& trace, const SentenceArcs& arcs, const PagePlan& plan, float error, PageSink& sink);

/// What else was computed of the answer, as tables of JSON: of a view that looks at the lens the guess after each
/// layer, of one that looks at Take from A its map. Errors: those of look_through_layers and patch_map; no A.
Result<std::string> answer_tables(const PageContent& content, Progress& progress, int threads);

/// What a page needs to answer other sentences: the files of the model, and the lexicon where it cuts the
/// words. Those of the model are in `folder` of the page's memory. Errors: numbers without a model, a model whose
/// weights are in other files than .safetensors, or without a tokenizer.
Result<LiveFiles> live_files(const Document& document, const std::string& folder = "/model");
/// Those files as a JSON object. Errors: a file that can no longer be read.
Status write_live(const LiveFiles& files, PageSink& sink);

/// A file of assets/page, deflated.
Result<std::string> packed_core(const char* name, Packing packing = Packing::plain);

}  // namespace headlight
