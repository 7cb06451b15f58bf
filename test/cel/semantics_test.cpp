#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "cel/device_support.h"

namespace berth::cel {
namespace {

// want: "true", "false", or the start of the error: "CE" when compiled, "RE" when run.
struct SemanticsCase {
  std::string_view expression;
  std::string_view want;
};

class Language : public testing::TestWithParam<SemanticsCase> {};

TEST_P(Language, GivesWhatUpstreamGives) {
  const std::string outcome = Outcome(GetParam().expression);
  EXPECT_TRUE(outcome.starts_with(GetParam().want))
      << GetParam().expression << "\n gives " << outcome << "\n, want " << GetParam().want;
}

// What is a literal, a name, a comment; and what the parser and the checker say about the rest.
constexpr SemanticsCase kLiterals[] = {
    {"true", "true"},
    {"false", "false"},
    {"?!", "CE compilation failed: ERROR: <input>:1:1: Syntax error"},
    {"1", "CE must evaluate to bool or the unknown type, not int"},
    {"noSuchVar",
     "CE compilation failed: ERROR: <input>:1:1: undeclared reference to 'noSuchVar' (in container '')"},
    {R"("\x41" == "A" && "\u00e9".size() == 1 && "\101" == "A" && r"\n".size() == 2 && b"\xff".size() == 1)",
     "true"},
    {R"("\q" == "")", "CE"},
    {R"("\ud800" == "")", "CE"},
    {R"(b"\u0041" == b"A")", "CE"},
    {R"("""a"b""" == "a\"b")", "true"},
    {R"('it\'s' == "it's")", "true"},
    {"-9223372036854775808 < 0", "true"},
    {"9223372036854775808 > 0", "CE compilation failed: ERROR: <input>:1:1: invalid int literal"},
    {"true // note", "true"},
    {"if", "CE compilation failed: ERROR: <input>:1:1: reserved identifier: if"},
    {"A.in", "CE"},
    {R"(A.namespace == "x")", "RE no such key: namespace"},
    {"'a\r\nb' == 'a'", "CE"},
    {"'''a\r\nb''' == 'a\\nb'", "true"},
    {"0x1F == 31 && 0xFFu == 255u && .5 == 0.5 && 1e3 == 1000.0", "true"},
    {"1e400 > 0.0", "CE compilation failed: ERROR: <input>:1:1: invalid double literal"},
};
INSTANTIATE_TEST_SUITE_P(Literals, Language, testing::ValuesIn(kLiterals));

// Unknown domains are empty maps that count as found; unknown ids are errors.
constexpr SemanticsCase kFields[] = {
    {"A.bool", "true"},
    {R"(A["bool"])", "true"},
    {"A.missing", "RE no such key: missing"},
    {R"(device.attributes["nope"].x)", "RE no such key: x"},
    {R"(device.attributes["nope"]["x"])", "RE no such key: x"},
    {R"(device.attributes["other.example.com"].name == "x")", "true"},
    {"has(A.bool)", "true"},
    {"has(A.missing)", "false"},
    {R"(has(device.attributes["nope"].x))", "false"},
    {"has(device.attributes.nope)", "true"},
    {R"(has(A["int"]))", "CE compilation failed: ERROR: <input>:1:41: invalid argument to has() macro"},
    {R"("nope" in device.attributes)", "false"},
    {R"("dra.example.com" in device.attributes)", "true"},
    {R"("int" in A)", "true"},
    {R"("zzz" in A)", "false"},
    {R"("x" in device.attributes["nope"])", "false"},
    {"device.attributes.size() == 2 && A.size() == 7 && device.capacity.size() == 1", "true"},
    {R"(device.driver == "dra.example.com")", "true"},
    {"device.allowMultipleAllocations", "false"},
    {"device.foo", "CE compilation failed: ERROR: <input>:1:7: undefined field 'foo'"},
    {R"(device["driver"] == "x")",
     "CE compilation failed: ERROR: <input>:1:7: found no matching overload for '_[_]' applied to "
     "'(kubernetes.DRADevice, string)'"},
    {"type(device) == map && dyn(device).size() == 4", "true"},
    {"has(device.driver)", "true"},
    {"A.`int` == 5", "true"},
    {R"([1].map(device, .device.driver) == ["dra.example.com"])", "true"},
};
INSTANTIATE_TEST_SUITE_P(Fields, Language, testing::ValuesIn(kFields));

// Numbers compare across their types, but are added and multiplied within one.
constexpr SemanticsCase kNumbers[] = {
    {"A.int > 4", "true"},
    {"A.int >= 5.0", "true"},
    {"A.int < 6u", "true"},
    {"A.int == 5.0", "true"},
    {R"(A.int == "5")", "false"},
    {"A.str == 5", "false"},
    {"A.int * 1.5 > 7.0", "RE no such overload"},
    {"double(A.int) * 1.5 == 7.5", "true"},
    {R"(A.int + "x" == "5x")", "RE no such overload"},
    {"1 / 0 == 1", "RE division by zero"},
    {"1 % 0 == 1", "RE modulus by zero"},
    {"9223372036854775807 + 1 > 0", "RE integer overflow"},
    {"0u - 1u == 0u", "RE unsigned integer overflow"},
    {"-9223372036854775808 / dyn(-1) > 0", "RE integer overflow"},
    {"-5 / 2 == -2 && -5 % 2 == -1 && 1 + 2 * 3 == 7 && 10 - 4 - 3 == 3", "true"},
    {"1 == 1.0", "CE"},
    {"dyn(1) == 1.0", "true"},
    {"1 < 1.5", "true"},
    {"dyn(9007199254740993) == 9007199254740992.0", "true"},
    {"dyn(9007199254740993) in [9007199254740992.0]", "false"},
    {R"(double("NaN") == double("NaN"))", "false"},
    {R"(double("NaN") < 1.0)", "RE NaN values cannot be ordered"},
    {"--1 == 1", "true"},
    {"- -1 == 1", "true"},
};
INSTANTIATE_TEST_SUITE_P(Numbers, Language, testing::ValuesIn(kNumbers));

// || and && absorb errors; a result must be a bool.
constexpr SemanticsCase kLogic[] = {
    {"A.missing == 1 || true", "true"},
    {"A.missing == 1 && false", "false"},
    {"A.missing == 1 || false", "RE no such key: missing"},
    {"false && A.missing", "false"},
    {"true || A.missing", "true"},
    {"A.int || true", "true"},
    {"A.int || false", "RE no such overload"},
    {"A.int ? true : false", "RE no such overload"},
    {"!A.int", "RE no such overload"},
    {"!A.bool", "false"},
    {"false ? 1 / 0 == 1 : true", "true"},
    {"A.bool ? A.int : 7",
     "RE CEL result of type int could not be converted to bool: unsupported type conversion from 'int' to "
     "bool"},
    {"A.str",
     "RE CEL result of type string could not be converted to bool: unsupported native conversion from string "
     "to 'bool'"},
    {"A.strs",
     "RE CEL result of type list could not be converted to bool: type conversion error from list to 'bool'"},
    {"true || false && false", "true"},
    {"2 in [1,2] == true", "true"},
    {"!!true", "true"},
    {"true ? false ? true : false : true", "CE"},
    {"true ? (false ? true : false) : true", "false"},
    {"A.missing || A.nope", "RE no such key: missing"},
};
INSTANTIATE_TEST_SUITE_P(Logic, Language, testing::ValuesIn(kLogic));

// .? and [?] make a missing value a value.
constexpr SemanticsCase kOptionals[] = {
    {"A.?missing.orValue(false)", "false"},
    {"A.?bool.orValue(false)", "true"},
    {"A.?missing.hasValue()", "false"},
    {R"(device.attributes[?"nope"].hasValue())", "true"},
    {R"(device.attributes[?"nope"].?x.hasValue())", "false"},
    {R"(A.?str.orValue("none") == "fish")", "true"},
    {"device.?driver.hasValue()", "true"},
    {"A.?int.optMap(v, v * 2).orValue(0) == 10", "true"},
    {"A.?missing.value() == 1", "RE optional.none() dereference"},
    {"[?A.?int, ?A.?missing].size() == 1", "true"},
    {R"({?"a": A.?missing}.size() == 0)", "true"},
    {"A.?int.optFlatMap(v, optional.of(v)).value() == 5", "true"},
    {"A.?int", "CE must evaluate to bool or the unknown type, not optional_type(dyn)"},
    {"dyn(A.?int)",
     "RE CEL result of type optional_type could not be converted to bool: unsupported type conversion from "
     "'int'"},
    {"dyn(A.?bool)", "true"},
    {"[1, 2].first().value() == 1 && [1, 2].last().value() == 2", "true"},
    {"dyn(1).orValue(2) == 2", "RE no such overload"},
    {"[?dyn(optional.of(1))].size() == 1", "true"},
};
INSTANTIATE_TEST_SUITE_P(Optionals, Language, testing::ValuesIn(kOptionals));

// all and exists absorb errors like the operators, the other loops do not. cel.bind is lazy.
constexpr SemanticsCase kMacros[] = {
    {"cel.bind(d, A, d.bool && d.int == 5)", "true"},
    {"cel.bind(x, A.missing, true)", "true"},
    {"A.ints.exists(x, x == 2)", "true"},
    {"A.ints.all(x, x > 1)", "false"},
    {"A.ints.exists_one(x, x > 2)", "true"},
    {"A.int.exists(x, x > 0)", "RE got 'types.Int', expected iterable type"},
    {"A.ver.exists(x, true)", "RE got 'cel.Semver', expected iterable type"},
    {"device.driver.exists(x, true)",
     "CE compilation failed: ERROR: <input>:1:7: expression of type 'string' cannot be range of a "
     "comprehension (must be list, map, or dynamic)"},
    {"[0, 1].exists(x, 1 / x == 1)", "true"},
    {"[1, 0].all(x, 1 / x == 1)", "RE division by zero"},
    {"[1, 0].exists_one(x, 1 / x == 1)", "RE division by zero"},
    {R"(device.attributes["nope"].all(k, false))", "true"},
    {R"(device.attributes["nope"].exists(k, true))", "false"},
    {R"(A.exists(k, k == "int"))", "true"},
    {R"(device.attributes.exists_one(d, d == "other.example.com"))", "true"},
    {"A.ints.map(x, x * 2) == [2, 4, 6]", "true"},
    {"A.ints.filter(x, x > 1).size() == 2", "true"},
    {R"(A.strs.map(s, s.startsWith("f"), s + "!") == ["fish!"])", "true"},
    {R"({"a": 1, "b": 2}.exists(k, v, v == 2))", "true"},
    {"[4].transformList(i, v, v + i) == [4]", "true"},
    {R"({"a": 1}.transformMap(k, v, v + 1) == {"a": 2})", "true"},
    {"[1, 1].transformMapEntry(i, v, {v: i}).size() == 1", "RE insert failed: key 1 already exists"},
    {"[3, 1, 2].sortBy(x, -x) == [3, 2, 1]", "true"},
    {"cel.bind(x, [1, 2].map(y, y), [3].all(z, x.size() == 2 && z == 3))", "true"},
    {"[1].all(1, true)", "CE compilation failed: ERROR: <input>:1:9: argument must be a simple name"},
    {"[1].map(x.y, true) == []", "CE compilation failed: ERROR: <input>:1:10: argument is not an identifier"},
};
INSTANTIATE_TEST_SUITE_P(Macros, Language, testing::ValuesIn(kMacros));

}  // namespace
}  // namespace berth::cel
