import { compileJsonPathFirst } from "./jsonpath.ts";
import type { KubeObject } from "./meta.ts";
import { cellOf, type TableColumnType } from "./table-cell.ts";

/** A column to compute (apiextensions' CustomResourceColumnDefinition). */
export interface TableColumn {
  readonly name: string;
  readonly type: TableColumnType;
  /** Where the value is: see `compileJsonPath`. The first value that it leads to counts. */
  readonly jsonPath: string;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  /** 0, the default, is always shown; more only with `-o wide`. */
  readonly priority?: number | undefined;
}

/** A column as clients see it (metav1.TableColumnDefinition). */
export interface TableColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** How objects of a kind become rows: {@link compileTable}. */
export interface CompiledTable {
  readonly definitions: TableColumnDefinition[];
  /** The cells of one row; `now` is what ages are counted to. */
  readonly cells: (object: KubeObject, now: Date) => unknown[];
}

const NAME: TableColumnDefinition = {
  name: "Name",
  type: "string",
  format: "name",
  description:
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
  priority: 0,
};

/** The column that Kubernetes adds to a kind which has no columns of its own. */
export const AGE_COLUMN: TableColumn = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description:
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
};

/**
 * The table of a kind: a column Name, then the given ones.
 * @throws Error when a JSONPath is malformed; it names the column and the position.
 */
export function compileTable(columns: readonly TableColumn[]): CompiledTable {
  const compiled = columns.map((column) => ({ type: column.type, value: compilePath(column) }));
  return {
    definitions: [NAME, ...columns.map(definition)],
    cells(object, now) {
      const cells: unknown[] = [object.metadata.name ?? ""];
      for (const { type, value } of compiled) cells.push(cellOf(type, value(object), now));
      return cells;
    },
  };
}

function compilePath(column: TableColumn): (object: unknown) => unknown {
  try {
    return compileJsonPathFirst(column.jsonPath);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`column ${JSON.stringify(column.name)}: ${problem}`, { cause });
  }
}

function definition(column: TableColumn): TableColumnDefinition {
  const { name, type, jsonPath, format = "", description = "", priority = 0 } = column;
  const fallback = `Custom resource definition column (in JSONPath format): ${jsonPath}`;
  return { name, type, format, description: description === "" ? fallback : description, priority };
}
