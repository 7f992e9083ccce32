import type { IncomingMessage, ServerResponse } from "node:http";
import type { User } from "./user.ts";

/** What hooks of a virtual workspace are told of a request. */
export interface WorkspaceRequest<Params> {
  readonly user: User;
  readonly params: Params;
  readonly signal: AbortSignal;
}

/** What the raw hooks are told besides. */
export interface RawRequest<Params> extends WorkspaceRequest<Params> {
  readonly requestId: string;
  /** The URL before the tail, `/services/<name>/…`, as it came: what the client said for `:cluster` too. */
  readonly prefix: string;
  /** The rest of the path, byte for byte as it came, without the query. */
  readonly tail: string;
  /** With its question mark, or "". */
  readonly search: string;
  /** Through how many API servers it has come that passed it on, for whoever passes it on: they say one more. */
  readonly hops: number;
  /** Through which, this view last, as a `Via` header says it. What clients and servers between say: for finding a circle. */
  readonly via: string;
  /**
   * The bearer token that the caller has brought, where the view {@link VirtualWorkspace.takesToken}; `undefined` of callers who go on as
   * somebody else, whose it is not. Whoever has it can do whatever the caller may, here and wherever else it counts.
   */
  readonly token?: string | undefined;
  /**
   * As whom the caller wants to go on, flat pairs as they came (`Impersonate-*`), where the view {@link VirtualWorkspace.passesImpersonation}:
   * nobody here has asked whether they may.
   */
  readonly impersonation?: readonly string[] | undefined;
  /**
   * Says that the caller's own credentials turned out to be nobody's: for whoever lets in those whom nobody knows, and hears from the server
   * behind who they are. Counts as a failed authentication of the client's address (`authenticationFailures` of the server).
   */
  readonly loginFailed: () => void;
  /**
   * Says that the request is open-ended, as a watch is: it no longer counts as one under way. An upgrade does so by itself.
   *
   * @throws ApiError 429 when too many are
   */
  readonly takeTime: () => void;
  /**
   * Aborts when what is open-ended should come to its end: the server begins to close, for clients to go elsewhere, or the view's rule,
   * asked again as its `watchesEvery` says, does not allow it any more. A connection that was upgraded is cut then.
   */
  readonly ending: AbortSignal;
}

/** A request about objects or versions that only one of several processes has. */
export interface PeerQuestion {
  /** With what the client, or the peer that passed it on, says of itself. */
  readonly req: IncomingMessage;
  /** The name of the virtual workspace. */
  readonly virtualWorkspace: string;
  /** Who gave the version that a read goes by, as `Minter.of` says; `undefined` where it goes by none, or is a write. */
  readonly minter: number | undefined;
}

/** Passes a request on to another process, as raw handlers do. Resolves to whether it was answered there. */
export type PassOn = (
  req: IncomingMessage,
  res: ServerResponse,
  request: RawRequest<Readonly<Record<string, string>>>,
) => Promise<boolean>;

/**
 * Says which of several processes answers a request, after its caller was authenticated and allowed: `undefined` for this
 * one. The other process is to be told the caller as {@link RawRequest.user} has it, and authorizes once more. Headers
 * that say who asks are taken off in between. What passes a request on must not be passed on in circles.
 */
export type Peers = (question: PeerQuestion) => PassOn | undefined;
