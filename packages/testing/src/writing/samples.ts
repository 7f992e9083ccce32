import { parseAllDocuments } from "yaml";
import { CheckFailure, CheckSkipped } from "../assertions/expect.ts";
import { isObject, type JsonObject, textAt } from "../assertions/json.ts";
import type { CollectionProbe } from "../probe/collection-probe.ts";
import { documentOf, schemaOf } from "../probe/openapi-documents.ts";
import { minimal, Unmakeable } from "./schema-values.ts";

/** Template for objects of a kind, without `apiVersion`, `kind`, name and server-managed fields. */
export interface Sample {
  /** Prefix of names. */
  readonly prefix: string;
  readonly labels: JsonObject;
  readonly annotations: JsonObject;
  readonly content: JsonObject;
}

/**
 * Parses the objects of one or more YAML documents, or of JSON, for {@link ConformanceWrites.samples}.
 *
 * @throws Error for invalid YAML, and for a document that is not an object with an apiVersion and a kind
 */
export function parseSamples(text: string): readonly Readonly<Record<string, unknown>>[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Error(`it is not valid YAML: ${problem.message}`);
    return sampleIn(document.toJS());
  });
}

function sampleIn(object: unknown): JsonObject {
  if (isObject(object) && textAt(object, "apiVersion") !== "" && textAt(object, "kind") !== "") return object;
  throw new Error("every document must be an object with an apiVersion and a kind");
}

/** Untested sample, or the reason why there is none. */
export type Candidate = { readonly source: string } & (
  | { readonly sample: Sample }
  | { readonly sample?: never; readonly why: string }
);

/**
 * Yields candidates for samples, the best first: the user's, the minimum of the schema, and a copy of an existing object. A
 * sample of the user is the only candidate.
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
  const source = "the minimum of the OpenAPI schema";
  try {
    const { document } = await documentOf(probe);
    const schema = schemaOf(document, probe.resource);
    if (schema === undefined) return { source, why: "OpenAPI has no schema for the kind" };
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
