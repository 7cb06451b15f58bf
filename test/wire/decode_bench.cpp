#include <absl/container/flat_hash_set.h>
#include <benchmark/benchmark.h>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

#include "api/pod_record.h"
#include "wire/envelope.h"
#include "wire/json_document.h"
#include "wire/pod_reader.h"
#include "wire/realistic_pods.h"
#include "wire/schema.h"
#include "wire/transcode.h"

// How much it costs to take in a list of pods, until they are in a store by name. With BERTH_BENCH_DIR set
// the lists are files there, made if missing, so that another program can read the same bytes
// (tools/bench-decode).
namespace berth::wire {
namespace {

namespace fs = std::filesystem;

std::size_t PodCount() {
  const char* text = std::getenv("BERTH_BENCH_PODS");
  return text == nullptr ? 10'000 : std::stoul(text);
}

template <class T>
T OrDie(base::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

std::string JsonList() {
  std::string list = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)";
  for (std::size_t i = 0; i < PodCount(); ++i) {
    if (i > 0) list += ',';
    list += test::RealisticPods::Json(i);
  }
  return list + "]}\n";
}

void AppendField(std::string& out, char tag, std::string_view bytes) {
  out += tag;
  std::size_t length = bytes.size();
  for (; length >= 0x80; length >>= 7) out += static_cast<char>(length | 0x80);
  out += static_cast<char>(length);
  out += bytes;
}

std::string ProtobufList() {
  const Message& pod = *Schema::Get().FindMessage("core.v1.Pod");
  std::string list;
  AppendField(list, '\x0a',
              std::string_view("\x0a\x00\x12\x01"
                               "1\x1a\x00",
                               7));
  for (std::size_t i = 0; i < PodCount(); ++i) {
    const auto document = OrDie(ParseJson(test::RealisticPods::Json(i)));
    AppendField(list, '\x12', OrDie(DocumentToProtobuf(pod, document.as_object())));
  }
  return WriteEnvelope({.api_version = "v1", .kind = "PodList", .raw = list});
}

std::string Load(std::string_view name, std::string (*make)()) {
  const char* folder = std::getenv("BERTH_BENCH_DIR");
  if (folder == nullptr) return make();
  const fs::path path = fs::path(folder) / name;
  if (!fs::exists(path)) {
    const std::string made = make();
    std::ofstream(path, std::ios::binary).write(made.data(), static_cast<std::streamsize>(made.size()));
  }
  std::string bytes(fs::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Records by namespace and name, which the records themselves hold.
struct ByName {
  using Key = std::pair<std::string_view, std::string_view>;
  static Key Of(const std::unique_ptr<api::PodRecord>& record) { return {record->namespace_, record->name}; }

  struct Hash {
    std::size_t operator()(const std::unique_ptr<api::PodRecord>& record) const {
      const auto [name_space, name] = Of(record);
      return std::hash<std::string_view>()(name_space) * 31 + std::hash<std::string_view>()(name);
    }
  };
  struct Equal {
    bool operator()(const std::unique_ptr<api::PodRecord>& a,
                    const std::unique_ptr<api::PodRecord>& b) const {
      return Of(a) == Of(b);
    }
  };
};
using Store = absl::flat_hash_set<std::unique_ptr<api::PodRecord>, ByName::Hash, ByName::Equal>;

template <class Read>
void TakeIn(benchmark::State& state, Read read) {
  for (auto _ : state) {
    const double memory_before = ResidentBytes();
    const double cpu_before = CpuSeconds();
    api::SharedParts shared;
    Store store;
    {
      PodReader reader(shared);
      read(reader, [&](api::PodRecord&& record) {
        store.insert(std::make_unique<api::PodRecord>(std::move(record)));
      });
    }
    const double pods = static_cast<double>(store.size());
    state.counters["cpu_seconds"] = CpuSeconds() - cpu_before;
    state.counters["us_per_pod"] = (CpuSeconds() - cpu_before) * 1e6 / pods;
    state.counters["resident_bytes_per_pod"] = (ResidentBytes() - memory_before) / pods;
    state.counters["pods"] = pods;
  }
}

void PodListProtobuf(benchmark::State& state) {
  const std::string bytes = Load("pods.pb", ProtobufList);
  TakeIn(state, [&](PodReader& reader, const PodReader::Sink& sink) {
    OrDie(reader.ReadList(OrDie(ParseEnvelope(bytes)).raw, sink));
  });
}
BENCHMARK(PodListProtobuf)->Iterations(1)->Unit(benchmark::kMillisecond);

void PodListJson(benchmark::State& state) {
  const std::string text = Load("pods.json", JsonList);
  TakeIn(state,
         [&](PodReader& reader, const PodReader::Sink& sink) { OrDie(reader.ReadJsonList(text, sink)); });
}
BENCHMARK(PodListJson)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::wire
