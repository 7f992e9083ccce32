import type { ClientRequest, IncomingMessage } from "node:http";
import { type Duplex, Readable } from "node:stream";
import {
  isTransportError,
  type Outgoing,
  type ResponseHeaders,
  type StreamedResponse,
  TransportError,
  type TransportErrorCode,
  type UpgradedResponse,
} from "@virtual-workspaces/transport";

/** Connect timeout, ms: the transport's own. */
const CONNECT = 5_000;
const HEAD = 30_000;

/** A connection that may not be established yet. */
type Connecting = Duplex & { readonly connecting: boolean };

/** A request made by `http-proxy`: corrected before it is written, and its response. */
export class Sending {
  readonly answer: Promise<StreamedResponse | UpgradedResponse>;
  readonly #request: Outgoing;
  readonly #path: string;
  readonly #what: string;
  readonly #settled = Promise.withResolvers<StreamedResponse | UpgradedResponse>();
  #out: ClientRequest | undefined;
  #delivered = false;
  #late: NodeJS.Timeout | undefined;

  constructor(request: Outgoing, { url, prefix }: { readonly url: string; readonly prefix: string }) {
    this.#request = request;
    this.#path = prefix + request.path;
    this.#what = `${request.method ?? "GET"} ${url}${request.path.split("?", 1)[0]}`;
    this.answer = this.#settled.promise;
  }

  /** Takes the place of the request body for `http-proxy`, which calls it before it writes a byte. */
  pipe(out: ClientRequest): ClientRequest {
    this.mend(out);
    this.listen(out);
    const { body } = this.#request;
    if (typeof body !== "object" || Buffer.isBuffer(body)) return out.end(body);
    const pieces = Readable.from(body, { objectMode: false }).once("error", (error) => out.destroy(error));
    out.once("close", () => pieces.destroy());
    return pieces.pipe(out);
  }

  /** Corrects a request before it is written. */
  mend(out: ClientRequest): void {
    this.#out = out;
    out.path = this.#path;
    this.#write(out);
    out.once("socket", (socket: Connecting) => this.#connecting(socket));
    out.on("error", (error) => this.fail(error));
    const { signal, deadlines } = this.#request;
    const cut = (): void => void out.destroy(signal?.reason);
    signal?.addEventListener("abort", cut, { once: true });
    if (signal?.aborted === true) cut();
    const head = deadlines?.head ?? HEAD;
    if (Number.isFinite(head)) this.#late = setTimeout(() => this.#end("timeout", "no response", head), head);
    out.once("close", () => {
      clearTimeout(this.#late);
      signal?.removeEventListener("abort", cut);
    });
  }

  /**
   * Removes other response listeners: `http-proxy` would write to the client, and close the connection without a response on
   * an invalid one.
   */
  listen(out: ClientRequest): void {
    out.removeAllListeners("response").removeAllListeners("upgrade");
    out.on("response", (res) => this.#begin(res));
    out.on("upgrade", (res, socket, head) => this.#upgraded(res, { socket, head }));
  }

  fail(error: unknown): void {
    const { signal } = this.#request;
    this.#settled.reject(signal?.aborted === true ? signal.reason : this.#failureOf(error));
  }

  /** Replaces the headers that `http-proxy` has set: repeated names apart, one character per byte, lengths unchanged. */
  #write(out: ClientRequest): void {
    const { headers = [], body, length } = this.#request;
    for (const name of out.getHeaderNames()) if (!/^(?:host|connection|upgrade)$/.test(name)) out.removeHeader(name);
    const lines = new Map<string, string[]>();
    for (let at = 0; at < headers.length; at += 2) {
      const [name = "", value = ""] = [headers[at], headers[at + 1]];
      const values = lines.get(name.toLowerCase());
      if (values === undefined) lines.set(name.toLowerCase(), [bytes(value)]);
      else values.push(bytes(value));
    }
    for (const [name, values] of lines) out.setHeader(name, values.length === 1 ? (values[0] as string) : values);
    if (length !== undefined) out.setHeader("Content-Length", length);
    else if (typeof body === "object" && !Buffer.isBuffer(body)) out.setHeader("Transfer-Encoding", "chunked");
  }

  #connecting(socket: Connecting): void {
    const connected = (): void => {
      this.#delivered = true;
      clearTimeout(late);
    };
    const late = setTimeout(() => this.#end("connect", "no connection", CONNECT), CONNECT);
    if (!socket.connecting) connected();
    else socket.once("encrypted" in socket ? "secureConnect" : "connect", connected);
    this.#out?.once("close", () => clearTimeout(late));
  }

  #end(code: "connect" | "timeout", what: string, ms: number): void {
    const message = `${this.#what}: ${what} within ${ms} ms`;
    this.#out?.destroy(new TransportError(code, message, { delivered: this.#delivered }));
  }

  #begin(res: IncomingMessage): void {
    clearTimeout(this.#late);
    const answer: StreamedResponse = {
      status: res.statusCode ?? 0,
      headers: headersOf(res),
      body: this.#body(res),
      [Symbol.asyncDispose]: async () => void res.destroy(),
    };
    this.#settled.resolve(answer);
  }

  /** Resolves with the connection after the upstream has switched protocols. */
  #upgraded(res: IncomingMessage, { socket, head }: { readonly socket: Duplex; readonly head: Buffer }): void {
    clearTimeout(this.#late);
    const { signal } = this.#request;
    const cut = (): void => void socket.destroy();
    signal?.addEventListener("abort", cut, { once: true });
    socket.on("error", () => undefined).once("close", () => signal?.removeEventListener("abort", cut));
    if (signal?.aborted === true) cut();
    if (head.length > 0) socket.unshift(head);
    this.#settled.resolve({ status: 101, headers: headersOf(res), socket });
  }

  /** Ends when its reader ends it, and fails when it is incomplete. */
  async *#body(res: IncomingMessage): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const piece of res) yield piece as Buffer;
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  #failureOf(error: unknown): TransportError {
    return failureOf(error, { what: this.#what, delivered: this.#delivered });
  }
}

/** Returns headers in the transport's form: a string, or several where a name is repeated. */
function headersOf({ headersDistinct }: IncomingMessage): ResponseHeaders {
  const headers: Record<string, string | string[]> = {};
  for (const [name, values = []] of Object.entries(headersDistinct))
    headers[name] = values.length === 1 ? (values[0] as string) : values;
  return headers;
}

function bytes(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

const OF_TLS =
  /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO|HOSTNAME_MISMATCH|INVALID_(?:CA|PURPOSE))/;

/**
 * Converts an error of Node's client.
 * @param delivered whether there was a connection, so that the request may have arrived
 */
function failureOf(error: unknown, { what, delivered }: { what: string; delivered: boolean }): TransportError {
  if (isTransportError(error)) return error;
  const { code = "", message = String(error) } = error as NodeJS.ErrnoException;
  return new TransportError(codeOf(code, delivered), `${what}: ${message || code}`, { cause: error, delivered });
}

function codeOf(code: string, delivered: boolean): TransportErrorCode {
  if (OF_TLS.test(code)) return "tls";
  if (code === "HPE_HEADER_OVERFLOW") return "tooLarge";
  if (code.startsWith("HPE_") && !code.endsWith("_EOF_STATE")) return "malformed";
  return delivered ? "reset" : "connect";
}
