import { MOST_TEXT } from "../bounded.ts";
import { nameAt } from "./names.ts";
import { endOfString } from "./scan.ts";

/** Kubernetes counts no further. */
const MAX_DUPLICATES = 100;

interface Level {
  /** Where we are in it: where the name of a member begins and ends, or the index of an element. */
  from: number;
  end: number;
  index: number;
}

/**
 * The paths of the members that begin at `places`, as Kubernetes writes them: `spec.ports[0].name`. Each once, a hundred
 * at most, and fewer when they are very long.
 */
export function memberPaths(text: string, places: readonly number[]): string[] {
  const found = new Set<string>();
  const levels: Level[] = [];
  let next = 0;
  let effort = 0;
  for (let at = 0; at < text.length && next < places.length; at++) {
    const unit = text[at];
    const level = levels.at(-1);
    if (unit === '"') {
      const end = endOfString(text, at);
      // A value overwrites its name, which nothing asks for any more.
      if (level !== undefined && level.index === -1) [level.from, level.end] = [at, end];
      if (at === places[next]) {
        next += 1;
        const path = pathOf(text, levels);
        found.add(path);
        effort += path.length + levels.length;
        if (found.size >= MAX_DUPLICATES || effort >= MOST_TEXT) break;
      }
      at = end;
    } else if (unit === "{") levels.push({ from: at, end: at, index: -1 });
    else if (unit === "[") levels.push({ from: at, end: at, index: 0 });
    else if (unit === "}" || unit === "]") levels.pop();
    else if (unit === "," && level !== undefined && level.index !== -1) level.index += 1;
  }
  return [...found];
}

function pathOf(text: string, levels: readonly Level[]): string {
  let path = "";
  for (const { from, end, index } of levels) {
    if (index !== -1) path += `[${index}]`;
    else path += path === "" ? nameAt(text, from, end) : `.${nameAt(text, from, end)}`;
  }
  return path;
}
