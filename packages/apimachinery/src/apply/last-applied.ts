import { parseJson } from "../json/parse.ts";
import { isJsonObject, type JsonObject, memberOf, setMember } from "../json/value.ts";
import { goJson } from "../text/go-format.ts";
import { ADDED, changed, compare, MODIFIED, REMOVED } from "./compare.ts";
import { FieldSet } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import { typeProblem } from "./type-check.ts";
import type { Versions } from "./versions.ts";

/** Annotation in which client-side `kubectl apply` keeps the configuration it applied last. */
const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";

/** Manager whose applies may follow client-side ones: kubectl's default name. */
export const KUBECTL = "kubectl";

/** Limit on all annotations together, names and values, in bytes. */
const MAX_ANNOTATIONS_SIZE = 256 * 1024;

/**
 * Returns the fields that client-side apply set and that are unchanged: kubectl may take them over when it switches to
 * server-side apply. Empty without the annotation.
 */
export function fieldsOfLastApplied(versions: Versions, live: JsonObject): FieldSet {
  const text = lastAppliedOf(live);
  const applied = text === undefined ? undefined : readObject(text);
  if (applied === undefined || applied["apiVersion"] !== versions.apiVersion) return FieldSet.empty;
  const { type } = versions;
  if (typeProblem(applied, type, { allowDuplicates: false }) !== undefined) return FieldSet.empty;
  const different = changed(compare(applied, live, type), ADDED | MODIFIED | REMOVED);
  return fieldsOf(applied, type).difference(different);
}

/** Updates the annotation of an object that has it, so that client-side apply stays possible. */
export function withLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  if (lastAppliedOf(object) === undefined) return object;
  const applied = withAnnotations(config, (annotations) => {
    delete annotations[ANNOTATION];
  });
  return withAnnotations(object, (annotations) => {
    annotations[ANNOTATION] = `${goJson(applied)}\n`;
    if (sizeOf(annotations) > MAX_ANNOTATIONS_SIZE) delete annotations[ANNOTATION];
  });
}

function lastAppliedOf(object: JsonObject): string | undefined {
  const text = memberOf(annotationsOf(object) ?? {}, ANNOTATION);
  return typeof text === "string" && text !== "" ? text : undefined;
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = object["metadata"];
  const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

function withAnnotations(object: JsonObject, change: (annotations: JsonObject) => void): JsonObject {
  const annotations = annotationsOf(object);
  if (annotations === undefined) return object;
  const copy: JsonObject = {};
  for (const name of Object.keys(annotations)) setMember(copy, name, annotations[name] ?? "");
  change(copy);
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), annotations: copy } };
}

function sizeOf(annotations: JsonObject): number {
  const encoder = new TextEncoder();
  return encoder.encode(Object.entries(annotations).flat().join("")).length;
}

function readObject(text: string): JsonObject | undefined {
  try {
    const { value } = parseJson(text);
    return isJsonObject(value) && typeof value["kind"] === "string" ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
