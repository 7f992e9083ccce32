import { fieldInvalid, type KubeObject, type ObjectMeta, type StatusCause } from "@virtual-workspaces/apimachinery";

/** Returns the fields of an object; empty if the value is none. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

export const itemsOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.map(membersOf) : [];

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Go's `len()` of a list or map that may be missing. */
export const countOf = (value: unknown): number =>
  Array.isArray(value) ? value.length : Object.keys(membersOf(value)).length;

/** Finalizers that Kubernetes defines. */
const STANDARD: readonly string[] = ["kubernetes", "orphan", "foregroundDeletion"];

/** Validates finalizers of Kubernetes' own kinds: besides the standard ones, they must have a domain. */
export function finalizerProblems({ finalizers = [] }: ObjectMeta): StatusCause[] {
  return finalizers.flatMap((finalizer, at) => finalizerProblem(finalizer, `metadata.finalizers[${at}]`));
}

/** @param field path of the finalizer */
export function finalizerProblem(finalizer: string, field: string): StatusCause[] {
  if (finalizer.includes("/") || STANDARD.includes(finalizer)) return [];
  return [fieldInvalid(field, finalizer, "name is neither a standard finalizer name nor is it fully qualified")];
}

/** Validates that a field is unchanged (validation.ValidateImmutableField). */
export function immutableProblem(field: string, next: unknown, before: unknown): StatusCause[] {
  const same = JSON.stringify(next ?? null) === JSON.stringify(before ?? null);
  return same ? [] : [fieldInvalid(field, next ?? null, "field is immutable")];
}

/** Returns the spec of an object of any kind. */
export const specOf = (object: KubeObject): Readonly<Record<string, unknown>> => membersOf(object["spec"]);

const KEY = /^[-._a-zA-Z0-9]+$/;

/** Returns why a string is not a valid key of a ConfigMap or Secret (validation.IsConfigMapKey). */
export function dataKeyProblems(key: string): string[] {
  const problems: string[] = [];
  if (key.length > 253) problems.push("must be no more than 253 bytes");
  if (!KEY.test(key))
    problems.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  if (key === ".") problems.push("must not be '.'");
  else if (key === "..") problems.push("must not be '..'");
  else if (key.startsWith("..")) problems.push("must not start with '..'");
  return problems;
}
