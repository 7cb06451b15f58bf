// The expressions and devices of a file, each expression a benchmark: the counterpart of the program in Go
// that reads the same file.

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cel/compiler.h"

namespace berth::cel {
namespace {

struct PeerDevice {
  std::string driver;
  api::Device device;
};

struct PeerCases {
  std::vector<std::pair<std::string, std::string>> expressions;  // name and text
  std::vector<PeerDevice> devices;
};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void SetAttribute(api::DeviceAttribute& attribute, const std::string& kind, const std::string& value) {
  if (kind == "bool") {
    attribute.bool_value = value == "true";
  } else if (kind == "int") {
    attribute.int_value = std::stoll(value);
  } else if (kind == "string") {
    attribute.string_value = value;
  } else if (kind == "version") {
    attribute.version = value;
  } else if (kind == "strings") {
    attribute.strings = Split(value, ',');
  } else {
    throw std::invalid_argument("no kind of attribute: " + kind);
  }
}

PeerCases ReadCases(const char* path) {
  PeerCases cases;
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(std::string("cannot read ") + path);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = Split(line, '\t');
    if (fields.size() != 3) continue;
    if (fields[0] == "expression") {
      cases.expressions.emplace_back(fields[1], fields[2]);
    } else if (fields[0] == "device") {
      cases.devices.push_back({fields[2], {}});
    } else if (fields[0] == "capacity") {
      cases.devices.back().device.capacity[fields[1]].value = api::Quantity::Parse(fields[2]).value();
    } else {
      SetAttribute(cases.devices.back().device.attributes[fields[1]], fields[0], fields[2]);
    }
  }
  return cases;
}

// A letter per device: yes, no, or an error.
std::string Letters(const Program& program, const std::vector<DeviceView>& views) {
  std::string letters;
  for (const DeviceView& view : views) {
    const auto outcome = program.Evaluate(view);
    letters += !outcome.value ? 'e' : *outcome.value ? 'y' : 'n';
  }
  return letters;
}

std::vector<DeviceView> ViewsOf(const PeerCases& cases) {
  std::vector<DeviceView> views;
  for (const PeerDevice& each : cases.devices) views.emplace_back(each.driver, each.device);
  return views;
}

void EvaluateCase(benchmark::State& state, const std::shared_ptr<const PeerCases>& cases,
                  const std::string& text) {
  const auto program = CompileExpression(text, ExpressionKind::kSelector).value();
  const std::vector<DeviceView> views = ViewsOf(*cases);
  state.SetLabel(Letters(*program, views));
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(program->Evaluate(views[next]));
    if (++next == views.size()) next = 0;
  }
}

// What is done once per shape of a device, for the side that does it in every evaluation.
void ConvertCase(benchmark::State& state, const std::shared_ptr<const PeerCases>& cases) {
  std::size_t next = 0;
  for (auto _ : state) {
    const PeerDevice& each = cases->devices[next];
    benchmark::DoNotOptimize(DeviceView(each.driver, each.device));
    if (++next == cases->devices.size()) next = 0;
  }
}

// Nothing without the file: then the other benchmarks of the room run alone.
const bool kIsRegistered = [] {
  const char* const path = std::getenv("BERTH_BENCH_CASES");
  if (path == nullptr) return false;
  const auto cases = std::make_shared<const PeerCases>(ReadCases(path));
  for (const auto& [name, text] : cases->expressions) {
    benchmark::RegisterBenchmark(("Peer/" + name).c_str(), EvaluateCase, cases, text);
  }
  benchmark::RegisterBenchmark("PeerConvert", ConvertCase, cases);
  return true;
}();

}  // namespace
}  // namespace berth::cel
