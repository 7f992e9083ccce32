import "../object/object.css";
import "./views.css";
import { apiUrl } from "../api/base.ts";
import { clusterOf } from "../api/types.ts";
import { PanelPart } from "../panels/lazy-panel.tsx";
import { panelList, panelsOfView } from "../panels/panel-list.ts";
import { routeHash, routeTo } from "../route.ts";
import { Icon } from "../ui/icons.tsx";
import { logicalCluster } from "../workspaces/logical-cluster.ts";
import { MappedPaths } from "./mapped-paths.tsx";
import { pathFor, useServerViews } from "./server-views.ts";
import { texts } from "./texts.ts";
import { ViewActions } from "./view-actions.tsx";
import { Readiness } from "./views-page.tsx";

/** One virtual workspace of the server, seen from a workspace, with its panels. */
export function ViewPage({ workspace, name }: { readonly workspace: string; readonly name: string }) {
  const { views, isLoading } = useServerViews();
  const panels = panelsOfView(name);
  const { error } = panelList().value;
  const [own] = logicalCluster(workspace).value.items;
  const found = views.find((view) => view.name === name);
  const path = found?.path ?? panels.find((panel) => panel.path !== undefined)?.path;
  const filled = path && pathFor({ name, path }, (own === undefined ? "" : clusterOf(own)) || workspace);
  return (
    <article class="object-page views-page" aria-label={name}>
      <header>
        <a href={routeHash(routeTo({ workspace }, { view: "views" }))} class="back">
          <Icon name="previous" />
          {texts.heading}
        </a>
        <h2>{name}</h2>
        {found !== undefined && <Readiness isReady={found.isReady} />}
      </header>
      {!isLoading && found === undefined && panels.length === 0 && <p class="empty">{texts.missing(name)}</p>}
      {path !== undefined && found?.mappedPaths === undefined && (
        <div class="url-cell">
          <code>{path}</code>
          {filled !== undefined && <ViewActions name={name} url={apiUrl(filled).href} path={filled} />}
        </div>
      )}
      <MappedPaths paths={found?.mappedPaths ?? []} />
      {error !== undefined && <p class="notice">{texts.noPanels(error.message)}</p>}
      {panels.map((panel) => (
        <section key={panel.name} aria-labelledby={`panel-${panel.name}`}>
          <h2 id={`panel-${panel.name}`}>{panel.title}</h2>
          <PanelPart panel={panel} workspace={workspace} />
        </section>
      ))}
    </article>
  );
}
