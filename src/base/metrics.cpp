#include "base/metrics.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>

#include "fmt/format.h"

#include "base/check.h"
#include "base/go_text.h"

namespace berth::base {
namespace {

// What --allow-metric-labels turns other values into.
constexpr std::string_view kUnexpected = "unexpected";

std::string_view StabilityText(Stability stability) {
  switch (stability) {
    case Stability::kAlpha:
      return "[ALPHA] ";
    case Stability::kBeta:
      return "[BETA] ";
    case Stability::kStable:
      return "[STABLE] ";
  }
  return "";
}

void AppendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (quotes && c == '"') {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

// name{labels} value
void AppendSample(std::string& out, std::string_view name, std::string_view labels, double value) {
  out += name;
  if (!labels.empty()) fmt::format_to(std::back_inserter(out), "{{{}}}", labels);
  fmt::format_to(std::back_inserter(out), " {}\n", FormatGoFloat(value));
}

template <class Single>
void AppendSeries(std::string& out, const std::string& name, const std::string& labels,
                  const Single& single) {
  AppendSample(out, name, labels, single.Value());
}

void AppendSeries(std::string& out, const std::string& name, const std::string& labels,
                  const Histogram& histogram) {
  const std::vector<std::uint64_t> counts = histogram.CumulativeCounts();
  const std::string separator = labels.empty() ? "" : ",";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::string bound = i < histogram.bounds().size() ? FormatGoFloat(histogram.bounds()[i]) : "+Inf";
    AppendSample(out, name + "_bucket", fmt::format("{}{}le=\"{}\"", labels, separator, bound),
                 static_cast<double>(counts[i]));
  }
  AppendSample(out, name + "_sum", labels, histogram.Sum());
  AppendSample(out, name + "_count", labels, static_cast<double>(counts.back()));
}

template <class Metric>
constexpr std::string_view kTypeName = "gauge";
template <>
constexpr std::string_view kTypeName<Counter> = "counter";
template <>
constexpr std::string_view kTypeName<Histogram> = "histogram";

}  // namespace

MetricFamilyBase::MetricFamilyBase(MetricOptions options)
    : options_(std::move(options)), label_order_(options_.labels.size()) {
  std::iota(label_order_.begin(), label_order_.end(), std::size_t{0});
  std::ranges::sort(label_order_, {}, [this](std::size_t i) { return options_.labels[i]; });
}

bool MetricFamilyBase::AllowLabelValues(std::string_view label, std::set<std::string, std::less<>> values) {
  if (std::ranges::find(options_.labels, label) == options_.labels.end()) return false;
  const std::lock_guard lock(mutex_);
  allowed_.insert_or_assign(std::string(label), std::move(values));
  return true;
}

MetricFamilyBase::SortedValues MetricFamilyBase::Sort(std::initializer_list<std::string_view> values) const {
  BERTH_CHECK(values.size() == label_order_.size());
  SortedValues sorted;
  sorted.reserve(values.size());
  for (const std::size_t index : label_order_) {
    std::string_view value = values.begin()[index];
    const auto allowed = allowed_.find(options_.labels[index]);
    if (allowed != allowed_.end() && !allowed->second.contains(value)) value = kUnexpected;
    sorted.emplace_back(value);
  }
  return sorted;
}

void MetricFamilyBase::AppendHeader(std::string& out, std::string_view type) const {
  fmt::format_to(std::back_inserter(out), "# HELP {} ", options_.name);
  if (options_.stability.has_value()) out += StabilityText(*options_.stability);
  if (!options_.deprecated_since.empty()) {
    fmt::format_to(std::back_inserter(out), "(Deprecated since {}) ", options_.deprecated_since);
  }
  AppendEscaped(out, options_.help, /*quotes=*/false);
  fmt::format_to(std::back_inserter(out), "\n# TYPE {} {}\n", options_.name, type);
}

std::string MetricFamilyBase::LabelText(const SortedValues& values) const {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ',';
    text += options_.labels[label_order_[i]];
    text += "=\"";
    AppendEscaped(text, values[i], /*quotes=*/true);
    text += '"';
  }
  return text;
}

