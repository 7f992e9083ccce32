import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { Encoded } from "@virtual-workspaces/framework/storage";
import type { Compare } from "./ordered-list.ts";

/** Value of a field, as it is sorted and counted: numbers before texts, a missing value last. */
export type FieldValue = number | bigint | string | undefined;

/** Values of the sort fields of an object: one alone, or several. */
export type SortKey = FieldValue | readonly FieldValue[];

/**
 * Returns a comparison by several fields. Texts compare by their UTF-16 code units, as in JavaScript. Missing values are last
 * in both directions. Ties are broken by logical cluster, namespace and name, so that every server picks the same order.
 *
 * @param descending for each field, whether larger values are first
 */
export function compareBy(descending: readonly boolean[]): Compare<SortKey> {
  const [first = false] = descending;
  if (descending.length === 0) return (_key, object, _otherKey, other) => compareKeys(object, other);
  if (descending.length === 1)
    return (key, object, otherKey, other) =>
      compareValues(key as FieldValue, otherKey as FieldValue, first) || compareKeys(object, other);
  return (key, object, otherKey, other) => {
    for (let at = 0; at < descending.length; at++) {
      const values = key as readonly FieldValue[];
      const result = compareValues(values[at], (otherKey as readonly FieldValue[])[at], descending[at] === true);
      if (result !== 0) return result;
    }
    return compareKeys(object, other);
  };
}

function compareValues(value: FieldValue, other: FieldValue, descending: boolean): number {
  if (value === other) return 0;
  if (value === undefined) return 1;
  if (other === undefined) return -1;
  const isText = typeof value === "string";
  const isSmaller = isText === (typeof other === "string") ? value < other : !isText;
  return isSmaller === descending ? 1 : -1;
}

/** Compares by logical cluster, namespace and name. */
export function compareKeys({ key }: Pick<Encoded, "key">, { key: other }: Pick<Encoded, "key">): number {
  return (
    compareTexts(key.cluster, other.cluster) ||
    compareTexts(key.namespace, other.namespace) ||
    compareTexts(key.name, other.name)
  );
}

function compareTexts(text: string, other: string): number {
  if (text === other) return 0;
  return text < other ? -1 : 1;
}

/** Returns a JSON value as it is sorted and counted. */
export function fieldValue(value: unknown): FieldValue {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
      return value;
    case "boolean":
      return String(value);
    default:
      return value === undefined || value === null ? undefined : stringifyJson(value);
  }
}
