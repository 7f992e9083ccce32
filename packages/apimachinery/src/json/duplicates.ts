import { endOfString } from "./scan.ts";

interface Level {
  /** Names met so far; none in an array. */
  readonly names: Set<string> | undefined;
  /** Where we are in it: the name of a member, the index of an element. */
  step: string | number;
}

/** The paths of members whose name was given before in the same object, as Kubernetes writes them: `spec.ports[0].name`. */
export function duplicateMembers(text: string): string[] {
  const found: string[] = [];
  const levels: Level[] = [];
  let expectsName = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text[at];
    const level = levels.at(-1);
    if (unit === '"') {
      const end = endOfString(text, at);
      if (expectsName && level?.names !== undefined) {
        level.step = JSON.parse(text.slice(at, end + 1)) as string;
        if (level.names.has(level.step)) found.push(pathOf(levels));
        level.names.add(level.step);
        expectsName = false;
      }
      at = end;
    } else if (unit === "{") {
      levels.push({ names: new Set(), step: "" });
      expectsName = true;
    } else if (unit === "[") {
      levels.push({ names: undefined, step: 0 });
      expectsName = false;
    } else if (unit === "}" || unit === "]") {
      levels.pop();
      expectsName = false;
    } else if (unit === "," && level !== undefined) {
      if (typeof level.step === "number") level.step += 1;
      else expectsName = true;
    }
  }
  return found;
}

function pathOf(levels: readonly Level[]): string {
  return levels.reduce((path, { step }) => {
    if (typeof step === "number") return `${path}[${step}]`;
    return path === "" ? step : `${path}.${step}`;
  }, "");
}
