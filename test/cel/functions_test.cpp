#include "cel/expression_cases.h"

namespace berth::cel {
namespace {

class Library : public testing::TestWithParam<ExpressionCase> {};

TEST_P(Library, GivesWhatUpstreamGives) { ExpectOutcome(GetParam()); }

// Versions, and the asymmetry of == with other types.
constexpr ExpressionCase kSemver[] = {
    {25, R"(A.ver == semver("1.2.3"))", "true"},
    {26, R"(A.ver == "1.2.3")", "RE no such overload"},
    {27, R"("1.2.3" == A.ver)", "false"},
    {28, R"(A.ver != "1.2.3")", "true"},
    {29, R"(A.ver.isGreaterThan(semver("1.2.3-rc.1")))", "true"},
    {30, R"(A.ver.compareTo(semver("1.2.3+b7")) == 0)", "true"},
    {31, "A.ver.major() == 1 && A.ver.minor() == 2 && A.ver.patch() == 3", "true"},
    {32, R"(semver("1.0.0-alpha.10").isGreaterThan(semver("1.0.0-alpha.2")))", "true"},
    {33, R"(semver("v1.2", true) == semver("1.2.0"))", "true"},
    {33, R"(semver("01.01.01", true) == semver("1.1.1"))", "true"},
    {34, R"(isSemver("1.2"))", "false"},
    {34, R"(isSemver("v1.0.0"))", "false"},
    {34, R"(isSemver("v1.2", true))", "true"},
    {35, R"(semver("1.2") == A.ver)", "RE No Major.Minor.Patch elements found"},
    {36, R"(semver("01.0.0") == A.ver)", R"(RE Major number must not contain leading zeroes "01")"},
    {0, R"(semver("9223372036854775808.0.0").major() < 0)", "true"},
    {0, R"(semver("1.2.3.4").major() == 1)", R"(RE Invalid character(s) found in patch number "3.4")"},
    {0, R"(semver("1.2-a", true).major() == 1)",
     "RE short version cannot contain PreRelease/Build meta data"},
};
INSTANTIATE_TEST_SUITE_P(Semver, Library, testing::ValuesIn(kSemver), NameOfCase);

// Quantities, and what upstream lets show of the way it holds them.
constexpr ExpressionCase kQuantities[] = {
    {38, R"(C.memory.isGreaterThan(quantity("1Mi")))", "true"},
    {39, R"(C.memory == quantity("1024Mi"))", "true"},
    {39, R"(quantity("1Ki") == quantity("1024"))", "true"},
    {40, R"(C.memory.compareTo(quantity("1Gi")) >= 0)", "true"},
    {41, R"(C.memory > quantity("1Mi"))",
     "CE compilation failed: ERROR: <input>:1:43: found no matching overload for '_>_' applied to "
     "'(kubernetes.Quantity, kubernetes.Quantity)'"},
    {42, R"(C.memory == "1Gi")",
     "CE compilation failed: ERROR: <input>:1:43: found no matching overload for '_==_' applied to "
     "'(kubernetes.Quantity, string)'"},
    {43, "C.memory == null", "false"},
    {43, "1 == null", "CE"},
    {44, R"(C.nope.isGreaterThan(quantity("1")))", "RE no such key: nope"},
    {45, "sign(C.memory) == 1", "true"},
    {45, "C.memory.sign() == 1", "CE"},
    {46, "C.memory.asInteger() == 1073741824", "true"},
    {46, R"(quantity("1.5").isInteger())", "false"},
    {0, R"(quantity("1.0").isInteger())", "false"},
    {0, R"(quantity("1.5k").isInteger())", "true"},
    {47, R"(isQuantity("1.3Gi"))", "true"},
    {47, R"(isQuantity("200K"))", "false"},
    {47, R"(isQuantity("1,3G"))", "false"},
    {47, R"(isQuantity("Mi"))", "true"},
    {48, R"(quantity("50M").compareTo(quantity("50Mi")) == -1)", "true"},
    {49, R"(quantity("50k").add(20) == quantity("50020"))", "true"},
    {50, R"(quantity("50020") == quantity("50k").add(20))", "RE no such overload"},
    {51, R"(quantity("") == C.memory)", "RE quantities must match the regular expression"},
    {52, R"(A.int.isGreaterThan(quantity("1")))",
     "RE no such overload: isGreaterThan(int, kubernetes.Quantity)"},
};
INSTANTIATE_TEST_SUITE_P(Quantities, Library, testing::ValuesIn(kQuantities), NameOfCase);

// Lists, maps and sets.
constexpr ExpressionCase kLists[] = {
    {78, "2 in A.ints", "true"},
    {78, R"("fish" in A.strs)", "true"},
    {78, R"(A.str in ["a", "fish"])", "true"},
    {78, "dyn(1) in [1.0]", "true"},
    {79, R"(A.int in ["5"])", "false"},
    {79, R"("fish" in A.str)", "RE no such overload"},
    {80, R"(A.strs.includes("bird"))", "true"},
    {80, R"(A.str.includes("fish"))", "true"},
    {80, R"(A.vers.includes(semver("2.0.0")))", "true"},
    {81, R"(A.str.includes("fi"))", "false"},
    {81, "A.str.includes(1)", "false"},
    {84, "A.ints[0] == 1", "true"},
    {84, "A.ints[5] == 1", "RE index out of bounds: 5"},
    {84, "A.ints[-1] == 1", "RE index out of bounds: -1"},
    {0, R"(A.ints["a"] == 1)", "RE unsupported index type 'string' in list"},
    {0, "A.ints[1.5] == 1", "RE unsupported index value 1.5 in list"},
    {85, "A.ints.sum() == 6", "true"},
    {85, "A.ints.max() == 3", "true"},
    {85, "A.ints.indexOf(2) == 1", "true"},
    {85, "A.ints.isSorted()", "true"},
    {86, "[3,1,2].sort() == [1,2,3]", "true"},
    {86, "[1,2,2].distinct() == [1,2]", "true"},
    {86, "[1,2,3].slice(0,2) == [1,2]", "true"},
    {86, "lists.range(3) == [0,1,2]", "true"},
    {86, "[[1],[2]].flatten() == [1,2]", "true"},
    {87, "lists.range(1000001).size() > 0", "RE lists.range: size 1000001 exceeds maximum allowed (1000000)"},
    {88, "sets.contains([1,2,3],[2])", "true"},
    {88, "sets.equivalent([1,1],[1])", "true"},
    {88, "sets.intersects([1],[2])", "false"},
    {90, R"([1, "a"].size() == 2)",
     "CE compilation failed: ERROR: <input>:1:5: expected type 'int' but found 'string'"},
    {90, R"([1, dyn("a")].size() == 2)", "CE"},
    {90, R"([dyn(1), dyn("a")].size() == 2)", "true"},
    {92, R"({"a": 1}.a == 1)", "true"},
    {92, R"(has({"a": 1}.a))", "true"},
    {92, R"({"a": 1}["b"] == 1)", "RE no such key: b"},
    {0, R"({1: "a"}[dyn(1.0)] == "a")", "true"},
    {0, R"([A.ver] == [dyn("1.2.3")])", "true"},
    {0, "A.missing.sort().size() == 0 || true", "true"},
    {0, "dyn(1).distinct() == []", "RE no such overload: distinct(int)"},
};
INSTANTIATE_TEST_SUITE_P(Lists, Library, testing::ValuesIn(kLists), NameOfCase);

// Strings, formats and regular expressions.
constexpr ExpressionCase kStrings[] = {
    {91, R"("%s has %d".format(["x", 1]) == "x has 1")", "true"},
    {0,
     "\"%.2f|%e|%x|%b|%o\".format([1234567.5, 1234.5, \"az\", 5, 8]) == "
     "\"1,234,567.50|1.234500\u00d710\u2070\u00b3|617a|101|10\"",
     "true"},
    {0,
     R"("%s".format([{"b": 1.5, "a": [null, b"x", duration("1s")]}]) == "{\"a\":[null, b\"x\", duration(\"1s\")], \"b\":1.500000}")",
     "true"},
    {0, R"("%d".format(["x"]) == "")",
     "CE compilation failed: ERROR: <input>:1:14: error during formatting: decimal clause can only be used "
     "on integers, was given string"},
    {0, R"("%d".format([A.str]) == "")",
     "RE error during formatting: decimal clause can only be used on integers, was given string"},
    {93, R"(A.str.matches("^f.*h$"))", "true"},
    {93, R"(A.str.matches("is"))", "true"},
    {93, R"(A.str.matches("["))", "CE compilation failed: ERROR: <input>:1:50: invalid matches argument"},
    {94, R"(A.int.matches("5"))", "RE no such overload"},
    {95, R"(A.str.find("[a-h]+") == "f")", "true"},
    {95, R"("a1b2".findAll("[0-9]") == ["1","2"])", "true"},
    {95, R"("a1b2".findAll("[0-9]", 1) == ["1"])", "true"},
    {95, R"(A.str.find("z") == "")", "true"},
    {96, R"(A.str.find("[") == "")",
     "CE program instantiation failed: error parsing regexp: missing closing ]: `[`"},
    {0, R"x(A.str.matches("(?<n>f)"))x", "true"},
    {0, R"(A.str.matches("\\C"))", "CE"},
    {0, R"(A.str.matches("[" + A.str))", "RE error parsing regexp: missing closing ]: `[fish`"},
    {0, R"(A.str.find("[" + A.str) == "")",
     "RE Illegal regex: error parsing regexp: missing closing ]: `[fish`"},
    {97, R"(A.str.split("s") == ["fi","h"])", "true"},
    {97, R"(A.str.substring(1,3) == "is")", "true"},
    {97, R"(A.str.upperAscii() == "FISH")", "true"},
    {97, R"(A.str.replace("f","d") == "dish")", "true"},
    {97, R"(A.strs.join(",") == "fish,bird")", "true"},
    {97, R"(A.str.indexOf("s") == 2)", "true"},
    {97, R"(A.str.charAt(4) == "")", "true"},
    {98, R"(A.str.charAt(5) == "")", "RE index out of range: 5"},
    {98, R"(A.str.substring(3,2) == "")", "RE invalid substring range. start: 3, end: 2"},
    {99, R"(A.str.reverse() == ["f"])", "RE no such overload: reverse(string)"},
    {99, R"(A.str.reverse() == "hsif")", "CE"},
    {0, "\"\u65e5\u672c\".size() == 2 && \"\u65e5\u672c\".charAt(1) == \"\u672c\"", "true"},
    {0, R"("abc".replace("", "x") == "xaxbxcx")", "true"},
};
INSTANTIATE_TEST_SUITE_P(Strings, Library, testing::ValuesIn(kStrings), NameOfCase);

// From one type to another; constants fail when the program is made.
constexpr ExpressionCase kConversions[] = {
    {103, R"(int("abc") == 1)",
     "CE program instantiation failed: type conversion error from 'string' to 'int'"},
    {103, "int(A.str) == 1", "RE type conversion error from 'string' to 'int'"},
    {104, "int(3.9) == 3", "true"},
    {104, "int(-3.9) == -3", "true"},
    {104, R"(int("42") == 42)", "true"},
    {104, R"(string(A.int) == "5")", "true"},
    {105, "uint(-1) == 1u", "CE program instantiation failed: unsigned integer overflow"},
    {0,
     R"(string(123456.0) == "123456" && string(1000000.0) == "1e+06" && string(0.00001) == "1e-05" && string(1.5) == "1.5")",
     "true"},
    {0, R"(string(A.ver) == "")", "RE no such overload: string(kubernetes.Semver)"},
    {0, "type(A.int) == int && type(int) == type && type(A.ver) != string", "true"},
    {0, "kubernetes.DRADevice{} == device", "RE unknown type 'kubernetes.DRADevice'"},
    {0, "google.protobuf.Int32Value{value: 1} == 1", "true"},
    {0, "int{} == 1", "CE compilation failed: ERROR: <input>:1:4: 'int' is not a message type"},
};
INSTANTIATE_TEST_SUITE_P(Conversions, Library, testing::ValuesIn(kConversions), NameOfCase);

// Durations, timestamps and time zones.
constexpr ExpressionCase kTimes[] = {
    {112, R"(duration("1h30m").getMinutes() == 90)", "true"},
    {112, R"(string(duration("90m")) == "5400s")", "true"},
    {112, R"(timestamp("2024-01-31T12:00:00Z").getMonth() == 0)", "true"},
    {113, R"(duration("1x") > duration("1s"))",
     "CE compilation failed: ERROR: <input>:1:10: invalid duration argument"},
    {113, R"(timestamp("bad") > timestamp("2024-01-01T00:00:00Z"))",
     "CE compilation failed: ERROR: <input>:1:11: invalid timestamp argument"},
    {0, R"(timestamp("2024-03-01T00:30:00Z").getDayOfMonth("-01:00") == 28)", "true"},
    {0, R"(timestamp("2024-07-01T00:30:00Z").getHours("Europe/Paris") == 2)", "true"},
    {0, R"(timestamp(0).getHours("Nowhere/City") == 0)", "RE unknown time zone Nowhere/City"},
    {0, R"(string(timestamp("2024-01-01T00:00:00.120+05:00")) == "2024-01-01T00:00:00.12+05:00")", "true"},
    {0, R"(timestamp("9999-12-31T23:59:59Z") + duration("1s") > timestamp(0))", "RE timestamp overflow"},
};
INSTANTIATE_TEST_SUITE_P(Times, Library, testing::ValuesIn(kTimes), NameOfCase);

// Addresses, networks, URLs and named formats.
constexpr ExpressionCase kNetworks[] = {
    {114, R"(isIP("10.0.0.1"))", "true"},
    {114, R"(ip("::1").family() == 6)", "true"},
    {114, R"(cidr("10.0.0.0/8").containsIP("10.1.2.3"))", "true"},
    {114, R"(cidr("10.0.0.0/8").containsCIDR(cidr("10.1.0.0/16")))", "true"},
    {114, R"(isCIDR("192.168.0.1/16"))", "true"},
    {115, R"(isIP("10.0.0.256"))", "false"},
    {115, R"(isIP("::ffff:1.2.3.4"))", "false"},
    {115, R"(isIP("010.0.0.1"))", "false"},
    {115, R"(ip.isCanonical("2001:DB8::1"))", "false"},
    {0, R"(ip("1.2.3").family() == 4)",
     R"(RE IP Address "1.2.3" parse error during conversion from string: ParseAddr("1.2.3"): IPv4 address too short)"},
    {0, R"(string(cidr("10.1.2.3/8").masked()) == "10.0.0.0/8")", "true"},
    {0, R"(string(ip("2001:db8:0:0:1:0:0:1")) == "2001:db8::1:0:0:1")", "true"},
    {0, R"(cidr("10.0.0.0/8").containsIP("x"))", "RE no such overload"},
    {116, R"(url("https://a.b:80/p").getPort() == "80")", "true"},
    {116, R"(isURL("/abs"))", "true"},
    {116, R"(isURL("../rel"))", "false"},
    {0, R"(url("https://[::1]:80/a%20b?x=1&x=2").getQuery()["x"] == ["1", "2"])", "true"},
    {117, R"(format.dns1123Label().validate("ok").hasValue())", "false"},
    {117, R"(format.named("nope").hasValue())", "false"},
    {117, R"(format.uuid().validate("x").hasValue())", "true"},
};
INSTANTIATE_TEST_SUITE_P(Networks, Library, testing::ValuesIn(kNetworks), NameOfCase);

}  // namespace
}  // namespace berth::cel
