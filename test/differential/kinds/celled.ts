// One rule for each feature of CEL: a field, its schema, and values to try.
import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { type DifferentialKind, kind } from "./kind.ts";

interface Rule {
  readonly schema: JsonSchema;
  readonly rule: string;
  readonly values: readonly unknown[];
}

const TEXT: JsonSchema = { type: "string", maxLength: 40 };
const INT: JsonSchema = { type: "integer" };
const NUMBER: JsonSchema = { type: "number" };
const BOOL: JsonSchema = { type: "boolean" };
const TEXTS: JsonSchema = { type: "array", maxItems: 5, items: { type: "string", maxLength: 10 } };
const INTS: JsonSchema = { type: "array", maxItems: 5, items: { type: "integer" } };
const MAP: JsonSchema = { type: "object", maxProperties: 5, additionalProperties: { type: "string", maxLength: 10 } };

const texts = (rule: string, ...values: string[]): Rule => ({ schema: TEXT, rule, values });
const ints = (rule: string, ...values: unknown[]): Rule => ({ schema: INT, rule, values });
const numbers = (rule: string, ...values: unknown[]): Rule => ({ schema: NUMBER, rule, values });
const listOf = (rule: string, ...values: string[][]): Rule => ({ schema: TEXTS, rule, values });
const intsOf = (rule: string, ...values: number[][]): Rule => ({ schema: INTS, rule, values });
const mapOf = (rule: string, ...values: object[]): Rule => ({ schema: MAP, rule, values });

