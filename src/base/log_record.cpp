#include "base/log_record.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <iterator>

#include "fmt/format.h"

#include "base/go_duration.h"
#include "base/go_text.h"

namespace berth::base {
namespace {

constexpr std::string_view kLoggerKey = "logger";
constexpr std::size_t kTextUsual = 512;  // bytes that hold most lines

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

// The last one with its key: what came before under the same key does not count.
bool Counts(std::span<const LogField> fields, std::size_t index) {
  for (std::size_t later = index + 1; later < fields.size(); ++later) {
    if (fields[later].key == fields[index].key) return false;
  }
  return true;
}

const LogField* LoggerName(std::span<const LogField> fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].key == kLoggerKey && Counts(fields, i)) return &fields[i];
  }
  return nullptr;
}

// As encoding/json does: plain digits unless they would be very many; an exponent without a leading zero.
void AppendFloat(std::string& out, double value) {
  if (!std::isfinite(value)) return AppendQuotedGo(out, FormatGoFloat(value));
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e21);
  char buffer[64];
  const auto end = std::to_chars(buffer, std::end(buffer), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string digits(buffer, end.ptr);
  if (const std::size_t zero = digits.find("e-0"); zero != std::string::npos) digits.erase(zero + 2, 1);
  out += digits;
}

std::string ObjectText(const LogObject& object) {
  return object.namespace_.empty() ? std::string(object.name)
                                   : fmt::format("{}/{}", object.namespace_, object.name);
}

// Lines of a long text stay lines, indented so that nothing inside looks like its end.
void AppendTextString(std::string& out, std::string_view text) {
  if (!text.contains('\n')) return AppendQuotedGo(out, text);
  out += "<\n";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out += '\t';
    out += line;
    out += '\n';
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  out += " >";
}

void AppendList(std::string& out, std::span<const std::string> list, bool escape_html) {
  out += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ',';
    AppendQuotedJson(out, list[i], escape_html);
  }
  out += ']';
}

void AppendTextValue(std::string& out, const LogValue& value) {
  std::visit(Overloaded{
                 [&](bool v) { out += v ? "true" : "false"; },
                 [&](std::int64_t v) { fmt::format_to(std::back_inserter(out), "{}", v); },
                 [&](std::uint64_t v) { fmt::format_to(std::back_inserter(out), "{}", v); },
                 [&](double v) { AppendFloat(out, v); },
                 [&](std::string_view v) { AppendTextString(out, v); },
                 [&](Duration v) { AppendQuotedGo(out, FormatGoDuration(v)); },
                 [&](const LogObject& v) { AppendQuotedGo(out, ObjectText(v)); },
                 [&](const LogJson& v) { out += v.json; },
                 [&](std::span<const std::string> v) { AppendList(out, v, /*escape_html=*/true); },
             },
             value.any());
}

void AppendJsonObject(std::string& out, const LogObject& object) {
  out += R"({"name":)";
  AppendQuotedJson(out, object.name, /*escape_html=*/false);
  if (!object.namespace_.empty()) {
    out += R"(,"namespace":)";
    AppendQuotedJson(out, object.namespace_, /*escape_html=*/false);
  }
  out += '}';
}

void AppendJsonValue(std::string& out, const LogValue& value) {
  std::visit(Overloaded{
                 [&](bool v) { out += v ? "true" : "false"; },
                 [&](std::int64_t v) { fmt::format_to(std::back_inserter(out), "{}", v); },
                 [&](std::uint64_t v) { fmt::format_to(std::back_inserter(out), "{}", v); },
                 [&](double v) { AppendFloat(out, v); },
                 [&](std::string_view v) { AppendQuotedJson(out, v, /*escape_html=*/false); },
                 [&](Duration v) { AppendQuotedJson(out, FormatGoDuration(v), /*escape_html=*/false); },
                 [&](const LogObject& v) { AppendJsonObject(out, v); },
                 [&](const LogJson& v) { out += v.json; },
                 [&](std::span<const std::string> v) { AppendList(out, v, /*escape_html=*/false); },
             },
             value.any());
}

void AppendTextField(std::string& out, const LogField& field) {
  out += ' ';
  out += field.key;
  out += '=';
  AppendTextValue(out, field.value);
}

void AppendJsonField(std::string& out, const LogField& field) {
  out += ',';
  AppendQuotedJson(out, field.key, /*escape_html=*/false);
  out += ':';
  AppendJsonValue(out, field.value);
}

// "0102 15:04:05" of the second. A busy thread writes thousands of lines in one.
std::string_view LocalSecond(std::time_t unix_time) {
  thread_local std::time_t known = -1;
  thread_local std::string text;
  if (unix_time == known && !text.empty()) return text;
  std::tm local{};
  localtime_r(&unix_time, &local);
  text = fmt::format("{:02}{:02} {:02}:{:02}:{:02}", local.tm_mon + 1, local.tm_mday, local.tm_hour,
                     local.tm_min, local.tm_sec);
  known = unix_time;
  return text;
}

// The last `parts` elements of a path.
std::string_view PathEnd(std::string_view path, int parts) {
  std::size_t start = path.size();
  for (int i = 0; i < parts; ++i) {
    start = path.find_last_of('/', start - 1);
    if (start == std::string_view::npos || start == 0) return path;
  }
  return path.substr(start + 1);
}

}  // namespace

std::string FormatLogText(const LogRecord& record) {
  const auto since_epoch = record.time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const auto micros = std::chrono::floor<std::chrono::microseconds>(since_epoch - seconds).count();

  std::string out;
  out.reserve(kTextUsual);
  fmt::format_to(std::back_inserter(out), "{}{}.{:06} {:>7} {}:{}] ", static_cast<char>(record.severity),
                 LocalSecond(seconds.count()), micros, record.process_id, PathEnd(record.file, 1),
                 record.line);
  AppendQuotedGo(out, record.message);
  if (record.error.present()) AppendTextField(out, {"err", record.error.text()});
  if (const LogField* logger = LoggerName(record.fields)) AppendTextField(out, *logger);
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    if (record.fields[i].key != kLoggerKey && Counts(record.fields, i))
      AppendTextField(out, record.fields[i]);
  }
  out += '\n';
  return out;
}

std::string FormatLogJson(const LogRecord& record) {
  std::string out = R"({"ts":)";
  AppendFloat(out, static_cast<double>(record.time.time_since_epoch().count()) / 1e6);
  if (const LogField* logger = LoggerName(record.fields)) AppendJsonField(out, *logger);
  AppendJsonField(out, {"caller", fmt::format("{}:{}", PathEnd(record.file, 2), record.line)});
  AppendJsonField(out, {"msg", record.message});
  if (record.severity != Severity::kError && record.severity != Severity::kFatal) {
    AppendJsonField(out, {"v", record.verbosity});
  }
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    if (record.fields[i].key != kLoggerKey && Counts(record.fields, i))
      AppendJsonField(out, record.fields[i]);
  }
  if (record.error.present()) AppendJsonField(out, {"err", record.error.text()});
  out += "}\n";
  return out;
}

}  // namespace berth::base
