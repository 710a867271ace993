#include "session/session_file.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/utf8.h"
#include "read/array/array.h"
#include "read/external/mask_file.h"
#include "read/json/json_document.h"
#include "session/assets.h"
#include "session/document_json.h"
#include "session/layout.h"
#include "session/lesson.h"
#include "session/matrix_names.h"
#include "session/stack_names.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "headlight.session/1";
constexpr std::size_t kLargestSession = std::size_t{1} << 28;

/// A whole number, 0 for anything else; bounded, so that sums of them are numbers too.
Index index_of(const json& value) {
  if (!value.is_number_unsigned()) return 0;
  return static_cast<Index>(std::min<std::uint64_t>(value.get<std::uint64_t>(), kMostElements));
}

std::optional<CellRef> cell_of(const json& value) {
  if (!value.is_array() || value.size() != 2) return std::nullopt;
  return CellRef{index_of(value[0]), index_of(value[1])};
}

/// What the views show: the matrix of View::inside, the lines of View::flow.
void read_views(const json& object, ViewState& view) {
  const json matrix = object.value("matrix", json());
  const auto quantity = matrix.is_string() ? parse_matrix_name(matrix.get<std::string>()) : std::nullopt;
  view.look.matrix = matrix_id(quantity.value_or(Quantity::weights), view.chosen);
  if (const auto cell = cell_of(object.value("cell", json()))) view.look.cell = MatrixCell{cell->query, cell->key};
  const json flow = object.value("flow", json());
  if (!flow.is_object()) return;
  const json heads = flow.value("heads", json()), threshold = flow.value("threshold", json());
  if (heads.is_array()) {
    view.flow.heads.emplace();
    for (const json& head : heads) view.flow.heads->push_back(index_of(head));
    std::sort(view.flow.heads->begin(), view.flow.heads->end());
    view.flow.heads->erase(std::unique(view.flow.heads->begin(), view.flow.heads->end()), view.flow.heads->end());
  }
  if (threshold.is_number()) view.flow.threshold = std::clamp(threshold.get<float>(), 0.0f, 1.0f);
}

void write_views(const ViewState& view, json& object) {
  if (view.look.matrix.quantity != Quantity::weights) object["matrix"] = matrix_name(view.look.matrix.quantity);
  if (view.look.cell) object["cell"] = {view.look.cell->row, view.look.cell->col};
  if (view.flow == FlowLook{}) return;
  object["flow"]["threshold"] = view.flow.threshold;
  if (view.flow.heads) object["flow"]["heads"] = *view.flow.heads;
}

json view_json(const ViewState& view) {
  json object{{"sentence", view.sentence}, {"layer", view.chosen.layer}, {"head", view.chosen.head}};
  write_layout(layout_of(view), object);
  if (view.prefix > 0) object["prefix"] = view.prefix;
  if (view.chosen.stack != Stack::self) object["stack"] = stack_name(view.chosen.stack);
  if (view.pinned) object["pinned"] = {view.pinned->query, view.pinned->key};
  for (const auto& [key, part] : {std::pair("viewport", view.viewport), std::pair("compared", view.compared)})
    if (part != Viewport{}) object[key] = {part.first_query, part.num_queries, part.first_key, part.num_keys};
  write_views(view, object);
  if (view.order.by != HeadOrder::By::layer) object["order"] = name(view.order);
  if (view.order.ascending) object["ascending"] = true;
  if (view.find.on)
    object["find"] = {{"from", view.find.words.from}, {"to", view.find.words.to}, {"above", view.find.above}};
  return object;
}

/// What A of View::compare is the answer to.
json kept_json(const AnswerSnapshot& kept) {
  json object{{"request", document_json(kept.document)}, {"sentence", kept.sentence}};
  if (kept.prefix > 0) object["prefix"] = kept.prefix;
  if (kept.step) object["step"] = *kept.step;
  return object;
}

/// It never keeps a session from opening either: where its model is gone, a line says so.
void read_kept(const std::string& where, const json& object, Progress& progress, Session& session) {
  if (object.is_null()) return;
  const json request = object.is_object() ? object.value("request", json()) : json();
  const json step = object.is_object() ? object.value("step", json()) : json();
  if (step.is_number_unsigned()) {
    session.lost.push_back(bad_input(where, "kept (A of Compare)", "a model on disk",
                                     "step " + step.dump() + " of a training, which is not kept")
                               .message);
    return;
  }
  std::vector<std::string> ignored;
  auto document =
      document_from_json(where + ": kept (A of Compare)", request, progress, ignored, nullptr, &session.document);
  if (!document) {
    session.lost.push_back(document.error().message);
    return;
  }
  session.kept = AnswerSnapshot{.trace = nullptr,
                                .document = *std::move(document),
                                .sentence = static_cast<std::size_t>(index_of(object.value("sentence", json()))),
                                .prefix = static_cast<std::size_t>(index_of(object.value("prefix", json())))};
}

/// The lesson itself only where no window has it by itself: a file outside the lessons' folders.
void read_lesson_of(const json& object, Session& session) {
  session.lesson = lesson_mark_from_json(object);
  const std::filesystem::path path = session.lesson.path;
  const auto assets = asset_folder();
  if (path.empty() || path.parent_path() == lessons_folder()) return;
  if (assets && path.parent_path() == *assets / "assets" / "lessons") return;
  if (auto lesson = read_lesson(path, nullptr)) session.own_lesson = std::make_shared<const Lesson>(*std::move(lesson));
}

}  // namespace

