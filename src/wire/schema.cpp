#include "wire/schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "base/check.h"
#include "wire/field_table.h"

namespace berth::wire {
namespace {

// The columns of fields.tsv.
enum Column {
  kMessageName,
  kFieldName,
  kNumber,
  kWire,
  kType,
  kJson,
  kPresence,
  kEmpty,
  kPatch,
  kUsed,
  kColumns
};
using Row = std::array<std::string_view, kColumns>;

// Cuts the text before `separator` off the front of `rest`.
std::string_view TakeUntil(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return taken;
}

std::vector<Row> Rows(std::string_view table) {
  std::vector<Row> rows;
  TakeUntil(table, '\n');  // the names of the columns
  while (!table.empty()) {
    std::string_view line = TakeUntil(table, '\n');
    Row& row = rows.emplace_back();
    for (std::string_view& cell : row) cell = TakeUntil(line, '\t');
    BERTH_CHECK(line.empty() && !row[kUsed].empty());
  }
  return rows;
}

ValueKind KindOfType(std::string_view type) {
  static constexpr std::pair<std::string_view, ValueKind> kScalars[] = {
      {"string", ValueKind::kString}, {"bytes", ValueKind::kBytes}, {"bool", ValueKind::kBool},
      {"int32", ValueKind::kInt32},   {"int64", ValueKind::kInt64}, {"double", ValueKind::kDouble},
  };
  for (const auto& [name, kind] : kScalars) {
    if (name == type) return kind;
  }
  return ValueKind::kMessage;
}

// "merge", "merge:name", "merge,retainKeys:name", "replace", "retainKeys", "-".
PatchRule ParsePatch(std::string_view text) {
  PatchRule rule;
  std::string_view strategies = TakeUntil(text, ':');
  rule.merge_key = text;
  while (!strategies.empty()) {
    const std::string_view strategy = TakeUntil(strategies, ',');
    if (strategy == "merge") rule.merge = true;
    if (strategy == "retainKeys") rule.retain_keys = true;
    if (strategy == "replace") rule.replace = true;
  }
  return rule;
}

Shape ParseShape(std::string_view presence) {
  if (presence == "pointer") return Shape::kPointer;
  if (presence == "list") return Shape::kList;
  if (presence == "map") return Shape::kMap;
  BERTH_CHECK(presence == "value");
  return Shape::kValue;
}

std::string_view ElementType(std::string_view type) {
  static constexpr std::string_view kRepeated = "repeated ";
  static constexpr std::string_view kMap = "map<string,";
  if (type.starts_with(kRepeated)) return type.substr(kRepeated.size());
  if (type.starts_with(kMap)) return type.substr(kMap.size(), type.size() - kMap.size() - 1);
  return type;
}

SpecialForm FormOf(const Row& row) {
  static constexpr std::pair<std::string_view, SpecialForm> kForms[] = {
      {"meta.v1.Time", SpecialForm::kTime},
      {"meta.v1.MicroTime", SpecialForm::kMicroTime},
      {"resource.Quantity", SpecialForm::kQuantity},
      {"intstr.IntOrString", SpecialForm::kIntOrString},
      {"runtime.RawExtension", SpecialForm::kRawJson},
      {"meta.v1.FieldsV1", SpecialForm::kRawJson},
  };
  for (const auto& [name, form] : kForms) {
    if (name == row[kMessageName]) return form;
  }
  const bool named_list = row[kJson] == "(inline)" && row[kPresence] == "list";
  return named_list ? SpecialForm::kStringList : SpecialForm::kNone;
}

// "" for messages that belong to no group of the API.
std::string_view ApiVersionOf(std::string_view package) {
  static constexpr std::pair<std::string_view, std::string_view> kPackages[] = {
      {"apps.v1", "apps/v1"},
      {"authentication.v1", "authentication.k8s.io/v1"},
      {"authorization.v1", "authorization.k8s.io/v1"},
      {"batch.v1", "batch/v1"},
      {"coordination.v1", "coordination.k8s.io/v1"},
      {"core.v1", "v1"},
      {"discovery.v1", "discovery.k8s.io/v1"},
      {"events.v1", "events.k8s.io/v1"},
      {"meta.v1", "meta.k8s.io/v1"},
      {"policy.v1", "policy/v1"},
      {"rbac.v1", "rbac.authorization.k8s.io/v1"},
      {"resource.v1", "resource.k8s.io/v1"},
      {"scheduling.v1", "scheduling.k8s.io/v1"},
      {"scheduling.v1alpha3", "scheduling.k8s.io/v1alpha3"},
      {"scheduling.v1beta1", "scheduling.k8s.io/v1beta1"},
      {"storage.v1", "storage.k8s.io/v1"},
  };
  for (const auto& [name, api_version] : kPackages) {
    if (name == package) return api_version;
  }
  return "";
}

// Kinds are the messages with metadata, but for the templates that are only parts of other kinds.
bool IsKind(const Message& message) {
  if (message.name == "meta.v1.DeleteOptions") return true;
  if (message.name.ends_with("TemplateSpec") || message.name == "core.v1.PersistentVolumeClaimTemplate")
    return false;
  return std::ranges::any_of(message.fields, [](const Field& field) {
    return field.json_name == "metadata" && field.message != nullptr &&
           (field.message->name == "meta.v1.ObjectMeta" || field.message->name == "meta.v1.ListMeta");
  });
}

Field MakeField(const Row& row, const Message* element) {
  Field field;
  field.name = row[kFieldName];
  const std::string_view number = row[kNumber];
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), field.number);
  BERTH_CHECK(parsed.ec == std::errc() && parsed.ptr == number.data() + number.size());
  field.kind = KindOfType(ElementType(row[kType]));
  BERTH_CHECK((field.kind == ValueKind::kMessage) == (element != nullptr));
  field.message = element;
  field.shape = ParseShape(row[kPresence]);
  field.inlined = row[kJson] == "(inline)" && field.kind == ValueKind::kMessage;
  if (row[kJson] != "(inline)" && row[kJson] != "-") field.json_name = row[kJson];
  field.omit_empty = row[kEmpty] == "omit";
  field.used = row[kUsed] == "y";
  if (row[kPatch] != "-") field.patch = ParsePatch(row[kPatch]);
  return field;
}

