#include "read/external/packed_planes.h"

#include <zlib.h>

namespace headlight {
namespace {

/// Deflate makes no byte of more than so many (zlib's technical details, "Maximum Compression Factor").
constexpr std::size_t kMostDeflated = 1032;

}  // namespace

std::string deflated(std::string_view bytes, int level, Packing packing) {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, packing == Packing::checked ? MAX_WBITS : -MAX_WBITS, 9,
               packing == Packing::numbers ? Z_FILTERED : Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string packed_planes(std::string_view bytes) {
  std::string planes(bytes.size(), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) planes[i % 2 * (bytes.size() / 2) + i / 2] = bytes[i];
  return deflated(planes, 6, Packing::numbers);
}

Result<std::string> inflated(std::string_view packed, std::size_t expected) {
  const auto damaged = [&] {
    return bad_input("packed numbers", "", std::to_string(expected) + " bytes", "damaged ones");
  };
  if (expected / kMostDeflated > packed.size() + 1) return damaged();  // before as much memory is taken
  std::string bytes(expected, '\0'), input(packed);
  z_stream stream{};
  inflateInit2(&stream, -MAX_WBITS);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int status = inflate(&stream, Z_FINISH);
  const std::size_t found = stream.total_out;
  inflateEnd(&stream);
  if (status != Z_STREAM_END || found != expected) return damaged();
  return bytes;
}

}  // namespace headlight
