// Faults between a client and a server, for use with a FaultyUpstream.
import type { Asked, Ending, Passed } from "./faulty-connection.ts";

/** Reaction to a request. */
export type Fault = (asked: Asked) => void | Promise<void>;

/** Position at which an answer is cut; one of both. */
export interface Cut {
  /** Number of bytes of the answer, including its head. */
  readonly bytes?: number;
  /** Number of complete lines of the body; the cut is within the next line. The lines of a watch are its events. */
  readonly lines?: number;
  /** How the connection ends. @default "reset" */
  readonly how?: Ending;
}

export interface OwnAnswer {
  readonly status: number;
  /** Header names and values in turn. */
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

/** Sends this answer. The real server does not receive the request. */
const answer = ({ status: code, headers = [], body = "" }: OwnAnswer): Fault => {
  const bytes = Buffer.from(body as string);
  return (asked) =>
    asked
      .answer(Buffer.concat([head(code, [...headers, "Content-Length", `${bytes.length}`]), bytes]))
      .then(() => undefined);
};

/** Sends exactly these bytes, and then ends. The real server does not receive the request. @param then @default "close" */
const raw =
  (bytes: string | Buffer, then: Ending = "close"): Fault =>
  async (asked) => {
    await asked.answer(bytes);
    asked.end(then);
  };

/** Predefined faults for {@link FaultyUpstream.fail}. */
export const faults = {
  answer,
  raw,
  /** Forwards the request after a time in ms, or when a promise resolves. */
  delay:
    (until: number | Promise<unknown>): Fault =>
    async (asked) => {
      await (typeof until === "number" ? new Promise((resolve) => setTimeout(resolve, until)) : until);
      asked.forward();
    },
  /** Forwards the request, but never returns the answer. The connection stays open. */
  swallow: (): Fault => (asked) => {
    asked.filter(() => ({ bytes: Buffer.alloc(0), ending: "hang" }));
    asked.forward();
  },
  /** Never forwards the request. The connection stays open. */
  hang: (): Fault => (asked) => asked.end("hang"),
  /** Never forwards the request, and resets the connection. */
  drop: (): Fault => (asked) => asked.end("reset"),
  /** Forwards the request and cuts the answer. */
  cut:
    ({ bytes, lines, how = "reset" }: Cut): Fault =>
    (asked) => {
      asked.filter(bytes === undefined ? linesThenCut(lines ?? 0, how) : bytesThenCut(bytes, how));
      asked.forward();
    },
  /** Answers 429, like API Priority and Fairness. @param seconds value of Retry-After */
  tooManyRequests: (seconds: number): Fault =>
    answer({ status: 429, headers: [...JSON_TYPE, "Retry-After", `${seconds}`], body: status(429, "TooManyRequests") }),
  /** Answers 503 with a Status. */
  unavailable: (): Fault => answer({ status: 503, headers: JSON_TYPE, body: status(503, "ServiceUnavailable") }),
  /** Answers 410 with a Status: the requested version is too old. */
  gone: (): Fault => answer({ status: 410, headers: JSON_TYPE, body: status(410, "Expired") }),
  /** Answers 401 with a Status. */
  unauthorized: (): Fault => answer({ status: 401, headers: JSON_TYPE, body: status(401, "Unauthorized") }),
  /** Answers like a load balancer without a healthy server: with no Status. @param code @default 500 */
  html: (code = 500): Fault =>
    answer({ status: code, headers: ["Content-Type", "text/html"], body: "<html><h1>Bad Gateway</h1></html>" }),
  /** Answers 200 with an object of an unexpected kind. */
  wrongKind: (): Fault =>
    answer({
      status: 200,
      headers: JSON_TYPE,
      body: '{"kind":"Unexpected","apiVersion":"injected.example.dev/v1","metadata":{"name":"injected"}}',
    }),
  /** Answers 200 with invalid gzip. */
  badGzip: (): Fault =>
    answer({ status: 200, headers: [...JSON_TYPE, "Content-Encoding", "gzip"], body: Buffer.alloc(200, 0x5a) }),
  /** Answers 200 with an endless body, at the pace of the reader. @param piece repeated content; @default spaces, which JSON allows */
  endless:
    (piece: string = " ".repeat(65_536)): Fault =>
    async (asked) => {
      const chunk = `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`;
      let going = await asked.answer(head(200, [...JSON_TYPE, "Transfer-Encoding", "chunked"]));
      while (going) going = await asked.answer(chunk);
    },
  /** Answers 200 with a length that differs from its body's, and then closes. */
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

/** Lines of HTTP itself, including those of chunks, end in CR LF; lines of a JSON body end in LF. */
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
