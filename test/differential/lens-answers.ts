// What views add to answers by themselves.
import { SOURCE_VERSION_ANNOTATION } from "@virtual-workspaces/framework";
import type { Case } from "./step.ts";

/** An object of a view always has annotations, and a patch can tell. */
export function tells({ name }: Case): boolean {
  return name === "with escapes";
}

/** The answers without what a view says by itself. */
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
