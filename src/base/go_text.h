#pragma once

#include <string>
#include <string_view>

namespace berth::base {

// Text as Go's formatting writes it. Users search for and parse messages, logs and metrics to the letter.

// strconv.Quote, %q: in double quotes; unprintable characters as \n, \x00, \u00ad, \U000e0001; bytes that are
// no UTF-8 as \xff.
std::string QuoteGo(std::string_view text);
void AppendQuotedGo(std::string& out, std::string_view text);

// As encoding/json writes a string: in quotes, bytes that are no UTF-8 as \ufffd. With `escape_html`, Go's
// default,
// <, > and & as \u003c and so on.
void AppendQuotedJson(std::string& out, std::string_view text, bool escape_html);

// strconv.FormatFloat(value, 'g', -1, 64): the shortest digits that read back the same; 1e+06, 1e-05, +Inf,
// NaN.
std::string FormatGoFloat(double value);

}  // namespace berth::base
