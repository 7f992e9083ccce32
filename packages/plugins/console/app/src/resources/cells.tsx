import type { Row } from "../api/table-query.ts";
import { type Column, clusterOf } from "../api/types.ts";
import { routeHash, routeTo } from "../route.ts";
import { texts } from "../texts.ts";
import { ageOf, dateOf } from "../ui/age.ts";

/** A column as the page shows it: of the server, or the namespace and the logical cluster. */
export interface ShownColumn {
  /** Field of a query view. */
  readonly field: string;
  readonly label: string;
  readonly description: string;
  readonly isNumber: boolean;
  /** Text of a cell. */
  readonly textOf: (row: Row) => string;
  /** More than the text, for a tooltip. */
  readonly titleOf?: (row: Row) => string;
  readonly hrefOf?: (row: Row) => string;
}

interface Shape {
  readonly hasNamespace: boolean;
  readonly hasCluster: boolean;
  /** Path of the workspace of a logical cluster. Default: its name. */
  readonly pathOf?: (cluster: string) => string;
  /** Columns of kubectl's `-o wide`, too. */
  readonly isWide: boolean;
}

export function shownColumns(
  columns: readonly Column[],
  { hasNamespace, hasCluster, isWide, pathOf = (cluster) => cluster }: Shape,
): ShownColumn[] {
  const own = columns.flatMap((column, index) => (column.priority > 0 && !isWide ? [] : [ofServer(column, index)]));
  const [name, ...others] = own;
  const more: ShownColumn[] = [];
  if (hasNamespace)
    more.push({
      field: "Namespace",
      label: texts.table.namespaceColumn,
      description: "",
      isNumber: false,
      textOf: ({ object }) => object.metadata.namespace ?? "",
    });
  if (hasCluster)
    more.push({
      field: "Cluster",
      label: texts.table.workspace,
      description: texts.table.byCluster,
      isNumber: false,
      textOf: ({ object }) => pathOf(clusterOf(object)),
      titleOf: ({ object }) => texts.table.clusterOf(clusterOf(object)),
      hrefOf: ({ object }) => routeHash(routeTo({ workspace: pathOf(clusterOf(object)) })),
    });
  const known = new Set(own.map(({ field }) => field));
  return name === undefined ? [] : [name, ...more.filter(({ field }) => !known.has(field)), ...others];
}

function ofServer({ name, type, description = "" }: Column, index: number): ShownColumn {
  const isAge = name === "Age";
  return {
    field: name,
    label: name,
    description,
    isNumber: type === "integer" || type === "number",
    textOf: ({ cells, object }) =>
      isAge
        ? ageOf(object.metadata.creationTimestamp)
        : textOf(type === "date" ? ageOf(String(cells[index])) || cells[index] : cells[index]),
    ...(isAge && { titleOf: ({ object }: Row) => dateOf(object.metadata.creationTimestamp) }),
  };
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
