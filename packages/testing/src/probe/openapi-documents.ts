import { excerpt, expectOk, fail } from "../assertions/expect.ts";
import { at, fieldsAt, type JsonObject, listAt, textAt } from "../assertions/json.ts";
import { groupVersionPath } from "../assertions/report.ts";
import type { CollectionProbe } from "./collection-probe.ts";
import type { OpenApiDocument, ServerProbe } from "./server-probe.ts";

/** Extension that names the kind of a schema or of an operation. */
export const GVK = "x-kubernetes-group-version-kind";

/** Entry of the OpenAPI v3 index. */
export interface OpenApiIndexEntry {
  readonly name: string;
  readonly url: string;
}

/** Reads the OpenAPI v3 index. @throws CheckFailure when it is empty */
export async function readOpenApiIndex(probe: ServerProbe): Promise<readonly OpenApiIndexEntry[]> {
  const answer = await probe.get("/openapi/v3");
  const paths = fieldsAt(expectOk(answer), "paths");
  if (paths.length === 0) fail(answer.request, "paths", excerpt(answer));
  return paths.map(([name, path]) => ({ name, url: textAt(path, "serverRelativeURL") }));
}

/** Reads the document of the resource's group and version, once in a run because it may be large. */
export async function documentOf(probe: CollectionProbe): Promise<OpenApiDocument> {
  const { documents } = probe;
  const name = groupVersionPath(probe.resource).slice(1);
  const asked = documents.get(name) ?? readDocument(probe, name);
  documents.set(name, asked);
  try {
    return await asked;
  } catch (error) {
    documents.delete(name);
    throw error;
  }
}

async function readDocument(probe: ServerProbe, name: string): Promise<OpenApiDocument> {
  const url = (await readOpenApiIndex(probe)).find((entry) => entry.name === name)?.url;
  const answer = await (url === undefined ? probe.get(`/openapi/v3/${name}`) : probe.get(url, { fromRoot: true }));
  return { answer, document: expectOk(answer) };
}

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Returns the schema of a kind, found by group, version and kind. */
export function schemaOf(document: JsonObject, wanted: Kind): unknown {
  const schemas = fieldsAt(document, "components", "schemas").map(([, schema]) => schema);
  return schemas.find((one) => listAt(one, GVK).some((gvk) => isKind(gvk, wanted)));
}

export function isKind(found: unknown, { group, version, kind }: Kind): boolean {
  return textAt(found, "group") === group && textAt(found, "version") === version && textAt(found, "kind") === kind;
}

/** Resolves a schema's reference, either a plain one or the only element of an allOf, which kinds use to add a description. */
export function dereferenced(document: JsonObject, schema: unknown): unknown {
  const ref = textAt(schema, "$ref") || textAt(listAt(schema, "allOf")[0], "$ref");
  return ref === "" ? schema : resolve(document, ref);
}

/** Returns the target of a reference, or `undefined` when it does not exist. */
export function resolve(document: JsonObject, ref: string): unknown {
  if (!ref.startsWith("#/")) return undefined;
  const path = ref
    .slice(2)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  return at(document, ...path);
}
