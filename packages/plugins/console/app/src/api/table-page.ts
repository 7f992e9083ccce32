import { startPlainTable } from "./plain-table.ts";
import { startQueryTable } from "./query-table.ts";
import { reloadable } from "./shared.ts";
import type { ReadonlyTableState, TablePage, TableQuery, TableState } from "./table-query.ts";

/** The page of a list that `query` selects, kept up to date while anything reads the signal. */
export function tablePage(query: TableQuery): ReadonlyTableState {
  const none = { columns: [], rows: [], total: undefined, source: "query", state: "loading" } as const;
  return reloadable<TablePage>(`table ${JSON.stringify(query)}`, none, (state) => start(state, query));
}

/** Asks the query view first. Without it, or without a right to it, the plain list answers, and shows its own error. */
function start(state: TableState, query: TableQuery): () => void {
  let isStopped = false;
  const toPlain = () => {
    if (isStopped) return;
    stop();
    stop = startPlainTable(state, query);
  };
  let stop = startQueryTable(state, query, query.isOverAll === true ? undefined : toPlain);
  return () => {
    isStopped = true;
    stop();
  };
}