template <class Metric>
std::shared_ptr<Metric> MetricFamily<Metric>::Make() const {
  if constexpr (std::is_same_v<Metric, Histogram>) {
    return std::make_shared<Metric>(options().buckets);
  } else {
    return std::make_shared<Metric>();
  }
}

template <class Metric>
std::shared_ptr<Metric> MetricFamily<Metric>::With(std::initializer_list<std::string_view> values) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Metric>& series = series_[Sort(values)];
  if (series == nullptr) series = Make();
  return series;
}

template <class Metric>
std::shared_ptr<Metric> MetricFamily<Metric>::Find(std::initializer_list<std::string_view> values) const {
  const std::lock_guard lock(mutex_);
  const auto found = series_.find(Sort(values));
  return found == series_.end() ? nullptr : found->second;
}

template <class Metric>
bool MetricFamily<Metric>::Delete(std::initializer_list<std::string_view> values) {
  const std::lock_guard lock(mutex_);
  return series_.erase(Sort(values)) > 0;
}

template <class Metric>
void MetricFamily<Metric>::AppendText(std::string& out) const {
  const std::lock_guard lock(mutex_);
  bool first = true;
  for (const auto& [values, series] : series_) {
    if (!options().labels.empty() && !series->IsShown()) continue;
    if (std::exchange(first, false)) AppendHeader(out, kTypeName<Metric>);
    AppendSeries(out, options().name, LabelText(values), *series);
  }
}

template <class Metric>
void MetricFamily<Metric>::Reset() {
  if (options().labels.empty() && !std::is_same_v<Metric, Counter>) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [values, series] : series_) series->Reset();
}

template class MetricFamily<Counter>;
template class MetricFamily<Gauge>;
template class MetricFamily<Histogram>;

template <class Metric>
MetricFamily<Metric>& MetricRegistry::Add(MetricOptions options) {
  std::string name = options.name;
  auto family = std::make_unique<MetricFamily<Metric>>(std::move(options));
  MetricFamily<Metric>& added = *family;
  const std::lock_guard lock(mutex_);
  const bool is_new = families_.try_emplace(std::move(name), Entry{.family = std::move(family)}).second;
  BERTH_CHECK(is_new);
  return added;
}

CounterFamily& MetricRegistry::AddCounters(MetricOptions options) { return Add<Counter>(std::move(options)); }
GaugeFamily& MetricRegistry::AddGauges(MetricOptions options) { return Add<Gauge>(std::move(options)); }
HistogramFamily& MetricRegistry::AddHistograms(MetricOptions options) {
  return Add<Histogram>(std::move(options));
}

Counter& MetricRegistry::AddCounter(MetricOptions options) {
  return *AddCounters(std::move(options)).With({});
}
Gauge& MetricRegistry::AddGauge(MetricOptions options) { return *AddGauges(std::move(options)).With({}); }
Histogram& MetricRegistry::AddHistogram(MetricOptions options) {
  return *AddHistograms(std::move(options)).With({});
}

MetricFamilyBase* MetricRegistry::Find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = families_.find(name);
  return found == families_.end() ? nullptr : found->second.family.get();
}

bool MetricRegistry::Hide(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = families_.find(name);
  if (found == families_.end()) return false;
  found->second.hidden = true;
  return true;
}

void MetricRegistry::OnCollect(std::function<void()> update) {
  // An exposition runs copies of these: they share what the function remembers from one to the next.
  auto shared = std::make_shared<std::function<void()>>(std::move(update));
  const std::lock_guard lock(mutex_);
  updates_.push_back([shared = std::move(shared)] { (*shared)(); });
}

std::string MetricRegistry::Text() const {
  std::vector<std::function<void()>> updates;
  {
    const std::lock_guard lock(mutex_);
    updates = updates_;
  }
  // Without the lock: an update may add metrics.
  for (const std::function<void()>& update : updates) update();
  std::string out;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : families_) {
    if (!entry.hidden) entry.family->AppendText(out);
  }
  return out;
}

void MetricRegistry::Reset() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : families_) entry.family->Reset();
}

}  // namespace berth::base
