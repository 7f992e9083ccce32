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

/**
 * The hub's end of a tunnel: an agent has dialled, and from now on connections are opened the other way, to targets that the
 * agent names and allows. HTTP/2 with the roles reversed, one CONNECT stream for each connection: bytes both ways, at the pace of whoever
 * reads, half-closes and breaks told apart.
 */
export class HubEnd implements AsyncDisposable {
  readonly #end: TunnelEnd<ClientHttp2Session>;
  readonly #drained = Promise.withResolvers<void>();

  /** @param socket what the agent has dialled, authenticated. @throws Error on options that cannot be used */
  constructor(socket: Duplex, options: TunnelEndOptions = {}) {
    const drained = (): void => this.#drained.resolve();
    this.#end = new TunnelEnd(socket, options, { begin: (window) => begin(socket, window), drained });
    void this.#end.closed.then(drained);
  }

  /** Whether a stream can be asked for. */
  get usable(): boolean {
    return this.#end.state === "open";
  }

  /** Resolves when either end takes no more streams, or has ended. */
  get draining(): Promise<void> {
    return this.#drained.promise;
  }

  /** Resolves when the connection has ended, with what was wrong, if anything. */
  get closed(): Promise<Error | undefined> {
    return this.#end.closed;
  }

  /** As they are now. */
  get stats(): TunnelStats {
    return this.#end.stats;
  }

  /**
   * A connection to what the agent calls so. Resolves when the agent has it.
   *
   * @throws TunnelError when there is none; the signal's reason, which also ends what comes too late
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
      // Nothing was done, though the tunnel may have ended since its other end said that it takes no more.
      throw gone(this.#end.draining ? "draining" : "closed", target, { cause: error });
    }
    return untilAborted(this.#answered(stream, target), signal).catch((error: unknown) => {
      if (signal?.aborted === true) stream.close(constants.NGHTTP2_CANCEL);
      throw error;
    });
  }

  /** Takes no more streams, and tells the agent so. Resolves when those that are open have ended. */
  drain(): Promise<void> {
    this.#drained.resolve();
    return this.#end.drain();
  }

  /** Ends the connection at once. */
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
    // Whoever has the stream hears of what ends it.
    stream.on("error", () => undefined);
    stream.once("close", () => {
      // Which says that nothing was done.
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
    // The agent says how many it takes; until it has said so, more than are ever asked for.
    peerMaxConcurrentStreams: 2 ** 31 - 1,
  });
}

/** Has a stream that is destroyed before its end break at the agent: without an error Node says there that it has ended. */
function cutting(stream: ClientHttp2Stream): Duplex {
  const { destroy } = stream;
  stream.destroy = (error) =>
    destroy.call(stream, error ?? (stream.closed ? undefined : new Error("it was ended early")));
  return stream;
}

/** Why there is no stream through a tunnel that is not open. */
function gone(state: TunnelState, target: string, options?: ErrorOptions): TunnelError {
  return state === "draining"
    ? new TunnelError("draining", `${target}: the agent ends this tunnel, and takes no more connections on it`, options)
    : new TunnelError("closed", `${target}: the tunnel has ended`, options);
}

function rejection(status: number | undefined, target: string): TunnelError {
  return status === REFUSED
    ? new TunnelError("refused", `${target}: the agent does not allow this target: whoever runs the agent can`)
    : new TunnelError("unreachable", `${target}: the agent cannot reach it`);
}
