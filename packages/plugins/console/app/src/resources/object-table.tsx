import { useLayoutEffect, useRef } from "preact/hooks";
import type { Row, TablePage } from "../api/table-query.ts";
import { clusterOf } from "../api/types.ts";
import { texts } from "../texts.ts";
import { announce } from "../ui/announce.tsx";
import { Icon } from "../ui/icons.tsx";
import type { ShownColumn } from "./cells.tsx";

interface ObjectTableProps {
  readonly label: string;
  readonly page: TablePage;
  readonly columns: readonly ShownColumn[];
  readonly offset: number;
  /** Field, with `-` before it in reverse. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly linkOf: (row: Row) => string;
  /** Goes to the next or the previous page. Returns whether there is one. */
  readonly onPage: (step: 1 | -1) => boolean;
}

const keyOf = ({ object }: Row): string =>
  object.metadata.uid ?? `${clusterOf(object)}/${object.metadata.namespace}/${object.metadata.name}`;

/** The objects of a page. Up, down, Home and End move between the rows; Page Up and Page Down between the pages. */
export function ObjectTable({ label, page, columns, offset, sort, onSort, linkOf, onPage }: ObjectTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  /** The keys have asked for another page: the focus goes to its first row. */
  const wantsFocus = useRef(false);
  const [first] = page.rows;
  const firstKey = first === undefined ? "" : keyOf(first);
  useLayoutEffect(() => {
    if (!wantsFocus.current || firstKey === "" || page.state !== "live") return;
    wantsFocus.current = false;
    body.current?.querySelector<HTMLElement>("th a")?.focus();
  }, [firstKey, page.state]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const links = [...(body.current?.querySelectorAll<HTMLElement>("th a") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    const step = { PageDown: 1, PageUp: -1 }[event.key] as 1 | -1 | undefined;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
    if (step === undefined && to === undefined) return;
    event.preventDefault();
    if (step !== undefined) wantsFocus.current = onPage(step);
    else links[Math.max(0, Math.min(links.length - 1, to ?? 0))]?.focus();
  };
  return (
    <div class="table-scroll">
      <table
        aria-label={label}
        aria-rowcount={(page.total ?? 0) + 1}
        aria-busy={page.state === "loading"}
        onKeyDown={onKeyDown}
      >
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <HeaderCell key={column.field} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {page.rows.map((row, index) => (
            <tr
              key={keyOf(row)}
              aria-rowindex={offset + index + 2}
              class={row.object.metadata.deletionTimestamp ? "deleting" : ""}
            >
              {columns.map((column, at) =>
                at === 0 ? (
                  <th key={column.field} scope="row">
                    <a href={linkOf(row)}>{column.textOf(row)}</a>
                  </th>
                ) : (
                  <td
                    key={column.field}
                    class={column.isNumber ? "number" : ""}
                    title={column.titleOf?.(row) ?? longText(column.textOf(row))}
                  >
                    {column.hrefOf === undefined ? (
                      column.textOf(row)
                    ) : (
                      <a href={column.hrefOf(row)}>{column.textOf(row)}</a>
                    )}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A text that the column may cut off. */
const longText = (text: string): string | undefined => (text.length > 50 ? text : undefined);

interface HeaderCellProps {
  readonly column: ShownColumn;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}

function HeaderCell({ column: { field, label, description, isNumber }, sort, onSort }: HeaderCellProps) {
  const isUp = sort === field;
  const isDown = sort === `-${field}`;
  return (
    <th scope="col" class={isNumber ? "number" : ""} aria-sort={isUp ? "ascending" : isDown ? "descending" : "none"}>
      <button
        type="button"
        title={description || texts.table.sortBy(label)}
        onClick={() => {
          onSort(isUp ? `-${field}` : field);
          announce(texts.table.sorted(label, isUp));
        }}
      >
        {label}
        {(isUp || isDown) && <Icon name={isUp ? "up" : "down"} class="small" />}
      </button>
    </th>
  );
}