void IndexJsonKeys(Message& message) {
  for (const Field& field : message.fields) {
    if (!field.json_name.empty()) message.json_keys.push_back({field.json_name, &field, nullptr});
    if (!field.inlined) continue;
    for (const Field& inner : field.message->fields) {
      BERTH_CHECK(!inner.inlined);  // JsonKey reaches through one level
      message.json_keys.push_back({inner.json_name, &inner, &field});
    }
  }
  std::ranges::sort(message.json_keys, {}, &Message::JsonKey::key);
}

}  // namespace

const Field* Message::ByNumber(std::uint32_t number) const {
  // Numbers are dense in nearly every message: field n is mostly at n - 1.
  if (number - 1 < fields.size() && fields[number - 1].number == number) return &fields[number - 1];
  const auto it = std::ranges::lower_bound(fields, number, {}, &Field::number);
  return it != fields.end() && it->number == number ? &*it : nullptr;
}

const Message::JsonKey* Message::ByJsonKey(std::string_view key) const {
  const auto it = std::ranges::lower_bound(json_keys, key, {}, &JsonKey::key);
  return it != json_keys.end() && it->key == key ? &*it : nullptr;
}

const Schema& Schema::Get() {
  static const Schema schema;
  return schema;
}

const Message* Schema::FindMessage(std::string_view name) const {
  const auto it = std::ranges::lower_bound(messages_, name, {}, &Message::name);
  return it != messages_.end() && it->name == name ? &*it : nullptr;
}

const KindInfo* Schema::FindKind(std::string_view api_version, std::string_view kind) const {
  const auto key = [](const KindInfo& info) { return std::pair(info.api_version, info.kind); };
  const auto it = std::ranges::lower_bound(kinds_, std::pair(api_version, kind), {}, key);
  return it != kinds_.end() && key(*it) == std::pair(api_version, kind) ? &*it : nullptr;
}

Schema::Schema() {
  const std::vector<Row> rows = Rows(kFieldTable);
  std::map<std::string_view, SpecialForm> forms;
  for (const Row& row : rows) forms.try_emplace(row[kMessageName], FormOf(row));
  for (const auto& [name, form] : forms) {
    Message& message = messages_.emplace_back();
    message.name = name;
    message.form = form;
  }
  // From here on messages_ does not grow, so fields may point into it.
  const auto find = [this](std::string_view name) { return const_cast<Message*>(FindMessage(name)); };
  for (const Row& row : rows) {
    if (row[kNumber] == "-") continue;  // an empty message
    find(row[kMessageName])->fields.push_back(MakeField(row, find(ElementType(row[kType]))));
  }
  for (Message& message : messages_) {
    std::vector<std::uint32_t> declared;
    declared.reserve(message.fields.size());
    for (const Field& field : message.fields) declared.push_back(field.number);
    std::ranges::sort(message.fields, {}, &Field::number);
    for (const std::uint32_t number : declared) message.json_output_order.push_back(message.ByNumber(number));
  }
  for (Message& message : messages_) {
    if (message.form == SpecialForm::kNone) IndexJsonKeys(message);
    message.has_type_meta = IsKind(message);
  }
  AddKinds();
}

void Schema::AddKinds() {
  const Message* delete_options = FindMessage("meta.v1.DeleteOptions");
  std::vector<std::string_view> api_versions;
  for (const Message& message : messages_) {
    if (!message.has_type_meta || &message == delete_options) continue;
    const std::size_t dot = message.name.rfind('.');
    const std::string_view kind = message.name.substr(dot + 1);
    // Status belongs to every group and always travels as v1.
    const std::string_view api_version = kind == "Status" ? "v1" : ApiVersionOf(message.name.substr(0, dot));
    BERTH_CHECK(!api_version.empty());
    kinds_.push_back({api_version, kind, &message});
    api_versions.push_back(api_version);
  }
  // Clients send DeleteOptions under the version of the group they are talking to.
  std::ranges::sort(api_versions);
  const auto repeated = std::ranges::unique(api_versions);
  api_versions.erase(repeated.begin(), repeated.end());
  for (const std::string_view api_version : api_versions) {
    kinds_.push_back({api_version, "DeleteOptions", delete_options});
  }
  std::ranges::sort(kinds_, {}, [](const KindInfo& info) { return std::pair(info.api_version, info.kind); });
}

}  // namespace berth::wire
