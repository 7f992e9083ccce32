import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { Log } from "../../observe/log/log.ts";
import { whole } from "../../util/numbers.ts";
import type { Awaitable } from "../../storage.ts";
import { fetchText } from "./fetch.ts";
import { type KeySet, keySetOf, keySetOfPem } from "./key-set.ts";
import type { JwtIssuer, JwtKeys, JwtSettings } from "./options.ts";
import { Refusal } from "./refusal.ts";

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
    if (this.#keys === undefined) throw new Refusal("the keys of its issuer cannot be had");
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
