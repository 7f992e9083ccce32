// Why: a check that cannot fail is a defect. A breakage is one fault of a server, as real servers have it, with exactly the
// checks that must notice it.
import type { IncomingHttpHeaders } from "node:http";

export interface JsonObject {
  readonly [field: string]: unknown;
}

/** Request to the real server. Path, query and headers may be changed. */
export interface Ask {
  readonly method: string;
  path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Values of the `Authorization` lines. */
  readonly authorizations: readonly string[];
  /** Connection of the request, for comparison. */
  readonly connection: object;
  /** Whether the request is a watch. */
  readonly isWatch: boolean;
  /** Requests another path of the real server as the same user. */
  readonly aside: (path: string) => Promise<JsonObject>;
}

/** Complete answer to the client. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Event to the client. */
export interface Told {
  readonly type: string;
  readonly object: JsonObject;
}

export interface Breakage {
  /** Fault of the server. */
  readonly name: string;
  /** Ids of the checks that fail. */
  readonly fails: readonly string[];
  /** Changes the request. Its result, if any, is the answer, and the server gets no request. */
  readonly ask?: (ask: Ask) => Reply | undefined | Promise<Reply | undefined>;
  /** Whether the fault concerns writes, so that only checks that write run. @default false */
  readonly writes?: boolean;
  /** Whether the fault concerns garbage collection, so that the proxy stands in front of workspaces. @default false */
  readonly collects?: boolean;
  /** Whether the fault confuses users, so that the run has two. @default false */
  readonly users?: boolean;
  /** Changes the body of a request. */
  readonly body?: (body: Buffer, ask: Ask) => Buffer | Promise<Buffer>;
  /** Changes a complete answer. */
  readonly reply?: (reply: Reply, ask: Ask) => Reply;
  /** Returns a function that replaces the events of one watch. */
  readonly events?: (ask: Ask) => (event: Told) => readonly Told[];
  /** Media type of watches. */
  readonly watchType?: string;
  /** Delays the headers of a watch until an event, at most this long, in ms. */
  readonly holdHeaders?: number;
  /** Cuts the connection instead of ending the stream. */
  readonly cutsWatches?: boolean;
}

/** Changes the document of a JSON answer. Other answers stay as they are. */
export function rewritten(reply: Reply, change: (document: JsonObject) => JsonObject): Reply {
  if (!reply.headers["content-type"]?.startsWith("application/json")) return reply;
  return { ...reply, body: Buffer.from(JSON.stringify(change(JSON.parse(reply.body.toString("utf8")) as JsonObject))) };
}

/** Returns the document with one changed field of its metadata. */
export function withMetadata(document: JsonObject, change: JsonObject): JsonObject {
  return { ...document, metadata: { ...(document["metadata"] as JsonObject), ...change } };
}

/** Returns a Status as an answer. */
export function refusal(status: number, reason: string): Reply {
  const body = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "broken",
    reason,
    code: status,
  };
  return { status, headers: { "content-type": "application/json" }, body: Buffer.from(JSON.stringify(body)) };
}

/** Returns the same answer as Go's http.Error. */
export function plainText(status: number): Reply {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: Buffer.from("404 page not found\n"),
  };
}

/** Changes the JSON bodies of requests. Bodies that `change` returns unchanged are forwarded byte for byte. */
export function sent(change: (document: JsonObject, ask: Ask) => unknown): NonNullable<Breakage["body"]> {
  return async (body, ask) => {
    const document = parsed(body);
    if (document === undefined) return body;
    const changed = await change(document, ask);
    return changed === document ? body : Buffer.from(JSON.stringify(changed));
  };
}

function parsed(body: Buffer): JsonObject | undefined {
  try {
    return JSON.parse(body.toString("utf8")) as JsonObject;
  } catch {
    return undefined;
  }
}

export function isApply({ method, headers }: Ask): boolean {
  return method === "PATCH" && headers["content-type"] === "application/apply-patch+yaml";
}

export function isMerge({ method, headers }: Ask): boolean {
  return method === "PATCH" && headers["content-type"] === "application/merge-patch+json";
}

export function isDeleteCollection({ method, path }: Ask): boolean {
  return method === "DELETE" && path.endsWith("/notes");
}

export function isList({ method, path, isWatch }: Ask): boolean {
  return method === "GET" && !isWatch && path.endsWith("/notes");
}

export function isObject({ method, path }: Ask): boolean {
  return method === "GET" && /\/notes\/[^/]+$/.test(path);
}

export function hasInitialEvents({ query }: Ask): boolean {
  return query.get("sendInitialEvents") === "true";
}

export function isInitialEnd({ type, object }: Told): boolean {
  return type === "BOOKMARK" && JSON.stringify(object).includes('"k8s.io/initial-events-end":"true"');
}

/** Removes the named parameters. */
export function forget({ query }: Ask, ...names: readonly string[]): undefined {
  for (const name of names) query.delete(name);
}

/** Removes malformed requirements from a label selector. */
export function passOverMalformed({ query }: Ask): void {
  const selector = query.get("labelSelector");
  if (selector !== null) query.set("labelSelector", selector.replace(/,?a in \($/, ""));
}
