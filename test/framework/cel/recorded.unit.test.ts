// Rules over objects as Kubernetes' own validator evaluates them: errors of the rules, and of the objects. Recorded from
// k8s.io/apiextensions-apiserver 0.37; docs/reference/cel.md lists the remaining differences.
import { readFileSync } from "node:fs";
import type { JsonObject, JsonSchema, StatusCause } from "@virtual-workspaces/apimachinery";
import { compileSchema } from "@virtual-workspaces/apimachinery/schema";
import { expect } from "chai";
import { RuleEngine } from "../../../packages/framework/src/cel/cel-rules.ts";

type Said = readonly [field: string, message: string][];

interface Case {
  readonly schema: JsonSchema;
  readonly object: JsonObject;
  readonly old?: JsonObject;
  readonly problems: Said;
  readonly causes: Said;
}

/** A case and its recorded result. */
interface Judgement {
  readonly at: number;
  readonly problems: readonly string[];
  readonly causes: readonly string[];
}

const PATH = "spec.validation.openAPIV3Schema";
const AT_ONCE = 100;
const recorded = readFileSync(new URL("./recorded.snapshot.json", import.meta.url), "utf8");
const { shared, cases } = JSON.parse(recorded) as { shared: readonly unknown[]; cases: readonly Case[] };

/** Restores values that many cases share. */
function whole(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("$shared" in value) return whole(shared[Number(value.$shared)]);
  if (Array.isArray(value)) return value.map(whole);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, whole(member)]));
}

describe("rules that Kubernetes evaluated", () => {
  const engine = new RuleEngine();
  after(() => engine[Symbol.asyncDispose]());

  async function judged(at: number): Promise<Judgement> {
    const { schema, object, old } = whole(cases[at]) as Case;
    const rules = engine.compile(schema, { path: PATH });
    // Kubernetes was recorded without ratcheting, which turns errors into warnings.
    const { causes, warnings } = await rules.evaluate(compileSchema(schema).rules(object, old));
    return { at, problems: texts(rules.problems), causes: texts([...causes, ...warnings]) };
  }

  it("are many", () => {
    expect(cases).to.have.length.above(1600);
  });

  for (let from = 0; from < cases.length; from += AT_ONCE) {
    const some = cases.slice(from, from + AT_ONCE);
    it(`have the same results: ${from} to ${from + some.length - 1}`, async () => {
      const wanted = some.map(({ problems, causes }, at) => {
        return { at: from + at, problems: recordedTexts(problems), causes: recordedTexts(causes) };
      });
      const found: Judgement[] = [];
      for (const at of some.keys()) found.push(await judged(from + at));
      expect(found).to.deep.equal(wanted);
    });
  }
});

function texts(causes: readonly StatusCause[]): string[] {
  return causes.map(({ field, message }) => `${field}: ${message}`).sort();
}

function recordedTexts(causes: Said): string[] {
  return causes.map(([field, message]) => `${field}: ${message}`).sort();
}
