import { expect } from "chai";

/** Returns a value that shows its integrity and its key. */
export function taggedValue(key: string, tag: string, size: number): Buffer {
  return Buffer.from(`${tag}|${key}|${size}|`.padEnd(size, `${tag};`));
}

/** Returns the tag of a value, which must be intact and belong to the key. */
export function tagOf(key: string, value: Buffer): string {
  const [tag = "", , size = ""] = value.toString().split("|", 3);
  expect(value.equals(taggedValue(key, tag, Number(size))), `the value of ${key} is whole`).to.equal(true);
  return tag;
}
