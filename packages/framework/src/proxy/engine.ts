import type { Outgoing, OutgoingUpgrade, StreamedResponse, UpgradedResponse } from "@virtual-workspaces/transport";

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
