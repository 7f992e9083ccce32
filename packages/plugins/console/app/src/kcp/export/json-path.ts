/** The text at a simple JSON path of a column, such as `.spec.size` or `.spec.ports[0].name`. Empty for other paths and missing values. */
export function textAt(object: unknown, path: string): string {
  const steps = [...path.replace(/^\$?\.?/, "").matchAll(/\[['"]?([^\]'"]+)['"]?\]|((?:\\.|[^.[\]])+)/g)];
  let value: unknown = object;
  for (const [, index, name] of steps) {
    if (typeof value !== "object" || value === null) return "";
    const key = index ?? name?.replaceAll(/\\(.)/g, "$1") ?? "";
    value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  }
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
