import type { IncomingMessage } from "node:http";
import type {
  Outgoing,
  OutgoingUpgrade,
  StreamedResponse,
  UpgradedResponse,
  UpstreamOptions,
} from "@virtual-workspaces/transport";
import type { RawRequest } from "../request/raw-request.ts";

/** Where requests are passed on to, and what is said there. */
export interface ProxyOptions {
  /**
   * The other server: an `Upstream`, another engine, or the options of an `Upstream`. One made of options is closed with the
   * proxy, one that is given is not.
   */
  readonly upstream: ProxyEngine | UpstreamOptions;
  /**
   * Which path is asked for there, without the query, byte for byte. It begins with a slash and comes behind the path of the other server's own
   * URL. Make it of `prefix` and `tail`, which are the bytes that were authorized: what is decoded here can mean something else there.
   * @default as it came
   */
  readonly path?: (request: Pick<RawRequest<unknown>, "prefix" | "tail">) => string;
  /**
   * What the other server is told besides, flat pairs, the name first: whom the request is from, above all. In place of all that
   * the client sends under these names; `Authorization`, `Impersonate-*` and `X-Remote-*` of the client are never passed on. A throw is
   * answered. @default nothing: whoever asks, the other server sees this one
   */
  readonly headers?: (request: RawRequest<unknown>, req: IncomingMessage) => readonly string[];
  /**
   * Whether the other server is shown the caller's own credentials, by {@link headers}: then what it says of them (401) is the
   * caller's to know. Whoever runs that server can use them as well. @default false: a 401 is about ours, and callers are told 503
   */
  readonly callersCredentials?: boolean;
  /** Told that the other server takes the caller's own credentials for nobody's (401), where it is shown these. @default nobody is */
  readonly onRefused?: (request: RawRequest<unknown>) => void;
  /**
   * Whether this server is one of those that a request has come through (`X-Kcp-Virtual-Resource-Hops`). False only where the
   * other one is a part of the same server, and cannot lead back here. @default true
   */
  readonly counts?: boolean;
  /** What the other server is called when it cannot be had: clients are told that, and no address. @default "the server behind this view" */
  readonly what?: string;
  /** Told when the other server fails us, once for each spell of failures. Names its address. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/**
 * What sends a prepared request to one other server: an `Upstream` of `@virtual-workspaces/transport` (undici, and the bare
 * connection once a protocol has changed) is one. What clients say of their connection and of themselves has been taken off, and who they are said
 * anew, before an engine gets it; how an answer is passed on, cut or refused is not its affair.
 */
export interface ProxyEngine {
  /** Where it sends, for whoever runs this server; clients are not told. */
  readonly url: string;
  /**
   * Sends a request, resolves with the head of its answer. Path and headers go as they are given, repeated names apart. The body
   * fails when the connection ends before its end. Ending the body early, and the signal, end the request at the other server too.
   *
   * @throws TransportError when there is no answer; the signal's reason; ApiError on what it cannot send
   */
  stream(request: Outgoing): Promise<StreamedResponse>;
  /** The same for a request to speak another protocol. Resolves with the connection, or with what was said instead. @throws as {@link stream} */
  upgrade(request: OutgoingUpgrade): Promise<StreamedResponse | UpgradedResponse>;
}
