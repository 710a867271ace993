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

constexpr std::size_t kBuffer = std::size_t{512} << 20;  // bytes, more than any cache holds
constexpr long kSteps = 2'000'000;
// A processor ends two multiply-adds a cycle, four cycles after they began: eight sums at least are on their way.
constexpr int kSums = 12;

std::atomic<std::uint64_t> sink;  // what is not used is not computed

#if defined(__x86_64__)
// The loop itself, so that no compiler keeps a sum in memory: zeros, whose product takes as long as any other.
#define HEADLIGHT_SUMS(lanes)                                                                                   \
  long steps = kSteps;                                                                                          \
  asm volatile("vzeroall\n 1:\n .irp sum,0,1,2,3,4,5,6,7,8,9,10,11\n vfmadd231ps %%" lanes "12, %%" lanes       \
               "13, %%" lanes "\\sum\n .endr\n sub $1, %0\n jnz 1b\n vzeroupper"                                \
               : "+r"(steps)                                                                                    \
               :                                                                                                \
               : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                 "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

double sums_avx512() {
  HEADLIGHT_SUMS("zmm");
  return 2.0 * kSums * 16 * kSteps;
}
double sums_avx2() {
  HEADLIGHT_SUMS("ymm");
  return 2.0 * kSums * 8 * kSteps;
}
#endif

/// Without multiply-adds: a product and a sum, four numbers at a time.
double sums_baseline() {
  using Lanes = float __attribute__((vector_size(16)));
  Lanes a{}, b{}, c{}, d{}, x{};
  for (long i = 0; i < 3 * kSteps; ++i) {
    asm volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(x));
    a += x * x, b += x * x, c += x * x, d += x * x;
  }
  return 2.0 * kSums * 4 * kSteps;
}

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
  static const std::shared_ptr<std::byte> buffer = [] {
    auto pages = fresh_pages(kBuffer);
    std::memset(pages.get(), 1, kBuffer);
    return pages;
  }();
  parallel_for(threads, threads, [&](Index thread) {
    const std::size_t part = kBuffer / static_cast<std::size_t>(threads);
    const auto* const words =
        reinterpret_cast<const std::uint64_t*>(buffer.get() + part * static_cast<std::size_t>(thread));
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < part / sizeof *words; ++i) sum += words[i];
    sink = sink + sum;
  });
  return {.read = static_cast<double>(kBuffer)};
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
