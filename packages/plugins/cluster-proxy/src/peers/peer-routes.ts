import type { Duplex } from "node:stream";
import { isApiError } from "@virtual-workspaces/apimachinery";
import { errorOf } from "@virtual-workspaces/client/http";
import { isTransportError, isUpgraded, sleep, Upstream } from "@virtual-workspaces/transport";
import type { HubKeys } from "../enrolment/hub-keys.ts";
import type { HubTokens } from "../enrolment/tokens.ts";
import { type ProxyKey, proxyKeyText } from "../protocol/proxy-key.ts";
import { AGENTS_VIEW, STREAM_PATH, STREAM_PROTOCOL, TARGET_HEADER } from "../protocol/wire.ts";
import { TunnelError } from "../tunnel/tunnel-error.ts";
import type { Hubs } from "./hubs.ts";
import type { HubAddress, HubInfo } from "./lease.ts";

/** Options of {@link PeerRoutes}. */
export interface PeerRoutesOptions {
  readonly hubs: Hubs;
  readonly keys: HubKeys;
  readonly tokens: HubTokens;
  readonly onError: (error: unknown) => void;
}

/** Time limits of a request to another hub, ms; a further hub may respond. */
const DEADLINES = { connect: 2_000, head: 10_000 } as const;

/** Time limit for open requests over a draining hub, ms, the same as for a server that closes. */
const LINGER = 10_000;

/** Routes over other hubs of the shard, which open streams in their own tunnels. They never forward to a third hub. */
export class PeerRoutes implements AsyncDisposable {
  readonly #options: PeerRoutesOptions;
  readonly #peers = new Map<string, Peer>();

  constructor(options: PeerRoutesOptions) {
    this.#options = options;
  }

  /** Returns the routes over those of the given hubs that are usable. */
  of(key: ProxyKey, ids: readonly string[]): readonly Route[] {
    return ids.flatMap((id) => {
      const route = this.#peer(id)?.to(key);
      return route?.usable === true ? [route] : [];
    });
  }

  /** Updates the peers after a hub has appeared or disappeared. */
  changed(): void {
    for (const [id, peer] of this.#peers) {
      const { url, ca } = this.#options.hubs.other(id) ?? {};
      if (url === peer.hub.url && ca === peer.hub.ca) continue;
      this.#peers.delete(id);
      this.#options.tokens.forget(id);
      void peer.end();
    }
  }

  /** Makes an unresponsive hub usable again after it has renewed its Lease. */
  renewed(id: string): void {
    this.#peers.get(id)?.back();
  }

  /** Handles a hub that has no tunnel of a remote cluster any more. */
  lost(key: ProxyKey, left: readonly string[]): void {
    for (const [id, peer] of this.#peers) if (!left.includes(id)) peer.lost(key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#peers.values()].map((peer) => peer[Symbol.asyncDispose]()));
  }

  #peer(id: string): Peer | undefined {
    const known = this.#peers.get(id);
    if (known !== undefined) return known;
    const hub = this.#options.hubs.other(id);
    if (hub?.url === undefined) return undefined;
    const { url } = hub;
    const made = new Peer({ ...hub, url }, this.#options);
    this.#peers.set(id, made);
    return made;
  }
}

/** Another hub. */
class Peer {
  readonly hub: HubInfo & HubAddress;
  readonly #options: PeerRoutesOptions;
  readonly #upstream: Upstream;
  readonly #routes = new Map<string, PeerRoute>();
  #away = false;

  constructor(hub: HubInfo & HubAddress, options: PeerRoutesOptions) {
    const { url, ca } = hub;
    this.hub = hub;
    this.#options = options;
    this.#upstream = new Upstream({ url, deadlines: DEADLINES, ...(ca !== undefined && { tls: { ca } }) });
  }

  get usable(): boolean {
    return !this.#away;
  }

  to(key: ProxyKey): Route {
    const text = proxyKeyText(key);
    const known = this.#routes.get(text) ?? new PeerRoute(this, key);
    this.#routes.set(text, known);
    return known;
  }

  back(): void {
    this.#away = false;
  }

  lost(key: ProxyKey): void {
    this.#routes.get(proxyKeyText(key))?.end();
    this.#routes.delete(proxyKeyText(key));
  }

  /** Drains the connection: ends watches, and waits for other requests up to the time limit. */
  async end(): Promise<void> {
    for (const route of this.#routes.values()) route.end();
    await Promise.race([this.#upstream.drain(), sleep(LINGER, { ref: false })]);
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const route of this.#routes.values()) route.end();
    this.#routes.clear();
    await this.#upstream[Symbol.asyncDispose]();
  }

  /** @throws TunnelError; the signal's reason */
  async open({ cluster, name }: ProxyKey, target: string, signal: AbortSignal): Promise<Duplex> {
    const { keys, tokens, onError } = this.#options;
    try {
      const token = await tokens.for(this.hub.id, await keys.get());
      const answer = await this.#upstream.upgrade({
        path: `/services/${AGENTS_VIEW}/${cluster}/${name}${STREAM_PATH}`,
        protocol: STREAM_PROTOCOL,
        headers: ["Authorization", `Bearer ${token}`, TARGET_HEADER, target],
        signal,
      });
      if (isUpgraded(answer)) return answer.socket;
      throw await errorOf(answer, "the other hub");
    } catch (error) {
      signal.throwIfAborted();
      if (isTransportError(error)) this.#away = true;
      const code = isApiError(error) ? (ERROR_CODES[error.code] ?? "closed") : "closed";
      if (code === "closed") onError(error);
      throw new TunnelError(code, `${target}: another hub has no connection`, { cause: error });
    }
  }
}

/** Tunnel errors by the status code of a hub's response. */
const ERROR_CODES: Readonly<Record<number, TunnelError["code"]>> = {
  404: "refused",
  502: "unreachable",
  503: "draining",
};

/** Route to one remote cluster over another hub. */
class PeerRoute implements Route {
  readonly #peer: Peer;
  readonly #key: ProxyKey;
  readonly #over = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  readonly draining = this.#ended.promise;
  readonly closed = this.draining.then(() => sleep(LINGER, { ref: false }));

  constructor(peer: Peer, key: ProxyKey) {
    this.#peer = peer;
    this.#key = key;
  }

  get usable(): boolean {
    return !this.#over.signal.aborted && this.#peer.usable;
  }

  get ending(): AbortSignal {
    return this.#over.signal;
  }

  open(target: string, { signal }: { readonly signal: AbortSignal }): Promise<Duplex> {
    return this.#peer.open(this.#key, target, signal);
  }

  end(): void {
    this.#over.abort();
    this.#ended.resolve();
  }
}

/** Route to a remote cluster: a tunnel, or another hub with one. */
export interface Route {
  /** Whether new streams are possible. */
  readonly usable: boolean;
  /** Opens a stream to a target of the agent. @throws TunnelError; the signal's reason */
  readonly open: (target: string, options: { readonly signal: AbortSignal }) => Promise<Duplex>;
  /** Resolves when no new streams should be opened. */
  readonly draining: Promise<unknown>;
  /** Resolves when all streams have ended. */
  readonly closed: Promise<unknown>;
  /** Aborts when watches over the route should end. @default never: the other end closes them */
  readonly ending?: AbortSignal;
}
