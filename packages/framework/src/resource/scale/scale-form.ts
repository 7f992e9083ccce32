import { ApiError, isJsonObject, type JsonObject, normalizeMetadata } from "@virtual-workspaces/apimachinery";

/** What a member must be, in words for those whose is not. */
interface Shape {
  readonly fits: (value: unknown) => boolean;
  readonly words: string;
}

const INT32: Shape = {
  fits: (value) => Number.isInteger(value) && (value as number) >= -(2 ** 31) && (value as number) < 2 ** 31,
  words: "an integer of 32 bits",
};
const TEXT: Shape = { fits: (value) => typeof value === "string", words: "a string" };
const MEMBERS: readonly string[] = ["apiVersion", "kind", "metadata", "spec", "status"];

/**
 * Makes what came as a Scale one, in place, as Go reads and writes it: members that are null go, and so do a number of
 * replicas that is 0 and members that a Scale does not have, which are named in the result.
 *
 * @throws ApiError 400 on a member of another type
 */
export function normalizeScale(object: JsonObject): string[] {
  const unknown: string[] = [];
  for (const name of Object.keys(object)) if (!MEMBERS.includes(name)) unknown.push(dropped(object, name, name));
  unknown.push(...normalizeMetadata(object));
  const spec = struct(object, "spec", { shapes: { replicas: INT32 }, unknown });
  if (spec["replicas"] === 0) delete spec["replicas"];
  const status = struct(object, "status", { shapes: { replicas: INT32, selector: TEXT }, unknown });
  Object.assign(object, { spec, status: { ...status, replicas: status["replicas"] ?? 0 } });
  return unknown;
}

interface Struct {
  readonly shapes: Readonly<Record<string, Shape>>;
  readonly unknown: string[];
}

function struct(object: JsonObject, name: string, { shapes, unknown }: Struct): JsonObject {
  const value = object[name] ?? {};
  if (!isJsonObject(value)) throw malformed(name, "an object");
  for (const member of Object.keys(value)) {
    const path = `${name}.${member}`;
    const shape = Object.hasOwn(shapes, member) ? shapes[member] : undefined;
    if (shape === undefined) unknown.push(dropped(value, member, path));
    else if (value[member] === null) delete value[member];
    else if (!shape.fits(value[member])) throw malformed(path, shape.words);
  }
  return value;
}

function dropped(object: JsonObject, name: string, path: string): string {
  delete object[name];
  return path;
}

function malformed(path: string, what: string): ApiError {
  return ApiError.badRequest(`the object cannot be read: ${path} must be ${what}`);
}
