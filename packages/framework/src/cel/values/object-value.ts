/** Object of an apply configuration: `Object{…}`, or `Object.spec{…}` for a part. */
export class ObjectValue {
  /** Path of the fields above it, as written: `Object.spec`. */
  readonly type: string;
  readonly fields: ReadonlyMap<string, unknown>;

  constructor(type: string, fields: ReadonlyMap<string, unknown>) {
    this.type = type;
    this.fields = fields;
  }
}

/** Part of an apply configuration: a type of its own, so that an expression cannot evaluate to one. */
export class ObjectPartValue extends ObjectValue {}

/** Operation of a JSON patch: `JSONPatch{op: "add", …}`. */
export class PatchValue {
  readonly fields: ReadonlyMap<string, unknown>;

  constructor(fields: ReadonlyMap<string, unknown>) {
    this.fields = fields;
  }
}

/**
 * Returns the first object whose type is not the path of the fields that lead to it, with Kubernetes' text; `undefined` if there
 * is none.
 */
export function misplacedObject(value: unknown, path = "Object"): string | undefined {
  if (value instanceof ObjectValue) {
    if (value.type !== path)
      return `unexpected type name "${value.type}", expected "${path}", which matches field name path from root Object type`;
    return first(value.fields, (member, name) => misplacedObject(member, `${path}.${name}`));
  }
  if (Array.isArray(value)) return first(value.entries(), (element) => misplacedObject(element, path));
  return value instanceof Map ? first(value, (member) => misplacedObject(member, path)) : undefined;
}

function first<K>(
  entries: Iterable<readonly [K, unknown]>,
  find: (value: unknown, key: K) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    const found = find(value, key);
    if (found !== undefined) return found;
  }
  return undefined;
}
