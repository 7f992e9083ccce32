// Expressions of admission policies: composed variables, the authorizer, and patches.
import type { AccessCheck, Evaluation } from "@virtual-workspaces/framework/resource";
import { LazyExpressions } from "@virtual-workspaces/framework/resource";
import { expect } from "chai";

const compiler = new LazyExpressions(
  { object: "any" },
  { wholeNumbers: "int", revealing: true, authorizer: true, patches: true },
);
const request = { group: "example.dev", resource: "quotes", subresource: "", namespace: "n", name: "q" };
const STEPS = 10_000_000;

/** Evaluates an expression, and returns its value or error. */
function run(
  source: string,
  {
    object = {},
    variables = {},
    ask = () => ({ allowed: true, reason: "", error: "" }),
    steps = STEPS,
  }: {
    object?: unknown;
    variables?: Readonly<Record<string, string>>;
    ask?: (check: AccessCheck) => { allowed: boolean; reason: string; error: string };
    steps?: number;
  } = {},
  read: (evaluation: Evaluation, value: unknown) => unknown = (_, value) => value,
): unknown {
  const composer = compiler.compose();
  for (const [name, expression] of Object.entries(variables)) composer.declare(name, expression);
  const compiled = composer.compile(source);
  if ("problem" in compiled) return compiled.problem;
  const evaluation = composer.evaluation({ values: { object }, authorizer: { ask, request } });
  evaluation.allow(steps);
  try {
    return read(evaluation, evaluation.evaluate(compiled.expression));
  } catch (error) {
    return (error as Error).message;
  }
}

describe("composed expressions", () => {
  it("evaluate a variable once, and only if it is needed", () => {
    const asked: string[] = [];
    const ask = ({ verb }: AccessCheck) => {
      asked.push(verb);
      return { allowed: true, reason: "", error: "" };
    };
    const check = (verb: string): string => `authorizer.requestResource.check('${verb}').allowed()`;
    const variables = { used: check("get"), unused: check("list") };
    expect(run("variables.used && variables.used", { variables, ask })).to.equal(true);
    expect(asked).to.deep.equal(["get"]);
  });

  it("ask about the resource of the request, others, paths and service accounts", () => {
    const asked: AccessCheck[] = [];
    const ask = (check: AccessCheck) => {
      asked.push(check);
      return { allowed: false, reason: "no", error: "" };
    };
    const sources = [
      "authorizer.requestResource.check('get').reason()",
      "authorizer.group('apps').resource('deployments').subresource('scale').namespace('a').name('b').check('update').reason()",
      "authorizer.path('/healthz').check('get').reason()",
      "authorizer.serviceAccount('a', 'b').group('').resource('pods').check('list').reason()",
    ];
    for (const source of sources) expect(run(source, { ask }), source).to.equal("no");
    const none = {
      path: "",
      group: "",
      resource: "",
      subresource: "",
      namespace: "",
      name: "",
      serviceAccount: undefined,
    };
    expect(asked).to.deep.equal([
      { ...none, ...request, verb: "get" },
      {
        ...none,
        group: "apps",
        resource: "deployments",
        subresource: "scale",
        namespace: "a",
        name: "b",
        verb: "update",
      },
      { ...none, path: "/healthz", verb: "get" },
      { ...none, resource: "pods", verb: "list", serviceAccount: { namespace: "a", name: "b" } },
    ]);
  });

  it("have errors of the authorizer's functions", () => {
    expect(run("authorizer.path('').check('get').allowed()")).to.equal("path must not be empty");
    expect(run("authorizer.group('').resource(' ').check('get').allowed()")).to.equal("resource must not be empty");
    expect(run("authorizer.serviceAccount('a', 'B').path('/').check('get').allowed()")).to.equal(
      "Invalid service account name",
    );
  });

  it("end with the steps that they may take together; a check costs 350,000", () => {
    const check = "authorizer.requestResource.check('get').allowed()";
    expect(run(`${check} && ${check}`, { steps: 800_000 })).to.equal(true);
    expect(run(`${check} && ${check}`, { steps: 500_000 })).to.equal(
      "validation failed due to running out of cost budget, no further validation rules will be run",
    );
  });

  it("convert only the parts of a large object that they read", () => {
    const object = { metadata: { name: "a" }, list: Array.from({ length: 50_000 }, (_, at) => at) };
    expect(run("object.metadata.name == 'a'", { object })).to.equal(true);
    expect(run("object.list.size() > 0", { object })).to.equal("operation cancelled: actual cost limit exceeded");
  });
});

describe("literals of objects", () => {
  const json = (source: string, object?: unknown): unknown =>
    run(source, { ...(object !== undefined && { object }) }, (evaluation, value) => evaluation.objectOf(value));
  it("become JSON, with optional fields and quoted names", () => {
    const source =
      "Object{spec: Object.spec{replicas: 3, ?absent: object.?none, ?here: object.?a, items: [Object.spec.items{`a-b`: 'x'}], map: {'k': 1}}}";
    expect(json(source, { a: 1 })).to.deep.equal({
      spec: { replicas: 3, here: 1, items: [{ "a-b": "x" }], map: { k: 1 } },
    });
    expect(json("Object { // comment {\n spec : Object . spec { text: 'Object{' } }")).to.deep.equal({
      spec: { text: "Object{" },
    });
    expect(json("[Object.a{}].size() == 1 ? Object{} : Object{a: 1}")).to.deep.equal({});
  });

  it("have errors at their place in the source", () => {
    expect(json("Object{spec: Object.spec{a: nope}}")).to.equal(
      "compilation failed: ERROR: <input>:1:29: undeclared reference to 'nope' (in container '')\n | Object{spec: Object.spec{a: nope}}\n | ............................^",
    );
  });

  it("become operations of JSON patches", () => {
    const patch = (source: string): unknown =>
      run(source, { object: { list: [1, 2] } }, (evaluation, value) => evaluation.patchOf(value));
    expect(
      patch("object.list.map(x, JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c~'), value: x})"),
    ).to.deep.equal([
      { op: "add", path: "/a/b~1c~0", value: 1 },
      { op: "add", path: "/a/b~1c~0", value: 2 },
    ]);
    expect(patch("[JSONPatch{op: 'add', path: '/a', valu: 1}]")).to.equal("unexpected JSONPatchType field: valu");
    expect(patch("[JSONPatch{op: 'add', path: '/a', value: Object.spec{a: Object.b{}}}]")).to.equal(
      'type mismatch: unexpected type name "Object.b", expected "Object.spec.a", which matches field name path from root Object type',
    );
  });

  it("exist only where expressions may evaluate to patches", () => {
    const plain = new LazyExpressions({ object: "any" });
    expect(plain.compile("Object{}")).to.have.property("problem").that.includes("Syntax error");
    expect(plain.compile("jsonpatch.escapeKey('a') == ''")).to.have.property("problem").that.includes("undeclared");
    expect(plain.compile("authorizer.path('/').check('get').allowed()"))
      .to.have.property("problem")
      .that.includes("undeclared");
  });
});
