import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isApiError } from "@virtual-workspaces/apimachinery";
import type { Authenticator, User } from "@virtual-workspaces/framework";
import { type CaSource, type RequestHeaderOptions, requestHeader } from "@virtual-workspaces/framework/authn";
import type { PassOn, PeerQuestion, Peers } from "@virtual-workspaces/framework/request";
import { processMinter } from "@virtual-workspaces/framework/storage";
import { isTransportError, type Upstream } from "@virtual-workspaces/transport";
import { sameCaller } from "../workspaces.ts";
import { Relay } from "./relay.ts";

/** One of the processes that serve the same virtual workspaces as one server. */
export interface Peer {
  /** Unique, and the same for the process that takes its place: by it all agree who answers for what. */
  readonly name: string;
  /** By what its versions name it: `processMinter.id` there. That of this process names this process. */
  readonly minter: number;
  /** Where it is, and by which client certificate it knows this process. Closed by whoever gave it. @default it is this process */
  readonly upstream?: Upstream;
  /**
   * Whether it is reached through this process as well, as others at the same address are that were not meant: what a peer
   * has passed on is then passed on to it. Only where it passes nothing on in turn. @default false
   */
  readonly near?: boolean;
}

/** Whose word about callers counts. */
export interface PeerGroupOptions {
  /**
   * Who certifies peers. Whoever has a client certificate of these authorities may say that they ask for anybody: they must
   * certify peers and nobody else.
   */
  readonly trust: readonly (CaSource & Pick<RequestHeaderOptions, "allowedNames">)[];
  /** Told when a peer fails us, once for each spell of failures. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/** To whom a request is passed on that only they can answer, by their minter: believed of peers alone. */
const MEANT = "X-Virtual-Workspaces-Peer";
const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

interface Member extends Peer {
  readonly relay: Relay | undefined;
}

/**
 * Several processes as one server: `peers` of a server, and the authenticators by which it knows the others. A virtual
 * workspace whose storages are `local` is answered for by one of them, the same for all clients, so that these see one line
 * of versions; what goes by a version that another one gave is answered there, as long as it is in the group. Requests are
 * passed on byte for byte behind authentication and authorization, with the caller named by `X-Remote-*`, to be authorized
 * once more; never further, and not counted as hops. A read whose peer fails before it answers is asked of the next.
 */
export class PeerGroup {
  /** To stand before all others of the server. */
  readonly authenticators: readonly Authenticator[];
  readonly #onError: PeerGroupOptions["onError"];
  readonly #from = new WeakSet<IncomingMessage>();
  /** Those that did not answer, until the members are told anew. */
  readonly #away = new Set<Member>();
  #members: readonly Member[] = [];
  #hash = new RendezvousHash<Member>([]);

  /** @throws Error on authorities that are none */
  constructor({ trust, onError }: PeerGroupOptions) {
    this.#onError = onError;
    this.authenticators = trust.map((source) => this.#authenticator(source));
  }

  /** All that there are now, this process among them. */
  set members(peers: readonly Peer[]) {
    this.#members = peers.map((peer) => ({ ...peer, relay: this.#relayTo(peer) }));
    this.#away.clear();
    this.#hash = new RendezvousHash(this.#members);
  }

  /** Whether a request was made or passed on by a peer. Known once it is authenticated. */
  isPeer(req: IncomingMessage): boolean {
    return this.#from.has(req);
  }

  /** What a server asks. */
  readonly peers: Peers = (question) => {
    const meant = this.isPeer(question.req) ? meantBy(question.req) : undefined;
    const choose = (): Member | undefined =>
      meant === undefined ? this.#fitting(question) : this.#members.find((peer) => peer.near && peer.minter === meant);
    return choose()?.relay && this.#passOn(choose);
  };

  #passOn(choose: () => Member | undefined): PassOn {
    return async (req, res, request) => {
      for (let peer = choose(); peer?.relay !== undefined && !this.#away.has(peer); peer = choose()) {
        try {
          await peer.relay.handle(req, res, request);
          return true;
        } catch (error) {
          if (res.headersSent || !isGone(error)) throw error;
          this.#leaveOut(peer);
          if (!READS.has(req.method ?? "")) throw error; // what has been read of its body is lost
        }
      }
      return false;
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

/** Makes a group, of which there are no members yet: this process answers by itself. @throws Error on authorities that are none */
export function peerGroup(options: PeerGroupOptions): PeerGroup {
  return new PeerGroup(options);
}

/** What names nobody is meant for whoever gets it. */
function meantBy({ headers }: IncomingMessage): number {
  const text = headers[MEANT.toLowerCase()];
  return typeof text === "string" && /^\d{1,5}$/.test(text) ? Number(text) : -1;
}

/** Whether there was no answer at all, so that another can be asked. */
function isGone(error: unknown): boolean {
  return isApiError(error) && isTransportError(error.cause);
}

/** Who of several answers for what: by rendezvous hashing, so that one who goes moves only what was theirs. */
class RendezvousHash<P extends { readonly name: string }> {
  readonly #peers: readonly P[];
  readonly #known = new Map<string, P | undefined>();

  constructor(peers: readonly P[]) {
    this.#peers = peers;
  }

  /** The same for all who know the same peers. `undefined`: there are none. */
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
