import type { ScalarTag, Tags } from "yaml";

const PREFIX = "tag:yaml.org,2002:";

/**
 * What plain scalars are to Kubernetes, whose YAML (sigs.k8s.io/yaml on go-yaml 2) is neither 1.1 nor 1.2: `yes` and `on`
 * are booleans, `017` is 15, dates and `1:30` are text.
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
/** No integer of 64 bits is written with more characters, underscores apart. */
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
