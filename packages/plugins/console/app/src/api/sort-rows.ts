import type { Row } from "./table-query.ts";
import { type Column, clusterOf } from "./types.ts";

/** Sorts as query views do: numbers before texts, missing values last, ties by namespace and name. */
export function sortRows(rows: readonly Row[], columns: readonly Column[], sort = "Name"): Row[] {
  const isReverse = sort.startsWith("-");
  const read = valueReader(columns, isReverse ? sort.slice(1) : sort);
  return rows
    .map((row) => ({ row, value: read(row) }))
    .sort((a, b) => compareValues(a.value, b.value, isReverse) || compareNames(a.row, b.row))
    .map(({ row }) => row);
}

function valueReader(columns: readonly Column[], field: string): (row: Row) => unknown {
  if (field === "Age") return ({ object }) => object.metadata.creationTimestamp;
  const index = columns.findIndex(({ name }) => name === field);
  if (index >= 0) return ({ cells }) => cells[index];
  if (field === "Namespace") return ({ object }) => object.metadata.namespace;
  if (field === "Cluster") return ({ object }) => clusterOf(object);
  return ({ object }) => object.metadata.name;
}

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === "";

function compareValues(a: unknown, b: unknown, isReverse: boolean): number {
  if (isMissing(a) || isMissing(b)) return Number(isMissing(a)) - Number(isMissing(b));
  const order =
    typeof a === "number" && typeof b === "number"
      ? a - b
      : typeof a === "number"
        ? -1
        : typeof b === "number"
          ? 1
          : compareTexts(String(a), String(b));
  return isReverse ? -order : order;
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const compareNames = ({ object: { metadata: a } }: Row, { object: { metadata: b } }: Row): number =>
  compareTexts(a.namespace ?? "", b.namespace ?? "") || compareTexts(a.name, b.name);
