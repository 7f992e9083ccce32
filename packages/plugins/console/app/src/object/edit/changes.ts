import { isMap, parseDocument } from "yaml";
import { isFields, yamlOf } from "../yaml/object-text.ts";
import type { Path } from "../yaml/parse.ts";

/** A field that differs between two values; without `value` it is removed. */
export interface Change {
  readonly path: Path;
  readonly value?: unknown;
}

/** The fields that differ. Lists of different lengths count as one value. */
export function changesBetween(before: unknown, after: unknown, path: Path = []): readonly Change[] {
  if (isSame(before, after)) return [];
  if (isFields(before) && isFields(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name): readonly Change[] => {
      const inner = [...path, name];
      if (!Object.hasOwn(after, name)) return [{ path: inner }];
      if (!Object.hasOwn(before, name)) return [{ path: inner, value: after[name] }];
      return changesBetween(before[name], after[name], inner);
    });
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return after.flatMap((item, index) => changesBetween(before[index], item, [...path, index]));
  return [{ path, value: after }];
}

export interface Merged {
  /** My text with their changes. */
  readonly text: string;
  /** Fields that both have changed, differently: the text has my values of these. */
  readonly conflicts: readonly Path[];
}

/** Applies what has changed from `base` to `theirs` to my text, which was made from `base`. Comments of my text stay. */
export function mergeInto(
  myText: string,
  { base, mine, theirs }: { readonly base: unknown; readonly mine: unknown; readonly theirs: unknown },
): Merged {
  const ours = changesBetween(base, mine);
  const others = changesBetween(base, theirs);
  const conflicts: Path[] = [];
  const wanted: Change[] = [];
  for (const change of others) {
    const overlapping = ours.filter(({ path }) => isWithin(path, change.path) || isWithin(change.path, path));
    if (overlapping.length === 0) wanted.push(change);
    else if (!overlapping.every((own) => isSameChange(own, change))) conflicts.push(change.path);
  }
  return { text: applyTo(myText, wanted), conflicts };
}

function applyTo(text: string, changes: readonly Change[]): string {
  if (changes.length === 0) return text;
  const document = parseDocument(text, { intAsBigInt: true });
  for (const { path, value } of changes) {
    if (value === undefined) document.deleteIn(path);
    else document.setIn(path, document.createNode(value));
  }
  if (!isMap(document.contents)) return yamlOf(document.toJS());
  return document.toString({ lineWidth: 0, indentSeq: false });
}

const isWithin = (outer: Path, inner: Path): boolean =>
  outer.length <= inner.length && outer.every((step, index) => String(step) === String(inner[index]));

const isSameChange = (one: Change, other: Change): boolean =>
  one.path.length === other.path.length && isSame(one.value, other.value);

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
  if (!isFields(one) || !isFields(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

/** A path for readers, such as `spec.containers[0].image`. */
export function pathText(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[\w-]+$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}
