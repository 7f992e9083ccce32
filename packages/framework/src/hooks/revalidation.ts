import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Log } from "../observe/log/log.ts";
import type { User } from "../request/user.ts";
import type { ServedResource } from "../resource/served.ts";
import type { AskedResource } from "../virtual-workspace.ts";
import { type Asker, type HookedView, resourcesOf, viewMetadata, type WatchingRequest } from "./hooks.ts";

/** Interval between calls of discovery hooks while watches depend on them, ms: half of the promised second. */
const EVERY = 500;

interface Open {
  readonly resource: ServedResource;
  /** Requested resource, where only metadata requests see it. */
  readonly asked: AskedResource | undefined;
  readonly fail: (error: ApiError) => void;
}

/** Open watches of one caller on one view: one hook call covers all of them. */
class Group implements Asker {
  readonly mounted: HookedView;
  readonly params: Readonly<Record<string, string>>;
  readonly user: User;
  readonly open = new Set<Open>();
  asking = false;
  readonly #over = new AbortController();

  constructor({ mounted, params, user }: WatchingRequest) {
    this.mounted = mounted;
    this.params = params;
    this.user = user;
  }

  /** Signal of the group: the request that opened its first watch may have ended. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  end(): void {
    this.#over.abort();
  }
}

const NOTHING_TO_DO: Disposable = { [Symbol.dispose]: () => undefined };

/**
 * Ends watches on resources that a discovery hook no longer serves to their caller: gone, with another schema, other verbs or
 * another storage. The client relists and sees the change.
 */
export class Revalidation implements Disposable {
  readonly #groups = new Map<string, Group>();
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  add(request: WatchingRequest, resource: ServedResource, fail: (error: ApiError) => void): Disposable {
    const { metadataOnly, info, mounted } = request;
    if (typeof mounted.workspace.resources !== "function" && !metadataOnly) return NOTHING_TO_DO;
    const key = JSON.stringify([mounted.name, request.params, request.user]);
    const group = this.#groups.get(key) ?? new Group(request);
    this.#groups.set(key, group);
    const { group: apiGroup, version, resource: plural } = info;
    const asked = metadataOnly ? { group: apiGroup, version, resource: plural } : undefined;
    const open = { resource, asked, fail };
    group.open.add(open);
    this.#timer ??= setInterval(() => this.#tick(), EVERY).unref();
    return {
      [Symbol.dispose]: () => {
        group.open.delete(open);
        if (group.open.size > 0) return;
        group.end();
        if (this.#groups.get(key) === group) this.#groups.delete(key);
        if (this.#groups.size === 0) this[Symbol.dispose]();
      },
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    for (const group of this.#groups.values()) {
      if (!group.asking) void this.#ask(group);
    }
  }

  /** A hook that throws decides nothing: the watches stay, as objects do when a source fails. */
  async #ask(group: Group): Promise<void> {
    group.asking = true;
    try {
      const index = await resourcesOf(group);
      for (const open of [...group.open]) {
        const now =
          open.asked === undefined
            ? index.counterpart(open.resource)
            : await viewMetadata(group.mounted.workspace, open.asked, group);
        if (now === undefined || !isSame(now, open.resource)) open.fail(gone(open.resource));
      }
    } catch (error) {
      if (group.signal.aborted) return;
      this.#log({
        level: "error",
        message: "discovery hook failed",
        virtualWorkspace: group.mounted.name,
        error: String(error),
      });
    } finally {
      group.asking = false;
    }
  }
}

function isSame(now: ServedResource, then: ServedResource): boolean {
  if (now === then) return true;
  return now.storage === then.storage && now.definition.hash === then.definition.hash && now.verbs.includes("watch");
}

function gone({ definition }: ServedResource): ApiError {
  return ApiError.expired(`${definition.plural} changed or is no longer served here: list again`);
}
