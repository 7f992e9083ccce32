// Expressions of admission policies give the results and errors of Kubernetes' own library.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { LazyExpressions, type WantedType } from "@virtual-workspaces/framework/resource";
import { expect } from "chai";
import { building, goProgram } from "./support/build.ts";

interface Case {
  readonly source: string;
  readonly wanted?: keyof typeof WANTED;
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
}

interface Result {
  readonly problem?: string;
  readonly error?: string;
  readonly value?: unknown;
}

const WANTED = {
  bool: "bool",
  string: "string",
  audit: ["string", "null_type"],
  object: "Object",
  patch: "list(JSONPatch)",
} as const satisfies Readonly<Record<string, WantedType | readonly WantedType[]>>;

const OBJECT = {
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { name: "a", labels: { "example.dev/team": "red" } },
  spec: { size: 3, ratio: 0.5, tags: ["a", "b"], limits: { cpu: "500m", memory: "1Gi" }, none: null },
};
const bools = [
  "object.spec.size > 2",
  "object.spec.size + 1 == 4 && object.spec.ratio * 2.0 == 1.0",
  "object.spec.missing > 2",
  "object.spec.missing > 2 || object.spec.size == 3",
  "object.spec.size > 2 || object.spec.missing",
  "has(object.spec.none)",
  "has(object.spec.missing.deeper)",
  "object.spec.?missing.orValue(7) == 7",
  "object.metadata.labels['example.dev/team'] == 'red'",
  "object.metadata.labels['none'] == 'red'",
  "'a' in object.spec.tags",
  "object.spec.tags[5] == 'a'",
  "object.spec.tags.all(t, t.startsWith('a'))",
  "object.spec.tags.exists_one(t, t == 'b')",
  "object.spec.tags.map(t, t + '!') == ['a!', 'b!']",
  "object.spec.limits.all(k, object.spec.limits[k] != '')",
  "quantity(object.spec.limits.cpu).isLessThan(quantity('1'))",
  "quantity('x').isLessThan(quantity('1'))",
  "object.spec.size == '3'",
  "object.spec.size + 'a' == 'b'",
  "object.spec.size / 0 == 1",
  "int(object.metadata.name) == 1",
  "oldObject == null",
  "oldObject.spec == null",
  "params == null && namespaceObject == null",
  "namespaceObject != null && null == request",
  "params.limit == 1",
  "object.metadata.name.matches('^[a-z]$')",
  "object.spec.size",
  "1",
  "'a'",
  "null",
  "[1]",
  "{'a': 1}",
  "nope",
  "object.nope()",
  "size(object)",
  "request.nope == ''",
  "namespaceObject.metadata.nope == ''",
  "authorizer == 1",
  "authorizer.nope('a')",
  "authorizer.group('').resource(1).check('get').allowed()",
  "authorizer.group('').check('get').allowed()",
  "variables.nope == 1",
  "object == 1 && 2",
  "1 + 'a' == 2",
];
const CASES: readonly Case[] = [
  ...bools.map((source): Case => ({ source, wanted: "bool" })),
  { source: "'size ' + string(object.spec.size)", wanted: "string" },
  { source: "object.metadata.name", wanted: "string" },
  { source: "1", wanted: "audit" },
  { source: "true ? 'a' : null", wanted: "audit" },
  { source: "variables.a + 1 == 4", wanted: "bool", variables: [{ name: "a", expression: "object.spec.size" }] },
  { source: "variables.a == 'x'", wanted: "bool", variables: [{ name: "a", expression: "1" }] },
  {
    source: "variables.b == 6",
    wanted: "bool",
    variables: [
      { name: "a", expression: "3" },
      { name: "b", expression: "variables.a * 2" },
    ],
  },
  { source: "variables.a == 1", wanted: "bool", variables: [{ name: "a", expression: "object.none" }] },
  { source: "variables.a == 1 || true", wanted: "bool", variables: [{ name: "a", expression: "object.none" }] },
  { source: "true", wanted: "bool", variables: [{ name: "a", expression: "variables.b" }] },
  { source: "Object{spec: Object.spec{size: 4, tags: ['c'], limits: Object.spec.limits{cpu: '1'}}}", wanted: "object" },
  { source: "Object{metadata: Object.metadata{labels: {'a': object.metadata.name}}}", wanted: "object" },
  { source: "Object{?spec: object.?none, ?kind: object.?kind}", wanted: "object" },
  { source: "Object.spec{size: 4}", wanted: "object" },
  { source: "Object{spec: Object.wrong{size: 4}}", wanted: "object" },
  { source: "Object{spec: nope}", wanted: "object" },
  { source: "{'a': 1}", wanted: "object" },
  { source: "[Object{}]", wanted: "patch" },
  { source: "JSONPatch{op: 'add'}", wanted: "patch" },
];

async function theirs(): Promise<readonly Result[]> {
  const child = spawn(goProgram("oracle", "expressions"));
  child.stdin.end(JSON.stringify(CASES.map((one) => ({ ...one, object: OBJECT }))));
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  expect(code, stderr).to.equal(0);
  return JSON.parse(stdout) as Result[];
}

function ours({ source, wanted, variables = [] }: Case): Result {
  const patches = wanted === "object" || wanted === "patch";
  const composer = compilerOf(patches).compose();
  for (const { name, expression } of variables) {
    const problem = composer.declare(name, expression);
    if (problem !== undefined) return { problem };
  }
  const compiled = composer.compile(source, wanted && WANTED[wanted]);
  if ("problem" in compiled) return compiled;
  const values = { object: OBJECT, oldObject: null, params: null, namespaceObject: null, request: {} };
  const evaluation = composer.evaluation({ values });
  evaluation.allow(10_000_000);
  try {
    const value = evaluation.evaluate(compiled.expression);
    return { value: wanted === "object" ? evaluation.objectOf(value) : value };
  } catch (error) {
    return { error: (error as Error).message.replace(/^type mismatch: /, "") };
  }
}

const TEXT = { type: "string" } as const;
const compilerOf = (patches: boolean): LazyExpressions =>
  new LazyExpressions(
    {
      ...{ object: "any", oldObject: "any", params: "any" },
      request: { operation: TEXT },
      namespaceObject: { metadata: { type: "object", properties: { name: TEXT } } },
    },
    { wholeNumbers: "int", revealing: true, authorizer: true, patches },
  );

describe("expressions of admission policies", () => {
  before(building("oracle"));

  it("have the results and errors of Kubernetes", async () => {
    const expected = await theirs();
    const named = (results: readonly Result[]): object =>
      Object.fromEntries(results.map((result, at) => [`${at} ${CASES[at]?.source}`, result]));
    expect(named(CASES.map(ours))).to.deep.equal(named(expected.map(withValue)));
  });
});

/** The program leaves out empty values. */
function withValue({ value = false, ...failed }: Result): Result {
  return "problem" in failed || "error" in failed ? failed : { value };
}
