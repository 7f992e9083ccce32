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
  if (descending.length === 0) return (one, other) => compareKeys(one.object, other.object);
  if (descending.length === 1)
    return (one, other) =>
      compareValues(one.key as FieldValue, other.key as FieldValue, first) || compareKeys(one.object, other.object);
  return (one, other) => {
    for (let at = 0; at < descending.length; at++) {
      const [value, against] = [one.key, other.key].map((key) => (key as readonly FieldValue[])[at]);
      const result = compareValues(value, against, descending[at] === true);
      if (result !== 0) return result;
    }
    return compareKeys(one.object, other.object);
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
function compareKeys({ key }: Pick<Encoded, "key">, { key: other }: Pick<Encoded, "key">): number {
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
