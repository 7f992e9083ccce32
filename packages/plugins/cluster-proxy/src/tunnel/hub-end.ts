import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { Duplex } from "node:stream";
import { SESSION_MEMORY, TunnelEnd, type TunnelEndOptions, type TunnelStats } from "./end.ts";
import { REFUSED } from "./statuses.ts";
import { TunnelError } from "./tunnel-error.ts";
import { firstWindow } from "./windows.ts";

/**
 * The hub's end of a tunnel: an agent has dialled, and from now on connections are opened the other way, to targets that the
 * agent names and allows. HTTP/2 with the roles reversed, one CONNECT stream for each connection: bytes both ways, at the pace of whoever
 * reads, half-closes and breaks told apart.
 */
export class HubEnd implements AsyncDisposable {
  readonly #end: TunnelEnd<ClientHttp2Session>;
  readonly #drained = Promise.withResolvers<void>();
  #draining = false;

  /** @param socket what the agent has dialled, authenticated. @throws Error on options that cannot be used */
  constructor(socket: Duplex, options: TunnelEndOptions = {}) {
    const session = connect("http://agent", {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: firstWindow(options.windows) },
      maxSessionMemory: SESSION_MEMORY,
      // The agent says how many it takes; until it has said so, more than are ever asked for.
      peerMaxConcurrentStreams: 2 ** 31 - 1,
    });
    this.#end = new TunnelEnd(session, socket, options);
    void this.#end.closed.then(() => this.#drained.resolve());
    session.on("goaway", () => this.#takesNoMore());
  }

  /** Whether a stream can be asked for. */
  get usable(): boolean {
    const { session } = this.#end;
    return !this.#draining && !session.closed && !session.destroyed;
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
    if (!this.usable) throw this.#gone(target);
    this.#end.windows.opened();
    let stream: ClientHttp2Stream;
    try {
      stream = this.#end.session.request({ ":method": "CONNECT", ":authority": target }, { endStream: false });
    } catch (error) {
      this.#end.windows.closed();
      throw new TunnelError("closed", `${target}: the tunnel has ended`, { cause: error });
    }
    this.#end.count(stream);
    return this.#answered(stream, target, signal);
  }

  /** Takes no more streams, and tells the agent so. Resolves when those that are open have ended. */
  drain(): Promise<void> {
    this.#takesNoMore();
    return this.#end.drain();
  }

  /** Ends the connection at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.destroy();
    await this.closed;
  }

  #takesNoMore(): void {
    this.#draining = true;
    this.#drained.resolve();
  }

  #answered(stream: ClientHttp2Stream, target: string, signal: AbortSignal | undefined): Promise<Duplex> {
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
    const aborted = (): void => {
      reject(signal?.reason);
      stream.close(constants.NGHTTP2_CANCEL);
    };
    signal?.addEventListener("abort", aborted, { once: true });
    stream.once("response", (headers) => {
      if (headers[":status"] === 200) resolve(cutting(stream));
      else {
        reject(refusal(headers[":status"], target));
        stream.close(constants.NGHTTP2_CANCEL);
      }
    });
    // Whoever has the stream hears of what ends it.
    stream.on("error", () => undefined);
    stream.once("close", () => reject(this.#lost(stream, target)));
    return promise.finally(() => signal?.removeEventListener("abort", aborted));
  }

  /** What an end without an answer comes to. */
  #lost(stream: ClientHttp2Stream, target: string): TunnelError {
    if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return draining(target);
    return this.#gone(target);
  }

  #gone(target: string): TunnelError {
    const { destroyed } = this.#end.session;
    return this.#draining && !destroyed
      ? draining(target)
      : new TunnelError("closed", `${target}: the tunnel has ended`);
  }
}

/** Has a stream that is destroyed before its end break at the agent: without an error Node says there that it has ended. */
function cutting(stream: ClientHttp2Stream): Duplex {
  const { destroy } = stream;
  stream.destroy = (error) =>
    destroy.call(stream, error ?? (stream.closed ? undefined : new Error("it was ended early")));
  return stream;
}

const draining = (target: string): TunnelError =>
  new TunnelError("draining", `${target}: the agent ends this tunnel, and takes no more connections on it`);

function refusal(status: number | undefined, target: string): TunnelError {
  return status === REFUSED
    ? new TunnelError("refused", `${target}: the agent does not allow this target: whoever runs the agent can`)
    : new TunnelError("unreachable", `${target}: the agent cannot reach it`);
}
