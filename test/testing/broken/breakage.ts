// Why: a check that cannot fail is a defect. A breakage is one thing that a server gets wrong, as servers in the field
// do, and the checks that must notice it: those and no others.
import type { IncomingHttpHeaders } from "node:http";

export interface JsonObject {
  readonly [field: string]: unknown;
}

/** A request on its way to the real server. Path, query and headers may be changed. */
export interface Ask {
  readonly method: string;
  path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Of each `Authorization` line, what it says. */
  readonly authorizations: readonly string[];
  /** What it came on, to tell connections apart. */
  readonly connection: object;
  /** Whether a stream of events was asked for. */
  readonly isWatch: boolean;
  /** What another path of the real server says to the same user. */
  readonly aside: (path: string) => Promise<JsonObject>;
}

/** A whole answer on its way back. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** An event on its way back. */
export interface Told {
  readonly type: string;
  readonly object: JsonObject;
}

export interface Breakage {
  /** What is wrong with the server. */
  readonly name: string;
  /** The ids of the checks that fail. */
  readonly fails: readonly string[];
  /** Changes what is asked; what it returns is answered without asking. */
  readonly ask?: (ask: Ask) => Reply | undefined | Promise<Reply | undefined>;
  /** Whether it is about writes: only the checks that write are made then. @default false */
  readonly writes?: boolean;
  /** Whether it is about what goes with owners and namespaces: it stands before workspaces then. @default false */
  readonly collects?: boolean;
  /** Whether it takes one user for another: the run knows two then. @default false */
  readonly users?: boolean;
  /** Changes the body of a request that has one. */
  readonly body?: (body: Buffer, ask: Ask) => Buffer | Promise<Buffer>;
  /** Changes a whole answer. */
  readonly reply?: (reply: Reply, ask: Ask) => Reply;
  /** For each watch, what becomes of its events. */
  readonly events?: (ask: Ask) => (event: Told) => readonly Told[];
  /** Media type of watches. */
  readonly watchType?: string;
  /** Headers of a watch wait for an event, at most so many ms. */
  readonly holdHeaders?: number;
  /** Cuts the connection where the server ends the stream. */
  readonly cutsWatches?: boolean;
}

/** A JSON answer with its document changed. Others stay. */
export function rewritten(reply: Reply, change: (document: JsonObject) => JsonObject): Reply {
  if (!reply.headers["content-type"]?.startsWith("application/json")) return reply;
  return { ...reply, body: Buffer.from(JSON.stringify(change(JSON.parse(reply.body.toString("utf8")) as JsonObject))) };
}

/** The document with one field of its metadata changed. */
export function withMetadata(document: JsonObject, change: JsonObject): JsonObject {
  return { ...document, metadata: { ...(document["metadata"] as JsonObject), ...change } };
}

/** A Status, as an answer. */
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

/** What http.Error of Go writes. */
export function plainText(status: number): Reply {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: Buffer.from("404 page not found\n"),
  };
}

/** Changes bodies of requests that are JSON; those that `change` gives back go on byte for byte. */
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

/** Takes the named parameters out. */
export function forget({ query }: Ask, ...names: readonly string[]): undefined {
  for (const name of names) query.delete(name);
}

/** Leaves out the requirement of a label selector that cannot be parsed. */
export function passOverMalformed({ query }: Ask): void {
  const selector = query.get("labelSelector");
  if (selector !== null) query.set("labelSelector", selector.replace(/,?a in \($/, ""));
}
