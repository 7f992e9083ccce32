import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { ForeignUpstream, type Relay, relay } from "@virtual-workspaces/forwarding";
import { deriveRequest, type RawRequest } from "@virtual-workspaces/framework";
import { isTunnelError, type TunnelErrorCode } from "../tunnel/tunnel-error.ts";
import type { Connection } from "./connections.ts";
import { crossing } from "./crossing.ts";
import { type ProxyKey, textOf } from "./proxy-key.ts";
import type { Way } from "./way.ts";

const WHAT = "the remote cluster of this ClusterProxy";
/** When a client is to come again, s. */
const RETRY_AFTER = 1;

/** A remote cluster as it is asked. */
export type Remote = Pick<Relay, "handle" | "upgrade">;

/** By one way. */
interface Made {
  readonly connection: Connection;
  readonly remote: Remote;
  readonly upstream: ForeignUpstream;
}

/**
 * By what remote clusters are asked: connections by each way of their own, so that nothing new goes by one that is about to end. Memory: 100 KiB for
 * each way that something has been asked by.
 */
export class RemoteClusters {
  readonly #waysTo: (key: ProxyKey) => readonly Way[];
  readonly #onError: (error: unknown) => void;
  readonly #made = new Map<string, Map<Way, Made>>();

  /** @param waysTo what can be used, the best first */
  constructor(waysTo: (key: ProxyKey) => readonly Way[], onError: (error: unknown) => void) {
    this.#waysTo = waysTo;
    this.#onError = onError;
  }

  /** Passes requests on as their callers, as far as remote clusters may know them. `undefined`: there is no way. */
  of(key: ProxyKey, connection: Connection): Remote | undefined {
    const [way] = this.#waysTo(key);
    if (way === undefined) return undefined;
    const text = textOf(key);
    const ofKey = this.#made.get(text) ?? new Map<Way, Made>();
    const known = ofKey.get(way);
    if (known?.connection === connection) return known.remote;
    void known?.upstream[Symbol.asyncDispose]();
    const made = this.#by(way, key, connection);
    this.#made.set(text, ofKey.set(way, made));
    void way.closed.then(() => this.#forget(text, way));
    return made.remote;
  }

  /** One is asked otherwise, or not at all: what is open as before is cut. */
  changed(key: ProxyKey, connection: Connection | undefined): void {
    for (const [way, made] of this.#made.get(textOf(key)) ?? [])
      if (made.connection !== connection) this.#forget(textOf(key), way);
  }

  #forget(text: string, way: Way): void {
    const ofKey = this.#made.get(text);
    void ofKey?.get(way)?.upstream[Symbol.asyncDispose]();
    ofKey?.delete(way);
    if (ofKey?.size === 0) this.#made.delete(text);
  }

  #by(way: Way, key: ProxyKey, connection: Connection): Made {
    const { target, text: _, ...asked } = connection;
    const upstream = new ForeignUpstream({
      ...asked,
      dial: (_to, { signal }) => this.#open(key, { target, signal, first: way }),
      what: WHAT,
    });
    void way.draining.then(() => upstream.drain());
    const onError = this.#onError;
    const passed = relay({ upstream, identity: crossing, path: ({ tail }) => tail || "/", what: WHAT, onError });
    const { ending } = way;
    return { connection, upstream, remote: toldWhy(ending === undefined ? passed : endedWith(passed, ending)) };
  }

  /** A connection by one way, or by another if that takes no more. @throws TunnelError; the signal's reason */
  async #open(
    key: ProxyKey,
    { target, signal, first }: { readonly target: string; readonly signal: AbortSignal; readonly first: Way },
  ): Promise<Duplex> {
    let failure: unknown;
    for (const way of new Set([first, ...this.#waysTo(key)]))
      try {
        return await way.open(target, { signal });
      } catch (error) {
        // Nothing was asked of it: another one may do.
        if (!isTunnelError(error) || (error.code !== "draining" && error.code !== "closed")) throw error;
        failure = error;
      }
    throw failure;
  }
}

/** Says what the agent has said, where that is why there is no connection. */
function toldWhy({ handle, upgrade }: Remote): Remote {
  const told = async (passing: Promise<void>): Promise<void> => {
    try {
      await passing;
    } catch (error) {
      throw refusedByAgent(error) ?? error;
    }
  };
  return {
    handle: (req, res, request) => told(handle(req, res, request)),
    upgrade: (req, socket, request) => told(upgrade(req, socket, request)),
  };
}

const REFUSED: Partial<Readonly<Record<TunnelErrorCode, string>>> = {
  refused:
    "the agent of this ClusterProxy does not take part in what its spec.tls says: start it otherwise, or change that",
  unreachable: "the agent of this ClusterProxy cannot reach its API server: see that that runs, and the agent's log",
};

/** 503, by what is at the end of the causes of an error. */
function refusedByAgent(error: unknown): ApiError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const said = isTunnelError(cause) ? REFUSED[cause.code] : undefined;
    if (said !== undefined)
      return new ApiError(ApiError.serviceUnavailable(said, RETRY_AFTER).status, { cause: error as Error });
  }
  return undefined;
}

/** Ends what is open-ended with a way as well, for clients to come again by another. */
function endedWith({ handle, upgrade }: Remote, over: AbortSignal): Remote {
  const until = <R extends RawRequest<unknown>>(request: R): R =>
    deriveRequest(request, {
      get ending() {
        return AbortSignal.any([request.ending, over]);
      },
    });
  return {
    handle: (req, res, request) => handle(req, res, until(request)),
    upgrade: (req, socket, request) => upgrade(req, socket, until(request)),
  };
}
