import { type JsonObject, quote } from "@virtual-workspaces/apimachinery";
import { MAX_JSON_DEPTH, setMember } from "@virtual-workspaces/apimachinery/json";
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type ScalarTag,
  type Tags,
  type YAMLMap,
} from "yaml";
import { TOO_DEEP, YamlFault } from "./fault.ts";

/** Kubernetes stops after this many. */
const MAX_DUPLICATES = 100;

/** Converts a YAML tree to a JSON value, as sigs.k8s.io/yaml does. */
export class YamlTree {
  /** Duplicate keys: `line 3: key "a" already set in map`. */
  readonly duplicates: string[] = [];
  readonly #lines: LineCounter;
  readonly #maxBytes: number;
  readonly #anchors = new Map<string, Node>();
  /** Nodes on the current path, to detect cycles. */
  readonly #within = new Set<unknown>();
  #bytes = 0;

  /** @param maxBytes approximate limit of the value's size as JSON, because aliases multiply it */
  constructor(lines: LineCounter, maxBytes: number) {
    this.#lines = lines;
    this.#maxBytes = maxBytes;
  }

  /** @throws YamlFault */
  read(node: unknown): unknown {
    if (isAlias(node)) return this.read(this.#target(node));
    this.#spend(2);
    if (isScalar(node)) {
      this.#anchor(node);
      return this.#scalar(node.value);
    }
    if (isMap(node)) return this.#inside(node, () => this.#map(node, {}));
    if (isSeq(node)) return this.#inside(node, () => node.items.map((item) => this.read(item)));
    return null;
  }

  #scalar(value: unknown): unknown {
    if (typeof value === "number" && !Number.isFinite(value)) {
      const name = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
      throw new YamlFault(`json: unsupported value: ${name}`);
    }
    this.#spend(typeof value === "string" ? value.length : 4);
    return value;
  }

  #map(map: YAMLMap, object: JsonObject): JsonObject {
    for (const { key, value } of map.items) {
      if (isMergeKey(key)) this.#merge(value, object);
      else this.#member(object, { key, value });
    }
    return object;
  }

  #member(object: JsonObject, { key, value }: { readonly key: unknown; readonly value: unknown }): void {
    const [name, printed] = this.#name(key);
    this.#spend(name.length + 2);
    if (Object.hasOwn(object, name) && this.duplicates.length < MAX_DUPLICATES)
      this.duplicates.push(`line ${this.#line(value) ?? this.#line(key) ?? 1}: key ${printed} already set in map`);
    setMember(object, name, this.read(value));
  }

  /** Returns a key as a member name, and as Go prints it. */
  #name(key: unknown): [name: string, printed: string] {
    const scalar = isAlias(key) ? this.#target(key) : key;
    if (isMap(scalar) || isSeq(scalar)) throw new YamlFault(`yaml: line ${this.#line(scalar) ?? 1}: invalid map key`);
    const value = isScalar(scalar) ? scalar.value : null;
    if (isScalar(scalar)) this.#anchor(scalar);
    if (value === null) throw new YamlFault(`yaml: line ${this.#line(key) ?? 1}: unsupported map key of type: null`);
    const name = String(value);
    return [name, typeof value === "string" ? quote(name) : name];
  }

  /** `<<` merges the members of other maps; the first map wins. */
  #merge(value: unknown, object: JsonObject): void {
    const source = isAlias(value) ? this.#target(value) : value;
    const sources = isSeq(value) ? [...value.items].reverse() : [source];
    for (const item of sources) {
      const map = isAlias(item) ? this.#target(item) : item;
      if (!isMap(map)) throw new YamlFault("yaml: map merge requires map or sequence of maps as the value");
      this.#spend(2);
      this.#inside(map, () => this.#map(map, object));
    }
  }

  #inside<T>(node: Node & { readonly anchor?: string }, read: () => T): T {
    this.#anchor(node);
    if (this.#within.has(node)) throw new YamlFault(`yaml: anchor '${node.anchor}' value contains itself`);
    if (this.#within.size >= MAX_JSON_DEPTH) throw new YamlFault(TOO_DEEP);
    this.#within.add(node);
    const value = read();
    this.#within.delete(node);
    return value;
  }

  #anchor(node: Node & { readonly anchor?: string }): void {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
  }

  #target({ source }: Alias): Node {
    const target = this.#anchors.get(source);
    if (target === undefined) throw new YamlFault(`yaml: unknown anchor '${source}' referenced`);
    return target;
  }

  #line(node: unknown): number | undefined {
    const range = (node as Node | null)?.range;
    return range === undefined || range === null ? undefined : this.#lines.linePos(range[0]).line;
  }

  #spend(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes)
      throw new YamlFault(`the document is larger than ${this.#maxBytes} bytes after alias expansion`, true);
  }
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.value === "<<" && key.type === "PLAIN" && key.tag === undefined;
}

const PREFIX = "tag:yaml.org,2002:";

/**
 * Types of plain scalars in Kubernetes, whose YAML (sigs.k8s.io/yaml on go-yaml 2) is neither 1.1 nor 1.2: `yes` and `on` are
 * booleans, `017` is 15, dates and `1:30` are strings.
 */
export const kubernetesTags: Tags = [
  "map",
  "seq",
  { tag: `${PREFIX}str`, default: true, resolve: (text: string) => text },
  scalar("null", /^(?:~|null|Null|NULL)?$/, () => null),
  scalar("bool", /^(?:[yY]|yes|Yes|YES|true|True|TRUE|on|On|ON)$/, () => true),
  scalar("bool", /^(?:[nN]|no|No|NO|false|False|FALSE|off|Off|OFF)$/, () => false),
  scalar("int", /^[-+.0-9]/, numberOrText),
  scalar("float", /^[-+.0-9]/, numberOrText),
  { ...scalar("binary", /^/, (text) => Buffer.from(text, "base64").toString("utf8")), default: false },
];

function scalar(name: string, test: RegExp, resolve: (text: string) => unknown): ScalarTag {
  return { tag: PREFIX + name, default: true, test, resolve };
}

const INTEGER = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]+|0|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const INFINITE = /^([-+]?)\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;

const MAX_INT64 = 2n ** 63n - 1n;
/** Longest form of a 64-bit integer, in characters without underscores. */
const LONGEST = 2 + 64 + 1;

function numberOrText(text: string): number | bigint | string {
  const infinite = INFINITE.exec(text);
  if (infinite !== null) return infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (NOT_A_NUMBER.test(text)) return Number.NaN;
  const plain = text.startsWith(".") ? text : text.replaceAll("_", "");
  const integer = plain.length > LONGEST ? null : INTEGER.exec(plain);
  if (integer !== null) return integerOf(integer[1] === "-", integer[2] ?? "0");
  const float = FLOAT.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(float) ? float : text;
}

function integerOf(negative: boolean, digits: string): number | bigint {
  const magnitude = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits.toLowerCase());
  const value = negative ? -magnitude : magnitude;
  const rounded = Number(value);
  if (Number.isSafeInteger(rounded)) return rounded === 0 ? 0 : rounded;
  return magnitude > MAX_INT64 + (negative ? 1n : 0n) ? rounded : value;
}
