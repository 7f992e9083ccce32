// Sends requests to a server, ours or the oracle, and reads answers and events.
import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";

/** Server that receives the requests. */
export interface Target {
  readonly url: string;
  /** Headers of every request, which identify the caller. */
  readonly headers: Readonly<Record<string, string>>;
  /** TLS options for https. */
  readonly tls?: { readonly ca?: string; readonly servername?: string };
  /** Deletes all objects at once. @default they are deleted one by one */
  readonly reset?: () => Promise<void>;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

const PATIENCE_MS = 20_000;

/** Client of one server. */
export class Caller implements Disposable {
  readonly target: Target;
  readonly #agent: PlainAgent | TlsAgent;

  constructor(target: Target) {
    this.target = target;
    this.#agent = target.tls === undefined ? new PlainAgent({ keepAlive: true }) : new TlsAgent({ keepAlive: true });
  }

  /** Sends a request. A missing or truncated answer has the status 0: a Go server cuts it when a handler panics. */
  async call(call: Call): Promise<RawAnswer> {
    try {
      const { response } = this.#start(call);
      return await read(await response);
    } catch (error) {
      return { status: 0, headers: {}, text: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Opens a watch. `answer` is the rejection when there are no events. */
  async watch(call: Call): Promise<{ readonly answer: RawAnswer; readonly events?: EventReader }> {
    const { req, response } = this.#start(call);
    const res = await response;
    if (res.statusCode !== 200) return { answer: await read(res) };
    return { answer: { status: 200, headers: res.headers, text: "" }, events: new EventReader(req, res) };
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #start({ method, path, headers, body }: Call): { req: ClientRequest; response: Promise<IncomingMessage> } {
    const { url, tls, headers: own } = this.target;
    const send = tls === undefined ? plainRequest : tlsRequest;
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const options = { method, agent: this.#agent, headers: { ...own, ...length, ...headers }, ...tls };
    const req = send(url + path, options);
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      req.once("response", resolve);
      req.on("error", reject); // after the answer an error is irrelevant: the server does not read all of a body that is too large
      req.setTimeout(PATIENCE_MS, () => req.destroy(new Error(`no answer: ${method} ${path}`)));
    });
    req.end(body);
    return { req, response };
  }
}

async function read(res: IncomingMessage): Promise<RawAnswer> {
  let text = "";
  for await (const piece of res.setEncoding("utf8")) text += piece;
  return { status: res.statusCode ?? 0, headers: res.headers, text };
}

/** Lines of a watch. */
export class EventReader implements Disposable {
  readonly #req: ClientRequest;
  readonly #lines: AsyncIterator<string>;

  constructor(req: ClientRequest, res: IncomingMessage) {
    this.#req = req;
    this.#lines = lines(res);
    res.on("error", () => undefined);
    req.on("error", () => undefined);
  }

  /** Returns lines up to the first that satisfies `isLast`, or all. */
  async take(isLast: (line: string, count: number) => boolean): Promise<string[]> {
    const taken: string[] = [];
    for (;;) {
      const { done, value } = await this.#lines.next();
      if (done === true) return taken;
      taken.push(value);
      if (isLast(value, taken.length)) return taken;
    }
  }

  [Symbol.dispose](): void {
    this.#req.destroy();
  }
}

async function* lines(res: IncomingMessage): AsyncGenerator<string> {
  let text = "";
  for await (const piece of res.setEncoding("utf8")) {
    text += piece;
    const whole = text.split("\n");
    text = whole.pop() ?? "";
    yield* whole;
  }
  if (text !== "") yield text;
}
