// HTTP/2 client over TLS that reads complete answers and open streams, and records how each ended.
import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type SecureClientSessionOptions,
} from "node:http2";

export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Text, parsed as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  readonly body: any;
}

export interface Http2Request {
  /** Method. @default GET */
  readonly method?: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** Session with a server on this machine. */
export class Http2Client implements Disposable {
  readonly session: ClientHttp2Session;
  /** Codes of the received GOAWAY frames. */
  readonly goaways: number[] = [];
  /** Resolves when the session has ended. */
  readonly closed: Promise<unknown>;

  constructor(port: number, options: SecureClientSessionOptions) {
    this.session = connect(`https://127.0.0.1:${port}`, options);
    this.session.on("error", () => undefined);
    this.session.on("goaway", (code: number) => this.goaways.push(code));
    this.closed = new Promise((resolve) => this.session.once("close", () => resolve(undefined)));
  }

  static async open(port: number, options: SecureClientSessionOptions): Promise<Http2Client> {
    const client = new Http2Client(port, options);
    await Promise.all([once(client.session, "connect"), once(client.session, "remoteSettings")]);
    return client;
  }

  /** Opens a request. Without `body`, the stream stays open for methods that allow a body. */
  begin({ method = "GET", path, headers = {}, body }: Http2Request): ClientHttp2Stream {
    const endStream = body === undefined && method === "GET";
    const stream = this.session.request({ ":method": method, ":path": path, ...headers }, { endStream });
    stream.on("error", () => undefined);
    if (body !== undefined) stream.end(body);
    return stream;
  }

  /** Returns the answer to a request. @throws when there is none */
  async ask(request: Http2Request): Promise<Http2Answer> {
    return answerOf(this.begin(request));
  }

  /** Returns the answer to a GET. */
  get(path: string, headers: OutgoingHttpHeaders = {}): Promise<Http2Answer> {
    return this.ask({ path, headers });
  }

  [Symbol.dispose](): void {
    this.session.destroy();
  }
}

/** Reads the whole answer of a stream. @throws when the stream is reset first */
export async function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  let headers: IncomingHttpHeaders = {};
  let text = "";
  stream.once("response", (found) => (headers = found));
  stream.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stream.once("end", resolve).once("error", reject);
  stream.once("close", () => reject(new Error(`stream closed with code ${stream.rstCode}`)));
  await promise;
  const status = headers[":status"] as number | undefined;
  if (status === undefined || stream.rstCode !== 0) throw new Error(`stream reset with code ${stream.rstCode}`);
  const json = headers["content-type"]?.startsWith("application/json") === true;
  return { status, headers, text, body: json && text !== "" ? JSON.parse(text) : undefined };
}
