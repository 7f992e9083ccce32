import { useEffect, useRef } from "preact/hooks";
import type { ResourceId } from "../api/base.ts";
import { type Discovery, findResource, type Resource } from "../api/discovery.ts";
import { tablePage } from "../api/table-page.ts";
import type { Row, TablePage, TableQuery } from "../api/table-query.ts";
import { clusterOf } from "../api/types.ts";
import { type Route, type RouteQuery, route, routeHash, routeTo, setQuery, withQuery } from "../route.ts";
import { texts } from "../texts.ts";
import { announce } from "../ui/announce.tsx";
import { Problem } from "../ui/problem.tsx";
import { UnavailableShards } from "../ui/unavailable-shards.tsx";
import { useClusterPaths } from "../workspaces/cluster-paths.ts";
import { shownColumns } from "./cells.tsx";
import { useDefaultNamespace } from "./default-namespace.ts";
import { identityOf } from "./identity.ts";
import { ObjectTable } from "./object-table.tsx";
import { lastOffset, Pager } from "./pager.tsx";
import { problemsOf, TableTools } from "./table-tools.tsx";
import { MOST_COUNTED, ValueCounts } from "./value-counts.tsx";

/** Rows of a page. */
const SIZE = 100;

/** The objects of a resource: sorted, filtered and paged by the server, live. */
export function ResourcePage({ id, found }: { readonly id: ResourceId; readonly found: Discovery }) {
  const { workspace, query } = route.value;
  const resource = findResource(found, id);
  const isOverAll = query.all === "1";
  const last = useRef<TablePage>(undefined);
  const identity = isOverAll ? identityOf(workspace, id) : "";
  const { state, label } = { state: found.state, label: texts.table.label(id.resource) };
  return (
    <section class="resource-page" aria-label={label}>
      {identity === undefined || (state === "loading" && resource === undefined) ? (
        <p class="muted">{texts.loading}</p>
      ) : (
        <Objects query={tableQueryOf(route.value, id, identity)} resource={resource} label={label} last={last} />
      )}
    </section>
  );
}

function tableQueryOf(
  { workspace, query }: Route,
  { group, version, resource }: ResourceId,
  identity: string,
): TableQuery {
  const offset = Math.max(0, Number(query.offset) || 0);
  return {
    workspace: query.all === "1" ? "*" : workspace,
    resource: { group, version, resource },
    offset,
    limit: SIZE,
    ...(query.all === "1" && { isOverAll: true, identity }),
    ...(query.namespace !== undefined && { namespace: query.namespace }),
    ...(query.sort !== undefined && { sort: query.sort }),
    ...(query.search !== undefined && { search: query.search }),
    ...(query.labels !== undefined && { labels: query.labels }),
    ...(query.filter !== undefined && { filter: query.filter }),
    ...(query.count !== undefined && { countBy: query.count }),
  };
}

const NONE: readonly string[] = [];

interface ObjectsProps {
  readonly query: TableQuery;
  readonly resource: Resource | undefined;
  readonly label: string;
  readonly last: { current: TablePage | undefined };
}

