// The Model Context Protocol (https://modelcontextprotocol.io/specification, revisions 2024-11-05 to 2025-06-18):
// JSON-RPC 2.0, a message a line.
#include "mcp/mcp_tool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/system.h"
#include "cli/frame/commands.h"
#include "cli/frame/tool_commands.h"
#include "mcp/agent_tools.h"
#include "mcp/own_process.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr const char* kRevisions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};  // the newest first
constexpr const char* kInstructions =
    "Attention of transformers, computed on this machine. `models` says what a `source` can be; without one a small "
    "trained model that comes along is asked. Layers, heads and tokens count from 0: \"1.2\" is layer 1, head 2. `ask` "
    "has the tokens that `query`, `key` and `row` count.";
constexpr int kAnswers = 1;                                 // the descriptor of standard output
constexpr std::size_t kMostMessage = std::size_t{1} << 22;  // bytes

/// Codes of errors, as JSON-RPC has them.
constexpr int kNoJson = -32700, kNoRequest = -32600, kNoMethod = -32601, kBadParameters = -32602, kFailed = -32603;

/// The member of an answer that says what is wrong; the other one is {"result": …}.
json wrong(int code, const std::string& line) { return {{"error", {{"code", code}, {"message", line}}}}; }
json wrong(int code, const std::string& what, const char* expected, const json& found) {
  return wrong(code, bad_input(what, "", expected, found_text(found)).message());
}
json answer_to(const json& id, json member) { return member.update({{"jsonrpc", "2.0"}, {"id", id}}), member; }

json initialized(const json& parameters) {
  const json& asked = value_or_null(parameters, "protocolVersion");
  if (!asked.is_string()) return wrong(kBadParameters, "protocolVersion", "a revision of the protocol", asked);
  const auto* const known = std::ranges::find(kRevisions, asked.get<std::string>());
  return {{"result",
           {{"protocolVersion", known == std::end(kRevisions) ? kRevisions[0] : *known},
            {"capabilities", {{"tools", json::object()}}},
            {"serverInfo", {{"name", "headlight"}, {"version", HEADLIGHT_VERSION}}},
            {"instructions", kInstructions}}}};
}

json called(const json& parameters, AgentPlaces& places) {
  const json &name = value_or_null(parameters, "name"), &given = value_or_null(parameters, "arguments");
  if (!given.is_null() && !given.is_object()) return wrong(kBadParameters, "arguments", "an object", given);
  const json result =
      name.is_string() ? call_agent_tool(places, name, given.is_null() ? json::object() : given) : json();
  return result.is_null() ? wrong(kBadParameters, "name", "a tool of tools/list", name) : json{{"result", result}};
}

json answered(const std::string& method, const json& parameters, AgentPlaces& places) {
  if (!parameters.is_null() && !parameters.is_object()) return wrong(kBadParameters, "params", "an object", parameters);
  if (method == "initialize") return initialized(parameters);
  if (method == "ping") return {{"result", json::object()}};
  if (method == "tools/list") return {{"result", {{"tools", agent_tools(places)}}}};
  if (method == "tools/call") return called(parameters, places);
  return wrong(kNoMethod, "method", "initialize, ping, tools/list or tools/call", method);
}

/// The answer to one message; null: it needs none (a notification, an answer).
json answer_one(const json& message, AgentPlaces& places) {
  const json &id = value_or_null(message, "id"), &method = value_or_null(message, "method");
  const bool is_answer = message.contains("result") || message.contains("error");
  if (method.is_null() && is_answer) return {};
  if (value_or_null(message, "jsonrpc") != "2.0" || !method.is_string())
    return answer_to({}, wrong(kNoRequest, "message", "a request of JSON-RPC 2.0", message));
  if (!message.contains("id")) return {};
  if (!id.is_string() && !id.is_number_integer())
    return answer_to({}, wrong(kNoRequest, "id", "a text or a whole number", id));
  try {
    return answer_to(id, answered(method, value_or_null(message, "params"), places));
  } catch (...) { return answer_to(id, wrong(kFailed, thrown_error().message())); }
}

json answer_message(const json& message, AgentPlaces& places) {
  if (!message.is_array() || message.empty()) return answer_one(message, places);
  json answers;  // to a batch, which revision 2025-03-26 has
  for (const json& one : message)
    if (const json answer = answer_one(one, places); !answer.is_null()) answers.push_back(answer);
  return answers;
}

/// Answers on standard output. What takes time is done one after another in processes of their own, so that meanwhile
/// another message can ask whether this server is there, or end one of them.
class Answers {
 public:
  explicit Answers(AgentPlaces& places) : places_(places), worker_([this] { begin_thread(), work(); }) {}
  ~Answers() {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
    wakes_.notify_one();
  }
  bool are_read() const { return !closed_; }

