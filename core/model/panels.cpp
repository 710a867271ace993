#include "model/panels.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace headlight {
namespace {

constexpr Index kPanel = PanelMatrix::kPanel;

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// Whether the lower 16 bits of all numbers are 0, as in a file that stores bfloat16.
bool is_half(const Matrix& rows) {
  std::uint32_t lower = 0;
  for (Index i = 0; i < rows.size() && (lower & 0xFFFF) == 0; ++i) lower |= bits_of(rows.data()[i]);
  return (lower & 0xFFFF) == 0;
}

Index packed_size(Index rows, Index cols) { return (rows + kPanel - 1) / kPanel * kPanel * cols; }

/// Calls visit(first, rows) for the rows of one panel after the other, until it says no.
template <class Visit>
bool for_each_panel(Index rows, const RowsOf& rows_of, const Visit& visit) {
  for (Index first = 0; first < rows; first += kPanel)
    if (!visit(first, rows_of(first, std::min(kPanel, rows - first)))) return false;
  return true;
}

template <class Number, class Write>
void write_panel(const Matrix& rows, Number* to, const Write& write) {
  constexpr Index kColumns = 16;  // a cache line of a row
  for (Index begin = 0; begin < rows.cols(); begin += kColumns)
    for (Index row = 0; row < rows.rows(); ++row)
      for (Index i = begin; i < std::min(begin + kColumns, rows.cols()); ++i)
        to[i * kPanel + row] = write(rows(row, i));
}

}  // namespace

std::size_t packed_bytes(Index rows, Index cols) {
  return static_cast<std::size_t>(packed_size(rows, cols)) * sizeof(float);
}

std::shared_ptr<const PanelMatrix> packed(Index rows, Index cols, const RowsOf& rows_of,
                                          const std::shared_ptr<std::byte>& pages, std::size_t& begin) {
  auto panels = std::make_shared<PanelMatrix>(PanelMatrix{.rows = rows, .cols = cols});
  const auto fill = [&](auto* to, const auto& write) {
    for_each_panel(rows, rows_of, [&](Index first, const Matrix& of_panel) {
      write_panel(of_panel, to + first * cols, write);
      return true;
    });
    begin += static_cast<std::size_t>(packed_size(rows, cols)) * sizeof *to;
  };
  std::byte* const bytes = pages.get() + begin;
  if (for_each_panel(rows, rows_of, [](Index, const Matrix& of_panel) { return is_half(of_panel); })) {
    panels->halves = {pages, reinterpret_cast<std::uint16_t*>(bytes)};
    fill(reinterpret_cast<std::uint16_t*>(bytes), [](float x) { return static_cast<std::uint16_t>(bits_of(x) >> 16); });
  } else {
    panels->numbers = {pages, reinterpret_cast<float*>(bytes)};
    fill(reinterpret_cast<float*>(bytes), [](float x) { return x; });
  }
  return panels;
}

}  // namespace headlight
