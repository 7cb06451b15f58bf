#include <absl/strings/escaping.h>
#include <algorithm>
#include <boost/json.hpp>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <vector>

#include "api/quantity.h"
#include "api/time.h"
#include "base/check.h"
#include "wire/envelope.h"
#include "wire/json_document.h"
#include "wire/json_path.h"
#include "wire/proto_reader.h"
#include "wire/schema.h"
#include "wire/transcode.h"
#include "wire/typed_budget.h"

namespace berth::wire {
namespace {

namespace json = boost::json;

// Boost.JSON copies from the pointer even when there is nothing to copy, so it must not be null.
json::string_view View(std::string_view text) {
  return text.empty() ? json::string_view("") : json::string_view(text.data(), text.size());
}

// One message after the other, parents before children. A message is walked twice: first its fields are noted
// as they come, then they are put into the document in Go's order.
class DocumentReader {
 public:
  explicit DocumentReader(std::string_view bytes) : budget_(bytes.size()) {}

  bool Read(const Message& message, std::string_view bytes, json::object& out) {
    if (++depth_ > kNestingMax) return Fail("nested too deeply");
    const std::size_t occurrences_before = occurrences_.size();
    const std::size_t chains_before = chains_.size();
    chains_.resize(chains_before + message.fields.size());
    const bool good = Scan(message, bytes, chains_before) && Emit(message, chains_before, out);
    occurrences_.resize(occurrences_before);
    chains_.resize(chains_before);
    --depth_;
    return good;
  }

