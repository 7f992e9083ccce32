import { type ResourceId, resourcePath, workspacePath } from "../api/base.ts";
import type { KubernetesObject } from "../api/types.ts";
import { EXPORTS, MOUNTS, SLICES, TYPES } from "../kcp/kinds.ts";
import { ObjectLink, placeOf, WorkspaceLink } from "../kcp/links.tsx";
import { everywhere } from "../kcp/lists.ts";
import { pathBelowApi, withClusters } from "../kcp/view-path.ts";
import { UnavailableShards } from "../ui/unavailable-shards.tsx";
import { useClusterPaths } from "../workspaces/cluster-paths.ts";
import { texts } from "./texts.ts";
import { ViewActions } from "./view-actions.tsx";

const PROXIES = { group: "proxy.kcp.io", version: "v1alpha1", resource: "clusterproxies" } as const;

interface Publishing extends KubernetesObject {
  readonly status?: {
    readonly URL?: unknown;
    readonly endpoints?: readonly { readonly url?: unknown }[];
    readonly virtualWorkspaces?: readonly { readonly url?: unknown }[];
  };
}

interface Published {
  readonly id: ResourceId;
  readonly object: Publishing;
  readonly url: string;
}

const KINDS: readonly (readonly [kind: string, id: ResourceId])[] = [
  ["APIExport", EXPORTS],
  ["APIExportEndpointSlice", SLICES],
  ["WorkspaceType", TYPES],
  ["ClusterProxy", PROXIES],
  ["Mount", MOUNTS],
];

const NAMES = new Map(KINDS.map(([kind, id]) => [id, kind]));

interface PublishedFound {
  readonly urls: readonly Published[];
  readonly isLoading: boolean;
  readonly unavailable: readonly string[];
}

/** The URLs that objects publish, of all workspaces whose objects the user may list, and of one more. To be read while a component is rendered. */
export function publishedUrls(workspace: string): PublishedFound {
  const found = KINDS.map(([, id]) => {
    const others = [`${workspacePath(workspace)}/${resourcePath(id)}`];
    const { items, isLoading, unavailable } = everywhere<Publishing>(id, { others });
    return {
      isLoading,
      unavailable,
      urls: items.flatMap((object) => urlsOf(object).map((url) => ({ id, object, url }))),
    };
  });
  return {
    urls: onceEach(found.flatMap((one) => one.urls)),
    isLoading: found.some(({ isLoading }) => isLoading),
    unavailable: [...new Set(found.flatMap(({ unavailable }) => unavailable))],
  };
}

/** A table of these URLs. */
export function PublishedUrls({ workspace }: { readonly workspace: string }) {
  const { urls, isLoading, unavailable } = publishedUrls(workspace);
  const words = texts.published;
  return (
    <section aria-labelledby="published">
      <h2 id="published">{words.heading}</h2>
      <p class="hint">{words.hint}</p>
      <UnavailableShards names={unavailable} />
      {urls.length === 0 && <p class="muted">{isLoading ? texts.loading : words.none}</p>}
      {urls.length > 0 && (
        <div class="table-wrap">
          <table class="small-table" aria-labelledby="published">
            <thead>
              <tr>
                <th scope="col">{words.object}</th>
                <th scope="col">{words.kind}</th>
                <th scope="col">{words.workspace}</th>
                <th scope="col">{words.url}</th>
              </tr>
            </thead>
            <tbody>
              {urls.map((one) => (
                <Row key={`${one.url} ${one.object.metadata.uid}`} published={one} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Row({ published: { id, object, url } }: { readonly published: Published }) {
  const { name } = object.metadata;
  const place = useClusterPaths([placeOf(object)])(placeOf(object));
  const below = pathBelowApi(url);
  return (
    <tr>
      <th scope="row">
        <ObjectLink workspace={place} id={id} name={name} />
      </th>
      <td>{NAMES.get(id)}</td>
      <td>
        <WorkspaceLink workspace={place} />
      </td>
      <td class="url-cell">
        <code>{url}</code>
        <ViewActions name={name} url={url} path={below === undefined ? undefined : withClusters(below)} />
        {below === undefined && <p class="hint">{texts.published.elsewhere}</p>}
      </td>
    </tr>
  );
}

function urlsOf({ status = {} }: Publishing): readonly string[] {
  const { URL: own, endpoints = [], virtualWorkspaces = [] } = status;
  const all = [own, ...endpoints.map(({ url }) => url), ...virtualWorkspaces.map(({ url }) => url)];
  return [...new Set(all)].filter((url): url is string => typeof url === "string" && url !== "");
}

/** The slice of an export has the name and the URLs of the export. */
const onceEach = (all: readonly Published[]): readonly Published[] => [
  ...new Map(all.toReversed().map((one) => [`${one.url} ${one.object.metadata.name}`, one])).values(),
];
