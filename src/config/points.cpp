#include "config/points.h"

#include <cctype>

namespace berth::config {

std::string InterfaceName(Point point) {
  std::string name(kPointNames[Index(point)]);
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name + "Plugin";
}

}  // namespace berth::config
