import "../object/object.css";
import "./views.css";
import { apiUrl } from "../api/base.ts";
import { clusterOf } from "../api/types.ts";
import { panelList, panelsOfView } from "../panels/panel-list.ts";
import { routeHash, routeTo } from "../route.ts";
import { logicalCluster } from "../workspaces/logical-cluster.ts";
import { CheckSections } from "./check/check-sections.tsx";
import { MappedPaths } from "./mapped-paths.tsx";
import { PublishedUrls } from "./published.tsx";
import { pathFor, type ServerView, useServerViews } from "./server-views.ts";
import { texts } from "./texts.ts";
import { ViewActions } from "./view-actions.tsx";

/** All virtual workspaces of the server, seen from a workspace, and the URLs that objects publish. */
export function ViewsPage({ workspace }: { readonly workspace: string }) {
  const [own] = logicalCluster(workspace).value.items;
  const { views: known, isLoading, error, reload } = useServerViews(own?.metadata.uid);
  const apis = known.filter(({ mappedPaths }) => mappedPaths === undefined);
  const views = isLoading ? apis : [...apis, ...viewsOfPanels(known)];
  const cluster = (own === undefined ? "" : clusterOf(own)) || workspace;
  return (
    <div class="object-page views-page">
      <section aria-labelledby="views">
        <div class="row">
          <h2 id="views">{texts.heading}</h2>
          <button type="button" class="link" onClick={reload}>
            {texts.again}
          </button>
        </div>
        <p class="hint">{texts.hint(workspace)}</p>
        {isLoading && <p class="muted">{texts.loading}</p>}
        {error !== undefined && <p class="notice">{texts.noPaths(error.message)}</p>}
        {!isLoading && views.length === 0 && <p class="muted">{texts.noReadiness}</p>}
        {views.length > 0 && (
          <div class="table-wrap">
            <table class="small-table" aria-labelledby="views">
              <thead>
                <tr>
                  <th scope="col">{texts.name}</th>
                  <th scope="col">{texts.state}</th>
                  <th scope="col">{texts.path}</th>
                </tr>
              </thead>
              <tbody>
                {views.map((view) => (
                  <ViewRow key={view.name} view={view} cluster={cluster} workspace={workspace} />
                ))}
              </tbody>
            </table>
          </div>
        )}
        <MappedPaths paths={known.flatMap(({ mappedPaths = [] }) => mappedPaths)} />
      </section>
      <CheckSections workspace={workspace} cluster={cluster} views={views} isLoading={isLoading} />
      <PublishedUrls workspace={workspace} />
    </div>
  );
}

/** Views of other servers that panels are for: behind a front proxy the server does not list them. */
function viewsOfPanels(known: readonly ServerView[]): readonly ServerView[] {
  const found = new Map<string, ServerView>();
  for (const { for: subject, path } of panelList().value.panels) {
    if (path === undefined || !("virtualWorkspace" in subject)) continue;
    const name = subject.virtualWorkspace;
    if (!known.some((view) => view.name === name)) found.set(name, { name, path });
  }
  return [...found.values()];
}

interface ViewRowProps {
  readonly view: ServerView;
  readonly cluster: string;
  readonly workspace: string;
}

function ViewRow({ view, cluster, workspace }: ViewRowProps) {
  const path = pathFor(view, cluster);
  const { name } = view;
  return (
    <tr>
      <th scope="row">
        <a href={routeHash(routeTo({ workspace }, { view: "views", of: name }))}>{name}</a>
        {panelsOfView(name).map(({ title }) => (
          <p key={title} class="hint">
            {title}
          </p>
        ))}
      </th>
      <td>
        <Readiness isReady={view.isReady} />
      </td>
      <td class="url-cell">
        {view.path !== undefined && <code>{view.path}</code>}
        {path !== undefined && <ViewActions name={view.name} url={apiUrl(path).href} path={path} />}
      </td>
    </tr>
  );
}

export function Readiness({ isReady }: { readonly isReady: boolean | undefined }) {
  if (isReady === undefined) return <span class="badge">{texts.unknown}</span>;
  if (isReady) return <span class="badge good">{texts.ready}</span>;
  return (
    <span class="badge failed" title={texts.whyNot}>
      {texts.notReady}
    </span>
  );
}
