import { CelError } from "./formatted.ts";

/** Kubernetes quantity (`1500m`, `2Gi`), in nanos. */
export class Quantity {
  readonly nanos: bigint;
  /** Whether Kubernetes treats it as non-integer, whatever its value: `1000m`, `1.5Gi`. */
  readonly fractional: boolean;

  constructor(nanos: bigint, fractional: boolean) {
    this.nanos = nanos;
    this.fractional = fractional;
  }

  /** Returns undefined if it is not an integer, or too large. */
  get integer(): bigint | undefined {
    if (this.fractional || this.nanos % NANO !== 0n) return undefined;
    const value = this.nanos / NANO;
    return BigInt.asIntN(64, value) === value ? value : undefined;
  }
}

const NANO = 1_000_000_000n;
const LARGEST = (2n ** 63n - 1n) * NANO;
const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d+))?$/;
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY = "KMGTPE";

/** Parses a quantity. Throws a CelError. */
export function parseQuantity(text: string): Quantity {
  const parts = FORM.exec(text);
  const [, sign = "", whole = "", fraction = "", binary = "", decimal = "", exponentText = "0"] = parts ?? [];
  // A suffix without a number is not a quantity.
  if (parts === null || (whole === "" && fraction === "" && !/^[+-]?[A-Za-z]+$/.test(text)))
    throw new CelError(mistake(text));
  const exponent = decimal === "" ? Number(exponentText) : (DECIMAL[decimal] ?? 0);
  const scale = binary === "" ? 1n : 1024n ** BigInt(BINARY.indexOf(binary[0] ?? "K") + 1);
  const size = nanosOf({ whole: whole.replace(/^0+/, ""), fraction, exponent, scale });
  const exact = binary === "" ? isShort(whole, fraction, exponent) : isShortBinary(whole, fraction, binary);
  return new Quantity(sign === "-" ? -size : size, !exact);
}

/**
 * Returns whether Kubernetes stores the amount as a 64-bit integer; it treats any other as non-integer, whatever its value.
 */
function isShort(whole: string, fraction: string, exponent: number): boolean {
  return exponent >= fraction.length && whole.replace(/^0+/, "").length + fraction.length <= 18;
}

function isShortBinary(whole: string, fraction: string, suffix: string): boolean {
  const power = 10 * (BINARY.indexOf(suffix[0] ?? "K") + 1);
  return fraction === "" && whole.replace(/^0+/, "").length + Math.floor(power * 0.3) <= 14;
}

function mistake(text: string): string {
  if (
    /^[+-]?[0-9.]+(?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?$/.test(text) &&
    !/^[+-]?\d*\.\d*\./.test(text) &&
    /\d/.test(text)
  ) {
    return "unable to parse quantity's suffix";
  }
  return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
}

interface Parts {
  readonly whole: string;
  readonly fraction: string;
  readonly exponent: number;
  readonly scale: bigint;
}

/** Rounds up to whole nanos, limited to the largest quantity; fast for any number of digits. */
function nanosOf({ whole, fraction, exponent, scale }: Parts): bigint {
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  if (digits === "") return 0n;
  const magnitude = digits.length - fraction.length + exponent;
  if (magnitude > 40) return LARGEST;
  if (magnitude < -40) return 1n;
  const kept = digits.slice(0, 100);
  const power = exponent - fraction.length + (digits.length - kept.length) + 9;
  const scaled = BigInt(kept) * scale;
  const sticky = /[1-9]/.test(digits.slice(100)) ? 1n : 0n;
  const nanos = power >= 0 ? scaled * 10n ** BigInt(power) + sticky : divideUp(scaled + sticky, 10n ** BigInt(-power));
  return nanos > LARGEST ? LARGEST : nanos;
}

function divideUp(amount: bigint, by: bigint): bigint {
  return (amount + by - 1n) / by;
}

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const nanos = a.nanos + b.nanos;
  return new Quantity(nanos, (a.fractional && a.nanos !== 0n) || (b.fractional && b.nanos !== 0n));
}

export function negated(amount: Quantity): Quantity {
  return new Quantity(-amount.nanos, amount.fractional);
}

export function quantityOfInteger(value: bigint): Quantity {
  return new Quantity(value * NANO, false);
}

export function approximate(amount: Quantity): number {
  return Number(amount.nanos) / 1e9;
}
