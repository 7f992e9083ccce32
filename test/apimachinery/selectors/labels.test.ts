import { ApiError } from "@virtual-workspaces/apimachinery";
import { everyLabel, labelSelectorFromObject, parseLabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import { expect } from "chai";
import fc from "fast-check";
import { computed } from "../../_support/cpu.ts";

type Labels = Record<string, string>;

/** Selector, labels that match, labels that do not. */
const table: readonly [string, Labels[], Labels[]][] = [
  ["", [{}, { a: "b" }], []],
  [" \t\r\n", [{}], []],
  ["a", [{ a: "" }, { a: "b" }], [{}, { b: "a" }]],
  ["!a", [{}, { b: "a" }], [{ a: "" }]],
  ["a=b", [{ a: "b" }], [{}, { a: "c" }]],
  ["a==b", [{ a: "b" }], [{}, { a: "c" }]],
  ["a=", [{ a: "" }], [{}, { a: "b" }]],
  ["a!=b", [{}, { a: "c" }], [{ a: "b" }]],
  ["a in (b,c)", [{ a: "b" }, { a: "c" }], [{}, { a: "d" }]],
  ["a notin (b,c)", [{}, { a: "d" }], [{ a: "b" }, { a: "c" }]],
  ["a in ()", [{ a: "" }], [{}, { a: "b" }]],
  ["a in (,b)", [{ a: "" }, { a: "b" }], [{}]],
  ["a in (b,)", [{ a: "" }, { a: "b" }], [{}]],
  ["a in (b,,c)", [{ a: "" }, { a: "b" }], [{ a: "d" }]],
  [
    "a>5",
    [{ a: "6" }, { a: "07" }, { a: "+7" }],
    [{}, { a: "5" }, { a: "-6" }, { a: "x" }, { a: "9223372036854775808" }],
  ],
  ["a<5", [{ a: "4" }, { a: "-9223372036854775808" }], [{ a: "5" }, { a: "" }, { a: "-9223372036854775809" }]],
  ["a>9007199254740992", [{ a: "9007199254740993" }], [{ a: "9007199254740992" }]],
  [
    "x in (foo,,baz),y,z notin ()",
    [
      { x: "foo", y: "" },
      { x: "", y: "b", z: "c" },
    ],
    [{ x: "foo" }, { x: "a", y: "" }],
  ],
  ["in in (in,notin)", [{ in: "in" }, { in: "notin" }], [{}]],
  ["notin", [{ notin: "a" }], [{}]],
  [" a = b , c ", [{ a: "b", c: "" }], [{ a: "b" }]],
  ["example.com/app=web", [{ "example.com/app": "web" }], [{ app: "web" }]],
  ["constructor", [{ constructor: "a" } as unknown as Labels], [{}]],
  ["!constructor", [{}], [{ constructor: "a" } as unknown as Labels]],
  ["toString!=a", [{}], [{ toString: "a" } as unknown as Labels]],
];

describe("parseLabelSelector", () => {
  for (const [text, matching, others] of table) {
    it(`selects by ${JSON.stringify(text)}`, () => {
      const selector = parseLabelSelector(text);
      for (const labels of matching) expect(selector.matches(labels), JSON.stringify(labels)).to.equal(true);
      for (const labels of others) expect(selector.matches(labels), JSON.stringify(labels)).to.equal(false);
    });
  }

  it("treats missing labels as empty ones", () => {
    expect(parseLabelSelector("!a").matches(undefined)).to.equal(true);
    expect(parseLabelSelector("a").matches(undefined)).to.equal(false);
  });

  const canonical = {
    "b=2,a=1": "a=1,b=2",
    "a==1": "a=1",
    "a in (1)": "a=1",
    "a notin (1)": "a!=1",
    "a in (c,b,c)": "a in (b,c)",
    "a in (,)": "a=",
    "a,a": "a",
    "!b , a": "a,!b",
    "a > 007": "a>7",
    "a in (b,)": "a in (,b)",
  };
  for (const [text, expected] of Object.entries(canonical)) {
    it(`formats ${text} as ${expected}`, () => expect(parseLabelSelector(text).toString()).to.equal(expected));
  }

  it("reports its requirements", () => {
    const [first, second, ...rest] = parseLabelSelector("b in (y,x),!a").requirements;
    expect(first).to.include({ key: "a", operator: "!" }).and.deep.include({ values: [] });
    expect(second)
      .to.include({ key: "b", operator: "in" })
      .and.deep.include({ values: ["x", "y"] });
    expect(rest).to.deep.equal([]);
  });

  it("is empty if everything matches", () => {
    expect(parseLabelSelector("")).to.equal(everyLabel);
    expect(everyLabel.empty).to.equal(true);
    expect(everyLabel.toString()).to.equal("");
    expect(parseLabelSelector("a").empty).to.equal(false);
  });
});

const LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** Texts that are not selectors, with the messages of Kubernetes 1.37. */
const refused = {
  ",": "found ',', expected: !, identifier, or 'end of string'",
  "=a": "found '=', expected: !, identifier, or 'end of string'",
  "a,": "found '', expected: identifier after ','",
  "a,,b": "found ',', expected: identifier after ','",
  "a=b c": "found 'c', expected: ',' or 'end of string'",
  "!a=b": "found '=', expected: ',' or 'end of string'",
  "a b": "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
  "!": "unable to parse requirement: found '', expected: identifier",
  "!!a": "unable to parse requirement: found '!', expected: identifier",
  "a==!b": "unable to parse requirement: found '!', expected: identifier",
  "a in": "unable to parse requirement: found '' expected: '('",
  "a in b": "unable to parse requirement: found 'b' expected: '('",
  "a in (": "unable to parse requirement: found '', expected: ',', ')' or identifier",
  "a in (b": "unable to parse requirement: found '', expected: ',' or ')'",
  "a in (b c)": "unable to parse requirement: found 'c', expected: ',' or ')'",
  "a in (b,": "unable to parse requirement: found '', expected: ',', or identifier",
  "a in (b,(": "unable to parse requirement: found '(', expected: ',', or identifier",
  "a>b": `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`,
  "a=b/c": `unable to parse requirement: values[0][a]: Invalid value: "b/c": ${LABEL_VALUE}`,
  "a in (z/z,b)": `unable to parse requirement: values[1][a]: Invalid value: "z/z": ${LABEL_VALUE}`,
};

describe("parseLabelSelector with invalid input", () => {
  for (const [text, message] of Object.entries(refused)) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(() => parseLabelSelector(text))
        .to.throw(ApiError)
        .with.property("message", message);
      expect(() => parseLabelSelector(text))
        .to.throw(ApiError)
        .with.property("code", 400);
    });
  }

  it("rejects an invalid key", () => {
    expect(() => parseLabelSelector("-a=b")).to.throw(
      ApiError,
      'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of alphanumeric characters',
    );
  });

  it("rejects a NUL, and does not end there", () => {
    expect(() => parseLabelSelector("a\0,b")).to.throw(ApiError, 'Invalid value: "a\\x00"');
  });
});

