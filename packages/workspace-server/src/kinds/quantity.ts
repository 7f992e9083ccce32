/** A number with a suffix, decimal (`m`, `k`, `M`), binary (`Ki`) or an exponent. */
const QUANTITY = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

/** Whether a text is a quantity as Kubernetes has them: `2`, `500m`, `1.5Gi`, `1e3`. */
export const isQuantity = (text: string): boolean => QUANTITY.test(text);

const POWER: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/** Whether a quantity is a whole number. */
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
