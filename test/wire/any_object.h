#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/quantity.h"
#include "api/raw_json.h"
#include "api/time.h"
#include "base/check.h"
#include "base/flat_map.h"
#include "base/shared_value.h"
#include "wire/binding.h"

namespace berth::wire::test {

// Makes objects of any bound struct from a seed: one generator for all kinds, because the bindings say what
// there is. Texts and numbers are chosen to hurt encoders; whether a Kubernetes server would accept them does
// not matter.
class AnyObject {
 public:
  explicit AnyObject(std::uint64_t seed) : random_(seed) {}

  template <class T>
  T Make() {
    T object{};
    Fill(object);
    return object;
  }

  std::size_t Below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

 private:
  static constexpr int kDepthMax = 9;  // deeper lists stay empty, so that objects stay small

  void Fill(std::string& out) {
    static constexpr std::string_view kTexts[] = {"",
                                                  "a",
                                                  "app.kubernetes.io/name",
                                                  "\"\\/\b\f\n\r\t",
                                                  "<&>",
                                                  "\x01\x7f",
                                                  "\xc3\xa4\xe2\x82\xac",
                                                  "\xe2\x80\xa8\xe2\x80\xa9",
                                                  "\xf0\x9f\x9a\xa2",
                                                  "null",
                                                  "\xef\xbf\xbd",
                                                  "0"};
    const std::size_t choice = Below(std::size(kTexts) + 1);
    out = choice < std::size(kTexts) ? std::string(kTexts[choice]) : std::string(Below(200), 'x');
  }
  void Fill(bool& out) { out = Below(2) == 1; }
  void Fill(std::int32_t& out) {
    static constexpr std::int32_t kNumbers[] = {0, 1, -1, 127, 128, -5, 2147483647, -2147483647 - 1};
    out = kNumbers[Below(std::size(kNumbers))];
  }
  void Fill(std::int64_t& out) {
    static constexpr std::int64_t kNumbers[] = {0, 1, -1, 300, INT64_MAX, INT64_MIN, 1'700'000'000};
    out = kNumbers[Below(std::size(kNumbers))];
  }
  void Fill(api::Quantity& out) {
    static constexpr std::string_view kTexts[] = {
        "0", "1", "100m", "1.5Gi", "1e3", "64Gi", "12345678901234567890", "5u"};
    auto parsed = api::Quantity::Parse(kTexts[Below(std::size(kTexts))]);
    BERTH_CHECK(parsed.has_value());
    out = *std::move(parsed);
  }
  void Fill(api::Time& out) {
    // From the year 1 to the year 9999, which is what RFC 3339 can say.
    if (Below(4) != 0) out.unix_seconds = -62135596800 + static_cast<std::int64_t>(Below(315'537'897'600));
  }
  void Fill(api::MicroTime& out) {
    if (Below(4) == 0) return;
    out.unix_micros = -62'135'596'800'000'000 + static_cast<std::int64_t>(Below(315'537'897'600'000'000));
  }
  void Fill(api::RawJson& out) {
    static constexpr std::string_view kTexts[] = {"", R"({"a":[1,2.5,{"b":"\u003c"}]})", "[]", R"("text")",
                                                  "true"};
    out.text = kTexts[Below(std::size(kTexts))];
  }

  template <class T>
  void Fill(std::optional<T>& out) {
    if (Below(3) == 0) return;
    Fill(out.emplace());
    // A pointer to a zero time is null in JSON, so it comes back as no pointer.
    if constexpr (requires { out->IsZero() && T{} <= T{}; }) {
      if (out->IsZero()) out.reset();
    }
  }
  template <class T>
  void Fill(base::Boxed<T>& out) {
    if (Below(3) != 0) Fill(out.emplace());
  }
  template <class T>
  void Fill(base::SharedValue<T>& out) {
    Fill(out.Edit());
  }
  template <class T>
  void Fill(std::vector<T>& out) {
    if (depth_ >= kDepthMax) return;
    for (std::size_t left = Below(3); left > 0; --left) out.push_back(Make<T>());
  }
  template <class T>
  void Fill(base::FlatMap<std::string, T>& out) {
    if (depth_ >= kDepthMax) return;
    for (std::size_t left = Below(4); left > 0; --left) out.insert_or_assign(Make<std::string>(), Make<T>());
  }
  template <class T>
    requires requires { Binding<T>::kFields; }
  void Fill(T& out) {
    ++depth_;
    std::apply([&](const auto&... bound) { (Fill(out.*bound.member), ...); }, Binding<T>::kFields);
    --depth_;
  }

  std::mt19937_64 random_;
  int depth_ = 0;
};

}  // namespace berth::wire::test
