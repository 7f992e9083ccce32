// GET of a 2 KiB object by each way to say who asks, against a static token
import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import type { ConnectionOptions } from "node:tls";
import { createAuthority } from "../test/_support/server.ts";
import { fetchOnce, getRequest, load } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { Auth, WayName } from "./_servers/auth.ts";

const SIZE = 2048;
const ROUNDS = 16;
/** More than a server remembers verdicts about: each is a new one whenever its turn comes. */
const TOKENS = 10_500;

const path = "/services/bench/apis/bench.example/v1/widgets/w";
const asking = (headers: Readonly<Record<string, string>> = {}): Buffer =>
  getRequest(path, { ...headers, Accept: "application/json" });
const bearing = (token: string): Buffer => asking({ Authorization: `Bearer ${token}` });

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const exp = Math.floor(Date.now() / 1000) + 3600;
const claims = { iss: "bench", aud: "bench", sub: "alice", groups: ["team", "readers", "writers"], exp };

const authority = createAuthority();
const trusting: ConnectionOptions = { ca: authority.ca };

interface Way {
  readonly request: Buffer | (() => Buffer);
  readonly tls?: ConnectionOptions;
}

const many = inTurn(Array.from({ length: TOKENS }, (_, n) => bearing(token(n))));

/** What clients send; bench/_servers/auth.ts has what the server makes of it. */
const ways: Readonly<Record<WayName, Way>> = {
  static: { request: bearing("bench-token") },
  jwt: { request: bearing(token(-1)) },
  jwtNew: { request: many },
  jwtRules: { request: many },
  staticTls: { request: bearing("bench-token"), tls: trusting },
  requestHeader: {
    request: asking({ "X-Remote-User": "alice", "X-Remote-Group": "team", "X-Remote-Extra-Scopes": "cluster:one" }),
    tls: { ...trusting, ...authority.client("front-proxy", []) },
  },
  certificate: { request: asking(), tls: { ...trusting, ...authority.client("alice", ["team"]) } },
};
const NAMES = Object.keys(ways) as WayName[];

await using server = await Remote.start<Auth>("auth");
await server.ask("fill", SIZE);
const signer = publicKey.export({ type: "spki", format: "pem" }) as string;
const port = await server.ask("listen", { ca: authority.ca, tls: authority.server, signer });
const expected = await checkedAnswer();

await interleave(NAMES, 1, (name) => measure(name, 1000));
const rounds = await interleave(NAMES, ROUNDS, (name) => measure(name, 250));

const ratio = (what: string, names: readonly [WayName, WayName], goal: { readonly atMost?: number } = {}) => {
  const rival = names[1] === "static" ? "static token" : "static token over TLS";
  return figure({ what: `CPU per request, ${what}`, value: rounds.ratio(names, "cpu"), unit: "ratio", rival, ...goal });
};
report("auth", [
  ratio("JSON Web Token, verdict remembered", ["jwt", "static"], { atMost: 1.25 }),
  ratio("client certificate", ["certificate", "staticTls"], { atMost: 1.25 }),
  ratio("headers of a proxy", ["requestHeader", "staticTls"], { atMost: 1.25 }),
  ratio("a new JSON Web Token (RS256) each", ["jwtNew", "static"]),
  ratio("the same with CEL for names, groups and rules", ["jwtRules", "static"]),
  figure({ what: "CPU per request, static token", value: rounds.of("static", "cpu"), unit: "µs" }),
  figure({ what: "CPU per request, static token over TLS", value: rounds.of("staticTls", "cpu"), unit: "µs" }),
  figure({ what: "CPU per request, a new JSON Web Token each", value: rounds.of("jwtNew", "cpu"), unit: "µs" }),
]);

/** CPU that one request costs the server, µs. */
async function measure(name: WayName, milliseconds: number): Promise<{ cpu: number }> {
  const { request, tls } = ways[name];
  const before = await server.ask("cpu");
  const { answers } = await load({ port: port[name], request, tls, expected, connections: 16, milliseconds });
  return { cpu: ((await server.ask("cpu")) - before) / answers };
}

/** The same answer by every way, and none without credentials. */
async function checkedAnswer() {
  const first = await fetchOnce(port.static, bearing("bench-token"));
  assert.ok(Math.abs(first.body.length - SIZE) < 32, `the object has ${first.body.length} bytes`);
  for (const name of NAMES) {
    const { request, tls } = ways[name];
    const answer = await fetchOnce(port[name], typeof request === "function" ? request() : request, tls);
    assert.equal(answer.status, 200, name);
    assert.ok(answer.body.equals(first.body), name);
    const stranger = await fetchOnce(port[name], asking(), tls === undefined ? undefined : trusting);
    assert.equal(stranger.status, 401, `${name} lets strangers in`);
  }
  return first;
}

function token(n: number): string {
  const input = `${base64url({ alg: "RS256" })}.${base64url({ ...claims, n })}`;
  return `${input}.${sign("sha256", Buffer.from(input), privateKey).toString("base64url")}`;
}

function inTurn<T>(all: readonly T[]): () => T {
  let at = 0;
  return () => all[at++ % all.length] as T;
}
