import { isUtf8 } from "node:buffer";
import type { ClientRequest, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect } from "node:tls";
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { type Dial, hostOf, timerDelay, untilAborted } from "@virtual-workspaces/transport";
import type { Log } from "../../observe/log/log.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { whole } from "../../util/numbers.ts";
import type { JwtIssuer, JwtKeys, JwtSettings } from "./jwt-options.ts";
import { type KeySet, keySetOf, keySetOfPem } from "./key-set.ts";
import { TokenRejection } from "./token.ts";

/** Where an issuer's keys come from. */
export interface KeySource {
  /** The keys to begin with. @throws Refusal while there are none */
  current(): Awaitable<KeySet>;
  /** Others than those, if the issuer has others by now: none of those has signed a token that came in. */
  others(than: KeySet): Awaitable<KeySet | undefined>;
}

/** Keys that were given. @throws Error on what is no such thing */
export function givenKeys(keys: JwtKeys): KeySource {
  const set = typeof keys === "string" ? keySetOfPem(keys) : keySetOf(keys);
  return { current: () => set, others: () => undefined };
}

const WELL_KNOWN = "/.well-known/openid-configuration";

/**
 * Keys that the issuer is asked for by OpenID Connect discovery: with the first token, when they have become old, and, no
 * more often than the cooldown allows, when a token comes that none of them has signed. While it cannot be asked, the
 * keys that it gave last are good. There is no timer: who is asked nothing fetches nothing.
 */
export class FetchedKeys implements KeySource {
  readonly #issuer: JwtIssuer;
  readonly #settings: Required<Omit<JwtSettings, "clockSkew" | "dial">>;
  readonly #dial: JwtSettings["dial"];
  #keys: { readonly text: string; readonly set: KeySet } | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  /** Why the last fetch failed. */
  #fault: string | undefined;
  #fetching: Promise<void> | undefined;

  /** @throws Error on a time that is none */
  constructor(issuer: JwtIssuer, settings: JwtSettings & { readonly log: Log }) {
    const { log, refreshKeysEvery = 600_000, fetchCooldown = 10_000, fetchTimeout = 10_000 } = settings;
    this.#issuer = issuer;
    this.#dial = settings.dial;
    this.#settings = {
      log,
      refreshKeysEvery: whole("refreshKeysEvery", refreshKeysEvery, 1),
      fetchCooldown: whole("fetchCooldown", fetchCooldown, 0),
      fetchTimeout: whole("fetchTimeout", fetchTimeout, 1),
    };
  }

  current(): Awaitable<KeySet> {
    const keys = this.#keys?.set;
    if (keys === undefined) return this.#first();
    const { refreshKeysEvery } = this.#settings;
    const age = performance.now() - this.#fetchedAt;
    if (age < refreshKeysEvery) return keys;
    const fetched = this.#fetch();
    // Old ones do while others are fetched, but for those after a long silence: they may have been withdrawn since.
    const wait = age > 2 * refreshKeysEvery && this.#fault === undefined;
    return wait ? fetched.then(() => this.#keys?.set ?? keys) : keys;
  }

  async others(than: KeySet): Promise<KeySet | undefined> {
    await this.#fetch();
    return this.#keys?.set === than ? undefined : this.#keys?.set;
  }

  async #first(): Promise<KeySet> {
    await this.#fetch();
    if (this.#keys === undefined) throw new TokenRejection("the keys of its issuer cannot be had");
    return this.#keys.set;
  }

  /** One for all who ask meanwhile; none at all in the cooldown. Never rejects. */
  #fetch(): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching;
    if (performance.now() - this.#triedAt < this.#settings.fetchCooldown) return Promise.resolve();
    this.#fetching = this.#load()
      .then(
        () => {
          this.#fault = undefined;
          this.#fetchedAt = performance.now();
        },
        (error: Error) => this.#failed(error.message),
      )
      .finally(() => {
        this.#triedAt = performance.now();
        this.#fetching = undefined;
      });
    return this.#fetching;
  }

  #failed(fault: string): void {
    this.#fault = fault;
    const issuer = this.#issuer.url;
    const serving = this.#keys === undefined ? "none" : "the keys of before";
    this.#settings.log({ level: "warn", message: "keys of a token issuer not fetched", issuer, serving, error: fault });
  }

  async #load(): Promise<void> {
    const { url, discoveryURL, certificateAuthority } = this.#issuer;
    const options = { ca: certificateAuthority, timeout: this.#settings.fetchTimeout, dial: this.#dial };
    const discovered = discoveryURL ?? `${url.replace(/\/$/, "")}${WELL_KNOWN}`;
    const { issuer, jwks_uri: keysAt } = objectOf(await fetchText(discovered, options), "the discovery document");
    if (issuer !== url) throw new Error(`the discovery document is of another issuer: ${String(issuer).slice(0, 200)}`);
    if (typeof keysAt !== "string") throw new Error("the discovery document has no jwks_uri");
    const text = await fetchText(keysAt, options);
    if (text === this.#keys?.text) return;
    this.#keys = { text, set: keySetOf(objectOf(text, "the key set")) };
  }
}

