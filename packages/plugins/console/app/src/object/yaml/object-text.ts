import { Document } from "yaml";
import type { WholeObject } from "../live-object.ts";

/** Fields of `metadata` that only the server sets. The text of an object hides them by default. */
const OF_SERVER = ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"] as const;

export interface Shown {
  /** With all that the server sets in `metadata`. */
  readonly serverFields: boolean;
  /** With `status`: for kinds whose status is a part of the object like any other. */
  readonly status: boolean;
}

type Fields = Record<string, unknown>;

const FIRST = ["apiVersion", "kind", "metadata"];
const FIRST_OF_METADATA = ["name", "generateName", "namespace", "labels", "annotations"];

/** The part of an object that its text shows, in the order of manifests. */
export function shownPart(object: WholeObject, shown: Shown): Fields {
  const metadata: Fields = { ...object.metadata };
  if (!shown.serverFields) for (const name of OF_SERVER) delete metadata[name];
  const { status, ...rest } = object;
  const part: Fields = { ...ordered(rest, FIRST), metadata: ordered(metadata, FIRST_OF_METADATA) };
  if (shown.status && status !== undefined) part["status"] = status;
  return part;
}

/** The object to send for a parsed text: what the text does not show stays as it is in `base`. */
export function withHidden(edited: Fields, base: WholeObject, shown: Shown): Fields {
  const metadata: Fields = isFields(edited["metadata"]) ? { ...edited["metadata"] } : {};
  const kept: Fields = { ...base.metadata };
  // The server keeps managed fields that are not sent.
  for (const name of OF_SERVER) if (name !== "managedFields" && kept[name] !== undefined) metadata[name] ??= kept[name];
  const whole: Fields = { ...edited, metadata };
  if (!shown.status && base["status"] !== undefined) whole["status"] = base["status"];
  return whole;
}

/** YAML that older parsers of Kubernetes read the same way: strings such as "yes" are quoted. */
export function yamlOf(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: "yaml-1.1" });
  return document.toString({ lineWidth: 0, indentSeq: false });
}

export const textOf = (object: WholeObject, shown: Shown): string => yamlOf(shownPart(object, shown));

/** `value` with its keys in the order of `pattern`, at each level, so that a comparison shows only changes. */
export function inOrderOf(value: unknown, pattern: unknown): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => inOrderOf(item, Array.isArray(pattern) ? pattern[index] : undefined));
  if (!isFields(value) || !isFields(pattern)) return value;
  const keys = Object.keys(pattern).filter((key) => Object.hasOwn(value, key));
  // A new field comes after the one that it follows in `value`.
  let previous = -1;
  for (const key of Object.keys(value)) {
    const at = keys.indexOf(key);
    if (at < 0) keys.splice(previous + 1, 0, key);
    previous = keys.indexOf(key);
  }
  return Object.fromEntries(keys.map((key) => [key, inOrderOf(value[key], pattern[key])]));
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function ordered(fields: Fields, first: readonly string[]): Fields {
  const result: Fields = {};
  for (const name of first) if (Object.hasOwn(fields, name)) result[name] = fields[name];
  for (const name of Object.keys(fields)) if (!Object.hasOwn(result, name)) result[name] = fields[name];
  return result;
}
