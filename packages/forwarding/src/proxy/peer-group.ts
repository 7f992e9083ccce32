import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import type { Authenticator, User } from "@virtual-workspaces/framework";
import { type CaSource, type RequestHeaderOptions, requestHeader } from "@virtual-workspaces/framework/authn";
import type { PeerForwarder, PeerQuestion, Peers } from "@virtual-workspaces/framework/request";
import { processMinter } from "@virtual-workspaces/framework/storage";
import { isTransportError, type Upstream } from "@virtual-workspaces/transport";
import { sameCaller } from "../workspaces.ts";
import { Relay } from "./relay.ts";

/** One of the processes that serve the same virtual workspaces as one server. */
export interface Peer {
  /** Unique name, which a replacement process keeps: it determines which requests the peer answers. */
  readonly name: string;
  /** Id of the peer in its resource versions: its `processMinter.id`. The id of this process marks this process. */
  readonly minter: number;
  /** Address and client certificate for the peer. The caller closes it. @default the peer is this process */
  readonly upstream?: Upstream;
  /**
   * Whether other clients reach the peer through this process too, since several peers share one address. Requests that a
   * peer forwarded are then forwarded to it. Only for a peer that forwards none itself.
   * @default false
   */
  readonly near?: boolean;
}

/** Options of {@link peerGroup}. */
export interface PeerGroupOptions {
  /**
   * Authorities that certify peers. Security: holders of their client certificates may act as any user, so they must certify
   * peers only.
   */
  readonly trust: readonly (CaSource & Pick<RequestHeaderOptions, "allowedNames">)[];
  /** Called when a peer fails, once per series of failures. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/** Header with the id of the only peer that can answer the request. Security: accepted from peers only. */
const MEANT = "X-Virtual-Workspaces-Peer";
const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

interface Member extends Peer {
  readonly relay: Relay | undefined;
}

/**
 * Runs several processes as one server: provides `peers` of a server, and authenticators for the other peers. One peer
 * answers all requests of a virtual workspace with `local` storages, so that clients see one sequence of versions. A request
 * with a version of another peer goes to that peer while it is in the group. Requests are forwarded as bytes after
 * authentication and authorization, with the caller in `X-Remote-*`, and are authorized again. They are forwarded once, and
 * do not count as hops. If a peer fails before it answers a read, the next one gets the request.
 */
export class PeerGroup {
  /** Authenticators to put before all others of the server. */
  readonly authenticators: readonly Authenticator[];
  readonly #onError: PeerGroupOptions["onError"];
  readonly #from = new WeakSet<IncomingMessage>();
  /** Peers that did not answer, until the members are set again. */
  readonly #away = new Set<Member>();
  #members: readonly Member[] = [];
  #hash = new RendezvousHash<Member>([]);

  /** @throws Error for invalid authorities */
  constructor({ trust, onError }: PeerGroupOptions) {
    this.#onError = onError;
    this.authenticators = trust.map((source) => this.#authenticator(source));
  }

  /** All current peers, including this process. */
  set members(peers: readonly Peer[]) {
    this.#members = peers.map((peer) => ({ ...peer, relay: this.#relayTo(peer) }));
    this.#away.clear();
    this.#hash = new RendezvousHash(this.#members);
  }

  /** Whether a peer sent or forwarded a request. Known after authentication. */
  isPeer(req: IncomingMessage): boolean {
    return this.#from.has(req);
  }

  /** Selects the peer for a request of the server. */
  readonly peers: Peers = (question) => {
    const meant = this.isPeer(question.req) ? meantBy(question.req) : undefined;
    const choose = (): Member | undefined =>
      meant === undefined ? this.#fitting(question) : this.#members.find((peer) => peer.near && peer.minter === meant);
    return choose()?.relay && this.#forwarder(choose);
  };

  #forwarder(choose: () => Member | undefined): PeerForwarder {
    return {
      handle: async (req, res, request) => {
        for (let peer = choose(); peer?.relay !== undefined && !this.#away.has(peer); peer = choose()) {
          try {
            await peer.relay.handle(req, res, request);
            return true;
          } catch (error) {
            if (res.headersSent || !isGone(error)) throw error;
            this.#leaveOut(peer);
            if (!READS.has(req.method ?? "")) throw error; // the part of its body that was read is lost
          }
        }
        return false;
      },
      upgrade: async (req, socket, request) => {
        const peer = choose();
        if (peer?.relay === undefined)
          throw ApiError.serviceUnavailable("the process that answers for this view has changed", 1);
        try {
          await peer.relay.upgrade(req, socket, request);
        } catch (error) {
          // The client tries again, and reaches another peer.
          if (isGone(error)) this.#leaveOut(peer);
          throw error;
        }
      },
    };
  }

  #fitting({ virtualWorkspace, minter }: PeerQuestion): Member | undefined {
    const given = minter === undefined ? undefined : this.#members.find((peer) => peer.minter === minter);
    return given === undefined || this.#away.has(given) ? this.#hash.of(virtualWorkspace) : given;
  }

  #leaveOut(peer: Member): void {
    this.#away.add(peer);
    this.#hash = new RendezvousHash(this.#members.filter((one) => !this.#away.has(one)));
  }

  #relayTo({ upstream, minter }: Peer): Relay | undefined {
    if (upstream === undefined || minter === processMinter.id) return undefined;
    return new Relay({
      upstream,
      identity: sameCaller,
      headers: "X-Remote",
      besides: [MEANT, String(minter)],
      counts: false,
      what: "the process that answers for this view",
      ...(this.#onError && { onError: this.#onError }),
    });
  }

  #authenticator(trust: PeerGroupOptions["trust"][number]): Authenticator {
    const known = requestHeader(trust);
    return {
      ...known,
      name: "peers",
      identityHeaders: [...(known.identityHeaders ?? []), MEANT.toLowerCase()],
      authenticate: (req, connection) => {
        const user = known.authenticate(req, connection) as User | undefined;
        if (user !== undefined) this.#from.add(req);
        return user;
      },
    };
  }
}

/** Creates a group without members: this process answers itself. @throws Error for invalid authorities */
export function peerGroup(options: PeerGroupOptions): PeerGroup {
  return new PeerGroup(options);
}

/** Returns the id in the header; -1, which no peer has, if it is invalid. */
function meantBy({ headers }: IncomingMessage): number {
  const text = headers[MEANT.toLowerCase()];
  return typeof text === "string" && /^\d{1,5}$/.test(text) ? Number(text) : -1;
}

/** Returns whether there was no response at all, so that another peer can answer. */
function isGone(error: unknown): boolean {
  return isApiError(error) && isTransportError(error.cause);
}

/** Rendezvous hashing: when a peer leaves, only its own items move. */
class RendezvousHash<P extends { readonly name: string }> {
  readonly #peers: readonly P[];
  readonly #known = new Map<string, P | undefined>();

  constructor(peers: readonly P[]) {
    this.#peers = peers;
  }

  /** Returns the peer of an item, equal for all with the same peers; `undefined` without peers. */
  of(what: string): P | undefined {
    if (!this.#known.has(what)) this.#known.set(what, this.#heaviest(what));
    return this.#known.get(what);
  }

  #heaviest(what: string): P | undefined {
    const weighed = this.#peers.map((peer) => ({ peer, weight: weightOf(what, peer.name) }));
    return weighed.sort((one, other) => (one.weight < other.weight ? 1 : -1))[0]?.peer;
  }
}

function weightOf(what: string, name: string): string {
  return createHash("sha256").update(`${what}\0${name}`).digest("hex");
}
