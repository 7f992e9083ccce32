// Rules over objects as Kubernetes' own validator judges them: what is wrong with the rules, and with the objects.
// Recorded from k8s.io/apiextensions-apiserver; the differences that remain are in docs/cel.md.
import { readFileSync } from "node:fs";
import {
  compileSchema,
  type JsonObject,
  type JsonSchema,
  rulesOf,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import { RuleEngine } from "../../../packages/framework/src/cel/rules.ts";

type Said = readonly [field: string, message: string][];

interface Case {
  readonly schema: JsonSchema;
  readonly object: JsonObject;
  readonly old?: JsonObject;
  readonly problems: Said;
  readonly causes: Said;
}

const PATH = "spec.validation.openAPIV3Schema";
const { shared, cases } = JSON.parse(readFileSync(new URL("./recorded.snapshot.json", import.meta.url), "utf8")) as {
  readonly shared: readonly unknown[];
  readonly cases: readonly Case[];
};

/** What many cases have is written once. */
function whole(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("$shared" in value) return whole(shared[Number(value.$shared)]);
  if (Array.isArray(value)) return value.map(whole);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, whole(member)]));
}

function said(causes: readonly StatusCause[]): string[] {
  return causes.map(({ field, message }) => `${field}: ${message}`).sort();
}

function wanted(causes: Said): string[] {
  return causes.map(([field, message]) => `${field}: ${message}`).sort();
}

describe("rules that Kubernetes has judged", () => {
  const engine = new RuleEngine();
  after(() => engine[Symbol.asyncDispose]());

  it("are many", () => {
    expect(cases).to.have.length.above(700);
  });

  for (const [at, packed] of cases.entries()) {
    const { schema, object, old, problems, causes } = whole(packed) as Case;
    it(`${at}: ${rulesIn(schema).join("; ").slice(0, 100)}`, async () => {
      const rules = engine.compile(schema, { path: PATH });
      expect(said(rules.problems)).to.deep.equal(wanted(problems));
      const found = await rules.evaluate(rulesOf(compileSchema(schema), object, old));
      // Kubernetes was asked without ratcheting, which makes errors warnings.
      expect(said([...found.causes, ...found.warnings])).to.deep.equal(wanted(causes));
    });
  }
});

function rulesIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = (schema as JsonSchema)["x-kubernetes-validations"] ?? [];
  const below = Object.values(schema).flatMap(rulesIn);
  return [...(Array.isArray(own) ? own.map(({ rule }) => rule) : []), ...below];
}
