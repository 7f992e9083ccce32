import { isApiError, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { type BackoffOptions, backoffDelay, type Clock, sleep } from "@virtual-workspaces/transport";
import type { ResourceClient } from "../resource-client.ts";

export interface FollowedObjectOptions<T extends object> {
  readonly resource: ResourceClient<T>;
  readonly name: string;
  /** Told of the object as it is, and of `undefined` where it is not there; a failure is told by `failed`, not by that. */
  readonly changed: (object: ObjectOf<T> | undefined) => void;
  readonly failed: (error: unknown) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const BACKOFF: BackoffOptions = { first: 200, most: 30_000, jitter: [0.75, 1.25] };
/** A watch that lived so long was none that fails, ms. */
const LIVED = 5000;
/** How long a watch is asked for, s; and how much longer it may stay silent before its connection is given up. */
const WATCH = { least: 240, spread: 240, slack: 30 };

/**
 * Follows one object by list and watch until the signal aborts. The watch is of that name alone where the server can select
 * it, else of all objects; others are passed over.
 */
export async function followObject<T extends object>(options: FollowedObjectOptions<T>): Promise<void> {
  const { signal, clock, failed } = options;
  let fields: string | undefined = `metadata.name=${options.name}`;
  let version: string | undefined;
  for (let failures = 0; !signal.aborted; ) {
    const began = clock.now();
    try {
      version ??= await listed(options, fields);
      const seen = (next: string): void => {
        version = next; // at once: a watch that breaks goes on behind what it told
      };
      await watched(options, { fields, version, seen });
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (clock.now() - began > LIVED) failures = 0;
      const code = isApiError(error) ? error.code : 0;
      // What is too old is listed again, and what cannot be selected is looked for.
      if (code === 410 && version !== undefined) version = undefined;
      else if (code === 400 && fields !== undefined) fields = undefined;
      else {
        failures++;
        failed(error);
        // A server that does not know the version any more, in its own words, is helped by a list.
        if (code !== 0) version = undefined;
      }
    }
    // A watch that ends at once must not be asked for at once.
    await sleep(backoffDelay(failures + 1, BACKOFF), { clock, signal });
  }
}

interface Place {
  readonly fields: string | undefined;
  readonly version: string;
  readonly seen: (version: string) => void;
}

async function listed<T extends object>(
  { resource, name, changed, signal }: FollowedObjectOptions<T>,
  fields: string | undefined,
): Promise<string> {
  const { items, metadata } = await resource.list({ signal, ...(fields !== undefined && { fields }) });
  changed(items.find((item) => item.metadata.name === name));
  return metadata.resourceVersion ?? "";
}

/** Until the server ends it. */
async function watched<T extends object>(
  { resource, name, changed, signal }: FollowedObjectOptions<T>,
  { fields, version, seen }: Place,
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
