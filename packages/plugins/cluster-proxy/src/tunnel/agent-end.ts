import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import { splice } from "./connection.ts";
import { REFUSED, SESSION_MEMORY, TunnelEnd, type TunnelEndOptions, type TunnelStats, UNREACHABLE } from "./end.ts";

/** A target that is connected to: whatever it is, it is joined with the hub's connection. */
export interface DialledTarget {
  /** Makes the connection; the signal is aborted when the hub wants it no more. A throw is told the hub as unreachable; its message, which may have addresses, is not. */
  readonly dial: (options: { readonly signal: AbortSignal }) => Promise<Duplex>;
}

/** A target that is in this process. */
export interface AcceptedTarget {
  /** Takes the hub's connection, as a server takes one of a client. */
  readonly accept: (connection: Duplex) => void;
}

/** What a hub can have connections to. */
export type Target = DialledTarget | AcceptedTarget;

/** The agent's end of a tunnel. */
export interface AgentEndOptions extends TunnelEndOptions {
  /** What a target is, by its name; nothing else can be had through the tunnel, whoever runs the hub. */
  readonly targets: (name: string) => Target | undefined;
  /** How many connections the hub may have open. @default 1000 */
  readonly streams?: number;
  /** Told of targets that could not be had, and of what {@link targets} and targets throw. @default nobody */
  readonly onError?: (error: unknown, target: string) => void;
}

const STREAMS = 1_000;

/** The agent's end of a tunnel that it has dialled: it gives the hub connections to the targets that it allows, and to no others. */
export class AgentEnd implements AsyncDisposable {
  readonly #end: TunnelEnd<ServerHttp2Session>;
  readonly #options: AgentEndOptions;
  readonly #draining = Promise.withResolvers<void>();

  /** @param socket the connection to the hub. @throws Error on options that cannot be used */
  constructor(socket: Duplex, options: AgentEndOptions) {
    const { streams = STREAMS } = options;
    if (!(Number.isSafeInteger(streams) && streams >= 1)) throw new Error("streams of an agent: give at least 1");
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
    });
  }

  /** Resolves when the connection has ended, with what was wrong, if anything. */
  get closed(): Promise<Error | undefined> {
    return this.#end.closed;
  }

  /** Resolves when the hub says that it takes nothing more through this tunnel: another is to be dialled before this one ends. */
  get draining(): Promise<void> {
    return this.#draining.promise;
  }

  /** As they are now. */
  get stats(): TunnelStats {
    return this.#end.stats;
  }

  /** Takes no more connections, and tells the hub so. Resolves when those that are open have ended. */
  drain(): Promise<void> {
    return this.#end.drain();
  }

  /** Ends the connection at once. */
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

/** The connection to a target, wanted as long as the hub's is there. */
async function dialTarget(stream: ServerHttp2Stream, { dial }: DialledTarget): Promise<Duplex> {
  const over = new AbortController();
  const ended = (): void => over.abort(new Error("the hub has ended the connection"));
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
