#include "paper/pages_file.h"

#include <cairo-pdf.h>
#include <cairo.h>

#include "paper/paint.h"

namespace headlight {
namespace {

cairo_status_t append_page(void* bytes, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

Result<std::string> pdf_of_pages(const std::vector<Drawing>& pages, PaperFonts& fonts) {
  std::string bytes;
  const auto points = [](float length) { return static_cast<double>(length); };
  cairo_surface_t* surface = cairo_pdf_surface_create_for_stream(append_page, &bytes, points(pages.front().width),
                                                                 points(pages.front().height));
  cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_4);
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "Headlight");
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
  cairo_t* cairo = cairo_create(surface);
  for (const Drawing& page : pages) {
    cairo_pdf_surface_set_size(surface, points(page.width), points(page.height));
    paint(cairo, page, fonts);
    cairo_show_page(cairo);
  }
  cairo_status_t status = cairo_status(cairo);
  cairo_destroy(cairo);
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  if (status != CAIRO_STATUS_SUCCESS)
    return bad_input("pages", "PDF", "drawings that cairo can write", cairo_status_to_string(status));
  return bytes;
}

}  // namespace headlight
