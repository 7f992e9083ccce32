import { ForeignUpstream, type Relay, relay } from "@virtual-workspaces/forwarding";
import { API_TARGET } from "../enrolment/wire.ts";
import { crossing } from "./crossing.ts";
import type { ProxyKey } from "./proxy-key.ts";
import type { Tunnel, Tunnels } from "./tunnels.ts";

const WHAT = "the remote cluster of this ClusterProxy";
/** Nobody looks it up: connections to it are through the tunnel. */
const URL = "http://agent.invalid";

/**
 * By what remote clusters are asked: connections through each tunnel of their own, so that nothing new goes through one that is about to end. Memory: 100 KiB for
 * each tunnel that something has been asked through.
 */
export class RemoteClusters {
  readonly #tunnels: Tunnels;
  readonly #onError: (error: unknown) => void;
  readonly #relays = new WeakMap<Tunnel, Relay>();

  constructor(tunnels: Tunnels, onError: (error: unknown) => void) {
    this.#tunnels = tunnels;
    this.#onError = onError;
  }

  /** Passes requests on as their callers, as far as remote clusters may know them. `undefined`: there is no tunnel. */
  of(key: ProxyKey): Pick<Relay, "handle" | "upgrade"> | undefined {
    const [tunnel] = this.#tunnels.of(key);
    if (tunnel === undefined) return undefined;
    const known = this.#relays.get(tunnel);
    if (known !== undefined) return known;
    const made = this.#through(tunnel, key);
    this.#relays.set(tunnel, made);
    return made;
  }

  #through(tunnel: Tunnel, key: ProxyKey): Relay {
    const upstream = new ForeignUpstream({
      url: URL,
      dial: (_, { signal }) => this.#tunnels.open(key, API_TARGET, { signal, first: tunnel }),
      what: WHAT,
    });
    void tunnel.end.draining.then(() => upstream.drain());
    void tunnel.end.closed.then(() => upstream[Symbol.asyncDispose]());
    return relay({ upstream, identity: crossing, path: ({ tail }) => tail || "/", what: WHAT, onError: this.#onError });
  }
}
