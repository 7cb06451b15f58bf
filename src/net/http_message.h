#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::net {

// Bytes that several connections may be sending at once: written once, never copied, never changed.
using Buffer = std::shared_ptr<const std::string>;
using Body = std::vector<Buffer>;

inline Buffer MakeBuffer(std::string text) { return std::make_shared<const std::string>(std::move(text)); }
inline Body MakeBody(std::string text) { return text.empty() ? Body() : Body{MakeBuffer(std::move(text))}; }
std::size_t SizeOf(const Body& body);

// Header fields in the order of the message. Names compare without regard to case; a name may repeat.
class Headers {
 public:
  struct Field {
    std::string name;
    std::string value;
    bool operator==(const Field&) const = default;
  };

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}
  bool operator==(const Headers&) const = default;

  void Add(std::string name, std::string value);
  // Replaces every field of that name.
  void Set(std::string_view name, std::string value);
  void Remove(std::string_view name);

  // The first value, or null.
  const std::string* Find(std::string_view name) const;
  // Whether some field of that name lists the token between its commas, as Connection and Accept-Encoding do.
  // Parameters after ';' are not looked at.
  bool HasToken(std::string_view name, std::string_view token) const;

  const std::vector<Field>& fields() const { return fields_; }

 private:
  std::vector<Field> fields_;
};

bool EqualsIgnoringCase(std::string_view a, std::string_view b);
// Without blanks and tabs at either end.
std::string_view TrimBlanks(std::string_view text);

// Whether the text can be sent as a value of a header: no byte that would end the line.
bool IsHeaderValue(std::string_view text);

std::string_view ReasonPhrase(int status);
// Whether answers with this status end with their header.
constexpr bool HasNoBody(int status) { return status < 200 || status == 204 || status == 304; }

// "name: value" lines. A field that could not be sent as one line is left out rather than splitting the
// message.
void AppendFields(const Headers& headers, std::string& out);

}  // namespace berth::net
