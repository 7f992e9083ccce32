import { isApiError, type StoredObject } from "@virtual-workspaces/apimachinery";
import { type BackoffOptions, backoffDelay, type Clock, sleep } from "@virtual-workspaces/transport";
import type { ResourceClient } from "../resource/resource-client.ts";

export interface ObjectReflectorOptions<T extends object> {
  readonly resource: ResourceClient<T>;
  readonly name: string;
  /** Called with the current object, or `undefined` if it does not exist. Failures go to `failed` instead. */
  readonly changed: (object: StoredObject<T> | undefined) => void;
  readonly failed: (error: unknown) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const BACKOFF: BackoffOptions = { first: 200, most: 30_000, jitter: [0.75, 1.25] };
/** Lifetime after which a watch counts as successful, in ms. */
const LIVED = 5000;
/** Timeout of a watch with its random part, and extra time after which a silent connection is closed, in seconds. */
const WATCH = { least: 240, spread: 240, slack: 30 };

/**
 * Reflects one object by list and watch until the signal aborts. If the server supports the field selector, it watches that
 * name only; otherwise it filters all objects.
 */
export async function reflectObject<T extends object>(options: ObjectReflectorOptions<T>): Promise<void> {
  const { signal, clock, failed } = options;
  let fields: string | undefined = `metadata.name=${options.name}`;
  let version: string | undefined;
  for (let failures = 0; !signal.aborted; ) {
    const began = clock.now();
    try {
      version ??= await listed(options, fields);
      const seen = (next: string): void => {
        version = next; // at once, so that the next watch continues after this event
      };
      await watched(options, { fields, version, seen });
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (clock.now() - began > LIVED) failures = 0;
      const code = isApiError(error) ? error.code : 0;
      // 410: list again. 400: the server cannot select by name, so filter instead.
      if (code === 410 && version !== undefined) version = undefined;
      else if (code === 400 && fields !== undefined) fields = undefined;
      else {
        failures++;
        failed(error);
        // The server may not know the version any more and say so in its own words: list again.
        if (code !== 0) version = undefined;
      }
    }
    // Backoff, even after a watch that ended without an error at once.
    await sleep(backoffDelay(failures + 1, BACKOFF), { clock, signal });
  }
}

interface WatchStart {
  readonly fields: string | undefined;
  readonly version: string;
  readonly seen: (version: string) => void;
}

async function listed<T extends object>(
  { resource, name, changed, signal }: ObjectReflectorOptions<T>,
  fields: string | undefined,
): Promise<string> {
  const { items, metadata } = await resource.list({ signal, ...(fields !== undefined && { fields }) });
  changed(items.find((item) => item.metadata.name === name));
  return metadata.resourceVersion ?? "";
}

/** Watches until the server ends the watch. */
async function watched<T extends object>(
  { resource, name, changed, signal }: ObjectReflectorOptions<T>,
  { fields, version, seen }: WatchStart,
): Promise<void> {
  const timeoutSeconds = WATCH.least + Math.floor(Math.random() * WATCH.spread);
  const idle = (timeoutSeconds + WATCH.slack) * 1000;
  const select = fields !== undefined && { fields };
  const events = resource.watch({ signal, ...select, resourceVersion: version, timeoutSeconds, idle });
  for await (const { type, object } of events) {
    if (type !== "BOOKMARK" && object.metadata.name === name) changed(type === "DELETED" ? undefined : object);
    const { resourceVersion } = object.metadata;
    if (resourceVersion !== undefined) seen(resourceVersion);
  }
}
