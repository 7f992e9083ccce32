import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import type { Log } from "../log.ts";
import type { ServedResource } from "../served.ts";
import { resourcesOf } from "./resources.ts";

/** How often discovery hooks are asked again while watches depend on them, ms: half of the second that is promised. */
const EVERY = 500;

interface Open {
  readonly resource: ServedResource;
  readonly fail: (error: ApiError) => void;
}

/** Open watches of one caller on one view: asked about once, whatever their number. */
interface Group {
  readonly exchange: Exchange;
  readonly open: Set<Open>;
  asking: boolean;
}

const NOTHING_TO_DO: Disposable = { [Symbol.dispose]: () => undefined };

/**
 * Ends watches on what a discovery hook no longer serves to their caller: gone, of another schema, with other verbs or
 * from another storage. The client relists and finds out.
 */
export class Revalidation implements Disposable {
  readonly #groups = new Map<string, Group>();
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  add(exchange: Exchange, resource: ServedResource, fail: (error: ApiError) => void): Disposable {
    if (typeof exchange.mounted.workspace.resources !== "function") return NOTHING_TO_DO;
    const key = JSON.stringify([exchange.mounted.name, exchange.params, exchange.user]);
    const group = this.#groups.get(key) ?? { exchange, open: new Set(), asking: false };
    this.#groups.set(key, group);
    const open = { resource, fail };
    group.open.add(open);
    this.#timer ??= setInterval(() => this.#tick(), EVERY).unref();
    return {
      [Symbol.dispose]: () => {
        group.open.delete(open);
        if (group.open.size === 0 && this.#groups.get(key) === group) this.#groups.delete(key);
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

  /** A hook that throws decides nothing: the watches stay, as the objects do when a source fails. */
  async #ask(group: Group): Promise<void> {
    group.asking = true;
    try {
      const index = await resourcesOf(group.exchange);
      for (const open of [...group.open]) {
        const now = index.counterpart(open.resource);
        if (now === undefined || !isSame(now, open.resource)) open.fail(gone(open.resource));
      }
    } catch (error) {
      this.#log({
        level: "error",
        message: "discovery hook failed",
        virtualWorkspace: group.exchange.mounted.name,
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
