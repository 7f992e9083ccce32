import { ForeignUpstream, type Relay, relay } from "@virtual-workspaces/forwarding";
import { API_TARGET } from "../enrolment/wire.ts";
import { crossing } from "./crossing.ts";
import { type ProxyKey, textOf } from "./proxy-key.ts";
import type { Tunnels } from "./tunnels.ts";

const WHAT = "the remote cluster of this ClusterProxy";
/** Nobody looks it up: connections to it are through the tunnel. */
const URL = "http://agent.invalid";

/** By what remote clusters are asked, each through the tunnels of its agent. Memory: 100 KiB for each that has been asked. */
export class RemoteClusters implements AsyncDisposable {
  readonly #tunnels: Tunnels;
  readonly #onError: (error: unknown) => void;
  readonly #relays = new Map<string, Relay>();

  constructor(tunnels: Tunnels, onError: (error: unknown) => void) {
    this.#tunnels = tunnels;
    this.#onError = onError;
  }

  /** Passes requests on as their callers, as far as remote clusters may know them. */
  of(key: ProxyKey): Pick<Relay, "handle" | "upgrade"> {
    const text = textOf(key);
    const known = this.#relays.get(text);
    if (known !== undefined) return known;
    const upstream = new ForeignUpstream({
      url: URL,
      dial: (_, options) => this.#tunnels.open(key, API_TARGET, options),
      what: WHAT,
    });
    const made = relay({
      upstream,
      identity: crossing,
      path: ({ tail }) => tail || "/",
      what: WHAT,
      onError: this.#onError,
    });
    this.#relays.set(text, made);
    return made;
  }

  /** There is no such ClusterProxy any more. */
  async forget(key: ProxyKey): Promise<void> {
    const text = textOf(key);
    const known = this.#relays.get(text);
    this.#relays.delete(text);
    await known?.upstream[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#relays.values()];
    this.#relays.clear();
    await Promise.all(all.map(({ upstream }) => upstream[Symbol.asyncDispose]()));
  }
}
