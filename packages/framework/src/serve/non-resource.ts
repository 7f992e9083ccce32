import { ApiError } from "@virtual-workspaces/apimachinery";
import { etagMatches } from "../discovery/discovery-documents.ts";
import { KUBERNETES_MINOR } from "../discovery/release.ts";
import { respond } from "../encode/respond.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import type { Advertised } from "../resource/served.ts";
import { rawRequest } from "./raw.ts";

/** Answers requests about no object: discovery, OpenAPI, version and health. @returns whether it has answered */
export function serveNonResource(exchange: AuthorizedExchange, resources: readonly Advertised[]): boolean {
  const path = exchange.info.path;
  if (path === "/version") return answerJson(exchange, VERSION);
  if (path === "/healthz" || path === "/livez" || path === "/readyz") return answerText(exchange, "ok");
  if (path.startsWith("/openapi/")) return serveOpenApi(exchange, resources);
  if (path === "/") return serveIndex(exchange, resources);
  if (serveDocument(exchange)) return true;
  return serveDiscovery(exchange, resources);
}

function serveDocument(exchange: AuthorizedExchange): boolean {
  const { documents = {} } = exchange.mounted.workspace;
  const path = exchange.info.path as `/${string}`;
  const document = Object.hasOwn(documents, path) ? documents[path]?.(rawRequest(exchange)) : undefined;
  if (document === undefined) return false;
  exchange.answered = true;
  const { contentType, body, cacheControl } = document;
  const headers = cacheControl === undefined ? {} : { "Cache-Control": cacheControl };
  respond(exchange.res, { code: 200, contentType, body: Buffer.from(body), headers });
  return true;
}

/** Answers the list of paths, as Kubernetes does. A raw handler without `handleWhen` serves its root itself. */
function serveIndex(exchange: AuthorizedExchange, resources: readonly Advertised[]): boolean {
  const { handle, handleWhen } = exchange.mounted.workspace;
  if (handle !== undefined && handleWhen === undefined) return false;
  const served = resources.flatMap(({ definition: { group, version } }) =>
    group === "" ? [`/api/${version}`] : [`/apis/${group}`, `/apis/${group}/${version}`],
  );
  const documents = Object.keys(exchange.mounted.workspace.documents ?? {});
  return answerJson(exchange, { paths: [...new Set([...ROOTS, ...documents, ...served])].sort() });
}

const ROOTS = ["/api", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"] as const;

function serveDiscovery(exchange: AuthorizedExchange, resources: readonly Advertised[]): boolean {
  const { accept } = exchange.req.headers;
  const { groupOrder: order, plainDiscovery: plain, serverAddress } = exchange.mounted.workspace;
  const { path } = exchange.info;
  const address = path === "/api" || path === "/apis" ? serverAddress?.(exchange.params) : undefined;
  const answer = exchange.core.discovery.answer({ path, accept, order, plain, address }, resources);
  if (answer.kind === "not-found") return false;
  if (answer.kind === "not-acceptable") throw ApiError.notAcceptable(answer.supported);
  return answerCacheable(exchange, answer);
}

function serveOpenApi(exchange: AuthorizedExchange, resources: readonly Advertised[]): boolean {
  const { accept } = exchange.req.headers;
  const { query } = exchange;
  const prefix = exchange.basePath + exchange.prefix;
  const answer = exchange.core.openapi.answer({ path: exchange.info.path, query, accept, prefix }, resources);
  if (answer.kind === "not-found") return false;
  if (answer.kind === "not-acceptable") throw ApiError.notAcceptable(answer.supported);
  if (answer.kind === "redirect") {
    exchange.answered = true;
    respond(exchange.res, {
      code: 301,
      contentType: "text/plain; charset=utf-8",
      body: Buffer.alloc(0),
      headers: { Location: answer.location },
    });
    return true;
  }
  return answerCacheable(exchange, answer, answer.headers);
}

interface Cacheable {
  readonly contentType: string;
  readonly body: Buffer;
  readonly etag: string;
}

function answerCacheable(
  exchange: AuthorizedExchange,
  document: Cacheable,
  headers?: Readonly<Record<string, string>>,
): boolean {
  const { req, res } = exchange;
  exchange.answered = true;
  res.appendHeader("Vary", "Accept");
  const { contentType, body, etag } = document;
  const unchanged = etagMatches(req.headers["if-none-match"], etag);
  // Security: documents may differ by caller, so shared caches must not keep them, except those named by their hash.
  const cacheable = { "Cache-Control": "no-cache, private", ETag: etag, ...headers };
  if (unchanged) res.writeHead(304, cacheable).end();
  else respond(res, { code: 200, contentType, body, headers: cacheable });
  return true;
}

function answerJson(exchange: AuthorizedExchange, document: object): boolean {
  exchange.answered = true;
  respond(exchange.res, { code: 200, contentType: "application/json", body: Buffer.from(JSON.stringify(document)) });
  return true;
}

function answerText(exchange: AuthorizedExchange, text: string): boolean {
  exchange.answered = true;
  respond(exchange.res, { code: 200, contentType: "text/plain; charset=utf-8", body: Buffer.from(text) });
  return true;
}

/** Body of `/version` (Kubernetes' version.Info). */
interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

const VERSION: VersionInfo = versionInfo();

/** Returns the version of the served API; build fields name this runtime. */
function versionInfo(): VersionInfo {
  return {
    major: "1",
    minor: KUBERNETES_MINOR,
    gitVersion: `v1.${KUBERNETES_MINOR}.0+virtual-workspaces`,
    gitCommit: "",
    gitTreeState: "",
    buildDate: "",
    goVersion: "",
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch}`,
  };
}
