#include "formats/ovni/ovni_format.hpp"

#include "formats/ovni/ovni_dataset.hpp"

namespace fathom::ovni {

namespace {

Match recognise(const Source& source) {
  if (!looks_like_trace(source.path())) return {};
  if (source.is_directory()) return {Confidence::certain, "holds streams of events with their metadata"};
  return {Confidence::likely, "is the stream of a thread"};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  FATHOM_TRY(NativeTrace native, open_native(source.path(), work));
  return DatasetPtr(std::make_unique<OvniDataset>(format(), source.path(), work, std::move(native)));
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "ovni",
                              .title = "ovni trace",
                              .extensions = "",
                              .can = {{Level::trace}, {}},
                              .recognise = recognise,
                              .open = open,
                              .write = nullptr};
  return kFormat;
}

}  // namespace fathom::ovni
