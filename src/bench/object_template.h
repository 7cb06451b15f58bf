#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "bench/text_template.h"

namespace berth::wire {
struct Message;
}  // namespace berth::wire

namespace berth::bench {

// A file that objects are made from. Read and parsed once; a file without actions is also decoded once.
class ObjectTemplate {
 public:
  // `kind` is what the file is decoded as, strictly, with keys in any case; null: the server looks at it.
  // `expands`: whether it is a text template, too.
  static base::Result<ObjectTemplate> Load(const std::filesystem::path& path, const wire::Message* kind,
                                           bool expands = true);
  static base::Result<ObjectTemplate> Parse(std::string_view text, const wire::Message* kind,
                                            bool expands = true);

  // Errors name the file.
  base::Result<boost::json::object> Make(const boost::json::object& data) const;

 private:
  base::Result<boost::json::object> Decode(std::string_view text) const;

  std::string name_;
  const wire::Message* kind_ = nullptr;
  std::optional<TextTemplate> template_;  // nothing: the document is the same each time
  boost::json::object document_;
};

// Writes the keys as the kind has them and turns scalars into text where the kind has text; fails on a key
// that the kind does not have.
base::Result<void> DecodeStrictly(const wire::Message& kind, boost::json::object& document);

}  // namespace berth::bench
