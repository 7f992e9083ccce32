import type { IncomingMessage } from "node:http";
import { parseToken, tokenCluster } from "./service-account-token.ts";

const OWN = /^\/(metrics|healthz|livez|readyz|statusz|flagz)(?=[?/]|$)/;
/** Case-sensitive, as in kcp. */
const BEARER = "Bearer ";

/**
 * Returns the intended URL of a request with a service account token and no logical cluster, as from clients that use
 * `KUBERNETES_SERVICE_HOST`: `/api/v1/secrets` becomes `/clusters/<that of the token>/api/v1/secrets`. `undefined`: keep the
 * URL. Security: the token is not verified here and only selects the path; authentication follows as usual. Paths of the
 * process (such as `/metrics`, `/healthz`, `/flagz`) stay: kcp rewrites them too, and its own metrics account gets 501.
 */
export function inClusterUrl({ url = "", headers }: Pick<IncomingMessage, "url" | "headers">): string | undefined {
  if (!isOutside(url)) return undefined;
  const { authorization = "", "x-kubernetes-sharded-request": sharded = "" } = headers;
  if (sharded !== "" || !authorization.startsWith(BEARER)) return undefined;
  const token = parseToken(authorization.slice(BEARER.length));
  const cluster = token && tokenCluster(token.payload);
  if (cluster === undefined) return undefined;
  return below(cluster, url);
}

/** Returns the URL of a request without a logical cluster for one that is served at the root. `undefined`: keep the URL. */
export function inClusterAtRoot(
  { url = "" }: Pick<IncomingMessage, "url">,
  cluster: string | undefined,
): string | undefined {
  return cluster !== undefined && isOutside(url) ? below(cluster, url) : undefined;
}

/** Whether a request is for no logical cluster, no view and not the process itself. */
function isOutside(url: string): boolean {
  return url.startsWith("/") && !url.startsWith("/clusters/") && !url.startsWith("/services/") && !OWN.test(url);
}

function below(cluster: string, url: string): string {
  const query = url.indexOf("?");
  const [path, rest] = query === -1 ? [url, ""] : [url.slice(0, query), url.slice(query)];
  // kcp resolves dot segments here, with which a path could leave the cluster; the framework rejects them.
  return `/clusters/${cluster}${path.endsWith("/") ? path.slice(0, -1) : path}${rest}`;
}
