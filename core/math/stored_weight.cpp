#include "math/stored_weight.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstring>

#include "base/mapped_file.h"
#include "base/pages.h"
#include "math/kernels/kernels.h"

namespace headlight {
namespace {

constexpr Index kStored = PanelMatrix::kPanel;  // outputs of a panel
/// Packing takes as long as two or three products with ten tokens that read the file.
constexpr int kUsesUnpacked = 3;

bool on_address_of(const char* bytes, Index size) { return reinterpret_cast<std::uintptr_t>(bytes) % size == 0; }

/// bfloat16 numbers, one after another on any address, as float32.
void widen_halves(const char* bytes, Index count, float* to) {
  if (on_address_of(bytes, sizeof(std::uint16_t)))
    return math_kernels().widen(reinterpret_cast<const std::uint16_t*>(bytes), count, to);
  std::uint16_t halves[kMostInputs];
  std::memcpy(halves, bytes, static_cast<std::size_t>(count) * sizeof *halves);
  math_kernels().widen(halves, count, to);
}

/// Prefetches the part of a row that is read a few rows later, in these columns or in the next: the processor does not
/// predict short parts of rows that lie far apart.
void prefetch_later(const StoredMatrix& stored, Index first, Index outputs, Index row, Index k, Index count) {
  constexpr Index kRowsLater = 8, kLine = 64;
  Index later = row + kRowsLater;
  if (later >= outputs) later -= outputs, k += count;
  if (later >= outputs || k + count > stored.cols) return;
  const char* const part = stored.at(first + later, k);
  const Index bytes = count * stored.blocks().bytes / stored.blocks().numbers;
  for (Index byte = 0; byte < bytes; byte += kLine) __builtin_prefetch(part + byte);
}

/// (rows, cols) one row after another → (cols, kStored).
void transpose_rows(const float* from, Index apart, Index rows, Index cols, float* to) {
  math_kernels().transpose(from, apart, rows, cols, to, kStored);
}

/// Whether the lower 16 bits of all numbers are 0, as in a file that stores bfloat16.
bool is_exact_in_bfloat16(const StoredMatrix& stored) {
  if (stored.kind == StoredMatrix::Kind::bfloat16) return true;
  for (Index row = 0; row < stored.rows; ++row) {
    const Matrix numbers = widened(stored, row, 1);
    std::uint32_t lower = 0;
    for (Index i = 0; i < numbers.size(); ++i) lower |= std::bit_cast<std::uint32_t>(numbers.data()[i]);
    if ((lower & 0xFFFF) != 0) return false;
  }
  return true;
}

}  // namespace

void transpose_stored(const StoredMatrix& stored, Index panel, Index k, Index count, float* to) {
  assert(count <= kMostInputs);
  const Index first = panel * kStored, outputs = std::min(kStored, stored.rows - first);
  const auto read = [&](const char* from, Index numbers, float* row) {  // each number has bytes of its own
    if (stored.kind == StoredMatrix::Kind::bfloat16) widen_halves(from, numbers, row);
    else stored.blocks().widen(from, numbers, row);
  };
  if (stored.transposed) {
    for (Index i = 0; i < count; ++i, to += kStored) {
      read(stored.at(first, k + i), outputs, to);
      std::fill(to + outputs, to + kStored, 0.0f);
    }
    return;
  }
  const char* const from = stored.at(first, k);
  if (stored.kind == StoredMatrix::Kind::float32 && on_address_of(from, sizeof(float)))
    return transpose_rows(reinterpret_cast<const float*>(from), stored.step(), outputs, count, to);
  alignas(64) float rows[kStored * kMostInputs];
  for (Index row = 0; row < outputs; ++row) {
    prefetch_later(stored, first, outputs, row, k, count);
    if (is_in_blocks(stored.kind)) widen_row(stored, first + row, k, count, rows + row * count);
    else read(stored.at(first + row, k), count, rows + row * count);
  }
  transpose_rows(rows, count, outputs, count, to);
}

std::shared_ptr<const PanelMatrix> packed(const StoredMatrix& stored, const Threads& threads) {
  const auto pages = fresh_pages(packed_bytes(stored.rows, stored.cols));
  auto panels = std::make_shared<PanelMatrix>(PanelMatrix{.rows = stored.rows, .cols = stored.cols});
  const bool halves = is_exact_in_bfloat16(stored);
  auto* const numbers = reinterpret_cast<float*>(pages.get());
  auto* const upper = reinterpret_cast<std::uint16_t*>(pages.get());
  if (halves) panels->halves = {pages, upper};
  else panels->numbers = {pages, numbers};
  parallel_for((stored.rows + kStored - 1) / kStored, threads, [&](Index panel) {
    alignas(64) float space[kStored * kMostInputs];
    for (Index k = 0; k < stored.cols; k += kMostInputs) {
      const Index count = std::min(kMostInputs, stored.cols - k), begin = panels->panel(panel) + k * kStored;
      transpose_stored(stored, panel, k, count, halves ? space : numbers + begin);
      for (Index i = 0; halves && i < count * kStored; ++i)
        upper[begin + i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(space[i]) >> 16);
    }
  });
  return panels;
}

std::shared_ptr<const PanelMatrix> panels_of_used(const StoredMatrix& stored, const Threads& threads) {
  if (!stored.panels || ++stored.panels->uses <= kUsesUnpacked) return nullptr;
  const std::lock_guard lock(stored.panels->packing);
  if (!stored.panels->packed) {
    stored.panels->packed = packed(stored, Threads(threads.count));  // whole, though the product may be stopped
    release_pages(stored.lines());
  }
  return stored.panels->packed;
}

namespace {

/// Where the scales are finite, all numbers are: they are products of a scale and whole numbers of at most 15 bits.
bool scales_are_finite(const WeightBlocks& blocks, const char* bytes, std::size_t count, const Threads& threads) {
  constexpr Index kBlocksOfPart = 4096;
  const Index whole = static_cast<Index>(count) / blocks.numbers;
  std::atomic<bool> finite = true;
  parallel_for((whole + kBlocksOfPart - 1) / kBlocksOfPart, threads, [&](Index part) {
    const Index end = std::min(whole, (part + 1) * kBlocksOfPart);
    bool all = true;
    for (Index block = part * kBlocksOfPart; block < end; ++block)
      for (const Index scale : blocks.scales) {
        std::uint16_t bits = 0;
        if (scale >= 0) std::memcpy(&bits, bytes + block * blocks.bytes + scale, sizeof bits);
        all = all && (bits & 0x7C00) != 0x7C00;
      }
    if (!all) finite = false;
  });
  return finite;
}

}  // namespace

bool all_finite(StoredMatrix::Kind kind, const char* bytes, std::size_t count, const Threads& threads) {
  if (is_in_blocks(kind)) return scales_are_finite(blocks_of(kind), bytes, count, threads);
  // Several numbers a word: behind the sign, a number that is not finite is at least `infinite`, and then the addition
  // carries into the sign bit.
  struct Bits {
    std::uint64_t behind_sign, added;
  };
  const Bits bits = kind == StoredMatrix::Kind::float32    ? Bits{0x7FFFFFFF7FFFFFFF, 0x0080000000800000}
                    : kind == StoredMatrix::Kind::bfloat16 ? Bits{0x7FFF7FFF7FFF7FFF, 0x0080008000800080}
                                                           : Bits{0x7FFF7FFF7FFF7FFF, 0x0400040004000400};
  const std::size_t size = count * (kind == StoredMatrix::Kind::float32 ? 4 : 2);
  constexpr std::size_t kPart = std::size_t{1} << 20;
  std::atomic<bool> finite = true;
  parallel_for(static_cast<Index>((size + kPart - 1) / kPart), threads, [&](Index part) {
    const std::size_t begin = static_cast<std::size_t>(part) * kPart, end = std::min(size, begin + kPart);
    std::uint64_t carried = 0, word;
    std::size_t at = begin;
    for (; at + sizeof word <= end; at += sizeof word) {
      std::memcpy(&word, bytes + at, sizeof word);
      carried |= (word & bits.behind_sign) + bits.added;
    }
    if (at < end) {
      word = 0;
      std::memcpy(&word, bytes + at, end - at);
      carried |= (word & bits.behind_sign) + bits.added;
    }
    if ((carried & ~bits.behind_sign) != 0) finite = false;
  });
  return finite;
}

}  // namespace headlight
