#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// JSON text below the level of values: escapes and white space as Go writes and reads them.
namespace berth::wire {

// Appends `text` as a JSON string with the escapes of Go's encoder: the characters that matter in HTML and
// the separators U+2028 and U+2029 too; bytes that are no UTF-8 become \ufffd.
void AppendJsonString(std::string& out, std::string_view text);

// Reads a string from behind its opening quote up to its closing one, which must exist: unescaped into `out`.
// Half of a surrogate pair becomes U+FFFD, as in Go. False: an escape that JSON does not have.
bool ReadJsonString(const char* behind_quote, std::string& out);

// Without white space, and with the escapes of AppendJsonString; nothing if the text is not one JSON value.
std::optional<std::string> CompactJson(std::string_view text);

// Each byte that is no UTF-8 becomes U+FFFD.
std::string RepairUtf8(std::string_view text);

// Length of the UTF-8 sequence that `text` starts with, 0 if it starts with none.
std::size_t Utf8Length(std::string_view text);

}  // namespace berth::wire
