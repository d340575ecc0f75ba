#include "formats/ovni/ovni_format.hpp"

#include <fmt/format.h>

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

std::string effect_text(const EventDef& def) {
  const std::string_view verb = def.effect == Effect::push || def.effect == Effect::kernel_out ? "push"
                                : def.effect == Effect::pop || def.effect == Effect::kernel_in ? "pop"
                                : def.effect == Effect::set                                    ? "set"
                                                                                               : "";
  if (verb.empty() || def.channel < 0) return "";
  const ChannelDef& channel = model_info(def.model).channels[static_cast<std::size_t>(def.channel)];
  return fmt::format("{} {} {} ({})", channel.name, verb, def.value, find_label(channel.type, def.value));
}

std::vector<CatalogueEntry> catalogue() {
  std::vector<CatalogueEntry> entries;
  for (const EventDef& def : all_events()) {
    entries.push_back({std::string(def.mcv), std::string(model_info(def.model).name), std::string(def.arguments),
                       std::string(def.sentence), effect_text(def)});
  }
  return entries;
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "ovni",
                              .title = "ovni trace",
                              .extensions = "",
                              .can = {{Level::trace}, {}},
                              .recognise = recognise,
                              .open = open,
                              .write = nullptr,
                              .catalogue = catalogue};
  return kFormat;
}

}  // namespace fathom::ovni
