import { fieldInvalid, type KubeObject, type ObjectMeta, type StatusCause } from "@virtual-workspaces/apimachinery";

/** What a map or list without members and one that is not there have in common: nothing to go through. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

export const itemsOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.map(membersOf) : [];

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Go's `len()` of a list or map that may be missing. */
export const countOf = (value: unknown): number =>
  Array.isArray(value) ? value.length : Object.keys(membersOf(value)).length;

/** Finalizers whose meaning is Kubernetes' own. */
const STANDARD: readonly string[] = ["kubernetes", "orphan", "foregroundDeletion"];

/** Kubernetes' own kinds allow finalizers with a domain only, besides the standard ones. */
export function finalizerProblems({ finalizers = [] }: ObjectMeta): StatusCause[] {
  return finalizers.flatMap((finalizer, at) => finalizerProblem(finalizer, `metadata.finalizers[${at}]`));
}

/** @param field where it stands */
export function finalizerProblem(finalizer: string, field: string): StatusCause[] {
  if (finalizer.includes("/") || STANDARD.includes(finalizer)) return [];
  return [fieldInvalid(field, finalizer, "name is neither a standard finalizer name nor is it fully qualified")];
}

/** As validation.ValidateImmutableField. */
export function immutableProblem(field: string, next: unknown, before: unknown): StatusCause[] {
  const same = JSON.stringify(next ?? null) === JSON.stringify(before ?? null);
  return same ? [] : [fieldInvalid(field, next ?? null, "field is immutable")];
}

/** A member of an object whatever its kind. */
export const specOf = (object: KubeObject): Readonly<Record<string, unknown>> => membersOf(object["spec"]);

const KEY = /^[-._a-zA-Z0-9]+$/;

/** Why a text is no key of a ConfigMap or Secret (validation.IsConfigMapKey). */
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
