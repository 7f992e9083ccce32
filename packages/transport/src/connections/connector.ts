import { X509Certificate } from "node:crypto";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
} from "node:tls";
import type { InProcessServer } from "../http/in-process.ts";
import { onAbort, untilAborted } from "../time/abort.ts";
import { Timer } from "../time/timer.ts";
import { ConnectDeadline } from "../transport-error.ts";
import { ReusedReads } from "./reused-reads.ts";

export interface ConnectorOptions {
  readonly url: URL;
  readonly tls: UpstreamTls;
  /** Client certificate and its key, PEM; "" for none. */
  readonly cert: string;
  readonly key: string;
  /** Milliseconds. */
  readonly deadline: number;
  readonly dial: Dial | undefined;
  readonly inProcess: InProcessServer | undefined;
}

/**
 * Idle time before the kernel probes the other side, ms. Node then probes every second and gives up after ten probes, on
 * Linux and macOS.
 */
const PROBED_AFTER = 4_000;

/** One side of an upgraded connection may stop sending and still receive. */
const HALF_OPEN = { allowHalfOpen: true } as const;

/** Connection that is ready for HTTP. */
export interface OpenSocket {
  readonly socket: Duplex;
  /** `undefined` for a stream that reads like any other. */
  readonly reads: ReusedReads | undefined;
}

/** Connection, or the server that stands for one. */
export type Opened = OpenSocket | { readonly server: InProcessServer };

/** Opens connections to one server with one client certificate. Reads the authorities once. */
export class Connector {
  readonly #options: ConnectorOptions;
  readonly #host: string;
  readonly #port: number;
  readonly #context: SecureContext | undefined;
  /** TLS session, which shortens the next handshake. */
  #session: Buffer | undefined;

  /** @throws Error for invalid certificates or keys */
  constructor(options: ConnectorOptions) {
    const { url, tls, cert, key } = options;
    this.#options = options;
    this.#host = hostOf(url);
    this.#port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
    if (url.protocol === "https:")
      this.#context = createSecureContext({
        ...trusted(tls.ca),
        ...(cert === "" ? {} : { cert, key }),
      });
  }

  /**
   * Resolves with a connection that is ready for HTTP.
   *
   * @param cancel aborts it
   * @param plain whether another protocol may follow on it, so that it must read like any other stream
   */
  async open(cancel: AbortSignal, plain: boolean): Promise<Opened> {
    const ended = new AbortController();
    const late = new Timer(this.#options.deadline, () =>
      ended.abort(new ConnectDeadline(`no connection within ${this.#options.deadline} ms`)),
    );
    using _cancelled = onAbort(cancel, () => ended.abort(cancel.reason));
    try {
      cancel.throwIfAborted();
      return await this.#open(ended.signal, plain);
    } finally {
      late.clear();
    }
  }

  async #open(signal: AbortSignal, plain: boolean): Promise<Opened> {
    const { dial, inProcess } = this.#options;
    if (inProcess !== undefined && !plain) {
      await untilAborted(inProcess.ready, signal);
      return { server: inProcess };
    }
    const reads = plain || dial !== undefined ? undefined : new ReusedReads();
    const below = dial === undefined ? undefined : await dialled(dial, { host: this.#host, port: this.#port, signal });
    const opened = (socket: Duplex): OpenSocket => ({ socket, reads: reads?.of(socket as Socket) });
    if (this.#context !== undefined) {
      const secure = this.#secure(this.#context, below, reads);
      return ready(secure, { event: "secureConnect", signal }).then(opened, (error: unknown) => {
        below?.on("error", ignored).destroy();
        throw error;
      });
    }
    if (below !== undefined) return { socket: below, reads: undefined };
    const socket = connectTcp({ host: this.#host, port: this.#port, ...HALF_OPEN, ...reads?.options });
    socket.setNoDelay(true).setKeepAlive(true, PROBED_AFTER);
    return opened(await ready(socket, { event: "connect", signal }));
  }

  #secure(secureContext: SecureContext, below: Duplex | undefined, reads: ReusedReads | undefined): Duplex {
    const { tls } = this.#options;
    const socket = connectTls({
      ...(below === undefined ? { host: this.#host, port: this.#port } : { socket: below, host: this.#host }),
      ...expected(tls.serverName ?? this.#host),
      secureContext,
      ...HALF_OPEN,
      ...reads?.options,
      // Explicit, because an environment variable can otherwise disable it.
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

/** Verifies that the certificate is for this name. SNI is sent for names, not for IP addresses. */
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

/** Destroys a connection that the dial returns after the abort. */
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
  // The transport below TLS may fail first; its error comes before any event here.
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

/** Ignores an error that is reported elsewhere or no longer matters. */
export function ignored(): void {}

/** Returns the host of a URL for dialing or lookup: an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** Certificates of authorities, PEM: one or several in one text, or an array of these. */
export type CertificateAuthorities = string | Buffer | readonly (string | Buffer)[];

/** Returns the authorities as a list. @throws Error for anything else: Node would ignore it, or fail without the field's name */
export function authoritiesIn(ca: CertificateAuthorities): (string | Buffer)[] {
  const all: unknown = typeof ca === "string" || Buffer.isBuffer(ca) ? [ca] : ca;
  if (Array.isArray(all) && all.length > 0 && all.every(isAuthority)) return all;
  throw new Error("invalid tls.ca of an upstream: use PEM certificates, as text, Buffer or an array of these");
}

function isAuthority(pem: unknown): pem is string | Buffer {
  if (!(typeof pem === "string" || Buffer.isBuffer(pem)) || !pem.includes("-----BEGIN CERTIFICATE-----")) return false;
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the options of `node:tls` that trust these certificates, and no others. As in Go, each of them is trusted by itself,
 * whether it is a root, an intermediate authority or the server's own certificate. Node.js trusts only roots by default.
 *
 * @param ca PEM; `undefined` for the authorities of Node.js
 * @throws Error for anything else than PEM, which names `tls.ca`
 */
export function trusted(
  ca: CertificateAuthorities | undefined,
): Pick<SecureContextOptions, "allowPartialTrustChain"> & { readonly ca?: (string | Buffer)[] } {
  return { ...(ca !== undefined && { ca: authoritiesIn(ca) }), allowPartialTrustChain: true };
}

/** Trust in the upstream's certificate. It is always verified, unless `insecureSkipVerify` is set. */
export interface UpstreamTls {
  /**
   * PEM of the only trusted certificates, as in Node's TLS options: authorities, or a server's own. Security: each is trusted by itself, without a root.
   *
   * @default the authorities of Node.js
   */
  readonly ca?: CertificateAuthorities;
  /** Expected name in the certificate, also sent as SNI. @default the URL's host */
  readonly serverName?: string;
  /** Accepts any certificate. Security: attackers in the network can read and change everything. @default false */
  readonly insecureSkipVerify?: boolean;
}

/**
 * Opens connections by other means than TCP, such as tunnels. TLS, if the URL has it, runs through them with the same
 * verification. The signal aborts when the connection is no longer needed: at the connect deadline, at the end of its
 * request, and when the upstream is closed. A connection that is returned later is destroyed.
 */
export type Dial = (
  target: { readonly host: string; readonly port: number },
  options: { readonly signal: AbortSignal },
) => Promise<Duplex>;
