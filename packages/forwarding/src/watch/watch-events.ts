import { ApiError, isApiError, isJsonObject, statusFrom } from "@virtual-workspaces/apimachinery";
import { parseOwnJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { compareResourceVersions, isResourceVersion } from "@virtual-workspaces/apimachinery/requests";
import { upstreamFailure, upstreamFault } from "@virtual-workspaces/framework/proxy";
import { type BytesContext, type Encoded, EncodedBytes, type Scope } from "@virtual-workspaces/framework/storage";
import { lines } from "@virtual-workspaces/transport";
import { checkJson, streamedError } from "../upstream/answer.ts";
import type { UpstreamResource } from "../upstream/upstream-resource.ts";

/** Event of an upstream watch. */
export type UpstreamEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: Encoded }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/** Options of an upstream watch. */
export interface WatchTerms {
  readonly signal: AbortSignal;
  /** In ms. */
  readonly renewEvery: number;
}

/** Maximum size of an event, in bytes: Kubernetes' objects have at most 3 MiB. */
const LONGEST_LINE = 16 * 1024 * 1024;
/** Delay of a watch's end after which it counts as dead, in ms. */
const GRACE = 3_000;

/** Returns the silence after which a connection counts as dead, in ms. */
export function patienceOf(renewEvery: number): number {
  return renewEvery + GRACE;
}

/**
 * Yields the upstream's events after a version until it ends the watch. The first event is a bookmark of that version, once
 * the upstream accepts the watch.
 *
 * @throws ApiError of the upstream, 410 for an expired version or one older than before, 503 for a broken or silent stream;
 * Error for an invalid event
 */
export async function* watchEvents(
  resource: UpstreamResource,
  { scope, after }: { readonly scope: Scope; readonly after: string },
  { signal, renewEvery }: WatchTerms,
): AsyncGenerator<UpstreamEvent, void, undefined> {
  const { definition } = resource;
  const answer = await resource.stream({
    scope,
    signal,
    long: true,
    deadlines: { head: patienceOf(renewEvery), idle: patienceOf(renewEvery) },
    query: {
      ...resource.selectorsOf(scope),
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: after,
      timeoutSeconds: Math.max(1, Math.ceil(renewEvery / 1000)),
    },
  });
  if (answer.status !== 200) throw await streamedError(answer, resource);
  let last = "0";
  try {
    checkJson(answer.headers, resource);
    yield { type: "BOOKMARK", resourceVersion: after };
    for await (const line of lines(answer.body, { limit: LONGEST_LINE })) {
      const event = readLine(line, { definition, scope });
      const version = event.type === "BOOKMARK" ? event.resourceVersion : event.object.resourceVersion;
      if (!isResourceVersion(version))
        throw new Error(`an event has the invalid version ${JSON.stringify(version.slice(0, 40))}`);
      // A client that resumes at the newer version would miss this event.
      if (compareResourceVersions(version, last) < 0)
        throw ApiError.expired(`too old resource version: an event of version ${version} followed version ${last}`);
      last = version;
      yield event;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const failure = upstreamFailure(error, resource);
    if (isApiError(failure)) throw failure;
    throw upstreamFault(resource.origin, `sent an invalid watch event: ${(error as Error).message}`, { cause: error });
  } finally {
    await answer[Symbol.asyncDispose]();
  }
}

const EVENT = /^\{"type":"(ADDED|MODIFIED|DELETED)","object":(?=\{)/;
const CLOSE = 125;

/** Slices the object out of a line in the usual form, and parses any other line. */
function readLine(line: Buffer, context: BytesContext): UpstreamEvent {
  const type = EVENT.exec(line.toString("latin1", 0, Math.min(64, line.length)));
  if (type === null || line.at(-1) !== CLOSE) return parseLine(line, context);
  const bytes = Buffer.allocUnsafeSlow(line.length - type[0].length - 1);
  line.copy(bytes, 0, type[0].length, line.length - 1);
  return { type: type[1] as "ADDED", object: EncodedBytes.checked(bytes, context) };
}

function parseLine(line: Buffer, context: BytesContext): UpstreamEvent {
  const event = parseOwnJson(line.toString("utf8"));
  const { type, object } = (isJsonObject(event) ? event : {}) as { type?: unknown; object?: unknown };
  if (!isJsonObject(object)) throw new Error("an event has no object");
  if (type === "ERROR") throw new ApiError(statusFrom(object));
  if (type === "BOOKMARK") {
    const { resourceVersion } = (object["metadata"] ?? {}) as { resourceVersion?: unknown };
    return { type, resourceVersion: String(resourceVersion ?? "") };
  }
  if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") throw new Error("an event has an unknown type");
  return { type, object: EncodedBytes.checked(Buffer.from(stringifyJson(object)), context) };
}
