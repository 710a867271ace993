#include "question/json/line_answers.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "base/file.h"
#include "base/refusal.h"
#include "base/result.h"
#include "base/system.h"
#include "base/utf8.h"
#include "models/model_choice.h"
#include "question/json/document_json.h"
#include "question/side_tokens.h"
#include "write/json.h"

namespace headlight {
namespace {

constexpr std::size_t kMostWarnings = 16;  // in the report; each object has a separate list
/// Answers of a job that may wait for an earlier line's.
constexpr std::size_t kAheadOfJob = 8;
constexpr std::size_t kShownOfRefused = 4096;  // bytes of the text beside an error

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split_at('\n', text))
    lines.emplace_back(line.substr(0, line.size() - (line.ends_with('\r') ? 1 : 0)));
  return lines;
}

bool reads_targets(const Document& document) { return config_of(document).arch == Arch::encoder_decoder; }

/// A line as it came.
struct GivenLine {
  TextInput input = {};
  std::size_t number = 0;    // from 1
  std::size_t sentence = 0;  // lines before it that are not empty
  bool is_too_long = false;
};

/// The lines of standard input, or of the document's text with the boundaries that were set by hand.
class GivenLines {
 public:
  GivenLines(const Document& document, bool standard_input) : text_(document.source) {
    if (standard_input) input_.emplace(kMaxTextBytes);
    else empty_ = text_.text.empty();
  }

  Result<std::optional<GivenLine>> next() {
    GivenLine line{.number = number_ + 1, .sentence = sentence_};
    if (input_) {
      auto read = TRY(input_->next());
      if (!read) return std::optional<GivenLine>();
      line.input = {.text = std::move(read->text), .split = text_.split};
      line.is_too_long = read->is_too_long;
    } else {
      if (empty_ || at_ >= text_.text.size()) return std::optional<GivenLine>();
      const std::size_t newline = std::min(text_.text.find('\n', at_), text_.text.size());
      const bool returns = newline > at_ && text_.text[newline - 1] == '\r';
      line.input = text_input_of(text_, {at_, newline - (returns ? 1 : 0)});
      at_ = newline + 1;
    }
    ++number_;
    if (!line.input.text.empty()) ++sentence_;
    return std::optional(std::move(line));
  }

 private:
  const TextInput& text_;
  std::optional<InputLines> input_;
  std::size_t at_ = 0, number_ = 0, sentence_ = 0;
  bool empty_ = false;
};

struct LineAnswer {
  std::shared_ptr<const Trace> trace = {};  // to be written with `request`; else …
  std::string request = {};
  std::string object = {};            // … what is written instead
  std::optional<Error> problem = {};  // of a line that is refused
  std::vector<Error> warnings = {};
};

class Answering {
 public:
  /// `file`: where the answers go; null: to standard output.
  Answering(const Document& document, const Lexicon& lexicon, const LinesAsked& asked, Output* file)
      : lexicon_(lexicon),
        asked_(asked),
        file_(file),
        reads_sentences_(asked.ids || reads_sentences(document)),
        plain_(document),
        target_by_ids_(reads_ids(document, TextSide::target)),
        targets_(target_by_ids_            ? lines_of(ids_text(document.target, "\n"))
                 : reads_targets(document) ? lines_of(document.target.text)
                                           : std::vector<std::string>()),
        pairs_(lines_of(document.text_pair)),
        given_(document, asked.standard_input),
        jobs_(jobs_of(asked.jobs)) {
    std::erase(targets_, std::string());
    if (!reads_sentences_) return;
    // A copy for each line must not carry the texts of all.
    plain_.source = {.text = {}, .split = document.source.split};
    plain_.text_pair.clear();
    if (!targets_.empty()) plain_.target = {.text = {}, .split = document.target.split};
  }

  Result<LinesReport> run() {
    if (!reads_sentences_) return one();
    {
      std::vector<std::jthread> helpers;
      helpers.reserve(jobs_);
      try {
        while (helpers.size() + 1 < jobs_ && !is_refused(SystemCall::thread))
          helpers.emplace_back([this] { begin_thread(), work(); });
      } catch (const std::exception&) {}  // the system has no more threads: those there are suffice
      work();
    }
    if (failure_) return *failure_;
    if (report_.lines == 0) return bad_input("text", "tokens", "at least one", "none", ErrorCode::no_tokens);
    if (more_warnings_ > 0)
      report_.warnings.emplace_back(
          ErrorCode::bad_value, std::to_string(more_warnings_) + " more warnings; each is in the object of its line");
    return std::move(report_);
  }

