#pragma once

#include <boost/json.hpp>
#include <rapidcheck.h>
#include <string>
#include <vector>

namespace berth::wire::test {

// Text with what trips encoders: quotes, line ends, HTML, wide characters, things that look like other types.
inline rc::Gen<std::string> AnyText() {
  const auto piece =
      rc::gen::element<std::string>("a", "B", "7", "-", " ", ":", "#", "\n", "\t", "'", "\"", "\\", "<", "&",
                                    "é", "日", "😀", "\u2028", "{", "[", ",", "*", "!", "%", "yes", "null",
                                    "1.5", "---", "\x01", "\x7f", "?", "|", "~", ".", "_", "0x1f");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& part : pieces) text += part;
                        return text;
                      });
}

// Scalars, lists and objects, nested at most `depth` times.
inline rc::Gen<boost::json::value> AnyJson(int depth = 3) {
  return rc::gen::exec([depth]() -> boost::json::value {
    switch (*rc::gen::inRange(0, depth > 0 ? 8 : 6)) {
      case 0:
        return nullptr;
      case 1:
        return *rc::gen::arbitrary<bool>();
      case 2:
        return *rc::gen::arbitrary<std::int64_t>();
      case 3:
        return static_cast<double>(*rc::gen::inRange(-1000000, 1000000)) + 0.5;
      case 4:
      case 5:
        return boost::json::string(*AnyText());
      case 6: {
        boost::json::array array;
        const int size = *rc::gen::inRange(0, 5);
        for (int i = 0; i < size; ++i) array.push_back(*AnyJson(depth - 1));
        return array;
      }
      default: {
        boost::json::object object;
        const int size = *rc::gen::inRange(0, 5);
        for (int i = 0; i < size; ++i) object[*AnyText()] = *AnyJson(depth - 1);
        return object;
      }
    }
  });
}

}  // namespace berth::wire::test
