import type { JsonObject } from "../json.ts";
import { isObject, textAt } from "../json.ts";
import { documentOf, schemaOf } from "../openapi.ts";
import { CheckFailure, CheckSkipped } from "../outcome.ts";
import type { ResourceProbe } from "../resource-probe.ts";
import { minimal, Unmakeable } from "./minimal.ts";

/** What objects of a kind are made from: all but `apiVersion`, `kind`, the name and what a server fills in. */
export interface Sample {
  /** What names begin with. */
  readonly prefix: string;
  readonly labels: JsonObject;
  readonly annotations: JsonObject;
  readonly content: JsonObject;
}

/** A sample that nobody has tried yet, or why there is none. */
export type Candidate = { readonly source: string } & (
  | { readonly sample: Sample }
  | { readonly sample?: never; readonly why: string }
);

/**
 * What objects might be made from, the best first: what the user gave, what the schema asks for, and what there is
 * already. The given one is the only one where there is one.
 */
export async function* candidates(probe: ResourceProbe, given: readonly JsonObject[]): AsyncGenerator<Candidate> {
  const { kind } = probe.resource;
  const own = given.find((object) => object["kind"] === kind && object["apiVersion"] === probe.apiVersion);
  if (own !== undefined) {
    yield { source: "the given sample", sample: sampleOf(own, { described: true }) };
    return;
  }
  yield await fromSchema(probe);
  if (!probe.resource.verbs.includes("list")) return;
  const { items } = await probe.list();
  const [first] = items.toSorted((a, b) => JSON.stringify(a).length - JSON.stringify(b).length);
  if (first !== undefined) yield { source: "a copy of an object", sample: sampleOf(first as unknown as JsonObject) };
}

async function fromSchema(probe: ResourceProbe): Promise<Candidate> {
  const source = "what the OpenAPI schema requires";
  try {
    const { document } = await documentOf(probe);
    const schema = schemaOf(document, probe.resource);
    if (schema === undefined) return { source, why: "OpenAPI has no schema of the kind" };
    const made = minimal(document, schema);
    return { source, sample: sampleOf(isObject(made) ? made : {}) };
  } catch (error) {
    if (error instanceof Unmakeable || error instanceof CheckFailure || error instanceof CheckSkipped)
      return { source, why: error.message };
    throw error;
  }
}

function sampleOf(object: JsonObject, { described = false } = {}): Sample {
  const { apiVersion: _version, kind: _kind, metadata, status: _status, ...content } = object;
  const texts = (field: string): JsonObject => {
    const found = isObject(metadata) ? metadata[field] : undefined;
    return described && isObject(found) ? found : {};
  };
  const prefix = (described && textAt(metadata, "generateName")) || "conformance-";
  return { prefix, labels: texts("labels"), annotations: texts("annotations"), content };
}
