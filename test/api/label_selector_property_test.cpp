#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

#include "api/label_selector.h"

namespace berth::api {
namespace {

// Few keys and values, so that selectors and labels meet; numbers in several spellings.
rc::Gen<std::string> AnyKey() {
  return rc::gen::elementOf(std::vector<std::string>{"a", "b", "in", "x.io/c"});
}
rc::Gen<std::string> AnyValue() {
  return rc::gen::elementOf(
      std::vector<std::string>{"", "x", "y", "notin", "0", "5", "05", "10", "9223372036854775807"});
}

struct NaiveRequirement {
  std::string key;
  SelectorOperator op;
  std::vector<std::string> values;
};

rc::Gen<NaiveRequirement> AnyRequirement() {
  return rc::gen::exec([] {
    NaiveRequirement r;
    r.key = *AnyKey();
    r.op = static_cast<SelectorOperator>(*rc::gen::inRange(0, 9));
    switch (r.op) {
      case SelectorOperator::kExists:
      case SelectorOperator::kDoesNotExist:
        break;
      case SelectorOperator::kIn:
      case SelectorOperator::kNotIn:
        r.values =
            *rc::gen::resize(6, rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(AnyValue())));
        break;
      case SelectorOperator::kGreaterThan:
      case SelectorOperator::kLessThan:
        r.values = {*rc::gen::elementOf(std::vector<std::string>{"0", "5", "05", "9223372036854775806"})};
        break;
      default:
        r.values = {*AnyValue()};
    }
    return r;
  });
}

rc::Gen<StringMap> AnyLabels() {
  return rc::gen::exec([] {
    StringMap labels;
    for (const auto& [key, value] : *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
             rc::gen::pair(AnyKey(), AnyValue()))) {
      labels.insert_or_assign(key, value);
    }
    return labels;
  });
}

std::optional<long long> NaiveNumber(const std::string& text) {
  if (text.empty() || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  return std::stoll(text);
}

// The rules word by word, one label and one value at a time.
bool NaiveMatches(const NaiveRequirement& r, const StringMap& labels) {
  const std::string* value = labels.find(r.key);
  const bool listed = value != nullptr && std::ranges::count(r.values, *value) > 0;
  switch (r.op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kEquals:
    case SelectorOperator::kDoubleEquals:
      return listed;
    case SelectorOperator::kNotIn:
    case SelectorOperator::kNotEquals:
      return !listed;
    case SelectorOperator::kExists:
      return value != nullptr;
    case SelectorOperator::kDoesNotExist:
      return value == nullptr;
    case SelectorOperator::kGreaterThan:
      return value != nullptr && NaiveNumber(*value).value_or(std::numeric_limits<long long>::min()) >
                                     *NaiveNumber(r.values.front());
    case SelectorOperator::kLessThan:
      return value != nullptr && NaiveNumber(*value) && *NaiveNumber(*value) < *NaiveNumber(r.values.front());
  }
  return false;
}

Selector Compile(const std::vector<NaiveRequirement>& naive) {
  std::vector<Requirement> requirements;
  for (const NaiveRequirement& r : naive)
    requirements.push_back(Requirement::Make(r.key, r.op, r.values).value());
  return Selector(std::move(requirements));
}

RC_GTEST_PROP(LabelSelectorProperty, CompiledEqualsTheRulesWordByWord, ()) {
  const auto naive = *rc::gen::resize(4, rc::gen::container<std::vector<NaiveRequirement>>(AnyRequirement()));
  const Selector selector = Compile(naive);
  for (int i = 0; i < 8; ++i) {
    const StringMap labels = *AnyLabels();
    const bool want = std::ranges::all_of(naive, [&](const auto& r) { return NaiveMatches(r, labels); });
    RC_ASSERT(selector.Matches(labels) == want);
    // An index narrows by this pair: no match may lie outside of it.
    if (const auto pair = selector.RequiredPair(); pair && want) {
      RC_ASSERT(LookUpLabel(labels, pair->key) == pair->value);
    }
  }
}

RC_GTEST_PROP(LabelSelectorProperty, OrderOfRequirementsDoesNotChangeWhatMatches, ()) {
  auto naive = *rc::gen::resize(4, rc::gen::container<std::vector<NaiveRequirement>>(AnyRequirement()));
  const Selector selector = Compile(naive);
  std::ranges::reverse(naive);
  const StringMap labels = *AnyLabels();
  RC_ASSERT(Compile(naive).Matches(labels) == selector.Matches(labels));
}

RC_GTEST_PROP(LabelSelectorProperty, PrintedFormReadsBackEqual, ()) {
  auto naive = *rc::gen::resize(4, rc::gen::container<std::vector<NaiveRequirement>>(AnyRequirement()));
  // Text holds a set of values: repetitions, which objects may have, are gone once read.
  for (NaiveRequirement& r : naive) {
    std::ranges::sort(r.values);
    r.values.erase(std::unique(r.values.begin(), r.values.end()), r.values.end());
  }
  const Selector selector = Compile(naive);
  const auto read = Selector::Parse(selector.ToString());
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == selector);
  RC_ASSERT(read->ToString() == selector.ToString());
}

// Text is input from anybody: whatever it is, there is an answer, and an accepted text has a stable printed
// form.
RC_GTEST_PROP(LabelSelectorProperty, AnyTextIsReadOrRefused, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::elementOf(std::vector<std::string>{"a", "b/c", "in", "notin", "5", "-", "=", "==", "!=", "!",
                                                  "(", ")", ",", ">", "<", " ", std::string(1, '\0')}));
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  const auto selector = Selector::Parse(text);
  if (!selector) {
    RC_ASSERT(!selector.error().message.empty());
    return;
  }
  const auto again = Selector::Parse(selector->ToString());
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *selector);
}

}  // namespace
}  // namespace berth::api
