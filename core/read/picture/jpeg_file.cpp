#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include <csetjmp>
#include <optional>

#include "read/picture/picture_formats.h"
#include "read/picture/resample.h"

namespace headlight {
namespace {

/// A progressive file may hold any number of scans, each as slow as a whole picture; encoders write about ten.
constexpr int kMostScans = 100;

/// 255 less a product of two of 255ths, rounded as Pillow rounds it.
std::uint8_t without_ink(int ink, int white) {
  const int product = ink * white + 128;
  return static_cast<std::uint8_t>(white - (((product >> 8) + product) >> 8));
}

/// A JPEG file in memory, in libjpeg's hands. The library asks for bytes beyond the end in vain: a file that is cut off
/// ends there instead of in grey.
class JpegFile {
 public:
  explicit JpegFile(std::string_view bytes) {
    file_.err = jpeg_std_error(&errors_);
    file_.client_data = this;
    errors_.error_exit = stop;
    errors_.output_message = [](j_common_ptr) {};
    source_.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
    source_.bytes_in_buffer = bytes.size();
    source_.init_source = source_.term_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = [](j_decompress_ptr) -> boolean { return FALSE; };
    source_.skip_input_data = skip;
    source_.resync_to_restart = jpeg_resync_to_restart;
    progress_.progress_monitor = [](j_common_ptr file) {
      if (reinterpret_cast<j_decompress_ptr>(file)->input_scan_number > kMostScans) ERREXIT(file, JERR_BAD_PROGRESSION);
    };
  }
  JpegFile(const JpegFile&) = delete;
  ~JpegFile() { jpeg_destroy_decompress(&file_); }

  /// Reads what stands before the pixels. False here and below: see error().
  bool read_header() {
    if (setjmp(jump_)) return false;
    jpeg_create_decompress(&file_);
    file_.src = &source_;
    file_.progress = &progress_;
    jpeg_save_markers(&file_, JPEG_APP0 + 1, 0xffff);
    return jpeg_read_header(&file_, TRUE) == JPEG_HEADER_OK;
  }

  bool read_rows(std::uint8_t* pixels) {
    if (setjmp(jump_)) return false;
    const std::size_t width = file_.image_width;
    const bool has_inks = file_.num_components == 4;
    file_.out_color_space = has_inks ? JCS_CMYK : JCS_RGB;
    if (!jpeg_start_decompress(&file_)) return false;
    JSAMPARRAY inks = nullptr;
    if (has_inks)
      inks = (*file_.mem->alloc_sarray)(reinterpret_cast<j_common_ptr>(&file_), JPOOL_IMAGE, file_.image_width * 4, 1);
    while (file_.output_scanline < file_.output_height) {
      JSAMPROW row = pixels + file_.output_scanline * width * 3;
      if (jpeg_read_scanlines(&file_, has_inks ? inks : &row, 1) != 1) return false;
      // Files of four inks hold what is left of white, as Adobe writes them.
      for (std::size_t x = 0; has_inks && x < width; ++x)
        for (std::size_t i = 0; i < 3; ++i) row[x * 3 + i] = without_ink(255 - inks[0][x * 4 + i], inks[0][x * 4 + 3]);
    }
    return true;
  }

  Index width() const { return file_.image_width; }
  Index height() const { return file_.image_height; }
  int channels() const { return file_.num_components; }
  /// Whether its pixels cannot be in so many bytes: the first coefficient of 64 takes at least a bit, but in arithmetic
  /// coding, which has no such bound.
  bool is_longer_than(std::size_t bytes) const {
    return !file_.arith_code && width() * height() / 512 > static_cast<Index>(bytes);
  }
  int orientation() const {
    for (jpeg_saved_marker_ptr marker = file_.marker_list; marker; marker = marker->next) {
      const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
      if (data.starts_with(std::string_view("Exif\0", 5))) return exif_orientation(data);
    }
    return 1;
  }
  Error error(std::string_view where) const {
    return message_[0] ? picture_damaged(where, "JPEG", message_) : picture_ends_early(where);
  }

 private:
  [[noreturn]] static void stop(j_common_ptr file) {
    JpegFile& self = *static_cast<JpegFile*>(file->client_data);
    (*file->err->format_message)(file, self.message_);
    std::longjmp(self.jump_, 1);
  }
  static void skip(j_decompress_ptr file, long count) {
    jpeg_source_mgr& source = *file->src;
    const std::size_t taken = std::min(source.bytes_in_buffer, static_cast<std::size_t>(std::max(count, 0L)));
    source.next_input_byte += taken;
    source.bytes_in_buffer -= taken;
  }

  jpeg_decompress_struct file_{};
  jpeg_error_mgr errors_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf jump_;
  char message_[JMSG_LENGTH_MAX] = "";
};

}  // namespace

Result<StoredPicture> read_jpeg(std::string_view where, std::string_view bytes) {
  JpegFile file(bytes);
  if (!file.read_header()) return file.error(where);
  if (const int channels = file.channels(); channels != 1 && channels != 3 && channels != 4)
    return picture_damaged(where, "JPEG", std::to_string(channels) + " channels");
  TRY(check_picture_size(where, file.width(), file.height()));
  if (file.is_longer_than(bytes.size())) return picture_ends_early(where);
  auto stored = TRY(blank_picture(where, file.width(), file.height()));
  if (!file.read_rows(stored.picture.pixels.data())) return file.error(where);
  stored.orientation = file.orientation();
  return stored;
}

}  // namespace headlight
