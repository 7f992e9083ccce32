import { expect } from "chai";

/** A value that shows whether it is whole, and whose it is. */
export function taggedValue(key: string, tag: string, size: number): Buffer {
  return Buffer.from(`${tag}|${key}|${size}|`.padEnd(size, `${tag};`));
}

/** The tag of a value that must be whole, and the key's own. */
export function tagOf(key: string, value: Buffer): string {
  const [tag = "", , size = ""] = value.toString().split("|", 3);
  expect(value.equals(taggedValue(key, tag, Number(size))), `the value of ${key} is whole`).to.equal(true);
  return tag;
}
