// What can go wrong between a client and a server, ready to be told to a FaultyUpstream.
import type { Asked, Ending, Passed } from "./faulty-connection.ts";

/** What is done with a request. */
export type Fault = (asked: Asked) => void | Promise<void>;

/** Where an answer is cut; one of both. */
export interface Cut {
  /** After so many bytes of the answer, its head included. */
  readonly bytes?: number;
  /** Within the line of the body that follows so many whole ones. The lines of a watch are its events. */
  readonly lines?: number;
  /** @default "reset" */
  readonly how?: Ending;
}

export interface OwnAnswer {
  readonly status: number;
  /** Flat pairs. */
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
}

const status = (code: number, reason: string): string =>
  JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `injected: ${reason}`,
    reason,
    code,
  });
const JSON_TYPE = ["Content-Type", "application/json"];

/** Answered by this and not by the real server, which never hears of it. */
const answer = ({ status: code, headers = [], body = "" }: OwnAnswer): Fault => {
  const bytes = Buffer.from(body as string);
  return (asked) =>
    asked
      .answer(Buffer.concat([head(code, [...headers, "Content-Length", `${bytes.length}`]), bytes]))
      .then(() => undefined);
};

/** These very bytes, and then the end. The real server never hears of it. @param then @default "close" */
const raw =
  (bytes: string | Buffer, then: Ending = "close"): Fault =>
  async (asked) => {
    await asked.answer(bytes);
    asked.end(then);
  };

/** The ready ones. Each is told to {@link FaultyUpstream.fail}. */
export const faults = {
  answer,
  raw,
  /** Let through after so many ms, or when a promise resolves. */
  delay:
    (until: number | Promise<unknown>): Fault =>
    async (asked) => {
      await (typeof until === "number" ? new Promise((resolve) => setTimeout(resolve, until)) : until);
      asked.forward();
    },
  /** The real server gets it; its answer, if there is one, never arrives, and the connection stays open. */
  swallow: (): Fault => (asked) => {
    asked.filter(() => ({ bytes: Buffer.alloc(0), ending: "hang" }));
    asked.forward();
  },
  /** Nobody gets it, and the connection stays open. */
  hang: (): Fault => (asked) => asked.end("hang"),
  /** Nobody gets it, and the connection is reset. */
  drop: (): Fault => (asked) => asked.end("reset"),
  /** The real server gets it; its answer is cut. */
  cut:
    ({ bytes, lines, how = "reset" }: Cut): Fault =>
    (asked) => {
      asked.filter(bytes === undefined ? linesThenCut(lines ?? 0, how) : bytesThenCut(bytes, how));
      asked.forward();
    },
  /** 429, as fairness says it. @param seconds of Retry-After */
  tooManyRequests: (seconds: number): Fault =>
    answer({ status: 429, headers: [...JSON_TYPE, "Retry-After", `${seconds}`], body: status(429, "TooManyRequests") }),
  /** 503 with a Status. */
  unavailable: (): Fault => answer({ status: 503, headers: JSON_TYPE, body: status(503, "ServiceUnavailable") }),
  /** 410 with a Status: the version asked for is too old. */
  gone: (): Fault => answer({ status: 410, headers: JSON_TYPE, body: status(410, "Expired") }),
  /** 401 with a Status. */
  unauthorized: (): Fault => answer({ status: 401, headers: JSON_TYPE, body: status(401, "Unauthorized") }),
  /** What a load balancer says for a server that is down: no Status. @param code @default 500 */
  html: (code = 500): Fault =>
    answer({ status: code, headers: ["Content-Type", "text/html"], body: "<html><h1>Bad Gateway</h1></html>" }),
  /** 200 with an object of a kind that nobody asked for. */
  wrongKind: (): Fault =>
    answer({
      status: 200,
      headers: JSON_TYPE,
      body: '{"kind":"Unexpected","apiVersion":"injected.example.dev/v1","metadata":{"name":"injected"}}',
    }),
  /** 200 that says gzip and is none. */
  badGzip: (): Fault =>
    answer({ status: 200, headers: [...JSON_TYPE, "Content-Encoding", "gzip"], body: Buffer.alloc(200, 0x5a) }),
  /** 200 whose body never ends, at the reader's pace. @param piece is sent again and again; @default spaces, which JSON allows */
  endless:
    (piece: string = " ".repeat(65_536)): Fault =>
    async (asked) => {
      const chunk = `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`;
      let going = await asked.answer(head(200, [...JSON_TYPE, "Transfer-Encoding", "chunked"]));
      while (going) going = await asked.answer(chunk);
    },
  /** 200 that announces a length other than its body's, and then closes. */
  wrongLength: (announced: number, body: string): Fault =>
    raw(Buffer.concat([head(200, [...JSON_TYPE, "Content-Length", `${announced}`]), Buffer.from(body)])),
};

function head(code: number, headers: readonly string[]): Buffer {
  const lines = [`HTTP/1.1 ${code} Injected`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
}

function bytesThenCut(count: number, how: Ending): (bytes: Buffer) => Passed {
  let left = count;
  return (bytes) => {
    const passed = bytes.subarray(0, left);
    left -= passed.length;
    return passed.length < bytes.length || left === 0 ? { bytes: passed, ending: how } : { bytes: passed };
  };
}

const LINE_FEED = 10;
const RETURN = 13;
const BRACE = 123;

/** Ends of lines of HTTP itself, its chunks' too, have a return before them; those of a body of JSON have none. */
function linesThenCut(count: number, how: Ending): (bytes: Buffer) => Passed {
  let left = count;
  let before = 0;
  let inLine = false;
  return (bytes) => {
    for (const [at, byte] of bytes.entries()) {
      if (left === 0 && byte === BRACE) inLine = true;
      else if (inLine) return { bytes: bytes.subarray(0, at), ending: how };
      if (byte === LINE_FEED && before !== RETURN) left -= 1;
      before = byte;
    }
    return { bytes };
  };
}
