#include "formats/ovni/ovni_format.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "formats/ovni/models.hpp"
#include "formats/ovni/ovni_dataset.hpp"
#include "formats/ovni/trace_writer.hpp"
#include "io/opened_files.hpp"

namespace fathom::ovni {

namespace {

// Streams are found at any depth and under any name, so that a directory of traces looks like a trace. The names that
// the library gives tell them apart.
bool has_usual_names(const std::filesystem::path& directory) {
  std::error_code status;
  for (std::filesystem::directory_iterator it(directory, status), end; !status && it != end; it.increment(status)) {
    const std::string name = it->path().filename().string();
    for (const char* usual : {"loom.", "proc.", "thread.", "stream.", "metadata.json"}) {
      if (name.starts_with(usual)) return true;
    }
  }
  return false;
}

Match recognise(const Source& source) {
  if (!looks_like_trace(source.path())) return {};
  if (source.is_directory()) {
    return {has_usual_names(source.path()) ? Confidence::certain : Confidence::likely,
            "holds streams of events with their metadata"};
  }
  return {Confidence::likely, "is the stream of a thread"};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  FATHOM_TRY(NativeTrace native, open_native(source.path(), work));
  expect_inputs(native.root, "ovni", is_trace_file);
  return DatasetPtr(std::make_unique<OvniDataset>(format(), source.path(), work, std::move(native)));
}

// What the models do with it, for people.
std::string effect_text(const EventDef& def) {
  const auto on_channel = [&](std::string_view verb) {
    const ChannelDef& channel = model_info(def.model).channels[static_cast<std::size_t>(def.channel)];
    return fmt::format("{} {} {} ({})", channel.name, verb, def.value, find_label(channel.type, def.value));
  };
  switch (def.effect) {
    case Effect::push:
      return on_channel("push");
    case Effect::pop:
      return on_channel("pop");
    case Effect::set:
    case Effect::flush_begin:
      return on_channel("set");
    case Effect::kernel_out:
      return on_channel("push") + ", out of the CPU";
    case Effect::kernel_in:
      return on_channel("pop") + ", back on the CPU";
    case Effect::flush_end:
      return "flush set to nothing";
    case Effect::thread_execute:
      return "thread Running, on the CPU";
    case Effect::thread_end:
      return "thread Dead, leaves its CPU";
    case Effect::thread_pause:
      return "thread Paused";
    case Effect::thread_resume:
      return "thread Running";
    case Effect::thread_cool:
      return "thread Cooling";
    case Effect::thread_warm:
      return "thread Warming";
    case Effect::affinity_set:
      return "thread moves to the CPU";
    case Effect::affinity_remote:
      return "the named thread moves to the CPU";
    case Effect::burst:
      return "counted; every 100 give statistics";
    case Effect::mark_push:
      return "mark push";
    case Effect::mark_pop:
      return "mark pop";
    case Effect::mark_set:
      return "mark set";
    case Effect::type_create:
      return "new task type";
    case Effect::task_create:
      return "new task";
    case Effect::task_create_parallel:
      return "new task with several bodies";
    case Effect::task_execute:
      return "body Running, on the thread's stack";
    case Effect::task_end:
      return "body Dead, off the thread's stack";
    case Effect::task_pause:
      return "body Paused";
    case Effect::task_resume:
      return "body Running";
    case Effect::work_enter:
      return "label push (that of the type)";
    case Effect::work_leave:
      return "label pop (that of the type)";
    case Effect::counters:
      return "all hardware counters set";
    case Effect::obsolete:
      return "obsolete: ignored with a warning";
    case Effect::none:
      return "";
  }
  return "";
}

std::vector<CatalogueEntry> catalogue() {
  std::vector<CatalogueEntry> entries;
  for (const EventDef& def : all_events()) {
    entries.push_back({std::string(def.mcv), std::string(model_info(def.model).name), std::string(def.arguments),
                       std::string(def.sentence), effect_text(def)});
  }
  return entries;
}

// Events of other traces have no counterpart here.
Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options) {
  auto* const trace = dynamic_cast<OvniDataset*>(&dataset);
  if (trace == nullptr) {
    return Error::usage(
        fmt::format("{} data cannot be written as ovni: only an ovni trace can", dataset.format().name));
  }
  auto status = trace->rewrite(target, options);
  if (!status) return std::move(status).error();
  return {};
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "ovni",
                              .title = "ovni trace",
                              .extensions = "",
                              .can = {{Level::trace}, {Level::trace}},
                              .recognise = recognise,
                              .open = open,
                              .write = write,
                              .catalogue = catalogue,
                              .options = {.writing = {&kLayout}}};
  return kFormat;
}

}  // namespace fathom::ovni
