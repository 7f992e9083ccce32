import { useEffect, useState } from "preact/hooks";
import { request, TABLE } from "../../api/client.ts";
import { type ObjectAddress, objectPath } from "../../api/objects.ts";
import type { Table } from "../../api/types.ts";
import { shownColumns } from "../../resources/cells.tsx";
import { texts } from "../../texts.ts";
import type { WholeObject } from "../live-object.ts";
import { leavesOf } from "./leaves.tsx";

interface ColumnsProps {
  readonly address: ObjectAddress;
  /** The columns are read again for each of its versions. */
  readonly object: WholeObject;
}

/** Columns that the other facts of the summary have, too. */
const ELSEWHERE = new Set(["Name", "Namespace", "Age", "Created At"]);

/**
 * Which columns a table has for an object, those of kubectl's `-o wide` too, with the values that the server computes. The other values
 * are those of fields, which the summary shows below.
 */
export function Columns({ address, object }: ColumnsProps) {
  const { resourceVersion: version } = object.metadata;
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
  const below = new Set(leavesOf(object).map(({ text }) => text));
  const isBelow = (column: (typeof columns)[number]) => below.has(column.textOf(row)) || column.textOf(row) === "";
  const computed = columns.filter((column) => !isBelow(column));
  const others = columns.filter(isBelow);
  // Without a value of its own, the section would be a list of names.
  if (computed.length === 0) return null;
  return (
    <section aria-labelledby="columns">
      <h3 id="columns">{texts.object.columns}</h3>
      <dl class="facts">
        {computed.map((column) => (
          <div key={column.field}>
            <dt title={column.description}>{column.label}</dt>
            <dd dir="auto">{column.textOf(row)}</dd>
          </div>
        ))}
      </dl>
      {others.length > 0 && (
        <p class="hint">{texts.object.columnsOfFields(others.map(({ label }) => label).join(", "))}</p>
      )}
    </section>
  );
}
