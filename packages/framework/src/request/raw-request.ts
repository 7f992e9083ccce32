import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { User } from "./user.ts";

/** Request argument of a virtual workspace's hooks. */
export interface WorkspaceRequest<Params> {
  readonly user: User;
  readonly params: Params;
  readonly signal: AbortSignal;
}

/** Request argument of raw handlers. */
export interface RawRequest<Params> extends WorkspaceRequest<Params> {
  readonly requestId: string;
  /** URL before the tail, `/services/<name>/…`, as received, with the client's text for `:cluster`. */
  readonly prefix: string;
  /** Rest of the path, byte for byte as received, without the query. */
  readonly tail: string;
  /** Query with its question mark, or "". */
  readonly search: string;
  /** Number of API servers that forwarded the request. A handler that forwards it adds one. */
  readonly hops: number;
  /**
   * Names of those servers and of this view, for the `Via` header. Clients and servers in between can write them: use them to
   * find loops only.
   */
  readonly via: string;
  /**
   * Bearer token of the caller, where the view {@link VirtualWorkspace.takesToken}; `undefined` under impersonation, because
   * the token is not that user's. Security: its holder can do what the caller may, here and wherever else it is valid.
   */
  readonly token?: string | undefined;
  /**
   * Requested impersonation, flat pairs as received (`Impersonate-*`), where the view
   * {@link VirtualWorkspace.passesImpersonation}. Security: this server has not authorized it.
   */
  readonly impersonation?: readonly string[] | undefined;
  /**
   * Reports that the upstream rejected the caller's own credentials, for views that admit unauthenticated callers. Counts as
   * a failed authentication of the client's address (`authenticationFailures` of the server).
   */
  readonly loginFailed: () => void;
  /**
   * Marks the request as open-ended, such as a watch: it no longer counts as under way. Upgrades do so by themselves.
   *
   * @throws ApiError 429 when too many are open
   */
  readonly takeTime: () => void;
  /**
   * Aborts when an open-ended request should end: the server begins to close, or the view's rule, called again as its
   * `watchesEvery` states, no longer allows it. The server then cuts an upgraded connection.
   */
  readonly ending: AbortSignal;
}

/** A request about objects or versions that only one of several processes has. */
export interface PeerQuestion {
  /** Request with the headers of the client, or of the peer that forwarded it. */
  readonly req: IncomingMessage;
  /** Name of the virtual workspace. */
  readonly virtualWorkspace: string;
  /** Issuer of the version that a read uses, from `Minter.of`; `undefined` for a read without a version, and for a write. */
  readonly minter: number | undefined;
}

/** Forwards a request to another process, as raw handlers do. */
export interface PeerForwarder {
  /** Forwards a request. Resolves to whether that process answered. */
  handle(
    req: IncomingMessage,
    res: ServerResponse,
    request: RawRequest<Readonly<Record<string, string>>>,
  ): Promise<boolean>;
  /** Forwards a watch over a WebSocket. @throws ApiError 503 when no process answers */
  upgrade(
    req: IncomingMessage,
    socket: Duplex,
    request: RawRequest<Readonly<Record<string, string>>> & { readonly head: Buffer },
  ): Promise<void>;
}

/**
 * Selects the process that answers a request, after authentication and authorization: `undefined` for this one. The forwarder
 * sends the caller as in {@link RawRequest.user}, and the other process authorizes again. Identity headers are stripped
 * before. A forwarder must not create loops.
 */
export type Peers = (question: PeerQuestion) => PeerForwarder | undefined;
