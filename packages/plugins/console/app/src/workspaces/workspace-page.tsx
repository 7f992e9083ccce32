import { useEffect, useRef } from "preact/hooks";
import { AccessPage } from "../access/lazy-access.tsx";
import { type Discovery, discovery } from "../api/discovery.ts";
import { CreatePage, ObjectPage } from "../object/lazy-page.tsx";
import { ResourceList } from "../resources/resource-list.tsx";
import { ResourcePage } from "../resources/resource-page.tsx";
import { navigate, route } from "../route.ts";
import { texts } from "../texts.ts";
import { announce } from "../ui/announce.tsx";
import { Lazy } from "../ui/lazy.tsx";
import { ViewPage, ViewsPage } from "../views/lazy-views.tsx";
import { Breadcrumbs } from "./breadcrumbs.tsx";
import { logicalCluster } from "./logical-cluster.ts";
import { childWorkspaces, nameOf, parentOf, phaseOf } from "./workspace.ts";
import { WorkspaceOverview } from "./workspace-overview.tsx";

const loadChanges = () => import("../changes/changes-page.tsx").then((module) => module.ChangesPage);

/** A workspace: its resources, and beside them its overview, the objects of a resource, or an object. */
export function WorkspacePage() {
  const { workspace, resource, object, query } = route.value;
  const isNew = resource !== undefined && object === undefined && query.view === "create";
  const isAccess = resource === undefined && query.view === "access";
  const found = discovery(workspace).value;
  useOpened([object?.name, resource?.resource ?? query.of ?? TITLES.get(query.view), workspace]);
  const path = pathOf(workspace);
  useReloadWhenReady(workspace, found);
  useEffect(() => {
    if (path !== workspace) navigate({ ...route.peek(), workspace: path }, { replace: true });
  }, [path, workspace]);
  return (
    <>
      <header class="page-head">
        <Breadcrumbs />
        {resource !== undefined && <span class="type">{resource.group || texts.resources.core}</span>}
        {isAccess && <span class="type">{texts.header.access}</span>}
        <h1>{resource?.resource ?? nameOf(workspace)}</h1>
      </header>
      <div class={`workspace-page ${resource === undefined && !isAccess ? "" : "with-resource"}`}>
        <ResourceList found={found} />
        <div class="detail">
          {resource === undefined && query.view === "changes" && (
            <Lazy key={workspace} load={loadChanges} with={{ workspace }} />
          )}
          {resource === undefined && !["views", "changes", "access"].includes(query.view ?? "") && (
            <WorkspaceOverview path={workspace} />
          )}
          {resource === undefined && query.view === "views" && query.of === undefined && (
            <ViewsPage workspace={workspace} />
          )}
          {resource === undefined && query.view === "views" && query.of !== undefined && (
            <ViewPage workspace={workspace} name={query.of} />
          )}
          {resource === undefined && isAccess && <AccessPage workspace={workspace} found={found} />}
          {resource !== undefined && object === undefined && !isNew && (
            <ResourcePage
              key={`${workspace} ${resource.group} ${resource.version} ${resource.resource}`}
              id={resource}
              found={found}
            />
          )}
          {resource !== undefined && isNew && <CreatePage workspace={workspace} id={resource} />}
          {resource !== undefined && object !== undefined && (
            <ObjectPage address={{ workspace, resource, ...object }} />
          )}
        </div>
      </div>
    </>
  );
}

const TITLES: ReadonlyMap<string | undefined, string> = new Map([
  ["access", texts.header.access],
  ["changes", texts.workspace.changes],
  ["views", texts.header.views],
]);

/** Gives a page its title, and has screen readers read it. The focus goes to the page if what had it is gone. */
function useOpened(parts: readonly (string | undefined)[]): void {
  const title = parts.filter((part) => part !== undefined).join(" – ");
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} – ${texts.title}`;
    announce(title);
    if (!isFirst.current && document.activeElement === document.body) document.getElementById("content")?.focus();
    isFirst.current = false;
  }, [title]);
}

/** The workspace path of a logical cluster that is addressed by its name, once that is known. */
function pathOf(workspace: string): string {
  if (workspace === "root" || workspace.includes(":")) return workspace;
  return logicalCluster(workspace).value.items[0]?.metadata.annotations?.["kcp.io/path"] ?? workspace;
}

/** A workspace rejects requests until it is ready: what has been read before is then read again. */
function useReloadWhenReady(path: string, found: Discovery): void {
  const parent = parentOf(path);
  const siblings = parent === undefined ? undefined : childWorkspaces(parent).value;
  const workspace = siblings?.items.find(({ metadata }) => metadata.name === nameOf(path));
  const isReady = workspace !== undefined && phaseOf(workspace) === "Ready";
  /** Path of a workspace that was not ready. */
  const unready = useRef<string>(undefined);
  if (siblings?.state === "live" && !isReady) unready.current = path;
  useEffect(() => {
    if (!isReady || unready.current !== path) return;
    unready.current = undefined;
    for (const source of [found, childWorkspaces(path).peek(), logicalCluster(path).peek()]) source.reload();
    // Only when the phase changes: an error of a workspace that is ready stays.
  }, [isReady, path]);
}
