#pragma once

namespace berth::base {

// Whether Go's %q and strconv.Quote write the character as it is. The space is the only space that they do.
bool IsPrintable(char32_t rune);

}  // namespace berth::base