ViewState view_from_json(const json& object, std::size_t num_sentences) {
  ViewState view;
  if (!object.is_object()) return view;
  const auto index = [&](const char* key) { return index_of(object.value(key, json())); };
  view.sentence = std::min(static_cast<std::size_t>(index("sentence")), std::max<std::size_t>(num_sentences, 1) - 1);
  view.prefix = static_cast<std::size_t>(index("prefix"));
  view.chosen = {index("layer"), index("head")};
  const json stack = object.value("stack", json());
  if (stack.is_string()) view.chosen.stack = parse_stack(stack.get<std::string>()).value_or(Stack::self);
  set_layout(view, layout_from_json(object));
  view.pinned = cell_of(object.value("pinned", json()));
  read_views(object, view);
  for (const auto& [key, part] : {std::pair("viewport", &view.viewport), std::pair("compared", &view.compared)})
    if (const json four = object.value(key, json()); four.is_array() && four.size() == 4)
      *part = {index_of(four[0]), index_of(four[1]), index_of(four[2]), index_of(four[3])};
  const json order = object.value("order", json()), find = object.value("find", json());
  if (order.is_string()) view.order = parse_head_order(order.get<std::string>()).value_or(HeadOrder{});
  view.order.ascending = object.value("ascending", json()) == true;
  if (find.is_object()) {
    const auto word = [&](const char* key) {
      const json value = find.value(key, json());
      return value.is_string() ? value.get<std::string>() : std::string();
    };
    view.find = {.on = true, .words = {word("from"), word("to")}};
    if (const json above = find.value("above", json()); above.is_number())
      view.find.above = std::clamp(above.get<float>(), 0.0f, 1.0f);
  }
  return view;
}

std::string request_json(const Document& document, std::optional<std::size_t> sentence) {
  json object = document_json(document);
  if (sentence) object["sentence"] = *sentence;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string to_json(const Session& session) {
  json object{{"schema", kSchema}, {"request", document_json(session.document)}, {"view", view_json(session.view)}};
  if (session.kept) object["kept"] = kept_json(*session.kept);
  if (!session.lesson.name.empty()) object["lesson"] = lesson_mark_json(session.lesson);
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Session> session_from_json(const std::string& where, const std::string& text, Progress& progress) {
  const auto object = parse_json(where, text);
  if (!object) return object.error();
  if (!object->is_object() || object->value("schema", json()) != kSchema)
    return bad_input(where, "schema", kSchema,
                     !object->is_object()         ? "no object"
                     : object->contains("schema") ? printable((*object)["schema"].dump())
                                                  : "nothing");
  const auto request = object->find("request");
  if (request == object->end()) return bad_input(where, "request", "an object", "nothing");
  std::vector<std::string> warnings;
  auto document = document_from_json(where, *request, progress, warnings);
  if (!document) return document.error();
  const std::size_t num_sentences = reads_sentences(*document) ? sentences(document->text).size() : 1;
  Session session{std::move(*document), view_from_json(object->value("view", json()), num_sentences),
                  std::move(warnings)};
  read_kept(where, object->value("kept", json()), progress, session);
  read_lesson_of(object->value("lesson", json()), session);
  return session;
}

Result<Session> session_from_json(const std::string& where, const std::string& text) {
  Progress progress;
  return session_from_json(where, text, progress);
}

Result<Session> read_session(const std::filesystem::path& path, Progress& progress) {
  const auto text = read_file(path, kLargestSession);
  if (!text) return text.error();
  return session_from_json(path.string(), *text, progress);
}

Result<Session> read_session(const std::filesystem::path& path) {
  Progress progress;
  return read_session(path, progress);
}

Result<OpenFile> open_any(const std::filesystem::path& path) {
  Progress progress;
  return open_any(path, progress);
}

Result<OpenFile> open_any(const std::filesystem::path& path, Progress& progress) {
  const std::string name = path.filename().string(), ending = path.extension().string();
  OpenFile opened;
  if (name.ends_with(".headlight.json")) {
    auto session = read_session(path, progress);
    if (!session) return session.error();
    opened.kind = OpenFile::Kind::session;
    opened.session = std::move(*session);
    opened.warnings = opened.session.model_warnings;
    return opened;
  }
  if (name.ends_with(kLessonEnding)) {
    auto lesson = read_lesson(path, nullptr);
    if (!lesson) return lesson.error();
    opened.kind = OpenFile::Kind::lesson;
    opened.lesson = std::make_shared<const Lesson>(std::move(*lesson));
    return opened;
  }
  if (names_model(path)) return open_model(path, std::nullopt, progress);
  if (ending == ".npy" || ending == ".json") {
    auto mask = read_mask(path);
    if (!mask) return mask.error();
    opened.kind = OpenFile::Kind::mask;
    opened.mask = std::make_shared<const Matrix>(std::move(*mask));
    return opened;
  }
  if (ending == ".txt" || ending.empty()) {
    auto text = read_file(path, std::size_t{1} << 24);
    if (!text) return text.error();
    if (const auto valid = check_utf8(path.string(), *text); !valid) return valid.error();
    opened.text = std::move(*text);
    if (opened.text.starts_with("\uFEFF")) opened.text.erase(0, std::string_view("\uFEFF").size());
    while (opened.text.ends_with('\n') || opened.text.ends_with('\r')) opened.text.pop_back();
    return opened;
  }
  return bad_input(path.string(), "kind",
                   "a checkpoint folder, .headlight.json, .lesson.json, .safetensors, .npz, .npy, .json or .txt",
                   ending.empty() ? "no ending" : ending);
}

}  // namespace headlight
