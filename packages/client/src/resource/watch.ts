import {
  ApiError,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type ObjectOf,
  parseOwnJson,
  statusFrom,
  type WatchEvent,
} from "@virtual-workspaces/apimachinery";
import { lines, onAbort } from "@virtual-workspaces/transport";
import { malformed } from "../http/answer.ts";
import type { Requests } from "../http/requests.ts";
import type { WatchOptions } from "./call-options.ts";
import { collectionPath, type ResourceLocation } from "./location.ts";
import { called } from "./resource-requests.ts";

/** An event of a watch, or a bookmark: what was there up to its version has been sent. Errors are thrown instead. */
export type ResourceEvent<T> = Exclude<WatchEvent<ObjectOf<T>>, { type: "ERROR" }>;

/** The longest line of a watch, bytes. */
const LONGEST_EVENT = 16 * 1024 * 1024;

/** What is watched: an {@link Endpoint}. */
interface Watched {
  readonly requests: Requests;
  readonly location: ResourceLocation;
  accept(form: "one"): readonly string[];
}

/** A watch, which can be ended while it waits. */
export function watching<T>(
  target: Watched,
  { signal, ...options }: WatchOptions,
): AsyncGenerator<ResourceEvent<T>, void, undefined> {
  return endable(signal, (ended) => received<T>(target, { ...options, signal: ended }));
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
  // Without it servers refuse initial events.
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

/** @throws ApiError what an ERROR event holds; TransportError `malformed` on what is no event */
function eventOf<T>(line: Buffer, path: string): ResourceEvent<T> {
  const event = jsonOf(line);
  const what = path.split("?", 1)[0] ?? "";
  if (!isJsonObject(event)) throw malformed(what, "a line of the watch is no event");
  const { type, object } = event;
  if (event["kind"] === "Status") throw eventError(event);
  if (!isJsonObject(object)) throw malformed(what, `a line of the watch is ${called(event)} instead of an event`);
  if (type === "ERROR") throw eventError(object);
  if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED" && type !== "BOOKMARK")
    throw malformed(what, `a line of the watch has the type ${JSON.stringify(type)}`);
  if (!isJsonObject(object["metadata"])) throw malformed(what, "the object of an event has no metadata");
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

/**
 * A generator that can be ended while it waits: by the signal, whose reason is thrown then, or by leaving it. One of the language would wait
 * for what comes next.
 *
 * @param make is given the signal that ends it
 */
export function endable<T>(
  signal: AbortSignal | undefined,
  make: (signal: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  const ended = new AbortController();
  const linked = onAbort(signal, () => ended.abort(signal?.reason));
  let left = false;

  const values = (async function* (): AsyncGenerator<T, void, undefined> {
    try {
      yield* make(ended.signal);
    } catch (error) {
      if (!left) throw error;
    } finally {
      linked[Symbol.dispose]();
    }
  })();
  const leave = values.return.bind(values);
  values.return = (value) => {
    left = true;
    linked[Symbol.dispose]();
    ended.abort();
    return leave(value);
  };
  return values;
}