function Objects({ query, resource, label, last }: ObjectsProps) {
  const page = withLastRows(tablePage(query).value, last);
  useDefaultNamespace(page, resource);
  const { workspace, query: parameters } = route.value;
  const { offset, isOverAll = false } = query;
  const pathOf = useClusterPaths(
    isOverAll ? [...page.rows.map(({ object }) => clusterOf(object)), ...countedClusters(query, page)] : NONE,
  );
  const columns = shownColumns(page.columns, {
    hasNamespace: resource?.isNamespaced === true && query.namespace === undefined,
    hasCluster: isOverAll,
    pathOf,
    isWide: parameters.wide === "1",
  });
  const total = page.total ?? 0;
  useEffect(() => {
    // Objects have been deleted, or the address is older: the last page has the rest.
    if (page.state === "live" && total > 0 && offset >= total) setQuery({ offset: String(lastOffset(total, SIZE)) });
  }, [page.state, total, offset]);
  useAnnouncedTotal(query, page);
  const goTo = (to: number) => setQuery({ offset: to === 0 ? undefined : String(to) }, false);
  const id = query.resource;
  const linkOf = ({ object }: Row) => {
    const { namespace = "", name } = object.metadata;
    const at = isOverAll ? pathOf(clusterOf(object)) : workspace;
    return routeHash(routeTo({ workspace: at, resource: id, object: { namespace, name } }, kept(parameters)));
  };
  const problems = problemsOf(page);
  const isShownAtField = problems.labels !== undefined || problems.filter !== undefined;
  const problem = page.error !== undefined && !isShownAtField && (
    <Problem
      error={page.error}
      isRetrying={page.state === "retrying"}
      hint={page.rows.length > 0 ? texts.table.notLive : undefined}
      onRetry={page.state === "failed" ? page.reload : undefined}
    />
  );
  return (
    <>
      <TableTools resource={resource} page={page} fields={columns} />
      {page.source === "plain" && page.state === "live" && <p class="notice">{texts.table.plain}</p>}
      <UnavailableShards names={page.unavailable} />
      {page.rows.length === 0 && problem}
      {isOverAll && (page.error?.code === 404 || page.error?.code === 403) && (
        <p class="notice">{texts.table.noOverAll}</p>
      )}
      {parameters.count !== undefined && page.counts !== undefined && (
        <ValueCounts counts={page.counts} textOf={query.countBy === "Cluster" ? pathOf : String} />
      )}
      {columns.length > 0 && (
        <ObjectTable
          label={label}
          page={page}
          columns={columns}
          offset={offset}
          sort={query.sort ?? "Name"}
          onSort={(sort) => setQuery({ sort: sort === "Name" ? undefined : sort, offset: undefined })}
          linkOf={linkOf}
          onPage={(step) => {
            const to = offset + step * SIZE;
            const isThere = to >= 0 && to < total;
            if (isThere) goTo(to);
            return isThere;
          }}
        />
      )}
      {page.state === "live" && page.rows.length === 0 && <Empty />}
      {/* Below the rows, which stay where they are. */}
      {page.rows.length > 0 && problem}
      <footer class="table-foot">
        {(page.state !== "failed" || page.rows.length > 0) && (
          <Pager total={page.total} offset={offset} size={SIZE} onOffset={goTo} />
        )}
        {page.state === "live" && <span class="live">{texts.table.live}</span>}
        {page.state === "loading" && page.total !== undefined && <span class="muted">{texts.loading}</span>}
      </footer>
    </>
  );
}

const countedClusters = ({ countBy }: TableQuery, { counts }: TablePage): readonly string[] =>
  countBy === "Cluster" ? (counts?.values ?? []).slice(0, MOST_COUNTED).map(({ value }) => String(value)) : NONE;

/** Has screen readers read how many objects a search or a filter has found. */
function useAnnouncedTotal({ offset: _, sort: _sort, ...selection }: TableQuery, { state, total }: TablePage): void {
  const key = JSON.stringify(selection);
  const announced = useRef(key);
  useEffect(() => {
    if (state !== "live" || total === undefined || announced.current === key) return;
    announced.current = key;
    announce(texts.table.total(total));
  }, [state, total, key]);
}

const FILTERS = { search: undefined, labels: undefined, filter: undefined, namespace: undefined, offset: undefined };

function Empty() {
  const { query } = route.value;
  if (!(query.search || query.labels || query.filter || query.namespace))
    return <p class="empty">{texts.table.empty}</p>;
  return (
    <p class="empty">
      {texts.table.emptySearch} <a href={routeHash(withQuery(route.value, FILTERS))}>{texts.table.clear}</a>
    </p>
  );
}

/** Parameters that lead back from an object to the same page of the list. */
const kept = ({ open: _open, find: _find, view: _view, ...query }: RouteQuery): RouteQuery => query;

/** The last rows stay until the next ones are there: the page does not flicker. */
function withLastRows(page: TablePage, last: ObjectsProps["last"]): TablePage {
  if (page.columns.length > 0) {
    last.current = page;
    return page;
  }
  if (last.current === undefined) return page;
  const { columns, rows, total } = last.current;
  return page.state === "failed" ? { ...page, columns } : { ...page, columns, rows, total };
}
