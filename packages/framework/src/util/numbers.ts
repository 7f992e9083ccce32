/** Returns a number of options. @throws Error on anything but a whole number from `least` on, or Infinity */
export function whole(name: string, value: number, least: number): number {
  if (value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && value >= least)) return value;
  throw new Error(`${name} must be a whole number from ${least} on, or Infinity; it is ${value}`);
}
