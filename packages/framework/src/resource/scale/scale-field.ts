import { isJsonObject, type JsonObject, memberOf, setMember } from "@virtual-workspaces/apimachinery";

/** One of the fields that `/scale` shows, where the kind keeps it. */
export class ScaleField {
  /** As the author wrote it: `.spec.replicas`. */
  readonly path: string;
  /** The names on the way to it. */
  readonly names: readonly string[];

  /** @throws Error on a path that is not plain names below one of `roots` */
  constructor(path: string, option: string, roots: readonly string[]) {
    const [start, ...names] = path.split(".");
    const under = roots.map((root) => `.${root}`).join(" or ");
    if (start !== "" || names.length < 2 || !names.every((name) => NAME.test(name)) || !roots.includes(names[0] ?? ""))
      throw new Error(
        `subresources.scale.${option} ${JSON.stringify(path)} must be a path of plain names under ${under}`,
      );
    this.path = path;
    this.names = names;
  }

  /** The value, `undefined` where it or something on the way to it is missing. @throws ScaleFieldError */
  read(object: JsonObject): unknown {
    let value: unknown = object;
    for (const name of this.names) {
      if (value === null || value === undefined) return undefined;
      if (!isJsonObject(value)) throw this.#mistyped(value, "map[string]interface{}");
      value = memberOf(value, name);
    }
    return value;
  }

  /** A number of replicas. @throws ScaleFieldError when the value is no integer */
  readInteger(object: JsonObject): number | undefined {
    const value = this.read(object);
    if (typeof value === "bigint") return Number(value);
    if (value === undefined || (typeof value === "number" && Number.isInteger(value))) return value;
    throw this.#mistyped(value, "int64");
  }

  /** @throws ScaleFieldError when the value is no text */
  readText(object: JsonObject): string | undefined {
    const value = this.read(object);
    if (value === undefined || typeof value === "string") return value;
    throw this.#mistyped(value, "string");
  }

  /** Sets the value in place, and what is missing on the way to it. @throws ScaleFieldError when there is something else */
  write(object: JsonObject, value: unknown): void {
    let at = object;
    for (const name of this.names.slice(0, -1)) {
      const next = memberOf(at, name) ?? {};
      if (!isJsonObject(next)) throw this.#mistyped(next, "map[string]interface{}");
      setMember(at, name, next);
      at = next;
    }
    setMember(at, this.names.at(-1) ?? "", value);
  }

  #mistyped(value: unknown, expected: string): ScaleFieldError {
    const shown = typeof value === "object" ? JSON.stringify(value) : String(value);
    return new ScaleFieldError(
      `${this.path} accessor error: ${shown} is of the type ${goType(value)}, expected ${expected}`,
    );
  }
}

const NAME = /^[^.[\]'"\\*?@()\s]+$/;

/** What is there is not what a scale shows. */
export class ScaleFieldError extends Error {
  override readonly name: string = "ScaleFieldError";
}

function goType(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
      return Number.isInteger(value) ? "int64" : "float64";
    case "bigint":
      return "int64";
    default:
      return "map[string]interface {}";
  }
}
