import { Optional } from "@marcbachmann/cel-js";
import { CelError } from "../values/formatted.ts";
import { type Cidr, type Ip, parseCidr, parseIp } from "../values/ip-address.ts";
import {
  addQuantities,
  approximate,
  compareQuantities,
  negated,
  parseQuantity,
  type Quantity,
  quantityOfInteger,
} from "../values/quantity.ts";
import { compareSemver, normalizeSemver, parseSemver, type Semver } from "../values/semver.ts";
import { isUrl, parseUrl, type UrlValue } from "../values/url.ts";
import { NAMED_FORMATS, type NamedFormat } from "./named-formats.ts";
import type { FunctionSpec } from "./signature.ts";

/** Functions for URLs, addresses, quantities, versions and named formats. */
export const KUBERNETES: readonly FunctionSpec[] = [
  ["url(string) url", (text: string) => parseUrl(text)],
  ["isURL(string) bool", (text: string) => isUrl(text)],
  [".getScheme(url) string", (url: UrlValue) => url.scheme],
  [".getHost(url) string", (url: UrlValue) => url.host],
  [".getHostname(url) string", (url: UrlValue) => url.hostname],
  [".getPort(url) string", (url: UrlValue) => url.port],
  [".getEscapedPath(url) string", (url: UrlValue) => url.escapedPath],
  [".getQuery(url) map(string, list(string))", queryOf],

  ["ip(string) ip", (text: string) => parseIp(text)],
  ["isIP(string) bool", (text: string) => succeeds(() => parseIp(text))],
  ["ip.isCanonical(string) bool", (text: string) => parseIp(text).toString() === text],
  [".family(ip) int", (ip: Ip) => BigInt(ip.family)],
  [".isUnspecified(ip) bool", (ip: Ip) => ip.bits === 0n],
  [".isLoopback(ip) bool", isLoopback],
  [
    ".isLinkLocalMulticast(ip) bool",
    (ip: Ip) =>
      ip.family === 4 ? ip.startsWith(0xe00000n, 24) : (ip.bits >> 112n) % 0x10n === 2n && ip.startsWith(0xffn, 8),
  ],
  [".isLinkLocalUnicast(ip) bool", isLinkLocalUnicast],
  [".isGlobalUnicast(ip) bool", isGlobalUnicast],
  ["cidr(string) cidr", (text: string) => parseCidr(text)],
  ["isCIDR(string) bool", (text: string) => succeeds(() => parseCidr(text))],
  [".containsIP(cidr, string) bool", (range: Cidr, text: string) => range.contains(parseIp(text))],
  [".containsIP(cidr, ip) bool", (range: Cidr, ip: Ip) => range.contains(ip)],
  [".containsCIDR(cidr, string) bool", (range: Cidr, text: string) => range.containsRange(parseCidr(text))],
  [".containsCIDR(cidr, cidr) bool", (range: Cidr, other: Cidr) => range.containsRange(other)],
  [".ip(cidr) ip", (range: Cidr) => range.address],
  [".prefixLength(cidr) int", (range: Cidr) => BigInt(range.length)],
  [".masked(cidr) cidr", (range: Cidr) => range.masked()],

  ["quantity(string) quantity", (text: string) => parseQuantity(text)],
  ["isQuantity(string) bool", (text: string) => succeeds(() => parseQuantity(text))],
  ["sign(quantity) int", signOf],
  [".isGreaterThan(quantity, quantity) bool", (a: Quantity, b: Quantity) => compareQuantities(a, b) > 0],
  [".isLessThan(quantity, quantity) bool", (a: Quantity, b: Quantity) => compareQuantities(a, b) < 0],
  [".compareTo(quantity, quantity) int", (a: Quantity, b: Quantity) => BigInt(compareQuantities(a, b))],
  [".asApproximateFloat(quantity) double", (amount: Quantity) => approximate(amount)],
  [
    ".asInteger(quantity) int",
    (amount: Quantity) => {
      if (amount.integer === undefined) throw new CelError("cannot convert value to integer");
      return amount.integer;
    },
  ],
  [".isInteger(quantity) bool", (amount: Quantity) => amount.integer !== undefined],
  [".add(quantity, quantity) quantity", (a: Quantity, b: Quantity) => addQuantities(a, b)],
  [".add(quantity, int) quantity", (a: Quantity, b: bigint) => addQuantities(a, quantityOfInteger(b))],
  [".sub(quantity, quantity) quantity", (a: Quantity, b: Quantity) => addQuantities(a, negated(b))],
  [".sub(quantity, int) quantity", (a: Quantity, b: bigint) => addQuantities(a, negated(quantityOfInteger(b)))],

  ["semver(string) semver", (text: string) => parseSemver(text)],
  ["semver(string, bool) semver", semver],
  ["isSemver(string) bool", (text: string) => succeeds(() => parseSemver(text))],
  ["isSemver(string, bool) bool", (text: string, normalize: boolean) => succeeds(() => semver(text, normalize))],
  [".isGreaterThan(semver, semver) bool", (a: Semver, b: Semver) => compareSemver(a, b) > 0],
  [".isLessThan(semver, semver) bool", (a: Semver, b: Semver) => compareSemver(a, b) < 0],
  [".compareTo(semver, semver) int", (a: Semver, b: Semver) => BigInt(compareSemver(a, b))],
  [".major(semver) int", (version: Semver) => BigInt.asIntN(64, version.numbers[0])],
  [".minor(semver) int", (version: Semver) => BigInt.asIntN(64, version.numbers[1])],
  [".patch(semver) int", (version: Semver) => BigInt.asIntN(64, version.numbers[2])],

  [".validate(format, string) optional(list(string))", validate],
  ["format.named(string) optional(format)", (name: string) => Optional.of(NAMED_FORMATS.get(name))],
  ...[...NAMED_FORMATS.values()].map((format): FunctionSpec => [`format.${format.name}() format`, () => format]),
];

function succeeds(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

function signOf({ nanos }: Quantity): bigint {
  return nanos === 0n ? 0n : nanos < 0n ? -1n : 1n;
}

function semver(text: string, normalize: boolean): Semver {
  return parseSemver(normalize ? normalizeSemver(text) : text);
}

function queryOf(url: UrlValue): ReadonlyMap<string, readonly string[]> {
  return url.query;
}

function isLoopback(ip: Ip): boolean {
  return ip.family === 4 ? ip.startsWith(127n, 8) : ip.bits === 1n;
}

function isLinkLocalUnicast(ip: Ip): boolean {
  return ip.family === 4 ? ip.startsWith(0xa9fen, 16) : ip.startsWith(0x3fan, 10);
}

function isMulticast(ip: Ip): boolean {
  return ip.family === 4 ? ip.startsWith(0xen, 4) : ip.startsWith(0xffn, 8);
}

function isGlobalUnicast(ip: Ip): boolean {
  if (ip.bits === 0n || (ip.family === 4 && ip.bits === 0xffff_ffffn)) return false;
  return !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip);
}

function validate(format: NamedFormat, text: string): Optional<readonly string[]> {
  const problems = format.problems(text);
  return problems.length === 0 ? Optional.none() : Optional.of(problems);
}
