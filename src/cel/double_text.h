#pragma once

#include <string>

namespace berth::cel {

// As Go's %g: the shortest digits that read back, in exponent form below 1e-4 and from 1e6.
std::string DoubleText(double number);
// The shortest digits that read back, never in exponent form.
std::string PlainDoubleText(double number);
// With that many digits after the point.
std::string FixedDoubleText(double number, int precision);

}  // namespace berth::cel
