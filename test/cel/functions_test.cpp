#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "cel/device_support.h"

namespace berth::cel {
namespace {

// want: "true", "false", or the start of the error: "CE" when compiled, "RE" when run.
struct Case {
  std::string_view expression;
  std::string_view want;
};

class Library : public testing::TestWithParam<Case> {};

TEST_P(Library, GivesWhatUpstreamGives) {
  const std::string outcome = Outcome(GetParam().expression);
  EXPECT_TRUE(outcome.starts_with(GetParam().want))
      << GetParam().expression << "\n gives " << outcome << "\n, want " << GetParam().want;
}

// Versions, and the asymmetry of == with other types.
constexpr Case kSemver[] = {
    {R"(A.ver == semver("1.2.3"))", "true"},
    {R"(A.ver == "1.2.3")", "RE no such overload"},
    {R"("1.2.3" == A.ver)", "false"},
    {R"(A.ver != "1.2.3")", "true"},
    {R"(A.ver.isGreaterThan(semver("1.2.3-rc.1")))", "true"},
    {R"(A.ver.compareTo(semver("1.2.3+b7")) == 0)", "true"},
    {"A.ver.major() == 1 && A.ver.minor() == 2 && A.ver.patch() == 3", "true"},
    {R"(semver("1.0.0-alpha.10").isGreaterThan(semver("1.0.0-alpha.2")))", "true"},
    {R"(semver("v1.2", true) == semver("1.2.0"))", "true"},
    {R"(semver("01.01.01", true) == semver("1.1.1"))", "true"},
    {R"(isSemver("1.2"))", "false"},
    {R"(isSemver("v1.0.0"))", "false"},
    {R"(isSemver("v1.2", true))", "true"},
    {R"(semver("1.2") == A.ver)", "RE No Major.Minor.Patch elements found"},
    {R"(semver("01.0.0") == A.ver)", R"(RE Major number must not contain leading zeroes "01")"},
    {R"(semver("9223372036854775808.0.0").major() < 0)", "true"},
    {R"(semver("1.2.3.4").major() == 1)", R"(RE Invalid character(s) found in patch number "3.4")"},
    {R"(semver("1.2-a", true).major() == 1)", "RE short version cannot contain PreRelease/Build meta data"},
};
INSTANTIATE_TEST_SUITE_P(Semver, Library, testing::ValuesIn(kSemver));

// Quantities, and what upstream lets show of the way it holds them.
constexpr Case kQuantities[] = {
    {R"(C.memory.isGreaterThan(quantity("1Mi")))", "true"},
    {R"(C.memory == quantity("1024Mi"))", "true"},
    {R"(quantity("1Ki") == quantity("1024"))", "true"},
    {R"(C.memory.compareTo(quantity("1Gi")) >= 0)", "true"},
    {R"(C.memory > quantity("1Mi"))",
     "CE compilation failed: ERROR: <input>:1:43: found no matching overload for '_>_' applied to "
     "'(kubernetes.Quantity, kubernetes.Quantity)'"},
    {R"(C.memory == "1Gi")",
     "CE compilation failed: ERROR: <input>:1:43: found no matching overload for '_==_' applied to "
     "'(kubernetes.Quantity, string)'"},
    {"C.memory == null", "false"},
    {"1 == null", "CE"},
    {R"(C.nope.isGreaterThan(quantity("1")))", "RE no such key: nope"},
    {"sign(C.memory) == 1", "true"},
    {"C.memory.sign() == 1", "CE"},
    {"C.memory.asInteger() == 1073741824", "true"},
    {R"(quantity("1.5").isInteger())", "false"},
    {R"(quantity("1.0").isInteger())", "false"},
    {R"(quantity("1.5k").isInteger())", "true"},
    {R"(isQuantity("1.3Gi"))", "true"},
    {R"(isQuantity("200K"))", "false"},
    {R"(isQuantity("1,3G"))", "false"},
    {R"(isQuantity("Mi"))", "true"},
    {R"(quantity("50M").compareTo(quantity("50Mi")) == -1)", "true"},
    {R"(quantity("50k").add(20) == quantity("50020"))", "true"},
    {R"(quantity("50020") == quantity("50k").add(20))", "RE no such overload"},
    {R"(quantity("") == C.memory)", "RE quantities must match the regular expression"},
    {R"(A.int.isGreaterThan(quantity("1")))", "RE no such overload: isGreaterThan(int, kubernetes.Quantity)"},
};
INSTANTIATE_TEST_SUITE_P(Quantities, Library, testing::ValuesIn(kQuantities));

// Lists, maps and sets.
constexpr Case kLists[] = {
    {"2 in A.ints", "true"},
    {R"("fish" in A.strs)", "true"},
    {R"(A.str in ["a", "fish"])", "true"},
    {"dyn(1) in [1.0]", "true"},
    {R"(A.int in ["5"])", "false"},
    {R"("fish" in A.str)", "RE no such overload"},
    {R"(A.strs.includes("bird"))", "true"},
    {R"(A.str.includes("fish"))", "true"},
    {R"(A.vers.includes(semver("2.0.0")))", "true"},
    {R"(A.str.includes("fi"))", "false"},
    {"A.str.includes(1)", "false"},
    {"A.ints[0] == 1", "true"},
    {"A.ints[5] == 1", "RE index out of bounds: 5"},
    {"A.ints[-1] == 1", "RE index out of bounds: -1"},
    {R"(A.ints["a"] == 1)", "RE unsupported index type 'string' in list"},
    {"A.ints[1.5] == 1", "RE unsupported index value 1.5 in list"},
    {"A.ints.sum() == 6", "true"},
    {"A.ints.max() == 3", "true"},
    {"A.ints.indexOf(2) == 1", "true"},
    {"A.ints.isSorted()", "true"},
    {"[3,1,2].sort() == [1,2,3]", "true"},
    {"[1,2,2].distinct() == [1,2]", "true"},
    {"[1,2,3].slice(0,2) == [1,2]", "true"},
    {"lists.range(3) == [0,1,2]", "true"},
    {"[[1],[2]].flatten() == [1,2]", "true"},
    {"lists.range(1000001).size() > 0", "RE lists.range: size 1000001 exceeds maximum allowed (1000000)"},
    {"sets.contains([1,2,3],[2])", "true"},
    {"sets.equivalent([1,1],[1])", "true"},
    {"sets.intersects([1],[2])", "false"},
    {R"([1, "a"].size() == 2)",
     "CE compilation failed: ERROR: <input>:1:5: expected type 'int' but found 'string'"},
    {R"([1, dyn("a")].size() == 2)", "CE"},
    {R"([dyn(1), dyn("a")].size() == 2)", "true"},
    {R"({"a": 1}.a == 1)", "true"},
    {R"(has({"a": 1}.a))", "true"},
    {R"({"a": 1}["b"] == 1)", "RE no such key: b"},
    {R"({1: "a"}[dyn(1.0)] == "a")", "true"},
    {R"([A.ver] == [dyn("1.2.3")])", "true"},
    {"A.missing.sort().size() == 0 || true", "true"},
    {"dyn(1).distinct() == []", "RE no such overload: distinct(int)"},
};
INSTANTIATE_TEST_SUITE_P(Lists, Library, testing::ValuesIn(kLists));

// Strings, formats and regular expressions.
constexpr Case kStrings[] = {
    {R"("%s has %d".format(["x", 1]) == "x has 1")", "true"},
    {"\"%.2f|%e|%x|%b|%o\".format([1234567.5, 1234.5, \"az\", 5, 8]) == "
     "\"1,234,567.50|1.234500\u00d710\u2070\u00b3|617a|101|10\"",
     "true"},
    {R"("%s".format([{"b": 1.5, "a": [null, b"x", duration("1s")]}]) == "{\"a\":[null, b\"x\", duration(\"1s\")], \"b\":1.500000}")",
     "true"},
    {R"("%d".format(["x"]) == "")",
     "CE compilation failed: ERROR: <input>:1:14: error during formatting: decimal clause can only be used "
     "on integers, was given string"},
    {R"("%d".format([A.str]) == "")",
     "RE error during formatting: decimal clause can only be used on integers, was given string"},
    {R"(A.str.matches("^f.*h$"))", "true"},
    {R"(A.str.matches("is"))", "true"},
    {R"(A.str.matches("["))", "CE compilation failed: ERROR: <input>:1:50: invalid matches argument"},
    {R"(A.int.matches("5"))", "RE no such overload"},
    {R"(A.str.find("[a-h]+") == "f")", "true"},
    {R"("a1b2".findAll("[0-9]") == ["1","2"])", "true"},
    {R"("a1b2".findAll("[0-9]", 1) == ["1"])", "true"},
    {R"(A.str.find("z") == "")", "true"},
    {R"(A.str.find("[") == "")",
     "CE program instantiation failed: error parsing regexp: missing closing ]: `[`"},
    {R"x(A.str.matches("(?<n>f)"))x", "true"},
    {R"(A.str.matches("\\C"))", "CE"},
    {R"(A.str.matches("[" + A.str))", "RE error parsing regexp: missing closing ]: `[fish`"},
    {R"(A.str.find("[" + A.str) == "")",
     "RE Illegal regex: error parsing regexp: missing closing ]: `[fish`"},
    {R"(A.str.split("s") == ["fi","h"])", "true"},
    {R"(A.str.substring(1,3) == "is")", "true"},
    {R"(A.str.upperAscii() == "FISH")", "true"},
    {R"(A.str.replace("f","d") == "dish")", "true"},
    {R"(A.strs.join(",") == "fish,bird")", "true"},
    {R"(A.str.indexOf("s") == 2)", "true"},
    {R"(A.str.charAt(4) == "")", "true"},
    {R"(A.str.charAt(5) == "")", "RE index out of range: 5"},
    {R"(A.str.substring(3,2) == "")", "RE invalid substring range. start: 3, end: 2"},
    {R"(A.str.reverse() == ["f"])", "RE no such overload: reverse(string)"},
    {R"(A.str.reverse() == "hsif")", "CE"},
    {"\"\u65e5\u672c\".size() == 2 && \"\u65e5\u672c\".charAt(1) == \"\u672c\"", "true"},
    {R"("abc".replace("", "x") == "xaxbxcx")", "true"},
};
INSTANTIATE_TEST_SUITE_P(Strings, Library, testing::ValuesIn(kStrings));

// From one type to another; constants fail when the program is made.
constexpr Case kConversions[] = {
    {R"(int("abc") == 1)", "CE program instantiation failed: type conversion error from 'string' to 'int'"},
    {"int(A.str) == 1", "RE type conversion error from 'string' to 'int'"},
    {"int(3.9) == 3", "true"},
    {"int(-3.9) == -3", "true"},
    {R"(int("42") == 42)", "true"},
    {R"(string(A.int) == "5")", "true"},
    {"uint(-1) == 1u", "CE program instantiation failed: unsigned integer overflow"},
    {R"(string(123456.0) == "123456" && string(1000000.0) == "1e+06" && string(0.00001) == "1e-05" && string(1.5) == "1.5")",
     "true"},
    {R"(string(A.ver) == "")", "RE no such overload: string(kubernetes.Semver)"},
    {"type(A.int) == int && type(int) == type && type(A.ver) != string", "true"},
    {"kubernetes.DRADevice{} == device", "RE unknown type 'kubernetes.DRADevice'"},
    {"google.protobuf.Int32Value{value: 1} == 1", "true"},
    {"int{} == 1", "CE compilation failed: ERROR: <input>:1:4: 'int' is not a message type"},
};
INSTANTIATE_TEST_SUITE_P(Conversions, Library, testing::ValuesIn(kConversions));

// Durations, timestamps and time zones.
constexpr Case kTimes[] = {
    {R"(duration("1h30m").getMinutes() == 90)", "true"},
    {R"(string(duration("90m")) == "5400s")", "true"},
    {R"(timestamp("2024-01-31T12:00:00Z").getMonth() == 0)", "true"},
    {R"(duration("1x") > duration("1s"))",
     "CE compilation failed: ERROR: <input>:1:10: invalid duration argument"},
    {R"(timestamp("bad") > timestamp("2024-01-01T00:00:00Z"))",
     "CE compilation failed: ERROR: <input>:1:11: invalid timestamp argument"},
    {R"(timestamp("2024-03-01T00:30:00Z").getDayOfMonth("-01:00") == 28)", "true"},
    {R"(timestamp("2024-07-01T00:30:00Z").getHours("Europe/Paris") == 2)", "true"},
    {R"(timestamp(0).getHours("Nowhere/City") == 0)", "RE unknown time zone Nowhere/City"},
    {R"(string(timestamp("2024-01-01T00:00:00.120+05:00")) == "2024-01-01T00:00:00.12+05:00")", "true"},
    {R"(timestamp("9999-12-31T23:59:59Z") + duration("1s") > timestamp(0))", "RE timestamp overflow"},
};
INSTANTIATE_TEST_SUITE_P(Times, Library, testing::ValuesIn(kTimes));

// Addresses, networks, URLs and named formats.
constexpr Case kNetworks[] = {
    {R"(isIP("10.0.0.1"))", "true"},
    {R"(ip("::1").family() == 6)", "true"},
    {R"(cidr("10.0.0.0/8").containsIP("10.1.2.3"))", "true"},
    {R"(cidr("10.0.0.0/8").containsCIDR(cidr("10.1.0.0/16")))", "true"},
    {R"(isCIDR("192.168.0.1/16"))", "true"},
    {R"(isIP("10.0.0.256"))", "false"},
    {R"(isIP("::ffff:1.2.3.4"))", "false"},
    {R"(isIP("010.0.0.1"))", "false"},
    {R"(ip.isCanonical("2001:DB8::1"))", "false"},
    {R"(ip("1.2.3").family() == 4)",
     R"(RE IP Address "1.2.3" parse error during conversion from string: ParseAddr("1.2.3"): IPv4 address too short)"},
    {R"(string(cidr("10.1.2.3/8").masked()) == "10.0.0.0/8")", "true"},
    {R"(string(ip("2001:db8:0:0:1:0:0:1")) == "2001:db8::1:0:0:1")", "true"},
    {R"(cidr("10.0.0.0/8").containsIP("x"))", "RE no such overload"},
    {R"(url("https://a.b:80/p").getPort() == "80")", "true"},
    {R"(isURL("/abs"))", "true"},
    {R"(isURL("../rel"))", "false"},
    {R"(url("https://[::1]:80/a%20b?x=1&x=2").getQuery()["x"] == ["1", "2"])", "true"},
    {R"(format.dns1123Label().validate("ok").hasValue())", "false"},
    {R"(format.named("nope").hasValue())", "false"},
    {R"(format.uuid().validate("x").hasValue())", "true"},
};
INSTANTIATE_TEST_SUITE_P(Networks, Library, testing::ValuesIn(kNetworks));

}  // namespace
}  // namespace berth::cel
