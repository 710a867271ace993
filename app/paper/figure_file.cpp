#include "paper/figure_file.h"

#include <png.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <bit>
#include <csetjmp>

#include <cctype>
#include <cmath>
#include <map>

#include "base/file.h"
#include "figure/figure.h"

namespace headlight {
namespace {

/// The largest side of an image that cairo draws, and of a page that PDF readers take.
constexpr double kMostPixels = 32767, kMostPoints = 14400;

cairo_status_t append(void* bytes, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

Error failed(const char* what, cairo_status_t status) {
  return bad_input("figure", what, "a drawing that cairo can write", cairo_status_to_string(status));
}

double points(float length) { return static_cast<double>(length); }

/// Ends what was painted into a surface that writes to memory.
Status ended(cairo_t* cairo, cairo_surface_t* surface, const char* format) {
  cairo_status_t status = cairo_status(cairo);
  cairo_destroy(cairo);
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  if (status != CAIRO_STATUS_SUCCESS) return failed(format, status);
  return Done{};
}

void append_png(png_structp png, png_bytep data, png_size_t size) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(data), size);
}

/// The pixels of a surface of CAIRO_FORMAT_RGB24 as a PNG with its size on paper, which cairo's PNG writer
/// leaves out. False where libpng fails; nothing here has a destructor that its longjmp would skip.
bool write_png(cairo_surface_t* surface, std::string& bytes) {
  const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  unsigned char* const pixels = cairo_image_surface_get_data(surface);
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (!info || setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return false;
  }
  png_set_write_fn(png, &bytes, append_png, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), 8, PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  const auto dots_a_metre = static_cast<png_uint_32>(std::lround(kFigureDpi / 0.0254f));
  png_set_pHYs(png, info, dots_a_metre, dots_a_metre, PNG_RESOLUTION_METER);
  png_write_info(png, info);
  // A pixel is a number 0x00RRGGBB of 32 bits.
  constexpr bool little = std::endian::native == std::endian::little;
  if (little) png_set_bgr(png);
  png_set_filler(png, 0, little ? PNG_FILLER_AFTER : PNG_FILLER_BEFORE);
  for (int y = 0; y < height; ++y) png_write_row(png, pixels + static_cast<std::ptrdiff_t>(y) * stride);
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return true;
}

Result<std::string> png_bytes(const Drawing& drawing, PaperFonts& fonts) {
  const double scale = static_cast<double>(kFigureDpi) / 72;
  const double width = std::round(static_cast<double>(drawing.width) * scale);
  const double height = std::round(static_cast<double>(drawing.height) * scale);
  if (width > kMostPixels || height > kMostPixels)
    return bad_input("figure", "PNG", "at most 32767 pixels a side (try .pdf or .svg)",
                     std::to_string(static_cast<int>(std::max(width, height))));
  cairo_surface_t* surface =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height));
  cairo_t* cairo = cairo_create(surface);
  cairo_scale(cairo, scale, scale);
  paint(cairo, drawing, fonts);
  std::string bytes;
  cairo_surface_flush(surface);
  const bool written = cairo_status(cairo) == CAIRO_STATUS_SUCCESS && write_png(surface, bytes);
  TRY(ended(cairo, surface, "PNG"));
  if (!written) return bad_input("figure", "PNG", "a picture that libpng can write", "none");
  return bytes;
}

/// cairo's numbers run on from one drawing to the next: here every id is named by its order in the file.
std::string renumbered(const std::string& svg) {
  std::map<std::string, std::string, std::less<>> names;
  constexpr std::string_view kId = " id=\"";
  for (std::size_t at = svg.find(kId); at != std::string::npos; at = svg.find(kId, at + 1)) {
    const std::size_t begin = at + kId.size();
    names.emplace(svg.substr(begin, svg.find('"', begin) - begin), "i" + std::to_string(names.size()));
  }
  const auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'; };
  std::string result;
  result.reserve(svg.size());
  std::size_t copied = 0;
  for (std::size_t at = svg.find_first_of("\"#"); at != std::string::npos; at = svg.find_first_of("\"#", at + 1)) {
    const bool names_one = svg[at] == '#' || (at >= 4 && svg.compare(at - 4, 5, kId.substr(0, 5)) == 0);
    std::size_t end = at + 1;
    while (end < svg.size() && is_of_name(svg[end])) ++end;
    const auto found = names_one ? names.find(std::string_view(svg).substr(at + 1, end - at - 1)) : names.end();
    if (found == names.end()) continue;
    result.append(svg, copied, at + 1 - copied).append(found->second);
    copied = end;
  }
  return result.append(svg, copied);
}

