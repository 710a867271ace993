#include "bench/peak.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/pages.h"
#include "base/parallel.h"
#include "math/kernels/kernels.h"

namespace headlight {
namespace {

// A processor ends two multiply-adds a cycle four cycles after they began: eight sums at least are on their way.
constexpr int kSums = 12;
constexpr long kSteps = 2'000'000;
constexpr std::size_t kBuffer = std::size_t{256} << 20;  // bytes a thread reads

std::atomic<float> sink;  // what is not used is not computed

// Vector types of GCC and Clang, as wide as the registers of the three kinds of processor.
using Lanes4 = float __attribute__((vector_size(16)));
using Lanes8 = float __attribute__((vector_size(32)));
using Lanes16 = float __attribute__((vector_size(64)));

template <class Lanes>
[[gnu::always_inline]] inline double sums_in_registers() {
  constexpr int kLanes = sizeof(Lanes) / sizeof(float);
  Lanes sums[kSums], factor, addend;
  for (int lane = 0; lane < kLanes; ++lane) factor[lane] = 0.999f, addend[lane] = 1e-3f;
  for (Lanes& sum : sums) sum = addend;
  asm volatile("" : "+m"(factor), "+m"(addend));  // unknown to the compiler
  for (long step = 0; step < kSteps; ++step)
    for (Lanes& sum : sums) sum = sum * factor + addend;
  for (const Lanes& sum : sums) sink = sink + sum[0];
  return 2.0 * kSums * kLanes * kSteps;
}

#if defined(__x86_64__)
[[gnu::target("avx512f,prefer-vector-width=512"), gnu::optimize("fp-contract=fast")]] double sums_avx512() {
  return sums_in_registers<Lanes16>();
}
[[gnu::target("avx2,fma"), gnu::optimize("fp-contract=fast")]] double sums_avx2() {
  return sums_in_registers<Lanes8>();
}
#endif
double sums_baseline() { return sums_in_registers<Lanes4>(); }

double sums_of_this_processor() {
  const RunnableMathKernels all = runnable_math_kernels();
  const std::string_view widest = all.tables[all.count - 1].name;
#if defined(__x86_64__)
  if (widest == "avx512") return sums_avx512();
  if (widest == "avx2") return sums_avx2();
#endif
  return sums_baseline();
}

}  // namespace

PeakWork multiply_add(int threads) {
  std::vector<double> done(static_cast<std::size_t>(threads));
  parallel_for(threads, threads,
               [&](Index thread) { done[static_cast<std::size_t>(thread)] = sums_of_this_processor(); });
  PeakWork work;
  for (const double flop : done) work.flop += flop;
  return work;
}

PeakWork read_memory(int threads) {
  const std::size_t bytes = kBuffer * static_cast<std::size_t>(threads);
  static const std::shared_ptr<std::byte> buffer = [] {
    auto pages = fresh_pages(kBuffer * 16);
    std::memset(pages.get(), 1, kBuffer * 16);
    return pages;
  }();
  const std::size_t most = std::min(bytes, kBuffer * 16);
  parallel_for(threads, threads, [&](Index thread) {
    const std::size_t part = most / static_cast<std::size_t>(threads);
    const auto* const words =
        reinterpret_cast<const std::uint64_t*>(buffer.get() + part * static_cast<std::size_t>(thread));
    std::uint64_t sums[8] = {};
    for (std::size_t i = 0; i + 8 <= part / 8; i += 8)
      for (std::size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
    sink = sink + static_cast<float>(sums[0] + sums[7]);
  });
  return {.read = static_cast<double>(most)};
}

void add_shares(BenchReport& report) {
  for (BenchRow& row : report.rows)
    for (const BenchRow& peak : report.rows) {
      if (peak.threads != row.threads || row.name.starts_with("peak/")) continue;
      const auto speed = [](const BenchRow& of, double BenchRow::*what) { return of.*what / of.time.median; };
      if (peak.name == "peak/fma" && row.flop > 0)
        row.share = speed(row, &BenchRow::flop) / speed(peak, &BenchRow::flop);
      if (peak.name == "peak/read" && row.read > 0)
        row.read_share = speed(row, &BenchRow::read) / speed(peak, &BenchRow::read);
    }
}

}  // namespace headlight