function objectOf(text: string, what: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message repeats the text.
  }
  if (!isJsonObject(value)) throw new Error(`${what} is no JSON object`);
  return value;
}

/** The longest answer that is read of an issuer, bytes. */
const LONGEST_ANSWER = 1024 * 1024;

interface FetchOptions {
  /** PEM of the authorities that the server's certificate must come from, and no others. */
  readonly ca: string | undefined;
  /** For all of it, ms. */
  readonly timeout: number;
  /** Opens the connection. @default to wherever the URL leads */
  readonly dial?: Dial | undefined;
}

/**
 * Gets a JSON document over TLS, as text. Follows no redirect: keys come from where the configuration says.
 *
 * @throws Error that says what and where, but for the query
 */
async function fetchText(url: string, { ca, timeout, dial }: FetchOptions): Promise<string> {
  const target = parsed(url);
  const signal = AbortSignal.timeout(timerDelay(timeout));
  try {
    // Whatever becomes of the request: who asks for keys must not wait for ever.
    return await untilAborted(get(target, { ca, signal, dial }), signal);
  } catch (error) {
    const why = signal.aborted ? `no whole answer within ${timeout} ms` : (error as Error).message;
    throw new Error(`GET ${target.origin}${target.pathname}: ${why}`);
  }
}

function parsed(url: string): URL {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (target?.protocol !== "https:") throw new Error("what it names is no https URL");
  return target;
}

interface Asked extends Pick<FetchOptions, "ca" | "dial"> {
  readonly signal: AbortSignal;
}

async function get(target: URL, { ca, signal, dial }: Asked): Promise<string> {
  const { Agent, get: request } = await import("node:https");
  const headers = { Accept: "application/json" };
  const verified = { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) };
  // A connection of its own, never one that another issuer's authorities have vouched for.
  const connection =
    dial === undefined
      ? { agent: new Agent({ keepAlive: false, maxCachedSessions: 0 }), ...verified }
      : { createConnection: await secured(target, { dial, signal, verified }) };
  const response = await answerTo(request(target, { headers, signal, ...connection }));
  try {
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    return await read(response);
  } finally {
    response.destroy();
  }
}

interface Secured extends Required<Pick<Asked, "signal">> {
  readonly dial: Dial;
  readonly verified: ConnectionOptions;
}

/** TLS on a connection that somebody else has opened: the request sees to its errors, and ends it. */
async function secured(target: URL, { dial, signal, verified }: Secured): Promise<() => Duplex> {
  const host = hostOf(target);
  const socket = await dial({ host, port: Number(target.port) || 443 }, { signal });
  if (signal.aborted) socket.destroy();
  signal.throwIfAborted();
  return () => connect({ ...verified, socket, host, ...(isIP(host) === 0 && { servername: host }) });
}

/** Node ends a request that is answered with an upgrade nobody listens for, and tells neither of a response nor of an error. */
function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve).once("error", reject);
    request.once("close", () => reject(new Error("ended without an answer")));
    request.once("upgrade", ({ statusCode }, socket) => {
      socket.destroy();
      reject(new Error(`answered ${statusCode}`));
    });
  });
}

async function read(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > LONGEST_ANSWER) throw new Error(`answered more than ${LONGEST_ANSWER} bytes`);
    pieces.push(piece);
  }
  const body = Buffer.concat(pieces);
  if (!isUtf8(body)) throw new Error("answered what is not UTF-8");
  return body.toString("utf8");
}
