// Removes values of a workspace server's answers that always differ between servers, in addition to Symbols of the
// differential suite: names of logical clusters, hashes of them, identities, keys, tokens and addresses.
import { createHash } from "node:crypto";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { parsed } from "../../differential/answers.ts";
import { Symbols } from "../../differential/symbols.ts";
import { formed } from "./forms.ts";

const CLUSTER =
  /(?:\\?"(?:kcp\.io\/cluster|cluster|clusterName)\\?": ?\\?"|\/clusters\/)([0-9a-z]{14,16})(?![0-9a-z])/g;
const BINDING = /\b([a-z.]+\.kcp\.io)-[0-9a-z]{5}(?![0-9a-z-])/g;
/** Labels whose values, or the ends of whose names, are hashes of cluster names. */
const HASHES = /((?:internal\.apis\.kcp\.io\/[a-z-]+|claimed\.internal\.apis\.kcp\.io\/)"?:? ?"?)([0-9A-Za-z]{25,})/g;
/** Initializer or terminator: the workspace of a type, and the type. Labels contain its hash. */
const OWNER = /(?:workspaces\/|")([0-9a-z]{14,16}:[a-z][0-9a-z-]*)/g;
const CERTIFICATE =
  /(?:-----BEGIN CERTIFICATE-----(?:[\w+/=]|\\n)*(?:-----END CERTIFICATE-----(?:\\n)?)?)+|LS0tLS1CRUdJTi[\w+/=]+/g;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** Token, plain and as encoded in secrets. */
const TOKEN = /eyJ[\w-]+\.[\w-]+\.[\w-]+|ZXlK[\w+/=]{200,}/g;
const IDENTITY = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g;

/** Symbols of one server's answers within a case. */
export class KcpSymbols {
  readonly #symbols = new Symbols();
  readonly #known = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #url: RegExp;

  /** @param views address of its views, if it differs */
  constructor(url: string, views = url) {
    const texts = [url, views].flatMap((one) => [one.replace(/^https?/, "https?"), new URL(one).host]);
    this.#url = new RegExp(texts.join("|").replaceAll(".", "\\."), "g");
  }

  /** Replaces a text by a symbol from now on. */
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

  /** Returns a normalized body: JSON, or else the text. */
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
    // Part of the hash that fits into the name of a label.
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
