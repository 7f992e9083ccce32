// Random requests that no client should send, derived from a seed. Each character of a text is one byte.
import type { Random } from "./random.ts";

export interface BadRequest {
  readonly bytes: string;
  readonly method: string;
  /**
   * Expected state of the connection after one answer: it `stays` open, it `closes`, or the server announces either
   * (`mayClose`). It `breaks`, with or without an answer, when the server cannot find the end of the request. It `streams` an
   * endless answer.
   */
  readonly ending: "stays" | "mayClose" | "closes" | "breaks" | "streams";
}

const TOKEN = "Authorization: Bearer token";
const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const PATHS = [
  NOTES,
  `${NOTES}/a`,
  `${NOTES}/missing`,
  `${NOTES}/a/status`,
  "/services/notes/clusters/root/api/v1/namespaces/ns/notes/a",
  "/services/notes/clusters/*/apis/test.dev/v1/notes",
  ...["", "/", "/api", "/apis", "/apis/test.dev", "/apis/test.dev/v1", "/version", "/livez", "/openapi/v2"].map(
    (tail) => `/services/notes/clusters/root${tail}`,
  ),
  "/services/notes/clusters/root/openapi/v3/apis/test.dev/v1",
  "/services/raw/any/thing",
  "/services/socket/x",
  "/services/nope/x",
  "/services",
  "/",
  "/livez",
  "/readyz",
  "/readyz/notes",
];
const PIECES = [
  "/..",
  "/.",
  "/%2e%2E/",
  "//",
  "%00",
  "%2F",
  "%5c",
  "\\..\\",
  "%",
  "%zz",
  "%FF",
  "%C3%A9",
  "%252e",
  ";",
  "*",
];
const MORE_PIECES = ["~", "'", '"', "<x>", "{}", "|", "^", "`", "#", "?", "&", "=", "a".repeat(300), "/a".repeat(60)];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY", "BIND"];
const NAMES = [
  "labelSelector",
  "fieldSelector",
  "limit",
  "continue",
  "resourceVersion",
  "resourceVersionMatch",
  "hash",
];
const MORE_NAMES = ["includeObject", "timeoutSeconds", "allowWatchBookmarks", "sendInitialEvents", "verbose", "pretty"];
const VALUES = [
  "",
  "0",
  "1",
  "-1",
  "a%3Db",
  "a+in+(b,c)",
  "!",
  "((",
  "%",
  "%00",
  "%ff",
  "9".repeat(40),
  "Exact",
  "x".repeat(99),
];
const TYPES = [
  "application/json",
  "application/yaml",
  "*/*",
  "application/vnd.kubernetes.protobuf",
  "application/cbor",
];
const MORE_TYPES = [
  "text/html;q=2",
  ";;,",
  "application/json;as=Table;g=meta.k8s.io;v=v1",
  "a/b/c",
  ",".repeat(50),
  "\xff\xfe",
];
const CONTINUE = "Expect: 100-continue";
const HIGH = "\x80\xc3\xb6\xff";

/** Returns one request with random faults. */
export function badRequest(random: Random): BadRequest {
  if (random.chance(0.22)) return brokenRequest(random);
  if (random.chance(0.02)) return watch(random);
  const method = random.chance(0.6) ? "GET" : random.pick(METHODS);
  const leaves = random.chance(0.04);
  const version = leaves && random.chance(0.5) ? "1.0" : "1.1";
  const lines = [`${method} ${target(random)} HTTP/${version}`, ...headers(random)];
  if (leaves && version === "1.1") lines.push("Connection: close");
  const { fields, body } = bodyOf(random, version);
  const bytes = `${[...lines, ...fields].join("\r\n")}\r\n\r\n${body}`;
  if (leaves) return { bytes, method, ending: "closes" };
  return { bytes, method, ending: lines.includes(CONTINUE) ? "mayClose" : "stays" };
}

function watch(random: Random): BadRequest {
  const query = random.pick(["watch=true", "watch=1&allowWatchBookmarks=x&labelSelector=!a", "watch&limit=1"]);
  return { bytes: head(`GET ${NOTES}?${query} HTTP/1.1`, "Host: x", TOKEN), method: "GET", ending: "streams" };
}

