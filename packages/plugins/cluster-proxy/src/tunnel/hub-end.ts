import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { Duplex } from "node:stream";
import { untilAborted } from "@virtual-workspaces/transport";
import {
  REFUSED,
  SESSION_MEMORY,
  TunnelEnd,
  type TunnelEndOptions,
  type TunnelState,
  type TunnelStats,
} from "./end.ts";
import { TunnelError } from "./tunnel-error.ts";

/** Options of {@link HubEnd}. */
export interface HubEndOptions extends TunnelEndOptions {
  /** Called with each digit that a ping of the agent reports. @default none */
  readonly onReport?: (report: number) => void;
}

/**
 * Hub's end of a tunnel that an agent has dialed. The hub opens streams in the reverse direction, to targets that the agent allows. The
 * protocol is HTTP/2 with reversed roles and one CONNECT stream for each connection, with backpressure, half-close, and a distinction of
 * end and error.
 */
export class HubEnd implements AsyncDisposable {
  readonly #end: TunnelEnd<ClientHttp2Session>;
  readonly #drained = Promise.withResolvers<void>();

  /** @param socket authenticated connection of the agent. @throws Error on invalid options */
  constructor(socket: Duplex, { onReport = () => undefined, ...options }: HubEndOptions = {}) {
    const drained = (): void => this.#drained.resolve();
    this.#end = new TunnelEnd(socket, options, {
      begin: (window) => begin(socket, window),
      drained,
      reported: onReport,
    });
    void this.#end.closed.then(drained);
  }

  /** Whether new streams are possible. */
  get usable(): boolean {
    return this.#end.state === "open";
  }

  /** Resolves when either end accepts no new streams, or has ended. */
  get draining(): Promise<void> {
    return this.#drained.promise;
  }

  /** Resolves when the connection has ended, with the error if there was one. */
  get closed(): Promise<Error | undefined> {
    return this.#end.closed;
  }

  /** Current statistics. */
  get stats(): TunnelStats {
    return this.#end.stats;
  }

  /**
   * Opens a stream to a target. Resolves when the agent has connected to it.
   *
   * @throws TunnelError on failure; the signal's reason, after which a late stream is closed
   */
  async open(target: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Duplex> {
    signal?.throwIfAborted();
    if (!this.usable) throw gone(this.#end.state, target);
    const streams = this.#end.streams ?? (await untilAborted(this.#end.begun(), signal));
    if (typeof streams === "string") throw gone(streams, target);
    let stream: ClientHttp2Stream;
    try {
      stream = streams.asked((session) =>
        session.request({ ":method": "CONNECT", ":authority": target }, { endStream: false }),
      );
    } catch (error) {
      // No request was sent: after a drain another tunnel can be used, even if this one has ended since.
      throw gone(this.#end.draining ? "draining" : "closed", target, { cause: error });
    }
    return untilAborted(this.#answered(stream, target), signal).catch((error: unknown) => {
      if (signal?.aborted === true) stream.close(constants.NGHTTP2_CANCEL);
      throw error;
    });
  }

  /** Accepts no new streams and notifies the agent. Resolves when the open ones have ended. */
  drain(): Promise<void> {
    this.#drained.resolve();
    return this.#end.drain();
  }

  /** Closes the connection at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.destroy();
    await this.closed;
  }

  #answered(stream: ClientHttp2Stream, target: string): Promise<Duplex> {
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
    stream.once("response", (headers) => {
      if (headers[":status"] === 200) resolve(cutting(stream));
      else {
        reject(rejection(headers[":status"], target));
        stream.close(constants.NGHTTP2_CANCEL);
      }
    });
    // The user of the stream handles the error.
    stream.on("error", () => undefined);
    stream.once("close", () => {
      // HTTP/2's code for a stream without any effect.
      const refused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
      reject(gone(refused ? "draining" : this.#end.state, target));
    });
    return promise;
  }
}

function begin(socket: Duplex, window: number): ClientHttp2Session {
  return connect("http://agent", {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: window },
    maxSessionMemory: SESSION_MEMORY,
    // The agent sends its limit; until then there is none.
    peerMaxConcurrentStreams: 2 ** 31 - 1,
  });
}

/** Makes the destruction of a stream an error at the agent: without an error, Node.js sends a regular end. */
function cutting(stream: ClientHttp2Stream): Duplex {
  const { destroy } = stream;
  stream.destroy = (error) =>
    destroy.call(stream, error ?? (stream.closed ? undefined : new Error("the stream was closed early")));
  return stream;
}

/** Returns the error for a tunnel that is not open. */
function gone(state: TunnelState, target: string, options?: ErrorOptions): TunnelError {
  return state === "draining"
    ? new TunnelError("draining", `${target}: the agent drains this tunnel and accepts no new streams`, options)
    : new TunnelError("closed", `${target}: the tunnel has ended`, options);
}

function rejection(status: number | undefined, target: string): TunnelError {
  return status === REFUSED
    ? new TunnelError("refused", `${target}: the agent does not allow this target: its administrator can`)
    : new TunnelError("unreachable", `${target}: the agent cannot connect to the target`);
}