/// Of every image: pixels stay squares, whichever viewer enlarges them.
std::string with_sharp_images(std::string svg) {
  constexpr std::string_view kImage = "<image ", kSharp = "style=\"image-rendering:pixelated\" ";
  for (std::size_t at = svg.find(kImage); at != std::string::npos;
       at = svg.find(kImage, at + kImage.size() + kSharp.size()))
    svg.insert(at + kImage.size(), kSharp);
  return svg;
}

Result<std::string> svg_bytes(const Drawing& drawing, PaperFonts& fonts) {
  std::string bytes;
  cairo_surface_t* surface =
      cairo_svg_surface_create_for_stream(append, &bytes, points(drawing.width), points(drawing.height));
  cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
  cairo_t* cairo = cairo_create(surface);
  paint(cairo, drawing, fonts);
  TRY(ended(cairo, surface, "SVG"));
  return with_sharp_images(renumbered(bytes));
}

/// The texts of the title, as they stand beside each other.
std::string title_of(const Drawing& page) {
  std::string title;
  for (const Item& item : page.items)
    if (const Text* text = std::get_if<Text>(&item); text && text->role == Role::title)
      title += (title.empty() ? "" : " ") + text->text;
  return title;
}

Result<std::string> pdf_bytes(const Drawing& page, PaperFonts& fonts) {
  if (const double side = points(std::max(page.width, page.height)); side > kMostPoints)
    return bad_input("figure", "PDF", "at most 5080 mm a side (try .svg)",
                     std::to_string(static_cast<int>(side / points(kPointsInMm))));
  std::string bytes;
  cairo_surface_t* surface =
      cairo_pdf_surface_create_for_stream(append, &bytes, points(page.width), points(page.height));
  cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_4);
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "Headlight");
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title_of(page).c_str());
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, page.caption.c_str());
  cairo_t* cairo = cairo_create(surface);
  paint(cairo, page, fonts);
  TRY(ended(cairo, surface, "PDF"));
  return bytes;
}

/// Fonts by language, found when they are needed.
using FoundFonts = std::shared_ptr<std::map<Language, std::shared_ptr<PaperFonts>>>;

Result<Drawing> drawn_order(const FigureRequest& order, const std::filesystem::path& file, Progress& progress,
                            const FoundFonts& found) {
  TRY(figure_format(file));
  auto& fonts = (*found)[order.language];
  if (!fonts) fonts = TRY(PaperFonts::open({}, order.language));
  auto drawing = draw_ordered(order, fonts->measure(), &progress);
  if (!drawing) return inside(file.string(), drawing.error());
  if (progress.stop) return cancelled(file.string(), "nothing was written");
  return drawing;
}

}  // namespace

Result<FigureFormat> figure_format(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (ending == ".svg") return FigureFormat::svg;
  if (ending == ".pdf") return FigureFormat::pdf;
  if (ending == ".png") return FigureFormat::png;
  return bad_input(file.string(), "ending", ".svg, .pdf or .png", ending.empty() ? "none" : ending);
}

Result<std::string> figure_bytes(const Drawing& drawing, FigureFormat format, PaperFonts& fonts) {
  if (format == FigureFormat::svg) return svg_bytes(drawing, fonts);
  return format == FigureFormat::png ? png_bytes(drawing, fonts) : pdf_bytes(drawing, fonts);
}

Status write_figure(const Drawing& drawing, const std::filesystem::path& file, PaperFonts& fonts) {
  const auto format = TRY(figure_format(file));
  const auto bytes = figure_bytes(drawing, format, fonts);
  if (!bytes) return inside(file.string(), bytes.error());
  return write_file(file, *bytes);
}

DrawFigure figure_drawer() {
  return [fonts = std::make_shared<FoundFonts::element_type>()](
             const FigureRequest& order, const std::filesystem::path& file, Progress& progress) -> Status {
    const auto drawing = drawn_order(order, file, progress, fonts);
    return drawing ? write_figure(*drawing, file, *(*fonts)[order.language]) : Status(drawing.error());
  };
}

PreviewFigure figure_previewer() {
  return
      [fonts = std::make_shared<FoundFonts::element_type>()](
          const FigureRequest& order, const std::filesystem::path& file, Progress& progress) -> Result<FigurePicture> {
        auto drawing = TRY(drawn_order(order, file, progress, fonts));
        const auto bytes = TRY(figure_bytes(drawing, *figure_format(file), *(*fonts)[order.language]));
        return FigurePicture{std::make_shared<const Drawing>(std::move(drawing)), bytes.size()};
      };
}

}  // namespace headlight