/** Rules by field. */
export const RULES: Readonly<Record<string, Rule>> = {
  size: texts("self.size() <= 3 && size(self) <= 3", "abc", "abcd", "äöü", "😀😀😀", "😀😀😀😀"),
  contains: texts("self.contains('b') || self.startsWith('x') || self.endsWith('y')", "abc", "xc", "cy", "c", ""),
  matches: texts("self.matches('^[a-z]+[0-9]?$')", "abc1", "abc12", "ABC", "a\n"),
  lower: texts("self.lowerAscii() == self", "abc", "ABC", "ÄB", "ä"),
  upper: texts("self.upperAscii() == 'ABC'", "abc", "Abc", "abd"),
  trim: texts("self.trim() == self", "abc", " abc", "abc\t", "\u00a0abc"),
  substring: texts("self.substring(1) == 'bc' && self.substring(0, 1) == 'a'", "abc", "xbc", "a", ""),
  charAt: texts("self.charAt(1) == 'b'", "abc", "acb", "", "😀b"),
  indexOf: texts("self.indexOf('b') == 1 && self.lastIndexOf('b') == 3", "abab", "abbb", "ab", "äbäb"),
  replace: texts("self.replace('a', 'b') == 'bbb' && self.replace('a', '', 1).size() == 2", "aaa", "abb", "bbb"),
  split: texts("self.split(',').size() == 2 && self.split(',', 1)[0] == self", "a,b", "a", "a,b,c", ""),
  join: listOf("self.join('-') == 'a-b' || self.join() == 'xy'", ["a", "b"], ["x", "y"], ["a"], []),
  find: texts("self.find('[0-9]+') == '12' && self.findAll('[0-9]').size() == 2", "a12b", "a1b2", "12", "x"),
  format: texts("'%s is %d'.format([self, 1]) == 'a is 1'", "a", "b"),
  quote: texts("strings.quote(self) == '\"a\"'", "a", "b"),
  concat: texts("self + 'b' == 'ab'", "a", "b"),
  compare: texts("self < 'b' && 'A' < self", "a", "b", "B", ""),
  toInt: texts("int(self) > 5", "7", "3", "x", "9223372036854775808", ""),
  toDouble: texts("double(self) > 1.5", "2.0", "1", "x", "1e400"),
  toBool: texts("bool(self)", "true", "false", "TRUE", "1", "x"),
  toBytes: texts("bytes(self).size() == 3", "abc", "ä1", "äö"),
  duration: texts(
    "duration(self) > duration('1m') && duration(self).getSeconds() < 7200",
    "1h",
    "30s",
    "3h",
    "x",
    "1h30m",
  ),
  timestamp: texts(
    "timestamp(self).getFullYear() == 2020 && timestamp(self).getDayOfWeek() == 3",
    "2020-01-01T00:00:00Z",
    "2020-01-02T00:00:00Z",
    "2021-01-01T00:00:00Z",
    "x",
  ),
  hours: texts("timestamp(self).getHours('+01:00') == 1", "2020-01-01T00:00:00Z", "2020-01-01T01:00:00Z"),
  plusTime: texts(
    "timestamp(self) + duration('24h') == timestamp('2020-01-02T00:00:00Z')",
    "2020-01-01T00:00:00Z",
    "2020-01-02T00:00:00Z",
  ),
  ternary: texts("self == 'a' ? true : self == 'b'", "a", "b", "c"),
  inList: texts("self in ['a', 'b']", "a", "c"),
  named: texts("!format.dns1123Label().validate(self).hasValue()", "a-b", "A_b", ""),
  uuidFormat: texts("!format.uuid().validate(self).hasValue()", "7d4a3c70-1111-4222-8333-0123456789ab", "x"),
  url: texts(
    "isURL(self) && url(self).getHost() == 'a.dev:80' && url(self).getPort() == '80' && url(self).getHostname() == 'a.dev'",
    "http://a.dev:80/x",
    "http://b.dev/",
    "x",
    "/rel",
  ),
  query: texts(
    "isURL(self) && url(self).getQuery()['k'] == ['v'] && url(self).getEscapedPath() == '/a%20b'",
    "http://a/a b?k=v",
    "http://a/a%20b?k=v",
    "http://a/a%20b?k=w",
  ),
  ip: texts("isIP(self) && ip(self).isLoopback() && ip(self).family() == 4", "127.0.0.1", "::1", "10.0.0.1", "x"),
  canonical: texts("ip.isCanonical(self)", "::1", "0:0::1", "1.2.3.4", "x"),
  cidr: texts(
    "isCIDR(self) && cidr(self).containsIP('10.1.1.1') && cidr(self).prefixLength() == 8 && cidr(self).ip() == cidr(self).masked().ip()",
    "10.0.0.0/8",
    "10.0.0.1/8",
    "10.0.0.0/16",
    "x",
  ),
  containsCIDR: texts("isCIDR(self) && cidr(self).containsCIDR('10.0.0.0/16')", "10.0.0.0/8", "10.0.0.0/24", "::/0"),
  quantity: texts(
    "isQuantity(self) && quantity(self).add(quantity('1k')).compareTo(quantity('2k')) == 0",
    "1k",
    "1000",
    "1Ki",
    "x",
  ),
  quantityInt: texts(
    "quantity(self).isInteger() && quantity(self).asInteger() > 5 && sign(quantity(self)) == 1",
    "10",
    "1.5",
    "-3",
    "5",
    "x",
  ),
  quantityFloat: texts(
    "quantity(self).asApproximateFloat() > 1.2 && quantity(self).isGreaterThan(quantity('1'))",
    "1500m",
    "1",
    "1100m",
  ),
  semver: texts(
    "isSemver(self) && semver(self).major() == 1 && semver(self).isGreaterThan(semver('1.0.0'))",
    "1.2.3",
    "1.0.0",
    "2.0.0",
    "v1.2.3",
    "x",
  ),
  arithmetic: ints("self * 2 + 1 - 3 / 2 == 10 || self % 3 == 1", 5, 4, 2),
  overflow: ints("self + 1 > 0", 1, 9223372036854775807n),
  negate: ints("-self < 0", 1, 0, -1),
  division: ints("10 / self > 1", 2, 0, 10),
  modulo: ints("10 % self == 1", 3, 0, 5),
  intToText: ints("self > 1000 || string(self) == '5'", 5, 6, 2000),
  intToDouble: ints("double(self) / 2.0 == 2.5", 5, 6),
  uint: ints("uint(self) > 3u", 5, 2, -1),
  chained: ints("(self > 1 && self < 5) || self == 10", 3, 7, 10),
  shortCircuit: ints("self == 0 || 10 / self == 5", 0, 2, 3),
  doubles: numbers("self > 0.5 && self < 1e3", 0.7, 0.5, 1000, 999.5),
  doubleInt: numbers("int(self) == 1", 1.9, 2, 1, -1.5),
  doubleCompare: numbers("self == 1.0 || self > 2", 1, 2, 2.5),
  infinity: numbers("self / 0.0 > 0.0", 1, -1, 0),
  negation: { schema: BOOL, rule: "!self", values: [false, true] },
  listSize: listOf("self.size() < 3 && self[0] == 'a'", ["a"], ["b"], ["a", "b", "c"], []),
  all: listOf("self.all(x, x.size() == 1)", ["a", "b"], ["ab"], []),
  exists: listOf("self.exists(x, x == 'a') && self.exists_one(x, x == 'b')", ["a", "b"], ["a", "b", "b"], ["b"]),
  map: listOf("self.map(x, x + '!')[0] == 'a!'", ["a"], ["b"], []),
  filter: listOf(
    "self.filter(x, x.startsWith('a')).size() == 1 && self.map(x, x != 'b', x).size() == 1",
    ["a", "b"],
    ["a", "a"],
  ),
  sorted: listOf("self.isSorted() && (self.size() == 0 || self.min() == 'a')", ["a", "b"], ["b", "a"], ["b"], []),
  indexOfList: listOf("self.indexOf('b') == 1 && self.lastIndexOf('b') == 2", ["a", "b", "b"], ["b"], []),
  setsContain: listOf(
    "sets.contains(self, ['a']) && sets.intersects(self, ['b', 'c']) || sets.equivalent(self, ['x'])",
    ["a", "b"],
    ["a"],
    ["x", "x"],
  ),
  listPlus: listOf("self + ['z'] == ['a', 'z']", ["a"], ["b"]),
  unique: listOf("self.all(x, self.exists_one(y, x == y))", ["a", "b"], ["a", "a"]),
  twoVariables: listOf("self.all(i, x, i < 2 || x == 'z')", ["a", "b"], ["a", "b", "z"], ["a", "b", "c"]),
  sum: intsOf("self.sum() == 6 && self.max() == 3", [1, 2, 3], [3, 3], []),
  slices: intsOf("self.size() < 2 || self.slice(0, 2) == [1, 2]", [1, 2, 3], [2, 1], [1]),
  keys: mapOf("'a' in self && self['a'] == 'x'", { a: "x" }, { a: "y" }, { b: "x" }),
  allKeys: mapOf("self.all(k, k.size() == 1 && self[k] != '')", { a: "x" }, { ab: "x" }, { a: "" }, {}),
  missingKey: mapOf("self['zz'] == 'x'", { zz: "x" }, { a: "x" }),
  mapSize: mapOf("self.size() == 1 || self.exists(k, k == 'z')", { a: "1" }, { a: "1", b: "2" }, { z: "1", y: "2" }),
  optional: mapOf(
    "self[?'a'].orValue('none') == 'none' && !self[?'b'].hasValue()",
    {},
    { a: "x" },
    { b: "x" },
    { a: "none" },
  ),
  mapEntries: mapOf("self.all(k, v, k == v)", { a: "a" }, { a: "b" }),
  fields: {
    schema: { type: "object", properties: { a: TEXT, b: INT } },
    rule: "has(self.a) ? self.b > 1 : !has(self.b)",
    values: [{ a: "x", b: 2 }, { a: "x", b: 1 }, { a: "x" }, { b: 1 }, {}],
  },
  escaped: {
    schema: { type: "object", properties: { "a-b": TEXT, "c.d": TEXT, namespace: TEXT, "e/f": TEXT, __g: TEXT } },
    rule: "has(self.a__dash__b) && self.a__dash__b == 'x' || has(self.c__dot__d) || has(self.__namespace__) || has(self.e__slash__f) || has(self.__underscores__g)",
    values: [{ "a-b": "x" }, { "a-b": "y" }, { "c.d": "" }, { namespace: "" }, { "e/f": "" }, { __g: "" }, {}],
  },
  nullable: {
    schema: { type: "object", properties: { n: { type: "string", nullable: true, maxLength: 5 } } },
    rule: "!has(self.n) || self.n == 'x'",
    values: [{ n: null }, { n: "x" }, { n: "y" }, {}],
  },
  equality: {
    schema: { type: "object", properties: { a: TEXTS, b: TEXTS } },
    rule: "!has(self.a) || !has(self.b) || self.a == self.b",
    values: [{ a: ["x"], b: ["x"] }, { a: ["x", "y"], b: ["y", "x"] }, {}],
  },
  setEquality: {
    schema: {
      type: "object",
      properties: {
        a: { ...TEXTS, "x-kubernetes-list-type": "set" },
        b: { ...TEXTS, "x-kubernetes-list-type": "set" },
      },
    },
    rule: "self.a == self.b && self.a + self.b == self.a",
    values: [
      { a: ["x", "y"], b: ["y", "x"] },
      { a: ["x"], b: ["y"] },
    ],
  },
  typed: {
    schema: {
      type: "object",
      properties: {
        at: { type: "string", format: "date-time" },
        for: { type: "string", format: "duration" },
        raw: { type: "string", format: "byte", maxLength: 20 },
        on: { type: "string", format: "date" },
      },
    },
    rule: "(!has(self.at) || self.at < timestamp('2021-01-01T00:00:00Z')) && (!has(self.__for__) || self.__for__ < duration('1h')) && (!has(self.raw) || self.raw == b'hello') && (!has(self.on) || self.on.getDayOfMonth() == 1)",
    values: [
      { at: "2020-01-01T00:00:00Z" },
      { at: "2022-01-01T00:00:00Z" },
      { for: "30m" },
      { for: "2h" },
      { raw: "aGVsbG8=" },
      { raw: "eA==" },
      { on: "2020-01-02" },
      { on: "2020-01-03" },
    ],
  },
};

const names = Object.keys(RULES);
const parts = [names.slice(0, names.length / 2), names.slice(names.length / 2)] as const;

/** Returns half of the fields, because all rules would exceed Kubernetes' cost limit for a schema. */
function half(part: 0 | 1): DifferentialKind {
  const properties = parts[part].map((name): [string, JsonSchema] => {
    const { schema = {}, rule = "" } = RULES[name] ?? {};
    return [name, { ...schema, "x-kubernetes-validations": [{ rule }] }];
  });
  return kind({
    kind: `Celled${part}`,
    scope: "Namespaced",
    schema: { type: "object", properties: { spec: { type: "object", properties: Object.fromEntries(properties) } } },
  });
}

export const CELLED: readonly DifferentialKind[] = [half(0), half(1)];

/** Returns the name of the kind that has a field. */
export function kindOf(field: string): string {
  return parts[0].includes(field) ? "Celled0" : "Celled1";
}
