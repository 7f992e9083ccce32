import { setTimeout as pause } from "node:timers/promises";
import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import {
  decodeObject,
  type Encoded,
  type ReadableCache,
  SOURCE_VERSION_ANNOTATION,
} from "@virtual-workspaces/framework";

/** What a Space has said that it has written. */
interface WrittenThere {
  /** Where it is shown. */
  readonly key: ObjectKey;
  /** The Space's own version of it. */
  readonly version: string;
  readonly uid: string;
}

/** How long it is waited for, ms: the Space tells of it by a watch. */
const PATIENCE = 3_000;

/** The object as several Spaces show it, once they do; `undefined` if it is gone by then, or they take too long. */
export async function shownAfter(
  cache: ReadableCache,
  { key, version, uid }: WrittenThere,
  signal: AbortSignal,
): Promise<Encoded | undefined> {
  const { promise, resolve } = Promise.withResolvers<Encoded | undefined>();
  const look = (object: Encoded | undefined): void => {
    if (object !== undefined && object.uid === uid && isSince(object, version)) resolve(object);
  };
  const isIt = (one: ObjectKey): boolean =>
    one.name === key.name && one.namespace === key.namespace && one.cluster === key.cluster;
  using _ = cache.listen({
    event: ({ key: one, object }) => {
      if (!isIt(one)) return;
      if (object === undefined) resolve(undefined);
      else look(object);
    },
    expired: () => resolve(undefined),
  });
  look(cache.get(key));
  const over = new AbortController();
  const late = pause(PATIENCE, undefined, { signal: AbortSignal.any([signal, over.signal]) }).catch(() => undefined);
  const shown = await Promise.race([promise, late]);
  over.abort();
  signal.throwIfAborted();
  return shown;
}

/** Somebody else may have written since: versions of one Space and kind grow (KEP-5504); those that are no numbers are waited for as they are. */
function isSince(object: Encoded, version: string): boolean {
  const shown = decodeObject(object).metadata.annotations?.[SOURCE_VERSION_ANNOTATION] ?? "";
  if (shown === version) return true;
  const areNumbers = [shown, version].every((text) => /^[1-9]\d*$/.test(text));
  return areNumbers && BigInt(shown) > BigInt(version);
}