 private:
  /// Threads beyond a few a processor would only take memory.
  static std::size_t jobs_of(int asked) {
    const std::size_t processors = std::max<std::size_t>(1, std::thread::hardware_concurrency());
    return asked > 0 ? std::min(static_cast<std::size_t>(asked), 4 * processors) : processors;
  }

  /// A model that reads no sentences answers once.
  Result<LinesReport> one() {
    LineAnswer only = answer(plain_, "");
    if (only.problem) return *only.problem;
    TRY(put(only));
    return LinesReport{.lines = 1, .refused = 0, .warnings = std::move(only.warnings)};
  }

  void work() {
    try {
      answer_lines();
    } catch (...) {  // no memory even to keep an answer
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = thrown_error();
      ended_ = true;
    }
    changed_.notify_all();
  }

  /// Reads, answers and writes lines until there are none. At any time one thread reads and one writes.
  void answer_lines() {
    std::unique_lock lock(mutex_);
    ++working_;
    const auto is_surplus = [this] { return working_ > most_computing_; };
    while (true) {
      changed_.wait(lock,
                    [&] { return ended_ || is_surplus() || (!reading_ && read_ - written_ < kAheadOfJob * jobs_); });
      if (ended_ || is_surplus()) {
        --working_;
        return;
      }
      reading_ = true;
      lock.unlock();
      auto line = given_.next();
      lock.lock();
      reading_ = false;
      if (!line) failure_ = line.error();
      if (!line || !*line) ended_ = true;
      changed_.notify_all();
      if (ended_) return;
      const std::size_t number = read_++;
      answers_.emplace(number, answered_within_memory(**line, lock));
      write(lock);
      changed_.notify_all();
    }
  }

  /// Where memory is short fewer threads go on, without the stacks and buffers of the others: what failed beside those
  /// is computed again, at last alone.
  LineAnswer answered_within_memory(const GivenLine& line, std::unique_lock<std::mutex>& lock) {
    for (++holding_;;) {
      changed_.wait(lock, [this] {
        const bool others_left = working_ <= most_computing_ || working_ == holding_;
        return ended_ || (computing_ < most_computing_ && others_left);
      });
      const std::size_t most = most_computing_;
      ++computing_;
      lock.unlock();
      LineAnswer answered = answer_of(line);
      lock.lock();
      --computing_;
      changed_.notify_all();
      if (most == 1 || !answered.problem || answered.problem->code != ErrorCode::no_memory) {
        --holding_;
        return answered;
      }
      most_computing_ = std::min(most_computing_, std::max<std::size_t>(1, most / 2));
    }
  }

  /// Writes the answers whose turn it is, unless another thread does.
  void write(std::unique_lock<std::mutex>& lock) {
    while (!writing_ && !answers_.empty() && answers_.begin()->first == written_) {
      LineAnswer answered = std::move(answers_.begin()->second);
      answers_.erase(answers_.begin());
      writing_ = true;
      lock.unlock();
      const Status written = put(answered);
      lock.lock();
      writing_ = false;
      ++written_;
      count(std::move(answered));
      if (written) continue;
      failure_ = written.error();
      ended_ = true;
    }
  }

  /// Writes one line, and hands it on at once.
  Status put(const LineAnswer& answered) const {
    if (file_) {
      if (const Status written = put(answered, *file_); !written) return written;
      return file_->failed() ? file_->commit() : Status(Done{});
    }
    Output output = Output::to_standard_output();
    if (const Status written = put(answered, output); !written) return written;
    return output.commit();
  }

  Status put(const LineAnswer& answered, Output& output) const {
    if (answered.trace) {
      Progress progress;
      Work work(progress, 0);
      if (const Status written = write_json_object(*answered.trace, answered.request, asked_.arrays, output, work);
          !written)
        return written;
      output.write("\n");
    } else {
      output.write(answered.object);
    }
    return Done{};
  }

  void count(LineAnswer answered) {
    ++report_.lines;
    if (answered.problem && ++report_.refused == 1) report_.first = answered.problem->message();
    for (Error& warning : answered.warnings) {
      if (report_.warnings.size() < kMostWarnings) report_.warnings.push_back(std::move(warning));
      else ++more_warnings_;
    }
  }

