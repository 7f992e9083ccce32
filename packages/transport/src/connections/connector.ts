import { connect as connectTcp, isIP } from "node:net";
import type { Duplex } from "node:stream";
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  type SecureContext,
} from "node:tls";
import { onAbort, untilAborted } from "../time/abort.ts";
import { Timer } from "../time/timer.ts";
import { ConnectDeadline } from "../transport-error.ts";

export interface ConnectorOptions {
  readonly url: URL;
  readonly tls: UpstreamTls;
  /** Client certificate and its key, PEM; "" for none. */
  readonly cert: string;
  readonly key: string;
  /** ms */
  readonly deadline: number;
  readonly dial: Dial | undefined;
}

/**
 * After so long without a byte the kernel asks whether the other side is there, ms. Node has it ask each second from then on
 * and give up after ten times, on Linux and macOS.
 */
const PROBED_AFTER = 4_000;

/** One end of an upgraded connection may have said all and still listen. */
const HALF_OPEN = { allowHalfOpen: true } as const;

/** Makes connections to one server that show one certificate. What it takes to verify the server is read once. */
export class Connector {
  readonly #options: ConnectorOptions;
  readonly #host: string;
  readonly #port: number;
  readonly #context: SecureContext | undefined;
  /** Shortens the next handshake. */
  #session: Buffer | undefined;

  /** @throws Error on certificates and keys that are none */
  constructor(options: ConnectorOptions) {
    const { url, tls, cert, key } = options;
    this.#options = options;
    this.#host = hostOf(url);
    this.#port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
    if (url.protocol === "https:")
      this.#context = createSecureContext({
        ...(tls.ca === undefined ? {} : { ca: tls.ca }),
        ...(cert === "" ? {} : { cert, key }),
      });
  }

  /** Resolves with what is ready for HTTP. @param cancel ends it */
  async open(cancel: AbortSignal): Promise<Duplex> {
    const ended = new AbortController();
    const late = new Timer(this.#options.deadline, () =>
      ended.abort(new ConnectDeadline(`no connection within ${this.#options.deadline} ms`)),
    );
    using _cancelled = onAbort(cancel, () => ended.abort(cancel.reason));
    try {
      cancel.throwIfAborted();
      return await this.#open(ended.signal);
    } finally {
      late.clear();
    }
  }

  async #open(signal: AbortSignal): Promise<Duplex> {
    const { dial } = this.#options;
    const below = dial === undefined ? undefined : await dialled(dial, { host: this.#host, port: this.#port, signal });
    if (this.#context !== undefined)
      return ready(this.#secure(this.#context, below), { event: "secureConnect", signal }).catch((error: unknown) => {
        below?.on("error", ignored).destroy();
        throw error;
      });
    if (below !== undefined) return below;
    const socket = connectTcp({ host: this.#host, port: this.#port, ...HALF_OPEN });
    socket.setNoDelay(true).setKeepAlive(true, PROBED_AFTER);
    return ready(socket, { event: "connect", signal });
  }

  #secure(secureContext: SecureContext, below: Duplex | undefined): Duplex {
    const { tls } = this.#options;
    const socket = connectTls({
      ...(below === undefined ? { host: this.#host, port: this.#port } : { socket: below, host: this.#host }),
      ...expected(tls.serverName ?? this.#host),
      secureContext,
      ...HALF_OPEN,
      // Said in so many words: else an environment variable could switch it off.
      rejectUnauthorized: tls.insecureSkipVerify !== true,
      ALPNProtocols: ["http/1.1"],
      ...(this.#session === undefined ? {} : { session: this.#session }),
    });
    if (below === undefined) socket.setNoDelay(true).setKeepAlive(true, PROBED_AFTER);
    return socket.on("session", (session) => {
      this.#session = session;
    });
  }
}

/** The name that a certificate must be for. An address is not asked for by name. */
function expected(name: string): Pick<ConnectionOptions, "servername" | "checkServerIdentity"> {
  return {
    servername: isIP(name) === 0 ? name : "",
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
  };
}

interface Dialled {
  readonly host: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

/** What a dial gives after the signal is ended at once. */
async function dialled(dial: Dial, { host, port, signal }: Dialled): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  Promise.resolve()
    .then(() => dial({ host, port }, { signal }))
    .then((duplex) => {
      if (signal.aborted) duplex.on("error", ignored).destroy();
      else resolve(duplex);
    })
    .catch(reject);
  return untilAborted(promise, signal);
}

interface Awaited {
  readonly event: "connect" | "secureConnect";
  readonly signal: AbortSignal;
}

async function ready(socket: Duplex, { event, signal }: Awaited): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const closed = (): void => reject(new Error("closed before it was ready"));
  // What is below TLS may break of it, and is told of first, before anybody here hears of either.
  const errors: unknown[] = [];
  const failed = (error: unknown): void => {
    errors.push(error);
    reject(error);
  };
  socket.once(event, resolve).on("error", failed).once("close", closed);
  try {
    await untilAborted(promise, signal);
    return socket;
  } catch (error) {
    socket.on("error", ignored).destroy();
    throw errors.at(-1) ?? error;
  } finally {
    socket.off(event, resolve).off("error", failed).off("close", closed);
  }
}

/** It is told otherwise, or of no interest any more. */
export function ignored(): void {}

/** The host of a URL, as who dials it or looks it up has it: an IPv6 address stands without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** How the other server is trusted. Its certificate is always verified, unless that is switched off by name. */
export interface UpstreamTls {
  /** PEM of the authorities that its certificate must come from, and no others. @default those that Node trusts */
  readonly ca?: string;
  /** The name that its certificate must be for, and that is asked for (SNI). @default the URL's host */
  readonly serverName?: string;
  /** Takes any certificate: whoever is between us can read and change everything, credentials too. @default false */
  readonly insecureSkipVerify?: boolean;
}

/**
 * Makes connections otherwise than by TCP: tunnels plug in here. TLS, if the URL asks for it, is spoken through them, and
 * verified as ever. The signal is aborted when the connection is no longer wanted: at the connect deadline, when the request
 * that it is for ends, and when the upstream is closed. What is given later is destroyed.
 */
export type Dial = (
  target: { readonly host: string; readonly port: number },
  options: { readonly signal: AbortSignal },
) => Promise<Duplex>;