function target(random: Random): string {
  const query = random.chance(0.4) ? `?${random.many(1 + random.below(4), () => parameter(random)).join("&")}` : "";
  if (random.chance(0.03)) return random.pick(["*", `http://x${NOTES}`, "http://x", "//", "/".repeat(500)]) + query;
  let path = random.pick(PATHS);
  for (let count = random.chance(0.6) ? random.below(3) : 0; count > 0; count--) {
    const at = random.below(path.length + 1);
    path = path.slice(0, at) + random.pick([...PIECES, ...MORE_PIECES]) + path.slice(at + random.below(2));
  }
  return (path.startsWith("/") ? path : `/${path}`) + query;
}

function parameter(random: Random): string {
  if (random.chance(0.1)) return random.text("abc=&%+!<>\"'{}|^~,;:@", 12);
  return `${random.pick([...NAMES, ...MORE_NAMES])}=${random.pick(VALUES)}`;
}

function headers(random: Random): string[] {
  const lines = random.chance(0.97) ? ["Host: x"] : [];
  if (random.chance(0.8)) lines.push(TOKEN);
  else lines.push(random.pick([`Authorization: Bearer ${HIGH}`, "Authorization:", "Authorization: Basic x", "X-A: b"]));
  if (random.chance(0.4)) lines.push(`Accept: ${random.pick([...TYPES, ...MORE_TYPES])}`);
  if (random.chance(0.3)) lines.push(...random.many(random.below(6), () => oddHeader(random)));
  if (random.chance(0.004)) lines.push(...random.many(2500, () => `X-Many: ${random.below(10)}`));
  return lines;
}

function oddHeader(random: Random): string {
  const name = random.pick(["X-Odd", "Cookie", "If-None-Match", "Range", "TE", "Via", "Accept-Encoding", "Referer"]);
  const odd = random.pick([
    "!#$%&'*+-.^_`|~",
    "__proto__",
    "constructor",
    "Impersonate-User",
    "X-Remote-Group",
    "Upgrade",
  ]);
  const value = random.pick(["", "*", 'W/"x", "', HIGH, "a\tb", "=".repeat(2000), "bytes=0-", "system:masters", "h2c"]);
  if (random.chance(0.1)) return CONTINUE;
  if (random.chance(0.05)) return `Expect: ${random.pick(["x", "", "200-ok"])}`;
  return `${random.pick([name, odd])}: ${value}`;
}

function bodyOf(random: Random, version: string): { readonly fields: readonly string[]; readonly body: string } {
  if (random.chance(0.8)) return { fields: [], body: "" };
  const body = random.pick(["{}", "null", "\0\xff".repeat(20), "x".repeat(5000), "GET / HTTP/1.1\r\n\r\n"]);
  if (version === "1.0" || random.chance(0.5)) return { fields: [`Content-Length: ${body.length}`], body };
  const chunk = `${body.length.toString(16)}${random.pick(["", ";a=b", ';a="b"'])}\r\n${body}\r\n`;
  const trailer = random.pick(["", "X-Trailer: t\r\n", `Authorization: Bearer ${HIGH}\r\n`]);
  return { fields: ["Transfer-Encoding: chunked"], body: `${chunk}${chunk}0\r\n${trailer}\r\n` };
}

type Maker = (random: Random) => string;

