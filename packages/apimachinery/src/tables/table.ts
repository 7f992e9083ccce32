import type { KubeObject } from "../meta/types.ts";
import { goJson, goNumber } from "../text/go-format.ts";
import { humanDuration, parseTime } from "../text/time.ts";
import { compileJsonPathFirst } from "./jsonpath.ts";

/** Properties of every column. */
export interface ColumnHead {
  readonly name: string;
  readonly type: TableColumnType;
  /** Type that clients see: Kubernetes' own kinds advertise ages and counts as texts. @default `type` */
  readonly advertisedType?: TableColumnType | undefined;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  /** 0, the default, is always shown; higher values only with `-o wide`. */
  readonly priority?: number | undefined;
}

/** Column that shows a field (apiextensions' CustomResourceColumnDefinition). */
export interface PathColumn extends ColumnHead {
  /** Path of the value: see `compileJsonPath`. Its first value counts. */
  readonly jsonPath: string;
}

/** Column that shows the result of a function, as Kubernetes' own kinds have them (`DATA` of a ConfigMap). */
export interface ComputedColumn extends ColumnHead {
  /** Returns the value, of the column's type. If it throws, the cell is empty. */
  readonly value: (object: KubeObject) => unknown;
}

/** Column of a table. */
export type TableColumn = PathColumn | ComputedColumn;

/** Column as clients see it (metav1.TableColumnDefinition). */
export interface TableColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** Converts objects of a kind to rows; {@link compileTable} creates it. */
export interface CompiledTable {
  readonly definitions: TableColumnDefinition[];
  /** Returns the cells of one row; ages are relative to `now`. */
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

/** Column that Kubernetes adds to a kind without columns of its own. */
export const AGE_COLUMN: TableColumn = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description:
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
};

/** Format of the column that shows an object's name. */
const NAME_FORMAT = "name";

/**
 * Compiles the table of a kind: a column Name, then the given ones. A given column of format `name` replaces Name, as the
 * last column of events does.
 *
 * @throws Error for a malformed JSONPath, with the column and the position.
 */
export function compileTable(columns: readonly TableColumn[]): CompiledTable {
  const compiled = columns.map((column) => (isComputed(column) ? computed(column) : shown(column)));
  const own = columns.some(({ format }) => format === NAME_FORMAT);
  return {
    definitions: [...(own ? [] : [NAME]), ...columns.map(definition)],
    cells(object, now) {
      const cells: unknown[] = own ? [] : [object.metadata.name ?? ""];
      for (const cell of compiled) cells.push(cell(object, now));
      return cells;
    },
  };
}

/** Whether a function computes the column. */
export function isComputed(column: TableColumn): column is ComputedColumn {
  return "value" in column;
}

type Cell = (object: KubeObject, now: Date) => unknown;

function shown(column: PathColumn): Cell {
  const read = compilePath(column);
  return (object, now) => cellOf(column.type, read(object), now);
}

/** A function that throws leaves its cell empty, like a path without a value. */
function computed({ type, value }: ComputedColumn): Cell {
  return (object, now) => {
    try {
      return cellOf(type, value(object), now);
    } catch {
      return null;
    }
  };
}

function compilePath(column: PathColumn): (object: unknown) => unknown {
  try {
    return compileJsonPathFirst(column.jsonPath);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`column ${JSON.stringify(column.name)}: ${problem}`, { cause });
  }
}

function definition(column: TableColumn): TableColumnDefinition {
  const { name, type, advertisedType = type, format = "", description = "", priority = 0 } = column;
  const fallback = isComputed(column)
    ? ""
    : `Custom resource definition column (in JSONPath format): ${column.jsonPath}`;
  return { name, type: advertisedType, format, description: description === "" ? fallback : description, priority };
}

/** Types of columns. `date` shows the time that has passed since. */
export type TableColumnType = "string" | "integer" | "number" | "boolean" | "date";

/**
 * Converts a value to the cell of a column, like apiextensions' tableconvertor: to the column's type, or null. Only text
 * columns convert; they print any value.
 */
function cellOf(type: TableColumnType, value: unknown, now: Date): unknown {
  if (value === undefined) return null;
  switch (type) {
    case "string":
      return printedText(value);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : wholeNumber(value);
    case "number":
      return typeof value === "number" ? value : wholeNumber(value);
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? age(value, now) : null;
  }
}

/** Returns integers beyond 2^53. */
function wholeNumber(value: unknown): bigint | null {
  return typeof value === "bigint" ? value : null;
}

function age(time: string, now: Date): string {
  if (time === "" || time === "null") return "<unknown>";
  const then = parseTime(time);
  return then === undefined ? "<invalid>" : humanDuration(now.getTime() - then.getTime());
}

/** Prints a decoded value like Go: numbers and objects differ from ECMAScript's. */
function printedText(value: unknown): string {
  if (value === null) return "<no value>";
  if (typeof value === "number") return goNumber(value);
  return typeof value === "object" ? goJson(value) : String(value);
}