  void take(const json& message) {
    const json method = message.is_object() ? value_or_null(message, "method") : json("");
    if (method == "notifications/cancelled")
      return cancel(value_or_null(value_or_null(message, "params"), "requestId"));
    const bool slow = message.is_array() || method == "tools/list" || method == "tools/call";
    if (!slow) return write(answer_message(message, places_));
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(message);
    wakes_.notify_one();
  }

  void write(const json& answer) {
    if (!answer.is_null()) write_text(answer.dump(-1, ' ', false, json::error_handler_t::replace));
  }

 private:
  void write_text(const std::string& answer) {
    const std::string line = answer + "\n";
    const std::scoped_lock lock(output_);
    for (std::size_t at = 0; at < line.size() && !closed_;) {
      const std::ptrdiff_t wrote = write_some(kAnswers, line.data() + at, line.size() - at);
      if (wrote < 0) closed_ = true;
      else at += static_cast<std::size_t>(wrote);
    }
  }

  /// The protocol wants no answer to a request that was cancelled.
  void cancel(const json& id) {
    const auto asks = [&](const json& message) {
      return !id.is_null() && message.is_object() && value_or_null(message, "id") == id;
    };
    const std::scoped_lock lock(mutex_);
    std::erase_if(waiting_, asks);
    if (running_ && asks(*running_)) stops_ = true;
  }

  /// Each second of a request that asks for its progress: how many seconds it runs.
  bool goes_on(const json& message, std::chrono::steady_clock::time_point begin, int& said) {
    if (stops_ || closed_) return false;
    const json& token = value_or_null(value_or_null(value_or_null(message, "params"), "_meta"), "progressToken");
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    if (token.is_null() || seconds.count() <= said) return true;
    said = static_cast<int>(seconds.count());
    write({{"jsonrpc", "2.0"},
           {"method", "notifications/progress"},
           {"params", {{"progressToken", token}, {"progress", said}, {"message", std::to_string(said) + " s"}}}});
    return true;
  }

  void work() {
    for (std::unique_lock lock(mutex_);;) {
      wakes_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      running_ = std::move(waiting_.front());
      waiting_.pop_front();
      stops_ = false;
      lock.unlock();
      answer(*running_);
      lock.lock();
      running_.reset();
    }
  }

  void answer(const json& message) {
    const auto begin = std::chrono::steady_clock::now();
    int said = 0;
    const auto own = in_own_process(
        [&] { return answer_message(message, places_).dump(-1, ' ', false, json::error_handler_t::replace); },
        [&] { return goes_on(message, begin, said); });
    if (own.failed)
      return write(answer_to(message.is_object() ? value_or_null(message, "id") : json(),
                             wrong(kFailed, "tools/call: expected an answer, found a process that ended without one")));
    if (own.result && *own.result != "null") write_text(*own.result);
  }

  AgentPlaces& places_;
  std::mutex mutex_, output_;
  std::condition_variable wakes_;
  std::deque<json> waiting_;
  std::optional<json> running_;
  bool ends_ = false;
  std::atomic<bool> stops_ = false, closed_ = false;
  std::jthread worker_;  // last: it ends first
};

/// Until the input ends, or the output is closed.
Result<int> serve(const std::vector<std::string>& folders) {
  AgentPlaces places;
  TRY(places.confine(folders));
  const ProgressReport none("");
  InputLines lines(kMostMessage);
  Answers answers(places);
  while (answers.are_read()) {
    const auto line = TRY(lines.next());
    if (!line) return 0;
    if (line->text.find_first_not_of(" \t") == std::string::npos) continue;
    if (line->is_too_long) {
      answers.write(answer_to(
          {}, wrong(kNoRequest, "message: expected at most " + std::to_string(kMostMessage) + " bytes, found more")));
      continue;
    }
    const auto message = parse_json("message", line->text);
    if (message) answers.take(*message);
    else answers.write(answer_to({}, wrong(kNoJson, message.error().message())));
  }
  return 0;
}

ParsedCommand add_mcp(Parser& parser, const Frontend&) {
  const auto folders = std::make_shared<std::vector<std::string>>();
  parser.option("FOLDER", *folders,
                "Where files are read, and pictures written that `figure` is asked for; relative paths begin in the "
                "first. Without one: the models that come along alone");
  return [folders] { return serve(*folders); };
}

constexpr NamedCommand kMcp{"mcp", "Questions of an agent, on standard input and output (Model Context Protocol)", R"(
headlight mcp ~/models      as the command of a server that an agent starts
Tools: models, ask, heads, why, lens, patch, diagnose and figure, the commands of these names (ask: export) with their
options as JSON (docs/agents.md). Nothing else is read, nothing else is written, nothing is sent.)",
                            add_mcp};
constexpr const NamedCommand* kOfMcp[] = {&kMcp};
constexpr ToolCommands kMcpCommands{.commands = kOfMcp};

}  // namespace

const Tool kMcpTool{.name = "mcp", .commands = &kMcpCommands};

}  // namespace headlight