  LineAnswer answer_of(const GivenLine& line) const {
    const std::string where = "line " + std::to_string(line.number);
    const auto refused = [&](const Error& error) {
      const std::string_view shown = std::string_view(line.input.text).substr(0, kShownOfRefused);
      return "{\"error\":" + json_string(error.message()) + ",\"code\":\"" + std::string(name(error.code)) +
             "\",\"text\":" + json_string(shown) + "}\n";
    };
    try {
      if (line.input.text.empty())
        return {.object =
                    refused(bad_input(where + ": text", "", "a sentence", "an empty line", ErrorCode::no_tokens))};
      Status possible = Done{};
      const Document document = document_of(line, possible);
      LineAnswer answered =
          possible ? answer(document, where) : LineAnswer{.trace = nullptr, .problem = possible.error()};
      if (answered.problem) {
        answered.problem = inside(where, *std::move(answered.problem));
        answered.object = refused(*answered.problem);
      }
      return answered;
    } catch (...) {
      const Error error = inside(where, thrown_error());
      return {.object = refused(error), .problem = error};
    }
  }

  Document document_of(const GivenLine& line, Status& possible) const {
    Document document = plain_;
    document.source = line.input;
    if (line.sentence < pairs_.size()) document.text_pair = pairs_[line.sentence];
    if (asked_.ids) possible = set_ids("ids", document, TextSide::source, line.input.text);
    if (possible && line.sentence < targets_.size() && target_by_ids_)
      possible = set_ids("decoder ids", document, TextSide::target, targets_[line.sentence]);
    else if (line.sentence < targets_.size()) document.target.text = targets_[line.sentence];
    else if (!targets_.empty())
      possible = bad_input("target", "sentences", "a line for each line of the text", std::to_string(targets_.size()),
                           ErrorCode::lines_differ);
    if (line.is_too_long)
      possible = bad_input("text", "size", "at most " + std::to_string(kMaxTextBytes) + " bytes", "more",
                           ErrorCode::too_large);
    if (possible && asked_.by_sentence) possible = choose(document);
    return document;
  }

  /// The model of a line. Each of the two is read once.
  Status choose(Document& document) const {
    const std::lock_guard lock(models_mutex_);
    std::vector<const Document*> seen{&plain_};
    if (other_) seen.push_back(&*other_);
    const auto before = document.model;
    if (const Status chosen = choose_model(document, nullptr, seen); !chosen) return chosen;
    if (!other_ && document.model != before) other_ = document;
    return Done{};
  }

  /// Without a trace where there is a problem.
  LineAnswer answer(const Document& document, const std::string& where) const {
    const auto requests = requests_of(document, lexicon_);
    if (!requests) return {.problem = requests.error()};
    const auto trace = forward(requests->front(), unwatched(), nullptr, jobs_ > 1 ? 1 : asked_.arrays.threads);
    if (!trace) return {.problem = trace.error()};
    if (const Status valid = check_options(**trace, asked_.arrays); !valid) return {.problem = valid.error()};
    LineAnswer answered{.trace = *trace, .request = request_json(document)};
    if (asked_.arrays.scores || asked_.arrays.queries_keys_values) {
      // These may hold numbers that JSON cannot express: found before the line is begun.
      auto nowhere = Output::to_file(kNowhere);
      if (!nowhere) return {.problem = nowhere.error()};
      if (const Status possible = put(answered, *nowhere); !possible) return {.problem = possible.error()};
    }
    for (const Error& warning : (*trace)->warnings) answered.warnings.push_back(inside(where, warning));
    return answered;
  }

  const Lexicon& lexicon_;
  const LinesAsked& asked_;
  Output* const file_;
  const bool reads_sentences_;
  Document plain_;  // what is asked of each line
  const bool target_by_ids_;
  std::vector<std::string> targets_, pairs_;
  GivenLines given_;  // used by the thread that reads
  const std::size_t jobs_;
  mutable std::mutex models_mutex_;
  mutable std::optional<Document> other_ = {};  // of the model that `plain_` does not have

  std::mutex mutex_;  // of everything below
  std::condition_variable changed_;
  bool reading_ = false, writing_ = false, ended_ = false;
  std::size_t read_ = 0, written_ = 0;
  std::size_t working_ = 0, holding_ = 0, computing_ = 0;  // threads: all, with a line in hand, computing
  std::size_t most_computing_ = jobs_;
  std::map<std::size_t, LineAnswer> answers_;  // that wait for an earlier one
  std::optional<Error> failure_;
  LinesReport report_;
  std::size_t more_warnings_ = 0;
};

}  // namespace

Result<LinesReport> export_lines(const Document& document, const Lexicon& lexicon, const LinesAsked& asked,
                                 const std::optional<std::filesystem::path>& file) {
  if (!file) return Answering(document, lexicon, asked, nullptr).run();
  auto output = TRY(Output::to_file(*file));
  auto report = Answering(document, lexicon, asked, &output).run();
  if (!report) return report;
  TRY(output.commit());
  return report;
}

}  // namespace headlight
