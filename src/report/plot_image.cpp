#include "report/plot_image.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>

#include "base/text.hpp"
#include "io/output_file.hpp"

namespace fathom {

namespace {

// The few functions of librsvg 2.48 and cairo 1.10 and later that are needed, as their documentation declares them.
struct Rectangle {
  double x, y, width, height;
};
using Sink = int (*)(void* closure, const unsigned char* data, unsigned int size);
struct Renderer {
  void* (*handle_new)(const std::uint8_t* data, unsigned long size, void** error) = nullptr;
  int (*render)(void* handle, void* cairo, const Rectangle* viewport, void** error) = nullptr;
  int (*size)(void* handle, double* width, double* height) = nullptr;
  void (*unref)(void* object) = nullptr;
  void* (*image)(int format, int width, int height) = nullptr;
  void* (*pdf)(Sink sink, void* closure, double width, double height) = nullptr;
  int (*write_png)(void* surface, Sink sink, void* closure) = nullptr;
  void* (*create)(void* surface) = nullptr;
  void (*scale)(void* cairo, double x, double y) = nullptr;
  int (*status)(void* surface) = nullptr;
  void (*destroy)(void* cairo) = nullptr;
  void (*finish)(void* surface) = nullptr;
  void (*destroy_surface)(void* surface) = nullptr;
  void (*pdf_text)(void* surface, int which, const char* text) = nullptr;  // from cairo 1.16 on
};

Result<Renderer> load() {
  std::string missing;
  const auto open = [&](const char* name) {
    // Never closed: the libraries keep state of their own.
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) missing += (missing.empty() ? "" : ", ") + std::string(name);
    return library;
  };
  void* rsvg = open("librsvg-2.so.2");
  void* cairo = open("libcairo.so.2");
  void* object = open("libgobject-2.0.so.0");
  Renderer r;
  const auto find = [&](void* library, const char* name, auto& out) {
    if (library == nullptr) return;
    void* symbol = dlsym(library, name);
    if (symbol == nullptr) missing += (missing.empty() ? "" : ", ") + std::string(name);
    out = reinterpret_cast<std::remove_reference_t<decltype(out)>>(symbol);
  };
  find(rsvg, "rsvg_handle_new_from_data", r.handle_new);
  find(rsvg, "rsvg_handle_render_document", r.render);
  find(rsvg, "rsvg_handle_get_intrinsic_size_in_pixels", r.size);
  find(object, "g_object_unref", r.unref);
  find(cairo, "cairo_image_surface_create", r.image);
  find(cairo, "cairo_pdf_surface_create_for_stream", r.pdf);
  find(cairo, "cairo_surface_write_to_png_stream", r.write_png);
  find(cairo, "cairo_create", r.create);
  find(cairo, "cairo_scale", r.scale);
  find(cairo, "cairo_surface_status", r.status);
  find(cairo, "cairo_destroy", r.destroy);
  find(cairo, "cairo_surface_finish", r.finish);
  find(cairo, "cairo_surface_destroy", r.destroy_surface);
  if (cairo != nullptr) {
    r.pdf_text = reinterpret_cast<decltype(r.pdf_text)>(dlsym(cairo, "cairo_pdf_surface_set_metadata"));
  }
  if (missing.empty()) return r;
  return Error::usage(fmt::format("PDF and PNG need librsvg and cairo, which were not found ({})", missing))
      .hint("install them (Debian: librsvg2-2), or write .svg");
}

int append(void* closure, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), size);
  return 0;
}

Result<std::string> render(const std::string& svg, bool pdf) {
  FATHOM_TRY(const Renderer r, load());
  const auto failed = [] { return Error("librsvg could not draw the figure"); };
  void* handle = r.handle_new(reinterpret_cast<const std::uint8_t*>(svg.data()), svg.size(), nullptr);
  if (handle == nullptr) return failed();
  double width = 0;
  double height = 0;
  bool drawn = r.size(handle, &width, &height) != 0;
  std::string bytes;
  constexpr double kPixels = 2;     // per unit: sharp in print and on screens
  constexpr double kPoints = 0.75;  // of PDF per unit of SVG
  const double scale = pdf ? kPoints : kPixels;
  constexpr int kArgb = 0;
  void* surface = pdf ? r.pdf(append, &bytes, width * scale, height * scale)
                      : r.image(kArgb, static_cast<int>(width * scale), static_cast<int>(height * scale));
  // The same figure has the same bytes, whenever it is drawn.
  constexpr int kCreationDate = 5;
  if (pdf && r.pdf_text != nullptr) r.pdf_text(surface, kCreationDate, "1970-01-01T00:00:00Z");
  void* cairo = r.create(surface);
  r.scale(cairo, scale, scale);
  const Rectangle viewport{0, 0, width, height};
  drawn = drawn && r.render(handle, cairo, &viewport, nullptr) != 0;
  r.destroy(cairo);
  if (!pdf) drawn = drawn && r.write_png(surface, append, &bytes) == 0;
  r.finish(surface);
  drawn = drawn && r.status(surface) == 0;
  r.destroy_surface(surface);
  r.unref(handle);
  if (!drawn) return failed();
  return bytes;
}

std::string ending(const std::filesystem::path& path) { return to_lower(path.extension().string()); }

}  // namespace

Result<void> check_figure_name(const std::filesystem::path& path) {
  const std::string end = ending(path);
  if (end == ".svg") return {};
  if (end == ".pdf" || end == ".png") {
    FATHOM_CHECK(load());
    return {};
  }
  return Error::usage(fmt::format("'{}' names no kind of figure", path.string()))
      .hint("let it end in .svg, .pdf or .png");
}

Result<void> write_figure(const std::filesystem::path& path, const std::string& svg) {
  FATHOM_CHECK(check_figure_name(path));
  if (ending(path) == ".svg") return write_file(path, svg);
  FATHOM_TRY(const std::string bytes, render(svg, ending(path) == ".pdf"));
  return write_file(path, bytes);
}

}  // namespace fathom
