#include "cel/expression_cases.h"

namespace berth::cel {
namespace {

class Language : public testing::TestWithParam<ExpressionCase> {};

TEST_P(Language, GivesWhatUpstreamGives) { ExpectOutcome(GetParam()); }

// What is a literal, a name, a comment; and what the parser and the checker say about the rest.
constexpr ExpressionCase kLiterals[] = {
    {1, "true", "true"},
    {1, "false", "false"},
    {2, "?!", "CE compilation failed: ERROR: <input>:1:1: Syntax error"},
    {3, "1", "CE must evaluate to bool or the unknown type, not int"},
    {4, "noSuchVar",
     "CE compilation failed: ERROR: <input>:1:1: undeclared reference to 'noSuchVar' (in container '')"},
    {109,
     R"("\x41" == "A" && "\u00e9".size() == 1 && "\101" == "A" && r"\n".size() == 2 && b"\xff".size() == 1)",
     "true"},
    {110, R"("\q" == "")", "CE"},
    {110, R"("\ud800" == "")", "CE"},
    {110, R"(b"\u0041" == b"A")", "CE"},
    {111, R"("""a"b""" == "a\"b")", "true"},
    {111, R"('it\'s' == "it's")", "true"},
    {101, "-9223372036854775808 < 0", "true"},
    {101, "9223372036854775808 > 0", "CE compilation failed: ERROR: <input>:1:1: invalid int literal"},
    {119, "true // note", "true"},
    {118, "if", "CE compilation failed: ERROR: <input>:1:1: reserved identifier: if"},
    {118, "A.in", "CE"},
    {118, R"(A.namespace == "x")", "RE no such key: namespace"},
    {0, "'a\r\nb' == 'a'", "CE"},
    {0, "'''a\r\nb''' == 'a\\nb'", "true"},
    {0, "0x1F == 31 && 0xFFu == 255u && .5 == 0.5 && 1e3 == 1000.0", "true"},
    {0, "1e400 > 0.0", "CE compilation failed: ERROR: <input>:1:1: invalid double literal"},
};
INSTANTIATE_TEST_SUITE_P(Literals, Language, testing::ValuesIn(kLiterals), NameOfCase);

// Unknown domains are empty maps that count as found; unknown ids are errors.
constexpr ExpressionCase kFields[] = {
    {5, "A.bool", "true"},
    {5, R"(A["bool"])", "true"},
    {6, "A.missing", "RE no such key: missing"},
    {7, R"(device.attributes["nope"].x)", "RE no such key: x"},
    {7, R"(device.attributes["nope"]["x"])", "RE no such key: x"},
    {8, R"(device.attributes["other.example.com"].name == "x")", "true"},
    {9, "has(A.bool)", "true"},
    {9, "has(A.missing)", "false"},
    {10, R"(has(device.attributes["nope"].x))", "false"},
    {11, "has(device.attributes.nope)", "true"},
    {12, R"(has(A["int"]))", "CE compilation failed: ERROR: <input>:1:41: invalid argument to has() macro"},
    {13, R"("nope" in device.attributes)", "false"},
    {13, R"("dra.example.com" in device.attributes)", "true"},
    {14, R"("int" in A)", "true"},
    {14, R"("zzz" in A)", "false"},
    {14, R"("x" in device.attributes["nope"])", "false"},
    {15, "device.attributes.size() == 2 && A.size() == 7 && device.capacity.size() == 1", "true"},
    {16, R"(device.driver == "dra.example.com")", "true"},
    {17, "device.allowMultipleAllocations", "false"},
    {18, "device.foo", "CE compilation failed: ERROR: <input>:1:7: undefined field 'foo'"},
    {19, R"(device["driver"] == "x")",
     "CE compilation failed: ERROR: <input>:1:7: found no matching overload for '_[_]' applied to "
     "'(kubernetes.DRADevice, string)'"},
    {0, "type(device) == map && dyn(device).size() == 4", "true"},
    {0, "has(device.driver)", "true"},
    {0, "A.`int` == 5", "true"},
    {0, R"([1].map(device, .device.driver) == ["dra.example.com"])", "true"},
};
INSTANTIATE_TEST_SUITE_P(Fields, Language, testing::ValuesIn(kFields), NameOfCase);

// Numbers compare across their types, but are added and multiplied within one.
constexpr ExpressionCase kNumbers[] = {
    {20, "A.int > 4", "true"},
    {20, "A.int >= 5.0", "true"},
    {20, "A.int < 6u", "true"},
    {21, "A.int == 5.0", "true"},
    {21, R"(A.int == "5")", "false"},
    {21, "A.str == 5", "false"},
    {22, "A.int * 1.5 > 7.0", "RE no such overload"},
    {23, "double(A.int) * 1.5 == 7.5", "true"},
    {24, R"(A.int + "x" == "5x")", "RE no such overload"},
    {100, "1 / 0 == 1", "RE division by zero"},
    {100, "1 % 0 == 1", "RE modulus by zero"},
    {100, "9223372036854775807 + 1 > 0", "RE integer overflow"},
    {100, "0u - 1u == 0u", "RE unsigned integer overflow"},
    {0, "-9223372036854775808 / dyn(-1) > 0", "RE integer overflow"},
    {102, "-5 / 2 == -2 && -5 % 2 == -1 && 1 + 2 * 3 == 7 && 10 - 4 - 3 == 3", "true"},
    {106, "1 == 1.0", "CE"},
    {106, "dyn(1) == 1.0", "true"},
    {106, "1 < 1.5", "true"},
    {0, "dyn(9007199254740993) == 9007199254740992.0", "true"},
    {0, "dyn(9007199254740993) in [9007199254740992.0]", "false"},
    {0, R"(double("NaN") == double("NaN"))", "false"},
    {0, R"(double("NaN") < 1.0)", "RE NaN values cannot be ordered"},
    {0, "--1 == 1", "true"},
    {0, "- -1 == 1", "true"},
};
INSTANTIATE_TEST_SUITE_P(Numbers, Language, testing::ValuesIn(kNumbers), NameOfCase);

// || and && absorb errors; a result must be a bool.
constexpr ExpressionCase kLogic[] = {
    {53, "A.missing == 1 || true", "true"},
    {53, "A.missing == 1 && false", "false"},
    {54, "A.missing == 1 || false", "RE no such key: missing"},
    {55, "false && A.missing", "false"},
    {55, "true || A.missing", "true"},
    {56, "A.int || true", "true"},
    {56, "A.int || false", "RE no such overload"},
    {57, "A.int ? true : false", "RE no such overload"},
    {58, "!A.int", "RE no such overload"},
    {58, "!A.bool", "false"},
    {59, "false ? 1 / 0 == 1 : true", "true"},
    {60, "A.bool ? A.int : 7",
     "RE CEL result of type int could not be converted to bool: unsupported type conversion from 'int' to "
     "bool"},
    {61, "A.str",
     "RE CEL result of type string could not be converted to bool: unsupported native conversion from string "
     "to 'bool'"},
    {61, "A.strs",
     "RE CEL result of type list could not be converted to bool: type conversion error from list to 'bool'"},
    {107, "true || false && false", "true"},
    {107, "2 in [1,2] == true", "true"},
    {107, "!!true", "true"},
    {108, "true ? false ? true : false : true", "CE"},
    {108, "true ? (false ? true : false) : true", "false"},
    {0, "A.missing || A.nope", "RE no such key: missing"},
};
INSTANTIATE_TEST_SUITE_P(Logic, Language, testing::ValuesIn(kLogic), NameOfCase);

// .? and [?] make a missing value a value.
constexpr ExpressionCase kOptionals[] = {
    {62, "A.?missing.orValue(false)", "false"},
    {62, "A.?bool.orValue(false)", "true"},
    {63, "A.?missing.hasValue()", "false"},
    {63, R"(device.attributes[?"nope"].hasValue())", "true"},
    {64, R"(device.attributes[?"nope"].?x.hasValue())", "false"},
    {65, R"(A.?str.orValue("none") == "fish")", "true"},
    {65, "device.?driver.hasValue()", "true"},
    {66, "A.?int.optMap(v, v * 2).orValue(0) == 10", "true"},
    {67, "A.?missing.value() == 1", "RE optional.none() dereference"},
    {0, "[?A.?int, ?A.?missing].size() == 1", "true"},
    {0, R"({?"a": A.?missing}.size() == 0)", "true"},
    {0, "A.?int.optFlatMap(v, optional.of(v)).value() == 5", "true"},
    {0, "A.?int", "CE must evaluate to bool or the unknown type, not optional_type(dyn)"},
    {0, "dyn(A.?int)",
     "RE CEL result of type optional_type could not be converted to bool: unsupported type conversion from "
     "'int'"},
    {0, "dyn(A.?bool)", "true"},
    {0, "[1, 2].first().value() == 1 && [1, 2].last().value() == 2", "true"},
    {0, "dyn(1).orValue(2) == 2", "RE no such overload"},
    {0, "[?dyn(optional.of(1))].size() == 1", "true"},
};
INSTANTIATE_TEST_SUITE_P(Optionals, Language, testing::ValuesIn(kOptionals), NameOfCase);

// all and exists absorb errors like the operators, the other loops do not. cel.bind is lazy.
constexpr ExpressionCase kMacros[] = {
    {68, "cel.bind(d, A, d.bool && d.int == 5)", "true"},
    {69, "cel.bind(x, A.missing, true)", "true"},
    {70, "A.ints.exists(x, x == 2)", "true"},
    {70, "A.ints.all(x, x > 1)", "false"},
    {70, "A.ints.exists_one(x, x > 2)", "true"},
    {71, "A.int.exists(x, x > 0)", "RE got 'types.Int', expected iterable type"},
    {72, "A.ver.exists(x, true)", "RE got 'cel.Semver', expected iterable type"},
    {73, "device.driver.exists(x, true)",
     "CE compilation failed: ERROR: <input>:1:7: expression of type 'string' cannot be range of a "
     "comprehension (must be list, map, or dynamic)"},
    {74, "[0, 1].exists(x, 1 / x == 1)", "true"},
    {74, "[1, 0].all(x, 1 / x == 1)", "RE division by zero"},
    {75, "[1, 0].exists_one(x, 1 / x == 1)", "RE division by zero"},
    {76, R"(device.attributes["nope"].all(k, false))", "true"},
    {76, R"(device.attributes["nope"].exists(k, true))", "false"},
    {77, R"(A.exists(k, k == "int"))", "true"},
    {77, R"(device.attributes.exists_one(d, d == "other.example.com"))", "true"},
    {82, "A.ints.map(x, x * 2) == [2, 4, 6]", "true"},
    {82, "A.ints.filter(x, x > 1).size() == 2", "true"},
    {83, R"(A.strs.map(s, s.startsWith("f"), s + "!") == ["fish!"])", "true"},
    {89, R"({"a": 1, "b": 2}.exists(k, v, v == 2))", "true"},
    {89, "[4].transformList(i, v, v + i) == [4]", "true"},
    {0, R"({"a": 1}.transformMap(k, v, v + 1) == {"a": 2})", "true"},
    {0, "[1, 1].transformMapEntry(i, v, {v: i}).size() == 1", "RE insert failed: key 1 already exists"},
    {0, "[3, 1, 2].sortBy(x, -x) == [3, 2, 1]", "true"},
    {0, "cel.bind(x, [1, 2].map(y, y), [3].all(z, x.size() == 2 && z == 3))", "true"},
    {0, "[1].all(1, true)", "CE compilation failed: ERROR: <input>:1:9: argument must be a simple name"},
    {0, "[1].map(x.y, true) == []",
     "CE compilation failed: ERROR: <input>:1:10: argument is not an identifier"},
};
INSTANTIATE_TEST_SUITE_P(Macros, Language, testing::ValuesIn(kMacros), NameOfCase);

}  // namespace
}  // namespace berth::cel
