#include "sandbox/media.h"

#include <boost/json.hpp>
#include <optional>

#include "sandbox/text_parts.h"
#include "wire/json_document.h"
#include "wire/transcode.h"
#include "wire/yaml.h"

namespace berth::sandbox {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kYamlType = "application/yaml";
constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
constexpr std::string_view kAccepted =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

// Streams have names of their own in this list, though nobody asks by them.
constexpr std::string_view kRepresentations =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf, "
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

std::optional<MediaType> MediaOf(std::string_view type) {
  if (type == kJsonType || type == "*/*" || type == "application/*") return MediaType::kJson;
  if (type == kYamlType) return MediaType::kYaml;
  if (type == kProtobufType) return MediaType::kProtobuf;
  return std::nullopt;
}

// Nothing if this alternative is one that is not served.
std::optional<AnswerForm> FormOf(const AcceptClause& clause, bool is_watch) {
  const std::optional<MediaType> media = MediaOf(clause.type);
  if (!media) return std::nullopt;
  AnswerForm form{*media, Shape::kObject};
  const std::string_view as = clause.parameter("as");
  if (as == "Table") form.shape = Shape::kTable;
  if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") form.shape = Shape::kMetadata;
  if (!as.empty()) {
    const bool known = form.shape != Shape::kObject && clause.parameter("g") == "meta.k8s.io" &&
                       clause.parameter("v") == "v1";
    // Tables have no protobuf form.
    if (!known || (form.shape == Shape::kTable && *media == MediaType::kProtobuf)) return std::nullopt;
  }
  if (is_watch && *media == MediaType::kYaml) return std::nullopt;  // YAML has no framing
  return form;
}

}  // namespace

std::string_view AcceptClause::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

std::vector<AcceptClause> ParseAccept(std::string_view header) {
  std::vector<AcceptClause> clauses;
  for (const std::string_view part : SplitText(header, ',')) {
    AcceptClause clause;
    for (const std::string_view piece : SplitText(part, ';')) {
      const std::string_view text = TrimText(piece);
      if (clause.type.empty()) {
        clause.type = LowerCase(text);
      } else if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
        clause.parameters.emplace_back(text.substr(0, equals), text.substr(equals + 1));
      }
    }
    if (!clause.type.empty()) clauses.push_back(std::move(clause));
  }
  return clauses;
}

ApiResult<AnswerForm> NegotiateAnswer(const std::string* accept, bool is_watch) {
  if (accept == nullptr || TrimText(*accept).empty()) return AnswerForm();
  for (const AcceptClause& clause : ParseAccept(*accept)) {
    if (const std::optional<AnswerForm> form = FormOf(clause, is_watch)) return *form;
  }
  return Refuse(NotAcceptable(kRepresentations));
}

AnswerForm NegotiateError(const std::string* accept) {
  const ApiResult<AnswerForm> form = NegotiateAnswer(accept, false);
  return form ? AnswerForm{form->media, Shape::kObject} : AnswerForm();
}

std::string_view ContentType(MediaType media) {
  switch (media) {
    case MediaType::kJson:
      return kJsonType;
    case MediaType::kYaml:
      return kYamlType;
    case MediaType::kProtobuf:
      return kProtobufType;
  }
  return kJsonType;
}

std::string BareType(std::string_view content_type) {
  return LowerCase(TrimText(content_type.substr(0, content_type.find(';'))));
}

ApiResult<MediaType> BodyType(const std::string* content_type) {
  if (content_type == nullptr || TrimText(*content_type).empty()) return MediaType::kJson;
  const std::string type = BareType(*content_type);
  const std::optional<MediaType> media = MediaOf(type);
  if (!media || type.find('*') != std::string::npos) return Refuse(UnsupportedMediaType(kAccepted));
  return *media;
}

std::pair<MediaType, std::string> EncodeDocument(const boost::json::object& document, MediaType media) {
  if (media == MediaType::kYaml) return {media, wire::WriteYaml(document)};
  if (media == MediaType::kProtobuf) {
    if (base::Result<std::string> bytes = wire::DocumentToEnvelope(document))
      return {media, std::move(*bytes)};
  }
  std::string text = wire::WriteJson(document);
  text += '\n';
  return {MediaType::kJson, std::move(text)};
}

}  // namespace berth::sandbox
