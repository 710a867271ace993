#include "page/page_numbers.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "math/attention.h"

namespace headlight {
namespace {

Matrix rounded_or_empty(const Matrix& numbers) { return numbers.size() == 0 ? Matrix() : rounded_to_float16(numbers); }

void round_numbers(AttentionTrace& attention, std::vector<std::vector<Matrix>>& patterns) {
  if (attention.patterns) {
    std::vector<Matrix> own;
    for (const Matrix& pattern : *attention.patterns) own.push_back(rounded_or_empty(pattern));
    patterns.push_back(std::move(own));
    return;
  }
  attention.query = rounded_or_empty(attention.query);
  attention.key = rounded_or_empty(attention.key);
  attention.value = rounded_or_empty(attention.value);
}

/// Calls visit for every attention of the trace, in an order that is always the same.
template <class Visit>
void each_attention(Trace& trace, StackTrace* encoder, const Visit& visit) {
  if (encoder)
    for (BlockTrace& block : encoder->blocks) visit(block.self);
  for (BlockTrace& block : trace.blocks) {
    visit(block.self);
    if (block.cross) visit(*block.cross);
  }
}

}  // namespace

void append_float16(const ConstMatrixRef& numbers, std::string& bytes) {
  for (Index row = 0; row < numbers.rows(); ++row)
    for (Index column = 0; column < numbers.cols(); ++column) {
      const auto bits = Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(numbers(row, column)));
      bytes += static_cast<char>(bits & 0xFF);
      bytes += static_cast<char>(bits >> 8);
    }
}

Matrix rounded_to_float16(const ConstMatrixRef& numbers) { return numbers.cast<Eigen::half>().cast<float>(); }

std::string packed_planes(std::string_view bytes) {
  std::string planes(bytes.size(), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) planes[i % 2 * (bytes.size() / 2) + i / 2] = bytes[i];
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 9, Z_FILTERED);
  std::string packed(deflateBound(&stream, static_cast<uLong>(planes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(planes.data());
  stream.avail_in = static_cast<uInt>(planes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Result<std::string> unpacked_planes(std::string_view packed, std::size_t expected) {
  std::string planes(expected, '\0'), input(packed);
  z_stream stream{};
  inflateInit2(&stream, -MAX_WBITS);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(planes.data());
  stream.avail_out = static_cast<uInt>(planes.size());
  const int status = inflate(&stream, Z_FINISH);
  const std::size_t found = stream.total_out;
  inflateEnd(&stream);
  if (status != Z_STREAM_END || found != expected)
    return bad_input("packed numbers", "", std::to_string(expected) + " bytes", "damaged ones");
  std::string bytes(expected, '\0');
  for (std::size_t i = 0; i < expected; ++i) bytes[i] = planes[i % 2 * (expected / 2) + i / 2];
  return bytes;
}

RoundedTrace rounded(const Trace& trace) {
  RoundedTrace result{trace, {}};
  std::shared_ptr<StackTrace> encoder = trace.encoder ? std::make_shared<StackTrace>(*trace.encoder) : nullptr;
  each_attention(result.trace, encoder.get(),
                 [&](AttentionTrace& attention) { round_numbers(attention, result.patterns); });
  std::size_t next = 0;
  each_attention(result.trace, encoder.get(), [&](AttentionTrace& attention) {
    if (attention.patterns) attention.patterns = &result.patterns[next++];
  });
  result.trace.encoder = std::move(encoder);
  return result;
}

float rounding_error(const Trace& exact, const Trace& other, const std::vector<HeadRef>& heads,
                     const Threads& threads) {
  std::vector<float> largest(heads.size(), 0.0f);
  parallel_for(static_cast<Index>(heads.size()), threads, [&](Index i) {
    const HeadRef& head = heads[static_cast<std::size_t>(i)];
    const Index queries = exact.queries(head.stack);
    for (Index first = 0; first < queries; first += kRowBlock) {
      const Index count = std::min(kRowBlock, queries - first);
      const Matrix difference = attention_rows(exact, head, first, count) - attention_rows(other, head, first, count);
      float& most = largest[static_cast<std::size_t>(i)];
      most = std::max(most, difference.cwiseAbs().maxCoeff());
    }
  });
  return largest.empty() ? 0.0f : *std::max_element(largest.begin(), largest.end());
}

}  // namespace headlight
