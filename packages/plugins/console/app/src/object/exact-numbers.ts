import { send } from "../api/client.ts";
import { collectionPath, FIELD_MANAGER, type ObjectAddress, objectPath } from "../api/objects.ts";
import type { WholeObject } from "./live-object.ts";

/** JSON with source texts: browsers have it before TypeScript's library does. */
interface SourceJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context?: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON?(text: string): unknown;
}

const json = JSON as unknown as SourceJson;

/** True for an integer that JavaScript's numbers may have rounded. */
const isUnsafe = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value);

function hasUnsafe(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some(hasUnsafe);
  return isUnsafe(value);
}

/** The object with its large integers as bigints. Reads it again if it has any: a watch has rounded them. */
export async function exactly(object: WholeObject, address: ObjectAddress): Promise<WholeObject> {
  return hasUnsafe(object) ? await readExactly(address) : object;
}

/** Reads an object, with large integers as bigints. Throws a StatusError. */
export async function readExactly(address: ObjectAddress, signal?: AbortSignal): Promise<WholeObject> {
  const response = await send(objectPath(address), signal === undefined ? {} : { signal });
  return parseExactly(await response.text()) as WholeObject;
}

/** Validates an object, and stores it unless it is a dry run. */
export interface Write {
  readonly object: unknown;
  readonly isDryRun: boolean;
}

/** Replaces an object. The server rejects unknown fields, and old resource versions with 409. Throws a StatusError. */
export function replaceExactly(address: ObjectAddress, write: Write): Promise<WholeObject> {
  return store("PUT", objectPath(address), write);
}

/** Creates an object. The server rejects unknown fields. Throws a StatusError. */
export function createExactly(at: Omit<ObjectAddress, "name">, write: Write): Promise<WholeObject> {
  return store("POST", collectionPath(at), write);
}

async function store(method: "PUT" | "POST", path: string, { object, isDryRun }: Write): Promise<WholeObject> {
  const dryRun = isDryRun ? "All" : undefined;
  const parameters = { dryRun, fieldValidation: "Strict", fieldManager: FIELD_MANAGER };
  const response = await send(path, { method, body: jsonOf(object), parameters });
  return parseExactly(await response.text()) as WholeObject;
}

function parseExactly(text: string): unknown {
  return json.parse(text, (_, value, context) =>
    isUnsafe(value) && /^-?\d+$/.test(context?.source ?? "") ? BigInt(context?.source ?? 0) : value,
  );
}

/** JSON text of a value that may have bigints. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== "bigint") return part;
    return json.rawJSON?.(String(part)) ?? Number(part);
  });
}