const key = fc.constantFrom("a", "b", "in", "example.com/app", "x_y");
const value = fc.constantFrom("", "a", "b", "1", "7", "12", "v1.0");
const requirement = fc.oneof(
  key,
  key.map((k) => `!${k}`),
  fc.tuple(key, fc.constantFrom("=", "==", "!="), value).map((parts) => parts.join("")),
  fc.tuple(key, fc.constantFrom(">", "<"), fc.nat()).map((parts) => parts.join("")),
  fc
    .tuple(key, fc.constantFrom("in", "notin"), fc.array(value, { maxLength: 3 }))
    .map(([k, operator, values]) => `${k} ${operator} (${values.join(",")})`),
);
const requirements = fc.array(requirement, { maxLength: 4 });
const labels = fc.dictionary(key, value);

describe("a label selector", () => {
  it("matches the same after a round trip through its text, and has the same text again", () => {
    fc.assert(
      fc.property(requirements, labels, (parts, object) => {
        const selector = parseLabelSelector(parts.join(","));
        const again = parseLabelSelector(selector.toString());
        expect(again.toString()).to.equal(selector.toString());
        expect(again.matches(object)).to.equal(selector.matches(object));
      }),
    );
  });

  it("has a text that does not depend on order or repetition", () => {
    fc.assert(
      fc.property(requirements, (parts) => {
        const text = parseLabelSelector(parts.join(",")).toString();
        expect(parseLabelSelector([...parts].reverse().join(",")).toString()).to.equal(text);
        expect(parseLabelSelector([...parts, ...parts].join(",")).toString()).to.equal(text);
      }),
    );
  });

  it("matches if all of its requirements do", () => {
    fc.assert(
      fc.property(requirements, labels, (parts, object) => {
        const each = parts.every((part) => parseLabelSelector(part).matches(object));
        expect(parseLabelSelector(parts.join(",")).matches(object)).to.equal(each);
      }),
    );
  });

  it("is parsed or rejected with a 400, for any text", () => {
    const token = fc.constantFrom(..."=!(),<> \t\0ab1-/é", "in", "notin", "==", "!=");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(token).map((tokens) => tokens.join("")),
        ),
        (text) => {
          try {
            parseLabelSelector(text);
          } catch (error) {
            expect(error).to.be.instanceOf(ApiError).with.property("code", 400);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  for (const part of ["a,", "a in (b,c),", "(", "!", "a>1,", "((((", "a=b,"]) {
    it(`parses a mebibyte of ${JSON.stringify(part)} quickly`, () => {
      const started = computed();
      const text = part.repeat(2 ** 20 / part.length);
      expect(() => parseLabelSelector(text)).to.throw(ApiError);
      expect(computed() - started).to.be.below(2000);
    });
  }
});

describe("labelSelectorFromObject", () => {
  it("joins labels and expressions", () => {
    const selector = labelSelectorFromObject({
      matchLabels: { b: "1", a: "2" },
      matchExpressions: [
        { key: "c", operator: "In", values: ["y", "x"] },
        { key: "d", operator: "NotIn", values: ["z"] },
        { key: "e", operator: "Exists" },
        { key: "f", operator: "DoesNotExist", values: [] },
      ],
    });
    expect(selector.toString()).to.equal("a=2,b=1,c in (x,y),d!=z,e,!f");
  });

  it("matches everything without parts", () => {
    expect(labelSelectorFromObject({}).empty).to.equal(true);
    expect(labelSelectorFromObject({ matchLabels: {}, matchExpressions: [] }).empty).to.equal(true);
  });

  const refusedObjects = {
    'key: Invalid value: "/"': { matchLabels: { "/": "a" } },
    'values[0][a]: Invalid value: "-"': { matchLabels: { a: "-" } },
    "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty": {
      matchExpressions: [{ key: "a", operator: "In" }],
    },
    'values: Invalid value: ["b"]: values set must be empty for exists and does not exist': {
      matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }],
    },
    '"Gt" is not a valid label selector operator': { matchExpressions: [{ key: "a", operator: "Gt", values: ["1"] }] },
  };
  for (const [message, object] of Object.entries(refusedObjects)) {
    it(`rejects ${JSON.stringify(object)}`, () => {
      expect(() => labelSelectorFromObject(object as never)).to.throw(ApiError, message);
    });
  }
});
