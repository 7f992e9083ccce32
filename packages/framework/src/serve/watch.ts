import { ApiError, isApiError, toApiError } from "@virtual-workspaces/apimachinery";
import {
  type ListOptions,
  parseListOptions,
  validateListOptions,
  withListDefaults,
} from "@virtual-workspaces/apimachinery/requests";
import { timerDelay } from "@virtual-workspaces/transport";
import type { EventFormat } from "../encode/event-format.ts";
import { negotiate } from "../encode/representation.ts";
import { startStream } from "../encode/respond.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import { liftDeadline } from "../stages/accept.ts";
import type { CacheLease, Past } from "../storage.ts";
import type { CacheEvent, ReadableCache, Snapshot } from "../watch/cache/cache-event.ts";
import { objectsIn } from "../watch/cache/watch-cache.ts";
import { type EventStream, ResponseStream } from "../watch/event-stream.ts";
import type { Fanout } from "../watch/fanout.ts";
import { type Lane, Subscriber } from "../watch/lane.ts";
import { everything, Selection, type SelectionOptions } from "../watch/selection.ts";
import { withConnection } from "./raw.ts";
import { checkSelectable, FOREIGN, freshen, leaseOf, scopeOf, tooOld } from "./scope.ts";

/** Answers a WATCH. Returns once the stream has begun; the hub writes the events. */
export async function serveWatch(exchange: AuthorizedExchange, resource: ServedResource): Promise<void> {
  const options = withListDefaults({ ...parseListOptions(exchange.query), watch: true });
  validateListOptions(options, { isWatch: true });
  checkSelectable(resource, options.fieldSelector);
  const representation = exchange.core.representations.of(
    resource,
    negotiate(exchange.req.headers.accept, "stream"),
    exchange,
  );
  const { labelSelector: labels, fieldSelector: fields, shardSelector: shard } = options;
  const scope = { ...scopeOf(exchange), labels, fields };
  // The storage has applied its selectors already, perhaps on fields that the framework does not know. Shards are never left to
  // it, so that all of them share its stream.
  const selected = resource.storage.appliesSelectors === true ? everything : scope;
  const selection = selectionOf(exchange, resource, { labels: selected.labels, fields: selected.fields, shard });
  const lease = await leaseOf(exchange, resource, scope);
  try {
    if (options.sendInitialEvents === true) await freshen(exchange, lease, options.resourceVersion);
    if (exchange.upgradeHead !== undefined) await exchange.core.webSockets.prepare();
    if (exchange.res.destroyed || exchange.expired) throw new Error("the client disconnected, or waited too long");
    liftDeadline(exchange);
    const stream = startOf(exchange, representation.events);
    open(exchange, resource, { lease, options, stream, lane: (fanout) => fanout.lane(selection, representation) });
  } catch (error) {
    lease[Symbol.dispose]();
    if (!isApiError(error) && exchange.res.destroyed) return;
    throw error;
  }
}

/** Returns the selection of a watch. A field selector on `metadata.name` and the deprecated `…/watch/quotes/ssh` select one name. */
function selectionOf(
  exchange: AuthorizedExchange,
  { entering }: Pick<ServedResource, "entering">,
  selected: Pick<SelectionOptions, "labels" | "fields" | "shard">,
): Selection {
  const { namespace, name } = exchange.info;
  const { cluster } = exchange;
  return new Selection({
    cluster,
    namespace,
    ...selected,
    entering,
    ...(name === "" ? {} : { name }),
  });
}

interface Opening {
  readonly lease: CacheLease;
  readonly options: ListOptions;
  readonly stream: EventStream;
  readonly lane: (fanout: Fanout) => Lane;
}

function open(exchange: AuthorizedExchange, resource: ServedResource, opening: Opening): void {
  const { lease, options, stream, lane: laneOf } = opening;
  const { core } = exchange;
  const fanout = core.hub.fanout(lease.cache, resource.definition);
  const lane = laneOf(fanout);
  const { allowWatchBookmarks: bookmarks, sendInitialEvents: initialEvents = false } = options;
  const remembered = lease.past !== undefined;
  const subscriber = new Subscriber(lane, stream, { bookmarks, initialEvents, remembered });
  exchange.watch = subscriber;
  fanout.add(subscriber, lane);
  const fail = (error: ApiError): void => subscriber.fail(error);
  const revalidation = core.revalidation.add(exchange, exchange.served ?? resource, fail);
  const permission = core.permissions.add(exchange, fail);
  const timeout = setTimeout(() => subscriber.end(), core.watchTimeout(options.timeoutSeconds)).unref();
  stream.onceClosed(() => {
    clearTimeout(timeout);
    revalidation[Symbol.dispose]();
    permission[Symbol.dispose]();
    fanout.remove(subscriber);
    core.hub.leave(fanout);
    lease[Symbol.dispose]();
  });
  // The request arrived before the server began to drain, and opens only now.
  if (core.draining) subscriber.end();
  const begun = begin(exchange, { subscriber, stream, lane, options, past: lease.past }).catch((error: unknown) => {
    // A write can fail before the stream reports that the client has left.
    const left = stream.over || stream.destroyed || exchange.signal.aborted;
    if (!left) exchange.log({ level: "error", message: "watch failed", error: String(error) });
    stream.destroy();
  });
  // Initial events and the past take a seat, as a list does; waiting for a future version does not.
  const past =
    lease.past !== undefined &&
    lease.past.waits !== true &&
    lease.cache.position(options.resourceVersion ?? "0") === "expired";
  if (initialEvents || past) core.fairness.hold(exchange)?.keep(begun);
}

