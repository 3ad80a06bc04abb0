// How values that users send appear in logs: on one line, printable, and never longer than promised.
#ifndef FIDELIO_SERVER_TELEMETRY_ESCAPE_H_
#define FIDELIO_SERVER_TELEMETRY_ESCAPE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace fidelio {

// `value` as valid UTF-8 that is fit for the inside of a JSON string: quotes and backslashes get a backslash; controls,
// line separators and marks of writing direction become \n, \r, \t or \u00XX; a byte that is not part of valid UTF-8
// becomes U+FFFD. A value of more than `longest` bytes is cut at a character and ends with "...".
std::string EscapeForLog(std::string_view value, size_t longest = 256);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_TELEMETRY_ESCAPE_H_
