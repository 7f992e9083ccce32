import { isUtf8 } from "node:buffer";
import type { ClientRequest, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect } from "node:tls";
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { type Dial, hostOf, timerDelay, trusted, untilAborted } from "@virtual-workspaces/transport";
import type { Log } from "../../observe/log/log.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { whole } from "../../util/numbers.ts";
import type { JwtIssuer, JwtKeys, JwtSettings } from "./jwt-options.ts";
import { type KeySet, keySetOf, keySetOfPem } from "./key-set.ts";
import { TokenRejection } from "./token.ts";

/** Source of an issuer's keys. */
export interface KeySource {
  /** Returns the keys to try first. @throws TokenRejection while there are none */
  current(): Awaitable<KeySet>;
  /** Returns other keys, if the issuer has any by now. Called when none of the given keys signed a token. */
  others(than: KeySet): Awaitable<KeySet | undefined>;
}

/** Uses the given keys. @throws Error when they are malformed */
export function givenKeys(keys: JwtKeys): KeySource {
  const set = typeof keys === "string" ? keySetOfPem(keys) : keySetOf(keys);
  return { current: () => set, others: () => undefined };
}

const WELL_KNOWN = "/.well-known/openid-configuration";

/**
 * Fetches an issuer's keys by OpenID Connect discovery: with the first token, when the keys are old, and, limited by the
 * cooldown, when a token matches none of them. While the issuer is unreachable, the last keys stay valid. There is no timer:
 * nothing is fetched without requests.
 */
export class FetchedKeys implements KeySource {
  readonly #issuer: JwtIssuer;
  readonly #settings: Required<Omit<JwtSettings, "clockSkew" | "dial">>;
  readonly #dial: JwtSettings["dial"];
  #keys: { readonly text: string; readonly set: KeySet } | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  /** Error of the last fetch. */
  #fault: string | undefined;
  #fetching: Promise<void> | undefined;

  /** @throws Error on an invalid duration */
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
    // Old keys stay in use while new ones are fetched, except after a long idle time: they may have been withdrawn.
    const wait = age > 2 * refreshKeysEvery && this.#fault === undefined;
    return wait ? fetched.then(() => this.#keys?.set ?? keys) : keys;
  }

  async others(than: KeySet): Promise<KeySet | undefined> {
    await this.#fetch();
    return this.#keys?.set === than ? undefined : this.#keys?.set;
  }

  async #first(): Promise<KeySet> {
    await this.#fetch();
    if (this.#keys === undefined) throw new TokenRejection("keys of its issuer are not available");
    return this.#keys.set;
  }

  /** Fetches the keys. Concurrent callers share one fetch, and none starts within the cooldown. Never rejects. */
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
    const serving = this.#keys === undefined ? "none" : "the previous keys";
    this.#settings.log({ level: "warn", message: "cannot fetch keys of token issuer", issuer, serving, error: fault });
  }

  async #load(): Promise<void> {
    const { url, discoveryURL, certificateAuthority } = this.#issuer;
    const options = { ca: certificateAuthority, timeout: this.#settings.fetchTimeout, dial: this.#dial };
    const discovered = discoveryURL ?? `${url.replace(/\/$/, "")}${WELL_KNOWN}`;
    const { issuer, jwks_uri: keysAt } = objectOf(await fetchText(discovered, options), "the discovery document");
    if (issuer !== url)
      throw new Error(
        `discovery document is of another issuer "${String(issuer).slice(0, 200)}": its issuer must equal the configured URL`,
      );
    if (typeof keysAt !== "string") throw new Error("discovery document has no jwks_uri");
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
    // The parser's message quotes the text, so it is not used.
  }
  if (!isJsonObject(value)) throw new Error(`${what} is not a JSON object`);
  return value;
}

/** Limit of an issuer's response, in bytes. */
const LONGEST_ANSWER = 1024 * 1024;

interface FetchOptions {
  /** PEM of the only authorities trusted for the server's certificate. */
  readonly ca: string | undefined;
  /** Timeout of the whole request, in ms. */
  readonly timeout: number;
  /** Opens the connection. @default connects to the host of the URL */
  readonly dial?: Dial | undefined;
}

/**
 * Gets a JSON document over TLS, as text. Security: it follows no redirect, because keys must come from the configured
 * location.
 *
 * @throws Error that states the reason and the URL without its query
 */
async function fetchText(url: string, { ca, timeout, dial }: FetchOptions): Promise<string> {
  const target = parsed(url);
  const signal = AbortSignal.timeout(timerDelay(timeout));
  try {
    // Ends at the timeout whatever the request does: callers must not wait forever for keys.
    return await untilAborted(get(target, { ca, signal, dial }), signal);
  } catch (error) {
    const why = signal.aborted ? `no complete response within ${timeout} ms` : (error as Error).message;
    throw new Error(`GET ${target.origin}${target.pathname}: ${why}`);
  }
}

function parsed(url: string): URL {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (target?.protocol !== "https:") throw new Error("not an https URL");
  return target;
}

interface Asked extends Pick<FetchOptions, "ca" | "dial"> {
  readonly signal: AbortSignal;
}

async function get(target: URL, { ca, signal, dial }: Asked): Promise<string> {
  const { Agent, get: request } = await import("node:https");
  const headers = { Accept: "application/json" };
  const verified = { rejectUnauthorized: true, ...trusted(ca) };
  // Use a separate connection, never one that another issuer's authorities verified.
  const connection =
    dial === undefined
      ? { agent: new Agent({ keepAlive: false, maxCachedSessions: 0 }), ...verified }
      : { createConnection: await secured(target, { dial, signal, verified }) };
  const response = await answerTo(request(target, { headers, signal, ...connection }));
  try {
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    return await read(response);
  } finally {
    response.destroy();
  }
}

interface Secured extends Required<Pick<Asked, "signal">> {
  readonly dial: Dial;
  readonly verified: ConnectionOptions;
}

/** Establishes TLS on a connection that `dial` opened. The request handles its errors and closes it. */
async function secured(target: URL, { dial, signal, verified }: Secured): Promise<() => Duplex> {
  const host = hostOf(target);
  const socket = await dial({ host, port: Number(target.port) || 443 }, { signal });
  if (signal.aborted) socket.destroy();
  signal.throwIfAborted();
  return () => connect({ ...verified, socket, host, ...(isIP(host) === 0 && { servername: host }) });
}

/** Node ends a request that is answered with an upgrade without a listener, and emits neither a response nor an error. */
function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve).once("error", reject);
    request.once("close", () => reject(new Error("connection closed without a response")));
    request.once("upgrade", ({ statusCode }, socket) => {
      socket.destroy();
      reject(new Error(`status ${statusCode}`));
    });
  });
}

async function read(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > LONGEST_ANSWER) throw new Error(`response is larger than ${LONGEST_ANSWER} bytes`);
    pieces.push(piece);
  }
  const body = Buffer.concat(pieces);
  if (!isUtf8(body)) throw new Error("response is not UTF-8");
  return body.toString("utf8");
}