const BROKEN: readonly Maker[] = [
  // request lines
  (random) => random.text("\0\x01\x16\x03GET /HTP1.\r\n\xff\x80 ", 60),
  (random) => head(`${random.pick(["FROB", "get", "G E T", "", "GET\0", "\xff", "PRI"])} ${NOTES} HTTP/1.1`, "Host: x"),
  (random) =>
    head(
      `GET ${NOTES} ${random.pick(["HTTP/1.2", "HTTP/3", "HTTP/11.1", "HTTPS/1.1", "http/1.1", "", "x"])}`,
      "Host: x",
    ),
  (random) =>
    head(`GET ${NOTES}${random.pick(["\0", " ", "\t", "\x7f", "\xc3\xa9", "\r"])}x HTTP/1.1`, "Host: x", TOKEN),
  () => `GET  ${NOTES} HTTP/1.1\r\nHost: x\r\n\r\n`,
  (random) => head(`GET ${random.pick(["a/b", "x:1", "?", "&", "http:/x", "http://x y"])} HTTP/1.1`, "Host: x", TOKEN),
  () => "GET /livez\r\n\r\n",
  () => "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03".padEnd(170, "\x55"),
  // header blocks
  (random) =>
    head(
      `GET ${NOTES} HTTP/1.1`,
      "Host: x",
      TOKEN,
      random.pick(["X", ": x", "X : y", "X\0: y", "\xff: y", "(x): y", " a: b"]),
    ),
  (random) =>
    head(`GET ${NOTES} HTTP/1.1`, "Host: x", TOKEN, `X: a${random.pick(["\0", "\r", "\n", "\x01", "\x7f"])}b`),
  (random) =>
    head(`GET ${NOTES} HTTP/1.1`, "Host: x", TOKEN).replaceAll("\r\n", random.pick(["\n", "\r", "\r\r\n", "\n\r"])),
  (random) => (random.chance(0.03) ? head(`GET ${NOTES} HTTP/1.1`, "Host: x", `X: ${"p".repeat(2 ** 20)}`) : "GET"),
  // lengths that contradict each other
  (random) =>
    head(
      `POST ${NOTES} HTTP/1.1`,
      "Host: x",
      TOKEN,
      `Content-Length: ${random.pick(["-1", "+1", "1e3", "0x1", "1,1", "x", "9".repeat(30)])}`,
    ),
  (random) =>
    `${head(`POST ${NOTES} HTTP/1.1`, "Host: x", TOKEN, "Content-Length: 4", random.pick(["Content-Length: 5", "Transfer-Encoding: chunked", "transfer-encoding:\tchunked"]))}0\r\n\r\n${head("GET /livez HTTP/1.1", "Host: x")}`,
  (random) =>
    `${head(`POST ${NOTES} HTTP/1.1`, "Host: x", TOKEN, `Transfer-Encoding: ${random.pick(["gzip", "xchunked", "chunked, gzip", "identity", "chunked\x0b"])}`)}0\r\n\r\n`,
  (random) =>
    `${head(`POST ${NOTES} HTTP/1.1`, "Host: x", TOKEN, "Transfer-Encoding: chunked")}${random.pick(["zz\r\n", "-1\r\nx", "5\r\nab\r\n0\r\n\r\n", "ffffffffffffffffff\r\n", "1;\0\r\na\r\n", "1\na\n0\n\n", `1;${"e".repeat(20_000)}\r\na\r\n0\r\n\r\n`])}`,
  // requests that end too early
  (random) => head(`GET ${NOTES} HTTP/1.1`, "Host: x", TOKEN).slice(0, 1 + random.below(60)),
  (random) =>
    `${head(`PUT ${NOTES}/a HTTP/1.1`, "Host: x", TOKEN, "Content-Length: 100")}${"x".repeat(random.below(99))}`,
  (random) =>
    head(`POST ${NOTES} HTTP/1.1`, "Host: x", TOKEN, "Expect: 100-continue", `Content-Length: ${1 + random.below(9)}`),
  // requests that take over the connection
  (random) =>
    `${head(`CONNECT ${random.pick(["a:1", NOTES, "x"])} HTTP/1.1`, "Host: x", TOKEN)}${random.text("ab\0\r\n", 20)}`,
  (random) =>
    `${head(`GET ${random.pick(PATHS)} HTTP/1.1`, "Host: x", random.pick([TOKEN, "X: y"]), "Connection: Upgrade", `Upgrade: ${random.pick(["websocket", "h2c", "SPDY/3.1", "\xff"])}`)}${random.text("ab\0\r\n", 20)}`,
];

function brokenRequest(random: Random): BadRequest {
  return { bytes: random.pick(BROKEN)(random), method: "GET", ending: "breaks" };
}

function head(...lines: readonly string[]): string {
  return `${lines.join("\r\n")}\r\n\r\n`;
}
