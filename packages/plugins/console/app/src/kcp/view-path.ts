import { apiUrl } from "../api/base.ts";

/** Path of the view of an export below the API of the page. */
export const viewPath = (cluster: string, name: string): string =>
  `services/apiexport/${encodeURIComponent(cluster).replaceAll("%3A", ":")}/${encodeURIComponent(name)}`;

/** A URL, or a path below the API, with the `/clusters/*` that the API of all workspaces of some views needs. */
export const withClusters = (url: string): string =>
  /(^|\/)services\/(apiexport|initializingworkspaces|terminatingworkspaces|preparingworkspaces)\/[^/]+(\/[^/]+)?\/?$/.test(
    url,
  )
    ? `${url.replace(/\/$/, "")}/clusters/*`
    : url;

/** A URL as a path below the API of the page; undefined if it is elsewhere, where the session of the page does not count. */
export function pathBelowApi(url: string): string | undefined {
  const api = apiUrl("").href;
  return url.startsWith(api) ? url.slice(api.length).replace(/\/+$/, "") : undefined;
}
