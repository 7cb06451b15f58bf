#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "wire/json_text.h"

namespace berth::client {

// The text of an object, with its commas. Keys are not escaped; nothing is added after Finish.
class JsonObject {
 public:
  void Raw(std::string_view key, std::string_view json) {
    Begin(key);
    text_.append(json);
  }
  void Text(std::string_view key, std::string_view value) {
    Begin(key);
    wire::AppendJsonString(text_, value);
  }
  bool empty() const { return text_.size() == 1; }
  std::string Finish() { return std::move(text_ += '}'); }

 private:
  void Begin(std::string_view key) {
    text_ += empty() ? "\"" : ",\"";
    text_.append(key).append("\":");
  }

  std::string text_ = "{";
};

// The same of an array.
class JsonArray {
 public:
  void Raw(std::string_view json) {
    Begin();
    text_.append(json);
  }
  void Text(std::string_view value) {
    Begin();
    wire::AppendJsonString(text_, value);
  }
  std::string Finish() { return std::move(text_ += ']'); }

 private:
  void Begin() {
    if (text_.size() > 1) text_ += ',';
  }

  std::string text_ = "[";
};

}  // namespace berth::client
