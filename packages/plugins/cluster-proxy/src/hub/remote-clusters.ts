import type { Duplex } from "node:stream";
import { ForeignUpstream, type Relay, relay } from "@virtual-workspaces/forwarding";
import type { RawRequest } from "@virtual-workspaces/framework";
import { API_TARGET } from "../enrolment/wire.ts";
import { isTunnelError } from "../tunnel/tunnel-error.ts";
import { crossing } from "./crossing.ts";
import type { ProxyKey } from "./proxy-key.ts";
import type { Way } from "./way.ts";

const WHAT = "the remote cluster of this ClusterProxy";
/** Nobody looks it up: connections to it are through the tunnel. */
const URL = "http://agent.invalid";

/** A remote cluster as it is asked. */
export type Remote = Pick<Relay, "handle" | "upgrade">;

/**
 * By what remote clusters are asked: connections by each way of their own, so that nothing new goes by one that is about to end. Memory: 100 KiB for
 * each way that something has been asked by.
 */
export class RemoteClusters {
  readonly #waysTo: (key: ProxyKey) => readonly Way[];
  readonly #onError: (error: unknown) => void;
  readonly #remotes = new WeakMap<Way, Remote>();

  /** @param waysTo what can be used, the best first */
  constructor(waysTo: (key: ProxyKey) => readonly Way[], onError: (error: unknown) => void) {
    this.#waysTo = waysTo;
    this.#onError = onError;
  }

  /** Passes requests on as their callers, as far as remote clusters may know them. `undefined`: there is no way. */
  of(key: ProxyKey): Remote | undefined {
    const [way] = this.#waysTo(key);
    if (way === undefined) return undefined;
    const known = this.#remotes.get(way);
    if (known !== undefined) return known;
    const made = this.#by(way, key);
    this.#remotes.set(way, made);
    return made;
  }

  #by(way: Way, key: ProxyKey): Remote {
    const upstream = new ForeignUpstream({
      url: URL,
      dial: (_, { signal }) => this.#open(key, { signal, first: way }),
      what: WHAT,
    });
    void way.draining.then(() => upstream.drain());
    void way.closed.then(() => upstream[Symbol.asyncDispose]());
    const onError = this.#onError;
    const passed = relay({ upstream, identity: crossing, path: ({ tail }) => tail || "/", what: WHAT, onError });
    const { ending } = way;
    return ending === undefined ? passed : endedWith(passed, ending);
  }

  /** A connection by one way, or by another if that takes no more. @throws TunnelError; the signal's reason */
  async #open(
    key: ProxyKey,
    { signal, first }: { readonly signal: AbortSignal; readonly first: Way },
  ): Promise<Duplex> {
    let failure: unknown;
    for (const way of new Set([first, ...this.#waysTo(key)]))
      try {
        return await way.open(API_TARGET, { signal });
      } catch (error) {
        // Nothing was asked of it: another one may do.
        if (!isTunnelError(error) || (error.code !== "draining" && error.code !== "closed")) throw error;
        failure = error;
      }
    throw failure;
  }
}

/** Ends what is open-ended with a way as well, for clients to come again by another. */
function endedWith({ handle, upgrade }: Relay, over: AbortSignal): Remote {
  // As it is, but for what is told when it is asked for.
  const until = <R extends RawRequest<unknown>>(request: R): R =>
    Object.create(request, { ending: { get: () => AbortSignal.any([request.ending, over]) } });
  return {
    handle: (req, res, request) => handle(req, res, until(request)),
    upgrade: (req, socket, request) => upgrade(req, socket, until(request)),
  };
}
