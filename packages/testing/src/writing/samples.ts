import { parseAllDocuments } from "yaml";
import { CheckFailure, CheckSkipped } from "../assertions/expect.ts";
import { isObject, type JsonObject, textAt } from "../assertions/json.ts";
import type { CollectionProbe } from "../probe/collection-probe.ts";
import { documentOf, schemaOf } from "../probe/openapi-documents.ts";
import { minimal, Unmakeable } from "./schema-values.ts";

/** What objects of a kind are made from: all but `apiVersion`, `kind`, the name and what a server fills in. */
export interface Sample {
  /** What names begin with. */
  readonly prefix: string;
  readonly labels: JsonObject;
  readonly annotations: JsonObject;
  readonly content: JsonObject;
}

/**
 * The objects of a text in YAML, several documents long or one, or in JSON: for {@link ConformanceWrites.samples}.
 *
 * @throws Error on a text that is no YAML, and on a document that is no object with an apiVersion and a kind
 */
export function parseSamples(text: string): readonly Readonly<Record<string, unknown>>[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Error(`it is no YAML: ${problem.message}`);
    return sampleIn(document.toJS());
  });
}

function sampleIn(object: unknown): JsonObject {
  if (isObject(object) && textAt(object, "apiVersion") !== "" && textAt(object, "kind") !== "") return object;
  throw new Error("every document must be an object with an apiVersion and a kind");
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
export async function* candidates(probe: CollectionProbe, given: readonly JsonObject[]): AsyncGenerator<Candidate> {
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

async function fromSchema(probe: CollectionProbe): Promise<Candidate> {
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
