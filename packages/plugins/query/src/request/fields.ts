import { ApiError, CLUSTER_ANNOTATION, type KubeObject } from "@virtual-workspaces/apimachinery";
import { compileJsonPath, isComputed, type TableColumn } from "@virtual-workspaces/apimachinery/tables";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import type { Encoded } from "@virtual-workspaces/framework/storage";
import { type FieldValue, fieldValue } from "../order/sort-key.ts";

/** A field of objects, by which clients sort, search and count. */
export interface Field {
  /** Column of a Table with this field. */
  readonly column: TableColumn;
  /** Reads the value from parts of an encoded object that are already parsed. @default {@link read} is needed */
  readonly ofEncoded?: (object: Encoded) => FieldValue;
  /** Reads the value from the parsed object. */
  readonly read: (object: KubeObject) => FieldValue;
}

const NAME: Field = {
  column: { name: "Name", type: "string", format: "name", jsonPath: ".metadata.name" },
  ofEncoded: ({ key }) => key.name,
  read: ({ metadata }) => metadata.name,
};
const NAMESPACE: Field = {
  column: { name: "Namespace", type: "string", jsonPath: ".metadata.namespace" },
  ofEncoded: ({ key }) => key.namespace || undefined,
  read: ({ metadata }) => metadata.namespace,
};
const CLUSTER: Field = {
  column: { name: "Cluster", type: "string", jsonPath: ".metadata.annotations.kcp\\.io/cluster" },
  ofEncoded: ({ key }) => key.cluster || undefined,
  read: ({ metadata }) => metadata.annotations?.[CLUSTER_ANNOTATION],
};
const AGE: Field = columnField({ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" });

/** Fields of every kind, by their lower-case names and paths. */
const COMMON: ReadonlyMap<string, Field> = new Map([
  ["name", NAME],
  [".metadata.name", NAME],
  ["namespace", NAMESPACE],
  [".metadata.namespace", NAMESPACE],
  ["cluster", CLUSTER],
  ["age", AGE],
]);

/**
 * Returns the field of a text: a column of the kind by its name, whatever its case, or a JSON path such as `.spec.replicas`, in braces
 * as in kubectl's `--sort-by` or without.
 *
 * @param parameter name of the query parameter, for the message
 * @throws ApiError 400 on an unknown column or a malformed path
 */
export function fieldOf({ columns }: ResourceDefinition, text: string, parameter: string): Field {
  const own = columns.find(({ name }) => name.toLowerCase() === text.toLowerCase());
  if (own !== undefined) return columnField(own);
  const path = /^\{.*\}$/s.test(text) ? text.slice(1, -1) : text;
  const common = COMMON.get(path.toLowerCase());
  if (common !== undefined) return common;
  if (!path.startsWith(".") && !path.startsWith("[")) {
    const names = ["Name", "Namespace", "Cluster", "Age", ...columns.map(({ name }) => name)];
    throw ApiError.badRequest(
      `invalid ${parameter} ${JSON.stringify(text)}: use a column (${[...new Set(names)].join(", ")}) or a path such as .spec.replicas`,
    );
  }
  try {
    return columnField({ name: path, type: "string", jsonPath: path });
  } catch (error) {
    throw ApiError.badRequest(`invalid ${parameter} ${JSON.stringify(text)}: ${(error as Error).message}`);
  }
}

/** @throws Error on a malformed path */
function columnField(column: TableColumn): Field {
  if (!isComputed(column)) {
    const read = compileJsonPath(column.jsonPath);
    return { column, read: (object) => fieldValue(read(object)[0]) };
  }
  const { value } = column;
  return {
    column,
    read: (object) => {
      try {
        return fieldValue(value(object));
      } catch {
        return undefined; // as in a Table, whose cell is then empty
      }
    },
  };
}

/** Returns the fields in which a search looks: names, and the columns that show more than an age. */
export function searchedFields({ columns }: ResourceDefinition): readonly Field[] {
  const shown = columns.filter(({ type }) => type !== "date").map(columnField);
  return [NAME, NAMESPACE, ...shown];
}
