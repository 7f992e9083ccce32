/** Number with a decimal suffix (`m`, `k`, `M`), a binary suffix (`Ki`) or an exponent. */
const QUANTITY = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

/** Reports whether a string is a Kubernetes quantity: `2`, `500m`, `1.5Gi`, `1e3`. */
export const isQuantity = (text: string): boolean => QUANTITY.test(text);

const POWER: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/** Reports whether a quantity is an integer. */
export function isWhole(quantity: string): boolean {
  const [, number = "", suffix = ""] = /^[+-]?([\d.]+)(.*)$/.exec(quantity) ?? [];
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix)?.[1];
  if (suffix.endsWith("i")) return Number.isInteger(Number(number) * 1024 ** ("KMGTPE".indexOf(suffix[0] ?? "") + 1));
  const power = exponent === undefined ? (POWER[suffix] ?? 0) : Number(exponent);
  const fraction = (number.split(".")[1] ?? "").replace(/0+$/, "");
  if (power >= 0) return fraction.length <= power;
  const digits = number.replace(".", "").replace(/^0+/, "");
  return digits === "" || (fraction === "" && digits.endsWith("0".repeat(Math.min(-power, 400))));
}

/** Returns the value of a valid quantity: `2`, `"1k"`. */
export function quantityOf(quantity: string): number {
  const [, number = "", suffix = ""] = /^([+-]?[\d.]+)(.*)$/.exec(quantity) ?? [];
  if (suffix.endsWith("i")) return Number(number) * 1024 ** ("KMGTPE".indexOf(suffix[0] ?? "") + 1);
  return Number(/^[eE]/.test(suffix) ? quantity : `${number}e${POWER[suffix] ?? 0}`);
}

/** Formats a number of objects as Kubernetes formats quantities: 2000 is `2k`. */
export function formatCount(count: number): string {
  let [number, at] = [count, 0];
  while (number > 0 && number % 1000 === 0 && at < SUFFIXES.length - 1) {
    number /= 1000;
    at++;
  }
  return `${number}${SUFFIXES[at]}`;
}

const SUFFIXES = ["", "k", "M", "G", "T", "P"] as const;
