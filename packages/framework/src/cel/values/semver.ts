import { CelError } from "./formatted.ts";

/** Semantic version. Build metadata (`+build`) is ignored in comparisons. */
export class Semver {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly (bigint | string)[];

  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly (bigint | string)[]) {
    this.numbers = numbers;
    this.prerelease = prerelease;
  }
}

const FORM =
  /^(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** Parses a version. Throws a CelError. */
export function parseSemver(text: string): Semver {
  const parts = FORM.exec(text);
  if (parts === null) throw new CelError(mistake(text));
  const [, major = "0", minor = "0", patch = "0", prerelease] = parts;
  const numbers = [BigInt(major), BigInt(minor), BigInt(patch)] as const;
  if (numbers.some((number) => number > 0xffff_ffff_ffff_ffffn)) throw new CelError(mistake(text));
  const identifiers = prerelease === undefined ? [] : prerelease.split(".").map(identifier);
  return new Semver(numbers, identifiers);
}

function identifier(text: string): bigint | string {
  if (!/^\d+$/.test(text)) return text;
  if (text.length > 1 && text.startsWith("0")) {
    throw new CelError(`Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(text)}`);
  }
  return text.length > 20 ? text : BigInt(text);
}

function mistake(text: string): string {
  if (text === "") return "Version string empty";
  const parts = text.split(".", 3);
  if (parts.length !== 3) return "No Major.Minor.Patch elements found";
  const [major = "", minor = "", patch = ""] = parts;
  for (const [name, number] of [
    ["major", major],
    ["minor", minor],
    ["patch", patch.replace(/[-+].*$/s, "")],
  ] as const) {
    const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    if (!/^\d+$/.test(number)) return `Invalid character(s) found in ${name} number ${JSON.stringify(number)}`;
    if (number.length > 1 && number.startsWith("0")) {
      return `${title} number must not contain leading zeroes ${JSON.stringify(number)}`;
    }
  }
  return "Invalid character(s) found in prerelease";
}

/** Normalizes a version: removes a leading v and leading zeros, and adds missing numbers. Throws a CelError. */
export function normalizeSemver(text: string): string {
  const [major = "", minor, ...rest] = text.replace(/^v/, "").split(".");
  const parts = [major, minor, rest.length === 0 ? undefined : rest.join(".")].filter((part) => part !== undefined);
  if (parts.length < 3 && /[-+]/.test(parts.at(-1) ?? "")) {
    throw new CelError("short version cannot contain PreRelease/Build meta data");
  }
  return [...parts.map((part) => part.replace(/^0+(?=\d)/, "")), "0", "0"].slice(0, 3).join(".");
}

export function compareSemver(a: Semver, b: Semver): -1 | 0 | 1 {
  for (const [at, number] of a.numbers.entries()) {
    const other = b.numbers[at] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

function comparePrereleases(a: Semver["prerelease"], b: Semver["prerelease"]): -1 | 0 | 1 {
  if (a.length === 0 || b.length === 0) return a.length === b.length ? 0 : a.length === 0 ? 1 : -1;
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [left, right] = [a[at], b[at]];
    if (left === undefined) return -1;
    if (right === undefined) return 1;
    if (left === right) continue;
    if (typeof left !== typeof right) return typeof left === "bigint" ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return 0;
}
