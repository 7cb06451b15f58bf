#include "sandbox/answer.h"

#include <boost/json.hpp>

#include "net/gzip.h"
#include "wire/json_document.h"
#include "wire/yaml.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// kube-apiserver's bound: below it packing costs more than it saves.
constexpr std::size_t kCompressFrom = 128 * 1024;

net::Headers HeadersFor(std::string_view content_type) {
  return net::Headers{{"Cache-Control", "no-cache, private"}, {"Content-Type", std::string(content_type)}};
}

}  // namespace

Answer TextAnswer(int code, std::string text, std::string_view content_type) {
  return {code, HeadersFor(content_type), net::MakeBody(std::move(text))};
}

Answer DocumentAnswer(int code, const json::object& document, MediaType media) {
  auto [made, bytes] = EncodeDocument(document, media);
  return TextAnswer(code, std::move(bytes), ContentType(made));
}

Answer ObjectAnswer(int code, const Resource& served, const Revision& object, MediaType media) {
  switch (media) {
    case MediaType::kYaml:
      return DocumentAnswer(code, ServedDocument(served, object), media);
    case MediaType::kProtobuf:
      return TextAnswer(code, ObjectEnvelope(served, object), ContentType(media));
    case MediaType::kJson:
      break;
  }
  return {code, HeadersFor(ContentType(media)), net::Body{ObjectJson(served, object)}};
}

Answer ListAnswer(const Resource& served, std::span<const RevisionPtr> items, const ListHead& head,
                  MediaType media) {
  if (media == MediaType::kProtobuf) {
    return TextAnswer(200, ListEnvelope(served, items, head), ContentType(media));
  }
  std::string text = ListJson(served, items, head);
  if (media == MediaType::kJson) return TextAnswer(200, std::move(text), ContentType(media));
  const base::Result<json::value> document = wire::ParseJson(text);
  return TextAnswer(200, wire::WriteYaml(*document), ContentType(media));
}

Answer ErrorAnswer(const StatusError& error, MediaType media) {
  Answer answer = DocumentAnswer(error.code, StatusDocument(error), media);
  if (error.retry_after_seconds > 0) {
    answer.headers.Set("Retry-After", std::to_string(error.retry_after_seconds));
  }
  return answer;
}

void CompressIfLarge(Answer& answer, const net::Headers& request) {
  const std::size_t size = net::SizeOf(answer.body);
  if (size < kCompressFrom || !net::AcceptsGzip(request)) return;
  std::string whole;
  whole.reserve(size);
  for (const net::Buffer& part : answer.body) whole += *part;
  answer.body = net::MakeBody(net::Gzip(whole));
  answer.headers.Set("Content-Encoding", "gzip");
  answer.headers.Set("Vary", "Accept-Encoding");
}

void AddWarnings(Answer& answer, std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) {
    std::string quoted = "299 - \"";
    for (const char c : warning) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    quoted += '"';
    answer.headers.Add("Warning", std::move(quoted));
  }
}

}  // namespace berth::sandbox
