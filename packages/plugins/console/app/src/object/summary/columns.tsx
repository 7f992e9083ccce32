import { useEffect, useState } from "preact/hooks";
import { request, TABLE } from "../../api/client.ts";
import { type ObjectAddress, objectPath } from "../../api/objects.ts";
import type { Table } from "../../api/types.ts";
import { shownColumns } from "../../resources/cells.tsx";
import { texts } from "../../texts.ts";

interface ColumnsProps {
  readonly address: ObjectAddress;
  /** The columns are read again for each. */
  readonly version: string;
}

/** Columns that the other facts of the summary have, too. */
const ELSEWHERE = new Set(["Name", "Namespace", "Age", "Created At"]);

/** What the server shows of an object in a table: all its columns, those of kubectl's `-o wide` too. */
export function Columns({ address, version }: ColumnsProps) {
  const [table, setTable] = useState<Table>();
  const path = objectPath(address);
  useEffect(() => {
    const stop = new AbortController();
    const options = { accept: TABLE, signal: stop.signal };
    // Without rights or Tables, the fields below show the same.
    request<Table>(path, options).then(
      (answer) => setTable(answer.kind === "Table" ? answer : undefined),
      () => undefined,
    );
    return () => stop.abort();
  }, [path, version]);
  const [row] = table?.rows ?? [];
  if (table === undefined || row === undefined) return null;
  const all = shownColumns(table.columnDefinitions, { hasNamespace: false, hasCluster: false, isWide: true });
  const columns = all.filter(({ field }) => !ELSEWHERE.has(field));
  if (columns.every((column) => column.textOf(row) === "")) return null;
  return (
    <section aria-labelledby="columns">
      <h3 id="columns">{texts.object.columns}</h3>
      <dl class="facts">
        {columns.map((column) => (
          <div key={column.field}>
            <dt title={column.description}>{column.label}</dt>
            <dd dir="auto">{column.textOf(row)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
