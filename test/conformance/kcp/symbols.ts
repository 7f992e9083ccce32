// Takes out of an answer of a workspace server what no two of them can have in common, beside what Symbols of the
// differential suite takes out: names of logical clusters, hashes made of them, identities, keys, tokens and addresses.
import { createHash } from "node:crypto";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { parsed } from "../../differential/answers.ts";
import { Symbols } from "../../differential/symbols.ts";
import { formed } from "./forms.ts";

const CLUSTER =
  /(?:\\?"(?:kcp\.io\/cluster|cluster|clusterName)\\?": ?\\?"|\/clusters\/)([0-9a-z]{14,16})(?![0-9a-z])/g;
const BINDING = /\b([a-z.]+\.kcp\.io)-[0-9a-z]{5}(?![0-9a-z-])/g;
/** Labels whose values, or whose names' last parts, are hashes of names of logical clusters. */
const HASHES = /((?:internal\.apis\.kcp\.io\/[a-z-]+|claimed\.internal\.apis\.kcp\.io\/)"?:? ?"?)([0-9A-Za-z]{25,})/g;
/** An initializer or a terminator: a type's workspace, and the type. Labels have the hash of it. */
const OWNER = /(?:workspaces\/|")([0-9a-z]{14,16}:[a-z][0-9a-z-]*)/g;
const CERTIFICATE =
  /(?:-----BEGIN CERTIFICATE-----(?:[\w+/=]|\\n)*(?:-----END CERTIFICATE-----(?:\\n)?)?)+|LS0tLS1CRUdJTi[\w+/=]+/g;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** As it is, and as secrets have it. */
const TOKEN = /eyJ[\w-]+\.[\w-]+\.[\w-]+|ZXlK[\w+/=]{200,}/g;
const IDENTITY = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g;

/** What one server's answers within a case have named so far. */
export class KcpSymbols {
  readonly #symbols = new Symbols();
  readonly #known = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #url: RegExp;

  /** @param views where its views are, if at another address */
  constructor(url: string, views = url) {
    const texts = [url, views].flatMap((one) => [one.replace(/^https?/, "https?"), new URL(one).host]);
    this.#url = new RegExp(texts.join("|").replaceAll(".", "\\."), "g");
  }

  /** Calls a text by a symbol from here on. */
  name(text: string, symbol: string): void {
    this.#known.set(text, symbol);
  }

  text(text: string): string {
    for (const [, cluster = ""] of text.matchAll(CLUSTER)) this.#symbol(cluster, "cluster");
    for (const [, , hash = ""] of text.matchAll(HASHES)) this.#symbol(hash, "hash");
    for (const [, owner = ""] of text.matchAll(OWNER)) this.#owner(owner);
    let result = text
      .replace(this.#url, "<server>")
      .replace(CERTIFICATE, "<certificate>")
      .replace(UUID, "<uid>")
      .replace(TIME, "<time>")
      .replace(TOKEN, "<token>")
      .replace(IDENTITY, (hash) => this.#symbol(hash, "identity"))
      .replace(BINDING, "$1-<hash>");
    for (const [known, symbol] of this.#known) result = result.replaceAll(known, symbol);
    return this.#symbols.text(result);
  }

  /** What a body comes to: JSON in one form, or the text that it is. */
  value(text: string): unknown {
    const value = parsed(text);
    return typeof value === "string"
      ? this.text(value)
      : this.#symbols.value(parsed(this.text(stringifyJson(formed(value)))));
  }

  #owner(owner: string): void {
    const hash = createHash("sha224").update(owner).digest("hex");
    if (this.#known.has(hash)) return;
    let called = owner;
    for (const [known, symbol] of this.#known) called = called.replaceAll(known, symbol);
    this.#known.set(hash, `<hash of ${called}>`);
    // As much of it as a label's name has room for.
    for (const length of [36, 35]) this.#known.set(hash.slice(0, length), `<start of the hash of ${called}>`);
  }

  #symbol(text: string, kind: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const symbol = `<${kind}${count}>`;
    this.#known.set(text, symbol);
    return symbol;
  }
}
