// Expressions over one variable without a schema: their inputs, rejected forms and cost limits. Kubernetes' results were
// recorded from k8s.io/apiserver 0.37 (pkg/authentication/cel).
import { readFileSync } from "node:fs";
import type { JsonObject } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import {
  ANY,
  ANY_OBJECT,
  type Expression,
  ExpressionCompiler,
  ExpressionError,
  objectShape,
} from "../../../packages/framework/src/cel/expression.ts";
import { computed } from "../../_support/cpu.ts";

const anything = new ExpressionCompiler({ claims: ANY_OBJECT });
const typed = new ExpressionCompiler({
  user: objectShape({ name: { type: "string" }, age: { type: "integer" } }),
});

function compiled(compiler: ExpressionCompiler, source: string): Expression {
  const result = compiler.compile(source);
  if ("problem" in result) throw new Error(result.problem);
  return result.expression;
}

const evaluate = (source: string, json: unknown): unknown => compiled(anything, source).evaluate({ claims: json });

describe("expressions over anything", () => {
  const claims = { s: "x", n: 3, big: 2n ** 60n, none: null, list: ["a", "b"], "a.b": { "c-d": true }, yes: true };
  const values: Record<string, unknown> = {
    "claims.s": "x",
    "claims.n == 3 && claims.n == 3.0 && claims.n < 4": true,
    "claims.big > 1e18": true,
    "claims.none": null,
    "has(claims.none) && !has(claims.more) && 's' in claims": true,
    "claims.?more.orValue('d')": "d",
    "claims.?s.orValue('d')": "x",
    "claims.list + ['c']": ["a", "b", "c"],
    "claims.list.map(e, e + '!')": ["a!", "b!"],
    "claims['a.b']['c-d'] && claims.a__dot__b.c__dash__d": true,
    "type(claims.s) == string": true,
    "size(claims) == 7": true,
  };
  for (const [source, value] of Object.entries(values))
    it(`${source} is ${JSON.stringify(value)}`, () => expect(evaluate(source, claims)).to.deep.equal(value));

  it("fail without revealing values", () => {
    const failing: Record<string, string> = {
      "claims.more": "no such key",
      "claims.s + claims.n": "no such overload",
      "int(claims.s)": "evaluation failed",
      "claims[claims.s]": "no such key",
    };
    for (const [source, message] of Object.entries(failing))
      expect(() => evaluate(source, { s: "s3cret", n: 1 }), source).to.throw(
        ExpressionError,
        new RegExp(`^${message}$`),
      );
  });

  it("are rejected when nested loops would stall the process, and evaluated when there is a single loop", () => {
    const list = Array.from({ length: 8000 }, (_, n) => `g${n}`);
    const before = computed();
    for (const source of [
      "claims.list.all(a, claims.list.all(b, a != b || a == b))",
      "claims.list.all(a, !(a in claims.list))",
      "claims.list.map(a, claims.list).size() > 0 && claims.list.exists(a, [a] == claims.list)",
      "claims.text.split('').all(a, claims.text.contains(a))",
    ])
      expect(() => evaluate(source, { list, text: "x".repeat(60_000) }), source).to.throw(
        "too large to be evaluated in time",
      );
    expect(evaluate("claims.list.filter(a, a.startsWith('g1')).size()", { list })).to.equal(1111n);
    expect(computed() - before).to.be.below(500);
  });

  it("report which fields they select", () => {
    const selects = (source: string): boolean => compiled(anything, source).selects("claims", "email");
    for (const source of [
      "claims.email",
      "has(claims.email)",
      "claims.?email.orValue('')",
      "['a'].map(x, claims.email)[0]",
    ])
      expect(selects(source), source).to.equal(true);
    for (const source of ["claims['email']", "claims.other.email", "claims.emails", "'claims.email'"])
      expect(selects(source), source).to.equal(false);
  });
});

describe("expressions over an object", () => {
  it("use its fields and their types", () => {
    const problem = (source: string, wanted?: "bool"): string => {
      const result = typed.compile(source, wanted);
      return "problem" in result ? (result.problem.split("\n")[0] ?? "") : "";
    };
    expect(problem("user.name")).to.equal("");
    expect(problem("user.name", "bool")).to.equal("must evaluate to bool");
    expect(problem("user.nam")).to.include("undefined field 'nam'");
    expect(problem("user.name == 3")).to.include("no matching overload");
    expect(problem("claims.name")).to.include("undeclared reference to 'claims'");
    expect(compiled(typed, "user.name.size() > user.age").evaluate({ user: { name: "ada", age: 3n } })).to.equal(false);
  });
});

describe("expressions over several variables", () => {
  const compiler = new ExpressionCompiler(
    {
      object: ANY,
      request: objectShape({ name: { type: "string" } }),
      user: objectShape({ age: { type: "integer" } }),
    },
    { wholeNumbers: "int" },
  );
  it("use each of them, with whole numbers as integers", () => {
    const source = "object.spec.replicas + 1 == user.age && object.spec.ratio == 0.5 && request.name == 'a'";
    const values = { object: { spec: { replicas: 2, ratio: 0.5 } }, request: { name: "a" }, user: { age: 3 } };
    expect(compiled(compiler, source).evaluate(values)).to.equal(true);
    expect(compiler.compile("request.age == 3")).to.have.property("problem").that.includes("undefined field 'age'");
    expect(compiler.compile("object.spec", "bool")).to.deep.equal({ problem: "must evaluate to bool" });
    expect(compiled(compiler, "object == null").evaluate({ object: null })).to.equal(true);
  });
});

interface Recorded {
  readonly claims: JsonObject;
  /** Integers are `{ int }`, because JSON does not distinguish them from doubles. */
  readonly expressions: readonly (readonly [source: string, said: { value?: unknown; fails?: "compile" | "run" }])[];
}

/** Expressions that Kubernetes rejects and that work here, or the other way round. */
const DIFFERENT = new Set([
  "claims.groups.map(g, g)",
  "'sub' in claims",
  "['a', claims.n]",
  "size(claims)",
  "claims[0]",
]);
const NOT_HERE = new Set(["claims.groups.flatten()"]);

describe("expressions over claims that Kubernetes evaluated", () => {
  const fixture = new URL("../fixtures/claim-expressions.snapshot.json", import.meta.url);
  const { claims, expressions } = JSON.parse(readFileSync(fixture, "utf8")) as Recorded;
  const told = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(told);
    return typeof value === "bigint" ? { int: Number(value) } : value;
  };
  const said = (source: string): unknown => {
    const result = anything.compile(source);
    if ("problem" in result) return { fails: "compile" };
    try {
      return { value: told(result.expression.evaluate({ claims })) };
    } catch (error) {
      expect(error).to.be.instanceOf(ExpressionError);
      return { fails: "run" };
    }
  };

  for (const [source, kubernetes] of expressions)
    it(`${source}: ${JSON.stringify(kubernetes)}`, () => {
      if (DIFFERENT.has(source)) expect(kubernetes).to.have.property("fails");
      else if (NOT_HERE.has(source)) expect(said(source)).to.have.property("fails");
      else expect(said(source)).to.deep.equal(kubernetes);
    });
});
