import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import { splice } from "./connection.ts";
import { REFUSED, SESSION_MEMORY, TunnelEnd, type TunnelEndOptions, type TunnelStats, UNREACHABLE } from "./end.ts";

/** Target that the agent connects to; its bytes are copied to and from the hub's stream. */
export interface DialledTarget {
  /**
   * Opens the connection; the signal aborts when the hub no longer needs it. An exception becomes an unreachable target. Security: the hub
   * does not receive its message, which may contain addresses.
   */
  readonly dial: (options: { readonly signal: AbortSignal }) => Promise<Duplex>;
}

/** Target in this process. */
export interface AcceptedTarget {
  /** Takes the hub's stream as a server takes a client's connection. */
  readonly accept: (connection: Duplex) => void;
}

/** Target that a hub can connect to. */
export type Target = DialledTarget | AcceptedTarget;

/** Options of {@link AgentEnd}. */
export interface AgentEndOptions extends TunnelEndOptions {
  /** Returns the target with a name. Security: hubs can reach no other target through the tunnel. */
  readonly targets: (name: string) => Target | undefined;
  /** Returns the digit, 0 to 9, that each ping reports to the hub: the state of the target. @default none */
  readonly report?: () => number | undefined;
  /** Maximum number of open streams. @default 1000 */
  readonly streams?: number;
  /** Called with errors of targets and of {@link targets}. @default none */
  readonly onError?: (error: unknown, target: string) => void;
}

const STREAMS = 1_000;

/** Agent's end of a tunnel that it has dialed. It gives the hub connections to the allowed targets only. */
export class AgentEnd implements AsyncDisposable {
  readonly #end: TunnelEnd<ServerHttp2Session>;
  readonly #options: AgentEndOptions;
  readonly #draining = Promise.withResolvers<void>();

  /** @param socket connection to the hub. @throws Error on invalid options */
  constructor(socket: Duplex, options: AgentEndOptions) {
    const { streams = STREAMS } = options;
    if (!(Number.isSafeInteger(streams) && streams >= 1))
      throw new Error("invalid streams of an agent: use a number of at least 1");
    this.#options = options;
    this.#end = new TunnelEnd(socket, options, {
      begin: (window) => {
        const session = performServerHandshake(socket, {
          settings: { initialWindowSize: window, maxConcurrentStreams: streams },
          maxSessionMemory: SESSION_MEMORY,
        });
        return session.on("stream", (stream, headers) => this.#take(stream, headers));
      },
      drained: this.#draining.resolve,
      ...(options.report && { report: options.report }),
    });
  }

  /** Resolves when the connection has ended, with the error if there was one. */
  get closed(): Promise<Error | undefined> {
    return this.#end.closed;
  }

  /** Resolves when the hub drains the tunnel: the agent should dial another one before this one ends. */
  get draining(): Promise<void> {
    return this.#draining.promise;
  }

  /** Current statistics. */
  get stats(): TunnelStats {
    return this.#end.stats;
  }

  /** Accepts no new streams and notifies the hub. Resolves when the open ones have ended. */
  drain(): Promise<void> {
    return this.#end.drain();
  }

  /** Closes the connection at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.destroy();
    await this.closed;
  }

  #take(stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>): void {
    this.#end.streams?.taken(stream);
    stream.on("error", () => undefined);
    const name = String(headers[":authority"] ?? "");
    this.#serve(stream, name, headers[":method"] === "CONNECT").catch((error: unknown) => {
      if (stream.destroyed) return;
      this.#options.onError?.(error, name);
      if (stream.headersSent) stream.destroy(new Error("the target failed"));
      else refuse(stream, UNREACHABLE);
    });
  }

  async #serve(stream: ServerHttp2Stream, name: string, isConnect: boolean): Promise<void> {
    const target = isConnect ? this.#options.targets(name) : undefined;
    if (target === undefined) return refuse(stream, REFUSED);
    if ("accept" in target) {
      stream.respond({ ":status": 200 });
      target.accept(stream);
      return;
    }
    const socket = await dialTarget(stream, target);
    if (stream.destroyed) socket.destroy();
    else {
      stream.respond({ ":status": 200 });
      splice(stream, socket);
    }
  }
}

/** Connects to a target while the hub's stream is open. */
async function dialTarget(stream: ServerHttp2Stream, { dial }: DialledTarget): Promise<Duplex> {
  const over = new AbortController();
  const ended = (): void => over.abort(new Error("the hub has closed the stream"));
  stream.once("close", ended);
  try {
    return await dial({ signal: over.signal });
  } finally {
    stream.off("close", ended);
  }
}

function refuse(stream: ServerHttp2Stream, status: number): void {
  stream.respond({ ":status": status }, { endStream: true });
}