/** Starts the response: a stream over HTTP, or a WebSocket. @throws ApiError 400 on an invalid handshake */
function startOf(exchange: AuthorizedExchange, events: EventFormat): EventStream {
  const { core, req, res, upgradeHead: head } = exchange;
  if (head === undefined) {
    exchange.answered = true;
    startStream(res, events.contentType);
    return new ResponseStream(res, core.pieces, events);
  }
  core.identityHeaders.drop(req);
  // Those of the response that the WebSocket replaces: Audit-Id, warnings. Node has one character per byte, `ws` writes UTF-8.
  const lines = Object.entries(res.getHeaders()).flatMap(([name, value]) =>
    [value].flat().map((one) => Buffer.from(`${name}: ${one}`, "latin1").toString("utf8")),
  );
  return withConnection(exchange, (socket) => core.webSockets.accept({ req, socket, head, lines, events }));
}

interface Beginning {
  readonly subscriber: Subscriber;
  readonly stream: EventStream;
  readonly lane: Lane;
  readonly options: ListOptions;
  readonly past: Past | undefined;
}

/** Writes the events that the client has missed, then hands over to the lane. */
async function begin(exchange: AuthorizedExchange, beginning: Beginning): Promise<void> {
  const { subscriber, stream, lane, options, past } = beginning;
  const { cache } = lane;
  if (options.sendInitialEvents === true) {
    const snapshot = cache.snapshot();
    await stream.writeAll(initialEvents(snapshot, lane, options.allowWatchBookmarks));
    subscriber.start(snapshot.next);
    return;
  }
  const version = options.resourceVersion;
  if (version === undefined || version === "0") return subscriber.start(cache.next);
  const position = await positionOf(exchange, cache, version);
  if (position !== "expired") return subscriber.start(position);
  if (cache.isForeign(version)) subscriber.start(ApiError.expired(FOREIGN));
  else if (past === undefined) subscriber.start(tooOld(version, cache));
  else subscriber.start(await writePast(exchange, { subscriber, stream, lane, past }, version));
}

/** Waits for a version that the cache has not reached, as long as the client stays. */
async function positionOf(
  exchange: AuthorizedExchange,
  cache: ReadableCache,
  version: string,
): Promise<number | "expired"> {
  if (cache.position(version) === "ahead")
    await cache.reach(version, { signal: exchange.signal, timeout: timerDelay(Number.POSITIVE_INFINITY) });
  const position = cache.position(version);
  return position === "ahead" ? "expired" : position;
}

function* initialEvents(snapshot: Snapshot, lane: Lane, bookmark: boolean): Generator<readonly Buffer[]> {
  const { selection, representation } = lane;
  for (const object of objectsIn(snapshot.objects, selection)) {
    if (!selection.matches(object)) continue;
    lane.sent.events += 1;
    yield representation.events.pieces("ADDED", representation.object(object));
  }
  if (bookmark) yield lane.bookmarkPieces(snapshot.version, true);
}

/** A watch from a version that its cache no longer holds. */
interface Resuming {
  readonly subscriber: Subscriber;
  readonly stream: EventStream;
  readonly lane: Lane;
  readonly past: Past;
}

/**
 * Writes the events that the storage still holds and the cache does not, in batches, so that a slow client costs one batch of
 * memory.
 * @returns the cache's position to continue at, or the error that ends the watch
 * @throws errors of writing, when the client has disconnected
 */
async function writePast(
  exchange: AuthorizedExchange,
  { subscriber, stream, lane, past }: Resuming,
  version: string,
): Promise<number | ApiError> {
  const { cache } = lane;
  subscriber.hold();
  for (let reached = version; ; ) {
    const told = await past.changes(reached, exchange).catch((error: unknown) => refusal(exchange, error));
    if (told === undefined) return tooOld(version, cache);
    if ("status" in told) return told;
    let failure: ApiError | undefined;
    function* events(changes: readonly CacheEvent[]): Generator<readonly Buffer[]> {
      for (const event of changes) {
        const all = shown(lane, event);
        if ("status" in all) failure = all;
        if ("status" in all || subscriber.ending) return;
        yield* all;
      }
    }
    await stream.writeAll(events(told.events));
    if (failure !== undefined) return failure;
    // The client resumes after the last event that it received.
    if (subscriber.ending) return cache.next;
    reached = told.version;
    // While a slow client read, the cache may have dropped events again.
    const position = cache.position(reached);
    if (typeof position === "number") return position;
  }
}

/** Returns what a lane's clients see of an event, or the error that prevents it. */
function shown(lane: Lane, event: CacheEvent): readonly (readonly Buffer[])[] | ApiError {
  try {
    return lane.shown(event);
  } catch (error) {
    return toApiError(error);
  }
}

/** Returns the error to send, or `undefined` when the storage no longer has the version. */
function refusal(exchange: AuthorizedExchange, error: unknown): ApiError | undefined {
  if (exchange.signal.aborted) throw error;
  if (isApiError(error)) return error.code === 410 ? undefined : error;
  exchange.log({ level: "error", message: "reading the past of a watch failed", error: String(error) });
  return toApiError(error);
}
