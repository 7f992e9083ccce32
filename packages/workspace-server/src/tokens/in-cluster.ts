import type { IncomingMessage } from "node:http";
import { clusterOf, parseToken } from "./claims.ts";

const OWN = /^\/(metrics|healthz|livez|readyz)(?=[?/]|$)/;
/** Compared with case, as kcp does. */
const BEARER = "Bearer ";

/**
 * What the URL of a request should have been that comes with a token of a service account and names no logical cluster, as
 * clients do that read `KUBERNETES_SERVICE_HOST`: `/api/v1/secrets` is `/clusters/<that of the token>/api/v1/secrets`.
 * `undefined`: leave it as it is. The token is not verified: this says where to go, not who asks, and who asks is then found
 * out by the token as ever. What is the process's own (`/metrics`, `/healthz`, `/livez`, `/readyz`) stays so: kcp rewrites it
 * too, and its own account for metrics gets 501.
 */
export function inClusterUrl({ url = "", headers }: Pick<IncomingMessage, "url" | "headers">): string | undefined {
  if (!url.startsWith("/") || url.startsWith("/clusters/") || url.startsWith("/services/")) return undefined;
  if (OWN.test(url)) return undefined;
  const { authorization = "", "x-kubernetes-sharded-request": sharded = "" } = headers;
  if (sharded !== "" || !authorization.startsWith(BEARER)) return undefined;
  const token = parseToken(authorization.slice(BEARER.length));
  const cluster = token && clusterOf(token.payload);
  if (cluster === undefined) return undefined;
  const query = url.indexOf("?");
  const [path, rest] = query === -1 ? [url, ""] : [url.slice(0, query), url.slice(query)];
  // kcp resolves dot segments here, with which a path could leave the cluster; the framework refuses them.
  return `/clusters/${cluster}${path.endsWith("/") ? path.slice(0, -1) : path}${rest}`;
}
