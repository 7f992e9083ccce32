import {
  ApiError,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type StoredObject,
  statusFrom,
} from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import type { WatchEvent } from "@virtual-workspaces/apimachinery/requests";
import { abortable, lines } from "@virtual-workspaces/transport";
import { malformed } from "../http/answer.ts";
import type { Requests } from "../http/requests.ts";
import type { WatchOptions } from "./call-options.ts";
import { collectionPath, type ResourceLocation } from "./location.ts";
import { called } from "./resource-requests.ts";

/** Event of a watch. A bookmark means that all events up to its version were sent. Errors are thrown instead. */
export type ResourceEvent<T> = Exclude<WatchEvent<StoredObject<T>>, { type: "ERROR" }>;

/** Maximum size of an event, in bytes. */
const LONGEST_EVENT = 16 * 1024 * 1024;

/** Target of a watch: an {@link Endpoint}. */
interface Watched {
  readonly requests: Requests;
  readonly location: ResourceLocation;
  accept(form: "one"): readonly string[];
}

/** Opens a watch that can be closed while it waits. */
export function watching<T>(
  target: Watched,
  { signal, ...options }: WatchOptions,
): AsyncGenerator<ResourceEvent<T>, void, undefined> {
  return abortable(signal, (ended) => received<T>(target, { ...options, signal: ended }));
}

async function* received<T>(
  target: Watched,
  options: WatchOptions & { readonly signal: AbortSignal },
): AsyncGenerator<ResourceEvent<T>, void, undefined> {
  const {
    signal,
    retries,
    labels,
    fields,
    idle = Number.POSITIVE_INFINITY,
    allowWatchBookmarks = true,
    onOpen,
    onBytes,
    ...query
  } = options;
  const selected = { watch: true, allowWatchBookmarks, labelSelector: labels, fieldSelector: fields };
  // Servers reject initial events without it.
  const match = query.sendInitialEvents === true ? { resourceVersionMatch: "NotOlderThan" } : {};
  const path = collectionPath(target.location, { ...match, ...query, ...selected });
  const headers = target.accept("one");
  await using answer = await target.requests.stream({ path, headers, signal, retries, deadlines: { idle } });
  onOpen?.();
  for await (const line of lines(answer.body, { limit: LONGEST_EVENT })) {
    onBytes?.(line.length);
    yield eventOf<T>(line, path);
  }
}

/** @throws ApiError for an ERROR event; TransportError `malformed` for an invalid event */
function eventOf<T>(line: Buffer, path: string): ResourceEvent<T> {
  const event = jsonOf(line);
  const what = path.split("?", 1)[0] ?? "";
  if (!isJsonObject(event)) throw malformed(what, "a line of the watch is not an event");
  const { type, object } = event;
  if (event["kind"] === "Status") throw eventError(event);
  if (!isJsonObject(object)) throw malformed(what, `a line of the watch is ${called(event)} instead of an event`);
  if (type === "ERROR") throw eventError(object);
  if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED" && type !== "BOOKMARK")
    throw malformed(what, `a line of the watch has the unknown type ${JSON.stringify(type)}`);
  if (!isJsonObject(object["metadata"])) throw malformed(what, "the object of a watch event has no metadata");
  return { type, object: object as KubeObject } as ResourceEvent<T>;
}

function jsonOf(line: Buffer): unknown {
  try {
    return parseOwnJson(line.toString("utf8"));
  } catch {
    return undefined;
  }
}

function eventError(status: JsonObject): ApiError {
  return new ApiError(statusFrom(status, { code: 500, message: "the server ended the watch with an error" }));
}
