// Parts of answers that views add themselves.
import { SOURCE_VERSION_ANNOTATION } from "@virtual-workspaces/framework";
import type { Case } from "./step.ts";

/** Returns whether a case reveals that an object of a view always has annotations. */
export function tells({ name }: Case): boolean {
  return name === "with escapes";
}

/** Returns the answers without the parts that a view adds. */
export function bare<T>(value: T): T {
  if (Array.isArray(value)) return value.map(bare) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, member]) => {
    if (name !== "annotations" || !Object.hasOwn(member ?? {}, SOURCE_VERSION_ANNOTATION))
      return [[name, bare(member)]];
    const { [SOURCE_VERSION_ANNOTATION]: _version, ...annotations } = member;
    return Object.keys(annotations).length === 0 ? [] : [[name, annotations]];
  });
  return Object.fromEntries(entries);
}
