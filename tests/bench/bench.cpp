#include "bench/bench.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/result.h"
#include "bench/peak.h"
#include "cli/options/parser.h"
#include "cli/options/print.h"

namespace headlight {
namespace {

constexpr const char* kDraw = "draw";

struct BenchArguments {
  std::string suite, format = "text", only, program;
  int threads = 0, rounds = 5;
  std::ptrdiff_t longest = 0;
};

int processors() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

std::string text_of(const BenchReport& report) {
  std::string text = processor_name() + ", " + std::to_string(processors()) + " processors\n";
  text += formatted("%-36s %7s %12s %12s %12s  %s\n", "", "threads", "median µs", "low", "high", "");
  for (const BenchRow& row : report.rows) {
    text += formatted("%-36s %7d %11.1f %12.1f %12.1f ", row.name.c_str(), row.threads, row.time.median * 1e6,
                      row.time.low * 1e6, row.time.high * 1e6);
    const auto add = [&](double value, const char* unit) {
      if (value > 0) text += formatted(" %10.1f %s", value, unit);
    };
    add(row.flop / row.time.median / 1e9, "GFLOP/s");
    add(row.share * 100, "% of peak/fma");
    add(row.read / row.time.median / 1e9, "GB/s");
    add(row.read_share * 100, "% of peak/read");
    add(row.bytes / row.time.median / 1e6, "MB/s");
    add(row.tokens / row.time.median, "tokens/s");
    add(row.peak / 1e6, "MB peak");
    add(row.processor * 1e3, "ms processor");
    if (row.uploads >= 0) text += "  " + std::to_string(row.uploads) + " uploads";
    text += '\n';
  }
  for (const BenchExponent& exponent : report.exponents)
    text += formatted("%-36s T^%.2f\n", exponent.name.c_str(), exponent.value);
  return text;
}

std::string json_of(const BenchReport& report) {
  nlohmann::ordered_json object{{"machine", {{"threads", processors()}, {"cpu", processor_name()}}},
                                {"rows", nlohmann::ordered_json::array()}};
  for (const BenchRow& row : report.rows) {
    nlohmann::ordered_json one{{"name", row.name},
                               {"threads", row.threads},
                               {"median_us", row.time.median * 1e6},
                               {"low_us", row.time.low * 1e6},
                               {"high_us", row.time.high * 1e6}};
    if (row.flop > 0) one["gflops"] = row.flop / row.time.median / 1e9;
    if (row.share > 0) one["share"] = row.share;
    if (row.read > 0) one["read_gb_per_s"] = row.read / row.time.median / 1e9;
    if (row.read_share > 0) one["read_share"] = row.read_share;
    if (row.bytes > 0) one["mb_per_s"] = row.bytes / row.time.median / 1e6;
    if (row.tokens > 0) one["tokens_per_s"] = row.tokens / row.time.median;
    if (row.peak > 0) one["peak_mb"] = row.peak / 1e6;
    if (row.processor > 0) one["processor_us"] = row.processor * 1e6;
    if (row.uploads >= 0) one["uploads"] = row.uploads;
    object["rows"].push_back(std::move(one));
  }
  for (const BenchExponent& exponent : report.exponents)
    object["exponents"].push_back({{"name", exponent.name}, {"value", exponent.value}});
  return object.dump() + "\n";
}

Result<int> report_of(const BenchArguments& options, const BenchSuite::Run& draw) {
  BenchOptions wanted{.threads = {1},
                      .rounds = options.rounds,
                      .longest = options.longest,
                      .only = options.only,
                      .program = options.program};
  if (options.threads > 0) wanted.threads = {options.threads};
  else if (processors() > 1) wanted.threads.push_back(processors());
  if (options.suite == kDraw && !draw)
    return Error(ErrorCode::bad_value, "bench draw", "this program was built without the window");
  std::vector<BenchSuite> suites = bench_suites();
  if (draw) suites.push_back({kDraw, draw});
  BenchReport report;
  for (const BenchSuite& suite : suites) {
    if (!options.suite.empty() && suite.name != options.suite) continue;
    auto part = suite.run(wanted);
    if (!part && suite.name == kDraw && options.suite.empty()) {  // without OpenGL the other rows are printed
      print_warnings({part.error()});
      continue;
    }
    if (!part) return part.error();
    add_shares(*part);
    std::move(part->rows.begin(), part->rows.end(), std::back_inserter(report.rows));
    std::move(part->exponents.begin(), part->exponents.end(), std::back_inserter(report.exponents));
  }
  return print(options.format == "json" ? json_of(report) : text_of(report));
}

void add_options(Parser& command, BenchArguments& options) {
  command.footer(
      "./run bench attention --threads 1 --rounds 9\n"
      "./run bench --format json > figures.json\n"
      "Medians of rounds that are taken in turn, with the quickest and the slowest beside them.");
  std::vector<std::string> names;
  for (const BenchSuite& suite : bench_suites()) names.emplace_back(suite.name);
  names.emplace_back(kDraw);
  command
      .option("suite", options.suite,
              "attention, model, train, growth, export, open (which writes 2.2 GB into the temporary folder for a "
              "while) or draw; default: all of them",
              "SUITE")
      .one_of(names);
  command.option("--threads", options.threads, "Only with so many; default: with one, and with all processors", "N")
      .within(1, 1024);
  command.option("--rounds", options.rounds, "Rounds that the median is of, 5 by default", "N").within(1, 1000);
  command.option("--longest", options.longest, "Leaves out texts of more tokens", "N").within(1, 1 << 20);
  command.option("--only", options.only, "Only the rows whose names contain this, as T=128 or json", "TEXT");
  command.option("--format", options.format, "text (default) or json").one_of({"text", "json"});
  command.option("--program", options.program, "The headlight that open measures; default: the one beside this",
                 "FILE");
}

Result<int> run_parsed(int argc, const char* const* argv, const BenchSuite::Run& draw) {
  BenchArguments options;
  options.program = std::filesystem::path(argv[0]).replace_filename("headlight").string();
  Parser command("./run bench", "How fast this machine is: the figures of docs/performance.md");
  add_options(command, options);
  const auto parsed = command.parse({argv + 1, argv + argc});
  if (!parsed) return Error(ErrorCode::bad_value, "bench", parsed.error().message() + " (see --help)");
  if (!parsed->text.empty()) return print(parsed->text);
  return report_of(options, draw);
}

}  // namespace

int run_bench(int argc, const char* const* argv, const BenchSuite::Run& draw) {
  constexpr int kBadInput = 2;
  try {
    const Result<int> status = run_parsed(argc, argv, draw);
    if (status) return *status;
    print_message(status.error().message());
  } catch (...) { print_message(thrown_error().message()); }
  return kBadInput;
}

}  // namespace headlight
