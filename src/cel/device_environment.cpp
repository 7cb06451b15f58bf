#include "cel/device_environment.h"

#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "cel/quantity_value.h"
#include "cel/semver.h"

namespace berth::cel {
namespace {

base::Result<Value> ConvertVersion(const std::string& text) {
  auto version = ParseSemver(text);
  if (!version) return base::Fail("parse semantic version: " + version.error().message);
  return Value::OfSemver(std::move(*version));
}

template <class Items, class Make>
Value ConvertList(const Items& items, Make make) {
  List list;
  for (const auto& item : items) list.push_back(make(item));
  return Value::OfList(std::move(list));
}

// If several values are set, lists come first.
base::Result<Value> Convert(const api::DeviceAttribute& attribute) {
  if (!attribute.ints.empty()) return ConvertList(attribute.ints, Value::Int);
  if (!attribute.bools.empty()) return ConvertList(attribute.bools, Value::Bool);
  if (!attribute.strings.empty()) {
    return ConvertList(attribute.strings, [](const std::string& text) { return Value::String(text); });
  }
  if (!attribute.versions.empty()) {
    List versions;
    for (const std::string& text : attribute.versions) {
      auto version = ConvertVersion(text);
      if (!version) return version;
      versions.push_back(std::move(*version));
    }
    return Value::OfList(std::move(versions));
  }
  if (attribute.int_value) return Value::Int(*attribute.int_value);
  if (attribute.bool_value) return Value::Bool(*attribute.bool_value);
  if (attribute.string_value) return Value::String(*attribute.string_value);
  if (attribute.version) return ConvertVersion(*attribute.version);
  return base::Fail("unsupported attribute value");
}

// Values by domain and id. A name without a domain belongs to the driver.
class Domains {
 public:
  explicit Domains(std::string_view driver) : driver_(driver) {}

  void Put(std::string_view name, Value value) {
    const std::size_t slash = name.find('/');
    const bool qualified = slash != std::string_view::npos;
    const std::string_view domain = qualified ? name.substr(0, slash) : driver_;
    const std::string_view id = qualified ? name.substr(slash + 1) : name;
    domains_[std::string(domain)].entries.insert_or_assign(Value::String(std::string(id)), std::move(value));
  }

  Value Finish() {
    Map outer;
    outer.fallback = std::make_shared<const Value>(Value::OfMap({}));
    for (auto& [domain, inner] : domains_) {
      outer.entries.emplace(Value::String(domain), Value::OfMap(std::move(inner)));
    }
    return Value::OfMap(std::move(outer));
  }

 private:
  std::string_view driver_;
  std::map<std::string, Map> domains_;
};

}  // namespace

DeviceView::DeviceView(std::string_view driver, const api::Device& device) {
  Domains attributes(driver);
  for (const auto& [name, attribute] : device.attributes) {
    auto value = Convert(attribute);
    if (!value) {
      error_ = "attribute " + name + ": " + value.error().message;
      return;
    }
    attributes.Put(name, std::move(*value));
  }
  Domains capacity(driver);
  for (const auto& [name, amount] : device.capacity) {
    capacity.Put(name, Value::Quantity({amount.value, FastFormOf(amount.value.ToString())}));
  }
  Map fields;
  const auto put = [&fields](const char* name, Value value) {
    fields.entries.emplace(Value::String(name), std::move(value));
  };
  put("driver", Value::String(std::string(driver)));
  put("allowMultipleAllocations", Value::Bool(device.allow_multiple_allocations.value_or(false)));
  put("attributes", attributes.Finish());
  put("capacity", capacity.Finish());
  value_ = Value::OfMap(std::move(fields));
}

}  // namespace berth::cel
