import { type Duration, UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import {
  CelError,
  durationNanos,
  durationOf,
  formatDouble,
  formatDuration,
  formatTimestamp,
  parseGoDuration,
  parseRfc3339,
} from "../values/formatted.ts";
import type { Cidr, Ip } from "../values/ip-address.ts";
import type { FunctionSpec } from "./signature.ts";

const TRUE = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE = new Set(["0", "f", "F", "false", "FALSE", "False"]);
const LIMIT = 2 ** 63;

/** Type conversions, such as `int(x)` and `string(x)`. */
export const CONVERSIONS: readonly FunctionSpec[] = [
  ["bool(bool) bool", (value: boolean) => value],
  ["bool(string) bool", toBool],
  ["double(double) double", (value: number) => value],
  ["double(int) double", (value: bigint) => Number(value)],
  ["double(uint) double", (value: UnsignedInt) => Number(value.valueOf())],
  ["double(string) double", toDouble],
  ["int(int) int", (value: bigint) => value],
  ["int(double) int", doubleToInt],
  ["int(uint) int", (value: UnsignedInt) => fits(value.valueOf())],
  ["int(timestamp) int", (value: Date) => BigInt(Math.floor(value.getTime() / 1000))],
  ["int(duration) int", (value: Duration) => durationNanos(value)],
  ["int(string) int", (text: string) => textToInteger(text, "int", (value) => BigInt.asIntN(64, value))],
  ["uint(uint) uint", (value: UnsignedInt) => value],
  ["uint(int) uint", (value: bigint) => unsigned(value)],
  ["uint(double) uint", doubleToUint],
  ["uint(string) uint", textToUint],
  ["string(string) string", (text: string) => text],
  ["string(bool) string", (value: boolean) => String(value)],
  ["string(int) string", (value: bigint) => String(value)],
  ["string(uint) string", (value: UnsignedInt) => String(value.valueOf())],
  ["string(double) string", (value: number) => formatDouble(value)],
  ["string(bytes) string", bytesToText],
  ["string(timestamp) string", (value: Date) => formatTimestamp(value)],
  ["string(duration) string", (value: Duration) => formatDuration(value)],
  ["string(ip) string", (value: Ip) => value.toString()],
  ["string(cidr) string", (value: Cidr) => value.toString()],
  ["timestamp(timestamp) timestamp", (value: Date) => value],
  ["timestamp(int) timestamp", (seconds: bigint) => timestampOf(Number(seconds) * 1000)],
  ["timestamp(string) timestamp", toTimestamp],
  ["duration(duration) duration", (value: Duration) => value],
  ["duration(int) duration", (nanos: bigint) => durationOf(nanos)],
  ["duration(string) duration", toDuration],
];

function impossible(from: string, to: string): CelError {
  return new CelError(`type conversion error from '${from}' to '${to}'`);
}

function toBool(text: string): boolean {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw impossible("string", "bool");
}

function toDouble(text: string): number {
  if (/^[+-]?nan$/i.test(text)) return Number.NaN;
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(text);
  if (infinite !== null) return infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const value = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw impossible("string", "double");
  return value;
}

function doubleToInt(value: number): bigint {
  if (!(value > -LIMIT && value < LIMIT)) throw new CelError("integer overflow");
  return BigInt(Math.trunc(value));
}

function fits(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelError("integer overflow");
  return value;
}

function unsigned(value: bigint): UnsignedInt {
  if (BigInt.asUintN(64, value) !== value) throw new CelError("unsigned integer overflow");
  return new UnsignedInt(value);
}

function doubleToUint(value: number): UnsignedInt {
  if (!(value >= 0 && value < 2 * LIMIT)) throw new CelError("unsigned integer overflow");
  return unsigned(BigInt(Math.trunc(value)));
}

function textToInteger(text: string, type: string, clip: (value: bigint) => bigint): bigint {
  if (!/^[+-]?0*\d{1,20}$/.test(text)) throw impossible("string", type);
  const value = BigInt(text.replace(/^\+/, ""));
  if (clip(value) !== value) throw impossible("string", type);
  return value;
}

function textToUint(text: string): UnsignedInt {
  if (!/^\d/.test(text)) throw impossible("string", "uint");
  return unsigned(textToInteger(text, "uint", (value) => BigInt.asUintN(64, value)));
}

function bytesToText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

function timestampOf(ms: number): Date {
  if (ms < -62_135_596_800_000 || ms > 253_402_300_799_999) throw new CelError("timestamp overflow");
  return new Date(ms);
}

function toTimestamp(text: string): Date {
  const parsed = parseRfc3339(text);
  if (parsed === undefined) throw impossible("string", "google.protobuf.Timestamp");
  return parsed;
}

function toDuration(text: string): Duration {
  const parsed = parseGoDuration(text);
  if (parsed === undefined) throw impossible("string", "google.protobuf.Duration");
  return parsed;
}
