#include "api/time.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/go_text.h"

namespace berth::api {
namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;

struct Instant {
  std::int64_t unix_seconds;
  std::int64_t micros;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads what Go's time.Parse(time.RFC3339) reads, which is somewhat more than RFC 3339: an hour of one digit,
// a comma before the fraction, offsets up to 24:60. The errors are Go's too: a user meets them in answers of
// an API server.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  base::Result<Instant> Parse();

 private:
  std::string Prefix() const { return "parsing time " + base::QuoteGo(text_); }
  std::unexpected<base::Error> Mismatch(std::string_view at, std::string_view wanted) const {
    return base::Fail(fmt::format(R"({} as "2006-01-02T15:04:05Z07:00": cannot parse {} as "{}")", Prefix(),
                                  base::QuoteGo(at), wanted));
  }
  std::unexpected<base::Error> OutOfRange(std::string_view what) const {
    return base::Fail(fmt::format("{}: {} out of range", Prefix(), what));
  }

  bool Skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // A number of one or two digits, or of exactly `width`.
  std::optional<int> Number(std::size_t width, bool may_be_short = false);
  std::int64_t Fraction();
  base::Result<std::int64_t> OffsetSeconds();

  std::string_view text_;
  std::string_view rest_;
};

std::optional<int> Parser::Number(std::size_t width, bool may_be_short) {
  std::size_t size = 0;
  int number = 0;
  for (; size < width && size < rest_.size() && IsDigit(rest_[size]); ++size)
    number = number * 10 + (rest_[size] - '0');
  if (size < width && !(may_be_short && size > 0)) return std::nullopt;
  rest_.remove_prefix(size);
  return number;
}

// The microseconds; finer digits are cut.
std::int64_t Parser::Fraction() {
  if (rest_.size() < 2 || (rest_[0] != '.' && rest_[0] != ',') || !IsDigit(rest_[1])) return 0;
  rest_.remove_prefix(1);
  std::int64_t micros = 0;
  std::int64_t unit = kMicrosPerSecond / 10;
  for (; !rest_.empty() && IsDigit(rest_[0]); rest_.remove_prefix(1), unit /= 10)
    micros += unit * (rest_[0] - '0');
  return micros;
}

base::Result<std::int64_t> Parser::OffsetSeconds() {
  if (Skip('Z')) return 0;
  const std::string_view offset = rest_;
  if (offset.size() < 6 || offset[3] != ':') return Mismatch(offset, "Z07:00");
  rest_.remove_prefix(1);
  const std::optional<int> hours = Number(2);
  rest_ = offset.substr(4);
  const std::optional<int> minutes = Number(2);
  if (hours && *hours > 24) return OutOfRange("time zone offset hour");
  if (hours && minutes && *minutes > 60) return OutOfRange("time zone offset minute");
  if (!hours || !minutes || (offset[0] != '+' && offset[0] != '-')) return Mismatch(offset, "Z07:00");
  return (*hours * 60 + *minutes) * 60 * (offset[0] == '-' ? -1 : 1);
}

base::Result<Instant> Parser::Parse() {
  struct Field {
    char before;  // 0: nothing
    std::size_t width;
    std::string_view layout;
    std::string_view name;  // empty: any number will do here
    int min;
    int max;
  };
  static constexpr Field kFields[] = {
      {0, 4, "2006", "", 0, 0},      {'-', 2, "01", "month", 1, 12},  {'-', 2, "02", "", 0, 0},
      {'T', 2, "15", "hour", 0, 23}, {':', 2, "04", "minute", 0, 59}, {':', 2, "05", "second", 0, 59},
  };
  int values[std::size(kFields)] = {};
  for (std::size_t i = 0; i < std::size(kFields); ++i) {
    const Field& field = kFields[i];
    if (field.before != 0 && !Skip(field.before)) return Mismatch(rest_, std::string_view(&field.before, 1));
    const std::string_view at = rest_;
    const std::optional<int> value = Number(field.width, field.name == "hour");
    if (!value) return Mismatch(at, field.layout);
    if (!field.name.empty() && (*value < field.min || *value > field.max)) return OutOfRange(field.name);
    values[i] = *value;
  }
  const std::int64_t micros = Fraction();
  const base::Result<std::int64_t> offset = OffsetSeconds();
  if (!offset) return std::unexpected(offset.error());
  if (!rest_.empty()) return base::Fail(Prefix() + ": extra text: " + base::QuoteGo(rest_));

  const auto [year, month, day, hour, minute, second] = values;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return OutOfRange("day");
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return Instant{((days * 24 + hour) * 60 + minute) * 60 + second - *offset, micros};
}

// Proleptic Gregorian, for every int64: std::chrono stops at year 32767, and the seconds may come from
// anybody.
std::string FormatSeconds(std::int64_t unix_seconds) {
  constexpr std::int64_t kDaySeconds = 86'400;
  constexpr std::int64_t kEraDays = 146'097;  // 400 years
  constexpr std::int64_t kDaysBeforeUnixEpoch =
      719'468;  // since 0000-03-01: years that end with the leap day
  const std::int64_t day = unix_seconds / kDaySeconds - (unix_seconds % kDaySeconds < 0 ? 1 : 0);
  const std::int64_t second = (unix_seconds % kDaySeconds + kDaySeconds) % kDaySeconds;
  const std::int64_t shifted = day + kDaysBeforeUnixEpoch;
  const std::int64_t era = shifted / kEraDays - (shifted % kEraDays < 0 ? 1 : 0);
  const std::int64_t day_of_era = shifted - era * kEraDays;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const std::int64_t day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  const std::int64_t month = month_from_march + (month_from_march < 10 ? 3 : -9);
  const std::int64_t year = era * 400 + year_of_era + (month <= 2 ? 1 : 0);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", year, month, day_of_month, second / 3600,
                     second / 60 % 60, second % 60);
}

}  // namespace

base::Result<Time> ParseTime(std::string_view text) {
  const base::Result<Instant> instant = Parser(text).Parse();
  if (!instant) return std::unexpected(instant.error());
  return Time{instant->unix_seconds};
}

base::Result<MicroTime> ParseMicroTime(std::string_view text) {
  const base::Result<Instant> instant = Parser(text).Parse();
  if (!instant) return std::unexpected(instant.error());
  return MicroTime{instant->unix_seconds * kMicrosPerSecond + instant->micros};
}

std::string FormatTime(Time time) { return FormatSeconds(time.unix_seconds) + "Z"; }

std::string FormatMicroTime(MicroTime time) {
  const std::int64_t remainder = time.unix_micros % kMicrosPerSecond;
  const std::int64_t seconds = time.unix_micros / kMicrosPerSecond - (remainder < 0 ? 1 : 0);
  return fmt::format("{}.{:06}Z", FormatSeconds(seconds), (remainder + kMicrosPerSecond) % kMicrosPerSecond);
}

}  // namespace berth::api
