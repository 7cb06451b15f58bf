#pragma once

#include <boost/json.hpp>
#include <limits>
#include <rapidcheck.h>
#include <string>

#include "wire/any_json.h"
#include "wire/schema.h"

namespace berth::wire::test {

// A random object of a message, made from the schema, in the form that ProtobufToDocument gives it: so that a
// round trip must end where it began.
class DocumentMaker {
 public:
  // `fill` is the chance in percent that an optional field is there.
  explicit DocumentMaker(int fill) : fill_(fill) {}

  boost::json::object Object(const Message& message, int depth) {
    boost::json::object object;
    Fill(message, depth, object);
    return object;
  }

 private:
  bool Chance(int percent) { return *rc::gen::inRange(0, 100) < percent; }

  void Fill(const Message& message, int depth, boost::json::object& object) {
    for (const Field* field : message.json_output_order) {
      if (field->inlined) {
        Fill(*field->message, depth, object);
      } else if (!field->json_name.empty()) {
        Put(*field, depth, object);
      }
    }
  }

  void Put(const Field& field, int depth, boost::json::object& object) {
    const bool recurse =
        depth > 0 || field.kind != ValueKind::kMessage || field.message->form != SpecialForm::kNone;
    const bool present = field.shape == Shape::kValue || (recurse && Chance(fill_));
    boost::json::value value;
    if (present && field.shape == Shape::kMap) {
      value = Map(field, depth);
    } else if (present && field.shape == Shape::kList) {
      value = List(field, depth);
    } else if (present) {
      value = One(field, depth);
    }
    // Null is how JSON says that a pointer is not there, so none is there and null.
    const bool omit = field.omit_empty && (field.shape == Shape::kPointer ? value.is_null() : IsZero(value));
    if (!omit) object[std::string(field.json_name)] = value;
  }

  static bool IsZero(const boost::json::value& value) {
    return value.is_null() || value == boost::json::value(0) || value == boost::json::value(false) ||
           (value.is_string() && value.get_string().empty());
  }

  boost::json::value List(const Field& field, int depth) {
    boost::json::array array;
    const int size = *rc::gen::inRange(1, 3);
    for (int i = 0; i < size; ++i) array.push_back(One(field, depth));
    return array;
  }

  boost::json::value Map(const Field& field, int depth) {
    boost::json::object map;
    const int size = *rc::gen::inRange(1, 3);
    for (int i = 0; i < size; ++i) map[*AnyText()] = One(field, depth);
    return map;
  }

  boost::json::value One(const Field& field, int depth) {
    switch (field.kind) {
      case ValueKind::kString:
        return boost::json::string(*AnyText());
      case ValueKind::kBytes:
        return boost::json::string(*rc::gen::element<std::string>("", "AA==", "aGVsbG8=", "/+8="));
      case ValueKind::kBool:
        return *rc::gen::arbitrary<bool>();
      case ValueKind::kInt32:
        return *rc::gen::element<std::int64_t>(0, 1, -1, 80, std::numeric_limits<std::int32_t>::min(),
                                               std::numeric_limits<std::int32_t>::max());
      default:
        if (field.kind == ValueKind::kMessage) return Body(*field.message, depth);
        return *rc::gen::element<std::int64_t>(0, 1, -1, std::numeric_limits<std::int64_t>::min(),
                                               std::numeric_limits<std::int64_t>::max());
    }
  }

  boost::json::value Body(const Message& message, int depth) {
    switch (message.form) {
      case SpecialForm::kNone:
        return Object(message, depth - 1);
      case SpecialForm::kTime:
        if (Chance(20)) return nullptr;
        return boost::json::string(*rc::gen::element<std::string>(
            "1970-01-01T00:00:00Z", "2026-08-20T16:59:46Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z"));
      case SpecialForm::kMicroTime:
        if (Chance(20)) return nullptr;
        return boost::json::string(*rc::gen::element<std::string>(
            "1970-01-01T00:00:01.000000Z", "2026-08-20T16:59:46.123456Z", "1969-12-31T23:59:59.999999Z"));
      case SpecialForm::kQuantity:
        return boost::json::string(
            *rc::gen::element<std::string>("0", "1", "500m", "1Gi", "1536Mi", "100n", "12e6", "-3", "7Ei"));
      case SpecialForm::kIntOrString:
        if (Chance(50)) return *rc::gen::inRange(-5, 70000);
        return boost::json::string(*AnyText());
      case SpecialForm::kRawJson:
        return *AnyJson(2);
      case SpecialForm::kStringList:
        if (Chance(20)) return nullptr;
        return boost::json::array{boost::json::string(*AnyText()), "b"};
    }
    return nullptr;
  }

  int fill_;
};

inline rc::Gen<boost::json::object> AnyDocument(const Message& message) {
  return rc::gen::exec([&message] {
    DocumentMaker maker(*rc::gen::element(10, 40, 80));
    return maker.Object(message, *rc::gen::inRange(1, 5));
  });
}

}  // namespace berth::wire::test
