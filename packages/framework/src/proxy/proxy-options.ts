import type { IncomingMessage } from "node:http";
import type {
  Outgoing,
  OutgoingUpgrade,
  StreamedResponse,
  UpgradedResponse,
  UpstreamOptions,
} from "@virtual-workspaces/transport";
import type { RawRequest } from "../request/raw-request.ts";

/** Options of a proxy: the upstream, and the headers it gets. */
export interface ProxyOptions {
  /**
   * Upstream: an `Upstream`, another engine, or the options of an `Upstream`. The proxy closes an upstream that it made from
   * options, and leaves a given one open.
   */
  readonly upstream: ProxyEngine | UpstreamOptions;
  /**
   * Returns the upstream path without the query, byte for byte. It begins with a slash and is appended to the path of the
   * upstream's URL. Security: build it from `prefix` and `tail`, the bytes that were authorized; text decoded here may mean
   * something else upstream.
   * @default the path as received
   */
  readonly path?: (request: Pick<RawRequest<unknown>, "prefix" | "tail">) => string;
  /**
   * Returns additional upstream headers as flat pairs, name first; above all, the caller's identity. They replace all client
   * headers of these names. The proxy never forwards the client's `Authorization`, `Impersonate-*` and `X-Remote-*`. An
   * exception becomes the response.
   * @default none: the upstream sees this server as the caller
   */
  readonly headers?: (request: RawRequest<unknown>, req: IncomingMessage) => readonly string[];
  /**
   * Whether {@link headers} sends the caller's own credentials, so that the caller gets the upstream's 401. Security: the
   * operator of the upstream can use these credentials, too.
   * @default false: a 401 concerns this server's credentials, and callers get 503
   */
  readonly callersCredentials?: boolean;
  /** Called when the upstream rejects the caller's own credentials (401), where it gets them. @default none */
  readonly onRefused?: (request: RawRequest<unknown>) => void;
  /**
   * Whether this server counts as a hop (`X-Kcp-Virtual-Resource-Hops`). False only where the upstream is a part of the same
   * server, and cannot lead back here.
   * @default true
   */
  readonly counts?: boolean;
  /** Name of the upstream in error messages, which never show its address. @default "the server behind this view" */
  readonly what?: string;
  /** Called when the upstream fails, once per series of failures. The error names its address. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/**
 * Sends a prepared request to one upstream: an `Upstream` of `@virtual-workspaces/transport` (undici, and the plain
 * connection after an upgrade) is one. The proxy has already stripped connection and identity headers and set new ones; it
 * also delivers, cuts or rejects responses.
 */
export interface ProxyEngine {
  /** URL of the upstream, for operators only; clients do not see it. */
  readonly url: string;
  /**
   * Sends a request and resolves with the head of the response. Path and headers go out as given, repeated names apart. The
   * response body fails when the connection ends early. Ending the body early, or the signal, also ends the request upstream.
   *
   * @throws TransportError when there is no response; the signal's reason; ApiError on a request it cannot send
   */
  stream(request: Outgoing): Promise<StreamedResponse>;
  /**
   * Sends an upgrade request. Resolves with the connection, or with the response that rejects it.
   * @throws as {@link stream}
   */
  upgrade(request: OutgoingUpgrade): Promise<StreamedResponse | UpgradedResponse>;
}