  base::Error TakeError() { return base::Error{std::move(error_)}; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // A field as it stood in the message; `next` is the next one of the same number.
  struct Occurrence {
    ProtoField field;
    std::size_t next = kNone;
  };
  struct Chain {
    std::size_t first = kNone;
    std::size_t last = kNone;
  };

  bool Scan(const Message& message, std::string_view bytes, std::size_t chains);
  bool Emit(const Message& message, std::size_t chains, json::object& out);
  bool EmitField(const Field& field, const Chain& chain, json::object& out);
  bool EmitOne(const Field& field, const Chain& chain, json::object& out);
  bool EmitList(const Field& field, const Chain& chain, json::object& out);
  bool EmitMap(const Field& field, const Chain& chain, json::object& out);

  bool Element(const Field& field, const ProtoField& in, json::value& out);
  bool Packed(const Field& field, std::string_view bytes, json::array& out);
  bool MapEntry(const Field& field, std::string_view bytes, std::string_view& key, ProtoField& value);
  bool Body(const Message& message, std::string_view bytes, json::value& out);
  bool SpecialBody(const Message& message, std::string_view bytes, json::value& out);
  bool StringList(std::string_view bytes, json::value& out);

  // The scalar fields 1 to 3 of a special form; later occurrences win.
  struct FormFields {
    std::uint64_t numbers[3] = {};
    std::optional<std::string_view> texts[3];
  };
  bool ReadForm(const Message& message, std::string_view bytes, FormFields& out);

  std::string_view Merged(const Chain& chain, std::string& scratch) const;

  bool Charge(std::size_t size) { return budget_.Take(size) || Fail(kGrowthError); }
  bool Fail(std::string_view what) {
    const std::string path = path_.ToString();
    error_ = path.empty() ? std::string(what) : fmt::format("{}: {}", path, what);
    return false;
  }
  bool Malformed(const char* what) { return Fail(fmt::format("malformed protobuf: {}", what)); }

  std::vector<Occurrence> occurrences_;  // of the messages that are being read, innermost last
  std::vector<Chain> chains_;            // per field of those messages
  GrowthBudget budget_;
  JsonPath path_;
  std::size_t depth_ = 0;
  std::string error_;
};

bool IsVarint(ValueKind kind) {
  return kind == ValueKind::kBool || kind == ValueKind::kInt32 || kind == ValueKind::kInt64;
}

json::value VarintValue(ValueKind kind, std::uint64_t number) {
  if (kind == ValueKind::kBool) return number != 0;
  if (kind == ValueKind::kInt32) return static_cast<std::int64_t>(static_cast<std::int32_t>(number));
  return static_cast<std::int64_t>(number);
}

// The reader leaves the parts of an earlier field that the wire type of this one does not have.
ProtoField WithoutLeftovers(ProtoField in) {
  if (in.wire == WireType::kVarint) in.bytes = {};
  if (in.wire == WireType::kBytes) in.varint = 0;
  return in;
}

bool DocumentReader::Scan(const Message& message, std::string_view bytes, std::size_t chains) {
  ProtoReader reader(bytes);
  for (ProtoField in; reader.Next(in);) {
    const Field* field = message.ByNumber(in.number);
    if (field == nullptr) continue;
    const bool packed = field->shape == Shape::kList && IsVarint(field->kind) && in.wire == WireType::kBytes;
    const bool varint = IsVarint(field->kind) && field->shape != Shape::kMap;
    if (!packed && in.wire != (varint ? WireType::kVarint : WireType::kBytes)) {
      const JsonPath::Step step(path_, field->name);
      return Malformed("wrong wire type");
    }
    Chain& chain = chains_[chains + static_cast<std::size_t>(field - message.fields.data())];
    const std::size_t index = occurrences_.size();
    occurrences_.push_back({WithoutLeftovers(in), kNone});
    (chain.first == kNone ? chain.first : occurrences_[chain.last].next) = index;
    chain.last = index;
  }
  return reader.ok() || Malformed(reader.error());
}

bool DocumentReader::Emit(const Message& message, std::size_t chains, json::object& out) {
  for (const Field* field : message.json_output_order) {
    const Chain chain = chains_[chains + static_cast<std::size_t>(field - message.fields.data())];
    if (field->inlined) {
      std::string scratch;
      if (!Read(*field->message, Merged(chain, scratch), out)) return false;
    } else if (!field->json_name.empty()) {
      const JsonPath::Step step(path_, field->json_name);
      if (!EmitField(*field, chain, out)) return false;
    }
  }
  return true;
}

bool DocumentReader::EmitField(const Field& field, const Chain& chain, json::object& out) {
  const bool absent = chain.first == kNone;
  if (absent && field.shape != Shape::kValue) {
    if (!field.omit_empty) out.emplace(View(field.json_name), nullptr);
    return true;
  }
  switch (field.shape) {
    case Shape::kList:
      return EmitList(field, chain, out);
    case Shape::kMap:
      return EmitMap(field, chain, out);
    default:
      return EmitOne(field, chain, out);
  }
}

// Several occurrences of one message are one message whose fields follow each other, so that their bytes may
// be put behind each other. Special forms replace themselves instead.
std::string_view DocumentReader::Merged(const Chain& chain, std::string& scratch) const {
  if (chain.first == kNone) return {};
  if (chain.first == chain.last) return occurrences_[chain.first].field.bytes;
  for (std::size_t at = chain.first; at != kNone; at = occurrences_[at].next) {
    scratch += occurrences_[at].field.bytes;
  }
  return scratch;
}

bool DocumentReader::EmitOne(const Field& field, const Chain& chain, json::object& out) {
  const ProtoField in = chain.last == kNone ? ProtoField{} : occurrences_[chain.last].field;
  const bool may_omit = field.omit_empty && field.shape == Shape::kValue;
  json::value value;
  if (field.kind == ValueKind::kMessage && field.message->form == SpecialForm::kNone) {
    std::string scratch;
    if (!Body(*field.message, Merged(chain, scratch), value)) return false;
  } else {
    const bool zero_scalar = in.bytes.empty() && in.varint == 0;
    if (may_omit && field.kind != ValueKind::kMessage && zero_scalar) return true;
    if (!Element(field, in, value)) return false;
    if (may_omit && value.is_null()) return true;
  }
  out.emplace(View(field.json_name), std::move(value));
  return true;
}

bool DocumentReader::EmitList(const Field& field, const Chain& chain, json::object& out) {
  json::array array;
  for (std::size_t at = chain.first; at != kNone; at = occurrences_[at].next) {
    const ProtoField in = occurrences_[at].field;
    if (IsVarint(field.kind) && in.wire == WireType::kBytes) {
      if (!Packed(field, in.bytes, array)) return false;
      continue;
    }
    const JsonPath::Step step(path_, array.size());
    json::value element;
    if (!Charge(sizeof element) || !Element(field, in, element)) return false;
    array.push_back(std::move(element));
  }
  // A packed list may be there and empty.
  if (array.empty()) {
    if (!field.omit_empty) out.emplace(View(field.json_name), nullptr);
    return true;
  }
  out.emplace(View(field.json_name), std::move(array));
  return true;
}

bool DocumentReader::Packed(const Field& field, std::string_view bytes, json::array& out) {
  ProtoReader reader(bytes);
  for (std::uint64_t number = 0; reader.NextVarint(number);) {
    if (!Charge(sizeof(json::value))) return false;
    out.push_back(VarintValue(field.kind, number));
  }
  return reader.ok() || Malformed(reader.error());
}

bool DocumentReader::MapEntry(const Field& field, std::string_view bytes, std::string_view& key,
                              ProtoField& value) {
  ProtoReader reader(bytes);
  for (ProtoField in; reader.Next(in);) {
    if (in.number > 2) continue;
    const bool varint = in.number == 2 && IsVarint(field.kind);
    if (in.wire != (varint ? WireType::kVarint : WireType::kBytes)) return Malformed("wrong wire type");
    if (in.number == 1) {
      key = in.bytes;
    } else {
      value = WithoutLeftovers(in);
    }
  }
  return reader.ok() || Malformed(reader.error());
}

bool DocumentReader::EmitMap(const Field& field, const Chain& chain, json::object& out) {
  std::vector<std::pair<std::string_view, ProtoField>> entries;
  for (std::size_t at = chain.first; at != kNone; at = occurrences_[at].next) {
    auto& [key, value] = entries.emplace_back();
    if (!MapEntry(field, occurrences_[at].field.bytes, key, value)) return false;
  }
  std::ranges::stable_sort(entries, {}, [](const auto& entry) { return entry.first; });
  json::object map;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [key, in] = entries[i];
    if (i + 1 < entries.size() && entries[i + 1].first == key) continue;  // the last of equal keys wins
    const auto step = JsonPath::Step::MapKey(path_, key);
    json::value value;
    if (!Charge(sizeof value) || !Element(field, in, value)) return false;
    map.emplace(View(key), std::move(value));
  }
  out.emplace(View(field.json_name), std::move(map));
  return true;
}

bool DocumentReader::Element(const Field& field, const ProtoField& in, json::value& out) {
  switch (field.kind) {
    case ValueKind::kString:
      out = View(in.bytes);
      return true;
    case ValueKind::kBytes:
      out = View(absl::Base64Escape({in.bytes.data(), in.bytes.size()}));
      return true;
    case ValueKind::kBool:
    case ValueKind::kInt32:
    case ValueKind::kInt64:
      out = VarintValue(field.kind, in.varint);
      return true;
    case ValueKind::kMessage:
      return Body(*field.message, in.bytes, out);
    case ValueKind::kDouble:
      break;
  }
  BERTH_CHECK(false);  // no message has one; a test of the schema says so
  return false;
}

bool DocumentReader::Body(const Message& message, std::string_view bytes, json::value& out) {
  if (message.form == SpecialForm::kStringList) return StringList(bytes, out);
  if (message.form != SpecialForm::kNone) return SpecialBody(message, bytes, out);
  json::object object;
  // An empty message may still have keys for its zero fields.
  if (!Charge(message.fields.size() * 8) || !Read(message, bytes, object)) return false;
  out = std::move(object);
  return true;
}

bool DocumentReader::ReadForm(const Message& message, std::string_view bytes, FormFields& out) {
  ProtoReader reader(bytes);
  for (ProtoField in; reader.Next(in);) {
    const Field* field = message.ByNumber(in.number);
    if (field == nullptr) continue;
    if (in.wire != (IsVarint(field->kind) ? WireType::kVarint : WireType::kBytes)) {
      return Malformed("wrong wire type");
    }
    out.numbers[in.number - 1] = in.varint;
    out.texts[in.number - 1] = in.bytes;
  }
  return reader.ok() || Malformed(reader.error());
}

bool DocumentReader::SpecialBody(const Message& message, std::string_view bytes, json::value& out) {
  FormFields fields;
  if (!ReadForm(message, bytes, fields)) return false;
  const auto seconds = static_cast<std::int64_t>(fields.numbers[0]);
  switch (message.form) {
    case SpecialForm::kTime: {
      const api::Time time{bytes.empty() ? api::Time::kZeroSeconds : seconds};
      if (!time.IsZero()) out = View(api::FormatTime(time));
      return true;
    }
    case SpecialForm::kMicroTime: {
      const auto nanos = static_cast<std::int32_t>(fields.numbers[1]);
      const std::int64_t limit = 1'000'000'000'000;  // beyond any year that RFC 3339 can write
      if (seconds < -limit || seconds > limit) return Fail("time out of range");
      const api::MicroTime time{(bytes.empty() ? api::Time::kZeroSeconds : seconds) * 1'000'000 +
                                nanos / 1000};
      if (!time.IsZero()) out = View(api::FormatMicroTime(time));
      return true;
    }
    case SpecialForm::kQuantity: {
      if (!fields.texts[0]) {
        out = "0";
        return true;
      }
      const auto quantity = api::Quantity::Parse(*fields.texts[0]);
      if (!quantity) return Fail(api::Quantity::ParseErrorText(quantity.error()));
      out = View(quantity->ToString());
      return true;
    }
    case SpecialForm::kIntOrString:
      if (fields.numbers[0] > 1) return Fail("impossible IntOrString.Type");
      if (fields.numbers[0] == 0) {
        out = static_cast<std::int64_t>(static_cast<std::int32_t>(fields.numbers[1]));
      } else {
        out = View(fields.texts[2].value_or(std::string_view()));
      }
      return true;
    default: {
      BERTH_DCHECK(message.form == SpecialForm::kRawJson);
      const std::string_view text = fields.texts[0].value_or(std::string_view());
      if (text.empty()) return true;
      base::Result<json::value> parsed = ParseJson(text);
      if (!parsed) return Fail(parsed.error().message);
      out = std::move(*parsed);
      return true;
    }
  }
}

bool DocumentReader::StringList(std::string_view bytes, json::value& out) {
  json::array strings;
  ProtoReader reader(bytes);
  for (ProtoField in; reader.Next(in);) {
    if (in.number != 1) continue;
    if (in.wire != WireType::kBytes) return Malformed("wrong wire type");
    if (!Charge(sizeof(json::value))) return false;
    strings.emplace_back(View(in.bytes));
  }
  if (!reader.ok()) return Malformed(reader.error());
  if (!strings.empty()) out = std::move(strings);
  return true;
}

}  // namespace

base::Result<json::object> ProtobufToDocument(const Message& message, std::string_view bytes) {
  json::object document;
  DocumentReader reader(bytes);
  if (!reader.Read(message, bytes, document)) return std::unexpected(reader.TakeError());
  return document;
}

base::Result<json::object> EnvelopeToDocument(std::string_view body) {
  const base::Result<Envelope> envelope = ParseEnvelope(body);
  if (!envelope) return std::unexpected(envelope.error());
  const KindInfo* kind = Schema::Get().FindKind(envelope->api_version, envelope->kind);
  if (kind == nullptr) {
    return base::Fail(fmt::format("no kind \"{}\" is registered for version \"{}\"", envelope->kind,
                                  envelope->api_version));
  }
  json::object document;
  document.emplace("kind", View(envelope->kind));
  document.emplace("apiVersion", View(envelope->api_version));
  DocumentReader reader(envelope->raw);
  if (!reader.Read(*kind->message, envelope->raw, document)) return std::unexpected(reader.TakeError());
  return document;
}

}  // namespace berth::wire
